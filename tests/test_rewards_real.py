"""Prompts of all sources, real reviews among them: the classifier knows their task, and answers to them score without a
fault.
"""

import json
import math
import os
import re
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from random import Random
from typing import get_args

import pytest

from data.prepare import OF_FILES
from data.sources.synthetic import SyntheticSource
from rewards import classify_task, load_reward_set
from rewards.names import REPORTED as TASKS
from rewards.sets import SetName
from tucano.prompts import Prompt, Task
from tucano.specs.banks import Pool
from tucano.truth import truth

REAL = Path(os.environ.get("TUCANO_REAL_DATA", Path(__file__).parents[1] / "../shared/data"))
needs_real_data = pytest.mark.skipif(
    not REAL.is_dir(), reason="real reviews are not in the repository; name their folder in TUCANO_REAL_DATA"
)
SOURCES = ["synthetic", *(pytest.param(name, marks=needs_real_data) for name in ("olist", "b2w"))]
GENERATED = 300
"""Prompts of a task that is generated without end, per pool; of a finite one all are taken."""


def prompts(source: str, folder: Path, tasks: tuple[Task, ...]) -> Iterator[Prompt]:
    made = SyntheticSource(folder, 7) if source == "synthetic" else OF_FILES[source](REAL / source, folder, 7)
    with closing(made) as opened:
        for task in tasks:
            size = opened.available(task)
            for pool in get_args(Pool):
                yield from islice(
                    opened.prompts(task, pool, Random(f"{source}/{task}/{pool}")),
                    GENERATED if size is None else size // 3 + 1,
                )


@pytest.mark.parametrize("source", SOURCES)
def test_the_classifier_agrees_with_every_label(source: str, tmp_path: Path) -> None:
    found = list(prompts(source, tmp_path, TASKS))
    assert len(found) >= 2 * 3 * GENERATED and {prompt.task for prompt in found} == set(TASKS)
    assert [prompt.user for prompt in found if classify_task(prompt.user) != prompt.task] == []


def answers(prompt: Prompt) -> list[str]:
    """The truth that is known, in JSON and with Portuguese decimals; the review itself; and the review inside of JSON,
    whole and cut.
    """
    known = json.dumps(prompt.reference["fields"] | {"summary": prompt.user}, ensure_ascii=False)
    return [
        known,
        known.replace(": 3", ": 3,5"),
        known[:-5],
        known.replace('"', "'"),
        prompt.user,
        f"Segue:\n{known}\n{prompt.user}",
    ]


def summaries(prompt: Prompt) -> list[str]:
    """A sentence for each word of the prompt; one of them has to be about what its review says."""
    return [f"O cliente fala sobre {word.lower()}." for word in re.findall(r"[^\W\d_]{4,}", prompt.user)]


def truth_with(prompt: Prompt) -> Callable[[str], float]:
    """The truth of an answer that is right in all that is known, by its summary."""
    known = prompt.reference["fields"]
    return lambda summary: truth(prompt, json.dumps(known | {"summary": summary})) or 0.0


@needs_real_data
@pytest.mark.parametrize(("source", "reviews"), [("olist", 500), ("b2w", 100)])
def test_answers_to_real_reviews_score_without_a_fault(source: str, reviews: int, tmp_path: Path) -> None:
    asked = list(islice(prompts(source, tmp_path, ("extraction",)), reviews))
    assert len(asked) >= 0.95 * reviews  # some of B2W's have no letters, or stand there twice
    for name in get_args(SetName):
        reward = load_reward_set(name, tmp_path)
        for prompt in asked:
            scores = [reward.score(prompt, answer) for answer in answers(prompt)]
            assert all(0 <= score.total <= 1 and all(map(math.isfinite, score.components.values())) for score in scores)
            assert [reward.score(prompt, answer) for answer in answers(prompt)] == scores
    assert [prompt.user for prompt in asked if max(map(truth_with(prompt), summaries(prompt))) < 0.5] == []
