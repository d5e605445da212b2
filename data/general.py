"""General Portuguese demonstrations that SFT sees beside those of the tasks, against forgetting.

Data mixing as in the Cocktail Effect (Brief et al. 2024, 2410.01109): a share of general instructions with answers in
what a model is tuned on. The tasks' own sets stay as they are, byte for byte, so that a run with and one without are
compared on the same prompts. Reinforcement learning gets none: nothing could score the answers.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from data.own.prompts import read_own
from data.public.prepare import public_questions
from data.reading.findings import UNREADABLE as KIND
from data.separation import NearDuplicates
from tucano.errors import UserError
from tucano.prompts import Prompt
from tucano.settings.data import UNREADABLE

if TYPE_CHECKING:  # at run time it would put every setting into the key of the data
    from tucano.settings import PipelineSettings

SHIPPED = Path(__file__).with_name("general.jsonl")
"""Short instructions with answers, written for this project (CC0-1.0)."""
OFTEN = 4
"""Repeated up to four times, data is nearly worth as much new data (Muennighoff et al. 2023, 2305.16264, section 6)."""


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Files that general demonstrations depend on: the user's own, and public benchmarks that a run asks."""

    path: str | None = None
    benchmarks: Mapping[str, str] = field(default_factory=dict)


def elsewhere_of(settings: "PipelineSettings") -> Elsewhere:
    """Nothing where none are mixed in."""
    general = settings.data.general
    return Elsewhere(general.path, settings.benchmark.named) if general.share else Elsewhere()


@dataclass(frozen=True, slots=True)
class General:
    """The chosen ones, and what the data report has to say about them."""

    prompts: list[Prompt] = field(default_factory=list)
    masked: Counter[str] = field(default_factory=Counter)
    bad_rows: list[str] = field(default_factory=list)
    turned_away: int = 0
    warnings: list[str] = field(default_factory=list)


def general_demonstrations(
    count: int, elsewhere: Elsewhere, held_out: NearDuplicates, seed: int, most_bad: float = UNREADABLE
) -> General:
    """So many demonstrations, each as often as any other or once more, whose texts are unlike everything held out.

    Raises `UserError` where a file has none.
    """
    if not count:
        return General()
    place = Path(elsewhere.path) if elsewhere.path else SHIPPED
    own = read_own(place)
    own.bad.require_few(KIND, own.rows, most_bad, place)
    for question in public_questions(elsewhere.benchmarks):
        held_out.add(question)
    apart = [
        prompt
        for prompt in own.general
        if not (held_out.near(prompt.user) or held_out.copied_in(prompt.demonstration or ""))
    ]
    if not apart:
        raise UserError(
            f"data.general.path: {place} has no usable general demonstration; a row needs prompt, demonstration and"
            f' "task": "general" (`tucano data check {place}` looks at it)'
        )
    Random(f"{seed}/general").shuffle(apart)
    chosen = [replace(apart[number % len(apart)], id=f"general-{number:05d}") for number in range(count)]
    return General(
        chosen,
        own.masked,
        [line.strip() for line in own.bad.lines()],
        len(own.general) - len(apart),
        _warnings(place, count, len(apart), own.bad.counts.total()),
    )


def _warnings(place: Path, count: int, different: int, bad: int) -> list[str]:
    said = []
    if count > OFTEN * different:
        said.append(
            f"data.general: each of {different} demonstrations stands {count / different:.1f} times in an epoch; beyond"
            f" {OFTEN} times more texts are worth more than repetition"
        )
    if bad:
        said.append(f"{place}: {bad} rows are not used; `tucano data check` names them")
    return said
