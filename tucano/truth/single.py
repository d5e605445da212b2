"""One answer that stands by itself: not several to choose from, not one that takes itself back, not the prompt."""

import re
from functools import lru_cache

from tucano.truth.reading import plain, words

_SEVERAL = re.compile(
    r"\b(?:resposta|opcao|alternativa|versao|exemplo|push|notificacao|option|answer)\s*(?:n[o.]?\s*)?(?:[1-9]\b"
    r"|[a-c]\s*[:)])"
    r"|\bou entao\s*:|\boutra (?:resposta|opcao|versao)\s*:|\b(?:primeira|segunda) (?:resposta|opcao|versao)\b"
    r"|[.!?`]\W{0,4}\s(?:=|or)\s+\W{0,4}[a-z]+\b"
)
_TAKEN_BACK = re.compile(
    r"\b(?:esta|e|sao|estao|ficou)\s+(?:(?:tudo|toda|totalmente|completamente|muito)\s+)?"
    r"(?:errad|incorret|fals|mentira|invalid)\w*"
    r"|\bnao\s+(?:use|usem|usar|siga|sigam|leia|(?:acredit|confi|consider)(?:e|em|ar)|faca|copie|publique|envie)\b"
    r"|\b(?:ignor|desconsider|descart|esquec)\w*\s+(?:est\w+|ess\w+|isso|isto|tudo|o texto|a resposta|o que)\b"
    r"|\b(?:resposta|texto|dados?|numeros?|analise)\s+(?:errad|incorret|fals|inventad)\w*"
    r"|\b(?:e brincadeira|era mentira|so que nao|nada disso|ao contrario do que)\b"
)
_IN_ENGLISH = re.compile(
    r"\b(?:not(?! (?:in|null|exists|like|between)\b)|isn['’]?t|don['’]?t|never|wrong|incorrect|untrue|disregard)\b"
    r"|\\(?:text|math\w+|boxed|lor|land|lnot|neg|neq|implies)\b"
)
"""A denial that a model brings along from its first language, with the logic's signs of a formula («\\lor»)."""
_ONE_OF = re.compile(r"\b(?:um|uma|algum|alguma|qual) d[aeo]s?\b[^.;:!?\n]{0,40}$")
"""«Um dos três números está errado» says it of the brief."""


def is_single(answer: str) -> bool:
    """Whether the text offers one answer and does not take it back."""
    text = plain(answer)
    if denies_itself(text):
        return False
    back = (found for found in _TAKEN_BACK.finditer(text) if not _ONE_OF.search(text[: found.start()]))
    return not _SEVERAL.search(text) and not any(back)


_ENGLISH = (
    "(?:the|is|it|this|that|these|are|was|be|has|have|might|could|would|should|will|here|my|your|we|you|they|guess"
    "|answer|one|an|in|on|at|of|to|by|and|from|with|within|every|been|checked|correct|final)"
)
_ENGLISH_TURN = re.compile(rf"\b{_ENGLISH} {_ENGLISH}\b")
ENGLISH = 0.3
"""What is left of a Portuguese text with a turn of English («here is», «one might guess»)."""


def portuguese(answer: str) -> float:
    """1, or what is left of a text that falls into English."""
    return ENGLISH if _ENGLISH_TURN.search(plain(answer)) else 1.0


def denies_itself(folded: str) -> bool:
    """Whether a plain text says in English, or in the signs of logic, that it is not so."""
    return bool(_IN_ENGLISH.search(folded))


def copied(answer: str, prompt: str, size: int = 4) -> float:
    """Share of the answer's words that lie in runs of `size` words or more that stand in the prompt."""
    found = words(answer)
    runs = _runs(prompt, size)
    inside = [False] * len(found)
    for start in range(len(found) - size + 1):
        if tuple(found[start : start + size]) in runs:
            inside[start : start + size] = [True] * size
    return sum(inside) / len(found) if found else 0.0


@lru_cache(maxsize=1024)
def _runs(text: str, size: int) -> frozenset[tuple[str, ...]]:
    found = words(text)
    return frozenset(tuple(found[start : start + size]) for start in range(len(found) - size + 1))
