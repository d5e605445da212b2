"""Whether words stand in an order that occurs (the model of rewards/parsing/fluency.py), and which words are verbs."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rewards.parsing.fluency import stream, worst
from rewards.parsing.kinds import kind
from rewards.parsing.text import fold, word_set
from rewards.types import clip

_CORPUS = Path(__file__).parents[1] / "corpus"
_WORDS = frozenset(
    fold(word)
    for name in ("push.txt", "insights.txt", "frames.txt")
    for word in re.findall(r"[^\W\d_]+", (_CORPUS / name).read_text(encoding="utf-8"))
)


@dataclass(frozen=True)
class Limits:
    """Up to which worth a text is words in no order, and from which on it costs nothing: in the mean, and in its worst
    stretch of so many places."""

    mean: tuple[float, float]
    stretches: Mapping[int, tuple[float, float]]


def stand_in(name: str) -> str:
    """A plain noun of the gender that a name's first word has by its ending, or of one that does not tell."""
    return {"<noun-o>": "produto", "<noun-a>": "nota"}.get(kind(name.split()[0]), "item") if name.strip() else ""


def reads_well(said: str, limits: Limits) -> float:
    """How well a text reads, in [0, 1]."""
    worth = [place for sentence in stream(ONE_BY_ONE.sub("logo", said)) for place in sentence]
    if not worth:
        return 0.0
    credit = _between(sum(worth) / len(worth), limits.mean)
    for size, ends in limits.stretches.items():
        credit *= _between(worst(worth, size), ends)
    return credit


ONE_BY_ONE = re.compile(r"(?i)\b(uma?) a \1\b")


def _between(worth: float, ends: tuple[float, float]) -> float:
    return clip((worth - ends[0]) / (ends[1] - ends[0]))


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
