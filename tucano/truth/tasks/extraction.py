"""Facts of `extraction`: which fields of the object are right, and what complaint and summary share with the review."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tucano.truth.facts import UNKNOWN, text_facts
from tucano.truth.json_object import only_object, read_object, whole_object
from tucano.truth.reading import plain, stems
from tucano.truth.standing import LEFT, stands
from tucano.truth.types import PromptLike

PLAIN = ("sentiment", "sentiment_score", "category", "delivery_issue", "product_issue", "seller_issue", "churn_risk",
         "repurchase_intent")  # fmt: skip
FIELDS = (*PLAIN, "main_complaint", "summary")
FEELINGS = ("negative", "neutral", "positive")
RISKS = ("low", "medium", "high")
FITTING = {"negative": (1, 2, 3), "neutral": (2, 3, 4), "positive": (3, 4, 5)}
"""Scores that do not contradict a feeling."""
FAR = 5.0
"""The distance of a feeling, risk or score that is none."""
MEANING = {
    "strict": "1 for one strict object and nothing else",
    "broken": "1 for an object that cannot be read whole",
    "fields": "fields of the object",
    "fields asked": "share of the known fields that it has",
    "further fields": "fields that nobody asked for",
    **{f"right: {name}": "1 where the field is the reference's, 0 where not" for name in PLAIN},
    "right": "share of the known plain fields that are right",
    "complaint": "stems that complaint and reference share (F1)",
    "complaint told": "stems that complaint and review share (F1)",
    "complaint foreign": "1 where the complaint has no stem of the reference's nor of the review",
    "complaint or none": "1 where both complain, or neither does",
    "complaint length": "characters of the complaint",
    "summary": "stems that summary and reference share (F1)",
    "summary told": "stems that summary and review share (F1)",
    "summary again": "stems that summary and complaint share (F1)",
    "summary length": "characters of the summary",
    "score off": "distance of the score",
    "feeling off": "distance of the feeling",
    "risk off": "distance of the risk",
    "consistent": "1 where score and feeling do not contradict each other",
    "beside": "characters beside the object",
}
RISING = frozenset({"strict", "fields asked", "right", "complaint", "complaint or none", "consistent", "stands"}) | {
    f"right: {name}" for name in PLAIN
}
FALLING = frozenset({
    "broken", "complaint foreign", "further fields", "score off", "feeling off", "risk off", "said twice", "odd places",
})  # fmt: skip
NEXT_FEELING, OPPOSITE_FEELING, WRONG = 0.6, 0.25, 0.95
"""What the exact check leaves where the feeling is one step off, or more, and for every other known plain field that is
wrong: these may be debatable."""
FOREIGN = 0.75
"""What it leaves where the complaint has no stem of the reference's nor of the review."""
BROKEN = 0.3
"""What it leaves of an object that no program reads: of 469 rated ones people gave none more than 3 of 5."""


def facts(prompt: PromptLike, answer: str, databases: Path | None) -> dict[str, float]:
    known: Mapping[str, Any] = prompt.reference.get("fields", {})
    found = read_object(answer)
    complaint, summary = (str(found.get(name) or "") for name in ("main_complaint", "summary"))
    right = {name: _is_right(found.get(name), known[name]) if name in known else UNKNOWN for name in PLAIN}
    judged = [value for value in right.values() if value == value]
    wanted = known.get("main_complaint", UNKNOWN)
    return {
        **text_facts(prompt.user, answer, f"{complaint}. {summary}"),
        "stands": float(stands(_around(answer, found))),
        "strict": float(only_object(answer) is not None),
        "broken": float("{" in answer and whole_object(answer) is None),
        "fields": float(len(found)),
        "fields asked": sum(name in found for name in known) / len(known) if known else UNKNOWN,
        "further fields": float(sum(name not in FIELDS for name in found)),
        **{f"right: {name}": value for name, value in right.items()},
        "right": sum(judged) / len(judged) if judged else UNKNOWN,
        "complaint": _alike(complaint, str(wanted or "")) if "main_complaint" in known else UNKNOWN,
        "complaint told": _alike(complaint, prompt.user),
        "complaint foreign": float(_is_foreign(complaint, str(wanted or ""), prompt.user)),
        "complaint or none": float(bool(complaint) == bool(wanted)) if "main_complaint" in known else UNKNOWN,
        "complaint length": float(len(complaint)),
        "summary": _alike(summary, str(known.get("summary") or "")) if "summary" in known else UNKNOWN,
        "summary told": _alike(summary, prompt.user),
        "summary again": _alike(summary, complaint),
        "summary length": float(len(summary)),
        "score off": _score_off(found.get("sentiment_score"), known.get("sentiment_score")),
        "feeling off": _steps(FEELINGS, found.get("sentiment"), known.get("sentiment")),
        "risk off": _steps(RISKS, found.get("churn_risk"), known.get("churn_risk")),
        "consistent": float(_is_consistent(found)),
        "beside": float(abs(len(answer) - len(json.dumps(found, ensure_ascii=False)))),
    }


def exact(told: Mapping[str, float]) -> float:
    """What wrong plain fields leave of an answer, however it reads, and its own word against it."""
    wrong = sum(told[f"right: {name}"] == 0 for name in PLAIN if name != "sentiment")
    off = told["feeling off"]
    felt = OPPOSITE_FEELING if off > 1 else NEXT_FEELING if off > 0 else 1.0
    kept = felt * WRONG**wrong * (FOREIGN if told["complaint foreign"] else 1.0)
    return kept * (1.0 if told["stands"] else LEFT) * (BROKEN if told["broken"] else 1.0)


def is_known(reference: Mapping[str, Any]) -> bool:
    return bool(set(reference.get("fields", {})) - {"summary"})


def _around(answer: str, found: Mapping[str, Any]) -> str:
    """What is said beside the object, and in fields that nobody asked for."""
    start, end = answer.find("{"), answer.rfind("}") + 1
    beside = f"{answer[:start]}. {answer[end:]}" if 0 <= start < end else answer
    return ". ".join([beside, *(f"{name} {value}" for name, value in found.items() if name not in FIELDS)])


def _is_foreign(complaint: str, wanted: str, review: str) -> bool:
    """Whether a complaint and the reference's are both there and other ones, and no stem of it is known."""
    own = stems(complaint)
    is_other = bool(wanted) and plain(complaint).strip(" .") != plain(wanted)
    return is_other and bool(own) and not own & (stems(wanted) | stems(review))


def _is_right(value: Any, wanted: Any) -> float:
    if isinstance(value, str) and isinstance(wanted, str):
        return float(plain(value).strip(" .") == plain(wanted).strip(" ."))
    return float(type(value) is type(wanted) and value == wanted)


def _alike(one: str, other: str) -> float:
    ours, theirs = stems(one), stems(other)
    return 2 * len(ours & theirs) / (len(ours) + len(theirs)) if ours and theirs else 0.0


def _score_off(value: Any, wanted: Any) -> float:
    if wanted is None:
        return UNKNOWN
    return float(min(FAR, abs(value - wanted))) if type(value) is int and abs(value) < 100 else FAR


def _steps(scale: tuple[str, ...], value: Any, wanted: Any) -> float:
    if wanted not in scale:
        return UNKNOWN
    return float(abs(scale.index(value) - scale.index(wanted))) if value in scale else FAR


def _is_consistent(found: Mapping[str, Any]) -> bool:
    felt, score = found.get("sentiment"), found.get("sentiment_score")
    return isinstance(felt, str) and type(score) is int and score in FITTING.get(felt, ())
