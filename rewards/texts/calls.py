"""Turns of a folded push: what speaks to somebody, pads, offers nothing, or is the order of its brief."""

import re

from rewards.parsing.text import any_of, fold
from rewards.types import PromptLike

_INVITES = any_of("""
    voce voces seu seus sua suas te teu tua oi ola oba ei chegou espera* saudad* quer precisa* aproveit* garant* confir*
    corre* corra* pegue leve descubr* experiment* vem venha veja finaliz* renov* compre* compra* volt* hoje tem chega*
    ai bora clube escolh* pront* imagin* nova novo hora
    """)
_CALLS = re.compile(
    r"(?:\A\s*|[.!?:;,]\s+)[a-z]+(?:[aei]r|[eai]ca|[io]que|igue|[oi]ge|ina|[iu]re|ote|ente|aia|eje)\b|\be so [a-z]+r\b"
)
"""A clause that begins as a call («toque», «peça», «meça»)."""
_PRICED = re.compile(r"\b(?:por|so|a) r\$")
"""A price that is offered: it invites, and calls to nothing."""
_OPENS = re.compile(r"\A\W*(?:[a-z]+[ ,]+[a-z][a-z ,]{1,30}|aviso|alerta)(?<! push): ?\w")
"""A turn before a colon, in front of what is offered («Problema resolvido: …»), which is more than a thing's name."""


def invites(folded: str) -> bool:
    """Whether a folded push speaks to somebody, calls to act or opens a price with a turn."""
    said = any(turn.search(folded) for turn in (_INVITES, _CALLS, _PRICED, _OPENS))
    return said or "!" in folded or "?" in folded


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


_ASKED = re.compile(r"\b(?:monte|escreva|crie|faca|elabore|prepare|redija)\b")


def is_order(folded: str, prompt: PromptLike) -> bool:
    """Whether a folded push has the order of its brief («Monte de batom», «Escreva uma panela»)."""
    product = prompt.reference.get("product", "")
    verbs = "|".join(_ASKED.findall(fold(prompt.user)))
    thing = re.escape(next(iter(fold(product).split()), "push"))
    again = rf"\b(?:{verbs}) (?:de|nao|para quem|(?:hoje, )?(?:uma? )?{thing})\b"
    return bool(verbs and re.search(again, folded))
