"""Truth of `push`: one notification that names its product, invites, and offers what its brief grants."""

import re
from collections import Counter
from pathlib import Path

from tucano.truth.figures import figures
from tucano.truth.fluency import Norm, reads
from tucano.truth.offers import codes, granted, kinds, mentions_offer, told_of_others
from tucano.truth.product import has_wrong_article, in_a_phrase, names_another, names_product
from tucano.truth.reading import plain, sentences, words
from tucano.truth.single import copied, is_single, portuguese
from tucano.truth.types import PromptLike
from tucano.truth.unwelcome.to_customers import is_unwelcome
from tucano.truth.wording.junk import is_astray, is_junk

SCREEN = 120
"""Characters that a notification shows."""
SLIGHTLY_LONG = 150
LONGEST = 330
SLIGHTLY_CUT = 0.7
CUT = 0.45
"""What is left where some words, or most of them, are cut off."""
GENERAL = 0.28
UNGRANTED = 0.15
ANOTHER = 0.1
"""What a good notification for any product is worth, one with an invented offer, and one for another product."""
OWN_WORDS = 2
FLAT = 0.86
"""Words that are no stock of every notification, and what is left without: right, but flat."""
WITHOUT_OFFER = 0.75
"""What is left of a notification that does not pass on the offer of its brief: a minor point, by the rating guide."""
FORMAL = 0.5
NEUTRAL, OF_HER = "badalo", "gamela"
"""Stand for the product where order is judged, whose own ending may look like a verb («celular»): words that the corpus
lacks, so that they count by their ending."""
FLUENT = Norm(mean=-0.45, odd=0.51, sentence=-1.7)
LOOSE = 0.28
"""What is left for a product, and for every price or discount, that hangs in no phrase («Sua 24%. Sugiro mouse.»)."""
_PHRASE = re.compile(
    r"(?:com|ate|de|off|:|por|so|mais|tem|ganhe|seus?|esses?|estes?|baix(?:ou|a)|ca(?:iu|i)|menos"
    r"|economi[sz]\w{1,20}|chega a)\s*\d[\d,]*\s*%"
    r"|%\s*(?:off|de desconto|de off|de abatimento|(?:a )?menos|menor|(?:ja )?mais (?:barat|em conta|leve))"
    r"|(?:por|a|so|somente|apenas|de|em|com|custa|sai|esta|tudo|:|,|-|agora|hoje|em dia|[.!?]|\A)\s*"
    r"(?:so |apenas |somente )?r\$"
)
_AMOUNT = re.compile(r"\d\s*%|r\$\s*\d")
_SHARE_OF = re.compile(r"\d\s*%\s*d[aeo]s?\s+(?!desconto|abatimento|off|economia|reducao|cashback)")
"""A share of something else («20% de bateria»)."""
_AGAINST = re.compile(
    r"\b(?:nao|nunca|jamais|nem|pare de|evit\w+|deixe de)\s+(?:\w+\s+){0,2}?(?:compr(?!a\b|as\b|ou)|us"
    r"|lev(?!ou|ant)|peg|aproveit"
    r"|recomend|val|serv|funcion|prest|gost|confi"
    r"|garant|quer|clique|abr|experiment|confir|pec|merec|vem(?!os)|venha|corr|e bom|e boa"
    r"|temos|(?<!ja )tem(?!po)|existe|chegou|esta)\w*"
    r"|\b(?:ruim|ruins|pessim\w+|horrive\w+|terrive\w+|defeit\w+|quebrad\w+|fei[oa]s?|porcaria|lixo|fraude"
    r"|golpe|errad[oa]s?|fals[oa]s?"
    r"|engan\w+|decepcion\w+|arrepend\w+|fuj[ae]\w*(?! d[aeo]s? (?:precos? (?:cheio|alt|car|salgad|absurd)|rotina"
    r"|calor|frio|barulho|ruido|sol|chuva|fila|estresse|mesmice|cansaco|transito|tedio))"
    r"|desist\w+|pior|piores|nojent\w+|perigos\w+|inuti[ls]\w*"
    r"|estragad\w+|(?<!de )cuidado(?! com (?:voce|a sua|o seu|sua|seu))|problema\w*"
    r"|reclam\w+|atras\w+|car[oa] demais|custa car[oa]|quebra logo|idiota\w*|imbecil|burr[oa]s?|otari[oa]|estupid[oa]"
    r"|vencid\w+|usad[oa]s?|odei\w+|cancel\w+|esgotad\w+|indisponive\w+"
    r"|danific\w+|mentira)\b"
    r"|\bnao (?:faca|envie) (?:o )?(?:seu )?pedido(?: hoje| agora)?\s*(?:[.!]|, deixe|\Z)"
)
_PRAISES = re.compile(
    r"\b(?:nao|nunca|sem) (?:vai |vao |tem como |ha como )?(?:se |te )?(?:arrepend\w+\b(?! de cair)|decepcion\w+)"
    r"|\bquem disse que [^.!?:]{1,40} custa car[oa]\s*\?"
    r"|\bproblemas? (?:resolvid|acabou"
    r"|e coisa do passado)\w*"
    r"|\b(?:sem|adeus,?|tchau,?|chega de|resolv\w+ (?:o|seu|esse)|fim d[oe]|acab\w+ com (?:o"
    r"|seu)) problemas?\b(?! se\b)"
    r"|\bparece (?:ate )?mentira\b(?!,? e (?:ninguem|e\s*(?:[.:;,!]|\Z)))|\bnao e mentira\b|\b(?:nao"
    r"|nunca) e demais\b|\bruim (?:mesmo )?e (?:ficar sem"
    r"|perder|passar|esperar)\b"
    r"|(?:\A|[.!?:] |\b(?:teve|foi|tendo|depois de) (?:um |uma )?)"
    r"(?:semana|dia|manha|tarde|noite|fase|segunda|humor|clima|tempo) (?:\w+ )?(?:ruim|pessim\w+|horrive\w+"
    r"|terrive\w+)(?=\s*\?)"
    r"|\bnao (?:vai|da para|da pra|tem como) (?:querer )?(?:perder|deixar passar|resistir(?! ao mau)|ficar sem)\b"
)
"""Turns that praise with a negative word («você não vai se arrepender», «sem problema»)."""
_ABOUT = re.compile(
    r"\b(?:push|notificac\w+|caracteres|publico|mensagem curta|produto:|preco:\s*r\$|desconto:\s*\d"
    r"|(?:\A|(?<=[.;!?] ))preco:"
    r"|(?:\A|(?<=\. ))cupom:|\ba mensagem d[aeo]\b|(?<!-)texto:"
    r"|(?:o|um|este|esse) texto (?:curto|pronto|acima|abaixo|d[aeo]|e|sobre|para|com ate)"
    r"|, (?:ofertas?|descontos?|promoc(?:ao|oes)|frete|cupom)(?:[,.!]|\Z)"
    r"|(?:crie|escreva|monte|faca) (?:um|uma) (?:push|not|texto|mensag|anunci|frase)"
    r"|(?:them|they|the|your|grab|get|you|with) )"
)
_FORMAL = re.compile(r"\b(?:prezad\w+|atenciosamente|informamos|cordialmente|vossa|solicitamos|comunicamos)\b")
SCRAP, MOST_SCRAPS = 2, 5
"""Words of a part between commas that says nothing by itself, and how many of these no notification has."""
MOST_TOLD = 4
"""Times that a notification says a word."""
_HOLE = re.compile(r"\b(?:tem|temos|merece:?|chegou:?|que tal) (?:para|com|sem|por)\b|\b(?:chegou|merece):?\s*[?!]")
HOLLOW = 0.3
"""Where the name of a thing is lacking («Oi! Tem para você»), and what is left then."""
_INVITES = re.compile(
    r"\b(?:aproveit\w+|garant\w+|confir\w+|corr\w+|pegue|pega|lev[ea]\w*|descubr\w+|experiment\w+|volt\w+|vem"
    r"|venh\w+|vej\w+|finaliz\w+|renov\w+"
    r"|pec\w+|que tal|seus?|suas?|voces?|oi|ola|ei|merec\w+|chegou|chega\w*|esper\w+|saudade\w*|so hoje|hoje"
    r"|agora|us[ea]|loja|novidade|conhec\w+"
    r"|cheg\w+|presentei\w+|com|por|pode (?:usar|levar|vir|conferir))\b|[!?]|\b(?:frete|entrega) (?:gratis|zero)"
    r"|\d ?% ?off|(?:\A|[.:,] )(?:apli\w+|digit\w+|escolh\w+|abr[ae]|toque|entr[ae]|pass[ae]|olh[ae]|diga"
    r"|d[ae] uma olhada)\b"
)


_STOCK = re.compile(
    r"merec|ofert|novid|loja|site|aqui|cliqu|toqu|acess|noss|esper|aproveit|garant|confir|compr|corr|venh"
    r"|pegu|leve|agora"
    r"|hoje|voce|gratis|frete|descont|cupo|apenas|cheg|gente|perca|para|seus?\b|suas?\b"
)
_PADDED = re.compile(
    r"\b(?:outros produtos|muito mais|todo o (?:brasil|pais)|formas de pagamento"
    r"|todas as (?:nossas )?(?:condicoes|lojas)|segunda a sexta)\b"
)
PADDED = 0.28
"""What is left of a notification that goes on about the shop."""
_SIGNED = re.compile(r"(?i)(?:(?<!\s)\s+)?\b(?:atenciosamente|cordialmente|respeitosamente)\b[^.!?]{0,60}[.!]?\s*\Z")
"""The end of a letter: its tone is judged, its words are no sentence."""
_OPEN_END = re.compile(r"([^\W\d_]{2}|\d%?)\s*\Z")
"""A notification may end without a full stop."""


def truth(prompt: PromptLike, answer: str, databases: Path | None) -> float | None:
    """0 for a text that does not name the product, names another, advises against it, offers what is not granted, is
    too long, several, copied, no notification or no prose; else 1, less for an offer not passed on or a formal tone.
    """
    product = str(prompt.reference.get("product", ""))
    if not product:
        return None
    text, length = plain(answer), len(" ".join(answer.split()))
    is_push = (
        0 < length <= LONGEST
        and is_single(answer)
        and len([row for row in answer.splitlines() if row.strip()]) <= 2
        and not _AGAINST.search(_PRAISES.sub("isso", text))
        and not _ABOUT.search(text)
        and bool(_INVITES.search(text) or _offers(prompt, answer, product))
        and copied(answer, prompt.user) < 0.65
    )
    if not is_push or _is_repeated(answer) or is_junk(answer) or _orders(text, plain(prompt.user), plain(product)):
        return 0.0
    if is_unwelcome(answer, product, prompt.user):
        return 0.0
    read = re.sub(rf"\b{re.escape(product)}\b", _neutral, answer, flags=re.IGNORECASE)
    for code in codes(prompt.user):
        read = re.sub(rf"(?i)(?<=\buse )\b{re.escape(code)}\b", "o cupom", read)
    read = _OPEN_END.sub(r"\1.", re.sub(r"(?i)(prezad[oa])\(as?\)", r"\1", _SIGNED.sub("", read)))
    if not reads(read, FLUENT) or is_astray(answer, prompt.user, "push"):
        return 0.0
    return portuguese(answer) * _matter(prompt, answer, product) * _style(text, plain(prompt.user), length)


_ORDER = re.compile(r"\b(?:crie|monte|faca|escreva|elabore|prepare|redija)\b")


def _orders(text: str, brief: str, product: str) -> bool:
    """Whether a notification asks for one, in the verb of its brief («Monte de batom», «Escreva hoje, panela»)."""
    head = re.escape(next(iter(product.split()), "push"))
    return any(
        re.search(rf"\b{verb}(?: hoje)?,? (?:de |nao |para quem |(?:uma? )?{head}\b)", text)
        for verb in set(_ORDER.findall(brief))
    )


def _offers(prompt: PromptLike, answer: str, product: str) -> bool:
    """Whether a notification passes on what its brief offers: that invites too."""
    brief = prompt.user.replace(product, " ")
    is_offered = bool(figures(plain(brief)) or codes(brief) or "free shipping" in kinds(brief))
    return is_offered and names_product(answer, product) and mentions_offer(answer, prompt.user, product)


def _matter(prompt: PromptLike, answer: str, product: str) -> float:
    """What is left of a notification for what it says: of the product, of its offer, and in which phrases."""
    if not granted(answer, prompt.user, product) or told_of_others(answer, product):
        return UNGRANTED
    if names_another(answer, product, prompt.user):
        return ANOTHER
    if not names_product(answer, product, prompt.reference.get("terms", ())):
        has_hole = _HOLE.search(plain(answer))
        return GENERAL * (HOLLOW if has_hole else 1.0) * (1.0 if mentions_offer(answer, prompt.user, product) else 0.5)
    text = plain(answer)
    loose = (
        (not in_a_phrase(answer, product))
        + has_wrong_article(answer, product)
        + max(0, len(_AMOUNT.findall(text)) - len(_PHRASE.findall(text)))
    )
    loose += len(_SHARE_OF.findall(text.replace(plain(product), "")))
    return LOOSE**loose * (1.0 if mentions_offer(answer, prompt.user, product) else WITHOUT_OFFER)


def _style(text: str, brief: str, length: int) -> float:
    """What is left for length and tone, and for stock words alone."""
    if length > SCREEN and _PADDED.search(text):
        return PADDED
    fits = 1.0 if length <= SCREEN else SLIGHTLY_CUT if length <= SLIGHTLY_LONG else CUT
    own = {word for word in re.findall(r"[^\W\d_]{4,}", text) if word not in brief and not _STOCK.match(word)}
    return fits * (FORMAL if _FORMAL.search(text) else 1.0 if len(own) >= OWN_WORDS else FLAT)


_HER = re.compile(r"(?i)\b(?:uma|a|da|na|sua|nossa|esta|essa|nova|à|pela)\s\Z")


def _neutral(name: re.Match[str]) -> str:
    word = OF_HER if _HER.search(name.string[: name.start()]) else NEUTRAL
    return word.capitalize() if name[0][0].isupper() else word


def _is_repeated(answer: str) -> bool:
    """Whether a sentence stands twice, two notifications in one, a word of four letters again and again, or words are
    only strung together («celular, película, hoje, agora, já»)."""
    if sum(0 < len(words(part)) <= SCRAP for part in re.split(r"[,.]", plain(answer))) >= MOST_SCRAPS:
        return True
    told = Counter(re.findall(r"[^\W\d_]{4,}", plain(answer)))
    if max(told.values(), default=0) >= MOST_TOLD:
        return True
    found = [re.sub(r"\W+", " ", plain(part)).strip() for part in sentences(answer)]
    return len(set(found)) < len(found)
