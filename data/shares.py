"""How many prompts of each task come from each of several sources, so that the tasks keep the mix and the sources their
shares.

A source need not have every task, nor enough of one. So this is a flow problem: from each source at most its share,
into each task at most its size, and through each pair at most what the source has. It starts from the product of shares
and sizes and moves prompts along augmenting paths until no more fit.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import floor
from typing import TypeVar

from tucano.prompts import Prompt, Task

K = TypeVar("K")
Sizes = dict[Task, int]
Cell = tuple[int, Task]
"""Number of the source, and the task."""
Cells = dict[Cell, int]
Limit = Callable[[int, Task], int | None]
"""How many prompts of a task a source has; None: as many as one likes."""
TOLERANCE = 0.02
"""How far a source's share of the training prompts may lie from what the settings say."""


def apportion(total: int, shares: Mapping[K, float]) -> dict[K, int]:
    """`total` in proportion to `shares`, in whole numbers that add up (largest remainders, Hamilton's method)."""
    whole = sum(shares.values())
    exact = {name: total * share / whole for name, share in shares.items()}
    sizes = {name: floor(value) for name, value in exact.items()}
    by_remainder = sorted(shares, key=lambda name: exact[name] - sizes[name], reverse=True)
    for name in by_remainder[: total - sum(sizes.values())]:
        sizes[name] += 1
    return sizes


def allotted(total: int, mix: Mapping[Task, float], shares: Sequence[float], limit: Limit) -> Cells:
    """As many of `total` prompts as can have these shares, both over the tasks and over the sources."""
    while total:
        sizes = apportion(total, dict(mix))
        cells = _flow(sizes, shares, limit)
        fitting = sum(cells.values())
        if fitting == total:
            return cells
        total = fitting
    return {}


def filled(sizes: Sizes, shares: Sequence[float], limit: Limit) -> Cells:
    """The sizes, by the shares as far as they can be had, else from whoever has some."""
    cells = _flow(sizes, shares, limit)
    for task, wanted in sizes.items():
        for number in range(len(shares)):
            missing = wanted - sum(cells[other, task] for other in range(len(shares)))
            cells[number, task] += min(missing, _room(cells, limit, (number, task)))
    return cells


def _flow(sizes: Sizes, shares: Sequence[float], limit: Limit) -> Cells:
    total = sum(sizes.values())
    rows = apportion(total, dict(enumerate(shares)))
    flow = _Flow(rows, sizes, limit)
    for number, share in enumerate(shares):
        for task, size in sizes.items():
            flow.add((number, task), int(size * share))
    while path := flow.path():
        flow.push(path)
    return flow.cells


@dataclass
class _Flow:
    rows: dict[int, int]
    columns: Sizes
    limit: Limit

    def __post_init__(self) -> None:
        self.cells: Cells = {(number, task): 0 for number in self.rows for task in self.columns}

    def add(self, cell: Cell, count: int) -> None:
        """At most so many, and no more than source, task and pair have room for."""
        number, task = cell
        self.cells[cell] += min(count, self._left(number), self._missing(task), _room(self.cells, self.limit, cell))

    def _left(self, number: int) -> int:
        return self.rows[number] - sum(self.cells[number, task] for task in self.columns)

    def _missing(self, task: Task) -> int:
        return self.columns[task] - sum(self.cells[number, task] for number in self.rows)

    def path(self) -> list[Cell]:
        """Cells to add to and to take from, in turn, from a source with prompts left to a task that lacks some; []
        without one.
        """
        ways: dict[int, list[Cell]] = {number: [] for number in self.rows if self._left(number)}
        waiting = list(ways)
        while waiting:
            number = waiting.pop(0)
            for task in self.columns:
                if not _room(self.cells, self.limit, (number, task)):
                    continue
                way = [*ways[number], (number, task)]
                if self._missing(task):
                    return way
                for other in self.rows:
                    if other not in ways and self.cells[other, task]:
                        ways[other] = [*way, (other, task)]
                        waiting.append(other)
        return []

    def push(self, path: list[Cell]) -> None:
        (first, _), (_, last) = path[0], path[-1]
        adding, taking = path[::2], path[1::2]
        most = min(
            self._left(first),
            self._missing(last),
            *(_room(self.cells, self.limit, cell) for cell in adding),
            *(self.cells[cell] for cell in taking),
        )
        for cell in adding:
            self.cells[cell] += most
        for cell in taking:
            self.cells[cell] -= most


def _room(cells: Cells, limit: Limit, cell: Cell) -> int:
    most = limit(*cell)
    return 2**31 if most is None else max(0, most - cells[cell])


def trimmed(found: Mapping[int, list[Prompt]], shares: Sequence[float]) -> dict[int, list[Prompt]]:
    """The prompts of each source, the last of some left out where another had fewer than it should: shares within
    `TOLERANCE` of what they should be.
    """
    total = sum(len(prompts) for prompts in found.values())
    if all(abs(len(found[number]) - share * total) <= TOLERANCE * total for number, share in enumerate(shares)):
        return dict(found)
    whole = min(len(found[number]) / share for number, share in enumerate(shares))
    return {number: found[number][: round(whole * share)] for number, share in enumerate(shares)}
