"""The learned judge: what raters would say of an answer, out of plain facts of it (`tucano judge fit` makes it).

Per task, gradient-boosted trees (Friedman 2001) predict the mean rating, 1 to 5 as 0 to 1. A logistic curve (Platt
1999) turns that into the chance that a rater would use the answer (4 or 5). Its value is the mean of both: the first
orders answers, the second separates them. The file is JSON, read with bounds: whoever can write it can change scores,
and nothing else.
"""

import lzma
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import Field, FiniteFloat, TypeAdapter, ValidationError

from tucano.truth.reading import clip
from tucano.truth.standing import LEAST_KNOWN

JUDGED = ("extraction", "sql_qa", "insights", "push")
FILE = "judge.json.xz"
FORM = 1
MOST_PACKED, MOST_BYTES, MOST_NODES = 2 * 2**20, 16 * 2**20, 200_000
"""Bytes of a file and of what it unpacks to; nodes of a task's trees."""
MOST_MEMORY = 2**27
"""For unpacking: twice what the strongest packing needs."""
Bounded = Annotated[float, Field(ge=-300, le=300)]
"""Of the logistic curve: the power of the sum of two is a number."""


class Tree(NamedTuple):
    """Nodes by number: at an inner one the fact that is asked for, its threshold, where to go at or below it, above it,
    and where it is NaN; a leaf has fact -1 and its value as threshold.
    """

    fact: tuple[int, ...]
    threshold: tuple[float, ...]
    below: tuple[int, ...]
    above: tuple[int, ...]
    unknown: tuple[int, ...]

    def value(self, told: Sequence[float]) -> float:
        node = 0
        while (fact := self.fact[node]) >= 0:
            given = told[fact]
            if given != given:
                node = self.unknown[node]
            else:
                node = self.below[node] if given <= self.threshold[node] else self.above[node]
        return self.threshold[node]


@dataclass(frozen=True, slots=True)
class Lineage:
    """How many answers a judge was learned from, of which tones, and how far it may be trusted on tones that it has not
    seen: a row for each, as `tucano.judging.fit.Trust` has it.
    """

    answers: int
    tones: tuple[str, ...]
    trust: tuple[tuple[str, int, float, float, float, float, float], ...]


@dataclass(frozen=True, slots=True)
class Judge:
    """The judge of one task. facts: names, in the order of the trees; start: the mean that trees add to; slope, offset:
    of the logistic curve.
    """

    facts: tuple[str, ...]
    trees: tuple[Tree, ...]
    start: FiniteFloat
    slope: Bounded
    offset: Bounded
    lineage: Lineage

    def rating(self, told: Mapping[str, float]) -> float:
        """The rating that is expected, in [0, 1]."""
        given = [told[name] for name in self.facts]
        return clip(self.start + sum(tree.value(given) for tree in self.trees))

    def value(self, told: Mapping[str, float]) -> float:
        """Mean of the expected rating and of the chance that a rater would use the answer, in [0, 1]."""
        expected = self.rating(told)
        return (expected + 1 / (1 + math.exp(-self.slope * expected - self.offset))) / 2

    def moved(self, told: Mapping[str, float]) -> dict[str, float]:
        """By how much each fact raises the value: what is lost where it is not known, each fact for itself. A tree
        sends what it does not know the way that most answers went, so the answer is held against an ordinary one.
        """
        value = self.value(told)
        return {name: value - self.value({**told, name: math.nan}) for name in self.facts}

    def knows(self, told: Mapping[str, float]) -> bool:
        """Whether the answer is written in words that the judge has seen: else its value means nothing."""
        return told["known words"] >= LEAST_KNOWN


@dataclass(frozen=True, slots=True)
class _Judges:
    """A file of them; `form` is that of this module."""

    form: Annotated[int, Field(ge=FORM, le=FORM)]
    tasks: dict[str, Judge]


def read_judges(data: bytes) -> dict[str, Judge]:
    """The judges of a file, which may hold anything. ValueError for what is none, or too large."""
    try:
        packed = lzma.LZMADecompressor(memlimit=MOST_MEMORY)
        unpacked = packed.decompress(data, MOST_BYTES)
    except lzma.LZMAError as error:
        raise ValueError(str(error)) from None
    if not packed.eof or packed.unused_data:
        raise ValueError("it is cut off or too large, or something stands behind its end")
    try:
        found = TypeAdapter(_Judges).validate_json(unpacked, strict=True).tasks
    except ValidationError as error:
        first: Any = error.errors(include_url=False, include_input=False)[0]
        raise ValueError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}".removeprefix(": ")) from None
    for judge in found.values():
        _require_leaves(judge)
    return found


def _require_leaves(judge: Judge) -> None:
    """ValueError where a tree does not lead to a leaf with a number, whatever it is asked."""
    if sum(len(tree.fact) for tree in judge.trees) > MOST_NODES:
        raise ValueError("a judge with too many nodes")
    for tree in judge.trees:
        size = len(tree.fact)
        if not size or any(len(column) != size for column in tree):
            raise ValueError("a judge with a tree whose columns differ in length, or are empty")
        for node, (fact, threshold, *ways) in enumerate(zip(*tree, strict=True)):
            leads_on = fact < len(judge.facts) and all(node < way < size for way in ways)
            if not (leads_on if fact >= 0 else math.isfinite(threshold)):
                raise ValueError("a judge whose trees do not lead to a leaf")


def own_judges(path: Path) -> dict[str, Judge]:
    """The judges of somebody's file. OSError where it cannot be read; ValueError where it holds none, or one that asks
    for what is not told of an answer today.
    """
    if not path.is_file():  # a pipe would be waited for
        raise ValueError("there is no such file")
    with path.open("rb") as file:
        found = read_judges(file.read(MOST_PACKED))
    for task, one in found.items():
        if task not in JUDGED:
            raise ValueError(f"a judge of {task!r}, where {', '.join(JUDGED)} have one")
        if unknown := set(one.facts) - set(committed()[task].facts):
            raise ValueError(f"a judge of {task} that asks for {min(unknown)!r}, which is not told of an answer")
    if not found:
        raise ValueError("it has no task")
    return found


@lru_cache(maxsize=8)
def judges(folder: Path | None) -> dict[str, Judge]:
    """The judges of a prompt set: those that lie in its folder (`data.judge`), for other tasks those that come along.
    ValueError for a file that holds none.
    """
    own = folder / FILE if folder else None
    return {**committed(), **own_judges(own)} if own and own.exists() else committed()


@cache
def committed() -> dict[str, Judge]:
    return read_judges(files("tucano.truth").joinpath(FILE).read_bytes())


def digest() -> str:
    """SHA-256 of the file that comes along, first 16 digits."""
    return sha256(files("tucano.truth").joinpath(FILE).read_bytes()).hexdigest()[:16]
