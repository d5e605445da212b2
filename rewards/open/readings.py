"""What an analysis says with figures: which of its brief it tells, which follow from them, which it proposes, and which
are false: unknown, at another's label, moved the other way."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

from rewards.open.advice import orders, sentences
from rewards.open.arithmetic import ROUNDED, Operand, is_known, is_same, is_worked_out, shows
from rewards.open.numbers import digits
from rewards.parsing.text import PORTUGUESE, Figure, figures, fold, placed_figures, spelled, words
from rewards.types import PromptLike

Placed = tuple[Figure, int, int]
"""A figure with where it begins and ends."""
FREE = 10
"""Whole numbers up to here without a unit claim nothing."""
HEDGED_NEAR = 0.06
"""Share by which a figure may be off that is told as about so much."""
TELLING = 100
"""Whole numbers without a unit from which on one knows what they are of."""
_NEAR = 4
"""Words around a figure that may name what it is of."""
_SPAN = re.compile(
    r"\s?(?:[-–a]\s?\d+\s?)?(?:dias?|semanas?|mes(?:es)?|horas?|h\b|min|anos?|vez|x\b|itens|sku|produt|un\b|unid|part"
    r"|passo|toque|pp\b|p\.p|ponto|parcelas|grupos|bairro|motivos|casos)|(?<=\betapa \d\d)"
    r"|(?<=\bpasso \d\d)|(?<=\bgrupo \d\d)"
)
"""Behind numbers that say how long or how many, as tests and lists do."""
_PROPOSED = re.compile(
    r"\b(?:ate|acima|abaixo|a partir|minim\w+|maxim\w+|limit\w+|teto|piso|menos d|se|caso|supo\w+|test\w+|ofer\w+"
    r"|cupo\w+|descont\w+|frete (?:gratis|fixo|[ap]or?)|brinde|bonus|credito|exemplo|ex|reduz\w+|reduc\w+|subir?|suba"
    r"|cair|caia|cheg(?:ar|ue)|lev(?:ar|e|a-l[ao])|volt(?:ar|e)|elev(?:ar|e)|baix(?:ar|e)|aument(?:ar|e)|passar"
    r"|adicion\w+|complement\w+|\w{3,15}ria(?:m|mos)"
    r"|(?<!\ba )(?<!\bda )(?<!\bna )(?<!\buma )(?<!\bpela )\w{3,15}ria|quando|patamar|mov(?:er|a)"
    r"|propo\w+|divis\w+|realoc\w+|digamos"
    r"|quer(?:o|emos)|alvo|metas?)\b[^.:;]{0,30}$|\bdias? (?:\d+(?: e | a |, ?))*$|[<>≤≥+] ?(?:r\$ ?)?$"
    r"|\bde (?:r\$ ?)?[\d.,]+ ?(?:%|mil)? ?(?:para|pra|a) $"
)
"""In front of what is not yet: a limit, an aim, a condition, an offer."""
_OFFERED = re.compile(r" ?(?:(?:de |em )?(?:descont|off\b|cashback|credit|bonus)|a mais\b)")
_OR_MORE = re.compile(r" ?(?:%|dias|estrelas)? ?ou (?:menos|mais)\b")
"""Behind what is offered."""
_AIM = re.compile(
    r"\W*(?:\w+ ){0,3}(?:metas?|alvos?|objetivos?|mir(?:a|e|ar|amos|ando)|esperad[oa]|chegar"
    r"|referencia|conferir|acompanhar|medir|sucesso|metricas?"
    r"|sugest\w+|indicador\w*|regua|corte)\b"
)
"""A sentence that sets an aim: its figures are none of now."""
_WISHED = re.compile(
    r"\b\w{3,15}ria(?:m|mos)\b|(?<!\ba )(?<!\bda )(?<!\bna )(?<!\buma )(?<!\bpela )\b\w{3,15}ria\b"
    r"|\bvamos\b|\bpod(?:e|emos|em)\b|\bmetas?\b|\bqueremos\b|\bse\b|\bou menos\b|\balvo"
)
_LATER = re.compile(
    r"\b(?:dentro de|daqui a|em|por|durante|nos proximos|ate)(?: \w+){1,2} (?:meses|semanas|dias|horas|h|anos)\b"
)
"""A span of time for which something is proposed."""
_TELLS = re.compile(
    r"\b(?:hoje|esta|estao|foi|foram|ficou|fechou|era|chegou|passou|bateu"
    r"|atual\w*|sao|houve|registr\w+|caiu|subiu|e de|e a)\b[^.:]{0,40}$"
)
"""In front of what is so: no word of a proposal before frees it."""
_OF_EACH = re.compile(r"\b(?:em|cada|por|de) $")
_HEDGE = re.compile(
    r"(?:\b(?:uns|umas|cerca de|quase|pert\w+(?: de)?|aproximad\w+|em torno de|mais ou menos|mais de|por volta de"
    r"|algo como|pouco (?:mais|menos) d[eo])|[~≈]) ?(?:r\$ ?)?$"
)
_RANGE = re.compile(r" ?(?:a|e|ou|,|–|-|x) ?")
_UP = re.compile(
    r"\b(?:sub(?:iu|iram)|aument(?:ou|aram)|cresc(?:eu|eram)|pul(?:ou|aram)|avanc(?:ou|aram)"
    r"|dispar(?:ou|aram)|dobr(?:ou|aram))\b"
)
_DOWN = re.compile(
    r"\b(?:ca(?:iu|iram)|baix(?:ou|aram)|reduzi(?:u|ram)|recu(?:ou|aram)|despenc(?:ou|aram)|diminui(?:u|ram))\b"
)
_FROM = re.compile(r"\bde (?:r\$ ?)?$")
_TO = re.compile(r"\s?(?:\w+ )?(?:para|pra|a|→) (?:r\$ ?)?")
_AGAINST = re.compile(r"\W{0,3}(?:\w+ )?(?:para|pra|→|x|vs|contra|virou)\b")
_BEFORE = re.compile(r"\b(?:passad|anterior|antes|antig)")
"""In the label of what was."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A figure of a brief with its label, the words that not every label has, and whether it moved («up», «down»)."""

    figure: Figure
    label: str
    stems: frozenset[str]
    moved: str


@dataclass(frozen=True, slots=True)
class Reading:
    """What an answer makes of a brief's figures. `used`: share of the key figures that are told, in [0, 1]. How many
    figures it tells of the brief, works out, proposes; how many nothing explains (`false`); and how many stand at
    another's label or are moved otherwise (`wrong`)."""

    used: float
    told: int
    derived: int
    proposed: int
    false: int
    wrong: int


def read_figures(prompt: PromptLike, answer: str) -> Reading:
    """What an answer makes of its brief's figures."""
    known = facts(prompt.reference)
    operands: list[Operand] = [(fact.figure.value, fact.figure.unit) for fact in known]
    operands += [(figure.value, figure.unit) for figure in figures(spelled(prompt.user))]
    told: list[Figure] = []
    brief = fold(prompt.user)
    moves = bool(_MOVES.search(brief))
    counts = dict.fromkeys(("told", "free", "proposed", "wrong", "derived", "false"), 0)
    for sentence in sentences(spelled(answer), steps=False):
        placed = placed_figures(sentence)
        counts["wrong"] += _exchanged(sentence, placed, known) + _moved_otherwise(sentence, placed, known)
        units = [figure.unit for figure, *_ in placed]
        counts["wrong"] += len(units) == len({*units}) and _moved(sentence, known, brief)
        counts["wrong"] += bool(_PRAISES.search(sentence)) and any(_is_low_mark(figure, known) for figure, *_ in placed)
        counts["wrong"] += _crossed(sentence, placed, known) + (not moves and bool(_MULTIPLE.search(sentence)))
        counts["false"] += _strange_parts(sentence, operands)
        last = 0
        kind = ""
        for figure, start, end in placed:
            goes_on = kind == "proposed" and bool(_RANGE.fullmatch(sentence, last, start))
            kind = _kind(sentence, (figure, start, end), operands, known, goes_on)
            last = end
            counts[kind] += 1
            if kind == "told":
                told.append(figure)
            elif kind in ("proposed", "derived"):
                operands.append((figure.value, figure.unit))
    keys = key_values(prompt.reference)
    used = sum(any(is_same(figure, key) for figure in told) for key in keys) / max(1, len(keys))
    return Reading(
        used,
        len({figure.value for figure in told}),
        counts["derived"],
        counts["proposed"],
        counts["false"],
        counts["wrong"],
    )


def _kind(
    sentence: str, placed: Placed, operands: Sequence[Operand], known: Sequence[Fact], goes_on: bool = False
) -> str:
    """What a figure of a sentence is: told, free, proposed, wrong, derived or false. `goes_on`: it ends a range whose
    beginning is proposed."""
    figure, start, end = placed
    if is_known(figure, operands) and (figure.unit or figure.value > FREE or not _SPAN.match(sentence, end)):
        return "told"
    if not figure.unit and figure.value <= FREE and figure.value % 1 == 0:
        return "free"
    if goes_on or is_proposed(sentence, placed):
        return "proposed"
    if _LATER.search(sentence) and not _TELLS.search(sentence[:start]):
        return "proposed"
    if figure.unit == "R$" and is_worked_out(figure, operands, near=0.0):
        return "derived"
    tells = bool(_TELLS.search(sentence[:start]))
    if (
        (figure.unit or figure.value >= TELLING or figure.value % 1)
        and _is_tied(sentence, placed, known)
        and (tells or not _WISHED.search(sentence))
    ):
        return "wrong"
    near = HEDGED_NEAR if _HEDGE.search(sentence[max(0, start - 40) : start]) else ROUNDED
    if is_worked_out(figure, operands, near=near):
        return "derived"
    return "proposed" if (orders(sentence) or _WISHED.search(sentence)) and not tells else "false"


def is_proposed(sentence: str, placed: Placed) -> bool:
    """Whether a figure is none of now: a target, a limit, a price, a time that somebody proposes."""
    figure, start, end = placed
    before = sentence[max(0, start - 60) : start]
    if (not figure.unit and _SPAN.match(sentence, end)) or _OFFERED.match(sentence, end):
        return True
    if figure.value in (100, 1000) and _OF_EACH.search(before):
        return True
    if sentence.endswith("?"):
        return True
    wanted = _PROPOSED.search(before) or _AIM.match(sentence) or _OR_MORE.match(sentence, end)
    return bool(wanted) and not _TELLS.search(before) and not _movement(before)


def _is_tied(sentence: str, placed: Placed, known: Sequence[Fact]) -> bool:
    """Whether a figure is told as that of a label of its brief («o frete médio é de R$ 58»), whose own figure the
    sentence does not tell."""
    figure, start, _ = placed
    near = set(_stems(sentence[:start])[-_NEAR:])
    told = [other for other, *_ in placed_figures(sentence)]
    tied = (fact for fact in known if fact.figure.unit == figure.unit and fact.stems and fact.stems <= near)
    return any(not any(shows(other, fact.figure.value) for other in told) for fact in tied)


def _exchanged(sentence: str, placed: Sequence[Placed], known: Sequence[Fact]) -> int:
    """How many figures of a sentence stand behind another label of their unit, where nothing names their own. The
    first figure of «… para …» is told against the label, not of it, and a label may be of the figure before."""
    ends = [0, *(end for _, _, end in placed)]
    starts = [*(start for _, start, _ in placed), len(sentence)]
    found = 0
    for place, (figure, start, end) in enumerate(placed):
        own = [fact for fact in known if figure.unit in ("", fact.figure.unit) and shows(figure, fact.figure.value)]
        is_plain = not figure.unit and figure.value < TELLING and figure.value % 1 == 0
        if not own or is_plain or _AGAINST.match(sentence, end):
            continue
        near = set(_stems(sentence[ends[place] : start])[-_NEAR:])
        around = near | set(_stems(sentence[end : starts[place + 1]])[:_NEAR])
        others = [fact for fact in known if fact.figure.unit == figure.unit and fact not in own]
        if place:
            others = [fact for fact in others if not shows(placed[place - 1][0], fact.figure.value)]
        found += any(all(_is_of(other, fact, near, around) for fact in own) for other in others)
    return found


def _is_of(other: Fact, own: Fact, near: set[str], around: set[str]) -> bool:
    """Whether the words near a figure name another fact by what only its label has, and its own by nothing."""
    theirs, ours = other.stems - own.stems, own.stems - other.stems
    named = len(theirs & near)
    return bool(ours) and named > 0 and 2 * named >= len(theirs) and not ours & around


def _moved_otherwise(sentence: str, placed: Sequence[Placed], known: Sequence[Fact]) -> bool:
    """Whether a sentence tells a move the other way: from a figure to a larger one as a fall, from what is to what was,
    or up of what the brief tells went down."""
    for (one, start, end), (other, then, _) in pairwise(placed):
        before = sentence[max(0, start - 45) : start]
        if one.unit == other.unit and _FROM.search(before) and _TO.fullmatch(sentence, end, then):
            told = _movement(before)
            if told * (other.value - one.value) < 0 or _goes_back(one, other, known):
                return True
    for figure, start, _ in placed:
        told = _movement(sentence[max(0, start - 30) : start])
        of = (fact for fact in known if shows(figure, fact.figure.value) and fact.figure.unit == figure.unit)
        if any(fact.moved and told == (-1 if fact.moved == "up" else 1) for fact in of):
            return True
    return False


_MOVES = re.compile(
    r"\b(?:sub|cai|aument|cresc|baix|reduz|recu|alta\b|queda|passad|anterior|antes|semana \d|era\b|contra\b|agora)"
    r"|\bx \w|→|[+-]\d|trimestre"
)
"""What says in a brief that something moved, or what was before."""


def _moved(sentence: str, known: Sequence[Fact], brief: str) -> bool:
    """Whether a sentence says that something of the brief went up or down, of which the brief tells no such thing."""
    moving = [set(_stems(part)) for part in _PARTS.split(brief) if _MOVES.search(part)]
    for way, told in ((_UP, "up"), (_DOWN, "down")):
        for found in way.finditer(sentence):
            near = set(_stems(sentence[: found.start()])[-2:])
            facts = [fact for fact in known if fact.stems and fact.stems <= near] or [
                f for f in known if f.stems & near
            ]
            still = [fact for fact in facts if not any(fact.stems & stems for stems in moving)]
            if still or (facts and all(fact.moved not in ("", told) for fact in facts)):
                return True
    return False


_PARTS = re.compile(r"[;|/\n]|[,.:] |[.?!]$")
_PRAISES = re.compile(
    r"\b(?:prova social|satisfeit|orgulh|excelen|otim[oa]|elogi|comemor|feli[zc]|content|e (?:muito )?boa\b|bem alta)"
)
LOWEST_GOOD = 3
"""Mean rating below which there is nothing to praise."""


def _is_low_mark(figure: Figure, known: Sequence[Fact]) -> bool:
    """Whether a figure is a mean rating that nobody praises."""
    marks = (fact for fact in known if "nota" in fact.label and fact.figure.value < LOWEST_GOOD)
    return any(shows(figure, fact.figure.value) for fact in marks)


_MULTIPLE = re.compile(r"\beram? (?:de )?(?:quase )?[oa] (?:dobro|triplo|metade)\b")


def _crossed(sentence: str, placed: Sequence[Placed], known: Sequence[Fact]) -> bool:
    """Whether two labels of a sentence and their two figures stand in opposite order («1.234 de recompra e 23,5% de
    pedidos»)."""
    if len(placed) != 2:
        return False
    said = _stems(sentence)
    first, second = ([fact for fact in known if _shows_it(figure, fact)] for figure, *_ in placed)
    for one in first:
        for other in second:
            ours = [place for place, stem in enumerate(said) if stem in one.stems - other.stems]
            theirs = [place for place, stem in enumerate(said) if stem in other.stems - one.stems]
            if len(ours) == len(theirs) == 1 and theirs < ours:
                return True
    return False


def _shows_it(figure: Figure, fact: Fact) -> bool:
    return figure.unit in ("", fact.figure.unit) and is_same(figure, fact.figure.value)


_PART_OF = re.compile(r"\b(\d{1,2}|um|uma) em cada (\d{1,3})\b")


def _strange_parts(sentence: str, operands: Sequence[Operand]) -> int:
    """How often a sentence tells so many in so many («nove em cada dez») that is near no share that is known."""
    shares = [part for value, unit in operands if unit == "%" for part in (value, 100 - value)]
    parts = (
        100 * float(one if one.isdigit() else 1) / max(1, int(of)) for one, of in _PART_OF.findall(digits(sentence))
    )
    return sum(part < 100 and not any(abs(part - share) <= 8 for share in shares) for part in parts)


def _movement(before: str) -> int:
    """The last movement that is told: 1 up, -1 down, 0 none."""
    up, down = (max((found.start() for found in way.finditer(before)), default=-1) for way in (_UP, _DOWN))
    return (up > down) - (down > up)


def _goes_back(one: Figure, other: Figure, known: Sequence[Fact]) -> bool:
    """Whether the brief tells the second of two figures as what was, and the first as what is, of the same."""
    now = [fact for fact in known if shows(one, fact.figure.value) and not _BEFORE.search(fact.label)]
    then = [fact for fact in known if shows(other, fact.figure.value) and _BEFORE.search(fact.label)]
    return any(first.stems & second.stems for first in now for second in then)


def _stems(said: str) -> list[str]:
    return [word if len(word) < 4 else word[:5] for word in words(said) if word not in PORTUGUESE or len(word) < 2]


@lru_cache(maxsize=64)
def _facts(rows: tuple[tuple[str, float, Any, str], ...]) -> tuple[Fact, ...]:
    labels = [frozenset(_stems(label)) for label, *_ in rows]
    common = frozenset.intersection(*labels) if len(labels) > 1 else frozenset()
    return tuple(
        Fact(Figure(value, 0.0, unit), fold(label), stems - common or stems, moved)
        for (label, value, unit, moved), stems in zip(rows, labels, strict=True)
    )


def facts(reference: Mapping[str, Any]) -> tuple[Fact, ...]:
    """The facts of a prompt's reference."""
    rows = reference.get("facts") or ()
    return _facts(
        tuple((row.get("label", ""), float(row["value"]), row.get("unit", ""), row.get("moved", "")) for row in rows)
    )


def key_values(reference: Mapping[str, Any]) -> list[float]:
    """The values of what a prompt asks about."""
    keys = set(reference.get("key") or ())
    named = [float(row["value"]) for row in reference.get("facts") or () if row.get("label") in keys]
    return list(reference.get("key_figures") or named)
