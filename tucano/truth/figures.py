"""Figures as people write them, with their unit and their place in the text."""

import re
from dataclasses import dataclass
from typing import Literal

Unit = Literal["%", "R$", ""]

_FIGURE = re.compile(
    r"(?P<money>r\$\s*)?(?<![\w.,/])(?<![a-z]-)"
    r"(?P<digits>\d{1,3}(?:\.\d{3})+(?:,\d+)?|\d+(?:,\d+)?|\d+\.\d{1,2}(?!\d))"
    r"(?![\w]|[.,/-]\d)"
    r"(?P<scale>\s+(?:mil|milhao|milhoes)\b)?(?P<percent>\s*%|\s+por\s+cento\b)?(?P<reais>\s+reais\b)?"
)
_SCALES = {"mil": 1e3, "milhao": 1e6, "milhoes": 1e6}
_MOST_DIGITS = 15
_TENS = ["vinte", "trinta", "quarenta", "cinquenta", "sessenta", "setenta", "oitenta", "noventa"]
_NUMBERS = {word: 10.0 * (place + 2) for place, word in enumerate(_TENS)} | {
    "cinco": 5.0, "dez": 10.0, "quinze": 15.0, "cem": 100.0,
}  # fmt: skip
_IN_WORDS = re.compile(rf"\b(?P<number>{'|'.join(_NUMBERS)})(?:\s+e\s+\w+)?\s+(?:por\s+cento|%|reais)")


@dataclass(frozen=True, slots=True)
class Figure:
    """A number: its value, half of its last written digit, its unit, and where it stands."""

    value: float
    tolerance: float
    unit: Unit
    start: int
    end: int

    def shows(self, number: float) -> bool:
        """Whether it is that number, rounded as it is written."""
        return abs(number - self.value) <= self.tolerance * (1 + 1e-9)


def figures(text: str) -> list[Figure]:
    """The figures of a plain text (lower case, without accents), in their order; also tens in words with a unit."""
    found = [
        Figure(_NUMBERS[match["number"]], 0.5, "R$" if match[0].endswith("reais") else "%", match.start(), match.end())
        for match in _IN_WORDS.finditer(text)
    ]
    for match in _FIGURE.finditer(text):
        digits = match["digits"]
        if len(digits) > _MOST_DIGITS:
            continue
        written = digits.replace(".", "").replace(",", ".") if re.search(r",|\.\d{3}(?!\d)", digits) else digits
        scale = _SCALES[match["scale"].strip()] if match["scale"] else 1.0
        places = len(written.partition(".")[2])
        unit: Unit = "R$" if match["money"] or match["reais"] else "%" if match["percent"] else ""
        found.append(Figure(float(written) * scale, 0.5 * scale * 10.0**-places, unit, match.start(), match.end()))
    return sorted(found, key=lambda figure: figure.start)
