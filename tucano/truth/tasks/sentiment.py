"""Truth of `sentiment`: the label, and how near the score is."""

from pathlib import Path

from tucano.truth.json_object import only_object
from tucano.truth.types import PromptLike

LABELS = ("negative", "neutral", "positive")
FITTING = {"negative": (1, 2, 3), "neutral": (2, 3, 4), "positive": (3, 4, 5)}
"""Scores that do not contradict a label."""
LABEL = 0.7
"""What the right label is worth; the rest is for the score, half of it for one star off."""
STEP_OFF = 0.2


def truth(prompt: PromptLike, answer: str, databases: Path | None) -> float | None:
    """.7 for the label and up to .3 for the score; .2 for a label one step off beside the right score; else 0."""
    known = prompt.reference.get("fields", {})
    if "sentiment" not in known:
        return None
    found = only_object(answer) or {}
    label, score = found.get("sentiment"), found.get("sentiment_score")
    off = abs(score - known["sentiment_score"]) if type(score) is int and 1 <= score <= 5 else None
    if label not in LABELS:
        return 0.0
    if label != known["sentiment"]:
        steps = abs(LABELS.index(label) - LABELS.index(known["sentiment"]))
        return STEP_OFF if steps == 1 and off == 0 else 0.0
    if off is not None and score not in FITTING[label]:
        return STEP_OFF
    return LABEL + (1 - LABEL) * (0.0 if off is None else max(0.0, 1 - off / 2))
