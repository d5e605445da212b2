"""Which figures are claimed of an indicator by the grammar of their clause, whatever else the sentence says.

«A devolução é de 55%» says so of now, beside any aim or condition: a verb of fact joins the indicator, which heads its
phrase, to a figure in its unit. «A devolução de 55%» takes it for known. «Meta: devolução de 5%» and «teto da devolução
é de 5%» do neither.
"""

import re
from collections.abc import Mapping, Sequence

from tucano.truth.advice import names
from tucano.truth.figures import Figure, figures
from tucano.truth.reading import plain

TOLD, NAMED = "told", "named"
"""A claim; and a figure that stands as the indicator's own and may yet be an aim, but no result of a sum."""
Mention = tuple[int, int, str]
"""Where a label begins and ends in the sentence, and which."""

_ASIDE = (
    r"(?:\s+(?:(?:d[aeo]s?|n[ao]s?|em)\s+[a-z]{3,}|hoje|ja|ainda|atual(?:mente)?|medi[oa]|geral|total|tambem"
    r"|agora)){0,2}"
)
_COPULA = re.compile(
    rf"{_ASIDE}\s+(?:(?:que|ja|hoje|so|ainda)\s+)?"
    r"(?:(?:e|foi|foram|ficou|esta|estava)\s+(?:(?:hoje|ja|so|apenas|agora)\s+)?(?:de|em|n[ao]s?)(?:\s+(?:so|apenas))?"
    r"|(?:chegou|subiu|caiu) (?:a|para)|atingiu|alcancou|marcou|soma(?:m|ram)|somou|fechou em|bateu(?: em)?)\s+"
)
_USUAL_COPULA = re.compile(rf"{_ASIDE}\s+(?:(?:que|ja|hoje|so|ainda)\s+)?(?:chega a|fica em)\s+")
_LED = re.compile(r"\b(?:se|quando|caso|enquanto|que|onde|assim que)\s+(?:[oa]s?\s+)?$")
"""A verb in the present may tell of what is or, led by such a word, of what may be."""
_BARE_COPULA = re.compile(rf"{_ASIDE}\s+(?:e|foi)\s+")
"""«É 55%» and «e 55%» look alike without accents: only at the end of a clause."""
_CLAUSE_END = re.compile(r"\s*(?:[.,;!?)]|\Z|(?:e|mas|o que|porque|por causa)\b)")
_OF = re.compile(r"(?:\s+(?:medi[oa]|atual|geral|total))?(?:\s+(?:de|em)\s+|\s*\()")
_BEHIND = re.compile(r"\s+de\s+(?:taxa de\s+)?")
_NEUTRAL = r"(?:taxa|indice|percentual|nivel|indicador|valor|numero|volume|total|media)"
_OTHER_HEAD = re.compile(rf"\b(?!{_NEUTRAL}\b)[a-z]{{3,}}\s+d[aeo]s?\s+(?:{_NEUTRAL}\s+d[aeo]s?\s+)?$")
"""«Meta de», «soma da»: then the figure is that word's. Contractions alone («na», «pela») head nothing."""
_JOINED = re.compile(r"\s*(?:e|ou|nem|x|/|\+|mais|menos|com|sem|por|sobre)\s+(?:[oa]s?\s+)?$")
_BY = re.compile(r"\b(?:sem|por|entre|sobre)\s+(?:[oa]s?\s+)?$")
_DEFINITE = re.compile(
    rf"(?P<before>\A|.*?[^a-z])(?:[oa]|d[oa]|n[oa]|pel[oa]|ess[ae]|est[ae]|sua|seu|noss[oa])\s+"
    rf"(?:{_NEUTRAL}\s+d[aeo]\s+)?$",
    re.DOTALL,
)
_AIMS = re.compile(
    r"\b(?:ating\w+|alcan[cs]\w+|bus[cq]\w+|mir\w+|persegu\w+|cheg\w+(?: a)?|para|ate|garant\w+"
    r"|(?:meta|objetivo|alvo)s? (?:e|sao))\W*$"
)
_EACH = re.compile(r"\bcada (?:r\$ ?)?\d")
"""What so many of a thing would bring («cada 50 clientes no ticket atual somam R$ 8.900»)."""
_SUPPOSED = re.compile(r"\bcom\s+(?:\w+\s+){0,2}$")


def tie(sentence: str, mentions: Sequence[Mention], figure: Figure, units: Mapping[str, str]) -> tuple[str, str]:
    """The label that a figure is tied to and how, TOLD or NAMED; two empty texts where it is tied to none.

    `units`: of every label; a figure in another unit is tied to none, and a mere number by a verb alone.
    """
    own = [one for one in mentions if units[one[2]] == figure.unit]
    before = [one for one in mentions if one[1] <= figure.start]
    if before and before[-1] in own and _heads(sentence, before):
        _, end, label = before[-1]
        between, ahead = sentence[end : figure.start], sentence[: before[-1][0]]
        if _EACH.search(ahead):
            return "", ""
        if _COPULA.fullmatch(between) or (_USUAL_COPULA.fullmatch(between) and not _LED.search(ahead)):
            return label, TOLD
        if _BARE_COPULA.fullmatch(between) and _CLAUSE_END.match(sentence, figure.end):
            return label, TOLD
        if figure.unit and _OF.fullmatch(between):
            definite = _DEFINITE.fullmatch(ahead)
            is_told = figure.unit == "%" and " em " not in between and definite and not _AIMS.search(definite["before"])
            return label, TOLD if is_told else "" if "(" in between or _SUPPOSED.search(ahead) else NAMED
    for start, _, label in own if figure.unit == "%" else ():
        if start >= figure.end and _BEHIND.fullmatch(sentence[figure.end : start]):
            return label, "" if _SUPPOSED.search(sentence[: figure.start]) else NAMED
    return "", ""


def _heads(sentence: str, before: Sequence[Mention]) -> bool:
    """Whether the last label heads its phrase: it is no other noun's («meta de recompra») and none of several."""
    start = before[-1][0]
    ahead = sentence[:start]
    joined = len(before) > 1 and bool(_JOINED.fullmatch(sentence[before[-2][1] : start]))
    return not joined and not _BY.search(ahead) and not _OTHER_HEAD.search(ahead)


_HEADED = re.compile(
    r"(?im)^\W{0,4}([^\W\d_][^\W\d_ ]*(?: [^\W\d_]+)?)\W{0,4}\n\s*+"
    r"(?:[-*•–]\s*(?=(?:caiu|subiu|ficou|está|em|de|com)\b|\d|R\$)|[↓↑⚠]\ufe0f?\s*(?=\d|R\$))"
)


_BARE_HEADING = re.compile(
    r"(?m)^(\W{0,6}[^\W\d_]{4,}(?: [^\W\d_]{4,})?) ((?:R\$ ?)?\d[\d.,]*%?)[*.:]{0,3}(?=\n+[^\n]{40})"
)


def under_headings(answer: str) -> str:
    """An answer whose headings of a word or two, an indicator, begin what their first item says of it («Nota média»,
    «- Caiu para 3,0»); one with its figure («Nota 3,5») says it of what is told below."""
    return _BARE_HEADING.sub(r"\1: \2", _HEADED.sub(r"\1 ", answer))


_QUOTED = re.compile(r"[\"“«]([^\"”»\n]{1,120})[\"”»]")


_BOAST = re.compile(r"\b(?:seu|sua) (?:frete|envio|entrega|prazo|nota)\w* (?:baix|ca|sub|diminu|melhor)\w+")
_SENT = re.compile(
    r"\b(?:envi(?:ar|e|em)|avis(?:ar|e|em|o|os)|mand(?:ar|e|em)|dispar(?:ar|e)|escrev(?:er|a)|diga|dizer|mensage(?:m"
    r"|ns)|push|assunto"
    r"|e-?mails?|whatsapp|sms|notificac\w+|banner|texto|chamada|comunic(?:ar|ado|que))\b"
)
"""What a message says to a customer of what has changed («Seu frete baixou»), and the words by which it is sent."""


def unquoted(row: str, facts: Mapping[str, tuple[float, str]]) -> str:
    """A line without what others are to read: what stands in quotation marks and has a figure is a message to send,
    unless it is the figure alone, tied to a label, or the label's own. Names of things are read without their marks."""
    units = {label: unit for label, (_, unit) in facts.items()}

    def read(quote: re.Match[str]) -> str:
        inside = plain(quote[1])
        found = figures(inside)
        mentions = sorted((one.start(), one.end(), label) for label in units for one in names(label).finditer(inside))
        ties = ((figure, tie(inside, mentions, figure, units)[1]) for figure in found)
        is_claim = any(how == TOLD or (how and figure.unit == "%") for figure, how in ties)
        is_alone = len(found) == 1 and not re.sub(r"\W", "", inside[: found[0].start] + inside[found[0].end :])
        if not found:
            return "…" if _BOAST.match(inside) and _SENT.search(plain(row[: quote.start()])) else quote[1]
        is_true = any(
            figure.shows(facts[label][0]) and figure.unit == units[label] for figure in found for *_, label in mentions
        )
        return quote[1] if is_claim or is_alone or is_true else "…"

    return _QUOTED.sub(read, row)
