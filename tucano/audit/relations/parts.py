"""Each component by itself: it goes up where answers are good, reaches what it can, and begins and ends at the lengths
that its description names.
"""

import re
from collections.abc import Mapping, Sequence
from statistics import fmean

from rewards.sets import SETS
from tucano.audit.bench import Bench, Group
from tucano.audit.probes import worthless
from tucano.audit.relations.cases import faultless, rated
from tucano.audit.relations.table import Row
from tucano.audit.report import AuditCheck

BAD_RATING = 2.0
REACHED = 0.98
"""Share of its weight that a component reaches in one faultless answer at least."""
_NUMBER = re.compile(r"\d[\d,]*")
SHORTEST = 20
"""A smaller number beside the word «characters» is no length."""
_NEAR = 6
_SAME = 1e-9


def part_checks(task: str, bench: Bench, groups: Sequence[Group], rows: Sequence[Row]) -> list[AuditCheck]:
    return [
        *_direction_checks(task, bench, groups, rows),
        *_reach_checks(task, bench),
        *_length_checks(task, bench, rows),
    ]


def _direction_checks(task: str, bench: Bench, groups: Sequence[Group], rows: Sequence[Row]) -> list[AuditCheck]:
    """In the mean good answers earn as much of each component as bad ones, or more."""
    good = [bench.score(case.prompt, case.text).components for case in (*rated(groups), *faultless(groups, rows))]
    bad = [
        score.components
        for group in groups
        for answer, score in zip(group.answers, group.scores, strict=True)
        if answer.rating <= BAD_RATING
    ]
    bad += [
        bench.score(group.prompt, text).components
        for group in groups
        for texts in worthless(group.prompt).values()
        for text in texts
    ]
    gains = {
        name: fmean(parts.get(name, 0.0) for parts in good) - fmean(parts.get(name, 0.0) for parts in bad)
        for name in bench.rewards.component_names(task)
        if good and bad
    }
    turned = {name: gain for name, gain in gains.items() if gain < -_SAME}
    example = "".join(f", `{name}` by {-gain:.3f}" for name, gain in turned.items())
    message = f"{task}: {len(turned)} of {len(gains)} components pay more for bad answers than for good ones{example}"
    return [AuditCheck.at_most(task, "direction", len(turned), 0, message)] if gains else []


def _reach_checks(task: str, bench: Bench) -> list[AuditCheck]:
    """Every component reaches its documented weight, and none goes beyond; penalties too. Asked where weights are
    documented."""
    weights: Mapping[str, float] = getattr(bench.rewards, "component_weights", lambda task: {})(task)
    most = {
        name: max(
            (abs(score.components.get(name, 0.0)) for prompt, _, score in bench.scores if prompt.reference), default=0
        )
        for name in weights
    }
    short = {name: value for name, value in most.items() if not _reaches(value, weights[name])}
    example = "".join(f", `{name}` reaches {value:.3f} of {weights[name]:.3f}" for name, value in short.items())
    message = f"{task}: {len(short)} of {len(weights)} components do not reach their weight{example}"
    return [AuditCheck.at_most(task, "reach", len(short), 0, message)] if weights else []


def _reaches(value: float, weight: float) -> bool:
    """Whether a component or a penalty comes near its weight, and not beyond; one of weight 0 adds nothing."""
    return REACHED <= value / weight <= 1 + 1e-6 if weight else value == 0


def documented_lengths(rewards: object, task: str) -> dict[str, list[int]]:
    """The lengths in characters that the description of each component names."""
    sets = {str(name): tasks for name, tasks in SETS.items()}
    reward = sets.get(getattr(rewards, "name", ""), {}).get(task)
    components = reward.components if reward else ()
    return {
        part.name: [
            number
            for found in _NUMBER.findall(part.meaning)
            if (number := int(found.rstrip(",").replace(",", ""))) >= SHORTEST
        ]
        for part in components
        if "characters" in part.meaning
    }


def _length_checks(task: str, bench: Bench, rows: Sequence[Row]) -> list[AuditCheck]:
    """At a documented length a component begins or ceases to change: by the character, whatever it takes in bytes."""
    checks = []
    for name, lengths in documented_lengths(bench.rewards, task).items():
        for length in lengths:
            around = [_most_earned(bench, rows, name, length + step) for step in (-_NEAR, 0, _NEAR)]
            wrong = [values for values in zip(*around, strict=False) if not _bends(values)]
            if all(around):
                message = (
                    f"{task}: `{name}` is documented to change at {length} characters; it"
                    f" {'does not: ' + str([round(value, 4) for value in wrong[0]]) if wrong else 'does'}"
                )
                checks.append(AuditCheck.at_most(task, f"length: {length}", len(wrong), 0, message))
    return checks


def _bends(values: Sequence[float]) -> bool:
    """Whether one of the two sides is flat and the other is not."""
    before, here, behind = values
    return (abs(here - before) <= _SAME) != (abs(behind - here) <= _SAME)


def _most_earned(bench: Bench, rows: Sequence[Row], name: str, characters: int) -> list[float]:
    """What good answers of exactly so many characters earn at most of a component, of each writing."""
    most: dict[str, float] = {}
    for row in rows:
        for writing, texts in row.sized.items():
            for text in texts:
                if len(text) == characters:
                    value = bench.score(row.prompt, text).components.get(name, 0.0)
                    most[writing] = max(most.get(writing, value), value)
    return [most[writing] for writing in sorted(most)]
