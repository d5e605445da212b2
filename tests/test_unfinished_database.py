"""A database of MLflow's that was being made when its process was killed is made again."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from tucano.tracking.store import open_client
from tucano.tracking.unfinished import UNFINISHED, make_whole

OPEN = "import sys; from tucano.tracking.store import open_client; open_client(sys.argv[1])"


def tables(file: Path) -> set[str]:
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
        return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


@pytest.mark.timeout(900)
def test_one_that_was_cut_off_half_way_is_made_again(tmp_path: Path) -> None:
    file = tmp_path / "mlflow.db"
    part = tmp_path / f"mlflow.db{UNFINISHED}"
    child = subprocess.Popen([sys.executable, "-c", OPEN, f"sqlite:///{file}"])
    while child.poll() is None and not (part.is_file() and len(_seen(part)) > 3):
        time.sleep(0.01)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    assert part.exists() and not file.exists(), "killed before it was whole"
    client = open_client(f"sqlite:///{file}")
    client.create_experiment("one")
    assert [path.name for path in tmp_path.iterdir()] == ["mlflow.db"]
    again = open_client(f"sqlite:///{file}")
    assert again.get_experiment_by_name("one") is not None


def test_one_that_a_server_has_made_meanwhile_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "mlflow.db"
    part = tmp_path / f"mlflow.db{UNFINISHED}"

    def both(_: object) -> None:
        part.touch()
        file.write_text("the server's")

    monkeypatch.setattr("mlflow.store.db.utils._initialize_tables", both)
    make_whole(file)
    assert file.read_text() == "the server's" and [path.name for path in tmp_path.iterdir()] == ["mlflow.db"]


def _seen(file: Path) -> set[str]:
    try:
        return tables(file)
    except sqlite3.OperationalError:  # locked, while a migration writes
        return set()


@pytest.mark.timeout(900)
def test_two_that_want_it_at_once_both_get_it(tmp_path: Path) -> None:
    uri = f"sqlite:///{tmp_path / 'mlflow.db'}"
    children = [subprocess.Popen([sys.executable, "-c", OPEN, uri], stderr=subprocess.PIPE, text=True) for _ in "ab"]
    assert [(child.communicate()[1], child.returncode) for child in children] == [("", 0), ("", 0)]
