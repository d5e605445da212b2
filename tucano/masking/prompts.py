"""Prompts of others, masked: all that they say in words."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tucano.masking import find, mask
from tucano.prompts import Prompt

_QUERY = ("sql", "database")
"""Parts of a reference that have to run as they are."""
_DIGIT = re.compile(r"\d")
SMALLEST_NUMBER = 10**9
"""From here on a number may be somebody's: a document, a telephone or an order."""
_SMALLEST_NAMED = 10**4
"""From here on one may be under a name that says so; the name of an order counts orders up to `SMALLEST_NUMBER`."""


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
    return {
        (shown := text(name)): part if name in _QUERY else _masked(part, shown, text)
        for name, part in reference.items()
    }


def _text(text: str) -> str:
    return mask(text)[0]


def _masked(part: Any, name: str, text: Callable[[str], str]) -> Any:
    """`name`, masked, is where it stands."""
    if isinstance(part, dict):
        return {(shown := text(inner)): _masked(value, shown, text) for inner, value in part.items()}
    if isinstance(part, list):
        masked = [_masked(value, name, text) for value in part]
        # a text in the place of a number would end whatever reads a list of figures
        return [new for new, old in zip(masked, part, strict=True) if isinstance(new, str) <= isinstance(old, str)]
    if isinstance(part, str):
        return _beside(name, part, text)
    return _number(name, part, text) if isinstance(part, int | float) else part


def _number(name: str, number: float, text: Callable[[str], str]) -> Any:
    """A whole float is the int that a column of numbers with gaps made it of."""
    if number % 1 or abs(number) < _SMALLEST_NAMED:
        return number
    said = str(int(number))
    is_named = any(kind != "order" for _, _, kind in find(f"{name}: {said}"))
    masked = _beside(name, said, text) if is_named or abs(number) >= SMALLEST_NUMBER else said
    return number if masked == said else masked


def _beside(name: str, value: str, text: Callable[[str], str]) -> str:
    """Masked alone, since a name may call a number harmless, and then as what the words `name` stand before."""
    alone, before = text(value), f"{name}: "
    if not _DIGIT.search(alone):  # a word names numbers
        return alone
    whole = text(before + alone)
    return whole.removeprefix(before) if whole.startswith(before) else alone
