"""What the parts of this package hand to each other."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol


class PromptLike(Protocol):
    """What a reward reads of a prompt."""

    @property
    def task(self) -> str: ...
    @property
    def user(self) -> str: ...
    @property
    def stars(self) -> int | None: ...
    @property
    def reference(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Score:
    """`components` are weighted contributions (penalties below 0); `total` is their sum, clipped to [0, 1]."""

    total: float
    components: dict[str, float]


@dataclass(frozen=True, slots=True)
class Component:
    """One line of the component table. A negative weight is a penalty; `chosen` says what was chosen here."""

    name: str
    weight: float
    meaning: str
    chosen: str = ""


class TaskReward(Protocol):
    """The reward of one task in one set: its components, and the share in [0, 1] that an answer earns of each."""

    @property
    def components(self) -> tuple[Component, ...]: ...

    def shares(self, prompt: PromptLike, answer: str, databases: Path | None) -> tuple[float, ...]:
        """One share per component, in their order. `answer` is NFC text of at most `LONGEST` characters."""
        ...


@dataclass(frozen=True)
class TaskRewards:
    """All that rewards/ has of one task: its reward in `grounded` and `controls.format`.

    `marks` occur in folded prompts of the task alone.
    """

    marks: re.Pattern[str]
    grounded: TaskReward
    format: TaskReward


LONGEST = 16 * 1024
"""Characters. A longer completion earns nothing, so that no scorer's cost grows with what a model babbles (512 tokens
are about 2,000).
"""


def clip(value: float) -> float:
    """`value` limited to [0, 1]."""
    return min(1.0, max(0.0, value))


def filled(
    shares: tuple[float, ...], components: tuple[Component, ...], truths: frozenset[str], known: bool
) -> tuple[float, ...]:
    """The shares as they are where truth is known; else those of positive form components scaled so that their weights
    fill 1.
    """
    if known:
        return shares
    form = sum(c.weight for c in components if c.weight > 0 and c.name not in truths)
    return tuple(share / form if c.weight > 0 else share for c, share in zip(components, shares, strict=True))


_KEPT_FORM = 0.3


def damped(share: float) -> float:
    """Credit for form where a share of the truth is there: some of it even without any."""
    return _KEPT_FORM + (1 - _KEPT_FORM) * share
