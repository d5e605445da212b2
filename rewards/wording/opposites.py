"""Whether a summary says the opposite of its review, in folded text."""

import re

from rewards.wording.troubles import PRAISE

_NEAR = 60
"""Characters in front of a praise in which its denial stands."""
_COMPLAINS = re.compile(
    r"\b(?:quebr|pessim|furios|defeit|horriv|reclam|decepcion|insatisf|nunca mais|alergi|reembols|estrag|prejuiz"
    r"|revolt)\w*"
)
_TURNED_DOWN = re.compile(
    r"\b(?:nao|nem|sem|nenhum\w*|zero|livre|ausencia|(?:nunca|nada)(?!(?: \w+){0,3} (?:mais|muito|tao) $))"
    r"(?: (?:apont|relat|mencion|cit|registr|encontr|tem|ha\b|houve|teve|apresent|not|acus|identific|ach|faz|fez"
    r"|traz|mostr|veio"
    r"|qualquer|algum|nenhum|motivo|razao|sinal|deix|margem|d[eo]\b|a\b|que|para|o\b|com\b|mais|muit|tao|esta|se\b|vai\b"
    r"|ficou|foi|e\b)"
    r"\w*){0,4} $"
)
"""What says of a complaint or a praise behind it that there is none («não aponta defeito algum»)."""
_PRAISES = re.compile(
    r"\b(?:excelent|parab|ador|amou|otim|perfeit|maravilh|encantad|elogi)\w*|\bgostou muito\b|(?<!in)\bsatisfeit\w*"
    r"|(?<!nao )\brecomenda\b"
)
_NOT_SO = re.compile(
    r"\b(?:nao|nem|nunca|jamais) (?:(?:foi|e|era|estava|houve|se|me|lhe|cheg\w+|veio|vieram|entreg\w+) )?$"
)
"""What takes back a praise behind it."""


def is_denied(folded: str, place: int) -> bool:
    return bool(_NOT_SO.search(folded[max(0, place - _NEAR) : place]))


def turns(summary: str, review: str, felt: object, complaint: object) -> bool:
    """Whether a folded summary says the opposite of its review in words that the review does not have."""
    opposite = {"positive": None if complaint else _COMPLAINS, "negative": _PRAISES}.get(str(felt))
    if felt == "positive" and not complaint and _takes_back(summary, review):
        return True
    found = opposite.finditer(summary) if opposite else ()
    is_said = any(not _TURNED_DOWN.search(summary[: match.start()]) for match in found)
    return bool(is_said and opposite and not opposite.search(review))


def _takes_back(summary: str, review: str) -> bool:
    """Whether a folded summary denies what its review is content with («não cumpriu o prazo»), and praises nothing."""
    kinds = [kind for kind in PRAISE.values() if kind.search(summary)]
    denied = [all(is_denied(summary, told.start()) for told in kind.finditer(summary)) for kind in kinds]
    return bool(kinds) and all(denied) and any(kind.search(review) for kind in kinds)


_NOT_AT_ALL = re.compile(r"\b(?:nao|nem|nunca|jamais|sem|nada|nenhum\w*|zero|longe|quem)(?: \w+){0,3} $")
"""What stands in front of a word of feeling that is not felt; a comma ends its reach."""
_ANOTHER = r"(?! (?:\w+ ){0,2}(?:outr[oa]s?\b(?! vez)|nada\b|ninguem|mais (?:barat|nada)|melhor))"
"""Whom a denial is of: «não recomenda outra marca» praises this one."""
_DISPLEASED = re.compile(
    rf"\bnao (?:[oa] )?recomend(?:a|ou|aria)\b{_ANOTHER}|\bnao gostou d"
    rf"|\bnao (?:[oa] )?(?:compraria|volta(?:ria)? a comprar){_ANOTHER}"
    r"|\bnao vale(?:u)? (?:o preco|o valor|a pena)\b(?! (?:\w+ )?(?:em|n[ao]|outr))"
    r"|\bnao (?:superou|atendeu|atingiu|correspondeu)\b[^.;,]{0,12} (?:esperad|expectativ)"
    r"|\bclient\w* (?:ja )?(?:devolveu [ao]s? (?!sorris|alegr|confian|vida|confort|dinheir|carinh)"
    r"|pediu (?:o )?reembolso)"
)
"""What a customer who is content does not say, denials by themselves."""
_BAD = re.compile(
    r"\b(?:infeliz|decepcionad[oa]|arrependid[oa])\b|\b(?:ma|pessima|baixa) qualidade"
    r"|\bqualidade (?:\w+ )?(?:ma|ruim|baixa|pessima)\b"
    r"|\babaixo d[aeo]s? (?:esperad|expectativ)"
)
_DEAR = re.compile(
    r"\b(?:achou|acha|considera|considerou)\b[^.;,]{0,25} car[oa]\b|\bpreco (?:\w+ )?(?:alto|caro|salgado)\b"
)
_FAIR_PRICE = re.compile(r"\b(?:preco|valor)\b[^.;,]{0,15} (?:bom|otimo|justo|baixo|excelente)\b|\bbarat|\bbom preco")
_OF_LESS = re.compile(r"\b(?:prec|valor|cust|frete|temp|praz|ruid|barulh|consum|gast)\w*[^.;]*$")
"""Of what there may well be less than was expected."""
_ANY_FAULT = re.compile(
    r"\bnao (?:\w+ )?(?:recomend|gost|compr|volt|val|super|atend|ating|correspond)|\b(?:infeliz|decepc|arrepend|abaixo"
    r"|devol|troca|reembols|ruim|pessim|ma qualid|baix|mas\b|porem|so que|car[oa]\b)"
)
"""A review with one of these may be told so."""
_DELIGHT = re.compile(
    r"\b(?:adorou|amou|encantad[oa]|superou (?:as |suas )?expectativ\w+|superou o esperado)\b"
    r"|(?<!in)\bsatisfeit[oa]\b|\brecomenda\b"
)
_ANY_PRAISE = re.compile(
    r"\b(?:ador|am[eo]|encant|super|satisf|recomend|feliz|otim|bo[mn]|boa|excel|gost|lind|perfeit|maravilh|elog"
    r"|parab|bem|legal)\w*"
)
_HEDGED = re.compile(
    r"\b(?:mas|porem|apesar|embora|so que|ate|antes|esper|queria|promet|poderia|deveria|quando|se)\b|\?"
)
_EXCHANGED = re.compile(
    r"\b(?:aceitou|fez|realizou|autorizou|efetuou) (?:a |sem \w+ a )?(?:troca|devolucao)\b"
    r"|\b(?:foi )?trocad[oa] (?:pel[oa] (?:vendedor\w*|loja|lojista) )?sem (?:problema|dificuldade)s?\b"
)
_REFUSES = re.compile(
    r"\b(?:neg|recus|nao (?:quis|quer|aceit|deix|faz|fez|permit|autoriz))\w*\b[^.;]{0,20}\b(?:troca|devol)"
)


def is_opposed(summary: str, review: str, felt: object, complaint: object) -> bool:
    """Whether a folded summary says in as many words the opposite of its review: displeasure where all is praise, joy
    where nothing is, an exchange that was refused."""
    if felt == "positive" and not complaint:
        if _says(_DEAR, summary) and _FAIR_PRICE.search(review):
            return True
        is_bad = bool(_DISPLEASED.search(summary)) or _says(_BAD, summary)
        return is_bad and not _ANY_FAULT.search(review)
    if felt != "negative" or _HEDGED.search(summary):
        return False
    if _says(_EXCHANGED, summary) and _REFUSES.search(review):
        return True
    return _says(_DELIGHT, summary) and not _ANY_PRAISE.search(review) and not _COMPLAINS.search(summary)


def _says(words: re.Pattern[str], summary: str) -> bool:
    """Whether words stand in a folded summary, neither denied nor said of what there may be less of."""
    return any(
        not _NOT_AT_ALL.search(summary[: found.start()])
        and not (found[0].startswith("abaixo") and _OF_LESS.search(summary[: found.start()]))
        for found in words.finditer(summary)
    )
