"""The facts of a brief, and which of them an answer states: a figure counts where it stands with its own label."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tucano.truth.advice import names, recommends
from tucano.truth.figures import Figure, figures
from tucano.truth.reading import plain, sentences

FREE = 10
"""Whole numbers up to here without a unit claim nothing («3 ações»)."""

_UP = (
    r"(?:subi(?:u|ram)|cresc(?:eu|eram)|aument(?:ou|aram)|dobr(?:ou|aram)|dispar(?:ou|aram)|avanc(?:ou|aram)"
    r"|alta de|aumento de|crescimento de)"
)
_DOWN = (
    r"(?:ca(?:iu|iram)|diminui(?:u|ram)|reduzi(?:u|ram)|despenc(?:ou|aram)|recu(?:ou|aram)|baix(?:ou|aram)"
    r"|queda de|reducao de)"
)
_MOVED = re.compile(rf"\b(?:(?P<up>{_UP})|(?P<down>{_DOWN}))\b")
_TARGET = re.compile(
    r"\b(?:meta|metas|objetivo|alvo|acima de|abaixo de|a partir de|ate|menos de|minimo de|minim[oa]|pelo menos"
    r"|chegar a"
    r"|chegue a|cupo[mn]|desconto|brinde|multa)\b[^.;]*$"
    r"|\b(?:aumentar|elevar|subir|reduzir|baixar|diminuir|levar|trazer|aumente|eleve|suba|reduza|baixe|diminua"
    r"|leve)\b"
    r"[^.;]*\b(?:para|a|em)\s*(?:r\$\s*)?$"
)
_HEDGED = re.compile(
    r"\b(?:uns|umas|cerca de|perto de|quase|algo como|por volta de|aproximadamente|em torno de)\s+(?:r\$\s*)?$"
)
_OWN_WORDS = 4
"""Words beside label and figure of a sentence that is more than an item of a list."""
_SPAN = re.compile(
    r"\s*(?:primeir[oa]s\s+)?(?:dias?|semanas?|mes(?:es)?|horas?|minutos?|vezes|x|anos?|parcelas?|etapas?|passos?)\b"
)
_OF = re.compile(r"\s+(?:de|do|da|dos|das|em|na|no)\s+(?:(?:o|a|taxa de|indice de|media de)\s+)?|\s+")
_STATED = re.compile(
    r"\s*(?:medi[oa]s?)?\s*(?:\(|:|,|=)?\s*(?:(?:que\s+)?(?:e|foi|esta|ficou|chega|chegou|fica|atual|ja|hoje|custa|custou"
    r"|alcancou|atingiu|marca|marcou|sai|saiu|sustente|gira|soma|somou)?\s*(?:de|em|a|ao|do|da|por|so|apenas)?\s*){0,3}"
    r"(?:apenas |so )?\(?\s*"
)


@dataclass(frozen=True)
class Fact:
    """A figure of a brief: what it is of, its value, its unit («%», «R$» or none), and how it moved, where that is
    said («up», «down»)."""

    label: str
    value: float
    unit: str = ""
    moved: str = ""


@dataclass(frozen=True)
class Stated:
    """Labels whose figure the answer states, and how many of its figures are wrong: swapped, misread or invented."""

    labels: frozenset[str]
    wrong: int


def facts_of(reference: Mapping[str, Any]) -> list[Fact]:
    return [
        Fact(found["label"], float(found["value"]), found.get("unit", ""), found.get("moved", ""))
        for found in reference.get("facts", ())
    ]


def stated(answer: str, brief: str, facts: Sequence[Fact]) -> Stated:
    """What the answer says in figures about the facts. `brief`: the prompt; its other numbers (a year) are free."""
    by_label = {fact.label: fact for fact in facts}
    free = [figure.value for figure in figures(plain(brief)) if not any(figure.shows(fact.value) for fact in facts)]
    right: set[str] = set()
    wrong: set[tuple[str, float]] = set()
    for sentence in map(plain, sentences(answer)):
        mentions = sorted(
            (match.start(), match.end(), label) for label in by_label for match in names(label).finditer(sentence)
        )
        found = figures(sentence)
        for place, figure in enumerate(found):
            label = _label(sentence, mentions, found, place, by_label)
            fact = by_label.get(label) if label else None
            if fact and not _shows(figure, fact) and not _is_attached(sentence, mentions, figure, fact.label):
                fact = _shown_of_others(sentence, mentions, figure, facts)
            if fact and _shows(figure, fact) and not _is_said(sentence, mentions, figure, fact.label):
                continue
            if fact and _shows(figure, fact):
                moved = _movement(sentence, mentions, figure)
                if moved in ("", fact.moved):
                    right.add(fact.label)
                else:
                    wrong.add((fact.label, figure.value))
            elif not _is_free(sentence, figure, fact, mentions, facts, free):
                wrong.add((label or "", figure.value))
        wrong.update((label, 0.0) for label in _moves(sentence, mentions, by_label))
    return Stated(frozenset(right), len(wrong))


def _is_attached(sentence: str, mentions: Sequence[tuple[int, int, str]], figure: Figure, label: str) -> bool:
    """Whether only linking words stand between a label and a figure («atraso foi de 8,0%», «1.234 pedidos»)."""
    for start, end, named in mentions:
        if named == label and end <= figure.start and _STATED.fullmatch(sentence[end : figure.start]):
            return True
        if named == label and figure.end <= start and not sentence[figure.end : start].strip() and not figure.unit:
            return True
    return False


def _shown_of_others(
    sentence: str, mentions: Sequence[tuple[int, int, str]], figure: Figure, facts: Sequence[Fact]
) -> Fact | None:
    """The fact that a figure shows whose label the sentence names as well («13,3% dos pedidos foram cancelados»)."""
    named = {label for _, _, label in mentions}
    return next((fact for fact in facts if fact.label in named and _shows(figure, fact)), None)


def _shows(figure: Figure, fact: Fact) -> bool:
    return figure.shows(fact.value) and (figure.unit == fact.unit or not figure.unit)


def _is_said(sentence: str, mentions: Sequence[tuple[int, int, str]], figure: Figure, label: str) -> bool:
    """Whether words join the figure to its label («atraso de 8,0%», «1.234 pedidos»). Bare behind it, as briefs list
    them («atraso 8,0%»), or among other words, it states nothing.
    """
    ends = [end for _, end, named in mentions if end <= figure.start and named == label]
    if not ends or "respectiv" in sentence or _MOVED.search(sentence, ends[-1], figure.start):
        return True
    between = re.sub(r"^\s*medi[oa]s?\b", "", sentence[ends[-1] : figure.start])
    behind = any(0 <= start - figure.end < 8 for start, _, named in mentions if named == label)
    joined = bool(between.strip()) or len(re.findall(r"[^\W\d_]+", sentence)) > _OWN_WORDS
    return behind or (joined and bool(_STATED.fullmatch(between)))


def _label(
    sentence: str,
    mentions: Sequence[tuple[int, int, str]],
    found: Sequence[Figure],
    place: int,
    facts: Mapping[str, Fact],
) -> str | None:
    """Whose figure this is: of the label right behind it («465 pedidos»), else the last before it, else the next."""
    figure = found[place]
    for start, _, label in mentions:
        between = sentence[figure.end : start] if start >= figure.end else None
        if between and _OF.fullmatch(between) and (between.strip() or not (figure.unit or facts[label].unit)):
            return label
    if "respectiv" in sentence and len(mentions) >= len(found):
        return mentions[place][2]
    before = [label for _, end, label in mentions if end <= figure.start]
    return before[-1] if before else mentions[0][2] if mentions else None


def _is_free(
    sentence: str,
    figure: Figure,
    fact: Fact | None,
    mentions: Sequence[tuple[int, int, str]],
    facts: Sequence[Fact],
    other: Sequence[float],
) -> bool:
    """Whether a figure that shows no fact at its label may stand: a proposal, a span of time, something computed from
    the facts, a small number; or a fact without any label, which earns nothing either."""
    before, behind = sentence[: figure.start], sentence[figure.end :]
    attached = any(end <= figure.start and _STATED.fullmatch(sentence[end : figure.start]) for _, end, _ in mentions)
    if _TARGET.search(before) or (_SPAN.match(behind) and not figure.unit) or (_HEDGED.search(before) and not attached):
        return True
    if any(_shows(figure, known) for known in facts):
        return fact is None
    if figure.unit == "" and figure.value <= FREE and figure.value == int(figure.value) and figure.tolerance == 0.5:
        return True
    if any(figure.shows(value) for value in other) or any(_computed(figure, facts)):
        return True
    return recommends(sentence) and not attached and not _MOVED.search(sentence)


def _computed(figure: Figure, facts: Sequence[Fact]) -> Iterator[bool]:
    """Whether a figure follows from one or two facts: rest to 100 %, share of a total, sum, difference, ratio."""
    for one in facts:
        if one.unit == "%":
            yield figure.unit == "%" and figure.shows(100 - one.value)
        for other in facts:
            if one.unit == "%" and other.unit != "%":
                amount = one.value * other.value / 100
                yield figure.unit in ("", other.unit) and abs(figure.value - amount) <= max(1.0, 0.02 * amount)
            elif one is not other and one.unit == other.unit:
                yield figure.unit in ("", one.unit) and (
                    figure.shows(one.value + other.value) or figure.shows(abs(one.value - other.value))
                )
            elif one.unit == "R$" and other.unit == "" and other.value:
                ratio = one.value / other.value
                yield figure.unit == "R$" and abs(figure.value - ratio) <= max(1.0, 0.02 * ratio)


def _movement(sentence: str, mentions: Sequence[tuple[int, int, str]], figure: Figure) -> str:
    """«up» or «down» where the words between the figure's label and the figure say that it moved."""
    start = max((end for _, end, _ in mentions if end <= figure.start), default=0)
    moved = _MOVED.search(sentence, start, figure.start)
    return "" if not moved else "up" if moved["up"] else "down"


def _moves(sentence: str, mentions: Sequence[tuple[int, int, str]], facts: Mapping[str, Fact]) -> Iterator[str]:
    """Labels that are said to have moved where the brief does not say so."""
    for _, end, label in mentions:
        moved = re.match(rf"(?:\s+\w+){{0,2}}?\s+{_MOVED.pattern}", sentence[end:])
        if moved and ("up" if moved["up"] else "down") != facts[label].moved:
            yield label
