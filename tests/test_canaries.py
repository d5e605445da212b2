"""A secret in every place where one can be given, then a run: none stands anywhere but in the home's own file."""

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest
from canaries import CANARIES, Arguments, dumped, holds, needles, packed, secret_for, where
from chat_api import chat, serving
from test_pipeline import SMALL

from benchmarks.operations import as_options
from deployments import stack
from deployments.prefect_api import PrefectApi
from tucano.security import access

ROOT = Path(__file__).parent.parent
ONE_SEED = {**SMALL, "grpo.seeds": [42], "sft.max_epochs": 1, "audit.resamples": 100, "comparison.samples": 1}


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
        rows = [("x" * (4060 + shift) + secret + "y" * 9000,) for shift in range(40)]
        connection.executemany("INSERT INTO t VALUES (?)", rows)
        connection.commit()
    assert where([tmp_path], {"it": needles(secret), "other": needles("another secret")}) == {"it": [tmp_path / "a.db"]}


class Person:
    """Types commands with every canary in the environment; what was shown on the terminal is kept."""

    def __init__(self, folder: Path, storage: Path) -> None:
        self.storage, self.shown, self.project = storage, "", folder / "project"
        self.secrets = {place: secret_for(place) for place in CANARIES}
        lines = (line.format(secret=self.secrets[place], storage=storage) for place, line in CANARIES.items())
        of_others = ("PREFECT_", "MLFLOW_")
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(of_others)}
        self.environment |= {name: value for name, _, value in (line.partition("=") for line in lines)}
        self.environment |= {"HOME": str(folder / "home"), "TMPDIR": str(folder / "tmp"), "PYTHONPATH": str(ROOT)}
        self.environment["NO_PROXY"] = "127.0.0.1,localhost"
        for name in ("home", "tmp", "project"):
            (folder / name).mkdir()
        (folder / "tmp").chmod(0o711)  # PostgreSQL's user passes through to its socket
        shutil.copyfile(ROOT / "prefect.yaml", self.project / "prefect.yaml")

    def types(self, command: str, *arguments: str, code: int = 0) -> str:
        line = [sys.executable, "-m", "tucano.cli", command, *arguments]
        pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        done = subprocess.run(line, cwd=self.project, env=self.environment, timeout=900, **pipes)
        self.shown += done.stdout
        assert done.returncode == code, done.stdout
        return done.stdout

    def settings(self, **more: object) -> list[str]:
        named = {name.replace("__", "."): value for name, value in more.items()}
        overrides = {**ONE_SEED, "storage": str(self.storage), **named}
        return as_options(overrides)


@pytest.fixture
def folder() -> Iterator[Path]:
    """Everything that is written lies below it. PostgreSQL's user may pass through, where we are root."""
    made = Path(tempfile.mkdtemp(prefix="tucano-canaries-"))
    made.chmod(0o711)
    yield made
    shutil.rmtree(made)


@pytest.fixture
def person(folder: Path) -> Person:
    return Person(folder, folder / "runs")


@pytest.fixture
def databases(person: Person) -> None:
    """Folders for the databases whose addresses hold passwords."""
    for name in ("mlflow", "prefect"):
        (person.storage / name).mkdir(parents=True)


@pytest.mark.services
@pytest.mark.timeout(900)
@pytest.mark.usefixtures("databases")
def test_a_run_writes_shows_and_passes_on_no_secret(person: Person, folder: Path) -> None:
    with Arguments() as arguments:
        person.types("run", "nano", *person.settings())
    assert (person.storage / "mlflow" / "own.db").is_file() and (person.storage / "prefect" / "own.db").is_file()
    assert arguments.passwords, "a run's own Prefect server has a password, and it was seen in an environment"
    own = {f"of a run's own server {number}": known[7:] for number, known in enumerate(arguments.passwords)}
    assert assert_nowhere(person, arguments, own, [folder]) == {}


@pytest.mark.services
@pytest.mark.timeout(900)
@pytest.mark.usefixtures("databases")
def test_a_benchmark_and_a_refusal_write_show_and_pass_on_no_secret(person: Person, folder: Path) -> None:
    refused = secret_for("password in a setting")
    with Arguments() as arguments, serving(folder) as api:
        api.answer = lambda body, number: (200, {}, chat("Compre agora!"))
        endpoint = {"name": "api", "url": api.url, "model": "m", "key_env": "CANARY_API_KEY"}
        small = {"benchmark__prompts": 80, "benchmark__samples": 1, "benchmark__resamples": 20}
        person.types("benchmark", "nano", *person.settings(benchmark__endpoints=[endpoint], **small))
    typed = person.types("run", "nano", "--set", f"tracking_uri=http://ana:{refused}@127.0.0.1:9", code=2)
    assert "tracking_uri holds a password" in typed
    assert api.asked[0][1]["Authorization"] == f"Bearer {person.secrets['key of an endpoint']}"
    assert assert_nowhere(person, arguments, {"password in a setting": refused}, [folder]) == {}


@pytest.mark.services
@pytest.mark.timeout(900)
def test_the_services_write_show_and_pass_on_no_secret(person: Person, folder: Path) -> None:
    refused = secret_for("password in a setting")
    for name in ("MLFLOW_TRACKING_URI", "PREFECT_SERVER_DATABASE_CONNECTION_URL"):
        del person.environment[name]  # the services have databases of their own
    with Arguments() as arguments:
        person.types("up", "--home", str(person.storage))
        home = stack.opened(person.storage, person.project)
        try:
            assert_refused(home.api, refused)
            audit(home.api, person.storage)
            person.types("status", "--home", str(person.storage))
            database = dumped(home.cluster, next((folder / "tmp").glob("tucano-*"))) if home.cluster else b""
        finally:
            person.types("down", "--home", str(person.storage))
    file = access.credentials_file(person.storage)
    password = access.credentials(person.storage).partition(":")[2]
    assert f"{access.USER}:{password}" in arguments.passwords, "the services have it from their environment"
    further = {"password of the home": password, "password in a setting": refused}
    found = assert_nowhere(person, arguments, further, [folder, file.parent], database)
    assert found == {"password of the home": [file]}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and not file.is_relative_to(person.storage)


def assert_nowhere(
    person: Person, arguments: Arguments, further: Mapping[str, str], folders: list[Path], database: bytes = b""
) -> dict[str, list[Path]]:
    """In nothing that was shown, passed or dumped; returns the files that hold one: at most the home's own."""
    wanted = {name: needles(secret) for name, secret in {**person.secrets, **further}.items()}
    assert [name for name, secret in wanted.items() if holds(person.shown.encode(), secret)] == []
    assert [name for name, secret in wanted.items() if holds(database, secret)] == []
    lines = "\n".join(arguments.seen).encode()
    assert [name for name, secret in wanted.items() if any(needle in lines for needle in secret)] == []
    found = where(folders, wanted)
    assert {*found} <= {"password of the home"}, found
    return found


def assert_refused(server: PrefectApi, secret: str) -> None:
    """A form with a password in it is not stored, and the answer does not repeat it."""
    deployment = server.ask("deployments/name/train/nano")["id"]
    settings = {"tracking_uri": f"http://ana:{secret}@127.0.0.1:9"}
    with pytest.raises(HTTPError) as caught:
        server.ask(f"deployments/{deployment}/create_flow_run", {"parameters": {"settings": settings}})
    said = caught.value.read().decode()
    assert caught.value.code == 409 and "credentials_belong_in_the_environment" in said
    assert not holds(said.encode(), needles(secret))


def audit(server: PrefectApi, storage: Path) -> None:
    """The audit's flow, run by the worker to its end."""
    deployment = server.ask("deployments/name/audit/nightly")["id"]
    settings = {"storage": str(storage), "audit": {"resamples": 100, "search_calls": 0}}
    run = server.ask(f"deployments/{deployment}/create_flow_run", {"parameters": {"settings": settings}})["id"]
    deadline = time.monotonic() + 600
    while (state := server.ask(f"flow_runs/{run}")["state"])["type"] not in ("COMPLETED", "FAILED", "CRASHED"):
        assert time.monotonic() < deadline, state
        time.sleep(1)
    assert state["type"] == "COMPLETED", state
