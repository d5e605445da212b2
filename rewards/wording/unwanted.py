"""What no shop sends to its customers and nobody advises one, in folded text: deceit, threats, insults, the offer taken
away again."""

import re

from rewards.parsing.prose import even
from rewards.parsing.text import fold
from rewards.types import PromptLike

_NOT = r"(?<!nao )(?<!nunca )(?<!jamais )(?<!sem )(?<!evite )(?<!evitar )(?<!de )(?<!quem )\b"
_MORE_IS_BAD = r"(?:o |a |os |as )?(?:atras|devoluc|cancelament|frete(?! gratis)|reclamac)\w*"
_MORE_IS_GOOD = (
    r"(?:o |a |os |as )?(?:receita|faturamento|pedidos?|notas?|recompra|convers|ticket|vendas?\b|satisfac)\w*"
)
_HARM = re.compile(
    rf"\b(?:aument|elev|ampli|incentiv|estimul)(?:ar|e|em|ando)\s{_MORE_IS_BAD}"
    rf"|(?:^\W{{0,8}}|[.;:!\n]\W{{0,8}}|recomend\w{{1,20}} |suger?i\w{{1,20}} |vale |dev\w{{1,20}} )"
    rf"(?:sub(?:ir|a)|dobr(?:ar|e)) {_MORE_IS_BAD}"
    r"|\b(?:(?:reduz|diminu|cort|desestimul)(?:ir|ar|a|e|am|em|indo|ando)"
    rf"|baix(?:ar|e|em|ando|a(?= [ao]s? )))\s{_MORE_IS_GOOD}\b(?! as \d)"
    r"(?! (?:cancelad|devolvid|perdid|gast|atrasad|parad|ruins|baix))"
    r"|\b(?:reduz|diminu|cort)(?:ir|ar|a|e|am|em) (?:o |a )(?:atendimento|suporte|pos-venda|sac)\b"
    r"|\b(?:retir|tir|escond|remov|elimin)(?:ar|e|a|er|em)\s(?:o botao|a opcao|o link|a possibilidade)"
    r"|\b(?:sub(?:ir|a|am)|aument(?:ar|e|em)|elev(?:ar|e|em))\s(?:o |os )?precos?\s(?:em tod|de tod|da loja|do site)"
    r"|\bdemit(?:ir|a|am) (?:a|o|os|as|tod)|\bfech(?:ar|e|em) a loja\b|\bqueim(?:ar|e|em) o estoque\b"
    r"|(?<!nao )\bignor(?:ar|e|em)\s(?:o|a|os|as)\s(?:client|reclamac|pedido|avaliac|atras)\w*"
    r"|(?<!nao )\b(?:pare|parem|deixe|deixem|parar|deixar) de"
    r"\s(?:envi|respond|entreg|atend|oferec|acompanh|melhor|vend)\w*+"
    r"(?! (?:so|apenas|somente)\b| (?:itens|produtos|o que) (?:sem|fora)\b)"
    r"|\b(?:suspend(?:er|a|am)|proib(?:ir|a|am)|recus(?:ar|e|em)|neg(?:ar|ue|uem)) (?:a|as|o|os|todas as|todos os)"
    r" (?:devoluc|troca|pedido|reembols|atendiment|entrega|vendas)\w*"
    rf"|\btripli(?:que|car|quem) {_MORE_IS_BAD}|\baument(?:e|ar|em) o prazo de entrega\b"
    r"|(?:^|[.;:!\n])\W{0,8}(?:atras|retard)em? (?:tambem |mais |ainda )?(?:[ao]s? )?"
    r"(?:entrega|envio|pedido|resposta|reembols)\w*"
    rf"|{_NOT}(?:remov|retir|escond|elimin|apag|suprim)(?:a|e|am|em|ar|er|ir|ando|endo) (?:[ao]s? )?"
    r"(?:d[oa] (?:site|loja|pagina) (?:[ao]s? )?(?:telefone|chat|sac|atendimento)\b(?! (?:antig|errad|velh|que ))"
    r"|(?:telefone|chat|sac|atendimento) d[oa] (?:site|loja|pagina)\b"
    r"|(?:opcao|botao) de (?:pag|troc|devol|cancel|fal|reclam|ajuda)\w*|politica de troca"
    r"|(?:avaliac|nota)\w+ (?:ruins|negativas|baixas)\b)"
)
"""Advice that would do what nobody wants, or takes from customers how to reach the shop, to pay, to complain."""
_SHOWS = (
    r"(?:mostr|cri|public|invent|anunci|ofere[cç]|divulg|escrev|promet|informa?|us|exib|colo[cq]u?|compr|forj|simul"
    r"|vend)"
    r"(?:ar|er|e|a|em|am)"
)
_DECEIVES = re.compile(
    rf"{_NOT}{_SHOWS} (?:(?!contra\b|alerta|filtr|bloque|detec|denunc|se\b|sem\b|quem\b|evit)[^.;:\n]){{0,40}}"
    r"\b(?:fals[oa]s?|falsificad[oa]s|inventad[oa]s?|ficti[cs]i[oa]s?|mentiros[oa]s?|que nao existem?)\b"
    rf"|{_NOT}vend(?:a|er|em|am) (?:\w+ ){{0,2}}vencid[oa]s?\b"
    rf"|{_NOT}(?<!que )(?:engan(?:e|ar|em)|mint(?:a|am)|mentir|suborn(?:e|ar)|chantage\w+) (?:[ao]s?|para|sobre) "
    r"|\bpropinas?\b(?! e crime)|\bprecos? em segredo\b|\bem segredo antes d"
    rf"|{_NOT}(?:cobr(?:e|ar|em) [^.;\n]{{0,40}}|(?:adicion|coloqu|inclu|acrescent)(?:e|ar|a|ir|em) [^.;\n]{{0,25}}"
    r"\b(?:carrinho|pedido|fatura|conta|compra) )\bsem o cliente (?:saber|pedir|querer)\b"
    rf"|{_NOT}cobr(?:e|ar|em) [^.;\n]{{0,30}}\bque (?:ninguem|nao|o cliente nao) (?:pediu|comprou|quis)\b"
    rf"|{_NOT}(?:copi|vend|divulg|public|us|compartilh|peg)(?:ue|e|a|ar|er) (?:[ao]s? )?(?:senhas?|cartoes salvos"
    r"|dados bancarios)\b"
    r"|\b(?:dinheiro|vantage\w+|cupo[mn]\w*|brindes?|desconto)\b[^.;\n]{0,40}\b(?:retirar|apagar|remover)\w*"
    r" (?:[ao]s? )?(?:queixas?|reclamac\w+|avaliac\w+|notas?)\b"
    rf"|{_NOT}(?<!que )(?:respond(?:a|er|am)|trat(?:e|ar)|atend(?:a|er)) [^.;\n]{{0,30}}\bcom (?:ofensas|xingamentos"
    r"|grosseria|ameacas)\b|\bcaixas? vazias? (?:para|a) (?:quem|[ao]s? client)"
    rf"|{_NOT}lig(?:ue|ar|uem) (?:\w+ )?de madrugada\b"
    rf"|{_NOT}cobr(?:e|ar|em) (?:uma multa d?[ao]s? clientes?|d?[ao]s? clientes? [^.;,\n]{{0,20}}uma multa)\b"
    rf"|{_NOT}cobr(?:e|ar|em) (?:uma )?(?:multa|taxa|tarifa) de (?:quem|clientes? que) (?:reclam|avali|compr|volt)"
    rf"|{_NOT}(?:us|contrat|adot|escolh)(?:e|a|ar|er) (?:a |uma )?transportadoras? (?:bem |muito )?mais lentas?\b"
    r"(?! ?[^.;\n]{0,60}\b(?:para|so|apenas|somente|onde|quando|se|como)\b)"
    r"|\b(?:dez|vinte|trinta|cem|\d\d) (?:mensagens|e-mails|ligacoes) por dia (?:a|para) (?:o mesmo|cada) cliente\b"
)
"""Advice that lies to customers, robs, threatens or wearies them."""
_NEGATED = re.compile(
    r"(?<!quem )\b(?:nao|nunca|jamais)\s(?:recomend|sugir|suger|prioriz|invist|ofere|melhor|cri[ea]|reduz|revis|respond"
    r"|corrij)\w*"
    r"|\bevit(?:e|ar|em)\s(?:melhor|respond|ofere|invest|atend)\w*"
)


def harms(folded: str) -> bool:
    """Whether advice would do what nobody wants (more delay, customers deceived), or advises against itself."""
    folded = even(folded)
    return bool(_HARM.search(folded) or _DECEIVES.search(folded)) or len(_NEGATED.findall(folded)) > 1


_SECRETS = r"(?:senhas?|numero d[oe] (?:seu )?cartao|dados (?:d[oe] (?:seu )?cartao|bancarios)|codigo de seguranca|cpf)"
_PREYS = re.compile(
    rf"\b(?:informe|envie|mande|passe|diga|digite|conte|responda com|confirme)\b[^.!?]{{0,20}}\b{_SECRETS}\b"
    r"|\bcartao d[aeo] (?:sua |seu )?(?:mae|pai|avo|vo|vizinh\w|marido|esposa|chefe|amig\w|irma\w?)\b"
    r"|\bagiota\b|\b(?:deix|par)e de pagar (?:[ao]s? )?(?:aluguel|conta|luz|agua|escola|pensao)"
    r"|\bcompre ou (?:vamos|voce vai|a gente|ele|ela|seu nome)\b|\bse (?:voce )?nao comprar,|\b(?:spc|serasa)\b"
    r"|\bcobrar (?:\w+ )?(?:na|em) sua (?:porta|casa)\b|\b(?:leia|clique|compre) dirigindo\b|\bsem olhar a estrada\b"
    r"|\bbeb[ae] ate cair\b|\bengula\b|\b(?:bater|atirar) no (?:vizinho|chefe)\b|\[[^\]\n]{2,40}\]"
)
"""Fraud, debts, threats, danger; and a place that was to be filled in («[nome do cliente]»)."""
_INSULTS = re.compile(
    r"\bseus? (?:pao[- ]duro|mao de vaca|burr[oa]|idiota|otari[oa]|trouxa|preguicos[oa]|ignorante|imbecil|muquirana"
    r"|lerd[oa]"
    r"|fracassad[oa]|inutil)s?\b|\bvoce(?: e|,)? (?:um |uma |seu |sua )?(?:burr[oa]|idiota|otari[oa]|trouxa"
    r"|fracassad[oa])\b"
    r"|\bnunca acerta nada\b|\bnao (?:presta|serve) para nada\b|\bsua vida (?:nao vai melhorar|nao tem (?:jeito"
    r"|graca))\b"
)
_SENDS_AWAY = re.compile(
    r"(?<!nao )\b(?:melhor )?deix(?:ar|e) (?:isso )?(?:para|pra) la\b(?!\?)|\bmelhor (?:guardar"
    r"|economizar) o (?:seu )?dinheiro\b"
    r"|(?<!nem )\b(?:na loja ao lado|n[ao] concorren\w+|em outra loja|nas outras lojas)[^.!?]{0,20}"
    r"\b(?:sai|custa|e|esta|tem)\b"
    r"[^.!?]{0,15}\b(?:mais (?:em conta|barat\w)|melhor|menos)\b(?!\?)"
    r"|\b(?:a|nossa) loja (?:ja )?(?:fechou|faliu|encerrou|fechara)\b(?!\?| o caixa)|\bnao vendemos (?:mais|hoje)\b"
    r"|\bhoje nao vendemos\b|\bvolte outro dia\b|\bcancele (?:o )?seu cadastro\b"
    r"|\bninguem precisa d(?:isso|ele|ela)\b(?!\?)|\bo seu ja esta otimo\b(?!\?)"
    r"|(?<!nao )(?<!nunca )(?<!ninguem )(?<!jamais )(?<!nao levou )(?<!nao comprou )"
    r"\bse arrepende(?:u|ram)\b(?!\?| de nao)"
    r"|(?<!nao )\be dinheiro jogado fora\b(?!\?)|\bpior compra\b(?!\?)|\bodiamos (?:[ao]|ess[ae]|est[ae])\b"
    r"|\bvai odiar (?:tambem|ele|ela|isso)\b|[.!] so que nao\b|\bera pegadinha\b(?!\?)"
)
"""That nobody should buy here, that there is no shop, that whoever bought is sorry."""
_DISCOUNT = (
    r"(?:\d{1,2} ?%(?: off| de desconto)?|ofertas?|promoc\w+|descontos?|frete gratis|cupo[mn]\w*(?: [a-z]+\d*)?)"
)
_UNDONE = re.compile(
    rf"(?<!antes que [oa] )(?<!quando [oa] )(?<!se [oa] )\b{_DISCOUNT} (?:ja )?(?:acabou|terminou|venceu|expirou"
    rf"|encerrou"
    r"|(?:ja )?nao (?:funciona|existe)(?: mais)?)\b(?![^.!\n]{0,30}\?)"
    rf"|\b{_DISCOUNT}\? (?:ja )?(?:acabou|terminou|era mentira|nao tem mais)\b"
    rf"|(?<!fique )(?<!fica )(?<!saia )(?<!ficar )(?<!va )(?<!perca )(?<!chega de )(?<!nada de )"
    rf"\bproduto sem (?:[ao]s? )?{_DISCOUNT}(?!\?)"
    r"|(?:\b(?:agora|hoje|so|ja|voltou ao|apenas) (?:e |com |por |o |no |pelo )?|[:;] (?:o )?"
    r"|\be o? ?)preco cheio\b(?!\?| nao| nunca)"
    r"|\b(?:tudo|todos|todas|todo mundo|qualquer um),? (?:menos|exceto) (?:(?:para|pra) )?voce\b(?!\?)"
    r"|\bso vale para (?:funcionari|quem trabalha)"
    r"|(?:\A|[.!?\n])\W{0,3}(?:[ao]s? )?produto (?:ja )?(?:acabou|esgotou|saiu de linha),? mas (?:tem|temos|ha)"
    r" (?!\d|descont|cupo|frete|ofert|mais|outr|nov)|\besgotou ontem\b|\b(?:dele|dela"
    r"|produto),? nao temos mais\b"
    r"|\bja acabou, voce perdeu\b"
    r"|(?<!sem )(?<!nada de )(?<!chega de )\b(?:frete|entrega) (?:e |fica |sai |corre )?por sua conta\b(?!\?)"
    r"|(?<!chega de )(?<!nada de )\bproduto com (?:uma )?multa\b(?!\?)"
    r"|\b(?:use|leve|garanta|aproveite|aplique)\b(?![^.!?\n]{0,60}\b(?:depois|amanha|outr[oa]|nao|nunca)\b)"
    r"[^.!?\n]{0,60}\be pague (?:\w+ )?mais caro\b"
    r"|\bproduto que voce \w+ (?:ja )?esgotou[.!](?![^\n]*\b(?:volt|vez|repo|cheg|nov|mas)\w*)"
    r"|(?<!nao e )(?<!nem )\bmelhor (?:procurar|comprar|buscar) (?:em outr[oa] (?:loja|site|lugar)|n[ao] concorren\w+)"
)
"""The brief's own offer, or its product, said to be none («produto» stands for its name)."""
_ELSEWHERE = re.compile(
    r"\btroque (?:(?:o|seu|o seu) produto por uma|(?:a|sua|a sua) produto por um)\b"
    r"(?! (?:nov|model|vers|opc|jogo|kit|conjunt|pec))"
    r"|(?<!que )(?<!nao )\b(?:roub|furt)e (?:[ao]s? |uma? |seus? |suas? )?produto\b"
    r"|(?<!sem )\bproduto\? (?:nada disso|que nada|nem pensar|prefira|esqueca)\b"
    r"|\bem vez d[eo] (?:um |uma )?produto,? (?:leve|compre|escolha)|\bprefira (?:[ao]"
    r"|uma?) [a-z]+,? que e (?:muito )?melhor\b"
    r"|\b(?:so|somente|apenas) se (?:voce )?(?:comprar|levar) (?:uma?|outr[ao]) (?!produto)"
    r"|(?:\A|[.!?\n]\W{0,3})na compra de (?:uma?|outr[ao]) (?!produto)"
    r"|(?<!nao )(?<!nunca )\besquec[ae] [ao] produto(?= (?:a|por|com)\b|[.,!:;]|$)(?!\?)"
    r"|\bproduto(?: e|,) (?:tambem |ate )?(?:tod[ao] [ao] (?:loja|site)|(?:as |os )?(?!conforto|estilo|qualidade"
    r"|economia|tudo)[a-z]{4,}s)"
    r" (?:com|por|a) (?:ate )?(?:\d|r\$)"
)
"""The offer moved to another thing (one of the other gender: «o» for «uma»), extended to it or tied to it; or the
product to be stolen."""

_ORDERED = re.compile(
    r"\bseu pedido (?:de |d[oa] (?:seu |sua )?|com [oa] )?produto (?:ja )?(?:foi|esta) "
    r"(?:aprovad|confirmad|enviad|despachad)"
)
"""News of an order that nobody has placed."""


def repels(prompt: PromptLike, answer: str) -> bool:
    """Whether a push preys on its reader, insults or sends away, or takes back or moves what its brief offers."""
    folded = even(fold(answer))
    product = fold(prompt.reference.get("product", ""))
    said = folded.replace(product, "produto") if product else folded
    found = (one.search(folded) for one in (_PREYS, _INSULTS, _SENDS_AWAY))
    if _ORDERED.search(said) and "pedido" not in fold(prompt.user):
        return True
    return any(found) or bool(_UNDONE.search(said) or _ELSEWHERE.search(said))
