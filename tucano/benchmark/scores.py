"""The benchmark's metrics: what is right by the ground truth, whatever any reward thinks of it.

JSON is read here by its own strict reader, without the rewards' repair, so that a fault of that parser cannot hide. An answer that
is missing or cannot be read is a wrong answer, never a dropped one. SQL runs in the rewards' sandbox; figures are found by their reader.
"""

import json
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rewards.claims import insight_figures, names_product, push_inventions
from rewards.sql import answers_gold, find_query
from tucano.prompts import Prompt

LEVELS = ("low", "medium", "high")
SENTIMENTS = ("positive", "neutral", "negative")
TEXTS = ("main_complaint",)
EXACT = (
    "sentiment",
    "sentiment_score",
    "category",
    "delivery_issue",
    "product_issue",
    "seller_issue",
    "churn_risk",
    "repurchase_intent",
)
LONGEST_PUSH = 120


@dataclass(frozen=True, slots=True)
class Case:
    """One prompt with what an arm made of it: its served answer read into facts, and the churn levels of its sampled answers."""

    task: str
    source: str
    gold: Mapping[str, Any]
    said: Mapping[str, Any]
    levels: tuple[Any, ...] = ()


def read_case(prompt: Prompt, served: str, sampled: Sequence[str], databases: Path) -> Case:
    """The facts of one arm's answers to a prompt."""
    if prompt.task == "extraction":
        found = read_json(served)
        said: dict[str, Any] = {"fields": found or {}, "read": found is not None}
        levels = tuple((read_json(text) or {}).get("churn_risk") for text in sampled)
        return Case(prompt.task, prompt.source, prompt.reference.get("fields", {}), said, levels)
    return Case(prompt.task, prompt.source, prompt.reference, _READERS[prompt.task](prompt, served, databases))


def read_json(text: str) -> dict[str, Any] | None:
    """The first JSON object in a text that is valid as it stands; None without one. Prose around it is allowed, repair is not."""
    decoder, start = json.JSONDecoder(), text.find("{")
    for _ in range(16):
        if start < 0:
            return None
        try:
            value, _ = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            start = text.find("{", start + 1)
            continue
        return value if isinstance(value, dict) else None
    return None


def _sql(prompt: Prompt, answer: str, databases: Path) -> dict[str, Any]:
    query = find_query(answer)
    outcome = answers_gold(prompt.reference, query.text, databases) if query else None
    return {"ran": bool(outcome and outcome.ran), "equal": bool(outcome and outcome.equal)}


def _insights(prompt: Prompt, answer: str, databases: Path) -> dict[str, Any]:
    used, inventions, claims = insight_figures(prompt, answer)
    return {"coverage": used, "real": 1 - inventions / claims if claims else 0.0}


def _push(prompt: Prompt, answer: str, databases: Path) -> dict[str, Any]:
    text = " ".join(answer.split())
    found = {"length": 0 < len(text) <= LONGEST_PUSH, "named": names_product(prompt, answer), "true": not push_inventions(prompt, answer)}
    return {**found, "true": found["true"] and bool(text), "all": all(found.values())}


_READERS: dict[str, Callable[[Prompt, str, Path], dict[str, Any]]] = {"sql_qa": _sql, "insights": _insights, "push": _push}


def metrics(cases: Sequence[Case]) -> dict[str, float]:
    """Every metric that these cases allow, by name (`extraction.exact`, `sql_qa.execution`); all but Brier and stars: higher is better."""
    found: dict[str, float] = {}
    of = {task: [case for case in cases if case.task == task] for task in ("extraction", *_READERS)}
    if of["extraction"]:
        found |= _extraction(of["extraction"])
    means = {"sql_qa": {"execution": "equal", "valid": "ran"}, "insights": {"real_figures": "real", "coverage": "coverage"}}
    means["push"] = {"all": "all", "length": "length", "names_product": "named", "invents_nothing": "true"}
    for task, names in means.items():
        if of[task]:
            found |= {f"{task}.{name}": float(np.mean([case.said[key] for case in of[task]])) for name, key in names.items()}
    return found


def _extraction(cases: Sequence[Case]) -> dict[str, float]:
    fields = {name: [case for case in cases if name in case.gold] for name in (*EXACT, *TEXTS)}
    judged = {name: found for name, found in fields.items() if found}
    exact = {name: _share_right(name, found) for name, found in judged.items() if name in EXACT}
    f1 = {name: _field_f1(name, found) for name, found in judged.items()}
    result = {"extraction.valid_json": float(np.mean([case.said["read"] for case in cases]))}
    if judged:
        result |= {"extraction.exact": float(np.mean(list(exact.values()))), "extraction.f1": float(np.mean(list(f1.values())))}
    result |= {f"extraction.exact.{name}": value for name, value in exact.items()}
    if "sentiment" in judged:
        result |= {"sentiment.accuracy": exact["sentiment"], "sentiment.f1": f1["sentiment"]}
    if "sentiment_score" in judged:
        result["sentiment.stars_off"] = float(np.mean([stars_off(case) for case in judged["sentiment_score"]]))
    if "churn_risk" in judged:
        pairs = [(case.gold["churn_risk"], _value(case, "churn_risk")) for case in judged["churn_risk"]]
        result["churn.balanced_accuracy"] = balanced_accuracy(pairs)
        result["churn.brier"] = float(np.mean([brier(case.gold["churn_risk"], case.levels) for case in judged["churn_risk"]]))
    return result


def _value(case: Case, name: str) -> Any:
    """A field as said; text in one spelling (case, accents, spaces)."""
    return _plain(case.said["fields"].get(name))


def _plain(value: Any) -> Any:
    if not isinstance(value, str):
        return value if isinstance(value, bool | int | float) or value is None else repr(value)
    letters = unicodedata.normalize("NFKD", value.casefold())
    return " ".join("".join(letter for letter in letters if not unicodedata.combining(letter)).split())


def same(value: Any, gold: Any) -> bool:
    """Equal in value and type: true is not 1, "4" is not 4."""
    return type(value) is type(gold) and _plain(value) == _plain(gold)


def _share_right(name: str, cases: Sequence[Case]) -> float:
    return float(np.mean([same(case.said["fields"].get(name), case.gold[name]) for case in cases]))


def _field_f1(name: str, cases: Sequence[Case]) -> float:
    """Mean F1 of the words for texts, macro F1 over the classes that occur in the gold labels for the others."""
    if name in TEXTS:
        return float(np.mean([token_f1(case.said["fields"].get(name, ""), case.gold[name]) for case in cases]))
    said = [(case.gold[name], case.said["fields"].get(name)) for case in cases]
    return macro_f1([(_plain(gold), _plain(value) if type(value) is type(gold) else None) for gold, value in said])


def token_f1(said: Any, gold: Any) -> float:
    """F1 of the words of two texts as multisets (SQuAD); of None against None 1, against a text 0."""
    if not isinstance(said, str) or not isinstance(gold, str):
        return float(said is None and gold is None)
    ours, theirs = Counter(_plain(said).split()), Counter(_plain(gold).split())
    shared = (ours & theirs).total()
    return 2 * shared / (ours.total() + theirs.total()) if shared else 0.0


def macro_f1(pairs: Sequence[tuple[Any, Any]]) -> float:
    """Mean over the classes among the gold labels of 2 TP / (2 TP + FP + FN); pairs are (gold, said)."""
    scores = []
    for label in {gold for gold, _ in pairs}:
        hits = sum(gold == label and said == label for gold, said in pairs)
        wrong = sum((gold == label) != (said == label) for gold, said in pairs)
        scores.append(2 * hits / (2 * hits + wrong))
    return float(np.mean(scores))


def balanced_accuracy(pairs: Sequence[tuple[Any, Any]]) -> float:
    """Mean recall over the classes among the gold labels; pairs are (gold, said). A constant answer earns 1 / classes."""
    labels = {gold for gold, _ in pairs}
    return float(np.mean([np.mean([said == gold for gold, said in pairs if gold == label]) for label in labels]))


def brier(gold: str, levels: Sequence[Any]) -> float:
    """Brier (1950) score in [0, 2] of a level's probabilities, the shares of the sampled answers; what names no level spreads evenly."""
    known = [level for level in levels if level in LEVELS]
    lost = 1 - len(known) / len(levels) if levels else 1.0
    shares = {level: known.count(level) / max(1, len(levels)) + lost / len(LEVELS) for level in LEVELS}
    return float(sum((share - (level == gold)) ** 2 for level, share in shares.items()))


def stars_off(case: Case) -> float:
    """Distance in stars; an answer without a number of stars is as far off as possible."""
    gold, said = case.gold["sentiment_score"], case.said["fields"].get("sentiment_score")
    if isinstance(said, bool) or not isinstance(said, int | float) or not 1 <= said <= 5:
        return float(max(gold - 1, 5 - gold))
    return float(abs(said - gold))


def with_intervals(cases: Sequence[Case], resamples: int, rng: np.random.Generator) -> dict[str, tuple[float, float, float]]:
    """{metric: (value, low, high)}: 95 % percentile bootstrap over prompts within their task and source (Efron & Tibshirani 1993, 13.3)."""
    groups: dict[tuple[str, str], list[Case]] = {}
    for case in cases:
        groups.setdefault((case.task, case.source), []).append(case)
    draws: dict[str, list[float]] = {}
    for _ in range(resamples):
        drawn = [group[index] for group in groups.values() for index in rng.integers(len(group), size=len(group))]
        for name, value in metrics(drawn).items():
            draws.setdefault(name, []).append(value)
    return {name: (value, *_ends(draws.get(name, [value]))) for name, value in metrics(cases).items()}


def _ends(values: Sequence[float]) -> tuple[float, float]:
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)
