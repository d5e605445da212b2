"""Where the prompts of fresh groups come from, when those of a rollout carried no signal."""

import random
from collections.abc import Sequence
from typing import Any


class Reserve:
    """Further training prompts of each task, in an order of its own that is a function of (seed, task, lap) alone.

    How many have been taken per task is all its state. A prompt may come up here as well as in the epoch's own order.
    """

    def __init__(self, rows: Sequence[dict[str, Any]], seed: int) -> None:
        self.rows, self.seed = rows, seed
        self.by_task: dict[str, list[int]] = {}
        for index, row in enumerate(rows):
            self.by_task.setdefault(row["task"], []).append(index)
        self.taken = dict.fromkeys(self.by_task, 0)

    def state(self) -> dict[str, Any]:
        return {"taken": self.taken}

    def load(self, state: dict[str, Any]) -> None:
        self.taken = dict(state["taken"])

    def take(self, task: str) -> dict[str, Any]:
        """The next row of a task."""
        indices = self.by_task[task]
        lap, place = divmod(self.taken[task], len(indices))
        self.taken[task] += 1
        return self.rows[random.Random(f"{self.seed} {task} {lap}").sample(indices, len(indices))[place]]
