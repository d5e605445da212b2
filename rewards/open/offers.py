"""What a push offers: kinds of offers in words and codes of coupons, in an answer and granted by its brief."""

import re

from rewards.open import numbers
from rewards.parsing.text import PORTUGUESE, fold, word_set, words

_FREE = r"(?:gratis|gratuit\w|(?:frete|custo|preco|sai) zero|de graca|cortesia|nossa conta|por conta da|sem custo)"
OFFERS = {
    kind: re.compile("|".join(patterns))
    for kind, patterns in {
        "frete": (
            rf"\b(?:frete|entrega|envio)\b.{{0,25}}\b(?:zero\b|{_FREE})",
            r"\b(?:sem|nao cobr\w+) (?:pagar )?(?:o |a )?(?:frete|taxa|entrega)\b(?! grat)",
        ),
        "gratis": (rf"\b{_FREE}", r"\bna faixa\b|\bsurpresa\b|\bnao paga\b|\bincluso na\b"),
        "desconto": (
            r"\bdescont|\boff\b|\bpromo|\bliquida|\bbarat[oa]|\bqueima|(?:%|\d) a menos\b|\bem conta\b",
            r"\bpreco (?:menor|caiu|baix)|\bbaix\w+ (?:de |o )?preco",
        ),
        "oferta": (r"\bofertas?\b|\bpreco espec|\bcusta menos|\bmenor preco",),
        "metade": (r"\bmetade d|(?<!quase )\bpela metade|\bmeio preco",),
        "cupom": (r"\bcupo[mn]|\bcodigo\b|\bvouchers?\b",),
        "leve": (
            r"\d.{0,30}\bpag(?:ue|a|ar|am|os)\b (?:so |apenas )?\d+\b(?! ?%)",
            r"\b\d (?:por|pelo preco de) (?:um|uma|\d)\b",
        ),
        "segundo": (
            r"\b(?:segund[oa]|2[ao])\b(?! vez).{0,30}(?:\bmetade|\bgratis|\bdescont|%|nossa conta)",
            r"(?:%|metade|descont\w*) n[ao] (?:segund|2)|\bem dobro\b|\bdobre\b",
        ),
        "brinde": (
            r"(?<!merece um )\bbrinde|\bbonus\b|\bvai junto\b|\bmimo (?:inclu|na|extra)",
            r"\bganh(?:e|a) (?:um|uma|outr[oa]|[ao])\b(?! cupom| descont)",
        ),
        "cashback": (
            r"\bcashback\b|\bdinheiro de volta|(?:%|\d) de volta\b|\bcreditos? n",
            r"\b(?:volta|cai)m? (?:na|para|pra) (?:a )?(?:sua|tua)",
        ),
        "parcelas": (r"\bjuros\b|\bparcel|\b\d{1,2}x\b|\b(?:por|ao) mes\b|\bpague (?:depois|so em)\b|\bso pague\b",),
        "pressa": (
            r"\bultim[oa]s (?:\d+ )?(?:unidad|pecas|pares|chanc|horas)|\brestam\b|\bestoque (?:limit|no fim|acab)",
            r"\bestao? acabando\b(?!\?)|\bpouc[oa]s (?:unidad|pecas)|\brelampago\b",
        ),
        "sorteio": (
            r"\bsorte(?:io|ar)|\bconcorr[ae]\b|\bpremios?\b|\breembols|\bgarantia (?:vital|total)|\bexpressa\b",
        ),
        "tudo": (
            r"\btod[oa]s? (?:[oa]s? )?(?:site|loja|departamento|estoque|pais|brasil|produt\w+)\b",
            r"\b(?:mes|loja|site) inteir[oa]\b",
        ),
    }.items()
}
"""Kinds of offers, in folded text."""
_IMPLIED = {
    **dict.fromkeys(("leve", "segundo", "cupom", "metade"), "desconto"),
    **dict.fromkeys(("frete", "brinde"), "gratis"),
}
_SCARCE = re.compile(
    r"\bpouc[oa]|\brestam|\bunidad|\bpecas\b|\bvagas\b|\blimitad|\bacab(?:ar|e)\b|\bdurar|\besgot|\bestoque (?:curto|:)"
)
"""What says in a brief that there is not much of a thing."""
_GIVES = re.compile(r"\bganh|\bbrinde|\bmimo\b|\bde presente")
"""What says in a brief that something is given beside the product."""
_DENIED = re.compile(
    r"\b(?:sem|nao|nem|nunca|nenhum\w?)\b"
    r"(?! (?:gast|juros|pag\w+|perc|esque|fique|frete(?! grat)|cobr\w+ frete|taxa|custo))(?: [a-z]+){0,5}"
)
_CODE = re.compile(r"(?i:\b(?:cupom|c[oó]digo|voucher|digite|use)\b)[^A-Z.!?\n]{0,25}(?-i:\b([A-Z][A-Z\d]{3,})\b)")
HALF = 50
"""A discount in per cent of which one may say that it is half of the price."""
_STOCK = word_set("""
    aprov garan confi compr corra corre merec ofert novid chego vem venha hoje agora loja site voce para leve perca
    confe desco off cupom frete grati apena somen entre clique toque olha sobre descu conhe nossa nosso chega esper
    promo
    """)


def is_stock(stem: str) -> bool:
    """Whether a word stands in a push for anything."""
    return stem[:5] in _STOCK


def stem_of(word: str) -> str:
    """A folded word without its plural and what else hangs at a long one."""
    return word[:7].rstrip("smn")


def stems(said: str) -> list[str]:
    """The beginnings of the words of a text that carry meaning."""
    return [stem_of(word) for word in words(said) if word not in PORTUGUESE and (len(word) > 2 or word.isdigit())]


def undenied(said: str) -> str:
    """A text, folded, without what it denies («não prometer frete»)."""
    return _DENIED.sub(" ", fold(said))


def kinds(said: str, product: str = "") -> set[str]:
    """The kinds of offers that a text makes; the product's own name makes none, and neither does what is denied."""
    folded = numbers.digits(said)
    folded = undenied(folded.replace(numbers.digits(product), " ") if product else folded)
    return {kind for kind, offer in OFFERS.items() if offer.search(folded)}


def codes(said: str) -> set[str]:
    """The codes of coupons that a text names."""
    return set(_CODE.findall(said))


def granted(brief: str) -> set[str]:
    """The kinds of offers that a brief grants, with those that follow from them."""
    given = kinds(brief)
    folded = fold(brief)
    known = numbers.told(brief).numbers
    shares = [number.value for number in known if number.unit == "%"]
    prices = {number.value for number in known if number.unit == "R$"}
    if len(prices) > 1 or shares:
        given.add("desconto")
    if codes(brief):
        given.add("cupom")
    if prices or given:
        given.add("oferta")
    if max(shares, default=0) >= HALF:
        given.add("metade")
    if _SCARCE.search(folded):
        given.add("pressa")
    if _GIVES.search(folded):
        given.add("brinde")
    return given | {_IMPLIED[kind] for kind in given if kind in _IMPLIED}


def forbidden(brief: str) -> set[str]:
    """What a brief wants left out («não citar CTR»): the words of what it denies that stand nowhere else in it."""
    folded = fold(brief)
    denied = {stem for found in _DENIED.findall(folded) for stem in stems(found)}
    return {stem for stem in denied - set(stems(undenied(folded))) if not is_stock(stem)}
