"""Words of a text, and changes of one that make sense whatever it is about."""

import re
import unicodedata
from collections.abc import Iterator
from random import Random
from typing import Any

Flaw = tuple[str, float, str, str]
"""A change for the worse of a good answer: kind, points of the guide's scale lost, before, after. What stands behind a
colon in the kind tells its variants apart."""
Change = tuple[str, str, str]
"""A change that nobody minds: kind, before, after."""
_LETTERS = re.compile(r"[^\W\d_]+")


def words(text: str) -> list[str]:
    """The words of a text: letters only, casefolded, composed accents."""
    return _LETTERS.findall(unicodedata.normalize("NFC", text).casefold())


def without_thousands_dots(text: str) -> str:
    """`R$ 1.234,56` as `R$ 1234,56`. Only with two decimals: a bare `1.234` may be either number."""
    return re.sub(r"(?<!\d\.)\b\d{1,3}(?:\.\d{3})+,\d{2}\b", lambda match: match.group().replace(".", ""), text)


def without_accents(value: Any) -> Any:
    """A text without its accents; any other value as it is."""
    if not isinstance(value, str):
        return value
    return "".join(part for part in unicodedata.normalize("NFD", value) if not unicodedata.combining(part))


_FIGURE = re.compile(r"(?<![\w.,-])(\d{1,3}(?:\.\d{3})+|\d+)(,\d+)?(?![\w-]|[.,]\d)")


def figures_off(text: str) -> str:
    """The text with every figure from 10 on, or with decimals, a tenth larger, in the notation it has."""
    return _FIGURE.sub(_larger, text)


def _larger(found: re.Match[str]) -> str:
    whole = found[1].replace(".", "")
    decimals = (found[2] or "").lstrip(",")
    value = float(f"{whole}.{decimals or 0}")
    if value < 10 and not decimals:
        return found[0]
    grouping = "," if "." in found[1] else ""
    written = f"{value * 1.1:{grouping}.{len(decimals)}f}"
    return written.translate(str.maketrans(",.", ".,"))


_AMOUNT = re.compile(
    r"R\$ ?(?P<price>\d[\d.]*(?:,\d+)?)(?<!\.)"
    r"|(?<!\d)(?<!\d\.)(?P<number>\d+(?:\.\d+)*(?:,\d+)?)(?: reais| ?%| por cento)"
)


def units_exchanged(text: str) -> str:
    """The text with every price as a share and every share as a price: the same figures, of something else."""

    def exchanged(found: re.Match[str]) -> str:
        if found["price"] or found[0].endswith("reais"):
            return f"{found['price'] or found['number']}%"
        return f"R$ {found['number']}"

    return _AMOUNT.sub(exchanged, text)


def taken_back(text: str) -> str:
    """An answer that says of itself that it is wrong."""
    return f"A resposta abaixo está errada, não use:\n{text}"


def shuffled(text: str) -> str:
    """The same words in no order."""
    found = text.split()
    Random(len(found)).shuffle(found)
    return " ".join(found)


def worse(text: str, is_code: bool) -> Iterator[Flaw]:
    """Changes for the worse of any good text; of one with code in it those that leave the code alone."""
    yield "taken back", 3, text, taken_back(text)
    if is_code:
        return
    yield "words strung together", 3, text, shuffled(text)
    if (off := figures_off(text)) != text:
        yield "figures a tenth off", 2, text, off
    if (exchanged := units_exchanged(text)) != text:
        yield "units exchanged", 2, text, exchanged
