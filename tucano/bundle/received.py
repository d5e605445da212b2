"""What each stage of a bundle received, held against what follows from the settings of its run; and whose code made
it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

from pydantic_core import to_jsonable_python

from tucano.artifacts.code_version import code_version
from tucano.bundle.reading import SEED_STAGE, Contents, Holds
from tucano.errors import UserError
from tucano.security.printable import short
from tucano.settings import PipelineSettings
from tucano.settings.base import Section
from tucano.settings.comparison import ComparisonStage
from tucano.settings.stages import (
    of_answers,
    of_audit,
    of_comparison,
    of_data,
    of_greedy_answers,
    of_grpo,
    of_merge,
    of_plan,
    of_preflight,
    of_public,
    of_public_set,
    of_reaudit,
    of_sft,
)
from tucano.training.jobs import MODULES

STAGES: Mapping[str, tuple[str, Callable[[PipelineSettings], Section] | None]] = {
    "data": ("data.prepare", of_data),
    "plan": ("tucano.comparison.plan", of_plan),
    "audit": ("tucano.audit.stage", of_audit),
    "sft": (MODULES["sft"], lambda run: of_sft(run, run.seed)),
    "preflight": (MODULES["preflight"], lambda run: of_preflight(run, run.grpo.seeds[0])),
    "answers": (MODULES["answer"], lambda run: of_answers(run, run.seed)),
    "re-audit": ("tucano.audit.reaudit_table", of_reaudit),
    "comparison": ("tucano.comparison.compare", None),
    "merged": (MODULES["merge"], lambda run: of_merge(run, run.seed)),
    "report": ("tucano.report.report", None),
    "public-set": ("data.public.prepare", of_public_set),
    "public-answers": (MODULES["public"], lambda run: of_greedy_answers(run, run.seed)),
    "public": ("tucano.benchmark.public.result", of_public),
}
"""Whose code makes each stage, and what it receives of a run, where its settings alone say that. Those of the seeds are
GRPO's.
"""
IN_WORDS = {"missing": "list of missing seeds", "unmoved": "list of seeds that did not move"}


Apart = tuple[str, Literal["both", "there", "here"]]
"""The name of a setting that is not the same in the bundle (`there`) and here, and which side knows it."""


def settings_followed(contents: Contents) -> Holds:
    """Each stage received what follows from the settings of the run."""
    said: list[str] = []
    others: list[str] = []
    stages = _received(contents)
    for stage, received in stages.items():
        apart = list(_apart(contents.made(stage)["settings"], _with_its_base(contents, stage, received)))
        values = [IN_WORDS.get(name, name) for name, side in apart if side == "both"]
        said += [f"{stage} was made with another {name} than the settings say" for name in values]
        names = [one for one in apart if one[1] != "both"]
        if names and code_there(contents, stage) != code_here(stage):
            others.append(f"{stage} was made by other code, whose settings differ in {_told(names)}")
        else:
            said += [f"the settings of {stage} differ in {_told([one])}, and its code is the one here" for one in names]
    return Holds(f"{len(stages)} stages received what the settings say", tuple(said), tuple(others))


def code_there(contents: Contents, stage: str) -> str:
    """What the stage's artifact says that it was made by."""
    return str(contents.made(stage)["code"])


def code_here(stage: str) -> str:
    if stage.startswith(SEED_STAGE):
        return code_version(MODULES["grpo"])
    if stage not in STAGES:
        raise UserError(f"{short(stage)} is no stage that a bundle of this version has")
    return code_version(STAGES[stage][0])


def of_its_comparison(contents: Contents) -> ComparisonStage:
    """What the verdict follows from by the run's settings and its seeds. Only the stage itself says why a seed is
    missing, and whether the plan came first.
    """
    stored = contents.made("comparison")["settings"]
    told = {int(seed): str(why) for seed, why in stored.get("missing", ())}
    trained = {line.seed for line in contents.seeds.values()}
    missing = {seed: told.get(seed, "?") for seed in contents.settings.grpo.seeds if seed not in trained}
    unmoved = [line.seed for line in contents.seeds.values() if line.best_step == 0]
    return of_comparison(contents.settings, bool(stored.get("planned")), missing, unmoved)


def _received(contents: Contents) -> Mapping[str, Section]:
    run = contents.settings
    found = {stage: receive(run) for stage, (_, receive) in STAGES.items() if receive and stage in contents.stages}
    seeds = {f"{SEED_STAGE}{arm}": of_grpo(run, line.seed) for arm, line in contents.seeds.items()}
    return {**found, **seeds, "comparison": of_its_comparison(contents)}


def _with_its_base(contents: Contents, stage: str, received: Section) -> Section:
    """A base in a folder is that of the bundle, since this machine need not have it."""
    base = contents.made(stage)["settings"].get("base")
    if "base" in type(received).model_fields and str(base).startswith("folder "):
        return received.model_copy(update={"base": base})
    return received


def _apart(there: Any, here: Any, name: str = "") -> Iterator[Apart]:
    """Sections are compared name by name, everything else as a whole: the tasks of a mix are no names of settings."""
    in_parts = isinstance(here, tuple) and any(isinstance(one, Section) for one in here)
    if isinstance(here, Section) and isinstance(there, dict):
        values = dict(here)
        for inner in sorted({*there, *values}):
            place = f"{name}.{inner}".removeprefix(".")
            if inner in there and inner in values:
                yield from _apart(there[inner], values[inner], place)
            else:
                yield place, "there" if inner in there else "here"
    elif in_parts and isinstance(there, list) and len(there) == len(here):
        for number, pair in enumerate(zip(there, here, strict=True)):
            yield from _apart(*pair, f"{name}.{number}")
    elif there != to_jsonable_python(here):
        yield name, "both"


def _told(apart: Sequence[Apart]) -> str:
    """Like «having seeds and in lacking trainings»."""
    words = {"having": "there", "lacking": "here"}
    names = {word: ", ".join(name for name, known in apart if known == side) for word, side in words.items()}
    return " and in ".join(f"{word} {found}" for word, found in names.items() if found)
