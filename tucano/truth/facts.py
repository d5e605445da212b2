"""Plain facts of an answer beside its prompt, as numbers: what the learned judge reads, and nothing else.

Every fact has a name and a sentence in `MEANING`. What is not known is NaN.
"""

import math
from collections import Counter
from functools import lru_cache

from tucano.truth.fluency import order
from tucano.truth.reading import borrowed, plain, sentences, share, stems, words
from tucano.truth.standing import stands

UNKNOWN = float("nan")
SAYS = 4
"""Words of a sentence that says something."""
MEANING = {
    "characters": "log of 1 + its characters",
    "words": "log of 1 + its words",
    "variety": "distinct words of its words",
    "variety of threes": "distinct runs of three words",
    "variety of fives": "distinct runs of five words",
    "of the prompt": "share of its stems that the prompt has",
    "prompt covered": "share of the prompt's stems that it has",
    "borrowed 3": "share of its runs of three words that stand in the prompt",
    "borrowed 6": "the same of six words",
    "borrowed 12": "the same of twelve words",
    "said twice": "share of its sentences that stand in it before",
    "sentences": "sentences of four words and more",
    "new words": "stems that the prompt lacks",
    "lines": "line breaks",
    "exclamations": "exclamation marks",
    "questions": "question marks",
    "stars": "asterisks",
    "braces": "opening braces",
    "fences": "code fences",
    "ends": "1 where it ends with a mark that ends something",
    "capitals": "share of capital letters",
    "marks": "share of characters that are neither letter, figure nor space",
    "pictures": "emoji and other signs beyond U+2190",
    "most said": "times that its most frequent word of five letters stands",
    "word length": "mean letters of a word",
    "addresses": "1 where it holds an at-sign or a web address",
    "order": "mean log-odds of its words' order (tucano/truth/fluency.py)",
    "odd places": "share of its words where they hardly ever stand",
    "worst place": "mean log-odds of its worst five places",
    "known words": "share of its words that the corpus of order has",
    "stands": "1 where it is one answer and does not take itself back",
}


def text_facts(prompt: str, answer: str, read: str) -> dict[str, float]:
    """The facts of `MEANING`. read: the part of the answer that is prose."""
    own, asked = words(answer), _words(prompt)
    lines = [plain(one) for one in sentences(answer) if len(one.split()) >= SAYS]
    threes, fives = (list(zip(*(own[place:] for place in range(run)), strict=False)) for run in (3, 5))
    beside, said = _stems(prompt), stems(answer)
    placed = order(read)
    return {
        "characters": math.log1p(len(answer)),
        "words": math.log1p(len(own)),
        "variety": _variety(own),
        "variety of threes": _variety(threes),
        "variety of fives": _variety(fives),
        "of the prompt": share(said, beside),
        "prompt covered": share(beside, said),
        "borrowed 3": borrowed(own, asked, 3),
        "borrowed 6": borrowed(own, asked, 6),
        "borrowed 12": borrowed(own, asked, 12),
        "said twice": 1 - _variety(lines) if lines else 0.0,
        "sentences": float(len(lines)),
        "new words": float(len(said - beside)),
        "lines": float(answer.count("\n")),
        "exclamations": float(answer.count("!")),
        "questions": float(answer.count("?")),
        "stars": float(answer.count("*")),
        "braces": float(answer.count("{")),
        "fences": float(answer.count("```")),
        "ends": float(answer[-1:] in tuple('.!?}`)"')),
        "capitals": sum(map(str.isupper, answer)) / max(1, len(answer)),
        "marks": sum(not one.isalnum() and not one.isspace() for one in answer) / max(1, len(answer)),
        "pictures": float(sum(one > "\u2190" for one in answer)),
        "most said": float(max(Counter(word for word in own if len(word) > 4).values(), default=0)),
        "word length": sum(map(len, own)) / max(1, len(own)),
        "addresses": float("@" in answer or "http" in answer),
        "order": placed.mean,
        "odd places": placed.odd,
        "worst place": placed.worst,
        "known words": placed.known,
        "stands": float(stands(read)),
    }


def _variety(parts: list[str] | list[tuple[str, ...]]) -> float:
    return len(set(parts)) / max(1, len(parts))


@lru_cache(maxsize=4096)
def _words(prompt: str) -> list[str]:
    return words(prompt)


@lru_cache(maxsize=4096)
def _stems(prompt: str) -> frozenset[str]:
    return stems(prompt)
