"""The fields of an extraction answer, their checks, and how far they agree with a reference; shared by all sets."""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from operator import mul

from rewards.parsing.prose import denies_itself
from rewards.parsing.text import REMEMBERED, fold, foreign, longest_copy, word_set, words
from rewards.types import PromptLike, clip
from rewards.wording.complaints import (
    denies,
    is_as_fair,
    is_of_kind,
    kinds_of,
    leaves_open,
    names_every_kind,
    states_stars,
)


def _one_of(*values: str) -> Callable[[object], bool]:
    return lambda value: value in values


def _is_bool(value: object) -> bool:
    return isinstance(value, bool)


def _is_stars(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 5


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_text_or_null(value: object) -> bool:
    return value is None or _is_text(value)


CHECKS: Mapping[str, Callable[[object], bool]] = {
    "sentiment": _one_of("positive", "neutral", "negative"),
    "sentiment_score": _is_stars,
    "category": _is_text,
    "delivery_issue": _is_bool,
    "product_issue": _is_bool,
    "seller_issue": _is_bool,
    "churn_risk": _one_of("low", "medium", "high"),
    "repurchase_intent": _is_bool,
    "main_complaint": _is_text_or_null,
}
"""The nine checks of type or value. `summary`, the tenth field, has none."""

FIELDS = (*CHECKS, "summary")


def contradicts(sentiment: object, stars: int | None) -> bool:
    """Whether a sentiment says the opposite of the stars: negative from 4 on, positive up to 2."""
    return stars is not None and ((stars >= 4 and sentiment == "negative") or (stars <= 2 and sentiment == "positive"))


def agreement(name: str, value: object, expected: object) -> float:
    """How well a field matches its reference, in [0, 1]: exact and type-strict, but dense where closeness means
    something.

    Texts by the F1 of their words, stars by their distance (one off: half), probabilities by theirs (.4 off: nothing).
    """
    if name == "probability":
        return _near(value, expected)
    if name == "main_complaint" and expected is None and isinstance(value, str):
        return float(bool(_NO_COMPLAINT.fullmatch(fold(value).strip(" ."))))
    if name == "repurchase_intent" and value is None:
        return UNSAID
    if type(value) is not type(expected):
        return 0.0
    if name in ("category", "main_complaint", "summary") and isinstance(value, str) and isinstance(expected, str):
        return token_f1(value, expected)
    if name == "sentiment_score" and isinstance(value, int) and isinstance(expected, int):
        return 1 - min(abs(value - expected), 2) / 2  # an integer may be too long for a float
    return float(value == expected)


def _near(value: object, expected: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isinstance(expected, int | float):
        return 0.0
    return clip(1 - abs(value - expected) / FARTHEST) if 0 <= value <= 1 else 0.0


FARTHEST = 0.4
"""Distance from the reference's probability from which on there is no agreement."""
UNTOLD = 0.83
UNSAID = 0.7
"""Agreement of a customer's intent that is left open: where the review does not tell it, and where it does."""
_STARS_OF = {"negative": (1, 2), "neutral": (3,)}
_RISKS_OF = {"negative": ("medium", "high"), "neutral": ("medium",)}
"""What goes with another feeling that is as fair."""
STAR = 0.97
OPEN_FEELING = 0.92
OPEN_RISK = 0.95
"""Agreement of a star more or less of the same feeling, of another feeling that a complaint allows, and of the next
risk, where nobody tells the stars."""
SECOND = 0.9
"""Agreement of another trouble that the review tells of as well: which is the main one is open."""
OPINION = 0.85
"""Agreement of what somebody lukewarm finds wanting, told as a complaint («material simples»)."""
_TELLS_INTENT = re.compile(
    r"\b(?:compr\w+ (?:de novo|outra vez|novamente|mais)|(?:nunca|nao) (?:mais )?(?:compr|volt)\w*|volt\w* a comprar"
    r"|pens\w+ (?:bem |melhor )?antes|duvida se)\b"
)
"""What says whether a customer will buy again; «recomendo» does not."""
_NO_COMPLAINT = re.compile(
    r"(?:(?:nao (?:ha|houve|consta|apontou|tem|teve)|sem|nenhuma?|nada) ?(?:a |de |para )?"
    r"(?:reclama\w*|queixas?|problemas?|apontar|declarar|ressalvas?|criticas?|defeitos?)?"
    r"(?: (?:apontad|relatad|registrad|mencionad|informad)\w+)?|inexistente|ausente|n/a|nd|-)?"
)
_LUKEWARM = re.compile(
    r"\b(?:expectativa|esperad|esperava|basic|median|simples|nada demais|razoave|regular|mais ou menos|comum\b"
    r"|mediocr|morn[oa]\b"
    r"|meia-boca|aquem|passavel|sem (?:graca|brilho|encanto|destaque)|deix\w+ (?:\w+ )?a desejar|meio-termo"
    r"|nada (?:de )?especial"
    r"|poderia ser melhor|grande coisa|(?:nao|sem|nem|pouco|longe de) (?:\w+ )?(?:empolg|convenc|surpreend|encant"
    r"|impression|anim(?:a|am|ou|aram|ad\w+)\b"
    r"|agrad|brilh|entusiasm|cativ|chama a atencao))\w*"
)
_NOTHING_MORE = re.compile(
    r"(?:[aoe]s?|aos?|um|uma|de|d[oa]s?|em|n[oa]s?|que|com|para|pel[oa]s?|por|mas|so|apenas|muit[oa]|bem|meio|pouco|tao|nao|nem"
    r"|nada|sem|ser|era|foi|esta|fic(?:a|ou)|ach(?:a|ou)|consider(?:a|ou)|client\w*|consumidor\w*|produtos?|pecas?|aparelho|frustr\w+|parte|complet\w+|total\w*|tanto|todo|item|itens"
    r"|artigo|compra|qualidade|expectativas?|material|acabamento|desempenho|funcionamento|resultado|rendimento|uso"
    r"|experiencia|design|aparencia|modelo|geral|relacao|quanto|cumpr\w+|atend(?:e|eu|em|eram|id[ao]s?)|corresp\w+|ating\w+|super\w+"
    r"|abaixo|menos|mais|inferior|opiniao|impressao|serve|funciona|demais|comum|bom|boa|satisf\w+|diferencia\w+|lhe|se|me"
    r"|ele|ela|como|ter|tem|inovador\w*|interessante|destaque|algo|apesar|entre|parece\w*|recomend\w+|duvida)"
)
"""Words that name nothing beside a lukewarm one: «atendimento morno» complains of something that nobody told."""
_OF_THE_FRAME = re.compile(r"\b(?:json|campos|avaliac\w+)\b")
"""Words of those who ask: no customer complains of these."""
_AFTER_ALL = re.compile(r"\b(?:pedid\w*|pedir\w*|cobranc\w*|convite) (?:d[ea] |por )?avaliacao\b")
_TOO_SOON = re.compile(r"\b(?:cedo|antes|fora d[ea] hora|precoce|prematur\w+|apressad\w+)\b")
"""What a customer may complain of: to be asked for an opinion too soon."""
_ARTICLES = word_set("o a os as um uma meu minha")
_COMMON = re.compile(
    r"produt|entreg|loja|compr|pedid|client|avali|nota|satis|insat|muito|mais|para|pela|pelo|com|sobre|veio|receb"
    r"|chego"
    r"|recla|gosto|item|por|dos|das|uma|que|nao|sem|foi|bem|bom|boa"
)


@lru_cache(maxsize=REMEMBERED)
def stems(text: str) -> frozenset[str]:
    """Beginnings of the words that tell what a text is about."""
    told = (word for word in words(text) if len(word) > 2 and word.isalpha() and not _COMMON.match(word))
    return frozenset(word[:5] for word in told)


def says_the_same(complaint: str, expected: str, review: str) -> bool:
    """Whether a complaint has half of what the expected one is about, or nearly all of it stands in the review."""
    said, wanted = stems(complaint), stems(expected)
    told = said & (stems(review) | wanted)
    return bool(said & wanted and 2 * len(said & wanted) >= len(wanted)) or (
        len(told) >= 2 and 5 * len(told) >= 3 * len(said)
    )


def token_f1(text: str, expected: str) -> float:
    """F1 of the different words of two texts, accents and case ignored."""
    ours = set(words(text))
    theirs = set(words(expected))
    return 2 * len(ours & theirs) / (len(ours) + len(theirs)) if ours else float(text.strip() == expected.strip())


def matches(name: str, value: object, expected: object) -> bool:
    """Whether a field is right: type-strict and equal; a category up to case and accents, a complaint from word F1 .5
    on.
    """
    if type(value) is not type(expected):
        return False
    if isinstance(value, str) and isinstance(expected, str):
        if name == "main_complaint":
            return token_f1(value, expected) >= 0.5
        if name == "category":
            return fold(value).strip() == fold(expected).strip()
    return value == expected


_SHOWN = 0.2
"""Weight of a field that the words around the review state."""
_ONLY_READ = 2.0
"""Weight of one that only reading tells."""
_UNSET = 0.5
"""Weight of a flag that is not set."""
_GUESSED = 0.6
"""Weight of a category that nobody states: a thing may be of several («tapete»)."""
_COMPLAINT = 3.0
_FROM_STARS = ("sentiment", "sentiment_score", "churn_risk", "repurchase_intent")
_DESCRIPTORS = word_set(
    "string str text texto boolean bool booleano integer int inteiro number numero null none valor value categoria"
    " resumo reclamacao"
)


def match(usable: dict[str, object], expected: dict[str, object], prompt: PromptLike) -> float:
    """The weighted mean agreement of the usable fields with those of the reference."""
    agreed = agreements(usable, expected, prompt).values()
    told = [_told(name, value, prompt) for name, value in expected.items()]
    return sum(map(mul, told, agreed)) / sum(told) if told else 0.0


def agreements(usable: Mapping[str, object], expected: Mapping[str, object], prompt: PromptLike) -> dict[str, float]:
    """How well each field of the reference is matched, in [0, 1] and in its order; 0 for one that is not there."""
    agreed = {name: agreement(name, usable[name], value) if name in usable else 0.0 for name, value in expected.items()}
    if not states_stars(prompt):
        agreed |= _undecided(usable, expected, prompt)
    if (
        usable.get("repurchase_intent", "") is None
        and "repurchase_intent" in expected
        and not _TELLS_INTENT.search(fold(prompt.user))
    ):
        agreed["repurchase_intent"] = UNTOLD
    if "category" in usable and leaves_open(usable["category"], expected.get("category")):
        agreed["category"] = 1.0
    said, wanted = usable.get("main_complaint"), expected.get("main_complaint")
    if isinstance(said, str) and isinstance(wanted, str):
        agreed["main_complaint"] = _complaint(said, wanted, prompt.user)
    elif isinstance(said, str) and "main_complaint" in expected and expected.get("sentiment") == "neutral":
        own = stems(said)
        is_own = bool(own) and 2 * len(own & stems(prompt.user)) >= len(own)
        if (not kinds_of(said) and is_own) or _is_lukewarm(said, prompt.user):
            agreed["main_complaint"] = max(agreed["main_complaint"], OPINION)
            if usable.get("product_issue") is True and "product_issue" in agreed:
                agreed["product_issue"] = max(agreed["product_issue"], OPINION)
    return agreed


def _is_lukewarm(complaint: str, review: str) -> bool:
    """Whether a complaint is a lukewarm word of the review's own thing, and names nothing else that is wrong."""
    rest, hits = _LUKEWARM.subn(" ", fold(complaint))
    own = stems(review)
    is_all = hits > 0 and all(_NOTHING_MORE.fullmatch(word) or word[:5] in own for word in words(rest))
    return is_all and kinds_of(complaint) <= {"poor"}


def _complaint(said: str, wanted: str, review: str) -> float:
    """How well a complaint matches the expected one: all but for its articles is the same, a denied one is none."""
    folded = fold(said)
    framed = _AFTER_ALL.sub(" ", folded) if _TOO_SOON.search(folded) else folded
    if denies(said, wanted) or _OF_THE_FRAME.search(framed) or _is_of_others(said, wanted, review):
        return 0.0
    if _LACKS.search(fold(wanted)) and not _lacks(said) and not is_of_kind(said, wanted, review):
        return 0.0
    if [word for word in words(said) if word not in _ARTICLES] == [
        word for word in words(wanted) if word not in _ARTICLES
    ]:
        return 1.0
    is_told = is_of_kind(said, wanted, review) or (not names_every_kind(said) and says_the_same(said, wanted, review))
    is_second = not is_told and bool(kinds_of(wanted)) and bool(kinds_of(said)) and kinds_of(said) <= kinds_of(review)
    return max(token_f1(said, wanted), float(is_told), SECOND * is_second)


_FAILINGS = (
    (re.compile(r"\b(?:cobr\w+|car[oa]s?\b)"), re.compile(r"\b(?:cobr|car[oa]s?\b)")),
    (
        re.compile(r"\bnao (?:envi|mand|despach)(?:ou|a)\b(?! (?:\w+ )?(?:respo|mensag|retorn|nada|e-?mail|nota|nf))"),
        re.compile(r"\b(?:envi|mand|despach|cheg|receb|entreg)"),
    ),
)
"""What sellers fail in by a word that is no kind of its own, and by which a review tells of it."""


def _is_of_others(said: str, wanted: str, review: str) -> bool:
    """Whether a complaint names only kinds or failings that neither the review nor the expected one has: «vendedor
    negou a troca» is no «vendedor não responde», though half of its words are."""
    own = stems(said)
    if 2 * len(own & stems(review)) > len(own):  # what the review itself says, in whatever kind it falls
        return False
    named, heard = kinds_of(said), kinds_of(review) | kinds_of(wanted)
    if named or not kinds_of(wanted):
        return bool(named) and bool(kinds_of(wanted)) and not named & heard
    told = fold(f"{review} {wanted}")
    return any(failing.search(fold(said)) and not sign.search(told) for failing, sign in _FAILINGS)


_LACKS = re.compile(r"\bnao (?:responde|chegou|veio|devolve|troca)\b")
_LACKING = re.compile(
    r"\b(?:nao|nem|nunca|sem|nenhum\w*|ninguem|nada|falt|ignor|ausen|sum|extrav|neg|recus|cade|desaparec|silenc"
    r"|pend|perd"
    r"|abandon|atras|demor|aguard|esper|some|incomplet|descas|pessim|ruim|reembols|estorn|dificuld|aberto|mal\b)"
)


def _lacks(complaint: str) -> bool:
    """Whether a complaint says of something that it is missing or late: «vendedor respondeu rápido» does not."""
    return bool(_LACKING.search(fold(complaint)))


def _undecided(usable: Mapping[str, object], expected: Mapping[str, object], prompt: PromptLike) -> dict[str, float]:
    """Agreement of what the stars would decide and nobody tells: one star more or less of the same feeling, the next
    risk, and a feeling that is as fair with stars of its own."""
    found: dict[str, float] = {}
    felt = usable.get("sentiment")
    stars = usable.get("sentiment_score")
    if _is_stars(stars) and (stars, expected.get("sentiment_score")) in ((1, 2), (2, 1), (4, 5), (5, 4)):
        found["sentiment_score"] = STAR
    is_fair = is_as_fair(felt, expected, prompt)
    if is_fair:
        found["sentiment"] = OPEN_FEELING
        found["sentiment_score"] = OPEN_FEELING * (_is_stars(stars) and stars in _STARS_OF[str(felt)])
    risks = ("low", "medium", "high")
    risk, known = usable.get("churn_risk"), expected.get("churn_risk")
    is_next = risk in risks and known in risks and abs(risks.index(risk) - risks.index(known)) == 1
    if is_next or (is_fair and risk in _RISKS_OF[str(felt)]):
        found["churn_risk"] = OPEN_RISK
    return {name: value for name, value in found.items() if name in expected}


def _told(name: str, value: object, prompt: PromptLike) -> float:
    """What a field weighs: little where the words around the review state it, most where only reading tells it."""
    if name in _FROM_STARS:
        return _SHOWN if states_stars(prompt) else 1.0
    if name == "category":
        return _SHOWN if fold(str(value)) in fold(prompt.user) else _GUESSED
    if name == "main_complaint":
        return _COMPLAINT
    return _UNSET if value is False else _ONLY_READ


def is_usable(name: str, value: object) -> bool:
    """Whether a value may be an answer: not the schema's own words (`"category": "category"`, `"a|b"`), not in a
    foreign language.
    """
    if not isinstance(value, str):
        return True
    folded = fold(value).strip(" <>{}[]()")
    if name == "main_complaint" and not folded:
        return True
    return (
        bool(folded)
        and folded != name
        and folded not in _DESCRIPTORS
        and "|" not in folded
        and foreign(words(value)) < 0.5
    )


_LONGEST_QUOTE = {"main_complaint": 12, "summary": 16}
"""Words of its prompt in a row from which on a text is no complaint and no summary, but the prompt once more."""


def usable_fields(found: Mapping[str, object], asked: str) -> dict[str, object]:
    """The fields of an object that may be an answer; a text that hands the prompt back or denies itself is none."""
    return {
        name: found[name]
        for name in FIELDS
        if name in found and is_usable(name, found[name]) and not _is_no_field(name, found[name], asked)
    }


def _is_no_field(name: str, value: object, asked: str) -> bool:
    limit = _LONGEST_QUOTE.get(name)
    if limit is None or not isinstance(value, str):
        return False
    return longest_copy(words(value), asked) >= limit or denies_itself(value)


def fits_stars(sentiment: object, stars: int | None) -> bool:
    if stars is None or stars == 3:
        return True
    return sentiment in ("neutral", "positive" if stars >= 4 else "negative")
