"""A secret in every place where one can be given, then a run: it stands nowhere but in the one file that holds the home's password."""

import json
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from urllib.error import HTTPError

import pytest
from canaries import CANARIES, Arguments, dumped, holds, needles, packed, secret_for, where
from chat_api import Server, chat, serving
from test_pipeline import SMALL

from deployments import stack
from deployments.prefect_api import PrefectApi
from tucano import access

ROOT = Path(__file__).parent.parent
ONE_SEED = {**SMALL, "grpo.seeds": [42], "grpo.max_steps": 4, "sft.max_epochs": 1, "audit.resamples": 100}


@pytest.mark.parametrize("kind", ["plain", "header", "query", "gzip", "zip", "zlib in base64", "UTF-16", "hexadecimal"])
def test_the_search_finds_a_secret_that_hides(kind: str) -> None:
    secret = secret_for("key of an endpoint")
    with packed(secret) as hidden:
        assert holds(b"before" + hidden[kind] if kind != "zip" else hidden[kind], needles(secret))
    with packed("another secret altogether") as hidden:
        assert not holds(hidden[kind], needles(secret))


def test_the_search_reads_rows_that_lie_on_several_pages(tmp_path: Path) -> None:
    secret = secret_for("key of an endpoint")
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        connection.execute("CREATE TABLE t(a)")
        connection.executemany("INSERT INTO t VALUES (?)", [("x" * (4060 + shift) + secret + "y" * 9000,) for shift in range(40)])
        connection.commit()
    assert where([tmp_path], {"it": needles(secret), "other": needles("another secret")}) == {"it": [tmp_path / "a.db"]}


def test_the_process_list_is_looked_at() -> None:
    with Arguments() as arguments:
        subprocess.run([sys.executable, "-c", "import time; time.sleep(.5)", "canary-in-the-list"], check=True)
    assert any("canary-in-the-list" in line for line in arguments.seen)


class Person:
    """Types commands with every canary in the environment; what was shown on the terminal is kept."""

    def __init__(self, folder: Path, storage: Path) -> None:
        self.storage, self.shown, self.project = storage, "", folder / "project"
        self.secrets = {place: secret_for(place) for place in CANARIES}
        given = (line.format(secret=self.secrets[place], storage=storage).partition("=") for place, line in CANARIES.items())
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("PREFECT_", "MLFLOW_"))},
            **{name: value for name, _, value in given},
            "NO_PROXY": "127.0.0.1,localhost",
            "HOME": str(folder / "home"),
            "TMPDIR": str(folder / "tmp"),
            "PYTHONPATH": str(ROOT),
        }
        for name in ("home", "tmp", "project"):
            (folder / name).mkdir()
        shutil.copyfile(ROOT / "prefect.yaml", self.project / "prefect.yaml")

    def types(self, command: str, *arguments: str, code: int = 0, environment: Mapping[str, str] | None = None) -> str:
        line = [sys.executable, "-m", "tucano.cli", command, *arguments]
        done = subprocess.run(
            line,
            cwd=self.project,
            env=self.environment | dict(environment or {}),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=400,
        )
        self.shown += done.stdout
        assert done.returncode == code, done.stdout
        return done.stdout

    def settings(self, **more: object) -> list[str]:
        overrides = {**ONE_SEED, "storage": str(self.storage), **{name.replace("__", "."): value for name, value in more.items()}}
        texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in overrides.items()}
        return [part for name, text in texts.items() for part in ("--set", f"{name}={text}")]


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Server]:
    with serving(tmp_path) as server:
        server.answer = lambda body, number: (200, {}, chat("Compre agora!"))
        yield server


@pytest.mark.services
@pytest.mark.timeout(900)
def test_no_secret_is_written_shown_or_passed_as_an_argument(tmp_path: Path, api: Server) -> None:
    storage = tmp_path / "runs"
    (storage / "mlflow").mkdir(parents=True)
    (storage / "prefect").mkdir()
    person, refused = Person(tmp_path, storage), secret_for("password in a setting")
    with Arguments() as arguments:
        person.types("run", "laptop", *person.settings())
        endpoint = {"name": "api", "url": api.url, "model": "m", "key_env": "CANARY_API_KEY"}
        benchmark = {"benchmark__endpoints": [endpoint], "benchmark__prompts": 80, "benchmark__samples": 1, "benchmark__resamples": 20}
        person.types("benchmark", "laptop", *person.settings(**benchmark))
        own = {name: "" for name in ("MLFLOW_TRACKING_URI", "MLFLOW_TRACKING_TOKEN", "PREFECT_SERVER_DATABASE_CONNECTION_URL")}
        person.types("up", "--home", str(storage), environment=own)
        home = stack.opened(storage, person.project)
        try:
            known = access.credentials(storage)
            server = PrefectApi(home.prefect, known)
            assert_refused(server, refused)
            user, _, password = known.partition(":")
            servers = {"PREFECT_API_URL": f"{home.prefect}/api", "PREFECT_API_AUTH_STRING": known, "MLFLOW_TRACKING_URI": home.mlflow}
            mine = own | servers | {"MLFLOW_TRACKING_USERNAME": user, "MLFLOW_TRACKING_PASSWORD": password}
            person.types("run", "laptop", *person.settings(), environment=mine)
            person.types("status", "--home", str(storage), environment=own)
            database = dumped(home.cluster) if home.cluster else b""
        finally:
            person.types("down", "--home", str(storage), environment=own)
    typed = person.types("run", "laptop", "--set", f"tracking_uri=http://ana:{refused}@127.0.0.1:9", code=2)
    assert "tracking_uri holds a password" in typed

    secrets = {**person.secrets, "password of the home": password, "password in a setting": refused}
    secrets |= {f"password of a run's own server {number}": text.partition(":")[2] for number, text in enumerate(arguments.passwords)}
    assert len(secrets) > len(CANARIES) + 2, "a run's own Prefect server has a password, and it was seen in an environment"
    wanted = {name: needles(secret) for name, secret in secrets.items()}
    assert ("Authorization", f"Bearer {person.secrets['key of an endpoint']}") in api.asked[0][1].items()
    file = access.credentials_file(storage)
    assert where([tmp_path, file.parent], wanted) == {"password of the home": [file]}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and not file.is_relative_to(storage)
    assert [name for name, secret in wanted.items() if holds(database, secret)] == []
    assert [name for name, secret in wanted.items() if holds(person.shown.encode(), secret)] == []
    lines = "\n".join(arguments.seen).encode()
    assert [name for name, secret in wanted.items() if any(needle in lines for needle in secret)] == []


def assert_refused(server: PrefectApi, secret: str) -> None:
    """A form with a password in it is not stored, and the answer does not repeat it."""
    deployment = server.ask("deployments/name/train/laptop")["id"]
    settings = {"tracking_uri": f"http://ana:{secret}@127.0.0.1:9"}
    with pytest.raises(HTTPError) as caught:
        server.ask(f"deployments/{deployment}/create_flow_run", {"parameters": {"settings": settings}})
    said = caught.value.read().decode()
    assert caught.value.code == 409 and "credentials_belong_in_the_environment" in said and not holds(said.encode(), needles(secret))
