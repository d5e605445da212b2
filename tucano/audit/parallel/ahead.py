"""What the audit will ask of the rewards, scored by all cores before it asks.

A search goes on by what it finds, so each task's runs as it will, beside the others. Every other question asks for the
same texts whatever they earn: they are asked once with nothing known, to hear which texts these are. What is not heard
here is scored when it is asked for, so that nothing but time depends on this.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from rewards import PromptLike, Score
from tucano.audit.attacks.findings import searched
from tucano.audit.bench import Bench, Key, Known, RewardScorer, grouped, outcome
from tucano.audit.checks import questions
from tucano.audit.parallel.forks import Hands, forked
from tucano.audit.relations.table import Material
from tucano.audit.report import Agreement
from tucano.presentation.numbers import duration
from tucano.prompts import Prompt
from tucano.settings.audit import Gate

Asked = dict[Key, tuple[Prompt, str]]
AT_ONCE = 32
"""Texts that are scored in one go; one after the other they are often edits of one answer."""
SAID_EVERY = 250 * AT_ONCE
"""Texts."""


def scored_ahead(
    rewards: RewardScorer, material: Mapping[str, Material], settings: Gate, seed: int, hands: Hands
) -> Known:
    """The outcomes of what the audit of these tasks will ask for."""
    cores, say = hands.cores, hands.say
    asked: Asked = {}
    for found in forked(lambda task: _asked(rewards, task, material[task], settings), list(material), cores):
        asked |= found
    keys = list(asked)
    jobs = [*material, *range(0, len(keys), AT_ONCE)]
    began = time.monotonic()

    def scored(job: str | int) -> Known:
        if isinstance(job, int):
            if job % SAID_EVERY < AT_ONCE:
                say(f"reward audit: {job} of {len(keys)} texts scored{_left(job, len(keys), time.monotonic() - began)}")
            return {key: outcome(rewards, *asked[key]) for key in keys[job : job + AT_ONCE]}
        bench = Bench(rewards)
        searched(job, bench, grouped(bench, material[job].ratings.answers), settings.search_calls, seed)
        return bench.known

    known: Known = {}
    for outcomes in forked(scored, jobs, cores):
        known |= outcomes
    return known


def _left(scored: int, of: int, seconds: float) -> str:
    return f"   {duration(seconds * (of - scored) / scored)} left" if scored else ""


def _asked(rewards: RewardScorer, task: str, material: Material, settings: Gate) -> Asked:
    bench = Bench(_Unscored(rewards))
    groups = grouped(bench, material.ratings.answers)
    questions(bench, groups, material, Agreement(task, "all", 0, 0, None, None), (), (), settings)
    return {bench.key(prompt, text): (prompt, text) for prompt, text, _ in bench.scores}


class _Unscored:
    """Rewards that give nothing for any answer; what else is asked of them is answered by the rewards themselves."""

    def __init__(self, rewards: RewardScorer) -> None:
        self._rewards = rewards

    def __getattr__(self, name: str) -> Any:
        return getattr(self._rewards, name)

    def component_names(self, task: str) -> tuple[str, ...]:
        return self._rewards.component_names(task)

    def score(self, prompt: PromptLike, completion: str) -> Score:
        return Score(0.0, dict.fromkeys(self.component_names(prompt.task), 0.0))

    def score_batch(self, prompts: Sequence[PromptLike], completions: Sequence[str]) -> list[Score]:
        return []
