"""What an answer tells, sentence by sentence, and where it only sets an aim."""

import re
from collections.abc import Iterator, Mapping

from tucano.truth.advice import recommends
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
        parts = [plain(part) for part in sentences(unquoted(row, known))]
        for place, (sentence, later) in enumerate(zip(parts, [*parts[1:], ""], strict=False)):
            yield (
                _answered(sentence, later),
                place == 0 and len(sentence) < len(row) and len(row.split()) > _ROW_WORDS,
                aimed,
            )
            asks = bool(_ASKS_HOW.search(sentence))
            aimed = aimed or asks or bool(_AIM.search(sentence) and _SETS.search(sentence))
            asked = asks


_YES = re.compile(
    r"\W*(?:sim|certo|viu|ne|claro|pois|foi|e|isso|aconteceu|verdade|infelizmente|nao|exato|passou|caiu|subiu|chegou)\b"
)
_STEP = re.compile(r"\W*(?:entao|ai|mantem|para|pausa|troca|volta|aciona|revisa|muda|\w+mos)\b")


def _answered(sentence: str, later: str) -> str:
    """A question as it stands where the next sentence says what is done then; else as what it takes for known
    («Passou de 12% a devolução? Sim, em maio»)."""
    if not sentence.endswith("?") or (not _YES.match(later) and (_STEP.match(later) or recommends(later))):
        return sentence
    return sentence.rstrip("? ") + "."
