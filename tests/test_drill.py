"""The preemption drill in small (`make drill` is the whole): real processes killed at random moments of every phase."""

import re
import typing
from pathlib import Path

import pytest
from programs import python
from pydantic import BaseModel

from benchmarks.drill_cases import CONFIGURATIONS
from tucano.profiles import validated
from tucano.settings import DpoSettings, GrpoSettings, PipelineSettings, SftSettings

ROOT = Path(__file__).parent.parent


DRILLED_ELSEWHERE = {"grpo.teacher": "tests/test_teacher.py", "dpo.rounds": "tests/test_dpo.py: each is a job like one"}
"""Fields whose interrupted trainings another test compares."""


def settings_of_all() -> list[PipelineSettings]:
    every = []
    for configuration in CONFIGURATIONS:
        chosen = configuration.settings()
        if configuration.start != "model":
            chosen["model"]["name"] = "a-model"
        every.append(validated(chosen))
    return every


@pytest.mark.parametrize(("section", "kind"), [("sft", SftSettings), ("grpo", GrpoSettings), ("dpo", DpoSettings)])
def test_every_field_is_drilled_at_a_value_that_is_not_its_default(section: str, kind: type[BaseModel]) -> None:
    """And every choice of a field that has choices. A new field fails here until a configuration sets it."""
    drilled = [
        (configuration.kind, getattr(chosen, section))
        for configuration, chosen in zip(CONFIGURATIONS, settings_of_all(), strict=True)
    ]
    for name, field in kind.model_fields.items():
        mine = [chosen for trained, chosen in drilled if trained == section or name == "enabled"]
        used = {repr(getattr(chosen, name)) for chosen in mine}
        if f"{section}.{name}" in DRILLED_ELSEWHERE:
            continue
        assert used - {repr(field.default)}, f"{section}.{name} is never drilled off its default"
        named = typing.get_args(field.annotation) if typing.get_origin(field.annotation) is typing.Literal else ()
        assert {repr(choice) for choice in named} <= used, f"{section}.{name}: not every choice is drilled"


def drill(*options: str) -> str:
    done = python("-W", "ignore", "-m", "benchmarks.drill", *options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.timeout(600)
@pytest.mark.long
def test_disturbed_runs_end_with_the_same_weights_state_and_history_as_one_left_alone() -> None:
    table = drill("--kills", "2", "--only", "KL penalty from", "SFT of")
    struck = re.findall(r"^\| .* (\d+) (SIGKILL|SIGTERM) in ", table, re.MULTILINE)
    assert [signal for _, signal in struck] == 2 * ["SIGTERM", "SIGKILL", "SIGTERM"]
    assert all(int(count) >= 2 for count, _ in struck)


@pytest.mark.long
@pytest.mark.timeout(600)
def test_planted_faults_are_found() -> None:
    """`make drill ARGS=--faults` plants all of them."""
    table = drill("--faults", "--only", "reference adapter", "over, and")
    assert len(re.findall(r"^\| .* \| .* \| equal of \d+ runs: ", table, re.MULTILINE)) == 2
