"""The same work on many items, in forks of this process, which must have no threads."""

import gc
import os
import pickle
import struct
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from tucano.errors import WorkerCrashed

T = TypeVar("T")
R = TypeVar("R")

MOST_ITEMS = 2**14
"""Their places fit into a pipe."""


@dataclass(frozen=True)
class Hands:
    """Who does the audit: with more `cores` than one, forks of this process. `say` hears a line before each task."""

    say: Callable[[str], None] = lambda line: None
    cores: int = 1


ALONE = Hands()


def forked(work: Callable[[T], R], items: Sequence[T], cores: int) -> list[R]:
    """`work` of each item, in their order. A fork takes the next item whenever it has ended one, so all end at about
    the same time. What `work` raises is raised here. WorkerCrashed where a fork was killed.
    """
    if cores == 1 or len(items) < 2:
        return list(map(work, items))
    assert len(items) <= MOST_ITEMS
    places, dealing = os.pipe()
    os.write(dealing, struct.pack(f"{len(items)}i", *range(len(items))))
    os.close(dealing)
    gc.freeze()  # or collecting garbage in a fork would copy all that it shares with the others
    forks = [_fork(work, items, places) for _ in range(min(cores, len(items)))]
    os.close(places)
    results: dict[int, R] = {}
    for child, told in forks:
        with os.fdopen(told, "rb") as pipe:
            answer = pipe.read()
        _, status = os.waitpid(child, 0)
        if status:
            raise WorkerCrashed(f"a fork of the audit ended with exit code {os.waitstatus_to_exitcode(status)}")
        done = pickle.loads(answer)
        if isinstance(done, Exception):
            raise done
        results |= done
    return [results[place] for place in range(len(items))]


def _fork(work: Callable[[T], R], items: Sequence[T], places: int) -> tuple[int, int]:
    """The fork's number, and the pipe on which it tells its results at its end."""
    told, telling = os.pipe()
    child = os.fork()
    if child:
        os.close(telling)
        return child, told
    code = 1
    try:
        with os.fdopen(telling, "wb") as pipe:
            pickle.dump(_worked(work, items, places), pipe)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _worked(work: Callable[[T], R], items: Sequence[T], places: int) -> dict[int, R] | Exception:
    done: dict[int, R] = {}
    try:
        while taken := os.read(places, 4):
            (place,) = struct.unpack("i", taken)
            done[place] = work(items[place])
    except Exception as fault:
        return fault
    return done
