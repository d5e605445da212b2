"""What no shop sends to its customers and nobody advises one, in folded text: deceit, threats, insults, the offer taken
away again."""

import re

from rewards.open.offers import stems
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


_REPELS = re.compile(
    r"\bsenha\b|\bcpf\b|\bdados (?:bancarios|do cartao)|\[[^\]\n]{2,40}\]"
    r"|\b(?:numero|cartao) d[eoa] (?:seu |sua )?(?:cartao|mae|pai|avo)"
    r"|\b(?:cilada|pessim\w|horrive\w+|defeit\w+|quebrad[oa]|porcaria|lixo|idiota|burr[oa]|otari\w"
    r"|trouxa|pegadinha|mentira|morte"
    r"|vergonha|pao.duro)\b|\barrepend|\bexplod|\bpass(?:e|ar) mal|\bmachuc|\bqueim\w+ (?:a|o|sua|seu)\b|\bagiota"
    r"|\bfurt|\bdirigindo|\bnunca acerta|\bmais caro\b|\bmulta\b|\bpreco cheio\b(?=\W*(?:$|,))"
    r"|\bnao (?:compre|leve|vale [ao]|clique|recomend\w+|faca o seu|presta|funciona)\b|\bcom problema|\bsem os? \d+ ?%"
    r"|\b(?:frete|entrega)\b.{0,12}\bpor sua conta|\bacabou, mas tem|\bloja fechou|\bloja ao lado"
    r"|\bprefira\b|\be (?:um )?(?:produto )?(?:ruim|fei[oa])\b"
    r"|\b(?:ofertas?|promocao|descontos?|cupom \w+|off|gratis) (?:ja )?(?:acabou|venceu|expirou|encerrou|terminou)"
    r"|\bcancele (?:o )?seu cadastro|\btroque [ao] \w+ por\b|\bdeix\w+ para la\b|\bguard\w+ o dinheiro|\bcobrar\b"
    r"|\b(?:tudo|tod[oa]s),? (?:menos|exceto) (?:para |pra )?voce|\bodia|\bninguem (?:quis|precisa)"
    r"|\bse (?:voce )?(?:nao )?comprar\b|\bseu pedido .{0,30}\b(?:foi|esta) (?:aprov|confirm|envia)"
)
"""What no shop sends to its customers: fraud, insults, threats, its product talked down, its offer taken away."""
_DENIES = re.compile(r"\b(?:sem|nem|nao|nunca|ninguem|chega de|nada de|ou|antes)(?: \w+){0,2} $")

_AVOIDS = (
    r"\b(?:evit\w+|fuj\w+|nao (?!perc|deix|fi[cq]|esque|esper|demor|falt|e\b|tem\b"
    r"|ha\b)[a-z]+(?: tempo com)?|nao perca tempo com)"
    r" (?:(?:d?[ao]s?|uma?|seu|sua) )?%s"
)
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
    """Whether a push says what no shop does, sends its reader away from the product («evite a panela»), or takes back
    or moves what its brief offers. What it asks («Semana ruim?») or denies («sem multa») it does not say."""
    folded = even(fold(answer))
    product = fold(prompt.reference.get("product", ""))
    said = folded.replace(product, "produto") if product else folded
    head = next(iter(stems(product)), "")
    if _UNDONE.search(said) or (head and re.search(_AVOIDS % re.escape(head), folded)):
        return True
    return any(
        "?" not in folded[found.end() : found.end() + 12].partition(".")[0]
        and not _DENIES.search(folded[max(0, found.start() - 20) : found.start()])
        for found in _REPELS.finditer(folded)
    )
