"""The bugs that once cost training runs, and rewritings that change nothing, as patches of the rewards."""

import pickle
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from rewards import PromptLike, RewardSet, Score, classify, extraction, push, sets, v42
from rewards.names import REPORTED as TASKS
from rewards.parsing import objects as parsing
from rewards.parsing import text
from rewards.sets import SETS, SetName
from rewards.texts.prose import LETTER
from rewards.types import Component
from tucano.audit.gate import audit_rewards
from tucano.audit.relations.table import Material, Row, read_table, stores
from tucano.audit.report import AuditReport
from tucano.project import COMMITTED_RATINGS
from tucano.prompts import Task
from tucano.rating.ratings import RatingSet, read_rating_set
from tucano.settings import AuditSettings, PipelineSettings

SETTINGS = PipelineSettings()
BOTH: tuple[SetName, ...] = ("v4.2", "grounded")

PART = 3
"""Of the table of relations every third row is asked of changed rewards."""

Patch = Callable[[pytest.MonkeyPatch, SetName], None]
"""Changes the rewards of one set until the patch is undone."""


def forget() -> None:
    """As from the start of a process: nothing that functions of the rewards remember is left."""
    ours = [module for name, module in sys.modules.items() if name.partition(".")[0] == "rewards"]
    for function in (one for module in ours for one in vars(module).values()):
        if clear := getattr(function, "cache_clear", None):
            clear()


def every(answer: str) -> bool:
    return True


def none(answer: str) -> bool:
    return False


def containing(pattern: str) -> Callable[[str], bool]:
    found = re.compile(pattern, re.DOTALL)
    return lambda answer: bool(found.search(answer))


@dataclass(frozen=True)
class Change:
    """A change of the rewards, and where it acts: the audit of other tasks and sets cannot differ."""

    name: str
    apply: Patch
    tasks: tuple[Task, ...] = TASKS
    sets: tuple[SetName, ...] = BOTH
    acts_on: Callable[[str], bool] = every
    """The answers whose shares it may change: those of all others are known from the clean audit. None, where it makes
    another score of the same shares."""


def _weights(patch: pytest.MonkeyPatch, name: SetName, task: Task, change: Callable[[Component], float]) -> None:
    reward: Any = SETS[name][task]
    changed = tuple(replace(component, weight=change(component)) for component in reward.components)
    patch.setitem(SETS[name], task, replace(reward, components=changed))


def no_decimals(patch: pytest.MonkeyPatch, name: SetName) -> None:
    patch.setattr(parsing, "normalize_decimals", lambda answer: answer)


def decimals_across_items(patch: pytest.MonkeyPatch, name: SetName) -> None:
    clean = parsing.normalize_decimals
    patch.setattr(parsing, "normalize_decimals", lambda answer: clean(re.sub(r"\[(\d+),(\d+)\]", r"[\1.\2]", answer)))


def without_change(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The rewards as they are."""


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
    patch.setattr(push, "LETTER", never)


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


LETTERS = (v42.FORMAL, LETTER)


def is_formal(answer: str) -> bool:
    return any(pattern.search(text.fold(answer)) for pattern in LETTERS)


CLEAN = Change("nothing", without_change)
"""What the others are compared with: all is worked out as often as it is asked for, so rewards have to repeat
themselves.
"""
BUGS = (
    Change("no Portuguese decimals", no_decimals, ("extraction",), acts_on=containing(r"\d,\d")),
    Change("decimals across list items", decimals_across_items, ("extraction",), acts_on=containing(r"\[\d+,\d+\]")),
    Change("extraction on a 0-2 scale", doubled_scale, ("extraction",), acts_on=none),
    Change("binary rewards", binary, acts_on=none),
    Change("push without length decay", no_length_decay, ("push",), acts_on=containing(".{121}")),
    Change("no formality penalty", no_formality, ("push",), acts_on=is_formal),
    Change("bool accepted as integer", bool_is_integer, ("extraction",), acts_on=containing(r"score\W*(?i:true)")),
    Change("SQL keywords counted in prose", keywords_in_prose, ("sql_qa",), ("v4.2",), acts_on=none),
    Change("a 10-word business vocabulary", ten_words, ("sql_qa",), ("v4.2",)),
    Change("insights routed to push", misrouted, ("insights",), acts_on=none),
    Change("weights add up to 0.9", light_weights, sets=("grounded",), acts_on=none),
    Change("weights add up to 1.1", heavy_weights, sets=("v4.2",), acts_on=none),
    Change("raises on empty text", raises_on_empty, ("sql_qa", "insights", "push"), acts_on=none),
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
    Change("arithmetic with fractions", exact_arithmetic, PROSE, PASSING, acts_on=none),
    Change("a subclass, pickled and unpickled", subclassed_and_pickled, ("sql_qa",), PASSING, acts_on=none),
    Change("the number pattern spelled out", number_pattern_spelled_out, ("extraction",), PASSING),
    Change("the length curve in branches, cached", length_in_steps, ("push",)),
    Change("the classifier's patterns recompiled", classifier_as_a_chain, PROSE, PASSING, acts_on=none),
)

Known = dict[tuple[Any, ...], dict[str, tuple[float, ...]]]
"""The shares that the unchanged rewards give, by reward and all that the prompt holds, of each answer."""


def remembering(patch: pytest.MonkeyPatch, known: Known, acts_on: Callable[[str], bool]) -> None:
    """Notes all shares of answers; works out none that is known but where a change acts."""
    for kind in {type(reward) for name in BOTH for reward in SETS[name].values()}:
        patch.setattr(kind, "shares", remembered(kind, known, acts_on))


def remembered(kind: Any, known: Known, acts_on: Callable[[str], bool]) -> Callable[..., tuple[float, ...]]:
    clean = kind.shares

    def shares(self: Any, prompt: PromptLike, answer: str, databases: Path | None) -> tuple[float, ...]:
        weights = () if prompt.reference else self.components  # they tell what form earns where no truth is known
        of_prompt = known.setdefault((kind, weights, repr(prompt), databases), {})
        if answer in of_prompt and not acts_on(answer):
            return of_prompt[answer]
        found: tuple[float, ...] = clean(self, prompt, answer, databases)
        of_prompt.setdefault(answer, found)
        return found

    return shares


@dataclass(frozen=True)
class Examiner:
    """Audits the committed rating set, clean or changed."""

    rated: RatingSet
    databases: Path
    rows: list[Row]
    known: Known = field(default_factory=dict)

    def whole(self, name: SetName) -> AuditReport:
        """All of it, as `tucano audit` does it."""
        known = replace(CLEAN, acts_on=none)
        return self._audited(name, known, Material(self.rated, self.rows), SETTINGS.audit)

    def audited(self, name: SetName, change: Change = CLEAN) -> AuditReport:
        """Without the search, which takes the longest and blocks nothing, the answers whose rating nobody doubts, and
        most of the table.
        """
        gate = SETTINGS.audit.model_copy(update={"search_calls": 0})
        return self._audited(name, change, Material(RatingSet(self.rated.answers), self.rows[::PART]), gate)

    def _audited(self, name: SetName, change: Change, material: Material, gate: AuditSettings) -> AuditReport:
        """Scoring takes nearly all of the time, so shares are remembered."""
        with pytest.MonkeyPatch.context() as patch:
            forget()
            remembering(patch, self.known, change.acts_on)
            change.apply(patch, name)
            rewards = sets.load_reward_set(name, self.databases)
            try:
                return audit_rewards(rewards, name, material, gate, change.tasks, SETTINGS.seed)
            finally:
                forget()


@contextmanager
def examiner() -> Iterator[Examiner]:
    with stores(COMMITTED_RATINGS) as databases:
        yield Examiner(read_rating_set(COMMITTED_RATINGS), databases, read_table())
