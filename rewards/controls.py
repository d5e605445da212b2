"""Control arms: rewards that know nothing (`random`), only form (`format`) or only size (`length`). What they teach is
not skill.

`length` is there to be hacked: a model trained on it has to be caught by the ground truth.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from rewards import v42
from rewards.extraction import CHECKS, FIELDS
from rewards.names import TASKS
from rewards.parsing import text
from rewards.parsing.objects import find_object
from rewards.parsing.sql import find_query
from rewards.types import Component, PromptLike, TaskReward, clip

LONG = 600
"""Characters that earn everything in `controls.length`; more than any good answer has."""


@dataclass(frozen=True)
class Random:
    components: tuple[Component, ...]

    def shares(self, prompt: PromptLike, answer: str, databases: Path | None) -> tuple[float, ...]:
        """Uniform in [0, 1), fixed by the prompt's and the answer's text."""
        digest = hashlib.blake2b(
            f"tucano\x00{prompt.user}\x00{answer}".encode("utf-8", "surrogatepass"), digest_size=7
        ).digest()
        return (int.from_bytes(digest, "big") / 2**56,)


@dataclass(frozen=True)
class FormatExtraction:
    components: tuple[Component, ...] = (
        Component("extraction.valid_json", 0.30, "a JSON object"),
        Component("extraction.fields_present", 0.30, "fields present / 10"),
        Component("extraction.value_checks", 0.40, "type or value checks passed / 9"),
    )

    def shares(self, prompt: PromptLike, answer: str, databases: Path | None) -> tuple[float, ...]:
        found = find_object(answer)
        if found is None:
            return (0.0, 0.0, 0.0)
        checks = sum(name in found and check(found[name]) for name, check in CHECKS.items())
        return (1.0, sum(name in found for name in FIELDS) / len(FIELDS), checks / len(CHECKS))


@dataclass(frozen=True)
class FormatSqlQa:
    components: tuple[Component, ...] = (
        Component("sql_qa.structure", 0.55, "3 different SQL keywords in a query that sqlglot parses"),
        Component("sql_qa.query_and_explanation", 0.45, "a query and 10 words beside it"),
    )

    def shares(self, prompt: PromptLike, answer: str, databases: Path | None) -> tuple[float, ...]:
        query = find_query(answer)
        if query is None:
            return (0.0, 0.0)
        return (clip(v42.sql_keywords(query.text) / 3), clip(len(text.words(query.prose)) / 10))


@dataclass(frozen=True)
class FormatInsights:
    components: tuple[Component, ...] = (
        Component("insights.length", 0.60, "100 to 800 characters"),
        Component("insights.structure", 0.40, "bullets, headers, numbered items"),
    )

    def shares(self, prompt: PromptLike, answer: str, databases: Path | None) -> tuple[float, ...]:
        return (v42.length_share(len(text.squeeze(answer))), clip(len(v42.STRUCTURE.findall(answer)) / 3))


@dataclass(frozen=True)
class FormatPush:
    components: tuple[Component, ...] = (Component("push.length", 1.0, "up to 120 characters, falling to 0 at 200"),)

    def shares(self, prompt: PromptLike, answer: str, databases: Path | None) -> tuple[float, ...]:
        return (v42.push_length_share(len(text.squeeze(answer))),)


@dataclass(frozen=True)
class Length:
    components: tuple[Component, ...]

    def shares(self, prompt: PromptLike, answer: str, databases: Path | None) -> tuple[float, ...]:
        return (clip(len(text.squeeze(answer)) / LONG),)


RANDOM: dict[str, TaskReward] = {
    task: Random((Component(f"{task}.random", 1.0, "a hash of prompt and completion, uniform"),)) for task in TASKS
}
FORMAT: dict[str, TaskReward] = {
    "extraction": FormatExtraction(),
    "sql_qa": FormatSqlQa(),
    "insights": FormatInsights(),
    "push": FormatPush(),
}
LENGTH: dict[str, TaskReward] = {
    task: Length((Component(f"{task}.length", 1.0, f"characters / {LONG}, whatever they say"),)) for task in RANDOM
}
