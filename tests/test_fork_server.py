"""The process that training children are forked from. That they compute the same bits is in tests/test_training.py."""

import gc
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from tucano.errors import WorkerCrashed, WorkerFailed
from tucano.settings.model import LoadedModel
from tucano.training import launch
from tucano.training.forking import children
from tucano.training.jobs import Job
from tucano.training.launch import forking, run_job

FORKABLE = {"backend": "transformers", "device": "cpu"}


@contextmanager
def serving() -> Iterator[psutil.Process]:
    with forking(LoadedModel(), None):
        deadline = time.monotonic() + 60
        while not servers() and time.monotonic() < deadline:  # it is this program until it has become its own
            time.sleep(0.02)
        (process,) = servers()
        yield process


@pytest.fixture
def server() -> Iterator[psutil.Process]:
    with serving() as process:
        yield process


def servers() -> list[psutil.Process]:
    """Those of this process; what another test has left behind may end at any moment."""
    command = "tucano.training.forking.server"
    living = psutil.process_iter(["ppid", "cmdline"])
    return [one for one in living if one.info["ppid"] == os.getpid() and command in (one.info["cmdline"] or [])]


def family() -> Iterator[tuple[str, psutil.Process]]:
    """Everything below this process, with its name."""
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            yield process.name(), process


def broken(place: Path) -> Job:
    """A job without the settings of its stage: its child says so and ends."""
    return Job("sft", {"model": FORKABLE}, str(place), str(place / "sft" / "key"), str(place / "output"), threads=1)


def open_descriptors() -> list[str]:
    gc.collect()  # a `Popen` closes its pipes when nobody knows it any more
    return [str(path.readlink()) for path in Path("/proc/self/fd").iterdir() if path.is_symlink()]


def fail(job: Path) -> list[str]:
    """What the child says before it fails."""
    said: list[str] = []
    with pytest.raises(WorkerFailed, match="sft failed: ValidationError: 3 validation errors"):
        run_job(broken(job), None, lambda progress: None, said.append)
    return said


class TestChildrenOfOneServer:
    """A server takes as long to start as what it imports, and these do it no harm."""

    @pytest.fixture(scope="class", autouse=True)
    def forked(self) -> Iterator[None]:
        with forking(LoadedModel(), None):
            yield

    def test_what_a_forked_child_prints_is_heard_and_it_is_called_as_its_stage(self, tmp_path: Path) -> None:
        names: set[str] = set()
        with ThreadPoolExecutor(1) as pool:
            failing = pool.submit(fail, tmp_path)
            while not failing.done():  # by the time that a line is heard the child may be gone
                names.update(name for name, _ in family())
        assert {"fork server", "keeper", "sft"} <= names
        assert any("Traceback" in line for line in failing.result())

    def test_many_children_at_once_each_have_their_own_end(self, tmp_path: Path) -> None:
        with ThreadPoolExecutor(4) as pool:
            assert all(pool.map(fail, [tmp_path / str(number) for number in range(8)]))
        deadline = time.monotonic() + 60
        while {"keeper", "sft"} & {name for name, _ in family()}:  # a keeper ends when it has told
            assert time.monotonic() < deadline
            time.sleep(0.1)

    def test_what_the_worker_itself_raises_is_printed(self, tmp_path: Path) -> None:
        assert launch._fork_server is not None
        child = launch._fork_server.fork(tmp_path / "sft" / "key" / "launch" / "job.json", 1)
        assert "FileNotFoundError" in child.stdout.read() and child.wait(60) == 1

    def test_a_killed_keeper_is_a_killed_child(self, tmp_path: Path) -> None:
        """Nobody can say how the child ended; that it may be started again is what counts."""

        def kill(line: str) -> None:
            for name, process in family():
                if name == "keeper":
                    with suppress(psutil.NoSuchProcess):  # another test's, which has just ended
                        process.kill()

        with pytest.raises((WorkerCrashed, WorkerFailed)):
            run_job(broken(tmp_path), None, lambda progress: None, kill)


def test_without_its_server_a_child_is_started_and_nothing_is_left_open(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    before = open_descriptors()
    with serving() as server:
        server.kill()
        psutil.wait_procs([server], timeout=60)
        assert fail(tmp_path)
    assert "sft is started and not forked" in caplog.text
    assert len(open_descriptors()) <= len(before), open_descriptors()


def test_a_server_that_hangs_is_given_up(
    server: psutil.Process, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(children, "FORK_SECONDS", 1)
    server.suspend()
    assert fail(tmp_path)
    _, alive = psutil.wait_procs([server], timeout=60)
    assert not alive


def test_the_server_ends_with_what_it_is_for() -> None:
    with forking(LoadedModel(), None):
        (server,) = servers()
        with forking(LoadedModel(), None):  # within another: the same one
            assert len(servers()) == 1
    _, alive = psutil.wait_procs([server], timeout=60)
    assert not alive


PARENT = """
import sys, time
from tucano.settings.model import LoadedModel
from tucano.training.launch import forking
with forking(LoadedModel(), None):
    print("there", flush=True)
    time.sleep(600)
"""


def test_the_server_does_not_outlive_its_parent() -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None and parent.stdout.readline() == "there\n"
        children = psutil.Process(parent.pid).children(recursive=True)
        parent.kill()
    _, alive = psutil.wait_procs(children, timeout=600)
    assert children and not alive
