"""The table of all components, generated so that it cannot disagree with the code."""

from rewards.sets import SETS
from rewards.types import Component, TaskReward

_HEAD = "| set | task | component | range | weight | meaning | source | assumed |\n|---|---|---|---|---|---|---|---|"


def describe() -> str:
    """The component table as Markdown; «assumed» says what the source leaves open and was chosen here. A task that one
    set has from another stands with the first.
    """
    rows: list[str] = []
    told: list[tuple[str, TaskReward]] = []
    for name, tasks in SETS.items():
        new = [(task, reward) for task, reward in tasks.items() if (task, reward) not in told]
        rows += [_row(name, task, component) for task, reward in new for component in reward.components]
        told += new
    return "\n".join([_HEAD, *rows]) + "\n"


def _row(set_name: str, task: str, component: Component) -> str:
    low = min(0.0, component.weight)
    high = max(0.0, component.weight)
    cells = (
        set_name,
        task,
        component.name,
        f"{low:g} … {high:g}",
        f"{component.weight:+.2f}",
        component.meaning,
        component.source,
        component.assumed,
    )
    return "| " + " | ".join(cells) + " |"
