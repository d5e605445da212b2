"""What follows from stored answers, made again by the code that is here: rewards and truths, then the verdict."""

from collections.abc import Iterator
from dataclasses import replace
from math import isclose
from typing import Any

from pydantic_core import to_jsonable_python

from rewards import load_reward_set
from tucano.artifacts.records import read_record
from tucano.benchmark.public.questions import PublicFiles
from tucano.benchmark.public.result import PublicResult
from tucano.bundle.reading import Contents, Holds
from tucano.bundle.received import of_its_comparison
from tucano.comparison.compare import TOGETHER, Comparison, Design, compare
from tucano.comparison.contrast import Contrast
from tucano.comparison.forgetting import read_readings
from tucano.comparison.text_health import known_words
from tucano.comparison.verdict import judged_apart, told, without
from tucano.files.results import AnswerFiles
from tucano.prompts import read_prompts
from tucano.security.printable import short
from tucano.truth import truth

SAME = 1e-9
"""Relative: processors add in other orders, and no figure is read to nine digits."""


def answers_scored_again(contents: Contents) -> Holds:
    """Every stored answer's reward, components and truth."""
    folder = contents.prompts.folder
    rewards = load_reward_set(contents.settings.comparison.rewards, folder)
    prompts = {prompt.id: prompt for prompt in read_prompts(contents.prompts.test)}
    said = []
    for answer in contents.answers:
        prompt = prompts[answer.prompt_id]
        score = rewards.score(prompt, answer.completion)
        was = {"reward": answer.reward, "truth": answer.truth, **answer.components}
        now = {"reward": score.total, "truth": truth(prompt, answer.completion, folder), **score.components}
        for place, before, after in differences(was, to_jsonable_python(now)):
            who = f"{answer.arm}, {answer.decoding} answer {answer.sample} to {answer.prompt_id}"
            said.append(f"{short(who)}: {place} {before} there, {after} here")
    return Holds(f"{len(contents.answers)} rewards and truths are what they were", tuple(said))


def verdict_made_again(contents: Contents) -> Holds:
    """Every figure and sentence of the comparison."""
    made = _compared(contents)
    now = to_jsonable_python(made)
    said = [
        f"{place}: {short(str(before), 60)} there, {short(str(after), 60)} here"
        for place, before, after in differences(to_jsonable_python(contents.comparison), now)
    ]
    return Holds(f"{_count(now)} figures and sentences: {made.verdict.headline}", tuple(said))


def _compared(contents: Contents) -> Comparison:
    """The comparison from answers and the settings of the run, and what else the stored one was made from: the count
    of looks, how often people preferred what.
    """
    stored = contents.comparison
    chosen = of_its_comparison(contents)
    design = Design(
        reference=contents.settings.reference,
        seeds=[line.seed for line in contents.seeds.values()],
        shown_seed=contents.seeds[contents.candidate].seed,
        looks=stored.looks,
        planned=chosen.planned,
        unmoved=chosen.unmoved,
        untrained_base=chosen.untrained_base,
        public=_public(contents),
    )
    made = compare(
        contents.answers,
        read_prompts(contents.prompts.test),
        chosen.comparison,
        design,
        known_words(contents.prompts),
        read_readings(AnswerFiles(contents.of("answers")).language),
    )
    verdict = judged_apart(without(made.verdict, dict(chosen.missing)), contents.prompts)
    return told(replace(made, verdict=verdict), stored.people)


def _public(contents: Contents) -> tuple[Contrast, ...]:
    """What the verdict says of public benchmarks; their answers are not scored again."""
    if "public" not in contents.stages:
        return ()
    result = read_record(PublicResult, PublicFiles(contents.of("public")).result)
    return tuple(found for found in result.contrasts if found.arm == TOGETHER)


def differences(there: Any, here: Any, place: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Where two JSON values differ: the place, and what stands there and here."""
    if isinstance(there, dict) and isinstance(here, dict):
        for name in sorted({*there, *here}):
            yield from differences(there.get(name), here.get(name), f"{place}.{name}".removeprefix("."))
    elif isinstance(there, list) and isinstance(here, list) and len(there) == len(here):
        for number, pair in enumerate(zip(there, here, strict=True)):
            yield from differences(*pair, f"{place}.{number}")
    elif isinstance(there, float | int) and isinstance(here, float | int):
        if not isclose(there, here, rel_tol=SAME, abs_tol=SAME):
            yield place, there, here
    elif there != here:
        yield place, there, here


def _count(value: Any) -> int:
    """The figures and texts in a JSON value."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 1 if inside is None else sum(map(_count, inside))
