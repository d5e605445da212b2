"""Prompts that somebody else owns, from JSONL, CSV or Parquet: each is used once, with the truth that its owner gives.

What the file has no worked answers for is demonstrated by generated prompts. `data.own` reads the rows.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from random import Random

from scipy.cluster.hierarchy import DisjointSet

from data.own.prompts import read_own
from data.own.reading import PATTERNS
from data.reading.findings import UNREADABLE as KIND
from data.sources import Demonstration
from data.sources.synthetic import SyntheticSource
from rewards.parsing.sql_results import gold_result, stores
from tucano.errors import UserError
from tucano.files.prompts import STORE
from tucano.prompts import Prompt, Task
from tucano.settings.data import UNREADABLE, Style
from tucano.specs.banks import JOINT, Pool

SHARE_DEMONSTRATED = 0.5
"""Of a task's prompts at most so many become demonstrations: the others are trained on by reinforcement."""
FEWEST_GROUPS = 3
"""One for training, one for validation, one for the test."""
MOST_ASKED = 1000


@dataclass
class Group:
    """Prompts that share parts of templates, and which set has them."""

    prompts: list[Prompt]
    pool: Pool | None = None


class OwnSource(SyntheticSource):
    """A group of templates belongs to the first set that takes one of its prompts, and to no other."""

    name = "jsonl"
    files = PATTERNS

    def __init__(
        self, path: Path, folder: Path, seed: int, style: Style = "plain", most_bad: float = UNREADABLE
    ) -> None:
        own = read_own(path)
        own.bad.require_few(KIND, own.rows, most_bad, path)
        super().__init__(folder, seed, style)
        self.masked = own.masked
        self.bad_rows = [line.strip() for line in own.bad.lines()]
        usable = [prompt for prompt in own.prompts if _runs(prompt, folder)]
        self.warnings = _warnings(path, own.rows, own.bad.counts, len(own.prompts) - len(usable))
        if not usable:
            raise UserError(f"{path} has no usable prompt; `tucano data check {path}` says why")
        self._count = Counter(prompt.task for prompt in usable)
        self._demonstrated: Counter[Task] = Counter()
        self._groups = {task: groups_of([p for p in usable if p.task == task], seed) for task in self._count}
        self._path = path

    def available(self, task: Task) -> int | None:
        """UserError for a task with too few groups: only what is asked for needs them, not every stray row."""
        groups = len(self._groups.get(task, ()))
        if 0 < groups < FEWEST_GROUPS:
            raise UserError(
                f"{self._path}: the {self._count[task]} prompts of {task} make {groups} groups by their templates,"
                f" and {FEWEST_GROUPS} are needed to keep the sets apart; name more, leave `template` out, or take"
                f" {task} out of data.mix"
            )
        return self._count[task]

    def demonstrates(self, task: Task) -> bool:
        return bool(self._count[task]) and super().demonstrates(task)

    def prompts(self, task: Task, pool: Pool, rng: Random) -> Iterator[Prompt]:
        return (replace(prompt, demonstration=None) for prompt in self._offers(task, pool))

    def demonstrations(self, task: Task, defect_share: float, rng: Random) -> Iterator[Demonstration]:
        """The file's own, then generated ones."""
        most = int(self._count[task] * SHARE_DEMONSTRATED)
        for prompt in self._offers(task, "known", worked=True):
            if self._demonstrated[task] < most:
                self._demonstrated[task] += 1
                yield Demonstration(prompt, ())
        yield from super().demonstrations(task, defect_share, rng)

    def fresh(self, task: Task, rng: Random) -> Iterator[Prompt]:
        """Own prompts whose truth is known, then generated ones."""
        own = (prompt for prompt in self.prompts(task, "test", rng) if prompt.reference)
        return chain(islice(own, MOST_ASKED), super().prompts(task, "test", rng))

    def _offers(self, task: Task, pool: Pool, worked: bool = False) -> Iterator[Prompt]:
        """Each prompt once. What is judged comes from small groups, what is known from large ones first."""
        groups = self._groups.get(task, [])
        for group in groups[:-1] if pool != "known" else reversed(groups):
            kept: list[Prompt] = []
            while group.prompts and group.pool in (None, pool):
                prompt = group.prompts.pop()
                if worked and not prompt.demonstration:
                    kept.append(prompt)
                    continue
                group.pool = pool
                yield prompt
            group.prompts += kept


def groups_of(prompts: list[Prompt], seed: int = 0) -> list[Group]:
    """Prompts that share no part of a template with those of another group; small groups first, else in random
    order.
    """
    templates = [prompt.template.split(JOINT) for prompt in prompts]
    bound: DisjointSet[str] = DisjointSet(part for parts in templates for part in parts)
    for first, *more in templates:
        for part in more:
            bound.merge(first, part)
    found: dict[str, Group] = {}
    for prompt, (first, *_) in zip(prompts, templates, strict=True):
        found.setdefault(bound[first], Group([])).prompts.append(prompt)
    groups = list(found.values())
    rng = Random(f"{seed}/own")
    rng.shuffle(groups)
    for group in groups:
        rng.shuffle(group.prompts)
    return sorted(groups, key=lambda group: len(group.prompts))


def _runs(prompt: Prompt, folder: Path) -> bool:
    """Whether its gold query, if it has one, runs within the limits on the run's stores and returns a value."""
    query = prompt.reference.get("sql")
    if not query:
        return True
    if prompt.reference["database"] != STORE:
        return False
    try:
        results = [gold_result(store, query).rows for store in stores(folder / STORE)]
    except ValueError:
        return False
    return bool(results[0]) and results[0][0][0] is not None


def _warnings(path: Path, rows: int, bad: Counter[str], queries: int) -> list[str]:
    said = []
    if bad:
        kinds = ", ".join(f"{kind} {count}" for kind, count in bad.most_common())
        said.append(f"{path}: {bad.total()} of {rows} rows are not used ({kinds}); `tucano data check` names them")
    if queries:
        said.append(f"{path}: {queries} prompts are not used, their gold queries return nothing on {STORE}")
    return said
