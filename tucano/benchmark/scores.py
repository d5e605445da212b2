"""The benchmark's metrics: what is right by the ground truth, whatever any reward thinks of it. Each task's spec has
its own.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tucano.prompts import TASKS, Prompt
from tucano.specs.registry import spec_of
from tucano.specs.scoring import Case


def read_case(prompt: Prompt, served: str, sampled: Sequence[str], databases: Path) -> Case:
    """The facts of one arm's answers to a prompt."""
    return spec_of(prompt.task).scorer.read(prompt, served, sampled, databases)


def metrics(cases: Sequence[Case]) -> dict[str, float]:
    """Every metric that these cases allow, by name (`extraction.exact`, `sql_qa.execution`); all but Brier and stars:
    higher is better.
    """
    found: dict[str, float] = {}
    for task in TASKS:
        if mine := [case for case in cases if case.task == task]:
            found |= spec_of(task).scorer.metrics(mine)
    return found


def with_intervals(
    cases: Sequence[Case], resamples: int, rng: np.random.Generator
) -> dict[str, tuple[float, float, float]]:
    """{metric: (value, low, high)}: 95 % percentile bootstrap over prompts within their task and source (Efron &
    Tibshirani 1993, 13.3).
    """
    groups: dict[tuple[str, str], list[Case]] = {}
    for case in cases:
        groups.setdefault((case.task, case.source), []).append(case)
    draws: dict[str, list[float]] = {}
    for _ in range(resamples):
        drawn = [group[index] for group in groups.values() for index in rng.integers(len(group), size=len(group))]
        for name, value in metrics(drawn).items():
            draws.setdefault(name, []).append(value)
    return {name: (value, *_ends(draws.get(name, [value]))) for name, value in metrics(cases).items()}


def _ends(values: Sequence[float]) -> tuple[float, float]:
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)
