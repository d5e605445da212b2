"""The table of all components, generated so that it cannot disagree with the code."""

from rewards.sets import SETS, SetName
from rewards.types import Component, TaskReward

_SHOWN: tuple[SetName, ...] = ("grounded", "open")
"""The sets that pay for truth; those for form alone are short files."""
_HEAD = "| set | task | component | weight | meaning | chosen here |\n|---|---|---|---|---|---|"


def describe() -> str:
    """The component table as Markdown; the last column says what was chosen here. A task that one set has from another
    stands with the first, and what several tasks have alike is one row.
    """
    rows: dict[tuple[str, ...], list[str]] = {}
    told: list[tuple[str, TaskReward]] = []
    for name in _SHOWN:
        new = [(task, reward) for task, reward in SETS[name].items() if (task, reward) not in told]
        for task, reward in new:
            for component in reward.components:
                rows.setdefault((name, *_cells(component)), []).append(task)
        told += new
    lines = (" | ".join((name, ", ".join(tasks), *cells)) for (name, *cells), tasks in rows.items())
    return "\n".join([_HEAD, *(f"| {line} |" for line in lines)]) + "\n"


def _cells(component: Component) -> tuple[str, ...]:
    return component.name.partition(".")[2], f"{component.weight:+.2f}", component.meaning, component.chosen
