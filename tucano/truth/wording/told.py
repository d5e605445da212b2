"""What an answer tells, sentence by sentence, and where it only sets an aim."""

import re
from collections.abc import Iterator, Mapping

from tucano.truth.reading import plain, sentences
from tucano.truth.sums import Quantity
from tucano.truth.wording.claims import under_headings, unquoted

_AIM = re.compile(
    r"\b(?:metas?|alvos?|objetivos?|sucesso|referencia|medimos|onde (?:quero|queremos) chegar)\b"
    r"|\b(?:medir|acompanhar|monitorar):"
)
_ASKS_HOW = re.compile(
    r"\b(?:como|quando)\b[^?]{0,30}\b(?:sab(?:er|eria|eremos|erei|emos)|medir|medimos|conferir)\b[^?]{0,40}\?"
)
"""A question whose answer is an aim («Como eu saberia que deu certo?»)."""
_SETS = re.compile(r"[:=→]|\d")
"""A sentence that speaks of aims sets some where it heads a list or has a figure."""
_ROW_WORDS = 8
"""Words of a line that says something of the label and figure that it begins with."""


def told_in(answer: str, known: Mapping[str, Quantity]) -> Iterator[tuple[str, bool, bool]]:
    """The plain sentences; whether each begins a line that goes on, and whether its line has set an aim before, or the
    line above has asked for one."""
    asked = False
    for row in under_headings(answer).splitlines():
        aimed, asked = asked, asked and not row.strip()
        for place, sentence in enumerate(map(plain, sentences(unquoted(row, known)))):
            yield sentence, place == 0 and len(sentence) < len(row) and len(row.split()) > _ROW_WORDS, aimed
            asks = bool(_ASKS_HOW.search(sentence))
            aimed = aimed or asks or bool(_AIM.search(sentence) and _SETS.search(sentence))
            asked = asks
