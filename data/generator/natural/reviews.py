"""Reviews as customers write them: of several topics, mixed, short, sarcastic, with or without a title. Their ten
answer fields follow from what they say.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Any

from data.generator.insights import MONTH_NAMES as MONTHS
from data.generator.natural.products import MARKS, draw_product, marked
from data.generator.natural.tables import table
from data.generator.natural.writing import LONGEST, draw_hand
from data.generator.phrases import Complaint
from data.generator.reviews import BLIND_SHARE, STARS, true_fields
from data.generator.words import Product
from tucano.specs.banks import JOINT, Pool
from tucano.specs.base import Review

STAR_WEIGHTS = (37, 8, 10, 12, 33)
NAMED_SHARE = 0.5
"""Of the reviews name their product where a clause names any; the others say «o produto», and their category is
`UNTOLD` unless it is stated.
"""
UNTOLD = "outros"
TITLED_SHARE = 0.24
TITLED = ("atraso", "extravio", "incompleto", "defeito", "errado", "troca", "estoque", "silencio")
"""Complaints that have titles of their own."""
NAMING = ("o", "do", "p", "um")
"""Slots that name the product."""
LONGEST_GIST = 80
MOST_JOINT = 5
"""Characters between two clauses."""


@dataclass(frozen=True)
class Weighed(Complaint):
    """And how often it is made."""

    weight: float


COMPLAINTS: dict[str, Weighed] = {
    "atraso": Weighed("delivery_issue", "entrega atrasada", 10.5),
    "extravio": Weighed("delivery_issue", "pedido não chegou", 37),
    "incompleto": Weighed("delivery_issue", "entrega incompleta", 7.6),
    "retirada": Weighed("delivery_issue", "não entregue em casa", 1.8),
    "embalagem": Weighed("delivery_issue", "embalagem danificada", 1.6),
    "defeito": Weighed("product_issue", "produto com defeito", 7.9),
    "errado": Weighed("product_issue", "produto errado", 7.6),
    "qualidade": Weighed("product_issue", "qualidade ruim", 3.7),
    "anuncio": Weighed("product_issue", "diferente do anúncio", 4.4),
    "faltando": Weighed("product_issue", "peça faltando", 1.7),
    "silencio": Weighed("seller_issue", "vendedor não responde", 3.2),
    "troca": Weighed("seller_issue", "troca negada", 5.7),
    "atendimento": Weighed("seller_issue", "atendimento ruim", 2.1),
    "fiscal": Weighed("seller_issue", "sem nota fiscal", 1.4),
    "estoque": Weighed("seller_issue", "venda sem estoque", 6.3),
}
PRAISE: dict[str, float] = {
    "elogio": 36, "antes": 32, "noprazo": 14.5, "recomendo": 17, "loja": 13, "conforme": 6.5, "embalado": 3.2,
    "preco": 2.3, "curto_bom": 10, "detalhe": 1.4,
}  # fmt: skip
_OF_WHAT_ARRIVED = (
    "atraso", "incompleto", "retirada", "embalagem", "defeito", "errado", "qualidade", "anuncio", "faltando", "fiscal",
    "antes", "noprazo", "elogio", "conforme", "embalado", "curto_bom",
)  # fmt: skip
RIVALS: dict[str, tuple[str, ...]] = {
    "extravio": (*_OF_WHAT_ARRIVED, "estoque"),
    "estoque": _OF_WHAT_ARRIVED,
    "atraso": ("antes", "noprazo", "curto_bom"),
    "retirada": ("antes", "noprazo"),
    "incompleto": ("noprazo", "conforme", "faltando"),
    "embalagem": ("embalado", "antes", "noprazo", "elogio"),
    "defeito": ("elogio", "qualidade", "faltando", "curto_bom"),
    "errado": ("elogio", "conforme", "anuncio", "curto_bom"),
    "qualidade": ("elogio", "anuncio", "curto_bom"),
    "anuncio": ("conforme",),
    "silencio": ("loja",),
    "troca": ("loja",),
    "atendimento": ("loja",),
}
"""What is not said beside a complaint, since both cannot be."""
TOGETHER = (
    "extravio_silencio", "atraso_silencio", "defeito_troca", "defeito_silencio", "errado_troca", "errado_silencio",
    "incompleto_silencio", "estoque_troca",
)  # fmt: skip
"""Two complaints that are made in one breath have banks of their own."""
TOGETHER_SHARE = 0.7
BUT = (*("mas",) * 6, *("porém",) * 3, "mais", *("",) * 6)
SHOPS = (
    "Tucano", "Casa Ipê", "Araucária", "Jabuti", "Mar Azul", "Sabiá", "Boa Praça", "Varanda", "Colibri",
    *("lannister",) * 28, *("lannister.com",) * 4, *("stark",) * 6, *("targaryen",) * 6, *("baratheon",) * 4,
)  # fmt: skip
"""The last of them stand in place of shops' names in the reviews that Olist published."""
COLOURS = ("preto", "branco", "azul", "rosa", "vermelho", "cinza", "verde", "bege", "amarelo", "marrom", "dourado")
CITIES = (
    "Curitiba", "Recife", "Goiânia", "Manaus", "Belém", "Campinas", "Salvador", "Natal", "Santos", "Maringá", "Olinda",
    "Niterói", "Joinville", "Sorocaba", "Palmas", "São Luís", "Cuiabá", "Londrina", "Caruaru", "Itu", "Bauru", "Feira",
)  # fmt: skip
YEARS = ("", "", "", "/2018", "/2018", "/18", "/2017", "/17")
THINGS = ("o produto",) * 24 + ("a mercadoria", "o pedido", "a encomenda", "o item", "a compra", "meu produto")

_OPEN = "\N{PLACE OF INTEREST SIGN}"
_FEMININE = ("a", "uma", "da", "na", "as", "das", "nas", "minha", "essa", "esta", "à", "pela", "dessa")
_ARTICLE = re.compile(r"\b(o|um|do|no|os|dos|nos|meu|esse|este|ao|pelo|desse|" + "|".join(_FEMININE) + r")\b")


@dataclass(frozen=True)
class Said:
    """What a customer says, before it is handed over: `named` tells the product by its name, `gist` is the clause that
    a summary quotes.
    """

    stars: int
    product: Product
    named: bool
    complaints: tuple[Complaint, ...]
    text: str
    gist: str
    parts: tuple[str, ...]

    def fields(self, stated: bool) -> dict[str, Any]:
        """The ten fields; `stated`: the category stands beside the review."""
        fields = true_fields(self.stars, self.product, self.complaints)
        category = self.product.category if stated or self.named else UNTOLD
        return fields | {"category": category, "summary": self._summary()}

    def _summary(self) -> str:
        gist = self.gist if len(self.gist) <= LONGEST_GIST else self.gist[:LONGEST_GIST].rpartition(" ")[0]
        said = "reclama" if self.complaints else "elogia" if self.stars >= 4 else "comenta"
        return f"Cliente {said}: {gist}."


def write_review(pool: Pool, rng: Random) -> Review:
    """One review from the lines of `pool`."""
    said = _say(pool, rng)
    stated = rng.random() >= BLIND_SHARE and rng.random() < 0.5
    blind = not stated and rng.random() < BLIND_SHARE / (1 - BLIND_SHARE / 2)
    bank = "pedido_categoria" if stated else "pedido" if blind else "pedido_nota"
    phrases = JOINT.join(said.parts)

    def enveloped(name: str, envelope: str) -> tuple[str, str]:
        return envelope.format(s=said.stars, c=said.product.category, t=said.text), JOINT.join((name, phrases))

    return Review(
        *enveloped(*table("reviews").draw(bank, pool, rng)),
        said.text,
        phrases,
        said.stars,
        said.fields(stated),
        lambda rng: enveloped(*table("reviews").draw(bank, "known", rng)),
    )


def _say(pool: Pool, rng: Random) -> Said:
    while True:
        stars = rng.choices(STARS, STAR_WEIGHTS)[0]
        complaints = _complaints(stars, rng)
        title, plan = _title(stars, complaints, rng), _in_one_breath(_plan(stars, complaints, rng), rng)
        drawn = [table("reviews").draw(bank, pool, rng) for bank in (*title, *plan)]
        marks = marked([text for _, text in drawn])
        if len(marks) > 1:
            continue
        category = next(iter(marks), None)
        product = draw_product(rng, category)
        named = category is None and rng.random() < NAMED_SHARE
        slots = _slots(product if named else None, rng)
        said = [_agreed(text.format(**slots).strip()) for _, text in drawn]
        clauses = said[len(title) :]
        told_of = [set(bank.split("_")) & set(complaints) for bank in plan]
        gist = next((clause for clause, of in zip(clauses, told_of, strict=True) if of & {*complaints[:1]}), "")
        for place in range(1, len(plan)):
            if told_of[place] and not told_of[place - 1] and stars > 1:
                clauses[place] = f"{rng.choice(BUT)} {clauses[place]}".strip()
        text = draw_hand(rng, sum(map(len, clauses))).written(clauses, rng, said[0] if title else "")
        needed = max((place for place, of in enumerate(told_of) if of), default=0) + 1
        if sum(len(clause) + MOST_JOINT for clause in clauses[:needed]) < LONGEST:
            told = category or (named and any(f"{{{slot}}}" in text for _, text in drawn for slot in NAMING))
            parts = tuple(name for name, _ in drawn)
            found = tuple(COMPLAINTS[bank] for bank in complaints)
            gist = (gist or max(clauses, key=len)).strip(" ,.;!")
            return Said(stars, product, bool(told), found, text, gist, parts)


def _agreed(text: str) -> str:
    """Each open ending as the last article before it has it, «o» without one."""
    while _OPEN in text:
        before, _, after = text.partition(_OPEN)
        articles = _ARTICLE.findall(before)
        text = before + ("a" if articles and articles[-1] in _FEMININE else "o") + after
    return text


def _title(stars: int, complaints: tuple[str, ...], rng: Random) -> tuple[str, ...]:
    """The bank of a title, where there is one: of the complaint itself, or of how pleased the customer is."""
    if rng.random() >= TITLED_SHARE:
        return ()
    if complaints and rng.random() < 0.08:
        return (complaints[0],)
    if complaints and stars <= 3 and complaints[0] in TITLED and rng.random() < 0.5:
        return (f"titulo_{complaints[0]}",)
    return ("titulo_bom" if stars >= 4 else "titulo_meio" if stars == 3 else "titulo_ruim",)


def _complaints(stars: int, rng: Random) -> tuple[str, ...]:
    """None for 5 stars, at most one for 3 and 4, one to three for 1 and 2: different banks, by their weights. Most
    customers tell one thing."""
    chances = {5: (1, 0, 0, 0), 4: (65, 35, 0, 0), 3: (35, 65, 0, 0), 2: (0, 78, 22, 0), 1: (0, 68, 26, 6)}[stars]
    count = rng.choices(range(4), chances)[0]
    chosen: list[str] = []
    for bank in _by_chance({bank: kind.weight for bank, kind in COMPLAINTS.items()}, rng):
        if len(chosen) < count and not any(_are_rivals(bank, other) for other in chosen):
            chosen.append(bank)
    second = [bank.split("_")[1] for bank in TOGETHER if chosen and bank.startswith(f"{chosen[0]}_")]
    if count > 1 and second and rng.random() < TOGETHER_SHARE:
        chosen = [chosen[0], rng.choice(second), *(bank for bank in chosen[1:] if bank not in second)][:count]
    return tuple(chosen)


def _in_one_breath(plan: list[str], rng: Random) -> list[str]:
    """The banks, two neighbours as one where there is a bank for both."""
    pairs = (f"{one}_{other}" for one, other in pairwise(plan))
    pair = next((pair for pair in pairs if pair in TOGETHER), None)
    if pair is None or rng.random() >= TOGETHER_SHARE:
        return plan
    place = plan.index(pair.split("_")[0])
    return [*plan[:place], pair, *plan[place + 2 :]]


def _are_rivals(one: str, other: str) -> bool:
    return other in RIVALS.get(one, ()) or one in RIVALS.get(other, ())


def _plan(stars: int, complaints: tuple[str, ...], rng: Random) -> list[str]:
    """The banks of a review's clauses."""
    if stars >= 4:
        plan = [*_praises(rng.choices((1, 2, 3, 4, 5), (54, 27, 11, 5, 3))[0], complaints, rng), *complaints]
    elif stars == 3:
        first = rng.choice(("morno", "morno", *_praises(1, complaints, rng))) if complaints else "morno"
        if first == "morno" and {"extravio", "estoque"} & {*complaints}:
            first = "detalhe"  # nothing is said of a product that has not come
        last = ["duvida"] if rng.random() < 0.18 else []
        plan = [first, *complaints, *last]
    else:
        plan = list(complaints)
        plan += rng.choices(("adeus", "detalhe"), (6, 1), k=rng.choices((0, 1, 2, 3, 4), (66, 19, 8, 4, 3))[0])
        if stars == 2 and rng.random() < 0.35:
            plan = [*_praises(1, complaints, rng), *plan]
        elif rng.random() < 0.1:
            plan = ["detalhe", *plan]
    return plan


def _praises(count: int, complaints: tuple[str, ...], rng: Random) -> list[str]:
    fitting = [
        bank for bank in _by_chance(PRAISE, rng) if not any(_are_rivals(complaint, bank) for complaint in complaints)
    ]
    return fitting[:count]


def _by_chance(weights: Mapping[str, float], rng: Random) -> list[str]:
    """All names, those with more weight earlier on the whole (Efraimidis and Spirakis 2006)."""
    return sorted(weights, key=lambda name: rng.random() ** (1 / weights[name]), reverse=True)


def _slots(product: Product | None, rng: Random) -> dict[str, str]:
    """What stands in the open slots: the product or a word for it, days, dates, colours, a shop, who writes."""
    thing = product.slots["o"] if product else rng.choice(THINGS)
    bare = thing.partition(" ")[2]
    ending = "a" if thing.startswith("a ") else "o"
    day, month = rng.randint(1, 28), rng.randint(1, 12)
    colour, other = rng.sample(COLOURS, 2)
    return {
        "o": thing,
        "do": f"do {bare}" if ending == "o" else f"da {bare}",
        "p": bare,
        "um": f"um {bare}" if ending == "o" else f"uma {bare}",
        "x": ending,
        "bom": "bom" if ending == "o" else "boa",
        "ele": "ele" if ending == "o" else "ela",
        "s": rng.choice("oa"),
        "w": _OPEN,
        "ab": "(",
        "fe": ")",
        **dict.fromkeys(MARKS, ""),
        "n": str(rng.choice((3, 4, 5, 6, 7, 8, 10, 10, 12, 15, 15, 20, 20, 25, 30, 40))),
        "k": rng.choice(("2", "3", "4", "5", "dois", "duas", "três", "02", "03", "6")),
        "v": str(rng.choice((30, 50, 70, 89, 100, 120, 150, 200, 250, 300))),
        "data": f"{day:02d}/{month:02d}{rng.choice(YEARS)}" if rng.random() < 0.85 else f"{day} de {MONTHS[month - 1]}",
        "data2": f"{rng.randint(1, 28):02d}/{month % 12 + 1:02d}",
        "loja": rng.choice(SHOPS),
        "cor": colour,
        "outra": other,
        "cidade": rng.choice(CITIES),
    }
