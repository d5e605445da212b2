"""The ground-truth metric: how right an answer is, whatever its form earns. It never enters a reward and judges them
all.
"""

from collections.abc import Callable
from pathlib import Path

from rewards.classify import classify_task
from rewards.extraction import matches
from rewards.parsing.claims import insight_figures, names_product, push_inventions
from rewards.parsing.objects import find_object
from rewards.parsing.sql import answers_gold, find_query
from rewards.parsing.text import readable, squeeze
from rewards.tasks.registry import REWARDS
from rewards.types import PromptLike, clip


def truth(prompt: PromptLike, completion: str, databases: Path | None = None) -> float | None:
    """The truth of an answer in [0, 1], or None where the prompt's reference holds nothing to judge it by.

    - extraction: share of the reference's fields that are right; `summary` is never judged
    - sql_qa: 1 where the query's result equals the gold query's, else 0; ValueError without `databases`
    - insights: share of the key figures used minus the share of invented ones among the figures claimed, at least 0
    - push: 1 where it names the product, invents no number and has at most 120 characters, else 0
    - later tasks: as their own file in rewards/tasks/ says
    """
    return TRUTHS[prompt.task or classify_task(prompt.user)](prompt, readable(completion), databases)


def _extraction(prompt: PromptLike, answer: str, databases: Path | None) -> float | None:
    expected = {name: value for name, value in prompt.reference.get("fields", {}).items() if name != "summary"}
    if not expected:
        return None
    found = find_object(answer) or {}
    return sum(name in found and matches(name, found[name], value) for name, value in expected.items()) / len(expected)


def _sql_qa(prompt: PromptLike, answer: str, databases: Path | None) -> float | None:
    if not prompt.reference.get("sql"):
        return None
    query = find_query(answer)
    return float(query is not None and answers_gold(prompt.reference, query.text, databases).equal)


def _insights(prompt: PromptLike, answer: str, databases: Path | None) -> float | None:
    if not prompt.reference.get("key_figures"):
        return None
    used, inventions, asserted = insight_figures(prompt, answer)
    return clip(used - (inventions / asserted if asserted else 0.0))


def _push(prompt: PromptLike, answer: str, databases: Path | None) -> float | None:
    if not prompt.reference.get("product"):
        return None
    return float(names_product(prompt, answer) and not push_inventions(prompt, answer) and len(squeeze(answer)) <= 120)


TRUTHS: dict[str, Callable[[PromptLike, str, Path | None], float | None]] = {
    "extraction": _extraction,
    "sql_qa": _sql_qa,
    "insights": _insights,
    "push": _push,
}
TRUTHS |= {task: rewards.truth for task, rewards in REWARDS.items()}
