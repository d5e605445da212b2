"""What a text offers: discounts, prices, coupons, gifts, in figures or in words; and whether a brief grants it."""

import re

from tucano.truth.figures import Figure, figures
from tucano.truth.reading import plain

_LATER = (
    r"(?:em|no|na|depois d[aeo]|a partir de|daqui a) (?:janeiro|fevereiro|marco|abril|maio|junho|julho|agosto|setembro"
    r"|outubro|novembro|dezembro|proximo mes|mes que vem|ano que vem|carnaval|natal|pascoa|\d+ (?:dias|meses))"
)
_KINDS: dict[str, re.Pattern[str]] = {
    "free shipping": re.compile(
        r"\b(?:fretes?|entregas?|envios?)\s+(?:e\s+|sai\s+|fica\s+|totalmente\s+|toda\s+)?(?:gratis|gratuit\w+|livre"
        r"|zero"
        r"|zerad\w+|por nossa conta|de graca|incluso)"
        r"|\bsem (?:pagar |custo de |cobrar )?(?:o |a )?(?:frete|entrega|taxa de entrega)|\bfrete por conta"
        r"|\bnao (?:paga|pagam|pague|tem) (?:o )?frete\b|\bfretes?\b[^.!?]{1,40}\bgratis\b"
    ),
    "free": re.compile(
        r"\b(?:gratis|gratuit\w+|de graca|na faixa|0800|sem pagar|sem gastar (?:nada|um)|sem custo|custo zero"
        r"|preco zero|nao paga|free"
        r"|cortesia)\b"
    ),
    "gift": re.compile(
        r"\b(?:brindes?|presentes?\s+(?:gratis|na compra|extra)|(?:ganhe|ganha)(?= \w)|ganhar|bonus"
        r"|(?<=\be )(?:mais um mimo|(?:um )?mimo(?! (?:que|para)\b))|(?<=um )mimo (?:gratis|surpresa|extra"
        r"|de presente|na compra|junto)"
        r"|(?<=com um )mimo"
        r"|mimo (?:inclus[oa]|(?:noss[oa] )?(?:vai )?na (?:caixa|sacola))"
        r"|(?<=leve um )mimo)\b|(?:de quebra|\+|\be) (?:um|uma) [^.!?]{2,30}\b(?:inclus[oa]|na faixa"
        r"|sem (?:voce )?gastar)\b"
        r"|\+ [^.!?]{2,25} de presente\b|\bde quebra,? (?:ganh\w+|lev\w+)\b"
    ),
    "several for one": re.compile(
        r"\b(?:lev\w+|compr\w+|pegu?\w+)\s+(?:[2-9]|dois|duas|tres|quatro)\b|\bpagu?e?\w*\s+(?:so\s+)?(?:[1-9]|um"
        r"|uma|dois|duas|metade)\b"
        r"|(?<!nesta )\b(?:segund|terceir|outr)[ao]s? (?!vez|e |feira)(?:(?!fret|entreg|envi)[^.!?:,]){1,30}"
        r"\b(?:gratis|gratuit\w+|de graca|sem custo)\b"
        r"|\b[2-9] por 1\b|\bdois por um\b|\bem dobro\b"
    ),
    "half": re.compile(r"\b(?:metade|meio preco|50 off)\b"),
    "discount": re.compile(
        r"\b(?:descontos?|off|abatimento|mais barat\w+|menor preco|preco (?:baixo|caiu|reduzido|especial|imbativel"
        r"|promocional))\b"
    ),
    "price drop": re.compile(
        r"\bbaix(?:ou|ando|a) (?:de|o) preco|\bpreco (?:caiu|baixou)|\bcusta(?:ndo)? menos\b"
        r"|\b(?:por |n)(?:este|esse) preco\b"
    ),
    "extra": re.compile(
        r"\bleva (?:uma |um )?surpresa\b|\b(?:vai|vem) junto\b|\bpague so (?:no|em|daqui)\b"
        r"|\b(?:montagem|instalacao) (?:incluid|inclus)\w*|\bproxima (?:compra )?e por nossa conta\b"
    ),
    "sale": re.compile(
        r"\b(?:promoc\w+|liquidac\w+|queima|saldao|black friday|outlet|imperdive\w+|super ?oferta"
        r"|ofertas?|tempo limitado)\b"
    ),
    "coupon": re.compile(r"\b(?:cupom|cupons|codigo|voucher|vale-compras?)\b"),
    "cashback": re.compile(
        r"\b(?:cashback|dinheiro de volta|reembols\w+|pontos (?:em dobro|extras?|dobrad\w+|bonus))\b"
        r"|\b(?:(?:parte|metade|tudo|um pouco|\d+ ?%) d[oe] (?:seu )?(?:dinheiro|valor)|(?:o"
        r"|seu) dinheiro) (?:de )?volta\b"
        r"|\bvolta (?:para|pra) (?:a )?(?:sua )?(?:carteira|conta)\b|\b(?:dobr|triplic|multipli|acumul|junt"
        r"|ganh)\w+ (?:os )?(?:seus )?"
        r"(?:\w+ )?pontos\b|\bcreditos? (?:na|em|da|para) (?:sua )?(?:loja|conta|carteira|a? ?proxima|compras?)\b"
    ),
    "more off": re.compile(
        r"\b(?:desconto|off) (?:extra|adicional|em dobro|dobrad\w|a mais)\b|\bdobro d[eo] desconto\b"
        r"|\b(?:mais barat\w|desconto|off)(?: ainda)? (?:no|com|via|pelo) (?:pix|boleto|cartao)\b|\bcobr(?:imos"
        r"|e) (?:a diferenca|qualquer)"
        r"|\ba gente cobre\b"
    ),
    "instalments": re.compile(
        r"\b(?:sem juros|parcel\w+|\d{1,2}\s?x\b|vezes no cartao|prestac\w+)"
        rf"|\b(?:pag\w*|comec\w* a pagar) (?:so |somente |apenas )?(?:{_LATER})\b|\bpag(?:ue|a|ar) depois\b"
        rf"|\bso (?:pag\w+|comeca a pagar) (?:{_LATER})\b"
    ),
    "scarcity": re.compile(
        r"\bultim[ao]s?\s+(?:\w+ )?(?:unidades?|pecas?|chances?|dias?|horas?)|\b(?:estoque|unidades?)\s+(?:limitad\w+"
        r"|acaband\w+|no fim)"
        r"|\b(?:poucas|restam|so restam)\s+(?:\w+\s*)?(?:unidades|pecas)"
        r"|\b(?:acabando|esgotando|quase no fim)\b(?!\s*\?)"
    ),
    "prize": re.compile(
        r"\b(?:voce (?:ganhou(?! (?:\d+ ?%|(?:o |um )?cupom|desconto))|foi sorteado)|sorteio|concorra|premio"
        r"|garantia (?:vitalicia|eterna)"
        r"|garantia de)\b"
    ),
    "service": re.compile(
        r"\b(?:entrega (?:hoje|imediata|expressa|em (?:\d+|uma|duas|poucas) horas?)|instalacao|teste por|devolva"
        r"|troca (?:liberada|livre|gratis|garantida)|receb\w+ (?:ainda )?(?:hoje|amanha|no mesmo dia)|cheg(?:a"
        r"|ando) (?:ainda )?(?:hoje|amanha) (?:na|em|a))\b"
    ),
}
_IMPLIED = {
    "free shipping": {"free", "discount", "sale"},
    "discount": {"sale", "price drop"},
    "coupon": {"sale", "price drop"},
    "price": {"sale", "price drop"},
    "half": {"discount", "sale", "price drop"},
}
"""What may be said of an offer besides: free shipping is free of something, a discount is an offer."""
_NEARLY = re.compile(r"(?<!por )\bquase (?:pela )?metade\b(?! d[aeo]s? (?!preco|valor))")
HALF, NEARLY_HALF = 50, 40
"""A discount in per cent that one may call half of the price, and «quase pela metade»."""
_OFF = re.compile(r"\bdesconto\w*[^.;%]{0,20}?(\d{1,2})\s?%|\b(\d{1,2})\s?%\s?(?:de desconto|off|mais barat)")
_OF_OTHERS = re.compile(
    r"\b(?:segund|terceir|outr|dois|duas|tres|unidade|frete|entrega|loja|site|tudo)\w*\b"
    r"|\b[a-z]{3,}[oa]s? pela metade\b"
)
"""Words by which half of a price is that of something else."""
_OVER = re.compile(r"\s*(?:de desconto|off)\b(?! (?:extra|no|de volta))")
MOST_OVER = 1.1
"""How far a discount may lie above the one that it is said to exceed («mais de 50%» for 51)."""
_NONE = re.compile(
    r"\b(?:sem|nao (?:ha|tem|temos|existe\w*|vale)|nenhum\w*) (?:nenhum\w* )?(?:ofertas?|descontos?|promoc\w+)\b"
)
_CODE = re.compile(r"(?i:\bcupom\b[^.!?]{0,20}?|\bc[oó]digo\b[^.!?]{0,20}?|\bdigite )\b(?-i:([A-Z][A-Z0-9]{2,}))\b")


def kinds(text: str) -> frozenset[str]:
    """The kinds of offers that a text makes in words."""
    bare = _NONE.sub(" ", plain(text))
    return frozenset(kind for kind, words in _KINDS.items() if words.search(bare))


def codes(text: str) -> frozenset[str]:
    """The codes of its coupons: words in capitals after «cupom»."""
    return frozenset(_CODE.findall(text))


def granted(answer: str, brief: str, product: str) -> bool:
    """Whether a brief grants all that an answer offers, with the same figures in the same units and the same codes."""
    name = plain(product)
    given = {figure for figure in figures(plain(brief).replace(name, " "))}
    said = plain(answer).replace(name, " ")
    for figure in figures(said):
        if not any(figure.unit == one.unit and _tells(figure, one.value, said) for one in given):
            return False
    allowed = set(kinds(brief.replace(product, " ")))
    if any(figure.unit == "R$" for figure in given):
        allowed.add("price")
    off = [int(one or other) for one, other in _OFF.findall(plain(brief))]
    least = NEARLY_HALF if _NEARLY.search(said) else HALF
    if any(share >= least for share in off) and not _OF_OTHERS.search(said):
        allowed.add("half")
    named = codes(brief)
    if "coupon" in allowed and any(code in answer for code in named):
        allowed.add("discount")  # what the coupon that it names takes off
    for kind in tuple(allowed):
        allowed |= _IMPLIED.get(kind, set())
    if not codes(answer) <= named or ("coupon" in kinds(answer) and not any(code in answer for code in named)):
        return False
    return kinds(plain(answer).replace(name, " ")) <= allowed


_ELSEWHERE = re.compile(
    r"\br\$ ?[\d.,]*\d (?:(?:ao|por) (?:mes|dia|ano|semana|hora|quilo|litro|metro|parcela)|a menos|menos"
    r"|mais (?:em conta|barat|lev)|de volta|em (?!ate |dia|\d)"
    r"|[oa]s? (?!vista|prazo)[a-z]{3})"
    r"|\b(?:caiu|cai|baixou|perdeu|economi[sz]\w+) (?:ate |so )?r\$"
    r"|\beconomi[sz]\w+ (?:ate )?\d+ ?% n[ao]s? (?!compra|preco|loja|app|site|pedido|seu|sua)"
    r"|(?<!preco )(?<!valor )\b\d+ ?% (?:menor|mais (?!barat|em conta|bonit)[a-z]"
    r"|menos (?!n[ao] |por |pel|que )[a-z]{4})"
    r"|\b(?:caiu|cai|baixou) \d+ ?% [oa] (?!preco|valor|vista)"
    r"|\bchega a \d+ ?% (?!de desconto|off)[a-z]"
    r"|\bartigos? (?:e|ou|mais) (?:(?:tambem|ainda|ate) (?!mais|\w+mos\b)[a-z]{3,}s (?:com|por|a) "
    r"|(?:tudo|toda [ao]|todo [ao]|[ao] (?:loja|site)|todos os (?:produtos|itens))\b)"
    r"|\b(?:so|somente|apenas) (?:se|quando|para quem|pra quem) (?:\w+ )?compr\w+ (?:uma? (?!artigo)|outr)"
    r"|\bna compra de (?:uma?|outr[oa]|dois|duas) (?!artigo)[a-z]{4}"
)
"""A price as what is saved, paid back or of another thing, and a share of what is no price («33% no gás»)."""
_FELL = re.compile(r"(?<![^.!?:;,])([^.!?:;,]*)\b(?:caiu|cai|baixou|baixa) (?:ate |so )?\d+ ?%")


def told_of_others(answer: str, product: str) -> bool:
    """Whether an answer tells the figure of its brief of something else than the price of its product."""
    said = plain(answer).replace(plain(product), "artigo") if product else plain(answer)
    if _ELSEWHERE.search(said) or re.search(r"\btroque (?:[oa] )?(?:seu |sua )?artigo por r\$", said):
        return True
    subjects = (match[1] for match in _FELL.finditer(said))
    return any(
        subject.strip() and not re.search(r"\b(?:preco|valor|ele|ela)\b|(?<!d[oa] )(?<!com [oa] )\bartigo\b", subject)
        for subject in subjects
    )


def _tells(figure: Figure, value: float, text: str) -> bool:
    """Whether a figure of a text shows a value, or is a little below one that it says to be exceeded."""
    is_over = text.count("%") == 1 and text[: figure.start].endswith("mais de ") and _OVER.match(text[figure.end :])
    return figure.shows(value) or (bool(is_over) and figure.value < value <= MOST_OVER * figure.value)


def mentions_offer(answer: str, brief: str, product: str) -> bool:
    """Whether an answer passes on what its brief grants; true where it grants nothing."""
    name = plain(product)
    given = figures(plain(brief).replace(name, " "))
    if given:
        said = plain(answer)
        return any(_tells(figure, known.value, said) for figure in figures(said) for known in given)
    if named := codes(brief):
        return any(re.search(rf"\b{re.escape(code)}\b", answer) for code in named)
    if "free shipping" in kinds(brief):
        return "free shipping" in kinds(answer)
    return True
