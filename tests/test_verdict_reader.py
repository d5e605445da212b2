"""No sentence of a verdict denies another: random verdicts, read by a reader that knows the text alone."""

import numpy as np
import pytest
from verdict_reader import broken_rules, contradictions, random_verdict

HEADLINE = "Better: the trained adapters beat sft, and so does the configuration in the mean over seeds."
SOUND = (
    "On 65 held-out prompts (decoded as served) the trained adapters score 0.800 on average, sft 0.600: +0.200"
    " (+33.3 %). Typical gain +0.190, 95 % interval +0.120 to +0.250; exact one-sided p = 0.002.",
    "Over prompts and seeds the mean gain is +0.200, 95 % interval +0.100 to +0.300, one-sided p = 0.003: a gain in the"
    " mean over seeds is established. One new seed may gain +0.050 to +0.350 (95 % prediction interval).",
    "Mean gain of each seed: seed-1 +0.150; seed-2 +0.250; seed-3 +0.200.",
    "push: better by +0.210 (+40.0 %), p after Holm = 0.010.",
    "sql_qa: fell by 0.010 (-2.0 %); no gain is claimed (p for a gain = 0.700), and a drop is not established (p for a"
    " drop = 0.300).",
    "Ground truth (is it right, whatever its form): 0.500 against 0.400, +0.100; p for a gain = 0.010, for a drop = 0.990.",
    "Arm seed-1 against sft: +0.150 (+25.0 %), exact one-sided p = 0.004.",
)


def test_a_sound_verdict_has_none() -> None:
    assert list(contradictions(HEADLINE, SOUND)) == []


@pytest.mark.parametrize(
    ("sound", "planted"),
    [
        ("one-sided p = 0.002", "one-sided p = 0.050"), (": +0.200 (", ": -0.200 ("), ("+0.120 to", "+0.195 to"),
        ("+0.120 to", "-0.120 to"), ("is established. One", "is not established. One"),
        ("one-sided p = 0.003", "one-sided p = 0.060"), ("+0.100 to +0.300", "-0.100 to +0.300"),
        ("+0.050 to +0.350", "+0.250 to +0.350"), ("seed-1 +0.150; seed-2 +0.250", "seed-1 +0.550; seed-2 +0.650"),
        ("better by +0.210", "better by -0.210"), ("after Holm = 0.010", "after Holm = 0.110"),
        ("(p for a drop = 0.300)", "(p for a drop = 0.030)"), ("for a drop = 0.990", "for a drop = 0.010"),
        ("against sft: +0.150", "against sft: +0.110"), ("fell by 0.010", "fell by -0.010"),
    ],
)  # fmt: skip
def test_each_planted_contradiction_is_found(sound: str, planted: str) -> None:
    assert sum(sound in sentence for sentence in SOUND) == 1
    assert list(contradictions(HEADLINE, [sentence.replace(sound, planted) for sentence in SOUND]))


@pytest.mark.parametrize("seed", range(6))
def test_random_verdicts_have_none(seed: int) -> None:
    verdicts = (random_verdict(np.random.default_rng([seed, number])) for number in range(20))
    assert [(verdict.headline, broken) for verdict in verdicts if (broken := broken_rules(verdict))] == []
