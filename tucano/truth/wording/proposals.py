"""Figures that are none of now: proposals, aims, offers, limits, spans of time and numbers of steps."""

import re

from tucano.truth.advice import recommends
from tucano.truth.figures import Figure
from tucano.truth.wording.limits import is_limit

FREE = 10
"""Whole numbers up to here without a unit claim nothing («3 ações»)."""
_TARGET = re.compile(
    r"\b(?:meta|metas|objetivo|alvo|acima de|abaixo de|a partir de|ate|menos de|minimo de|minim[oa]|pelo menos"
    r"|chegar a"
    r"|chegue a|cupo[mn]|desconto|frete progressivo|brinde|multa|cashback|teto|piso)\b[^.;]*$"
    r"|\b(?:aumentar|elevar|subir|reduzir|baixar|diminuir|levar|trazer|aumente|eleve|suba|reduza|baixe|diminua"
    r"|leve)\b"
    r"[^.;]*\b(?:para|a|em)\s*(?:(?:perto|cerca) de\s*|uns\s*)?(?:r\$\s*)?$"
    r"|(?:\A|[,;:(]\s*)progressivo\b[^.;]*$"
)
_FUTURE = re.compile(
    r"\b(?:metas?|objetivos?|alvos?|esperad\w+|esperamos|esperar|projec\w+|projetad\w+|sucesso|cenarios?"
    r"|hipotes\w+|estimativ\w+"
    r"|busqu\w+|buscar|mir(?:ar|em|e|amos|ando)|perseguir|persiga|alcance|alcancar|atingir|atinja|tent(?:e|ar|em)"
    r"|(?:quero|queremos|gostaria de) ver)\b"
    r"|(?:\A|[,;:(]\s*|\b(?:e|mas|so|que)\s+)(?:se|caso|quando|enquanto|assim que|supondo|desde que"
    r"|depois que)\s"
    r"|\bse (?:o|a|os|as|cada|isso)\s"
    r"|\b[a-z]{2,}(?:[aei]riam?"
    r"|[aei]ssem?)\b(?<!parceria)(?<!bateria)(?<!diaria)(?<!livraria)(?<!padaria)(?<!loteria)(?<!carteira)"
)
"""Words before a figure by which it is none of now: an aim, a condition, a conditional or subjunctive verb."""
_IS_NOW = re.compile(
    r"\b(?:hoje|ja|atualmente|agora|neste mes|que (?:e|foi|esta|ja|hoje))\s+(?:(?:ja|hoje)\s+)?(?:(?:e|foi|esta"
    r"|anda|chega|chegou)\s+)?(?:em|de|a)\s+"
    r"(?:r\$\s*)?$"
)
_AIMED_AT = re.compile(r"\b(?:metas?|alvos?|objetivos?|tetos?|limites?|pisos?|minimo|desconto|cupo[mn])\b")
"""In front of a figure that an aside tells of now («reduzir o atraso, hoje em 14%»), and what may be told so too."""
_COMING = re.compile(
    r"\b(?:em|daqui a|dentro de|apos)\s(?:\d{1,3}|um|dois|tres|quatro|seis|doze)\s(?:dias|semanas|mes|meses)\b"
    r"|\b(?:ate|p/|para|em)\s(?:o (?:fim|final|proximo)(?: d[eo])? \w+"
    r"|(?:jan|fev|marco|abr|mai|jun|jul|ago|set|out|nov|dez)\w*)\s*(?:[:,.;)]|\Z)"
)
"""A time to come that a sentence sets («até setembro.»): what it names then is none of now."""
_BYGONE = re.compile(r"\b(?:contra|ante|historico|anterior|era|eram|foi|foram|estava|tinha|passado)\b[^;.]*$")
"""Words by which a month is one that has been («contra 11% em maio»)."""
_LIMIT = re.compile(
    r"(?:[<>≤≥+→]|\b(?:mais|menos|nem|antes|dentro|alem|entre|superior|inferior|(?:ma|me)ior(?:es)?|pass(?:ar|e|asse)"
    r"|cair|caia|cheg(?:ar|ue)|de volta"
    r"|fix[oa]|pedido minimo|cred[ei]to|vale(?:-\w+)?|bonus)\b(?:\s+(?:de|do|da|a|que|em|por"
    r"|para))?)\s*(?:r\$\s*)?$"
    r"|\b(?:a|por)\s+r\$\s*$|\bretirada com frete de\s+(?:r\$\s*)?$"
    r"|\b(?:acessori|item|itens|kit|combo|produto|adicional|complement)\w*\s(?:\w+\s)?(?:de|por|entre"
    r"|ate)\s*(?:r\$\s*)?$"
    r"|\b(?:entre|de)\s(?:r\$\s*)?[\d.,]+%?\s(?:e|a)\s(?:r\$\s*)?$"
)
_OFFER_OF = re.compile(
    r"\b(?:kit|combo|presente|item|itens|peca|produto|acessori)\w*\s(?:[^\s.;]+\s){0,8}?na (?:faixa"
    r"|casa) d[aeo]s?\s*(?:r\$\s*)?$"
)
_WITH = re.compile(r"\b(?:pix|boleto)\s+(?:\w+\s+)?com\s*$")
_SHARE_OF = re.compile(r"\s*d[aeo]s?\b(?! desconto)")
_TOWARDS = re.compile(r"\brumo a\s*(?:r\$\s*)?$")
"""In front of what is offered, or wanted; and behind a share that is one of something."""
_CHANGED = re.compile(r"\bde (?:r\$\s*)?[\d.,]+%? para (?:r\$\s*)?$")
"""From one figure to another: what could be, unless a word says that it was."""
_OFFERED = re.compile(
    r"\s*(?:(?:na (?:proxima|segunda|primeira) compra"
    r"|(?:por|durante)\s(?:os\s)?(?:\d+|tres|cinco|sete|oito|dez|quinze|trinta)\s(?:dias|semanas|horas))\b"
    r"|(?:a partir|acima) d[aeo]s?\s+(?:r\$|\d)|em (?:\d|duas|dois|tres) (?:itens|pecas|unidades|produtos))"
)
_RANGE = re.compile(r"\s*(?:–|-|/|a|ou|e)\s*\d+")
_SPANS_TO = re.compile(r"\b(?:dias?|semanas?|mes(?:es)?)\s\d+\s*(?:–|-|a|e)\s*$")
_NUMBERED = re.compile(r"\b(?:dias?|semanas?|fase|etapa|passo|grupo)\s+(?:\d+(?:,\s*|\s+e\s+))*\Z")
"""In front of the number of a step («Dia 20: …»)."""
_NUMBER_ENDS = re.compile(r"\s*(?:[:;,)–—-]|\be \d|\Z)")
LATEST = 120
"""Days and weeks that a plan counts."""
_OUT_OF = re.compile(r"\b(?:cada|em|de|a|por)\s+$")
_SPAN = re.compile(
    r"\s*(?:primeir[oa]s\s+)?(?:dias?|semanas?|mes(?:es)?|horas?|h|minutos?|min|vezes|x|anos?|parcelas?|etapas?|passos?"
    r"|itens|produtos|pontos?|estrelas?|toques?)\b"
)
_TRIES = re.compile(
    r"(?:\A|[.;:,(]\s|\be\s)\W{0,12}(?:\d[.)]\s)?(?:testar|teste|experiment(?:ar|e)|oferecer|ofereca|cobr(?:ar|e)"
    r"|adot(?:ar|e)"
    r"|criar|crie|lanc(?:ar|e)|fix(?:ar|e)|mont(?:ar|e))\s(?:um |uma |o )?\Z"
)
"""What is tried in front of an indicator: its figure is a step, none of now («testar frete de R$ 19,90»)."""


def is_proposed(sentence: str, figure: Figure, label: int | None, claimed: bool, moved: bool) -> bool:
    """Whether a figure is wanted, offered or limited, a span of time, a small number, or «de cada 100».

    `label`: where the last label in front of it begins. `claimed`: it is tied to a label. `moved`: words in front of it
    say that something moved.
    """
    before, behind = sentence[: figure.start], sentence[figure.end :]
    counts = not figure.unit and (is_span(before, behind) or _is_small(figure))
    if _IS_NOW.search(before) and not (counts or _AIMED_AT.search(before)):
        return False
    if _TARGET.search(before) or _FUTURE.search(before) or _LIMIT.search(before):
        return True
    if _COMING.search(sentence) and not _BYGONE.search(before):
        return True
    if (_OFFERED.match(behind) and not (claimed and figure.unit == "%")) or (_CHANGED.search(before) and not moved):
        return True
    if counts:
        return True
    if figure.unit == "" and figure.value <= LATEST and _NUMBERED.search(before) and _NUMBER_ENDS.match(behind):
        return True
    if is_limit(sentence, figure):
        return True
    if _OFFER_OF.search(before) or (_WITH.search(before) and not _SHARE_OF.match(behind)):
        return True
    if figure.unit != "%" and _TOWARDS.search(before) and recommends(sentence):
        return True
    if (figure.value in (100, 1000) and _OUT_OF.search(before)) or _MORE.match(behind):
        return True
    return label is not None and figure.unit != "%" and bool(_TRIES.search(sentence[:label]))


_MORE = re.compile(r"\s*(?:a mais|a menos|de desconto|de off|off)\b")


def is_span(before: str, behind: str) -> bool:
    """Whether a number counts days, hours, steps or things of a plan."""
    rest = behind[found.end() :] if (found := _RANGE.match(behind)) else behind
    return bool(_SPAN.match(rest) or _SPANS_TO.search(before))


def _is_small(figure: Figure) -> bool:
    return figure.value <= FREE and figure.value == int(figure.value) and figure.tolerance == 0.5
