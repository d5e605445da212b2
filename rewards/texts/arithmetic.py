"""Whether a figure of an answer follows from the figures of its brief by one step of arithmetic.

Units decide which steps there are: a share of an amount is an amount, an amount times a number is an amount, the
ratio of two of a kind is a share or a number of times.
"""

from collections.abc import Iterator, Sequence

from rewards.parsing.text import Figure

Operand = tuple[float, str]
"""A value and its unit («%», «R$», or none)."""
MOST_OPERANDS = 24
_ROUNDED = 0.012
"""Share by which a result may be off: people go on with what they have rounded."""


def is_worked_out(figure: Figure, operands: Sequence[Operand]) -> bool:
    """Whether a figure is the result of one operation on two operands, rounded as it is written; an amount may be off
    by a little more."""
    known = list(dict.fromkeys(operands))[:MOST_OPERANDS]
    near = 0.0 if figure.unit == "%" else _ROUNDED
    for place, one in enumerate(known):
        for other in known[:place]:
            results = (*_together(one, other), *_together(other, one))
            if any(unit == figure.unit and _shows(figure, value, near) for value, unit in results):
                return True
    return figure.unit == "R$" and any(_shows(figure, value, near) for value in _amounts(known))


def _shows(figure: Figure, value: float, near: float) -> bool:
    return abs(abs(value) - figure.value) <= max(figure.tolerance * (1 + 1e-9), near * abs(value))


def _amounts(known: Sequence[Operand]) -> Iterator[float]:
    """Shares of what a number of things at a price comes to: the one sum of two steps."""
    prices = [value for value, unit in known if unit == "R$"]
    numbers = [value for value, unit in known if not unit]
    shares = [value for value, unit in known if unit == "%"]
    return (price * number * share / 100 for price in prices for number in numbers for share in shares)


def _together(one: Operand, other: Operand) -> Iterator[Operand]:
    (value, unit), (second, of) = one, other
    if unit == of:
        yield from ((value + second, unit), (value - second, unit))
        if second:
            ratio = value / second
            yield from ((100 * ratio, "%"), (100 * (ratio - 1), "%"), (ratio, ""))
            if unit == "":
                yield value * second, ""
        if unit == "%":
            yield from ((value * second / 100, "%"), (value * (100 - second) / 100, "%"))
    elif unit == "%":
        yield from ((second * value / 100, of), (second * (1 - value / 100), of), (second * (1 + value / 100), of))
        if value and not of:
            yield 100 * second / value, of
    elif unit == "R$" and not of:
        yield value * second, "R$"
        if second:
            yield value / second, "R$"
