"""Runs a command that must not outlive whoever asked for it: `python guardian.py FOLDER COMMAND...` (absolute paths).

It is ended with all its processes when this one's standard input ends, which happens however the asking process ends,
by kill -9 too, or when the command itself ends; its folder is removed then. vLLM's engine and workers are in sessions
of their own and do not notice a killed server: they would keep the GPU's memory. So orphans below this process become
its children, and are found as such.
"""

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import threading

import psutil

GRACE_SECONDS = 5
SET_CHILD_SUBREAPER = 36
"""Of prctl(2), Linux alone."""


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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
