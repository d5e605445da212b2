"""Prompts of others, masked: all that they say in words."""

from dataclasses import replace
from typing import Any

from tucano.masking import mask
from tucano.prompts import Prompt

_QUERY = ("sql", "database")
"""Parts of a reference that have to run as they are."""


def masked_prompt(prompt: Prompt) -> Prompt:
    """The text shown to a model, the demonstration and the words of the reference; a gold query stays as it is."""
    demonstration = None if prompt.demonstration is None else mask(prompt.demonstration)[0]
    reference = {name: part if name in _QUERY else _masked(part) for name, part in prompt.reference.items()}
    return replace(prompt, user=mask(prompt.user)[0], demonstration=demonstration, reference=reference)


def _masked(part: Any) -> Any:
    if isinstance(part, str):
        return mask(part)[0]
    if isinstance(part, dict):
        return {name: _masked(value) for name, value in part.items()}
    return [_masked(value) for value in part] if isinstance(part, list) else part
