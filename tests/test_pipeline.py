"""The whole pipeline through the command, in small: one story on one storage, told in the order of the tests."""

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from chat_api import Response, chat, serving
from pace import until
from test_numbers_agree import agree, plain

from tucano.comparison.compare import Comparison
from tucano.overview.page import PAGE, view

if TYPE_CHECKING:
    from mlflow.entities import RunData

ROOT = Path(__file__).parent.parent
SMALL = {
    "data.train_prompts": 60, "data.validation_prompts": 26, "data.test_prompts": 26, "data.demonstrations": 80,
    # the audit of these two takes a fifth of that of all; test_training.py trains the others
    "data.mix": "{push: 0.5, churn: 0.5, extraction: 0, sql_qa: 0, insights: 0, sentiment: 0}",
    "model.nano_hidden": 32, "model.nano_layers": 2, "model.nano_vocabulary": 700,
    "sft.max_epochs": 3, "sft.eval_steps": 5, "sft.save_steps": 5,
    "grpo.seeds": [42, 123], "grpo.max_steps": 8, "grpo.batch_size": 8, "grpo.generations": 4, "grpo.micro_batch": 8,
    "grpo.max_completion_tokens": 24, "grpo.eval_steps": 2, "grpo.save_steps": 2, "grpo.patience": 3,
    "audit.resamples": 200, "audit.search_calls": 0,
    # so small a model babbles, and the preflight says so
    "preflight.allow_red": ["completion length", "served length", *(f"signal: {task}" for task in ("push", "churn"))],
}  # fmt: skip
STAGES = [
    "data", "plan", "audit", "sft", "preflight", "grpo-seed-42", "grpo-seed-123", "answers-of-starts", "answers-of-seed-42",
    "answers-of-seed-123", "answers", "re-audit", "comparison", "report",
]  # fmt: skip


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With characters that addresses of databases, filters of MLflow and shells read in their own way."""
    return tmp_path_factory.mktemp("runs") / "ana's #1 (100% ção)"


def started(storage: Path, command: str = "run", **more: object) -> subprocess.Popen[str]:
    overrides = {**SMALL, "storage": storage, **{name.replace("__", "."): value for name, value in more.items()}}
    pairs = [part for name, value in overrides.items() for part in ("--set", f"{name}={value}")]
    return subprocess.Popen(
        [sys.executable, "-m", "tucano.cli", command, "nano", *pairs],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )


def lines_until(process: subprocess.Popen[str], pattern: str) -> Iterator[str]:
    """The lines that a run prints, up to the first that has the pattern."""
    assert process.stdout is not None
    for line in process.stdout:
        yield line
        if re.search(pattern, line):
            return
    raise AssertionError(f"the run ended without a line like {pattern!r}")


def finished(process: subprocess.Popen[str]) -> tuple[int, str]:
    output, _ = process.communicate(timeout=900)
    return process.returncode, output


def training_children(process: subprocess.Popen[str]) -> list[psutil.Process]:
    children = psutil.Process(process.pid).children(recursive=True)
    return [
        child
        for child in children
        if "tucano.training." in " ".join(child.cmdline()) and child.name() not in ("fork server", "keeper")
    ]


def whys(output: str) -> dict[str, str]:
    """What the run said about each stage: {stage: "reused, ..." or "runs, ..."}."""
    return dict(re.findall(r"^\d\d:\d\d:\d\d  ([\w-]+): ((?:reused|runs), .*)$", output, flags=re.MULTILINE))


def test_ctrl_c_leaves_no_process_and_says_how_to_go_on(storage: Path) -> None:
    process = started(storage)
    list(lines_until(process, r"sft +step"))
    (child,) = training_children(process)
    process.send_signal(signal.SIGINT)
    code, output = finished(process)
    assert code == 130 and "the same command goes on from here" in output and "Traceback" not in output
    assert "Crash" not in output
    _, alive = psutil.wait_procs([child], timeout=600)
    assert not alive


def test_a_killed_child_is_started_again_and_the_flow_completes(storage: Path) -> None:
    process = started(storage)
    seen = "".join(lines_until(process, r"grpo-seed-\d+: runs"))
    until(lambda: list(storage.glob("work/grpo-seed-*/*/attempt-*/checkpoint-*/COMPLETE.json")))
    training_children(process)[0].kill()
    code, output = finished(process)
    assert code == 0, output
    assert "Retry 1/" in output or "killed by SIGKILL" in output
    assert "| overall" in output and "tucano ui" in output
    ended, interrupted = view(storage).runs  # the newest first
    assert (ended[0].state, interrupted[0].state) == ("finished", "killed") and set(ended[0].stages) >= {*STAGES}
    (line,) = view(storage).lines
    assert line.pages["MLflow"].endswith("?workflowType=machine_learning") and (storage / line.row.report).is_file()
    assert f'href="{line.row.report}"' in (storage / PAGE).read_text(encoding="utf-8")
    assert re.search(r"cost: 0\.\d\d machine-hours", output) and "Validating input example" not in output
    assert whys(seen)["data"].startswith("reused"), "Ctrl-C had not lost what was done"
    assert agree(*told(storage, output)) == []
    assert "[answers side by side](" in newest_pipeline(storage).tags["mlflow.note.content"]


def told(storage: Path, output: str) -> tuple[dict[str, str], dict[str, float], Comparison, float]:
    """What terminal, report, page, Prefect and MLflow say of the newest run, its comparison, and its machine-hours."""
    (line,) = view(storage).lines
    database = storage / "prefect" / "prefect.db"
    with closing(sqlite3.connect(database)) as connection:
        newest = "select data from artifact where key = 'verdict' order by created desc"
        verdict = json.loads(connection.execute(newest).fetchone()[0])
    places = {
        "terminal": output,
        "report": plain((storage / line.row.report).read_text(encoding="utf-8")),
        "page": plain((storage / PAGE).read_text(encoding="utf-8")),
        "Prefect": verdict,
    }
    return places, newest_pipeline(storage).metrics, line.row.comparison, line.spent.own.hours


def test_a_second_run_reuses_every_stage_within_a_minute(storage: Path) -> None:
    """Or, on a machine that is slow for now, in 15 times as long as what it imports takes."""
    began = time.monotonic()
    subprocess.run([sys.executable, "-c", "import mlflow, prefect"], check=True)
    imported = time.monotonic()
    code, output = finished(started(storage))
    assert code == 0 and time.monotonic() - imported < max(60, 15 * (imported - began))
    assert {name: why.split(",")[0] for name, why in whys(output).items()} == dict.fromkeys(STAGES, "reused")
    places, numbers, compared, hours = told(storage, output)
    assert agree(places, numbers, compared, hours) == [] and f"; {hours:.2f} machine-hours of it were reused" in output
    metrics = newest_pipeline(storage).metrics
    assert metrics["cost/hours"] == metrics["cost/reused_hours"] == pytest.approx(hours)


def test_a_benchmark_that_is_killed_goes_on_judges_every_arm_and_pays_an_api_for_no_answer_twice(storage: Path) -> None:
    """Some replies are odd: they cost their own answers only."""
    odd: dict[int, bytes] = {
        5: b'{"choices": [{"message": {"content": "\\ud800"}}]}',
        9: b'{"choices": [{"message": {"content": [1]}}]}',
    }
    held = threading.Event()

    def answer(body: dict[str, Any], number: int) -> Response:
        if number > 40:
            held.wait(900)
        return (200, {}, odd.get(number, chat("Compre agora!")))

    with serving(storage) as api:
        api.answer = answer
        endpoints = json.dumps([{"name": "api", "url": api.url, "model": "m"}])
        more = {"benchmark__prompts": 80, "benchmark__samples": 1, "benchmark__resamples": 20}
        process = started(storage, "benchmark", **more, benchmark__endpoints=endpoints)
        kept = "replies/*/replies.jsonl"
        until(lambda: process.poll() or any(file.read_bytes().count(b"\n") >= 40 for file in storage.glob(kept)))
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        replied = {json.dumps(body) for body, _, _ in api.asked[:40]}
        api.asked.clear()
        api.answer = lambda body, number: (200, {}, chat("Compre agora!"))
        held.set()
        code, output = finished(started(storage, "benchmark", **more, benchmark__endpoints=endpoints))
        assert code == 0 and "Traceback" not in output, output
        asked = [json.dumps(body) for body, _, _ in api.asked]
        assert len(asked) == len({*asked}) == 160 - 40 and not replied & {*asked}
    judged_every_arm_and_trained_nothing(storage, output)


def judged_every_arm_and_trained_nothing(storage: Path, output: str) -> None:
    for arm in ("base", "sft", "seed-42", "seed-123", "constant", "majority", "rules", "api"):
        assert re.search(rf"^\| {arm} ", output, flags=re.MULTILINE), arm
    assert re.search(r"^\| api +\| +160 \| +1 \|", output, flags=re.MULTILINE), output
    parts = ("set", "answers", "pace", "baselines")
    assert {*whys(output)} >= {"data", "benchmark", *(f"benchmark-{part}" for part in parts)}
    assert not {*whys(output)} & {"sft", "grpo-seed-42", "grpo-seed-123"}
    speeds = re.findall(r"^\| (base|sft|seed-42|seed-123) +\| +(1|8|32) \|", output, flags=re.MULTILINE)
    assert len(speeds) == len({*speeds}) == 12, "three rows for each trained arm"
    assert newest_pipeline(storage).tags["kind"] == "benchmark"


@pytest.mark.long
def test_a_truncated_file_runs_its_stage_and_what_depends_on_it(storage: Path) -> None:
    assert finished(started(storage))[0] == 0  # all of it is reused where another test has run before
    (adapter,) = storage.glob("artifacts/grpo-seed-42/*/adapter/adapter_model.safetensors")
    adapter.write_bytes(adapter.read_bytes()[:-100])
    code, output = finished(started(storage))
    said = whys(output)
    assert code == 0
    assert "adapter_model.safetensors was changed or truncated" in said["grpo-seed-42"]
    assert "input seed-42" in said["answers"] and "input answers" in said["comparison"]
    assert all(said[stage].startswith("reused") for stage in ("data", "audit", "sft", "preflight", "grpo-seed-123"))


@pytest.mark.long
def test_a_seed_lost_for_good_is_named_and_the_others_go_on(storage: Path) -> None:
    process = started(storage, grpo__seeds=[42, 124], worker__retries=0)
    list(lines_until(process, r"grpo-seed-124: runs"))
    until(lambda: [child for child in training_children(process) if child.name() == "grpo-seed-124"])[0].kill()
    code, output = finished(process)
    assert code == 0, output
    said = " ".join(output.split())
    assert (
        "Seed 124 is missing from this comparison: grpo seed 124 was killed by SIGKILL" in said and "| seed-42" in said
    )


def shuffled_ratings(folder: Path) -> Path:
    """The committed rating set with every rating turned round: nobody's rewards agree with that."""
    shutil.copytree(ROOT / "data" / "ratings", folder)
    rows = [json.loads(line) for line in (folder / "ratings.jsonl").read_text(encoding="utf-8").splitlines()]
    turned = [{**row, "rating": 6 - row["rating"]} for row in rows]
    (folder / "ratings.jsonl").write_text(
        "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in turned), encoding="utf-8"
    )
    return folder


@pytest.mark.long
def test_a_failed_audit_stops_before_sft_and_an_override_goes_on_and_is_recorded(storage: Path, tmp_path: Path) -> None:
    ratings = shuffled_ratings(tmp_path / "ratings")
    code, output = finished(started(storage, audit__ratings=ratings, sft__max_epochs=2))
    assert code == 1 and "nothing was trained" in output and "FAILED" in output.upper()
    assert "sft" not in whys(output)
    signed = {"audit__override_by": "Ana Souza", "audit__override_reason": "piloto interno"}
    code, output = finished(started(storage, audit__ratings=ratings, **signed))
    assert code == 0
    report = re.search(r"^Report +(.+)$", output, flags=re.MULTILINE)
    assert report is not None
    page = Path(report[1]).read_text(encoding="utf-8")
    assert "Ana Souza" in page and "piloto interno" in page
    tags = newest_pipeline(storage).tags
    assert (tags["audit.override_by"], tags["audit.override_reason"]) == ("Ana Souza", "piloto interno")


def newest_pipeline(storage: Path) -> "RunData":
    from mlflow import MlflowClient

    client = MlflowClient(f"sqlite:///{storage}/mlflow/mlflow.db")
    experiment = client.get_experiment_by_name("tucano-pipelines")
    assert experiment is not None
    return client.search_runs([experiment.experiment_id], order_by=["attributes.start_time DESC"])[0].data
