"""Is the tuned model better than the model it was trained from? Every arm answered the same held-out prompts.

The primary contrast is the mean over the seeds against the reference (the SFT start, or the base where SFT is off), in
the decoding that the settings fixed before training. Seeds against base, ground truth and controls are reported beside
it. No seed and no checkpoint is chosen here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Literal

from tucano.comparison.answers import (
    DECODINGS,
    MEASURES,
    Answer,
    Decoding,
    Measure,
    Values,
    arms_of,
    check_complete,
    equally_many,
    prompt_means,
    prompt_values,
)
from tucano.comparison.claims import StudyContext
from tucano.comparison.contrast import Contrast, Strata, by_task, clusters_of, contrast, share
from tucano.comparison.decomposition import Decomposition, decompose
from tucano.comparison.forgetting import Forgetting, Reading, forgetting
from tucano.comparison.text_health import TextHealth, text_health
from tucano.comparison.verdict import Verdict, judge
from tucano.errors import UserError
from tucano.prompts import TASKS, Prompt
from tucano.settings.comparison import Judging
from tucano.settings.data import SMALLEST_STRATUM
from tucano.specs.registry import right_answers
from tucano.statistics.preference import Preference

SCHEMA_VERSION: Literal[2] = 2
BASE = "base"
TOGETHER = "seeds"
"""Name of the arm that is the mean over all seeds."""
SAMPLES = 10
EXTREMES = 10
TIE = 0.005
"""Two rewards that differ by less read the same."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two served answers to one prompt: the reference's and the shown seed's, with their rewards, what these are made
    of, and their truth (None: not known). `gold` is what is known to be right, empty where nothing is.
    """

    prompt_id: str
    task: str
    user: str
    before: str
    after: str
    reward_before: float
    reward_after: float
    gold: str = ""
    truth_before: float | None = None
    truth_after: float | None = None
    components_before: dict[str, float] = field(default_factory=dict)
    components_after: dict[str, float] = field(default_factory=dict)

    @property
    def change(self) -> float:
        return self.reward_after - self.reward_before


@dataclass(frozen=True, slots=True)
class Point:
    """One prompt in the primary decoding: reward of the reference and mean reward of the seeds."""

    prompt_id: str
    task: str
    reference: float
    tuned: float


@dataclass(frozen=True, slots=True)
class Headroom:
    """Sampled answers of the reference: mean reward, and mean over prompts of the best of k: what choosing well could
    gain.
    """

    mean: float
    best: float
    k: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """All that the report shows. `means` and `truths` are {decoding: {arm: {"overall" or task: mean over prompts}}}."""

    schema_version: Literal[2]
    reference: str
    shown_arm: str
    seeds: tuple[int, ...]
    primary: Decoding
    alpha: float
    prompts: int
    means: dict[str, dict[str, dict[str, float]]]
    truths: dict[str, dict[str, dict[str, float]]]
    contrasts: tuple[Contrast, ...]
    headroom: dict[str, Headroom]
    texts: dict[str, TextHealth]
    points: tuple[Point, ...]
    samples: tuple[Pair, ...]
    wins: tuple[Pair, ...]
    drops: tuple[Pair, ...]
    verdict: Verdict
    decomposition: Decomposition
    language: tuple[Forgetting, ...]
    looks: int
    planned: bool
    people: Preference | None = None

    @property
    def main(self) -> Contrast:
        """The primary contrast."""
        return self.contrasts[0]

    @property
    def examples(self) -> dict[str, Pair]:
        """One win, one loss and one tie, as far as there are: the largest of each, and of those that stand for all the
        one that changed least (a tie where two digits show no change).
        """
        still = min(self.samples, key=lambda pair: (abs(pair.change), pair.prompt_id), default=None)
        kind = "tie" if still is not None and abs(still.change) < TIE else "least"
        shown = {"win": self.wins[:1], "loss": self.drops[:1], kind: (still,) if still else ()}
        return {kind: pairs[0] for kind, pairs in shown.items() if pairs}

    def find(self, arm: str, reference: str, decoding: Decoding, measure: Measure) -> Contrast | None:
        """The contrast with these marks, None where it was not made."""
        return _find(self.contrasts, arm, reference, decoding, measure)


@dataclass(frozen=True, slots=True)
class Design:
    """What is compared with what: the arms `seed-N` of these seeds with a reference arm.

    `shown_seed` gives the example texts (the first seed when None); `looks`, `planned` and `unmoved` (seeds): see
    `StudyContext`. Of an `untrained_base`, whose weights are random, nothing can be forgotten. `public`: the seeds on
    benchmarks that others wrote.
    """

    reference: str
    seeds: Sequence[int]
    shown_seed: int | None = None
    looks: int = 1
    planned: bool = True
    unmoved: Sequence[int] = ()
    untrained_base: bool = False
    public: Sequence[Contrast] = ()


def compare(
    answers: Sequence[Answer],
    prompts: Sequence[Prompt],
    settings: Judging,
    design: Design,
    known_words: frozenset[str],
    language: Sequence[Reading] = (),
) -> Comparison:
    """Compare the arms `seed-N` with the reference. Other arms (controls, a champion) are each contrasted with it too.

    `known_words` is the vocabulary of the training texts, `language` how all arms read ordinary Portuguese. Raises
    UserError when an arm lacks an answer or a task has too few prompts.
    """
    reference = design.reference
    tuned = [f"seed-{seed}" for seed in design.seeds]
    arms = arms_of(answers)
    alike = equally_many(answers)
    rewards = prompt_means(answers, "reward")
    truths = prompt_means(answers, "truth")
    check_complete(rewards, list(dict.fromkeys([reference, *tuned, *arms])), prompts)
    _check_strata(prompts)
    shown = f"seed-{design.shown_seed if design.shown_seed is not None else design.seeds[0]}"
    others = [arm for arm in arms if arm not in (BASE, reference, *tuned)]
    values = {measure: prompt_values(answers, measure) for measure in MEASURES}
    corrected = settings.model_copy(update={"alpha": settings.alpha / design.looks})
    contrasts = _contrasts(values, prompts, corrected, reference, tuned, BASE in arms, [shown, *others])
    path = [BASE, reference] if BASE in arms and reference != BASE else [reference]
    known = [arm for arm in reversed(path) if not (arm == BASE and design.untrained_base)]
    forgotten = tuple(forgetting(language, arm, tuned) for arm in known) if language else ()
    candidate = _find(contrasts, shown, reference, settings.primary, "reward")
    beside = [c for c in contrasts if c.arm != TOGETHER and c.decoding == settings.primary and c != candidate]
    unmoved = tuple(f"seed-{seed}" for seed in design.unmoved)
    around = StudyContext(design.looks, design.planned, candidate, forgotten, unmoved, tuple(design.public))
    pairs = sorted(_pairs(answers, prompts, reference, shown), key=lambda pair: (pair.change, pair.prompt_id))
    present = by_task(prompts, rewards[reference, settings.primary])
    return Comparison(
        schema_version=SCHEMA_VERSION,
        reference=reference,
        shown_arm=shown,
        seeds=tuple(design.seeds),
        primary=settings.primary,
        alpha=settings.alpha,
        prompts=len(prompts),
        means=_means(rewards, prompts, tuned, arms),
        truths=_means(truths, prompts, tuned, arms),
        contrasts=contrasts,
        headroom=_headroom(alike, prompts, reference),
        texts=_texts([answer for answer in alike if answer.decoding == settings.primary], tuned, arms, known_words),
        points=_points(rewards, prompts, settings.primary, reference, tuned),
        samples=_spread(pairs),
        wins=tuple(pair for pair in pairs[: -EXTREMES - 1 : -1] if pair.change > 0),
        drops=tuple(pair for pair in pairs[:EXTREMES] if pair.change < 0),
        verdict=verdict_of(contrasts, settings, reference, around, beside),
        decomposition=decompose(answers, present, settings.primary, path, tuned, clusters_of(prompts)),
        language=forgotten,
        looks=design.looks,
        planned=design.planned,
    )


def _check_strata(prompts: Sequence[Prompt]) -> None:
    for task, ids in by_task(prompts, {prompt.id: 0.0 for prompt in prompts}).items():
        if len(ids) < SMALLEST_STRATUM:
            raise UserError(
                f"task {task} has {len(ids)} test prompts and needs {SMALLEST_STRATUM}; raise data.test_prompts or drop"
                " the task"
            )


Means = Mapping[tuple[str, Decoding], Mapping[str, float]]


def _contrasts(
    values: Mapping[Measure, Mapping[tuple[str, Decoding], Values]],
    prompts: Sequence[Prompt],
    settings: Judging,
    reference: str,
    tuned: Sequence[str],
    with_base: bool,
    others: Sequence[str],
) -> tuple[Contrast, ...]:
    """Primary first: seeds against reference, then against base, then truth, then other arms; then the same in the
    other decoding.

    `others` are the candidate, alone, and arms such as controls or a champion.
    """
    found: list[Contrast] = []
    clusters = clusters_of(prompts)

    def add(measure: Measure, decoding: Decoding, arm: str, members: Sequence[str], below: str) -> None:
        known = values[measure]
        if tasks := by_task(prompts, known[below, decoding], SMALLEST_STRATUM):
            above = {member: known[member, decoding] for member in members}
            reference_values = known[below, decoding]
            if arm in tuned:
                reference_values = share(reference_values, {seed: known[seed, decoding] for seed in tuned}, arm)
            strata = Strata(tasks, clusters)
            found.append(contrast(arm, above, (below, reference_values), strata, settings.alpha, decoding, measure))

    for decoding in sorted(DECODINGS, key=lambda name: name != settings.primary):
        add("reward", decoding, TOGETHER, tuned, reference)
        if with_base and reference != BASE:
            add("reward", decoding, TOGETHER, tuned, BASE)
            add("truth", decoding, TOGETHER, tuned, BASE)
        add("truth", decoding, TOGETHER, tuned, reference)
        for other in others:
            add("reward", decoding, other, [other], reference)
    return tuple(found)


def _find(
    contrasts: Sequence[Contrast], arm: str, reference: str, decoding: Decoding, measure: Measure
) -> Contrast | None:
    wanted = (arm, reference, decoding, measure)
    return next((c for c in contrasts if (c.arm, c.reference, c.decoding, c.measure) == wanted), None)


def verdict_of(
    contrasts: Sequence[Contrast],
    settings: Judging,
    reference: str,
    around: StudyContext,
    beside: Sequence[Contrast] = (),
) -> Verdict:
    """Of contrasts whose first is the primary one; `beside` are those of other arms."""
    return judge(
        contrasts[0],
        settings,
        base=_find(contrasts, TOGETHER, BASE, settings.primary, "reward") if reference != BASE else None,
        truth=_find(contrasts, TOGETHER, reference, settings.primary, "truth"),
        served=_find(contrasts, TOGETHER, reference, "served", "reward") if settings.primary != "served" else None,
        others=beside,
        around=around,
    )


def _means(
    means: Means, prompts: Sequence[Prompt], tuned: Sequence[str], arms: Sequence[str]
) -> dict[str, dict[str, dict[str, float]]]:
    result: dict[str, dict[str, dict[str, float]]] = {}
    for decoding in DECODINGS:
        rows = {arm: task_means(means[arm, decoding], prompts) for arm in arms}
        rows[TOGETHER] = {name: sum(rows[arm][name] for arm in tuned) / len(tuned) for name in rows[tuned[0]]}
        result[decoding] = rows
    return result


def task_means(values: Mapping[str, float], prompts: Sequence[Prompt]) -> dict[str, float]:
    """{task, or overall: mean of the values of its prompts}, of {prompt: value}."""
    groups = {"overall": list(values), **by_task(prompts, values)}
    return {name: sum(values[prompt] for prompt in ids) / len(ids) for name, ids in groups.items() if ids}


def _headroom(answers: Sequence[Answer], prompts: Sequence[Prompt], reference: str) -> dict[str, Headroom]:
    samples = prompt_values(answers, "reward")[reference, "sampled"]
    means = {prompt: sum(rewards) / len(rewards) for prompt, rewards in samples.items()}
    groups = {**by_task(prompts, means), "overall": list(means)}
    return {
        name: Headroom(
            mean=sum(means[prompt] for prompt in ids) / len(ids),
            best=sum(max(samples[prompt]) for prompt in ids) / len(ids),
            k=min(len(samples[prompt]) for prompt in ids),
        )
        for name, ids in groups.items()
    }


def _texts(
    answers: Sequence[Answer], tuned: Sequence[str], arms: Sequence[str], known_words: frozenset[str]
) -> dict[str, TextHealth]:
    """Health of every arm's answers; the seeds together have the mean of the seeds' numbers, so that text counts stay
    comparable.
    """
    texts = {arm: text_health([answer for answer in answers if answer.arm == arm], known_words) for arm in arms}
    rows = [asdict(texts[arm]) for arm in tuned]
    texts[TOGETHER] = TextHealth(**{name: sum(row[name] for row in rows) / len(rows) for name in rows[0]})
    return texts


def _points(
    rewards: Means, prompts: Sequence[Prompt], decoding: Decoding, reference: str, tuned: Sequence[str]
) -> tuple[Point, ...]:
    below = rewards[reference, decoding]
    above = [rewards[arm, decoding] for arm in tuned]
    return tuple(
        Point(prompt.id, prompt.task, below[prompt.id], sum(values[prompt.id] for values in above) / len(above))
        for prompt in prompts
    )


def _pairs(answers: Sequence[Answer], prompts: Sequence[Prompt], reference: str, shown: str) -> list[Pair]:
    first = {(a.arm, a.prompt_id): a for a in answers if a.decoding == "served" and a.sample == 0}
    return [
        Pair(
            prompt_id=prompt.id,
            task=prompt.task,
            user=prompt.user,
            before=before.completion,
            after=after.completion,
            reward_before=before.reward,
            reward_after=after.reward,
            gold=next(iter(right_answers(prompt)), ""),
            truth_before=before.truth,
            truth_after=after.truth,
            components_before=before.components,
            components_after=after.components,
        )
        for prompt in prompts
        for before, after in [(first[reference, prompt.id], first[shown, prompt.id])]
    ]


def _spread(pairs: Sequence[Pair]) -> tuple[Pair, ...]:
    """Ten of these ranked pairs that stand for all: tasks in turn, within a task at even distances from the largest
    drop to the largest gain.
    """
    tasks = [task for task in TASKS if any(pair.task == task for pair in pairs)]
    chosen: list[Pair] = []
    for place, task in enumerate(tasks):
        ranked = [pair for pair in pairs if pair.task == task]
        count = min(len(ranked), SAMPLES // len(tasks) + (place < SAMPLES % len(tasks)))
        chosen += [ranked[(2 * index + 1) * len(ranked) // (2 * count)] for index in range(count)]
    return tuple(chosen)
