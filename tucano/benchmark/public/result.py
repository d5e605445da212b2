"""Arms on the public benchmarks: each metric with its interval, and the paired tests between arms."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from tucano.benchmark.public.questions import NAMES, TITLES, Question, Reply
from tucano.benchmark.public.scores import MAIN, baselines, score
from tucano.comparison.contrast import Contrast, Strata, contrast
from tucano.comparison.wording import against
from tucano.presentation.tables import blocks, items, pipe_table, wrapped

Interval = tuple[float, float, float]
Scores = Mapping[str, Mapping[str, Mapping[str, float]]]
"""{arm: {question id: {metric: 0 to 1}}}"""
FEWEST = 5
"""Questions of a benchmark below which arms are not contrasted."""


@dataclass(frozen=True, slots=True)
class PublicResult:
    """`counts`: {benchmark: questions}; `licences`: {benchmark: what its folder says}; `cut`: {benchmark: prompts that
    were too long for the model}. `metrics`: {benchmark: {arm: {metric: (value, low, high)}}}, 95 %.

    `contrasts`: one per benchmark and pair of arms, by the benchmark's main metric; its only task is the benchmark.
    """

    schema_version: Literal[1]
    counts: dict[str, int]
    licences: dict[str, str]
    cut: dict[str, int]
    metrics: dict[str, dict[str, dict[str, Interval]]]
    contrasts: tuple[Contrast, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """How the answers are read: the arm that others are held against, level and resamples of the tests, their seed."""

    reference: str
    alpha: float
    resamples: int
    seed: int


def judge_public(
    questions: Sequence[Question], replies: Sequence[Reply], databases: Path, licences: Mapping[str, str], how: Reading
) -> PublicResult:
    """Score every reply. The arms `seed-N` together, and each other arm, are contrasted with the reference, and the
    seeds and the reference with the base.
    """
    scores = _scores(questions, replies, databases)
    trained = list(dict.fromkeys(reply.arm for reply in replies))
    first = {reply.question: reply.cut for reply in reversed(replies)}
    counts: dict[str, int] = {}
    cut: dict[str, int] = {}
    metrics: dict[str, dict[str, dict[str, Interval]]] = {}
    contrasts: list[Contrast] = []
    for name in NAMES:
        asked = [question for question in questions if question.benchmark == name]
        if not asked:
            continue
        counts[name] = len(asked)
        cut[name] = sum(first.get(question.id, False) for question in asked)
        groups = _groups(asked)
        metrics[name] = {
            arm: _intervals([found[question.id] for question in asked], groups, how) for arm, found in scores.items()
        }
        contrasts += _of(name, asked, scores, trained, how) if len(asked) >= FEWEST else []
    chosen = {name: licences[name] for name in counts}
    return PublicResult(1, counts, chosen, cut, metrics, tuple(contrasts))


def _scores(
    questions: Sequence[Question], replies: Sequence[Reply], databases: Path
) -> dict[str, dict[str, dict[str, float]]]:
    """Of the baselines, then of those that replied."""
    by_id = {question.id: question for question in questions}
    scores: dict[str, dict[str, dict[str, float]]] = {}
    for name, answer in baselines(questions).items():
        scores[name] = {question.id: score(question, answer(question), databases) for question in questions}
    for reply in replies:
        scores.setdefault(reply.arm, {})[reply.question] = score(by_id[reply.question], reply.text, databases)
    return scores


def _groups(asked: Sequence[Question]) -> list[list[int]]:
    """The places of the questions of each group."""
    found: dict[str, list[int]] = {}
    for place, question in enumerate(asked):
        found.setdefault(question.group, []).append(place)
    return list(found.values())


def _intervals(
    rows: Sequence[Mapping[str, float]], groups: Sequence[Sequence[int]], how: Reading
) -> dict[str, Interval]:
    """Means with their 95 % percentile bootstrap over groups: questions about one database, or one text, stand or fall
    together.
    """
    rng = np.random.default_rng(how.seed)
    drawn = rng.integers(len(groups), size=(how.resamples, len(groups)))
    sizes = np.array([len(group) for group in groups], dtype=float)
    found = {}
    for metric in rows[0]:
        sums = np.array([sum(rows[place][metric] for place in group) for group in groups])
        low, high = np.quantile(sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1), [0.025, 0.975])
        found[metric] = (float(sums.sum() / sizes.sum()), float(low), float(high))
    return found


def _of(name: str, asked: Sequence[Question], scores: Scores, trained: Sequence[str], how: Reading) -> list[Contrast]:
    """The contrasts of one benchmark."""
    seeds = [arm for arm in trained if arm.startswith("seed-")]
    strata = Strata({name: [question.id for question in asked]}, {question.id: question.group for question in asked})

    def values(arm: str) -> dict[str, list[float]]:
        return {question.id: [scores[arm][question.id][MAIN[name]]] for question in asked}

    def against(arm: str, members: Sequence[str], below: str) -> Contrast:
        above = {member: values(member) for member in members}
        return contrast(arm, above, (below, values(below)), strata, how.alpha, "served", "truth")

    pairs: list[tuple[str, Sequence[str], str]] = []
    if how.reference in trained:
        pairs += [("seeds", seeds, how.reference)] if seeds else []
        others = [arm for arm in trained if arm not in (*seeds, how.reference, "base")]
        pairs += [(arm, [arm], how.reference) for arm in others]
    if "base" in trained and how.reference != "base":
        pairs += [("seeds", seeds, "base")] if seeds else []
        pairs += [(how.reference, [how.reference], "base")] if how.reference in trained else []
    return [against(*pair) for pair in pairs]


# Tables


def render_public(result: PublicResult) -> str:
    """As markdown: a table for each benchmark, then what the paired tests say."""
    parts: list[list[str]] = []
    for name, arms in result.metrics.items():
        said = f"**{TITLES[name]}**, {result.counts[name]} questions. {result.licences[name]}"
        if result.cut[name]:
            said += f" {result.cut[name]} prompts were too long for the model and lost their beginning."
        columns = next(iter(arms.values()))
        rows: list[tuple[str, ...]] = [("arm", *(metric.replace("_", " ") for metric in columns))]
        rows += [(arm, *(_cell(found[metric]) for metric in columns)) for arm, found in arms.items()]
        metric = MAIN[name].replace("_", " ")
        told = items(against(found, metric) for found in result.contrasts if name in found.tasks)
        parts += [wrapped(said), pipe_table(rows), told]
    return blocks(*parts)


def _cell(interval: Interval) -> str:
    value, low, high = interval
    return f"{value:.3f} [{low:.3f}, {high:.3f}]"
