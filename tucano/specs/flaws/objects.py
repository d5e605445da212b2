"""Flaws of answers that are one JSON object, and changes of one that nobody minds."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tucano.prompts import Prompt
from tucano.specs.objects import Field, JsonObject, corrupted, dumped, json_object

Flaw = tuple[str, float, str, str]
"""As `tucano.specs.base.Edit`: kind, points lost, before, after. What stands behind a colon tells variants apart."""
Change = tuple[str, str, str]
"""Kind, before, after: two texts that a rater would give the same number."""

FIELD = 0.3
"""Points that one wrong field of ten costs at least: the guide allows a slip, and a program must see it."""
UNJUDGED = 0.05
"""And one whose content nobody compares: it was asked for."""
ALONE = 3.0
"""And where nothing else is known to be true."""
_TALK = ("Claro! Segue a análise: ", "Resultado da avaliação: ")


def field_flaws(text: str, truth: Mapping[str, Any], fields: Mapping[str, Field]) -> Iterator[Flaw]:
    """Each right field wrong, missing and null; one that alone is known costs nearly all."""
    answer = json_object(text)
    if answer is None or not truth:
        return
    points = ALONE if len(truth) == 1 else FIELD * 10 / len(fields)
    for name, texts in corrupted(answer, truth, fields).items():
        if fields[name].judged == "never":
            if len(truth) > 1:
                yield f"field missing: {name}", UNJUDGED, text, texts[1]
            continue
        value = json.dumps(truth[name]) if isinstance(truth[name], bool | None) else "given"
        for what, spoilt in zip(("wrong", "missing"), texts, strict=True):
            yield f"field {what}: {name} ({value})", points, text, spoilt
        if isinstance(truth[name], int | float) and not isinstance(truth[name], bool):
            for absurd in (10**400, -1e300, 0.0001):
                yield f"field absurd: {name}", points / 2, text, dumped(answer | {name: absurd})


def form_flaws(text: str) -> Iterator[Flaw]:
    """All is right, but a program does not read it as it stands."""
    answer = json_object(text)
    if not answer:
        return
    compact = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
    for lead in _TALK:
        yield f"talk around the object: {lead.strip()}", 1, compact, lead + compact
    half = dumped(dict(list(answer.items())[::2]))
    yield "half of the fields rather than a sentence in front", 0.2, f"Resultado da avaliação: {compact}", half
    yield "talk around the object: behind it", 1, compact, f"{compact} Espero ter ajudado com a análise!"
    yield "broken object: single quotes", 1, compact, compact.replace('"', "'")
    yield "broken object: comma too many", 1, compact, f"{compact[:-1]},}}"
    yield "broken object: end missing", 1, compact, compact[:-1]
    yield "broken object: bare names", 1, compact, "{" + ",".join(f"{k}:{_bare(v)}" for k, v in answer.items()) + "}"
    yield "in pieces", 1, compact, "\n".join(dumped({name: value}) for name, value in answer.items())
    yield "object given twice", 1, compact, f"{compact}\n{compact}"


def stars_off(text: str, truth: Mapping[str, Any], points: float) -> Iterator[Flaw]:
    """The score one star off, and two off rather than one."""
    answer = json_object(text) or {}
    stars = truth.get("sentiment_score")
    if isinstance(stars, int) and answer.get("sentiment_score") == stars:
        near, far = (dumped(answer | {"sentiment_score": stars + (step if stars < 4 else -step)}) for step in (1, 2))
        yield f"stars one off: {stars}", points, text, near
        yield f"stars two off rather than one: {stars}", points, near, far


def order_of_words(text: str, truth: Mapping[str, Any], name: str, words: Sequence[str]) -> Iterator[Flaw]:
    """The opposite end of a scale of words rather than its middle."""
    answer, value = json_object(text) or {}, truth.get(name)
    if value in (words[0], words[-1]) and answer.get(name) == value:
        opposite = words[0] if value == words[-1] else words[-1]
        middle = dumped(answer | {name: words[1]})
        yield f"{name} one step off: {value}", 0.5, text, middle
        yield f"{name} opposite rather than one step off: {value}", 0.2, middle, dumped(answer | {name: opposite})


def chance_off(text: str, truth: Mapping[str, Any], name: str = "probability") -> Iterator[Flaw]:
    """A probability that is off by little, and by much rather than by little."""
    answer, value = json_object(text) or {}, truth.get(name)
    if isinstance(value, float) and answer.get(name) == value:
        way = 1 if value <= 0.5 else -1
        near, far = (dumped(answer | {name: round(value + way * step, 2)}) for step in (0.15, 0.4))
        yield f"{name} off: {value}", 0.2, text, near
        yield f"{name} far off rather than off: {value}", 0.3, near, far
        yield f"{name} in percent: {value}", 1, text, dumped(answer | {name: round(value * 100)})


def _bare(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def doubled_key(answer: JsonObject, name: str, other: Any) -> str:
    """The object with a field given twice, the first time with another value."""
    return f"{{{json.dumps(name)}: {json.dumps(other, ensure_ascii=False)}, {dumped(answer)[1:]}"


def harmless_changes(text: str) -> Iterator[Change]:
    """Other ways to write the same object."""
    answer = json_object(text)
    if not answer:
        return
    compact = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
    yield "layout: indented", compact, json.dumps(answer, ensure_ascii=False, indent=2)
    yield "layout: spaced", compact, dumped(answer)
    yield "layout: fenced", compact, f"```json\n{compact}\n```"
    yield "layout: fence without a name", compact, f"```\n{compact}\n```"
    yield "layout: escaped", compact, json.dumps(answer, separators=(",", ":"))
    yield "layout: another first field", compact, dumped(dict([*list(answer.items())[1:], *list(answer.items())[:1]]))


def known_alone(prompt: Prompt, fields: Mapping[str, Field]) -> Iterator[tuple[str, Prompt]]:
    """The prompt as one of which a single field is known."""
    truth = prompt.reference.get("fields", {})
    for name, value in truth.items():
        if fields[name].judged != "never" and len(truth) > 1:
            yield f"only `{name}` known", replace(prompt, reference=prompt.reference | {"fields": {name: value}})


def strangers(others: Sequence[Prompt]) -> list[Mapping[str, Any]]:
    """The true fields of other prompts, where they are known."""
    return [found for other in others if (found := other.reference.get("fields"))]


def labelled(prompt: Prompt, name: str) -> tuple[str, ...]:
    """The kind of a prompt by the value of one of its true fields."""
    value = prompt.reference.get("fields", {}).get(name)
    return (f"{name} {value}",) if value is not None else ()
