"""The truth against what people and the generator hold for good or bad: rated answers, gold demonstrations, shuffled
words, and answers of somebody who sees a prompt's frame and does not read it."""

import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest

from data.prepare import open_source, prepare
from tucano.prompts import TASKS, Prompt, Task, read_prompts
from tucano.rating.ratings import RatedAnswer, read_ratings
from tucano.rating.store import rating_store
from tucano.settings import DataSettings
from tucano.truth import truth
from tucano.truth.tasks.extraction import LABELLED
from tucano.truth.tasks.push import FLAT
from tucano.truth.wording.sql_meant import NAMELESS
from tucano.truth.wording.substance import LISTED

RATINGS = Path(__file__).parents[1] / "data" / "ratings"
REAL = Path(os.environ.get("TUCANO_REAL_DATA", Path(__file__).parents[1] / "../shared/data"))
needs_real_data = pytest.mark.skipif(
    not REAL.is_dir(), reason="real reviews are not in the repository; name their folder in TUCANO_REAL_DATA"
)
SOURCES = ["synthetic", *(pytest.param(name, marks=needs_real_data) for name in ("olist", "b2w"))]
GOOD, LOW = 0.85, 0.30
BLEMISH = {"extraction": LABELLED, "sql_qa": NAMELESS, "insights": LISTED, "push": FLAT}
"""What the generator's answers have each: a summary that only labels, a sum without a name, figures that are listed, and
words that one says of any product."""
PROSE: tuple[Task, ...] = ("sql_qa", "insights", "push")


@pytest.fixture(scope="module")
def rated() -> dict[str, list[tuple[RatedAnswer, float]]]:
    """Per task the rated answers with their truth."""
    found = defaultdict(list)
    with rating_store(RATINGS) as databases:
        for answer in read_ratings(RATINGS):
            value = truth(answer.prompt, answer.completion, databases)
            assert value is not None
            found[answer.prompt.task].append((answer, value))
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Gold demonstrations of all tasks."""
    folder = tmp_path_factory.mktemp("gold")
    mix: dict[Task, float] = dict.fromkeys(TASKS, 1 / len(TASKS))
    plan = DataSettings(mix=mix, defect_share=0, train_prompts=90, demonstrations=100 * len(TASKS))
    prepare(plan, 3, TASKS, folder)
    return folder


def gold(folder: Path, task: Task) -> list[tuple[Prompt, str]]:
    prompts = [*read_prompts(folder / "demonstrations.jsonl")]
    return [(prompt, prompt.demonstration) for prompt in prompts if prompt.task == task and prompt.demonstration]


@pytest.mark.parametrize("task", TASKS)
def test_answers_rated_5_are_true(rated: dict[str, list[tuple[RatedAnswer, float]]], task: Task) -> None:
    found = [value for answer, value in rated[task] if answer.rating == 5]
    if not rated[task]:
        pytest.skip(f"nobody has rated answers of {task} yet")
    print(f"{task}: {sum(value < GOOD for value in found)} of {len(found)} answers rated 5 are below {GOOD}")
    assert sum(found) / len(found) >= (0.95 if task == "insights" else GOOD)
    assert sum(value < GOOD for value in found) <= 1


@pytest.mark.parametrize("task", TASKS)
def test_answers_rated_1_or_2_are_not(rated: dict[str, list[tuple[RatedAnswer, float]]], task: Task) -> None:
    above = [answer.completion for answer, value in rated[task] if answer.rating <= 2 and value > LOW]
    assert len(above) <= (task == "sql_qa"), above  # one wrong query gives the right count on this store


@pytest.mark.parametrize("task", TASKS)
def test_gold_demonstrations_are_true(folder: Path, task: Task) -> None:
    found = [truth(prompt, answer, folder) or 0.0 for prompt, answer in gold(folder, task)]
    print(f"{task}: {sum(value < GOOD for value in found)} of {len(found)} gold answers are below {GOOD}")
    least = BLEMISH.get(task, 1.0) - 0.01
    assert len(found) >= 90 and sum(found) / len(found) >= least and sum(value < GOOD for value in found) <= 1


@pytest.mark.parametrize("task", PROSE)
def test_shuffled_words_lose_more_than_half(folder: Path, task: Task) -> None:
    before = after = kept = 0.0
    answers = gold(folder, task)
    for number, (prompt, answer) in enumerate(answers):
        words = answer.split()
        Random(number).shuffle(words)
        whole, mixed = truth(prompt, answer, folder) or 0.0, truth(prompt, " ".join(words), folder) or 0.0
        before, after, kept = before + whole, after + mixed, kept + (mixed > whole / 2)
    assert after <= 0.1 * before and kept <= 0.02 * len(answers)


@pytest.mark.parametrize("task", PROSE)
def test_shuffled_words_of_rated_answers_lose_more_than_half(
    rated: dict[str, list[tuple[RatedAnswer, float]]], task: Task
) -> None:
    kept = tried = 0
    with rating_store(RATINGS) as databases:
        for number, (answer, value) in enumerate(rated[task]):
            if answer.rating == 5:
                for turn in range(5):
                    words = answer.completion.split()
                    Random(f"{number}/{turn}").shuffle(words)
                    kept += (truth(answer.prompt, " ".join(words), databases) or 0.0) > value / 2
                    tried += 1
    print(f"{task}: {kept} of {tried} shuffled answers keep more than half")
    assert kept <= 0.05 * tried


# Without reading


def frame(prompt: Prompt) -> tuple[int | None, str | None]:
    """The stars and the category that a prompt states around the review."""
    stars = re.search(r"nota (\d)", prompt.user)
    category = prompt.reference["fields"].get("category")
    return int(stars[1]) if stars else None, category if stars and category and category in prompt.user else None


def usual(prompts: Sequence[Prompt]) -> dict[tuple[int | None, str], Any]:
    """The most frequent value of each field, by the stars that the frame states."""
    seen: dict[tuple[int | None, str], Counter[str]] = defaultdict(Counter)
    for prompt in prompts:
        for name, value in prompt.reference["fields"].items():
            seen[frame(prompt)[0], name][json.dumps(value)] += 1
    return {key: json.loads(values.most_common(1)[0][0]) for key, values in seen.items()}


def unread(prompt: Prompt, known: dict[tuple[int | None, str], Any], summary: str) -> str:
    stars, category = frame(prompt)
    fields = {name: value for (of, name), value in known.items() if of == stars}
    said = {"sentiment_score": stars} if stars else {}
    return json.dumps(fields | said | ({"category": category} if category else {}) | {"summary": summary})


def reviews(source: str, folder: Path) -> Iterator[Prompt]:
    path = None if source == "synthetic" else str(REAL / source)
    plan = DataSettings.model_validate({"source": source, "path": path})
    with closing(open_source(plan.source, path, 7, folder)) as opened:
        yield from islice(opened.prompts("extraction", "known", Random(3)), 500)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(
    "summary", ["Cliente avaliou a compra.", "O cliente fala do produto, da entrega, da cor, do preço e da troca."]
)
def test_the_frame_alone_earns_little(source: str, summary: str, tmp_path: Path) -> None:
    prompts = list(reviews(source, tmp_path))
    known = usual(prompts)
    found = [truth(prompt, unread(prompt, known, summary)) or 0.0 for prompt in prompts]
    assert len(found) >= 90 and sum(found) / len(found) <= 0.45


@pytest.mark.parametrize("source", SOURCES)
def test_half_of_the_reviews_are_shown_without_stars_and_category(source: str, tmp_path: Path) -> None:
    told = [frame(prompt)[0] is not None for prompt in reviews(source, tmp_path)]
    assert abs(sum(told) / len(told) - 0.5) <= 3 * (0.25 / len(told)) ** 0.5
