"""The specs of all tasks. A task is registered by its name in rewards/names.py, described in `tucano/specs/<name>.py`
as SPEC."""

import json
from importlib import import_module
from typing import Any

from tucano.errors import UserError
from tucano.prompts import TASKS, Prompt, Task
from tucano.specs.base import TaskSpec
from tucano.specs.objects import dumped


def _found(name: Task) -> TaskSpec:
    spec: TaskSpec = import_module(f"tucano.specs.{name}").SPEC
    if spec.name != name:
        raise UserError(
            f"tucano/specs/{name}.py describes the task {spec.name}; a task's file, its name and its registration agree"
        )
    return spec


SPECS: dict[Task, TaskSpec] = {name: _found(name) for name in TASKS}


def spec_of(task: Task) -> TaskSpec:
    return SPECS[task]


def schema_of(task: Task) -> dict[str, Any] | None:
    """The JSON schema of a task's answers; None where they are no objects. It takes what `Field.allows` does, and blank
    texts.
    """
    fields = spec_of(task).fields
    if not fields:
        return None
    return {
        "type": "object",
        "properties": {name: dict(kind.schema) for name, kind in fields.items()},
        "required": list(fields),
        "additionalProperties": False,
    }


def right_answers(prompt: Prompt) -> list[str]:
    """Answers made of a prompt's truth, where that is a whole answer."""
    spec = spec_of(prompt.task)
    if not spec.fields:
        return spec.right_answers(prompt)
    known = prompt.reference.get("fields", {})
    return [dumped({name: known[name] for name in spec.fields})] if set(known) == set(spec.fields) else []


def gold(prompt: Prompt) -> str:
    """What is known to be right about a prompt's answer, for people to read: a whole answer where its truth is one,
    else the truth as JSON; empty where nothing is known.
    """
    whole = right_answers(prompt)
    return whole[0] if whole else json.dumps(prompt.reference, ensure_ascii=False) if prompt.reference else ""
