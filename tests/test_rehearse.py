"""`tucano rehearse`: the run in small, one file about it, and a next step for each fault."""

import importlib
import importlib.metadata
import math
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from prefect.task_engine import TaskRunTimeoutError
from prefect.tasks import Task

from tasks.rehearsal.attempts import Attempts
from tasks.rehearsal.tried import Tried
from tasks.running.handles import PromptSet, Start
from tasks.running.run import Run
from tucano.cli.rehearse import LAST_LINES, LINE, described, in_small, next_step, rehearse, summed_up, whole_run
from tucano.errors import UserError
from tucano.profiles import load_profile

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("profile", ["laptop", "l4", "l4-v5", "l4-1.5b", "l4-3.7b", "l4-base"])
def test_what_decides_about_memory_stays_and_what_takes_time_is_small(profile: str) -> None:
    whole = load_profile(ROOT, profile, [])
    small = in_small(whole, profile)
    same = ("batch_size", "micro_batch", "generations", "max_completion_tokens", "loss", "advantages", "refill_rounds")
    assert [getattr(small.grpo, name) for name in same] == [getattr(whole.grpo, name) for name in same]
    assert (small.model, small.worker) == (whole.model, whole.worker)
    assert small.grpo.max_steps == 4 and len(small.grpo.seeds) == 1
    assert small.execution.computes_here and small.storage == f"runs-rehearsal-{profile}"


def test_a_rehearsal_has_no_grpo_where_the_run_has_none_and_at_most_two_rounds_of_dpo() -> None:
    chosen = ["grpo.max_steps=0", "dpo.enabled=true"]
    small = [in_small(load_profile(ROOT, "laptop", [*chosen, f"dpo.rounds={n}"]), "laptop") for n in (1, 2, 9)]
    assert [(run.grpo.max_steps, run.dpo.rounds) for run in small] == [(0, 1), (0, 2), (0, 2)]


@pytest.mark.parametrize(
    ("server", "chosen", "shown"),
    [
        ("", [], "--set execution.seeds=null"),
        ("", ["model.lora_rank=8", "storage=my runs"], "--set model.lora_rank=8 --set 'storage=my runs' --set execution.seeds=null"),
        ("", ["execution.seeds=seed/a", "execution.stages=stage/a"], "--set execution.seeds=null --set execution.stages=null"),
        ("http://127.0.0.1:1/api", ["execution.seeds=seed/a"], "--set execution.seeds=seed/a"),
    ],
)  # fmt: skip
def test_the_whole_run_is_a_command_that_works_with_the_same_settings(
    server: str, chosen: list[str], shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREFECT_API_URL", server)
    assert whole_run(load_profile(ROOT, "l4-v5", chosen), "l4-v5", chosen) == f"tucano run l4-v5 {shown}"


@pytest.mark.parametrize(
    ("fault", "step"),
    [
        ("grpo seed 42 failed: OutOfMemoryError: CUDA out of memory. Tried to allocate", "lower grpo.micro_batch"),
        ("model.device=cuda, but this machine shows no CUDA device", "nvidia-smi"),
        ("sft failed: ModuleNotFoundError: No module named 'unsloth'", "pip install"),
        ("sft failed: OSError: We couldn't connect to 'https://huggingface.co'", "model.name"),
        ("the disk is full", "free some space"),
    ],
)
def test_each_fault_has_a_next_step(fault: str, step: str) -> None:
    assert step in next_step(fault) and not next_step("something that nobody has seen")


def test_the_file_is_bounded_and_holds_no_secret(tmp_path: Path) -> None:
    log = tmp_path / "work" / "sft" / "abc" / "log.txt"
    log.parent.mkdir(parents=True)
    lines = [f"line {n} " + "x" * 1000 for n in range(1000)]
    lines[-1] = "fetching https://ana:hunter2secret@host/model \x1b[2J"
    log.write_text("\n".join(lines), encoding="utf-8")
    tried = [Tried("sft", on_gpu=True, seconds=9, faults=["postgresql://ana:hunter2secret@host/db is away\nat once"])]
    small = in_small(load_profile(ROOT, "laptop", []), "laptop")
    said = "\n".join([*described(small, "laptop", tmp_path, tried, 0), *summed_up(small, tried, 30)])
    assert "hunter2secret" not in said and "\x1b" not in said
    assert said.count("FAILED") == 1 and "line 999" not in said and "line 998" in said
    assert re.search("^  sft: .* is away at once$", said, re.MULTILINE)
    assert len(said) < (LAST_LINES + 50) * LINE


def test_where_it_cannot_begin_the_file_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("shutil.which", lambda *_: None)
    settings = load_profile(ROOT, "l4-v5", ["model.backend=transformers"])
    with pytest.raises(UserError, match="shows no CUDA device"):
        rehearse(settings, "l4-v5")
    said = (tmp_path / "runs-rehearsal-l4-v5" / "rehearsal.txt").read_text(encoding="utf-8")
    assert "the rehearsal itself: model.device=cuda, but this machine shows no CUDA device" in said
    assert " -> this machine's GPU or driver cannot be used" in said and "GPU idle: " in said.splitlines()[-1]


def test_where_the_project_is_no_package_a_fault_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in the images: the missing version hid the fault, and no file was written."""

    def absent(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.version", absent)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=r"there is no folder \./nowhere"):
        rehearse(load_profile(ROOT, "laptop", ["model.name=./nowhere"]), "laptop")
    said = (tmp_path / "runs-rehearsal-laptop" / "rehearsal.txt").read_text(encoding="utf-8")
    assert said.startswith("Rehearsal of laptop with tucano of this folder\n") and "Faults: 1\n" in said


def test_it_tries_every_stage_that_a_run_has_but_those_that_wait_for_a_person_or_another_machine() -> None:
    def stages(module: ModuleType) -> set[str]:
        return {name for name, found in vars(module).items() if isinstance(found, Task)}

    run, rehearsed = map(importlib.import_module, ("flows.train", "flows.rehearse"))
    assert stages(run) - stages(rehearsed) == {"await_seed", "decide"}
    source = Path(str(rehearsed.__file__)).read_text(encoding="utf-8")
    assert [name for name in stages(rehearsed) if f"attempt({name}" not in source] == []


class Work:
    """Stands for a Prefect task: remembers how long it may take, and ends as it is told."""

    name = "preflight"
    limit: float | None

    def __init__(self, ends: Callable[[Run], Any]) -> None:
        self.ends = ends

    def fn(self, run: Run, prompts: PromptSet, start: Start | None) -> None: ...

    def with_options(self, retries: int, timeout_seconds: float | None) -> Any:
        self.limit = timeout_seconds
        return lambda run, *given: self.ends(run)


def attempted(work: Any, prompts: object, seconds: float = math.inf) -> Tried:
    """The line about it, where so much time is left; its table may be red in the completions' length."""
    settings = in_small(load_profile(ROOT, "laptop", []), "laptop")
    run = Run(settings, None, None, "", None)  # type: ignore[arg-type]
    attempt = Attempts(run, [], time.monotonic() + seconds)
    assert attempt(work, prompts, None) is None
    return attempt.tried[0]


def ended(fault: Exception, *lines: str) -> Callable[[Run], None]:
    def end(run: Run) -> None:
        for line in lines:
            assert run.heard is not None
            run.heard(line)
        raise fault

    return end


RED = (
    "RED    completion length   86% cut off",
    "RED    signal: push        0% differ",
    "RED    memory              40 MB",
)


def test_no_stage_takes_more_than_half_of_the_time_that_is_left() -> None:
    work = Work(ended(TaskRunTimeoutError(), *RED))
    line = attempted(work, "prompts", 100)
    assert work.limit == pytest.approx(50, abs=1)
    assert line.left_out == "ended after 50 s, which is all that it could have"
    assert line.faults == ["memory: 40 MB"], "what was seen until then is told"
    assert attempted(work, "prompts", 9).left_out == "no time was left"
    attempted(work, "prompts")
    assert work.limit is None


SMALL = {"model.nano_hidden": 32, "model.nano_layers": 1, "model.nano_vocabulary": 600, "grpo.batch_size": 8,
         "grpo.micro_batch": 8, "grpo.generations": 4, "grpo.max_completion_tokens": 16}  # fmt: skip
NOWHERE = {"MLFLOW_TRACKING_URI": "http://127.0.0.1:9", "PREFECT_API_URL": "http://127.0.0.1:9/api"}
"""A rehearsal must not ask these servers."""


def rows(said: str) -> dict[str, str]:
    """{stage: what became of it, empty where it works}."""
    return dict(re.findall(r"^  (\S.*?) +\d+\.\d(?: +[0-9.]+ / \S+)? *(FAILED|left out|reused)?$", said, re.MULTILINE))


def test_every_fault_is_named_every_stage_tried_and_an_answer_served(tmp_path: Path) -> None:
    faults = {
        "sft": "tucano.training.sft._arguments",
        "grpo": "tucano.training.grpo.run",
        "preflight: key-value cache": "tucano.training.preflight_checks.cache",
        "answer with starts": "tucano.training.answers.readings",
        "answer with a seed": "tucano.training.answers.readings",
        "answer test prompts": "tucano.training.answers.readings",
        "show answers": "tucano.tracking.tracker.fill",
        "audit rewards": "tucano.audit.parallel.process.audited_apart",  # these two take longer than all else
    }
    settings = {**SMALL, "storage": tmp_path / "runs"}
    pairs = [part for name, value in settings.items() for part in ("--set", f"{name}={value}")]
    planted = ",".join(dict.fromkeys(faults.values()))
    done = subprocess.run(
        [sys.executable, ROOT / "tests" / "planted.py", planted, "rehearse", "laptop", "--minutes", "9", *pairs],
        capture_output=True, text=True, cwd=ROOT, timeout=600, check=False, env={**os.environ, **NOWHERE},
    )  # fmt: skip
    assert done.returncode == 1 and "works here" not in done.stdout, done.stdout + done.stderr
    said = (tmp_path / "runs-rehearsal-laptop" / "rehearsal.txt").read_text(encoding="utf-8")
    expected = [f"  {stage}: RuntimeError: planted in {place.rpartition('.')[2]}" for stage, place in faults.items()]
    for text in (said, done.stdout):
        assert text.partition("\nFaults: 8\n")[2].splitlines()[:8] == expected
    assert said.splitlines()[-1].startswith("No GPU: ")
    found = rows(said)
    assert [stage for stage, became in found.items() if became == "FAILED"] == [
        "sft", "grpo", "preflight", "answer with starts", "answer with a seed", "answer test prompts", "show answers",
        "audit rewards",
    ]  # fmt: skip
    assert [stage for stage, became in found.items() if became == "left out"] == ["promote", "report"]
    worked = {"start instead", "seed instead", "merge", "served answer", "answers instead", "compare arms", "cost"}
    assert worked <= {stage for stage, became in found.items() if not became}
    assert "  report: it needs what failed or was left out before: audit, promotion\n" in said
