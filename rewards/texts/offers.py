"""What a push offers: kinds of offers in words and codes of coupons, in an answer and granted by its brief."""

import re
from collections import Counter
from pathlib import Path

from rewards.parsing.text import PORTUGUESE, fold, word_set, words
from rewards.texts import numbers

_FREE = r"(?:gratis|gratuit\w|(?:frete|custo|preco|sai) zero|de graca|cortesia|nossa conta|por conta da|sem custo)"
OFFERS = {
    kind: re.compile("|".join(patterns))
    for kind, patterns in {
        "frete": (
            rf"\b(?:frete|entrega|envio)\b.{{0,25}}\b(?:zero\b|e (?:com a gente|nosso)\b|{_FREE})"
            rf"|\bfrete\b.{{0,15}}\bmetade",
            r"\b(?:sem|nao (?:cobr|pag)\w+) (?:pagar |d[eo] )?(?:o |a )?(?:frete|taxa|entrega)\b(?! grat)",
        ),
        "gratis": (
            rf"\b{_FREE}",
            r"\bna faixa\b(?! de)|\bnao paga\b|\bsem pagar\b|\b(?:custo|preco) zero\b",
        ),
        "desconto": (
            r"\bdescont|\boff\b|\bpromo|\bliquida|\bbarat[oa]|\bqueima|(?:%|\d) a menos\b|\bem conta\b",
            r"\bpreco (?:menor|de fabrica)|\bmenor preco|\babatiment|\bsald(?:ao|oes)\b",
        ),
        "oferta": (
            r"\bofertas?\b|\bpreco (?:espec|caiu|baix|reduz|imbativel)|\bcusta menos|\b(?:com|a) preco (?!(?:e|de) )",
            r"\bn?es[st]e preco\b|\bbaix\w+ (?:de |o )?preco",
        ),
        "metade": (r"\bmetade d|(?<!quase )\bpela metade|\bmeio preco",),
        "cupom": (r"\bcupo[mn]|\bcodigo\b|\bvouchers?\b|\bvale.compra",),
        "leve": (
            r"\d.{0,30}\bpag(?:ue|a|ar|am|os)\b (?:so |apenas )?\d+\b(?! ?%)",
            r"\b\d (?:por|pelo preco de) (?:um|uma|\d)\b|\bleve (?:mais|\d) e pag(?:ue|a)\b",
        ),
        "segundo": (
            r"\b(?:(?:segund|terceir|outr)[oa]|2[ao])\b(?! vez).{0,30}(?:\bmetade|\bgratis|\bdescont|%|nossa conta)",
            r"(?:%|metade|descont\w*) n[ao] (?:segund|2)|\bproxim[ao] (?:e |sai )?por nossa conta",
            r"\bem dobro\b|\bdobre\b",
        ),
        "brinde": (
            r"(?<!merece um )\bbrinde|\bbonus\b|\bvai junto\b|\b(?:mimo (?:inclu|na|extra)|(?:mimo|presente) surpresa)",
            r"\bganh(?:e|a) (?:um|uma|outr[oa]|[ao])\b(?! cupom| descont)"
            r"|\b(?:leva|tem) (?:um |outro )?(?:presente|mimo)\b|\b(?:leva|com) (?:uma )?surpresa\b",
        ),
        "cashback": (
            r"\bcashback\b|\bdinheiro de volta|(?:%|\d) de volta\b|\bcreditos? n",
            r"\b(?:volta|cai)m? (?:na|para|pra) (?:a )?(?:sua|tua)",
        ),
        "parcelas": (r"\bjuros\b|\bparcel|\b\d{1,2}x\b|\b(?:por|ao) mes\b|\bpague (?:depois|so em)\b|\bso pague\b",),
        "pressa": (
            r"\bultim[oa]s? (?:\d+ )?(?:unidad|pecas|pares|chanc|horas|dias)|\brestam\b"
            r"|\bestoque (?:limit|no fim|acab)",
            r"\bestao? acabando\b(?!\?)|\bpouc[oa]s (?:unidad|pecas)|\brelampago\b|\btempo limitado",
        ),
        "sorteio": (r"\bsorte(?:io|ar)|\bconcorr[ae]\b|\bpremios?\b|\breembols|\bgarantia (?:vital|total|de \d+ an)",),
        "servico": (r"\b(?:expressa|imediata)\b|\binclu(?:s[oa]|id[oa])s?\b|\b(?:montagem|instalacao) grat",),
        "tudo": (
            r"\btod[oa]s? (?:[oa]s? )?(?:site|loja|departamento|estoque|produt\w+)\b",
            r"\b(?:loja|site) (?:inteir|tod)[oa]\b",
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
_DEADLINE = re.compile(r"\bhoje\b|\bate (?!\d)|\bprazo\b|\bdia \d|\bamanha\b|\bhoras?\b|\d ?h\b")
_GIVES = re.compile(r"\bganh|\bbrinde|\bmimo\b|\bde presente")
"""What says in a brief that something is given beside the product."""
_DENIED = re.compile(
    r"\b(?<!fique )(?:sem|nao|nem|nunca|nenhum\w?)\b"
    r"(?! (?:gast|juros|pag\w+|perc|esque|fique|frete(?! grat)|cobr\w+|taxa|custo))(?: [a-z]+){0,5}"
)
_CODE = re.compile(r"(?i:\b(?:cupom|c[oó]digo|voucher|digite|use)\b)[^A-Z.!?\n]{0,25}(?-i:\b([A-Z][A-Z\d]{3,})\b)")
_OTHER_HALF = re.compile(
    r"\b(?!produto\b|por\b|quase\b|fic|sai|est|agora\b|hoje\b|lev|cai|vai\b)[a-z]{3,} pela metade\b"
)
"""Half of the price of something else («colher pela metade»)."""
HALF, NEARLY_HALF = 50, 60
"""A discount in per cent of which one may say that it is half of the price."""
_STOCK = word_set("""
    aprov garan confi compr corra corre merec ofert novid chego vem venha hoje agora loja site voce para leve perca
    confe desco off cupom cupo frete grati apena somen entre clique toque olha sobre descu conhe nossa nosso chega
    esper promo cliqu visit temo acess
    """)
_LINES = (Path(__file__).parents[1] / "corpus" / "push.txt").read_text(encoding="utf-8").splitlines()
OFTEN = 45
"""In how many pushes for anything a word stands that fits all of them."""


def is_call(stem: str) -> bool:
    """Whether a word advertises whatever it stands beside."""
    return stem[:5] in _STOCK


def is_stock(stem: str) -> bool:
    """Whether a word stands in a push for anything."""
    return is_call(stem) or _IN_PUSHES[stem] >= OFTEN


def stem_of(word: str) -> str:
    """A folded word without its plural and what else hangs at a long one."""
    return word[:7].rstrip("smn")


def stems(said: str) -> list[str]:
    """The beginnings of the words of a text that carry meaning."""
    return [stem_of(word) for word in words(said) if word not in PORTUGUESE and (len(word) > 2 or word.isdigit())]


_IN_PUSHES = Counter(stem for line in _LINES for stem in {*stems(line)})


def undenied(said: str) -> str:
    """A text, folded, without what it denies («não prometer frete»)."""
    return _DENIED.sub(" ", fold(said))


def kinds(said: str, product: str = "") -> set[str]:
    """The kinds of offers that a text makes; the product's own name makes none, unless it is one («frete grátis»), and
    neither does what is denied."""
    folded = numbers.digits(_CODE.sub(lambda found: found[0].removesuffix(found[1]), said))
    name = numbers.digits(product.strip())
    is_offer = any((found := offer.search(name)) and found[0] == name for offer in OFFERS.values())
    folded = undenied(folded.replace(name, " ") if name and not is_offer else folded)
    return {kind for kind, offer in OFFERS.items() if offer.search(folded)}


def kinds_beside(said: str, brief: str, product: str) -> set[str]:
    """The kinds of offers that an answer makes; a code of its brief makes none («SURPRESA»)."""
    for code in codes(brief):
        said = said.replace(code, " ")
    return kinds(said, product)


def codes(said: str) -> set[str]:
    """The codes of coupons that a text names."""
    return set(_CODE.findall(said))


def other_codes(said: str, brief: str) -> set[str]:
    """The codes that a text names and its brief does not."""
    return {code for code in codes(said) if fold(code) not in words(brief)}


def granted(brief: str, product: str = "", said: str = "") -> set[str]:
    """The kinds of offers that a brief grants, with those that follow from them: any share in per cent, or a second
    price, grants «desconto». `said`: where it tells half of the price of something else, «metade» is not granted."""
    given = kinds(brief, product)
    folded = fold(brief).replace(fold(product) or "\0", " ")
    told = numbers.told(brief)
    known = told.numbers
    shares = [number.value for number in known if number.unit == "%"]
    prices = {number.value for number in known if number.unit == "R$"}
    if len(prices) > 1 or shares:
        given.add("desconto")
    if codes(brief):
        given.add("cupom")
    if prices or given:
        given.add("oferta")
    if max(shares, default=0) >= HALF and not _OTHER_HALF.search(fold(said).replace(fold(product) or "\0", "produto")):
        given.add("metade")
    if _SCARCE.search(folded) or told.dates or numbers.weekdays(brief) or _DEADLINE.search(folded):
        given.add("pressa")
    if _GIVES.search(folded):
        given.add("brinde")
    return given | {_IMPLIED[kind] for kind in given if kind in _IMPLIED}


def is_half(amount: numbers.Number) -> bool:
    """Whether an amount may be told as half of the price."""
    return amount.unit == "%" and HALF <= amount.value < NEARLY_HALF


def forbidden(brief: str) -> set[str]:
    """What a brief wants left out («não citar CTR»): the words of what it denies that stand nowhere else in it."""
    folded = fold(brief)
    denied = {stem for found in _DENIED.findall(folded) for stem in stems(found)}
    return {stem for stem in denied - set(stems(undenied(folded))) if not is_stock(stem)}
