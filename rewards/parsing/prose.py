"""Whether a text is one sound piece of Portuguese: its words in an order that occurs, and nothing taken back."""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from rewards.parsing.kinds import kind
from rewards.parsing.text import REMEMBERED, fold, word_set

_DEFINITE = word_set("o a os as")
_INDEFINITE = word_set("um uma uns umas")
_POSSESSIVES = word_set("seu sua seus suas meu minha meus minhas nosso nossa nossos nossas teu tua")
_DEMONSTRATIVES = word_set("estes estas esse essa esses essas aquele aquela cada")
_MERGED = word_set(
    "do da dos das no na nos nas ao aos pelo pela pelos pelas num numa deste desta desse dessa neste nesta"
)
"""Prepositions with their article: no other article may follow."""
_PREPOSITIONS = word_set("de em com para por sem ate sobre entre desde contra pra")
_LINKS = word_set("e ou mas que se porque quando como enquanto pois")
_DETERMINERS = _DEFINITE | _INDEFINITE | _POSSESSIVES | _DEMONSTRATIVES
_LEADING = _DETERMINERS | _MERGED | _PREPOSITIONS | _LINKS
"""Words that want another one behind them."""
_ALLOWED = {
    **dict.fromkeys(_DEFINITE | _MERGED, _POSSESSIVES | {"que"}),
    "a": _POSSESSIVES | _INDEFINITE | {"que", "cada", "de", "do", "da"},
    "o": _POSSESSIVES | {"que", "do", "da"},  # «leve o do pequeno»
    **dict.fromkeys(_INDEFINITE, word_set("em com de por para pra que a e")),
    "cada": _INDEFINITE,
    **{word: {"e", "com", "para", "por", "no", "na"} for word in _POSSESSIVES},  # «escolha o seu e leve»
    **dict.fromkeys(_PREPOSITIONS, _DETERMINERS | {"que", "quando", "se"}),
    **dict.fromkeys(_LINKS, _LEADING - {"e", "ou", "mas"}),
}
_MERGES = {"de": _DEFINITE | _DEMONSTRATIVES - {"cada"}, "em": _DEFINITE, "por": _DEFINITE}
"""What a preposition may not stand before, because both become one word."""
_ENDS = word_set("que seu sua nos como a um uma nosso nossa nossos nossas meu minha teu tua seus suas")
"""Words of these kinds that may end a sentence all the same."""
_SENTENCE = re.compile(r"(?<![.!?;:…])[.!?;:…]+(?=\s|$)|\n|[^\w\s%$.,'\"“”()/~≈-]")
_TOKEN = re.compile(r"[^\W_]+(?:[.,-][^\W_]+)*%?")


_SYMBOL = r"[^\w\s*#(){}\[\]\"'“”«».,;:!?…%$+/\\<>=|~^&@`´]\ufe0f?"
"""Any mark that stands for no word and no bracket: «•», «→», «▪», «☐», «⚠»."""
_LISTED = re.compile(
    rf"(?m)^[ \t]*(?:\*\*)?(?:\*|{_SYMBOL}|\d\ufe0f?\u20e3|#+|\(?\w{{1,3}}[.)])[ \t]+|\*\*"
    r"|(?<![\w*])\*(?=\w)|(?<=[\w.:!?])\*(?![\w*])"
)
"""Marks of lists and of bold text: no words."""
_ENDED = re.compile(r"[.!?…]+(?=\s|$)|\n|[^\w\s%$.,'\"“”():;/→×÷=+~≈-]")
_MOST_SINGLE = 2
"""Sentences of one word that a text may have."""
_LOWER_START = re.compile(r"(?:(?<!\.\.)[.!?]|[^…\w\s.,:;()*#\"'“”%$/_–—→&+|•·×÷~≈≤≥↓↑°ºª@=-]) +[a-zà-ÿ]")
_ASIDE = re.compile(r" \([^().!\n]{1,80}\?\)")
"""Questions in brackets, which begin small."""
_REPEATS = re.compile(r"\b([^\W\d]{4,})(?: [^\W\d]+){0,2} \1\b")
"""A word that stands twice within three of a clause; not «peça por peça», «panela boa é panela cheia»."""
_LOWER_FIRST = re.compile(r"\W*[a-zà-ÿ]")
_STARTERS = (
    "Oi|Olá|Oba|Ei|Que|Tem|Tá|Seu|Sua|Seus|Suas|Não|Só|Hoje|Você|Com|Para|Por|De|Da|Do|Em|No|Na|O|A|Os|As|E|Ou|Um|Uma"
    "|Este|Esta|Aproveite|Garanta|Confira|Corra|Leve|Vem|Venha|Chegou|Recomendo|Recomendamos|Sugerimos|Priorize|Sugiro"
    "|Ofereça|Crie|Invista"
    "|Revise|Negocie|Teste|Reduza|Acompanhe|Mantenha|Quer|Saudades|Ainda|Já|Agora"
)
_CAPITAL_INSIDE = re.compile(rf"[a-zà-ÿ%],? (?:{_STARTERS})\b")
"""Capital letters of words that only begin a sentence."""
_CAPITAL = re.compile(r"(?<=[a-zà-ÿ0-9%,;)] )(?!S(?:ão|anto|anta) [A-Z])[A-ZÀ-Ý][a-zà-ÿ]+\b")
_CORPUS = Path(__file__).parents[1] / "corpus"
_NAMES = word_set("sul norte nordeste sudeste brasil natal pix time semana")
_ORDINARY = (
    frozenset(
        word
        for file in ("push.txt", "insights.txt", "frames.txt")
        for word in re.findall(r"(?<=[a-zà-ÿ,] )[a-zà-ÿ]{2,}\b", (_CORPUS / file).read_text(encoding="utf-8"))
    )
    - _NAMES
)
"""Words that stand inside of sentences with a small letter."""


_EACH = re.compile(r"(?:(?<=[^\W\d_]{3}s)|(?<=\d)) cada(?=\s*(?:[.,:;!?)\n]|$))")
"""What may end a clause behind several of something or a price («com metade dos clientes cada», «R$ 5 cada»)."""


def disorder(text: str) -> int:
    """How many places no Portuguese sentence has: a word that leads on to a wrong one or to the end of its sentence, a
    sentence without a capital letter, a capital letter inside of one, more than two sentences of a word.
    """
    text = _ASIDE.sub(" ", _LISTED.sub("", text))
    found = len(_LOWER_START.findall(text)) * bool(re.search("[A-Z]", text)) + len(_CAPITAL_INSIDE.findall(text))
    found += sum(word.lower() in _ORDINARY for word in _CAPITAL.findall(_CAPITAL_INSIDE.sub(" ", text)))
    found += bool(_LOWER_FIRST.match(text))
    single = sum(len(_TOKEN.findall(line)) == 1 for line in _ENDED.split(text))
    for sentence in filter(str.strip, _SENTENCE.split(_EACH.sub("", text.lower()))):
        tokens = _TOKEN.findall(sentence)
        found += sum(_clash(one, other) for one, other in pairwise(tokens))
        found += bool(tokens) and tokens[-1] in _LEADING - _ENDS
        found += len(_REPEATS.findall(sentence))
    return found + max(0, single - _MOST_SINGLE) + _open_brackets(text)


_SMILEY = re.compile(r"[:;]-?[()]")
_NUMBERED = re.compile(r"(?:^|[\s;:])\w{1,2}\)")
"""Items of a list in a line («1) …; 2) …»), which close what nothing opens."""


def _open_brackets(text: str) -> int:
    """How many brackets are open at the end, or are closed without one."""
    bare = _SMILEY.sub("", text)
    closed = bare.count(")") - bare.count("(")
    return max(closed - len(_NUMBERED.findall(bare)), 0) if closed > 0 else -closed


def _clash(one: str, other: str) -> bool:
    if one not in _LEADING or other not in _LEADING:
        return False
    return other not in _ALLOWED.get(one, frozenset()) or other in _MERGES.get(one, ())


_SUBJECT = (
    r"(?:(?:a|esta|essa|minha) )?(?:resposta|analise|consulta|query)|(?:o|este|esse) (?:texto|push|json)"
    r"|os (?:numeros|dados)|tudo|isso|isto"
)
_WRONG = r"(?:errad|incorret|fals|invalid|mentiros|inventad)\w*"
_TAKEN_BACK = re.compile(
    rf"(?:^|[\n.!?:;(]\s?)(?:{_SUBJECT})?(?:\s(?:acima|todos?|isso))?\s?\b(?:esta|estao|e"
    rf"|sao)\s(?:(?:tudo|toda|muito|totalmente)\s)?{_WRONG}|\b(?:{_SUBJECT})\s{_WRONG}(?=\s*(?:[.!,;:)]|$))"
    r"|\bnao\s(?:use|siga|acredite|confie|considere|publique|envie|leia)m?\b(?!\s(?:mais|s[oó]|como))"
    r"|\b(?:faca|o (?:certo|correto|ideal|melhor) (?:e|seria)(?: fazer)?) (?:exatamente )?o (?:oposto"
    r"|inverso) disso|\bnao adianta (?:fazer|seguir|aplicar) (?:o que (?:segue|esta)|isso|nada d)"
    r"|\bretiro o que (?:eu )?(?:disse|escrevi)\b|\bresposta nao (?:responde|atende|serve|funciona)\b"
    r"|(?<!nao )\b(?:ignor|desconsider|descart|esquec)\w{1,3}\s(?:tudo|isso|isto|(?:est|ess)[ea]s?"
    r"|[ao]s? (?:recomend|suges|analis|respost|numer|texto)\w*)\b"
    r"|\b(?:this|that|it|answer) is (?:a )?(?:false|lie|bad|fake)\b"
    r"|\b(?:no es|esto es|esta) (?:asi|cierto|verdad|incorrect[oa]|falso)\b"
    r"|(?:^|[^\w\s,;:'\"«“]\s?|\n)(?:(?:isto|isso) )?nao (?:e verdade|esta (?:cert[oa]|correta))\b"
    r"|\bresposta (?:certa|correta) e outra\b|\bignore this\b|\\(?:text|math[a-z]*|boxed|[ln]?not|lor|land|neg)\b"
    r"|[.!?]\s?[\u2300-\u27bf\U0001F300-\U0001FAFF]?\ufe0f? (?:=+>?|or\b:?|/|\||\+|&) ?(?=\W{0,4}[a-z])"
)
_FOREIGN = word_set("not wrong incorrect untrue invalid never disregard isnt doesnt dont nope")
"""Words by which an answer denies itself in English."""
_MEANS = re.compile(
    r"\b(?:transportador|prazo|rota|rastre|cupo[mn]|fidelidade|pontos|checkout|pagina|foto|descric|medida|tamanho"
    r"|embalag|estoque|kit|combo|parcel|pagamento|atendiment|resposta|respond|e-mail|whatsapp|campanh|oferta|frete"
    r"|retirada|troca|fornecedor|expedic|reativ|pos-|carrinho|video|prova social|pesquis|complementar|aprovac|despach"
    r"|postage|centro|multa|vitrine|valor minimo|qualidade|beneficio|anunci|desconto|lembrete|sac\b|suporte|guia"
    r"|credito|brinde|push\b|login|motivo|clube|tarifa|bonus|resgate|sugest|contrato|comentario|ficha|midia|comunica"
    r"|mensage|tabela|minimo)"
)
_MOST_MEANS = 5


_CONTENT = re.compile(r"\b(?!para\b|pela\b|pelo\b|como\b|mais\b|cada\b|quem\b|todo|toda|esse|essa|este|esta)[a-z]{4,}")
_ENOUGH_CONTENT = 4
"""Different words of four letters and more behind its verb: an action with an object and how, where or when."""


def concrete(line: str) -> bool:
    """Whether a folded line of advice says how: it names a means, and not every means that there is, or enough else."""
    means = len(set(_MEANS.findall(line)))
    return 1 <= means <= _MOST_MEANS or (not means and len(set(_CONTENT.findall(line))) > _ENOUGH_CONTENT)


_PLAN = re.compile(
    r"\b(?:plano|ac(?:ao|oes)|faz(?:er)?|faria|passos?|recomend\w+|suge\w+|sugir\w+|testes?|testar\w*|agir|decis\w+"
    r"|medidas|propo\w+|como (?:(?!entend|ler\b|ver\b|interpret|chegar\b|enxerg|explic)\w+ ){0,2}(?!entend|ler\b"
    r"|ver\b|interpret|chegar\b|enxerg|explic)\w{2,}(?:[aei]r|ria)|fase|semana|ideias?"
    r"|para (?:o|a|os|as) \w+(?: \w+)?|reengaj\w+|prioridades?|agora)\b"
)
_HEADING = re.compile(r"[^.!?]{3,80}:\W*$|[^.!?,;]{3,60}\??$")
_MARKED = re.compile(
    rf"\s*(?:[|]|\*(?!\*)|{_SYMBOL}|\(?\w{{1,2}}[.)]|\d\ufe0f?\u20e3|fase\b|dia\b|[a-z][a-z ]{{2,30}}: )"
)
"""How a step begins in a list: a mark, a number, or when and where it is taken («na entrega: …»)."""
_AS_STEP = re.compile(
    r"\W{0,12}(?:→|(?:acao|acoes|fazer|o que fazer|saida|remedio|sugestao|proposta|recomendacao)\s?(?:\d\s?)?[:→–-])"
)
"""What says of a row by itself that it is a step («→ …», «Ação: …»)."""
_AS_FOUND = re.compile(
    r"\W{0,12}(?:[a-z]+(?: \d)?\s?[:→–-]\W{0,3})?[ao]s? (?:[a-z]+ ){1,3}(?:(?:de"
    r"|em) )?(?:r\$ ?)?(?:\d[\d.,]*%? )?(?:e (?:muito |bem |tao |mais )?(?:alt|baix|ruim|ruins|grande|pequen|preocup"
    r"|o\b|a\b|um|culpa)|sao|vem|veio|esta|estao|foi|foram|ficou|caiu|subiu|mostra|indica|pesa|segue|reflete|atinge)"
)
"""A row of a list that tells how something is («o atraso é alto na entrega»), which is no step."""


def advice_lines(folded: str) -> Iterator[tuple[str, bool]]:
    """The lines and sentences of a folded text, each with whether it stands in the list under a heading of a plan."""
    planned = False
    for row in folded.splitlines():
        marked = bool(_MARKED.match(row))
        if not marked and _HEADING.fullmatch(row.strip("*#_ \t")):
            planned = bool(_PLAN.search(row))
        step = bool(_AS_STEP.match(row))
        for line in _BREAKS.split(row):
            listed = step or (planned and (marked or bool(_MARKED.match(line))))
            yield line, listed and not _AS_FOUND.match(line)


_BREAKS = re.compile(r"(?<=[.;!])\s")
_CLAUSE = re.compile(
    r"(?:^\W*(?:\(?\w{1,3}[.)]\s+)?|[:;,)→•·|]\*{0,2}\s+|\b(?:e|ou|so|eu|nao)\s+)([^\W\d_]{3,})(?<=[aemrsi])\b"
)
_WOULD = re.compile(
    r"\b(?:eu|a gente|nos)?\s?(?:faria|pegaria|mexeria|\w{3,}(?:aria|eria|iria)(?:mos)?) (?!que)"
    r"|\b(?:e (?:preciso|hora de|importante|melhor)|dev(?:e|em|emos|eria)(?:-se)?|convem|precis(?:a|amos)|proponho"
    r"|(?:podemos|podem|pode|vamos|seria (?:bom|util|otimo|melhor))(?: \w+){0,2}? \w{2,}[aei]r|que tal"
    r"|minha sugestao|a ideia e)\b"
)
"""The first word of a clause that ends as infinitives and imperatives do."""


_ORDERS = word_set("""
    ative simplifique registre antecipe ligue faca ponha multe corte anuncie junte marque grave envie calcule escolha
    procure investigue conserte limpe atualize estude descubra acelere alinhe bonifique classifique divida inclua
    """)


def asks(line: str) -> bool:
    """Whether a clause of a folded line begins with an infinitive or an imperative («medir o prazo», «teste kits»), or
    says that somebody should or would («eu testaria», «deve-se rever»)."""
    begun = _CLAUSE.findall(line)
    return bool(_WOULD.search(line)) or any(word in _ORDERS or kind(word) in ("<to>", "<verb>") for word in begun)


def even(text: str) -> str:
    """The text with every run of white space as one character, so that no pattern has to cross long ones."""
    return _UNEVEN.sub(lambda match: "\n" if "\n" in match[0] else " ", text)


_UNEVEN = re.compile(r"\s{2,}|[^\S \n]")


_SCRAPS = re.compile(r"([^\s\w.=*#_\u2500-\u259f-])(?:\s?\1){8}|\u200b{2}|`{4}|[a-zà-ÿ]{4}\d+%|\bNaN\b")
"""The same mark again and again, characters without a shape, scraps of code."""
_HOLLOW = re.compile(r"(?m)^[ \t]*[-*•#][ \t]*$")
_NO_ANSWER = re.compile(
    r"(?:^|[.!?\n]\s?)(?:desculpe,? (?:mas )?nao\b|nao (?:sei|posso|consigo|tenho como) (?:responder|ajudar)\b)"
    r"|\brecomende (?:acoes em|topicos)\b"
    r"|\A\W*voce pediu (?:insights|analise|acoes|recomend)(?:[^\n.!;]|\.\d){0,300}[.!]?\s*\Z"
    r"|\ba tarefa (?:e|era|pede) (?:dar|recomend|analis|escrev|gerar|respond|propor|insights)"
    r"|\b(?:recomend|sugi?e?r)\w+ que (?:voce |alguem )?(?:recomend|sugi?e?r)\w+|\benvio as recomendac"
    r"|\b(?:\w{3,}[aei]r ){3}\w{3,}[aei]r\b|\b(?:\w{4,}[aei]mos ){2}\w{4,}[aei]mos\b"
)
"""A refusal, its own instruction, or four infinitives in a row: «quer poder escolher retirar» is as many as a sentence
has."""


def is_scrappy(text: str) -> bool:
    """Whether prose holds what no answer does: piles of marks, verbs in a row, its own instruction, a refusal."""
    folded = even(fold(text))
    return bool(_NO_ANSWER.search(folded) or _SCRAPS.search(text) or len(_HOLLOW.findall(text)) > 1)


@lru_cache(maxsize=REMEMBERED)
def stands(text: str) -> bool:
    """Whether a text is one answer that does not take itself back («está errada, não use», «this is wrong»), in its own
    language or in another."""
    folded = even(fold(text))
    said = re.findall(r"\b[a-z]+\b", folded.replace("'", "").replace("’", ""))
    return _FOREIGN.isdisjoint(said) and not _TAKEN_BACK.search(folded)
