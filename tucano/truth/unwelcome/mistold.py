"""What an answer mistells in words or by its order: exchanged figures, times past, gross readings."""

import re
from collections.abc import Iterator, Mapping, Sequence

from tucano.truth.figures import Figure

_LEADS_TO = re.compile(r"\s*(?:para|de|em|d[ao]|n[ao]|como)\s+(?:[oa]\s+)?")
Mention = tuple[int, int, str]


def exchanged(
    sentence: str, mentions: Sequence[Mention], found: Sequence[Figure], values: Mapping[str, float]
) -> Iterator[str]:
    """Labels whose figure stands at another one and the other way about: right in front of it («tenho 5,8% para
    receita») or in the order of both («respectivamente»)."""
    if "respectiv" in sentence and len(found) == len(mentions):
        pairs = [(label, figure) for (_, _, label), figure in zip(mentions, found, strict=True)]
    else:
        pairs = [
            (label, figure)
            for figure in found
            for start, _, label in mentions
            if start >= figure.end and _LEADS_TO.fullmatch(sentence[figure.end : start])
        ]
    for label, figure in pairs:
        if not figure.shows(values[label]):
            for other, theirs in pairs:
                if other != label and figure.shows(values[other]) and theirs.shows(values[label]):
                    yield label


_PAST = re.compile(
    r"\b(?:era|eram|foi|foram|estava|estavam|tinhamos|tivemos)\b[^.;,]{0,30}\b(?:o dobro|o triplo|a metade"
    r"|o quadruplo)\b"
    r"|\b(?:dobr|triplic|quadruplic)(?:ou|aram) (?:\w+ ){0,3}(?:trimestre|mes|ano|semestre) (?:passad|anterior)"
    r"|\b(?:recorde historico|(?:pior|melhor) resultado (?:em|d[aeo]s?) (?:\w+ )?(?:anos|historia|meses))\b"
)
_TIMES = re.compile(r"\b(?:passad[oa]|anterior|antes|dobr\w+|triplic\w+|recorde|em alta|em queda|subiu|caiu)\b")
_ALL = re.compile(
    r"\b(?:significa|mostra|quer dizer|indica|prova|revela)m? que (?:tod[oa]s (?:[oa]s )?(?:client|pedid|comprador"
    r"|pesso)\w+|ninguem (?:mais )?(?:compra|volta)(?: mais| nada| aqui)*\s*(?:[.,;!]|\Z)|a loja esta vazia)"
)
_MONEY = re.compile(
    r"\b(?:perd(?:emos|eu|e)|(?:deixamos|deixou) de ganhar|prejuizo de|custou|custaram) (?:\w+ )?(?:um|dois|tres"
    r"|cinco|dez|meio) "
    r"milh(?:ao|oes)\b"
)


def misreads(sentence: str, brief: str) -> bool:
    """Whether a sentence tells of a past that the brief does not, of all or nobody, or of millions in words."""
    past = _PAST.search(sentence) and not _TIMES.search(brief)
    return bool(past or _ALL.search(sentence) or (_MONEY.search(sentence) and "milh" not in brief))
