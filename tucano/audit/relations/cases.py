"""Good answers that are changed: to which prompts, and of which kinds these are."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tucano.audit.bench import GOOD_RATING, Group
from tucano.prompts import Prompt
from tucano.specs.registry import spec_of

MOST_RATED = 6
"""Good answers that people rated first: enough for a mean, few enough for seconds."""
MOST_MADE = 7
"""Prompts whose truth an answer is made of, so many of every kind as there are of the rarest, then the others."""
MOST_TOLD = 5
"""Prompts of each kind of `TaskSpec.variants`."""
PLAIN = "all"


@dataclass(frozen=True, slots=True)
class Case:
    """A good answer. `kinds`: what its prompt is of, `PLAIN` for those of the rating set as they stand."""

    prompt: Prompt
    text: str
    kinds: tuple[str, ...]
    others: tuple[Prompt, ...]
    """Prompts of the same task with another truth, the nearest first."""


def rated(groups: Sequence[Group], most: int = MOST_RATED) -> list[Case]:
    """Answers that people call good; with nothing said about kinds, since their own blemishes differ."""
    return [
        Case(group.prompt, answer.completion, (PLAIN,), _others(groups, group.prompt))
        for group in groups
        for answer in group.answers
        if answer.rating >= GOOD_RATING
    ][:most]


def made(groups: Sequence[Group], most: int = MOST_MADE) -> list[Case]:
    """One faultless answer to each of these prompts, made of its truth."""
    prompts = spread([group.prompt for group in groups], most)
    return [
        Case(prompt, text, (PLAIN, *spec_of(prompt.task).kinds(prompt)), _others(groups, prompt))
        for prompt in prompts
        for text in faultless(prompt)[:1]
    ]


def told_otherwise(groups: Sequence[Group], most: int = MOST_TOLD) -> list[Case]:
    """The same for prompts that tell what is true in another way, or of which less is known."""
    found: dict[str, list[Case]] = {}
    for prompt in spread([group.prompt for group in groups], len(groups)):
        for kind, variant in spec_of(prompt.task).variants(prompt):
            texts = faultless(variant) or faultless(prompt)
            if texts and len(found.setdefault(kind, [])) < most:
                found[kind].append(Case(variant, texts[0], (kind,), _others(groups, prompt)))
    return [case for cases in found.values() for case in cases]


def every_faultless(groups: Sequence[Group]) -> Iterator[Case]:
    """All that can be made of every prompt's truth, and of its variants."""
    for group in groups:
        spec = spec_of(group.prompt.task)
        for text in faultless(group.prompt):
            yield Case(group.prompt, text, (PLAIN, *spec.kinds(group.prompt)), ())
        for kind, variant in spec.variants(group.prompt):
            for text in faultless(variant) or faultless(group.prompt):
                yield Case(variant, text, (kind,), ())


def faultless(prompt: Prompt) -> list[str]:
    spec = spec_of(prompt.task)
    return [*spec.right_answers(prompt), *spec.examples(prompt)]


def spread(prompts: Sequence[Prompt], most: int) -> list[Prompt]:
    """So many prompts, in their order: first one of every kind, then a second, until there are enough."""
    by_kind: dict[str, list[int]] = {}
    for place, prompt in enumerate(prompts):
        for kind in spec_of(prompt.task).kinds(prompt) or (PLAIN,):
            by_kind.setdefault(kind, []).append(place)
    turns = max(map(len, by_kind.values()), default=0)
    order = [places[turn] for turn in range(turns) for places in by_kind.values() if turn < len(places)]
    return [prompts[place] for place in sorted(list(dict.fromkeys(order))[:most])]


def _others(groups: Sequence[Group], prompt: Prompt) -> tuple[Prompt, ...]:
    prompts = [group.prompt for group in groups]
    place = prompts.index(prompt)
    return (*prompts[place + 1 :], *prompts[:place])
