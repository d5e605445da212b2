"""The table of all components, generated so that it cannot disagree with the code."""

from rewards.sets import SETS, SetName
from rewards.types import Component

_SHOWN: SetName = "grounded"
"""The set that pays for truth; those for form alone are short files."""
_HEAD = "| task | component | weight | meaning | chosen here |\n|---|---|---|---|---|"


def describe() -> str:
    """The component table as Markdown; the last column says what was chosen here. What several tasks have alike is one
    row.
    """
    rows: dict[tuple[str, ...], list[str]] = {}
    for task, reward in SETS[_SHOWN].items():
        for component in reward.components:
            rows.setdefault(_cells(component), []).append(task)
    lines = (" | ".join((", ".join(tasks), *cells)) for cells, tasks in rows.items())
    return "\n".join([_HEAD, *(f"| {line} |" for line in lines)]) + "\n"


def _cells(component: Component) -> tuple[str, ...]:
    return component.name.partition(".")[2], f"{component.weight:+.2f}", component.meaning, component.chosen
