"""Where prompts come from. A source offers candidates; `data.splits` chooses among them and keeps the sets apart."""

from dataclasses import dataclass

from tucano.prompts import Prompt

NONCOMMERCIAL = "CC BY-NC-SA 4.0 (noncommercial)"
FREE = "CC0-1.0"


@dataclass(frozen=True)
class Demonstration:
    """A prompt with a worked answer, and the names of the defects that were put into it (none: it is a good answer)."""

    prompt: Prompt
    defects: tuple[str, ...]
