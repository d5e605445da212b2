"""Whether a push names its product and passes on what its brief offers. What it invents: rewards/open/push.py."""

import re

from rewards.open import offers as shared
from rewards.parsing.text import figures, fold, words
from rewards.types import PromptLike


def offers_something(brief: str, product: str) -> bool:
    """Whether a brief has an offer to pass on: a figure, a code, one in words."""
    return bool(figures(brief.replace(product, "")) or shared.kinds(brief, product))


def passes_on(answer: str, brief: str, product: str) -> bool:
    """Whether an answer tells in words what its brief offers; true where the brief offers nothing at all."""
    given = shared.granted(brief, product) - {"oferta", "pressa"}
    if not given:
        return not figures(fold(brief).replace(fold(product), " "))
    return bool(given & shared.kinds_beside(answer, brief, product)) or any(
        code in answer for code in shared.codes(brief)
    )


def names_product(prompt: PromptLike, answer: str) -> bool:
    """Whether the answer contains the product's name or one of its terms as whole words, accents and case ignored.

    A term that goes on otherwise than the name («fone de parede» for «fone de ouvido») is another product.
    """
    product = words(prompt.reference.get("product", ""))
    said = words(answer)
    for term in map(words, (prompt.reference.get("product", ""), *prompt.reference.get("terms", ()))):
        forms = (term, _plural(term)) if term and term == product else (term,)
        for place in range(len(said) - len(term) + 1 if term else 0):
            if said[place : place + len(term)] in forms and not _goes_on(said[place + len(term) :][:2], product):
                return True
    return False


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


def leads_to_product(prompt: PromptLike, answer: str) -> bool:
    """Whether the product's name stands somewhere where a thing is named: at the beginning of a clause, or behind an
    article or a word that offers it. «Você não se vê de celular» names it and speaks of nothing."""
    said = " ".join(fold(re.sub(r"(?i)\bé\b", "eh", answer)).split())
    names = (fold(name) for name in (prompt.reference.get("product", ""), *prompt.reference.get("terms", ())))
    return any(
        _LEADS_TO_IT.search(before := said[max(0, found.start() - _LOOKED_BACK) : found.start()])
        or any(turn.search(before) and goes_on.match(said, found.end()) for turn, goes_on in _TURNS)
        or re.match(r" nov[ao]s?\b", said[found.end() :])
        for name in filter(str.strip, names)
        for found in re.finditer(rf"\b(?:{re.escape(name)}(?:s|es)?|{re.escape(name[:-1])}ns)\b", said)
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


def _plural(term: list[str]) -> list[str]:
    """Several of a thing («saias», «batons», «fones de ouvido»)."""
    head = term[0]
    several = f"{head[:-1]}ns" if head.endswith("m") else f"{head}es" if head.endswith(("r", "z")) else f"{head}s"
    return [several, *term[1:]]


def _goes_on(behind: list[str], product: list[str]) -> bool:
    """Whether a product's name has «de» in it, and another «de …» stands behind its first word."""
    of = product[1:3]
    return len(of) == len(behind) == 2 and of[0] == behind[0] == "de" and of[1] != behind[1]


def push_figures(prompt: PromptLike) -> list[float]:
    """The numbers that a push may mention: its reference's, or without a reference its prompt's."""
    if prompt.reference:
        return [float(number) for number in prompt.reference.get("figures", ())]
    return [figure.value for figure in figures(prompt.user)]
