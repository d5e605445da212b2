"""Truth of `churn`: the risk, and how near the probability is."""

from pathlib import Path

from tucano.truth.json_object import only_object
from tucano.truth.reading import clip
from tucano.truth.types import PromptLike

LEVELS = ("low", "medium", "high")
RISK = 0.6
"""What the right risk is worth; the rest is for the probability, all of it within .1, nothing from .4 on."""
STEP_OFF = 0.2


def truth(prompt: PromptLike, answer: str, databases: Path | None) -> float | None:
    """.6 for the risk and up to .4 for the probability; .2 for a near probability beside another risk; else 0."""
    known = prompt.reference.get("fields", {})
    if "churn_risk" not in known:
        return None
    found = only_object(answer) or {}
    risk, chance = found.get("churn_risk"), found.get("probability")
    valid = isinstance(chance, int | float) and not isinstance(chance, bool) and 0 <= chance <= 1
    close = clip((0.4 - abs(chance - known["probability"])) / 0.3) if valid else 0.0
    if risk not in LEVELS:
        return 0.0
    if risk != known["churn_risk"]:
        steps = abs(LEVELS.index(risk) - LEVELS.index(known["churn_risk"]))
        return STEP_OFF * close if steps == 1 else 0.0
    return RISK + (1 - RISK) * close
