"""Tasks that are off by default run through every stage once the mix names them, in small, through the command."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from test_pipeline import finished, started, whys

NEW = ("sentiment", "churn")
MIX = {"sentiment": 0.4, "churn": 0.3, "insights": 0.3}
"""So small a model writes no JSON: it is insights that gives it something to learn from."""
RED = ["completion length", *(f"signal: {task}" for task in MIX)]


@pytest.mark.long
def test_sentiment_and_churn_run_through_every_stage(tmp_path: Path) -> None:
    chosen: dict[str, Any] = {
        "data__mix": json.dumps(MIX),
        "preflight__allow_red": json.dumps(RED),
        "grpo__seeds": [42],
    }
    code, output = finished(started(tmp_path, "run", **chosen))
    assert code == 0, output
    assert set(whys(output)) == {
        "data", "plan", "audit", "sft", "preflight", "grpo-seed-42", "answers", "re-audit", "comparison", "report",
    }  # fmt: skip
    (audit,) = tmp_path.glob("artifacts/audit/*/audit.json")
    report = json.loads(audit.read_text(encoding="utf-8"))
    blocked = [check["message"] for check in report["checks"] if check["level"] == "block" and not check["passed"]]
    assert report["overridden_by"] is None and blocked == []
    rated = {row["task"]: row["prompts"] for row in report["agreement"] if row["origin"] == "all"}
    assert set(rated) == set(MIX) and min(rated[task] for task in NEW) >= 12
    (answers,) = tmp_path.glob("artifacts/answers/*/answers.jsonl")
    tasks = {json.loads(line)["task"] for line in answers.read_text(encoding="utf-8").splitlines()}
    assert tasks == set(MIX)
    for task in MIX:
        assert re.search(rf"^\| {task} ", output, flags=re.MULTILINE), "the verdict has a row of each task"
    code, output = finished(
        started(tmp_path, "benchmark", benchmark__prompts=80, benchmark__samples=1, benchmark__resamples=20, **chosen)
    )
    assert code == 0, output
    said = " ".join(output.split())
    assert "*sentiment*" in said and "| arm | valid json | accuracy | macro f1 | stars off |" in said
    assert "*churn*" in said and "| arm | balanced accuracy | brier |" in said
