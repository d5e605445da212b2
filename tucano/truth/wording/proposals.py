"""Figures that are none of now: proposals, aims, offers, limits, spans of time and numbers of steps."""

import re

from tucano.truth.advice import recommends
from tucano.truth.figures import Figure

FREE = 10
"""Whole numbers up to here without a unit claim nothing («3 ações»)."""
_TARGET = re.compile(
    r"\b(?:meta|metas|objetivo|alvo|acima de|abaixo de|a partir de|ate|menos de|minimo de|minim[oa]|pelo menos"
    r"|chegar a"
    r"|chegue a|cupo[mn]|desconto|progressiv[oa]|brinde|multa|cashback|teto|piso)\b[^.;]*$"
    r"|\b(?:aumentar|elevar|subir|reduzir|baixar|diminuir|levar|trazer|aumente|eleve|suba|reduza|baixe|diminua"
    r"|leve)\b"
    r"[^.;]*\b(?:para|a|em)\s*(?:(?:perto|cerca) de\s*|uns\s*)?(?:r\$\s*)?$"
)
_FUTURE = re.compile(
    r"\b(?:metas?|objetivos?|alvos?|esperad\w+|esperamos|esperar|projec\w+|projetad\w+|sucesso|cenarios?"
    r"|hipotes\w+|estimativ\w+"
    r"|busqu\w+|buscar|mir(?:ar|em|e|amos|ando)|perseguir|persiga|alcance|alcancar|atingir|atinja|tent(?:e|ar|em)"
    r"|(?:quero|queremos|gostaria de) ver|pode(?:m)? (?:ter|haver|existir))\b"
    r"|(?:\A|[,;:(]\s*|\b(?:e|mas|so|que)\s+)(?:se|caso|quando|enquanto|assim que|supondo|desde que"
    r"|depois que)\s"
    r"|\bse (?:o|a|os|as|cada|isso)\s"
    r"|\b[a-z]{2,}(?:[aei]riam?"
    r"|[aei]ssem?)\b(?<!parceria)(?<!bateria)(?<!diaria)(?<!livraria)(?<!padaria)(?<!loteria)(?<!carteira)"
)
"""Words before a figure by which it is none of now: an aim, a condition, a conditional or subjunctive verb."""
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
    r"|fix[oa]|pedido minimo|cred[ei]to|vale(?:-\w+)?|bonus|taxa unica"
    r"|clube|assinatura|mensalidade|tarifa|desde)\b(?:\s+(?:de|do|da|a|que|em|por"
    r"|para))?)\s*(?:r\$\s*)?$"
    r"|\b(?:a|por)\s+r\$\s*$|\bretirada com frete de\s+(?:r\$\s*)?$"
    r"|\b(?:acessori|item|itens|kit|combo|produto|adicional|complement)\w*\s(?:\w+\s)?(?:de|por|entre|ate)\s*(?:r\$\s*)?$"
    r"|\b(?:entre|de)\s(?:r\$\s*)?[\d.,]+%?\s(?:e|a)\s(?:r\$\s*)?$"
)
_PRICED = re.compile(
    r"[,;:→+(]\s*frete (?:fixo |unico |reduzido )?a\s*$|\bgratis,? \(?ou (?:por |a )?$"
    r"|\b(?:sinal|luz|alerta|alarme|gatilho)(?: (?:amarel|vermelh)[oa]|:)?(?: acende)? (?:em|a partir de) $"
)
"""In front of a price that is offered beside a step, or of the figure that calls for one («sinal amarelo em 4%»)."""
_GIVES = re.compile(r"\b(?:ganh(?:a|am|e|em)|receb(?:e|em|a|am))\s*$")
GIFT = 100
"""Reais that a customer may be given; what a shop earns is more."""
_BANDED = re.compile(r"(?:\A|[,;:.]\s*|\be )de $")
_BAND = re.compile(r"\s*a\s*r\$|\s*em diante\b")
"""Around the amounts between which an offer holds («de R$ 300 a R$ 399, frete pela metade»)."""
_AT_MOST = re.compile(
    r"\s*(?:ou (?:menos|mais|melhor)|(?:para|pra) (?:cima|baixo)|em diante"
    r"|(?:em vez|no lugar|ao inves) d[aeo]s?)\b|\s*\?"
)
"""Behind a limit or what replaces something, and behind what is asked («Cancelamento em 6%?»)."""
_EFFORT = re.compile(
    r"\s*d[aeo]s? (?:nossa |nosso )?(?:energia|esforco|verba|tempo|orcamento|equipe|atencao|foco|dinheiro|recursos"
    r"|base|lista|publico)\b"
)
"""Behind a share of what a plan deals out («80% da verba no frete»)."""
_ASKED = re.compile(r"\bpass(?:ou|aram) de\s*$")
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
    r"(?:\A|[.;:,(]\s|\be\s)\W*(?:\d[.)]\s)?(?:testar|teste|experiment(?:ar|e)|oferecer|ofereca|cobr(?:ar|e)|adot(?:ar|e)"
    r"|criar|crie|lanc(?:ar|e)|fix(?:ar|e)|mont(?:ar|e))\s(?:um |uma |o )?\Z"
)
"""What is tried in front of an indicator: its figure is a step, none of now («testar frete de R$ 19,90»)."""


def is_proposed(sentence: str, figure: Figure, label: int | None, claimed: bool, moved: bool) -> bool:
    """Whether a figure is wanted, offered or limited, a span of time, a small number, or «de cada 100».

    `label`: where the last label in front of it begins. `claimed`: it is tied to a label. `moved`: words in front of it
    say that something moved.
    """
    before, behind = sentence[: figure.start], sentence[figure.end :]
    if _TARGET.search(before) or _FUTURE.search(before) or _LIMIT.search(before):
        return True
    if _COMING.search(sentence) and not _BYGONE.search(before):
        return True
    if (_OFFERED.match(behind) and not (claimed and figure.unit == "%")) or (_CHANGED.search(before) and not moved):
        return True
    if not figure.unit and (is_span(before, behind) or _is_small(figure)):
        return True
    if figure.unit == "" and figure.value <= LATEST and _NUMBERED.search(before) and _NUMBER_ENDS.match(behind):
        return True
    if _is_limit(sentence, figure, before, behind):
        return True
    if _OFFER_OF.search(before) or (_WITH.search(before) and not _SHARE_OF.match(behind)):
        return True
    if figure.unit != "%" and _TOWARDS.search(before) and recommends(sentence):
        return True
    if (figure.value in (100, 1000) and _OUT_OF.search(before)) or _MORE.match(behind):
        return True
    return label is not None and figure.unit != "%" and bool(_TRIES.search(sentence[:label]))


def _is_limit(sentence: str, figure: Figure, before: str, behind: str) -> bool:
    """Whether a figure is a price or a limit by the words right before and behind it, or a gift."""
    if _PRICED.search(before) or _AT_MOST.match(behind) or (figure.unit == "%" and _EFFORT.match(behind)):
        return True
    if _ASKED.search(before) and sentence.rstrip().endswith("?"):
        return True
    if figure.unit == "R$" and _BANDED.search(before) and _BAND.match(behind):
        return True
    return figure.unit == "R$" and figure.value <= GIFT and bool(_GIVES.search(before))


_MORE = re.compile(r"\s*(?:a mais|a menos|de desconto|de off|off)\b")


def is_span(before: str, behind: str) -> bool:
    """Whether a number counts days, hours, steps or things of a plan."""
    rest = _RANGE.sub("", behind, count=1) if _RANGE.match(behind) else behind
    return bool(_SPAN.match(rest) or _SPANS_TO.search(before))


def _is_small(figure: Figure) -> bool:
    return figure.value <= FREE and figure.value == int(figure.value) and figure.tolerance == 0.5
