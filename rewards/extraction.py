"""The fields of an extraction answer and their checks; shared by all sets."""

from collections.abc import Callable, Mapping

from rewards.parsing.text import fold, words


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

    Texts by the F1 of their words, stars by their distance (one off: half).
    """
    if type(value) is not type(expected):
        return 0.0
    if name in ("category", "main_complaint", "summary") and isinstance(value, str) and isinstance(expected, str):
        return token_f1(value, expected)
    if name == "sentiment_score" and isinstance(value, int) and isinstance(expected, int):
        return 1 - min(abs(value - expected), 2) / 2  # an integer may be too long for a float
    return float(value == expected)


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
