"""The rewards of the tasks that came after the report's four: one file each, found by the task's name. v4.2 has none
of them.
"""

from importlib import import_module
from importlib.util import find_spec

from rewards.names import LATER
from rewards.types import TaskRewards


def _found(task: str) -> TaskRewards:
    if find_spec(f"rewards.tasks.{task}") is None:
        raise ValueError(
            f"the task {task} stands in rewards/names.py and has no rewards/tasks/{task}.py; write one, or take the"
            " name out"
        )
    rewards: TaskRewards = import_module(f"rewards.tasks.{task}").REWARDS
    return rewards


REWARDS: dict[str, TaskRewards] = {task: _found(task) for task in LATER}
