"""What an answer claims in figures, against what its prompt knows; shared by the reward and the benchmark."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from typing import Any, NamedTuple

from rewards.parsing import proposed
from rewards.parsing.advice import named_by, rows
from rewards.parsing.moves import FELL, ROSE, Move, moved_otherwise, moves, what_was
from rewards.parsing.sums import (
    Operand,
    compared_with_before,
    exchanged,
    follows,
    is_far,
    is_worked_out,
    of_hundred,
    unknown_parts,
)
from rewards.parsing.text import Figure, figures, fold, occurs, placed_figures, spelled, words
from rewards.types import PromptLike

_ASSERTED = re.compile(r"\b(?:e|foi|era|esta|ficou|fica|chegou|chega)\b")
"""What says of a label that it is so; «de» alone may as well name what somebody wants."""
_CLAUSE = re.compile(r",(?!\d)|[;(:]|\b(?:e|mas|pois|porque)\s(?=[ao]s?\s)")
_PART = re.compile(r",(?!\d)|;")
"""Where what stands in front ends to speak of a figure: sooner where the figure is said to be so."""
_AND = re.compile(r"\be\b")
_BESIDE = re.compile(r"\W*(?:e|a|com)?\W*(?:(?:so|apenas|ja)\W+)?(?:r\W*)?")
"""What stands between two figures that are told one after the other («842 pedidos e R$ 77.410»)."""
_LINK = re.compile(
    r"[^\w×÷*/=≈≤≥<>+]{0,4}(?:(?:medi[oa]s?|e|foi|era|esta|ficou|fica|em|de|ao|por|so|apenas|cheg(?:ou|a)(?: a)?"
    r"|atual|cada|r)"
    r"[^\w×÷*/=≈≤≥<>+]{1,3}){0,4}"
)
"""What joins a figure to its label."""
_TELLS = re.compile(
    r"[^;×÷*/=≈≤≥<>+\d]{0,40}\b(?:(?:foi|era|esta|estava|ficou|fica)(?: de| em)?|e (?:de|so|apenas)"
    rf"|(?:{ROSE}|{FELL}) (?:para|a))\W{{1,3}}(?:r\$ ?)?"
)
"""A verb that says what a label is, words behind the label («a devolução da loja é de 7%»)."""
_CAME_TO = re.compile(rf"\b(?:{ROSE}|{FELL}) (?:para|a) (?:r\$ ?)?$")
_SENTENCE = re.compile(r"(?<!\d)(?<!\bex)[.;]|(?<!\bex)[.;](?!\d)|[!\n]|(?<=\?)")
_APART = re.compile(r",(?!\d)|;|\be\b|\(|\be$")
LONGEST_SENTENCE = 400  # characters
_CANDIDATES = 4
"""Labels around a figure that are weighed against each other."""
_TOLD = re.compile(r"[a-z]{2,}")
_TELLING = 4
"""Words of a sentence that tells something."""
_REMEMBERED = 12
"""Figures of an answer that later ones may be worked out of."""
_CROSSING = 12
"""Characters that a comma or an «e» between a figure and a label counts as."""


def claims(answer: str) -> list[Figure]:
    """The figures that assert something: all but whole numbers up to 10 without a unit («3 ações», «2 semanas»)."""
    return [figure for figure in figures(answer) if claims_one(figure)]


def claims_one(figure: Figure) -> bool:
    return bool(figure.unit) or figure.value > 10 or figure.tolerance < 0.5


def invented(found: Iterable[Figure], *known: Iterable[Figure | float]) -> int:
    """How many different figures show none of the known numbers."""
    numbers = [item.value if isinstance(item, Figure) else float(item) for group in known for item in group]
    return sum(not any(occurs(number, (figure,)) for number in numbers) for figure in set(found))


def _is_known(figure: Figure, known: Sequence[Figure | float]) -> bool:
    """Whether a figure shows a known one; a share shows no amount, which the text of a brief tells apart."""
    told = [item for item in known if isinstance(item, Figure)]
    fits = [item.value for item in told if "" in (item.unit, figure.unit) or item.unit == figure.unit]
    others = {item.value for item in told if item.unit}
    fits += [float(item) for item in known if not isinstance(item, Figure) and item not in others]
    return any(occurs(number, (figure,)) for number in fits)


class Claimed(NamedTuple):
    """What an answer claims: its share of the key figures, how many of its figures are false, how many it has, and how
    many of the false ones are tied to no label of the brief."""

    used: float
    false: int
    claims: int
    untied: int


def insight_figures(prompt: PromptLike, answer: str) -> Claimed:
    """What an answer claims in figures.

    Where the reference names what its figures are of (`facts`: label, value, unit), a figure counts beside its own
    label alone, and is false beside another's. Proposals («a meta é 30 %»), spans of time and what follows from two
    facts are not false.
    """
    answer = _POINTS.sub(" pontos", spelled(answer))
    key = [float(number) for number in prompt.reference.get("key_figures", ())]
    asserted = claims(answer)
    facts = prompt.reference.get("facts", ())
    known = [*figures(prompt.user), *prompt.reference.get("figures", ()), *key]
    if not facts:
        used = sum(occurs(number, figures(answer)) for number in key) / len(key) if key else 0.0
        return Claimed(used, inventions := invented(asserted, known), len(asserted), inventions)
    was = list(moves(facts, prompt.user))
    stated, false = _stated(_HEADED.sub(r"\1 ", answer), facts, known, was)
    operands = [(float(fact["value"]), str(fact.get("unit", ""))) for fact in facts]
    false.update((part, 0.0) for part in unknown_parts(answer, operands))
    if not any(fact.get("moved") for fact in facts):
        false.update((match[0], 0.0) for match in compared_with_before(answer) if match[0] not in fold(prompt.user))
    labels = [fact["label"] for fact in facts]
    named = prompt.reference.get("key", ())
    asked = (label for label in labels if label in named)
    wanted = list(asked) or [fact["label"] for fact in facts if fact["value"] in key] or labels
    used = sum(label in stated for label in wanted) / len(wanted)
    return Claimed(used, len(false), len(asserted), sum(label == _UNTIED for label, _ in false))


_POINTS = re.compile(r"\s?\bp\.\s?p\.?")
"""Points of a hundred, whose dots end no sentence."""
_UNTIED = ""
"""In the place of the label of a figure that stands at none."""


_HEADED = re.compile(
    r"(?m)^\W{0,4}([a-z][a-z ]{3,20}[a-z])\W{0,4}\n\s*+[-*•–]\s*(?=(?:caiu|subiu|ficou|esta|em|de)\b|\d|r\$)"
)
"""An indicator as a heading and what its first item says («Nota média\\n- Caiu para 3,0»)."""


def _stated(
    answer: str, facts: Sequence[Mapping[str, Any]], known: Sequence[Figure | float], was: Sequence[Move]
) -> tuple[set[str], set[tuple[str, float]]]:
    """Labels that stand beside their own figure, and what is false: (label, figure), figure 0 for a movement."""
    stated: set[str] = set()
    false: set[tuple[str, float]] = set()
    told = [(float(fact["value"]), str(fact.get("unit", ""))) for fact in facts]
    told += [(move.before, move.unit) for move in was if (move.before, move.unit) not in told]
    said: list[Operand] = []
    for sentence, is_aimed, about in _said(answer, facts):
        places = sorted((match.span(), fact["label"]) for fact in facts for match in named_by(fact).finditer(sentence))
        moved = what_was(sentence, was)
        for figure, start, end in placed_figures(sentence):
            label, read = _label(sentence, places, start, end), of_hundred(sentence, figure, start)
            of_label = [fact for fact in facts if fact["label"] == label]
            shown = [fact for fact in of_label if _shows(figure, fact)]
            link = None if proposed.is_compared(sentence, start, end) else _link(sentence, places, label, start, end)
            beside = bool(link and not link.is_own(figure, of_label) and _BESIDE.fullmatch(link.words))
            if link and (beside or (link.is_loose and not link.is_own(figure, of_label))):
                link = None
            if link and link.words.strip() == "por" and figure.unit == "R$" and not link.is_own(figure, of_label):
                link = None  # «A R$ 36,41 por pedido» tells no number of orders
            if not shown and (link is None or _BESIDE.fullmatch(link.words)):
                named = {place[1] for place in places}
                shown = [fact for fact in facts if fact["label"] in named and _shows(figure, fact)]
                if not shown and not link:
                    under = [fact for fact in about if _is_exactly(figure, fact)]
                    shown = under or _only(sentence, read, facts)
            place = (start, end)
            if moved.get(start) is False or (link and _is_misread(sentence, figure, end, of_label)):
                false.add((label, figure.value))
            elif shown:
                stated.update(fact["label"] for fact in shown if fact.get("unit", "") in ("", read.unit))
            elif start in moved:
                pass
            elif link is not None and link.is_own(figure, of_label):
                if not _is_meant(sentence, figure, place, link, is_aimed) and not _is_retold(
                    sentence, figure, place, link, told, of_label
                ):
                    false.add((label, figure.value))
            elif (
                not is_aimed
                and not (beside and _is_known(figure, known))
                and not _is_harmless(
                    sentence, figure, place, told if link else [*told, *said], None if link or beside else known
                )
            ):
                false.add((label if link else _UNTIED, figure.value))
            shares = [fact["value"] for fact in facts if fact.get("unit") == "%" and named_by(fact).search(sentence)]
            if len(shares) == 1 and is_far(sentence, figure, place, shares[0]):
                false.add((label, figure.value))
            stated.update(_counted(sentence, figure, facts, said))
            said = [(figure.value, figure.unit), *said][:_REMEMBERED]
        false.update(_misnamed(sentence, facts))
        said_of = [
            (at, fact["label"]) for one, *at in placed_figures(sentence) for fact in facts if _is_exactly(one, fact)
        ]
        false.update((label, 0.0) for label in exchanged(sentence, places, said_of))
        false.update((label, 0.0) for label in moved_otherwise(sentence, places, facts, was))
    return stated, false


def _misnamed(sentence: str, facts: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, float]]:
    """Figures of the brief that are told of an indicator that it does not have."""
    has = {word[:5] for fact in facts for word in words(str(fact["label"]))}
    for match in _TOLD_OF.finditer(sentence):
        if match[1][:5] not in has:
            told = figures(match[2])
            yield from ((match[1], one.value) for one in told if one.unit and any(_shows(one, fact) for fact in facts))


_TOLD_OF = re.compile(
    r"\b(receita|pedidos|atraso|nota|recompra|devolucao|frete|cancelamento|conversao|ticket)(?: medi[oa])?"
    r" (?:de|em|foi de|ficou em|caiu para|subiu para) ((?:r\$ ?)?\d[\d.,]*\d?%?)"
)


def _counted(
    sentence: str,
    figure: Figure,
    facts: Sequence[Mapping[str, Any]],
    said: Iterable[Operand],
) -> Iterator[str]:
    """Labels whose share of a count a whole number is, where its sentence names them («87 dos 661 pedidos voltam», «36
    cancelados»). A count is the brief's, or one that was worked out before."""
    if figure.unit:
        return
    named = [fact for fact in facts if fact.get("unit") == "%" and named_by(fact).search(sentence)]
    counts = [float(fact["value"]) for fact in facts if not fact.get("unit") and fact["value"] > _MOST_MEAN]
    counts += [value for value, unit in said if not unit and value >= _COUNTED]
    for fact in named:
        share = float(fact["value"])
        is_part = claims_one(figure) and any(abs(share / 100 * count - figure.value) < 1 for count in counts)
        if is_part:
            yield fact["label"]


_COUNTED = 100
"""The least that counts as one: a rounded share of fewer says little about them."""


_MOST_MEAN = 10
"""A mean rating is no count."""


def _shows(figure: Figure, fact: Mapping[str, Any]) -> bool:
    unit = fact.get("unit", "")
    return occurs(fact["value"], (figure,)) and ("" in (unit, figure.unit) or unit == figure.unit)


def _is_exactly(figure: Figure, fact: Mapping[str, Any]) -> bool:
    """Whether a figure is a fact's, by its unit as well."""
    return _shows(figure, fact) and fact.get("unit", "") == figure.unit


def _is_misread(sentence: str, figure: Figure, end: int, of_label: Iterable[Mapping[str, Any]]) -> bool:
    """Whether a share of the label is told as a time («o atraso de 3,0 dias»)."""
    shares = [fact for fact in of_label if fact.get("unit") == "%" and _shows(figure, fact)]
    return bool(shares and figure.tolerance < 0.5 and not figure.unit)


def _only(sentence: str, figure: Figure, facts: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The one fact that a figure with a unit can be, or a count of three digits, where a sentence tells it in words of
    its own («4,8% voltam»)."""
    is_told = bool(figure.unit) or figure.value >= _COUNTED
    fits = [fact for fact in facts if is_told and _is_exactly(figure, fact)]
    return fits if len(fits) == 1 and len(_TOLD.findall(sentence)) >= _TELLING else []


@dataclass(frozen=True, slots=True)
class _Link:
    """What ties a figure to its label. behind: the label stands behind the figure («6,9% de devolução»); is_loose: more
    than linking words stand between."""

    words: str
    behind: bool = False
    is_loose: bool = False

    @property
    def is_asserted(self) -> bool:
        return not self.behind and bool(_ASSERTED.search(self.words))

    def is_own(self, figure: Figure, of_label: Iterable[Mapping[str, Any]]) -> bool:
        """Whether the figure could be the label's by its unit; «1,2% e atraso» tells two things."""
        is_apart = self.behind and _AND.search(self.words)
        return not is_apart and any(fact.get("unit", "") == figure.unit for fact in of_label)


def _link(
    sentence: str, places: Sequence[tuple[tuple[int, int], str]], label: str, start: int, end: int
) -> _Link | None:
    """What stands between a figure and its label, where that is linking words alone («nota média foi de 4,6», «1.234
    pedidos»), or where a verb says what the label is."""
    loose = None
    for (first, last), named in places:
        if named == label and (last <= start or end <= first):
            between = sentence[last:start] if last <= start else sentence[end:first]
            if _LINK.fullmatch(between):
                return _Link(between, end <= first)
            if last <= start and _TELLS.fullmatch(between):
                loose = _Link(between, is_loose=True)
    return loose


def _label(sentence: str, places: Sequence[tuple[tuple[int, int], str]], start: int, end: int) -> str:
    """The label that a figure belongs to: the one that stands closest, or none."""
    near = nsmallest(_CANDIDATES, places, key=lambda place: max(start - place[0][1], place[0][0] - end))
    return min(near, key=lambda place: _gap(sentence, place[0], start, end), default=((0, 0), ""))[1]


def sentences(folded: str) -> Iterator[str]:
    """The sentences; a longer one than any is read in parts, so that the time stays linear."""
    for sentence in _SENTENCE.split(folded):
        for start in range(0, len(sentence), LONGEST_SENTENCE):
            yield sentence[start : start + LONGEST_SENTENCE]


def _gap(sentence: str, label: tuple[int, int], start: int, end: int) -> int:
    """How far a figure stands from a label, in characters; farther across a comma or an «e»."""
    between = sentence[label[1] : start] if label[1] <= start else sentence[end : label[0]]
    return len(between) + _CROSSING * len(_APART.findall(between))


def _said(answer: str, facts: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, bool, Sequence[Mapping[str, Any]]]]:
    """The sentences of a folded answer without the messages it quotes, each with whether an aim was named before, in
    its line or above it, and with the fact that it is about: its heading's, or that of the sentence in front."""
    for row, heading in rows(answer, [float(fact["value"]) for fact in facts]):
        aimed = bool(proposed.AIM.search(heading))
        above = [fact for fact in facts if named_by(fact).search(heading)]
        before: Sequence[Mapping[str, Any]] = ()
        for sentence in sentences(row):
            named = [fact for fact in facts if named_by(fact).search(sentence)]
            yield sentence, aimed, [*above, *(() if named else before)]
            aimed = aimed or bool(proposed.AIM.search(sentence))
            before = named if len(named) == 1 else ()


def _is_meant(sentence: str, figure: Figure, place: tuple[int, int], link: _Link, is_aimed: bool) -> bool:
    """Whether a figure that linking words tie to its label is what somebody wants, or what might be: that stands in
    front of it, for «a devolução é de 55%, o que seria ruim» says that it is so."""
    before, behind = sentence[: place[0]], sentence[place[1] :]
    if (
        not claims_one(figure)
        or proposed.SPAN.match(behind)
        or proposed.IF.search(before)
        or proposed.OFFER_OF.search(before)
    ):
        return True
    clause = (_CLAUSE if link.is_asserted else _PART).split(before)[-1].strip()
    wish = proposed.PROPOSED.search(f"{clause} ")
    told = wish and (wish[0].startswith("chega a") or _CAME_TO.search(f"{clause} "))
    if proposed.AIMED.search(f"{clause} ") or proposed.WOULD.search(clause) or (wish and not told):
        return True
    if link.is_asserted or is_aimed:
        return not link.is_asserted
    is_offer = figure.unit == "R$" and (proposed.OFFERED.match(behind) or proposed.STEP.match(sentence))
    return bool(
        is_offer
        or proposed.LATER.search(before)
        or proposed.AT_LAST.search(behind)
        or proposed.UNTIL.search(behind)
        or proposed.WOULD.match(behind.lstrip(" )*"))
    )


def _is_retold(
    sentence: str,
    figure: Figure,
    place: tuple[int, int],
    link: _Link,
    operands: Sequence[Operand],
    of_label: Iterable[Mapping[str, Any]],
) -> bool:
    """Whether a figure at a label of its unit follows from the brief: a count may be a part of what is counted, an
    amount a sum of it («R$ 41,5 mil de frete»); another share or mean of the same is none."""
    is_sum = all(figure.value > 5 * fact["value"] for fact in of_label)
    is_count = any(fact["value"] > _MOST_MEAN for fact in of_label)
    is_part = (not figure.unit and is_count) or (figure.unit == "R$" and (link.behind or link.is_loose or is_sum))
    return follows(sentence, figure, place, operands) or (is_part and _is_result(sentence, figure, place, operands))


def _is_result(sentence: str, figure: Figure, place: tuple[int, int], operands: Sequence[Operand]) -> bool:
    near = 0.1 if proposed.HEDGED.search(sentence[: place[0]]) else 0.0
    return is_worked_out(figure, operands, near)


def _is_harmless(
    sentence: str,
    figure: Figure,
    place: tuple[int, int],
    operands: Sequence[Operand],
    known: Sequence[Figure | float] | None,
) -> bool:
    """Whether a figure that shows no fact at its label may stand: a proposal, an aim, a span of time, what follows from
    the operands. `known`: figures that may stand anywhere, None where linking words tie the figure to a label."""
    if not claims_one(figure) or proposed.is_proposed(sentence, figure, place):
        return True
    if known is not None and (_is_known(figure, known) or (figure.unit != "%" and proposed.ADVISED.search(sentence))):
        return True
    return follows(sentence, figure, place, operands) or _is_result(sentence, figure, place, operands)
