"""Which product a text names, and whether it names another one."""

import re
from collections.abc import Sequence

from tucano.truth.catalogue import CATALOGUE
from tucano.truth.reading import plain, word_set, words

_LINKS = word_set(
    """
    de do da dos das e para com
    """
)
_SOLD = tuple(tuple(words(entry)[1:]) for entries in CATALOGUE.values() for entry in entries.split("|"))
"""The names of the synthetic shop's products, as words."""
_NO_THING = word_set(
    """
    desconto voce voces seu sua hoje graca novo nova casa verdade volta presente cliente loja
    """
)
_AMBIGUOUS = word_set(
    """
    mesa bola bolsa banheira carrinho chip forno faca esteira bateria alarme farol serra saia
    """
)
"""Products whose name is also a word of other sentences («finalize o carrinho»); they alone name no other product."""


def sold(ambiguous: bool = False) -> frozenset[str]:
    """The names, in plain words, that are no word of other sentences; with `ambiguous` those too."""
    return frozenset(" ".join(name) for name in _SOLD if ambiguous or len(name) > 1 or name[0] not in _AMBIGUOUS)


_ARTICLES = {plain(entry.split(" ", 1)[1]): entry[0] for entries in CATALOGUE.values() for entry in entries.split("|")}


def has_wrong_article(text: str, product: str) -> bool:
    """Whether a product of the synthetic shop stands behind an article of the other gender («para o fralda»)."""
    other = {"o": r"a|[dn]a|uma|sua|esta|essa|nova", "a": r"o|[dn]o|ao|um|seu|este|esse|novo"}
    gender = _ARTICLES.get(plain(product))
    return bool(gender and re.search(rf"\b(?:{other[gender]}) {re.escape(plain(product))}\b", plain(text)))


def names_product(text: str, product: str, terms: Sequence[str] = ()) -> bool:
    """Whether the text names the product: its whole name, or its first word where nothing else is made of it
    («fone de ouvido» is named by «fone», not by «fone de parede»)."""
    said, name = words(text), words(product)
    if not name:
        return False
    forms = {name[0], *_several(name[0]), *(words(terms[0])[:1] if terms else ())}
    for place, word in enumerate(said):
        if word not in forms:
            continue
        after = said[place + 1 : place + 3]
        if said[place : place + len(name)] == name:
            return True
        if (
            len(after) == 2
            and after[0] in ("de", "do", "da")
            and after[1] not in (*name, *_NO_THING)
            and after[1].isalpha()
        ):
            continue
        return True
    return False


_HEADS = word_set(
    """
    estoque hora noite tarde oferta ofertas compra promocao novidade novidades falta jogo kit linha par
    preco gostar precisando troca trocar troque anda andar ir vale cupom desconto bora vem vamos dia vontade saudade
    saudades fim sonho clima fa
    """
)
_SAID = word_set("diz dizem falam acha achava achou pensa pensava jura")
_DOUBTED = word_set("disse falou")
_BELITTLED = re.compile(
    r"(?:de \w+ )?(?:bom |boa )?(?:nao\b|precisa|so\b|custa|tem que|e (?:so|car|coisa|dificil|complicad|luxo|chat))"
)
"""«Quem disse que tapete é caro?», not «que tapete presta?»."""
_BEFORE = word_set(
    """
    o a os as um uma seu sua seus suas novo nova novos novas aquele aquela daquele daquela naquele naquela deste desta
    desse dessa neste nesta nesse nessa este esta esse essa nosso nossa do da no
    na ao tem temos tal leve garanta confira quer peca chegou merece levar comprar compre com e teu tua mais melhor
    proximo proxima pelo pela outro outra velho velha produto nossos nossas toda todo cada pede pedem procura falta
    num numa bom boa bons boas grande belos
    leva mesma mesmo pro pra pros pras em por pediu pedir faltar escolher escolha
    ver veja conheca garantir amar ame experimente use usar aproveite ganhe super belo bela lindo linda otimo otima
    """
)
"""Words that a product stands behind; at the beginning of a sentence and behind a mark it stands alone."""


def _several(head: str) -> tuple[str, ...]:
    """How a noun may look when it is many («batons», «colares»)."""
    return (f"{head}s", f"{head}es", f"{head[:-1]}ns") if head.endswith("m") else (f"{head}s", f"{head}es")


def in_a_phrase(text: str, product: str) -> bool:
    """Whether the product's name stands somewhere as a thing that is offered, not behind any other word, nor behind a
    few words and a comma at the end («só hoje, panela.»)."""
    head = words(product)[0]
    passing = rf"(?i)(?:\A|[^\w\s%])\s*(?:\w+ ){{0,3}}\w+, {re.escape(product)}[^\w!]*(?:[.?]|\Z)"
    text = re.sub(passing, ". ", text)
    for part in re.split(r"[.!?:;,–—(-]\s|\n|\A\W+|[^\w\s%$]{1,3}\s", plain(re.sub(r"(?i)\bdá\b", "dar", text))):
        said = words(part)
        for place, word in enumerate(said):
            if word in (head, *_several(head)) and (
                place == 0
                or (said[place + 1 : place + 2] in (["novo"], ["nova"]) and said[place - 1] != "nao")
                or said[place - 1] in _BEFORE
                or (said[place - 1] in ("de", "para") and place > 1 and said[place - 2] in _HEADS)
                or (said[place - 1] == "que" and place > 1 and _is_said(said[place - 2], said[place + 1 :]))
            ):
                return True
    return False


def _is_said(verb: str, rest: Sequence[str]) -> bool:
    """Whether a verb leads to a product that is spoken well of («dizem que», «quem disse que … é caro»)."""
    return verb in _SAID or (verb in _DOUBTED and bool(_BELITTLED.match(" ".join(rest))))


def names_another(text: str, product: str, brief: str) -> bool:
    """Whether the text names a product of the catalogue that is neither its own nor stands in its brief."""
    said = f" {' '.join(words(text))} "
    own = f" {plain(' '.join(words(brief)))} {' '.join(words(product))} "
    own_too = names_product(text, product)
    return any(
        f" {' '.join(name)} " in said
        and f" {' '.join(name)} " not in own
        and not (own_too and _is_aside(said, " ".join(name)))
        for name in _SOLD
        if not (len(name) == 1 and name[0] in _AMBIGUOUS)
    )


_SELLS = (
    r"lev\w*|compr\w*|prefir\w*|escolh\w*|opte por"
    r"|garant\w*|confir\w*|pe[cg]\w*|aproveit\w*|ganh\w*|conhec\w*|experiment\w*|vej\w*|quer|temos|tem"
    r"|cheg\w*|tal|merece|desconto em|oferta de|frete d[ao]|novidades? (?:de|em)"
)
"""What offers the thing that stands behind it."""
_NOT_ASIDE = (
    "lev|compr|garant|confir|pe[cg]|aproveit|ganh|ver|vej|quer|conhec|experiment|e |ou |tem|chego|com |por |de "
)
"""Beginnings of words behind which an article leads to what is offered («leve a cadeira»)."""
_ASIDE = re.compile(
    rf" (?:(?:n[oa]s?|d[oa]s?|ao|pel[oa]|pr[oa]|entre|sobre|sem|e seus?|e suas?)"
    rf"|(?!{_NOT_ASIDE})\w{{3,}} (?:o|a|os|as|seus?|suas?))"
    r"(?: seus?| suas?)?$"
)
"""Words behind which a thing is spoken of and not offered («para o celular», «puxe a cadeira»)."""


def _is_aside(said: str, name: str) -> bool:
    """Whether a thing stands only where it is spoken of, or is at least nowhere offered: by a verb, at a price, or
    beside another («uma mesa e uma cadeira»); not so in «celular protegido: …»."""
    thing = re.escape(name)
    before = (said[: match.start()] for match in re.finditer(rf" {thing}(?= (?!sem ))", said))
    return all(_ASIDE.search(f" {part}"[-40:]) for part in before) or not re.search(
        rf" (?:{_SELLS}) (?:[a-z]{{1,6}} ){{0,2}}{thing} | e (?:um |uma |o |a )?{thing} (?!ao |na |no |do |da )"
        rf"|\A {thing} (?:nov[ao] |de [a-z]+ )?(?:com|por|a|em|esta|sai|e|gratis) "
        rf"| {thing} (?:nov[ao] )?(?:com|por|a|sai por|esta com|em ate)"
        r" (?:o |um )?(?:r |\d|frete|cupom|desconto|brinde)",
        said,
    )
