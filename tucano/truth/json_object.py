"""The JSON object that an answer is: strict JSON and nothing beside it. No repair, no second object."""

import json
import re
from typing import Any

from tucano.truth.fluency import faults

_FENCE = re.compile(r"```(?:json)?[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL | re.IGNORECASE)
_DEEPEST = 64


def only_object(answer: str) -> dict[str, Any] | None:
    """The object where the answer is one and nothing else, alone or alone in a code fence; else None.

    Refused, as RFC 8259 and any strict reader would: a name given twice, NaN and Infinity.
    """
    text = answer.strip()
    fenced = _FENCE.fullmatch(text)
    if text.count("{") + text.count("[") > _DEEPEST:
        return None
    try:
        value = json.loads(fenced[1] if fenced else text, object_pairs_hook=_once, parse_constant=_refused)
        json.dumps(value, ensure_ascii=False).encode()
    except ValueError:  # of half a character too: \ud83d alone
        return None
    return value if isinstance(value, dict) else None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is given twice")
    return found


def _refused(constant: str) -> float:
    raise ValueError(f"{constant} is no JSON")


MOST_AROUND = 30
"""Words beside an object that are a sentence about it."""


def framed_object(text: str) -> dict[str, Any] | None:
    """The one strict object of a text that says a sentence before or behind it and has no other braces or brackets."""
    start, end = text.find("{"), text.rfind("}") + 1
    around = f"{text[:start]} {text[end:]}".replace("```json", " ").replace("```", " ")
    if start < 0 or end <= start or re.search(r"[{}\[\]]", around) or not 3 <= len(around.split()) <= MOST_AROUND:
        return None
    said = (part.strip().rstrip(":,.!") for part in re.split(r"```\w*", f"{text[:start]}```{text[end:]}"))
    is_said = all(part[0].isupper() and not faults(f"{part}.") for part in said if part)
    return only_object(text[start:end]) if is_said else None
