"""The bugs that once cost training runs, and rewritings that change nothing, as patches of the rewards."""

import pickle
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from benchmarks.reward_speed import forget
from rewards import PromptLike, RewardSet, Score, classify, extraction, grounded, sets, v42
from rewards.names import REPORTED as TASKS
from rewards.parsing import objects as parsing
from rewards.parsing import text
from rewards.sets import SETS, SetName
from rewards.types import Component
from tucano.audit.gate import audit_rewards
from tucano.audit.relations.table import Material, Row, read_table, stores
from tucano.audit.report import AuditReport
from tucano.prompts import Task
from tucano.rating.ratings import RatingSet, read_rating_set
from tucano.settings import PipelineSettings

RATINGS = Path(__file__).parent.parent / "data" / "ratings"
SETTINGS = PipelineSettings()
BOTH: tuple[SetName, ...] = ("v4.2", "grounded")

Patch = Callable[[pytest.MonkeyPatch, SetName], None]
"""Changes the rewards of one set until the patch is undone."""


@dataclass(frozen=True)
class Change:
    """A change of the rewards, and where it acts: the audit of other tasks and sets cannot differ."""

    name: str
    apply: Patch
    tasks: tuple[Task, ...] = TASKS
    sets: tuple[SetName, ...] = BOTH
    of_scores: bool = False
    """Whether it makes another score of a finished one: the finished ones are known, then, from the clean audit."""


def _weights(patch: pytest.MonkeyPatch, name: SetName, task: Task, change: Callable[[Component], float]) -> None:
    reward: Any = SETS[name][task]
    changed = tuple(replace(component, weight=change(component)) for component in reward.components)
    patch.setitem(SETS[name], task, replace(reward, components=changed))


def no_decimals(patch: pytest.MonkeyPatch, name: SetName) -> None:
    patch.setattr(parsing, "normalize_decimals", lambda answer: answer)


def decimals_across_items(patch: pytest.MonkeyPatch, name: SetName) -> None:
    clean = parsing.normalize_decimals
    patch.setattr(parsing, "normalize_decimals", lambda answer: clean(re.sub(r"\[(\d+),(\d+)\]", r"[\1.\2]", answer)))


def doubled_scale(patch: pytest.MonkeyPatch, name: SetName) -> None:
    _weights(patch, name, "extraction", lambda component: 2 * component.weight)


def binary(patch: pytest.MonkeyPatch, name: SetName) -> None:
    clean = RewardSet.score

    def score(self: RewardSet, prompt: PromptLike, completion: str) -> Score:
        total = float(clean(self, prompt, completion).total >= 0.5)
        first, *others = self.component_names(prompt.task)
        return Score(total, {first: total} | dict.fromkeys(others, 0.0))

    patch.setattr(RewardSet, "score", score)


def no_length_decay(patch: pytest.MonkeyPatch, name: SetName) -> None:
    patch.setattr(v42, "push_length_share", lambda characters: 1.0)


def no_formality(patch: pytest.MonkeyPatch, name: SetName) -> None:
    never = re.compile(r"(?!)")
    patch.setattr(v42, "FORMAL", never)
    patch.setattr(grounded, "LETTER", never)


def bool_is_integer(patch: pytest.MonkeyPatch, name: SetName) -> None:
    patch.setitem(extraction.CHECKS, "sentiment_score", lambda value: isinstance(value, int) and 1 <= value <= 5)


def keywords_in_prose(patch: pytest.MonkeyPatch, name: SetName) -> None:
    clean = v42.SqlQa.shares

    def shares(self: v42.SqlQa, prompt: PromptLike, answer: str, databases: Path | None) -> tuple[float, ...]:
        return (min(1.0, v42.sql_keywords(answer) / 3), *clean(self, prompt, answer, databases)[1:])

    patch.setattr(v42.SqlQa, "shares", shares)


def ten_words(patch: pytest.MonkeyPatch, name: SetName) -> None:
    words = text.any_of("client* pedido* produto* venda* receita* faturamento ticket entrega* prazo* atras*")
    patch.setattr(v42, "BUSINESS_WORDS", words)


def misrouted(patch: pytest.MonkeyPatch, name: SetName) -> None:
    marks = (("push", re.compile(r"\bpush\b|\bnotificac(?:ao|oes)\b|engaj")), *classify._MARKS)
    patch.setattr(classify, "_MARKS", marks)


def light_weights(patch: pytest.MonkeyPatch, name: SetName) -> None:
    for task in TASKS:
        first = SETS[name][task].components[0]
        _weights(patch, name, task, lambda component, first=first: component.weight - 0.1 * (component == first))  # type: ignore[misc]


def heavy_weights(patch: pytest.MonkeyPatch, name: SetName) -> None:
    for task in TASKS:
        first = SETS[name][task].components[0]
        _weights(patch, name, task, lambda component, first=first: component.weight + 0.1 * (component == first))  # type: ignore[misc]


def raises_on_empty(patch: pytest.MonkeyPatch, name: SetName) -> None:
    clean = RewardSet.score

    def score(self: RewardSet, prompt: PromptLike, completion: str) -> Score:
        return clean(self, prompt, completion[0] + completion[1:])

    patch.setattr(RewardSet, "score", score)


BUGS = (
    Change("no Portuguese decimals", no_decimals, ("extraction",)),
    Change("decimals across list items", decimals_across_items, ("extraction",)),
    Change("extraction on a 0-2 scale", doubled_scale, ("extraction",)),
    Change("binary rewards", binary, of_scores=True),
    Change("push without length decay", no_length_decay, ("push",)),
    Change("no formality penalty", no_formality, ("push",)),
    Change("bool accepted as integer", bool_is_integer, ("extraction",)),
    Change("SQL keywords counted in prose", keywords_in_prose, ("sql_qa",), ("v4.2",)),
    Change("a 10-word business vocabulary", ten_words, ("sql_qa",), ("v4.2",)),
    Change("insights routed to push", misrouted, ("insights",)),
    Change("weights add up to 0.9", light_weights, sets=("grounded",)),
    Change("weights add up to 1.1", heavy_weights, sets=("v4.2",)),
    Change("raises on empty text", raises_on_empty, ("sql_qa", "insights", "push"), of_scores=True),
)


def exact_arithmetic(patch: pytest.MonkeyPatch, name: SetName) -> None:
    clean = RewardSet.score

    def score(self: RewardSet, prompt: PromptLike, completion: str) -> Score:
        found = clean(self, prompt, completion).components
        parts = {key: Fraction(value).limit_denominator(10**12) for key, value in found.items()}
        whole = min(Fraction(1), max(Fraction(0), sum(parts.values(), Fraction(0))))
        return Score(float(whole), {key: float(part) for key, part in parts.items()})

    patch.setattr(RewardSet, "score", score)


@dataclass(frozen=True)
class Renamed(RewardSet):
    """A subclass that adds nothing."""


def subclassed_and_pickled(patch: pytest.MonkeyPatch, name: SetName) -> None:
    patch.setattr(sets, "RewardSet", lambda name, databases=None: pickle.loads(pickle.dumps(Renamed(name, databases))))


def number_pattern_spelled_out(patch: pytest.MonkeyPatch, name: SetName) -> None:
    spelled = parsing._NUMBER.pattern.replace(r"\d", "[0-9]")
    patch.setattr(parsing, "_NUMBER", re.compile(spelled, parsing._NUMBER.flags))


def length_in_steps(patch: pytest.MonkeyPatch, name: SetName) -> None:
    @lru_cache
    def share(characters: int) -> float:
        if characters <= 120:
            return 1.0
        return 0.0 if characters >= 200 else (200 - characters) * (200 - characters) / 6400

    patch.setattr(v42, "push_length_share", share)


def classifier_as_a_chain(patch: pytest.MonkeyPatch, name: SetName) -> None:
    routes = tuple((task, re.compile(f"(?:{found.pattern})|(?!)")) for task, found in classify._MARKS)
    patch.setattr(classify, "_MARKS", routes)


PROSE: tuple[Task, ...] = ("insights", "push")
PASSING: tuple[SetName, ...] = ("grounded",)

REFACTORINGS = (
    Change("arithmetic with fractions", exact_arithmetic, PROSE, PASSING, of_scores=True),
    Change("a subclass, pickled and unpickled", subclassed_and_pickled, ("sql_qa",), PASSING),
    Change("the number pattern spelled out", number_pattern_spelled_out, ("extraction",), PASSING),
    Change("the length curve in branches, cached", length_in_steps, ("push",)),
    Change("the classifier's patterns recompiled", classifier_as_a_chain, PROSE, PASSING),
)
Known = dict[tuple[SetName, str], dict[str, Score]]
"""What the unchanged rewards say, by the set and all that the prompt holds, of each text."""


def remembering(patch: pytest.MonkeyPatch, known: Known, ask: bool) -> None:
    """Notes every score; works out none that is known, if `ask`."""
    clean = RewardSet.score

    def score(self: RewardSet, prompt: PromptLike, completion: str) -> Score:
        of_prompt = known.setdefault((self.name, repr(prompt)), {})
        if not ask or completion not in of_prompt:
            of_prompt[completion] = clean(self, prompt, completion)
        return of_prompt[completion]

    patch.setattr(RewardSet, "score", score)


@dataclass(frozen=True)
class Examiner:
    """Audits the committed rating set, clean or changed."""

    rated: RatingSet
    databases: Path
    rows: list[Row]
    known: Known = field(default_factory=dict)

    def audited(
        self,
        name: SetName,
        change: Change | None = None,
        search_calls: int = 0,
        known: bool = False,
        one_by_one: bool = True,
    ) -> AuditReport:
        """Without the search, which takes the longest and blocks nothing. Scoring takes nearly all of the rest: `known`
        scores are not worked out again, nor those beneath a change of scores. A clean audit without it has to show
        that the rewards repeat themselves. `one_by_one`: whether the answers whose rating nobody doubts are asked.
        """
        gate = SETTINGS.audit.model_copy(update={"search_calls": search_calls})
        rated = self.rated if one_by_one else RatingSet(self.rated.answers)
        with pytest.MonkeyPatch.context() as patch:
            forget()
            if change is None or change.of_scores:
                remembering(patch, self.known, known or change is not None)
            if change:
                change.apply(patch, name)
            rewards = sets.load_reward_set(name, self.databases)
            tasks = change.tasks if change else TASKS
            try:
                return audit_rewards(rewards, name, Material(rated, self.rows), gate, tasks, SETTINGS.seed)
            finally:
                forget()


@contextmanager
def examiner() -> Iterator[Examiner]:
    with stores(RATINGS) as databases:
        yield Examiner(read_rating_set(RATINGS), databases, read_table())
