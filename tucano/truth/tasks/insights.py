"""Facts of `insights`: the figures of the brief at their own labels, and those that come from nowhere."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from tucano.truth import contexts
from tucano.truth.facts import UNKNOWN, text_facts
from tucano.truth.figures import Figure, figures
from tucano.truth.moves import Mention, compared, moves
from tucano.truth.reading import plain, share, words
from tucano.truth.standing import MOST_FIGURES, holds
from tucano.truth.types import PromptLike

FAR = 999
NEAR = 25
"""Characters within which a figure belongs to a label."""
MEANING = {
    "key at labels": "share of the key indicators whose figure stands in a sentence with their label",
    "facts at labels": "the same of all indicators of the brief",
    "key named": "share of the key indicators that are named",
    "exchanged": "figures of one indicator that stand at the label of another one in the same unit",
    "contradicted": "figures of none, joined to a label in its unit («devolução de 55%»)",
    "turned": "indicators that are said to have moved the other way than the brief says",
    "moves added": "indicators that are said to have moved where the brief says nothing of it",
    "items": "lines that begin with the mark of a list",
}
RISING = frozenset({"key at labels", "facts at labels", "key named", "same words", "stands"})
FALLING = frozenset({
    "exchanged", "contradicted", "turned", "moves added", "loose shares", "loose amounts", "other words", "other part",
    "said twice", "borrowed 12", "odd places",
})  # fmt: skip
_ITEM = re.compile(r"(?m)^\s*(?:[-*•]|\d+[.)])")
_END = re.compile(r"[.!?;]\s|\n")
_JOINED = re.compile(
    r"\s*+(?:(?:medi[oa]|atual|geral)\s*+)?(?:[(:]\s*+)?"
    r"(?:(?:e|foi|esta|ficou|chegou|subiu|caiu|atingiu|marcou|em|de|a|para)\s*+){0,3}(?:r\$\s*+)?"
)


def facts(prompt: PromptLike, answer: str, databases: Path | None) -> dict[str, float]:
    known = [
        (str(one["label"]), float(one["value"]), str(one.get("unit", ""))) for one in prompt.reference.get("facts", ())
    ]
    key = frozenset(map(str, prompt.reference.get("key", ())))
    labels = [label for label, *_ in known]
    brief, said = ((text, _mentions(text, labels)) for text in (plain(prompt.user), plain(answer)))
    told = _told(*said, known)
    before, open_to, now = dict(moves(*brief)), compared(*brief), [*moves(*said)]
    return {
        **text_facts(prompt.user, answer, answer),
        **contexts.figure_facts(prompt.user, answer),
        "key at labels": share(key, told.stated) if known else UNKNOWN,
        "facts at labels": share(frozenset(labels), told.stated) if known else UNKNOWN,
        "key named": share(key, told.named) if known else UNKNOWN,
        "exchanged": float(told.exchanged) if known else UNKNOWN,
        "contradicted": float(told.contradicted) if known else UNKNOWN,
        "turned": float(sum(rose != before.get(label, rose) for label, rose in now)),
        "moves added": float(sum(label not in open_to for label, _ in now)),
        "items": float(len(_ITEM.findall(answer))),
    }


def exact(told: Mapping[str, float]) -> float:
    """What is left of a text that is no answer, or takes itself back."""
    return holds(told)


def is_known(reference: Mapping[str, Any]) -> bool:
    return bool(reference.get("facts") and reference.get("key"))


@dataclass(frozen=True, slots=True)
class Told:
    """What an answer says of its brief's indicators. stated: labels with their figure; named: labels that it has."""

    stated: frozenset[str]
    named: frozenset[str]
    exchanged: int
    contradicted: int


def _told(text: str, mentions: Sequence[Mention], known: Sequence[tuple[str, float, str]]) -> Told:
    by_label = {label: (value, unit) for label, value, unit in known}
    cuts = [0, *(cut.end() for cut in _END.finditer(text)), len(text) + 1]
    stated: set[str] = set()
    exchanged = contradicted = 0
    for figure in figures(text)[:MOST_FIGURES]:
        place = bisect_right(cuts, figure.start)
        here = [one for one in mentions if cuts[place - 1] <= one.start < cuts[place]]
        own = {label for label, (value, unit) in by_label.items() if figure.shows(value) and figure.unit in ("", unit)}
        stated |= own & {one.label for one in here}
        if own:
            exchanged += _is_exchanged(figure, here, own, by_label)
        elif figure.unit:
            contradicted += _is_contradicted(text, figure, here, by_label)
    named = {one.label for one in mentions}
    return Told(frozenset(stated), frozenset(named), exchanged, contradicted)


def _mentions(text: str, labels: Iterable[str]) -> list[Mention]:
    found = (Mention(one.start(), one.end(), label) for label in labels for one in _named(label).finditer(text))
    return sorted(found, key=lambda one: one.start)


def _distance(figure: Figure, one: Mention) -> int:
    return max(one.start - figure.end, figure.start - one.end, 0)


def _is_exchanged(
    figure: Figure, here: Sequence[Mention], own: set[str], by_label: Mapping[str, tuple[float, str]]
) -> bool:
    """Whether the label that a figure follows, or else the nearest, is another one in its unit; no own is nearer."""
    if not here:
        return False
    before = [one for one in here if one.end <= figure.start]
    whose = before[-1] if before else min(here, key=lambda one: _distance(figure, one))
    nearest = min((_distance(figure, one) for one in here if one.label in own), default=FAR)
    is_other = whose.label not in own and by_label[whose.label][1] == figure.unit
    return is_other and _distance(figure, whose) < min(nearest, NEAR)


def _is_contradicted(
    text: str, figure: Figure, here: Sequence[Mention], by_label: Mapping[str, tuple[float, str]]
) -> bool:
    """Whether a figure that no indicator has is joined to one in its unit by a verb or a preposition."""
    before = [one for one in here if one.end <= figure.start]
    if not before or by_label[before[-1].label][1] != figure.unit:
        return False
    return bool(_JOINED.fullmatch(text, before[-1].end, figure.start))


MOST_WORDS = 6
"""Of a label, in the pattern that finds it."""


@lru_cache(maxsize=4096)
def _named(label: str) -> re.Pattern[str]:
    """A label by the beginnings of its words, with one word between two of them at most. Of a long one its first words
    name it: each more doubles the ways to read a text that repeats them.
    """
    parts = [re.escape(word[: max(4, len(word) - 2)]) for word in words(label) if len(word) > 2][:MOST_WORDS]
    return re.compile(r"\b" + r"\w*\W+(?:\w+\W+)?".join(parts or [re.escape(plain(label))]) + r"\w*")
