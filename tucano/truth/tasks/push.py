"""Truth of `push`: one notification that names its product, invites, and offers what its brief grants."""

import re
from pathlib import Path

from tucano.truth.fluency import Norm, fluency
from tucano.truth.offers import granted, mentions_offer
from tucano.truth.product import in_a_phrase, names_another, names_product
from tucano.truth.reading import plain, sentences
from tucano.truth.single import copied, is_single
from tucano.truth.types import PromptLike

SCREEN = 120
"""Characters that a notification shows."""
WITHOUT_OFFER = 0.75
"""What is left of a notification that does not pass on the offer of its brief: a minor point, by the rating guide."""
FORMAL = 0.5
NEUTRAL = "quadro"
"""Stands for the product where order is judged: its own ending may look like a verb («celular»)."""
FLUENT = Norm(mean=-0.6, odd=0.49)
LOOSE = 0.4
"""What is left for a product, and for every price or discount, that hangs in no phrase («Sua 24%. Sugiro mouse.»)."""
_PHRASE = re.compile(
    r"(?:com|ate|de|off|:|por|so|mais|tem|ganhe|seus?|esses?|estes?)\s*\d[\d,]*\s*%"
    r"|%\s*(?:off|de desconto|de off|a menos|mais barat)"
    r"|(?:por|a|so|apenas|de|custa|sai|esta|tudo|:|-|agora|hoje|em dia)\s*(?:so |apenas )?r\$"
)
_AMOUNT = re.compile(r"\d\s*%|r\$\s*\d")
_AGAINST = re.compile(
    r"\b(?:nao|nunca|jamais|nem|pare de|evit\w+|deixe de)\s+(?:\w+\s+){0,2}?(?:compr|us|lev|peg|aproveit"
    r"|recomend|val|serv|funcion|prest|gost|confi"
    r"|garant|quer|clique|abr|experiment|confir|pec|merec|vem|venha|corr|e bom|e boa|temos|tem|existe|chegou|esta)\w*"
    r"|\b(?:ruim|ruins|pessim\w+|horrive\w+|terrive\w+|defeit\w+|quebrad\w+|fei[oa]s?|porcaria|lixo|fraude"
    r"|golpe|errad[oa]s?|fals[oa]s?"
    r"|engan\w+|decepcion\w+|arrepend\w+|fuj[ae]\w*|desist\w+|pior|piores|nojent\w+|perigos\w+|inuti[ls]\w*"
    r"|estragad\w+|(?<!de )cuidado(?! com (?:voce|a sua|o seu|sua|seu))|problema\w*"
    r"|reclam\w+|atras\w+|car[oa] demais|vencid\w+|usad[oa]s?|odei\w+|cancel\w+|esgotad\w+|indisponive\w+"
    r"|danific\w+|mentira)\b"
)
_ABOUT = re.compile(
    r"\b(?:push|notificac\w+|caracteres|publico|crie|escreva|monte|faca um|texto|mensagem curta|produto:|preco:"
    r"|desconto:|cupom:)"
)
_FORMAL = re.compile(r"\b(?:prezad\w+|atenciosamente|informamos|cordialmente|vossa|solicitamos|comunicamos)\b")
_INVITES = re.compile(
    r"\b(?:aproveit\w+|garant\w+|confir\w+|corr\w+|pegue|pega|lev[ea]\w*|descubr\w+|experiment\w+|volt\w+|vem"
    r"|venh\w+|vej\w+|finaliz\w+|renov\w+"
    r"|pec\w+|que tal|seus?|suas?|voces?|oi|ola|ei|merec\w+|chegou|chega\w*|esper\w+|saudade\w*|so hoje|hoje"
    r"|agora|us[ea]|loja|novidade|conhec\w+"
    r"|cheg\w+|presentei\w+|com|por)\b|[!?]"
)


def truth(prompt: PromptLike, answer: str, databases: Path | None) -> float | None:
    """0 for a text that does not name the product, names another, advises against it, offers what is not granted, is
    too long, several, copied or no notification; else its fluency, less for an offer not passed on or a formal tone.
    """
    product = str(prompt.reference.get("product", ""))
    if not product:
        return None
    text, line = plain(answer), " ".join(answer.split())
    fits = (
        0 < len(line) <= SCREEN
        and is_single(answer)
        and len([row for row in answer.splitlines() if row.strip()]) <= 2
        and names_product(answer, product, prompt.reference.get("terms", ()))
        and not names_another(answer, product, prompt.user)
        and granted(answer, prompt.user, product)
        and not _AGAINST.search(text)
        and not _ABOUT.search(text)
        and bool(_INVITES.search(text))
        and copied(answer, prompt.user) < 0.5
    )
    if not fits or _is_repeated(answer):
        return 0.0
    offer = 1.0 if mentions_offer(answer, prompt.user, product) else WITHOUT_OFFER
    loose = (not in_a_phrase(answer, product)) + max(0, len(_AMOUNT.findall(text)) - len(_PHRASE.findall(text)))
    read = re.sub(rf"\b{re.escape(product)}\b", _neutral, answer, flags=re.IGNORECASE)
    return fluency(read, FLUENT) * LOOSE**loose * offer * (FORMAL if _FORMAL.search(text) else 1.0)


def _neutral(name: re.Match[str]) -> str:
    return NEUTRAL.capitalize() if name[0][0].isupper() else NEUTRAL


def _is_repeated(answer: str) -> bool:
    """Whether a sentence stands twice: two notifications in one."""
    found = [re.sub(r"\W+", " ", plain(part)).strip() for part in sentences(answer)]
    return len(set(found)) < len(found)
