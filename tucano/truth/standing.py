"""Whether a text is one answer and stands by it: not several to choose from, not one that takes itself back."""

import math
import re
from collections.abc import Mapping

from tucano.truth.reading import clip, plain

LEFT = 0.25
"""What is left of an answer that does not stand."""
FEW, SHORT = 4, 80
"""Words, and the characters up to which an answer may have fewer: «Trena por R$ 355!»."""
NO_VARIETY, VARIETY = 0.5, 0.85
"""Distinct runs of three words of its own: from where an answer of more than a few words is worth nothing, and all. Of
3,333 answers rated 4 and 5 one in two hundred has fewer than .97, and none says a sentence twice."""
MOST_FIGURES = 60
"""An answer with so many is a table or nothing; more are not read."""
LEAST_KNOWN = 0.36
"""Share of an answer's words that the corpus of order knows, below which the judge has seen nothing like it. Of good
answers of other shops one in two hundred lies below; Spanish is too near to be told apart by it."""
MOST_ODD = 0.52
"""Share of an answer's words where they hardly ever stand, above which it is words in any order. Of 3,333 answers rated
4 and 5 eight lie above (five of 508 good pushes of other shops); with their words shuffled, 85 % of pushes and 99 % of
insights.
"""
_THIS = r"(?:(?:est|ess)[ae]s?|[ao]s?|minha|meu|tudo o que) [a-z]{3,}(?: (?:acima|abaixo|anterior|a seguir))?"
_IT = rf"(?:is[st]o|tudo is[st]o|ela|ele|{_THIS})"
_WRONG = r"(?:errad|incorret|invalid|fals|inventad|fictici|inutei?|mentir)\w*"
_END = r"(?=\s*(?:[.!,;:)\n]|\Z))"
_SEVERAL = re.compile(
    r"\b(?:resposta|opcao|alternativa|versao|exemplo|push|notificacao|option|answer)\s*(?:n[o.]?\s*)?"
    r"(?:[1-9]\b|[a-c]\s*[:)])|\bou entao\s*:|\boutra (?:resposta|opcao|versao)\s*:"
)
_DENIED = re.compile(
    r"\b(?:not|isn['’]?t|doesn['’]?t|don['’]?t|never|wrong|incorrect|untrue|nope|disregard)\b"
    r"|\bthis is (?:a )?(?:lie|false|fake)\b|\bno es (?:asi|cierto|verdad|correct[oa])\b"
    r"|\\(?:text|boxed|lnot|neg|neq|implies)\b"
)
"""In another language, which a model brings along, or in the signs of logic."""
_TAKEN_BACK = re.compile(
    rf"\b{_IT} (?:na verdade |tambem |so )?(?:e|sao|esta|estao|ficou|foi)"
    rf"(?: (?:tudo|toda|muito|um|uma|para|de)){{0,2}} {_WRONG}"
    rf"|\b{_IT} nao (?:(?:e|era|esta|sao) (?:verdade|cert|corret|o que (?:foi|voce) ped)\w*"
    r"|(?:serve|vale|presta|funciona|responde|corresponde|diz nada|faz sentido)\b)"
    rf"|(?:\A|[.!?\n]\s?)(?:e |mas |porem )?nao (?:serve|vale|funciona|presta|e verdade){_END}"
    r"|\bnao (?:siga|faca|envie|use|usem|copie|confie|confiem|acredite|considere)\b"
    r"(?: (?:nada )?(?:d?is[st]o|(?:n?(?:est|ess)[ae]s?|n?[ao]s?) (?:respost|texto|consult|query|json|objet)\w*|nada))?"
    rf"{_END}"
    r"|\b(?:ignor|desconsider|descart|esquec)(?:e|em|a|ar)\b (?:is[st]o|tudo|(?:est|ess)[ae]\b"
    r"|[ao]s? (?:respost|texto|acim|consult|objet|json|outros campos))"
    rf"|\b(?:retiro|desdigo|errei|menti|inventei|chutei|me enganei)\b{_END}"
    r"|\b(?:e brincadeira|era mentira|nada disso|so que nao)\b"
    r"|\bfaca(?:m)? (?:exatamente |justamente )?o (?:contrario|oposto|inverso)\b"
    r"|\bd[eoa] outr[oa] (?:cliente|pergunta|avaliacao|relatorio|projeto|loja)\b"
    rf"|\b(?:resposta|consulta|query|json|objeto|dados?|numeros?|valores) (?:{_WRONG}|de mentira|ao acaso)"
    r"|\b(?:o|ao) (?:contrario|oposto|inverso) d(?:isso|isto|o que)"
)


def holds(told: Mapping[str, float]) -> float:
    """What is left of a prose answer by its facts: a quarter where it does not stand, is written in words that nobody
    knows (another language, none at all) or in any order, or is a table of figures; less, down to nothing, where it
    says the same again; nothing of a long one without words.
    """
    is_prose = told["known words"] >= LEAST_KNOWN and told["figures"] < MOST_FIGURES
    in_order = not told["odd places"] > MOST_ODD  # of a text without words it is not known
    kept = 1.0 if told["stands"] and is_prose and in_order else LEFT
    if told["words"] < math.log1p(FEW):
        kept *= told["characters"] <= math.log1p(SHORT)
    else:
        kept *= clip((told["variety of threes"] - NO_VARIETY) / (VARIETY - NO_VARIETY))
    return kept * clip(1 - 2 * told["said twice"])


def stands(text: str) -> bool:
    """Whether it offers one answer and does not take it back."""
    told = plain(text)
    return not (_SEVERAL.search(told) or _DENIED.search(told) or _TAKEN_BACK.search(told) or _is_joined(text))


def _is_joined(text: str) -> bool:
    """Whether two answers stand side by side: a sign, «ou» or «or» by itself behind a sentence, and another begins."""
    read = [token for token in text.split() if not _PICTURE.fullmatch(token)]
    return any(
        _ENDED.search(before) and _JOINT.fullmatch(token) and _BEGINS.match(behind)
        for before, token, behind in zip(read, read[1:], read[2:], strict=False)
    )


_PICTURE = re.compile(r"[\u2190-\U0001faff\ufe0f\u200d]+")
_ENDED = re.compile(r"(?:(?<!\betc)(?<!\bex)[.!?}]|```)[\"')*]{0,3}$")
_JOINT = re.compile(r"=+>?|/+|\\[a-z]+|or|ou", re.IGNORECASE)
_BEGINS = re.compile(r"[\"'*({`]{0,3}[A-ZÀ-Ý{`]")
