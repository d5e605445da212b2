"""What can be worked out of a brief: whether a figure follows from figures that are known, in one step or two.

Units decide which operations there are: a share of an amount is an amount, an amount per order is an amount, the ratio
of two of a kind is a share or a number of times. Nothing else about the figures matters.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from rewards.parsing import proposed
from rewards.parsing.text import Figure, occurs

Operand = tuple[float, str]
"""A value and its unit («%», «R$», or none)."""
MOST_OPERANDS = 14
_ROUNDED = 0.01
"""Share by which a result may be off: people go on with what they have rounded."""


def is_worked_out(figure: Figure, operands: Sequence[Operand], near: float = 0.0) -> bool:
    """Whether a figure shows the result of one operation on one or two operands or of two steps, rounded as it is
    written, or is off by the share `near` at most."""
    known = operands[:MOST_OPERANDS]
    if any(unit == figure.unit and occurs(value, (figure,)) for value, unit in _totals(known)):
        return True
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
        if not unit:
            yield value * second, unit
        if unit == "%":
            yield value * second / 100, "%"
            yield value * (100 - second) / 100, "%"
    elif unit == "%":
        if value and not of:
            yield 100 * second / value, of
        yield from ((second * value / 100, of), (second * (1 - value / 100), of), (second * (1 + value / 100), of))
    elif unit == "R$" and not of:
        yield from ((value * second, "R$"), (value / second, "R$"))


def _totals(known: Sequence[Operand]) -> Iterator[Operand]:
    """Results of two steps: of a share of a count or what two shares of it differ by, a share, what that lacks of a
    count, and what it comes to in amounts («102 devoluções, ou R$ 6,9 mil»); what two amounts differ by, so often."""
    counts, shares, amounts = ([value for value, unit in known if unit == one and value] for one in ("", "%", "R$"))
    for count, share, other in product(counts, shares, [0.0, *shares]):
        part = count * (share - other) / 100
        yield from ((part, ""), (count * share * other / 1e4, ""))
        yield from ((part - number, "") for number in counts)
        yield from ((part * amount, "R$") for amount in amounts)
    for count, amount, other in product(counts, amounts, amounts):
        yield count * (amount - other), "R$"


_OF_EACH = re.compile(r"\b(?:cada|em|por|entre|de|d[ao]s) (?:(100|cem)|(?:mil|1\.?000))\b")


def is_of_each(sentence: str, figure: Figure, operands: Sequence[Operand]) -> bool:
    """Whether a figure without a unit is a known share of a hundred or a thousand («de cada 100 pedidos, 7 voltam»)."""
    wholes = [] if figure.unit else [100 if match[1] else 1000 for match in _OF_EACH.finditer(sentence)]
    shares = [part for value, unit in operands if unit == "%" for part in (value, 100 - value)]
    return any(occurs(share * whole / 100, (figure,)) for share in shares for whole in wholes)


_IN_HUNDRED = re.compile(r"\b(?:cada|em|de) (?:100|cem)\b(?! ?%)")


def of_hundred(sentence: str, figure: Figure, start: int) -> Figure:
    """A figure as the share that it is («de cada 100 clientes, 11 compram outra vez»), else as it stands."""
    is_share = not figure.unit and figure.value < 100 and _IN_HUNDRED.search(sentence, 0, start)
    return Figure(figure.value, figure.tolerance, "%") if is_share else figure


_ONE_OF = re.compile(r"\b(?:1|um|uma) (?:\w+ )?(?:em|a|de|entre) (?:cada )?$")
"""In front of a share that is told as one in so many («um em 27»)."""
_FAR = 0.4
"""The share by which nobody rounds it."""


def is_far(sentence: str, figure: Figure, place: tuple[int, int], share: float) -> bool:
    """Whether one in so many is another share by far than a known one."""
    if figure.unit or not share or not _ONE_OF.search(sentence[: place[0]]):
        return False
    is_free = proposed.is_proposed(sentence, figure, place) or proposed.HEDGED.search(sentence[: place[0]])
    return not is_free and abs(100 / share - figure.value) > _FAR * figure.value


_COMPUTING = re.compile(r"[×÷*/=≈~+]\s?(?:r\$\s?)?$")
_COMPUTED = re.compile(r"\s?(?:[×÷*/=≈+])")
"""Signs of a sum that is written out."""


def follows(sentence: str, figure: Figure, place: tuple[int, int], operands: Sequence[Operand]) -> bool:
    """Whether a figure is a known one told anew: of a hundred, or in a sum that is written out."""
    before, end = sentence[: place[0]], place[1]
    if is_of_each(sentence, figure, operands) or figure.value in (100, 1000):
        return True
    if proposed.IN_EACH.search(before) and not figure.unit:
        return any(unit == "%" and value and abs(100 / value - figure.value) <= 1 for value, unit in operands)
    summed = _COMPUTING.search(before) or _COMPUTED.match(sentence, end)
    return bool(summed) and any(occurs(value, (figure,)) for value, _ in operands)


_SINCE = r"(?:mes|trimestre|ano|semestre|periodo)"
_BEFORE = re.compile(
    r"\b(?:era|eram) (?:quase )?(?:o (?:dobro|triplo))\b"
    rf"|\b(?:dobr|triplic|quadruplic)(?:ou|aram) (?:em relacao a|desde|frente a|ante|n)[ao]? ?(?:\w+ )?{_SINCE}\b"
    rf"|\brecordes? historic|\b(?:maior|menor|pior|melhor|alt[oa]) (?:do )?que (?:n?[oa] )?{_SINCE} (?:passado"
    r"|anterior)\b"
)
_WANTED = re.compile(r"\b(?:se|caso|supondo|quer\w*|quando|ate que)\b")


def compared_with_before(folded: str) -> Iterator[re.Match[str]]:
    """Where a folded text tells in words how much more or less something was («era o triplo no ano passado»); a
    condition, a question and an aim tell nothing."""
    for found in _BEFORE.finditer(folded):
        start = max(folded.rfind(mark, 0, found.start()) for mark in ".!?\n")
        if not _WANTED.search(before := folded[start + 1 : found.start()]) and not proposed.AIM.search(before):
            yield found


def exchanged(
    sentence: str, labels: Iterable[tuple[Sequence[int], str]], shown: Iterable[tuple[Sequence[int], str]]
) -> set[str]:
    """The labels of a sentence that stand with each other's figure («R$ 63.272 para devolução e 5,8% para receita»).
    `labels`, `shown`: where labels stand, and figures of labels."""
    told: list[tuple[int, int, str, str]] = sorted(
        (at[0], at[1], kind, label) for kind, group in (("L", labels), ("F", shown)) for at, label in group
    )
    order = "".join(kind for *_, kind, _ in told)
    names = {label for *_, label in told}
    if order not in _ORDERS or len(names) != 2 or len({(kind, label) for *_, kind, label in told}) != len(told):
        return set()
    pairs = [(told[one], told[other]) for one, other in _ORDERS[order]]
    is_tied = "respectivamente" in sentence or order != "LLFF"
    if order != "LLFF":
        is_tied = all(_TIED.fullmatch(sentence, first[1], second[0]) for first, second in pairs)
    return names if is_tied and all(first[3] != second[3] for first, second in pairs) else set()


_ORDERS = {"LFLF": ((0, 1), (2, 3)), "FLFL": ((0, 1), (2, 3)), "LLFF": ((0, 2), (1, 3))}
_TIED = re.compile(
    r"[^\w.!?;]{0,3}(?:(?:de|em|e|para|pra|como|n[ao]|ao?|com|esta|ficou|foi|chega|alcanca|soma)\b ?){0,2}"
)
"""What ties a figure to a label beside it, or a label to a figure."""


_TEN = {"dois": 2, "duas": 2, "tres": 3, "quatro": 4, "cinco": 5, "seis": 6, "sete": 7, "oito": 8, "nove": 9, "dez": 10}
_SOME_IN = re.compile(rf"\b({'|'.join(_TEN)}) em cada ({'|'.join(_TEN)})\b")
_ROUGHLY = 7.5
"""How far a share that is told as so many in ten may be off, in points of a hundred."""


def unknown_parts(folded: str, operands: Sequence[Operand]) -> list[str]:
    """What a folded text tells as so many in so many that is no known share («nove em cada dez clientes»), nor an aim
    or whom a test is for («a dois em cada dez visitantes»);
    the rest of a share is told of what does not happen («nove em cada dez não voltam»)."""
    shares = [value for value, unit in operands if unit == "%"]
    return [
        found[0]
        for found in _SOME_IN.finditer(folded)
        if not any(
            abs(100 * _TEN[found[1]] / _TEN[found[2]] - share) <= _ROUGHLY
            for share in [*shares, *(100 - share for share in shares if _REST.match(folded, found.end()))]
        )
        and not proposed.AIM.search(folded, max(0, found.start() - _IN_FRONT), found.start())
        and not _FOR_SOME.search(folded, max(0, found.start() - _IN_FRONT), found.start())
    ]


_REST = re.compile(
    r"[^;:!?\n]{0,50}\b(?:nao|nunca|sem|certo|chegam?|ficam?|saem|seguem|somem|sumiram|em dia|a tempo|gente nova)\b"
)
_FOR_SOME = re.compile(r"\b(?:a|para|com) \Z")
_IN_FRONT = 80
