"""The sentences of an analysis, and which of them advise a step: say so, order one, or stand in a list."""

import re

from rewards.open.order import is_imperative, is_infinitive
from rewards.parsing.text import figures, words

_LIST_MARK = re.compile(
    r"(?m)^[ \t]*(?:(?:etapa|passo|acao) )?(?:[①-⑳]|[^\w\s\"'(«“|$~<>≤≥+*]\ufe0f?|\*(?!\*)|\(?\w{1,2} ?[.)º:-]|\d{1,2}o"
    r"|\d\ufe0f?\u20e3)+[ \t]+"
)
_SENTENCES = re.compile(r"(?<=[.!?])\s+|\n+")
_STEPS = re.compile(r"(?<=[.!?;])\s+|\n+")
_CLAUSES = re.compile(r"[:,;()→]\s+|\b(?:e|ou|eu|so|ja|nao|depois|entao|primeiro|segundo)\s+")
_PARTS = re.compile(r"[:→] ")
_ADVISES = re.compile(
    r"\b\w{3,15}[aei]ria(?:mos|m)?\b|\b(?:recomend|suger|sugir|sugest|propo|priorid|convem|dev(?:e|em"
    r"|emos)\b|precis[ao]"
    r"|vale\b|vamos\b|melhor\b|meta\b|teste\b|piloto\b|acao\b|acoes\b|plano\b|passo|bora\b|hora de|ideia\b|caminho\b"
    r"|saida\b)"
)
_SHOULD = re.compile(
    r"\b(?:pode|podemos|poderia|vamos|queremos|aposta e|bom|deve|devemos|vale|bora|precisa|hora de) [a-z]{2,}[aei]r\b"
)
_ORDERS = re.compile(
    r"(?:^→? ?|: )(?!para|pra|onde|hoje|entre|mesmo|sobre|essa|esta|nossa|toda|cada|quase|agora|fora|ainda|media|nota"
    r"|meta|leitura|resposta|conta|loja|receita|taxa|pergunta|margem|venda|entrega|recompra)[a-z]{2,}[ae]"
    r" (?:[ao]s?|uma?|n[ao]s?|d[ao]s?|pra|com|so|mais|\d|esse|essa) "
)
"""A sentence that begins as an order does, with a verb and its object («bota a verba na busca»)."""
_FIGURE_FIRST = re.compile(r"→ (?:[a-z-]+:? ){1,4}(?:de |em |a |e |com )?(?:r\$ ?)?\d")
_TELLS_FIRST = re.compile(r"→ (?:(?:[ao]s?|est[ea]s?|ess[ea]s?|ha|tem)\b|\w+mos\b)")
"""A list item that begins with a label and its figure tells what is, not what to do."""


def sentences(folded: str, steps: bool = True) -> list[str]:
    """The sentences and list items of a folded text, and (`steps`) their parts between semicolons; an item has «→ » for
    its mark."""
    listed = _LIST_MARK.sub("→ ", folded.replace("**", ""))
    return [line for line in (_STEPS if steps else _SENTENCES).split(listed) if len(line) > 3]


def advises(line: str, brief: str = "") -> bool:
    """Whether a folded sentence advises: says so, orders, or is a list item whose figure its brief does not have."""
    if _ADVISES.search(line) or orders(line):
        return True
    if not _FIGURE_FIRST.match(line) or _TELLS_FIRST.match(line):
        return False
    known = {figure.value for figure in figures(brief)}
    return bool(brief) and not any(figure.value in known for figure in figures(line))


def orders(line: str) -> bool:
    """Whether a folded sentence is an order, or a list item that is not only a label with its figure."""
    if (
        _ORDERS.search(line)
        or (line.startswith("→") and not (_FIGURE_FIRST.match(line) or _TELLS_FIRST.match(line)))
        or clauses(line)
    ):
        return True
    return any(is_imperative(found[0]) for part in _PARTS.split(line) if (found := words(part)[:1]))


def clauses(line: str) -> int:
    """How many clauses of a folded sentence begin with an infinitive, or have one behind who should."""
    begun = (found[0] for clause in _CLAUSES.split(line) if (found := words(clause)[:1]))
    return sum(map(is_infinitive, begun)) + bool(_SHOULD.search(line))
