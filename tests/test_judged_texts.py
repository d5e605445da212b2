"""Texts that tried to mislead reward or truth, and good answers that either had failed once: how many still do.

`judged_texts.jsonl.xz` holds a prompt a line, with [want, author, about, text] of each text: what it deserves (bad: at most
.3, good: at least .6), who wrote it against whom, and what of. Each stands for a kind; a judge may miss a few, so that
no text has to have a pattern of its own.
"""

import json
import lzma
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from rewards_examples import write_store
from scipy.stats import mannwhitneyu

from benchmarks.truth_search import Judge, judge
from rewards.names import REPORTED
from tucano.project import COMMITTED_RATINGS
from tucano.prompts import Prompt, Task
from tucano.rating.store import rating_store

TEXTS = Path(__file__).parent / "judged_texts.jsonl.xz"
LOW, HIGH = 0.3, 0.6
MOST_MISSED = 0.12
"""Share of the texts of a task that the reward may take for the other kind."""
LEAST_ORDER = {"extraction": 0.90, "sql_qa": 0.88, "insights": 0.80, "push": 0.80}
"""The probability that a good text of the task is worth more than a bad one by the truth, which knows no meaning."""


@pytest.fixture(scope="module")
def judges(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Judge]:
    databases = write_store(tmp_path_factory.mktemp("stores"))
    with rating_store(COMMITTED_RATINGS) as rated:
        for store in rated.iterdir():
            shutil.copy(store, databases)
    return {name: judge(name, databases) for name in ("truth", "grounded")}


def judged(task: Task, want: str) -> Iterator[tuple[Prompt, str, str]]:
    """(prompt, author and matter, text)."""
    for line in lzma.decompress(TEXTS.read_bytes()).decode("utf-8").splitlines():
        found = json.loads(line)
        prompt = Prompt(
            "judged", found["task"], found["user"], "", "synthetic", "CC0-1.0", found["stars"], found["reference"]
        )
        for wanted, author, about, text in found["texts"] if found["task"] == task else ():
            if wanted == want:
                yield prompt, f"{author}: {about}", text


@pytest.mark.parametrize("want", ["bad", "good"])
@pytest.mark.parametrize("task", REPORTED)
def test_few_texts_mislead_the_reward(judges: dict[str, Judge], task: Task, want: str) -> None:
    texts = list(judged(task, want))
    scores = [judges["grounded"](prompt, text) for prompt, _, text in texts]
    missed = [score > LOW if want == "bad" else score < HIGH for score in scores]
    shown = [
        f"{score:.2f} {told} | {text[:200]}"
        for score, is_missed, (_, told, text) in zip(scores, missed, texts, strict=True)
        if is_missed
    ]
    assert len(texts) >= 80
    assert sum(missed) <= MOST_MISSED * len(texts), f"{sum(missed)} of {len(texts)}\n" + "\n".join(shown)


@pytest.mark.parametrize("task", REPORTED)
def test_the_truth_ranks_good_texts_above_bad_ones(judges: dict[str, Judge], task: Task) -> None:
    good, bad = ([judges["truth"](prompt, text) for prompt, _, text in judged(task, want)] for want in ("good", "bad"))
    order = mannwhitneyu(good, bad).statistic / (len(good) * len(bad))
    assert order >= LEAST_ORDER[task]
