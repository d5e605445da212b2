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
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

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
    """The judges of a file. ValueError for what is none, or too large."""
    try:
        unpacked = lzma.LZMADecompressor(memlimit=MOST_BYTES * 4).decompress(data, MOST_BYTES)
    except lzma.LZMAError as error:
        raise ValueError(str(error)) from None
    whole = json.loads(unpacked)
    if whole.get("form") != FORM:
        raise ValueError(f"a judge of form {whole.get('form')!r}, not {FORM}; make it anew: tucano judge fit")
    return {task: _judge(found) for task, found in whole["tasks"].items()}


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


@cache
def judge(task: str) -> Judge:
    """The judge that comes with the program."""
    return committed()[task]


@cache
def committed() -> dict[str, Judge]:
    return read_judges(files("tucano.truth").joinpath(FILE).read_bytes())


def digest() -> str:
    """SHA-256 of the judge's file, first 16 digits: it stands in every report."""
    return sha256(files("tucano.truth").joinpath(FILE).read_bytes()).hexdigest()[:16]
