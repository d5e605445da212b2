"""Score random, adversarial and real completions until something breaks: no exception, in [0, 1], finite, the same
twice, fast.

Every completion is scored by `v4.2`, `grounded` and one of the controls, twice, and by the ground truth, for one of the
rated prompts with or without its reference. A twentieth of the work is done again in another process, whose hashes have
another seed. What took longer than its limit is timed again alone, three times, and the shortest time counts. Exits
with 1 when a limit is broken.

    python -m benchmarks.reward_fuzz                          a million completions on all cores
    python -m benchmarks.reward_fuzz --count 20000 --seed 3   a quick look with other texts
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
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

from benchmarks.hostile import Texts
from benchmarks.reward_speed import forget
from rewards import RewardSet, load_reward_set
from rewards.parsing.objects import is_parsable
from rewards.parsing.sql import is_ordered, names
from rewards.parsing.sql_results import gold_result
from rewards.parsing.text import readable
from rewards.sets import SetName
from tucano.prompts import Prompt
from tucano.rating.ratings import read_ratings
from tucano.rating.store import rating_store
from tucano.truth import truth

RATINGS = Path(__file__).parents[1] / "data" / "ratings"
ALWAYS: tuple[SetName, ...] = ("v4.2", "grounded")
CONTROLS: tuple[SetName, ...] = ("controls.format", "controls.random")
CHUNK = 500
AGAIN = 20
"""One chunk of so many is scored again in another process."""
SLOWEST_MS = {False: 50.0, True: 5.0}
"""Longest time for what is read, and for what the guard refuses."""
MOST_MB = 1024
PARSED_TASKS = ("extraction", "sql_qa")

Row = tuple[SetName, str, bool]
"""Reward set, task, and whether the guard refused the text."""


@dataclass(frozen=True, slots=True)
class Case:
    prompt: Prompt
    text: str


@dataclass(slots=True)
class Times:
    """Of one row: seconds in all, how many, the slowest, and all that broke their limit."""

    seconds: float = 0.0
    count: int = 0
    slowest: float = 0.0
    slow: list[Case] = field(default_factory=list)

    def add(self, other: "Times") -> None:
        self.seconds += other.seconds
        self.count += other.count
        self.slowest = max(self.slowest, other.slowest)
        self.slow += other.slow


@dataclass
class Found:
    """What a chunk of completions showed; `digest` is of all scores."""

    number: int
    digest: str = ""
    faults: list[str] = field(default_factory=list)
    rows: dict[Row, Times] = field(default_factory=dict)
    megabytes: float = 0.0

    def note(self, row: Row, seconds: float, case: Case) -> None:
        slow = [case] if seconds * 1e3 > SLOWEST_MS[row[2]] else []
        self.rows.setdefault(row, Times()).add(Times(seconds, 1, seconds, slow))


class Scorer:
    """The rated prompts and all reward sets over their store; one per process."""

    def __init__(self, databases: Path) -> None:
        rated = read_ratings(RATINGS)
        self.prompts = [answer.prompt for answer in rated]
        self.databases = databases
        self.sets: dict[SetName, RewardSet] = {name: load_reward_set(name, databases) for name in (*ALWAYS, *CONTROLS)}
        self.texts = Texts([answer.completion for answer in rated], [prompt.user for prompt in self.prompts])

    def chunk(self, seed: int, number: int) -> Found:
        found = Found(number)
        digest = hashlib.sha256()
        for place, case in enumerate(self.cases(seed, number)):
            for name in (*ALWAYS, CONTROLS[place % 2]):
                digest.update(self.examine(name, case, found))
        found.digest = digest.hexdigest()
        found.megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (
            1024 * (1024 if sys.platform == "darwin" else 1)
        )
        return found

    def cases(self, seed: int, number: int) -> Iterator[Case]:
        rng = Random(f"{seed}/{number}")
        for _ in range(CHUNK):
            prompt = rng.choice(self.prompts)
            yield Case(prompt if rng.random() < 0.9 else replace(prompt, reference={}), self.texts.draw(rng))

    def examine(self, name: SetName, case: Case, found: Found) -> bytes:
        """Scores one completion twice, notes what is wrong with it and how long it took, and gives what must be the
        same anywhere.
        """
        prompt = case.prompt
        try:
            started = time.thread_time()
            score = self.sets[name].score(prompt, case.text)
            seconds = time.thread_time() - started
            again = self.sets[name].score(prompt, case.text)
            metric = truth(prompt, case.text, self.databases) if name == "grounded" else None
        except Exception as error:  # whether anything at all is raised is the question
            found.faults.append(f"{name} {prompt.task}: {type(error).__name__}: {error} on {case.text[:200]!r}")
            return b"fault"
        finite = all(map(math.isfinite, score.components.values()))
        if again != score or not finite or not 0 <= score.total <= 1 or not 0 <= (metric or 0) <= 1:
            found.faults.append(f"{name} {prompt.task}: {score} then {again}, truth {metric} on {case.text[:200]!r}")
        found.note((name, prompt.task, is_refused(prompt.task, case.text)), seconds, case)
        return repr((score, metric)).encode()

    def retime(self, name: SetName, case: Case) -> float:
        """The shortest of three times, each with empty caches but for the gold query's, which a prompt's other
        completions share.
        """
        times = []
        for _ in range(3):
            forget()
            if sql := case.prompt.reference.get("sql"):
                names(sql)
                is_ordered(sql)
                gold_result(self.databases / case.prompt.reference["database"], sql)
            started = time.thread_time()
            self.sets[name].score(case.prompt, case.text)
            times.append(time.thread_time() - started)
        return min(times)


def is_refused(task: str, text: str) -> bool:
    """Whether the guard turns a text away: too long or piled marks for all tasks, too many brackets where something is
    parsed.
    """
    return bool(text) and (not readable(text) or (task in PARSED_TASKS and not is_parsable(text)))


_scorer: Scorer


def start(databases: Path) -> None:
    global _scorer
    _scorer = Scorer(databases)


def work(seed: int, number: int) -> Found:
    return _scorer.chunk(seed, number)


def search(databases: Path, seed: int, chunks: int) -> Found:
    """All chunks on all cores, and some of them again; the faults of both."""
    total = Found(-1)
    context = multiprocessing.get_context("spawn")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    with (
        ProcessPoolExecutor(cores, context, start, (databases,)) as pool,
        ProcessPoolExecutor(1, context, start, (databases,)) as other,
    ):
        repeated = {number: other.submit(work, seed, number) for number in range(0, chunks, AGAIN)}
        for done, future in enumerate(
            as_completed([pool.submit(work, seed, number) for number in range(chunks)]), start=1
        ):
            found = future.result()
            if found.number in repeated and repeated[found.number].result().digest != found.digest:
                total.faults.append(f"chunk {found.number} of seed {seed} scores differently in another process")
            total.faults += found.faults
            total.megabytes = max(total.megabytes, found.megabytes)
            for row, times in found.rows.items():
                total.rows.setdefault(row, Times()).add(times)
            if done % max(1, chunks // 20) == 0:
                print(f"{done * CHUNK:,} of {chunks * CHUNK:,}", file=sys.stderr, flush=True)
    return total


def table(found: Found, scorer: Scorer) -> list[str]:
    """One line per row; what broke its limit is timed again and is a fault if it does so again."""
    lines = ["| set | task | texts | scores | mean µs | slowest ms |", "|---|---|---|---:|---:|---:|"]
    for row, times in sorted(found.rows.items()):
        name, task, refused = row
        slowest = times.slowest
        if times.slow:
            again = [(scorer.retime(name, case), case) for case in times.slow]
            slowest, worst = max(again, key=lambda pair: pair[0])
            if slowest * 1e3 > SLOWEST_MS[refused]:
                found.faults.append(
                    f"{name} {task}: {slowest * 1e3:.1f} ms for {len(worst.text)} characters {worst.text[:200]!r}"
                )
        texts = "refused" if refused else "read"
        mean = times.seconds / times.count * 1e6
        lines.append(f"| {name} | {task} | {texts} | {times.count:,} | {mean:,.0f} | {max(slowest * 1e3, 0.1):.1f} |")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1_000_000, help=f"completions, rounded up to {CHUNK}")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    started = time.monotonic()
    chunks = math.ceil(arguments.count / CHUNK)
    with rating_store(RATINGS) as databases:
        found = search(databases, arguments.seed, chunks)
        print("\n".join(table(found, Scorer(databases))))
    if found.megabytes > MOST_MB:
        found.faults.append(f"a process needed {found.megabytes:.0f} MB")
    scores = sum(times.count for times in found.rows.values())
    print(
        f"\n{chunks * CHUNK:,} completions, {scores:,} scores, each twice; {found.megabytes:.0f} MB;"
        f" {time.monotonic() - started:.0f} s"
    )
    print(f"{len(found.faults)} faults", *found.faults[:20], sep="\n- ")
    return 1 if found.faults else 0


if __name__ == "__main__":
    sys.exit(main())
