"""The JSON object in a completion: strict JSON first, Portuguese decimals next, repair last.

json-repair makes a string of `4,5`. In the predecessor that one fault hid a 3.25x effect, so numbers are mended before
it runs.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from math import isfinite
from typing import Any

import json_repair

from rewards.parsing.text import portuguese, words
from rewards.types import LONGEST
from rewards.wording.beside import denies_object, retracts

MOST_BRACKETS = 64
"""Text with more opening brackets is never parsed."""

# json-repair reads all that follows again at many a mark, so its time grows with marks x characters. Ten fields have
# about 60 marks.
LONGEST_REPAIRED = 3000
MOST_REPAIRED_MARKS = 200
MOST_REPAIRED_BRACKETS = 16

FRAMED = 0.85
REPAIRED = 0.45
SCRAPS = 0.1
"""Worth of an object beside one short sentence; beside a stray word, more prose, or with a fault that leaves its fields
clear; and between scraps of others or in pieces."""
_MARKS_OF_JSON = frozenset('{}[]"')
_FRAME = re.compile(r"(?:(?P<begun>[A-ZÀ-Ý])[^\W\d_]*|[^\W\d_]+)[,!]?(?: (?:[^\W\d_]|-)+[,!]?)*[.:!]?")
MOST_FRAME = 12
"""Words of a sentence around an object."""
_FENCE = re.compile(r"```(?:json)?", re.IGNORECASE)

_MARKS = re.compile(r"[(`#\"'“”{}\[\]:,/]")
_STRING = r'"(?>(?:[^"\\]|\\.)*)"?|(?<=[{\[,:])\s*+\'[^\n]{0,100}?\'(?=\s*(?:[,:}\]]|\Z))'
_TOKEN = re.compile(_STRING + r"|[{}]", re.DOTALL)
_NUMBER = re.compile(
    rf"""(?P<skip>{_STRING})
    |(?P<colon>:\s*+)(?:R\$\s*+)?
     (?:(?P<number>-?(?:[1-9]\d{{0,2}}(?>(?:\.\d{{3}})+)|0|[1-9]\d*+)(?:,\d++)?)
      |(?P<english>-?[1-9]\d{{0,2}}(?>(?:,\d{{3}})+)\.\d++|-?[1-9]\d{{0,2}}(?>(?:,\d{{3}}){{2,}}))
      |(?P<plain>-?(?:0|[1-9]\d*+)\.\d++)) (?:\s*+%)?
     (?=\s*(?:[}}"'\]]|,(?!\s*\d)|\Z))""",
    re.DOTALL | re.VERBOSE,
)
_BARE = re.compile(
    rf"""{_STRING}|(?P<colon>:\s*+)(?P<value>[^\s"'{{\[\]}},](?>(?:[^"'{{\[\]}},\n]|,(?=\d)|(?<!\s)')*))""", re.DOTALL
)
_COMMENT = re.compile(r"//|#|/\*")
_JSON_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?", re.IGNORECASE)
_JSON_WORD = re.compile(r"(?:true|false|null|none)\b", re.IGNORECASE)
_INCHES = re.compile(r'"(?>(?:[^"\\]|\\.|(?<=\d)"(?!\s*+(?:[,:}\]]|\Z|"\w*+"\s*+:)))*)"?', re.DOTALL)
"""A string, in which the mark of inches (`"TV 50" nova"`) does not end it."""
_INCH = re.compile(r'(?<=\d)"(?!\Z)')
_NAME = re.compile(r"[^\W\d]\w*")
_LETTERS = re.compile(r"[^\W\d_]{2,}")


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


def is_strict(text: str) -> bool:
    """Whether a program can read the text, but for its numbers, as it stands: one JSON object without a key twice,
    alone or between the marks of a code fence, of which either may be missing. `readable` takes away the byte order
    mark at a text's very start; any other is a fault.
    """
    bare = _bare(text)
    if not is_parsable(bare) or not bare.startswith("{"):
        return False
    return _strict(normalize_decimals(bare), _without_repetition) is not None


def _bare(text: str) -> str:
    text = text.strip()
    if text.startswith("```"):
        text = text[7:] if text[3:7].lower() == "json" else text[3:]
    return text.removesuffix("```").strip()


def wholeness(text: str) -> float:
    """How much a text is one object: all of it for JSON alone or in a code fence, nearly nothing for scraps."""
    if is_strict(text):
        return 1.0
    text = _bare(text)
    start = max(0, text.find("{"))
    span = next(_objects(text), "") if is_parsable(text) else ""
    if span and is_strict(span):
        return _frame(text[:start], text[start + len(span) :])
    return REPAIRED if _frame(text[:start], "") > SCRAPS and _has_plain_faults(text[start:]) else SCRAPS


def _frame(before: str, behind: str) -> float:
    """What the text around an object leaves of it: fences, a short sentence, a word or two or more prose, or scraps."""
    said = [part.strip() for part in (*_FENCE.split(before), *_FENCE.split(behind)) if part.strip()]
    told = words(" ".join(said))
    found = [_FRAME.fullmatch(part) for part in said]
    if all(one and one["begun"] for one in found) and len(told) <= MOST_FRAME:
        return FRAMED
    is_prose = portuguese(told) == 1 and not any(
        part[0].islower() or _MARKS_OF_JSON.intersection(part) for part in said
    )
    return REPAIRED if is_prose or (all(found) and len(told) <= 2) else SCRAPS


def _has_plain_faults(text: str) -> bool:
    """Whether repair keeps every word of a text: single quotes, bare words, a comma too many, a missing end."""
    found = _repaired(normalize_decimals(text)) if text.startswith("{") and len(text) <= LONGEST_REPAIRED else None
    if not found or not all(map(_NAME.fullmatch, found)):
        return False
    told = " ".join(f"{name} {'null' if value is None else value}" for name, value in found.items())
    kept, said = (_LETTERS.findall(some.casefold().replace("none", "null")) for some in (told, text))
    lost = Counter(said) - Counter(kept)
    return not Counter(kept) - Counter(said) and lost in (Counter(), Counter(said[-1:]))


def around(answer: str) -> str:
    """The text around the outermost braces: what is said of the object, not in it."""
    before, _, rest = answer.partition("{")
    return f"{before}\n{rest.rpartition('}')[2] if '}' in rest else ''}"


def standing_object(answer: str, fields: Collection[str]) -> dict[str, Any]:
    """The object of an answer; {} where there is none, or where what is around it or in a field denies it."""
    found = find_object(answer) or {}
    told = {name: value for name, value in found.items() if name not in fields or name in ("main_complaint", "summary")}
    further = [value for name, value in told.items() if name not in fields]
    is_denied = any(denies_object(name, value, found.get("sentiment")) for name, value in told.items())
    is_another = any(isinstance(value, dict) for value in further)
    said = (around(answer), *(value for value in further if isinstance(value, str)))
    return {} if is_denied or is_another or any(map(retracts, said)) else found


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


def _not_json(constant: str) -> float:
    raise ValueError(f"{constant} is no JSON")  # Python reads NaN and Infinity, no other reader does


def is_parsable(text: str) -> bool:
    """The linear guard: text that json-repair and sqlglot may see."""
    return len(text) <= LONGEST and text.count("{") + text.count("[") <= MOST_BRACKETS


def normalize_decimals(text: str) -> str:
    """Numbers as people write them directly after an object's colon become JSON numbers: `4,5` -> `4.5`, `1.234,56` ->
    `1234.56`, `105,000.00` -> `105000.00`. A comma before three digits alone is Portuguese: `1,234` -> `1.234`.

    A comma that separates values, anything inside a string or a list, dates and versions stay as they are; so does
    `1.234`, which JSON already reads as a number. A leading `R$` and a `%` behind go.
    """
    return _NUMBER.sub(_to_json_number, text)


def _to_json_number(match: re.Match[str]) -> str:
    if match["colon"] is None:
        return match[0]
    number = match["number"] or match["plain"] or match["english"].replace(",", "")
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


def _strict(text: str, made: Callable[[list[tuple[str, Any]]], dict[str, Any]] = dict) -> dict[str, Any] | None:
    """What a text from `{` to `}` is as it stands: an object, if it is JSON. `made`: of its pairs."""
    try:
        found: dict[str, Any] = json.loads(text, object_pairs_hook=made, parse_constant=_not_json)
        json.dumps(found, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:  # of half a character too (\ud83d alone), and of 1e999, which would be infinite
        return None
    return found


def _repaired(text: str) -> dict[str, Any] | None:
    """The repaired beginning of a text; None where repair finds no object or would take too long."""
    text = text[:LONGEST_REPAIRED]
    if len(_MARKS.findall(text)) > MOST_REPAIRED_MARKS or text.count("{") + text.count("[") > MOST_REPAIRED_BRACKETS:
        return None
    text = _INCHES.sub(lambda found: _INCH.sub(r'\\"', found[0]), text)
    text = _BARE.sub(_as_text, text)
    try:
        value = json_repair.repair_json(text, return_objects=True, skip_json_loads=True)
    except (ValueError, AssertionError):  # too deep, an integer too long; what json_repair takes for impossible
        return None
    value = _finite(value)
    objects = [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict)]
    return max(objects, key=len, default=None)


def _as_text(match: re.Match[str]) -> str:
    """A bare value in quotes where it begins as one of JSON and goes on: json-repair would make 10 of `10 mil`."""
    if match["colon"] is None:
        return match[0]
    value = match["value"].rstrip()
    told = _COMMENT.split(value)[0].rstrip()
    is_value = told.isalpha() or _JSON_NUMBER.fullmatch(told) or (value[0].isalpha() and not _JSON_WORD.match(value))
    return match[0] if is_value else f'{match["colon"]}"{value}"'


def _finite(value: Any) -> Any:
    """A repaired value, with what is infinite (1e999) as text, which json-repair makes of Infinity too."""
    if isinstance(value, dict):
        return {name: _finite(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_finite(one) for one in value]
    return value if not isinstance(value, float) or isfinite(value) else str(value)
