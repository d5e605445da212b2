"""Whether a figure of an answer follows from the figures of its brief: is one of them, or one step of arithmetic away.

Units decide which steps there are: a share of an amount is an amount, an amount times a number is an amount, the
ratio of two of a kind is a share or a number of times.
"""

from collections.abc import Iterable, Iterator, Sequence

from rewards.parsing.text import Figure

Operand = tuple[float, str]
"""A value and its unit («%», «R$», or none)."""
MOST_OPERANDS = 24
ROUNDED = 0.012
"""Share by which a result may be off: people go on with what they have rounded."""
_SAME = 0.035
"""Share of a value by which it may be rounded where it is told."""
_SPANS = (30.0, 7.0, 4.0, 12.0, 52.0, 100.0, 1000.0)
"""What a month, a week, a year, a hundred are shared among."""


def shows(figure: Figure, value: float, near: float = 0.0) -> bool:
    """Whether a figure shows a value, rounded as it is written, or is off by the share `near` at most."""
    return abs(abs(value) - figure.value) <= max(figure.tolerance * (1 + 1e-9), near * abs(value))


def is_known(figure: Figure, operands: Iterable[Operand]) -> bool:
    """Whether a figure is one of those of a brief; its unit may be left out."""
    return any(is_same(figure, value) for value, unit in operands if unit == figure.unit or not figure.unit)


def is_same(figure: Figure, value: float) -> bool:
    """Whether a figure is a value, rounded by a share of it at most («3» is no «3,2»)."""
    return shows(figure, value) and abs(abs(value) - figure.value) <= _SAME * abs(value)


def is_worked_out(figure: Figure, operands: Sequence[Operand], alone: bool = True, near: float = ROUNDED) -> bool:
    """Whether a figure is the result of one operation on two operands, or (`alone`) on one, off by the share `near` at
    most or by its rounding; a share by its rounding alone, unless more than usual is allowed."""
    known = list(dict.fromkeys(operands))[:MOST_OPERANDS]
    near = 0.0 if figure.unit == "%" and near <= ROUNDED else near
    for place, one in enumerate(known):
        if alone and any(unit == figure.unit and shows(figure, value, near) for value, unit in _alone(one)):
            return True
        for other in known[:place]:
            results = (*_together(one, other), *_together(other, one))
            if any(unit == figure.unit and shows(figure, value, near) for value, unit in results):
                return True
    return figure.unit == "R$" and any(shows(figure, value, near) for value in _amounts(known))


def _amounts(known: Sequence[Operand]) -> Iterator[float]:
    """Shares of what a number of things at a price comes to: the one sum of two steps."""
    prices = [value for value, unit in known if unit == "R$"]
    numbers = [value for value, unit in known if not unit]
    shares = [value for value, unit in known if unit == "%"]
    return (price * number * share / 100 for price in prices for number in numbers for share in shares)


def _alone(one: Operand) -> Iterator[Operand]:
    value, unit = one
    if unit == "%":
        yield from ((100 - value, "%"), (value, ""), (value * 10, ""), (value / 10, ""), (100 - value, ""))
        if value:
            yield 100 / value, ""
    else:
        yield from ((value / span, unit) for span in _SPANS)
        yield 12 * value, unit


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
