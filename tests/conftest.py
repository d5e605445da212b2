"""For all tests: threads leave each other their cores, passwords of homes that tests make lie in a
folder of theirs, and MLflow's tables are made once.
"""

import math
import os
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from pace import slowness

if TYPE_CHECKING:
    from sqlalchemy.engine import Engine

settings.register_profile("ours", deadline=None)  # how long an example takes is the machine's matter, not the code's
settings.load_profile("ours")

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # no test downloads anything
os.environ.setdefault("GOMP_SPINCOUNT", "1000")  # before torch: tests run side by side (tucano/training/launch.py)

SLOW = (
    "test_pipeline",
    "test_training",
    "test_vllm",
    "test_exam",
    "test_ui",
    "test_wheel",
    "test_secrets",
    "test_guides",
    "test_keys",
    "test_moved",
    "test_analyst",
    "test_served_model",
    "test_drill",
    "test_rehearse",
)
"""Files that take minutes, the longest first: they come before all others, so that no process ends with one of them while
the others have nothing to do."""


ENDS_AT = float(os.environ.get("TUCANO_TESTS_END", "inf"))
"""When tests have to be over, in seconds since the epoch. `.ci/run` says so: a test that would not end in time is skipped
and counted as not run, which is seen on a machine that is several times slower than usual, and only there."""
LONGEST_S, LONGEST_SLOW_S = 5, 60
"""What nearly every test takes at most on a usual machine; in a file of `SLOW`."""
NO_TIME = "no time left on this machine"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Against the clock the many quick ones come first; then, too, the longest begins before the shorter ones."""
    items.sort(key=lambda item: (is_slow(item) == math.isfinite(ENDS_AT), place_among_slow(item)))


def place_among_slow(item: pytest.Item) -> int:
    return SLOW.index(item.path.stem) if item.path.stem in SLOW else len(SLOW)


def is_slow(item: pytest.Item) -> bool:
    return item.path.stem in SLOW or item.get_closest_marker("services") is not None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """The same weights in every process (PEFT draws an adapter's A itself), and an end in time."""
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(0)
    if math.isinf(ENDS_AT):
        return
    slow = is_slow(item)
    if time.time() + slowness() * (LONGEST_SLOW_S if slow else LONGEST_S) > ENDS_AT:
        _late.add(slow)  # for good: tests that tell a story need those before them
    if slow in _late:
        pytest.skip(NO_TIME)


_late: set[bool] = set()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = terminalreporter.getreports("skipped")
    if late := sum(NO_TIME in str(report.longrepr) for report in skipped):
        terminalreporter.write_line(f"NOT RUN: {late} tests, {NO_TIME}; run them on another one", red=True, bold=True)


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
            if not isinstance(connection, sqlite3.Connection) or utils._get_schema_version(engine):
                migrate(engine)
            elif template.stat().st_size:
                saved.backup(connection)
            else:
                migrate(engine)
                connection.backup(saved)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(utils, "_upgrade_db", copied)
        yield
