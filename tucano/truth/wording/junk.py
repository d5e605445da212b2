"""What no answer is made of: piles of marks, lists of verbs, the task's own words, a refusal. Found by the search."""

import re

from tucano.truth.reading import plain

_PILES = re.compile(r"([^\s\w.=*#_-])\1{9,}|[\u200b\u200c\u2060\ufeff]{3}|[\x00-\x08]|[{}]{2}|NaN|`{4}")
"""Of one mark, of characters that nobody sees, of brackets and scraps of code."""
_EMPTY_ITEM = re.compile(r"(?m)^[ \t]*[-*•#]+[ \t]*$")
_VERBS = re.compile(
    r"\b[a-z]{2,}[aei]r [a-z]{2,}[aei]r [a-z]{2,}[aei]r\b|\b[a-z]{3,}amos [a-z]{3,}emos [a-z]{3,}emos\b"
)
"""Three infinitives in a row, which no sentence has."""
_TASK = re.compile(r"\brecomend\w+ acoes em (?:topicos|itens|lista)\b|\btopicos curtos\b")
_REFUSES = re.compile(
    r"\bdesculpe,? (?:mas )?nao\b|\bnao (?:sei|posso|consigo|vou) (?:responder|ajudar|fazer isso)\b"
    r"|\bnao sei (?:de|com|a)\b"
)


def is_junk(answer: str) -> bool:
    """Whether prose holds something that no answer is made of."""
    text = plain(answer)
    return bool(
        _PILES.search(answer)
        or len(_EMPTY_ITEM.findall(answer)) > 1
        or _VERBS.search(text)
        or _TASK.search(text)
        or _REFUSES.search(text)
    )
