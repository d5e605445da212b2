"""Tables of phrases: plain text files beside this one, from which prompts are put together.

    <muito> = muito^4 | bem | super      words that stand for each other
    @atraso                              a bank of lines that mean the same
    (demorou|atrasou^2) <muito> {o} ^3   a line: `(a|b)` is a choice, `{o}` a slot that whoever draws fills

Behind `^` stands how often a word, a choice or a line is drawn, where it is not 1; behind a bank's name (`@atraso ^2`),
what the weights of the lines below it are multiplied by. A table may have several files: `reviews.txt`,
`reviews_long.txt`, whose lines follow one another in a bank.

Words stand for each other in every pool, a line belongs to one. A line with its choices made is a template part, and
has a name of its own: of two texts with the same part, only slots and words for each other differ.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import accumulate
from random import Random

from tucano.specs.banks import Pool

POOLS: tuple[Pool, ...] = ("known", "validation", "test")

EVERY = 6
VALIDATION, TEST = 2, 5
"""Of six lines of a bank, the third is for validation and the sixth for the test set."""
_INNERMOST = re.compile(r"\(([^()]*)\)")
_WEIGHED = re.compile(r"(.*)\^([\d.]+)")
_WORD = re.compile(r"<(\w+)>")
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
"""A choice has at most so many ways."""


@dataclass(frozen=True)
class Weighted:
    """Texts with how often each is drawn, summed up."""

    texts: tuple[str, ...]
    sums: tuple[float, ...]

    @classmethod
    def read(cls, texts: Iterable[str]) -> "Weighted":
        """From texts that may end with `^` and their weight."""
        parts = [_WEIGHED.fullmatch(text) or (text, text, 1) for text in texts]
        return cls(tuple(str(part[1]) for part in parts), tuple(accumulate(float(part[2]) for part in parts)))

    def draw(self, rng: Random) -> int:
        """The number of one of them."""
        return rng.choices(range(len(self.sums)), cum_weights=self.sums)[0]


@dataclass(frozen=True)
class Table:
    """Banks of lines by pool, and lists of words, as one file has them."""

    banks: dict[tuple[str, Pool], Weighted]
    words: dict[str, Weighted]

    def draw(self, bank: str, pool: Pool, rng: Random) -> tuple[str, str]:
        """(name of the part, its text with open slots)."""
        lines = self.banks[bank, pool]
        number = lines.draw(rng)
        text, choices = _chosen(lines.texts[number], rng)
        return f"{bank}.{pool}{number}{'-' if choices else ''}{choices}", self.worded(text, rng)

    def worded(self, text: str, rng: Random) -> str:
        """The text with a word for each `<name>`, of several that stand for each other."""
        while found := _WORD.search(text):
            words = self.words[found[1]]
            text = text[: found.start()] + words.texts[words.draw(rng)] + text[found.end() :]
        return re.sub(r" (?=[,.;:?!])", "", " ".join(text.split()))


def _is_of(name: str, file: str) -> bool:
    return file == f"{name}.txt" or (file.startswith(f"{name}_") and file.endswith(".txt"))


def _heavier(line: str, times: float) -> str:
    found = _WEIGHED.fullmatch(line)
    return f"{found[1]}^{float(found[2]) * times:.4f}" if found else f"{line} ^{times:.4f}"


def _pool(number: int) -> Pool:
    place = number % EVERY
    return "validation" if place == VALIDATION else "test" if place == TEST else "known"


def _chosen(line: str, rng: Random) -> tuple[str, str]:
    """The line with its choices made, from the inside out, and what was chosen."""
    choices = ""
    while found := _INNERMOST.search(line):
        ways = _ways(found[1])
        way = ways.draw(rng)
        choices += _DIGITS[way]
        line = line[: found.start()] + ways.texts[way] + line[found.end() :]
    return line, choices


@cache
def _ways(choice: str) -> Weighted:
    return Weighted.read(choice.split("|"))


@cache
def table(name: str) -> Table:
    """The table of the files `name`.txt and `name`_….txt in this folder."""
    paths = {path.name: path for path in files("data.generator.natural").iterdir()}
    texts = [paths[file].read_text(encoding="utf-8") for file in sorted(paths) if _is_of(name, file)]
    lines: dict[str, list[str]] = {}
    words = {}
    bank, times = "", 1.0
    for line in filter(None, map(str.strip, "\n".join(texts).splitlines())):
        if line.startswith("@"):
            bank, _, weight = line[1:].partition(" ^")
            times = float(weight or 1)
        elif found := re.fullmatch(r"<(\w+)> = (.*)", line):
            words[found[1]] = Weighted.read(map(str.strip, found[2].split("|")))
        elif not line.startswith("#"):
            lines.setdefault(bank, []).append(line if times == 1 else _heavier(line, times))
    banks = {
        (bank, pool): Weighted.read(line for number, line in enumerate(found) if _pool(number) == pool)
        for bank, found in lines.items()
        for pool in POOLS
    }
    return Table(banks, words)
