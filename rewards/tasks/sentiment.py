"""Rewards of `sentiment`: a label and a score from a review that does not state its stars."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rewards.extraction import CHECKS, agreement, contradicts, meant
from rewards.parsing import text
from rewards.parsing.objects import find_object, standing_object, wholeness
from rewards.types import Component, PromptLike, TaskRewards, damped, filled

_FIELDS = ("sentiment", "sentiment_score")
WRONG_LABEL = 0.6
"""Credit that is left where the label, which is what was asked for, is wrong."""


@dataclass(frozen=True)
class Grounded:
    components: tuple[Component, ...] = (
        Component("sentiment.valid_json", 0.15, "a JSON object with at least one valid field"),
        Component("sentiment.value_checks", 0.25, "valid fields / 2", "30 % of the form where nothing is right"),
        Component("sentiment.label", 0.30, "the label is the reference's", "all credit x .6 for none or another"),
        Component("sentiment.score", 0.30, "closeness to the reference's stars", "one off: half"),
        Component(
            "sentiment.contradiction",
            -0.10,
            "label and score say the opposite of each other",
            "negative with 4 or 5 stars",
        ),
    )

    def shares(self, prompt: PromptLike, answer: str, databases: Path | None) -> tuple[float, ...]:
        found = standing_object(answer, _FIELDS)
        valid = _valid(found)
        tokens = text.words(answer) if valid else []
        gate = text.variety(tokens) * wholeness(answer) if valid and text.originality(tokens, prompt.user) > 0 else 0.0
        known = prompt.reference.get("fields", {})
        right = [
            agreement(name, valid[name], known[name]) if name in valid and name in known else 0.0 for name in _FIELDS
        ]
        score = valid.get("sentiment_score")
        opposite = contradicts(valid.get("sentiment"), score if isinstance(score, int) else None)
        told = meant("sentiment", found.get("sentiment"))
        gate *= WRONG_LABEL if known and told != known.get("sentiment") else 1.0
        form = gate * (damped(max(right)) if known else 1.0)
        shares = (
            form * bool(valid),
            form * len(valid) / len(_FIELDS),
            gate * right[0],
            gate * right[1],
            float(opposite),
        )
        return filled(shares, self.components, frozenset({"sentiment.label", "sentiment.score"}), bool(known))


@dataclass(frozen=True)
class Format:
    components: tuple[Component, ...] = (
        Component("sentiment.valid_json", 0.50, "a JSON object"),
        Component("sentiment.value_checks", 0.50, "valid fields / 2"),
    )

    def shares(self, prompt: PromptLike, answer: str, databases: Path | None) -> tuple[float, ...]:
        return (float(find_object(answer) is not None), len(_valid(find_object(answer) or {})) / len(_FIELDS))


def _valid(found: Mapping[str, object]) -> dict[str, object]:
    """The fields of an object whose type and value are allowed."""
    return {name: found[name] for name in _FIELDS if name in found and CHECKS[name](found[name])}


REWARDS = TaskRewards(re.compile(r"\bsentimentos?\b"), Grounded(), Format())
