"""An arm that has answered before does not answer again: its lines are taken from that artifact."""

import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from prefect.futures import PrefectConcurrentFuture
from prefect.states import Completed, Crashed, Failed, Pending, State

from tasks import compare
from tasks.compare import TIMES, _of_starts, wait_for
from tucano.files.results import AnswerFiles
from tucano.settings import PipelineSettings
from tucano.training.answers import copy_answered
from tucano.training.jobs import Arm, Job


def test_arms_are_taken_over_line_by_line(tmp_path: Path) -> None:
    before = AnswerFiles(tmp_path)
    arms = ("base", "sft", "seed-42", "champion")
    lines = [
        json.dumps({"arm": arm, "completion": f"olá {n}\u2028"}, ensure_ascii=False) for arm in arms for n in range(2)
    ]
    before.answers.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    before.language.write_text("".join(f'{{"arm": "{arm}", "nats": 1}}\n' for arm in arms), encoding="utf-8")
    answers, language = io.StringIO(), io.StringIO()
    for arm in ("base", "seed-42"):
        copy_answered(arm, before, answers, language)
    assert answers.getvalue() == "".join(f"{line}\n" for line in lines[:2] + lines[4:6])
    assert language.getvalue().count("nats") == 2


def test_what_the_starts_answered_beside_three_seeds_serves_three_and_no_other_number() -> None:
    beside = {"prompts": "p", "start": "s", TIMES: "3"}
    later = {"prompts": "p", "start": "s", "seed-1": "a", "seed-2": "b", "seed-3": "c", "champion": "model version 1"}
    assert _of_starts(beside) == _of_starts(later)
    assert _of_starts(beside) != _of_starts({name: value for name, value in later.items() if name != "seed-3"})
    assert _of_starts(beside) != _of_starts(later | {"start": "another"})


def test_texts_are_looked_at_under_the_start_by_its_own_name(tmp_path: Path) -> None:
    """Under any other name a base without SFT lost model.chat_template, and its losses were of another template."""
    store = SimpleNamespace(alike=lambda *_: None, work_folder=lambda _: tmp_path)
    run, prompts = (
        SimpleNamespace(settings=PipelineSettings(), store=store),
        SimpleNamespace(files=SimpleNamespace(folder=tmp_path)),
    )
    job = compare._job(*cast(Any, (run, prompts, None, None, tmp_path, [Arm("seed-1", "b", "a")])))
    assert job.reference == Arm("base", run.settings.model.place) and job.answered == {}
    job.write(tmp_path / "job.json")
    assert Job.read(tmp_path / "job.json") == job


def test_who_answered_in_vain_is_asked_again_and_ends_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """MLflow away while the starts were shown ended a run whose seeds had been trained for hours."""
    said: list[str] = []
    logger = SimpleNamespace(warning=lambda text, what: said.append(text % what))
    monkeypatch.setattr(compare, "get_run_logger", lambda: logger)
    states: tuple[State[Any], ...] = (
        Completed(),
        Failed(message="MLflow is away"),
        Pending(name="NotReady"),
        Crashed(message="killed"),
    )
    futures = [SimpleNamespace(wait=lambda: None, state=state) for state in states]
    wait_for(cast(list[PrefectConcurrentFuture[Any]], futures))
    assert said == ["MLflow is away; it is done again", "killed; it is done again"]
