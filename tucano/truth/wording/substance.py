"""How much of an answer's advice says what is to be done: «melhorar a comunicação» fits any shop."""

import re

from tucano.truth.advice import recommends
from tucano.truth.reading import plain, sentences, words

SOME = 0.8
MOST = 0.55
"""What is left where a step is vague, and where most are."""
LONGEST = 16
"""Words of a step that says no more."""
_VERB = (
    r"(?:melhor|otimi[zs]|aprimor|fortale[cç]|trabalh|invist|invest|foc|foqu|refor[cç]|busc|busqu"
    r"|acompanh|monitor|avali"
    r"|manter|mantenh|continu|reduz|aument|elev|fazer|fac[ao]|usar|use|oferec|criar|crie|desenvolv|ouvi"
    r"|ouca|engaj|promov"
    r"|intensifi|potenciali|valori|estimul|atrai|fideli)\w*"
)
_NOTHING = (
    r"(?:experiencia|logistica|marketing|comunicacao|qualidade|satisfacao|relacionamento|fideliz\w+"
    r"|processos?|melhorias?"
    r"|acoes|condicoes|trafego|divulgacao|redes sociais|estrategias?|beneficios|promocoes|indicadores"
    r"|resultados|cliente"
    r"|desempenho|engajamento|parceiros|servicos?|site|programa de fidelidade|campanhas personalizadas|midias?)"
)
_VAGUE = re.compile(rf"\b{_VERB}\s+(?:\w+\s+){{0,4}}?{_NOTHING}\b|\b(?:continu\w+ melhorando|manter a nota)\b")
_SAYS = re.compile(
    r"\d|\b(?:transportadora|cupo[mn]|whatsapp|e-mail|fotos?|medidas|prazo|motivos?|estoque|checkout"
    r"|kits?|combos?|parcel"
    r"|carrinho|frete gratis|troca|embalag|teste|testar|perguntar?|lig(?:ar|ue)|itens|pix|rotas?|horas?|semanas?|pontos"
    r"|respond|segunda compra|ja compr|mais vendid|antigos|descontos?|por estado|por cep|quem (?:nao|ja|deu|recebeu))"
)
_ITEM = re.compile(r"\s*(?:[-*•→–]|\(?\w{1,2}[.)])\s")
_FIRST = re.compile(r"\W*(?:\w+\W+){0,5}?" + _VERB)


def substance(answer: str) -> float:
    """1 where every step of the advice says something, .8 with a vague one, .55 where half or more are vague."""
    steps = vague = 0
    for row in answer.splitlines():
        for sentence in map(plain, sentences(row)):
            is_vague = bool(_VAGUE.search(sentence)) and not _SAYS.search(sentence) and len(words(sentence)) <= LONGEST
            advises = recommends(sentence) or (bool(_ITEM.match(row)) and bool(_FIRST.match(sentence)))
            steps += advises or is_vague
            vague += is_vague and advises
    return 1.0 if not vague else MOST if vague == steps or (vague > 1 and 2 * vague >= steps) else SOME
