"""Push: ordinary sentences that sound like an offer, a fault or a thing out of place, and are none; and rarer offers,
tones and notes that are."""

import re
from collections.abc import Iterator, Sequence

from tucano.prompts import Prompt
from tucano.specs.flaws.objects import Change, Flaw
from tucano.specs.flaws.push.kinds import Brief, read
from tucano.specs.flaws.push.wordings import framed, made, words_of

_TOLD = "Bateu aquela vontade? Tem {p} {offer} para você."
_HOUSE = "A rotina da casa combina com {o} {p} {offer}."
_YOURS = "A rotina da sua casa combina com {o} {p} {offer}."
_HEARD = (
    "Do primeiro ao último dia, um prazer!|Para quem não gosta de esperar!|Sem defeito e sem demora!|Chega de coisa "
    "quebrada em casa!|Evite filas: peça no app!|Evite sustos!|Evite imprevistos!|Evite pressa!|Fuja da rotina!|Fuja "
    "do calor!|Fuja do frio!|Fuja do trânsito!|Fuja do tédio!|Fuja da mesmice!|Lindo até na faixa de areia!|Um mimo "
    "para a sua casa!|Leve dois amigos para testar!|Não use mais desculpas!|Não use só o velho!|Chega em todo o "
    "Brasil!"
)
"""What sounds like an offer, a fault or a withdrawal."""
_SENTENCES = (
    "Faça o check-out no app!|Seja no Sul ou no Norte!|Pague com Pix no app!|Para você e os seus!|Escolha o seu e "
    "leve!|Vale a pena, viu? :)|(Sim, é para você!)|Veja no YouTube e no TikTok!|Peça pelo iPhone!|Pague com PicPay!|"
    "Confira.|Corra.|Vem.|Venha.|Garanta.|Olá.|Olha só... é seu!|Olha só… é seu!|Vai querer poder levar!|Que "
    "vontade!... Vem!|Quem resiste (e quem quer resistir?)!|Vem! Corra!|Veja cada detalhe, um a um!|Vem!!!!!|Esse é "
    "o seu!|Saiba como!|Só falta um!|Está a um toque!|A cada dia, mais amor!|Para quando quiser!|Até que enfim!|Para "
    "que esperar?|É amor 🎉🎉🎉|O clima é o tema do seu dia!|Um problema e um drama a menos!|O mapa do sistema é "
    "simples!|Seu pijama e sua foto agradecem!|O tênis no pé, o mês no fim!|Um ônibus a menos!|O lápis na mão!"
)
"""Sentences of any shop, with turns that few have."""
_PLACED = (
    "Hoje tem novidade em {p} {offer}.|Hoje a loja de {p} {offer} é sua.|Cada {p} {offer} faz a diferença.|Mais {p} "
    "{offer} para o seu dia.|É {o} melhor {p} {offer} para você.|Você merece {p} {offer} hoje.|Conheça {o} {p} "
    "{offer} hoje.|Ganhe tempo: {p} {offer} é para você.|Confira {p} {offer} para a sua casa.|Aproveite {p} {offer} "
    "para a sua casa.|Peça {p} {offer} para a sua casa.|Quer {p} {offer} em casa?|Tem carinho para você e {p} "
    "{offer}.|Sua casa quer {p} {offer}.|Voltou {o} {p} {offer}.|**{P}** {offer} é para você.|Chegou {um} nov{o} {p} "
    "{offer}.|Leve {p} para a praia e {p} para casa {offer}."
)
"""Places where a notification names its product."""
_CALLS = (
    "Descubra!|Experimente!|Finalize a compra!|Renove a casa!|Pegue já!|Volte à loja!|Venha!|Chegou agora!|É só até "
    "domingo!|É hoje!|Toque e use!|Peça no app!|Ligue para a loja!|Adote!|Anote!|Tente!|Saia de casa!|Planeje o fim "
    "de semana!|Procure no app!|Pedir é fácil!|Fique bem!|Faça a festa!|Comprar é fácil!|Leve para casa!|Confirme "
    "já!|Com calma, toque!"
)
_SPOKEN = (
    "A rotina das suas manhãs combina com {o} {p} {offer}.|A rotina dos seus filhos combina com {o} {p} {offer}.|A "
    "rotina da tua casa combina com {o} {p} {offer}.|A rotina de vocês combina com {o} {p} {offer}.|Oi, a rotina da "
    "casa combina com {o} {p} {offer}.|Olá, a rotina da casa combina com {o} {p} {offer}.|Oba, a rotina da casa "
    "combina com {o} {p} {offer}.|Ei, a rotina da casa combina com {o} {p} {offer}.|Saudades da rotina boa com {o} "
    "{p} {offer}.|A rotina da casa espera {o} {p} {offer}.|A casa quer {o} {p} {offer} na rotina.|A rotina da casa "
    "precisa d{o} {p} {offer}.|É hora de rotina boa com {o} {p} {offer}.|Bora viver a rotina da casa com {o} {p} "
    "{offer}.|A casa está pronta para {o} {p} {offer}.|Imagine a rotina da casa com {o} {p} {offer}.|A nova rotina "
    "da casa combina com {o} {p} {offer}.|Chega de rotina: a casa pede {o} {p} {offer}."
)
"""Words that speak to somebody, each alone."""
_OFFERED = {
    "a discount": (
        "Tem {n}% de desconto em {p} para você.|São {n}% n{o} {p} para você.|São {n}% para você n{o} {p}.|{P}: {n}% "
        "pra você.|{P} com desconto de {n}%: é para você!"
    ),
    "a price": (
        "{Seu} {p} sai R$ {n}.|O preço d{o} {p} é R$ {n}.|Tem {p} em casa com R$ {n}.|O "
        "preço d{o} {p} foi para R$ {n}.|{P}: R$ {n} para você."
    ),
    "a coupon": ("Leve {seu} {p}. Código: {c}.|Leve {seu} {p} com o cupom: {c}.|Digite {c} e leve {seu} {p}."),
    "free delivery": (
        "Tem {p} sem taxa de entrega para você.|O frete d{o} {seu} {p} é por nossa conta.|Você não paga frete n{o} "
        "{seu} {p}.|Leve {seu} {p}: a entrega hoje é grátis!|Frete por conta da loja n{o} {seu} {p}."
    ),
    "no offer": "",
}
_DENIED = "Não tem desconto, tem carinho!|Não há promoção que chegue perto!|Nenhuma oferta vale mais!"
_UNCALLED = {
    "a discount": "com {n}% OFF",
    "free delivery": "com entrega grátis|com frete gratuito|com entrega gratuita",
    "a price": "a R$ {n}|por só R$ {n}",
}
_CALM = "com {n}% a menos|{n}% mais barat{o}"
"""Discounts without a word that calls to act."""
_PARTY = {"Escreva": "Escreva a sua história!", "Faça": "Faça a sua festa!", "Prepare": "Prepare a sua festa!"}
_UNGRANTED = {
    "free delivery": ("frete|entrega", "Sem taxa de entrega!|O frete de hoje é por nossa conta!|Você não paga frete!"),
    "for free": ("grátis|graça|frete|entrega", "A preço zero!|Sem custo!"),
    "half the price": ("metade|[5-9][0-9]%", "Sai por meio preço!"),
    "two for one": ("leve", "Leve três e pague duas!|São dois por um!|Compre um e ganhe outro!"),
    "a gift": ("brinde|presente", "Tem bônus!|Com cortesia da casa!|Com mimo extra!|Ganhe outra!"),
    "a coupon": ("cupom", "Tem voucher!|Tem vale-compra!"),
    "the last ones": (
        "últim|estoque",
        "Poucas unidades!|Só restam duas!|Estão acabando!|Está acabando!|O estoque acaba hoje!",
    ),
    "a raffle": ("sorteio|prêmio|garantia", "Com reembolso garantido!|Com garantia total!|Com garantia de dez anos!"),
    "a service": (
        "montagem|instala|entrega",
        "Com entrega expressa!|Com entrega imediata!|Pague depois!|Sai na faixa!|Leva uma surpresa!|Leva um presente!|"
        "Com montagem grátis!|Pague só em maio!",
    ),
    "a discount": (
        "desconto|%|off|cupom|frete|entrega",
        "É saldão!|Com abatimento!|É o menor preço!|A preço de fábrica!|É promoção!",
    ),
    "a lower price": (
        "desconto|%|off|cupom|frete|entrega|preço",
        "Só por este preço!|Nesse preço, corra!|Só por esse preço!|Com preço baixo!",
    ),
}
_AGAINST = "Não perca tempo com {o} {p}.|{P} é um produto feio.|Não gosto d{o} {p}.|{P} é produto ruim."
_OUT_OF_PLACE = "Você é {p} {offer}. Aproveite!|Você dorme {p} {offer}. Aproveite!"
_BESIDE = (
    "Aproveite {x} e {p} {offer} hoje!|Confira {x} e {p} {offer} hoje!|Chegou {x} e {p} {offer}!|Leve hoje mesmo {x} "
    "e {p} {offer}!|Tem {x} e {seu} {p} {offer}!|Tem {x} e {um} {p} {offer}!"
)
_GAPS = (
    "Oi! Tem uma surpresa {offer} para você. Aproveite!>Oi! Tem {offer} para você. Aproveite!",
    "Você merece uma surpresa: vem conferir!>Você merece: vem conferir!",
    "Chegou uma surpresa para você!>Chegou para você!",
)
"""With nothing where a product should stand, rather than with a word for it."""
_SCRAPS = (
    "{t} Peça em 2horas.|{t} Custa 3,7,9.|{t} Vem ver?.|{t} Vem)|{t}\n. Vem ver!|{t} Veja o produto_id.|{t} **Vem ver!|"
    "{t} Use o cupom: agora.|{t} Vem Ver o seu Presente!|{t} vem ver!|{t} Vem ver de!|{t} De casa.|{t} Vem a um o!|"
    "{t} Um festa para o sua casa!|{t} Os casa é bonito."
)
_HALVES = "A outra sai pela metade!|O terceiro sai pela metade!|Tem colher pela metade do preço!"
_ABOUT = (
    "Esta mensagem serve para você: {t}|A mensagem é para você: {t}|Uma mensagem que informa você: {t}|A mensagem "
    "que pode ir: {t}"
)
_STRUNG = (
    "Oferta, desconto, aproveite: tem {p} {offer} para você!|Bateu aquela vontade? Promoção, oferta, já! Tem {p} "
    "{offer}.|Bateu aquela vontade? Desconto, só hoje! Tem {p} {offer}."
)
_CODES = "Use o código promocional {c} n{o} {p}.|Use o cupom “{c}” n{o} {p}.|Digite {c} e leve {seu} {p}."
_HIGHER = (
    "Tem {p} com mais de 50% de desconto extra para você.|Tem {p} com mais de 50% OFF no frete para você.|Tem {p} "
    "com mais de 50% de desconto de volta."
)


def _half(prompt: Prompt, texts: str) -> Sequence[str]:
    """Every other text; the next prompt has those between."""
    return texts.split("|")[sum(map(ord, prompt.user)) % 2 :: 2]


def _asked(prompt: Prompt) -> str:
    """The verb with which a brief asks for its notification."""
    found = re.search(r"\b(?:Monte|Escreva|Crie|Faça|Prepare)\b", prompt.user)
    return found[0] if found else ""


def harmless(prompt: Prompt, text: str) -> Iterator[Change]:
    """Of the first notification that is made of a brief."""
    brief = read(prompt)
    if brief is None or not text.startswith("Oi! Tem "):
        return
    words = words_of(brief)
    told, base = made(_TOLD, words), framed("Tem {p} {offer} para você.", words)
    for sentence in (*_half(prompt, _HEARD), *_half(prompt, _SENTENCES), *filter(None, [_PARTY.get(_asked(prompt))])):
        yield f"sounds odd: {sentence}", f"{told} Vem ver!", f"{told} {sentence}"
    for sentence in _DENIED.split("|") if brief.kind == "no offer" else ():
        yield f"sounds odd: {sentence}", f"{told} Vem ver!", f"{told} {sentence}"
    for template in _half(prompt, _PLACED):
        yield f"product in its place: {template}", base, framed(template, words)
    last = words["p"].split()[-1]
    if last != words["p"] and last in prompt.reference.get("terms", ()):
        yield "product by its end: an hour", base, framed(f"Chegou a hora de {last} {{offer}}.", words)
    for template in filter(None, _OFFERED[brief.kind].split("|")):
        yield f"offer in rarer words: {template}", base, framed(template, words)
    house = made(_HOUSE, words)
    for call in _half(prompt, _CALLS):
        yield f"called otherwise: {call}", f"{house} Aproveite!", f"{house} {call}"
    for template in _half(prompt, _SPOKEN):
        yield f"spoken to otherwise: {template}", made(_YOURS, words), made(template, words)
    yield "words: few of its own", base, made("Oi! Tem {p} {offer} na sua manhã feliz. Aproveite!", words)
    for offer in filter(None, _UNCALLED.get(brief.kind, "").split("|")):
        calm = made(_HOUSE, words | {"offer": made(offer, words)})
        yield f"blemish: nobody called, {offer}", f"{calm} Aproveite!", calm
    for offer in _CALM.split("|") if brief.kind == "a discount" else ():
        yield f"words: nobody called, {offer}", house, made(_HOUSE, words | {"offer": made(offer, words)})


def edits(prompt: Prompt, text: str, others: Sequence[Prompt]) -> Iterator[Flaw]:
    """Of the first notification that is made of a brief."""
    brief = read(prompt)
    if brief is None or not text.startswith("Oi! Tem "):
        return
    words = words_of(brief)
    base = framed("Tem {p} {offer} para você.", words)
    yield from _offers(prompt, brief, words, base)
    yield from _products(prompt, words, others)
    yield from _notes(prompt, brief, words)
    for template in _half(prompt, _STRUNG):
        yield f"strung together: {template}", 1, base, made(template, words)
    for template in _half(prompt, _ABOUT):
        yield f"about a message: {template}", 1, base, template.format(t=base)
    for sentence in _half(prompt, _AGAINST):
        yield f"spoken ill of: {sentence}", 2, f"{base} Vem ver!", f"{base} {made(sentence, words)}"
    for template in _half(prompt, _SCRAPS):
        yield f"rarer scraps: {template}", 0.3, base, template.format(t=base)


def _offers(prompt: Prompt, brief: Brief, words: dict[str, str], base: str) -> Iterator[Flaw]:
    for kind, (known, sentences) in _UNGRANTED.items():
        if kind != brief.kind and not re.search(known, f"{prompt.user} {brief.offer}", re.IGNORECASE):
            for sentence in _half(prompt, sentences):
                yield f"nobody granted, {kind}: {sentence}", 2, f"{base} Vem ver!", f"{base} {sentence}"
    for template in _CODES.split("|") if brief.kind == "a coupon" else ():
        yield f"another code: {template}", 3, framed(template, words), framed(template, words | {"c": "EXTRA"})
    if brief.kind == "a discount":
        yield from _more_than(int(words["n"]), words, base)


def _more_than(value: int, words: dict[str, str], base: str) -> Iterator[Flaw]:
    far = words | {"n": f"{value // 10 * 10 - 10}"}
    yield "more than what: far less", 1, base, framed("Tem {p} com mais de {n}% de desconto para você.", far)
    for sentence in _HALVES.split("|") if value >= 50 else ():
        yield f"half of another: {sentence}", 2, f"{base} Vem ver!", f"{base} {sentence}"
    for template in _HIGHER.split("|") if 50 < value <= 55 else ():
        yield f"more than what: {template}", 2, base, framed(template, words)


def _products(prompt: Prompt, words: dict[str, str], others: Sequence[Prompt]) -> Iterator[Flaw]:
    known = {words["p"], *prompt.reference.get("terms", ())}
    strangers = [name for other in others if (name := other.reference.get("product")) and name not in known]
    own = framed("Tem {p} {offer} para você.", words)
    for template in _OUT_OF_PLACE.split("|"):
        yield f"product in no place: {template}", 1, own, made(template, words)
    for template in _half(prompt, _BESIDE) if strangers else ():
        beside = words | {"x": strangers[0]}
        yield f"with another product: {template}", 1, own, framed(template, beside)
    last = words["p"].split()[-1]
    if last in known - {words["p"]}:
        yield "named after the product: lid", 2, own, framed("Tem {p} {offer}.", words | {"p": f"tampa de {last}"})
    for pair in _GAPS:
        before, after = (made(template, words) for template in pair.split(">"))
        yield f"gap for the product: {pair}", 0.3, before, after


def _notes(prompt: Prompt, brief: Brief, words: dict[str, str]) -> Iterator[Flaw]:
    """Notes of the brief inside of a sentence, and its order in other forms."""
    base = framed("Tem {p} {offer} para você.", words)
    notes = re.findall(r"\b(Desconto|Preço|Público|Produto): ([\w$]+)", prompt.user)
    for name, value in notes:
        yield f"note inside: {name}", 1, base, framed(f"Tem {{p}} {{offer}} para você, {name.lower()}: {value}.", words)
    if len(notes) > 1:
        one, other = (name.lower() for name, _ in notes[:2])
        told = framed(f"Tem {{p}} {{offer}} para você com {one}: amigos e {other}: festa.", words)
        yield "note inside: two names", 1, base, told
    if verb := _asked(prompt):
        for form in ("de {p}", "hoje, {p}", "para quem viu {o} {p}", "não {o} {p}"):
            yield f"order again: {form}", 1, base, framed(f"{verb} {form} {{offer}}.", words)
    if audience := re.search(r"Público: ([^.]+)\.", prompt.user):
        before = made("Oi! Tem {p} {offer} para manhãs tranquilas. Aproveite!", words)
        yield f"flat words of the brief: {brief.kind}", 0.3, before, before.replace("manhãs tranquilas", audience[1])
