"""Shares and sums that are told as whole numbers: «87 dos 661 voltam», «de cada 27 visitas, uma compra», «37 ou 38»,
«69 de cada mil».

Revenue, orders and ticket belong together: two of them make the third, and people reckon with it without saying so.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from tucano.truth.advice import names
from tucano.truth.figures import Figure
from tucano.truth.sums import Quantity
from tucano.truth.wording.proposals import FREE

_OF_NUMBERS = re.compile(r"\s*(?:ou|a)\s*")
_ONE_IN = re.compile(r"\b(?:1|um|uma)(?: [a-z]+)? em(?: cada)? $|\b(?:a|de|em) cada $")
_EACH = re.compile(r"\s*(?:ou \d+\s*)?(?:[a-z]+\s)?(?:por|ao|a) (?P<span>dia|semana)\b")
_SPANS = {"dia": (28, 30, 31), "semana": (4, 4.35)}
"""Days and weeks of the month that a brief tells of."""
_BOTH_WAYS = re.compile(
    r"\b(?:(?:ida|vinda) e (?:volta|vinda|ida)|ida e a volta|(?:mandar|levar|enviar) e (?:trazer|buscar"
    r"|receber de volta))\b"
)
_TWICE = re.compile(r"\b(?:dobro|duas vezes)\b")
_RETURNED = re.compile(r"\b(?:devol|troc)\w+")
_HALF = re.compile(r"\b(?:metade|meio frete)\b")
_FREIGHT = re.compile(r"\b(?:fretes?|envios?|entregas?|pacotes?)\b")
_REACHED = re.compile(
    r"\b(?:atingi\w*|alcanc\w*|cheg(?:a|am|ou|aram)|dobr(?:a|am|ou|aram)|caiu|cairam|baixou|subiu|era|foi|ficou|hoje)\b"
    r"|\be (?:o que|o dobro|a metade|de r)|\bpag(?:a|ou|am|aram) (?:o )?frete em dobro"
)
"""A freight is paid twice for what goes and comes back, and halved where a shop shares it; told of what it has become,
twice and half are claims like others. Orders and revenue are never doubled so."""
_SHARED = re.compile(r"\b(?:atras|cancel|devol|recompr|desist|perd)[a-z]*")
_CUT = re.compile(r"[,;:(]| com (?=\d)")
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


def scaled(sentence: str, figure: Figure, facts: Mapping[str, Quantity], more: Iterable[Quantity]) -> bool:
    """Whether a figure is a month's quantity by the day or week, or the freight of both ways or a part of it where the
    sentence says so. `more`: quantities that the brief implies or that were said before."""
    if figure.unit == "%":
        return False
    each = _EACH.match(sentence, figure.end)
    daily = [1 / days for days in _SPANS[each["span"]]] if each else []
    months = _monthly(sentence, figure, facts, more) if each else []
    if any(unit == figure.unit and figure.shows(value * part) for value, unit in months for part in daily):
        return True
    value, unit = facts.get("frete médio", (0.0, ""))
    if unit != figure.unit or not _FREIGHT.search(sentence) or _REACHED.search(sentence):
        return False
    twice = _BOTH_WAYS.search(sentence) or (_TWICE.search(sentence) and _RETURNED.search(sentence))
    return bool(twice and figure.shows(2 * value)) or bool(_HALF.search(sentence) and figure.shows(value / 2))


def _monthly(
    sentence: str, figure: Figure, facts: Mapping[str, Quantity], more: Iterable[Quantity]
) -> Iterable[Quantity]:
    """What a daily figure may be a part of: the month's quantities, or where its clause names a share, as late orders
    do, only that share of them."""
    whole = [quantity for quantity in [*facts.values(), *more] if quantity[1] != "%"]
    ahead = _CUT.split(sentence[: figure.start])[-1]
    clause = ahead + _CUT.split(sentence[figure.end :])[0]
    if not _SHARED.search(clause):
        return whole
    shares = [share for label, (share, unit) in facts.items() if unit == "%" and names(label).search(clause)]
    return [(share * value / 100, unit) for share in shares for value, unit in whole]


_OF_SO_MANY = re.compile(
    r"\b(?:(?P<each>cada)|em|por|entre|de|dos|das)\s(?:(?P<hundred>100|cem)|1\.?000|mil)\b(?!\s*%)"
)
_THE_REST = re.compile(r"\b(?:nao|nem|sem|nunca|outr\w+|demais|rest\w+|sobr\w+)\b")


def is_share(sentence: str, figure: Figure, shares: Sequence[float]) -> bool:
    """Whether a number is one of the shares of the hundred or thousand that its sentence names, or of the rest where
    it speaks of one."""
    scale = _OF_SO_MANY.search(sentence)
    if scale is None or figure.unit or figure.value > (100 if scale["hundred"] else 1000):
        return False
    times, slack = (1, 1) if scale["hundred"] else (10, 5)
    parts = [times * share for share in shares]
    if _THE_REST.search(sentence):
        parts += [times * (100 - share) for share in shares]
    return any(abs(figure.value - part) < slack or figure.shows(part) for part in parts)
