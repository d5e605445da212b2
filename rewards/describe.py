"""The table of all components, generated so that it cannot disagree with the code."""

from rewards.sets import SETS
from rewards.types import Component, TaskReward

_HEAD = "| set | task | component | weight | meaning | chosen here |\n|---|---|---|---|---|---|"


def describe() -> str:
    """The component table as Markdown; the last column says what the source leaves open. A task that one set has from
    another stands with the first, and what several tasks have alike is one row.
    """
    rows: dict[tuple[str, ...], list[str]] = {}
    told: list[tuple[str, TaskReward]] = []
    for name, tasks in SETS.items():
        new = [(task, reward) for task, reward in tasks.items() if (task, reward) not in told]
        for task, reward in new:
            for component in reward.components:
                rows.setdefault((name, *_cells(component)), []).append(task)
        told += new
    lines = (" | ".join((name, ", ".join(tasks), *cells)) for (name, *cells), tasks in rows.items())
    return "\n".join([_HEAD, *(f"| {line} |" for line in lines)]) + "\n"


def _cells(component: Component) -> tuple[str, ...]:
    chosen = component.assumed.removeprefix("weight").removeprefix("; ")
    return component.name.partition(".")[2], f"{component.weight:+.2f}", component.meaning, chosen
