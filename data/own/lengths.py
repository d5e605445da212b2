"""The texts of a demonstration's turns, whose tokens a model has to have room for."""

from tucano.prompts import TASKS
from tucano.specs.registry import spec_of


def chat_of(task: str, user: str, demonstration: str) -> str:
    """The texts of the turns."""
    return "\n".join((spec_of(task).system_prompt if task in TASKS else "", user, demonstration))
