"""The process that training children are forked from: `python -m tucano.training.forking.server`, with its end of a
socket as standard input.

What a child imports takes it eight seconds, and a short run has eight children. This process imports it once, while the
run prepares its data, and then does nothing but fork: it computes nothing, and has no thread but those of allocators
that know of forks, so that a child finds what it would find in a process of its own. It ends when its socket does.
"""

import importlib
import os
import signal
import socket
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from tucano.training import worker
from tucano.training.jobs import MODULES

LONGEST_REQUEST = 2**16
"""Bytes of what is asked: the path of a job and how many threads it has."""


def main() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # a keeper's end is nobody's business
    _call_oneself("fork server")
    worker.quieten_libraries()
    for module in MODULES.values():
        importlib.import_module(module)
    with socket.socket(fileno=os.dup(0)) as asked:
        while True:
            request, handed, _, _ = socket.recv_fds(asked, LONGEST_REQUEST, 3)
            if not request:
                return
            threads, _, job = os.fsdecode(request).partition(" ")
            if os.fork() == 0:
                asked.close()
                _keep(Path(job), threads, handed)
            for descriptor in handed:
                os.close(descriptor)


def _keep(job: Path, threads: str, handed: Sequence[int]) -> None:
    """Fork a job's child, tell its number, wait for its end, and tell its exit code: each a line on the last pipe."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _call_oneself("keeper")
    *standard, told = handed
    child = os.fork()
    if child == 0:
        os.close(told)
        _become(job, threads, *standard)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # meant for the child, which saves first; a keeper ends with it
    for descriptor in (0, 1, 2, *standard):  # or its end would not be seen by who reads what it prints
        os.close(descriptor)
    _tell(told, child)
    _, status = os.waitpid(child, 0)
    _tell(told, os.waitstatus_to_exitcode(status))
    os._exit(0)


def _tell(pipe: int, number: int) -> None:
    with suppress(BrokenPipeError):
        os.write(pipe, f"{number}\n".encode())


def _become(job: Path, threads: str, given: int, printed: int) -> None:
    os.setsid()
    for place, descriptor in enumerate((given, printed, printed)):
        os.dup2(descriptor, place)
    os.close(given)
    os.close(printed)
    os.environ["OMP_NUM_THREADS"] = threads
    _call_oneself(job.parents[2].name)  # work/STAGE/KEY/launch-X/job.json
    code = 1
    try:
        code = worker.main(job)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)


def _call_oneself(name: str) -> None:
    """In what `ps` and `top` show, where it is 15 characters long."""
    with suppress(OSError):
        Path("/proc/self/comm").write_text(name, encoding="utf-8")


if __name__ == "__main__":
    main()
