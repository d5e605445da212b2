"""What no shop sends to its customers and nobody advises one, in folded text: deceit, threats, insults, the offer taken
away again."""

import re

from rewards.parsing.prose import even
from rewards.parsing.text import fold
from rewards.texts.offers import stems
from rewards.types import PromptLike

_ITS = r" (?:[ao]s? |tod[oa]s? (?:[ao]s )?|sua |seu )?"
_SPARED = r"(?! (?:que|sem|com|perd|parad|pend|atras|cancel|devol|baix|rui|gast|gratis|alt|as \d))"
_GOOD = (
    r"(?:receita|fatur|notas?\b|recompra|convers|vend|satisf|atendimento|suporte|sac\b"
    r"|pos.venda|ticket|pedidos|equipe de atend)"
)
_BAD = r"(?:atras|devolu|cancela|reclama|frete\b|prazo de entrega)"
_REACH = (
    r"(?:troca|devolu|reembols|estorno|atend|entrega|pedido|telefone|chat|sac\b|botao|opcao"
    r"|possibilidade|link|politica|avalia|reclam|atras)"
)
_HELPS = r"(?:melhor|respond|avis|reduz|revis|entreg|ofere|oferec|sug[ei]r|cri[ae]|inv[ei]st|prioriz|atend)"
_HARMS = re.compile(
    rf"\b(?:(?:aument|elev|ampli|tripli|dobr|incentiv|estimul)(?:ar|e|em|ando|que)|sub(?:ir|a|am"
    rf"|indo)){_ITS}{_BAD}\w*\b(?! (?:que|gratis))"
    rf"|\b(?:(?:reduz|diminu)(?:ir|a|am|indo)|(?:cort|baix|desestimul)(?:ar|e|em|ando)){_ITS}{_GOOD}\w*\b{_SPARED}"
    r"|\bignor(?:ar|e|em) (?:[ao]s? )?client"
    rf"|\b(?:suspend|neg|negu|recus|proib|ignor|remov|retir|tir|escond|elimin|apag|deslig)(?:ar|er|ir|a"
    rf"|e|am|em|ando|endo){_ITS}{_REACH}\w*\b"
    r"(?! (?:obrig|quebr|velh|errad|falt|fora|do ar))"
    r"|\b(?:enganar|engane|minta|mentir|suborn|chantag|xing|ameace|falsific)\w*|\b(?:fals|inventad|fictici)[oa]s?\b"
    rf"|\b(?:evit\w+|nao recomend\w+) {_HELPS}|\b(?:nao|nunca|jamais"
    rf"|evit\w+) {_HELPS}[^.;\n]{{3,40}}\. (?:nao|nunca|jamais|evit\w+) {_HELPS}"
    r"|\b(?:nao|nunca) (?:respond|avis|envi)(?:a|e|am|em)\b(?! (?:mais|so\b))"
    r"|\b(?:par|deix)(?:e|em|ar) de (?:respond|entreg|atend|acompanh|melhor|oferec|enviar|envie"
    r"|vend\w+ (?:n[ao]|para quem)\b)\w*+(?! (?:so|apenas|somente)\b| (?:itens|produtos|o que) (?:sem|fora)\b)"
    r"|\bsub\w+ [ao]s precos\b|\b(?:aument|elev)\w+ (?:[ao]s? )?precos? (?:(?:em|de) tod|d[ao] (?:loja|site))"
    r"|\bdemit|\bfech(?:ar|e|em) a loja"
    r"|\b(?:carrinho|pedido|conta) sem o cliente (?:saber|pedir|querer)|\bcaixas? vazias?|\bsenhas?\b|\bpropina"
    r"|\bvencid[oa]s\b|\bperder o estoque|\bqueim\w+ o estoque|\bde madrugada\b"
    r"|\bcobr\w+ (?:uma )?(?:multa|taxa) d(?![ao]s? (?:transp|fornec))"
    r"|\bcobr\w+ [^.;\n]{0,30}(?:duas vezes|extra|de quem (?:pede|reclam|devol|quer))|\bofensas?\b|\bem segredo\b"
    r"|\bvend\w+ itens (?:com defeito|que nao)|\bcom defeito no\b|\batras(?:e"
    r"|ar) (?:tambem )?(?:[ao]s )?(?:pedid|entreg)"
    r"|\bsuspend\w+ (?:as vendas|todos os pedidos)\b"
)
"""Advice that would do what nobody wants, or takes from customers how to reach the shop, lies to them or robs them."""
_WARNS = re.compile(r"\b(?:prometa|sem|nem|nao|nunca|evit\w+|contra|se|quem|que)(?: \w+)? $")


def harms(folded: str) -> bool:
    """Whether a folded text advises harm; what it denies or warns of it does not."""
    said = even(folded)
    found = _HARMS.finditer(said)
    return any(not _WARNS.search(said[max(0, harm.start() - 14) : harm.start()]) for harm in found)


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
