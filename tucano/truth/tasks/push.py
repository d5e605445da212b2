"""Facts of `push`: whether the product is named, and whether what is offered is what the brief grants."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tucano.truth import contexts
from tucano.truth.facts import UNKNOWN, text_facts
from tucano.truth.reading import plain, words
from tucano.truth.standing import holds
from tucano.truth.types import PromptLike

INVENTED = 0.6
"""What the exact check leaves of a push with a share or an amount that its brief has not, and nothing leads to."""
SCREEN = 120
"""Characters that a notification shows."""
_OFFERS = {
    "shipping": r"\b(?:frete|entrega|envio)s?\b[^.!?]{0,25}\b(?:gratis|gratuit\w|zero|por nossa conta|livre)",
    "gift": r"\b(?:brindes?|mimo|de presente|ganh[ae] (?:um|uma))\b",
    "cashback": r"\b(?:cashback|de volta|pontos)\b",
    "coupon": r"\b(?:cupom|cupons|codigo|voucher)\b",
    "several": r"\b(?:leve|pague|compre) \d|\b\d por \d|\bem dobro\b|\bsegund[ao] (?:peca|unidade|item)",
    "free": r"\b(?:gratis|gratuit\w+|de graca|na faixa)\b",
    "instalments": r"\b\d{1,2} ?x\b|sem juros|parcel",
    "half": r"\bmetade\b",
    "discount": r"\b(?:desconto|off|promoc\w+|liquida\w*|oferta\w*|saldao|queima)\b",
    "scarcity": r"\bultim[ao]s? (?:unidade|peca|dia|hora|chance)|\b(?:esgot|acab)ando|poucas unidades|estoque limitado",
    "prize": r"\b(?:sorteio|premio|concorr|garantia)\b",
}
OFFERS = {kind: re.compile(pattern) for kind, pattern in _OFFERS.items()}
"""What a shop may offer, in words."""
LOOSE = frozenset({"discount", "scarcity"})
"""Said of most goods, so no «offers invented»; the figure of an invented discount is a «loose share»."""
_SPELLED = re.compile(r"\b[a-z]+ (?:por cento|reais)\b")
"""An amount in words, which is not read: then nobody knows whether one in digits is invented."""
_LABEL = re.compile(r"\bofertas?\s*:")
"""Of a brief's field, which may hold anything: «Oferta: frete grátis», «Oferta: nenhuma»."""
_CODE = re.compile(r"\b[A-Z]{3,}\d*\b")
_NAME = re.compile(r"(?<=[a-zà-ÿ,] )[A-ZÀ-Ý][a-zà-ÿ]{2,}")
MEANING = {
    "product": "1 where the first word of the product's name is said",
    "product whole": "share of the words of its name that are said",
    "length": "characters, blanks together counted once",
    "beyond the screen": "of these, such as a phone does not show",
    "offers added": "kinds of offers that the brief lacks",
    "offers left": "kinds of offers of the brief that it lacks",
    "offers invented": "kinds added, but for words that are said of most goods",
    "free added": "1 where shipping, a gift or anything else is free that the brief has not so",
    "codes added": "words in capitals that the brief lacks",
    "names added": "words with a capital inside of a sentence that the brief lacks",
    "rows": "lines with text",
    "offers": "1 where the brief offers anything",
}
RISING = frozenset({"product", "product whole", "same words", "stands"})
FALLING = frozenset({
    "beyond the screen", "offers invented", "free added", "codes added", "loose figures", "loose shares",
    "loose amounts", "loose numbers", "other part", "other words", "said twice", "borrowed 12", "odd places",
})  # fmt: skip


def facts(prompt: PromptLike, answer: str, databases: Path | None) -> dict[str, float]:
    brief, said = plain(prompt.user), plain(answer)
    name = [word for word in words(str(prompt.reference.get("product", ""))) if len(word) > 2]
    begun = {word[:4] for word in words(answer)}
    theirs, ours = _kinds(_LABEL.sub(" ", brief)), _kinds(said)
    capitals = set(_CODE.findall(answer)) - set(_CODE.findall(prompt.user.upper()))
    asked = {word[:5] for word in words(prompt.user)}
    length = len(" ".join(answer.split()))
    unread = ("loose shares", "loose amounts", "loose numbers", "loose figures") if _SPELLED.search(brief) else ()
    return {
        **text_facts(prompt.user, answer, answer),
        **contexts.figure_facts(prompt.user, answer),
        **dict.fromkeys(unread, UNKNOWN),
        "product": float(name[0][:4] in begun) if name else UNKNOWN,
        "product whole": sum(word[:4] in begun for word in name) / len(name) if name else UNKNOWN,
        "length": float(length),
        "beyond the screen": float(max(0, length - SCREEN)),
        "offers added": float(len(ours - theirs)),
        "offers left": float(len(theirs - ours)),
        "offers invented": float(len(ours - theirs - LOOSE)),
        "free added": float(bool((ours - theirs) & {"shipping", "gift", "free"})),
        "codes added": float(len(capitals - {"OFF", "HOJE"})),
        "names added": float(sum(plain(word)[:5] not in asked for word in _NAME.findall(answer))),
        "rows": float(sum(bool(row.strip()) for row in answer.splitlines())),
        "offers": float(bool(theirs)),
    }


def exact(told: Mapping[str, float]) -> float:
    """What is left of a text that is no answer, takes itself back, or invents a figure; the rest is for the judge. What
    is not known counts as none.
    """
    return holds(told) * (INVENTED if told["loose shares"] + told["loose amounts"] > 0 else 1.0)


def is_known(reference: Mapping[str, Any]) -> bool:
    return bool(reference.get("product"))


def _kinds(text: str) -> set[str]:
    return {kind for kind, pattern in OFFERS.items() if pattern.search(text)}
