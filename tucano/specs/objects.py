"""Answers that are one JSON object: what its fields are, and the changes that the audit makes to them.

None of this knows how any reward is computed.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import cycle
from random import Random
from typing import Any, Literal, TypeVar

from tucano.specs.texts import Change, Flaw, taken_back, without_accents

T = TypeVar("T")
JsonObject = dict[str, Any]
FIELD = 0.3
"""Points of the guide's scale that one wrong field of ten costs at least: the guide allows a slip, and a program must
see it."""
UNJUDGED = 0.05
"""And one whose content nobody compares: it was asked for."""
ALONE = 3.0
"""And where nothing else is known to be true."""
NOTATIONS = (("4.5", "4,5"), ("1234.56", "1.234,56"), ("19.9", "R$ 19,90"))
"""A number as JSON has it, and as Brazilians write it."""


TEXT: Mapping[str, Any] = {"type": "string"}
FLAG: Mapping[str, Any] = {"type": "boolean"}
"""JSON schemas of values (https://json-schema.org, draft 2020-12)."""


def any_of(*values: str | int) -> Mapping[str, Any]:
    return {"enum": list(values)}


RISK = any_of("low", "medium", "high")
TRANSLATED_RISKS = {"low": "baixo", "medium": "médio", "high": "alto"}


def is_text(value: object) -> bool:
    return isinstance(value, str)


@dataclass(frozen=True, slots=True)
class Field:
    """One field of an answer: how a schema describes it, the value of an answer that knows nothing, values of a wrong
    JSON type.

    `wrong` makes another value of the right type. `judged`: the benchmark asks for the very value, for its words, or
    not at all. `allows`: whether an answer may have a value at all; `schema`: the same, and
    blank texts, for a decoder that is to draw nothing else.
    """

    shape: str
    usual: Any
    wrong_types: tuple[Any, ...]
    wrong: Callable[[Any], Any]
    judged: Literal["exactly", "by words", "never"] = "exactly"
    allows: Callable[[object], bool] = is_text
    schema: Mapping[str, Any] = field(default_factory=lambda: TEXT)


@dataclass(frozen=True)
class ObjectAnswer:
    """Compact JSON on one line. `values` may be broken by defects."""

    values: JsonObject
    lead: str = ""
    kept: float = 1.0

    def text(self) -> str:
        whole = self.lead + compact(self.values)
        return whole[: round(len(whole) * self.kept)]


# Defects that any object can have


def cut_json(answer: ObjectAnswer, rng: Random) -> ObjectAnswer:
    """The object ends in the middle."""
    return replace(answer, kept=rng.uniform(0.4, 0.8))


def text_before(answer: ObjectAnswer, rng: Random) -> ObjectAnswer:
    """Talk before the object, without its braces being wrong."""
    return replace(answer, lead=rng.choice(("Claro! Segue a análise: ", "Resultado da avaliação: ")))


def exchanged(answer: ObjectAnswer, name: str, others: Mapping[Any, str]) -> ObjectAnswer:
    """With another value of a field, where there is one for the value that it has."""
    value = answer.values.get(name)
    return replace(answer, values=answer.values | {name: others[value]}) if value in others else answer


def altered(answer: ObjectAnswer, name: str, kind: type[T], change: Callable[[T], Any]) -> ObjectAnswer:
    """With the value of a field changed, where it has one of that kind."""
    value = answer.values.get(name)
    return replace(answer, values=answer.values | {name: change(value)}) if isinstance(value, kind) else answer


def without(answer: ObjectAnswer, *names: str) -> ObjectAnswer:
    return replace(answer, values={name: value for name, value in answer.values.items() if name not in names})


# Other values


def flipped(value: bool) -> bool:
    return not value


def other_stars(value: float) -> int:
    return 1 if value > 3 else 5


def other_text(value: Any) -> str:
    return "assunto que ninguém mencionou"


def one_of(first: str, second: str) -> Callable[[Any], str]:
    """The second word, or the first where the value is the second."""
    return lambda value: first if value == second else second


# References


def require_possible(known: Mapping[str, Any], fields: Mapping[str, Field], all_of_them: bool = False) -> None:
    """ValueError for true values that no right answer can have. `all_of_them`: either none is known or each is."""
    if unknown := [name for name in known if name not in fields]:
        raise ValueError(f"{unknown[0]!r} is no field of the answer")
    for name, value in known.items():
        if not fields[name].allows(value):
            raise ValueError(f"{name} has a value that no answer may have")
    if missing := [name for name in fields if all_of_them and known and name not in known]:
        raise ValueError(f"{missing[0]} is missing")


# Reading and writing


def json_object(completion: str) -> JsonObject | None:
    """The completion as a JSON object when it is nothing but that, else None."""
    try:
        value = json.loads(completion)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def dumped(answer: Mapping[str, Any]) -> str:
    return json.dumps(answer, ensure_ascii=False)


def compact(answer: Mapping[str, Any]) -> str:
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":"))


def with_number(answer: JsonObject, name: str, number: str) -> str:
    """The answer with this text standing, unquoted, where the field has its value."""
    marker = 987654321
    return dumped(answer | {name: marker}).replace(str(marker), number)


# What the audit asks of every task with fields


def schema_echo(fields: Mapping[str, Field]) -> dict[str, list[str]]:
    """The schema instead of an answer: field names as values, and descriptions as values."""
    return {
        "schema echo": [
            json.dumps({name: name for name in fields}),
            json.dumps({name: kind.shape for name, kind in fields.items()}),
        ]
    }


def usual(fields: Mapping[str, Field]) -> JsonObject:
    """The answer that knows nothing."""
    return {name: kind.usual for name, kind in fields.items()}


def same(completion: str) -> Iterator[Change]:
    """The same object in another order, without accents, and with numbers as Brazilians write them."""
    answer = json_object(completion)
    if not answer:
        return
    yield "key order", dumped(answer), dumped(dict(reversed(answer.items())))
    yield "accents", dumped(answer), dumped({name: without_accents(value) for name, value in answer.items()})
    for name, (plain, local) in zip(answer, cycle(NOTATIONS), strict=False):
        yield "number formats", with_number(answer, name, plain), with_number(answer, name, local)


def worse(
    text: str, truth: Mapping[str, Any], strangers: Sequence[Mapping[str, Any]], fields: Mapping[str, Field]
) -> Iterator[Flaw]:
    """Changes for the worse of a good object. `strangers`: what is true of other prompts."""
    answer = json_object(text)
    if not answer:
        return
    if len(truth) != 1 or len(fields) == 1:  # else most would not touch the one field that is known
        yield from _emptied(text, answer, fields)
        yield from _broken(compact(answer), answer)
    stranger = max(strangers, key=lambda found: _differing(found, truth), default={})
    if _differing(stranger, truth):
        yield "another review's facts", 3, text, dumped(stranger)
        yield "two objects", 2, text, f"{text}\n{dumped(stranger)}"
    yield from _spoilt(text, answer, truth, fields)
    yield from wrong_types(text, truth, fields)


def _differing(stranger: Mapping[str, Any], truth: Mapping[str, Any]) -> int:
    """In how many fields they do not agree."""
    return sum(stranger.get(name) != value for name, value in truth.items())


def _emptied(text: str, answer: JsonObject, fields: Mapping[str, Field]) -> Iterator[Flaw]:
    if len(half := {name: answer[name] for name in tuple(fields)[::2] if name in answer}) < len(answer):
        yield "half of the fields", 2, text, dumped(half)
        led = f"Resultado da avaliação: {compact(answer)}"
        yield "half of the fields rather than a sentence in front", 0.2, led, dumped(dict(list(answer.items())[::2]))
    yield "taken back", 3, text, taken_back(text)
    yield "no object", 1, text, "\n".join(f"{name}: {value}" for name, value in answer.items())
    yield "field names as values", 3, text, dumped({name: name for name in answer})


def _broken(text: str, answer: JsonObject) -> Iterator[Flaw]:
    """All is right, but a program does not read it as it stands."""
    bare = (f"{name}:{value if isinstance(value, str) else json.dumps(value)}" for name, value in answer.items())
    for lead in ("Claro! Segue a análise:", "Resultado da avaliação:"):
        yield f"talk around the object: {lead}", 1, text, f"{lead} {text}"
    yield "talk around the object: behind it", 1, text, f"{text} Espero ter ajudado com a análise!"
    yield "broken object: single quotes", 1, text, text.replace('"', "'")
    yield "broken object: comma too many", 1, text, f"{text[:-1]},}}"
    yield "broken object: end missing", 1, text, text[:-1]
    yield "broken object: bare names", 1, text, f"{{{','.join(bare)}}}"
    yield "in pieces", 1, text, "\n".join(dumped({name: value}) for name, value in answer.items())
    yield "object given twice", 1, text, f"{text}\n{text}"


def _spoilt(text: str, answer: JsonObject, truth: Mapping[str, Any], fields: Mapping[str, Field]) -> Iterator[Flaw]:
    """Each right field wrong, and missing; one that alone is known costs nearly all."""
    points = ALONE if len(truth) == 1 else FIELD * 10 / len(fields)
    for name, (wrong, without) in corrupted(answer, truth, fields).items():
        if fields[name].judged == "never":
            if len(truth) > 1:
                yield f"field missing: {name}", UNJUDGED, text, without
            continue
        value = json.dumps(truth[name]) if isinstance(truth[name], bool | None) else "given"
        yield f"field wrong: {name} ({value})", points, text, wrong
        yield f"field missing: {name} ({value})", points, text, without
        if isinstance(truth[name], int | float) and not isinstance(truth[name], bool):
            for absurd in (10**400, -1e300, 0.0001):
                yield f"field absurd: {name}", points / 2, text, dumped(answer | {name: absurd})


def wrong_types(text: str, truth: Mapping[str, Any], fields: Mapping[str, Field]) -> Iterator[Flaw]:
    """Every field with a value of the wrong JSON type, also where the truth is not known."""
    answer = json_object(text) or {}
    known = truth or answer
    for name, kind in fields.items():
        if name in answer and (name in known or len(known) > 1):
            for value in kind.wrong_types:
                yield f"wrong type: `{name}` as {json.dumps(value)}", FIELD, text, dumped(answer | {name: value})


def as_good(text: str) -> Iterator[Change]:
    """Other ways to write the same object."""
    answer = json_object(text)
    if not answer:
        return
    plain = compact(answer)
    first, *others = answer.items()
    yield "layout: indented", plain, json.dumps(answer, ensure_ascii=False, indent=2)
    yield "layout: spaced", plain, dumped(answer)
    yield "layout: fenced", plain, f"```json\n{plain}\n```"
    yield "layout: fence without a name", plain, f"```\n{plain}\n```"
    yield "layout: escaped", plain, json.dumps(answer, separators=(",", ":"))
    yield "layout: another first field", plain, dumped(dict([*others, first]))


def repaired(answer: JsonObject, truth: Mapping[str, Any], fields: Mapping[str, Field]) -> dict[str, str]:
    """For each field that is missing or wrong: the answer with that one field as it is in truth. A field of which the
    truth has one text of many is wrong only where it has none: another text may be the better one.
    """
    return {
        name: dumped(answer | {name: value})
        for name, value in truth.items()
        if not _is_right(answer, name, value)
        and not (fields[name].judged == "never" and name in answer and fields[name].allows(answer[name]))
    }


def corrupted(answer: JsonObject, truth: Mapping[str, Any], fields: Mapping[str, Field]) -> dict[str, list[str]]:
    """For each field that is right: the answer with that one field wrong, and without it."""
    return {
        name: [
            dumped(answer | {name: fields[name].wrong(answer[name])}),
            dumped({other: value for other, value in answer.items() if other != name}),
        ]
        for name, true in truth.items()
        if _is_right(answer, name, true)
    }


def _is_right(answer: JsonObject, name: str, value: Any) -> bool:
    """Equal in value and kind: `true` is not 1."""
    return name in answer and answer[name] == value and type(answer[name]) is type(value)
