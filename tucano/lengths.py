"""Demonstrations that are too long for a model: cut, they would teach it that an answer has no end."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from tucano.errors import UserError
from tucano.settings.model import ModelSettings

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MOST = 0.01
"""Share of the demonstrations that SFT may leave out."""
CHARACTERS = 3
"""Of Portuguese in a token: 3.1 with the nano model's tokenizer, more with those that have read more."""
FRAME = 16
"""Tokens that a chat template puts around three turns: ChatML."""
USUAL: int = ModelSettings.model_fields["max_length_tokens"].default


def tokenizer_at_hand(model: ModelSettings) -> "Tokenizer | None":
    """The model's own, from its folder or from what the hub's client has kept; no network is asked."""
    from huggingface_hub import try_to_load_from_cache
    from tokenizers import Tokenizer

    local = Path(model.place) / "tokenizer.json"
    kept = None if model.revision is None else try_to_load_from_cache(model.name, local.name, revision=model.revision)
    file = str(local) if local.is_file() else kept
    return Tokenizer.from_file(file) if isinstance(file, str) else None


def count_long(chats: Iterable[str], longest: int, tokenizer: "Tokenizer | None" = None) -> int:
    """How many chats (the texts of their turns) take more tokens than `longest`; about, without a tokenizer."""

    def tokens(text: str) -> int:
        if tokenizer is None or len(text.encode()) + FRAME <= longest:  # no token is less than a byte
            return len(text) // CHARACTERS
        return len(tokenizer.encode(text, add_special_tokens=False).ids)

    return sum(tokens(text) + FRAME > longest for text in chats)


def long_said(long: int, of: int, longest: int) -> str:
    return (
        f"{long} of {of} demonstrations have more tokens with their prompts than model.max_length_tokens={longest}, and"
        " SFT would not see their ends: raise it, or shorten these rows or leave them out"
    )


def require_fitting(long: int, of: int, longest: int) -> str | None:
    """What to say of demonstrations that SFT leaves out; None where there are none, UserError where they are many."""
    if long > MOST * of:
        raise UserError(f"{long_said(long, of, longest)} ({MOST:.0%} at most are left out)")
    return long_said(long, of, longest) if long else None
