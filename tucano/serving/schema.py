"""Whether an answer is one that its task allows: JSON tasks name their fields and what each may hold."""

from typing import Any

from tucano.prompts import Task
from tucano.security.printable import short
from tucano.specs.registry import spec_of
from tucano.truth.json_object import strict_object


def data_of(task: Task, text: str) -> dict[str, Any] | None:
    """The object that an answer is, where its task asks for one and it is nothing else."""
    return strict_object(text) if spec_of(task).fields else None


def fault_of(task: Task, text: str) -> str | None:
    """Why an answer cannot be used as it is; None where nothing is wrong with its form."""
    if not text.strip():
        return "the answer is empty"
    fields = spec_of(task).fields
    if not fields:
        return None
    found = strict_object(text)
    if found is None:
        return "the answer is not one JSON object and nothing else"
    if missing := [name for name in fields if name not in found]:
        return f"the field {missing[0]} is missing"
    if unknown := [name for name in found if name not in fields]:
        return f"{short(unknown[0])} is no field of {task}"
    wrong = next((name for name, kind in fields.items() if not kind.allows(found[name])), None)
    return wrong and f"{wrong} has a value that no answer may have: {short(repr(found[wrong]))}"
