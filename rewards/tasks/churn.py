"""Rewards of `churn`: a risk with a probability, from a customer's record."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rewards.extraction import CHECKS, agreement, meant
from rewards.parsing import text
from rewards.parsing.objects import find_object, standing_object, wholeness
from rewards.types import Component, PromptLike, TaskRewards, clip, damped, filled

_FIELDS = ("churn_risk", "probability")
_RANGES = {"low": (0.0, 0.6), "medium": (0.0, 1.0), "high": (0.4, 1.0)}
"""Probabilities that do not contradict a risk. Narrower ones would make it pay to leave a probability wrong beside a
wrong risk."""
WRONG_RISK = 0.6
"""Credit that is left where the risk, which is what was asked for, is wrong."""


@dataclass(frozen=True)
class Grounded:
    components: tuple[Component, ...] = (
        Component("churn.valid_json", 0.15, "a JSON object with at least one valid field"),
        Component(
            "churn.value_checks",
            0.25,
            "valid fields / 2",
            "a probability lies between 0 and 1; 30 % of the form where nothing is right",
        ),
        Component(
            "churn.risk",
            0.30,
            "the risk is the reference's",
            "one step off: a third; all credit x .6 for none or another",
        ),
        Component("churn.probability", 0.30, "closeness to the reference's probability", "0 from .4 off on"),
        Component(
            "churn.contradiction", -0.10, "risk and probability contradict each other", "low above .6, high below .4"
        ),
    )

    def shares(self, prompt: PromptLike, answer: str, databases: Path | None) -> tuple[float, ...]:
        found = standing_object(answer, _FIELDS)
        valid = _valid(found)
        tokens = text.words(answer) if valid else []
        gate = text.variety(tokens) * wholeness(answer) if valid and text.originality(tokens, prompt.user) > 0 else 0.0
        known = prompt.reference.get("fields", {})
        risk = valid.get("churn_risk")
        chance = valid.get("probability")
        steps = list(_RANGES)
        near = (
            clip(1 - abs(steps.index(str(risk)) - steps.index(known["churn_risk"])) * 2 / 3) if known and risk else 0.0
        )
        close = agreement("probability", chance, known["probability"]) if known else 0.0
        told = meant("churn_risk", found.get("churn_risk"))
        gate *= WRONG_RISK if known and told != known.get("churn_risk") else 1.0
        form = gate * (damped(max(near, close)) if known else 1.0)
        shares = (
            form * bool(valid),
            form * len(valid) / 2,
            gate * near,
            gate * close,
            float(_contradicts(risk, chance)),
        )
        return filled(shares, self.components, frozenset({"churn.risk", "churn.probability"}), bool(known))


@dataclass(frozen=True)
class Format:
    components: tuple[Component, ...] = (
        Component("churn.valid_json", 0.50, "a JSON object"),
        Component("churn.value_checks", 0.50, "valid fields / 2"),
    )

    def shares(self, prompt: PromptLike, answer: str, databases: Path | None) -> tuple[float, ...]:
        return (float(find_object(answer) is not None), len(_valid(find_object(answer) or {})) / 2)


def _is_probability(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _valid(found: Mapping[str, object]) -> dict[str, object]:
    """The fields of an object whose type and value are allowed."""
    checks = {"churn_risk": CHECKS["churn_risk"], "probability": _is_probability}
    return {name: found[name] for name in _FIELDS if name in found and checks[name](found[name])}


def _contradicts(risk: object, chance: object) -> bool:
    if not isinstance(chance, int | float) or risk is None:
        return False
    low, high = _RANGES[str(risk)]
    return not low <= chance <= high


REWARDS = TaskRewards(re.compile(r"\bchurn\b|\bcliente vai embora\b"), Grounded(), Format())
