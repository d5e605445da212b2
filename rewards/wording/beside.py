"""What an answer says of itself beside what was asked for: in prose, in a query's comments, in further fields. One that
says it is wrong, invented, another's or not to be used is no answer, however right it is.

A clause takes the answer back where it speaks of the answer (or of nothing else) and condemns it, and tells of no other
case («sem o JOIN, o total sai errado»).
"""

import re
from functools import lru_cache

from rewards.parsing.text import REMEMBERED, any_of, fold, word_set

_OF_ANSWER = re.compile(
    r"\b(?:respost\w+|consultas?|query|queries|sql|select|codigo|comando|json|objeto|campos?|resumo|extracao|resultados?"
    r"|numeros?|total|totais|valor(?:es)?|soma|logica|filtros?|dados|sentimento|versao|exemplo|preenchimento"
    r"|(?<!por )isso|isto|n?ela|dela|tudo|mim|uma linha|avaliacao de outr[oa]|est[ea] texto|o que voce|perguntas?"
    r"|porcaria|acima|abaixo|que escrevi)\b"
)
_MINE = any_of("esquec* inventei inventamos chutei chute palpite acaso")
"""What one says of nothing but of one's own answer."""
_BAD = any_of("""
    errad* incorret* fals* mentir* invertid* inventad* invalid* ficticio* ficticia* chutad* aleatori* porcaria
    """)
_BAD_TURN = re.compile(
    r"\b(?:sem (?:sentido|nexo|ler)|(?:com|da|de) (?:erro|defeito)s?|nao (?:li|sei|soube)|(?:ao|o) (?:contrario|oposto)"
    r"|(?:cert|corret|verdadeir|real)\w* (?:e|seria|era) .{0,9}(?:outr|contrari|opost|diferen|positi|negati|neutr)\w*"
    r"|outr[oa] (?:relatorio|perguntas?|lugar|projeto|questao|avaliacao|cliente|coisa|banco|prompt)"
    r"|nao (?:esta|e) (?:a \w+ )?(?:cert|corret|verdad)\w*|nao tem (?:nada a ver|relacao)|nao corresponde ao que"
    r"|nao (?:e|era) (?:bem )?(?:isso|isto|o) que|(?:ela|consulta|query|isso) (?:falha|quebra)|de como nao"
    r"|nada d(?:isso|isto|o que)|troca tudo|qualquer(?=:))\b"
)
"""What an answer may be called."""
_NOT_FOR_USE = re.compile(
    r"\b(?:(?:nao|nunca|jamais|evite)(?: (?:se|devem?|pode|ser|me|recomend\w+|jamais))*"
    r" (?:us(?:e|em|ar|ad[oa])|rod(?:e|em|ar?)|execut\w+|(?:confi|acredit|lei[ao]|publiqu)\w*"
    r"|consider(?:e|em|ar|ad[oa])|responde|serve|vale|atende"
    r"|presta|funciona)|(?:desconsider|ignor|descart|apag)(?:e|em|ar))\b(?P<rest>.*)"
)
"""What says that an answer is not to be used, or is none."""
_PURPOSE = re.compile(
    r"\b(?:para|como|com|de que|em|aos?)\b(?! (?:nada|nenhum|jeito|isso|valer|solucao|resposta|mim|uma|nem"
    r"|calcular isso|saber o|responder|o que|el[ea]))"
)
"""For what else it is not: «não use este número como total do ano»."""
_CASE = re.compile(
    r"\b(?:se (?!pergunt|rodar)|(?<!nenhum )caso|sem (?:o|a|essa)\b|com [oa] \w+ errad|senao|evitar?|facil (?!ver)"
    r"|para (?:nao|ignorar)|pode (?:ter|haver|vir)|(?!porcar)\w{2,}riam?\b|considere isso|nao sao)"
)
"""What tells of a case that is not this one («tirando o JOIN, …»)."""
_OTHER_WAY = re.compile(
    r"^\W*(?:tir|retir|remov|troc|filtr|mud)(?:ando|endo|ar)\b|\bmais do que\b|\bse (?:voce|nao|usar)\b|\?"
)
_ITS_OWN = re.compile(
    r"\b(?:cliente|loja|vendedor|produto|item|entrega|anuncio|pedidos?|frete|centavos|nulos|coluna|cor|tamanho)(?:es)?s?\b"
)
"""What a customer or a table is about: not the answer."""
_ELSEWHERE = word_set("please wrong isn doesn never nope incorrect incorrecto incorrecta disregard")
_NOT_IN_ENGLISH = re.compile(
    r"(?:\A|\bis (?!not null)|\bdefinitely )not\b|\bneg\b|\bno es (?:correct|ciert)|\bis false\b"
)
MOST_ALONE = 6
"""Words of a clause that speaks of the answer without naming it («Favor desconsiderar»)."""
_EVER = re.compile(
    r"\W*(?:(?:de jeito|em hipotese|nem|nunca|mais(?! (?!nada|iss|ist|ess|est)\w+\W*$)|por favor|nada) ?"
    r"(?:\w+ ?){0,3})?\W*"
)
"""What stands behind a verb that is said of the answer without naming it («não use de jeito nenhum»), not what else
is not used («não use mais desculpas»)."""
_CLAUSE = re.compile(r"(?<=[.!?;\n])\s+|\n+|; |\((?=[a-z])")


@lru_cache(maxsize=REMEMBERED)
def retracts(text: str) -> bool:
    """Whether what is said of an answer takes it back."""
    return any(map(_takes_back, _CLAUSE.split(fold(text))))


def _takes_back(clause: str) -> bool:
    said = re.findall(r"[a-z]+", clause)
    if not _ELSEWHERE.isdisjoint(said) or _NOT_IN_ENGLISH.search(clause) or _MINE.search(clause):
        return True
    if _OTHER_WAY.search(clause):
        return False
    names_it, is_of_others = bool(_OF_ANSWER.search(clause)), bool(_ITS_OWN.search(clause))
    is_alone = len(said) <= MOST_ALONE and not is_of_others
    if _BAD_TURN.search(clause) and (names_it or is_alone):
        return True
    if _CASE.search(clause) or is_of_others:
        return False
    if (unused := _NOT_FOR_USE.search(clause)) and not _PURPOSE.search(unused["rest"]):
        return names_it or _EVER.fullmatch(unused["rest"]) is not None
    return bool(_BAD.search(clause)) and (names_it or is_alone)


_FEELINGS = {"posit": "positive", "negat": "negative", "neutr": "neutral"}
_VALID = re.compile(r"(?:valid|corret|confi|cert|verdadeir|trust|correct)")
_FAULTY = re.compile(r"(?:erro\b|errad|invalid|incorret|fals|inventad|wrong|error\b|ignor)")
_OF_ITSELF = re.compile(r"\b(?:json|objeto|campos|resumo|preench\w+|isto|avaliacao|acaso)\b")
"""What no customer speaks of, but who filled in an object."""


def denies_object(name: str, value: object, sentiment: object) -> bool:
    """Whether one field says of its object that it is not so: a text, a mark («valido»: false) or another feeling in a
    field of its own."""
    folded = fold(name).replace("_", " ")
    if isinstance(value, str):
        felt = _FEELINGS.get(fold(value)[:5]) if "sentim" in folded and name != "sentiment" else None
        is_doubted = bool(_VALID.match(folded)) and fold(value).startswith(("nao", "fals"))
        is_other = felt is not None and sentiment is not None and felt != sentiment
        return is_other or is_doubted or (bool(_OF_ITSELF.search(fold(value))) and retracts(value))
    if value is True:
        return bool(_FAULTY.search(folded))
    return value in (False, 0) and bool(_VALID.match(folded)) and value is not None
