"""Own demonstrations that are too long for the model of a run, seen before its first stage."""

from collections.abc import Iterator
from pathlib import Path

from data.own.chats import chat_of
from data.own.reading import Broken, raw_rows
from tucano.lengths import count_long, require_fitting, tokenizer_at_hand
from tucano.settings import PipelineSettings


def require_own_fitting(settings: PipelineSettings) -> str | None:
    """What to say of own demonstrations that SFT leaves out; None where there are none, or the model's tokenizer is not
    at hand. UserError where they are many.
    """
    data = settings.data
    places = [place for part, place in zip(data.parts, data.paths, strict=True) if place and part.source == "jsonl"]
    tokenizer = tokenizer_at_hand(settings.model) if places and settings.sft.enabled else None
    if tokenizer is None:
        return None
    chats = [chat for place in places if Path(place).exists() for chat in _chats(Path(place))]
    longest = settings.model.max_length_tokens
    return require_fitting(count_long(chats, longest, tokenizer), len(chats), longest)


def _chats(place: Path) -> Iterator[str]:
    """Of each row that has a demonstration, whether or not it can be used."""
    for row in raw_rows(place):
        given = {} if isinstance(row.content, Broken) else row.content
        if given.get("demonstration"):
            yield chat_of(*(str(given.get(name) or "") for name in ("task", "prompt", "demonstration")))
