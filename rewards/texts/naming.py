"""Where a push names its product: where a thing is named, or where none is."""

import re

from rewards.parsing.text import fold
from rewards.types import PromptLike

_LEADS_TO_IT = re.compile(
    r"(?:\A|[^\w\s] ?|\n|\b(?:[ao]s?|umas?|uns?|seus?|suas?|meus?|minhas?|noss[ao]s?|teus?|tuas?|ess[ae]s?|est[ae]s?"
    r"|n?aquel[ae]s?|cada|n[ao]s?|d[ao]s?|n?uma?|pel[ao]s?|aos?|em|tal|tem|temos|compr\w+|lev[ae]r?|garant\w+|peca"
    r"|ganhe|quer|escolha|pegue|confira|aproveite|experimente|conheca|chegou|chegaram|nov[ao]s?|proxim[ao]s?|bo[am]"
    r"|melhor|tod[ao]|mais|item|produto|ha|e|ou|pedem?|merecem?|procura|falta"
    r"|(?:hora|noite|tarde|tro[cq]\w+|estoque|dia|clube|tipo|loja|novidades?|ofertas?"
    r"|desconto|cupom|off|precis\w+|and[ae]r?|ir|linha|colecao|procura|busca) (?:de|em|para|pra|por)|vale (?:para|pra)"
    r"|[,;:] eh"
    r"|mesm[ao]|pr[oa]s?|pediu|pedir|faltar|ver|usar"
    r"|(?:combinam?|conforto|estilo|casa|rotina|look|visual|treino) com) )$"
)


def misplaces_product(prompt: PromptLike, answer: str) -> bool:
    """Whether the product's name stands nowhere where a thing is named: at the beginning of a clause, or behind an
    article or a word that offers it. «Você não se vê de celular» names it and speaks of nothing."""
    said = " ".join(fold(re.sub(r"(?i)\bé\b", "eh", answer)).split())
    names = (fold(name) for name in (prompt.reference.get("product", ""), *prompt.reference.get("terms", ())))
    places = [
        found
        for name in filter(str.strip, names)
        for found in re.finditer(rf"\b(?:{re.escape(name)}(?:s|es)?|{re.escape(name[:-1])}ns)\b", said)
    ]
    return bool(places) and not any(
        _LEADS_TO_IT.search(before := said[max(0, found.start() - _LOOKED_BACK) : found.start()])
        or any(turn.search(before) and goes_on.match(said, found.end()) for turn, goes_on in _TURNS)
        or re.match(r" nov[ao]s?\b", said[found.end() :])
        for found in places
    )


_TURNS = (
    (
        re.compile(
            r"\b(?:(?:bora|vem|venha|vamos|vai|sextou|partiu|comec\w+|anim\w+) (?:de|com)|partiu|(?:vontade|fome|sede"
            r"|sonho) de) $"
        ),
        re.compile(
            r"(?![^\n]{0,60}\b(?:queim\w+ [ao]s? |passe mal|coc[ae]\b|rasga\b|machuc|explod|estrag|voce nao vai ter))"
        ),
    ),
    (re.compile(r"\bquem (?:disse|falou) que $"), re.compile(r" (?:nao|eh (?:car|so\b|coisa|luxo|chat|dificil))")),
)
"""Lively turns in front of a product, each with how its sentence goes on: without harm; with a fault that is denied
(«quem disse que … é caro?»)."""
_LOOKED_BACK = 24
