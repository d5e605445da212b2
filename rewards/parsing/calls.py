"""Words by which a push calls to act, speaks to somebody, or is about a push, in folded text."""

import re

from rewards.parsing.text import any_of, fold
from rewards.types import PromptLike

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
_PADS = re.compile(
    r"\b(?:outros produtos|todo o (?:brasil|pais)|formas de pagamento|todas as (?:nossas )?(?:condicoes|lojas))\b"
)


def pads(folded: str) -> bool:
    """Whether a folded push goes on about the shop («temos muitos outros produtos»)."""
    return bool(_PADS.search(folded))


_HOLLOW = re.compile(
    r"\b(?:tem|merece:?|chegou:?|tal) (?:(?:para voce(?!:)|com|sem)\b|por r\$|por \d)"
    r"|\b(?:merece|chegou):[^\w]*(?:vem|corra|\Z)"
    r"|\b(?:ja|hoje|oferta|desconto|promocao|aproveite), (?:coracao\b)"
    r"|(?:\A|[,:.!?]\s?)(?:oferta|promocao|desconto|frete)s?, (?:ja|oferta|promocao|desconto|so hoje|aproveite)\b"
)


def is_hollow(folded: str) -> bool:
    """Whether a folded push offers nothing where its product should stand («Oi! Tem para você»), or strings advertising
    words together («já, oferta, desconto»)."""
    return bool(_HOLLOW.search(folded))


_WORD = re.compile(r"\b[^\W\d_]{4,}\b")
OWN_WORDS = 2
FLAT = 0.875
"""Credit of a push of stock words around product and offer."""


def flat(folded: str, brief: str) -> float:
    """Credit for words of its own: less for a folded text that says of its product what is said of any."""
    own = {word for word in _WORD.findall(folded) if word not in brief and not _STOCK.match(word)}
    return 1.0 if len(own) >= OWN_WORDS else FLAT


_ASKED = re.compile(r"\b(?:monte|escreva|crie|faca|elabore|prepare|redija)\b")


def is_order(folded: str, prompt: PromptLike) -> bool:
    """Whether a folded push has the order of its brief («Monte de batom», «Escreva uma panela»)."""
    product = prompt.reference.get("product", "")
    verbs = "|".join(_ASKED.findall(fold(prompt.user)))
    thing = re.escape(next(iter(fold(product).split()), "push"))
    again = rf"\b(?:{verbs}) (?:de|nao|para quem|(?:hoje, )?(?:uma? )?{thing})\b"
    return bool(verbs and re.search(again, folded))
