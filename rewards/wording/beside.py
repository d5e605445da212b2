"""What an answer says of itself beside what was asked for: in prose, in a query's comments, in further fields and
statements. One that says it is wrong, invented, another's or not to be used is no answer, however right it is.
"""

import re
from functools import lru_cache

from rewards.parsing.text import REMEMBERED, fold

_COMMENT = re.compile(r"'[^'\n]*+'|(?P<comment>--(?>(?:(?!```)[^\n])*)|/\*(?>(?:(?!\*/|```).)*)(?:\*/)?)", re.DOTALL)
_ALTERS = re.compile(
    r"(?:\A|[;\n])[ \t]*+(?:(?:DROP|ALTER|CREATE|TRUNCATE)\s+(?:TABLE|VIEW|DATABASE|SCHEMA|TRIGGER|TEMP)|TRUNCATE\s+\w+"
    r"|INSERT\s+INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|REPLACE\s+INTO|PRAGMA\s+\w+|ATTACH\s+DATABASE)\b",
    re.IGNORECASE,
)
"""A statement that is no query: prose begins with none."""


def without_comments(text: str) -> str:
    """A text with SQL's comments as blanks and all else in its place: what is commented out is no query."""
    return _COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]) if match["comment"] else match[0], text)


def comments(text: str) -> str:
    """What SQL's comments in a text say, a line each."""
    return "\n".join(match["comment"].strip("-/* \n") for match in _COMMENT.finditer(text) if match["comment"])


def alters(text: str) -> bool:
    """Whether a statement that is no query stands in a text and is not commented out."""
    return bool(_ALTERS.search(without_comments(text)))


_ASKED_FOR = (
    r"(?:respostas?|consultas?|query|queries|sql|select|codigo|comando|versao|json|objeto|campos|resumo|extracao"
    r"|preenchimento)"
)
_FOUND = r"(?:resultados?|numeros?|total|totais|valor|valores|conta|soma|calculo|logica|filtros?|join)"
_THIS = r"(?:(?:[ao]s?|est[ea]s?|ess[ea]s?|minha|meu|tal) )?"
_PLACE = r"(?: (?:acima|abaixo|anterior|aqui|que (?:sai|aparece|vem|volta|escrevi|fiz|esta aqui)))?"
_SELF = rf"(?:{_THIS}(?:outros )?{_ASKED_FOR}|{_THIS}{_FOUND}|isso|isto|el[ea]s?|tudo){_PLACE},?"
_BAD = (
    r"(?:errad[oa]s?|incorret[oa]s?|fals[oa]s?|mentir\w*|invertid[oa]s?|inventad[oa]s?|invalid[oa]s?|fictici[oa]s?"
    r"|chutad[oa]s?|aleatori[oa]s?|sem (?:sentido|nexo|valor)|ao contrario|com defeito)\b"
)
_ANOTHERS = (
    r"outr[oa]s? (?:\w+ )?(?:relatorio|perguntas?|clientes?|avaliac\w+|lugar|projeto|banco|questao|empresa|review"
    r"|comentario|problema|prompt|usuari[oa])"
)
_CONDITION = re.compile(
    r"\b(?:(?:se|caso|quando|sem(?! sentido| nexo| valor)|senao|para nao|pra nao|para que|evit\w+|do contrario"
    r"|caso contrario"
    r"|podem?|nao (?:esta|estao|fica|ficam|sai|saem|vem|da))\b|\w{2,}riam?\b(?! outr))"
    r"|^\W*(?:tir|retir|remov|apag|troc|mud|us|filtr|som|cont|agrup|inclu|exclu|junt|deix|coloc)[aei]ndo"
    r" (?!est[ea]|ess[ea]|isso|isto|el[ea]\b)"
)
"""What tells of a case that is not this one («sem o DISTINCT o total sai errado», «tirando o JOIN, …»)."""
_FAILS = re.compile(
    rf"\b{_SELF} (?:sempre |tambem |so )?(?:esta|estao|e|sao|foi|foram|sai|saem|fica|ficam|vem|da|dao|saiu|devolve"
    rf"|retorna|traz)"
    rf" (?:(?:um|uma|o|a|muito|tudo|toda|totalmente|completamente|resultados?|numeros?|valor|valores"
    rf"|total) ){{0,3}}{_BAD}"
    r"(?! positiv)"
    rf"|\b(?:{_THIS}{_ASKED_FOR}|isso|isto|el[ea]){_PLACE},? (?:sempre )?(?:falha|quebra|da erro"
    r"|nao (?:roda|executa|funciona|compila|presta|serve|vale))\b(?! (?:em|no|na|com|fora|apenas|so|para quem)\b)"
    rf"|\b(?:{_THIS}{_FOUND}|tudo){_PLACE} nao (?:serve|vale|presta)\b(?! (?:para|como|de)\b)"
)
_WHOLE = re.compile(
    r"\W*(?:(?:favor|por favor|pode|podem|melhor|e melhor|e para|entao),? )?"
    r"(?:desconsider|ignor|descart|apag)(?:e|em|ar)"
    rf"(?: (?:tudo|isso|isto|{_THIS}(?:outros )?{_ASKED_FOR}|{_THIS}resultado)(?: \w+)?)?\W*"
    rf"|\W*{_ASKED_FOR} de {_ANOTHERS}\W*"
    rf"|\W*nao (?:[ao] )?(?:us|rod|execut|consider)(?:e|ar|em)(?: (?:isso|isto|{_THIS}{_ASKED_FOR}|est[ea]"
    rf"|ess[ea]))?\W*"
    r"|\W*nao (?:responde|atende|serve) [ao]?o? ?(?:(?:sua|esta|essa) )?(?:pergunta|pedido|que \w+ \w+)\W*"
    r"|\W*(?:isso|isto) nao vale\W*|\W*(?:e )?mentira\W*|\W*(?:so )?(?:um )?(?:puro )?chute\W*"
)
"""Clauses that are nothing but the word that takes an answer back («Favor desconsiderar»)."""
_MARKED = re.compile(rf"\W*(?:{_THIS}{_ASKED_FOR} )?(?:muito )?(?!\w+s\b|sem valor){_BAD}(?:\s*:|\W*$)")
"""A mark in front of an answer, or by itself («ERRADA: …»): amid a sentence the word is of something else."""
_ASKED = r"(?:pediu|perguntou|pede|pedid[oa]|perguntad[oa]|queria|quer)\b"
_IT = rf"(?:^\W*(?:(?:isso|isto) )?|\b(?:{_THIS}{_ASKED_FOR}|ela){_PLACE},? )(?:na verdade )?"
"""The answer as a subject: «isso» amid a sentence, and «o frete», are something else."""
_TAKES_BACK = re.compile(
    r"(?<!sem )(?<!nada )(?<!nao )\b(?:inventei|chutei|inventamos)\b"
    r"|\b(?:preench\w+|respond\w+|escrev\w+|marquei|chut\w+) (?:tudo )?(?:ao acaso|no chute|sem ler)\b"
    r"|\b(?:e|foi|esta) (?:so |apenas |mero |puro )?(?:um )?chute\b"
    r"|\bnao (?:sei|soube) (?:responder|como responder|o que (?:ela |isso |isto )?(?:faz|escrev|diz|o cliente"
    r"|perguntar))"
    r"|\bnao (?:li|lemos|foi lida|entendi) (?:a|o|essa|esta|nada d[ao]) (?:avaliacao|comentario|review|texto"
    r"|pergunta)\b"
    r"|\bsem (?:ler|ter lido) (?:a|o) (?:avaliacao|comentario|review|texto|pergunta)\b"
    rf"|\b(?:(?:{_SELF}|est[ea]|ess[ea]) (?:na verdade )?(?:e|era|sao|veio|vieram)|copi\w+|tirei|peguei"
    r"|tirad[oa]|copiad[oa])"
    rf" {_THIS}(?:uma? )?(?:(?:{_ASKED_FOR}|avaliac\w+|dados) )?(?:d[eao]s?|para|sobre) (?:[ao]s? |uma? )?{_ANOTHERS}"
    r"|\bresponde (?:a |para )?outr[ao] (?:coisa|pergunta|questao)\b"
    rf"|{_IT}nao (?:e|era) (?:bem )?(?:isso|isto|[ao]|aquilo)(?: o)? que (?:voce|se|foi|a pergunta|o usuario) {_ASKED}"
    r"|\bnao e o que o cliente (?:disse|escreveu|sentiu)\b"
    rf"|{_IT}nao tem (?:nada a ver|nenhuma relacao|relacao) com"
    r" (?:a (?:sua )?(?:pergunta|avaliacao|questao)|o que (?:voce|foi|se)\b)"
    rf"|{_IT}nao (?:faz|mostra|da|traz|conta|responde) o que (?:voce|foi|se|a pergunta) {_ASKED}"
    rf"|{_IT}nao (?:responde|atende|resolve|deve ser (?:usad|executad|rodad|considerad))"
    r"|\bexemplo de como nao\b|\bexemplo (?:inventado|ficticio|errado)\b|\b(?:query|consulta|resposta) qualquer\b"
    rf"|(?<!uma )\b(?:versao|{_ASKED_FOR}) (?:errad[oa]|com defeito|inventad[oa]|fals[oa])\b"
    r"|(?:^|[,:] ?)(?:dados|valores|campos) (?:inventados|ficticios|falsos|chutados)\b"
    r"|\b(?:resposta|consulta|query|sql|sentimento|valor|forma|json) (?:cert|corret|verdadeir|rea)\w* (?:e|seria|era)"
    r" (?:(?:o|a|um|uma) )?(?:outr|contrari|opost|diferent|negativ|positiv|neutr)\w*"
    r"|\b(?:campos|valores|sentimento) (?:acima |abaixo )?(?:esta|estao) trocad"
    r"|\bnao (?:faz|e|aconteceu|ha|fez) nada disso\b|\bnada disso (?:e verdade|aconteceu|vale)\b"
    r"|\b(?:troc\w+|troque|inverta) tudo (?:pelo|ao) contrario\b|\bsentiu o (?:contrario|oposto)\b"
)
_SENTENCE = re.compile(r"\n+|(?<![.!?;])[.!?;]+(?=\s|$)")
_REPLY = re.compile(r"\?\s+(?:isso|isto)\b[^.!?;\n]*")
"""What is said of another way («Filtrar em itens? Isso não funciona»)."""
_IF = re.compile(r"\W*(?:se|caso) ")
"""What follows is for a case («Se não quiser o ROUND, pode apagar»)."""
_CLAUSE = re.compile(r"[,:()]\s|\b(?:e|mas|porem|pois)\b")


@lru_cache(maxsize=REMEMBERED)
def retracts(text: str) -> bool:
    """Whether what is said of an answer takes it back."""
    folded = _REPLY.sub("?", re.sub(r"[^\S\n]+", " ", fold(text)))
    return any(map(_takes_back, _SENTENCE.split(folded)))


def _takes_back(sentence: str) -> bool:
    if (
        _TAKES_BACK.search(sentence)
        or _MARKED.match(sentence)
        or (_FAILS.search(sentence) and not _CONDITION.search(sentence))
    ):
        return True
    clauses = [] if _IF.match(sentence) else _CLAUSE.split(sentence)
    return any(_WHOLE.fullmatch(clause) for clause in (sentence, *clauses) if clause.strip())


_NOT_SO = re.compile(
    r"\b(?:consulta|query|sql|select|ela) nao (?:(?:cont|som|calcul|mostr|list|retorn|filtr|consider|agrup|orden|junt"
    r"|busc|compar)(?:a|am|ando)|traz|devolve|da|pega|responde)\b[^.,;:\n]*"
)


def denies_all(prose: str) -> bool:
    """Whether prose says of a query what it does not do («A consulta não conta os pagamentos»), and nothing else."""
    rest, denied = _NOT_SO.subn(" ", fold(prose))
    return denied > 0 and len(re.findall(r"\w+", rest)) <= 2


_PART = (
    r"(?:colunas?|tabelas?|funcao|funcoes|filtros?|alias|distinct|count|sum|avg|min|max|round|join|left join|inner join"
    r"|group by|having|like|between|limit|where|order by|is null|itens|pedidos|clientes|pagamentos|produtos"
    r"|avaliacoes|fretes?|precos?|notas?|status|data|datas)"
)
_NOTE = re.compile(
    rf"\bnao (?:use|confie|considere)m? (?:(?:n?[ao]s?|n?uma?|em) )?{_PART}\b"
    r"(?! (?:acima|abaixo|(?:[nd]?est|[nd]?ess)[ea]s?|que (?:escrevi|fiz))\b)"
    r"|\bnao (?:use|considere|leia)m? (?:[ao]|est[ea]|ess[ea]) (?:resultado|numero|total|valor|media|soma|contagem)"
    r" como (?:[ao] |um |uma )?(?:total|media|soma|contagem|percentual|receita|faturamento|lucro|meta|previsao)\b"
    r"|\bnao (?:use|considere)m? (?:[ao]|est[ea]|ess[ea]) (?:consulta|query|resultado|numero|total|valor|filtro) para"
    r" outr[oa]s? (?:mes|mes[ea]s|anos?|estados?|categorias?|status|periodos?|tipos?|notas?|lojas?)\b"
)
"""How a right number is not to be read: «não use este número como total do ano», «não confie na coluna status»."""


def without_notes(prose: str) -> str:
    """Prose without what it warns of that is not its answer."""
    folded = fold(prose)
    if len(folded) != len(prose):  # where a letter is not one letter more, places differ
        return prose
    ends = [0, *(end for note in _NOTE.finditer(folded) for end in note.span()), len(prose)]
    return " ".join(prose[start:end] for start, end in zip(ends[::2], ends[1::2], strict=True))


_OF_ITSELF = re.compile(
    r"\b(?:(?:ignor|desconsider|descart)em?|(?:favor|pode|deve-se) (?:ignor|desconsider|descart)ar)"
    r" (?:est[ea]s?|ess[ea]s?|[ao]s?|tudo) ?(?:outros )?(?:json|objeto|campos|resumo|dados)\b"
    r"|\b(?:json|campos|resumo|preenchimento|extracao)\b[^.;]{0,40}\b(?:errad|inventad|fals|incorret|invalid"
    r"|mentir)"
    r"|\bnada d(?:o que (?:esta|consta)\b[^.;]{0,30}|isto |isso |este (?:objeto|json) )(?:aconteceu|e verdade|existe"
    r"|vale)"
    r"|\b(?:nao (?:li|sei)|sem ler|sem ter lido)\b (?:o que )?(?:a avaliacao|o comentario|a review|o texto|o cliente)\b"
    r"|\bcontrario d(?:e tudo o que (?:esta|consta)|este (?:json|objeto|resumo))\b|\bpreench\w+ (?:tudo )?ao acaso\b"
    r"|^\W*(?:nao e verdade|e mentira|e falso|e inventado) que [ao] cliente\b"
)
"""What a summary says of the object that it stands in: no customer speaks of these."""
_FEELINGS = {"posit": "positive", "negat": "negative", "neutr": "neutral"}
_VALID = re.compile(r"(?:valid|corret|confi|cert|verdadeir|trust|correct)")
_FAULTY = re.compile(r"(?:erro\b|errad|invalid|incorret|fals|inventad|wrong|error\b|ignor)")


def denies_object(name: str, value: object, sentiment: object) -> bool:
    """Whether one field says of its object that it is not so: a text, a mark («valido»: false) or another feeling in a
    field of its own."""
    folded = fold(name).replace("_", " ")
    if isinstance(value, str):
        felt = _FEELINGS.get(fold(value)[:5]) if "sentim" in folded and name != "sentiment" else None
        return felt not in (None, sentiment) or bool(_OF_ITSELF.search(fold(value)))
    if value is True:
        return bool(_FAULTY.search(folded))
    return value in (False, 0) and bool(_VALID.match(folded)) and value is not None
