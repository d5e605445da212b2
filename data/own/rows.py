"""What a row of an own file has to be to become a prompt. docs/data.md has the schema.

A sentence about a fault repeats at most a few masked characters of what stands there.
"""

import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from hashlib import sha256
from typing import Any

from pydantic import ValidationError

from data.own.chats import NoChat, Turned, from_chat
from data.own.reading import FIELDS, READ, RawRow, parsed
from data.reading.delimited import STARS
from data.reading.files import NOT_UTF8, Broken
from data.reading.findings import UNREADABLE
from data.separation import normal_form, without_accents
from rewards import classify_task
from tucano.masking import mask
from tucano.masking.prompts import masked_reference
from tucano.prompts import GENERAL, TASKS, Prompt
from tucano.security.printable import short
from tucano.specs.registry import spec_of
from tucano.thoughts import control_token, unlearnable

LONGEST_TEXT = 8000
"""Characters of a prompt or a demonstration: some 2,000 tokens, more than any profile here trains on."""
LONGEST_NAME = 200
LONGEST_REFERENCE = 2**16
DEEPEST, LARGEST_NUMBER = 16, 2**53
SOURCE, LICENCE = "own", "not stated by the owner"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
_UNSEEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_HALF = re.compile(r"[\ud800-\udfff]")
_FORMULA = re.compile(r"=|[@+-][A-Za-z][A-Za-z.]*\(")
_WORDS = {
    **dict.fromkeys(("true", "verdadeiro", "sim", "s", "yes", "y", "1"), True),
    **dict.fromkeys(("false", "falso", "nao", "n", "no", "0"), False),
}
"""What consent may say, without case and accents; Excel in Portuguese writes VERDADEIRO."""


class Bad(Exception):
    """Why a row is not used: one of the kinds in docs/data.md, and the sentence."""

    def __init__(self, kind: str, sentence: str) -> None:
        super().__init__(sentence)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class OwnRow:
    """A prompt made of a row, masked, and what the check says about it: (kind, sentence)."""

    prompt: Prompt
    masked: Counter[str]
    notes: list[tuple[str, str]] = field(default_factory=list)


def own_row(raw: RawRow) -> OwnRow:
    """The prompt of a row. Raises `Bad`."""
    if isinstance(raw.content, Broken):
        raise Bad(UNREADABLE, raw.content.why)
    given: Mapping[str, Any] = _without_blanks(raw.content)
    if raw.form == "cells":
        _refuse_formulas(given)
    try:
        turned = from_chat(given)
    except NoChat as why:
        raise Bad("chat", str(why)) from None
    given = turned.row
    if _consent(given) is False:
        raise Bad("no consent", "consent is false")
    masks = _Masks()
    user = masks.text(_text(given, "prompt"))
    if not _says_something(user):
        raise Bad("missing", "there is no prompt, or no word in it")
    task, guessed = _task(given, user)
    reference = masked_reference(_reference(given, task, raw.form), masks.text)
    if reference:
        _refuse_misfit(reference, task)  # as it is stored: a masked number may not fit where it stood
    notes = _notes(given, task, guessed, reference)
    demonstration = masks.text(_text(given, "demonstration")) or None
    if mark := control_token(user):
        raise Bad("wrong value", f"prompt {mark}")
    if demonstration and (fault := unlearnable(demonstration)) is not None:
        raise Bad("wrong value", f"demonstration {fault}")
    if task == GENERAL and not demonstration:
        raise Bad("missing", "a general row is there for its demonstration, and has none")
    notes += _notes_of_chat(turned)
    names = {name: masks.text(_name(given, name)) for name in ("id", "template", "licence")}
    if masks.found:
        shown = ", ".join(f"{count} {kind}" for kind, count in sorted(masks.found.items()))
        notes.append(("masked", f"personal data is masked: {shown}"))
    prompt = Prompt(
        id=names["id"],
        task=task,
        user=user,
        template=names["template"] or f"own-{sha256(normal_form(user).encode()).hexdigest()[:16]}",
        source=_source(given),
        licence=names["licence"] or LICENCE,
        stars=_stars(given),
        reference=reference,
        demonstration=demonstration,
    )
    return OwnRow(prompt, masks.found, notes)


def _notes_of_chat(turned: Turned) -> list[tuple[str, str]]:
    said = "its system message is not used: a model is told that of its task, or none"
    notes = [("system message", said)] * turned.has_other_system
    notes += [("answer of weight 0", "its answer has the weight 0, and is no demonstration")] * turned.is_unlearned
    return notes + [("unknown field", f"{quoted(name)} of a turn is not read") for name in turned.unread[:1]]


class _Masks:
    """Masks texts and counts what it masked."""

    def __init__(self) -> None:
        self.found: Counter[str] = Counter()

    def text(self, text: str) -> str:
        masked, found = mask(text)
        self.found += found
        return masked


def quoted(value: object) -> str:
    """What stands in a row, as a sentence may show it: masked, printable, 40 characters at most."""
    return repr(short(mask(str(value)[:LONGEST_NAME])[0], 40))


def _without_blanks(content: Mapping[str, Any]) -> dict[str, Any]:
    """Fields that hold something; an empty text is a missing one."""
    return {
        name: value
        for name, value in content.items()
        if value is not None and not (isinstance(value, str) and not value.strip())
    }


def _refuse_formulas(given: Mapping[str, Any]) -> None:
    for name, cell in given.items():
        if name in READ and _FORMULA.match(str(cell)):
            raise Bad("wrong value", f"{name} is a formula ({quoted(cell)}); save the file with values")


def _text(given: Mapping[str, Any], name: str, longest: int = LONGEST_TEXT) -> str:
    value = given.get(name, "")
    if not isinstance(value, str):
        raise Bad("wrong value", f"{name} is {quoted(value)}, a text is needed")
    if len(value) > longest:
        raise Bad("too long", f"{name} has {len(value)} characters, {longest} are allowed")
    _refuse_odd_characters(name, value)
    return value


def fault_of_answer(answer: str) -> str | None:
    """Why a text would be refused as a demonstration; None for one that is taken."""
    try:
        return unlearnable(_text({"demonstration": answer}, "demonstration"))
    except Bad as bad:
        return str(bad)


def _refuse_odd_characters(name: str, value: str) -> None:
    if _HALF.search(value):
        raise Bad(UNREADABLE, f"{name} holds bytes that are {NOT_UTF8}, or half of a character")
    if found := _UNSEEN.search(value):
        raise Bad(UNREADABLE, f"{name} holds the control character {found[0]!r}")


def _says_something(text: str) -> bool:
    """Whether a word or a picture stands in it: a review may be one emoji."""
    return bool(normal_form(text)) or any(unicodedata.category(letter) == "So" for letter in text)


def _name(given: Mapping[str, Any], name: str) -> str:
    value = _whole(given.get(name, ""))
    text = _text({name: str(value) if type(value) is int else value}, name, LONGEST_NAME)
    if "\n" in text or "\r" in text:
        raise Bad("wrong value", f"{name} has several lines, one is needed")
    return text


def _source(given: Mapping[str, Any]) -> str:
    source = _name(given, "source") or SOURCE
    if not _NAME.fullmatch(source) or mask(source)[0] != source:
        raise Bad("wrong value", f"source is {quoted(source)}; write it with letters, digits, _ . and -")
    return source


def _task(given: Mapping[str, Any], user: str) -> tuple[str, bool]:
    """(task, whether the classifier chose it)"""
    task = _text(given, "task", LONGEST_NAME)
    if not task:
        return classify_task(user), True
    if task not in (*TASKS, GENERAL):
        raise Bad("unknown task", f"the task {quoted(task)} is none of {', '.join(TASKS)}")
    return task, False


def _stars(given: Mapping[str, Any]) -> int | None:
    value = given.get("stars")
    if value is None:
        return None
    if isinstance(value, str) and STARS.fullmatch(value.strip()):
        return int(value.strip()[0])
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool) and value in (1, 2, 3, 4, 5):
        return int(value)
    raise Bad("wrong value", f"stars is {quoted(value)}, a whole number from 1 to 5 is needed")


def _plain(text: str) -> str:
    """Without case and accents; 1.0 and 1,0, as a column with gaps is saved, are 1."""
    return re.sub(r"[.,]0+\Z", "", without_accents(text.strip().casefold()))


def _whole(value: object) -> object:
    """A whole number as an int, whatever type a column gave it; anything else as it is."""
    if isinstance(value, float | Decimal) and math.isfinite(value) and value == int(value):
        return int(value)
    return value


def _consent(given: Mapping[str, Any]) -> bool | None:
    value = given.get("consent")
    said = _WORDS.get(_plain(str(_whole(value)))) if isinstance(value, str | int | float | Decimal) else None
    if value is not None and said is None:
        raise Bad("wrong value", f"consent is {quoted(value)}, true or false is needed")
    return said


# References


def _reference(given: Mapping[str, Any], task: str, form: str) -> dict[str, Any]:
    """The reference; {} without one."""
    value = given.get("reference", {})
    if isinstance(value, str):
        if len(value) > LONGEST_REFERENCE:
            raise Bad("too long", f"reference has {len(value)} characters, {LONGEST_REFERENCE} are allowed")
        value = parsed(value)
        if isinstance(value, Broken):
            raise Bad("reference", f"reference: {value.why}")
    elif form == "columns" and value:
        raise Bad("reference", "reference is a structure, whose missing parts nobody can tell; save it as JSON text")
    if not isinstance(value, dict):
        raise Bad("reference", "reference is no JSON object")
    _refuse_odd_values(value)
    if len(json.dumps(value, ensure_ascii=False)) > LONGEST_REFERENCE:
        raise Bad("too long", f"reference has more than {LONGEST_REFERENCE} characters")
    if value and task == GENERAL:
        raise Bad("reference", "a general demonstration is scored by nothing, so leave the reference out")
    return value


def _refuse_odd_values(reference: dict[str, Any]) -> None:
    """Without recursion: what is nested deeper than Python may recurse is data too."""
    level: list[Any] = [reference]
    for _ in range(DEEPEST):
        inner: list[Any] = []
        for part in level:
            if isinstance(part, dict):
                inner += [*part, *part.values()]
            elif isinstance(part, list):
                inner += part
            elif isinstance(part, str):
                _refuse_odd_characters("reference", part)
            elif isinstance(part, int | float) and not abs(part) <= LARGEST_NUMBER:
                raise Bad("reference", "reference holds a number that is too large")
        if not inner:
            return
        level = inner
    raise Bad("reference", f"reference is nested more than {DEEPEST} levels deep")


def _refuse_misfit(reference: dict[str, Any], task: str) -> None:
    try:
        spec_of(task).reference.model_validate(reference)
    except ValidationError as error:
        first: Any = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        why = short(mask(f"{place}: {first['msg']}".removeprefix(": "))[0], 160)
        raise Bad("reference", f"reference does not fit the task {task} ({why})") from None
    known = spec_of(task).reference.model_fields
    if not known.keys() & reference.keys():
        own = quoted(next(iter(reference)))
        raise Bad("reference", f"reference holds {own} and nothing that the task {task} knows: {', '.join(known)}")


def _notes(given: Mapping[str, Any], task: str, guessed: bool, reference: Mapping[str, Any]) -> list[tuple[str, str]]:
    notes = [("task by classifier", f"no task is given; it reads like {task}")] if guessed else []
    notes += [("no reference", "nothing is known to be true")] * (not given.get("reference") and task != GENERAL)
    notes += [("no licence", "no licence is given")] * ("licence" not in given)
    notes += [("no consent stated", "whether the author consents is not given")] * ("consent" not in given)
    if strange := [name for name in reference if name not in spec_of(task).reference.model_fields]:
        notes.append(("unknown field", f"{quoted(strange[0])} of the reference is not read"))
    if unknown := [name for name in given if name not in FIELDS]:
        notes.append(("unknown field", f"{quoted(unknown[0])} is not read"))
    return notes
