"""What no notification says: denials of its own offer, what sends people away, insults, threats, calls for secrets."""

import re

from tucano.truth.reading import plain

THING = "artigo"
"""Stands for the product."""
_OFFER = r"(?:descontos?|ofertas?|promoc\w+|cupom|frete gratis)"
_DENIES = re.compile(
    r"(?<!ficar )\bsem (?:(?:[oa]s? |ess[ea]s? |mais )?\d+ ?%"
    rf"|[oa]s? (?:tal |tais )?{_OFFER}|mais {_OFFER})"
    r"|\bagora e preco cheio\b|\bpreco cheio,? (?:como sempre|de novo)\b"
    rf"|\b{_OFFER}(?: de \d+ ?%)? (?:ja |agora )?(?:acabou|encerrou|terminou|expirou|venceu|caducou|ja era"
    rf"|foi cancelad\w|nao vale)"
    rf"(?! (?:so|apenas|somente)\b)(?![^.!]{{0,20}}\?)|\bacabou (?:o desconto|a oferta|a promoc\w+|o cupom"
    rf"|o frete gratis)"
    r"|\d ?%(?: off| de desconto)?,? (?:que )?(?:ja )?(?:acabou|acabaram|expirou|terminou|nao vale\w?|era mentira)\b"
    r"|\b(?:cupom|codigo) [a-z0-9]{3,} (?:ja )?(?:venceu|expirou|acabou|nao vale)\b|\bcar[oa],? mas (?:fazer|paciencia)"
    rf"|(?<!chega de )(?<!nada de )(?<!basta de )\b{THING} sem frete gratis\b(?! ?\?)"
    r"|(?<!sem )(?<!nada de )(?<!chega de )(?<!adeus, )\b(?:frete|entrega) "
    r"(?:(?:e|fica|sai|corre) )?por sua conta\b(?! ?\?)"
    rf"|(?<!chega de )(?<!nada de )\b{THING} com (?:uma )?multa\b(?! ?\?)"
    r"|\b(?:use|leve|garanta|aproveite|aplique) (?:(?!nao\b|nunca\b|depois\b|amanha\b|outr)\w+ ){1,9}"
    r"e pague (?:bem |muito )?mais caro\b"
    r"|\b(?:menos|exceto|mas nao|so nao|nao vale\w?|nao e|nao serve) (?:para|pra) (?:voce|vc)\b"
)
_ELSEWHERE = (
    r"(?:n[ao] (?:loja|site) (?:ao lado|vizinh\w|d[aoe] (?:esquina|lado|concorr\w+))|n[oa] (?:concorren\w+|vizinh[oa])"
    r"|em outr[oa] (?:loja|site|lugar))"
)
_DENIED = re.compile(
    rf"\b(?:nao|nunca|nem|ninguem|nada|jamais)\b[^.!?:;,]{{0,40}}"
    rf"(?:\bsem\b|{_ELSEWHERE}(?: sai\w* (?:por menos|mais))?)"
)
"""«Não saia sem o cupom», «nem em outra loja sai por menos»."""
_SENDS_AWAY = re.compile(
    rf"\b{_ELSEWHERE}[^.!?]{{0,25}}\b(?:mais (?:em conta|barat|bonit|vantaj)|melhor|por menos|de graca)"
    rf"|\b(?:mais (?:em conta|barat\w)|melhor|por menos) {_ELSEWHERE}"
    rf"|(?<!nao )(?<!nem )\b(?:compre|va|veja|passe|corra|procure) {_ELSEWHERE}"
    rf"|(?<!nao e )(?<!nem )\bmelhor (?:procurar|comprar|buscar|ver) {_ELSEWHERE}"
    rf"|\b{THING} que voce \w+ (?:ja )?esgotou ?[.!](?!.*\b(?:volt|vez|repo|cheg|nov|mas\b))"
    r"|\b(?:nossa|a|esta) loja (?:ja )?(?:fechou|faliu|quebrou|encerrou|nao existe|vai fechar|acabou)"
    r"|\bfechamos as portas\b"
    r"|(?<!que )(?<!aqui )\bnao (?:vendemos|entregamos|atendemos)(?: mais)?\b(?! gato|[^.!?]{0,30}\b(?:so|apenas"
    r"|mas)\b)|\bvolte (?:outro dia|amanha|mais tarde|nunca)\b"
    r"|\b(?:melhor|e bom|seria bom|prefir\w+) (?:deixar (?:para|pra) la|nem|guardar o (?:seu )?dinheiro"
    r"|economizar o dinheiro|esperar outr)"
    r"|\b(?:e|:|,|;) (?:guarde|poupe) o (?:seu )?dinheiro\b|(?<!nao )(?<!nem )\bdeixe (?:isso )?(?:para|pra) la\b"
    r"|(?:\be|:|,) (?:e |sao )?dinheiro jogado fora\b"
    r"|\bninguem (?:precisa d(?:isso|isto|ess[ea]|est[ea]|e artigo|o artigo)|quer (?:isso|o artigo|ess[ea]|est[ea])"
    r"|usa isso)"
    r"|\b(?:o|a) (?:seu|sua) (?:velh[oa] )?(?:ja )?(?:ainda )?(?:esta|funciona|serve) (?:muito )?(?:otim|bo[am]|bem"
    r"|perfeit)\w*[^.!?]{0,12}\bfique com"
    r"|\bfique com (?:o velho|a velha|o que (?:ja )?tem)\b"
    rf"|(?<!nao )(?<!nunca )(?<!nem )(?<!jamais )\besquec(?:a|am) (?:d?[oa] |ess[ea] |est[ea] )?{THING}\b(?! (?:velh"
    rf"|antig|ruim|que|de sempre|sem|comum))"
    r"|\b(?:odiamos|detestamos|vai odiar|vao odiar|detestei)\b|\b(?:avaliac\w+|nota)[^.!?]{0,30}\b(?:uma estrela"
    r"|zero)\b"
    r"|\b(?:prefir[ao]|opte por|escolha|compre) (?!(?:[oa] |uma? )?artigo)[a-z ]{3,20}, que (?:e|sao|custa"
    r"|fica) (?:muito )?(?:melhor|mais)"
)
_HURTS = re.compile(
    r"\bseu (?:pao[- ]duro|mao[- ]de[- ]vaca|muquirana|preguicoso|mane|trouxa|bobo|tonto|chato|inutil|gordo|feio"
    r"|fracassad\w|miseravel)\b"
    r"|\bsua (?:pao[- ]dura|preguicosa|boba|tonta|chata|inutil|gorda|feia|miseravel)\b|\bpare de enrolar\b(?! o\b)"
    r"|\bnunca acert\w+ (?:nada|uma)\b"
    r"|\be (?:passe mal|queime [ao]s? (?:mao|dedo|lingua|boca|pele)|coce a)\b|(?<!nao )\bvai se dar mal\b"
    r"|\bconsole-se\b|\bsua vida (?:nao|nunca) (?:vai|ira) (?:melhorar|mudar|prestar)"
    r"|\b(?:ninguem|nem a loja) (?:gosta de|liga (?:para"
    r"|pra)) voce\b"
    r"|\bvoce (?:e|parece) (?:um |uma )?(?:fracass|inutil|ridicul|pobre|feio|feia|chat[oa])\w*"
    r"|\bou (?:vamos|iremos) (?:cobrar|bloquear|processar|ligar|buscar|atras|contar|cancelar)\b"
    r"|\bcobrar na sua porta\b|\bsabemos onde voce\b"
    r"|\bseu nome (?:vai )?(?:para|pro|no) (?:o )?(?:spc|serasa)\b|\bou voce (?:vai )?(?:pagar|sofrer|perder tudo)\w*"
)
_SECRETS = re.compile(
    r"\b(?:inform|envi|mand|dig[aoi]|digit|pass[ea]|compartilh|confirm|fornec|post[ea]|escrev)\w*[^.!?]{0,30}"
    r"\b(?:sua senha|a senha|senha d[oe]|numero d[oe] (?:seu )?cartao|dados d[oe] (?:seu )?cartao|seu cartao por"
    r"|dados bancarios|dados d[oe] (?:seu )?banco|cvv|codigo de seguranca|seu cpf|seu pin)\b"
)
_CRIMES = re.compile(
    r"(?:\A|[.!?:;,] |\be )(?:roube|furte|fraude|sonegue)\b(?! (?:(?:[ao]s?|tod[oa]s|seus?|suas?|um"
    r"|uns) ){0,3}(?:tempo|moment|minut|cena"
    r"|olhar|show|atenc|corac|suspir|beij|sorris|elogi))"
    r"|\bcartao d[aeo] (?:sua |seu |a |o )?(?:mae|pai|avo|vizinh\w|chefe|patrao|irma|marido|esposa|colega)\b|\bagiota\b"
    r"|\bdeix\w+ de pagar\b(?! (?:caro|mais|frete|juros|taxa|anuidade))|\bsem olhar (?:para )?[ao] (?:estrada|pista"
    r"|transito)\b"
    r"|\b(?:leia|clique|compre|olhe|veja|toque|digite) (?:\w+ )?(?:dirigindo|ao volante|enquanto dirige)\b"
    r"|\bbeba ate cair\b"
    r"|\bbat(?:er|a) n[oa]s? (?:su?e?u?a? ?)?(?:vizinh\w+|irma\w*|chefe|sogra|mulher|marido|crianc\w+|cachorro)\b"
)
_BLANKS = re.compile(r"\[[a-z][a-z _]{2,40}\]|\{[a-z][a-z _]{2,40}\}")
_OF_AN_ORDER = re.compile(
    rf"\bseu pedido (?:d[aeo] |com [ao] )?(?:sua? |seu )?{THING} (?:ja )?(?:foi|esta) "
    r"(?:aprovad|confirmad|enviad|despachad|pag)[oa]\b"
)


def is_unwelcome(answer: str, product: str, brief: str = "") -> bool:
    """Whether a notification says something that no shop says to its customers, or tells of an order that its brief
    does not."""
    text = plain(answer)
    bare = re.sub(rf"\b{re.escape(plain(product))}\b", THING, text)
    if _OF_AN_ORDER.search(bare) and "pedido" not in plain(brief):
        return True
    bare = _DENIED.sub(" ", bare)
    return any(found.search(bare) for found in (_DENIES, _SENDS_AWAY, _HURTS, _SECRETS, _CRIMES, _BLANKS))
