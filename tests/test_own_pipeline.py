"""Prompts of somebody else, without any truth, run through every stage and the benchmark, through the command."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from own_rows import ODD_ROWS, insight, push, written
from test_pipeline import finished, started, whys

MIX = {"push": 0.5, "insights": 0.5}
RED = ["completion length", *(f"signal: {task}" for task in MIX)]


@pytest.mark.long
def test_a_foreign_file_without_truth_runs_through_every_stage(tmp_path: Path) -> None:
    odd = [row for row, _ in ODD_ROWS.values()]
    count = (1480 - len(odd)) // 2
    rows = [*(push(n) for n in range(count)), *odd, *(insight(n) for n in range(1480 - len(odd) - count))]
    chosen: dict[str, Any] = {
        "data__source": "jsonl",
        "data__path": written(tmp_path / "own.jsonl", rows),
        "data__mix": json.dumps(MIX),
        "preflight__allow_red": json.dumps(RED),
        "grpo__seeds": [42],
    }
    storage = tmp_path / "runs"
    code, output = finished(started(storage, "run", **chosen))
    assert code == 0, output
    assert set(whys(output)) == {
        "data", "plan", "audit", "sft", "preflight", "starts", "grpo-seed-42", "answers", "re-audit", "comparison", "report",
    }  # fmt: skip
    (report,) = storage.glob("artifacts/data/*/report.json")
    made = json.loads(report.read_text(encoding="utf-8"))
    assert made["of_source"] == {"1 jsonl": 60} and f"{len(odd)} of 1480 rows are not used" in made["warnings"][0]
    (answers,) = storage.glob("artifacts/answers/*/answers.jsonl")
    assert {json.loads(line)["truth"] for line in answers.read_text(encoding="utf-8").splitlines()} == {None}
    assert all(re.search(rf"^\| {task} ", output, flags=re.MULTILINE) for task in MIX)
    code, output = finished(
        started(storage, "benchmark", benchmark__prompts=80, benchmark__samples=1, benchmark__resamples=20, **chosen)
    )
    assert code == 0, output
    assert "insights (synthetic)" in output and "ground truth over" in output
