"""Words by which a figure is none of now: proposals, aims, conditions, offers, limits, spans of time and steps."""

import re

from rewards.parsing.text import Figure

PROPOSED = re.compile(
    r"(?:(?:\b(?:acima d[aeo]s?|abaixo d[aeo]s?|a partir d[aeo]s?|ate|(?:menos|mais|antes|dentro|perto) d[aeo]s?"
    r"|nem|pelo menos|no maximo"
    r"|cheg(?:ar|ue|a|uem|asse) a(?:os?)?|pass(?:ar|e|asse) d[aeo]s?|(?:maior"
    r"|menor)(?:es)? (?:que|d[aeo])|(?:sup"
    r"|inf)erior(?:es)? a"
    r"|cerca de|por volta de|para|pra|entre|fix[oa] (?:em|de|por))|[<>≤≥+→])\W{0,3}"
    r"|\bde volta a\W{0,3}(?:r\$ ?)?|\b(?:entre|de) (?:r\$ ?)?[\d.,]+%? (?:e|a) (?:r\$ ?)?"
    r"|\b(?:metas?|objetivos?|alvos?|limites?|minim[oa]s?|cupo[mn]s?|descontos?|brindes?|bonus|creditos?|vales?|ganh[ae]|amostras?"
    r"|test\w+|cashback|acessori\w+|itens|item|kits?|combos?|teto|piso|preco"
    r"|tarifas? (?:unica|fixa|plana|reduzida|promocional)|gatilhos?|sinal|alertas?)\W{0,3}"
    r"(?:\w+\W{1,3}){0,3})$"
)
"""What makes the figure behind it a proposal: words right before it, or a noun a few words before it."""
AIMED = re.compile(
    r"\b(?:metas?|objetivos?|alvos?|esperad[oa]s?|expectativas?|sucesso|cenarios?|hipoteses?|projec\w+"
    r"|indicador de exito"
    r"|busqu?\w+|mir(?:e|ar|amos|em|ando)|visando|alcan[cs]\w+|atin(?:gir|jam?)|pers(?:ig|egu)\w+)\b"
    r"|(?:^\W*|[,;:(]\s*|\b(?:e|so|mas)\s+)(?:se|caso|quando|assim que|enquanto|supondo|imagin\w+)\s"
    r"|\b(?!parcer|bater|livrar|diari|padar|loter|secretar|carteir|portar|crias|varia|necess|galer|cafeter|mater|categor"
    r"|histor|memor|primar|contrar|bancar)\w{2,}(?:[aei]ria|[aei]riam"
    r"|[aei]sse|[aei]ssem)\b"
    r"|\bse (?:o|a|os|as|cada|isso)\s"
    r"|\b(?:quero|queremos|gostaria|espero|esperamos|pretend\w+)\b|\bsem que\b|\blev\w+-l[ao]s? a\b"
    r"|\bpod(?:e|em|eria) (?:\w+ )?(?:ter|haver|existir|ser|levar|chegar|subir|cair|baixar|render|custar)\b"
    r"|\b(?:perder|ganhar|recuperar|evitar|salvar|segurar|reconquistar|resgatar) (?:uns |umas |so |apenas )?(?:r\$ ?)?$"
    r"|(?:^|[:–-]\s?)\W*(?:cair|baixar|reduzir|subir|passar|levar|trazer) (?:\w+ )?de\s"
)
"""Words in front of a figure that speak of what is not yet: an aim, a condition, a verb in the conditional."""
_MONTHS = "janeiro|fevereiro|marco|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro"
LATER = re.compile(
    r"\b(?:em|nos? proxim[oa]s?|dentro de|daqui a)\s"
    r"(?:\d{1,3}|um|dois|duas|tres|quatro|seis)\s(?:dias|semanas|mes(?:es)?)\b"
    r"(?! (?:cheg|sub|ca|fo|fic)\w*(?:[oi]u|i)\b)"
    rf"|\b(?:ate|para|em)\s(?:o (?:fim|final) d\w+(?: \w+)?|{_MONTHS})\s*(?:[:,.;?)]|$)"
    r"|\b(?:alvo|meta|sucesso|esperado)s?\b\W"
)
"""A time to come, or an aim, for which a sentence names figures («Em três meses: nota 3,8»)."""
WOULD = re.compile(r"\b(?:seriam?|dariam?|teriam?|traria\w*|subiria\w*|renderia\w*|ficaria\w*|custaria\w*)\b")
OFFERED = re.compile(
    r"\s*(?:(?:na (?:proxima|segunda|primeira) compra|de (?:credito|bonus|cashback|desconto|vale))\b"
    r"|(?:por|durante) (?:os )?(?:\d+|dois|duas|tres|quatro|cinco|sete|dez|quinze|trinta) (?:dias|semanas|h\b)"
    r"|,? ?valid[oa]s?\b"
    r"|com validade"
    r"|em (?:\d|duas|dois|tres|quatro) (?:itens|pecas|produtos|unidades)\b"
    r"|\W{0,3}(?:a partir|acima) d[aeo]s? (?:r\$|\d))"
)
"""What an offer is limited to: its figure is none of now."""
AT_LAST = re.compile(r"\bem (?:\d{1,3}|um|dois|duas|tres|quatro|seis)\s(?:dias|semanas|mes(?:es)?)\W*$")
"""A time to come at the end of a sentence."""
UNTIL = re.compile(rf"\bate\s(?:o (?:fim|final)\b|{_MONTHS})")
IF = re.compile(r"(?:^\W*|[,;:(]\s*|\b(?:e|so|mas)\s+)(?:se|caso|supondo|imagin\w+)\s")
AIM = re.compile(
    r"\b(?:metas?|alvos?|objetivos?|sucesso|medimos|referencia|compromissos?)\b|\b(?:medir|acompanhar|monitorar):"
    r"|\b(?:como|quando)\b[^.!?]{0,20}\bsab\w+\b[^.!?]{0,20}\b(?:melhorou|funcionou|deu certo|valeu|chegamos)\b"
    r"|\bonde (?:quero|queremos) chegar\b"
)
SPAN = re.compile(
    r"\s*(?:primeir[oa]s\s+)?(?:dias?|semanas?|mes(?:es)?|horas?|h|minutos?|min|vezes|x|anos?|parcelas?|etapas?|pontos?"
    r"|toques?|itens|produtos)\b|\s?[–-]\s?\d+ (?:dias|semanas|meses|horas)\b|\s*(?:a mais|a menos|de desconto|off)\b"
)
DATE = re.compile(rf"\sde (?:{_MONTHS})\b")
"""Behind a day («15 de novembro»); «9,2% de agosto» is a claim."""
STEP_OF = re.compile(r"\b(?:dias?|semanas?|fase|etapa|passo|grupo)\s(?:\d+(?:,\s?| e | a ))*$")
STEP_ENDS, MOST_STEPS = re.compile(r"\s?(?:[:;,)–—-]| e \d|$)"), 120
"""In front of and behind the number of a step («Dia 20: …»), and the latest day of one."""
OFFER_OF = re.compile(
    r"\b(?:kits?|combos?|presentes?|itens|pecas?|acessori\w+)\W+(?:\w+\W+){0,8}?na (?:faixa|casa) d[aeo]s? (?:r\$ ?)?$"
    r"|\bcomplement\w+ (?:de|por|entre|ate) (?:r\$ ?)?$"
    r"|\b(?:deix|separ|reserv)\w{1,3} (?:uns )?$|\bretirada com frete (?:de|a|por) (?:r\$ ?)?$|\bacompanhar:[^.;]*$"
    r"|\b(?:suspend|paus|avis|tir|retir|bloque|list)\w*\b[^.;]*\bquem passa d[aeo] $"
)
WITH, SHARE_OF = re.compile(r"\b(?:pix|boleto)(?: \w+)? com $"), re.compile(r"\s?d[aeo]s?\b(?! desconto)")
TOWARDS = re.compile(r"\brumo a (?:r\$ ?)?$")
"""In front of what is offered, or wanted."""
HEDGED = re.compile(
    r"\b(?:uns|umas|cerca de|perto de|quase|algo como|por volta de|aproximadamente|em torno de|mais ou menos"
    r"|praticamente"
    r"|pouco (?:mais|menos) de|em media)\W{1,3}(?:r\$ ?)?$"
)
ADVISED = re.compile(
    r"\b(?:recomend|sugir|sugest|prioriz|oferec|cri[ae]r?\b|test[ae]|meta|objetivo|frete (?:fixo|gratis)|cupo[mn]"
    r"|desconto|limite|ideia|propo|experiment|acima|a partir|ate\b|subsidi|bonus|minim|se\b)"
    r"|^\W*(?:\w+:\W*)?(?!(?:frete|receita|recompra|nota|taxa|loja|media|hoje|base|cliente|compra|venda|entrega)\b(?!\W{0,3}:))"
    r"(?:\w+(?:ar|er|ir)|\w{3,}[ea])\b"
)
"""A sentence that advises, or begins as advice does: with an infinitive or an imperative."""
STEP = re.compile(r"\W{0,12}(?:\d{1,2}\W+)?(?:\w+(?: \w+)?\W{0,3}:\W*)?\w{2,}(?:ar|er|ir)\b")
"""A sentence whose first word is an infinitive, as steps are noted: an amount at a label is offered («simular frete de
R$ 12»)."""
BOUND = re.compile(
    r"\s?(?:ou (?:menos|mais|melhor|acima|abaixo)\b|(?:para|pra) (?:cima|baixo)\b|em diante\b|no (?:maximo|minimo)\b)"
)
"""Behind a limit («atraso em 15% ou menos», «de R$ 400 em diante»)."""
ASKED = re.compile(r"\W{0,12}(?:passou|chegou|caiu|subiu|ficou|baixou|bateu|melhorou|piorou)\b[^?]*\?")
"""A question by which it is decided what to do («Passou de 2,2%? Mantém.»)."""
EXAMPLE_BEFORE = re.compile(r"\b(?:digamos|por exemplo|quem sabe|algo como|talvez|tipo)\W{1,3}(?:r\$ ?)?$")
EXAMPLE_BEHIND = re.compile(r",? ?(?:digamos|por exemplo)\b")
PASSING = re.compile(
    r"\b(?:ver|vej|list|olh|ach|descobr|descubr|mape|filtr|levant|marc|separ|cort|revis|identific|investig|procur)\w*"
    r"\b[^.;:]{0,40}\b(?:quais|qual|quem|onde|quando)\b[^.;:]{0,40}\bpass\w{1,3} d[aeo]s? (?:r\$ ?)?$"
)
"""In front of a limit by which something is sorted («ver quais CEPs passam de R$ 50»)."""
PRICED = re.compile(
    r"(?<!\bo )(?<!\bcom )(?<!\bum )\b(?:frete a|(?:orcamento|verba|investimento)(?: \w+)?(?: de|:)"
    r"|(?:mimo|premio|selo|clube|assinatura|entrega)s? (?:\w+ )?(?:de|a|por)) (?:r\$ ?)?$"
)
"""In front of what something shall cost («oferta de volta, frete a R$ 9,90», «clube de R$ 9»)."""
RANGE = re.compile(r"\b(?:produtos|pecas|modelos|opcoes|linhas?) (?:de|entre) (?:r\$ ?)?$")
TO = re.compile(r" (?:a|e|ate) r?\$? ?\d")
"""Around the first price of a range («produtos de R$ 400 a R$ 450»)."""
BATCH = re.compile(r"\s?(?:da (?:base|lista|verba)|do (?:orcamento|grupo|publico|lote)|d[ao]s (?:contatos|envios))\b")
TRIED = re.compile(r"\b(?:grupo|controle|piloto|test\w+|amostra|sem receber|sorte\w+|compar\w+|separ\w+|reserv\w+)\b")
"""Behind a share of those whom something is tried on, and what says so."""
TWICE = re.compile(r"\b(?:dobr(?:a|am|ar|ando|o)|ida e v\w+|duas vezes|duas viagens|mandar e trazer|vai e volta)\b")
"""What says that an amount is there twice."""
RELATIVE = re.compile(r"\s?(?:acima|abaixo|maior|menor) (?:d[aeo]|que)\b")
"""Behind a share that advice sets in relation to something («um valor 20% acima da compra típica»)."""
IN_EACH = re.compile(r"\b(?:1|um|uma) (?:em|a|de) cada $")
"""In front of the number of «menos de 1 em cada 11»."""


def is_proposed(sentence: str, figure: Figure, place: tuple[int, int]) -> bool:
    """Whether a figure is none of now by what stands around it."""
    before, end = sentence[: place[0]], place[1]
    if PROPOSED.search(before) or AIMED.search(before) or SPAN.match(sentence, end) or OFFER_OF.search(before):
        return True
    if not figure.unit and figure.value <= _LAST_DAY and DATE.match(sentence, end):
        return True
    if _is_step(figure, before, sentence[end:]) or LATER.search(sentence) or WOULD.search(sentence):
        return True
    if OFFERED.match(sentence, end) or BOUND.match(sentence, end) or ASKED.match(sentence):
        return True
    if EXAMPLE_BEFORE.search(before) or EXAMPLE_BEHIND.match(sentence, end):
        return True
    if PASSING.search(before):
        return True
    if figure.unit == "R$" and (PRICED.search(before) or (RANGE.search(before) and TO.match(sentence, end))):
        return True
    if WITH.search(before) and not SHARE_OF.match(sentence, end):
        return True
    is_advised = bool(ADVISED.search(sentence))
    is_batch = figure.unit == "%" and BATCH.match(sentence, end) and (is_advised or TRIED.search(sentence))
    towards = figure.unit != "%" and is_advised and TOWARDS.search(before)
    return bool(is_batch or towards or (is_advised and RELATIVE.match(sentence, end)))


def _is_step(figure: Figure, before: str, behind: str) -> bool:
    is_number = not figure.unit and figure.value <= MOST_STEPS
    return is_number and bool(DAY.search(before) or (STEP_OF.search(before) and STEP_ENDS.match(behind)))


_LAST_DAY = 31
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
