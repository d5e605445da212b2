"""The reward of extraction: the fields of an answer's object, how far each agrees with the reference, and what is left
where the object contradicts its review or itself. The fields and their checks are shared by all sets.

`total` is form (.35) and agreement (.65), both times a gate: whole, not repeated, not copied, not taken back, and the
product of what each fault of the object leaves (`worth`).
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import mul
from pathlib import Path

from rewards.parsing import text
from rewards.parsing.objects import standing_object, wholeness
from rewards.parsing.text import fold, foreign, longest_copy, word_set, words
from rewards.types import Component, PromptLike, clip, damped, filled
from rewards.wording.summaries import names_another, summary_worth
from rewards.wording.troubles import denies, kinds_of, same_trouble, stems

_FEELINGS = ("negative", "neutral", "positive")
_FLAGS = ("delivery_issue", "product_issue", "seller_issue")
_RISKS = ("low", "medium", "high")


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


CHECKS: Mapping[str, Callable[[object], bool]] = {
    "sentiment": lambda value: value in _FEELINGS,
    "sentiment_score": lambda value: type(value) is int and 1 <= value <= 5,
    "category": _is_text,
    "delivery_issue": lambda value: isinstance(value, bool),
    "product_issue": lambda value: isinstance(value, bool),
    "seller_issue": lambda value: isinstance(value, bool),
    "churn_risk": lambda value: value in _RISKS,
    "repurchase_intent": lambda value: isinstance(value, bool),
    "main_complaint": lambda value: value is None or _is_text(value),
}
"""The nine checks of type or value. `summary`, the tenth field, has none."""
FIELDS = (*CHECKS, "summary")
_MEANT: dict[str, object] = {
    "sim": True, "verdadeiro": True, "true": True, "nao": False, "falso": False, "false": False,
    "baixo": "low", "baixa": "low", "medio": "medium", "media": "medium", "alto": "high", "alta": "high",
    "positivo": "positive", "positiva": "positive", "negativo": "negative", "negativa": "negative",
    "neutro": "neutral", "neutra": "neutral",
    **{value: value for value in (*_FEELINGS, *_RISKS)},
    "um": 1, "dois": 2, "tres": 3, "quatro": 4, "cinco": 5, "1": 1, "2": 2, "3": 3, "4": 4, "5": 5,
}  # fmt: skip
_DESCRIPTORS = word_set(
    "string str text texto boolean bool booleano integer int inteiro number numero null none valor value categoria"
    " resumo reclamacao"
)
_LONGEST_QUOTE = {"main_complaint": 12, "summary": 16}
"""Words of its prompt in a row from which on a text is no complaint and no summary, but the prompt once more."""


def meant(name: str, value: object) -> object:
    """The value that a field told in words means («sim» for true); others as they are."""
    if not isinstance(value, str) or name not in CHECKS or name == "main_complaint" or len(said := words(value)) > 2:
        return value
    told = _MEANT.get(said[-1], value) if said and not any(word in _MEANT for word in said[:-1]) else value
    return told if CHECKS[name](told) else value


def contradicts(sentiment: object, stars: int | None) -> bool:
    """Whether a sentiment says the opposite of the stars: negative from 4 on, positive up to 2."""
    return stars is not None and ((stars >= 4 and sentiment == "negative") or (stars <= 2 and sentiment == "positive"))


def usable_fields(found: Mapping[str, object], asked: str) -> dict[str, object]:
    """The fields of an object that may be an answer: not the schema's own words, not foreign, not the prompt again."""
    return {name: found[name] for name in FIELDS if name in found and is_usable(name, found[name], asked)}


def is_usable(name: str, value: object, asked: str = "") -> bool:
    """Whether a value may be an answer: not the schema's own words (`"category": "category"`, `"a|b"`)."""
    if not isinstance(value, str):
        return True
    folded = fold(value).strip(" <>{}[]()")
    if name == "main_complaint" and not folded:
        return True
    is_own = bool(folded) and folded != name and folded not in _DESCRIPTORS and "|" not in folded
    return is_own and foreign(words(value)) < 0.5 and longest_copy(words(value), asked) < _LONGEST_QUOTE.get(name, 99)


# Agreement of the fields with the reference

FARTHEST = 0.4
"""Distance from the reference's probability from which on there is no agreement."""
UNSAID = 0.8
"""Agreement of a customer's intent that is left open."""
STAR = 0.97
RISK = 0.95
FAIR = 0.92
"""Agreement, where nobody tells the stars, of one more or less of the same feeling, of the next risk, and of a lower
feeling than the expected one, which a complaint makes as fair."""
OPINION = 0.9
"""Agreement of what somebody lukewarm finds wanting, told as a complaint («material simples»)."""
_NO_COMPLAINT = re.compile(
    r"(?:nao|sem|nenhuma?|nada|inexistente|ausente|n/a|nd|-)?"
    r"(?: (?:ha|houve|consta|apontou|tem|teve|a|de|para|apontar|declarar|informad|reclam\w+|queixas?"
    r"|problemas?|ressalvas?|criticas?|defeitos?|apontad[oa]s?|relatad[oa]s?|registrad[oa]s?|mencionad[oa]s?)\b)*"
)
_NOT_TOLD = re.compile(
    r"(?:categoria |produto |item )?(?:nao (?:foi |e |se |ha )?\w+|sem \w+|desconhecid[oa]|indefinid[oa]"
    r"|indeterminad[oa]|inespecific[oa]|outr[oa]s?|n/?[ad])(?: n[oa] \w+| pel[oa] \w+)?"
)
_STARS = re.compile(r"\b(?:nota|estrelas):? ([1-5])\b(?![.,]\d)|(?<!/)\b([1-5]) ?/ ?5\b(?![/\d])|\b([1-5]) estrelas?")


def token_f1(said: str, expected: str) -> float:
    """F1 of the different words of two texts, accents and case ignored."""
    ours, theirs = set(words(said)), set(words(expected))
    return 2 * len(ours & theirs) / (len(ours) + len(theirs)) if ours else float(said.strip() == expected.strip())


def agreement(name: str, value: object, expected: object) -> float:
    """How well a field matches its reference, in [0, 1]: exact and type-strict, but dense where closeness means
    something: texts by the F1 of their words, stars (one off: half), probabilities (.4 off: nothing).
    """
    if name == "probability":
        if isinstance(value, bool) or not isinstance(value, int | float) or not isinstance(expected, int | float):
            return 0.0
        return clip(1 - abs(value - expected) / FARTHEST) if 0 <= value <= 1 else 0.0
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


def agreements(usable: Mapping[str, object], expected: Mapping[str, object], prompt: PromptLike) -> dict[str, float]:
    """How well each field of the reference is matched, in [0, 1] and in its order; 0 for one that is not there. What
    neither the review nor the words around it tell is open."""
    agreed = {name: agreement(name, usable[name], value) if name in usable else 0.0 for name, value in expected.items()}
    if not states_stars(prompt):
        agreed |= _undecided(usable, expected, prompt)
    if "category" in usable and leaves_open(usable["category"], expected.get("category")):
        agreed["category"] = 1.0
    said, wanted = usable.get("main_complaint"), expected.get("main_complaint")
    if isinstance(said, str) and isinstance(wanted, str):
        agreed["main_complaint"] = max(
            token_f1(said, wanted) * (not denies(said)), same_trouble(said, wanted, prompt.user)
        )
    elif isinstance(said, str) and "main_complaint" in expected and expected.get("sentiment") == "neutral":
        own = stems(said) & stems(prompt.user)
        is_own = 3 * len(own) >= len(stems(said)) and kinds_of(said) <= kinds_of(prompt.user) | {"poor"}
        if (own and is_own) or not kinds_of(said):
            agreed |= {
                name: max(agreed[name], OPINION) for name in ("main_complaint", "product_issue") if name in agreed
            }
    return agreed


def _undecided(usable: Mapping[str, object], expected: Mapping[str, object], prompt: PromptLike) -> dict[str, float]:
    """Agreement of what the stars would decide and nobody tells: one star more or less of the same feeling, the next
    risk, and a lower feeling that is as fair, with what goes with it."""
    found: dict[str, float] = {}
    felt = usable.get("sentiment")
    if _is_as_fair(felt, expected, prompt):
        fits = usable.get("sentiment_score") in ((3,) if felt == "neutral" else (1, 2))
        found = {"sentiment": FAIR, "sentiment_score": FAIR * fits, "churn_risk": FAIR}
    stars = (usable.get("sentiment_score"), expected.get("sentiment_score"))
    if CHECKS["sentiment_score"](stars[0]) and stars in ((1, 2), (2, 1), (4, 5), (5, 4)):
        found["sentiment_score"] = STAR
    risks = (usable.get("churn_risk"), expected.get("churn_risk"))
    if "medium" in risks and risks[0] != risks[1] and all(risk in _RISKS for risk in risks):
        found["churn_risk"] = RISK
    return {name: value for name, value in found.items() if name in expected}


def states_stars(prompt: PromptLike) -> bool:
    """Whether the words of a prompt tell its stars: another number («nota 10», a date) tells something else."""
    told = {part for groups in _STARS.findall(fold(prompt.user)) for part in groups}
    return prompt.stars is not None and str(prompt.stars) in told


def leaves_open(category: object, expected: object) -> bool:
    """Whether a category says that nobody tells it, where the reference knows none either («outros»)."""
    if fold(str(expected)) != "outros" or not isinstance(category, str | None):
        return False
    return category is None or bool(_NOT_TOLD.fullmatch(fold(category).strip(" .")))


_FROM_STARS = ("sentiment", "sentiment_score", "churn_risk", "repurchase_intent")


def match(usable: dict[str, object], expected: dict[str, object], prompt: PromptLike) -> float:
    """The mean agreement of the usable fields with those of the reference, each with what it weighs."""
    told = [_weight(name, value, prompt) for name, value in expected.items()]
    return sum(map(mul, told, agreements(usable, expected, prompt).values())) / sum(told) if told else 0.0


def _weight(name: str, value: object, prompt: PromptLike) -> float:
    """What a field weighs: little where the words around the review state it, most where only reading tells it."""
    if name in _FROM_STARS:
        return 0.2 if states_stars(prompt) else 1.0
    if name == "category":
        return 0.2 if fold(str(value)) in fold(prompt.user) else 0.6
    if name == "main_complaint":
        return 3.0
    return 0.5 if value is False else 2.0


# What an object's faults leave

TOLD = 0.8
"""Agreement of values in words («sim», «alto»): right, but a program stumbles."""
OPPOSITE = 0.3
OTHER_FEELING = 0.4
DEBATABLE_FEELING = 0.6
FAIR_FEELING = 0.96
OTHER_STARS = 0.85
OTHER_CATEGORY = 0.7
OTHER_KIND = 0.6
DENIED = 0.4
_ANYBODYS = {"wrong": _FLAGS, "incomplete": _FLAGS[:2]}
"""Kinds of trouble that may be several parties' fault."""
_APART: dict[str, tuple[int, ...]] = {"negative": (4, 5), "neutral": (1, 5), "positive": (1, 2)}
"""Stars that contradict a feeling."""


def worth(found: Mapping[str, object], expected: Mapping[str, object], prompt: PromptLike) -> float:
    """What an object's faults leave of all credit: the wrong feeling or kind of issue, what it only had to copy, a
    complaint that is denied, a summary that does not sum up this review."""
    felt, stars = (meant(name, found.get(name)) for name in ("sentiment", "sentiment_score"))
    wanted, category, complaint = (expected.get(name) for name in ("sentiment", "category", "main_complaint"))
    is_fair = _is_as_fair(felt, expected, prompt)
    is_open = wanted == "neutral" and felt == "negative" and bool(complaint)
    kept = FAIR_FEELING if is_fair else _feeling(felt, wanted, states_stars(prompt) and not is_open)
    kept *= OPPOSITE if stars in _APART.get(str(felt if is_fair else wanted), ()) else 1.0
    kept *= OTHER_STARS if states_stars(prompt) and stars != expected.get("sentiment_score", stars) else 1.0
    own, said = found.get("category"), found.get("main_complaint")
    is_other = category is not None and fold(str(own)).strip() != fold(str(category)) and not leaves_open(own, category)
    told = f"{prompt.user} {prompt.reference.get('fields', {}).get('summary', '')}"
    is_known = fold(str(category)) in fold(prompt.user) or (own and names_another(found.get("summary"), told))
    kept *= OTHER_CATEGORY if is_other and is_known else 1.0
    kept *= DENIED if isinstance(said, str) and complaint and denies(said) else 1.0
    return kept * _flags_worth(found, expected) * summary_worth(found.get("summary"), said, prompt)


def _is_as_fair(felt: object, expected: Mapping[str, object], prompt: PromptLike) -> bool:
    """Whether a complaint makes a lower feeling than the expected one fair, where nobody tells the stars."""
    wanted = expected.get("sentiment")
    is_lower = felt in _FEELINGS and wanted in _FEELINGS and _FEELINGS.index(felt) < _FEELINGS.index(wanted)
    return is_lower and bool(expected.get("main_complaint")) and not states_stars(prompt)


def _feeling(felt: object, wanted: object, stated: bool) -> float:
    """Every value that is none of the three costs as much as the opposite, so that spoiling the field never pays."""
    if not wanted or felt == wanted:
        return 1.0
    if felt not in _FEELINGS or "neutral" not in (felt, wanted):
        return OPPOSITE
    return OTHER_FEELING if stated else DEBATABLE_FEELING


def _flags_worth(found: Mapping[str, object], expected: Mapping[str, object]) -> float:
    """Less where no flag of the issues that there are stands, or all stand and one is right at most."""
    true = {name for name in _FLAGS if expected.get(name) is True}
    said = {name for name in _FLAGS if meant(name, found.get(name)) is True}
    complaint = expected.get("main_complaint")
    may_be = {flag for kind in kinds_of(str(complaint or "")) for flag in _ANYBODYS.get(kind, ())}
    is_missed = true and not true & said and not (may_be & said if said else may_be)
    return OTHER_KIND if is_missed or len(said) == len(_FLAGS) > len(true) + 1 else 1.0


@dataclass(frozen=True)
class Extraction:
    components: tuple[Component, ...] = (
        Component(
            "extraction.valid_json",
            0.10,
            "a JSON object with at least one usable field",
            "all credit x .85 beside a sentence, x .45 with a plain fault or beside more prose, x .1 among"
            " scraps or other objects; x .3 for the opposite sentiment, x .4 for another (.6 without"
            " stars), x .6 for another kind of issue, x .85 for other stars and x .7 for another category"
            " than stated; x .75 without a summary of the review, x .6 with a number that it has not, x .5"
            " with one of another thing, x .25 with its opposite, x .88 with a label, down to x .75 with one of"
            " words in no order; 70 % of the form go with the square of field_match",
        ),
        Component(
            "extraction.fields_present",
            0.10,
            "usable fields / those of the reference, or 10 without one",
            "the field's own name, a type's name or foreign text is unusable",
        ),
        Component(
            "extraction.value_checks",
            0.15,
            "type or value checks passed by usable fields / those of the reference, or 9 without one",
        ),
        Component(
            "extraction.field_match",
            0.65,
            "agreement with the reference's fields",
            "the cube of a mean in which fields that only reading tells weigh most; texts by word F1,"
            " stars one off by half (free where nobody tells them), values in words by a fifth; summary"
            " left out",
        ),
        Component(
            "extraction.contradiction",
            -0.20,
            "the sentiment contradicts the reference or the stars, or is none",
            "no valid sentiment counts too, so that spoiling a field never pays",
        ),
    )

    def shares(self, prompt: PromptLike, answer: str, databases: Path | None) -> tuple[float, ...]:
        found = standing_object(answer, FIELDS)
        usable = usable_fields(found, prompt.user)
        asked = prompt.reference.get("fields") or dict.fromkeys(FIELDS)
        expected = {name: value for name, value in prompt.reference.get("fields", {}).items() if name != "summary"}
        told = match({name: meant(name, value) for name, value in usable.items()}, expected, prompt)
        matched = TOLD * told + (1 - TOLD) * match(usable, expected, prompt)
        gate = _is_answer(answer, usable, prompt) * worth(usable, expected, prompt)
        form = gate * (damped(matched**2) if expected else 1.0)
        right = agreements(usable, expected, prompt)
        checks = [name for name in CHECKS if name in asked]
        passed = sum(right.get(name) == 1 or (name in usable and CHECKS[name](usable[name])) for name in checks)
        shares = (
            form * bool(usable),
            form * sum(name in usable for name in asked) / len(asked),
            form * passed / max(1, len(checks)),
            gate * matched**3,
            float(_is_contrary(meant("sentiment", found.get("sentiment")), expected, prompt)),
        )
        return filled(shares, self.components, frozenset({"extraction.field_match"}), bool(expected))


def _is_answer(answer: str, usable: dict[str, object], prompt: PromptLike) -> float:
    """How much a text is one object and neither repetition nor the prompt, in [0, 1]."""
    if not usable:
        return 0.0  # however long the text
    tokens = words(answer)
    own = text.variety(tokens) * (text.originality(tokens, prompt.user) > 0)
    return own * wholeness(answer)


def _is_contrary(felt: object, expected: Mapping[str, object], prompt: PromptLike) -> bool:
    """Whether a feeling is the opposite of the reference's, contradicts the stars, or is none where these tell one."""
    stars, wanted = prompt.stars, expected.get("sentiment")
    if _is_as_fair(felt, expected, prompt):
        return False
    fits = stars is None or stars == 3 or felt in ("neutral", "positive" if stars >= 4 else "negative")
    return not fits or (bool(wanted) and felt != wanted and "neutral" not in (felt, wanted))
