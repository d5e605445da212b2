"""Complaints in other words than the reference's, and values that are told in words.

A complaint is right where it names the same kind of trouble, or says what the review itself says of it.
"""

import re
from typing import Any

from tucano.truth.product import sold
from tucano.truth.reading import plain, stem, word_set, words
from tucano.truth.wording.troubles import MISSING, TROUBLE

MOST_KINDS = 2
LONGEST = 12
"""Kinds of trouble and words that one complaint names."""
SHORTEST = 4
"""Letters of a word that a thing may be called by."""
_EMPTY = word_set(
    """
    produto produtos loja cliente compra comprei entrega pedido veio esta estava muito para pela pelo mais nada tudo
    """
)
_MILD = re.compile(
    r"\b(?:basic|simples|expectativa|esperad|esperava|median|razoavel|regular|mais ou menos|comum|mediocre|morno"
    r"|passavel|aquem"
    r"|meia[- ]boca|meio[- ]termo|nada (?:de )?(?:especial|demais)|sem (?:graca|brilho|destaque)"
    r"|deix\w+ (?:\w+ )?a desejar"
    r"|podia ser melhor|poderia ser melhor|grande coisa)"
    r"|\b(?:nao|nem|sem|pouco|longe de) (?:me |chega a )?(?:empolg\w*|convenc\w*|surpreend\w*|encant\w*"
    r"|impression\w*|anim(?:a|am|ou|aram|ad\w+)\b|agrad\w*|entusiasm\w*)"
)
_BESIDE_MILD = re.compile(
    r"\w|aos?|os|as|um|uma|d[eoa]s?|em|n[oa]s?|que|com|para|pel[oa]|por|mas|so|apenas|muit[oa]|bem|meio|pouco|tao|nao"
    r"|nem"
    r"|nada|sem|ser|era|foi|esta|fica|ficou|achou|acha|consider\w+|clientes?|consumidor\w*|produtos?|pecas?|aparelho"
    r"|frustr\w+|parte|complet\w+|total\w*|tanto|todo|item|itens|artigo"
    r"|compra|qualidade|expectativas?|material|acabamento|desempenho|funcionamento|resultado|rendimento|uso|experiencia"
    r"|design|aparencia|modelo|geral|relacao|quanto|cumpr\w+|atend(?:e|eu|id[oa]s?)|correspond\w+|ating\w+|superou"
    r"|abaixo"
    r"|menos|mais|inferior|opiniao|impressao|serve|demais|bo[am]|satisf\w+|diferencia\w+|se|me|ele|ela|como|ter|tem"
    r"|inovador\w*|interessante|destaque|algo|apesar|parec\w+|recomend\w+|duvida"
)
"""Words that complain of nothing beside a mild one; «embalagem» does."""
_TOLD: dict[str, dict[str, Any]] = {
    "flag": {"sim": True, "true": True, "verdadeiro": True, "nao": False, "false": False, "falso": False},
    "sentiment": {
        "positivo": "positive", "positiva": "positive", "negativo": "negative", "negativa": "negative",
        "neutro": "neutral", "neutra": "neutral",
    },
    "churn_risk": {"baixo": "low", "medio": "medium", "alto": "high"},
    "sentiment_score": {
        "um": 1, "dois": 2, "tres": 3, "quatro": 4, "cinco": 5, "1": 1, "2": 2, "3": 3, "4": 4, "5": 5,
    },
}  # fmt: skip
_FLAGS = word_set("delivery_issue product_issue seller_issue repurchase_intent")


_DENIAL = re.compile(
    r"\b(?:nao|nem|sem|nada|nunca|jamais|nenhum\w*|zero)"
    r"(?: (?:houve|ha|teve|tem|tinha|veio|vieram|chegou|chegaram|e|foi|fui|foram|esta|estava|estao|ficou|apresent\w+"
    r"|sofreu|se|me|com|de|qualquer|nenhum\w*|algum\w*|um|uma|o|a|os|as)){0,3}"
    r"(?: (?:entrega|produto|pedido|item|embalagem|caixa|vendedor|atendimento))? $"
)
"""What takes back the word that follows it, with nothing but verbs of being and articles between."""
_BY_DENIAL = re.compile(r"(?:nao|nem|nunca|jamais|ninguem|nada)\b")
"""How a trouble begins that no denial in front takes back («não chegou e ninguém respondeu»)."""


def trouble(text: str) -> frozenset[int]:
    """Which kinds of trouble a text names and does not deny."""
    told = plain(text)
    return frozenset(
        place
        for place, kind in enumerate(TROUBLE)
        if any(place == MISSING or not _is_denied(told, found, kind) for found in kind.finditer(told))
    )


def _is_denied(told: str, found: re.Match[str], kind: re.Pattern[str]) -> bool:
    """Whether a denial stands right before a trouble, or right before its last word where it is one without it as well
    («embalagem não veio amassada»; «não chegou» is none without it)."""
    if _DENIAL.search(told[: found.start()]) and not _BY_DENIAL.match(found[0]):
        return True
    last = found[0].rfind(" ") + 1
    denial = _DENIAL.search(found[0][:last])
    return bool(denial and kind.search(found[0][: denial.start()] + found[0][last:]))


_THERE_IS_NONE = re.compile(
    r"\W*(?:nao (?:houve|ha|teve|tem|tinha|ocorreu|existe|existiu)|sem|nenhuma?|nada de|zero)"
    r" ((?:(?!(?:para|por|pel[ao]s?|d[aeo]s?|n[ao]s?|e|que|com(?! defeit| avari)) )\w+ ){0,3}\w+)"
)
"""Nothing but the trouble: «sem solução para o atraso» tells of one."""


def denies(complaint: str, expected: str) -> bool:
    """Whether a complaint speaks of the expected kind of trouble only to say that there is none, even of one that is a
    denial by itself («não houve pedido não entregue»)."""
    wanted = trouble(expected)
    whole = _THERE_IS_NONE.fullmatch(plain(complaint))
    denied = trouble(whole[1]) - {MISSING} if whole else frozenset()
    if wanted & denied and trouble(complaint) <= denied:
        return True
    return bool(wanted & _spoken(complaint)) and not wanted & trouble(complaint)


def _spoken(text: str) -> frozenset[int]:
    told = plain(text)
    return frozenset(place for place, kind in enumerate(TROUBLE) if kind.search(told))


def is_told_otherwise(complaint: str, expected: str, review: str) -> bool:
    """Whether a complaint names the expected kind of trouble, or is made of what the review says and names some."""
    named = trouble(complaint)
    if not named or len(words(complaint)) > LONGEST or (len(named) > MOST_KINDS and not named <= trouble(review)):
        return False
    return bool(named & trouble(expected)) or (_own_share(complaint, review) >= 0.6 and named <= trouble(review))


_ABSENT = trouble("pedido não chegou")
_LATE = trouble("entrega atrasada")


def is_second(complaint: str, expected: str, review: str) -> bool:
    """Whether a complaint names what else its review complains of, or calls late what has not come."""
    named = trouble(complaint)
    heard = trouble(review) | trouble(expected)
    heard |= _LATE if heard & _ABSENT else frozenset()
    return bool(named) and named <= heard and len(words(complaint)) <= LONGEST


_CHARGES = re.compile(r"\b(?:cobr\w+|car[oa]s?\b)")
_SENDS_NOT = re.compile(
    r"\bnao (?:enviou|envia|mandou|despachou|despacha)\b(?! (?:\w+ )?(?:resp|mensag|retorno|nada|e-?mail|nota))"
)
_OF_PARCELS = re.compile(r"\b(?:envi|mandou|despach|cheg|receb|entreg)")


def names_other_trouble(complaint: Any, expected: Any, review: str) -> bool:
    """Whether a complaint names nothing but kinds of trouble, a charge or no parcel, of which neither its review nor
    the expected one speaks: «vendedor negou a troca» shares its «vendedor» with one who does not answer.
    What the review itself says is no other trouble."""
    if not isinstance(complaint, str) or not isinstance(expected, str) or not trouble(expected):
        return False
    if _own_share(complaint, review) > 0.5:
        return False
    named, heard = trouble(complaint), trouble(review) | trouble(expected)
    if named:
        return not named & heard
    said, told = plain(complaint), plain(f"{review} {expected}")
    charges = _CHARGES.search(said) and not _CHARGES.search(told)
    return bool(charges or (_SENDS_NOT.search(said) and not _OF_PARCELS.search(told)))


def is_opinion(complaint: str, review: str) -> bool:
    """Whether a complaint where there is none says what a lukewarm review finds wanting."""
    if _spoken(complaint) or len(words(complaint)) > LONGEST:
        return False
    return _own_share(complaint, review) >= 0.5 or _is_mild(complaint, review)


def _is_mild(complaint: str, review: str) -> bool:
    """Whether a complaint is a mild word for the review's own thing and nothing else."""
    rest, found = _MILD.subn(" ", _MILD_TAIL.sub(r"\1", plain(complaint)))
    own = {stem(word) for word in words(review) if len(word) >= SHORTEST}
    return found > 0 and all(_BESIDE_MILD.fullmatch(word) or stem(word) in own for word in words(rest))


_MILD_TAIL = re.compile(r"\b(basic|simples|esperad|median|regular|razoavel|expectativa)\w*")
"""Endings of mild words."""


def _own_share(complaint: str, review: str) -> float:
    said = {stem(word) for word in words(complaint) if len(word) > 3 and word not in _EMPTY}
    return len(said & {stem(word) for word in words(review)}) / len(said) if said else 0.0


def value_told(name: str, value: Any) -> Any:
    """The value that words in its place mean («sim», «nota dois»); others as they are."""
    said = words(value) if isinstance(value, str) else []
    known = _TOLD.get("flag" if name in _FLAGS else name, {})
    if not 1 <= len(said) <= 2 or any(word in known for word in said[:-1]):
        return value
    return known.get(said[-1], value)


_NOT_KNOWN = re.compile(
    r"(?:(?:categoria|produto) )?(?:nao (?:foi |e |se |ha )?(?:inform|especific|identific|mencion|cita|consta"
    r"|declar|dit|defin"
    r"|revel|indic|aplica|classific|determin|disponi|sei|sab)\w*"
    r"|sem (?:categoria|informac|identificac|especificac|defini|indicac|classificac)\w*"
    r"|desconhecid[oa]|indefinid[oa]|indeterminad[oa]|outr[oa]s?|n/?[ad])(?: (?:na|no|pelo|pela) \w+)?"
)
"""How an answer says that nobody tells the category."""


def leaves_open(category: Any) -> bool:
    """Whether a category says that nobody tells it."""
    return category is None or (isinstance(category, str) and bool(_NOT_KNOWN.fullmatch(plain(category).strip(" ."))))


_MAY_BE_ANY = re.compile(r"\b(?:aparelho|maquina|equipamento|peca|roupa|calcado|brinquedo|ferramenta|movel)s?\b")


_ALSO = {
    "make": "maquiagem", "cosmetico": "maquiagem", "telefone": "celular", "smartphone": "celular", "tv": "televisao",
    "televisor": "televisao", "note": "notebook", "bike": "bicicleta", "shampoo": "xampu", "refrigerador": "geladeira",
    "valor": "dinheiro", "quantia": "dinheiro", "resultado": "solucao",
}  # fmt: skip
_SMALL = re.compile(r"z?inh([oa])(s?)$")


_SET_APART = re.compile(r"\b(?:capa|cama)s? (?:de|do|da|para) (?:banco|chuva|sofa|colchao|carro|casal|solteiro|mesa)\b")
"""What its small name does not mean: a «capinha» is none for a car's seat."""


def one_name(word: str) -> str:
    """What a word is called most: «maquiagem» for «make», «capa» for «capinha»."""
    name = _SMALL.sub(r"\1\2", word)
    return _ALSO.get(name.rstrip("s"), name)


def names_other_thing(summary: str, review: str) -> bool:
    """Whether a summary is about a thing that shops sell and its review is not. Number makes no difference, nor does a
    short name («note»); «aparelho» may mean any."""
    named = _things(summary, sold())
    if not named or (not _things(review, sold(ambiguous=True)) and _MAY_BE_ANY.search(plain(review))):
        return False
    told = [word for word in words(review) if len(word) >= SHORTEST]
    also = {one_name(word) for word in words(_SET_APART.sub(" ", plain(review)))}
    return not all(one_name(name) in also or any(_may_mean(word, name.split()[0]) for word in told) for name in named)


_RAISED = tuple(
    (re.compile(topic), re.compile(signs))
    for topic, signs in (
        (r"\bentreg", r"\b(?:entreg|cheg|receb|prazo|atras|demor|rapid|transportad|correio|veio|vieram|frete|dias?\b)"),
        (r"\btroca", r"\b(?:tro[cq]|devol|reembols|estorn|errad)"),
        (r"\bpreco", r"\b(?:prec|cust|valor|barat|car[oa]\b|promoc|descont|\d)"),
        (r"\batendimento", r"\b(?:atend|vended|respond|respost|contat|suporte|fal(?:ar|ei|o)\b|loja)"),
        (r"\bcor(?:es)?\b", r"\b(?:cor(?:es)?\b|azu|pret|branc|verd|vermelh|rosa|bege|marrom|amarel|cinza)"),
        (
            r"\bqualidade",
            r"\b(?:qualid|material|otim|bo[mn]|boa|excelen|ruim|pessim|frac|acabam|am[eo]i|ador|perfeit|defeit"
            r"|quebr)",
        ),
    )
)


def lists_topics(summary: str, review: str) -> bool:
    """Whether a summary speaks of two topics and more that its review does not raise: such a one sums up any."""
    told = plain(review)
    unheard = (topic for topic, signs in _RAISED if not signs.search(told))
    return sum(bool(topic.search(plain(summary))) for topic in unheard) > 1


def _things(text: str, known: frozenset[str]) -> set[str]:
    """Which of the known things a text names, one or several of each."""
    said = f" {' '.join(words(text))} "
    return {name for name in known if any(f" {form} " in said for form in _forms(name))}


def _forms(name: str) -> set[str]:
    """A name and its plural («lençol, lençóis», «caixa de som, caixas de som»)."""
    head, _, rest = name.partition(" ")
    many = f"{head[:-1]}is" if head.endswith("l") else f"{head[:-1]}ns" if head.endswith("m") else f"{head}s"
    more = {many, f"{head}es"} if head[-1] in "rsz" else {many}
    return {name, *(f"{one} {rest}".strip() for one in more)}


def _may_mean(word: str, name: str) -> bool:
    return stem(word) == stem(name) or name.startswith(word)
