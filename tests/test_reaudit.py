"""The re-audit: a policy that earns by other things than the truth is not promoted, one that improves is."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from random import Random

import pytest

from rewards import PromptLike, Score
from tasks.promote import Evidence, _refusal
from tasks.running.handles import AnswerSet, ComparisonResult, ReauditResult, SeedResult
from tucano.artifacts.store import Artifact
from tucano.audit.reaudit import Reaudit, reaudit
from tucano.audit.reaudit_table import render_table
from tucano.comparison.answers import Answer, Decoding
from tucano.comparison.compare import Design, compare
from tucano.prompts import Prompt
from tucano.settings import ComparisonSettings, PipelineSettings
from tucano.settings.stages import of_reaudit

PROMPTS = [
    Prompt(f"{task}-{n}", task, f"Pergunta {n}", f"t{n}", "synthetic", "CC0")
    for task in ("insights", "push")
    for n in range(8)
]
Quality = Callable[[int, int], tuple[float, float]]
"""(prompt number, sample) -> (reward, truth)"""


@dataclass
class Stated:
    """A reward that reads its value off the text."""

    def component_names(self, task: str) -> tuple[str, ...]:
        return ("stated",)

    def score(self, prompt: PromptLike, completion: str) -> Score:
        words = completion.split()
        value = float(words[1]) if words[:1] == ["vale"] else 0.0
        return Score(value, {"stated": value})


def answers(arm: str, quality: Quality, known: bool = True) -> list[Answer]:
    made = []
    for prompt in PROMPTS:
        for sample in range(4):
            reward, truth = quality(int(prompt.id[-1]), sample)
            text = f"vale {reward:.6f} {arm}"
            judged = truth if known else None
            made.append(Answer(arm, prompt.id, prompt.task, "sampled", sample, text, 0.0, {}, judged, 1.0, 9, False))
    return made


def start(prompt: int, sample: int) -> tuple[float, float]:
    return 0.30 + 0.05 * sample + prompt / 100, 0.40 + 0.05 * sample + prompt / 200


def audited(tuned: Quality, known: bool = True, rewards: Stated | None = None) -> Reaudit:
    both = answers("sft", start, known) + answers("seed-1", tuned, known)
    return reaudit(rewards or Stated(), of_reaudit(PipelineSettings()), PROMPTS, both, "sft", ["seed-1"])


def failed(report: Reaudit) -> set[tuple[str, str]]:
    return {(check.task, check.name) for check in report.failed("seed-1")}


def better(prompt: int, sample: int) -> tuple[float, float]:
    reward, truth = start(prompt, sample)
    return reward + 0.2 + prompt / 50, truth + 0.1


def hacked(prompt: int, sample: int) -> tuple[float, float]:
    reward, truth = start(prompt, sample)
    return reward + 0.2 + prompt / 50, truth - 0.1 - prompt / 90


def test_a_policy_that_improves_passes() -> None:
    report = audited(better)
    assert failed(report) == set() and report.verdict == "passed"
    rows = {(row.arm, row.spread.task): row for row in report.own}
    assert list(rows) == [("sft", "insights"), ("seed-1", "insights"), ("sft", "push"), ("seed-1", "push")]
    first = rows["sft", "push"]
    # four samples 0.30 .. 0.45 over eight prompts that add 0 .. 0.07
    assert (first.spread.mean, first.spread.best) == (pytest.approx(0.41), pytest.approx(0.485))
    assert (first.spread.k, first.spread.differing, first.truth) == (4, 1.0, pytest.approx(0.4925))
    assert first.agreement is not None and first.agreement.low == pytest.approx(1)


def test_reward_up_and_truth_down_is_hacking() -> None:
    report = audited(hacked)
    assert failed(report) == {("insights", "reward against truth"), ("push", "reward against truth")}
    assert report.verdict == "failed: seed-1"
    assert report.failed("seed-1")[0].message.startswith("insights: reward +0.270")


def test_no_p_is_printed_as_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """20 prompts of one direction: p = 2^-20, which was 0.000."""
    monkeypatch.setattr("test_reaudit.PROMPTS", [replace(PROMPTS[0], id=f"push-{n}", task="push") for n in range(20)])
    change, order = audited(lambda prompt, sample: (0.7 + 0.01 * sample, 0.2125 - 0.01 * sample)).failed("seed-1")[:2]
    assert change.message.startswith(
        "push: reward +0.295 (p of a rise < 0.0001) and truth -0.300 (p of a fall < 0.0001)"
    )
    assert order.message.endswith("rho -1.000 (p of a reversed order < 0.0001)")
    assert "(p of a fall = 1.000)" in audited(better).checks["seed-1"][0].message


def test_noise_raises_no_alarm() -> None:
    alarms = 0
    for seed in range(40):
        rng = Random(seed)
        alarms += bool(failed(audited(lambda p, s, rng=rng: (rng.random(), rng.random()))))  # type: ignore[misc]
    assert alarms <= 4


def test_a_reward_that_orders_samples_against_the_truth_fails() -> None:
    report = audited(lambda prompt, sample: (0.2 + 0.1 * sample, 0.9 - 0.1 * sample))
    assert ("push", "truth order") in failed(report)


def test_a_reward_that_fails_on_texts_of_the_policy_is_caught() -> None:
    class Brittle(Stated):
        def score(self, prompt: PromptLike, completion: str) -> Score:
            if completion.endswith("seed-1"):
                raise KeyError("a text nobody had written before")
            return super().score(prompt, completion)

    assert ("push", "never raises") in failed(audited(better, rewards=Brittle()))


def test_answers_steer_no_terminal() -> None:
    report = audited(hacked)
    evil = replace(report.paid[0], user="\x1b]0;title\x07 prompt", completion="\x1b[2J\u202etxet \ud800")
    shown = render_table(replace(report, paid=(evil,)))
    assert "␛]0;title␇ prompt" in shown and "␛[2J\ufffdtxet \ufffd" in shown
    assert not {"\x1b", "\x07", "\u202e", "\ud800"} & {*shown}


@pytest.mark.parametrize(
    ("tuned", "loss", "reason"),
    [
        (better, 1.0, None),
        (better, 1.6, "its texts decayed: its start finds its answers strange: 160%"),
        (hacked, 1.0, "re-audit of its own samples failed: insights: reward +0.270"),
    ],
)
def test_a_seed_that_fails_is_not_promoted(tmp_path: Path, tuned: Quality, loss: float, reason: str | None) -> None:
    def served(arm: str, place: int, prompt: Prompt, decoding: Decoding) -> Answer:
        reward = 0.1 + (arm == "seed-1") * (0.3 + place / 99)
        lost = loss if arm == "seed-1" else 1.0
        return Answer(arm, prompt.id, prompt.task, decoding, 0, "ok", reward, {}, None, lost, 9, False)

    arms, decodings = ("base", "sft", "seed-1"), ("served", "sampled")
    every = [served(arm, *of, one) for arm, of, one in product(arms, enumerate(PROMPTS), decodings)]  # type: ignore[arg-type]
    verdict = compare(every, PROMPTS, ComparisonSettings(), Design("sft", [1]), frozenset())
    (tmp_path / "comparison.json").write_text(json.dumps(asdict(verdict)), encoding="utf-8")
    (tmp_path / "re-audit.json").write_text(json.dumps(asdict(audited(tuned))), encoding="utf-8")
    record = {"seed": 1, "alarms": [], "best_step": 1, "best_value": 0.5, "tracking_run": ""}
    artifact = Artifact("any", tmp_path, "d", record, 0.0, datetime(2026, 11, 21, tzinfo=UTC))
    evidence = Evidence(AnswerSet(artifact), ReauditResult(artifact), ComparisonResult(artifact))
    refusal = _refusal(evidence, SeedResult(artifact))
    assert refusal == reason if reason is None else refusal is not None and reason in refusal.reason
