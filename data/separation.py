"""No text in two sets: a normal form for exact copies, and exact Jaccard similarity of character 5-grams for near ones.

Characters rather than words: a short prompt of ten words has six word 5-grams, and one changed word would make it
"new". Exact rather than MinHash: each text is compared only with the validation and test texts, and only with those of
similar length.
"""

import re
import unicodedata
from collections.abc import Iterable

SHINGLE = 5
NEAR = 0.8


def normal_form(text: str) -> str:
    """Without case, accents, punctuation and repeated white space: what makes two texts the same text."""
    plain = "".join(letter for letter in unicodedata.normalize("NFKD", text) if not unicodedata.combining(letter))
    return " ".join(re.findall(r"\w+", plain.casefold().replace("_", " ")))


def shingles(normal: str) -> frozenset[str]:
    """The set of character 5-grams of a normal form (the form itself when it is shorter)."""
    return frozenset(normal[start : start + SHINGLE] for start in range(max(1, len(normal) - SHINGLE + 1)))


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """|intersection| / |union|, in [0, 1]."""
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared)


class NearDuplicates:
    """Texts that others must neither equal nor resemble."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._exact: set[str] = set()
        self._sets: list[frozenset[str]] = []
        for text in texts:
            self.add(text)

    def add(self, text: str) -> None:
        normal = normal_form(text)
        self._exact.add(normal)
        self._sets.append(shingles(normal))

    def same(self, text: str) -> bool:
        return normal_form(text) in self._exact

    def near(self, text: str) -> bool:
        """True when some known text is the same or has a 5-gram Jaccard similarity of at least .8."""
        normal = normal_form(text)
        if normal in self._exact:
            return True
        grams = shingles(normal)
        size = len(grams)
        return any(NEAR * size <= len(other) <= size / NEAR and jaccard(grams, other) >= NEAR for other in self._sets)
