"""Figures as people write them, with their unit and place, and what follows from others by one step of arithmetic."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Unit = Literal["%", "R$", ""]
Quantity = tuple[float, str]
"""A value with its unit."""

SLACK = 0.01
"""Relative error of a result worked out from rounded figures; a share has to be as precise as it is written."""
MOST_KNOWN = 14
"""Figures of a brief that others are worked out of."""
_MOST_DIGITS = 15
_LEFT_OUT = re.compile(r"(?m)^[ \t>*#_-]*\d\d?[.)](?=[\s*_])|\b(?:19|20)\d\d-(?:0\d|1[0-2])(?:-\d\d)?\b")
_FIGURE = re.compile(
    r"(?P<money>r\$\s*)?(?<![a-z_]-)(?:(?<=[a-z],)|(?<=[%.][.,/])|(?<![\w.,/]))"
    r"(?P<digits>\d+(?:[.,]\d+)*)(?:e(?P<power>[+-]?\d\d?))?"
    r"(?:\s*(?P<scale>mil|k|mi|bi|tri)(?:lhao|lhoes)?\b)?"
    r"(?:\s*(?P<unit>%|por\s+cento\b|(?:de\s+)?reais\b)|(?!(?<=\d),\d)\b(?![./]\d))"
)
_ZEROS = {"mil": 3, "k": 3, "mi": 6, "bi": 9, "tri": 12}
_GROUPED = re.compile(r"[1-9]\d{0,2}([.,])\d{3}(?:\1\d{3})*(?:(?!\1)[.,]\d+)?")


@dataclass(frozen=True, slots=True)
class Figure:
    """A number: its value, half of its last written digit, its unit, and where it stands."""

    value: float
    tolerance: float
    unit: Unit
    start: int
    end: int

    def shows(self, number: float) -> bool:
        """Whether it is that number, rounded as it is written."""
        return abs(number - self.value) <= self.tolerance * (1 + 1e-9)

    def agrees(self, other: "Figure") -> bool:
        """Whether both may be the same number: one is the other rounded, and the units are no different ones."""
        alike = self.shows(other.value) or other.shows(self.value)
        return alike and (self.unit == other.unit or not (self.unit and other.unit))


def figures(text: str) -> list[Figure]:
    """The figures of a plain text (lower case, without accents), in their order, as docs/rewards.md says."""
    bare = _LEFT_OUT.sub(lambda found: " " * len(found[0]), text)
    read = ((match, _written(match["digits"])) for match in _FIGURE.finditer(bare))
    return [_figure(match, written) for match, written in read if written]


def _written(digits: str) -> str:
    """Digits with a point before their decimals; nothing where marks stand as in no number."""
    grouped = _GROUPED.fullmatch(digits)
    if grouped and (grouped[1] == "." or len(re.findall("[.,]", digits)) > 1):
        digits = digits.replace(grouped[1], "")
    whole, _, decimals = digits.replace(",", ".").partition(".")
    return "" if "." in decimals or len(whole) > _MOST_DIGITS else f"{whole}.{decimals}"


def _figure(match: re.Match[str], written: str) -> Figure:
    zeros = int(match["power"] or 0) + _ZEROS.get(match["scale"], 0)
    last = zeros - len(written.partition(".")[2])
    said = match["unit"] or ""
    unit: Unit = "R$" if match["money"] or "reais" in said else "%" if said else ""
    return Figure(float(f"{written}e{zeros}"), 0.5 * float(f"1e{last}"), unit, match.start(), match.end())


def worked_out(known: Sequence[Quantity]) -> list[Quantity]:
    """What one step of arithmetic that makes sense in their units makes of known quantities: sums, differences, shares,
    changes in per cent, parts of a whole, money times a count.
    """
    known = known[:MOST_KNOWN]
    steps = [step for one in known for step in _from_one(*one)]
    return steps + [step for one in known for other in known if one != other for step in _from_two(one, other)]


def follows(figure: Figure, steps: Sequence[Quantity]) -> bool:
    """Whether a figure is one of the quantities, as precisely as it is written."""
    slack = 0.0 if figure.unit == "%" else SLACK
    return any(
        unit == figure.unit and (figure.shows(value) or abs(value - figure.value) <= slack * abs(value))
        for value, unit in steps
    )


def _from_one(value: float, unit: str) -> Iterable[Quantity]:
    if unit == "%":
        yield 100 - value, "%"
        if value:
            yield 100 / value, ""


def _from_two(one: Quantity, other: Quantity) -> Iterable[Quantity]:
    (first, unit), (second, of) = one, other
    if unit == of:
        yield first + second, unit
        yield abs(first - second), unit
        if second:
            yield 100 * first / second, "%"
            yield abs(100 * first / second - 100), "%"
            yield first / second, ""
        if unit == "%":
            yield first * second / 100, "%"
    elif unit == "%":
        yield from ((part * second / 100, of) for part in (first, 100 - first, 100 + first))
    elif unit == "R$" and not of:
        yield first * second, "R$"
        if second:
            yield first / second, "R$"
