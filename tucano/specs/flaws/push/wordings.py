"""Push: the same offer in all usual words, each with its false twin; offers that nobody granted; further tones."""

import re
from collections.abc import Iterator, Sequence

from tucano.prompts import Prompt
from tucano.specs.flaws.objects import Change, Flaw
from tucano.specs.flaws.push.kinds import SCREEN, Brief, exactly, read
from tucano.specs.texts import units_exchanged

_TOLD = {
    "a discount": (
        "Tem {p} com {n}% de desconto para você.|Tem {p} com {n}% OFF para você.|Tem {p} com {n}% off para você.|Tem "
        "{p} com {n} % de desconto para você.|Tem {p} com {n} por cento de desconto para você.|Tem {p} com desconto "
        "de {n}% para você.|Tem {p} com um desconto de {n}% para você.|Tem {p} com {n}% a menos para você.|Tem {p} "
        "{n}% mais barat{o} para você.|Tem {n}% de desconto n{o} {p}.|{n}% de desconto n{o} {p}!|{n}% OFF em {p}!|"
        "São {n}% de desconto n{o} {seu} {p}.|{Seu} {p} está com {n}% OFF.|{Seu} {p} ganhou {n}% de desconto.|Ganhe "
        "{n}% de desconto n{o} {seu} {p}.|Desconto de {n}% n{o} {seu} {p}!|Economize {n}% n{o} {seu} {p}.|{P} com "
        "{n}% de desconto: é para você!|{P}: {n}% OFF para você.|Que tal {um} {p} com {n}% de desconto?"
    ),
    "a price": (
        "Tem {p} por R$ {n} para você.|Tem {p} por R${n} para você.|Tem {p} por R$ {n}{cents} para você.|Tem {p} por "
        "R${n}{cents} para você.|Tem {p} por apenas R$ {n} para você.|Tem {p} por só R$ {n} para você.|Tem {p} por "
        "somente R$ {n} para você.|Tem {p} a R$ {n} para você.|Tem {p} por {n} reais para você.|Tem {p} por R$ {n} à "
        "vista para você.|Tem {p} no precinho de R$ {n} para você.|{Seu} {p} sai por R$ {n}.|{Seu} {p} sai por "
        "apenas R$ {n}.|{Seu} {p} custa só R$ {n}.|{Seu} {p} está por R$ {n}.|{P} por R$ {n}: é para você!|{P}: só "
        "R$ {n} para você.|São só R$ {n} por {um} {p}.|Por R$ {n}, {seu} {p} chega em casa.|Leve {seu} {p} por R$ "
        "{n}.|Que tal {um} {p} por R$ {n}?"
    ),
    "a coupon": (
        "Tem {p} com o cupom {c} para você.|Tem {p} com cupom {c} para você.|Tem {p} usando o cupom {c} no carrinho.|"
        "Tem {p} com o código {c} para você.|Tem {p} com o código promocional {c} para você.|Tem {p} com desconto no "
        'cupom {c} para você.|Tem {p} com o cupom "{c}" para você.|Use o cupom {c} e leve {seu} {p}.|Use o código '
        "{c} e leve {seu} {p}.|Use o cupom {c} n{o} {seu} {p}.|{Seu} {p} espera por você: use o cupom {c}.|Aplique o "
        "cupom {c} e garanta {seu} {p}.|Digite o cupom {c} e leve {seu} {p}.|Cupom {c} n{o} {seu} {p}!|{Seu} {p} com "
        "desconto: cupom {c}.|{P} com o cupom {c}: é para você!|Que tal {um} {p} com o cupom {c}?"
    ),
    "free delivery": (
        "Tem {p} com frete grátis para você.|Tem {p} com FRETE GRÁTIS para você.|Tem {p} com entrega grátis para "
        "você.|Tem {p} com frete gratuito para você.|Tem {p} com entrega gratuita para você.|Tem {p} com frete zero "
        "para você.|Tem {p} com frete de graça para você.|Tem {p} sem frete para você.|Tem {p} sem pagar frete.|Tem "
        "{p} sem pagar o frete.|Tem {p} com o frete por nossa conta.|Tem {p} com a entrega por nossa conta.|Tem {p} "
        "e o frete é grátis para você.|Frete grátis n{o} {seu} {p}!|O frete d{o} {seu} {p} é grátis.|Leve {seu} {p}: "
        "o frete é por nossa conta!|Leve {seu} {p}: o frete é com a gente!|Leve {seu} {p}: a entrega é por conta da "
        "casa!|Leve {seu} {p}: a entrega fica por nossa conta!|Leve {seu} {p}: a entrega sai de graça!|Leve {seu} "
        "{p}: não cobramos o frete!|Leve {seu} {p} e receba em casa sem pagar frete.|{P} com frete grátis: é para "
        "você!|Que tal {um} {p} com frete grátis?"
    ),
    "no offer": (
        "Tem {p} para você.|{Seu} {p} espera por você.|Que tal {um} {p}?|Chegou {o} {p} que faltava.|{P} para o seu "
        "dia!|Leve {seu} {p}.|Garanta {o} {seu} {p}.|Hora de escolher {um} {p}!|Ainda pensando n{o} {p}?|Para quem "
        "quer {um} {p}, é agora."
    ),
}
"""The same notification about each kind of offer, in many words; the first is what the others are held against."""
_UNGRANTED = {
    "free delivery": (
        "frete|entrega",
        "O frete é grátis!|A entrega é gratuita!|Receba sem pagar frete!|Receba sem pagar a entrega!|O frete é por "
        "nossa conta!|A entrega fica por nossa conta!|A entrega é por conta da casa!|O frete é com a gente!|Com "
        "frete zero!|A entrega sai de graça!|Não cobramos o frete!",
    ),
    "for free": (
        "grátis|graça|frete|entrega",
        "É de graça!|Sai grátis!|Leve sem pagar!|Com custo zero!|É gratuito para você!",
    ),
    "half the price": ("metade|[5-9][0-9]%", "Sai pela metade do preço!|É metade do valor!|Leve pela metade!"),
    "two for one": (
        "leve",
        "Leve dois e pague um!|Leve mais e pague menos!|Compre um e ganhe outro!|Seus pontos em dobro!",
    ),
    "a gift": (
        "brinde|presente",
        "Vem com brinde!|Tem brindes para você!|Leve um presente surpresa!|Tem presente extra!|Ganhe uma caneca!|"
        "Leva um mimo!|A caneca vai junto!",
    ),
    "a coupon": ("cupom", "Use o cupom MAIS!|Digite o código MAIS!|Temos cupons para você!"),
    "cashback": ("cashback", "Tem cashback!|Com dinheiro de volta!"),
    "instalments": ("parcel|juros", "Pague sem juros!|Parcele no cartão!|Em dez parcelas!|Em até 10x no cartão!"),
    "the last ones": (
        "últim|estoque",
        "São as últimas unidades!|São as últimas peças!|É a sua última chance!|São os últimos dias!|São as últimas "
        "horas!|Estoque limitado!|Estoque no fim!|Restam poucas peças!|É uma venda relâmpago!",
    ),
    "a raffle": (
        "sorteio|prêmio|garantia",
        "Participe do sorteio!|Concorra a uma viagem!|Tem prêmio para você!|Com garantia vitalícia!",
    ),
    "a service": (
        "montagem|instala",
        "Com montagem incluída!|Com instalação inclusa!|Pague só em março!|A próxima é por nossa conta!",
    ),
    "a discount": (
        "desconto|%|off|cupom|frete|entrega",
        "Tem desconto!|Está com super desconto!|Está em promoção!|É dia de liquidação!|Agora ficou mais barato!|É "
        "queima de estoque!",
    ),
    "a lower price": (
        "desconto|%|off|cupom|frete|entrega|preço",
        "Baixou de preço!|Baixamos o preço!|O preço caiu!|O preço baixou!|Agora custa menos!|Só hoje neste preço!|É "
        "oferta!|Veja as ofertas do dia!|É por tempo limitado!|Com preço especial!|Com preço promocional!|Com preço "
        "imbatível!|Com preço reduzido!",
    ),
}
"""What no brief grants that does not match, in all usual words."""
_CALLED = {
    "a discount": "É uma promoção!|É uma oferta!|Baixou de preço!|O preço caiu!|Ficou mais barato!",
    "a price": "É uma oferta!|Só hoje neste preço!|O preço caiu!",
    "a coupon": "É uma oferta!|Tem desconto para você!|O preço caiu!",
    "free delivery": "O frete é grátis mesmo!",
    "no offer": "",
}
"""What an offer may be called besides."""
_LETTERS = (
    "Caro cliente, |Cara cliente, |Caros clientes, |Estimada cliente, |Estimados clientes, |Prezados clientes, |"
    "Prezadas clientes, |Ilustríssimo cliente, |Venho por meio desta avisar: |Vimos por meio desta avisar: |Para Vossa "
    "Senhoria: "
)
_AGAINST = (
    "{P} não vale a pena.|Não recomendo {o} {p}.|Não leve {o} {p}.|Não queira {um} {p}.|Evite {o} {p}.|Fuja d{o} "
    "{p}.|{P} é uma cilada.|{P} é péssim{o}.|{P} é horrível.|{P} veio quebrad{o}.|{P} chegou com defeito.|Não "
    "gostamos d{o} {p}."
)
_WITHDRAWN = (
    "Não envie este texto.|Não use este texto.|Não publique isto.|Não acredite nisto.|Ignore esta mensagem.|Ignore "
    "tudo isso.|Desconsidere este texto.|Esqueça este texto.|Este texto está errado.|Tudo está errado.|Isso é falso.|"
    "Os dados são inventados.|Isto não é verdade.|Isto não está certo.|This is false.|This is wrong.|Ignore this.|"
    "(not true)|No es verdad."
)
_SEVERAL = "Opção 2: |Versão 2: |Alternativa 2: |Resposta 2: |Push 2: |Ou B: |OU: |/ |=> "
_ABOUT = (
    "Segue o push: {t}|Notificação: {t}|Esta notificação é para você: {t}|Esta mensagem informa o cliente sobre {p} "
    "{offer}.|Uma mensagem curta deve falar de {p} {offer}."
)
_OUT_OF_PLACE = "Você não se vê de {p} {offer}. Aproveite!|Você pensa muito {p} {offer}. Aproveite!"
_IN_PLACE = (
    "Leve {o} {p} {offer} hoje mesmo!|Garanta {seu} {p} {offer} hoje mesmo!|Quer {um} {p} {offer}?|Chegou {o} {p} "
    "{offer}!|Temos {p} {offer} para você!|Escolha {seu} {p} {offer} hoje mesmo!|Peça {seu} {p} {offer} hoje mesmo!|"
    "Experimente {o} {p} {offer} hoje mesmo!|Ess{este} {p} {offer} combina com você!|Noss{o} {p} {offer} combina com "
    "você!|{P} {offer} combina com você!|Bom dia! 😍 {P} {offer} combina com você!|É hora de trocar de {p}: aproveite "
    "{o} {seu} {offer}!|É dia de {p} {offer}!|O que falta é {um} {p} {offer}!"
)
_VERBS = "Tem|Temos|Leve|Compre|Garanta|Chegaram"
_ASIDE = (
    "Temos muitos outros produtos na loja.|Entregamos em todo o Brasil.|Temos várias formas de pagamento.|Veja todas "
    "as condições na loja."
)
_GENERIC = "Confira as nossas novidades!|Não perca!|Aproveite já!|Temos novidades!|Visite nossa loja!|Clique aqui!"
_SCRAPS = (
    '{t} Preço: R$.|{t} R$ 33%.|{t} apenas24 horas.|{t} SELECT tudo.|{{"push": "{t}"}}|{t} !!!!!!!!!!!!|{t} '
    "🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉|{t} comprar levar usar gostar amar.|{t} Desculpe, não posso ajudar.|{t} Check out our best "
    "deals and get more now.|{t} El producto es muy bueno y los precios también con usted.|{t} Comprar o a de para.|"
    "{t} Com o seu e.|{t} (só|{t} Vem para de.|{t} muito muito muito muito muito muito muito muito.|{t} casa sol rua "
    "festa dia mesa.|{t} O em de para por."
)
_STOCK = (
    "Oi! Tem {p} {offer} para você. Aproveite!|Você merece: {p} {offer}. Vem conferir!|{Seu} {p} {offer} espera por "
    "você na loja. Clique e garanta!|Chegou {p} {offer}. Toque e acesse o nosso site agora!|Olha só: {p} {offer} "
    "aqui no site. Corra e compre hoje!|Gente, tem {p} {offer} na nossa loja. Venha e leve!"
)
_HALVES = "O segundo sai pela metade do preço!|O frete sai pela metade!|A loja toda pela metade do preço!"
_HALF = "{Seu} {p} pela metade do preço!|{Seu} {p} sai por menos da metade do preço."
_OVER_HALF = "Tem {p} com mais de 50% de desconto para você.|Tem {p} com mais de 50% OFF para você."
_WRITTEN = (
    "Bateu aquela vontade?\nTem {p} {offer} para você. Aproveite!|Bateu aquela vontade? 😍 Tem {p} "
    "{offer} para você. Aproveite! 🎉|😍 Bateu aquela vontade? Tem {p} {offer} para você. Aproveite!|Bateu aquela "
    "vontade? Tem {p} {offer} para você! Aproveite 🎉|Bateu aquela vontade? Tem {p} {offer} para você... Aproveite!|"
    "Bateu aquela vontade? Tem {p} {offer} para você, aproveite!|Bateu aquela vontade? Tem {p} {offer} para você — "
    "aproveite!|Bateu aquela vontade?? Tem {p} {offer} para você. Aproveite!!!|Bateu aquela vontade? Tem {p} {offer} "
    'pra você. Aproveite|"Bateu aquela vontade? Tem {p} {offer} para você. Aproveite!"|Bateu aquela vontade? Tem '
    "{p} {offer} para você. Toque e veja!|Bateu aquela vontade? Tem {p} {offer} para você. Peça já!|Bateu aquela "
    "vontade? Tem {p} {offer} para você. Baixe o app e compre!|Bateu aquela vontade? Tem {p} {offer} para você. Não "
    "deixe para depois!|Bateu aquela vontade? Tem {p} {offer} para você. Vale a pena!|Bateu aquela vontade? Tem {p} "
    "{offer} para você. Compre pelo WhatsApp!|Bateu aquela vontade? Tem {p} {offer} para você. Vem ver!|Bateu aquela "
    "vontade? Tem {p} {offer} para você.|Cliente querido, bateu aquela vontade? Tem {p} {offer} para você. "
    "Aproveite!|Bateu aquela vontade? {P} {offer}, é só aproveitar."
)
_UNREAD = re.compile(r"promocional|\"")
"""Wordings in which no reader has to find the code."""
_ADVERTISING = "Oferta, já, aproveite, desconto, corra, garanta, promoção, {p}, compre, leve, hoje!"
_FRAME = "Bateu aquela vontade? {} Aproveite!"
_FLAT = "Oi! Tem {p} {offer} para você. Aproveite!"
_OWN = "Bateu aquela vontade? Tem {p} {offer} para você. Aproveite!"
_SILENT = "Bateu aquela vontade? {P} combina com a sua rotina. Aproveite!"
_UNCALLED = "A rotina da casa combina com {o} {p} {offer}."
_TURNS = 4


def words_of(brief: Brief) -> dict[str, str]:
    """What the templates want to know of a brief."""
    product = brief.product
    is_feminine = product.split()[0].endswith(("a", "ção", "gem"))
    figure = (re.findall(r"\d[\d.,]*", brief.offer) or [""])[0]
    return {
        "p": product,
        "P": product[:1].upper() + product[1:],
        "o": "a" if is_feminine else "o",
        "um": "uma" if is_feminine else "um",
        "seu": "sua" if is_feminine else "seu",
        "Seu": "Sua" if is_feminine else "Seu",
        "este": "a" if is_feminine else "e",
        "n": figure,
        "cents": "" if "," in figure else ",00",
        "c": brief.offer.rsplit(" ", 1)[-1],
        "offer": brief.offer,
    }


def made(template: str, words: dict[str, str]) -> str:
    return re.sub(r" (?=[ .!?:,])", "", template.format(**words))


def framed(template: str, words: dict[str, str]) -> str:
    return _FRAME.format(made(template, words))


def _turn(prompt: Prompt, texts: str) -> Sequence[str]:
    """Some of many texts; the next prompt has others, so that all are asked of some."""
    return texts.split("|")[sum(map(ord, prompt.user)) % _TURNS :: _TURNS]


def edits(prompt: Prompt, text: str, others: Sequence[Prompt]) -> Iterator[Flaw]:
    """Of the first notification that is made of a brief."""
    brief = read(prompt)
    if brief is None or not text.startswith("Oi! Tem "):
        return
    words = words_of(brief)
    base = framed(_TOLD[brief.kind].partition("|")[0], words)
    yield from _false_twins(brief, words)
    yield from _units(brief, words, base)
    yield from _ungranted(prompt, brief, base)
    yield from _tones(prompt, words, base)
    yield from _products(prompt, words, others)
    yield from _notes(prompt, words, base)
    yield from _credit(prompt, brief, words, base)
    yield from _order(brief, words, base)


def _false_twins(brief: Brief, words: dict[str, str]) -> Iterator[Flaw]:
    """Every wording with another figure or code than the brief's."""
    templates = _TOLD[brief.kind].split("|")
    if brief.kind == "a coupon":
        other = words | {"c": "EXTRA"}
        for template in (template for template in templates if not _UNREAD.search(template)):
            yield f"wording with another code: {template}", 2, framed(template, words), framed(template, other)
    if words["n"] and brief.kind in ("a discount", "a price"):
        value = float(words["n"].replace(".", "").replace(",", "."))
        other = words | {"n": f"{value + 8:.0f}", "cents": ",00"}
        for template in templates[len(brief.product) % 2 :: 2]:
            right = framed(template, words)
            yield f"wording with another figure: {template}", 2, right, framed(template, other)
            yield f"wording with another unit: {template}", 2, right, units_exchanged(right)


def _units(brief: Brief, words: dict[str, str], base: str) -> Iterator[Flaw]:
    """The brief's figure as one of something else, or near it."""
    if brief.kind == "a discount":
        for template in ("Tem {p} por {n} reais para você.", "Tem {p} por R$ {n} para você."):
            yield f"unit of something else: {template}", 2, base, framed(template, words)
        value = int(words["n"])
        near = {"one less": value - 1, "one more": value + 1, "a digit": value % 10, "a hundred more": value + 100}
        for what, wrong in near.items():
            yield f"figure near it: {what}", 2, base, base.replace(f"{words['n']}%", f"{wrong}%")
        higher = words | {"n": f"{value // 10 * 10 + 10}"}
        yield "figure near it: more than", 2, base, framed("Tem {p} com mais de {n}% de desconto para você.", higher)
        for half in _HALVES.split("|") if value >= 50 else ():
            yield f"half of something else: {half}", 2, f"{base} Vem ver!", f"{base} {half}"
    if brief.kind == "a price":
        for template in ("Tem {p} com {n}% de desconto para você.", "Tem {p} com {n} por cento de desconto."):
            yield f"unit of something else: {template}", 2, base, framed(template, words)
        whole = words["n"].partition(",")[0]
        for what, other in {"cents": f"{whole},40", "thousands": f"{whole} mil", "a digit": whole[:1]}.items():
            yield f"figure near it: {what}", 2, base, base.replace(words["n"], other)


def _ungranted(prompt: Prompt, brief: Brief, base: str) -> Iterator[Flaw]:
    for kind, (known, sentences) in _UNGRANTED.items():
        if kind != brief.kind and not re.search(known, f"{prompt.user} {brief.offer}", re.IGNORECASE):
            for sentence in _turn(prompt, sentences) if brief.offer else sentences.split("|"):
                yield f"not granted, {kind}: {sentence}", 2, f"{base} Vem ver!", f"{base} {sentence}"


def _tones(prompt: Prompt, words: dict[str, str], base: str) -> Iterator[Flaw]:
    inside = base[:1].lower() + base[1:]
    for formal in _turn(prompt, _LETTERS):
        yield f"opened as a letter: {formal.strip()}", 1, f"Querido cliente, {inside}", formal + inside
    praise = made("{P} é ótim{o}.", words)
    for sentence in _turn(prompt, _AGAINST):
        yield f"spoken against: {sentence}", 2, f"{base} {praise}", f"{base} {made(sentence, words)}"
    for sentence in _turn(prompt, _WITHDRAWN):
        yield f"withdrawn: {sentence}", 2, base, f"{base} {sentence}"
    for lead in _turn(prompt, _SEVERAL):
        yield f"several: {lead}", 1, base, f"{base} {lead}{made(_FLAT, words)}"
    for template in _turn(prompt, _ABOUT):
        yield f"about itself: {template}", 1, base, made(template, words | {"t": base})
    for template in _turn(prompt, _SCRAPS):
        yield f"scraps: {template}", 0.3, base, made(template, words | {"t": base})


def _products(prompt: Prompt, words: dict[str, str], others: Sequence[Prompt]) -> Iterator[Flaw]:
    known = {words["p"], *prompt.reference.get("terms", ())}
    strangers = [name for other in others if (name := other.reference.get("product")) and name not in known]
    for template in _OUT_OF_PLACE.split("|"):
        yield f"product out of place: {template}", 1, made(_OWN, words), made(template, words)
    if strangers:
        for template in _turn(prompt, _IN_PLACE):
            other = words | {"p": strangers[0], "P": strangers[0].capitalize()}
            yield f"another product told: {template}", 2, framed(template, words), framed(template, other)
        for verb in _turn(prompt, _VERBS):
            before = framed(f"{verb} {{p}} {{offer}} para você!", words)
            yield f"beside another product: {verb}", 1, before, before.replace(f"{verb} ", f"{verb} {strangers[0]} e ")


def _notes(prompt: Prompt, words: dict[str, str], base: str) -> Iterator[Flaw]:
    """Notes of the brief, and its order, as parts of a notification."""
    for note in re.findall(r"(?:Desconto|Preço|Público|Produto): [^.]+\.", prompt.user):
        yield f"notes of the brief: {note.partition(':')[0]}", 1, f"{base} Vem ver!", f"{base} {note}"
    if order := re.match(r"(?:Monte|Escreva|Crie|Faça|Prepare)\b", prompt.user):
        before = framed("Leve {um} {p} {offer}!", words)
        yield f"notes of the brief: its order {order[0]}", 1, before, before.replace("Leve", order[0])


def _credit(prompt: Prompt, brief: Brief, words: dict[str, str], base: str) -> Iterator[Flaw]:
    """Small credit: for the offer, own words, a call, figures that belong to something."""
    if brief.kind != "no offer":
        yield "offer left out", 1, made(_OWN, words), made(_SILENT, words)
    for template in _turn(prompt, _STOCK):
        yield f"flat: {template}", 0.3, made(_OWN, words), made(template, words)
    if brief.kind != "a price":
        yield "nobody called", 0.5, f"{made(_UNCALLED, words)} Aproveite!", made(_UNCALLED, words)
    for phrase in _turn(prompt, _GENERIC):
        yield f"phrase of every shop: {phrase}", 0.2, f"{base} Vem ver!", f"{base} {phrase}"
    for size in (135, 150):
        own = exactly(base, size, "plain")
        for aside in _turn(prompt, _ASIDE):
            padded = exactly(f"{base} {aside}", size, "plain")
            if len(own) == len(padded) == size:
                yield f"goes on about the shop: {aside}", 0.3, own, padded
    if words["n"] and brief.kind in ("a discount", "a price"):
        loose = f"{words['n']}%." if brief.kind == "a discount" else f"R$ {words['n']}."
        yield f"figure of nothing: {brief.kind}", 0.3, f"{base} Vem ver!", f"{base} {loose}"


def _order(brief: Brief, words: dict[str, str], base: str) -> Iterator[Flaw]:
    """Of two faults the worse one costs more."""
    invented = f"{base} Ganhe um brinde!"
    yield "worthless rather than invented: advertising words", 0.3, invented, made(_ADVERTISING, words)
    yield "worthless rather than invented: withdrawn", 0.3, invented, f"{base} {_WITHDRAWN.partition('|')[0]}"
    letter = f"Prezado cliente, {base[:1].lower()}{base[1:]}"
    yield "invented rather than a letter", 0.3, letter, invented
    yield "invented rather than too long", 0.3, exactly(base, SCREEN + 10, "plain"), invented
    yield "invented rather than flat", 0.5, made(_FLAT, words), invented
    yield "product and invented rather than invented", 0.3, invented, invented.replace(words["p"], "produto")
    yield "two inventions rather than a flat push", 1, made(_FLAT, words), f"{invented} Tem cashback!"


def harmless(prompt: Prompt, text: str) -> Iterator[Change]:
    """Of the first notification that is made of a brief."""
    brief = read(prompt)
    if brief is None or not text.startswith("Oi! Tem "):
        return
    words = words_of(brief)
    base = framed(_TOLD[brief.kind].partition("|")[0], words)
    for template in _TOLD[brief.kind].split("|"):
        yield f"offer told otherwise: {template}", base, framed(template, words)
    for sentence in filter(None, _CALLED[brief.kind].split("|")):
        yield f"offer called what it is: {sentence}", f"{base} Vem ver!", f"{base} {sentence}"
    if brief.kind == "a discount" and 50 < int(words["n"]) <= 55:
        for template in _OVER_HALF.split("|"):
            yield f"offer told otherwise: {template}", base, framed(template, words)
        for template in _HALF.split("|"):
            yield f"words: {template}", base, framed(template, words)
    for template in _turn(prompt, _IN_PLACE):
        yield f"product put otherwise: {template}", base, framed(template, words)
    for template in _turn(prompt, _WRITTEN):
        yield f"written otherwise: {template}", base, made(template, words)
    yield from _blemishes(prompt, brief, words, base)


def _blemishes(prompt: Prompt, brief: Brief, words: dict[str, str], base: str) -> Iterator[Change]:
    for template in _turn(prompt, _STOCK):
        yield f"blemish: flat, {template}", made(_OWN, words), made(template, words)
    if brief.offer:
        yield "blemish: nobody called", f"{made(_UNCALLED, words)} Aproveite!", made(_UNCALLED, words)
    full = exactly(base, SCREEN, "plain")
    longer = exactly(base, SCREEN + 5, "plain")
    if len(full) == SCREEN and len(longer) == SCREEN + 5:
        yield "blemish: a few words too long", full, longer
    for phrase in _turn(prompt, _GENERIC):
        yield f"blemish: {phrase}", f"{base} Vem ver!", f"{base} {phrase}"
    yield "blemish: without accents", base, base.replace("você", "voce")
    yield "blemish: a letter missing", base, base.replace("vontade", "vontad")
