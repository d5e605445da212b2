"""Good answers, and the prompts that they are answers to: of the rating folder, and of the table of relations."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tucano.audit.bench import GOOD_RATING, Group
from tucano.audit.relations.table import PLAIN, Row
from tucano.prompts import Prompt
from tucano.specs.registry import right_answers

MOST_RATED = 6
"""Good answers that people rated first: enough for a mean, few enough for seconds."""
MOST_PLAIN = 7
"""Faultless answers that are changed by rules, the first ones of the table: of plain prompts."""
MOST_OF_A_KIND = 5
"""And of each other kind of prompt."""


@dataclass(frozen=True, slots=True)
class Case:
    """A good answer. `kinds`: what its prompt is of. `made`: whether it is faultless, made of its prompt's truth."""

    prompt: Prompt
    text: str
    kinds: tuple[str, ...]
    made: bool


def rated(groups: Sequence[Group]) -> list[Case]:
    """Answers that people call good; with nothing said about kinds, since their own blemishes differ."""
    return [
        Case(group.prompt, answer.completion, (PLAIN,), False)
        for group in groups
        for answer in group.answers
        if answer.rating >= GOOD_RATING
    ]


def faultless(groups: Sequence[Group], rows: Sequence[Row]) -> Iterator[Case]:
    """Those of the table, then those that can be made of the truth of the folder's prompts that the table does not
    know."""
    for row in rows:
        for text in row.right:
            yield Case(row.prompt, text, row.kinds, True)
    known = {row.prompt.user for row in rows}
    for group in groups:
        if group.prompt.user not in known:
            for text in right_answers(group.prompt):
                yield Case(group.prompt, text, (PLAIN,), True)


def changed(groups: Sequence[Group], rows: Sequence[Row]) -> list[Case]:
    """The good answers that are changed by rules: one to a prompt, few of each kind."""
    chosen: dict[int, Case] = {}
    taken: Counter[str] = Counter()
    for case in faultless(groups, rows):
        most = MOST_PLAIN if case.kinds[0] == PLAIN else MOST_OF_A_KIND
        if id(case.prompt) not in chosen and taken[case.kinds[0]] < most:
            chosen[id(case.prompt)] = case
            taken[case.kinds[0]] += 1
    return [*rated(groups)[:MOST_RATED], *chosen.values()]
