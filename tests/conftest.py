"""For all tests: threads leave each other their cores, passwords of homes that tests make lie in a
folder of theirs, and MLflow's tables are made once.
"""

import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from sqlalchemy.engine import Engine

settings.register_profile("ours", deadline=None)  # how long an example takes is the machine's matter, not the code's
settings.load_profile("ours")

os.environ.setdefault("GOMP_SPINCOUNT", "1000")  # before torch: tests run side by side (tucano/training/launch.py)

SLOW = (
    "test_pipeline",
    "test_vllm",
    "test_training",
    "test_ui",
    "test_drill",
    "test_moved",
    "test_guides",
    "test_analyst",
    "test_exam",
    "test_keys",
    "test_wheel",
    "test_served_model",
    "test_secrets",
)
"""Files that take minutes: they come first, so that no process ends with one of them while the others have nothing to do."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.stem not in SLOW)


UMASK = os.umask(0o022)
os.umask(UMASK)


@pytest.fixture(autouse=True)
def umask_of_the_machine() -> Iterator[None]:
    """A command makes what it writes private, for good in its process: here that is the process of all tests."""
    os.umask(UMASK)
    yield
    os.umask(UMASK)


@pytest.fixture(scope="session", autouse=True)
def state_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, "XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(scope="session", autouse=True)
def tables_made_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """MLflow's migrations take some ten seconds for each new store: stores that this process opens copy the first."""
    if "mlflow" not in sys.modules:
        yield
        return
    from mlflow.store.db import utils

    template, migrate = tmp_path_factory.mktemp("mlflow") / "template.db", utils._upgrade_db

    def copied(engine: "Engine") -> None:
        with closing(engine.raw_connection()) as pooled, closing(sqlite3.connect(template)) as saved:
            connection = pooled.driver_connection
            new = isinstance(connection, sqlite3.Connection) and not utils._get_schema_version(engine)
            if new and template.stat().st_size:
                saved.backup(connection)
                return
            migrate(engine)
            if new:
                connection.backup(saved)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(utils, "_upgrade_db", copied)
        yield
