"""What an answer claims in figures, against what its prompt knows; shared by `grounded` and by the benchmark."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import nsmallest
from typing import Any

from rewards.parsing import proposed
from rewards.parsing.kinds import kind
from rewards.parsing.sums import Operand, is_of_each, is_worked_out
from rewards.parsing.text import Figure, figures, fold, occurs, placed_figures, words
from rewards.types import PromptLike

_SET_AGAINST = re.compile(r"\b(?:contra|ante|versus|vs\.?|frente a)\W{0,3}(?:r\$ ?)?$")
_AGAINST = re.compile(r"\s*(?:contra|ante|versus|vs\b|frente a)")
_OF_OTHERS = re.compile(
    r" d[ao]s (?:visit|sess|acess|client|compra|pesso|entreg|carrinh)| (?:nao )?(?:cheg|volt|compr)\w*u\b"
)
"""What a share is of, or does («6% de atraso: 94% chegou no prazo»)."""
_QUOTED = re.compile(r"[\"“«]([^\"”»\n]{1,120})[\"”»]")
_LONGEST_NAME = 6
"""Words of what is quoted as a name; more are a message to send, and so is what holds a verb."""
_ASSERTED = re.compile(r"\b(?:e|foi|era|esta|ficou|fica|chegou|chega)\b")
"""What says of a label that it is so; «de» alone may as well name what somebody wants."""
_CLAUSE = re.compile(r",(?!\d)|[;(:]|\b(?:e|mas|pois|porque)\s(?=[ao]s?\s)")
_PART = re.compile(r",(?!\d)|;")
"""Where what stands in front ends to speak of a figure: sooner where the figure is said to be so."""
_COMPUTING = re.compile(r"[×÷*/=≈~+]\s?(?:r\$\s?)?$|\bvezes\s(?:r\$\s?)?$")
_COMPUTED = re.compile(r"\s?(?:[×÷*/=≈+]|\w+ (?:[×÷*=≈]|vezes r?\$?\s?\d))")
"""Signs of a sum that is written out."""
_AND = re.compile(r"\be\b")
_BESIDE = re.compile(r"\W*(?:e|a|com)?\W*(?:(?:so|apenas|ja)\W+)?(?:r\W*)?")
"""What stands between two figures that are told one after the other («842 pedidos e R$ 77.410»)."""
_WHOLE = re.compile(r"\b(?:cada|em|de|a|por)\s(?:r\$ ?)?$")
_LINK = re.compile(
    r"[^\w×÷*/=≈≤≥<>+]{0,4}(?:(?:medi[oa]s?|e|foi|era|esta|ficou|fica|em|de|ao|por|so|apenas|cheg(?:ou|a)(?: a)?"
    r"|atual|cada|r)"
    r"[^\w×÷*/=≈≤≥<>+]{1,3}){0,4}"
)
"""What joins a figure to its label."""
_ROSE = r"subi(?:u|ram)|cresce(?:u|ram)|aument(?:ou|aram)|dobr(?:ou|aram)|dispar(?:ou|aram)|avanc(?:ou|aram)"
_FELL = r"cai(?:u|ram)|diminui(?:u|ram)|reduzi(?:u|ram)|despenc(?:ou|aram)|recu(?:ou|aram)|baix(?:ou|aram)"
_TELLS = re.compile(
    r"[^;×÷*/=≈≤≥<>+\d]{0,40}\b(?:(?:foi|era|esta|estava|ficou|fica|e alt[oa]|e baix[oa])(?: de| em)?"
    rf"|e (?:de|so|apenas)|(?:{_ROSE}|{_FELL}) (?:para|a))\W{{1,3}}(?:r\$ ?)?"
)
"""A verb that says what a label is, words behind the label («a devolução da loja é de 7%»)."""
_CAME_TO = re.compile(rf"\b(?:{_ROSE}|{_FELL}) (?:para|a) (?:r\$ ?)?$")
_MOVED = re.compile(rf"\W+(?:\w+\W+){{0,2}}?(?:(?P<up>{_ROSE})|(?P<down>{_FELL}))\b")
_SENTENCE = re.compile(r"(?<!\d)(?<!\bex)[.;]|(?<!\bex)[.;](?!\d)|[!?\n]")
_APART = re.compile(r",(?!\d)|;|\be\b|\(|\be$")
LONGEST_SENTENCE = 400  # characters
_CANDIDATES = 4
"""Labels around a figure that are weighed against each other."""
_TOLD = re.compile(r"[a-z]{2,}")
_TELLING = 6
"""Words of a sentence that tells something."""
_REMEMBERED = 6
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


def insight_figures(prompt: PromptLike, answer: str) -> tuple[float, int, int]:
    """Share of the key figures that the answer states, its false figures, and its claims.

    Where the reference names what its figures are of (`facts`: label, value, unit), a figure counts beside its own
    label alone, and is false beside another's. Proposals («a meta é 30 %»), spans of time and what follows from two
    facts are not false.
    """
    key = [float(number) for number in prompt.reference.get("key_figures", ())]
    asserted = claims(answer)
    facts = prompt.reference.get("facts", ())
    known = [*figures(prompt.user), *prompt.reference.get("figures", ()), *key]
    if not facts:
        used = sum(occurs(number, figures(answer)) for number in key) / len(key) if key else 0.0
        return used, invented(asserted, known), len(asserted)
    stated, false = _stated(_HEADED.sub(r"\1 ", fold(answer)), facts, known)
    labels = [fact["label"] for fact in facts]
    named = prompt.reference.get("key", ())
    asked = (label for label in labels if label in named)
    wanted = list(asked) or [fact["label"] for fact in facts if fact["value"] in key] or labels
    return sum(label in stated for label in wanted) / len(wanted), len(false), len(asserted)


_HEADED = re.compile(
    r"(?m)^\W{0,4}([a-z][a-z ]{3,20}[a-z])\W{0,4}\n+\s*[-*•–]\s*(?=(?:caiu|subiu|ficou|esta|em|de)\b|\d|r\$)"
)
"""An indicator as a heading and what its first item says («Nota média\\n- Caiu para 3,0»)."""


def _stated(
    answer: str, facts: Sequence[Mapping[str, Any]], known: Sequence[Figure | float]
) -> tuple[set[str], set[tuple[str, float]]]:
    """Labels that stand beside their own figure, and what is false: (label, figure), figure 0 for a movement."""
    stated: set[str] = set()
    false: set[tuple[str, float]] = set()
    told = [(float(fact["value"]), str(fact.get("unit", ""))) for fact in facts]
    said: list[Operand] = []
    for sentence, is_aimed in _said(answer):
        places = sorted((match.span(), fact["label"]) for fact in facts for match in _named(fact).finditer(sentence))
        for figure, start, end in placed_figures(sentence):
            label = _label(sentence, places, start, end)
            of_label = [fact for fact in facts if fact["label"] == label]
            shown = [fact for fact in of_label if _shows(figure, fact)]
            link = None if _is_compared(sentence, start, end) else _link(sentence, places, label, start, end)
            beside = bool(link and not link.is_own(figure, of_label) and _BESIDE.fullmatch(link.words))
            if link and (beside or (link.is_loose and not link.is_own(figure, of_label))):
                link = None
            if link and link.words.strip() == "por" and figure.unit == "R$" and not link.is_own(figure, of_label):
                link = None  # «A R$ 36,41 por pedido» tells no number of orders
            if not shown and (link is None or _BESIDE.fullmatch(link.words)):
                named = {place[1] for place in places}
                shown = [fact for fact in facts if fact["label"] in named and _shows(figure, fact)]
                shown = shown or ([] if link and not _AND.search(link.words) else _only(sentence, figure, facts))
            place = (start, end)
            if shown:
                stated.update(fact["label"] for fact in shown if fact.get("unit", "") in ("", figure.unit))
            elif link is not None and link.is_own(figure, of_label):
                if not _is_meant(sentence, figure, place, link, is_aimed) and not _is_retold(
                    sentence, figure, place, link, told, of_label
                ):
                    false.add((label, figure.value))
            elif (
                not is_aimed
                and not (beside and invented([figure], known) == 0)
                and not _is_harmless(
                    sentence, figure, place, told if link else [*told, *said], None if link or beside else known
                )
            ):
                false.add((label, figure.value))
            stated.update(_counted(sentence, figure, facts))
            said = [(figure.value, figure.unit), *said][:_REMEMBERED]
        false.update(_misnamed(sentence, facts))
        for (_, end), label in places:
            moved = _MOVED.match(sentence, end)
            was = {fact.get("moved", "") for fact in facts if fact["label"] == label}
            if moved and ("up" if moved["up"] else "down") not in was:
                false.add((label, 0.0))
    return stated, false


def _misnamed(sentence: str, facts: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, float]]:
    """Figures of the brief that are told of an indicator that it does not have."""
    has = {fold(str(fact["label"]))[:5] for fact in facts}
    for match in _TOLD_OF.finditer(sentence):
        if match[1][:5] not in has:
            told = figures(match[2])
            yield from ((match[1], one.value) for one in told if one.unit and any(_shows(one, fact) for fact in facts))


_TOLD_OF = re.compile(
    r"\b(receita|pedidos|atraso|nota|recompra|devolucao|frete|cancelamento|conversao|ticket)(?: medi[oa])?"
    r" (?:de|em|foi de|ficou em|caiu para|subiu para) ((?:r\$ ?)?\d[\d.,]*\d?%?)"
)


def _counted(sentence: str, figure: Figure, facts: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Labels whose share of the brief's count a whole number is, where its sentence names them («87 dos 661 pedidos
    voltam», «36 cancelados»)."""
    if figure.unit or not claims_one(figure):
        return
    counts = [float(fact["value"]) for fact in facts if not fact.get("unit") and fact["value"] > _MOST_MEAN]
    for fact in facts:
        parts = [float(fact["value"]) / 100 * count for count in counts if fact.get("unit") == "%"]
        if any(abs(part - figure.value) < 1 for part in parts) and _named(fact).search(sentence):
            yield fact["label"]


_MOST_MEAN = 10
"""A mean rating is no count."""


def _shows(figure: Figure, fact: Mapping[str, Any]) -> bool:
    unit = fact.get("unit", "")
    return occurs(fact["value"], (figure,)) and ("" in (unit, figure.unit) or unit == figure.unit)


def _only(sentence: str, figure: Figure, facts: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The one fact that a figure with a unit can be, where a sentence tells it in words of its own («4,8% voltam»)."""
    fits = [fact for fact in facts if figure.unit and fact.get("unit") == figure.unit and _shows(figure, fact)]
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


def _sentences(folded: str) -> Iterator[str]:
    """The sentences; a longer one than any is read in parts, so that the time stays linear."""
    for sentence in _SENTENCE.split(folded):
        for start in range(0, len(sentence), LONGEST_SENTENCE):
            yield sentence[start : start + LONGEST_SENTENCE]


def _named(fact: Mapping[str, Any]) -> re.Pattern[str]:
    """A label in a sentence: its first word's stem; one without a word stands nowhere."""
    return _label_pattern(str(fact["label"]))


@lru_cache(maxsize=256)
def _label_pattern(label: str) -> re.Pattern[str]:
    first = next(iter(words(label)), "")
    if not first:
        return _NOWHERE
    stem = _VERBAL.get(first) or re.escape(first[: max(4, len(first) - 2)])
    return re.compile(rf"\b{stem}\w*(?: medi[oa]s?)?")


_NOWHERE = re.compile(r"(?!)")
_VERBAL = {"devolucao": "devol", "cancelamento": "cancel", "atraso": "atras", "receita": "(?:receit|fatur)"}
"""What verbs share with the names of indicators («cancelados»)."""


def _gap(sentence: str, label: tuple[int, int], start: int, end: int) -> int:
    """How far a figure stands from a label, in characters; farther across a comma or an «e»."""
    between = sentence[label[1] : start] if label[1] <= start else sentence[end : label[0]]
    return len(between) + _CROSSING * len(_APART.findall(between))


def _said(answer: str) -> Iterator[tuple[str, bool]]:
    """The sentences of a folded answer without what is quoted, and whether their line has named an aim before."""
    for row in _QUOTED.sub(_unquoted, answer).split("\n"):
        aimed = False
        for sentence in _sentences(row):
            yield sentence, aimed
            aimed = aimed or bool(proposed.AIM.search(sentence))


def _unquoted(quoted: re.Match[str]) -> str:
    """A name without its marks («o "frete médio"»); nothing of a message to send, for what that says is no claim."""
    said = words(quoted[1])
    is_message = len(said) > _LONGEST_NAME or any(kind(word) in ("<verb>", "<to>", "<come>") for word in said)
    return " … " if is_message else quoted[1]


def _is_meant(sentence: str, figure: Figure, place: tuple[int, int], link: _Link, is_aimed: bool) -> bool:
    """Whether a figure that linking words tie to its label is what somebody wants, or what might be: that stands in
    front of it, for «a devolução é de 55%, o que seria ruim» says that it is so."""
    before, behind = sentence[: place[0]], sentence[place[1] :]
    if (
        not claims_one(figure)
        or proposed.SPAN.match(behind)
        or proposed.IF.search(before)
        or proposed.OFFER_OF.search(before)
        or (figure.unit != "%" and proposed.TOWARDS.search(before))
    ):
        return True
    clause = (_CLAUSE if link.is_asserted else _PART).split(before)[-1].strip()
    wish = proposed.PROPOSED.search(f"{clause} ")
    told = wish and (wish[0].startswith("chega a") or _CAME_TO.search(f"{clause} "))
    if proposed.AIMED.search(clause) or proposed.WOULD.search(clause) or (wish and not told):
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
    is_count = any(fact["value"] > _MOST_MEAN for fact in of_label)
    is_part = (not figure.unit and is_count) or (figure.unit == "R$" and (link.behind or link.is_loose))
    return _follows(sentence, figure, place, operands) or (is_part and _is_result(sentence, figure, place, operands))


def _follows(sentence: str, figure: Figure, place: tuple[int, int], operands: Sequence[Operand]) -> bool:
    """Whether a figure is a known one told anew: of a hundred, or in a sum that is written out."""
    before, end = sentence[: place[0]], place[1]
    if is_of_each(sentence, figure, operands) or (figure.value in (100, 1000) and _WHOLE.search(before)):
        return True
    if proposed.IN_EACH.search(before) and not figure.unit:
        return any(unit == "%" and value and abs(100 / value - figure.value) <= 1 for value, unit in operands)
    summed = _COMPUTING.search(before) or _COMPUTED.match(sentence, end)
    return bool(summed) and any(occurs(value, (figure,)) for value, _ in operands)


def _is_result(sentence: str, figure: Figure, place: tuple[int, int], operands: Sequence[Operand]) -> bool:
    return is_worked_out(figure, operands, 0.1 if proposed.HEDGED.search(sentence[: place[0]]) else 0.0)


def _is_compared(sentence: str, start: int, end: int) -> bool:
    """Whether a figure is set against another one, or is told of others than the label in front of it."""
    if _SET_AGAINST.search(sentence[:start]) or _AGAINST.match(sentence, end):
        return True
    return bool(_OF_OTHERS.match(sentence, end))


def _is_harmless(
    sentence: str,
    figure: Figure,
    place: tuple[int, int],
    operands: Sequence[Operand],
    known: Sequence[Figure | float] | None,
) -> bool:
    """Whether a figure that shows no fact at its label may stand: a proposal, an aim, a span of time, what follows from
    the operands. `known`: figures that may stand anywhere, None where linking words tie the figure to a label."""
    before, end = sentence[: place[0]], place[1]
    if (
        not claims_one(figure)
        or proposed.PROPOSED.search(before)
        or proposed.AIMED.search(before)
        or proposed.SPAN.match(sentence, end)
    ):
        return True
    if _is_step(figure, before, sentence[end:]) or proposed.OFFER_OF.search(before):
        return True
    if (proposed.WITH.search(before) and not proposed.SHARE_OF.match(sentence, end)) or (
        proposed.TOWARDS.search(before) and figure.unit != "%" and proposed.ADVISED.search(sentence)
    ):
        return True
    if proposed.RELATIVE.match(sentence, end) and proposed.ADVISED.search(sentence):
        return True
    if proposed.LATER.search(sentence) or proposed.WOULD.search(sentence) or proposed.OFFERED.match(sentence, end):
        return True
    if known is not None and (
        invented([figure], known) == 0 or (figure.unit != "%" and proposed.ADVISED.search(sentence))
    ):
        return True
    return _follows(sentence, figure, place, operands) or _is_result(sentence, figure, place, operands)


def _is_step(figure: Figure, before: str, behind: str) -> bool:
    is_number = not figure.unit and figure.value <= proposed.MOST_STEPS
    return is_number and bool(proposed.STEP_OF.search(before) and proposed.STEP_ENDS.match(behind))
