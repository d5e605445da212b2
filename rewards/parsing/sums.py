"""What can be worked out of a brief: whether a figure is the result of one operation on figures that are known.

Units decide which operations there are: a share of an amount is an amount, an amount per order is an amount, the ratio
of two of a kind is a share or a number of times. Nothing else about the figures matters.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import product

from rewards.parsing.text import Figure, occurs

Operand = tuple[float, str]
"""A value and its unit («%», «R$», or none)."""
MOST_OPERANDS = 14
_ROUNDED = 0.01
"""Share by which a result may be off: people go on with what they have rounded."""


def is_worked_out(figure: Figure, operands: Sequence[Operand], near: float = 0.0) -> bool:
    """Whether a figure shows the result of one operation on one or two operands, rounded as it is written, or is off by
    the share `near` at most."""
    known = operands[:MOST_OPERANDS]
    for one, other in product(known, [(0.0, ""), *known]):
        for value, unit in _results(one, other):
            if unit == figure.unit and _shows(figure, value, max(near, _ROUNDED if unit != "%" else 0.0)):
                return True
    return False


def _shows(figure: Figure, value: float, near: float) -> bool:
    return occurs(value, (figure,)) or abs(abs(value) - figure.value) <= near * abs(value)


def _results(one: Operand, other: Operand) -> Iterator[Operand]:
    (value, unit), (second, of) = one, other
    if unit == "%" and not second:
        yield 100 - value, "%"
        if value:
            yield 100 / value, ""
    elif not second or one == other:
        if unit == "R$":
            yield value / 100, unit  # what a point is worth
    elif unit == of:
        yield from ((value + second, unit), (value - second, unit), (100 * value / second, "%"))
        yield from ((100 * (value / second - 1), "%"), (value / second, ""))
        if unit == "%":
            yield value * second / 100, "%"
            yield value * (100 - second) / 100, "%"
    elif unit == "%":
        if value and not of:
            yield 100 * second / value, of
        yield from ((second * value / 100, of), (second * (1 - value / 100), of), (second * (1 + value / 100), of))
    elif unit == "R$" and not of:
        yield from ((value * second, "R$"), (value / second, "R$"))


_OF_EACH = re.compile(r"\b(?:cada|em|por|entre|de|d[ao]s) (?:(100|cem)|(?:mil|1\.?000))\b")


def is_of_each(sentence: str, figure: Figure, operands: Sequence[Operand]) -> bool:
    """Whether a figure without a unit is a known share of a hundred or a thousand («de cada 100 pedidos, 7 voltam»)."""
    wholes = [] if figure.unit else [100 if match[1] else 1000 for match in _OF_EACH.finditer(sentence)]
    shares = [part for value, unit in operands if unit == "%" for part in (value, 100 - value)]
    return any(occurs(share * whole / 100, (figure,)) for share in shares for whole in wholes)
