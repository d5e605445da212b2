"""What no shop sends to its customers and nobody advises one, in folded text: deceit, threats, insults, the offer taken
away again."""

import re

from rewards.parsing.prose import even
from rewards.parsing.text import fold
from rewards.types import PromptLike

_NOT = r"(?<!nao )(?<!nunca )(?<!jamais )(?<!sem )(?<!evite )(?<!evitar )(?<!de )(?<!quem )\b"
_MORE_IS_BAD = r"(?:o |a |os |as )?(?:atras|devoluc|cancelament|frete(?! gratis)|reclamac)\w*"
_HARM = re.compile(
    rf"\b(?:aument|elev|ampli|incentiv|estimul)(?:ar|e|em|ando)\s{_MORE_IS_BAD}"
    rf"|(?:[.;:!\n]\W{{0,8}}|suger?i\w{{1,20}} |vale |dev\w{{1,20}} |recomend\w{{1,20}} )(?:sub(?:ir|a)|dobr(?:ar|e))"
    rf" {_MORE_IS_BAD}"
    r"|\b(?:reduz|diminu|cort)(?:ir|ar|a|e|am|em) (?:o |a )(?:atendimento|suporte|pos-venda|sac)\b"
    r"|\b(?:sub(?:ir|a|am)|aument(?:ar|e|em)|elev(?:ar|e))\s(?:o |os )?precos?\s(?:em tod|de tod|da loja|do site)"
    r"|\bdemit(?:ir|a|am) (?:a|o|os|as|tod)|\bfech(?:ar|e|em) a loja\b|\bqueim(?:ar|e|em) o estoque\b"
    r"|(?<!nao )\bignor(?:ar|e|em)\s(?:o|a|os|as)\s(?:client|reclamac|pedido|avaliac|atras)\w*"
    r"|(?<!nao )\b(?:pare|parem|deixe|deixem|parar|deixar) de\s(?:envi|respond|entreg|atend|oferec|acompanh|melhor"
    r"|vend)\w*+(?! (?:so|apenas|somente)\b| (?:itens|produtos|o que) (?:sem|fora)\b)"
    r"|\b(?:(?:reduz|diminu|cort|desestimul)(?:ir|ar|a|e|am|em|indo|ando)|baix(?:ar|e|em|ando|a(?= [ao]s? )))\s"
    r"(?:o |a |os |as )?(?:receita|faturamento|pedidos?|notas?|recompra|convers|ticket|vendas?\b|satisfac)\w*\b"
    r"(?! as \d)(?! (?:cancelad|devolvid|perdid|gast|atrasad|parad|ruins|baix))"
    r"|\b(?:suspend(?:er|a|am)|proib(?:ir|a|am)|recus(?:ar|e|em)|neg(?:ar|ue|uem)) (?:a|as|o|os|todas as|todos os)"
    r" (?:devoluc|troca|pedido|reembols|atendiment|entrega|vendas)\w*"
    r"|\b(?:remov|retir|tir|escond|elimin|apag|suprim)(?:a|e|am|em|ar|er|ir|ando|endo) (?:[ao]s? )?"
    r"(?:(?:opcao|botao) de (?:pag|troc|devol|cancel|fal|reclam|ajuda)\w*|botao|link|opcao|possibilidade)\b"
    rf"|{_NOT}(?:mostr|cri|public|invent|anunci|ofere[cç]|divulg|escrev|promet|informa?|us|exib|colo[cq]u?|compr|forj"
    r"|simul|vend)(?:ar|er|e|a|em|am)"
    r" (?:(?!contra\b|alerta|filtr|bloque|detec|denunc|se\b|sem\b|quem\b|evit)[^.;:\n]){0,40}"
    r"\b(?:fals[oa]s?|falsificad[oa]s|inventad[oa]s?|ficti[cs]i[oa]s?|mentiros[oa]s?|que nao existem?)\b"
    r"|\bprecos? em segredo\b|\bem segredo antes d|\bcaixas? vazias? (?:para|a) (?:quem|[ao]s? client)"
    rf"|{_NOT}(?:cobr|adicion|coloqu|inclu|acrescent)(?:e|ar|a|ir|em) [^.;\n]{{0,40}}\bsem o cliente"
    r" (?:saber|pedir|querer)\b"
    rf"|{_NOT}(?:respond(?:a|er|am)|trat(?:e|ar)|atend(?:a|er)) [^.;\n]{{0,30}}\bcom (?:ofensas|grosseria|ameacas)\b"
    rf"|{_NOT}cobr(?:e|ar|em) (?:uma )?(?:multa|taxa|tarifa) de (?:quem|clientes? que) (?:reclam|avali|compr|volt)"
    rf"|{_NOT}(?:us|contrat|adot|escolh)(?:e|a|ar|er) (?:a |uma )?transportadoras? (?:bem |muito )?mais lentas?\b"
    r"(?! ?[^.;\n]{0,60}\b(?:para|so|apenas|somente|onde|quando|se|como)\b)"
)
"""Advice that would do what nobody wants, takes from customers how to reach the shop, to pay, to complain, or lies to
them, robs or threatens them."""
_NEGATED = re.compile(
    r"(?<!quem )\b(?:nao|nunca|jamais)\s(?:recomend|sugir|suger|prioriz|invist|ofere|melhor|cri[ea]|reduz|revis|respond"
    r"|corrij)\w*"
    r"|\bevit(?:e|ar|em)\s(?:melhor|respond|ofere|invest|atend)\w*"
)


def harms(folded: str) -> bool:
    """Whether advice would do what nobody wants (more delay, customers deceived), or advises against itself."""
    folded = even(folded)
    return bool(_HARM.search(folded)) or len(_NEGATED.findall(folded)) > 1


_SECRETS = r"(?:senhas?|numero d[oe] (?:seu )?cartao|cpf)"
_REPELS = re.compile(
    rf"\b(?:informe|envie|mande|passe|diga|digite|conte)\b[^.!?]{{0,20}}\b{_SECRETS}\b"
    r"|\bcartao d[aeo] (?:sua |seu )?(?:mae|pai|avo|vo|marido|esposa|chefe|amig\w|irma\w?)\b"
    r"|\bcobrar (?:\w+ )?(?:na|em) sua (?:porta|casa)\b|\[[^\]\n]{2,40}\]"
    r"|\bseus? (?:pao[- ]duro|idiota|trouxa|imbecil|inutil)s?\b|\bnunca acerta nada\b"
    r"|(?<!nao )\b(?:melhor )?deix(?:ar|e) (?:isso )?(?:para|pra) la\b(?!\?)"
    r"|\bna loja ao lado[^.!?]{0,20}\b(?:sai|custa|e|esta|tem)\b[^.!?]{0,15}\b(?:mais (?:em conta|barat\w)"
    r"|melhor|menos)\b(?!\?)|\b(?:a|nossa) loja (?:ja )?(?:fechou|faliu|fechara)\b"
    r"|\bninguem precisa d(?:isso|ele|ela)\b(?!\?)|(?<!nao )\bse arrepende(?:u|ram)\b"
)
"""Fraud and threats; a place that was to be filled in («[nome do cliente]»); insults; that nobody should buy here, that
there is no shop, that whoever bought is sorry."""
_UNDONE = re.compile(
    r"(?<!chega de )(?<!nada de )\bproduto sem (?:[ao]s? )?(?:\d{1,2} ?%(?: off| de desconto)?|ofertas?|promoc\w+"
    r"|descontos?|frete gratis|cupo[mn]\w*(?: [a-z]+\d*)?)(?!\?)|(?:[:;] (?:o )?|\be o? ?)preco cheio\b"
    r"|\b(?:tudo|todos|todas),? (?:menos|exceto) (?:(?:para|pra) )?voce\b(?!\?)"
    r"|(?:\A|[.!?\n])\W{0,3}(?:[ao]s? )?produto (?:ja )?(?:acabou|esgotou),? mas (?:tem|temos|ha) "
    r"|(?<!nada de )(?<!chega de )\b(?:frete|entrega) (?:e |fica |sai |corre )?por sua conta\b(?!\?)"
    r"|\bproduto que voce \w+ (?:ja )?esgotou[.!]"
    r"|\btroque (?:o|seu|o seu) produto por uma\b|\b(?:roub|furt)e (?:[ao]s? |uma? |seus? |suas? )?produto\b"
    r"|\bprefira (?:[ao]|uma?) [a-z]+,? que e (?:muito )?melhor\b"
    r"|\b(?:so|somente|apenas) se (?:voce )?(?:comprar|levar) uma? "
    r"|\bproduto(?: e|,) (?:tambem |ate )?(?:tod[ao] [ao] (?:loja|site)|(?:as |os )?[a-z]{4,}s) (?:com|por|a)"
    r" (?:ate )?(?:\d|r\$)"
)
"""The brief's own offer, or its product, said to be none («produto» stands for its name), moved to another thing (one
of the other gender: «o» for «uma»), extended to it or tied to it; or the product to be stolen."""


def repels(prompt: PromptLike, answer: str) -> bool:
    """Whether a push preys on its reader, insults or sends away, or takes back or moves what its brief offers."""
    folded = even(fold(answer))
    product = fold(prompt.reference.get("product", ""))
    said = folded.replace(product, "produto") if product else folded
    return bool(_REPELS.search(folded) or _UNDONE.search(said))
