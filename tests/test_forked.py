"""A training child may be forked from (tucano/training/worker.py), and libraries that phone home are told not to."""

import subprocess
import sys
from subprocess import PIPE

import pytest

from tucano.training.launch import environment
from tucano.training.worker import INTERRUPTED

WATCHING = """
import multiprocessing, sys, time
from tucano.training.worker import _end_with_parent
_end_with_parent()
time.sleep(0.5)  # the thread waits by now
forked = multiprocessing.get_context("fork").Process(target=str)
forked.start()
forked.join(20)
print("it ended" if forked.exitcode == 0 else "it hangs", flush=True)
forked.kill()
time.sleep(600)
"""


def test_a_process_forked_from_a_child_ends_and_the_child_ends_with_its_parent() -> None:
    with subprocess.Popen([sys.executable, "-c", WATCHING], stdin=PIPE, stdout=PIPE, text=True) as child:
        assert child.stdin is not None and child.stdout is not None
        try:
            said = child.stdout.readline()
            child.stdin.close()
            assert (said, child.wait(60)) == ("it ended\n", INTERRUPTED)
        finally:
            child.kill()


def test_a_child_tells_nobody_that_it_loads_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UNSLOTH_DISABLE_STATISTICS", raising=False)
    assert environment(2)["UNSLOTH_DISABLE_STATISTICS"] == "1"
