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
    r"|\b(?:metas?|objetivos?|alvos?|limites?|minim[oa]s?|cupo[mn]s?|descontos?|brindes?|bonus|creditos?|vales?"
    r"|(?<!loja )(?<!empresa )ganh[ae]|amostras?"
    r"|test\w+|cashback|acessori\w+|itens|item|kits?|combos?|teto|piso|preco"
    r"|tarifas? (?:unica|fixa|plana|reduzida|promocional))\W{0,3}"
    r"(?:\w+\W{1,3}){0,3})$"
)
"""What makes the figure behind it a proposal: words right before it, or a noun a few words before it."""
AIMED = re.compile(
    r"\b(?:metas?|objetivos?|alvos?|esperad[oa]s?|expectativas?|sucesso|cenarios?|hipoteses?|projec\w+"
    r"|indicador de exito"
    r"|busqu?\w+|mir(?:e|ar|amos|em|ando)|visando|alcan[cs]\w+|atin(?:gir|jam?)|pers(?:ig|egu)\w+)\b"
    r"|(?:^\W*|[,;:(]\s*|\b(?:e|so|mas)\s+)(?:se|caso|quando|assim que|enquanto|supondo|imagin\w+)\s"
    r"|\b(?!parcer|bater|livrar|diari|padar|loter|secretar|carteir|portar|crias|varia|necess|galer|cafeter|mater"
    r"|categor"
    r"|histor|memor|primar|contrar|bancar)\w{2,}(?:[aei]ria|[aei]riam"
    r"|[aei]sse|[aei]ssem)\b"
    r"|\bse (?:o|a|os|as|cada|isso)\s"
    r"|(?:^|[:–-]\s?)\W{0,12}(?:cair|baixar|reduzir|subir|passar|levar|trazer) (?:\w+ )?de\s"
)
"""Words in front of a figure that speak of what is not yet: an aim, a condition, a verb in the conditional."""
_NEAR = (
    r"(?:(?:a|ao|aos|em|com|para|pra|ate|uns|umas|so|apenas|mais|menos|por|perto de|cerca de|mais de) ){0,2}(?:r\$ ?)?$"
)
"""Small words between what says that a figure is none of now and the figure; «de» and «os» tell what is so."""
WANTED = re.compile(
    r"\b(?:quero|queremos|gostari\w+ de|espero|esperamos|pretend\w+) "
    r"(?:(?:ver|ter|chegar|levar|alcancar|atingir|fechar|terminar|bater|render|vender|subir|passar|voltar|receber"
    rf"|trazer|ganhar|gastar|investir|oferecer|dar|cobrar) (?:(?:(?!d[aeo]s? )\w+ ){{1,4}})?{_NEAR}"
    r"|(?:\w+ ){1,5}(?:para|pra|ate) (?:uns )?(?:r\$ ?)?$"
    r"|(?:uma? )?(?:(?!\w+(?:ar|er|ir|que) |[ao]s? |que )[a-z]+ ){0,2}(?:de |em )?(?:r\$ ?)?$"
    r"|[^.;:]{0,60}\d[^.;:\d]{0,20} e (?:[a-z]+ ){0,2}?(?:de |em )?(?:r\$ ?)?$)"
    r"|\bsem que (?:\w+ ){1,4}(?:desca|caia|suba|passe|baixe|fique|cresca|ultrapasse|chegue) "
    rf"(?:(?:acima |abaixo )?de )?{_NEAR}"
    rf"|\blev(?:a|ar|em|e|aria)-l[ao]s? {_NEAR}"
    rf"|\bpod(?:e|em) (?:\w+ )?(?:chegar|subir|cair|baixar|render|levar [ao]s? (?:\w+ ){{1,2}}?) ?{_NEAR}"
    r"|\bpod(?:e|em) (?:ter|haver|existir) (?:\w+ )?(?:gente|clientes?|quem)\b[^.,;:]{0,40}\bpag\w{2,4} (?:r\$ ?)?$"
)
"""In front of a figure that somebody wishes, fears or takes for possible. The figure stands where the wish is, for «o
que queremos reduzir, hoje em 11%» tells what is so."""
SIGNAL = re.compile(
    r"\b(?:gatilhos?|sina(?:l|is)|alertas?)(?: (?:amarel[oa]|vermelh[oa]|laranja|de (?:alerta|parada|perigo)))?"
    r" (?:em|a partir d[aeo]s?) (?:r\$ ?)?$"
)
"""In front of the limit at which somebody is to act («sinal amarelo em 4%»)."""
_TELLING = re.compile(
    r"\b(?:hoje|agora|ja|atual(?:mente)?|n?este mes|nesse mes|no mes|foi|foram|era|eram|esta|estao|ficou|ficaram"
    r"|sao|temos|tem|houve|ha|custam?|mostram?|mostrou|registr\w+|assust\w+|espant\w+|preocup\w+|explic\w+|afast\w+"
    r"|corro[ei]\w*|segundo|conforme|em media"
    r"|ating(?:e|em|iu|iram)|bateu|batem?|chegou|revel\w+|indic(?:a|am|ou)|vem|veio|vieram|agrad\w+)\b"
)
"""What says that a sentence tells how things are."""
LOST = re.compile(
    r"(?:^\W*|[:;,(]\s?|\b(?:se|pode|podem|tentar|tente) )"
    r"(?:perder|ganhar|recuperar|evitar|salvar|segurar|reconquistar|resgatar) (?:uns |umas |so |apenas )?$"
)
IF_LOST = re.compile(r" (?:dess|dest|del)[ae]s\b| [^.;,:]{0,30}\b(?:custa|vale|rende|traz|da|paga)m?\b(?! o que| que)")
"""Around a number of those whom one could lose, and what that would come to («perder 20 desses custa R$ 7 mil»)."""
MONTHS = "janeiro|fevereiro|marco|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro"
LATER = re.compile(
    r"\b(?:em|nos? proxim[oa]s?|dentro de|daqui a)\s"
    r"(?:\d{1,3}|um|dois|duas|tres|quatro|seis)\s(?:dias|semanas|mes(?:es)?)\b"
    r"(?! (?:cheg|sub|ca|fo|fic)\w*(?:[oi]u|i)\b)"
    rf"|\b(?:ate|para|em)\s(?:o (?:fim|final) d\w+(?: \w+)?|{MONTHS})\s*(?:[:,.;?)]|$)"
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
UNTIL = re.compile(rf"\bate\s(?:o (?:fim|final)\b|{MONTHS})")
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
DATE = re.compile(rf"\sde (?:{MONTHS})\b")
"""Behind a day («15 de novembro»); «9,2% de agosto» is a claim."""
STEP_OF = re.compile(r"\b(?:dias?|semanas?|fase|etapa|passo|grupo)\s(?:\d+(?:,\s?| e | a ))*$")
STEP_ENDS, MOST_STEPS = re.compile(r"\s?(?:[:;,)–—-]| e \d|$)"), 120
"""In front of and behind the number of a step («Dia 20: …»), and the latest day of one."""
OFFER_OF = re.compile(
    r"\b(?:kits?|combos?|presentes?|itens|pecas?|acessori\w+)\W+(?:\w+\W+){0,8}?na (?:faixa|casa) d[aeo]s? (?:r\$ ?)?$"
    r"|\bcomplement\w+ (?:de|por|entre|ate) (?:r\$ ?)?$"
    r"|\b(?:deix|separ|reserv)\w{1,3} (?:uns )?$|\bretirada com frete (?:de|a|por) (?:r\$ ?)?$|\bacompanhar:[^.;]*$"
    r"|\b(?:suspend|paus|avis|tir|retir|bloque|list)\w*\b[^.;]{0,200}\bquem passa d[aeo] $"
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
    r"|^\W*(?:\w+:\W*)?(?!(?:frete|receita|recompra|nota|taxa|loja|media|hoje|base|cliente|compra|venda"
    r"|entrega)\b(?!\W{0,3}:))"
    r"(?:\w+(?:ar|er|ir)|\w{3,}[ea])\b"
)
"""A sentence that advises, or begins as advice does: with an infinitive or an imperative."""
STEP = re.compile(r"\W{0,12}(?:\d{1,2}\W+)?(?:\w+(?: \w+)?\W{0,3}:\W*)?\w{2,}(?:ar|er|ir)\b")
"""A sentence whose first word is an infinitive, as steps are noted: an amount at a label is offered («simular frete de
R$ 12»)."""
BOUND = re.compile(
    r"\s?(?:(?P<over>ou (?:mais|melhor|acima)\b|(?:para|pra) cima\b|em diante\b|no minimo\b)"
    r"|ou (?:menos|abaixo)\b|(?:para|pra) baixo\b|no maximo\b)"
)
BOUND_ENDS = re.compile(r"\W*$|\s?[,;:)→(]| (?:ate|no fim|por|em|e|para)\b")
WHO = re.compile(r"\b(?:quem|se|quando|caso)\b [^.,;:]{0,40}$")
"""Behind a limit that ends its clause («atraso em 15% ou menos», «de R$ 400 em diante»), or that says whom a rule is
for («quem gasta R$ 300 ou mais ganha um brinde»)."""
_INDICATOR = re.compile(r"\b(?:atras|cancel|devol|frete|reclam|recompr|nota|receita|ticket|convers|pedidos)")
_UNWANTED = re.compile("atras|cancel|devol|frete|reclam")
ASKED = re.compile(r"\W{0,12}(?:passou|chegou|caiu|subiu|ficou|baixou|bateu|melhorou|piorou)\b[^?]*\?")
DECIDED = re.compile(
    r"\W{0,6}(?:(?:se )?(?:sim|nao)\W{1,3})?(?:entao )?"
    r"(?:mant[ae]\w*|troc\w+|par[ae]r?|mud[ae]r?|seg(?:ue|uir)|continu[ae]r?"
    r"|cort[ae]r?|volt[ae]r?|dobr[ae]r?|ampli\w+|encerr[ae]r?|paus[ae]r?|revis\w+|renegoci\w+|estend\w+|repet\w+"
    r"|suspend\w+|cham[ae]r?|lig(?:a|ar|ue)|deslig\w+|expand\w+|retir\w+|tir[ae]r?|ajust[ae]r?|refaz\w*|reve\w*"
    r"|renov\w+|test[ae]r?)\b"
    r"|\s?→"
)
"""A question by which it is decided what to do, and the step behind it («Passou de 2,2%? Mantém.»)."""
EXAMPLE_BEFORE = re.compile(r"\b(?:digamos|por exemplo|quem sabe|algo como|talvez|tipo)\W{1,3}(?:r\$ ?)?$")
EXAMPLE_BEHIND = re.compile(r",? ?(?:digamos|por exemplo)\b")
_SO = re.compile(
    r"\b(?:e|esta|foi|era|sao|fica|ficou|chega|chegou|[ao]s? \w+(?: medi[oa])?|(?:ess|est)[ea] \w+),?"
    r" (?:(?:de|em|a),? )?$"
)
"""A verb or a name in front of what is given as an example: «o atraso é de, digamos, 30%» says what is so."""
PASSING = re.compile(
    r"(?<!facil )(?<!deu para )(?<!deu pra )(?<!ao )"
    r"\b(?:ver|vejam?|(?:list|olh|ach|mape|filtr|levant|separ|cort|revis)(?:ar|e|em|ie|iem)"
    r"|descobrir|descubram?|marcar|marquem?|identificar|identifiquem?|investigar|investiguem?|procurar|procurem?)"
    r"\b[^.;:]{0,40}\b(?:quais|qual|quem|onde|quando)\b[^.;:]{0,40}\bpass(?:a|am|ar|arem|em) d[aeo]s? (?:r\$ ?)?$"
)
"""In front of a limit by which something is sorted («ver quais CEPs passam de R$ 50»)."""
PRICED = re.compile(
    r"(?<!\bo )(?<!\bcom )(?<!\bum )(?<!\ba )(?<!\buma )(?<!\bas )(?<!\bos )(?<!cada )(?<!\bess[ae] )(?<!\best[ae] )"
    r"(?<!noss[ao] )(?<!\bd[ao] )(?<!\bn[ao] )\b(?:frete a|(?:orcamento|verba|investimento)(?: \w+)?(?: de|:)"
    r"|(?:mimo|premio|selo|clube|assinatura|entrega)s? (?:\w+ )?(?:de|a|por)) (?:r\$ ?)?$"
)
PRICE_ENDS = re.compile(
    r"\W*(?:$|\b(?:n[ao]s?|por|pel[ao]|de|d[ao]s?|com|em|para|pra|a|e|ou|acima|abaixo|so|ate|entre|apenas|quando|se"
    r"|mensa\w+)\b)"
    r"|\s?[,;:.)\"”»(→+]"
)
"""In front of what something shall cost («oferta de volta, frete a R$ 9,90», «clube de R$ 9»); behind it no verb."""
RANGE = re.compile(r"\b(?:produtos|pecas|modelos|opcoes|linhas?) (?:de|entre) (?:r\$ ?)?$")
TO = re.compile(r" (?:a|e|ate) r?\$? ?\d")
"""Around the first price of a range («produtos de R$ 400 a R$ 450»)."""
BATCH = re.compile(r"\s?(?:da (?:base|lista|verba)|do (?:orcamento|grupo|publico|lote)|d[ao]s (?:contatos|envios))\b")
TRIED = re.compile(
    r"\b(?:grupo|controle|piloto|test\w+|amostra|sem receber|sorte\w+|compar(?:ar|em?)|separ\w+|reserv\w+)\b"
)
TRIED_ON = re.compile(
    r"(?:^\W*|[,;:(→–-]\s?|\b(?:test(?:e|em|es|ar)|experiment(?:e|ar)|pilot\w+|separ(?:e|ar)|reserv(?:e|ar)|deix(?:e"
    r"|ar)"
    r"|guard(?:e|ar)|comec(?:e|ar)|rod(?:e|ar)|aplicar|aplique|lanc(?:e|ar)|dedi(?:que|car)|destin(?:e|ar)|us(?:e|ar)"
    r"|mand(?:e|ar)|envi(?:e|ar)|ofere(?:ca|cer)|invist(?:a|ir)"
    r"|investir|grupo|controle|amostra|sorteio|ofertas?|cupo[mn]s?|para|pra) )"
    r"(?:(?:so|apenas|em|com|a|de|para|uns|ate|outros) ){0,3}$"
)
"""Behind a share of those whom something is tried on, what says so, and what stands right in front of the share: no
indicator with its verb."""
TWICE = re.compile(r"\b(?:ida e v\w+|duas viagens|mandar e trazer|vai e volta)\b")
_FREIGHT, _TAKINGS = re.compile(r"\b(?:frete|envio|postagem|transporte)"), re.compile(r"\b(?:receita|ticket|fatur)")
"""What says that an amount is there twice: freight, there and back."""
RELATIVE = re.compile(r"\s?(?:acima|abaixo|maior|menor) (?:d[aeo]|que)\b")
"""Behind a share that advice sets in relation to something («um valor 20% acima da compra típica»)."""
IN_EACH = re.compile(r"\b(?:1|um|uma) (?:em|a|de) cada $")
"""In front of the number of «menos de 1 em cada 11»."""


def is_proposed(sentence: str, figure: Figure, place: tuple[int, int]) -> bool:
    """Whether a figure is none of now by what stands around it."""
    before, end = sentence[: place[0]], place[1]
    if PROPOSED.search(before) or is_wished(before) or SPAN.match(sentence, end) or OFFER_OF.search(before):
        return True
    if not figure.unit and figure.value <= _LAST_DAY and DATE.match(sentence, end):
        return True
    if _is_step(figure, before, sentence[end:]) or LATER.search(sentence) or WOULD.search(sentence):
        return True
    if OFFERED.match(sentence, end) or is_limit(sentence, place) or is_example(sentence, place):
        return True
    if not figure.unit and LOST.search(before) and IF_LOST.match(sentence, end):
        return True
    if figure.unit == "R$" and (_is_price(sentence, place) or (RANGE.search(before) and TO.match(sentence, end))):
        return True
    if WITH.search(before) and not SHARE_OF.match(sentence, end):
        return True
    is_advised = bool(ADVISED.search(sentence))
    is_tried = BATCH.match(sentence, end) and TRIED_ON.search(before)
    is_batch = figure.unit == "%" and is_tried and (is_advised or TRIED.search(sentence))
    towards = figure.unit != "%" and is_advised and TOWARDS.search(before)
    return bool(is_batch or towards or (is_advised and RELATIVE.match(sentence, end)))


def is_wished(before: str) -> bool:
    """Whether what stands in front of a figure speaks of what is not yet: an aim, a condition, a wish."""
    wanted = WANTED.search(before)
    return bool(AIMED.search(before) or (wanted and not _TELLING.search(wanted[0])))


def is_limit(sentence: str, place: tuple[int, int]) -> bool:
    """Whether a figure is a limit that somebody sets. One that tells how things are is none, nor one above which there
    is to be more of what nobody wants («atraso de 31% ou mais»)."""
    before, end = sentence[: place[0]], place[1]
    if PASSING.search(before):
        return not _LISTS.match(sentence, end)
    bound = BOUND.match(sentence, end)
    if bound and not (
        BOUND_ENDS.match(sentence, bound.end()) or (WHO.search(before) and sentence[bound.end() :][:3] != " de")
    ):
        return False
    if not (bound or SIGNAL.search(before)) or _TELLING.search(sentence):
        return False
    named = _INDICATOR.findall(before)
    return not (bound and bound["over"] and named and _UNWANTED.match(named[-1]))


_LISTS = re.compile(r"\s?[:=]")


def is_example(sentence: str, place: tuple[int, int]) -> bool:
    """Whether a figure is given as an example of what one could do («20%, digamos, para quem já comprou»)."""
    before = sentence[: place[0]]
    found = EXAMPLE_BEFORE.search(before)
    if not found and not EXAMPLE_BEHIND.match(sentence, place[1]):
        return False
    in_front = before[: found.start()] if found else before
    return bool(ADVISED.search(sentence)) and not (_SO.search(in_front) or _TELLING.search(in_front))


def _is_price(sentence: str, place: tuple[int, int]) -> bool:
    is_named = PRICED.search(sentence[: place[0]]) and PRICE_ENDS.match(sentence, place[1])
    return bool(is_named) and not _TELLING.search(sentence)


def is_both_ways(sentence: str) -> bool:
    """Whether a sentence tells what freight comes to there and back, not what it is."""
    return bool(TWICE.search(sentence) and _FREIGHT.search(sentence)) and not (
        _TAKINGS.search(sentence) or _TELLING.search(sentence)
    )


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
