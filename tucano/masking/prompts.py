"""Prompts of others, masked: all that they say in words."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tucano.masking import mask
from tucano.prompts import Prompt

_QUERY = ("sql", "database")
"""Parts of a reference that have to run as they are."""
SMALLEST_NUMBER = 10**9
"""From here on a number may be somebody's: a document or a telephone."""


def masked_prompt(prompt: Prompt) -> Prompt:
    """The text shown to a model, the demonstration and the words of the reference; a gold query stays as it is."""
    demonstration = None if prompt.demonstration is None else _text(prompt.demonstration)
    return replace(
        prompt,
        user=_text(prompt.user),
        demonstration=demonstration,
        reference=masked_reference(prompt.reference, _text),
    )


def masked_reference(reference: dict[str, Any], text: Callable[[str], str]) -> dict[str, Any]:
    """A reference whose words are masked by `text`; a gold query stays as it is."""
    return {text(name): part if name in _QUERY else _masked(part, text) for name, part in reference.items()}


def _text(text: str) -> str:
    return mask(text)[0]


def _masked(part: Any, text: Callable[[str], str]) -> Any:
    if isinstance(part, str):
        return text(part)
    if isinstance(part, dict):
        return {text(name): _masked(value, text) for name, value in part.items()}
    if isinstance(part, list):
        return [_masked(value, text) for value in part]
    if isinstance(part, int) and abs(part) >= SMALLEST_NUMBER:
        masked = text(str(part))
        return part if masked == str(part) else masked
    return part
