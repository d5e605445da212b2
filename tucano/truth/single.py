"""One answer that stands by itself: not several to choose from, not one that takes itself back, not the prompt."""

import re
from functools import lru_cache

from tucano.truth.reading import plain, words

_SEVERAL = re.compile(
    r"\b(?:resposta|opcao|alternativa|versao|exemplo|push|notificacao|option|answer)\s*(?:n[o.]?\s*)?(?:[1-9]\b"
    r"|[a-c]\s*[:)])"
    r"|\bou entao\s*:|\boutra (?:resposta|opcao|versao)\s*:"
    r"|\b(?:(?<=[a-z] como )(?:primeira|segunda) (?:resposta|versao|opcao)\b(?!\s*[,.;)\n]|\s*\Z| (?:para|de|a|aos?)\b)"
    r"|(?<![a-z] como )(?:primeira|segunda) (?:resposta|versao|opcao(?! de\b))\b)"
    r"|[.!?](?:\s?[\U0001F300-\U0001FAFF\u2300-\u27bf]\ufe0f?)?\s(?:={1,2}|=>|or|or:|/|\|{1,2}|&)\s\W{0,4}[a-z]+\b"
)
_TAKEN_BACK = re.compile(
    r"\b(?:esta|e|sao|estao|ficou)\s+(?:(?:tudo|toda|totalmente|completamente|muito)\s+)?"
    r"(?:errad|incorret|fals|mentira|invalid)\w*"
    r"|\bnao\s+(?:siga|sigam|leia|(?:acredit|confi|consider)(?:e|em|ar)|copie|publique)\b"
    r"|\bnao\s+(?:faca|envie|use|usem|usar)\b(?=\W*(?:\Z|[.;:!?\n])| (?:nada|nenhum|o que|iss?to|isso|ess[ea]|est[ea]"
    r"|[oa] (?:respost|texto)))"
    r"|\b(?:ignor|desconsider|descart|esquec)\w*\s+(?:est\w+|ess\w+|isso|isto|tudo|o texto|a resposta|o que)\b"
    r"|\b(?:resposta|texto|dados?|numeros?|analise)\s+(?:errad|incorret|fals|inventad)\w*"
    r"|(?:\A|[.!?\n]\s?)o certo (?:e|seria) o (?:oposto|contrario|inverso)[.!]"
    r"|\bo (?:certo|correto|ideal|melhor|recomendado) (?:e|seria) (?:exatamente |justamente |fazer )?o (?:oposto"
    r"|contrario|inverso) d(?:isso|isto|ess|est|as acoes|o que (?:eu|esta|disse|foi|segue))"
    r"|\b(?:faca|facam|recomendo|sugiro)(?: fazer)? (?:exatamente |justamente )?o (?:oposto|contrario|inverso)\b"
    r"(?=\W*(?:\Z|[.!?;\n])| d(?:isso|isto|ess|est|as acoes|o que (?:eu|esta|disse|foi|segue)))"
    r"|\bnao adianta(?:m)? (?:(?:fazer|seguir|aplicar|tentar) )?(?:o que (?:segue|vem|esta|eu|disse|propus)"
    r"|nada d(?:o que|isso)|(?:ess|est)[ae]s (?:aco|passo|medida|dica|ideia)|as acoes)"
    r"|\b(?:retiro|desdigo) (?:tudo )?(?:o que|as recomendac\w+|as sugest\w+|o dito)\b"
    r"|\b(?:acoes|recomendacoes|ideias|dicas|medidas|sugestoes|passos) (?:acima|abaixo|a seguir|anteriores)"
    r" (?:nao (?:funcion|adiant|serv|prest|val|devem ser)|fari\w+|vao (?:fal|piorar|prejud)|so piora\w*|sao (?:ruins"
    r"|errad|inutei|pessim))"
    r"|(?:\A|[.!?\n] ?)(?:isso |isto |tambem |e |mas )*nao serve(?:m)?(?: para nada)?\W*(?:\Z|[.!?\n])"
    r"|\b(?:e brincadeira|era mentira|so que nao|nada disso|ao contrario do que)\b"
)
_CODE = re.compile(r"`[^`\n]*`|\b(?:NOT|OR)\b")
"""Words of a query in what explains it."""
_NOT_SO = re.compile(
    r"\b(?:not|isn['’]?t|doesn['’]?t|don['’]?t|never|wrong|incorrect|untrue|invalid|nope|disregard)\b"
    r"|\b(?:answer|this|it) is (?:a )?(?:lie|false|bad|fake)\b|\(false\)|\bignore this\b|\bmade (?:this|it) up\b"
    r"|\bno es (?:asi|cierto|verdad|correct[oa])\b|\best[oa] es (?:incorrect|fals)[oa]\b"
    r"|(?:\A|[^\w\s,;:'\"«“]\s?|\n)(?:(?:isto|isso|(?:esta |essa |a )?resposta) )?nao e(?:sta)?"
    r" (?:verdade|cert[oa]|correta)\b"
    r"|\b(?:certa|correta) e outra\b|\((?:isto|isso) esta errad[oa]\)"
    r"|\\(?:text|math\w+|boxed|lor|land|lnot|neg|neq|implies)\b"
)
"""A denial: in English, which a model brings along from its first language, in Spanish, in Portuguese behind the
answer or in brackets, and in the signs of logic («\\lor»)."""
_ONE_OF = re.compile(
    r"\b(?:um|uma|algum|alguma|qual) d[aeo]s?\b[^.;:!?\n]{0,40}$|\bou [^.;:!?\n]{1,40}\bou [^.;:!?\n]{1,40}$"
)
"""«Um dos três números está errado» says it of the brief."""


def is_single(answer: str) -> bool:
    """Whether the text offers one answer and does not take it back."""
    text = plain(answer)
    return not (denies_itself(answer) or _SEVERAL.search(text) or _is_taken_back(text))


def _is_taken_back(text: str) -> bool:
    return any(not _ONE_OF.search(text[: found.start()]) for found in _TAKEN_BACK.finditer(text))


_WRONG = r"(?:errad|incorret|invalid|fals)[oa]s?"
_ANSWER = "(?:consulta|query|sql|select|codigo|comando|resposta|json|objeto|ficha|resumo|extracao|campos)"
_GIVEN = "(?:resultado|numeros?|valor(?:es)?|total|dados)"
_ITS = rf"(?:{_ANSWER}|{_GIVEN})"
_IT = (
    rf"(?:(?:(?:est|ess)[ae]s?|[ao]s?|minha|meu) {_ITS}(?: (?:acima|abaixo|anterior|a seguir|aqui))?"
    r"|(?:tudo )?is[st]o(?: (?:tudo|aqui))?|ela|ele)"
)
"""What a text calls the answer that it stands beside, and what the answer gives."""
_OTHERS = (
    r"(?:feit[oa] |escrit[oa] )?(?:d[eoa]|para) (?:uma? )?outr[oa]s? (?:relatorio|pergunta|cliente|avaliacao"
    r"|pedido|loja|lugar|tarefa|sistema|pessoa"
    r"|questao|caso|assunto|projeto|empresa|comentario|texto|review)"
)
_ASKED = (
    r"(?:[ao]s? |ess[ae] |est[ae] |su[ao] |que |foi )*(?:pergunta|(?:(?<=foi )|(?<=que ))pedid"
    r"|pedido(?=\s*(?:[.!;\n]|\Z))|responde|resposta|nada|is[st]o)"
)
"""What somebody wants to know. «O pedido inteiro» is an order."""
_BEGINS = r"(?:\A|[.!?:;\n]) {0,2}"
_NO = rf"(?:\b{_IT} (?:(?:na verdade|porem|simplesmente|tambem) )?|{_BEGINS})nao"
_ENDS = r"\s*(?:[.!,;:\n]|\Z)"
_NOT_USED = r"nao (?:us|utiliz|confi|consider|copi)\w+"
_PART = (
    r"(?:(?:count|sum|avg|min|max|round|distinct|join|left|inner|where|having|group|order|limit|like|between|union"
    r"|substr|strftime|date|in|alias)\b|\w+_\w+|coluna|funcao|tabela|filtro|clausula|operador|prefixo|subconsulta"
    r"|frete|prec|status|mes(?:es)?\b|datas?\b|estados?\b|siglas?\b|cidade|categoria|produto|client|pedido|ite[mn]"
    r"|pagament|parcela|cancelad|entreg|nul[oa]s?\b|vazi|centavo|casas decimais|outr[ao]s?\b"
    r"|loja|vendedor|anunci|fotos?\b|notas?\b|aspas|acento|maiuscul|minuscul|ponto|virgula|espaco|asterisco|parentes|arredond|totais\b"
    r"|(?:media|soma)s? (?:se|de)\b)"
)
"""What is in a query or in its tables, and not the answer itself."""
_USE = (
    r"(?:(?:como|para)(?: [ao]| uma?)? (?:total|media|soma|receita|faturamento|lucro|ticket|indicador|meta|previs"
    r"|estim|fech|compar|decid|med|calcular (?!is[st]o|o que|a resp)|proje|prever|somar|cobr|pag)"
    r"|(?:em|para|com) outr)"
)
"""What a number or a query is not meant for, told by name."""
_IS_WRONG = rf"\b(?:esta|estao|e|sao) (?:\w+ )?{_WRONG}\b"
_CONDITION = (
    r"\bsem (?:[ao]s?|ess[ae]s?|est[ae]s?|is[st]o|el[ae]s?|join|where|distinct|group by)\b(?! que\b)"
    r"|(?<!-)\b(?:se|caso) (?:voce )?(?:tir|troc|remov|omit|esquec|falt|filtr|junt|som|cont|escrev|digit|houver)\w*"
    rf"|\bse (?:voce )?usar (?!est|ess|is[st]|a? ?{_ITS}\b)"
    rf"|(?<!-)\b(?:se|caso|quando) (?:[ao]s?|uma?) (?!{_ITS}\b|pergunta)\w+"
    r"|\b(?:tirando|trocando|removendo|com el[ae] sozinh[ao])\b"
)
"""Under which a query fails, or gives another result: this takes nothing back, but «está errada» behind it does."""
_NOTES = re.compile(
    "|".join(
        (
            rf"(?:{_CONDITION})(?:(?!{_IS_WRONG})[^.!?;\n])*",
            rf"\b(?:se|caso|quando) [ao]s? {_GIVEN} (?:parec|vi|sai|fic|estiv)\w* {_WRONG}\b",
            r"\? is[st]o nao \w+,? (?:pois|porque)\b",
            rf"\b(?:e (?:facil|comum)|para nao|evit\w+|o risco de|erro comum)(?: (?!{_ANSWER}\b)\w+){{1,4}} {_WRONG}\b",
            rf"\bcom [ao]s? \w+ {_WRONG},[^.;:!?]{{0,40}}\b\w+ria\b",
            rf"\b{_NOT_USED} (?:(?:[ao]s?|n[ao]s?|em|uma?|ess[ae]s?|est[ae]s?) )?{_PART}",
            rf"\b{_NOT_USED} (?:n?(?:est|ess)[ae]s?|n?[ao]s?) {_ITS} {_USE}",
            rf"\b{_NOT_USED} is[st]o {_USE}|\bnao considere is[st]o (?:como )?uma? (?:erro|falha)\b"
            r"|\bnao rode (?:em horario|durante)\b",
            r"\b(?:ignora|desconsidera|descarta)m? (?:o que|(?:est|ess)[ae]s? (?:linha|pedido|registro|caso|mes|client"
            r"|ite[mn]|pagament|data))",
            r"\bversao \d+ d[aeo]s? relatorio",
        )
    )
)
"""What a query or an object is not for, and what goes wrong under a condition or without a part of it: no word against
itself."""
_DISOWNED = re.compile(
    "|".join(
        (
            r"\bnao (?:[ao]s? )?(?:us(?:em?|ar)|utilizem?|executem?|rodem?|confie|considere|copie)\b",
            r"\b(?:consulta|query|sql|resposta|est[ae]|ess[ae]|is[st]o|aqui|abaixo|acima|seguinte|exemplo|jeito|forma)"
            rf"\b[^.!?]{{0,30}}\b{_WRONG}\b",
            rf"\b{_WRONG}\s*[:,]|{_BEGINS}(?:{_WRONG}|inventad[oa]s?)(?={_ENDS})",
            rf"{_NO} (?:serve|vale|presta|funciona|roda)\b(?={_ENDS}| aqui\b| (?:para )?{_ASKED}| porque| pois| e\b)",
            rf"{_NO} (?:responde|corresponde|atende)\b(?={_ENDS}| (?:a |ao )?{_ASKED})",
            rf"\b{_IT} nao (?:(?:faz (?:nenhum )?sentido|diz nada|prova nada)\b"
            rf"|tem (?:nada a ver|relacao|utilidade)(?={_ENDS}| com {_ASKED})"
            r"|(?:e|sao) [oa]s? (?:pedid|solicitad|cert|corret)[oa]s?\b)",
            rf"\b{_IT} (?:(?:na verdade|porem|simplesmente) )?(?:falha|da erro|quebra)\b(?! (?:se|quando|caso|sem)\b)",
            rf"{_NO} (?:e|era|foi|faz|mostra|traz) (?:bem |exatamente )?(?:is[st]o|[oa]) (?:o )?que (?:voce |foi |se )?"
            r"(?:pediu|pedid|pergunt|quer|quis|solicit)",
            rf"(?:\bresponde|(?:\b{_IT} |{_BEGINS})(?:na verdade )?(?:calcula|mostra|conta|soma|traz|faz|mede|devolve"
            r"|retorna|busca|e))(?: a| por)? outra (?:coisa|pergunta)\b",
            rf"\b(?:{_IT}|est[ae]|ess[ae]) (?:na verdade )?(?:e|sao|foi|foram|vem|veio)"
            rf" (?:(?:so|apenas|na verdade|uma?|[ao]) )*(?:{_ITS} |avaliacao )?"
            rf"(?:{_OTHERS}|chute|palpite|inventad|invencao|fictici|mentira|brincadeira|inutil|rascunho"
            r"|exemplo de como nao)",
            rf"\b{_ANSWER} (?:{_OTHERS}|qualquer\b|nao tem valor(?={_ENDS}))",
            rf"\b{_ITS} (?:aleatori|inventad|fictici|com (?:defeito|bug)|sem (?:sentido|nexo)|de mentira)",
            rf"\b(?:inventei|chutei)(?={_ENDS}| (?:tudo|is[st]o|est|ess|[ao]s? (?:avaliacao|{_ITS})))",
            r"\bpreenchi (?:\w+ ){0,3}(?:acaso|sem ler|aleatori\w+)\b|\bcopiei (?:\w+ ){0,2}outr"
            r"|\b(?:e|foi) (?:so |apenas )?um (?:chute|palpite)\b",
            rf"(?:\bnao (?:recomendo|aconselho)|(?:{_NO}|\bvoce nao|\bnao se) (?:deve|deveria|pode))"
            r" (?:usar|confiar|ser (?:usad|considerad|executad)[oa]s?)"
            rf"(?={_ENDS}| (?:n?(?:est|ess)[ae]|[ao]) {_ITS}{_ENDS})",
            rf"\b{_IT} (?:esta|sai|vem|fica) (?:{_WRONG}|invertid|trocad|ao contrario)",
            rf"\b(?:nunca|jamais) (?:us|rod|execut)em? (?:est|ess)[ae]s? {_ITS}(?={_ENDS})",
            r"\b(?:errei|me enganei|retiro o que disse"
            r"|jogue fora|jogar fora|nao faco ideia|escrevi qualquer)\b",
            r"\bnao e a (?:consulta|query|resposta) (?:cert|corret|que voce)|\bsem ler (?:[ao]|est[ae]|ess[ae])"
            r" (?:pergunta|avaliacao|comentario|texto)\b",
            rf"\b{_IT} (?:esta com|tem|contem) (?:um )?(?:erro|defeito|bug)s?(?={_ENDS})",
            r"\bnao (?:sei (?:responder|o que|se (?:esta|is[st]o|funciona))"
            r"|(?:li|entendi|consegui (?:ler|entender|responder)) (?:a|o|ess|est)\w* ?"
            r"(?:avaliacao|pergunta|comentario|texto|pedido))",
            r"\b(?:desconsider(?:e|em|ar)|ignor(?:e|em|ar)|descart(?:e|em|ar)|apag(?:ue|uem|ar))"
            rf"(?={_ENDS}|,? por favor| (?:tudo|is[st]o|o que|(?:os )?outros campos"
            rf"|(?:(?:est|ess)[ae]s?|[ao]s?) {_ITS})\b"
            r"(?! (?:de|do|da|que|em|nul\w+|vazi\w+)\b))",
            r"\b(?:cert[oa]|corret[oa]|verdadeir[oa]|real) (?:e|seria|era|sao) (?:(?:exata|justa)mente )?(?:[oa] )?"
            r"(?:contrari|opost|invers|outr)",
            r"\b(?:e|seria) (?:fals[oa]|mentira) (?:que|dizer)\b|\bmentira\s*[:.!]|\blogica (?:esta )?invertida",
            r"\b(?:tudo|justamente o|exatamente o) (?:ao |pelo )?(?:contrario|oposto|inverso)\b",
        )
    )
)
"""In plain prose: the answer says that its query or object is wrong, made up, another's, or not what was asked."""


def stands(text: str) -> bool:
    """Whether what is said beside a query or an object leaves it to stand as the one answer. What it is not for,
    or what went wrong without one of its parts, may be said."""
    told = _NOTES.sub(" ", plain(text))
    return not (denies_itself(text) or _SEVERAL.search(told) or _is_taken_back(told) or _DISOWNED.search(told))


_ENGLISH = (
    "(?:the|is|it|this|that|these|are|was|be|has|have|might|could|would|should|will|here|my|your|we|you|they|guess"
    "|answer|an|in|on|at|of|to|by|and|from|with|within|every|been|checked|correct|let|me|hope|helps)"
)
_ENGLISH_TURN = re.compile(rf"\b{_ENGLISH}\s+{_ENGLISH}(\s+{_ENGLISH})?\b")
_BEGUN = re.compile(rf"\A\W*(?:one )?{_ENGLISH}\s+{_ENGLISH}\b")
ENGLISH = 0.3
"""What is left of a Portuguese text that begins in English («here is», «one might guess»), or has three words of it in
a row or two in two places; two alone may be a term («all in one»)."""


def portuguese(answer: str) -> float:
    """1, or what is left of a text that falls into English."""
    text = plain(answer)
    turns = [bool(found[1]) for found in _ENGLISH_TURN.finditer(text)]
    return ENGLISH if _BEGUN.search(text) or any(turns) or len(turns) > 1 else 1.0


def denies_itself(text: str) -> bool:
    """Whether a text says in another language, in brackets or in the signs of logic that it is not so."""
    return bool(_NOT_SO.search(plain(_CODE.sub(" ", text) if re.search("[a-z]", text) else text)))


def copied(answer: str, prompt: str, size: int = 4) -> float:
    """Share of the answer's words that lie in runs of `size` words or more that stand in the prompt."""
    found = words(answer)
    runs = _runs(prompt, size)
    inside = [False] * len(found)
    for start in range(len(found) - size + 1):
        if tuple(found[start : start + size]) in runs:
            inside[start : start + size] = [True] * size
    return sum(inside) / len(found) if found else 0.0


@lru_cache(maxsize=1024)
def _runs(text: str, size: int) -> frozenset[tuple[str, ...]]:
    found = words(text)
    return frozenset(tuple(found[start : start + size]) for start in range(len(found) - size + 1))
