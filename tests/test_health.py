"""Each alarm is raised by the run it is meant for, once, and a healthy run raises none."""

import math
import re
from collections import defaultdict
from pathlib import Path
from typing import Any, get_args

import pytest
import trl
from test_grpo_parity import one_thread_and_the_signals_as_before, ours, settings, tiny  # noqa: F401  a fixture

from tucano.settings import HealthSettings, PipelineSettings
from tucano.settings.model import LoadedModel
from tucano.settings.training.health import AlarmName
from tucano.storage.journal import read_journal
from tucano.training import grpo
from tucano.training.grpo_trainer import trainer_class
from tucano.training.health import RULES, Alarm, History, Watch

HEALTHY_STEP = {
    "train/loss": 0.01, "train/grad_norm": 0.05, "train/entropy": 0.3, "train/completions/clipped_ratio": 0.1,
    "train/zero_variance/extraction": 0.25, "train/zero_variance/push": 0.0, "train/reward/highest": 0.97,
    "train/learning_rate": 0.002,
}  # fmt: skip
HEALTHY_LOOK = {
    "validation/reward": 0.5, "validation/truth": 0.3, "validation/kl": 0.01, "validation/reward_z": 3.0,
    "validation/truth_z": 0.5,
}  # fmt: skip
FALL = (0.6, 0.4, 0.41)


def raised(*rows: dict[str, float], settings: HealthSettings | None = None) -> list[Alarm]:
    watch = Watch(settings or HealthSettings(), steps=100)
    return [alarm for step, row in enumerate(rows, start=1) for alarm in watch.observe(step, row)]


def steps(count: int, **changes: float) -> list[dict[str, float]]:
    return [HEALTHY_STEP | {f"train/{name}": value for name, value in changes.items()} for _ in range(count)]


def looks(*changes: dict[str, float]) -> list[dict[str, float]]:
    return [HEALTHY_LOOK | {f"validation/{name}": value for name, value in change.items()} for change in changes]


def test_a_healthy_run_raises_nothing() -> None:
    assert raised(*steps(20), *looks({}, {"reward": 0.55}, {"reward": 0.4})) == []


@pytest.mark.parametrize(
    ("name", "rows", "step"),
    [
        ("not_finite", steps(2) + steps(1, loss=math.nan), 3),
        ("not_finite", steps(1, grad_norm=math.inf), 1),
        ("no_signal", steps(9, **{"zero_variance/push": 1.0}), 5),
        ("entropy_gone", steps(9, entropy=0.001), 5),
        ("at_ceiling", steps(9, **{"completions/clipped_ratio": 0.8}), 5),
        ("reward_scale", steps(1, **{"reward/highest": 1.7}), 1),
        ("rate_gone", steps(20) + steps(1, learning_rate=1e-6), 21),
        ("task_starved", steps(9, **{"task_weight/push": 0.19}), 5),
        ("policy_still", looks({"kl": 0.0}, {"kl": 0.0}, {"kl": 1e-9}), 3),
        ("collapse", looks({"reward": 0.6}, {"reward": 0.4}, {"reward": 0.41}), 3),
        ("hacking", looks({"truth_z": 0.0}, {"truth_z": -2.5}, {"truth_z": -3.0}), 3),
    ],
)
def test_each_alarm_is_raised_once_at_its_step_and_says_what_to_do(
    name: str, rows: list[dict[str, float]], step: int
) -> None:
    alarms = raised(*rows, *rows[-1:])
    assert [(alarm.name, alarm.step) for alarm in alarms] == [(name, step)]
    assert alarms[0].evidence in alarms[0].line() and alarms[0].advice in alarms[0].line()


@pytest.mark.parametrize("section", ["grpo", "dpo"])
def test_advice_names_settings_of_the_training_that_is_watched(section: str) -> None:
    watch = Watch(HealthSettings(), 100, section)
    rows = [*steps(1, loss=math.nan), *steps(1, learning_rate=1e-6), *looks(*[{"kl": 0.0, "reward": r} for r in FALL])]
    advice = {alarm.name: alarm.advice for row in rows for alarm in watch.observe(1, row)}
    assert advice.keys() == {"not_finite", "rate_gone", "policy_still", "collapse"}
    for text in advice.values():
        named = re.findall(r"(\w+)\.(\w+)", text)
        assert named and {stage for stage, _ in named} == {section}
        assert {setting for _, setting in named} <= {*getattr(PipelineSettings(), section).model_fields}


@pytest.mark.parametrize(
    ("name", "stops", "word"),
    [
        ("no_signal", False, "note"),
        ("no_signal", True, "ALARM"),
        ("hacking", False, "ALARM"),
        ("collapse", True, "ALARM"),
    ],
)
def test_what_neither_stops_a_run_nor_blocks_promotion_is_a_note(name: AlarmName, stops: bool, word: str) -> None:
    assert Alarm(name, 5, "seen", "Do it.", stops).line().startswith(f"{word} {name} at step 5: seen. Do it.")


def test_one_bad_look_is_no_collapse_and_a_schedule_may_end_at_its_end() -> None:
    assert raised(*looks({"reward": 0.6}, {"reward": 0.3}, {"reward": 0.59})) == []
    assert raised(*looks({"reward": 0.06}, {"reward": 0.03}, {"reward": 0.03})) == [], "a move of .03 is noise"
    assert raised(*steps(90), *steps(1, learning_rate=1e-7)) == []


@pytest.mark.parametrize(
    ("name", "series", "bad", "fine"),
    [
        ("no_signal", "zero_variance/push", 1.0, 0.0),
        ("entropy_gone", "entropy", 0.001, 0.3),
        ("at_ceiling", "completions/clipped_ratio", 0.8, 0.1),
        ("sampler_apart", "sampling/sampling_logp_difference/mean", 5.0, 0.0),
    ],
)
def test_what_is_no_number_is_an_alarm_and_silences_none(name: str, series: str, bad: float, fine: float) -> None:
    """Of every five steps one is NaN, so that a mean of five would never be a number."""
    sometimes = [row for _ in range(3) for row in (*steps(4, **{series: bad}), *steps(1, **{series: math.nan}))]
    assert [(alarm.name, alarm.step) for alarm in raised(*sometimes)] == [("not_finite", 5), (name, 6)]
    [alarm] = raised(*steps(5, **{series: fine}), *steps(1, **{series: math.nan}), *steps(5, **{series: fine}))
    assert (alarm.step, alarm.evidence) == (6, f"train/{series} is nan")


def test_a_number_that_no_alarm_reads_may_be_none() -> None:
    """The truth of a look is NaN where no prompt has a reference."""
    assert raised(*steps(3), *looks({"truth": math.nan}, {"truth": math.nan}), *steps(3)) == []


def test_the_settings_say_which_alarms_stop() -> None:
    rows = steps(9, entropy=0.001)
    assert not raised(*rows)[0].stops
    assert raised(*rows, settings=HealthSettings(stop_on=("entropy_gone",)))[0].stops


BACKENDS = get_args(LoadedModel.model_fields["backend"].annotation)
OFTEN = {"max_steps": 4, "eval_steps": 1, "save_steps": 4, "patience": 4, "advantages": "group", "task_weights": "iwu"}


def asked_for(vllm: bool = False, weighted: bool = False) -> set[str]:
    """Every metric that some rule looks up, of a run of push and insights; drawn by vLLM, with task weights, if so."""
    names: set[str] = set()

    class Asked(defaultdict[str, list[float]]):
        def get(self, name: str, default: Any = None) -> Any:
            names.add(name)
            return [1.0] * 9

    for rule, _ in RULES.values():
        list(rule(History(Asked(list)), HealthSettings(window=1)))
    others = ("extraction", "sql_qa", "sentiment", "churn", "progress")
    switched = {"train/task_weight/": weighted, "train/sampling/": vllm}
    absent = tuple(start for start, is_on in switched.items() if not is_on)
    return {name for name in names if not name.endswith(others) and not name.startswith(absent)}


def as_unsloths_trainer() -> Any:
    """Our trainer around one that, like unsloth's, logs no entropy and has none beside its log-probabilities."""

    class UnslothGRPOTrainer(trl.GRPOTrainer):
        def _compute_loss(self, *given: Any, **named: Any) -> Any:
            loss = super()._compute_loss(*given, **named)
            self._metrics["train"]["entropy"].pop()
            return loss

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trl, "GRPOTrainer", UnslothGRPOTrainer)
        return trainer_class()


@pytest.mark.parametrize(
    ("backend", "own_decoding"), [*((backend, True) for backend in BACKENDS), ("transformers", False)]
)
def test_every_backend_logs_what_each_alarm_needs(
    backend: str, own_decoding: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """tests/test_unsloth.py asks it of Unsloth itself, tests/test_vllm.py of runs that vLLM draws for."""
    folder = tiny(tmp_path / "tiny")
    plain, _ = ours(folder, tmp_path / "plain", settings(**OFTEN, own_decoding=own_decoding))
    if backend == "unsloth":
        monkeypatch.setattr(grpo, "trainer_class", as_unsloths_trainer)
    steps, _ = ours(folder, tmp_path / backend, settings(**OFTEN, own_decoding=own_decoding))
    rows = read_journal(tmp_path / backend / "work" / "journal.jsonl")
    wanted = asked_for(weighted=True)
    assert {"train/task_weight/push", "train/task_weight/insights"} <= wanted
    assert {name for row in rows for name in row.values} >= wanted
    for step, expected in zip(steps, plain, strict=True):
        assert step["train/entropy"] == pytest.approx(expected["train/entropy"], rel=0.05)
        assert step["train/loss"] == expected["train/loss"], "measuring moves nothing"
