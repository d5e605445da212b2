"""Words by which a figure is none of now: proposals, aims, conditions, offers, limits, spans of time and steps."""

import re

from rewards.parsing.text import Figure

PROPOSED = re.compile(
    r"(?:(?:\b(?:acima d[aeo]s?|abaixo d[aeo]s?|a partir d[aeo]s?|ate|(?:menos|mais|antes|dentro|perto) d[aeo]s?|nem"
    r"|pelo menos|cheg(?:ar|ue|a|uem|asse) a(?:os?)?|pass(?:ar|e|asse) d[aeo]s?|(?:maior|menor)(?:es)? (?:que|d[aeo])"
    r"|(?:sup|inf)erior(?:es)? a|cerca de|por volta de|para|pra|entre|fix[oa] (?:em|de|por))|[<>≤≥+→])\W{0,3}"
    r"|\bde volta a\W{0,3}(?:r\$ ?)?|\b(?:entre|de) (?:r\$ ?)?[\d.,]+%? (?:e|a) (?:r\$ ?)?"
    r"|\b(?:metas?|objetivos?|alvos?|limites?|minim[oa]s?|cupo[mn]s?|descontos?|brindes?|bonus|creditos?|vales?"
    r"|ganh[ae]|amostras?|test\w+|cashback|acessori\w+|itens|item|kits?|combos?|teto|piso"
    r"|preco)\W{0,3}(?:\w+\W{1,3}){0,3})$"
)
"""What makes the figure behind it a proposal: words right before it, or a noun a few words before it."""
AIMED = re.compile(
    r"\b(?:metas?|objetivos?|alvos?|esperad[oa]s?|expectativas?|sucesso|cenarios?|hipoteses?|projec\w+"
    r"|indicador de exito|busqu?\w+|mir(?:e|ar|amos|em|ando)|visando|alcan[cs]\w+|atin(?:gir|jam?)|pers(?:ig|egu)\w+)\b"
    r"|(?:^\W*|\b(?:e|so|mas)\s+)(?:se|caso|quando|assim que|enquanto|supondo|imagin\w+)\s"
    r"|\b(?!parcer|bater|livrar|diari|padar|loter|secretar|carteir|portar|varia|galer|cafeter|mater|categor|histor"
    r"|memor)\w{2,}(?:[aei]ria|[aei]riam|[aei]sse)\b|\bse (?:o|a|os|as|cada|isso)\s"
)
"""Words in front of a figure that speak of what is not yet: an aim, a condition, a verb in the conditional."""
MONTHS = "janeiro|fevereiro|marco|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro"
LATER = re.compile(
    r"\b(?:em|nos? proxim[oa]s?|dentro de|daqui a)\s(?:\d{1,3}|um|dois|duas|tres|quatro|seis)\s(?:dias|semanas"
    rf"|mes(?:es)?)\b|\b(?:ate|para|em)\s(?:o (?:fim|final) d\w+(?: \w+)?|{MONTHS})\s*(?:[:,.;?)]|$)"
    r"|\b(?:alvo|meta|sucesso|esperado)s?\b\W"
)
"""A time to come, or an aim, for which a sentence names figures («Em três meses: nota 3,8»)."""
WOULD = re.compile(r"\b(?:seriam?|dariam?|teriam?|traria\w*|subiria\w*|renderia\w*|ficaria\w*|custaria\w*)\b")
OFFERED = re.compile(
    r"\s*(?:(?:na (?:proxima|segunda|primeira) compra|de (?:credito|bonus|cashback|vale))\b"
    r"|(?:por|durante) (?:os )?(?:\d+|dois|duas|tres|quatro|cinco|sete|dez|quinze|trinta) (?:dias|semanas|h\b)"
    r"|,? ?valid[oa]s?\b|com validade|\W{0,3}(?:a partir|acima) d[aeo]s? (?:r\$|\d))"
)
"""What an offer is limited to: its figure is none of now."""
AT_LAST = re.compile(r"\bem (?:\d{1,3}|um|dois|duas|tres|quatro|seis)\s(?:dias|semanas|mes(?:es)?)\W*$")
"""A time to come at the end of a sentence."""
UNTIL = re.compile(rf"\bate\s(?:o (?:fim|final)\b|{MONTHS})")
IF = re.compile(r"(?:^\W*)(?:se|caso|supondo|imagin\w+)\s")
AIM = re.compile(
    r"\b(?:metas?|alvos?|objetivos?|sucesso|medimos|referencia)\b|\b(?:medir|acompanhar|monitorar):"
    r"|\b(?:como|quando)\b[^.!?]{0,20}\bsab\w+\b[^.!?]{0,20}\b(?:deu certo|valeu)\b"
)
SPAN = re.compile(
    r"\s*(?:primeir[oa]s\s+)?(?:dias?|semanas?|mes(?:es)?|horas?|h|minutos?|min|vezes|x|anos?|parcelas?|etapas?|pontos?"
    r"|toques?|itens)\b|\s?[–-]\s?\d+ (?:dias|semanas|meses|horas)\b|\s*(?:a mais|a menos|de desconto|off)\b"
)
STEP_OF = re.compile(r"\b(?:dias?|semanas?|fase|etapa|passo|grupo)\s(?:\d+(?:,\s?| e | a ))*$")
STEP_ENDS, MOST_STEPS = re.compile(r"\s?(?:[:;,)–—-]| e \d|$)"), 120
"""In front of and behind the number of a step («Dia 20: …»), and the latest day of one."""
OFFER_OF = re.compile(
    r"\b(?:kits?|combos?|presentes?|itens|pecas?|acessori\w+)\W+(?:\w+\W+){0,8}?na (?:faixa"
    r"|casa) d[aeo]s? (?:r\$ ?)?$|\bcomplement\w+ (?:de|por|entre|ate) (?:r\$ ?)?$"
    r"|\b(?:deix|separ|reserv)\w{1,3} (?:uns )?$|\bretirada com frete (?:de|a|por) (?:r\$ ?)?$"
    r"|\b(?:suspend|paus|avis|tir|retir|bloque|list)\w*\b[^.;]{0,200}\bquem passa d[aeo] $"
)
WITH, SHARE_OF = re.compile(r"\b(?:pix|boleto)(?: \w+)? com $"), re.compile(r"\s?d[aeo]s?\b(?! desconto)")
HEDGED = re.compile(
    r"(?:\b(?:uns|umas|quase|algo como|aproximadamente|mais ou menos|praticamente|em media)\W{1,3}|[~≈]\W?)"
    r"(?:r\$ ?)?$"
)
ADVISED = re.compile(
    r"\b(?:recomend|sugir|sugest|prioriz|oferec|cri[ae]r?\b|test[ae]|meta|objetivo|frete (?:fixo|gratis)|cupo[mn]"
    r"|desconto|limite|ideia|propo|acima|a partir|ate\b|subsidi|bonus|minim|se\b)"
    r"|^\W*(?:\w+:\W*)?(?!(?:frete|receita|recompra|nota|taxa|loja|media|hoje|base|cliente|compra|venda"
    r"|entrega)\b(?!\W{0,3}:))(?:\w+(?:ar|er|ir)|\w{3,}[ea])\b"
)
"""A sentence that advises, or begins as advice does: with an infinitive or an imperative."""
STEP = re.compile(r"\W{0,12}(?:\d{1,2}\W+)?(?:\w+(?: \w+)?\W{0,3}:\W*)?\w{2,}(?:ar|er|ir)\b")
"""A sentence whose first word is an infinitive, as steps are noted: an amount at a label is offered («simular frete de
R$ 12»)."""
RELATIVE = re.compile(r"\s?(?:acima|abaixo|maior|menor) (?:d[aeo]|que)\b")
"""Behind a share that advice sets in relation to something («um valor 20% acima da compra típica»)."""
IN_EACH = re.compile(r"\b(?:1|um|uma) (?:em|a|de) cada $")
"""In front of the number of «menos de 1 em cada 11»."""


def is_proposed(sentence: str, figure: Figure, place: tuple[int, int]) -> bool:
    """Whether a figure is none of now by what stands around it."""
    before, end = sentence[: place[0]], place[1]
    if PROPOSED.search(before) or AIMED.search(before) or SPAN.match(sentence, end) or OFFER_OF.search(before):
        return True
    if _is_step(figure, before, sentence[end:]) or LATER.search(sentence) or WOULD.search(sentence):
        return True
    if OFFERED.match(sentence, end) or (WITH.search(before) and not SHARE_OF.match(sentence, end)):
        return True
    return bool(ADVISED.search(sentence) and RELATIVE.match(sentence, end))


def _is_step(figure: Figure, before: str, behind: str) -> bool:
    is_number = not figure.unit and figure.value <= MOST_STEPS
    return is_number and bool(DAY.search(before) or (STEP_OF.search(before) and STEP_ENDS.match(behind)))


DAY = re.compile(r"\bdias? (?:\d+(?:,\s?| e | a | ao ))*$")
"""In front of a day («dia 20 lembrete»), which no indicator is."""


_SET_AGAINST = re.compile(r"\b(?:contra|ante|versus|vs\.?|frente a)\W{0,3}(?:r\$ ?)?$")
_AGAINST = re.compile(r"\s*(?:contra|ante|versus|vs\b|frente a)")
_OF_OTHERS = re.compile(
    r" d[ao]s (?:visit|sess|acess|client|compra|pesso|entreg|carrinh)| (?:nao )?(?:cheg|volt|compr)\w*u\b"
)
"""What a share is of, or does («6% de atraso: 94% chegou no prazo»)."""


def is_compared(sentence: str, start: int, end: int) -> bool:
    """Whether a figure is set against another one, or is told of others than the label in front of it."""
    if _SET_AGAINST.search(sentence[:start]) or _AGAINST.match(sentence, end):
        return True
    return bool(_OF_OTHERS.match(sentence, end))
