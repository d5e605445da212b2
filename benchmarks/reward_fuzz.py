"""Score random, adversarial and real completions until something breaks: no exception, in [0, 1], finite, the same twice, fast.

Every completion is scored by all reward sets and by the ground truth, for one of the rated prompts or one made from the gold answer of
another. A twentieth of the work is done again in other processes, whose hashes have another seed. What took long is timed again alone,
three times, and the shortest time counts. Exits with 1 when a limit is broken.

    python benchmarks/reward_fuzz.py                          a million completions on all cores
    python benchmarks/reward_fuzz.py --count 20000 --seed 3   a quick look with other texts
"""

import argparse
import hashlib
import math
import multiprocessing
import os
import resource
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import get_args

from hostile import Texts

from rewards import RewardSet, load_reward_set, truth
from rewards.parsing import is_parsable
from rewards.sets import SetName
from rewards.sql import names, parse, run_query
from rewards.types import LONGEST
from tucano.evaluation.ratings import RatedAnswer, rating_store, read_ratings

RATINGS = Path(__file__).parents[1] / "data" / "ratings"
CHUNK = 500
AGAIN = 20
"""One chunk of so many is scored again in another process."""
SLOWEST_MS = 50.0
REFUSED_MS = 5.0
MOST_MB = 1024
KEPT = 5
"""Slow texts that a chunk reports per kind of row."""
PARSED_TASKS = ("extraction", "sql_qa")

Row = tuple[str, str, bool]
"""Reward set, task, and whether the guard refused the text."""


@dataclass(frozen=True, slots=True)
class Case:
    """A completion for a prompt; `prompt` counts within the rating set."""

    prompt: int
    text: str


@dataclass
class Found:
    """What a chunk of completions showed. `slow` holds (seconds, case) of the slowest per row; `sums` seconds and count per row."""

    number: int
    completions: int = 0
    digest: str = ""
    faults: list[str] = field(default_factory=list)
    slow: dict[Row, list[tuple[float, Case]]] = field(default_factory=dict)
    sums: dict[Row, tuple[float, int]] = field(default_factory=dict)
    megabytes: float = 0.0


class Scorer:
    """The rated prompts and all reward sets over their store; one per process."""

    def __init__(self, databases: Path) -> None:
        self.databases = databases
        self.rated = read_ratings(RATINGS)
        self.sets: dict[SetName, RewardSet] = {name: load_reward_set(name, databases) for name in get_args(SetName)}
        self.texts = Texts([answer.completion for answer in self.rated], [answer.prompt for answer in self.rated])

    def chunk(self, seed: int, number: int) -> Found:
        found = Found(number)
        digest = hashlib.sha256()
        for case in self.cases(seed, number):
            for cached in (parse, names, run_query):
                cached.cache_clear()
            for name in self.sets:
                digest.update(self.examine(name, case, found))
            found.completions += 1
        found.digest = digest.hexdigest()
        found.megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 * (1024 if sys.platform == "darwin" else 1))
        return found

    def cases(self, seed: int, number: int) -> Iterator[Case]:
        rng = Random(f"{seed}/{number}")
        for _ in range(CHUNK):
            prompt = rng.randrange(len(self.rated))
            yield Case(prompt, self.texts.draw(rng, self.rated[prompt].prompt))

    def examine(self, name: SetName, case: Case, found: Found) -> bytes:
        """Scores one completion twice, notes what is wrong with it and how long it took, and gives what must be the same anywhere."""
        prompt = self.rated[case.prompt].prompt
        try:
            started = time.thread_time()
            score = self.sets[name].score(prompt, case.text)
            seconds = time.thread_time() - started
            values = (score.total, *score.components.values())
            again = self.sets[name].score(prompt, case.text)
            metric = truth(prompt, case.text, self.databases) if name == "grounded" else None
        except Exception as error:  # noqa: BLE001  the question here is whether anything at all is raised
            found.faults.append(f"{name} {prompt.task}: {type(error).__name__}: {error} on {case.text[:200]!r}")
            return b"fault"
        if again != score or not all(map(math.isfinite, values)) or not 0 <= score.total <= 1 or not 0 <= (metric or 0) <= 1:
            found.faults.append(f"{name} {prompt.task}: {score} then {again}, truth {metric} on {case.text[:200]!r}")
        self.note((name, prompt.task, is_refused(prompt.task, case.text)), seconds, case, found)
        return repr((values, metric)).encode()

    @staticmethod
    def note(row: Row, seconds: float, case: Case, found: Found) -> None:
        total, count = found.sums.get(row, (0.0, 0))
        found.sums[row] = (total + seconds, count + 1)
        kept = found.slow.setdefault(row, [])
        kept.append((seconds, case))
        kept.sort(key=lambda pair: -pair[0])
        del kept[KEPT:]

    def retime(self, row: Row, case: Case) -> float:
        """The shortest of three times, each with empty caches."""
        times = []
        for _ in range(3):
            for cached in (parse, names, run_query):
                cached.cache_clear()
            started = time.thread_time()
            self.sets[row[0]].score(self.rated[case.prompt].prompt, case.text)  # type: ignore[index]
            times.append(time.thread_time() - started)
        return min(times)


def is_refused(task: str, text: str) -> bool:
    """Whether the linear guard turns a text away: too long for all tasks, too many brackets where something is parsed."""
    return len(text) > LONGEST or (task in PARSED_TASKS and not is_parsable(text))


_scorer: Scorer


def start(databases: Path) -> None:
    global _scorer
    os.nice(0)
    _scorer = Scorer(databases)


def work(seed: int, number: int) -> Found:
    return _scorer.chunk(seed, number)
