"""A text as the masking rules read it: small ASCII letters and digits, one kind of space, hyphen and dot.

Full-width and other scripts' digits, accents in one or two characters, zero-width and combining characters between
digits, no-break spaces, typographic hyphens, URL and HTML codes (`%40`, `&#64;`) all look the same there. The text
itself is not changed: the copy knows where each of its characters stands in it.
"""

import html
import re
import unicodedata

from tucano.masking.page import Mark

_DROPPED = "\x7f"
_CODE = re.compile(r"%(?:25)*([2-7][0-9a-f])|&(?:#x[0-9a-f]{2,4}|#[0-9]{2,5}|[a-z]{3,8});")
_LOOKALIKES = (
    {"°": "o", "№": "#", "\\": "/"} | dict.fromkeys("−⁃", "-") | dict.fromkeys("·•∙⋅。", ".") | dict.fromkeys("⁄∕", "/")
)


class _Table(dict[int, str]):
    """{code point: the character to read it as}, for `str.translate`; filled as characters occur."""

    def __missing__(self, code: int) -> str:
        self[code] = seen = _folded(chr(code))
        return seen


def _folded(character: str) -> str:
    category = unicodedata.category(character)
    if character.isspace():
        return " "
    if category in ("Mn", "Me", "Cf", "Cc"):
        return _DROPPED
    if category == "Pd":
        return "-"
    digit = unicodedata.digit(character, None)
    if digit is not None:
        return str(digit)
    if character in _LOOKALIKES:
        return _LOOKALIKES[character]
    base = "".join(part for part in unicodedata.normalize("NFKD", character) if not unicodedata.combining(part)).lower()
    return base if len(base) == 1 else character


_TABLE = _Table()


class Folded:
    """`text` is what the rules read; `original` says where parts of it stand in the original."""

    def __init__(self, original: str) -> None:
        folded = original.translate(_TABLE)
        if "%" in folded or "&" in folded:
            folded = _CODE.sub(_decoded, folded)
        self.text = folded.replace(_DROPPED, "")
        self._length = len(original)
        is_whole = len(self.text) == len(folded)
        self._places = None if is_whole else [place for place, character in enumerate(folded) if character != _DROPPED]

    def original(self, marks: list[Mark]) -> list[Mark]:
        """The same marks in the original; what is invisible behind the last character of one belongs to it."""
        places = self._places
        if places is None:
            return marks
        ends = [*places, self._length]
        return [(places[start], ends[end], kind) for start, end, kind in marks]


def _decoded(code: re.Match[str]) -> str:
    """The character that a URL or HTML code stands for, filled up to the code's length."""
    character = chr(int(code[1], 16)) if code[1] else html.unescape(code[0])
    return _TABLE[ord(character)].ljust(len(code[0]), _DROPPED) if len(character) == 1 else code[0]
