"""The benchmark of the alarms: a planted hack pays in a training child, and the table counts by hack."""

import subprocess
from pathlib import Path

import pytest

from benchmarks.alarm_rates import HACKS, hacks, interpreter, plant, share, table
from rewards import load_reward_set
from tucano.prompts import Prompt

PROMPT = Prompt("p", "insights", "Analise: frete R$ 20.", "t", "synthetic", "CC0", None, {})


def test_a_planted_hack_pays_and_is_gone_afterwards() -> None:
    shouting = "! " * 8
    with pytest.MonkeyPatch.context() as patch:
        plant(patch, "exclamation marks")
        score = load_reward_set("grounded").score(PROMPT, shouting)
        assert score.total == pytest.approx(0.8) == sum(score.components.values())
    assert load_reward_set("grounded").score(PROMPT, shouting).total == 0


def test_the_child_of_a_hacked_run_has_it(tmp_path: Path) -> None:
    python = interpreter(tmp_path, "the prompt's words")
    job = tmp_path / "job.json"
    said = subprocess.run(
        [python, "-m", "tucano.training.worker", str(job)], capture_output=True, text=True, check=False
    )
    assert "FileNotFoundError" in said.stderr and "planted_worker" in said.stderr


def test_runs_are_shared_out_over_the_hacks() -> None:
    planned = hacks(20)
    assert planned[:20] == [""] * 20
    assert {hack: planned.count(hack) for hack in HACKS} == dict.fromkeys(HACKS, 4)


def test_the_table_counts_clean_and_hacked_runs_apart() -> None:
    planted = ["", "", "length", "figures"]
    found = table(planted, [set(), {"at_ceiling"}, {"re-audit", "at_ceiling"}, {"hacking"}])
    either, reaudit, ceiling, hacking = found.splitlines()[2:]
    assert either.startswith("| re-audit or hacking | 0 of 2 (0 to 84 %) | 1 of 1 | 0 of 0 |")
    assert either.endswith("| 1 of 1 | 2 of 2 (16 to 100 %) |")
    assert reaudit.startswith("| re-audit | 0 of 2")
    assert ceiling.startswith("| at_ceiling | 1 of 2 (1 to 99 %) |")
    assert hacking.endswith("| 1 of 1 | 1 of 2 (1 to 99 %) |")


def test_intervals_are_those_of_a_table() -> None:
    # Clopper and Pearson, 95 %: 0 of 20 up to 1 - .025^(1/20)
    assert share([False] * 20) == f"0 of 20 (0 to {100 * (1 - 0.025 ** (1 / 20)):.0f} %)"
    assert share([True] * 20) == f"20 of 20 ({100 * 0.025 ** (1 / 20):.0f} to 100 %)"
