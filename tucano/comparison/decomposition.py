"""Where a gain comes from: the parser that reads answers, supervised tuning, or reinforcement.

A gain that comes from a better parser is no learning: the predecessor's largest «gain» was one. So the first step is
the same answers of the same model, read strictly (an extraction counts only if the whole answer is one object by the
table of docs/rewards.md) and read as they are scored.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from rewards.parsing import objects
from rewards.parsing.text import readable
from tucano.comparison.answers import Answer, Decoding, prompt_means
from tucano.specs.registry import spec_of
from tucano.statistics.inference import mean_t


@dataclass(frozen=True, slots=True)
class Step:
    """One step on the way from the base to the trained adapters: mean reward before and after, gain with 95 % t
    interval.
    """

    name: str
    before: float
    after: float
    gain: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Decomposition:
    """`steps`: {"overall" or task: in order} with gains that add up."""

    steps: dict[str, tuple[Step, ...]]


def is_strict(answer: Answer) -> bool:
    """Whether an answer can be used without repair: any text, or what is one object by the table of docs/rewards.md
    where the task asks for one.
    """
    return not spec_of(answer.task).fields or objects.is_strict(readable(answer.completion))


def decompose(
    answers: Sequence[Answer],
    tasks: Mapping[str, Sequence[str]],
    decoding: Decoding,
    path: Sequence[str],
    tuned: Sequence[str],
    clusters: Mapping[str, str],
) -> Decomposition:
    """`path`: the arms before training, in order (base, sft; or base alone); `tuned`: the seeds. `tasks`: {task: prompt
    ids}; `clusters`: {prompt id: what it shares with others}, which overall are taken together as in the verdict.
    """
    mine = [answer for answer in answers if answer.decoding == decoding]
    strictly = [
        answer if is_strict(answer) else replace(answer, reward=0.0) for answer in mine if answer.arm == path[0]
    ]
    means = {arm: values for (arm, _), values in prompt_means(mine, "reward").items()}
    stations = [("read strictly", prompt_means(strictly, "reward")[path[0], decoding])]
    stations += [(name, means[arm]) for name, arm in zip(("parser", "sft"), path, strict=False)]
    ids = [prompt for prompts in tasks.values() for prompt in prompts]
    together = {prompt: float(np.mean([means[arm][prompt] for arm in tuned])) for prompt in ids}
    stations.append(("grpo", together))
    groups = {**tasks, "overall": ids}
    return Decomposition(
        {
            group: tuple(
                _step(name, before, after, prompts, clusters if group == "overall" else None)
                for (_, before), (name, after) in pairwise(stations)
            )
            for group, prompts in groups.items()
        }
    )


def _step(
    name: str,
    before: Mapping[str, float],
    after: Mapping[str, float],
    prompts: Sequence[str],
    clusters: Mapping[str, str] | None,
) -> Step:
    shared = [clusters[prompt] for prompt in prompts] if clusters else None
    gain = mean_t(np.array([after[prompt] - before[prompt] for prompt in prompts]), shared)
    start = float(np.mean([before[prompt] for prompt in prompts]))
    return Step(name, start, start + gain.mean, gain.mean, gain.low, gain.high)
