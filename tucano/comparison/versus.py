"""Any two sides against each other over the same prompts: runs, configurations, adapters.

Side B takes the place that the SFT start has in a run's own comparison. Where both sides have the same three or more
seeds, the configuration claim is tested on the differences of equal seeds, so that a new seed is drawn for both;
otherwise several seeds against several cannot be told from luck, and it reads «not assessable». Prompts of one template
are taken together, as in a run's own comparison.
"""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace

from tucano.comparison.answers import DECODINGS, Answer, Decoding, prompt_means
from tucano.comparison.claims import StudyContext
from tucano.comparison.compare import TOGETHER, Comparison, Design, compare, verdict_of
from tucano.comparison.contrast import Contrast, clusters_of
from tucano.prompts import Prompt
from tucano.settings.comparison import Judging
from tucano.statistics import inference as statistics


@dataclass(frozen=True, slots=True)
class Side:
    """One side: its name, and every seed's answers (one seed for a single adapter)."""

    name: str
    answers: Mapping[int, Sequence[Answer]]


def versus(
    ours: Side,
    theirs: Side,
    prompts: Sequence[Prompt],
    settings: Judging,
    known_words: frozenset[str],
    shown_seed: int,
    looks: int = 1,
) -> Comparison:
    """The comparison of `ours` with `theirs`, who answered the same prompts. `shown_seed` gives the example texts,
    `looks` says how often these prompts have judged.
    """
    made = [replace(answer, arm=f"seed-{seed}") for seed, answers in ours.answers.items() for answer in answers]
    theirs = _in_the_order_of(ours, theirs)
    result = compare(
        [*made, *_pooled(theirs, {of for of in DECODINGS if _count(theirs, of) > _count(ours, of)})],
        prompts,
        settings,
        Design(theirs.name, list(ours.answers), shown_seed, looks),
        known_words,
    )
    if len(theirs.answers) == 1:
        return result
    shared = clusters_of(prompts)
    contrasts = tuple(_of_equal_seeds(contrast, ours, theirs, shared) for contrast in result.contrasts)
    verdict = verdict_of(contrasts, settings, theirs.name, StudyContext(looks))
    return replace(result, contrasts=contrasts, verdict=verdict)


def _count(side: Side, decoding: Decoding) -> int:
    return sum(answer.decoding == decoding for answers in side.answers.values() for answer in answers)


def _in_the_order_of(ours: Side, theirs: Side) -> Side:
    """Their seeds as ours stand, so that equal seeds are held against each other; the others behind them."""
    order = [seed for seed in ours.answers if seed in theirs.answers]
    order += [seed for seed in theirs.answers if seed not in ours.answers]
    return replace(theirs, answers={seed: theirs.answers[seed] for seed in order})


def _pooled(side: Side, in_turn: Container[Decoding]) -> list[Answer]:
    """The answers of all seeds as one arm's samples, one seed after another.

    Or, of the decodings `in_turn`, another seed first at each prompt: then the first answers, which are all that is
    held against a smaller side, are those of all seeds.
    """
    seeds = len(side.answers)
    order: dict[str, int] = {}
    found = []
    for place, answers in enumerate(side.answers.values()):
        for answer in answers:
            turn = (place - order.setdefault(answer.prompt_id, len(order))) % seeds
            sample = (
                answer.sample * seeds + turn if answer.decoding in in_turn else place * len(answers) + answer.sample
            )
            found.append(replace(answer, arm=side.name, sample=sample))
    return sorted(found, key=lambda answer: answer.sample)


def _of_equal_seeds(contrast: Contrast, ours: Side, theirs: Side, shared: Mapping[str, str]) -> Contrast:
    seeds = [seed for seed in ours.answers if seed in theirs.answers]
    whole = len(seeds) == len(ours.answers) == len(theirs.answers) >= statistics.SMALLEST_SEEDS
    if not whole or contrast.arm != TOGETHER:
        return replace(contrast, configuration=None, new_seed=None)
    differences = _differences(contrast, ours, theirs, seeds)
    table, clusters = list(differences.values()), [shared[prompt] for prompt in differences]
    return replace(
        contrast,
        configuration=statistics.two_way_t(table, clusters=clusters),
        new_seed=statistics.new_seed(table, clusters=clusters),
    )


def _differences(contrast: Contrast, ours: Side, theirs: Side, seeds: Sequence[int]) -> dict[str, list[float]]:
    """{prompt of the contrast: the differences between equal seeds}."""

    def means(side: Side, seed: int) -> Mapping[str, float]:
        answers = [replace(answer, arm="") for answer in side.answers[seed] if answer.task in contrast.tasks]
        return prompt_means(answers, contrast.measure)["", contrast.decoding]

    pairs = [(means(ours, seed), means(theirs, seed)) for seed in seeds]
    prompts = [prompt for prompt in pairs[0][0] if all(prompt in one and prompt in other for one, other in pairs)]
    return {prompt: [one[prompt] - other[prompt] for one, other in pairs] for prompt in prompts}
