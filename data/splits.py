"""Who gets which text: sizes per task, then test, validation, demonstrations and training prompts, in that order.

The test set chooses first and training last, so that a text near a judged one, inside of one, around one or with its
gold query is dropped from training and never the other way round. Half of the judged prompts of each task (rounded up)
come from templates that nothing else uses.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from math import floor, sqrt
from random import Random
from typing import TypeVar

from data.separation import NearPrompts, normal_form, unread
from data.shares import Cells, Sizes, allotted, apportion, filled, trimmed
from data.sources import Demonstration
from data.sources.synthetic import SyntheticSource
from tucano.errors import UserError
from tucano.prompts import Prompt, Task
from tucano.settings.data import SMALLEST_STRATUM, PromptPlan
from tucano.specs.banks import Pool
from tucano.specs.registry import spec_of

DEMONSTRATION_VALIDATION_SHARE = 0.05
REAL_JUDGED_SHARE = 0.2
TRIES = 60

T = TypeVar("T")


@dataclass
class Splits:
    """The chosen prompts, with what was turned away on the way."""

    train: list[Prompt] = field(default_factory=list)
    validation: list[Prompt] = field(default_factory=list)
    test: list[Prompt] = field(default_factory=list)
    demonstrations: list[Demonstration] = field(default_factory=list)
    demonstrations_validation: list[Demonstration] = field(default_factory=list)
    turned_away: Counter[str] = field(default_factory=Counter)
    warnings: list[str] = field(default_factory=list)
    of_source: list[int] = field(default_factory=list)
    """Training prompts of each source."""


def judged_shares(tasks: Iterable[Task]) -> dict[Task, float]:
    """Shares of the judged prompts, scaled to the number wanted and to the tasks that are left."""
    return {task: spec_of(task).judged for task in tasks}


def taken(offers: Iterator[T], count: int, fits: Callable[[T], bool]) -> list[T]:
    """The first `count` offers that fit; fewer when the source ends, or when it keeps repeating itself."""
    return list(islice(filter(fits, islice(offers, TRIES * (count + 50))), count))


class Splitter:
    """Draws candidates from the sources and keeps the sets apart."""

    def __init__(
        self, sources: Sequence[SyntheticSource], settings: PromptPlan, tasks: tuple[Task, ...], seed: int
    ) -> None:
        self._sources, self._settings, self._tasks, self._seed = sources, settings, tasks, seed
        self._shares = [part.share for part in settings.parts]
        self._judged, self._used = NearPrompts(), set[str]()
        self._drawn: Counter[tuple[int, Task]] = Counter()
        self._splits = Splits()

    def split(self) -> Splits:
        settings, splits = self._settings, self._splits
        mix = {task: settings.mix[task] for task in self._tasks}
        judged = judged_shares(self._tasks)
        splits.test = self._judged_set("test", apportion(settings.test_prompts, judged))
        splits.validation = self._judged_set("validation", apportion(settings.validation_prompts, judged))
        self._draw_demonstrations({task: sqrt(share) for task, share in mix.items()})
        splits.train = self._training_set(mix)
        return splits

    def _judged_set(self, pool: Pool, sizes: Sizes) -> list[Prompt]:
        chosen: list[Prompt] = []
        cells = filled(sizes, self._shares, self._affordable)
        for task, wanted in sizes.items():
            found = [prompt for number in self._numbers for prompt in self._judged_part(pool, task, number, cells)]
            self._note_shortage(task, pool, len(found), wanted)
            chosen += found
        return self._finish(pool, chosen)

    def _judged_part(self, pool: Pool, task: Task, number: int, cells: Cells) -> list[Prompt]:
        """What one source gives of a task: half of it from templates of the pool, and no more than that from known
        ones.
        """
        count = cells[number, task]
        source = self._sources[number]
        held_out = (count + 1) // 2
        apart = unread(source.prompts(task, pool, self._rng(task, pool, number=number)))
        found = taken(apart, held_out, self._is_apart)
        known = unread(source.prompts(task, "known", self._rng(task, f"{pool}-known", number=number)))
        found += taken(known, min(count - held_out, len(found)), self._is_apart)
        self._drawn[number, task] += len(found)
        return found

    def _draw_demonstrations(self, shares: dict[Task, float]) -> None:
        """Square roots of the mix: the tasks with few training prompts still need enough worked answers to learn their
        form.
        """
        total = self._settings.demonstrations
        splits = self._splits
        watched = round(total * DEMONSTRATION_VALIDATION_SHARE)
        for name, count in (("demonstrations_validation", watched), ("demonstrations", total)):
            drawn: list[Demonstration] = []
            sizes = apportion(count, shares)
            cells = filled(sizes, self._shares, self._teachable)
            for task, wanted in sizes.items():
                found: list[Demonstration] = []
                for number in self._numbers:
                    rng = self._rng(task, name, number=number)
                    offers = self._sources[number].demonstrations(task, self._settings.defect_share, rng)
                    found += taken(offers, cells[number, task], lambda offer: self._is_new(offer.prompt))
                self._note_shortage(task, name, len(found), wanted)
                drawn += found
            self._rng(name).shuffle(drawn)
            numbered = [
                replace(offer, prompt=self._numbered(name, number, offer.prompt)) for number, offer in enumerate(drawn)
            ]
            setattr(splits, name, numbered)

    def _training_set(self, mix: Mapping[Task, float]) -> list[Prompt]:
        """A source alone gives what it has; several keep their shares, and so are as few as the scarcest allows."""
        total = self._settings.train_prompts
        sizes = apportion(total, mix)
        alone = len(self._sources) == 1
        cells = {(0, task): wanted for task, wanted in sizes.items()}
        if not alone:
            cells = allotted(total, mix, self._shares, self._left)
            self._require_enough(cells)
        found: dict[int, list[Prompt]] = {number: [] for number in self._numbers}
        for (number, task), wanted in cells.items():
            offers = self._sources[number].prompts(task, "known", self._rng(task, "train", number=number))
            found[number] += taken(offers, wanted, self._is_new)
        if not alone:
            for number, prompts in found.items():
                self._rng("train", "order", number=number).shuffle(prompts)
        kept = trimmed(found, self._shares)
        self._splits.of_source = [len(kept[number]) for number in self._numbers]
        chosen = [prompt for prompts in kept.values() for prompt in prompts]
        for task, wanted in sizes.items():
            self._note_shortage(task, "train", sum(prompt.task == task for prompt in chosen), wanted)
        return self._finish("train", chosen)

    def _require_enough(self, cells: Cells) -> None:
        if sum(cells.values()) >= SMALLEST_STRATUM * len(self._tasks):
            return
        said = []
        for number in self._numbers:
            left = {task: self._left(number, task) for task in sorted(self._tasks)}
            has = ", ".join(task if count is None else f"{task} {count}" for task, count in left.items() if count != 0)
            said.append(f"{number + 1} {self._sources[number].name} ({has or 'nothing'})")
        raise UserError(
            "data.sources: no training set has these shares of the sources and data.mix of the tasks. For training"
            f" there are {', '.join(said)}; change the shares or data.mix"
        )

    @property
    def _numbers(self) -> range:
        return range(len(self._sources))

    def _affordable(self, number: int, task: Task) -> int | None:
        """A fifth of a finite source at most, so that training keeps three fifths."""
        available = self._sources[number].available(task)
        return max(SMALLEST_STRATUM, floor(available * REAL_JUDGED_SHARE)) if available else available

    def _teachable(self, number: int, task: Task) -> int | None:
        return None if self._sources[number].demonstrates(task) else 0

    def _left(self, number: int, task: Task) -> int | None:
        available = self._sources[number].available(task)
        return None if available is None else max(0, available - self._drawn[number, task])

    def _is_apart(self, prompt: Prompt) -> bool:
        """For judged texts: unlike every other judged one."""
        if self._judged.admit(prompt):
            return True
        self._splits.turned_away["near a judged text"] += 1
        return False

    def _is_new(self, prompt: Prompt) -> bool:
        """For texts that training sees: unlike every judged one, and not used before."""
        if self._judged.near(prompt):
            self._splits.turned_away["near a judged text"] += 1
            return False
        normal = normal_form(prompt.user)
        if normal in self._used:
            self._splits.turned_away["repeated"] += 1
            return False
        self._used.add(normal)
        return True

    def _note_shortage(self, task: Task, part: str, found: int, wanted: int) -> None:
        if found < wanted:
            self._splits.warnings.append(
                f"{part}: {found} prompts of {task} instead of {wanted}, the source has no more that are different"
            )

    def _finish(self, part: str, chosen: list[Prompt]) -> list[Prompt]:
        self._rng(part).shuffle(chosen)
        return [self._numbered(part, number, prompt) for number, prompt in enumerate(chosen)]

    def _numbered(self, part: str, number: int, prompt: Prompt) -> Prompt:
        return replace(prompt, id=f"{part}-{number:05d}-{prompt.task}")

    def _rng(self, *names: str, number: int = 0) -> Random:
        """A generator of its own for each use; `number`: that of the source."""
        return Random("/".join([str(self._seed), *names, *([f"source-{number}"] if number else [])]))
