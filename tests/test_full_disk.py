"""What a command does when its disk fills up; the free space is told to it, everything else is real."""

from pathlib import Path

import pytest
from programs import python

from tucano.cli.machine.full_disk import FULL_BYTES, LOW_BYTES

ROOT = Path(__file__).parent.parent
COMMAND = """
import shutil, sys, time
from pathlib import Path
from types import SimpleNamespace
from tucano.cli import main
from tucano.cli.machine import full_disk

free = [10**9]
shutil.disk_usage = lambda place: SimpleNamespace(free=free[0])

def work(arguments):
    with full_disk.ending_when_full(Path("/the/storage")):
        {work}
    return 0

main.COMMANDS["doctor"] = work
sys.argv = ["tucano", "doctor"]
main.main()
"""


def ended(work: str) -> tuple[int, list[str]]:
    """Exit code, and lines on standard error."""
    done = python("-c", COMMAND.format(work=work))
    return done.returncode, done.stderr.splitlines()


def test_a_disk_that_runs_low_ends_the_work_in_order() -> None:
    code, lines = ended(
        f"free[0] = {LOW_BYTES - 1}\n        try: time.sleep(50)\n        finally: print('saved', file=sys.stderr)"
    )
    assert code == 1 and "saved" in lines
    assert lines[-2].startswith(
        "tucano: the disk of /the/storage is full (50 MB left), so the run has ended; free some"
    )
    assert lines[-1] == "The same command goes on from what is done."


def test_a_disk_that_is_full_at_once_ends_it_without_another_word() -> None:
    """Whatever fails meanwhile, in however many words, is not printed."""
    code, lines = ended(
        "free[0] = 0\n        while True: time.sleep(0.01); print('x' if free[0] else '', end='', file=sys.stderr)"
    )
    assert code == 1
    assert [line for line in lines if line] == [
        "tucano: the disk of /the/storage is full (0 MB left), so the run has ended; free some space there",
        "The same command goes on from what is done.",
    ]


@pytest.mark.parametrize(
    "raised", ["OSError(28, 'No space left on device')", "RuntimeError('database or disk is full')"]
)
def test_an_error_on_a_full_disk_is_that_sentence(raised: str) -> None:
    code, lines = ended(f"free[0] = {FULL_BYTES - 1}; raise {raised}")
    assert code == 1 and len(lines) == 2
    assert lines[0].startswith("tucano: the disk of /the/storage is full (17 MB left)")


def test_a_signal_whose_exception_is_lost_still_interrupts() -> None:
    """A finaliser swallowed it when SFT started; the child was not started then, and the command ended with 1."""
    lost = (
        "import os, signal; from tucano.errors import WorkerCrashed; from tucano.training import launch\n"
        "        class Last:\n            def __del__(self): os.kill(os.getpid(), signal.SIGINT); time.sleep(5)\n"
        "        last = Last(); del last\n        if launch.stopping(): raise WorkerCrashed('sft was not started')"
    )
    code, lines = ended(lost)
    assert code == 130 and "interrupted; nothing was changed" in lines[-1]
