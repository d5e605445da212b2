"""What an object of extraction says in words of its own: kinds of complaints, values told in Portuguese, opinions, and
what its faults leave of all credit.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

from rewards.parsing.kinds import kind
from rewards.parsing.text import REMEMBERED, fold, is_nonsense, words
from rewards.types import PromptLike
from rewards.wording.opposites import is_denied, is_opposed, turns
from rewards.wording.troubles import KINDS, PRAISE, called

_MOST_KINDS = 2
"""Kinds that a complaint may name: reviews tell of two at most."""
_MEANT: dict[str, object] = {
    "sim": True, "verdadeiro": True, "true": True, "nao": False, "falso": False, "false": False,
    "baixo": "low", "baixa": "low", "medio": "medium", "media": "medium", "alto": "high", "alta": "high",
    "positivo": "positive", "positiva": "positive", "negativo": "negative", "negativa": "negative",
    "neutro": "neutral", "neutra": "neutral",
    **{value: value for value in ("negative", "neutral", "positive", "low", "medium", "high")},
    "um": 1, "dois": 2, "tres": 3, "quatro": 4, "cinco": 5, "1": 1, "2": 2, "3": 3, "4": 4, "5": 5,
}  # fmt: skip
_TYPES: dict[str, type] = {
    "sentiment": str, "sentiment_score": int, "delivery_issue": bool, "product_issue": bool, "seller_issue": bool,
    "churn_risk": str, "repurchase_intent": bool,
}  # fmt: skip
_FEELINGS = ("negative", "neutral", "positive")
_FLAGS = ("delivery_issue", "product_issue", "seller_issue")
_NO_STARS_OF: dict[str, tuple[int, ...]] = {"negative": (4, 5), "neutral": (1, 5), "positive": (1, 2)}
"""Stars that contradict a feeling."""
TOLD = 0.8
"""Agreement of values in words («sim», «alto»): right, but a program stumbles."""
OPPOSITE = 0.3
OTHER_FEELING = 0.4
DEBATABLE_FEELING = 0.6
FAIR_FEELING = 0.96
"""Credit beside the opposite sentiment, another one, one that is open (no stars say, or a complaint is neutral), and
one that is as fair: a complaint, and no stars."""
OTHER_KIND = 0.6
DENIED = 0.4
"""Credit where no issue that there is has its flag, or all three have one and one is right at most, and of a complaint
that says there was none."""
OTHER_THING = 0.75
OTHER_CATEGORY = 0.7
OTHER_STARS = 0.85
OTHER_NAME = 0.5
NONSENSE = 0.35
"""Credit of a summary about something else, of a category and of stars that only had to be copied, and of a summary
that names another thing («Cliente satisfeito com o travesseiro»), and of one that is no words."""
_OF_A_THING = re.compile(
    r"\b(?:gostou|reclama|(?:in)?satisfeit[oa]|neutr[oa]|content[ea]|elogia)(?: com| sobre|:)?"
    r" (?:[ao]s?|d[aeo]s?) ([a-z]{4,})"
)
"""What somebody is said to be content with or not."""
_MATTERS = re.compile(
    r"client|consum|compr|produt|loja|vend|pedid|entreg|atend|embal|prazo|frete|defeit|demor|atras|preco|valor|qualid"
    r"|pessim|otim|trans|falt|servi|experi|troca|devol|reembol|item|aparel|peca|material|tamanh|cor\b|cores\b"
    r"|dois|duas|ruid|barul|leve|ausenc|(?!maquiagem|racao|balanca)\w+(?:eza|cao|coes|dade|ancia|anca|encia|mento|agem"
    r"|idao)$|aparen|aspect|acaba|durab|resis|custo|benef|pontu|cheir|sabor|confor|belez|envio|chega|resul|desem"
    r"|funci|conte|estad|cuid|rapid|agil"
)
"""What any order has."""
FEWEST = 4
FEWEST_FIELDS = 2
"""Different words of a review that a summary could take up, and fields of a reference that asks for more than one."""
LABEL = 0.88
LONGEST_LABEL = 3
"""Credit of a summary that tells nothing, and the words that name its thing: of 168 answers rated 4 108 have such a
one, of 235 rated 5 seven."""
_FEELS = re.compile(
    r"client|consumid|compra|satisf|insat|neutr|reclama$|gostou|aponta|content|sobre|pouco|muito|produt|avali"
)
_TOPICS = {
    "entreg": r"entreg|cheg|receb|prazo|atras|demor|rapid|transport|correio|veio|dias",
    "troca": r"troc|devol|reembols|estorn|errad",
    "preco": r"prec|custo|valor|barat|caro|r\$|promoc|descont",
    "atendimento": r"atend|vended|respond|respost|contat|suporte|falar|loja",
    "qualidade": r"qualid|material|otim|bom|boa|excelent|ruim|pessim|frac|acabam|amei|ador|perfeit|defeit|quebr",
    " cor": r"\bcor(?:es)?\b|azul|pret|branc|verd|vermelh|rosa|bege|marrom|amarel|cinza",
}
"""What a summary may speak of, and the signs of it in a review: one that lists topics which nobody raised sums up any
other."""
TURNED = 0.5
OPPOSED = 0.25
"""Credit of a summary that praises where the review complains, or complains where it praises, and of one that says so
in as many words («não recomenda»): nobody may read it."""
_TELLS = re.compile(
    r"que|se|foi|e|deu|diz|elogi\w+|consider\w+|sente|sentiu|durou|parou|serve|esta|esperava|exige|recus\w+|recebeu"
    r"|chegou|veio|volt\w+|compraria|nota"
)
_STARS = re.compile(r"\bnota:? ([1-5])\b(?![.,]\d)|(?<!/)\b([1-5]) ?/ ?5\b(?![/\d])|\b([1-5]) estrelas?")
_COMMON = re.compile(
    r"client|consum|compr|produt|loja|vend|pedid|entreg|receb|cheg|reclam|elogi|avali|nota|satis|insat|gost|ador"
    r"|muito|para|pela|pelo|com|sobre|mais|menos|mas|que|nao|sem|foi|por|uma|qualid|recom|neutr|aponta|diz|quer|volt"
    r"|pesso|conta|como|relat|inform|mencion|comenta|detalh|resum|experi|servi|favor|curt[ao]|breve|opini|aprov|posit|negat|feliz"
    r"|ironi|consid|afirm|apare|porem|nada"
)

_DENIAL = r"(?:nao|nem|nunca|nenhum\w*|sem|nada)"
_DENIED = re.compile(
    rf"\b{_DENIAL} (?:(?:me|se|mais) )?(?:(?:houve|ha|teve|tem|tive|tenho|veio|vieram|foi|fica|ficou|esta|estava"
    rf"|e|era|cheg\w+|apresent\w+|mostr\w+|vi|not\w+|encontr\w+|sofreu) )?"
    r"(?:(?:de|com|o|a|mais|muit[oa]|nenhum\w*|qualquer|tao|tipo|sinal|problemas?|reclamac\w+|entregas?"
    r"|produtos?) ){0,4}$"
)
"""What makes a complaint behind it none: a denial, and at most words that assert it («não veio com»). Another verb
complains of it all the same («não resolveram o atraso»)."""
_BEGINS_SO = re.compile(rf"{_DENIAL}\b")
_BEGINS_NONE = re.compile(r"^\W*(?:nao (?:houve|ha|teve|tem|existe|e verdade que)|nenhum\w*|sem|nada de|nunca houve)\b")
_NEAR = 60
"""Characters in front of a kind in which its denial stands."""
_ANYBODYS = {"wrong": _FLAGS, "incomplete": ("delivery_issue", "product_issue")}
"""Kinds that may be several parties' fault."""
_LACKED = frozenset({"invoice"})
"""Kinds that are a thing: to be without it is the complaint («sem nota fiscal»)."""
_JUDGED = frozenset({"packaging", "service", "poor"})
"""Kinds that a thing and what it is like make: the denial may stand between («o material não é ruim»)."""


@lru_cache(maxsize=4096)
def kinds_of(complaint: str) -> frozenset[str]:
    """Which kinds of complaints a text names, in whatever words."""
    folded = fold(complaint)
    return frozenset(kind for kind, pattern in KINDS.items() if _asserted(kind, pattern, folded))


def _asserted(kind: str, pattern: re.Pattern[str], folded: str) -> bool:
    """Whether a kind is told somewhere without a denial in front; «não chegou» is a complaint by its denial."""
    for match in pattern.finditer(folded):
        ends = [match.start()]
        if kind in _JUDGED:
            ends.append(match.start() + match[0].rfind(" ") + 1)
        in_front = (folded[max(0, end - _NEAR) : end] for end in ends)
        if kind in _LACKED or _BEGINS_SO.match(match[0]) or not any(map(_DENIED.search, in_front)):
            return True
    return False


def denies(complaint: str, expected: str) -> bool:
    """Whether a complaint says of all that the expected one complains of that it was not so («nenhum atraso»)."""
    folded = fold(complaint)
    wanted = kinds_of(expected)
    named = {kind for kind in wanted if KINDS[kind].search(folded)}
    asserted = _BEGINS_NONE.sub("", folded)
    if asserted != folded and not _BEGINS_NONE.match(fold(expected)):
        own, theirs = ([word for word in words(text) if len(word) > 2] for text in (asserted, expected))
        if theirs and own[: len(theirs)] == theirs:
            return True
    return bool(named) and not named & kinds_of(complaint)


def states_stars(prompt: PromptLike) -> bool:
    """Whether the words of a prompt tell its stars: another number («nota 10», a date) tells something else."""
    return prompt.stars is not None and str(prompt.stars) in _stated(prompt.user)


@lru_cache(maxsize=REMEMBERED)
def _stated(asked: str) -> frozenset[str]:
    """All that may be stars in the words of a prompt."""
    return frozenset(part for groups in _STARS.findall(fold(asked)) for part in groups)


def names_every_kind(complaint: str) -> bool:
    """Whether a complaint names more kinds than a review tells of: one of them will be right. Something always comes
    with a cancellation."""
    return len(kinds_of(complaint) - {"cancelled"}) > _MOST_KINDS


def is_of_kind(complaint: str, expected: str, review: str = "") -> bool:
    """Whether a complaint names the kind of the expected one, and no more kinds than a review or this one tells of."""
    named = kinds_of(complaint)
    is_fair = not names_every_kind(complaint) or (bool(review) and named <= kinds_of(review))
    return is_fair and bool(named & kinds_of(expected))


def meant(name: str, value: object) -> object:
    """The value that a field told in words means («sim» for true); others as they are."""
    if not isinstance(value, str) or name not in _TYPES:
        return value
    said = words(value) or [""]
    told = _MEANT.get(said[-1], value)
    is_one = len(said) <= _MOST_KINDS and not any(word in _MEANT for word in said[:-1])
    return told if type(told) is _TYPES[name] and is_one else value


def worth(found: Mapping[str, object], expected: Mapping[str, object], prompt: PromptLike) -> float:
    """What an object's faults leave of all credit: the wrong feeling or kind of problem, what it only had to copy, no
    summary of this review."""
    review = fold(prompt.user)
    are_stated = states_stars(prompt)
    felt, wanted = meant("sentiment", found.get("sentiment")), expected.get("sentiment")
    is_open = wanted == "neutral" and felt == "negative" and bool(expected.get("main_complaint"))
    is_fair = not are_stated and is_as_fair(felt, expected, prompt)
    kept = FAIR_FEELING if is_fair else _feeling(felt, wanted, are_stated and not is_open)
    category, own = expected.get("category"), found.get("category")
    is_other = isinstance(category, str) and fold(str(own)).strip() != fold(category) and not leaves_open(own, category)
    if is_other and (fold(str(category)) in review or (own and names_another(found.get("summary"), prompt))):
        kept *= OTHER_CATEGORY
    score = expected.get("sentiment_score")
    stars = meant("sentiment_score", found.get("sentiment_score"))
    if are_stated and score is not None and stars != score:
        kept *= OTHER_STARS
    if stars in _NO_STARS_OF.get(str(felt if is_fair or is_open else wanted), ()):
        kept *= OPPOSITE
    said = found.get("main_complaint")
    if isinstance(said, str) and denies(said, str(expected.get("main_complaint") or "")):
        kept *= DENIED
    return kept * _kind_worth(found, expected) * _summary_worth(found.get("summary"), said, prompt)


def leaves_open(category: object, expected: object) -> bool:
    """Whether a category says that nobody tells it, where the reference knows none either («outros»)."""
    if fold(str(expected)) != "outros":
        return False
    return category is None or (isinstance(category, str) and bool(_NOT_TOLD.fullmatch(fold(category).strip(" ."))))


_NOT_TOLD = re.compile(
    r"(?:categoria |produto |item )?(?:nao (?:foi |e |se |esta |ha |da para )?(?:inform|especific|identific"
    r"|mencion|cit|consta"
    r"|declar|diz|dit|descrit|defin|revel|indic|sab|aplic|classific|determin|dispon|explicit|esclarec)\w*"
    r"|sem (?:categoria|informac|identificac|especificac|defini|mencao|indicac|classificac)\w*"
    r"|desconhecid[oa]|indefinid[oa]|indeterminad[oa]|inespecific[oa]|outr[oa]s?|n/?[ad])"
    r"(?: (?:na|no|pelo|pela) \w+)?"
)


def is_as_fair(felt: object, expected: Mapping[str, object], prompt: PromptLike) -> bool:
    """Whether a complaint makes another feeling than the expected one fair, where nobody tells the stars: not the
    opposite of what somebody says who is delighted all the same."""
    pair = (expected.get("sentiment"), felt)
    if pair == ("positive", "negative") and _DELIGHTED.search(fold(prompt.user)):
        return False
    return bool(expected.get("main_complaint")) and pair in (
        ("neutral", "negative"),
        ("positive", "neutral"),
        ("positive", "negative"),
    )


_DELIGHTED = re.compile(
    r"(?<!nao )(?<!nunca )(?<!mais )\b(?:amei|ador\w+|feliz|superou|gostei muito|recomendo|voltarei|excelente compra"
    r"|(?:compraria|compro|vou comprar|volto a comprar) (?:de novo|outra vez|novamente))\b"
)
"""Words of somebody who is content with all but one thing."""


def _feeling(felt: object, wanted: object, states_stars: bool) -> float:
    """Every value that is none of the three costs as much as the opposite, so that spoiling the field never pays."""
    if not wanted or felt == wanted:
        return 1.0
    if felt not in _FEELINGS or "neutral" not in (felt, wanted):
        return OPPOSITE
    return OTHER_FEELING if states_stars else DEBATABLE_FEELING


def _kind_worth(found: Mapping[str, object], expected: Mapping[str, object]) -> float:
    """Less where no flag of the issues that there are stands."""
    complaint = expected.get("main_complaint")
    kinds = kinds_of(complaint) if isinstance(complaint, str) else frozenset()
    true = {name for name in _FLAGS if expected.get(name) is True}
    said = {name for name in _FLAGS if meant(name, found.get(name)) is True}
    if len(said) == len(_FLAGS) > len(true) + 1:
        return OTHER_KIND
    may_be = {flag for kind in kinds for flag in _ANYBODYS.get(kind, ())}
    return OTHER_KIND if true and not true & said and not may_be.intersection(said or may_be) else 1.0


def _summary_worth(summary: object, complaint: object, prompt: PromptLike) -> float:
    """Less for a summary with words of its own and none of the review's, and for none at all, so that spoiling it never
    pays; and a little less for a label («Cliente satisfeito com a calça»), by the guide a thin one."""
    fields = prompt.reference.get("fields", {})
    known = {word[:5] for word in words(f"{prompt.user} {fields.get('summary', '')}")}
    if len(fields) < FEWEST_FIELDS or len(known) < FEWEST:
        return 1.0
    if not isinstance(summary, str):
        return OTHER_THING
    told = {
        name
        for word in words(summary)
        if len(word) > 3 and word.isalpha()
        for name in called(word)
        if not _COMMON.match(word)
    }
    said = fold(summary)
    review = fold(prompt.user)
    if names_another(summary, prompt):
        return OTHER_NAME
    topics = {topic: bool(re.search(signs, review)) for topic, signs in _TOPICS.items() if topic in said}
    is_apart = told and not told & known and not any(topics.values()) and not _says_as_much(summary, prompt.user)
    if is_apart and is_nonsense(summary):
        return NONSENSE
    if is_opposed(said, review, fields.get("sentiment"), fields.get("main_complaint")):
        return OPPOSED
    if turns(said, review, fields.get("sentiment"), fields.get("main_complaint")):
        return TURNED
    if is_apart or list(topics.values()).count(False) > 1:
        return OTHER_THING
    return LABEL if _is_label(summary, complaint) else 1.0


def _says_as_much(summary: str, review: str) -> bool:
    """Whether a summary tells of a trouble or a praise that its review tells of in other words."""
    said, told = fold(summary), fold(review)
    is_praised = any(
        any(not is_denied(said, match.start()) for match in pattern.finditer(said)) and pattern.search(told)
        for pattern in PRAISE.values()
    )
    return (is_praised and _is_of_this(said, told)) or bool(kinds_of(summary) & kinds_of(review))


def _is_of_this(summary: str, review: str) -> bool:
    """Whether all that a folded summary names with an article, or begins with, is the review's or any order's."""
    own = {name for word in words(review) for name in called(word)}
    return all(
        called(noun) & own or _MATTERS.match(noun) or _COMMON.match(noun) or _ANY_ORDERS.match(noun)
        for noun in _NOUN.findall(summary)
    )


_NOUN = re.compile(r"(?:^|[.;:!] |\b(?:[oa]s?|uma?|d[oa]s?|n[oa]s?|aos?|seus?|suas?) )([a-z]{4,})")
_ANY_ORDERS = re.compile(
    r"mercad|encom|pacot|tud|tod|anunc|esper|combin|previs|promet|foto|dias?\b|tempo|data|cert|amig|famil|rapid"
    r"|pontual|ficou"
    r"|feliz|conten|agrad|otim|excel|perfei|tambem|outr|mesm|proxim|momen|casa|nota|dentro|antes|ador|amou|achou|super"
    r"|correi|transp|frete|comen|destac|ressal|tipo|lojist|marca|site|pessoa|usou|acord|tranq|dispo|inteir"
    r"|risca|ofert|escolh|inten|gent|embrulh|present|hora|semana|mes\b|manha|tarde|noite|hoje|logo|respeit|respos|duvid"
    r"|pergun|palavr|final|inici|primei|segund|unic|jeito|maneir|form|parte|cada|perf|protej|lacrad|novo|conjunt|descr"
    r"|artigo|vez|quem|gost|maxim|render|diz"
)


def names_another(summary: object, prompt: PromptLike) -> bool:
    """Whether a summary says of whom it is about that he is content or not with a thing of which his review tells
    nothing."""
    told = fold(f"{prompt.user} {prompt.reference.get('fields', {}).get('summary', '')}")
    known = words(told)
    also = {name for word in words(_OTHER_USE.sub(" ", told)) if len(word) > 1 for name in called(word)}
    named = _OF_A_THING.findall(fold(summary)) if isinstance(summary, str) else []
    return any(
        not _MATTERS.match(noun) and not any(_may_be(noun, word) for word in known) and not called(noun) & also
        for noun in named
    )


_OTHER_USE = re.compile(r"\b(capa|cama)s? (?:d[eao]|para) (?:banco|chuva|sofa|colchao|carro|moto|casal|solteiro)\b")
"""What is no «capinha» and no «caminha»."""


def _may_be(noun: str, word: str) -> bool:
    """Whether a word of a review may mean a noun: another number, or a short name («note» for «notebook»)."""
    stem = noun.rstrip("s")[:5]
    return word.startswith(stem) or (len(word) > 3 and noun.startswith(word.rstrip("s")))


def _is_label(summary: str, complaint: object) -> bool:
    """Whether a summary names somebody's feeling, a thing and the main complaint again, and tells nothing."""
    again = {word[:5] for word in words(str(complaint or ""))}
    rest = [word for word in words(summary) if word[:5] not in again]
    is_told = any(_TELLS.fullmatch(word) or kind(word) == "<verb>" for word in rest if not _FEELS.match(word))
    own = {word for word in rest if len(word) > 3 and not _FEELS.match(word)}
    return not is_told and len(own) <= LONGEST_LABEL
