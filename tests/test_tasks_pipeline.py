"""What no shipped run has, through every stage and the benchmark, in small: tasks that are off, prompts without truth."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from own_rows import ODD_ROWS, insight, push, written
from test_pipeline import finished, started, whys

pytestmark = pytest.mark.long
STAGES = {"data", "plan", "audit", "sft", "preflight", "grpo-seed-42", "answers", "re-audit", "comparison", "report"}


def ran(storage: Path, mix: dict[str, float], **chosen: Any) -> tuple[str, str]:
    """What a run and a benchmark of these tasks print."""
    red = ["completion length", "served length", *(f"signal: {task}" for task in mix)]
    chosen |= {"data__mix": json.dumps(mix), "preflight__allow_red": json.dumps(red), "grpo__seeds": [42]}
    code, output = finished(started(storage, "run", **chosen))
    assert code == 0 and set(whys(output)) >= STAGES, output
    assert all(re.search(rf"^\| {task} ", output, flags=re.MULTILINE) for task in mix), "the verdict has a row of each"
    small = {"benchmark__prompts": 80, "benchmark__samples": 1, "benchmark__resamples": 20}
    code, judged = finished(started(storage, "benchmark", **small, **chosen))
    assert code == 0, judged
    return output, " ".join(judged.split())


def made(storage: Path, stage: str, file: str) -> str:
    (place,) = storage.glob(f"artifacts/{stage}/*/{file}")
    return place.read_text(encoding="utf-8")


def test_sentiment_and_churn_run_through_every_stage(tmp_path: Path) -> None:
    """So small a model writes no JSON: it is insights that gives it something to learn from."""
    mix = {"sentiment": 0.4, "churn": 0.3, "insights": 0.3}
    _, judged = ran(tmp_path, mix)
    report = json.loads(made(tmp_path, "audit", "audit.json"))
    blocked = [check["message"] for check in report["checks"] if check["level"] == "block" and not check["passed"]]
    assert report["overridden_by"] is None and blocked == []
    rated = {row["task"]: row["prompts"] for row in report["agreement"] if row["origin"] == "all"}
    assert set(rated) == set(mix) and min(rated["sentiment"], rated["churn"]) >= 12
    assert {json.loads(line)["task"] for line in made(tmp_path, "answers", "answers.jsonl").splitlines()} == set(mix)
    assert "*sentiment*" in judged and "| arm | valid json | accuracy | macro f1 | stars off |" in judged
    assert "*churn*" in judged and "| arm | balanced accuracy | brier |" in judged


def test_a_foreign_file_without_truth_runs_through_every_stage(tmp_path: Path) -> None:
    odd = [row for row, _ in ODD_ROWS.values()]
    count = (1480 - len(odd)) // 2
    rows = [*(push(n) for n in range(count)), *odd, *(insight(n) for n in range(1480 - len(odd) - count))]
    file, storage = written(tmp_path / "own.jsonl", rows), tmp_path / "runs"
    _, judged = ran(storage, {"push": 0.5, "insights": 0.5}, data__source="jsonl", data__path=file)
    report = json.loads(made(storage, "data", "report.json"))
    assert report["of_source"] == {"1 jsonl": 60} and f"{len(odd)} of 1480 rows are not used" in report["warnings"][0]
    answers = made(storage, "answers", "answers.jsonl").splitlines()
    assert {json.loads(line)["truth"] for line in answers} == {None}
    assert "insights (synthetic)" in judged and "ground truth over" in judged
