"""How the truth reads a text: what is judged of it, its words, its sentences. Shares nothing with the rewards."""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

LONGEST = 16 * 1024
"""Characters; a longer completion is no answer to anything that is asked here."""
STEM = 5
"""Letters that tell most Portuguese words apart, in whatever form they stand."""

_WORD = re.compile(r"[^\W\d_]{2,}")
_SENTENCE = re.compile(r"(?<=[.!?…])\s+|\n+")
_PILED = re.compile(r"[\u0300-\u036f]{9}")


def readable(completion: str) -> str:
    """The completion in one Unicode form (NFC), no byte order mark; nothing of one too long or with piles of marks."""
    if len(completion) > LONGEST or _PILED.search(completion):
        return ""
    return unicodedata.normalize("NFC", completion).removeprefix("\ufeff").strip()


def plain(text: str) -> str:
    """Case, accents and other forms of a character taken away; signs that are numbers of their own (`²`, `½`) stay."""
    return "".join(map(_bare, text.casefold()))


@lru_cache(maxsize=4096)
def _bare(letter: str) -> str:
    is_sign = letter.isnumeric() and not letter.isdecimal()
    parts = letter if is_sign else unicodedata.normalize("NFKD", letter)
    return "".join(part for part in parts if not unicodedata.combining(part))


def words(text: str) -> list[str]:
    """Words of two letters and more in plain form, in their order."""
    return _WORD.findall(plain(text))


def sentences(text: str) -> list[str]:
    return [part.strip() for part in _SENTENCE.split(text) if part.strip()]


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


def stems(text: str, letters: int = STEM) -> frozenset[str]:
    """Beginnings of the words of four letters and more."""
    return frozenset(word[:letters] for word in words(text) if len(word) > 3)


def share(of: frozenset[str], found: frozenset[str]) -> float:
    """The share of the first set that the second has; NaN of an empty one."""
    return len(of & found) / len(of) if of else float("nan")


def borrowed(own: Sequence[str], other: Sequence[str], run: int) -> float:
    """Share of the runs of so many words that stand in the other text too."""
    theirs = set(zip(*(other[place:] for place in range(run)), strict=False))
    ours = list(zip(*(own[place:] for place in range(run)), strict=False))
    return sum(one in theirs for one in ours) / len(ours) if ours else 0.0


def clip(value: float) -> float:
    return min(1.0, max(0.0, value))
