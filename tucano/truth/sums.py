"""Whether a figure follows from others by one step of arithmetic that makes sense in their units.

A step takes two quantities of a brief, or of the sentences just before, to a third: sums and differences of the same
unit, parts, wholes and changes in per cent, products and quotients of money and counts.
"""

from collections.abc import Iterable

from tucano.truth.figures import Figure

Quantity = tuple[float, str]
"""A value with its unit, «%», «R$» or none."""
SLACK, HEDGED_SLACK = 0.01, 0.1
"""Relative error that a result may have: it was worked out from rounded figures, or says that it is about so much."""
MOST = 14


def follows(figure: Figure, known: Iterable[Quantity], hedged: bool = False, compared: bool = True) -> bool:
    """Whether one step leads from the known quantities to the figure, as precisely as it is written. `compared`: words
    say that one thing is so much more or less than another."""
    quantities = list(known)[:MOST]
    slack = HEDGED_SLACK if hedged else SLACK if figure.unit != "%" else 0.0
    found = [result for one in quantities for result in _alone(*one)]
    pairs = [(one, other) for one in quantities for other in quantities if one != other]
    found += [result for one, other in pairs for result in _together(one, other)]
    if compared:
        found += [(abs(100 * one / other - 100), "%") for (one, unit), (other, of) in pairs if unit == of and other]
    return any(
        unit == figure.unit and (figure.shows(value) or abs(value - figure.value) <= slack * abs(value))
        for value, unit in found
    )


def _alone(value: float, unit: str) -> list[Quantity]:
    if unit == "R$":
        return [(value / 100, unit)]  # what a point of a share is worth
    if unit != "%":
        return []
    one_in = [(100 / value, "")] if value else []
    return [(100 - value, "%"), (value, ""), *one_in]


def _together(one: Quantity, other: Quantity) -> list[Quantity]:
    (first, unit), (second, of) = one, other
    found: list[Quantity] = []
    if unit == of:
        found = [(first + second, unit), (abs(first - second), unit)]
        if second:
            found += [(100 * first / second, "%"), (first / second, "")]
    elif unit == "%":
        found = [(part * second / 100, of) for part in (first, 100 - first, 100 + first)]
        found += [(100 * second / first, of)] if first else []
    elif unit == "R$" and of == "":
        found = [(first * second, "R$"), *([(first / second, "R$")] if second else [])]
    if unit == of == "%":
        found += [(first * second / 100, "%"), (first * (100 - second) / 100, "%")]
    return found
