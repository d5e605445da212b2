"""Good answers, and edits of them that the rating guide puts lower. None knows how a reward computes."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tucano.prompts import Prompt
from tucano.specs.objects import NOTATIONS, JsonObject, dumped, json_object, with_number
from tucano.specs.registry import spec_of

LEAST_PER_POINT = 0.25 / 3
"""What losing one point of the guide's 1-5 scale must cost. A point is .25 of the reward; rewards are asked for the
guide's order, not for its distances, so a third of that is enough. Less is lost in GRPO's noise.
"""
LEAST_PER_FIELD = 0.025
"""Ten fields of equal worth have a tenth of the reward each; what a program cannot read costs a quarter of that at
least.
"""


@dataclass(frozen=True, slots=True)
class Degradation:
    """One edit of a good answer: it must cost `least` or more, in the mean over answers. `detail` tells variants of a
    kind apart.

    `before` is the answer itself, or, where the edit would change something else too (its length, say), a text that
    changes only that.
    """

    kind: str
    detail: str
    least: float
    prompt: Prompt
    before: str
    after: str


def degradations(prompt: Prompt, text: str, others: Sequence[Prompt]) -> list[Degradation]:
    """The edits that apply to this good answer. `others` are prompts of the same task, whose truth is not this
    one's.
    """
    edits = spec_of(prompt.task).edits(prompt, text, others)
    named = ((kind.partition(": "), points, before, after) for kind, points, before, after in edits)
    made = [
        Degradation(kind, detail, points * LEAST_PER_POINT, prompt, before, after)
        for (kind, _, detail), points, before, after in named
    ]
    return made + _wrong_types(prompt, text)


def _wrong_types(prompt: Prompt, text: str) -> list[Degradation]:
    """Every checked field of an object with a value of the wrong JSON type, also where the prompt's truth is not
    known.
    """
    answer = json_object(text) or {}
    known = prompt.reference.get("fields") or answer
    return [
        Degradation(
            kind, f"`{name}` as {json.dumps(value)}", LEAST_PER_FIELD, asked, text, dumped(answer | {name: value})
        )
        for kind, asked in (("wrong type", prompt), ("wrong type, truth unknown", replace(prompt, reference={})))
        for name, field in spec_of(prompt.task).fields.items()
        if name in answer and (name in known or len(known) > 1)
        for value in field.wrong_types
    ]


_VALUES: tuple[Any, ...] = (
    [4, 5],
    [1, 2, 3],
    ["4,5", "R$ 9,90"],
    {"min": 4, "max": 5},
    "nota 4,5, prazo 10,5",
    -3,
    4.5,
    None,
)


def readings(answer: JsonObject) -> list[tuple[str, JsonObject]]:
    """Texts that hold this object together with values of every kind, written flawlessly and with forgivable slips;
    what they say.
    """
    found = []
    for value in _VALUES:
        whole = {"extra": value} | answer
        text = json.dumps(whole, ensure_ascii=False, separators=(",", ":"))
        slips = [text, f"Segue o JSON:\n```json\n{text}\n```\nEspero ter ajudado.", f"{text[:-1]},}}", text[:-1]]
        slips += [text.replace('"', "'")] if "'" not in text else []
        found += [(slip, whole) for slip in slips]
        numbered = whole | {"valor": 0.0, "fim": True}
        found += [
            (with_number(numbered, "valor", local), numbered | {"valor": float(plain)}) for plain, local in NOTATIONS
        ]
    return found
