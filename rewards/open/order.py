"""Whether words stand in an order that occurs: a model of what follows what in sentences of Brazilian shops
(rewards/corpus, written for this, CC0).

Words that are frequent there stand for themselves, all others for their last letter, figures for their unit. A place is
worth how much likelier it is behind the two before it than anywhere, so that rare words cost nothing.
"""

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from math import log
from pathlib import Path

from rewards.parsing.text import REMEMBERED, fold, word_set

_CORPUS = Path(__file__).parents[1] / "corpus"
_LINES = [
    line
    for name in ("push.txt", "insights.txt", "frames.txt")
    for line in (_CORPUS / name).read_text(encoding="utf-8").splitlines()
]
_TOKEN = re.compile(
    r"(?P<figure>(?:r\$ ?)?\d(?:[\d.,/:]*\d)?(?: ?%)?)|(?P<word>[^\W\d_]+)|(?P<mark>[,:;])"
    r"|(?P<end>[.!?…\n]|[^\w\s,:;'\"*#()/%$-]+)",
    re.IGNORECASE,
)
_FREQUENT = 10
"""Times that a word stands in the corpus from which on it stands for itself."""
_UNSEEN, _KINDS, _BEST = 3.0, 300, 2.0
"""Places that count as seen before any is; how many kinds of words there are; worth that no place exceeds."""
NOTHING = -5.0
"""Worth of a text without words."""
_COUNTED = Counter(match[0].lower() for line in _LINES for match in _TOKEN.finditer(line) if match["word"])
_WORDS = frozenset(map(fold, _COUNTED))


def _sentences(said: str) -> Iterator[list[str]]:
    """The kinds of each sentence's words, with two places before and one behind."""
    found: list[str] = []
    for match in _TOKEN.finditer(said.replace("**", "") + "\n"):
        token = match[0].lower()
        if match["end"]:
            if found:
                yield ["", "", *found, ""]
            found = []
        elif match["figure"]:
            found.append("%" if "%" in token else "r$" if "$" in token else "0")
        else:
            found.append(token if match["mark"] or _COUNTED[token] >= _FREQUENT else f"-{fold(token)[-1:]}")


def _count() -> Counter[tuple[str, ...]]:
    """How often each run of up to three kinds occurs, and under "before" what it began with."""
    counts: Counter[tuple[str, ...]] = Counter()
    for places in (places for line in _LINES for places in _sentences(line)):
        for place in range(2, len(places)):
            for start in (place - 2, place - 1, place):
                counts[tuple(places[start : place + 1])] += 1
                counts["before", *places[start:place]] += 1
    return counts


_COUNTS = _count()
_ALL = _COUNTS["before",]


@lru_cache(maxsize=1 << 15)
def _worth(*run: str) -> float:
    """How much likelier the last of three kinds is behind the others than anywhere, as a logarithm."""
    once = (_COUNTS[run[-1:]] + 1) / (_ALL + _KINDS)
    lifts = ((_COUNTS[part] / once + _UNSEEN) / (_COUNTS["before", *part[:-1]] + _UNSEEN) for part in (run, run[1:]))
    return min(_BEST, log(sum(lifts) / 2))


@lru_cache(maxsize=REMEMBERED)
def order(said: str) -> float:
    """The mean worth of a text's places: below -0.5 words in no order, from -0.2 on sentences, up to 1."""
    worth = [_worth(*places[at - 2 : at + 1]) for places in _sentences(said) for at in range(2, len(places))]
    return sum(worth) / len(worth) if worth else NOTHING


_NO_VERBS = word_set("lugar celular mulher colher qualquer quer popular")
_SPELLED_OTHERWISE = {"qu": "c", "gu": "g"}


def is_infinitive(word: str) -> bool:
    """Whether a folded word has the form of an infinitive."""
    return len(word) > 3 and word.endswith(("ar", "er", "ir")) and word not in _NO_VERBS


def is_imperative(word: str) -> bool:
    """Whether a folded word is an order («teste», «ofereça»): a form of an infinitive that the corpus has."""
    if len(word) < 4 or word[-1] not in "ea":
        return False
    sound = word[-3:-1]
    stem = word[:-3] + _SPELLED_OTHERWISE[sound] if sound in _SPELLED_OTHERWISE else word[:-1]
    endings = ("ar",) if word[-1] == "e" else ("er", "ir")
    return any(stem + ending in _WORDS for ending in endings)
