"""Push: offers and figures that the brief does not have, lengths, tones; and good notifications made of the brief."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tucano.prompts import Prompt
from tucano.specs.flaws.objects import Change, Flaw
from tucano.specs.flaws.prose import broken
from tucano.specs.texts import without_accents

SCREEN = 120
_FRAMES = (
    "Oi! Tem {} para você. Aproveite! 🎉",
    "Você merece: {}. Vem conferir! 😍",
    "Que tal {}? Corra e garanta já!",
)
_OFFERS = {
    "free delivery": ("com frete grátis", "frete|entrega"),
    "a gift": ("com brinde surpresa", "brinde|presente"),
    "a coupon": ("com o cupom EXTRA", "cupom|cupon"),
    "cashback": ("com cashback", "cashback"),
    "instalments": ("em 10x sem juros", "parcel|juros"),
    "a raffle": ("e concorra a um sorteio", "sorteio|prêmio"),
    "half the price": ("pela metade do preço", r"metade|[5-9]\d ?%"),
    "two for one": ("no leve 2 pague 1", "leve 2"),
    "a discount": ("com 35% de desconto", "desconto|%|off"),
    "a price": ("por R$ 77", r"r\$|preço"),
    "the last ones": ("nas últimas unidades", "últim|estoque"),
    "for free": ("de graça", "grátis|graça"),
}
_FORMAL = (
    ("Prezado cliente, ", "Oi, cliente amigo, "),
    ("Prezada, ", "Querida, "),
    ("Estimado cliente, ", "Oi, cliente amigo, "),
    ("PREZADO CLIENTE: ", "OI, CLIENTE AMIGO: "),
)
_SIGNED = ("Atenciosamente", "Cordialmente")
_PLACES = {
    "plain": [
        "É bom em casa",
        "na rua",
        "com os amigos",
        "na praia",
        "com a turma",
        "na festa",
        "com os primos",
        "de tarde",
        "com a tia",
        "na roda de samba",
        "com calma",
        "na vila",
        "de dois em dois",
        "pela cidade",
        "com gosto",
    ],
    "with accents": [
        "É útil em casa",
        "já no café da manhã",
        "na reunião",
        "no sofá da avó",
        "na estação",
        "à tardinha",
        "com a irmã",
        "à mesa",
        "na excursão",
        "com emoção",
        "na recepção",
        "à vontade",
    ],
}
_NOUNS = {
    "plain": "dia lar sol parque banho campo almoço jantar passeio trabalho encontro descanso feriado",
    "with accents": "mês café sofá pátio avião verão táxi coração sábado domicílio escritório",
}
"""Where a product may be of use, one place after another, so that a text can end behind any of them."""
_LEADS = (", no ", " e no ", " e só no ", " e até no ", " e também no ")


@dataclass(frozen=True, slots=True)
class Brief:
    """What a brief names and grants, as words of a push."""

    product: str
    offer: str
    kind: str


def read(prompt: Prompt) -> Brief | None:
    """None for a brief without a known product."""
    product = str(prompt.reference.get("product", ""))
    figures = list(prompt.reference.get("figures", ()))
    user = prompt.user
    if not product:
        return None
    if (share := re.search(r"(?<!\d)(\d+)\s?%", user)) and figures:
        return Brief(product, f"com {share[1]}% de desconto", "a discount")
    if (price := re.search(r"R\$\s?(\d[\d.]*(?:,\d\d)?)", user)) and figures:
        return Brief(product, f"por R$ {price[1].rstrip('.')}", "a price")
    if coupon := re.search(r"[Cc]upom:? ([A-Z]{3,}\d*)", user):
        return Brief(product, f"com o cupom {coupon[1]}", "a coupon")
    if re.search(r"[Ff]rete gr[áa]tis", user):
        return Brief(product, "com frete grátis", "free delivery")
    return Brief(product, "", "no offer")


def examples(prompt: Prompt) -> list[str]:
    brief = read(prompt)
    return [_pushed(brief.product, brief.offer, form) for form in range(len(_FRAMES))] if brief else []


def _pushed(product: str, offer: str, form: int = 0) -> str:
    return _FRAMES[form].format(f"{product} {offer}".strip())


def edits(prompt: Prompt, text: str, others: Sequence[Prompt]) -> Iterator[Flaw]:
    brief = read(prompt)
    if brief is None or text not in examples(prompt):
        return
    form = examples(prompt).index(text)
    yield from broken(exactly(text, 105, "plain"))
    yield from _offers(brief, prompt, text, form)
    yield from _figures(brief, text, form)
    yield from _lengths(brief, form)
    yield from _tones(brief, prompt, text)
    yield from _products(brief, text, form, others)


def _offers(brief: Brief, prompt: Prompt, text: str, form: int) -> Iterator[Flaw]:
    """Each kind of offer beside the brief's own, and in its place."""
    for kind, (words, known) in _OFFERS.items():
        if kind != brief.kind and not re.search(known, f"{prompt.user} {brief.offer}", re.IGNORECASE):
            yield f"offer added: {kind}", 2, text, _pushed(brief.product, f"{brief.offer} {words}".strip(), form)
            if brief.offer:
                yield f"offer exchanged: {kind}", 2, text, _pushed(brief.product, words, form)


def _figures(brief: Brief, text: str, form: int) -> Iterator[Flaw]:
    found = re.search(r"\d[\d.,]*", brief.offer)
    if brief.kind not in ("a discount", "a price") or found is None:
        return
    value = float(found[0].replace(".", "").replace(",", "."))
    for factor in (0.8, 0.9, 0.95, 1.05, 1.1, 1.2, 10):
        wrong = f"{value * factor:.0f}"
        if wrong != found[0]:
            offer = brief.offer.replace(found[0], wrong)
            yield f"figure off: {brief.kind} times {factor:g}", 2, text, _pushed(brief.product, offer, form)
    if found[0].endswith(",00"):
        offer = brief.offer.replace(",00", ",40")
        yield "figure off: cents", 2, text, _pushed(brief.product, offer, form)
    other = f"por R$ {found[0]}" if brief.kind == "a discount" else f"com {found[0]}% de desconto"
    yield f"another unit: {brief.kind}", 2, text, _pushed(brief.product, other, form)
    if brief.kind == "a discount":
        yield "unit dropped: %", 1, text, _pushed(brief.product, brief.offer.replace("%", ""), form)
    yield (
        f"second figure: {brief.kind}",
        2,
        text,
        _pushed(brief.product, f"{brief.offer} e mais {value + 13:.0f} pontos", form),
    )


def exactly(text: str, characters: int, filler: str) -> str:
    """The text with uses of its product behind it, of exactly so many characters; a shorter one where none fits."""
    first, *places = _PLACES[filler]
    ends = {len(end): end for lead in _LEADS for noun in _NOUNS[filler].split() if (end := f"{lead}{noun}.")}
    text = f"{text} {first}"
    while places and characters - len(text) > max(ends) + 2:
        text += f", {places.pop(0)}"
    return text + ends.get(characters - len(text), "")


def _lengths(brief: Brief, form: int) -> Iterator[Flaw]:
    """From the first characters beyond the screen on."""
    text = _pushed(brief.product, brief.offer, form)
    for name in _PLACES:
        at = {size: exactly(text, size, name) for size in (SCREEN, 130, 140, 160, 200)}
        for size in (130, 140):
            if len(at[size]) == size and len(at[SCREEN]) == SCREEN:
                yield f"too long, {name}: {size} characters", 0.5 if size == 130 else 1, at[SCREEN], at[size]
        if len(at[200]) == 200:
            yield f"too long, {name}: 200 characters", 1, at[SCREEN], at[200]


def _tones(brief: Brief, prompt: Prompt, text: str) -> Iterator[Flaw]:
    for formal, friendly in _FORMAL:
        own = re.sub(r"^Oi[!,] ", "", text)  # nobody greets twice, nor begins a sentence within one
        goes_on = own[:1].lower() + own[1:]
        yield f"tone of a letter: {formal.strip()}", 1, friendly + goes_on, formal + goes_on
    for word in _SIGNED:
        yield f"tone of a letter: {word}", 1, f"{text} Um abraço, sua loja.", f"{text} {word}, sua loja."
    yield "about a push: announced", 1, text, f"Segue uma notificação push: {text}"
    yield (
        "about a push: told",
        3,
        text,
        f"Uma notificação push é um texto curto que informa o cliente sobre {brief.product}.",
    )
    yield "two pushes: again", 1, text, f"{text}\n{text}"
    for other in range(len(_FRAMES)):
        if (second := _pushed(brief.product, brief.offer, other)) != text:
            yield "two pushes: on two lines", 1, text, f"{text}\n{second}"
    yield "two pushes: options", 2, text, f"Opção 1: {text} Opção 2: {_pushed(brief.product, brief.offer, 1)}"
    words = prompt.user.split()
    yield "brief copied: whole", 3, text, f"{prompt.user} Aproveite!"
    if len(words) >= 7:
        yield "brief copied: seven words", 1, text, f"{' '.join(words[:7])} {text}"
    for generic in (
        "Temos novidades para você! Confira nossa loja.",
        "Não perca! Ofertas imperdíveis. Aproveite agora!",
    ):
        yield f"fits any product: {generic}", 2, text, generic
    for against in ("é ruim", "não compre", "tem defeito", "não vale o preço"):
        yield (
            f"talked down: {against}",
            2,
            f"{text} {brief.product.capitalize()} é ótimo.",
            f"{text} {brief.product.capitalize()} {against}.",
        )
    for generic in ("Não perca! Temos novidades.", "Confira nossas ofertas! Visite nossa loja."):
        yield f"phrase of any shop: {generic}", 0.3, f"{text} É bom em casa e na rua.", f"{text} {generic}"
    if not re.match(r"\w+[aei]r\b", brief.product):  # a name that ends as verbs do can be read as a call
        yield "no call", 0.5, text, f"{brief.product.capitalize()} {brief.offer}".strip() + "."
    yield "another language: English", 1, text, f"Check out our {brief.product} now, just for you. Don't miss it!"


def _products(brief: Brief, text: str, form: int, others: Sequence[Prompt]) -> Iterator[Flaw]:
    strangers = [name for other in others if (name := other.reference.get("product")) and name != brief.product]
    yield "product missing: none", 2, text, _pushed("uma surpresa", brief.offer, form)
    yield "product missing: part of a word", 2, text, _pushed(f"sobre{brief.product}s", brief.offer, form)
    word, *rest = brief.product.split()
    if len(rest) > 1:
        yield "another product: with the same first word", 2, text, _pushed(f"{word} de parede", brief.offer, form)
    for stranger in strangers[:3]:
        yield "another product: in its place", 2, text, _pushed(stranger, brief.offer, form)
    if strangers:
        first = strangers[0]
        longer = exactly(text, SCREEN + 10, "plain")
        yield "another product rather than a longer push", 0.3, longer, _pushed(first, brief.offer, form)
        yield "further product", 1, text, _pushed(f"{first} e {brief.product}", brief.offer, form)


def harmless(prompt: Prompt, text: str) -> Iterator[Change]:
    brief = read(prompt)
    if brief is None or text not in examples(prompt):
        return
    for name in _PLACES:
        full, short = exactly(text, SCREEN, name), exactly(text, SCREEN - 20, name)
        if len(full) == SCREEN and len(short) == SCREEN - 20:
            yield f"fills the screen: {name}", short, full
        emojis = exactly(text, SCREEN - 3, name) + " 😍🎉"
        if len(emojis) == SCREEN and len(short) == SCREEN - 20:
            yield f"fills the screen: {name}, with emoji", short, emojis
    for term in prompt.reference.get("terms", ()):
        if term != brief.product:
            yield "product by its short name", text, text.replace(brief.product, term)
    if brief.product.isalpha() and brief.product[-1] in "aeo" and text == examples(prompt)[0]:
        yield "product in the plural", text, text.replace(brief.product, f"{brief.product}s")
    if "R$ 2.500" in text:
        yield "price in thousands", text, text.replace("R$ 2.500", "R$ 2,5 mil")
    if text == examples(prompt)[0]:
        yield from _innocent(prompt, brief)
    yield "letters: product with a capital", text, text.replace(brief.product, brief.product.capitalize())
    yield "letters: product in capitals", text, text.replace(brief.product, brief.product.upper())
    yield "letters: product without accents", text, text.replace(brief.product, without_accents(brief.product))
    yield "emoji: none", text, re.sub(r"\s{0,9}[^\w\s.,!?%$:]{1,9}$", "", text)
    yield "emoji: another", text, f"{text} 🛒"
    if "de desconto" in text:
        yield "offer in other words: OFF", text, text.replace("de desconto", "OFF")
    if "com frete grátis" in text:
        yield "offer in other words: por nossa conta", text, text.replace("com frete grátis", "com entrega grátis")


_INNOCENT = (
    "Um presente para você!|Que tal dar de presente?|É a última palavra em conforto!|O dobro do conforto!|Ganhe "
    "tempo no seu dia!|A entrega é rápida!|Chega rápido na sua casa!|Sem complicação!|Sem sair de casa!|O preço é "
    "justo!|Vale cada centavo!|Mais conforto para você!|Menos é mais!|Leve mais conforto para casa!|Compre um e "
    "seja feliz!|Leve um para casa!|Tem de sobra!|Com nota fiscal!|Feito no Brasil!|Só até domingo!|Só nesta "
    "semana!|A casa agradece!|Amor à primeira vista!|Sua cara-metade chegou!|Nem pense duas vezes!|Não é sonho!|"
    "Você não vai se arrepender!|Não há nada igual!|Não dá para resistir!|Não tem erro!|Nunca mais sem conforto!|"
    "Ideal para o verão!"
)
"""What sounds a little like an offer, or like advice against it, and is neither."""


def _innocent(prompt: Prompt, brief: Brief) -> Iterator[Change]:
    text = f"Bateu aquela vontade? {f'Tem {brief.product} {brief.offer}'.strip()} para você."
    for sentence in _INNOCENT.split("|")[sum(map(ord, prompt.user)) % 8 :: 8]:
        yield f"no offer at all: {sentence}", f"{text} Aproveite!", f"{text} {sentence}"


def kinds(prompt: Prompt) -> tuple[str, ...]:
    brief = read(prompt)
    return (f"briefs with {brief.kind}",) if brief else ()


def variants(prompt: Prompt) -> Iterator[tuple[str, Prompt]]:
    """The brief's sentences in another order, another figure, another product; and as one whose truth is not known."""
    yield "nothing known", replace(prompt, reference={})
    brief = read(prompt)
    if brief is None:
        return
    yield from _other_products(prompt, brief)
    yield from _other_offers(prompt, brief)
    sentences = [part.strip() for part in re.split(r"(?<=\.)\s+", prompt.user) if part.strip()]
    if len(sentences) > 1:
        yield "briefs turned around", replace(prompt, user=" ".join(reversed(sentences)))
    if brief.kind == "a price" and len(figures := prompt.reference["figures"]) == 1:
        old = re.search(r"R\$\s?\d[\d.]*(?:,\d\d)?", prompt.user)
        if old:
            is_round = sum(map(ord, prompt.user)) % 2
            grown = 2500.0 if is_round else figures[0] + 1200
            told = "2.500" if is_round else f"{grown:,.2f}".translate(str.maketrans(",.", ".,"))
            user = prompt.user.replace(old[0].rstrip("."), f"R$ {told}")
            yield "prices with thousands", replace(prompt, user=user, reference=prompt.reference | {"figures": [grown]})


_PRODUCTS = (
    ("fone de ouvido", "fone"),
    ("relógio de 42 mm", "relógio"),
    ("caixa de brindes", "caixa"),
    ("tênis de corrida", "tênis"),
    ("guarda-roupa",),
    ("jogo de panelas", "jogo", "panelas"),
    ("carrinho de bebê", "carrinho"),
)
"""Of several words, with a figure, named like an offer, with an end of its own or that names it."""


def _other_products(prompt: Prompt, brief: Brief) -> Iterator[tuple[str, Prompt]]:
    """The brief of another product; the next brief has the next one."""
    if re.search(rf"{re.escape(brief.product)}\s*(?:[.,;]|$)", prompt.user):
        terms = _PRODUCTS[sum(map(ord, prompt.user)) % len(_PRODUCTS)]
        known = prompt.reference | {"product": terms[0], "terms": list(terms)}
        yield "other products", replace(prompt, user=prompt.user.replace(brief.product, terms[0]), reference=known)


def _other_offers(prompt: Prompt, brief: Brief) -> Iterator[tuple[str, Prompt]]:
    """A code with a number, a second offer, a price with cents."""
    user, reference = prompt.user, prompt.reference
    if brief.kind == "a coupon":
        code = brief.offer.rsplit(" ", 1)[-1]
        yield "other offers", replace(prompt, user=user.replace(code, f"{code}10"))
    if brief.kind == "a discount":
        yield "other offers", replace(prompt, user=f"{user} Frete grátis.")
    if brief.kind == "a price" and (old := re.search(r"R\$\s?\d+", user)):
        grown = reference | {"figures": [reference["figures"][0] + 0.9]}
        yield "other offers", replace(prompt, user=user.replace(old[0], f"{old[0]},90"), reference=grown)


def sized(prompt: Prompt, characters: int) -> list[list[str]]:
    """Notifications of exactly so many characters: of letters of one byte, and of letters of several."""
    brief = read(prompt)
    found: list[list[str]] = []
    for name in _PLACES if brief else ():
        texts = [exactly(text, characters, name) for text in examples(prompt)]
        found.append([text for text in texts if len(text) == characters])
    return found
