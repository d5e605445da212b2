"""Whether an answer is one that its task allows: JSON tasks name their fields and what each may hold."""

from typing import Any

from tucano.prompts import Task
from tucano.security.printable import short
from tucano.specs.registry import spec_of
from tucano.truth.json_object import strict_object

FAULTS = (
    EMPTY := "the answer is empty",
    NO_OBJECT := "the answer is not one JSON object and nothing else",
    MISSING := "the field {} is missing",
    UNKNOWN := "{} is no field of {}",
    WRONG := "{} has a value that no answer may have: {}",
)


def data_of(task: Task, text: str) -> dict[str, Any] | None:
    """The object that an answer is, where its task asks for one and it is nothing else."""
    return strict_object(text) if spec_of(task).fields else None


def fault_of(task: Task, text: str) -> str | None:
    """Why an answer cannot be used as it is; None where nothing is wrong with its form."""
    found = fault(task, text)
    return None if found is None else found[0].format(*found[1:])


def fault(task: Task, text: str) -> tuple[str, ...] | None:
    """The same as one of `FAULTS` and what stands in it."""
    fields = spec_of(task).fields
    if not text.strip():
        return (EMPTY,)
    if not fields:
        return None
    found = strict_object(text)
    if found is None:
        return (NO_OBJECT,)
    if missing := [name for name in fields if name not in found]:
        return MISSING, missing[0]
    if unknown := [name for name in found if name not in fields]:
        return UNKNOWN, short(unknown[0]), task
    wrong = next((name for name, kind in fields.items() if not kind.allows(found[name])), None)
    return None if wrong is None else (WRONG, wrong, short(repr(found[wrong])))
