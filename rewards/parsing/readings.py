"""What an analysis says with figures: which of its brief it tells, which follow from them, which it proposes, and which are
false (unknown, another label's, moved the other way)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from rewards.parsing.arithmetic import ROUNDED, Operand, is_known, is_worked_out, shows
from rewards.parsing.order import is_imperative, is_infinitive
from rewards.parsing.text import PORTUGUESE, REMEMBERED, Figure, figures, fold, placed_figures, spelled, words
from rewards.types import PromptLike

FREE = 10
"""Whole numbers up to here without a unit claim nothing."""
_LIST_MARK = re.compile(
    r"(?m)^[ \t]*(?:(?:etapa|passo|acao) )?(?:[①-⑳]|[^\w\s\"'(«“|$~<>≤≥+*]\ufe0f?|\*(?!\*)|#+|\(?\w{1,2} ?[.)º:-]|\d{1,2}o|\d\ufe0f?\u20e3)+[ \t]+"
)
_SENTENCES = re.compile(r"(?<=[.!?;])\s+|\n+")
_WHOLE = re.compile(r"(?<=[.!?])\s+|\n+")
_CLAUSES = re.compile(r"[:,;()→]\s+|\b(?:e|ou|eu|so|ja|nao|depois|entao|primeiro|segundo)\s+")
_ADVISES = re.compile(
    r"\b\w{3,}[aei]ria(?:mos|m)?\b|\b(?:recomend|suger|sugir|sugest|propo|priorid|convem|dev(?:e|em|emos)\b|precis[ao]|vale\b"
    r"|vamos\b|melhor\b|meta\b|teste\b|piloto\b|acao\b|acoes\b|plano\b|passo|bora\b|hora de|ideia\b|caminho\b|saida\b)"
)
_ORDERS = re.compile(
    r"(?:^→? ?|: )(?!para|pra|onde|hoje|entre|mesmo|sobre|essa|esta|nossa|toda|cada|quase|agora|fora|ainda|media|nota|meta|leitura|resposta|conta|loja|receita|taxa"
    r"|pergunta|margem|venda|entrega|recompra)[a-z]{2,}[ae] (?:[ao]s?|uma?|n[ao]s?|d[ao]s?|pra|com|so|mais|\d|esse|essa) "
)
"""A sentence that begins as an order does, with a verb and its object («bota a verba na busca»)."""
_FIGURE_FIRST = re.compile(r"→ (?:[a-z-]+:? ){1,4}(?:de |em |a |e |com )?(?:r\$ ?)?\d")
"""A list item that begins with a label and its figure tells what is, not what to do."""
_SPAN = re.compile(
    r"\s?(?:[-–a]\s?\d+\s?)?(?:dias?|semanas?|mes(?:es)?|horas?|h\b|min|anos?|vez|x\b|itens|sku|produt|un\b|unid|part|passo|toque|pessoas|pp\b|p\.p|ponto"
    r"|parcelas|grupos|bairro|client|motivos|casos|pedidos de teste)"
)
"""Behind numbers that say how long or how many, as tests and lists do."""
_PROPOSED = re.compile(
    r"\b(?:ate|acima|abaixo|a partir|minim\w+|maxim\w+|limit\w+|teto|piso|menos d|se|caso|supo\w+|test\w+|ofer\w+|cupo\w+|descont\w+|frete (?:gratis|fixo|[ap]or?)"
    r"|brinde|bonus|credito|exemplo|ex|reduz\w+|reduc\w+|subir?|suba|cair|caia|cheg(?:ar|ue)|lev(?:ar|e)|volt(?:ar|e)|elev(?:ar|e)|baix(?:ar|e)|aument(?:ar|e)|alvo|metas?"
    r"|passar|adicion\w+|complement\w+|\w{3,}ria(?:m|mos)?|quando|patamar|mov(?:er|a)|propo\w+|divis\w+|realoc\w+|digamos|queremos)\b[^.:;]{0,30}$|\bdias? (?:\d+(?: e | a |, ?))*$"
    r"|[<>≤≥+] ?(?:r\$ ?)?$"
)
"""In front of what is not yet: a limit, an aim, a condition, an offer."""
_AIM = re.compile(r"\W*(?:\w+ ){0,3}(?:metas?|alvos?|objetivos?|mira|chegar|referencia|conferir|acompanhar|medir|sucesso|metricas?|sugest\w+|indicador\w*|regua|corte)\b")
"""A sentence that sets an aim: its figures are none of now."""
_TELLS = re.compile(r"\b(?:hoje|esta|estao|foi|foram|ficou|fechou|era|atual\w*|sao|houve|registr\w+|caiu|subiu|e de|e a|em \w+ foi)\b[^.:]{0,40}$")
"""In front of what is so: no word of a proposal before frees it."""
_UP = re.compile(r"\b(?:sub(?:iu|iram)|aument(?:ou|aram)|cresc(?:eu|eram)|pul(?:ou|aram))\b")
_DOWN = re.compile(r"\b(?:ca(?:iu|iram)|baix(?:ou|aram)|reduziu|recu(?:ou|aram)|despenc(?:ou|aram)|diminuiu)\b")
_HEDGE = re.compile(r"(?:\b(?:uns|umas|cerca de|perto de|quase|pert\w+|aproximad\w+|em torno de|mais ou menos|mais de|por volta de|algo como|pouco (?:mais|menos) d[eo])|[~≈]) ?(?:r\$ ?)?$")
_HEDGED_NEAR = 0.06
"""Share by which a figure may be off that is told as about so much."""
_RANGE = re.compile(r" ?(?:a|e|ou|,|–|-|x) ?(?:r\\$ ?)?")
_FROM_TO = re.compile(r"\bde (?:r\$ ?)?$")
_TO = re.compile(r"\s?(?:\w+ )?(?:para|pra|a|→) (?:r\$ ?)?")
_EARLIER = re.compile(r"\b(?:passad|anterior|antes|antig|ante)")


def sentences(folded: str, breaks: re.Pattern[str] = _SENTENCES) -> list[str]:
    """The sentences and list items of a folded text; an item has «→ » for its mark."""
    listed = _LIST_MARK.sub("→ ", folded.replace("**", ""))
    return [line for line in breaks.split(listed) if len(line) > 3]


def advises(line: str) -> bool:
    """Whether a folded sentence advises: says so, or orders."""
    return bool(_ADVISES.search(line)) or orders(line)


def clauses(line: str) -> int:
    """How many clauses of a folded sentence begin with an infinitive, or have one behind who should."""
    begun = [found[0] for clause in _CLAUSES.split(line) if (found := words(clause)[:1])]
    return sum(is_infinitive(word) for word in begun) + bool(_SHOULD.search(line))


_SHOULD = re.compile(r"\b(?:pode|podemos|poderia|vamos|queremos|aposta e|bom|deve|devemos|vale|bora|precisa|hora de) [a-z]{2,}[aei]r\b")


def orders(line: str) -> bool:
    """Whether a folded sentence is an order, or a list item that is not only a label with its figure."""
    ordered = [found[0] for part in re.split(r"[:→] ", line) if (found := words(part)[:1])]
    if _ORDERS.search(line) or (line.startswith("→") and not _FIGURE_FIRST.match(line)):
        return True
    return clauses(line) > 0 or any(map(is_imperative, ordered))


@dataclass(frozen=True, slots=True)
class Fact:
    """A figure of a brief with its label's words, whether it moved («up», «down»), and its place in the brief."""

    figure: Figure
    label: str
    stems: frozenset[str]
    moved: str


@dataclass(frozen=True, slots=True)
class Reading:
    """What an answer makes of a brief's figures. `used`: share of the key figures that are told; the rest are numbers of
    figures: of the brief that are told, that follow from it, that are proposed, that nothing explains, that stand at another's label or moved otherwise."""

    used: float
    told: int
    derived: int
    proposed: int
    false: int
    wrong: int


def _stems(said: str) -> list[str]:
    return [word if len(word) < 4 else word[:5] for word in words(said) if word not in PORTUGUESE or len(word) < 2]


@lru_cache(maxsize=64)
def _facts(rows: tuple[tuple[str, float, str, str], ...]) -> tuple[Fact, ...]:
    """The facts, each with the words of its label that not every label has."""
    labels = [frozenset(_stems(label)) for label, *_ in rows]
    common = frozenset.intersection(*labels) if len(labels) > 1 else frozenset()
    return tuple(
        Fact(Figure(value, 0.0, unit), fold(label), stems - common or stems, moved)  # type: ignore[arg-type]
        for (label, value, unit, moved), stems in zip(rows, labels, strict=True)
    )


def facts(reference: Mapping[str, Any]) -> tuple[Fact, ...]:
    """The facts of a prompt's reference."""
    rows = reference.get("facts") or ()
    return _facts(tuple((row["label"], float(row["value"]), row["unit"], row.get("moved", "")) for row in rows))


def key_values(reference: Mapping[str, Any]) -> list[float]:
    """The values of what a prompt asks about."""
    keys = set(reference.get("key") or ())
    named = [float(row["value"]) for row in reference.get("facts") or () if row["label"] in keys]
    return list(reference.get("key_figures") or named)


def read_figures(prompt: PromptLike, answer: str) -> Reading:
    """What an answer makes of its brief's figures."""
    known = facts(prompt.reference)
    operands: list[Operand] = [(fact.figure.value, fact.figure.unit) for fact in known]
    operands += [(figure.value, figure.unit) for figure in figures(spelled(prompt.user))]
    told: set[float] = set()
    derived = proposed = false = wrong = 0
    for sentence in sentences(spelled(answer), _WHOLE):
        placed = placed_figures(sentence)
        wrong += _exchanged(sentence, placed, known) + _moved_otherwise(sentence, placed, known)
        last, free = 0, False
        for figure, start, end in placed:
            free = free and bool(_RANGE.fullmatch(sentence, last, start))
            last = end
            if is_known(figure, operands) and (figure.unit or figure.value > FREE or not _SPAN.match(sentence, end)):
                told.add(figure.value)
            elif not figure.unit and figure.value <= FREE and figure.value % 1 == 0:
                continue
            elif free or is_proposed(sentence, figure, start, end):
                proposed += 1
                free = True
                operands.append((figure.value, figure.unit))
            elif figure.unit and _tied(sentence, figure, start, known) and not _WISHED.search(sentence):
                wrong += 1
            elif is_worked_out(figure, operands, near=_HEDGED_NEAR if _HEDGE.search(sentence[:start]) else ROUNDED):
                derived += 1
                operands.append((figure.value, figure.unit))
            elif orders(sentence):
                proposed += 1
            else:
                false += 1
    keys = key_values(prompt.reference)
    used = sum(any(abs(value - key) <= 0.035 * abs(key) for value in told) for key in keys) / len(keys) if keys else 0.0
    return Reading(used, len(told), derived, proposed, false, wrong)


def is_proposed(sentence: str, figure: Figure, start: int, end: int) -> bool:
    """Whether a figure is none of now: a target, a limit, a price, a time that somebody proposes."""
    before = sentence[max(0, start - 60) : start]
    if (not figure.unit and _SPAN.match(sentence, end)) or (figure.value in (100, 1000) and _OF_EACH.search(before)):
        return True
    if _OFFERED.match(sentence, end):
        return True
    return bool(_PROPOSED.search(before) or _AIM.match(sentence)) and not _TELLS.search(before)


_OFFERED = re.compile(r" ?(?:(?:de |em )?(?:descont|off\b|cashback|credit|bonus)|ou mais ganh|a mais\b)")
_WISHED = re.compile(r"\w{3,}ria(?:m|mos)?\b|\bvamos\b|\bpod(?:e|emos|em)\b|\bmetas?\b|\bqueremos\b|\bse\b|\bou menos\b|\balvo")


def _tied(sentence: str, figure: Figure, start: int, known: Sequence[Fact]) -> bool:
    """Whether a figure is told as that of a label of its brief («o frete médio é de R$ 58»)."""
    near = set(_stems(sentence[:start])[-_NEAR:])
    return any(fact.stems <= near for fact in known if fact.figure.unit == figure.unit and fact.stems)


_OF_EACH = re.compile(r"\b(?:em|cada|por|de) $")


def _exchanged(sentence: str, placed: Sequence[tuple[Figure, int, int]], known: Sequence[Fact]) -> int:
    """How many figures of a sentence stand behind the label of another one of their unit, where nothing names their own.
    The first figure of «… para …» is told against the label, not of it, and a label may be of the figure before."""
    ends = [0, *(end for _, _, end in placed)]
    found = 0
    for place, (figure, start, end) in enumerate(placed):
        own = [fact for fact in known if (fact.figure.unit == figure.unit or not figure.unit) and shows(figure, fact.figure.value)]
        plain = not figure.unit and figure.value < _TELLING and figure.value % 1 == 0
        if not own or plain or _AGAINST.match(sentence, end):
            continue
        behind = placed[place + 1][1] if place + 1 < len(placed) else len(sentence)
        near = set(_stems(sentence[ends[place] : start])[-_NEAR:])
        around = near | set(_stems(sentence[end:behind])[:_NEAR])
        others = [fact for fact in known if fact.figure.unit == figure.unit and fact not in own]
        others = [fact for fact in others if not place or not shows(placed[place - 1][0], fact.figure.value)]
        found += any(all(_is_of(other, fact, near, around) for fact in own) for other in others)
    return found


_NEAR = 4
"""Words around a figure that may name what it is of."""
_TELLING = 100
"""Whole numbers without a unit from which on one knows what they are of."""
_AGAINST = re.compile(r"\W{0,3}(?:\w+ )?(?:para|pra|→|x|vs|contra|virou)\b")


def _is_of(other: Fact, own: Fact, near: set[str], around: set[str]) -> bool:
    """Whether the words near a figure name another fact by what only its label has, and its own by nothing."""
    theirs, ours = other.stems - own.stems, own.stems - other.stems
    return bool(theirs and ours) and 2 * len(theirs & near) > len(theirs) - 1 and theirs & near != set() and not ours & around


def _moved_otherwise(sentence: str, placed: Sequence[tuple[Figure, int, int]], known: Sequence[Fact]) -> bool:
    """Whether a sentence tells a move the other way: from a figure to a larger one as a fall, from the later to the
    earlier one, or up of what the brief tells went down."""
    for (one, start, end), (other, then, _) in zip(placed, placed[1:], strict=False):
        if one.unit == other.unit and _FROM_TO.search(sentence[:start]) and _TO.fullmatch(sentence[end:then]):
            if one.value < other.value if _falls(lead := sentence[max(0, start - 45) : start]) else (one.value > other.value and _UP.search(lead)):
                return True
            if _is_later(one, other, known):
                return True
    for figure, start, _ in placed:
        lead = sentence[max(0, start - 30) : start]
        for fact in known:
            if fact.moved and shows(figure, fact.figure.value) and fact.figure.unit == figure.unit:
                if (_UP if fact.moved == "down" else _DOWN).search(lead):
                    return True
    return False


def _falls(before: str) -> bool:
    """Whether the last movement that is told is one down."""
    down = max((found.start() for found in _DOWN.finditer(before)), default=-1)
    return down > max((found.start() for found in _UP.finditer(before)), default=-1)


def _is_later(one: Figure, other: Figure, known: Sequence[Fact]) -> bool:
    """Whether the first of two figures is told by the brief as the later one of the same label."""
    first = [fact for fact in known if shows(one, fact.figure.value)]
    second = [fact for fact in known if shows(other, fact.figure.value)]
    return any(
        bool(_EARLIER.search(late.label)) and not _EARLIER.search(early.label) and bool(late.stems & early.stems)
        for early in first
        for late in second
    )
