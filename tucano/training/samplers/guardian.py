"""Runs a command that must not outlive whoever asked for it: `python guardian.py FOLDER COMMAND...` (absolute paths).

It is ended with all its processes when this one's standard input ends, which happens however the asking process ends,
by kill -9 too, or when the command itself ends; its folder is removed then. vLLM's engine and workers are in sessions
of their own and do not notice a killed server: they would keep the GPU's memory. So orphans below this process become
its children, and are found as such. Where this process is killed too, whoever starts or ends a server next finds them
by FOLDER, in which all of them work (`sweep`): vLLM's processes rename themselves, which wipes their environment.
"""

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil

GRACE_SECONDS = 5
SET_CHILD_SUBREAPER = 36
"""Of prctl(2), Linux alone."""
PREFIX = "tucano-vllm-"
"""How the names of guardians' folders begin, of which each is of one guardian and stands among the temporary ones."""


def main(folder: str, command: list[str]) -> int:
    adopt_orphans()
    os.chdir(folder)
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL)

    def end_with_the_asker() -> None:
        sys.stdin.buffer.read()
        end_all()

    threading.Thread(target=end_with_the_asker, daemon=True).start()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: end_all())
    code = child.wait()
    end_all()
    shutil.rmtree(folder, ignore_errors=True)
    return code if code >= 0 else 128 - code


def adopt_orphans() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_all() -> None:
    """End every process below this one in order, then by force."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        family = psutil.Process().children(recursive=True)
        for process in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(number)
        if not psutil.wait_procs(family, timeout=GRACE_SECONDS)[1]:
            return


def sweep() -> None:
    """Kill what guardians have left that were killed themselves."""
    for process in _left():
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()


def _left() -> list[psutil.Process]:
    temporary = Path(tempfile.gettempdir()).resolve()
    places: dict[psutil.Process, str] = {}
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            place = Path(process.cwd())
            if place.parent == temporary and place.name.startswith(PREFIX) and process.uids().real == os.getuid():
                places[process] = place.name
    at_work = set(_at_work())  # asked for last: a guardian is there before what it starts
    return [process for process, place in places.items() if place not in at_work]


def _at_work() -> Iterator[str]:
    """The names of the folders of guardians that live."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            words = [Path(word).name for word in process.cmdline()]
            if Path(__file__).name in words[:-1]:
                yield words[words.index(Path(__file__).name) + 1]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
