"""The ground truth: how right an answer is, judged by readers of its own that no reward uses.

It imports nothing of `rewards`, and rewards import nothing of it, so that a fault of the one cannot hide in the other.
A false field or query is computed (each task's `exact`); what people mean by better was learned from what they rated,
out of plain facts of prompt and answer (`judge`), among them false figures and offers. Each task is one file in
`tucano/truth/tasks/`, found by its name.
"""

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from tucano.truth.judge import JUDGED, judges
from tucano.truth.reading import readable
from tucano.truth.types import PromptLike

LEAST = 0.05
"""A smaller truth is none: among answers that are worth nothing trees differ by thousandths, which a test would call a
drop.
"""


def truth(prompt: PromptLike, completion: str, databases: Path | None = None) -> float | None:
    """The truth of an answer in [0, 1], or None where the prompt's reference holds nothing to judge it by.

    `databases`: the folder of the prompt set, with the SQLite files that references of sql_qa name, and with a judge of
    its own where the run has one (`data.judge`). ValueError without it where it is needed, where a gold query does not
    run, and for a task without a file here. docs/truth.md says what is judged.
    """
    task = _task(prompt.task)
    answer = readable(completion)
    if prompt.task not in JUDGED:
        found: float | None = task.truth(prompt, answer, databases)
        return found
    if not task.is_known(prompt.reference):
        return None
    if not answer:
        return 0.0
    told = task.facts(prompt, answer, databases)
    value = float(task.exact(told) * judges(databases)[prompt.task].value(told))
    return value if value >= LEAST else 0.0


@cache
def _task(name: str) -> ModuleType:
    if not name.isidentifier() or find_spec(f"tucano.truth.tasks.{name}") is None:
        raise ValueError(f"the task {name!r} has no tucano/truth/tasks/{name}.py; write one with a function `truth`")
    return import_module(f"tucano.truth.tasks.{name}")


__all__ = ["PromptLike", "truth"]
