"""The ground truth: how right an answer is, judged by readers of its own that no reward uses.

It imports nothing of `rewards`, and rewards import nothing of it, so that a fault of the one cannot hide in the other.
Each task is one file in `tucano/truth/tasks/`, found by its name.
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from tucano.truth.reading import readable
from tucano.truth.types import PromptLike

Judge = Callable[[PromptLike, str, Path | None], float | None]


def truth(prompt: PromptLike, completion: str, databases: Path | None = None) -> float | None:
    """The truth of an answer in [0, 1], or None where the prompt's reference holds nothing to judge it by.

    `databases`: the folder of the SQLite files that references of sql_qa name. ValueError without it where it is
    needed, where a gold query does not run, and for a task without a file here. docs/truth.md says what is judged.
    """
    return _judge(prompt.task)(prompt, readable(completion), databases)


@cache
def _judge(task: str) -> Judge:
    if not task.isidentifier() or find_spec(f"tucano.truth.tasks.{task}") is None:
        raise ValueError(f"the task {task!r} has no tucano/truth/tasks/{task}.py; write one with a function `truth`")
    judge: Judge = import_module(f"tucano.truth.tasks.{task}").truth
    return judge


__all__ = ["PromptLike", "truth"]
