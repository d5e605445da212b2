"""Extraction: a review becomes one JSON object with ten fields."""

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from rewards.extraction import CHECKS
from rewards.parsing.text import fold
from tucano.prompts import Prompt
from tucano.specs import objects
from tucano.specs.banks import Pool
from tucano.specs.base import Baseline, Display, Drawn, FieldsReference, Material, Probes, Scorer, TaskSpec
from tucano.specs.objects import Field, ObjectAnswer
from tucano.specs.scoring import (
    Case,
    balanced_accuracy,
    brier,
    macro_f1,
    mean,
    plain,
    read_json,
    same,
    stars_off,
    token_f1,
)

_NO_TEXT = (3, True)
_NO_FLAG = ("sim", 1, None)

_DESCRIBED: dict[str, Field] = {
    "sentiment": Field(
        "positive|neutral|negative",
        "positive",
        (1, True, ["negative"]),
        objects.one_of("positive", "negative"),
        schema=objects.any_of("positive", "neutral", "negative"),
    ),
    "sentiment_score": Field("1-5", 5, ("dois", True, 2.5), objects.other_stars, schema=objects.any_of(1, 2, 3, 4, 5)),
    "category": Field("text", "outros", (*_NO_TEXT, ["casa"]), objects.other_text),
    "delivery_issue": Field("text", False, _NO_FLAG, objects.flipped, schema=objects.FLAG),
    "product_issue": Field("text", False, _NO_FLAG, objects.flipped, schema=objects.FLAG),
    "seller_issue": Field("text", False, _NO_FLAG, objects.flipped, schema=objects.FLAG),
    "churn_risk": Field("text", "low", (2, True, ["high"]), objects.one_of("low", "high"), schema=objects.RISK),
    "repurchase_intent": Field("text", True, ("sim", 1), objects.flipped, schema=objects.FLAG),
    "main_complaint": Field(
        "text",
        None,
        (*_NO_TEXT, ["atraso"]),
        objects.other_text,
        "by words",
        schema={"type": ["string", "null"]},
    ),
    "summary": Field("text", "Cliente avaliou a compra.", (), objects.other_text, "never"),
}
FIELDS = {name: replace(kind, allows=CHECKS.get(name, objects.is_text)) for name, kind in _DESCRIBED.items()}
"""The ten fields, in the order of the answer. `summary` has no check of type or value."""
_BOOLEANS = tuple(name for name, kind in FIELDS.items() if isinstance(kind.usual, bool))


class _Reference(FieldsReference):
    """Any subset of the ten answer fields."""

    known = FIELDS
    all_of_them = False


def _draw(material: Material, pool: Pool, rng: Random) -> Drawn:
    review = material.review(pool, rng)
    answer = ObjectAnswer(dict(review.fields))
    return Drawn(
        review.user,
        review.template,
        {"fields": review.fields},
        answer,
        stars=review.stars,
        invented=True,
        reword=review.reword,
    )


_TROUBLES = {"delivery_issue": "entrega", "product_issue": "produto", "seller_issue": "vendedor"}


def _thought(prompt: Prompt) -> list[str]:
    """Stars and sentiment, then what went wrong."""
    known = prompt.reference.get("fields", {})
    wrong = [noun for name, noun in _TROUBLES.items() if known.get(name)]
    felt = (
        [f"Nota {known['sentiment_score']}, {known['sentiment']}."]
        if {"sentiment", "sentiment_score"} <= set(known)
        else []
    )
    return [*felt, f"Problema: {', '.join(wrong)}." if wrong else "Sem problema."] if known else []


# Defects


def missing_field(answer: ObjectAnswer, rng: Random) -> ObjectAnswer:
    """One to three of the ten fields are left out."""
    return objects.without(answer, *rng.sample(list(answer.values), rng.randint(1, 3)))


def boolean_as_word(answer: ObjectAnswer, rng: Random) -> ObjectAnswer:
    """The booleans are the strings "sim" and "não"."""
    words = {name: "sim" if value else "não" for name, value in answer.values.items() if name in _BOOLEANS}
    return replace(answer, values=answer.values | words)


def score_as_text(answer: ObjectAnswer, rng: Random) -> ObjectAnswer:
    """The score is a string or a decimal: "4" or "4,5"."""
    return objects.altered(answer, "sentiment_score", int, lambda score: f"{score}{rng.choice(('', ',5'))}")


def contradicted_stars(answer: ObjectAnswer, rng: Random) -> ObjectAnswer:
    """The sentiment is the opposite of what the stars say."""
    opposite = {"positive": "negative", "negative": "positive", "neutral": "positive"}
    return objects.exchanged(answer, "sentiment", opposite)


def echoed_name(answer: ObjectAnswer, rng: Random) -> ObjectAnswer:
    """A field's value is its own name: "delivery_issue":"delivery_issue"."""
    name = rng.choice([*_BOOLEANS, "churn_risk"])
    return replace(answer, values=answer.values | {name: name} if name in answer.values else answer.values)


def wrong_level(answer: ObjectAnswer, rng: Random) -> ObjectAnswer:
    """The churn risk is a Portuguese word outside the three levels."""
    return objects.exchanged(answer, "churn_risk", objects.TRANSLATED_RISKS)


# Baselines

_STARS = re.compile(r"nota:?\s*(\d)|(\d)\s*(?:/\s*5|estrelas?)")
_ISSUE_WORDS = {
    "delivery_issue": re.compile(
        r"atras|nao cheg|nao receb|demor|prazo venc|extravi|entrega (?:ruim|errada)|aguardando"
    ),
    "product_issue": re.compile(
        r"defeit|quebrad|parou|rasg|estrag|riscad|falt(?:a|ou) |errad|diferente|nao funciona|qualidade (?:ruim|baixa)"
    ),
    "seller_issue": re.compile(r"vendedor|atendiment|nao respond|reembols|estorn|devolver o dinheiro|descaso"),
}
_PRAISE = re.compile(
    r"otim|excelent|ador|gost|recomend|perfeit|maravilh|super|rapid|antes do prazo|parabens|amei|satisfeit|lind|(?<!nao"
    r" )bom\b|\bboa\b"
)
_SCORN = re.compile(
    r"pessim|horr|ruim|decep|lixo|nunca mais|nao"
    r" (?:gost|recomend|compr|funcion|cheg|receb|veio)|devolv|reclam|descaso|enganad"
)
_COMPLAINTS = {
    "delivery_issue": "entrega atrasada",
    "product_issue": "produto com defeito",
    "seller_issue": "vendedor não responde",
}


def _majority(training: Sequence[Prompt]) -> str:
    values = objects.usual(FIELDS)
    for name in values:
        truths = (prompt.reference.get("fields", {}) for prompt in training)
        seen = Counter(json.dumps(truth[name]) for truth in truths if name in truth)
        if seen:
            values[name] = json.loads(seen.most_common(1)[0][0])
    return objects.dumped(values)


def _rules(training: Sequence[Prompt]) -> Callable[[Prompt], str]:
    """Categories of the training references, longest first, so that the most specific one is found."""
    named = {prompt.reference.get("fields", {}).get("category") for prompt in training}
    categories = sorted((name for name in named if isinstance(name, str)), key=lambda name: (-len(name), name))
    return lambda prompt: objects.dumped(_extracted(prompt.user, categories))


def mood(folded: str) -> int:
    """Stars from words of praise and scorn in a folded text: 5, 3 where they balance, 1."""
    surplus = len(set(_PRAISE.findall(folded))) - len(set(_SCORN.findall(folded)))
    return 5 if surplus > 0 else 1 if surplus < 0 else 3


def _extracted(text: str, categories: Sequence[str]) -> dict[str, Any]:
    """Stars, word lists and the categories of the training set: what a page of rules knows about a review."""
    folded = fold(text)
    stated = _STARS.search(folded)
    stars = int(stated[1] or stated[2]) if stated else mood(folded)
    issues = {name: bool(pattern.search(folded)) for name, pattern in _ISSUE_WORDS.items()}
    complaint = next((_COMPLAINTS[name] for name, present in issues.items() if present), None)
    return {
        **felt(stars),
        "churn_risk": "low" if stars >= 4 else "medium" if stars == 3 else "high",
        "repurchase_intent": stars >= 4,
        "category": next((name for name in categories if fold(name) in folded), "outros"),
        **issues,
        "main_complaint": complaint,
        "summary": "Cliente reclama." if complaint else "Cliente satisfeito.",
    }


def felt(stars: int) -> dict[str, Any]:
    """Label and score of so many stars."""
    label = "positive" if stars >= 4 else "neutral" if stars == 3 else "negative"
    return {"sentiment": label, "sentiment_score": min(5, max(1, stars))}


# The benchmark


def _read(prompt: Prompt, served: str, sampled: Sequence[str], databases: Path) -> Case:
    found = read_json(served)
    said: dict[str, Any] = {"fields": found or {}, "read": found is not None}
    levels = tuple((read_json(text) or {}).get("churn_risk") for text in sampled)
    return Case(prompt.task, prompt.source, prompt.reference.get("fields", {}), said, levels)


def _metrics(cases: Sequence[Case]) -> dict[str, float]:
    of_field = {
        name: [case for case in cases if name in case.gold] for name, kind in FIELDS.items() if kind.judged != "never"
    }
    judged = {name: found for name, found in of_field.items() if found}
    exact = {name: _share_right(name, found) for name, found in judged.items() if FIELDS[name].judged == "exactly"}
    f1 = {name: _field_f1(name, found) for name, found in judged.items()}
    result = {"extraction.valid_json": mean([case.said["read"] for case in cases])}
    if judged:
        result |= {"extraction.exact": mean(list(exact.values())), "extraction.f1": mean(list(f1.values()))}
    result |= {f"extraction.exact.{name}": value for name, value in exact.items()}
    if "sentiment" in judged:
        result |= {"extraction.sentiment.accuracy": exact["sentiment"], "extraction.sentiment.f1": f1["sentiment"]}
    if found := judged.get("sentiment_score"):
        off = [stars_off(case.gold["sentiment_score"], said_of(case, "sentiment_score")) for case in found]
        result["extraction.sentiment.stars_off"] = mean(off)
    if found := judged.get("churn_risk"):
        pairs = [(case.gold["churn_risk"], plain(said_of(case, "churn_risk"))) for case in found]
        result["extraction.churn.balanced_accuracy"] = balanced_accuracy(pairs)
        result["extraction.churn.brier"] = mean([brier(case.gold["churn_risk"], case.levels) for case in found])
    return result


def said_of(case: Case, name: str) -> Any:
    """A field of what was answered; None where it is missing."""
    return case.said["fields"].get(name)


def _share_right(name: str, cases: Sequence[Case]) -> float:
    return mean([same(said_of(case, name), case.gold[name]) for case in cases])


def _field_f1(name: str, cases: Sequence[Case]) -> float:
    """Mean F1 of the words for texts, macro F1 over the classes that occur in the gold labels for the others."""
    if FIELDS[name].judged == "by words":
        return mean([token_f1(case.said["fields"].get(name, ""), case.gold[name]) for case in cases])
    said = [(case.gold[name], said_of(case, name)) for case in cases]
    return macro_f1([(plain(gold), plain(value) if type(value) is type(gold) else None) for gold, value in said])


SPEC = TaskSpec(
    name="extraction",
    system_prompt=f"Extraia da avaliação um JSON com {', '.join(FIELDS)}.",
    judged=20,
    reference=_Reference,
    draw=_draw,
    defects=(
        missing_field,
        boolean_as_word,
        score_as_text,
        contradicted_stars,
        echoed_name,
        wrong_level,
        objects.cut_json,
        objects.text_before,
    ),
    fields=FIELDS,
    probes=Probes(
        stuffing=(
            "JSON sentiment positive negative neutral sentiment_score 5 churn_risk high low delivery_issue true false"
            " summary"
        ),
        repeated='{"sentiment": ',
        english=(
            "The customer seems rather unhappy with the delivery, so I would call this a negative review with some"
            " churn risk."
        ),
        more=objects.schema_echo(FIELDS),
    ),
    thought=_thought,
    baseline=Baseline(objects.dumped(objects.usual(FIELDS)), _majority, _rules),
    scorer=Scorer(
        _read,
        _metrics,
        {
            "extraction": ("extraction.valid_json", "extraction.exact", "extraction.f1"),
            "sentiment in extraction": (
                "extraction.sentiment.accuracy",
                "extraction.sentiment.f1",
                "extraction.sentiment.stars_off",
            ),
            "churn in extraction": ("extraction.churn.balanced_accuracy", "extraction.churn.brier"),
        },
    ),
    display=Display("Extração: avaliação em JSON", guide="Extração", as_code=True),
)
