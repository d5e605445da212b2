"""Small faults of a push: places that no sentence has, words of any shop, a product where no thing is named. One is a
slip, several are scraps."""

import re
from itertools import pairwise

from rewards.parsing.fluency import sentences, unnamed
from rewards.parsing.kinds import clash
from rewards.parsing.prose import disorder
from rewards.parsing.text import fold, squeeze
from rewards.texts import numbers, offers
from rewards.texts.calls import pads
from rewards.texts.naming import misplaces_product
from rewards.texts.order import ONE_BY_ONE, stand_in
from rewards.types import PromptLike

CREDIT = (1.0, 0.9, 0.3, 0.05)
"""Credit of a push with none, one, two slips, and with more."""
_SCRAPS = len(CREDIT) - 1

FITS = 120
"""Characters of a push up to which nothing pads it."""


def neatness(prompt: PromptLike, answer: str) -> float:
    """Credit of a push by its slips."""
    return CREDIT[min(slips(prompt, answer), len(CREDIT) - 1)]


def slips(prompt: PromptLike, answer: str) -> int:
    """How many small faults a push has; one alone that may be none is none."""
    said = ONE_BY_ONE.sub("logo", answer)
    clashes, doubtful = disagreements(said, prompt.reference.get("product", ""))
    doubtful += misplaces_product(prompt, answer)
    found = (
        max(0, disorder(unnamed(said, prompt)) - is_small(said))
        + clashes
        + (len(squeeze(said)) > FITS and pads(fold(said)))
        + (stock_sentences(answer) > 1)
        + figures_again(answer)
        + _SCRAPS * stands_alone(prompt, answer)
    )
    return found + doubtful if found or doubtful > 1 else 0


_CAPITAL_START = re.compile(r"[.!?]\s+[A-ZÀ-Ý]")


def is_small(said: str) -> bool:
    """Whether a text begins small, and no sentence of it with a capital letter: some shops write so."""
    return said.lstrip()[:1].islower() and not _CAPITAL_START.search(said)


_WORDS = ("<noun", "<thing", "<verb", "<come")
_DETERMINERS = ("<the", "<one", "<my", "<this")
_THE_OR_TO = "<the-a>"
"""«a»: an article, or a preposition before any other word («a um toque»)."""


def disagreements(answer: str, product: str) -> tuple[int, int]:
    """How many words do not agree with the one before: one of several and one of one, or two articles; and how many
    nouns and verbs stand side by side, which may be names. The gender of a noun is not known for sure."""
    said = re.sub(re.escape(product), stand_in(product), answer, flags=re.IGNORECASE) if product.strip() else answer
    pairs = (pair for found in sentences(said) for pair in pairwise(found))
    clashes = [pair for pair in pairs if clash(*pair) and pair[0] != _THE_OR_TO]
    words = [pair for pair in clashes if pair[0].startswith(_WORDS)]
    sure = (
        other.startswith(_DETERMINERS) or one.endswith("s>") != other.endswith("s>")
        for one, other in clashes
        if not one.startswith(_WORDS)
    )
    return sum(sure), len(words)


_END = re.compile(r"[.!?\n]+")


def stock_sentences(answer: str) -> int:
    """How many sentences are of nothing but calls («Aproveite já!»)."""
    lines = _END.split(answer)
    return sum(
        bool(said := offers.stems(line)) and all(map(offers.is_call, said)) and not offers.kinds(line) for line in lines
    )


def figures_again(answer: str) -> int:
    """How many prices and shares are told again."""
    told = [(one.value, one.unit) for one in numbers.told(answer).numbers if one.unit in numbers.SIGNS]
    return len(told) - len(set(told))


def stands_alone(prompt: PromptLike, answer: str) -> bool:
    """Whether the product is all that a sentence says («Panela.»)."""
    name = fold(prompt.reference.get("product", "")).strip()
    return bool(name and re.search(rf"(?:\A|[.!?\n]\s?)\W{{0,3}}(?:[a-z]+ )?{re.escape(name)}\.", fold(answer)))
