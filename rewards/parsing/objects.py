"""The JSON object in a completion: strict JSON first, Portuguese decimals next, repair last.

json-repair makes a string of `4,5`. In the predecessor that one fault hid a 3.25x effect, so numbers are mended before
it runs.
"""

import json
import re
from collections.abc import Callable, Collection, Iterator
from typing import Any

import json_repair

from rewards.parsing.fluency import Limits, reads
from rewards.parsing.prose import stands
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
"""Worth of an object beside one short sentence."""
REPAIRED = 0.45
"""Worth of one beside stray words, or that a program cannot read, with a fault that leaves its fields clear."""
SCRAPS = 0.1
"""Worth of one between scraps of others, and of one in pieces."""
_FRAME = re.compile(r"(?:[A-ZÀ-Ý][^\W\d_]*[,!]?)(?: (?:[^\W\d_]|-)+[,!]?)*[.:!]?")
_WORDS = re.compile(r"[^\W\d_]+(?: [^\W\d_]+)?[.:!]?")
_MOST_FRAME, _MOST_STRAY = 12, 2
"""Words around an object, in sentences and by themselves."""
_FRAME_READS = Limits({3: -0.7}, -0.4, 0.0)
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


_DOUBLE = r'"(?>(?:[^"\\]|\\.|(?<=\d)"(?!\s*+(?:[,:}\]]|\Z|"\w*+"\s*+:)))*)"'
"""A string, in which the mark of inches (`"TV 50" nova"`) does not end it."""
_INCHES, _INCH = re.compile(_DOUBLE + "?", re.DOTALL), re.compile(r'(?<=\d)"(?!\Z)')
_QUOTED = rf""" {_DOUBLE} | '(?>(?:[^'\\{{}}]|\\.)*)' """
_VALUE = (
    rf"(?: {_QUOTED} | (?:R\$\s*+)?-?\d++(?>(?:[.,]\d++)*)(?:[eE][+-]?\d++)?(?:\s*+%)? | \w++ | \[[^\[\]{{}}]*+\] )"
)
_KEY = rf"(?: {_QUOTED} | [^\W\d]\w*+ )"
_PAIR = rf"{_KEY} \s*+ : \s*+ {_VALUE} \s*+"
_CUT = rf"(?: [\"']\w*+[\"']? | {_KEY} \s*+ : (?: \s*+ [\"'][^\"'{{}}:]*+ )? )"
_PLAIN = re.compile(
    rf"\{{ \s*+ {_PAIR} (?> (?: , \s*+ {_PAIR} )* ) (?: ,? \s*+ \}} | ,? \s*+ {_CUT}? ) \s*+", re.VERBOSE
)
"""An object with plain faults: single quotes, bare words, a comma too many, a missing end, the mark of inches."""
_NAME = re.compile(r"(?<=[{,])\s*[\"']?(\w+)[\"']?\s*:")


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
    alone or between the marks of a code fence, of which either may be missing.
    """
    bare = _bare(text)
    if not is_parsable(bare) or not bare.startswith("{"):
        return False
    return _strict(normalize_decimals(bare), _without_repetition) is not None


def _bare(text: str) -> str:
    text = text.strip()
    if text.startswith("```"):
        text = text[7:] if text[3:7].lower() == "json" else text[3:]
    return text.removesuffix("```").strip().removeprefix("\ufeff")


def wholeness(text: str) -> float:
    """How much a text is one object: all of it for JSON alone or in a code fence, nearly nothing for scraps."""
    if is_strict(text):
        return 1.0
    text = _bare(text)
    start = text.find("{")
    span = next(_objects(text), "") if is_parsable(text) else ""
    if start >= 0 and span and is_strict(span):
        around = (text[:start], text[start + len(span) :])
        return FRAMED if _is_frame(*around) else REPAIRED if _is_label(*around) else SCRAPS
    before, plain = text[:start], text[start:] if start >= 0 else ""
    is_framed = _is_frame(before, "") or _is_label(before, "")
    return REPAIRED if is_framed and _has_plain_faults(plain) else SCRAPS


def _has_plain_faults(text: str) -> bool:
    names = _NAME.findall(text)
    return len(text) <= LONGEST_REPAIRED and _PLAIN.fullmatch(text) is not None and len(set(names)) == len(names)


def _is_frame(before: str, behind: str) -> bool:
    """Whether what stands around an object is a fence, nothing or short plain sentences."""
    said = _said(before, behind)
    return len(" ".join(said).split()) <= _MOST_FRAME and all(
        _FRAME.fullmatch(part) and stands(part) and reads(part.rstrip(":"), _FRAME_READS) for part in said
    )


def _is_label(before: str, behind: str) -> bool:
    """Whether a word or two stand around an object («JSON:», «Resposta:»)."""
    said = _said(before, behind)
    return len(" ".join(said).split()) <= _MOST_STRAY and all(map(_WORDS.fullmatch, said))


def _said(before: str, behind: str) -> list[str]:
    return [part.strip() for part in (*_FENCE.split(before), *_FENCE.split(behind)) if part.strip()]


def around(answer: str) -> str:
    """The text around the outermost braces: what is said of the object, not in it."""
    before, _, rest = answer.partition("{")
    return f"{before}\n{rest.rpartition('}')[2]}"


def standing_object(answer: str, fields: Collection[str]) -> dict[str, Any]:
    """The object of an answer; {} where there is none, or where what is around it or in a field denies it."""
    found = find_object(answer) or {}
    beside = [value for name, value in found.items() if name not in fields and isinstance(value, str)]
    told = {name: value for name, value in found.items() if name not in fields or name in _TEXTS}
    is_denied = any(denies_object(name, value, found.get("sentiment")) for name, value in told.items())
    if is_denied or any(map(retracts, (around(answer), *beside))):
        return {}
    return found if all(map(stands, (around(answer), *beside))) else {}


_TEXTS = ("main_complaint", "summary")


def is_single(text: str) -> bool:
    """Whether a text opens at most one object; braces inside strings open none."""
    return sum(token[0] == "{" for token in _TOKEN.finditer(text)) <= 1


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
        json.dumps(found, ensure_ascii=False).encode()
    except ValueError:  # of half a character too: \ud83d alone
        return None
    return found


def _repaired(text: str) -> dict[str, Any] | None:
    """The repaired beginning of a text; None where repair finds no object or would take too long."""
    text = text[:LONGEST_REPAIRED]
    if len(_MARKS.findall(text)) > MOST_REPAIRED_MARKS or text.count("{") + text.count("[") > MOST_REPAIRED_BRACKETS:
        return None
    text = _INCHES.sub(lambda found: _INCH.sub(r'\\"', found[0]), text)
    try:
        value = json_repair.repair_json(text, return_objects=True, skip_json_loads=True)
    except (ValueError, AssertionError):  # too deep, an integer too long; what json_repair takes for impossible
        return None
    objects = [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict)]
    return max(objects, key=len, default=None)
