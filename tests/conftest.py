"""For all tests: threads leave each other their cores, and passwords of homes that tests make lie in a folder of theirs."""

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

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
