"""What the audit scores with, and the rated completions in the groups that GRPO would compare them in."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Protocol

from rewards import PromptLike, Score
from tucano.prompts import Prompt
from tucano.rating.ratings import Origin, RatedAnswer

GOOD_RATING = 4.0
"""«Use it after a glance»: from here on the guide calls an answer good."""
MOST_REPEATED = 250
"""Texts that are scored twice."""


class RewardScorer(Protocol):
    """What the audit uses of a `rewards.RewardSet`."""

    def component_names(self, task: str) -> tuple[str, ...]: ...
    def score(self, prompt: PromptLike, completion: str) -> Score: ...


Key = tuple[str, str]
"""All that a prompt holds, and a text."""
Known = dict[Key, Score | str]
"""Outcomes: scores, and what rewards raised."""


def outcome(rewards: RewardScorer, prompt: Prompt, completion: str) -> Score | str:
    """The score, or what the rewards raised."""
    try:
        return rewards.score(prompt, completion)
    except Exception as fault:  # a reward that raises is a finding of the audit, not a crash of it
        return f"{type(fault).__name__} ({fault}) on {completion[:40]!r}"


@dataclass
class Bench:
    """Scores each text once and remembers it. A reward that raises scores 0 and the fault is kept for the check `never
    raises`.
    """

    rewards: RewardScorer
    known: Known = field(default_factory=dict)
    """What need not be scored again; grows."""
    seen: dict[tuple[int, str], tuple[Prompt, str, Score]] = field(default_factory=dict)
    """By the prompt object and the text."""
    faults: list[str] = field(default_factory=list)
    _told: dict[int, tuple[Prompt, str]] = field(default_factory=dict)
    """By the prompt object, which is kept so that no other one gets its number: all that it holds."""

    @property
    def scores(self) -> list[tuple[Prompt, str, Score]]:
        return list(self.seen.values())

    def score(self, prompt: Prompt, completion: str) -> Score:
        place = (id(prompt), completion)
        if place not in self.seen:
            key = self.key(prompt, completion)
            if key not in self.known:
                self.known[key] = outcome(self.rewards, prompt, completion)
            self.seen[place] = (prompt, completion, self._judged(prompt, self.known[key]))
        return self.seen[place][2]

    def key(self, prompt: Prompt, completion: str) -> Key:
        if id(prompt) not in self._told:
            self._told[id(prompt)] = (prompt, repr(prompt))
        return self._told[id(prompt)][1], completion

    def _judged(self, prompt: Prompt, found: Score | str) -> Score:
        if isinstance(found, Score):
            return found
        self.faults.append(found)
        return Score(0.0, dict.fromkeys(self.rewards.component_names(prompt.task), 0.0))

    def changed(self) -> list[str]:
        """Of the first texts (the rated ones and some worthless ones) those that score differently when they are scored
        again.
        """
        first = self.scores[:MOST_REPEATED]
        return [
            text for prompt, text, score in first if self._judged(prompt, outcome(self.rewards, prompt, text)) != score
        ]

    def total(self, prompt: Prompt, completion: str) -> float:
        """The total; what is not finite counts 0 here, and fails the check `bounds`."""
        return finite(self.score(prompt, completion))


def finite(score: Score) -> float:
    return score.total if isfinite(score.total) else 0.0


@dataclass(frozen=True)
class Group:
    """One prompt's rated completions with their scores."""

    prompt: Prompt
    answers: tuple[RatedAnswer, ...]
    scores: tuple[Score, ...]

    @property
    def rewards(self) -> tuple[float, ...]:
        return tuple(finite(score) for score in self.scores)

    @property
    def ratings(self) -> tuple[float, ...]:
        return tuple(answer.rating for answer in self.answers)

    def only(self, origin: Origin) -> "Group":
        """The same prompt with the completions of one origin."""
        kept = [pair for pair in zip(self.answers, self.scores, strict=True) if pair[0].origin == origin]
        return Group(self.prompt, tuple(answer for answer, _ in kept), tuple(score for _, score in kept))


def grouped(bench: Bench, answers: Sequence[RatedAnswer]) -> list[Group]:
    """The prompts with two or more rated completions, in the order of the rating set."""
    by_prompt: dict[str, list[RatedAnswer]] = {}
    for answer in answers:
        by_prompt.setdefault(answer.prompt.id, []).append(answer)
    return [
        Group(group[0].prompt, tuple(group), tuple(bench.score(answer.prompt, answer.completion) for answer in group))
        for group in by_prompt.values()
        if len(group) > 1
    ]
