"""The facts of a brief, and which of them an answer states: a figure counts where it stands with its own label."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tucano.truth.advice import INDICATORS, names, recommends
from tucano.truth.figures import Figure, figures
from tucano.truth.reading import plain
from tucano.truth.sums import Quantity, follows
from tucano.truth.unwelcome.mistold import exchanged, misreads
from tucano.truth.wording.claims import NAMED, TOLD, tie
from tucano.truth.wording.proposals import is_proposed, is_span
from tucano.truth.wording.told import told_in
from tucano.truth.wording.wholes import implied, in_whole_numbers, is_share, scaled, widened

_TELLING = 4
"""Words of a sentence that says something."""
_REMEMBERED = 6
"""Figures of an answer that later ones may be worked out of."""

_UP = (
    r"(?:subi(?:u|ram)|cresc(?:eu|eram)|aument(?:ou|aram)|dobr(?:ou|aram)|dispar(?:ou|aram)|avanc(?:ou|aram)"
    r"|alta de|aumento de|crescimento de)"
)
_DOWN = (
    r"(?:ca(?:iu|iram)|diminui(?:u|ram)|reduzi(?:u|ram)|despenc(?:ou|aram)|recu(?:ou|aram)|baix(?:ou|aram)"
    r"|queda de|reducao de)"
)
_MOVED = re.compile(rf"\b(?:(?P<up>{_UP})|(?P<down>{_DOWN}))\b")
_SUM = re.compile(r"(?:[×÷*/=≈~+]|\bvezes)\s*(?:r\$\s*)?$")
_SUMMED = re.compile(r"\s*(?:[a-z]+\s*)?[×÷*/=≈+]|\s*+(?:\)\s*+)?(?:dividid\w+|multiplicad\w+|vezes\s+(?:r\$|\d))")
_HEDGED = re.compile(
    r"\b(?:uns|umas|cerca de|perto de|quase|algo como|por volta de|aproximadamente|em torno de|mais ou menos"
    r"|praticamente"
    r"|pouco (?:mais|menos) de|na casa d[eo]s?)\s+(?:r\$\s*)?$"
)
_COMPARES = re.compile(
    r"\b(?:mais|menos|maior(?:es)?|menor(?:es)?|acima|abaixo|alem|super\w+|diferenca|aument\w+|cresc\w+|sub\w+|alta"
    r"|queda"
    r"|ca(?:i|iu|ir|iria)|reduz\w+|diminu\w+|ganh\w+|folga|faltam?)\b"
)
"""Words by which a share may be one of a difference («71% maior»)."""
_OWN_WORDS = 4
"""Words beside label and figure of a sentence that is more than an item of a list."""
_OF = re.compile(r"\s+(?:de|do|da|dos|das|em|na|no)\s+(?:(?:o|a|taxa de|indice de|media de)\s+)?|\s+")
_STATED = re.compile(
    r"\s*+(?:medi[oa]s?)?\s*+(?:\(|:|,|=)?\s*+(?:(?:que\s++)?(?:e|seja|foi|esta|ficou|chega|chegou|fica|atual|ja|hoje"
    r"|custa|custou"
    r"|alcancou|atingiu|marca|marcou|sai|saiu|sustente|gira|soma|somou)?\s*+(?:de|em|a|ao|do|da|por|so|apenas)?\s*+){0,3}"
    r"(?:apenas |so )?\(?\s*+"
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
    """Labels whose figure the answer states, and how many of its figures are wrong: swapped, misread or invented.
    `apart`: how many come from nowhere, in sentences that mention no indicator they could be of.
    """

    labels: frozenset[str]
    wrong: int
    apart: int = 0


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
    apart: set[tuple[str, float]] = set()
    told = [(fact.value, fact.unit) for fact in facts]
    quantities = {fact.label: (fact.value, fact.unit) for fact in facts}
    units = {fact.label: fact.unit for fact in facts}
    third = implied(quantities)
    orders = [value for value, unit in [*told, *third] if not unit]
    said: list[Quantity] = []
    for sentence, is_row, is_aimed in told_in(answer, quantities):
        mentions = sorted(
            (match.start(), match.end(), label) for label in by_label for match in names(label).finditer(sentence)
        )
        found = figures(sentence)
        for place, figure in enumerate(found):
            label = _label(sentence, mentions, found, place, by_label)
            fact = by_label.get(label) if label else None
            if fact and not _shows(figure, fact):
                attached = _is_attached(sentence, mentions, figure, fact.label, units)
                listed = attached and _is_listed(sentence, mentions, figure)
                if listed or not attached:
                    fact = _shown_of_others(sentence, mentions, figure, facts) or (fact if listed else None)
            if fact and _shows(figure, fact) and not (is_row or _is_said(sentence, mentions, figure, fact.label)):
                right.update(one.label for one in [_alone(sentence, figure, mentions, facts)] if one)
                continue
            if fact and _shows(figure, fact):
                moved = _movement(sentence, mentions, figure, fact.label)
                if moved in ("", fact.moved):
                    right.add(fact.label)
                else:
                    wrong.add((fact.label, figure.value))
            elif (claim := _claim(sentence, mentions, figure, units, [*facts, *free])) == TOLD:
                wrong.add((label or "", figure.value))
            elif own := _alone(sentence, figure, mentions, facts):
                right.add(own.label)
            elif is_aimed or _OF_SO_MANY.search(sentence) or _is_told_of(sentence, figure, mentions, facts, claim):
                pass
            elif not _is_free(sentence, figure, mentions, free, claim) and not _is_summed(
                sentence,
                widened(sentence, found, place),
                quantities,
                third if (tied := _is_tied(sentence, mentions, figure, units)) else [*third, *said],
                not tied,
                claim,
            ):
                (wrong if _has_peer(sentence, figure, mentions, units) else apart).add((label or "", figure.value))
            named = {label: by_label[label].value for _, _, label in mentions if units[label] == "%"}
            right.update(in_whole_numbers(sentence, figure, named, orders))
            if figure.unit or not is_span(sentence[: figure.start], sentence[figure.end :]):
                said = [(figure.value, str(figure.unit)), *said][:_REMEMBERED]
        wrong.update((label, 0.0) for label in _moves(sentence, mentions, by_label))
        wrong.update(_misnamed(sentence, found, facts))
        values = {fact.label: fact.value for fact in facts}
        wrong.update((label, 1.0) for label in exchanged(sentence, mentions, found, values))
        if misreads(sentence, plain(brief)):
            wrong.add(("", 0.0))
    return Stated(frozenset(right), len(wrong), len(apart - wrong))


_OF_SO_MANY = re.compile(r"\bcada (?:r\$ ?)?(?:100|50|1\.?000|cem|mil)\b(?=[^%]*r\$)")
"""«Cada 100 pedidos perdem R$ 2,9 mil»: worked out of more than two figures."""


def _is_listed(sentence: str, mentions: Sequence[tuple[int, int, str]], figure: Figure) -> bool:
    """Whether a mere «e» stands between the last label and a figure, which may begin another item («cancelados e 11,4%
    devolvidos»)."""
    ends = [end for _, end, _ in mentions if end <= figure.start]
    return bool(ends) and bool(_LISTED.fullmatch(sentence[ends[-1] : figure.start]))


_LINKED = re.compile(r"(?: medi[oa])? (?:de|em|foi de|ficou em|caiu para|subiu para) (?:r\$ ?)?")


def _misnamed(sentence: str, found: Sequence[Figure], facts: Sequence[Fact]) -> Iterator[tuple[str, float]]:
    """Figures of the brief that are told of an indicator which it does not have («devolução de 4,2%» of a cancellation
    of 4,2%)."""
    known = {fact.label for fact in facts}
    for label in INDICATORS.keys() - known:
        for name in names(label).finditer(sentence):
            link = _LINKED.match(sentence, name.end())
            if not link:
                continue
            for figure in found:
                linked = figure.unit and name.end() <= figure.start <= link.end()
                if linked and any(_shows(figure, fact) for fact in facts):
                    yield label, figure.value


_NEAR = 12
"""Characters within which an indicator and a figure belong together, whatever their units."""


def _has_peer(
    sentence: str, figure: Figure, mentions: Sequence[tuple[int, int, str]], units: Mapping[str, str]
) -> bool:
    """Whether a figure can be of an indicator: a share always, an amount or a number of one in its unit, or of any
    that stands near. Else it contradicts nothing («cada R$ 10 a mais», «em 20 anúncios»).
    """
    if figure.unit == "%" or any(units[label] == figure.unit for _, _, label in mentions):
        return True
    return any(
        0 <= max(figure.start - found.end(), found.start() - figure.end) < _NEAR
        for label in {*units, *INDICATORS}
        for found in names(label).finditer(sentence)
    )


def _claim(
    sentence: str,
    mentions: Sequence[tuple[int, int, str]],
    figure: Figure,
    units: Mapping[str, str],
    known: Sequence[Fact | float],
) -> str:
    """Whether a figure is told of a label it is not of, or stands as its own; none where the brief has it elsewhere."""
    label, how = tie(sentence, mentions, figure, units)
    for one in known:
        if _shows(figure, one) and one.label == label if isinstance(one, Fact) else figure.shows(one):
            return ""
    return how


_AGAINST = re.compile(r"\b(?:contra|ante|versus|vs\.?|frente a)\s*(?:os? |as? )?(?:r\$\s*)?$")
_COMPARED = re.compile(r"\s*(?:contra|ante|versus|vs\b|frente a)")
_WOULD_BE = re.compile(r"\b(?:seriam?|dariam?|trari\w+|subiria\w*|renderi\w+|representari\w+|viraria\w*|ficaria\w*)\b")
_SUPPOSING = re.compile(r"\b(?:com|cada|se|caso|sem|mais)\b")


def _is_told_of(
    sentence: str, figure: Figure, mentions: Sequence[tuple[int, int, str]], facts: Sequence[Fact], claim: str
) -> bool:
    """Whether a figure is a fact that is set against another one, the whole number of a share in «de cada 100», or
    what would be: it stands beside such a verb, or is supposed."""
    before, behind = sentence[: figure.start], sentence[figure.end :]
    shares = {fact.label: fact.value for fact in facts if fact.unit == "%"}
    named = [label for start, _, label in mentions if start >= figure.end and label in shares]
    if is_share(sentence, figure, [shares[label] for label in named[:1] or shares]):
        return True
    if _AGAINST.search(before) or _COMPARED.match(behind):
        return any(_shows(figure, fact) for fact in facts)
    later = _WOULD_BE.search(behind)
    supposed = later and (_SUPPOSING.search(before) or not re.search(r"[,;:]", behind[: later.start()]))
    return not claim and bool(_WOULD_BE.search(before) or supposed)


_COUNTED = 100
"""A smaller whole number may count anything, whatever it is reckoned with."""
_OF_OTHERS = re.compile(r"\s+d[ao]s?\s+(?:visit|sess|acess|client|compra|pesso|entreg|carrinh)")


def _alone(
    sentence: str, figure: Figure, mentions: Sequence[tuple[int, int, str]], facts: Sequence[Fact]
) -> Fact | None:
    """The fact that a figure can only be, by value and unit, in a sentence that says something and ties the figure to
    no other label («quase um quarto das entregas (23,7%) chegou tarde»)."""
    summed = bool(_SUM.search(sentence[: figure.start]) or _SUMMED.match(sentence, figure.end))
    is_telling = bool(figure.unit) or figure.value % 1 > 0 or (summed and figure.value > _COUNTED)
    shown = [fact for fact in facts if is_telling and figure.unit == fact.unit and figure.shows(fact.value)]
    units = {fact.label: fact.unit for fact in facts}
    apart = not any(
        (
            _joins(sentence[end : figure.start], figure, units[label])
            if end <= figure.start
            else not sentence[figure.end : start].strip()
        )
        for start, end, label in mentions
    )
    apart = apart or bool(_OF_OTHERS.match(sentence, figure.end))
    told = len(re.findall(r"[^\W\d_]{2,}", sentence)) >= _TELLING and not _MOVED.search(sentence, 0, figure.start)
    return shown[0] if len(shown) == 1 and apart and (told or summed) else None


_CAME = re.compile(rf"\s*(?:medi[oa]s?\s*)?(?:{_UP}|{_DOWN})\s+(?:para|a|em)\s*(?:r\$\s*)?")
_LISTED = re.compile(r"\s*(?:e|a|com|,)\s*")


def _joins(between: str, figure: Figure, unit: str) -> bool:
    """Whether linking words alone stand between a label and the figure behind it. Of another unit than the label's, a
    figure behind an «e» or «a» is told beside it («842 pedidos e R$ 77.410», «311 pedidos a R$ 352»)."""
    beside = figure.unit not in ("", unit) and _LISTED.fullmatch(between.replace("(", ","))
    return bool(_STATED.fullmatch(between) or _CAME.fullmatch(between)) and not beside


def _is_attached(
    sentence: str, mentions: Sequence[tuple[int, int, str]], figure: Figure, label: str, units: Mapping[str, str]
) -> bool:
    """Whether only linking words stand between a label and a figure («atraso foi de 8,0%», «1.234 pedidos»)."""
    for start, end, named in mentions:
        if named == label and end <= figure.start and _joins(sentence[end : figure.start], figure, units[named]):
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
    if _WITH.fullmatch(between) and _ENDS.match(sentence, figure.end):
        return True
    return behind or (joined and bool(_STATED.fullmatch(between)))


_WITH = re.compile(r",?\s*com\s*(?:so |apenas )?")
_ENDS = re.compile(r"\s*[,.;:)]")
"""Around a figure that its label has with it («a devolução, com 2,5%, está comportada»)."""


_DO = re.compile(r"[ae]m$|[ae]m\W$")
"""How verbs in the plural end («14,8% recompram»)."""


def _label(
    sentence: str,
    mentions: Sequence[tuple[int, int, str]],
    found: Sequence[Figure],
    place: int,
    facts: Mapping[str, Fact],
) -> str | None:
    """Whose figure this is: of the label right behind it («465 pedidos»), else the last before it, else the next."""
    figure = found[place]
    for start, end, label in mentions:
        between = sentence[figure.end : start] if start >= figure.end else None
        joined = between and (between.strip() or _DO.search(sentence[start : end + 1]))
        if between and _OF.fullmatch(between) and (joined or not (figure.unit or facts[label].unit)):
            return label
    if "respectiv" in sentence and len(mentions) >= len(found):
        return mentions[place][2]
    before = [label for _, end, label in mentions if end <= figure.start]
    return before[-1] if before else mentions[0][2] if mentions else None


def _is_tied(sentence: str, mentions: Sequence[tuple[int, int, str]], figure: Figure, units: Mapping[str, str]) -> bool:
    """Whether only linking words stand between some label and the figure behind it. Behind «por pedido =» the figure
    is what was worked out."""
    worked_out = bool(figure.unit and _SUM.search(sentence, 0, figure.start))
    return not worked_out and any(
        end <= figure.start and _joins(sentence[end : figure.start], figure, units[label]) for _, end, label in mentions
    )


def _is_free(
    sentence: str,
    figure: Figure,
    mentions: Sequence[tuple[int, int, str]],
    other: Sequence[float],
    claim: str,
) -> bool:
    """Whether a figure that shows no fact at its label may stand: a proposal, an aim, a span of time, a small number,
    «de cada 100»; or a fact without any label, which earns nothing either."""
    starts = [start for start, end, _ in mentions if end <= figure.start]
    if is_proposed(
        sentence, figure, starts[-1] if starts else None, bool(claim), bool(_MOVED.search(sentence[: figure.start]))
    ):
        return True
    if any(figure.shows(value) for value in other):
        return True
    tied = any(end <= figure.start and _STATED.fullmatch(sentence[end : figure.start]) for _, end, _ in mentions)
    return recommends(sentence) and not tied and not _MOVED.search(sentence)


def _is_summed(
    sentence: str, figure: Figure, facts: Mapping[str, Quantity], said: Sequence[Quantity], free: bool, claim: str
) -> bool:
    """Whether a figure is worked out of the brief's facts and of the figures said just before, or is a fact that
    stands in a sum that is written out, or beside no label of its own. One that stands as a label's own is no result,
    but in such a sum."""
    before = sentence[: figure.start]
    written = bool(_SUM.search(before) or _SUMMED.match(sentence, figure.end))
    if any(figure.shows(value) and figure.unit in ("", unit) for value, unit in facts.values()):
        return free or written
    if claim == NAMED and not written:
        return False
    return follows(
        figure, [*facts.values(), *said], bool(_HEDGED.search(before)), bool(_COMPARES.search(sentence))
    ) or (not claim and scaled(sentence, figure, facts, said))


def _movement(sentence: str, mentions: Sequence[tuple[int, int, str]], figure: Figure, label: str) -> str:
    """«up» or «down» where the words between the figure's label and the figure say that it moved."""
    start, whose = max(((end, named) for _, end, named in mentions if end <= figure.start), default=(0, label))
    moved = _MOVED.search(sentence, start, figure.start) if whose == label else None
    return "" if not moved else "up" if moved["up"] else "down"


def _moves(sentence: str, mentions: Sequence[tuple[int, int, str]], facts: Mapping[str, Fact]) -> Iterator[str]:
    """Labels that are said to have moved where the brief does not say so."""
    for _, end, label in mentions:
        moved = re.match(rf"(?:\s+(?:\w+|[\d.,]+%?)){{0,2}}?\s+{_MOVED.pattern}", sentence[end:])
        if moved and ("up" if moved["up"] else "down") != facts[label].moved:
            yield label
