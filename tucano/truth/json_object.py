"""The JSON object of an answer: as a strict program reads it, and as a person does."""

import json
import re
from typing import Any

_ALONE = re.compile(r"\s*+(?:```(?:json)?\s*+)?(?P<object>\{.*\})\s*+(?:```\s*+)?", re.DOTALL | re.IGNORECASE)
_NUMBER = re.compile(
    r"""(?:"(?>(?:[^"\\]|\\.)*)"?)  # one without an end up to the text's, else each of its marks would be tried
    |(?<=:)(?P<space>\s*+)(?:R\$\s*+)?(?P<number>-?\d(?:[\d.,]*\d)?)(?:\s*+%)?(?=\s*+(?:,\s*+(?:["}]|\Z)|["}]|\Z))""",
    re.DOTALL | re.VERBOSE,
)
_PLAIN = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?")
_PORTUGUESE = re.compile(r"-?(?:0|[1-9]\d*|[1-9]\d{0,2}(?:\.\d{3})+)(?:,\d+)?")
_ENGLISH = re.compile(r"-?[1-9]\d{0,2}(?:(?:,\d{3})+\.\d+|(?:,\d{3}){2,})")
_FIELD = re.compile(
    r"""("(?:[^"\\\x00-\x1f]|\\.){1,40}")\s*+:\s*+
    ("(?>(?:[^"\\\x00-\x1f]|\\.|(?<=\d)"(?!\s*+(?:[,:}\]]|\Z|"[^\W\d]\w*+"\s*+:)))*)"
    |(?:-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?|true|false|null)
     (?=[^\S\n]*+(?:[\n"'{}\[\]]|,(?!\d)|//|\#|/\*|\Z)))""",
    re.VERBOSE,
)
"""A field of a broken object. The mark of inches (`"TV 50""`) ends no text; a value that goes on (`10 mil`) is none."""
_INCH, _ESCAPED = re.compile(r'(?<=\d)"(?!\Z)'), r"\\\g<0>"
_DEEPEST = 64


def only_object(answer: str) -> dict[str, Any] | None:
    """The object where the answer is one and nothing else, as in `strict_object`; its numbers may be written as people
    write them: `4,5`, `R$ 1.234,56`, `105,000.00`, `4,5%` (docs/rewards.md has the table).
    """
    return strict_object(_NUMBER.sub(_as_json, answer))


def _as_json(match: re.Match[str]) -> str:
    number = match["number"]
    if number is None:
        return match[0]
    if not _PLAIN.fullmatch(number):
        if _PORTUGUESE.fullmatch(number):
            number = number.replace(".", "").replace(",", ".")
        elif _ENGLISH.fullmatch(number):
            number = number.replace(",", "")
        else:
            return match[0]
    return f"{match['space']}{number}"


def strict_object(answer: str) -> dict[str, Any] | None:
    """The object that a program reads of an answer: one that is alone, or alone between the marks of a code fence, of
    which either may be missing; else None. `readable` takes away the byte order mark at an answer's very start.

    Refused, as RFC 8259 and any strict reader would: a name given twice, NaN and Infinity, a byte order mark.
    """
    alone = _ALONE.fullmatch(answer)
    if alone is None or _is_deep(answer):
        return None
    try:
        value = json.loads(alone["object"], object_pairs_hook=_once, parse_constant=_refused)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:  # of half a character too (\ud83d alone), and of 1e999, which would be infinite
        return None
    return value if isinstance(value, dict) else None


def whole_object(answer: str) -> dict[str, Any] | None:
    """The object of an answer that is one, or has one with words around it; None where none or a broken one is."""
    found = only_object(answer)
    start, end = answer.find("{"), answer.rfind("}") + 1
    return only_object(answer[start:end]) if found is None and 0 <= start < end else found


def read_object(answer: str) -> dict[str, Any]:
    """What a person takes for the object of an answer: the whole one, or the fields that can be read of a broken one;
    an empty one where there are none.
    """
    found, start = whole_object(answer), answer.find("{")
    if found is None and start >= 0:
        found = {}
        for name, value in _FIELD.findall(_NUMBER.sub(_as_json, answer[start:])):
            found |= strict_object(f"{{{name}: {_INCH.sub(_ESCAPED, value)}}}") or {}
    return found or {}


def _is_deep(answer: str) -> bool:
    return answer.count("{") + answer.count("[") > _DEEPEST


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is given twice")
    return found


def _refused(constant: str) -> float:
    raise ValueError(f"{constant} is no JSON")
