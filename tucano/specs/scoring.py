"""What scorers of the benchmark are made of: facts of answers, and the field's standard metrics.

JSON is read here by its own strict reader, without the rewards' repair, so that a fault of that parser cannot hide.
An answer that is missing or cannot be read is a wrong answer, never a dropped one.
"""

import json
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

LEVELS = ("low", "medium", "high")


@dataclass(frozen=True, slots=True)
class Case:
    """One prompt with what an arm made of it: its served answer read into facts, and the churn levels of its sampled
    answers."""

    task: str
    source: str
    gold: Mapping[str, Any]
    said: Mapping[str, Any]
    levels: tuple[Any, ...] = ()


def read_json(text: str) -> dict[str, Any] | None:
    """The first JSON object in a text that is valid as it stands; None without one. Prose around it is allowed,
    repair is not."""
    decoder, start = json.JSONDecoder(), text.find("{")
    for _ in range(16):
        if start < 0:
            return None
        try:
            value, _ = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            start = text.find("{", start + 1)
            continue
        return value if isinstance(value, dict) else None
    return None


def mean(values: Sequence[float]) -> float:
    return float(np.mean(values))


def plain(value: Any) -> Any:
    """A value as said; text in one spelling (case, accents, spaces)."""
    if not isinstance(value, str):
        return value if isinstance(value, bool | int | float) or value is None else repr(value)
    letters = unicodedata.normalize("NFKD", value.casefold())
    return " ".join("".join(letter for letter in letters if not unicodedata.combining(letter)).split())


def same(value: Any, gold: Any) -> bool:
    """Equal in value and type: true is not 1, "4" is not 4."""
    return type(value) is type(gold) and plain(value) == plain(gold)


def token_f1(said: Any, gold: Any) -> float:
    """F1 of the words of two texts as multisets (SQuAD); of None against None 1, against a text 0."""
    if not isinstance(said, str) or not isinstance(gold, str):
        return float(said is None and gold is None)
    ours = Counter(plain(said).split())
    theirs = Counter(plain(gold).split())
    shared = (ours & theirs).total()
    return 2 * shared / (ours.total() + theirs.total()) if shared else 0.0


def macro_f1(pairs: Sequence[tuple[Any, Any]]) -> float:
    """Mean over the classes among the gold labels of 2 TP / (2 TP + FP + FN); pairs are (gold, said)."""
    scores = []
    for label in {gold for gold, _ in pairs}:
        hits = sum(gold == label and said == label for gold, said in pairs)
        wrong = sum((gold == label) != (said == label) for gold, said in pairs)
        scores.append(2 * hits / (2 * hits + wrong))
    return float(np.mean(scores))


def balanced_accuracy(pairs: Sequence[tuple[Any, Any]]) -> float:
    """Mean recall over the classes among the gold labels; pairs are (gold, said). A constant answer earns 1 /
    classes."""
    labels = {gold for gold, _ in pairs}
    return float(np.mean([np.mean([said == gold for gold, said in pairs if gold == label]) for label in labels]))


def brier(gold: str, levels: Sequence[Any]) -> float:
    """Brier (1950) score in [0, 2] of a level's probabilities, the shares of the sampled answers; what names no level
    spreads evenly."""
    known = [level for level in levels if level in LEVELS]
    lost = 1 - len(known) / len(levels) if levels else 1.0
    shares = {level: known.count(level) / max(1, len(levels)) + lost / len(LEVELS) for level in LEVELS}
    return float(sum((share - (level == gold)) ** 2 for level, share in shares.items()))


def stars_off(gold: int, said: Any) -> float:
    """Distance in stars; an answer without a number of stars is as far off as possible."""
    if isinstance(said, bool) or not isinstance(said, int | float) or not 1 <= said <= 5:
        return float(max(gold - 1, 5 - gold))
    return float(abs(said - gold))
