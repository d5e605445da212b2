"""Which way a text says that indicators moved: «conversão caiu para 4,1%», «devolução 7,6% (queda)»."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

REACH = 45
"""Characters behind a label within which its move stands."""
_ROSE = r"(?<![a-z])(?:subi(?:u|ram)|aument(?:ou|aram)|cresc(?:eu|eram)|avancou)\b|\b[en][ma] alta\b|\(alta\)"
_FELL = (
    r"(?<![a-z])(?:ca(?:iu|iram)|baix(?:ou|aram)|recuou|diminuiu|despencou|encolheu|reduziu)\b|\bem queda\b|\(queda\)"
)
_MOVED = re.compile(f"(?P<rose>{_ROSE})|{_FELL}")
_END = re.compile(r"[.!?;|\n](?!\d)")


@dataclass(frozen=True, slots=True)
class Mention:
    """Where a label stands."""

    start: int
    end: int
    label: str


def moves(text: str, mentions: Sequence[Mention]) -> Iterator[tuple[str, bool]]:
    """(label, whether it rose) of each mention that a word of movement follows in its sentence, before the next label.
    text: plain; mentions: in their order.
    """
    for one, following in pairwise([*mentions, Mention(len(text), len(text), "")]):
        said = _END.split(text[one.end : min(following.start, one.end + REACH)], maxsplit=1)[0]
        if found := _MOVED.search(said):
            yield one.label, bool(found["rose"])
