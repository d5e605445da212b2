"""The JSON object in a completion: strict JSON first, Portuguese decimals next, repair last.

json-repair makes a string of `4,5`. In the predecessor that one fault hid a 3.25x effect, so numbers are mended before
it runs.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import json_repair

from rewards.types import LONGEST

MOST_BRACKETS = 64
"""Text with more opening brackets is never parsed."""

# json-repair reads all that follows again at many a mark, so its time grows with marks x characters. Ten fields have
# about 60 marks.
LONGEST_REPAIRED = 3000
MOST_REPAIRED_MARKS = 200
MOST_REPAIRED_BRACKETS = 16

_MARKS = re.compile(r"[(`#\"'“”{}\[\]:,/]")
_STRING = r'"(?:[^"\\]|\\.)*+"?|(?<=[{\[,:])\s*+\'[^\n]{0,100}?\'(?=\s*(?:[,:}\]]|\Z))'
_TOKEN = re.compile(_STRING + r"|[{}]", re.DOTALL)
_NUMBER = re.compile(
    rf"""(?P<skip>{_STRING})
    |(?P<colon>:\s*+)(?:R\$\s*+)?
     (?P<number>-?(?:[1-9]\d{{0,2}}(?:\.\d{{3}})++|0|[1-9]\d*+)(?:,\d++)?)
     (?=\s*(?:[}}"'\]]|,(?!\s*\d)|\Z))""",
    re.DOTALL | re.VERBOSE,
)


def find_object(text: str) -> dict[str, Any] | None:
    """The JSON object that the text contains, or None. Never raises; the time is bounded.

    Text around the object, code fences, single quotes, trailing commas, missing ends and comments are forgiven. Of
    several objects the first that is valid as it stands wins; among repaired ones the first of those with the most
    keys. Of a key given twice the last value counts.
    """
    if not is_parsable(text) or (start := text.find("{")) < 0:
        return None
    text = text[start:]
    normalized = normalize_decimals(text)
    for form in dict.fromkeys((text, normalized)):
        for span in _objects(form):
            if found := _strict(span):
                return found
    return _repaired(normalized)


def is_parsable(text: str) -> bool:
    """The linear guard: text that json-repair and sqlglot may see."""
    return len(text) <= LONGEST and text.count("{") + text.count("[") <= MOST_BRACKETS


def normalize_decimals(text: str) -> str:
    """Portuguese numbers directly after an object's colon become JSON numbers: `4,5` -> `4.5`, `1.234,56` -> `1234.56`.

    A comma that separates values, anything inside a string or a list, dates and versions stay as they are; so does
    `1.234`, which JSON already reads as a number. A leading `R$` goes.
    """
    return _NUMBER.sub(_to_json_number, text)


def _to_json_number(match: re.Match[str]) -> str:
    number = match["number"]
    if number is None:
        return match[0]
    grouped = "," in number or number.count(".") > 1
    return match["colon"] + (number.replace(".", "").replace(",", ".") if grouped else number)


def _objects(text: str) -> Iterator[str]:
    """The outermost `{...}` spans, in order; quotes count inside braces only, and an object without an end is left
    out.
    """
    start = text.find("{")
    while start >= 0:
        depth = 0
        for token in _TOKEN.finditer(text, start):
            depth += {"{": 1, "}": -1}.get(token[0], 0)
            if depth == 0:
                yield text[start : token.end()]
                break
        else:
            return
        start = text.find("{", token.end())


def _strict(text: str) -> dict[str, Any] | None:
    """What a text from `{` to `}` is as it stands: an object, if it is JSON."""
    try:
        found: dict[str, Any] = json.loads(text)
    except ValueError:
        return None
    return found


def _repaired(text: str) -> dict[str, Any] | None:
    """The repaired beginning of a text; None where repair finds no object or would take too long."""
    text = text[:LONGEST_REPAIRED]
    if len(_MARKS.findall(text)) > MOST_REPAIRED_MARKS or text.count("{") + text.count("[") > MOST_REPAIRED_BRACKETS:
        return None
    try:
        value = json_repair.repair_json(text, return_objects=True, skip_json_loads=True)
    except ValueError:  # too deep, or an integer too long
        return None
    objects = [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict)]
    return max(objects, key=len, default=None)
