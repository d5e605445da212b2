"""What a brief tells of before: what an indicator was, beside what it is."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from rewards.parsing.advice import named_by
from rewards.parsing.text import Figure, fold, occurs, placed_figures, spelled, words

ROSE = r"subi(?:u|ram)|cresce(?:u|ram)|aument(?:ou|aram)|dobr(?:ou|aram)|dispar(?:ou|aram)|avanc(?:ou|aram)"
FELL = r"cai(?:u|ram)|diminui(?:u|ram)|reduzi(?:u|ram)|despenc(?:ou|aram)|recu(?:ou|aram)|baix(?:ou|aram)"
_MOVED = re.compile(rf"\W+(?:\w+\W+){{0,2}}?(?:(?P<up>{ROSE})|(?P<down>{FELL}))\b")
_PAST = re.compile(r"\b(?:antes|anterior\w*|passad[oa]s?)\b")
_NEXT = 35
"""Characters behind a figure of the brief in which it says what it was («1,4% (era 1,9%)»)."""
_TO = re.compile(r"\W{0,4}(?:para|pra|a|→)?\W{1,4}(?:r\$ ?)?")
_SO = re.compile(r"\b(?:foi|passou|saiu|subiu|caiu|cresceu|aumentou|avancou|recuou|melhorou|piorou) de (?:r\$ ?)?$")


class Move(NamedTuple):
    """What a label was and is."""

    label: str
    before: float
    now: float
    unit: str


def moves(facts: Sequence[Mapping[str, Any]], brief: str) -> Iterator[Move]:
    """What labels were: of a fact that shares their name and is one of before, or of a figure beside theirs in the
    brief that no fact has."""
    for was in facts:
        same = [one for one in facts if _kind(one) == _kind(was) and not _PAST.search(fold(str(one["label"])))]
        if same and _PAST.search(fold(str(was["label"]))):
            now = max(same, key=lambda one: len({*words(str(one["label"]))} & {*words(str(was["label"]))}))
            yield Move(str(now["label"]), float(was["value"]), float(now["value"]), str(was.get("unit", "")))
    for (one, _, end), (other, start, _) in pairwise(placed_figures(spelled(brief))):
        of_one, of_other = ([fact for fact in facts if occurs(fact["value"], (each,))] for each in (one, other))
        of_one = [fact for fact in of_one if fact.get("unit", "") == one.unit == other.unit]
        if len(of_one) == 1 and not of_other and start - end <= _NEXT:
            yield Move(str(of_one[0]["label"]), other.value, float(of_one[0]["value"]), one.unit)


def _kind(fact: Mapping[str, Any]) -> tuple[str, str]:
    """What facts of the same have in common: their name and unit."""
    return named_by(fact).pattern, str(fact.get("unit", ""))


def what_was(sentence: str, known: Sequence[Move]) -> dict[int, bool]:
    """Where the first figures of «from … to …» begin that tell what was and is; False where they tell as what happened
    that it was the other way round."""
    found: dict[int, bool] = {}
    for (one, start, end), (other, begin, _) in pairwise(placed_figures(sentence)):
        if _TO.fullmatch(sentence, end, begin):
            if any(_shows(one, move.before, move) and _shows(other, move.now, move) for move in known):
                found[start] = True
            elif any(_shows(one, move.now, move) and _shows(other, move.before, move) for move in known):
                found |= {start: False} if _SO.search(sentence, 0, start) else {}
    return found


def _shows(figure: Figure, value: float, move: Move) -> bool:
    return occurs(value, (figure,)) and figure.unit in ("", move.unit)


def moved_otherwise(
    sentence: str,
    places: Sequence[tuple[tuple[int, int], str]],
    facts: Sequence[Mapping[str, Any]],
    known: Iterable[Move],
) -> Iterator[str]:
    """Labels that are told to have moved otherwise; of some that share a name («nota antes», «nota») those alone of
    which it is known what they were."""
    told = {move.label: "up" if move.now > move.before else "down" for move in known}
    for place, label in places:
        moved = _MOVED.match(sentence, place[1])
        if moved and (label in told or sum(other == place for other, _ in places) == 1):
            was = {told.get(label), *(fact.get("moved", "") for fact in facts if fact["label"] == label)}
            if ("up" if moved["up"] else "down") not in was:
                yield label
