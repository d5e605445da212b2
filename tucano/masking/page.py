"""A folded text while rules mark it: what is marked is blanked, so that no later rule reads it."""

import re
from bisect import bisect_right
from collections.abc import Iterable

Mark = tuple[int, int, str]
"""Personal data of a kind at `[start, end)` of a text: (start, end, kind)."""

BLANK = "\x7f"
"""Stands in no folded text, and in no class of characters that a rule reads."""

BEFORE, BEHIND = 95, 70
"""How far in front of its digits, and behind them, a number may be named."""

_DIGITS = re.compile(r"\d.{0,3}\d.{0,3}\d(?>(?:.{0,20}\d)*)")


class Page:
    """`text` keeps its length; `marks` are in the order in which they were found."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.marks: list[Mark] = []

    def mark(self, marks: Iterable[Mark]) -> None:
        """Marks in the order of their ends; where two overlap, the second begins behind the first."""
        text, last = self.text, 0
        parts: list[str] = []
        for start, end, kind in marks:
            start = max(start, last)
            assert start < end
            parts += text[last:start], BLANK * (end - start)
            last = end
            self.marks.append((start, end, kind))
        if parts:
            self.text = "".join([*parts, text[last:]])

    def near_digits(self) -> "Excerpt":
        """The parts around three digits or more; most of a review is far from any, and need not be read for numbers."""
        spans: list[tuple[int, int]] = []
        for found in _DIGITS.finditer(self.text):
            start = max(0, found.start() - BEFORE)
            end = min(len(self.text), found.end() + BEHIND)
            if spans and start <= spans[-1][1]:
                start = spans.pop()[0]
            spans.append((start, end))
        return Excerpt(self.text, spans)


class Excerpt(Page):
    """Parts of a text, in order, with a blank between."""

    def __init__(self, text: str, spans: list[tuple[int, int]]) -> None:
        super().__init__(BLANK.join(text[start:end] for start, end in spans))
        self._starts, self._shifts, length = [], [], 0
        for start, end in spans:
            self._starts.append(length)
            self._shifts.append(start - length)
            length += end - start + len(BLANK)

    def original_marks(self) -> list[Mark]:
        """The marks as places of the text that this is a part of."""
        if self._shifts in ([], [0]):
            return self.marks
        shifts = (self._shifts[bisect_right(self._starts, start) - 1] for start, _, _ in self.marks)
        placed = zip(self.marks, shifts, strict=True)
        return [(start + shift, end + shift, kind) for (start, end, kind), shift in placed]
