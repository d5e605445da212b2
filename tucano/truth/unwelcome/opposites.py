"""What no summary says: the opposite of its review; all in plain words."""

import re
from collections.abc import Mapping
from typing import Any

from tucano.truth.wording.complaints import denies

_HAPPY = re.compile(
    r"\b(?:excelente|adorou|ama|amou|otim[oa]|perfeit\w+|maravilh\w+|encantad\w+|elogia|satisfeit\w+|gostou muito)\b"
    r"|(?<!nao )\brecomenda\b"
)
_ALL_WELL = re.compile(
    r"(?<!nao )(?<!nem )\b(?:esta )?tudo (?:certo|otimo|perfeito|bem|em ordem|ok)\b"
    r"(?! com (?!(?:[oa] )?(?:pedido|entrega|compra)\b))(?![^.]{0,80}\b(?:mas|porem|contudo|exceto|so que)\b)"
)
"""Not with one thing of several, nor until a «mas»."""
_ANGRY = re.compile(
    r"\b(?:detest\w+|odiou|quebr\w+|pessim\w+|furios\w+|defeito\w*|horrive\w+|reclam\w+|decepcion\w+|insatisf\w+"
    r"|nunca mais|alergia|reembolso|estrag\w+|prejuizo|revolt\w+)\b"
)
_NOTHING_OF = re.compile(
    r"\b(?:nao|nem|sem|nenhum|nenhuma|zero|(?:nunca|nada)(?!(?: \w+){0,3} (?:mais|muito) $))"
    r"(?: (?:aponta|relata|cita|registra|menciona|encontrou|encontra|viu|ve|tem|teve|ha|houve|apresenta"
    r"|apresentou|achou|acusa|faz|fez"
    r"|traz|mostra|qualquer|algum|nenhum|motivos?|razao|sinal|deixa|margem|d[eo]|a|o|que|para|com|esta|ficou|foi"
    r"|mais|muito|se|vai)){0,4} $"
)
"""What denies the word of anger or praise behind it («não aponta defeito algum»)."""


def is_turned(summary: str, review: str, known: Mapping[str, Any]) -> bool:
    """Whether a summary praises where a review complains, or complains where it praises, in words of its own."""
    complaint = known.get("main_complaint")
    if complaint and (denies(summary, complaint) or (_ALL_WELL.search(summary) and not _ALL_WELL.search(review))):
        return True
    if known.get("sentiment") == "negative":
        return (
            any(not _NOTHING_OF.search(summary[: found.start()]) for found in _HAPPY.finditer(summary))
            and not _HAPPY.search(review)
            and not re.search(r"\b(?:otim|bo[am])", review)
        )
    is_praise = known.get("sentiment") == "positive" and known.get("main_complaint") is None
    is_angry = any(not _NOTHING_OF.search(summary[: found.start()]) for found in _ANGRY.finditer(summary))
    return is_praise and is_angry and not _ANGRY.search(review)


_UNDONE = re.compile(r"\b(?:nao|nem|nunca|jamais|sem|nada|zero|longe de|quem|nenhum\w*)(?: [^\W\d_]+){0,3}\s\Z")
"""Takes back the word that follows in the same clause."""
_OTHERS = re.compile(r"\s?(?:\w+ ){0,3}(?:outr[oa]s?\b(?! vez)|nada\b|ninguem\b|mais barat|melhor)")
"""Behind a denial: it is of another thing, and praises this one."""
_WOULD_NOT = re.compile(
    r"\bnao (?:[oa] )?(?:recomend(?:a|ou|aria)|compraria|volta a comprar|voltaria a comprar|gostou d[aeo]s?"
    r"|vale o (?:preco|valor)|valeu o (?:preco|valor)|vale a pena)\b"
    r"|\bnao (?:superou|atendeu|atingiu|correspondeu) (?:\w+ ){1,2}(?:esperado|expectativas?)\b"
)
_GAVE_BACK = re.compile(
    r"\b(?:cliente|consumidora?|compradora?) (?:ja )?devolveu [oa]s? "
    r"(?!confian|sorris|alegri|vida|confort|dinheir|carinh|brilh)"
)
_SORRY = re.compile(
    r"\b(?:infeliz|decepcionad[oa]|arrependid[oa])\b|\b(?:ma|pessima|baixa) qualidade\b"
    r"|\bqualidade (?:muito |bem |e )?(?:ma|ruim|baixa|pessima)\b"
)
_FELL_SHORT = re.compile(r"\babaixo d(?:o esperado|as (?:suas )?expectativas|a expectativa)\b")
_BETTER_LOW = re.compile(r"\b(?:preco|valor|custo|frete|tempo|prazo|ruido|barulho|consumo|gasto)s?\b[^.;]*\Z")
"""Whoever pays or waits less than he expected is glad."""
_COSTLY = re.compile(
    r"\b(?:achou|acha|considera|considerou) (?:\w+ ){0,4}car[oa]\b"
    r"|\bprecos? (?:muito |bem |e )?(?:altos?|caros?|salgados?)\b"
)
_GOOD_PRICE = re.compile(
    r"\b(?:preco|valor) (?:\w+ ){0,3}(?:bom|otimo|justo|baixo|excelente)\b|\b(?:bom|otimo) preco\b|\bbarat"
)
_COMPLAINING = re.compile(
    r"\bnao (?:\w+ )?(?:recomend|gost|compr|volt|val|super|atend|ating|correspond)|\b(?:infeliz|decepcion|arrepend"
    r"|abaixo|devol|troc|reembols|ruim|pessim|baix|caro\b|cara\b|mas\b|porem\b|so que\b|ma qualidade)"
)
_JOY = re.compile(
    r"\b(?:adorou|amou|encantad[oa]|satisfeit[oa]|recomenda|superou (?:o esperado|(?:as |suas )?expectativas))\b"
)
_JOYFUL = re.compile(
    r"\b(?:ador|amei|amo\b|encant|super|satisf|recomend|feliz|otim|bo[am]\b|bons\b|excel|gost|lind|perfeit|maravilh"
    r"|elogi|parab|bem\b|legal)"
)
_BUT = re.compile(
    r"\b(?:mas|porem|apesar|embora|so que|ate|antes|esperava\w*|queria\w*|promet\w+|poderia|deveria|quando|se)\b|\?"
)
_TOOK_BACK = re.compile(
    r"\b(?:aceitou|fez|realizou|efetuou|autorizou) a (?:troca|devolucao)\b"
    r"|\btrocad[oa] (?:pel[oa] \w+ )?sem (?:problemas?|dificuldades?)\b"
)
_WOULD_NOT_TAKE = re.compile(
    r"\b(?:neg(?:a|ou|aram)|recus(?:a|ou|aram)|nao (?:quis|quer|aceit\w+|fez|faz|autoriz\w+|permit\w+))"
    r" (?:\w+ ){0,3}(?:troca\w*|devol\w+)"
)


def is_reversed(summary: str, review: str, known: Mapping[str, Any]) -> bool:
    """Whether a summary says beyond doubt what its review does not: displeasure with what is all praise, joy over what
    is none, an exchange that was refused."""
    if known.get("sentiment") == "positive" and known.get("main_complaint") is None:
        if _GOOD_PRICE.search(review) and any(_stands(summary, found) for found in _COSTLY.finditer(summary)):
            return True
        return not _COMPLAINING.search(review) and _is_sorry(summary)
    if known.get("sentiment") != "negative" or _BUT.search(summary):
        return False
    if _WOULD_NOT_TAKE.search(review) and any(_stands(summary, found) for found in _TOOK_BACK.finditer(summary)):
        return True
    is_glad = any(_stands(summary, found) for found in _JOY.finditer(summary))
    return is_glad and not _JOYFUL.search(review) and not _ANGRY.search(summary)


def _is_sorry(summary: str) -> bool:
    """Whether a summary tells of somebody who is sorry to have bought."""
    if any(not _OTHERS.match(summary, found.end()) for found in _WOULD_NOT.finditer(summary)):
        return True
    is_short = any(
        _stands(summary, found) and not _BETTER_LOW.search(summary[: found.start()])
        for found in _FELL_SHORT.finditer(summary)
    )
    return is_short or bool(_GAVE_BACK.search(summary)) or any(_stands(summary, f) for f in _SORRY.finditer(summary))


def _stands(summary: str, found: re.Match[str]) -> bool:
    return not _UNDONE.search(summary[: found.start()])
