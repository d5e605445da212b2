"""One answer that stands by itself: not several to choose from, not one that takes itself back, not the prompt."""

import re
from functools import lru_cache

from tucano.truth.reading import plain, words

_SEVERAL = re.compile(
    r"\b(?:resposta|opcao|alternativa|versao|exemplo|push|notificacao|option|answer)\s*(?:n[o.]?\s*)?(?:[1-9]\b"
    r"|[a-c]\s*[:)])"
    r"|\bou entao\s*:|\boutra (?:resposta|opcao|versao)\s*:"
    r"|\b(?:(?<=[a-z] como )(?:primeira|segunda) (?:resposta|versao|opcao)\b(?!\s*[,.;)\n]|\s*\Z| (?:para|de|a|aos?)\b)"
    r"|(?<![a-z] como )(?:primeira|segunda) (?:resposta|versao|opcao(?! de\b))\b)"
    r"|[.!?](?:\s?[\U0001F300-\U0001FAFF\u2300-\u27bf]\ufe0f?)?\s(?:={1,2}|=>|or|or:|/|\|{1,2}|&)\s\W{0,4}[a-z]+\b"
)
_TAKEN_BACK = re.compile(
    r"\b(?:esta|e|sao|estao|ficou)\s+(?:(?:tudo|toda|totalmente|completamente|muito)\s+)?"
    r"(?:errad|incorret|fals|mentira|invalid)\w*"
    r"|\bnao\s+(?:siga|sigam|leia|(?:acredit|confi|consider)(?:e|em|ar)|copie|publique)\b"
    r"|\bnao\s+(?:faca|envie|use|usem|usar)\b(?=\W*(?:\Z|[.;:!?\n])| (?:nada|nenhum|o que|iss?to|isso|ess[ea]|est[ea]"
    r"|[oa] (?:respost|texto)))"
    r"|\b(?:ignor|desconsider|descart|esquec)\w*\s+(?:est\w+|ess\w+|isso|isto|tudo|o texto|a resposta|o que)\b"
    r"|\b(?:resposta|texto|dados?|numeros?|analise)\s+(?:errad|incorret|fals|inventad)\w*"
    r"|\bo (?:certo|correto|ideal|melhor|recomendado) (?:e|seria) (?:exatamente |justamente |fazer )?o (?:oposto"
    r"|contrario|inverso)\b(?=\W*(?:\Z|[.!?;\n])| d(?:isso|isto|ess|est|as acoes|o que (?:eu|esta|disse|foi|segue)))"
    r"|\b(?:faca|facam|recomendo|sugiro)(?: fazer)? (?:exatamente |justamente )?o (?:oposto|contrario|inverso)\b"
    r"(?=\W*(?:\Z|[.!?;\n])| d(?:isso|isto|ess|est|as acoes|o que (?:eu|esta|disse|foi|segue)))"
    r"|\bnao adianta(?:m)? (?:(?:fazer|seguir|aplicar|tentar) )?(?:o que (?:segue|vem|esta|eu|disse|propus)"
    r"|nada d(?:o que|isso)|(?:ess|est)[ae]s (?:aco|passo|medida|dica|ideia)|as acoes)"
    r"|\b(?:retiro|desdigo) (?:tudo )?(?:o que|as recomendac\w+|as sugest\w+|o dito)\b"
    r"|\b(?:acoes|recomendacoes|ideias|dicas|medidas|sugestoes|passos) (?:acima|abaixo|a seguir|anteriores) (?:nao"
    r"|fari\w+|vao (?:fal|piorar|prejud)|so piora\w*|sao (?:ruins|errad|inutei|pessim))"
    r"|(?:\A|[.!?\n] ?)(?:isso |isto |tambem |e |mas )*nao serve(?:m)?(?: para nada)?\W*(?:\Z|[.!?\n])"
    r"|\b(?:e brincadeira|era mentira|so que nao|nada disso|ao contrario do que)\b"
)
_CODE = re.compile(r"`[^`\n]*`|\b(?:NOT|OR)\b")
"""Words of a query in what explains it."""
_NOT_SO = re.compile(
    r"\b(?:not|isn['’]?t|doesn['’]?t|don['’]?t|never|wrong|incorrect|untrue|invalid|nope|disregard)\b"
    r"|\b(?:answer|this|it) is (?:a )?(?:lie|false|bad|fake)\b|\(false\)|\bignore this\b|\bmade (?:this|it) up\b"
    r"|\bno es (?:asi|cierto|verdad|correct[oa])\b|\best[oa] es (?:incorrect|fals)[oa]\b"
    r"|(?:\A|[^\w\s,;:'\"«“]\s?|\n)(?:(?:isto|isso|(?:esta |essa |a )?resposta) )?nao e(?:sta)?"
    r" (?:verdade|cert[oa]|correta)\b"
    r"|\b(?:certa|correta) e outra\b|\((?:isto|isso) esta errad[oa]\)"
    r"|\\(?:text|math\w+|boxed|lor|land|lnot|neg|neq|implies)\b"
)
"""A denial: in English, which a model brings along from its first language, in Spanish, in Portuguese behind the
answer or in brackets, and in the signs of logic («\\lor»)."""
_ONE_OF = re.compile(
    r"\b(?:um|uma|algum|alguma|qual) d[aeo]s?\b[^.;:!?\n]{0,40}$|\bou [^.;:!?\n]{1,40}\bou [^.;:!?\n]{1,40}$"
)
"""«Um dos três números está errado» says it of the brief."""


def is_single(answer: str) -> bool:
    """Whether the text offers one answer and does not take it back."""
    if denies_itself(answer):
        return False
    text = plain(answer)
    back = (found for found in _TAKEN_BACK.finditer(text) if not _ONE_OF.search(text[: found.start()]))
    return not _SEVERAL.search(text) and not any(back)


_ENGLISH = (
    "(?:the|is|it|this|that|these|are|was|be|has|have|might|could|would|should|will|here|my|your|we|you|they|guess"
    "|answer|an|in|on|at|of|to|by|and|from|with|within|every|been|checked|correct|let|me|hope|helps)"
)
_ENGLISH_TURN = re.compile(rf"\b{_ENGLISH}\s+{_ENGLISH}(\s+{_ENGLISH})?\b")
_BEGUN = re.compile(rf"\A\W*(?:one )?{_ENGLISH}\s+{_ENGLISH}\b")
ENGLISH = 0.3
"""What is left of a Portuguese text that begins in English («here is», «one might guess»), or has three words of it in
a row or two in two places; two alone may be a term («all in one»)."""


def portuguese(answer: str) -> float:
    """1, or what is left of a text that falls into English."""
    text = plain(answer)
    turns = [bool(found[1]) for found in _ENGLISH_TURN.finditer(text)]
    return ENGLISH if _BEGUN.search(text) or any(turns) or len(turns) > 1 else 1.0


def denies_itself(text: str) -> bool:
    """Whether a text says in another language, in brackets or in the signs of logic that it is not so."""
    return bool(_NOT_SO.search(plain(_CODE.sub(" ", text) if re.search("[a-z]", text) else text)))


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
