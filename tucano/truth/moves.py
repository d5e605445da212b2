"""Which way a text says that indicators moved: «conversão caiu para 4,1%», «devolução 7,6% (queda)»."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

REACH = 45
"""Characters behind a label within which its move stands."""
_ROSE = r"(?:subi(?:u|ram)|aument(?:ou|aram)|cresc(?:eu|eram)|avanc(?:ou|aram))\b|em alta\b(?! temporada)|\(alta\)"
_FELL = (
    r"(?:ca(?:iu|iram)|baix(?:ou|aram)|recu(?:ou|aram)|diminu(?:iu|iram)|despenc(?:ou|aram)|encolh(?:eu|eram)"
    r"|reduz(?:iu|iram))\b|em queda\b|\(queda\)"
)
_MOVED = re.compile(rf"(?<![a-z])(?:(?P<rose>{_ROSE})|{_FELL})")
_END = re.compile(rf"[.!?;|\n](?!\d)|\be (?={_ROSE}|{_FELL})")
"""Of what is said of a label: the sentence's end, and a move in front of the next label («e subiu o atraso»)."""
_DENIED = re.compile(r"\b(?:nao|nem|sem)\b[^,]*$")
_COMPARED = re.compile(
    r"\b(?:queda|alta|contra|antes|anterior|eram?|ante|vs)\b|[-+\u2212\u2191\u2193]\s?\d|\d[^\d.,]\D*\d"
)
"""What tells of a move in other ways, or of another figure to compare with."""


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
    for label, said in _told(text, mentions):
        found = _MOVED.search(_END.split(said, maxsplit=1)[0])
        if found and not _DENIED.search(said[: found.start()]):
            yield label, bool(found["rose"])


def compared(text: str, mentions: Sequence[Mention]) -> frozenset[str]:
    """The labels of which a text may tell a move, however it says so."""
    return frozenset(label for label, said in _told(text, mentions) if _MOVED.search(said) or _COMPARED.search(said))


def _told(text: str, mentions: Sequence[Mention]) -> Iterator[tuple[str, str]]:
    """What is said behind each label."""
    for one, following in pairwise([*mentions, Mention(len(text), len(text), "")]):
        yield one.label, text[one.end : min(following.start, one.end + REACH)]
