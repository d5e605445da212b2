"""The same work on many items, in forks of this process, which must have no threads."""

import gc
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any, TypeVar

from tucano.errors import WorkerCrashed

T = TypeVar("T")
R = TypeVar("R")


def _silent(line: str) -> None:
    """Nobody waits for the audit."""


@dataclass(frozen=True)
class Hands:
    """Who does the audit: with more `cores` than one, forks of this process. `say` hears a line before each task."""

    say: Callable[[str], None] = _silent
    cores: int = 1


ALONE = Hands()
_SHARED: list[Any] = []
"""In a fork: the work and its items, which it has without their being sent."""


def forked(work: Callable[[T], R], items: Sequence[T], cores: int) -> list[R]:
    """`work` of each item, in their order. A fork takes the next item whenever it has ended one, so all end at about
    the same time. What `work` raises is raised here. WorkerCrashed where a fork was killed.
    """
    if cores == 1 or len(items) < 2:
        return list(map(work, items))
    gc.freeze()  # or collecting garbage in a fork would copy all that it shares with the others
    forks = ProcessPoolExecutor(min(cores, len(items)), get_context("fork"), _SHARED.extend, ((work, items),))
    with forks:
        try:
            return list(forks.map(_worked, range(len(items))))
        except BrokenProcessPool:
            raise WorkerCrashed("a fork of the audit was killed") from None


def _worked(place: int) -> Any:
    work, items = _SHARED
    return work(items[place])
