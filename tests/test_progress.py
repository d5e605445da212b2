"""The progress that Prefect's page shows of a training, whatever the training is called."""

import logging
import time
from types import SimpleNamespace
from typing import Any, cast
from uuid import uuid4

import pytest
from prefect.client.schemas.actions import ArtifactCreate

from tasks.running import child
from tasks.running.child import ProgressBar
from tasks.train import told_of_alarms
from tucano.cli.terminal import ForPeople, breaking_silence
from tucano.training.jobs import Progress


@pytest.mark.parametrize(
    ("label", "key"), [("grpo seed 42", "grpo-seed-42"), ("grpo-seed-42-sql_qa", "grpo-seed-42-sql-qa")]
)
def test_its_key_is_one_that_prefect_takes(label: str, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[ArtifactCreate] = []

    def create(percent: float, key: str, description: str) -> Any:
        made.append(ArtifactCreate(key=key, data=percent, type="progress", description=description))
        return uuid4()

    monkeypatch.setattr(child, "create_progress_artifact", create)
    monkeypatch.setattr(child, "update_progress_artifact", lambda *_, **__: None)  # else it would start a server
    ProgressBar(label).close()
    assert [one.key for one in made] == [key]


def test_no_time_is_said_to_be_left_where_none_is() -> None:
    assert Progress("sft", 50, 50, {"loss": 0.5}, 0.0).line() == "sft   step 50/50   loss 0.500"
    assert Progress("sft", 49, 50, {}, 0.6).line().endswith("   1 s left")


def test_a_long_silence_is_broken_with_what_was_said_last(capsys: pytest.CaptureFixture[str]) -> None:
    record = logging.LogRecord("tucano", logging.INFO, "", 0, "answers: runs, for the first time", None, None)
    with breaking_silence(seconds=1.0):
        for _ in range(5):
            time.sleep(0.05)
            assert ForPeople().filter(record)
        assert capsys.readouterr().err == "", "who speaks is not spoken for"
        time.sleep(1.5)
    (said, *_) = capsys.readouterr().err.splitlines()
    assert said.endswith(" s silent, still at work; last was: answers: runs, for the first time")


@pytest.mark.parametrize(
    ("alarms", "said"),
    [
        ([], None),
        ([("no_signal", False)], "1 note, none stopped a seed; docs/health.md says what they mean"),
        ([("no_signal", False)] * 2, "2 notes, none stopped a seed; docs/health.md says what they mean"),
        ([("no_signal", False), ("hacking", False)], "1 alarm, 1 note, none stopped a seed; docs/health.md says what they mean"),
        ([("collapse", True), ("not_finite", True)], "2 alarms, 2 stopped a seed; docs/health.md says what they mean"),
    ],
)  # fmt: skip
def test_after_the_trainings_their_alarms_and_notes_are_counted(
    alarms: list[tuple[str, bool]], said: str | None
) -> None:
    assert told_of_alarms([cast(Any, SimpleNamespace(name=name, stops=stops)) for name, stops in alarms]) == said


@pytest.mark.parametrize("by", ["an interrupt", "a termination"])
def test_a_signal_is_said_by_the_command_alone(by: str) -> None:
    """Prefect says of SIGTERM what it says of Ctrl-C in other words."""
    said = f"Crash detected! Execution was aborted by {by} signal."
    assert not ForPeople().filter(logging.LogRecord("prefect", logging.ERROR, "", 1, said, None, None))
