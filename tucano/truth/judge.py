"""The learned judge: what raters would say of an answer, out of plain facts of it (`tucano judge fit` makes it).

Per task, gradient-boosted trees (Friedman 2001) predict the mean rating, 1 to 5 as 0 to 1. A logistic curve (Platt
1999) turns that into the chance that a rater would use the answer (4 or 5). Its value is the mean of both: the first
orders answers, the second separates them. The file is JSON, read with bounds: whoever can write it can change scores,
and nothing else.
"""

import json
import lzma
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import sha256
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any

from tucano.truth import contexts, facts
from tucano.truth.reading import clip
from tucano.truth.standing import LEAST_KNOWN

JUDGED = ("extraction", "sql_qa", "insights", "push")
FILE = "judge.json.xz"
FORM = 1
MOST_BYTES, MOST_NODES = 64 * 2**20, 200_000
"""Of the file, unpacked, and of a task's trees."""


@dataclass(frozen=True, slots=True)
class Tree:
    """Nodes by number: at an inner one the fact that is asked for, its threshold, where to go at or below it, above it,
    and where it is NaN; a leaf has fact -1 and its value as threshold.
    """

    fact: Sequence[int]
    threshold: Sequence[float]
    below: Sequence[int]
    above: Sequence[int]
    unknown: Sequence[int]

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
class Judge:
    """The judge of one task. facts: names, in the order of the trees; start: the mean that trees add to; slope, offset:
    of the logistic curve; lineage: what it was learned from, and how far it may be trusted.
    """

    facts: tuple[str, ...]
    trees: tuple[Tree, ...]
    start: float
    slope: float
    offset: float
    lineage: Mapping[str, Any]

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


def read_judges(data: bytes) -> dict[str, Judge]:
    """The judges of a file, which may hold anything. ValueError for what is none, or too large."""
    try:
        unpacked = lzma.LZMADecompressor(memlimit=MOST_BYTES * 4).decompress(data, MOST_BYTES)
        whole = json.loads(unpacked)
        if whole.get("form") != FORM:
            raise ValueError(f"a judge of form {whole.get('form')!r}, not {FORM}")
        return {task: _judge(found) for task, found in whole["tasks"].items()}
    except (lzma.LZMAError, LookupError, TypeError, AttributeError, EOFError, RecursionError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from None


def meaning(task: str) -> dict[str, str]:
    """{fact: what it says} of all facts that an answer of the task is told by."""
    return {**facts.MEANING, **contexts.MEANING, **import_module(f"tucano.truth.tasks.{task}").MEANING}


def _judge(found: Mapping[str, Any]) -> Judge:
    trees = tuple(Tree(*(tuple(column) for column in columns)) for columns in found["trees"])
    if sum(len(tree.fact) for tree in trees) > MOST_NODES:
        raise ValueError("a judge with too many nodes")
    for tree in trees:
        size = len(tree.fact)
        for node, fact in enumerate(tree.fact):
            ways = (tree.below[node], tree.above[node], tree.unknown[node])
            if fact >= len(found["facts"]) or (fact >= 0 and not all(node < way < size for way in ways)):
                raise ValueError("a judge whose trees do not lead to a leaf")
    return Judge(
        tuple(map(str, found["facts"])),
        trees,
        float(found["start"]),
        float(found["slope"]),
        float(found["offset"]),
        found["lineage"],
    )


def own_judges(data: bytes) -> dict[str, Judge]:
    """The judges of somebody's file. ValueError where one asks for what is not told of an answer today."""
    found = read_judges(data)
    for task, one in found.items():
        if task not in JUDGED:
            raise ValueError(f"a judge of {task!r}, where {', '.join(JUDGED)} have one")
        if unknown := set(one.facts) - set(committed()[task].facts):
            raise ValueError(f"a judge of {task} that asks for {min(unknown)!r}, which is not told of an answer")
    return found


@lru_cache(maxsize=8)
def judges(folder: Path | None) -> dict[str, Judge]:
    """The judges of a prompt set: those that lie in its folder (`data.judge`), for other tasks those that come along.
    ValueError for a file that holds none.
    """
    own = folder / FILE if folder else None
    return {**committed(), **own_judges(own.read_bytes())} if own and own.is_file() else committed()


@cache
def committed() -> dict[str, Judge]:
    return read_judges(files("tucano.truth").joinpath(FILE).read_bytes())


def digest() -> str:
    """SHA-256 of the file that comes along, first 16 digits."""
    return sha256(files("tucano.truth").joinpath(FILE).read_bytes()).hexdigest()[:16]
