"""The reward of a push in the set `grounded`: one short notification that names its product, passes on what its brief
offers and nothing else, in Portuguese that reads.

All credit is a product. What the text is as a whole: an answer at all (rewards/parsing/prose.py), one push, short, warm.
What it says: the product is named, its brief's offer is told, and nothing is false (figures, dates, further offers).
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from rewards.parsing import numbers, text
from rewards.parsing.order import is_imperative, is_infinitive
from rewards.parsing.prose import is_answer, said_twice
from rewards.parsing.text import REMEMBERED, fold, words
from rewards.types import Component, PromptLike, clip, filled

_SOURCE = "DESIGN, tasks and rewards"
LONGEST = 600
"""Characters from which on a text is no push at all: several times those from which on its length earns nothing."""
READS = (-0.55, -0.25)
"""Mean worth in the order model from which on a push is sentences, and from which on it costs nothing."""
COPIED = 0.4
"""Credit of a push in the words of its brief alone."""
FALSE = 0.25
"""Credit of a push that says something false; more false things leave no less."""
NOT_ONE = 0.4
"""Credit of several pushes or of text about a push."""
WITHOUT_PRODUCT, UNTOLD, TOO_LONG, FORMAL = 0.3, 0.3, 0.5, 0.6
"""Credit of a push without its product, without its offer, twice as long as wanted, in the tone of a letter."""
PLAIN, BARE, LOUD = 0.85, 0.65, 0.75
"""Credit of a push whose words fit any product, of one without any word of its own, and of one that shouts."""

_FREE_OF_CHARGE = (
    r"(?:gratis|gratuit\w|(?:frete|custo|preco|sai) zero|de graca|cortesia|(?:por )?nossa conta|por conta da|sem custo)"
)
OFFERS = {
    "frete": re.compile(rf"\b(?:frete|entrega|envio)\b.{{0,25}}\b(?:zero\b|{_FREE_OF_CHARGE})|\bsem (?:pagar )?(?:o |a )?(?:frete|taxa|entrega)\b(?! grat)"),
    "gratis": re.compile(rf"\b{_FREE_OF_CHARGE}|\bna faixa\b|\bsurpresa\b|\bnao paga\b|\bincluso na\b"),
    "desconto": re.compile(
        r"\bdescont|\boff\b|\bpromo|\bliquida|\bbarat[oa]|\bpreco (?:menor|caiu|baix)|\bqueima|\bbaix\w+ (?:de |o )?preco"
        r"|(?:%|\d) a menos\b|\bem conta\b"
    ),
    "oferta": re.compile(r"\bofertas?\b|\bpreco espec|\bcusta menos|\bmenor preco"),
    "metade": re.compile(r"\bmetade d|(?<!quase )\bpela metade|\bmeio preco"),
    "cupom": re.compile(r"\bcupo[mn]|\bcodigo\b|\bvouchers?\b"),
    "leve": re.compile(r"\d.{0,30}\bpag(?:ue|a|ar|am|os)\b (?:so |apenas )?\d+\b(?! ?%)|\b\d (?:por|pelo preco de) (?:um|uma|\d)\b"),
    "segundo": re.compile(r"\b(?:segund[oa]|2[ao])\b(?! vez).{0,30}(?:\bmetade|\bgratis|\bdescont|%|nossa conta)|(?:%|metade|descont\w*) n[ao] (?:segund|2)|\bem dobro\b|\bdobre\b"),
    "brinde": re.compile(r"(?<!merece um )\bbrinde|\bbonus\b|\bganh(?:e|a) (?:um|uma|outr[oa]|[ao])\b(?! cupom| descont)|\bvai junto\b|\bmimo (?:inclu|na|extra)"),
    "cashback": re.compile(r"\bcashback\b|\bdinheiro de volta|(?:%|\d) de volta\b|\bcreditos? n|\b(?:volta|cai)m? (?:na|para|pra) (?:a )?(?:sua|tua)"),
    "parcelas": re.compile(r"\bjuros\b|\bparcel|\b\d{1,2}x\b|\b(?:por|ao) mes\b|\bpague (?:depois|so em)\b|\bso pague\b"),
    "pressa": re.compile(
        r"\bultim[oa]s (?:\d+ )?(?:unidad|pecas|pares|chanc|horas)|\brestam\b|\bestoque (?:limit|no fim|acab)"
        r"|\bestao? acabando\b(?!\?)|\bpouc[oa]s (?:unidad|pecas)|\brelampago\b"
    ),
    "sorteio": re.compile(r"\bsorte(?:io|ar)|\bconcorr[ae]\b|\bpremios?\b|\breembols|\bgarantia (?:vital|total)|\bexpressa\b"),
    "tudo": re.compile(r"\btod[oa]s? (?:[oa]s? )?(?:site|loja|departamento|estoque|pais|brasil|produt\w+)\b|\b(?:mes|loja|site) inteir[oa]\b"),
}  # fmt: skip
"""Kinds of offers, in folded text."""
_IMPLIED = {"frete": "gratis", "leve": "desconto", "segundo": "desconto", "cupom": "desconto", "brinde": "gratis", "metade": "desconto"}
_SCARCE = re.compile(r"\bpouc[oa]|\brestam|\bunidad|\bpecas\b|\bvagas\b|\blimitad|\bacab(?:ar|e)\b|\bdurar|\besgot|\bestoque (?:curto|:|limit)|\bestoque: ?\d")
"""What says in a brief that there is not much of a thing."""
_DENIED = re.compile(r"\b(?:sem|nao|nem|nunca|nenhum\w?)\b(?! (?:gast|juros|pag\w+|perc|esque|fique|frete(?! grat)|taxa|custo))(?: [a-z]+){0,5}")
_CODE = re.compile(r"(?i:\b(?:cupom|c[oó]digo|voucher|digite|use)\b)[^A-Z.!?\n]{0,25}(?-i:\b([A-Z][A-Z\d]{3,})\b)")
_WHEN = re.compile(r"\bhoje\b|\bate\b|\bdia\b|\bamanha\b|\bhoras?\b|\d ?h\b|\bdom\b")
_META = re.compile(r"(?:^|[\n|;.]) ?(?:produto|oferta|tom|prazo|validade|limite|objetivo|texto|resposta \d):|\bpush\b|\beste texto\b|\bnotifica\w+|\bcaracteres\b|\bpublico\b|\bcampanha de\b|\bcart\w* de apresent")
_REFUSES = re.compile(
    r"\bnao (?:e possivel|posso|consigo|sei)\b|\bposso (?:te )?ajudar\b|\bme (?:informe|envie|diga|passe)\b|\bpreciso que\b"
    r"|\bfavor (?:re)?enviar\b|\bsegue abaixo\b"
)
_OPTION = re.compile(r"(?m)^\W*(?:(?:opcao|versao|ideia) )?(?:\d[.):-]?\ufe0f?\u20e3?|[a-c]\))\s*[:\"“]?(?=\s*\w)|^\W*opcao \w|(?:^|\s)\d\)\s")
_HEADING = re.compile(r"\A[^\n]{0,60}:\**\s*\n|\n\W{0,4}\d+ caracteres\W*\Z")
_REPELS = re.compile(
    r"\bsenha\b|\bcpf\b|\bdados (?:bancarios|do cartao)|\b(?:numero|cartao) d[eoa] (?:seu |sua )?(?:cartao|mae|pai|av[oó])|\[[^\]\n]{2,40}\]"
    r"|\b(?:cilada|pessim\w|horrive\w+|defeit\w+|porcaria|lixo|idiota|burr[oa]|otari\w|trouxa|pegadinha|mentira|morte|vergonha|pao.duro)\b"
    r"|\barrepend|\bexplod|\bpass(?:e|ar) mal|\bmachuc|\bqueim\w+ (?:a|o|sua|seu)\b|\bagiota|\bfurt|\bdirigindo|\bnunca acerta"
    r"|\bnao (?:compre|leve|vale a|clique|recomend\w+|faca o seu|presta|funciona)\b|\bmais caro\b|\bmulta\b|\bpreco cheio\b(?=\W*(?:$|,))"
    r"|\b(?:frete|entrega)\b.{0,12}\bpor sua conta|\b(?:ofertas?|promocao|descontos?|cupom \w+|off|gratis) (?:ja )?(?:acabou|venceu|expirou|encerrou|terminou)|\bacabou, mas tem|\bloja fechou"
    r"|\bcancele (?:o )?seu cadastro|\bloja ao lado|\bprefira\b|\btroque [ao] \w+ por\b|\bdeix\w+ para la\b|\bguard\w+ o dinheiro|\bcobrar\b|\b(?:tudo|tod[oa]s),? (?:menos|exceto) (?:para |pra )?voce"
    r"|\bodia|\bninguem (?:quis|precisa)|\bcom problema|\bsem os? \d+ ?%|\bse (?:voce )?(?:nao )?comprar\b|\bseu pedido .{0,30}\b(?:foi|esta) (?:aprov|confirm|envia)"
)
"""What no shop sends to its customers: fraud, insults, threats, its product talked down, its offer taken away."""
_STOCK = frozenset("""
    aprov garan confi compr corra corre merec ofert novid chego vem venha hoje agora loja site voce para leve perca
    confe desco off cupom frete grati apena somen entre clique toque olha sobre descu conhe nossa nosso chega esper
    """.split())  # fmt: skip
"""Beginnings of words that stand in a push for anything."""


@dataclass(frozen=True)
class Push:
    components: tuple[Component, ...] = (
        Component(
            "push.length",
            0.25,
            "up to 130 characters, falling to 0 at 200",
            _SOURCE,
            "weight; all credit falls with it to 50 %",
        ),
        Component(
            "push.product",
            0.30,
            "names the product",
            _SOURCE,
            "weight; by its first word, by a name or with half of its words; without it all credit shrinks to 30 %, of"
            " several pushes or text about one to 40 %",
        ),
        Component("push.portuguese", 0.20, "Portuguese that reads, of its own", _SOURCE, "weight; words for any product x .85"),
        Component(
            "push.reason",
            0.25,
            "what the brief offers is told: prices, shares, codes, kinds of offers, until when",
            _SOURCE,
            "weight; the share of it; without any 30 % of all credit is left",
        ),
        Component(
            "push.invented",
            -0.03,
            "numbers, dates and offers that the brief does not grant, or its numbers exchanged",
            _SOURCE,
            "weight; any leaves 25 % of all credit",
        ),
        Component("push.formal", -0.03, "the tone of a formal e-mail", _SOURCE, "weight; 60 % of the credit is left"),
    )

    def shares(self, prompt: PromptLike, answer: str, databases: Path | None) -> tuple[float, ...]:
        known = bool(prompt.reference.get("product", "").strip())
        if len(answer) > LONGEST:
            return (0.0,) * len(self.components)
        folded = fold(answer)
        named = names_product(prompt, answer) if known else 0.0
        told = tells_offer(prompt, answer) if known else 1.0
        false = push_inventions(prompt, answer) if known else 0
        fits = clip((200 - len(text.squeeze(answer))) / 70)
        formal = is_formal(folded)
        gate = 0.0 if repels(folded) or _REFUSES.search(folded) else is_answer(*_without_name(prompt, answer), READS, COPIED)
        gate *= is_one(prompt, answer) * (LOUD if "!!" in answer else 1.0) * (lively(prompt, answer) if known else 1.0)
        gate *= (TOO_LONG + (1 - TOO_LONG) * fits) * (FORMAL if formal else 1.0)
        if known:
            gate *= (WITHOUT_PRODUCT + (1 - WITHOUT_PRODUCT) * named) * (FALSE if false else UNTOLD + (1 - UNTOLD) * told)
        shares = (gate * fits, gate * named, gate, gate * told, float(false > 0) * named, float(formal))
        return filled(shares, self.components, frozenset({"push.product"}), known)


def is_formal(folded: str) -> bool:
    """Whether a folded text has the tone of a letter."""
    return bool(_LETTER.search(folded))


_LETTER = re.compile(
    r"\bprezad|\batenciosamente|\bcordialmente|\bestimad|\bvimos por|\bvenho por|\bvossa|\bassunto:|\binforma(?:mos|-se)\b|\bilustr"
)


def repels(folded: str) -> bool:
    """Whether a folded push says what no shop does; what it asks («Semana ruim?») or denies («sem multa») it does not."""
    return any(
        not (found.end() < len(folded) and "?" in folded[found.end() : found.end() + 12].partition(".")[0])
        and not _DENIES.search(folded[max(0, found.start() - 14) : found.start()])
        for found in _REPELS.finditer(folded)
    )


_DENIES = re.compile(r"\b(?:sem|nem|nao|nunca|ninguem|chega de|nada de|ou|antes)(?: \w+)? $")


def _without_name(prompt: PromptLike, answer: str) -> tuple[str, str]:
    """Answer and brief with the product as one noun: a name has no order, and is no copy."""
    name = re.escape(prompt.reference.get("product", "").strip())
    texts = (answer, prompt.user)
    return tuple(re.sub(name, "produto", said, flags=re.IGNORECASE) for said in texts) if name else texts  # type: ignore[return-value]


def _stem(word: str) -> str:
    return word[:7].rstrip("smn")


def _stems(said: str) -> list[str]:
    """The beginnings of the words of a text that carry meaning."""
    return [_stem(word) for word in words(said) if word not in text.PORTUGUESE and (len(word) > 2 or word.isdigit())]


@lru_cache(maxsize=REMEMBERED)
def _name(product: str, terms: tuple[str, ...]) -> tuple[list[str], set[str]]:
    """The stems of a product's name, and those of them that name it alone: the first one, and names with capitals."""
    proper = {stem for word in product.split()[1:] if word[:1].isupper() for stem in _stems(word)}
    heads = {_stems(name)[0] for name in (product, *terms) if _stems(name) and (name == product or name.split()[0] != product.split()[0])}
    ends = {_stems(term)[0] for term in terms if _stems(term) and f"de {fold(term)}" in fold(product)}
    return _stems(product), (heads - ends) | proper


def names_product(prompt: PromptLike, answer: str) -> float:
    """How clearly an answer names the product of its brief, in [0, 1]: its first word or a name of its own, or less for
    others of its words. A first word that goes on otherwise («fone de parede») is another product."""
    stems, sure = _name(prompt.reference.get("product", ""), tuple(prompt.reference.get("terms", ())))
    said = set(_stems(answer))
    if not stems or not said & set(stems) | said & sure:
        told = said & set(_stems(prompt.user)) 
        told = {stem for stem in told if stem[:5] not in _STOCK}
        return 0.5 * (sum(not stem.isdigit() for stem in told) >= _PARTS)
    if len(stems) > 1 and said & set(stems) == {stems[0]}:
        for other in re.findall(rf"\b{re.escape(stems[0])}\w* de ([a-z]{{4,}})", fold(answer)):
            if _stem(other) not in stems:
                return 0.0
    return 0.0 if _of_another(prompt, answer, stems) else 1.0 if said & sure else 0.5


_PARTS = 4
"""Words of a brief by which a push tells what its product is made of («mouse + mousepad + headset»)."""


def _of_another(prompt: PromptLike, answer: str, stems: list[str]) -> bool:
    """Whether a name of the product stands behind another thing («mouse Kaiju» for «teclado Kaiju»)."""
    said, known = _stems(answer), set(_stems(prompt.user))
    known |= {stem for term in prompt.reference.get("terms", ()) for stem in _stems(term)}
    if stems[0] in said:
        return False
    for name in stems[1:]:
        for before in re.findall(rf"(?:\A|[.!?:] |\b(?:[ao]s?|seu|sua|uma?|d[ao]) )([a-z]{{4,}}) {re.escape(name)}", fold(answer)):
            if before not in text.PORTUGUESE and _stem(before) not in known and before[:5] not in _STOCK:
                return not is_imperative(before) and not is_infinitive(before)
    return False


def is_one(prompt: PromptLike, answer: str) -> float:
    """Credit of a text by whether it is one push: several to choose from, or one about pushes, are none."""
    body = _HEADING.sub("", fold(answer))
    lines = [line for line in answer.splitlines() if line.strip()]
    several = len(_OPTION.findall(fold(answer))) > 1 or sum(names_product(prompt, line) == 1 for line in lines) > 1
    meta = [word for word in _META.findall(body) if word not in fold(prompt.reference.get("product", ""))]
    return NOT_ONE ** (several + min(2, 2 * len(meta)) + said_twice(answer))


def lively(prompt: PromptLike, answer: str) -> float:
    """Credit of a push by its words: less where they are those of any push, and where there are none beside the brief's."""
    own = {stem for stem in _stems(answer) if not stem.isdigit()} - set(_stems(prompt.reference["product"]))
    own -= {_stem(fold(code)) for code in _codes(prompt.user)}
    return BARE if len(own) < 1 else PLAIN if sum(stem[:5] not in _STOCK for stem in own) < 2 else 1.0


def _kinds(said: str, product: str) -> set[str]:
    """The kinds of offers that a text makes; the product's own name makes none, and neither does what is denied."""
    folded = numbers.digits(said)
    folded = _DENIED.sub(" ", folded.replace(numbers.digits(product), " ") if product else folded)
    return {kind for kind, offer in OFFERS.items() if offer.search(folded)}


def _codes(said: str) -> set[str]:
    return set(_CODE.findall(said))


def _granted(prompt: PromptLike) -> set[str]:
    """The kinds of offers that a brief grants, with those that follow from them."""
    given = _kinds(prompt.user, "")
    known = numbers.told(prompt.user).numbers
    shares = [number.value for number in known if number.unit == "%"]
    prices = {number.value for number in known if number.unit == "R$"}
    if len(prices) > 1 or shares:
        given.add("desconto")
    if _codes(prompt.user):
        given.update(("cupom", "desconto"))
    if prices or given:
        given.add("oferta")
    if max(shares, default=0) >= HALF:
        given.add("metade")
    if _SCARCE.search(fold(prompt.user)):
        given.add("pressa")
    if re.search(r"\bganh|\bbrinde|\bmimo\b|\bde presente", fold(prompt.user)):
        given.add("brinde")
    return given | {_IMPLIED[kind] for kind in given if kind in _IMPLIED}


HALF = 50
"""A discount in per cent of which one may say that it is half of the price."""


def push_inventions(prompt: PromptLike, answer: str) -> int:
    """How many false things a push says: numbers, dates, days and codes that its brief does not know, numbers of it in
    each other's place, kinds of offers that it does not grant, another thing beside its product."""
    product = prompt.reference.get("product", "")
    said, known = numbers.told(_HEADING.sub("", answer)), numbers.told(prompt.user)
    found = len(numbers.unknown(said, known)) + numbers.exchanged(said, known) + numbers.other_dates(said, known)
    found += numbers.other_weekday(answer, prompt.user) + numbers.rises(said)
    found += len({code for code in _codes(answer) if fold(code) not in fold(prompt.user)})
    found += len(_kinds(answer, product) - _granted(prompt)) + _offers_another(prompt, answer)
    return found + bool(forbidden(prompt) & set(_stems(_DENIED.sub(" ", fold(answer)))))


def forbidden(prompt: PromptLike) -> set[str]:
    """What a brief wants left out («não citar CTR»): the words of what it denies that stand nowhere else in it."""
    folded = fold(prompt.user)
    denied = {stem for found in _DENIED.findall(folded) for stem in _stems(found)}
    return denied - set(_stems(_DENIED.sub(" ", folded))) - {stem for stem in denied if stem[:5] in _STOCK}


def _offers_another(prompt: PromptLike, answer: str) -> bool:
    """Whether something else is offered beside the product («leve uma panela e um fone»)."""
    head = next(iter(_stems(prompt.reference.get("product", ""))), "")
    if not head:
        return False
    beside = re.findall(rf"\b(?:tem|leve|uma?|compre|garanta|[ao]) ([a-z]{{4,}}) e (?:(?:uma?|[ao]|seu|sua) )?{re.escape(head)}", fold(answer))
    known = {*_stems(prompt.user), *map(_stem, ("voce", "estilo", "conforto", "qualidade"))}
    return any(_stem(thing) not in known for thing in beside)


def tells_offer(prompt: PromptLike, answer: str) -> float:
    """Share of what a brief offers that a push tells, in [0, 1]: prices, shares, codes and kinds of offers one each, a
    time that is set a half; 1 where nothing is offered."""
    product = prompt.reference.get("product", "")
    told, known = numbers.told(answer), numbers.told(fold(prompt.user).replace(fold(product), " "))
    values = {number.value for number in told.numbers}
    amounts = {number.value for number in known.numbers if number.unit in ("%", "R$")}
    parts = [(1.0, value in values) for value in amounts]
    parts += [(1.0, code in answer) for code in _codes(prompt.user)]
    given, kinds = _kinds(prompt.user, ""), _kinds(answer, product)
    implied = {"desconto", "gratis", "tudo", "pressa", "metade", "oferta", *(("cupom",) if _codes(prompt.user) else ())}
    parts += [(1.0, kind in kinds) for kind in given - implied]
    if not parts:
        parts += [(1.0, kind in kinds) for kind in given & {"gratis", "metade"}]
    if known.dates or numbers.weekdays(prompt.user):
        parts.append((0.5, bool(told.dates or numbers.weekdays(answer) or _WHEN.search(fold(answer)))))
    whole = max(1.0, sum(weight for weight, _ in parts)) if parts else 0.0
    if amounts and len(amounts) == 2 and max(amounts) in amounts - values and min(amounts) in values:
        whole -= 0.5  # the old price may be left out
    return clip(sum(weight for weight, there in parts if there) / whole / ENOUGH) if whole else 1.0


ENOUGH = 0.75
"""Share of what a brief tells that a push has to pass on: it also tells what has been, and what the shop alone needs."""
