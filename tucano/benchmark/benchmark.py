"""The benchmark's result: every arm's metrics with intervals, the seeds against their start, what it cost, as data and
as tables.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from tucano.benchmark.endpoint import Bill, counts_of
from tucano.benchmark.speeds import Speeds, render_speeds
from tucano.comparison.answers import (
    DECODINGS,
    MEASURES,
    Answer,
    Decoding,
    Measure,
    arms_of,
    prompt_means,
    prompt_values,
)
from tucano.comparison.contrast import Contrast, Strata, by_task, clusters_of, contrast
from tucano.comparison.verdict import judge
from tucano.comparison.wording import against
from tucano.presentation.numbers import english
from tucano.presentation.tables import items, pipe_table, wrapped
from tucano.prompts import TASKS, Prompt
from tucano.settings.comparison import Judging
from tucano.settings.data import SMALLEST_STRATUM
from tucano.specs.registry import spec_of
from tucano.specs.scoring import Case

SCHEMA_VERSION: Literal[1] = 1
ALL = "all"
Interval = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Benchmark:
    """`metrics`: {arm: {"all" or source: {metric: (value, low, high)}}}; `contrasts`: served answers by truth and by
    reward.

    `bills`: {endpoint arm: what its answers cost}; `judged`: {arm: the judge's ratings of its insights, 1-5, None where
    it gave none}; `speeds`: of the trained arms. `hacking_suspected`: the seeds' reward rose while their truth fell.
    """

    schema_version: Literal[1]
    prompts: dict[str, int]
    metrics: dict[str, dict[str, dict[str, Interval]]]
    means: dict[str, dict[str, float]]
    contrasts: tuple[Contrast, ...]
    bills: dict[str, Bill]
    judged: dict[str, list[int | None]]
    speeds: Speeds | None
    hacking_suspected: bool
    looks: int


@dataclass(frozen=True, slots=True)
class Inference:
    """Level of the tests, and the bootstrap of the intervals: how many resamples, from which seed."""

    alpha: float
    resamples: int
    seed: int


def benchmark(
    answers: Sequence[Answer],
    prompts: Sequence[Prompt],
    databases: Path,
    reference: str | None,
    inference: Inference,
    looks: int = 1,
) -> Benchmark:
    """Judge every arm by its answers; what these do not say (bills, ratings of a judge, speeds) is left empty.

    With a `reference` arm, the arms `seed-N` together, and each other arm, are contrasted with it.
    """
    arms = arms_of(answers)
    truths = prompt_means(answers, "truth")
    rewards = prompt_means(answers, "reward")
    contrasts = _contrasts(answers, prompts, reference, inference.alpha) if reference else ()
    by_measure = {found.measure: found for found in contrasts if found.arm == "seeds"}
    return Benchmark(
        schema_version=SCHEMA_VERSION,
        prompts=counts_of(prompts),
        metrics={arm: _metrics(answers, prompts, arm, databases, inference) for arm in arms},
        means={arm: _mean_row(truths[arm, "served"], rewards[arm, "served"]) for arm in arms},
        contrasts=contrasts,
        bills={},
        judged={},
        speeds=None,
        hacking_suspected="truth" in by_measure
        and judge(by_measure["reward"], Judging(alpha=inference.alpha), truth=by_measure["truth"]).hacking_suspected,
        looks=looks,
    )


def _mean_row(truths: Mapping[str, float], rewards: Mapping[str, float]) -> dict[str, float]:
    return {"truth": sum(truths.values()) / max(1, len(truths)), "reward": sum(rewards.values()) / len(rewards)}


def _metrics(
    answers: Sequence[Answer], prompts: Sequence[Prompt], arm: str, databases: Path, inference: Inference
) -> dict[str, dict[str, Interval]]:
    """Over all prompts, and over those of each source, of the tasks that have several."""
    texts: dict[tuple[str, Decoding], list[str]] = {}
    for answer in answers:
        if answer.arm == arm:
            texts.setdefault((answer.prompt_id, answer.decoding), []).append(answer.completion)
    served, sampled = DECODINGS
    cases = [
        spec_of(prompt.task).scorer.read(
            prompt, texts[prompt.id, served][0], texts.get((prompt.id, sampled), []), databases
        )
        for prompt in prompts
    ]
    found = {ALL: with_intervals(cases, inference.resamples, np.random.default_rng(inference.seed))}
    mixed = [task for task in TASKS if len({case.source for case in cases if case.task == task}) > 1]
    for source in dict.fromkeys(case.source for case in cases if case.task in mixed):
        mine = [case for case in cases if case.source == source and case.task in mixed]
        found[source] = with_intervals(mine, inference.resamples, np.random.default_rng(inference.seed))
    return found


def metrics(cases: Sequence[Case]) -> dict[str, float]:
    """Every metric that these cases allow, by name (`extraction.exact`, `sql_qa.execution`); all but Brier and stars:
    higher is better.
    """
    found: dict[str, float] = {}
    for task in TASKS:
        if mine := [case for case in cases if case.task == task]:
            found |= spec_of(task).scorer.metrics(mine)
    return found


def with_intervals(cases: Sequence[Case], resamples: int, rng: np.random.Generator) -> dict[str, Interval]:
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
    found = {}
    for name, value in metrics(cases).items():
        low, high = np.quantile(draws.get(name, [value]), [0.025, 0.975])
        found[name] = (value, float(low), float(high))
    return found


def _contrasts(
    answers: Sequence[Answer], prompts: Sequence[Prompt], reference: str, alpha: float
) -> tuple[Contrast, ...]:
    arms = arms_of(answers)
    seeds = [arm for arm in arms if arm.startswith("seed-")]
    clusters = clusters_of(prompts)
    known = {measure: prompt_values(answers, measure) for measure in MEASURES}
    found = []

    def add(name: str, members: Sequence[str], measure: Measure) -> None:
        below = known[measure][reference, "served"]
        values = {member: known[measure][member, "served"] for member in members}
        if tasks := by_task(prompts, below, SMALLEST_STRATUM):
            found.append(contrast(name, values, (reference, below), Strata(tasks, clusters), alpha, "served", measure))

    if seeds:
        add("seeds", seeds, "truth")
        add("seeds", seeds, "reward")
    for arm in arms:
        if arm != reference and arm not in seeds:
            add(arm, [arm], "truth")
    return tuple(found)


# Tables


def render_table(result: Benchmark) -> str:
    """Everything for the terminal and as markdown: truth first, then the metrics task by task, real reviews apart, cost
    last.
    """
    counts = ", ".join(f"{count} {name}" for name, count in result.prompts.items())
    lines = [
        *wrapped(f"**Benchmark** on {sum(result.prompts.values())} prompts that training never saw: {counts}."),
        "",
    ]
    lines += [*_truth_rows(result), ""]
    if said := sentences(result):
        lines += [*items(said), ""]
    lines += wrapped(
        "Served answers; 95 % bootstrap interval over prompts in brackets. Stars off and Brier: lower is better."
    )
    tables = {title: columns for task in TASKS for title, columns in spec_of(task).scorer.columns.items()}
    for title, columns in tables.items():
        lines += _metric_rows(result, title, ALL, columns)
    for source in sorted({source for found in result.metrics.values() for source in found} - {ALL}):
        for title, columns in tables.items():
            lines += _metric_rows(result, f"{title}, {source} reviews", source, columns)
    return "\n".join(lines + _judge_rows(result) + _bill_rows(result) + _speed_rows(result))


def sentences(result: Benchmark) -> list[str]:
    """What may be said about arms against the reference, by ground truth."""
    by_truth = [found for found in result.contrasts if found.measure == "truth"]
    said = [against(found, f"ground truth over {found.overall.n} prompts") for found in by_truth]
    if result.hacking_suspected:
        said.append("The seeds' reward rose while the ground truth fell: reward hacking is suspected.")
    if result.looks > 1:
        said.append(
            f"This benchmark set has now been looked at {result.looks} times; a fresh one takes another `seed`."
        )
    return said


def _truth_rows(result: Benchmark) -> list[str]:
    rows: list[tuple[str, ...]] = [("arm", "truth", "reward")]
    rows += [(arm, english(row["truth"]), english(row["reward"])) for arm, row in result.means.items()]
    return pipe_table(rows)


def _metric_rows(result: Benchmark, title: str, source: str, columns: Sequence[str]) -> list[str]:
    present = [name for name in columns if any(name in found.get(source, {}) for found in result.metrics.values())]
    if not present:
        return []
    rows: list[tuple[str, ...]] = [("arm", *(name.rpartition(".")[2].replace("_", " ") for name in present))]
    for arm, sources in result.metrics.items():
        found = sources.get(source, {})
        rows.append((arm, *(_cell(found.get(name)) for name in present)))
    return ["", f"*{title}*", "", *pipe_table(rows)]


def _cell(interval: Interval | None) -> str:
    if interval is None:
        return "-"
    value, low, high = interval
    return f"{value:.2f} [{low:.2f}, {high:.2f}]"


def _judge_rows(result: Benchmark) -> list[str]:
    rows: list[tuple[str, ...]] = [("arm", "rating, 1 to 5", "rated")]
    for arm, ratings in result.judged.items():
        given = [rating for rating in ratings if rating is not None]
        rows.append((arm, english(sum(given) / len(given), 2) if given else "-", f"{len(given)} of {len(ratings)}"))
    return ["", "*insights, in the eyes of the judge model*", "", *pipe_table(rows)] if result.judged else []


def _bill_rows(result: Benchmark) -> list[str]:
    if not result.bills:
        return []
    rows: list[tuple[str, ...]] = [("endpoint", "answers", "failed", "dollars", "per 1,000", "median s", "95 % s")]
    for arm, bill in result.bills.items():
        cost = (f"{bill.dollars:.4f}", f"{1000 * bill.dollars / max(1, bill.answers):.3f}")
        rows.append((arm, str(bill.answers), str(bill.failed), *cost, f"{bill.median_s:.2f}", f"{bill.slow_s:.2f}"))
    return ["", "*cost and latency*", "", *pipe_table(rows)]


def _speed_rows(result: Benchmark) -> list[str]:
    if result.speeds is None:
        return []
    paying = {name: bill for name, bill in result.bills.items() if name in result.means and bill.dollars}
    return render_speeds(result.speeds, {name: bill.dollars / bill.answers for name, bill in paying.items()})
