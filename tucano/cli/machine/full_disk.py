"""When the storage's disk fills up under a command: it ends in order while there is room to write down how, and at once
where there is none.

Runs of a deployment do not come here: nobody sits before them, so they try again (docs/operations.md).
"""

import os
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from tucano.errors import TucanoError
from tucano.training import launch

LOW_BYTES = 50_000_000
"""With less than this the run is ended, and can still save its state and say so in its databases."""
FULL_BYTES = 16 * 1024**2
"""With less, databases fail in many words, and nothing can be recorded any more."""
LOOK_SECONDS = 0.5


class StorageFull(TucanoError):
    """There was no room left for a run to go on."""


@contextmanager
def ending_when_full(root: Path) -> Iterator[None]:
    """Around the work of a command in the main thread. StorageFull when it was ended for want of space; or the process
    ends herein.
    """
    ended = threading.Event()
    low = threading.Event()
    threading.Thread(target=_watch, args=(root, ended, low), name="disk", daemon=True).start()
    try:
        yield
    except (KeyboardInterrupt, Exception) as error:  # whatever it is called: every library words that in its own way
        if isinstance(error, Exception) and _free(root) < FULL_BYTES:
            _leave(root)
        if low.is_set():
            raise StorageFull(_sentence(root)) from None
        raise
    finally:
        ended.set()


def _watch(root: Path, ended: threading.Event, low: threading.Event) -> None:
    while not ended.wait(LOOK_SECONDS):
        free = _free(root)
        if free < FULL_BYTES:
            _leave(root)
        if free < LOW_BYTES and not low.is_set():
            low.set()
            os.kill(os.getpid(), signal.SIGINT)


def _leave(root: Path) -> NoReturn:
    """End as if killed, but with a word and without the children. What is half written is repaired by the next run, as
    after any kill.
    """
    print(f"tucano: {_sentence(root)}\nThe same command goes on from what is done.", file=sys.stderr, flush=True)
    silence = os.open(os.devnull, os.O_WRONLY)
    for output in (1, 2):
        os.dup2(silence, output)
    launch.stop_all()
    os._exit(1)


def _sentence(root: Path) -> str:
    return f"the disk of {root} is full ({_free(root) / 1e6:.0f} MB left), so the run has ended; free some space there"


def _free(root: Path) -> int:
    return shutil.disk_usage(root).free
