"""Which prompts GRPO draws from: by what its start earns with them, remembered over attempts, and enough for a step."""

import json
from pathlib import Path
from typing import Any

import pytest
from test_grpo_parity import (
    one_thread_and_the_signals_as_before,  # noqa: F401  the fixture is used by its name
    settings,
    tiny,
    trainer,
)
from test_resume import chosen, interrupted, left, train

from rewards import PromptLike, RewardSet, Score
from tucano.errors import UserError
from tucano.profiles import validated
from tucano.settings.training.drawing import Admission
from tucano.storage.journal import read_journal
from tucano.training import grpo
from tucano.training.jobs import parse
from tucano.training.rollouts.admission import Admitted, Verdict, verdict
from tucano.training.rollouts.scoring import Rewards

BAND = {"low": 0.4, "high": 0.55, "samples": 3}
"""Of random rewards; with it some of the six prompts are admitted."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny(tmp_path_factory.mktemp("admission") / "tiny")


@pytest.mark.parametrize(
    ("rewards", "expected"),
    [
        ([0, 0, 0, 1, 0], Verdict.ADMITTED),  # a pass rate of a fifth, and of four fifths
        ([1, 1, 0, 1, 1], Verdict.ADMITTED),
        ([0, 0, 0, 0, 0, 1], Verdict.TOO_HARD),
        ([1, 1, 1, 1, 1, 0], Verdict.TOO_EASY),
        ([0.0, 0.0], Verdict.TOO_HARD),
        ([1.0, 1.0], Verdict.TOO_EASY),
        ([0.5, 0.5, 0.5], Verdict.ALIKE),  # graded rewards may lie in the middle and teach nothing
        ([0.5, 0.5, 0.6], Verdict.ADMITTED),
    ],
)
def test_a_prompt_is_admitted_by_the_mean_of_what_its_answers_earn(rewards: list[float], expected: Verdict) -> None:
    assert verdict(rewards, Admission()) is expected


def test_counts_are_told_for_every_task_and_verdict() -> None:
    tried = {
        "a": ("push", 0.5, Verdict.ADMITTED),
        "b": ("push", 0.9, Verdict.TOO_EASY),
        "c": ("sql_qa", 0.0, Verdict.TOO_HARD),
    }
    found = Admitted(tried)
    assert {name: count for name, count in found.counts().items() if count} == {
        "admission/push/admitted": 1, "admission/push/too_easy": 1, "admission/sql_qa/too_hard": 1,
    }  # fmt: skip
    assert len(found.counts()) == 2 * len(Verdict), "none is told as 0"


def told(place: Path) -> dict[str, str]:
    """{prompt: verdict}, as delivered."""
    lines = (place / "output" / "admission.jsonl").read_text(encoding="utf-8").splitlines()
    return {row["prompt"]: row["verdict"] for row in map(json.loads, lines)}


def test_a_run_asks_the_admitted_prompts_alone_and_goes_on_with_them(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped in its fourth step it ends as one left alone, and draws no answers for the choice a second time."""
    asked: set[str] = set()
    score = Rewards.score

    def noted(self: Rewards, completions: Any, prompt_ids: list[str], *more: Any) -> Any:
        asked.update(prompt_ids)
        return score(self, completions, prompt_ids, *more)

    monkeypatch.setattr(Rewards, "score", noted)
    run = chosen(admission=BAND)
    train(folder, tmp_path / "alone", run)
    verdicts = told(tmp_path / "alone")
    admitted = {name for name, found in verdicts.items() if found == "admitted"}
    assert len(verdicts) == 6 and 2 <= len(admitted) < 6, "else this test shows nothing"
    assert asked == admitted
    rows = [row.values for row in read_journal(tmp_path / "alone" / "work" / "journal.jsonl")]
    counted = {name: count for row in rows for name, count in row.items() if name.endswith("/admitted")}
    assert counted.keys() == {"admission/insights/admitted", "admission/push/admitted"}
    assert sum(counted.values()) == len(admitted)

    place = tmp_path / "stopped"
    interrupted(monkeypatch, 7, lambda: train(folder, place, run))
    monkeypatch.setattr(grpo, "admitted", lambda *_: pytest.fail("the checkpoint holds the choice"))
    train(folder, place, run)
    assert left(place) == left(tmp_path / "alone") and told(place) == verdicts


def test_refilled_groups_come_from_the_admitted_prompts_too(folder: Path, tmp_path: Path) -> None:
    made = trainer(folder, tmp_path, settings())
    order = made.reserve.seed
    made.draws_from(Admitted({f"p{n}": ("push", 0.5, Verdict.ADMITTED if n else Verdict.ALIKE) for n in (0, 2, 4)}))
    assert {made.reserve.take("push")["prompt_id"] for _ in range(6)} == {"p2", "p4"}
    assert made.reserve.seed == order


def test_too_few_prompts_are_refused_with_what_they_were(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(
        UserError,
        match=r"admits 0 of 6 prompts \(0 too easy, 6 too hard, 0 whose .* a step needs 2: widen grpo.admission",
    ):
        train(folder, tmp_path, chosen(admission={"low": 0.98, "high": 0.99, "samples": 2}))


class PushAlone(RewardSet):
    def score(self, prompt: PromptLike, completion: str) -> Score:
        found = super().score(prompt, completion)
        return found if prompt.task == "push" else Score(0.0, dict.fromkeys(found.components, 0.0))


def test_a_task_without_an_admitted_prompt_is_told(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grpo, "load_reward_set", PushAlone)
    train(folder, tmp_path, chosen(max_steps=1, admission={"low": 0.1, "high": 0.9}))
    heard = [said.notice for line in capsys.readouterr().out.splitlines() if (said := parse(line)) and said.notice]
    assert "grpo.admission admits no prompt of insights, which will not be trained" in heard
    assert {found for name, found in told(tmp_path).items() if name in ("p1", "p3", "p5")} == {"too_hard"}


def test_a_band_without_width_and_a_choice_that_cannot_fill_a_step_are_refused_before_a_run() -> None:
    with pytest.raises(UserError, match=r"grpo\.admission\.low=0\.8 is not below grpo\.admission\.high=0\.8"):
        validated({"grpo": {"admission": {"low": 0.8}}})
    with pytest.raises(UserError, match=r"grpo\.admission\.prompts=3 is less than the 4 that a step asks at once"):
        validated({"grpo": {"batch_size": 64, "micro_batch": 64, "generations": 16, "admission": {"prompts": 3}}})
