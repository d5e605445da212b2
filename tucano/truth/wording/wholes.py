"""Shares and sums that are told as whole numbers: «87 dos 661 voltam», «de cada 27 visitas, uma compra», «37 ou 38».

Revenue, orders and ticket belong together: two of them make the third, and people reckon with it without saying so.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from tucano.truth.figures import Figure
from tucano.truth.sums import Quantity
from tucano.truth.wording.proposals import FREE

_OF_NUMBERS = re.compile(r"\s*(?:ou|a)\s*")
_ONE_IN = re.compile(r"\b(?:1|um|uma)(?: [a-z]+)? em(?: cada)? $|\b(?:a|de|em) cada $")
_EACH = re.compile(r"\s*(?:ou \d+\s*)?(?:[a-z]+\s)?(?:por|ao|a) (?P<span>dia|semana)\b")
_SPANS = {"dia": (28, 30, 31), "semana": (4, 4.35)}
"""Days and weeks of the month that a brief tells of."""
_TWICE = re.compile(r"\b(?:dobr[ao]\w*|duas vezes|(?:ida|vinda) e (?:volta|vinda|ida)|ida e a volta|mandar e trazer)\b")
_HALF = re.compile(r"\b(?:metade|meio frete|pela metade)\b")
FEWEST = 3
"""«Um em dois» may be said of anything."""


def implied(facts: Mapping[str, Quantity]) -> list[Quantity]:
    """What two of revenue, orders and ticket say of the third, where a brief lacks it."""
    revenue, orders, ticket = (facts.get(label, (0.0, ""))[0] for label in ("receita", "pedidos", "ticket médio"))
    if revenue and ticket and not orders:
        return [(revenue / ticket, "")]
    if revenue and orders and not ticket:
        return [(revenue / orders, "R$")]
    return [(orders * ticket, "R$")] if orders and ticket and not revenue else []


def in_whole_numbers(
    sentence: str, figure: Figure, shares: Mapping[str, float], wholes: Iterable[float]
) -> Iterator[str]:
    """The shares that a number tells: of so many orders, or as one in so many."""
    if figure.unit or figure.value < FEWEST:
        return
    of = [whole for whole in wholes if whole > FREE] if figure.value > FREE else []
    is_one_in = bool(_ONE_IN.search(sentence[: figure.start]))
    for label, share in shares.items():
        is_part = any(abs(share * whole / 100 - figure.value) < 1 for whole in of)
        if is_part or (is_one_in and share and figure.shows(100 / share)):
            yield label


def widened(sentence: str, found: Sequence[Figure], place: int) -> Figure:
    """A figure, or the middle of the two where it is one of two neighbours («37 ou 38 pedidos»)."""
    figure = found[place]
    for one, other in pairwise(found):
        are_next = other.value == one.value + 1 and not (one.unit or other.unit)
        if figure in (one, other) and are_next and _OF_NUMBERS.fullmatch(sentence[one.end : other.start]):
            return Figure(one.value + 0.5, 0.5, "", figure.start, figure.end)
    return figure


def scaled(sentence: str, figure: Figure, known: Iterable[Quantity]) -> bool:
    """Whether a figure is a month's quantity by the day or week, or one taken twice or by half where the sentence says
    so."""
    each = _EACH.match(sentence, figure.end)
    times = [1 / days for days in _SPANS[each["span"]]] if each else []
    times += [2.0] * bool(_TWICE.search(sentence)) + [0.5] * bool(_HALF.search(sentence))
    return any(unit == figure.unit != "%" and figure.shows(value * factor) for value, unit in known for factor in times)
