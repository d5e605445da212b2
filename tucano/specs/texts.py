"""Changes of plain texts that several tasks' specs share."""

import re
import unicodedata
from random import Random

_LETTERS = re.compile(r"[^\W\d_]+")


def words(text: str) -> list[str]:
    """The words of a text: letters only, casefolded, composed accents."""
    return _LETTERS.findall(unicodedata.normalize("NFC", text).casefold())


def without_thousands_dots(text: str) -> dict[str, list[tuple[str, str]]]:
    """`R$ 1.234,56` as `R$ 1234,56`, where a text has such a number. Only with two decimals: a bare `1.234` may be
    either number."""
    plain = re.sub(r"\b\d{1,3}(?:\.\d{3})+,\d{2}\b", lambda match: match.group().replace(".", ""), text)
    return {"number formats": [(text, plain)]} if plain != text else {}


def shuffled(text: str) -> str:
    """The same words in no order."""
    found = text.split()
    Random(len(found)).shuffle(found)
    return " ".join(found)
