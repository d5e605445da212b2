"""Answers before and after, in two columns of a terminal."""

import textwrap
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from statistics import fmean

from tucano.comparison.compare import Comparison, Pair
from tucano.presentation.tables import WIDTH, wrapped
from tucano.security.printable import printable

MOST_LINES = 12
COLUMN = (WIDTH - 3) // 2


def side_by_side(comparison: Comparison) -> list[str]:
    """Of each task the pair whose gain is nearest to the mean of those that the comparison shows."""
    tasks = dict.fromkeys(pair.task for pair in comparison.samples)
    lines: list[str] = []
    for task in tasks:
        pairs = [pair for pair in comparison.samples if pair.task == task]
        usual = fmean(pair.change for pair in pairs)
        lines += [*_pair(min(pairs, key=lambda pair: abs(pair.change - usual))), ""]
    return lines[:-1]


def _pair(pair: Pair) -> Iterator[str]:
    yield from wrapped(f"{pair.task}: {pair.user}")
    head = _head("before", pair.reward_before, pair.truth_before)
    yield _row(head, _head("after", pair.reward_after, pair.truth_after))
    for left, right in zip_longest(_column(pair.before), _column(pair.after), fillvalue=""):
        yield _row(left, right)


def _head(name: str, reward: float, truth: float | None) -> str:
    return f"{name}: reward {reward:.2f}" + ("" if truth is None else f", truth {truth:.2f}")


def _column(text: str) -> Sequence[str]:
    lines = [line for part in text.splitlines() for line in textwrap.wrap(printable(part), COLUMN) or [""]]
    return lines if len(lines) <= MOST_LINES else [*lines[: MOST_LINES - 1], "..."]


def _row(left: str, right: str) -> str:
    return f"{left:<{COLUMN}} | {right}".rstrip()
