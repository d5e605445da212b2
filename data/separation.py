"""No text in two sets: a normal form for exact copies, exact Jaccard similarity of character 5-grams for near ones, and
no text inside of another one; no gold query in two sets either.

Characters rather than words: a short prompt of ten words has six word 5-grams, and one changed word would make it
"new". Exact rather than MinHash: each text is compared only with the validation and test texts, and only with those of
similar length.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from hashlib import blake2b

from tucano.prompts import Prompt

SHINGLE = 5
NEAR = 0.8
GENERATED = "synthetic"
"""The source of prompts that the generator wrote."""
ONE_OF = 8
"""Which share of all generated prompts is kept for judging."""


def without_accents(text: str) -> str:
    return "".join(letter for letter in unicodedata.normalize("NFKD", text) if not unicodedata.combining(letter))


def normal_form(text: str) -> str:
    """Without case, accents, punctuation and repeated white space: what makes two texts the same text."""
    return " ".join(re.findall(r"\w+", without_accents(text).casefold().replace("_", " ")))


def is_kept_for_judging(text: str) -> bool:
    """Whether a generated prompt is one of those that no shipped base has read: an eighth of all, by a hash of its
    normal form without its digits, so that prompts which differ in figures alone are on one side.
    """
    told = "".join(letter for letter in normal_form(text) if not letter.isdigit())
    return blake2b(told.encode(), digest_size=1).digest()[0] % ONE_OF == 0


def unread(prompts: Iterable[Prompt]) -> Iterator[Prompt]:
    """Those that may be judged: of generated ones only what is kept for it."""
    return (prompt for prompt in prompts if prompt.source != GENERATED or is_kept_for_judging(prompt.user))


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
        self._exact: dict[str, None] = {}
        self._sets: list[frozenset[str]] = []
        for text in texts:
            self.add(text)

    def add(self, text: str) -> None:
        normal = normal_form(text)
        self._exact[normal] = None
        self._sets.append(shingles(normal))

    def near(self, text: str) -> bool:
        """True when some text known is the same, has a 5-gram Jaccard similarity of at least .8, stands as a
        whole in this one, or this one in it.
        """
        normal = normal_form(text)
        return any(_contains(other, normal) for other in self._exact) or self.copied_in(text)

    def copied_in(self, text: str) -> bool:
        """As `near`, but for a text that stands as a whole in one known: a short answer stands in many."""
        normal = normal_form(text)
        if any(_contains(normal, other) for other in self._exact):
            return True
        grams = shingles(normal)
        size = len(grams)
        return any(NEAR * size <= len(other) <= size / NEAR and jaccard(grams, other) >= NEAR for other in self._sets)

    def stand_in(self, text: str) -> bool:
        """Whether some text known stands as a whole in this one."""
        normal = normal_form(text)
        return any(_contains(normal, other) for other in self._exact)


def _contains(text: str, other: str) -> bool:
    """Whether the words of `other` stand in `text`, in one piece. Nothing is said of texts without a word."""
    return bool(other) and other in text and f" {other} " in f" {text} "


def gold_query(prompt: Prompt) -> str | None:
    """Its gold query, whatever its case and spaces."""
    query = prompt.reference.get("sql")
    return " ".join(str(query).casefold().replace(";", " ").split()) if query else None


class NearPrompts:
    """Prompts whose texts and gold queries no other set may have."""

    def __init__(self, prompts: Iterable[Prompt] = ()) -> None:
        self._texts, self._queries = NearDuplicates(), set[str]()
        for prompt in prompts:
            self.add(prompt)

    def add(self, prompt: Prompt) -> None:
        self._texts.add(prompt.user)
        if query := gold_query(prompt):
            self._queries.add(query)

    def admit(self, prompt: Prompt) -> bool:
        """Add a prompt that is near none of theirs; False for one that is."""
        if self.near(prompt):
            return False
        self.add(prompt)
        return True

    def near(self, prompt: Prompt) -> bool:
        """True when its gold query is one of theirs, or its text is near one of theirs (`NearDuplicates.near`)."""
        return gold_query(prompt) in self._queries or self._texts.near(prompt.user)

    def stand_in(self, text: str) -> bool:
        """Whether one of their texts stands as a whole in this one."""
        return self._texts.stand_in(text)
