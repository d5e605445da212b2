"""Words by which a push calls to act, speaks to somebody, or is about a push, in folded text."""

import re

from rewards.parsing.text import any_of

URGES = any_of("""
    aproveit* garant* compr* confir* corr* pegue leve descubr* experiment* volt* vem venha veja entr* finaliz* renov*
    gratis desconto* off cupom ultim* so ate hoje agora chegou estoque frete oferta promocao
    """)
_INVITES = any_of("""
    voce voces seu seus sua suas te teu tua oi ola oba ei chegou espera* saudad* quer precisa* aproveit* garant* confir*
    corre* corra* pegue leve descubr* experiment* vem venha veja finaliz* renov* compre* compra* volt* hoje tem chega*
    ai bora clube escolh* pront* imagin* nova novo hora
    """)
CALLS = re.compile(
    r"(?:\A\s*|[.!?:;,]\s+)[a-z]+(?:[aei]r|[eai]ca|[io]que|igue|[oi]ge|ina|[iu]re|ote|ente|aia|eje)\b|\be so [a-z]+r\b"
)
"""A clause that begins as a call («toque», «peça», «meça»)."""
_PRICED = re.compile(r"\b(?:por|so|a) r\$")
"""A price that is offered: it invites, and calls to nothing."""
_OPENS = re.compile(r"\A\W*(?:[a-z]+[ ,]+[a-z][a-z ,]{1,30}|aviso|alerta)(?<! push): ?\w")
"""A turn before a colon, in front of what is offered («Problema resolvido: …»), which is more than a thing's name."""


def invites(folded: str) -> bool:
    """Whether a folded push speaks to somebody, calls to act or opens a price with a turn."""
    said = any(turn.search(folded) for turn in (_INVITES, CALLS, _PRICED, _OPENS))
    return said or "!" in folded or "?" in folded


_STOCK = any_of("""
    merec* oferta ofertas novidad* loja site aqui cliqu* toqu* acess* nosso nossa nossos nossas esper* aproveit* garant*
    confir* compr* corr* vem venha pegue leve agora hoje voce gratis frete desconto cupom apenas chegou gente perca
    """)
"""What stands in any push."""
_WORD = re.compile(r"\b[^\W\d_]{4,}\b")
OWN_WORDS = 2
FLAT = 0.875
"""Credit of a push of stock words around product and offer."""


def flat(folded: str, brief: str) -> float:
    """Credit for words of its own: less for a folded text that says of its product what is said of any."""
    own = {word for word in _WORD.findall(folded) if word not in brief and not _STOCK.match(word)}
    return 1.0 if len(own) >= OWN_WORDS else FLAT


_KEYWORDS = re.compile(
    r"\b(?:ja|hoje|oferta|desconto|promocao|aproveite), (?:coracao\b)"
    r"|(?:\A|[,:.!?]\s?)(?:oferta|promocao|desconto|frete)s?, (?:ja|oferta|promocao|desconto|so hoje|aproveite)\b"
)
"""Advertising words strung together («já, oferta, desconto»)."""
_ABOUT = re.compile(r"\bpush\b")


def is_none(folded: str) -> bool:
    """Whether a folded text tells what a push is, or strings advertising words together, and is none."""
    return bool(_ABOUT.search(folded) or _KEYWORDS.search(folded))
