"""Reward set `grounded`: form, plus truth where a prompt's reference holds some; dense, and hard to please without an
answer.

All credit is multiplied by gates: how much the text is an answer at all (Portuguese, in order, whole, not the same
again and again, not the prompt copied, not taken back), and how much of it is true. Where a reference is empty nothing
is known to be true, and the credit for form is scaled up to fill [0, 1].
"""

from dataclasses import dataclass
from pathlib import Path

from rewards.extraction import CHECKS, FIELDS, agreements, fits_stars, match, usable_fields
from rewards.insights import Insights
from rewards.parsing import text
from rewards.parsing.objects import is_single, standing_object, wholeness
from rewards.parsing.sql import find_query, has_another, names
from rewards.parsing.sql_near import is_near, meant, naming
from rewards.push import Push
from rewards.types import Component, PromptLike, TaskReward, damped, filled
from rewards.wording.complaints import TOLD, is_as_fair, states_stars, worth
from rewards.wording.complaints import meant as meant_by
from rewards.wording.mistold import explains, mistells, takes_itself_back

_SOURCE = "DESIGN, tasks and rewards"
MISTOLD = 0.65
NEAR = 0.85
"""Credit of a right query beside which other states, months or kinds are told, and of one whose result is the gold one
but for further columns or other decimals."""
UNEXPLAINED = 0.6
"""Credit of a right query without a word of explanation."""
WRONGLY = 0.5
"""Credit of the explanation of a query with another result."""
NOT_ONE = 0.25
"""Credit of a text with more than one object or query."""


@dataclass(frozen=True)
class Extraction:
    components: tuple[Component, ...] = (
        Component(
            "extraction.valid_json",
            0.10,
            "a JSON object with at least one usable field",
            _SOURCE,
            "weight; all credit x .85 beside a sentence, x .45 with a plain fault or beside a word or two, x .1 among"
            " scraps, x .25 for several objects; x .3 for the opposite sentiment, x .4 for another (.6 without stars),"
            " x .6 for another kind of issue, x .7 for another category than stated, x .85 for other stars, x .75"
            " without a summary of the review, x .5 with one of another thing, x .88 with a label; of the form's 70 %"
            " go with the square of field_match",
        ),
        Component(
            "extraction.fields_present",
            0.10,
            "usable fields / 10",
            _SOURCE,
            "weight; the field's own name, a type's name or foreign text is unusable",
        ),
        Component(
            "extraction.value_checks", 0.15, "type or value checks passed by usable fields / 9", _SOURCE, "weight"
        ),
        Component(
            "extraction.field_match",
            0.65,
            "agreement with the reference's fields",
            _SOURCE,
            "weight; the cube of a mean in which fields that only reading tells weigh most; texts by word F1, stars one"
            " off by half (free where nobody tells them), values in words by a fifth; summary left out",
        ),
        Component(
            "extraction.contradiction",
            -0.20,
            "the sentiment contradicts the reference or the stars, or is none",
            _SOURCE,
            "no valid sentiment counts too, so that spoiling a field never pays",
        ),
    )

    def shares(self, prompt: PromptLike, answer: str, databases: Path | None) -> tuple[float, ...]:
        found = standing_object(answer, FIELDS)
        usable = usable_fields(found, prompt.user)
        tokens = text.words(answer) if usable else []  # else no credit is left to weigh, however long the text
        gate = text.variety(tokens) * (text.originality(tokens, prompt.user) > 0) * wholeness(answer)
        expected = {name: value for name, value in prompt.reference.get("fields", {}).items() if name != "summary"}
        told = match({name: meant_by(name, value) for name, value in usable.items()}, expected, prompt)
        matched = TOLD * told + (1 - TOLD) * match(usable, expected, prompt)
        felt, wanted = meant_by("sentiment", found.get("sentiment")), expected.get("sentiment")
        fair = not states_stars(prompt) and is_as_fair(felt, expected, prompt)
        opposite = bool(wanted) and felt != wanted and "neutral" not in (felt, wanted)
        gate *= worth(usable, expected, prompt) * (NOT_ONE if usable and not is_single(answer) else 1.0)
        form = gate * (damped(matched**2) if expected else 1.0)
        right = agreements(usable, expected, prompt)
        passed = sum(right.get(name) == 1 or (name in usable and check(usable[name])) for name, check in CHECKS.items())
        shares = (
            form * bool(usable),
            form * len(usable) / len(FIELDS),
            form * passed / len(CHECKS),
            gate * matched**3,
            float(not fair and (opposite or not fits_stars(felt, prompt.stars))),
        )
        return filled(shares, self.components, frozenset({"extraction.field_match"}), bool(expected))


@dataclass(frozen=True)
class SqlQa:
    components: tuple[Component, ...] = (
        Component("sql_qa.query", 0.05, "a query that sqlglot parses and that reads a table", _SOURCE, "weight"),
        Component(
            "sql_qa.explanation",
            0.15,
            "a Portuguese explanation beside the query",
            _SOURCE,
            "weight; 10 words earn all, x the square of the names' F1, half beside a wrong query; none for prose that"
            " tells another state, month or category than question and query, which leaves 65 % of the result",
        ),
        Component(
            "sql_qa.names",
            0.10,
            "tables and columns: F1 against those of the gold query",
            _SOURCE,
            "weight; the square of F1, so that naming everything does not pay",
        ),
        Component("sql_qa.executes", 0.05, "the query runs within the limits, x the names' F1", _SOURCE, "weight"),
        Component(
            "sql_qa.result",
            0.65,
            "its result equals the gold result",
            _SOURCE,
            "weight; 85 % with more columns or other decimals, 87 % without names, 60 % unexplained; all x .25 for two",
        ),
    )

    def shares(self, prompt: PromptLike, answer: str, databases: Path | None) -> tuple[float, ...]:
        query = find_query(answer)
        gold = names(prompt.reference.get("sql", ""))
        named = names(query.text) if query else frozenset()
        shares: tuple[float, ...] = (0.0,) * len(self.components)
        reads = query and any(name.startswith("table:") for name in named) and query.text not in prompt.user
        if query and reads and not takes_itself_back(query):
            overlap, ran, right = 0.0, False, 0.0
            if gold:
                overlap = 2 * len(named & gold) / (len(named) + len(gold))
                outcome = meant(prompt.reference, query.text, databases, prompt.user)
                ran, equal = outcome.ran, outcome.equal
                near = ran and not equal and is_near(prompt.reference, query.text, databases, prompt.user)
                right = NEAR if near else float(equal)
            mistold = mistells(query, prompt, databases)
            explained = 0.0 if mistold else explains(query.prose, prompt)
            told = MISTOLD if mistold else UNEXPLAINED + (1 - UNEXPLAINED) * explained
            gate = text.variety(prose := text.words(query.prose)) * (1 - 0.75 * text.foreign(prose))
            gate *= NOT_ONE if has_another(query) else 1.0
            parts = (
                1.0,
                explained * (overlap**2 * (1.0 if right else WRONGLY) if gold else 1.0),
                overlap**2,
                overlap * ran,
                right * told * naming(query.text),
            )
            shares = tuple(gate * part for part in parts)
        truths = frozenset({"sql_qa.names", "sql_qa.executes", "sql_qa.result"})
        return filled(shares, self.components, truths, bool(gold))


TASKS: dict[str, TaskReward] = {"extraction": Extraction(), "sql_qa": SqlQa(), "insights": Insights(), "push": Push()}
