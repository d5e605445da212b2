"""Figures that bound or give something by the words right around them: limits, signals, gifts, shares of an effort.

Each of these turns tells of now as well («31% ou mais de atraso», «o atraso consome 60% do tempo»), so it counts only
beside a step or a condition, and never beside a verb of fact.
"""

import re

from tucano.truth.advice import recommends
from tucano.truth.figures import Figure

_OFFERED_AT = re.compile(
    r"[,;:→+(]\s*frete (?:fixo |unico |reduzido )?a\s*$|\bgratis,? \(?ou (?:por |a )?$|"
    r"\b(?:gratis|cortesia|brinde|desconto)\b[^.;]{0,20}\bdesde\s*(?:r\$\s*)?$"
)
"""In front of a price that is offered beside a step."""
_SIGNAL = re.compile(
    r"\b(?:sinal|luz|alerta|alarme|gatilho)(?: (?:amarel|vermelh)[oa]|:)?(?: acende)? (?:em|a partir de) $"
)
"""In front of the figure that calls for a step («sinal amarelo em 4%»)."""
_NOW = re.compile(
    r"\b(?:hoje|ja(?! (?:compr|ped|recebe)\w*)|agora|ontem|atual(?:mente)?|n?este mes|n?esta semana"
    r"|(?:no )?mes passado|ultimo mes)\b"
)
_FACT = re.compile(
    r"\b(?:sao|eram?|foi|foram|estao?|estava|fic(?:ou|aram)|cust(?:a|am|ou|aram)|cheg(?:a|am|ou|aram)|houve|ha"
    r"|tem|temos"
    r"|tinha|vemos|vimos|mostr(?:a|am|ou)|revel(?:a|am|ou)|indic(?:a|am|ou)|assust(?:a|am|ou)|preocup(?:a|am"
    r"|ou)|pes(?:a|am|ou)"
    r"|incomod(?:a|am|ou)|registr\w+|segundo|conforme|marc(?:a|am|ou)|bat(?:e|em|eu)|som(?:a|am|ou)|atingi\w*|alcancou"
    r"|explic(?:a|am|ou))\b|\be (?:de|em|o que)\b"
)
_BOUND = re.compile(r"\s*(?:ou (?:menos|mais|melhor)|(?:para|pra) (?:cima|baixo)|em diante)\b")
"""Behind a limit («10% ou menos»)."""
_OTHERWISE = re.compile(r"\s*(?:em vez|no lugar|ao inves) d[aeo]s?\b|\s*\?")
"""Behind what replaces something, and behind what is asked («Cancelamento em 6%?»)."""
_CALLS_FOR = re.compile(r"(?:\A|[:,→;]\s*)(?:se|quando|caso|com|acima|abaixo|onde|quem|para|antes d[aeo]s?)\b|→")
_KEEPS = re.compile(
    r"[^:→,]{0,40}(?:[:→,]\s*)(?:mant\w+|segu\w+|par\w+|paus\w+|troc\w+|volt\w+|acion\w+|rev\w+|expand\w+)\b"
)
"""A condition, and behind a figure what is done then («11% ou mais: pausar»)."""
_PASSED = re.compile(r"\bpass(?:ou|aram) de\s*$")

_WORK = r"(?:energia|esforco|verba|tempo|orcamento|equipe|atencao|foco|dinheiro|recursos)"
_EFFORT = re.compile(rf"\s*d[aeo]s? (?:nossa |nosso )?(?:{_WORK}|base|lista|publico)\b")
"""Behind a share of what a plan deals out («80% da verba no frete»)."""
_DEALT = re.compile(rf"\s*d[aeo]s? (?:nossa |nosso )?{_WORK}(?: d\w+ \w+)? (?:em|n[ao]s?|para|pra)\b")
_CLAUSE = re.compile(r"[^,;:→(]*\Z")
_PUTS = re.compile(r"\W*(?:\w{1,2}[.)]\s*)?(?:por|poria|daria|dedicaria|colocaria)\s+\Z")
_BARE = re.compile(r"\W*(?:\w{1,2}[.)]\s*)?(?:uns |cerca de |e |os )?\Z")
_TAKES = re.compile(
    r"\b(?:consom\w+|ating\w+|gast(?:a|am|ou|amos|aram)|lev(?:a|am|ou)|tom(?:a|am|ou)|cust(?:a|am|ou)|afet(?:a"
    r"|am|ou)|respond\w+"
    r" por|perd(?:e|em|eu|emos)|representa\w*|reservamos|ocup(?:a|am|ou)|com(?:e|em|eu)|e de|sao|e)\s+(?:uns "
    r"|cerca de |quase |ate )?\Z"
)
"""A verb of fact in front of a share: what is taken of it, not what is given."""

_GIVES = re.compile(r"\b(?:ganh(?:a|am|e|em)|receb(?:e|em|a|am))\s*$")
_GIFT_IF = re.compile(r"\b(?:quem|se|quando|cliente que|os dois|ambos|indic\w+)\b")
_GIFT_OF = re.compile(
    r"\s*(?:de (?:credito|volta|desconto|cashback|bonus)|em (?:credito|cupo[mn]|compras|vale)|n[ao] (?:proxim"
    r"|segund|primeir))"
)
GIFT = 100
"""Reais that a customer may be given; what a shop earns is more."""
_BANDED = re.compile(r"(?:\A|[,;:.]\s*|\be )de $")
_BAND = re.compile(r"\s*a\s*r\$|\s*em diante\b")
"""Around the amounts between which an offer holds («de R$ 300 a R$ 399, frete pela metade»)."""
_FEE = re.compile(
    r"\b(?:taxa unica|clube|assinatura|mensalidade|tarifa|desde)\b(?:\s+(?:de|do|da|a|que|em|por|para))?\s*(?:r\$\s*)?$"
)
_FEE_LEADS = re.compile(
    r"(?:\A|[:,;→(]\s*|\bcom )(?:uma? )?(?:novo |nova )?(?:taxa unica|clube|assinatura|mensalidade|tarifa)\b"
)
_OF_NOW = re.compile(r"\s*d[aeo]s? (?:frete|envio|entrega|ticket|loja)")
"""Prices of what is founded, and what makes such a price one of now («a tarifa de R$ 60 do frete»)."""


def is_limit(sentence: str, figure: Figure) -> bool:
    """Whether a figure is a price or a limit by the words right before and behind it, a gift, or a share of effort."""
    before, behind = sentence[: figure.start], sentence[figure.end :]
    if _OFFERED_AT.search(before) or _OTHERWISE.match(behind):
        return True
    if figure.unit == "R$" and _BANDED.search(before) and _BAND.match(behind) and not _OF_NOW_AT_ALL.search(behind):
        return True
    if _BOUND.match(behind):
        return _is_bound(sentence, before, behind)
    if _SIGNAL.search(before):
        step = _AFTER.search(behind) or (_ALONE.match(before) and not re.search(r"\w", behind))
        return not _NOW.search(sentence) and not _IT_IS.search(behind) and bool(step)
    if figure.unit == "%" and _EFFORT.match(behind):
        return _is_dealt_out(sentence, before, behind)
    if _PASSED.search(before) and sentence.rstrip().endswith("?"):
        return True
    if _FEE.search(before):
        told = _OF_NOW.match(behind) or _FACT.search(sentence) or _NOW.search(sentence)
        return not told and bool(_FEE_LEADS.search(before) or recommends(sentence))
    return figure.unit == "R$" and figure.value <= GIFT and _is_given(sentence, before, behind)


_OF_NOW_AT_ALL = re.compile(r"\be o frete\b|\bhoje\b")
_IT_IS = re.compile(r"\A[^:,]{0,40}[:,]\s*(?:e|foi|era|esta|chegamos|aconteceu)\b")
_ALONE = re.compile(r"\W*(?:sinal|luz) (?:amarel|vermelh)[oa] em \Z")
_AFTER = re.compile(r"[:,→=]\s*\w")


def _is_bound(sentence: str, before: str, behind: str) -> bool:
    """Whether «ou mais» bounds what a step or a condition asks for, rather than exaggerate what is."""
    if _FACT.search(sentence) or _NOW.search(sentence):
        return False
    return bool(recommends(sentence) or _CALLS_FOR.search(before) or _KEEPS.match(behind))


def _is_dealt_out(sentence: str, before: str, behind: str) -> bool:
    """Whether a share of time, money or customers is one that the clause gives away."""
    found = _CLAUSE.search(before)
    clause = found[0] if found else ""
    if _TAKES.search(before) or _NOW.search(sentence):
        return False
    if _PUTS.match(clause) or (_BARE.match(clause) and _DEALT.match(behind)):
        return True
    return recommends(clause + "x" + behind)


def _is_given(sentence: str, before: str, behind: str) -> bool:
    """Whether a small amount is one that a customer is to be given."""
    if not _GIVES.search(before) or _NOW.search(sentence):
        return False
    return bool(_GIFT_IF.search(before) or _GIFT_OF.match(behind))
