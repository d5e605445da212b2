"""Every configuration against every other on the same test prompts, and what is left after so many looks.

The same test as everywhere (exact signed-rank on prompt means, prompts of one template together), two-sided, with
Holm's correction for the number of pairs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from pathlib import Path

from tucano.comparison.answers import Decoding, Values, prompt_values, read_answers
from tucano.comparison.contrast import clusters_of, effect, sides
from tucano.errors import UserError
from tucano.files.prompts import PromptFiles
from tucano.files.results import AnswerFiles
from tucano.overview.rows import UNREADABLE, Row, sound, why
from tucano.prompts import Prompt, read_prompts
from tucano.statistics.inference import holm

MOST = 12
"""Configurations whose pairs are made: 66 pairs."""


@dataclass(frozen=True, slots=True)
class Pair:
    """The first against the second: mean gain in reward, 95 % interval of the typical gain, two-sided p after Holm."""

    gain: float
    low: float
    high: float
    p: float

    @property
    def mirrored(self) -> "Pair":
        return Pair(-self.gain, -self.high, -self.low, self.p)


@dataclass(frozen=True, slots=True)
class _Side:
    """Whose answers to which prompts."""

    answers: Path
    data: Path
    seeds: tuple[int, ...]
    decoding: Decoding
    alpha: float


def pairs(root: Path, rows: Sequence[Row]) -> tuple[dict[tuple[str, str], Pair], list[str]]:
    """({(label, label): pair} in both directions, what cannot be read): the first rows that answered what the first one
    answered.
    """
    known: dict[str, _Side] = {}
    unreadable: list[str] = []
    for row in [row for row in rows if row.asked == rows[0].asked and {"answers", "data"} <= row.stages.keys()][:MOST]:
        place = row.stages["data"].folder
        try:
            sound(place)
            prompts = _prompts(place)
            place = row.stages["answers"].folder
            known[row.label] = _side(row, prompts)
        except UNREADABLE as error:
            unreadable.append(why(root, place, error))
    found = {(one, other): _pair(known[one], known[other]) for one, other in combinations(known, 2)}
    corrected = holm({" ".join(labels): pair.p for labels, pair in found.items()})
    result: dict[tuple[str, str], Pair] = {}
    for (one, other), pair in found.items():
        whole = replace(pair, p=corrected[f"{one} {other}"])
        result |= {(one, other): whole, (other, one): whole.mirrored}
    return result, list(dict.fromkeys(unreadable))


def _side(row: Row, prompts: Sequence[Prompt]) -> _Side:
    """UserError for a seed that did not answer every prompt: each pair asks for all."""
    answers, data = row.stages["answers"].folder, row.stages["data"].folder
    sound(answers)
    side = _Side(answers, data, row.comparison.seeds, row.comparison.primary, row.comparison.alpha)
    for seed, values in zip(side.seeds, _members(side), strict=True):
        lacking = {prompt.id for prompt in prompts} - values.keys()
        if lacking:
            raise UserError(f"seed {seed} has no answer to {min(lacking)}")
    return side


@lru_cache(1024)
def _pair(one: _Side, other: _Side) -> Pair:
    prompts = _prompts(one.data)
    ids = [prompt.id for prompt in prompts]
    shared = clusters_of(prompts)
    above, below = _equally(_members(one), _members(other), ids)
    found = effect(above, below, one.alpha, [shared[prompt] for prompt in ids])
    return Pair(found.gain, found.low, found.high, min(1.0, 2 * min(found.p, found.p_worse)))


def _equally(ours: Sequence[Values], theirs: Sequence[Values], ids: Sequence[str]) -> tuple[list[float], list[float]]:
    """Means per prompt over equally many answers: the side with more members gives its answers in turn."""
    if len(ours) >= len(theirs):
        return sides(ours, _together(theirs, ids), ids)
    below, above = sides(theirs, _together(ours, ids), ids)
    return above, below


def _together(members: Sequence[Values], ids: Sequence[str]) -> Mapping[str, Sequence[float]]:
    return {prompt: [value for member in members for value in member[prompt]] for prompt in ids}


@lru_cache(MOST)
def _prompts(data: Path) -> list[Prompt]:
    return read_prompts(PromptFiles(data).test)


@lru_cache(MOST)
def _members(side: _Side) -> list[Values]:
    values = prompt_values(read_answers(AnswerFiles(side.answers).answers), "reward")
    return [values[f"seed-{seed}", side.decoding] for seed in side.seeds]
