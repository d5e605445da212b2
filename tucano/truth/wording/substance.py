"""How much of an answer's advice says what is to be done: «melhorar a comunicação» fits any shop."""

import re

from tucano.truth.advice import INDICATORS, recommends
from tucano.truth.reading import plain, sentences, words
from tucano.truth.verbs import FORMS

SOME = 0.75
MOST = 0.55
"""What is left where a step is vague, and where most are."""
LONGEST = 16
"""Words of a step that says no more."""
_VERB = (
    r"(?:melhor(?! (?:do )?que\b)|otimi[zs]|aprimor|fortale[cç]|trabalh|invist|invest|foc|foqu|refor[cç]|busc|busqu"
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
_INDICATORS = "|".join(known.names for known in INDICATORS.values())
_FILLER = (
    rf"(?:[a-z]{{1,3}}|para|pela|pelo|pelas|pelos|como|mais|melhor\w*|nov[oa]s?|bo[an]s?|seus?|suas?|noss[oa]s?"
    rf"|tod[oa]s?"
    rf"|mel\w+|maior\w*|cada|sempre|continuamente|constantemente|ainda|muito|atendimento|campanhas?|vendas|gestao"
    rf"|produtos?"
    rf"|entregas?|equipe|pos-venda|medi[oa]s?|{_INDICATORS}|{_NOTHING})"
)
"""What may stand between the verb and the noun without being what is to be done itself («crie um guia no site»)."""
_VAGUE = re.compile(rf"\b{_VERB}\s+(?:{_FILLER}\s+){{0,4}}?{_NOTHING}\b|\b(?:continu\w+ melhorando|manter a nota)\b")
_OPEN = re.compile(
    r"\bde (?:alguma|qualquer) (?:forma|maneira)\b|\bde (?:um )?modo geral\b|\bir melhorando\b"
    r"|\b(?:medida|providencia)s? (?:adequad|necessari|cabive)\w+|\bformas? de (?:vender|crescer|melhorar|aumentar)\b"
    r"|\bacoes estrategicas\b|\botimiza-l[ao]s?\b"
    r"|\b(?:melhor|otimi[sz]|aprimor|fortale[cç])[a-z]* (?:tambem |ainda )?(?:n?[ao]s?|ess[ae]s?) "
    r"(?:processos?|relacionamento|comunicacao|condicoes|gestao|logistica|parte)"
    r"(?: (?:com|d[aeo]s?)(?: [a-z]+){1,3})?\W*$"
)
_AT_LARGE = re.compile(
    r"\balgo (?:de )?(?:especial|diferente)\b|\b(?:acao|acoes|campanhas?) (?:diferenciad|criativ|especia)\w+"
    r"|\bac(?:ao|oes) de relacionamento\b"
    r"|\b(?:melhor|otimi[sz]|trabalh)[a-z]* (?:melhor )?(?:[ao]s?|n[ao]s?|ess[ae]s?) "
    r"(?:processos?|campanhas?|relacionamento|checkout)(?: (?:com|d[aeo]s?)(?: [a-z]+){1,3})?\W*$"
)
"""What is left to whoever reads it («de alguma forma», «as medidas necessárias»), and what is if no means is named."""
_WATCHES = re.compile(
    r"\b(?:acompanh|monitor|observ|mant|continu|trabalh|cuid|melhor|aument|elev|reduz|diminu|baix)\w*"
)
_AROUND = re.compile(
    r"recomend\w*|suger\w*|sugir\w*|prioriz\w*|importante|necessari[oa]|portanto|precis\w+|proxim[oa]s?|mes(?:es)?"
    r"|numeros?"
    r"|dados|dois|duas|tres|periodo|isso|deve\w*|vale|fazer|acoes|foco|esse|essa|este|esta|quando|tanto|quanto|subir"
)
"""What stands around a step that only watches, or wants what is wanted («recomenda-se acompanhar os dois números»)."""
_SOMEWHERE = re.compile(r"\b(?:atendimento|campanha|entrega|pos-venda|produto|equipe)s?\b")
"""What is at least somewhere to begin."""
_STEP = re.compile(r"(?:\A\W*|(?:(?<!\s)\s+)?(?:[,;:]|\be\b)\s+)(?=([a-z]+))")
_OF_SHOPS = re.compile(rf"{_VERB}|{_FILLER}|clientes?|lojas?|problemas?|medidas?|empresas?|negocios?|mercado")
"""Words that stand in the advice of any shop."""
_ENOUGH = 2
"""Words of a step that says something, its verb among them («e troque o pior»)."""
_SAYS = re.compile(
    r"\d|\b(?:transportadora|cupo[mn]|whatsapp|e-mail|fotos?|medidas|prazo|motivos?|estoque|checkout"
    r"|kits?|combos?|parcel"
    r"|carrinho|frete gratis|troca|embalag|teste|testar|perguntar?|lig(?:ar|ue)|itens|pix|rotas?|horas?|semanas?|pontos"
    r"|respond|segunda compra|ja compr|mais vendid|antigos|descontos?|(?:so|apenas) onde|observar se"
    r"|por estado|por cep|quem (?:nao|ja|deu|recebeu))"
)
_ITEM = re.compile(r"(?:(?<!\s)\s+)?(?:[-*•→–]|\(?\w{1,2}[.)])\s")
_FIRST = re.compile(r"\W*(?:\w+\W+){0,5}?" + _VERB)


def substance(answer: str) -> float:
    """1 where every step of the advice says something, .75 with a vague one, .55 where half or more are vague."""
    steps = vague = watching = 0
    for row in answer.splitlines():
        for sentence in map(plain, sentences(row)):
            is_vague = bool(_VAGUE.search(sentence)) and not _says(sentence)
            is_vague |= bool(_OPEN.search(sentence) or (_AT_LARGE.search(sentence) and not _SAYS.search(sentence)))
            is_vague &= len(words(sentence)) <= LONGEST
            watching += _only_watches(sentence)
            advises = recommends(sentence) or (bool(_ITEM.match(row)) and bool(_FIRST.match(sentence)))
            steps += advises or is_vague
            vague += is_vague and advises
    if watching and watching >= steps:
        return MOST
    return 1.0 if not vague else MOST if vague == steps or (vague > 1 and 2 * vague >= steps) else SOME


GENERIC = 0.6
LISTED = 0.86
"""What is left where figures are only listed and no step says how much, by when or in which way: it would fit any shop;
and where one does."""
_IN_DETAIL = 9
"""Different words of four letters and more of a sentence that says in which way."""


_CLAIMS = re.compile(r"\b(?:e|pes[ao]m?|volta|nao)\s+(?!de\b)([a-z]{2,})|\b(?:um|uma|1) (?:em cada)\b")
"""What makes something of a figure and looks like another word («é baixa»): «e» counts before a word that is no
label."""
_WORKED_OUT = re.compile(r"[=×÷≈]|\b(?:cerca de|uns|umas|quase|isto e|ou seja)\b")
_BECAUSE = re.compile(r"\b(?:porque|pois|ja que|por isso)\b")
_TOLD = re.compile(r"para|(?:subi|ca[iu]|aument|baix|cresc|reduzi|diminui)\w*")
"""Verbs of a list that says how its figures moved."""


def depth(answer: str, brief: str) -> float:
    """1 where a sentence makes something of a figure of the brief; else less, by whether a sentence that advises has a
    number of its own or says in detail what is to be done."""
    said = plain(brief)
    told = set(_NUMBER.findall(said))
    kept = GENERIC
    for row in answer.splitlines():
        for sentence in map(plain, sentences(row)):
            own = set(_NUMBER.findall(_ITEM.sub("", sentence)))
            long = len(set(re.findall(r"[a-z]{4,}", sentence))) >= _IN_DETAIL
            detailed = own - told or long or _BECAUSE.search(sentence)
            if detailed and (recommends(sentence) or _ITEM.match(row)):
                kept = LISTED
            if own & told and _makes_something(sentence, said):
                return 1.0
    return kept


def _makes_something(sentence: str, brief: str) -> bool:
    """Whether a sentence with figures has a verb that its brief lacks, other than of movement, or works something
    out."""
    if _WORKED_OUT.search(sentence) or any(
        found[1] is None or found[1] not in brief for found in _CLAIMS.finditer(sentence)
    ):
        return True
    verbs = (word for word in words(sentence) if FORMS.get(word) in ("v:present", "v:past"))
    return any(word not in brief and not _TOLD.fullmatch(word) for word in verbs)


_NUMBER = re.compile(r"\d[\d.,]*\d|\d")


def _only_watches(sentence: str) -> bool:
    own = [word for word in _own(sentence) if not _AROUND.fullmatch(word)]
    return not own and bool(_WATCHES.search(sentence)) and not (_SAYS.search(sentence) or _SOMEWHERE.search(sentence))


def _says(sentence: str) -> bool:
    """Whether a sentence names a means, or one of its steps is not vague itself."""
    if _SAYS.search(sentence):
        return True
    starts = [found for found in _STEP.finditer(sentence) if FORMS.get(found[1]) in ("v:order", "v:infinitive")]
    ends = [*(found.start() for found in starts[1:]), len(sentence)]
    steps = (sentence[found.end() : end] for found, end in zip(starts, ends, strict=False))
    return any(not _VAGUE.search(step) and len(_own(step)) >= _ENOUGH for step in steps)


def _own(step: str) -> list[str]:
    return [word for word in re.findall(r"[a-z]{4,}", step) if not _OF_SHOPS.fullmatch(word)]
