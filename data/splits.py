"""Who gets which text: sizes per task, then test, validation, demonstrations and training prompts, in that order.

The test set chooses first and training last, so that a text near a judged one, inside of one, around one or with its
gold query is dropped from training and never the other way round. Half of the judged prompts of each task (rounded up)
come from templates that nothing else uses.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from math import floor, sqrt
from random import Random
from typing import TypeVar

from data.separation import NearPrompts, normal_form
from data.sources import Demonstration, Source
from tucano.prompts import Prompt, Task
from tucano.settings.data import SMALLEST_STRATUM, PromptPlan
from tucano.specs.banks import Pool
from tucano.specs.registry import spec_of

DEMONSTRATION_VALIDATION_SHARE = 0.05
REAL_JUDGED_SHARE = 0.2
TRIES = 60

Sizes = dict[Task, int]
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


def apportion(total: int, shares: dict[Task, float]) -> Sizes:
    """`total` in proportion to `shares`, in whole numbers that add up (largest remainders, Hamilton's method)."""
    whole = sum(shares.values())
    exact = {task: total * share / whole for task, share in shares.items()}
    sizes = {task: floor(value) for task, value in exact.items()}
    by_remainder = sorted(shares, key=lambda task: exact[task] - sizes[task], reverse=True)
    for task in by_remainder[: total - sum(sizes.values())]:
        sizes[task] += 1
    return sizes


def judged_shares(tasks: Iterable[Task]) -> dict[Task, float]:
    """Shares of the judged prompts, scaled to the number wanted and to the tasks that are left."""
    return {task: spec_of(task).judged for task in tasks}


class Splitter:
    """Draws candidates from one source and keeps the sets apart."""

    def __init__(self, source: Source, settings: PromptPlan, tasks: tuple[Task, ...], seed: int) -> None:
        self._source, self._settings, self._tasks, self._seed = source, settings, tasks, seed
        self._judged, self._used = NearPrompts(), set[str]()
        self._splits = Splits()

    def split(self) -> Splits:
        settings, splits = self._settings, self._splits
        mix = {task: settings.mix[task] for task in self._tasks}
        judged = judged_shares(self._tasks)
        splits.test = self._judged_set("test", apportion(settings.test_prompts, judged))
        splits.validation = self._judged_set("validation", apportion(settings.validation_prompts, judged))
        self._draw_demonstrations({task: sqrt(share) for task, share in mix.items()})
        splits.train = self._training_set(apportion(settings.train_prompts, mix))
        return splits

    def _judged_set(self, pool: Pool, sizes: Sizes) -> list[Prompt]:
        chosen: list[Prompt] = []
        for task, wanted in sizes.items():
            count = self._affordable(task, wanted)
            held_out = (count + 1) // 2
            found = self._take(self._source.prompts(task, pool, self._rng(task, pool)), held_out, self._is_apart)
            found += self._take(
                self._source.prompts(task, "known", self._rng(task, f"{pool}-known")), count - held_out, self._is_apart
            )
            self._note_shortage(task, pool, len(found), wanted)
            chosen += found
        return self._finish(pool, chosen)

    def _draw_demonstrations(self, shares: dict[Task, float]) -> None:
        """Square roots of the mix: the tasks with few training prompts still need enough worked answers to learn their
        form.
        """
        total, splits = self._settings.demonstrations, self._splits
        watched = round(total * DEMONSTRATION_VALIDATION_SHARE)
        for name, count in (("demonstrations_validation", watched), ("demonstrations", total)):
            drawn: list[Demonstration] = []
            for task, wanted in apportion(count, shares).items():
                offers = self._source.demonstrations(task, self._settings.defect_share, self._rng(task, name))
                found = self._take(offers, wanted, lambda offer: self._is_new(offer.prompt))
                self._note_shortage(task, name, len(found), wanted)
                drawn += found
            self._rng(name).shuffle(drawn)
            numbered = [
                replace(offer, prompt=self._numbered(name, number, offer.prompt)) for number, offer in enumerate(drawn)
            ]
            setattr(splits, name, numbered)

    def _training_set(self, sizes: Sizes) -> list[Prompt]:
        chosen: list[Prompt] = []
        for task, wanted in sizes.items():
            found = self._take(self._source.prompts(task, "known", self._rng(task, "train")), wanted, self._is_new)
            self._note_shortage(task, "train", len(found), wanted)
            chosen += found
        return self._finish("train", chosen)

    def _affordable(self, task: Task, wanted: int) -> int:
        """A fifth of a finite source at most, so that training keeps three fifths."""
        available = self._source.available(task)
        return wanted if available is None else min(wanted, max(SMALLEST_STRATUM, floor(available * REAL_JUDGED_SHARE)))

    def _take(self, offers: Iterator[T], count: int, fits: Callable[[T], bool]) -> list[T]:
        """The first `count` offers that fit; fewer when the source ends, or when it keeps repeating itself."""
        return list(islice((offer for offer in islice(offers, TRIES * (count + 50)) if fits(offer)), count))

    def _is_apart(self, prompt: Prompt) -> bool:
        """For judged texts: unlike every other judged one."""
        if self._judged.near(prompt):
            self._splits.turned_away["near a judged text"] += 1
            return False
        self._judged.add(prompt)
        return True

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

    def _rng(self, *names: str) -> Random:
        return Random("/".join([str(self._seed), *names]))
