"""A storage goes on wherever it is moved or copied to, and without the MLflow store that it had."""

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import pytest
from odd_files import ODD, put_in_place

from deployments.gc import collect
from deployments.servers import require_history
from tucano.artifacts.lineage import base_of
from tucano.errors import UserError
from tucano.storage.locks import IN_USE
from tucano.tracking import RegisteredModel, Row, Tracker
from tucano.tracking.moved import ADDRESSES
from tucano.tracking.registry import digest
from tucano.tracking.store import settle


def filled(storage: Path) -> RegisteredModel:
    """Made by a process of its own: MLflow keeps connections to a database, whatever becomes of its file."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(fill, storage).result()


@dataclass(frozen=True)
class Whole:
    """A storage with a filled store, and the version that is its champion."""

    place: Path
    champion: RegisteredModel


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    place = tmp_path_factory.mktemp("stores") / "runs"
    return Whole(place, filled(place))


@pytest.fixture
def whole(original: Whole, tmp_path: Path) -> Whole:
    """A copy for one test, settled: filling a store takes MLflow many seconds."""
    place = tmp_path / "a place" / "runs"
    shutil.copytree(original.place, place)
    settle(place)
    return Whole(place, original.champion)


def fill(storage: Path) -> RegisteredModel:
    (storage / "files").mkdir(parents=True)
    (storage / "files" / "weights.bin").write_bytes(b"0123456789")
    tracker = Tracker.connect(None, storage)
    run_id = tracker.start_pipeline("p", {}, {})
    tracker.log_artifact(run_id, storage / "files" / "weights.bin", "report")
    shown = tracker.start_evaluation("sft", {"arm": "sft", "digest.answers": "d"})
    tracker.show_answers({shown: [Row("push", "Pergunta", "Resposta", 0.5, None, {}, "")]}, {})
    return tracker.register("tucano", run_id, storage / "files", {}, ["champion"])


def addresses(storage: Path, old: Path) -> list[tuple[str, str]]:
    """Where the store still names the old place, as a path or as an address: (table, column)."""
    connection = sqlite3.connect(storage / "mlflow" / "mlflow.db")
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    columns = [
        (table, column) for table in tables for _, column, *_ in connection.execute(f"PRAGMA table_info({table})")
    ]
    names = "SELECT 1 FROM {0} WHERE instr(cast({1} AS TEXT), ?) OR instr(cast({1} AS TEXT), ?)"
    wanted = (f"{old}/", f"{old.as_uri()}/")
    return [
        (table, column)
        for table, column in columns
        if connection.execute(names.format(table, column), wanted).fetchone()
    ]


@pytest.mark.parametrize("moving", [shutil.move, shutil.copytree], ids=["moved", "copied"])
def test_what_a_store_holds_is_found_where_the_storage_is_now(
    whole: Whole, tmp_path: Path, moving: Callable[[Path, Path], object]
) -> None:
    old, new = whole.place, tmp_path / "another" / "loja de São Paulo"
    made = whole.champion
    assert addresses(old, old) != []
    new.parent.mkdir()
    moving(old, new)
    for left in old.rglob("weights.bin"):  # where the old place is still there, nothing is read from it
        left.write_bytes(b"other")
    tracker = Tracker.connect(None, new)
    champion = tracker.champion("tucano")
    assert champion is not None and champion.source.startswith(new.as_uri())
    assert digest(tracker.fetch(champion, tmp_path / "fetched")) == made.tags["digest.files"]
    (tmp_path / "report").mkdir()
    report = tracker.client.download_artifacts(made.run_id, "report/weights.bin", str(tmp_path / "report"))
    assert Path(report).read_bytes() == b"0123456789"
    assert addresses(new, old) == []


def test_a_store_that_a_server_has_filled_is_read_without_it(whole: Whole, tmp_path: Path) -> None:
    """A server gives addresses that name the experiment's number below the served folder."""
    served = whole.place / "mlflow" / "artifacts"
    connection = sqlite3.connect(whole.place / "mlflow" / "mlflow.db")
    with connection:
        experiments = connection.execute(
            "SELECT experiment_id, name FROM experiments WHERE name LIKE 'tucano-%'"
        ).fetchall()
        for number, name in experiments:
            if (served / name).is_dir():
                (served / name).rename(served / str(number))
            for table, column in ADDRESSES:
                change = f"UPDATE {table} SET {column} = replace({column}, ?, ?)"
                connection.execute(change, ((served / name).as_uri(), f"mlflow-artifacts:/{number}"))
    connection.close()
    tracker = Tracker.connect(None, whole.place)
    champion = tracker.champion("tucano")
    assert champion is not None
    assert digest(tracker.fetch(champion, tmp_path / "fetched")) == champion.tags["digest.files"]


def torn(database: Path) -> None:
    database.write_bytes(database.read_bytes()[: database.stat().st_size // 2])


def overwritten(database: Path) -> None:
    content = bytearray(database.read_bytes())
    content[4096:8192] = b"\xff" * 4096
    database.write_bytes(content)


def replaced(database: Path) -> None:
    database.write_bytes(b"this is not a database, it is a sentence" * 200)


@pytest.mark.parametrize("damage", [torn, overwritten, replaced])
def test_a_damaged_store_is_one_sentence_with_the_next_step(whole: Whole, damage: Callable[[Path], None]) -> None:
    damage(whole.place / "mlflow" / "mlflow.db")
    with pytest.raises(
        UserError, match=r"mlflow\.db is damaged \(.*\); it holds .* Move it away, .*: mv '.+' '.+'\.damaged$"
    ) as caught:
        Tracker.connect(None, whole.place)
    assert "\n" not in str(caught.value)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("name", ["mlflow/mlflow.db", "prefect/prefect.db"])
def test_what_is_no_file_in_a_databases_place_is_a_sentence(tmp_path: Path, name: str, kind: str) -> None:
    """gc above all: without the registry's word it would take what a champion was made from."""
    (tmp_path / name).parent.mkdir()
    (tmp_path / IN_USE).touch()
    put_in_place(kind, tmp_path / name)
    refusing: list[Callable[[], object]] = [lambda: collect(tmp_path, 30, remove=True)]
    refusing.append(lambda: require_history(tmp_path) if "prefect" in name else settle(tmp_path))
    for command in refusing:
        with pytest.raises(UserError, match=rf"{name} is damaged \(it is no file\); .*: mv \S+ \S+\.damaged$"):
            command()


@pytest.mark.parametrize("damage", [torn, replaced])
def test_gc_takes_nothing_while_prefects_database_is_damaged(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    """It said so in the last words of a process that ended with an error, after it had removed files."""
    old = tmp_path / "work" / "sft" / "0123456789abcdef"
    old.mkdir(parents=True)
    (tmp_path / IN_USE).touch()
    database = tmp_path / "prefect" / "prefect.db"
    database.parent.mkdir()
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE flow_run AS SELECT zeroblob(100000) AS id")
    connection.close()
    damage(database)
    os.utime(old, (0, 0))
    with pytest.raises(UserError, match=r"prefect\.db is damaged \(.*\); it holds the history of runs"):
        collect(tmp_path, 30, remove=True)
    assert old.is_dir()


def adapter(storage: Path, base: str) -> Path:
    folder = storage / "artifacts" / "grpo-seed-42" / "0123456789abcdef" / "adapter"
    folder.mkdir(parents=True)
    (folder / "adapter_config.json").write_text(f'{{"base_model_name_or_path": "{base}"}}', encoding="utf-8")
    return folder


@pytest.mark.parametrize("config", ["", "[]", "{}", '{"base_model_name_or_path": null}', "[" * 99_999])
def test_an_adapter_with_a_damaged_config_is_a_sentence(tmp_path: Path, config: str) -> None:
    (tmp_path / "adapter_config.json").write_text(config, encoding="utf-8")
    with pytest.raises(UserError, match=r"adapter_config\.json is damaged or names no base; bring it back"):
        base_of(tmp_path)


def test_a_version_whose_files_are_gone_is_a_sentence(whole: Whole, tmp_path: Path) -> None:
    """The store is there, and the folder beside it is not."""
    shutil.rmtree(whole.place / "mlflow" / "artifacts")
    tracker = Tracker.connect(None, whole.place)
    champion = tracker.champion("tucano")
    assert champion is not None
    with pytest.raises(UserError, match=r"tucano version 1 is not what was registered: its files at .* are gone"):
        tracker.fetch(champion, tmp_path / "fetched")


def test_an_adapters_base_is_looked_for_in_its_own_storage_first(tmp_path: Path) -> None:
    name = "artifacts/sft/fedcba9876543210/model"
    old, new = tmp_path / "old", tmp_path / "new"
    folder = adapter(new, f"{old}/{name}")
    with pytest.raises(
        UserError, match=r"adapter names .*/old/artifacts/sft/\w+/model as its base, which is not there"
    ):
        base_of(folder)
    for storage in (old, new):
        (storage / name).mkdir(parents=True)
        assert base_of(folder) == f"{storage}/{name}", "the old place, while there is no other"
    assert base_of(adapter(tmp_path / "hub", "org/model")) == "org/model"


WAITING = """
import sys
from pathlib import Path
from prefect import flow, get_client
from deployments.setup import follow, former_homes

@flow
def train(settings: dict[str, str]) -> None: ...

with get_client(sync_client=True) as client:
    made = client.create_deployment(client.create_flow(train), "laptop", parameters={"settings": {"storage": "/old/runs", "seed": "7"}})
    runs = [client.create_flow_run_from_deployment(made, parameters={"settings": {"storage": place, "seed": "7"}}).id
            for place in ["/old/runs"] * 2 + ["/elsewhere"]]
    former = former_homes(client, [{"name": "laptop", "entrypoint": "flows.train.train"}, {"name": "new", "entrypoint": "flows.train.train"}])
    follow(client, former, Path("/new/runs"))
    follow(client, former_homes(client, []), Path("/new/runs"))
    print(former, *(sorted(client.read_flow_run(run).parameters["settings"].items()) for run in runs), sep="\\n")
"""


@pytest.mark.long
def test_runs_that_wait_in_a_moved_home_go_on_in_it(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    environment |= {"PREFECT_HOME": str(tmp_path), "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "200"}
    said = subprocess.run(
        [sys.executable, "-c", WAITING], env=environment, capture_output=True, text=True, timeout=900, check=True
    )
    moved = "[('seed', '7'), ('storage', '/new/runs')]"
    stays = "[('seed', '7'), ('storage', '/elsewhere')]"
    assert said.stdout.splitlines()[-4:] == ["{'/old/runs'}", moved, moved, stays]
