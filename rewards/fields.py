"""The fields of an answer that is one JSON object, each by itself: what it is worth, and where it stands."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from rewards.extraction import agreements, is_usable
from rewards.parsing.objects import find_object, is_parsable
from rewards.parsing.text import readable
from rewards.sets import SETS
from rewards.types import PromptLike

_UNJUDGED = "summary"
"""There are many good ones; no reward reads it either."""
_PAIR = re.compile(r'"(\w++)"\s*+:\s*+(?:"(?>(?:[^"\\]|\\.)*)"|-?\d[\d.,]*+(?<![.,])|\w++)')
"""A field with its name, where the value is a string, a number or a word: `"stars": 4`."""


@dataclass(frozen=True, slots=True)
class FieldScore:
    """One field of the reference in an answer. value: its agreement in [0, 1], as reward set `grounded` sees it; 0 for
    a field that is not there. start, end: characters of the answer that hold name and value; both 0 where the field is
    not there, stands twice, or has a value in brackets.
    """

    name: str
    value: float
    start: int
    end: int


def field_scores(prompt: PromptLike, answer: str) -> list[FieldScore]:
    """One per field of the prompt's reference, in its order; none where the reference has no fields. Never raises."""
    expected = {name: value for name, value in prompt.reference.get("fields", {}).items() if name != _UNJUDGED}
    found = (find_object(readable(answer)) or {}) if expected else {}
    usable = {name: found[name] for name in expected if name in found and is_usable(name, found[name])}
    places = _places(answer) if usable else {}
    return [
        FieldScore(name, value, *places.get(name, (0, 0)))
        for name, value in agreements(usable, expected, prompt).items()
    ]


def is_answered_with_fields(task: str) -> bool:
    """Whether the reward of a task asks for an object."""
    return f"{task}.valid_json" in {component.name for component in SETS["grounded"][task].components}


def _places(answer: str) -> Mapping[str, tuple[int, int]]:
    pairs = list(_PAIR.finditer(answer)) if is_parsable(answer) else []
    names = [pair[1] for pair in pairs]
    return {pair[1]: pair.span() for pair in pairs if names.count(pair[1]) == 1}
