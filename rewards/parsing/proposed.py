"""Words by which a figure is none of now: proposals, aims, conditions, offers, limits, spans of time and steps."""

import re

PROPOSED = re.compile(
    r"(?:(?:\b(?:acima d[aeo]s?|abaixo d[aeo]s?|a partir d[aeo]s?|ate|(?:menos|mais|antes|dentro|perto) d[aeo]s?"
    r"|nem|pelo menos|no maximo"
    r"|cheg(?:ar|ue|a|uem|asse) a|pass(?:ar|e|asse) d[aeo]s?|(?:maior"
    r"|menor)(?:es)? (?:que|d[aeo])|(?:sup"
    r"|inf)erior(?:es)? a"
    r"|cerca de|por volta de|para|entre|fix[oa] (?:em|de|por))|[<>≤≥+→])\W{0,3}"
    r"|\bde volta a\W{0,3}(?:r\$ ?)?|\b(?:entre|de) (?:r\$ ?)?[\d.,]+%? (?:e|a) (?:r\$ ?)?"
    r"|\b(?:metas?|objetivos?|alvos?|limites?|minim[oa]s?|cupo[mn]s?|descontos?|brindes?|bonus|creditos?|vales?|ganh[ae]|amostras?"
    r"|test\w+|cashback|acessori\w+|itens|item|kits?|combos?|teto|piso|preco)\W{0,3}"
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
    r"|(?:^|[:–-]\s?)\W*(?:cair|baixar|reduzir|subir|passar|levar|trazer) (?:\w+ )?de\s"
)
"""Words in front of a figure that speak of what is not yet: an aim, a condition, a verb in the conditional."""
_MONTHS = "janeiro|fevereiro|marco|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro"
LATER = re.compile(
    r"\b(?:em|nos? proxim[oa]s?|dentro de|daqui a)\s"
    r"(?:\d{1,3}|um|dois|duas|tres|quatro|seis)\s(?:dias|semanas|mes(?:es)?)\b"
    r"(?! (?:cheg|sub|ca|fo|fic)\w*(?:[oi]u|i)\b)"
    rf"|\b(?:ate|para|em)\s(?:o (?:fim|final) d\w+(?: \w+)?|{_MONTHS})\s*(?:[:,.;)]|$)"
    r"|\b(?:alvo|meta|sucesso|esperado)s?\b\W"
)
"""A time to come, or an aim, for which a sentence names figures («Em três meses: nota 3,8»)."""
WOULD = re.compile(r"\b(?:seriam?|dariam?|teriam?|traria\w*|subiria\w*|renderia\w*|ficaria\w*|custaria\w*)\b")
OFFERED = re.compile(
    r"\s*(?:(?:na (?:proxima|segunda|primeira) compra|de (?:credito|bonus|cashback|desconto|vale))\b"
    r"|(?:por|durante) (?:os )?(?:\d+|dois|duas|tres|quatro|cinco|sete|dez|quinze|trinta) (?:dias|semanas|h\b)"
    r"|,? ?valid[oa]s?\b"
    r"|com validade|\W{0,3}(?:a partir|acima) d[aeo]s? (?:r\$|\d))"
)
"""What an offer is limited to: its figure is none of now."""
AT_LAST = re.compile(r"\bem (?:\d{1,3}|um|dois|duas|tres|quatro|seis)\s(?:dias|semanas|mes(?:es)?)\W*$")
"""A time to come at the end of a sentence."""
UNTIL = re.compile(rf"\bate\s(?:o (?:fim|final)\b|{_MONTHS})")
IF = re.compile(r"(?:^\W*|[,;:(]\s*|\b(?:e|so|mas)\s+)(?:se|caso|supondo|imagin\w+)\s")
AIM = re.compile(r"\b(?:metas?|alvos?|objetivos?|sucesso|medimos|referencia)\b|\b(?:medir|acompanhar|monitorar):")
SPAN = re.compile(
    r"\s*(?:primeir[oa]s\s+)?(?:dias?|semanas?|mes(?:es)?|horas?|h|minutos?|min|vezes|x|anos?|parcelas?|etapas?|pontos?"
    r"|toques?|itens|produtos)\b|\s?[–-]\s?\d+ (?:dias|semanas|meses|horas)\b|\s*(?:a mais|a menos|de desconto|off)\b"
)
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
STEP = re.compile(r"\W*(?:\d{1,2}\W+)?(?:\w+(?: \w+)?\W{0,3}:\W*)?\w{2,}(?:ar|er|ir)\b")
"""A sentence whose first word is an infinitive, as steps are noted: an amount at a label is offered («simular frete de
R$ 12»)."""
RELATIVE = re.compile(r"\s?(?:acima|abaixo|maior|menor) (?:d[aeo]|que)\b")
"""Behind a share that advice sets in relation to something («um valor 20% acima da compra típica»)."""
IN_EACH = re.compile(r"\b(?:1|um|uma) (?:em|a|de) cada $")
"""In front of the number of «menos de 1 em cada 11»."""
