"""`tucano rehearse`: the run in small, one file about it, and a next step for each fault."""

import importlib.metadata
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tucano.cli.rehearse import ELSE, LAST_LINES, LINE, described, in_small, next_step, rehearse, whole_run
from tucano.errors import UserError
from tucano.profiles import load_profile

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("profile", ["laptop", "l4", "l4-v5", "l4-1.5b"])
def test_what_decides_about_memory_stays_and_what_takes_time_is_small(profile: str) -> None:
    whole = load_profile(ROOT, profile, [])
    small = in_small(whole, profile)
    same = ("batch_size", "micro_batch", "generations", "max_completion_tokens", "loss", "advantages", "refill_rounds")
    assert [getattr(small.grpo, name) for name in same] == [getattr(whole.grpo, name) for name in same]
    assert (small.model, small.worker) == (whole.model, whole.worker)
    assert small.grpo.max_steps == 4 and len(small.grpo.seeds) == 1
    assert small.execution.computes_here and small.storage == f"runs-rehearsal-{profile}"


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


def test_a_remote_storage_is_not_rehearsed_in() -> None:
    whole = load_profile(ROOT, "l4-v5", ["storage=gs://bucket/runs"])
    assert in_small(whole, "l4-v5").storage == "runs-rehearsal-l4-v5"


@pytest.mark.parametrize(
    ("fault", "step"),
    [
        ("grpo seed 42 failed: OutOfMemoryError: CUDA out of memory. Tried to allocate", "lower grpo.micro_batch"),
        ("model.device=cuda, but this machine shows no CUDA device", "nvidia-smi"),
        ("sft failed: ModuleNotFoundError: No module named 'unsloth'", "pip install"),
        ("sft failed: OSError: We couldn't connect to 'https://huggingface.co'", "model.name"),
        ("the disk is full", "free some space"),
        ("something that nobody has seen", ELSE),
    ],
)
def test_each_fault_has_a_next_step(fault: str, step: str) -> None:
    assert step in next_step(fault)


def test_the_file_is_bounded_and_holds_no_secret(tmp_path: Path) -> None:
    log = tmp_path / "work" / "sft" / "abc" / "log.txt"
    log.parent.mkdir(parents=True)
    lines = [f"line {n} " + "x" * 10_000 for n in range(10_000)]
    lines[-1] = "fetching https://ana:hunter2secret@host/model \x1b[2J"
    log.write_text("\n".join(lines), encoding="utf-8")
    fault = UserError("postgresql://ana:hunter2secret@host/db is away")
    small = in_small(load_profile(ROOT, "laptop", []), "laptop")
    said = "\n".join(described(small, "laptop", tmp_path, fault))
    assert "hunter2secret" not in said and "\x1b" not in said
    assert "FAILED: " in said and "line 9999" not in said and "line 9998" in said
    assert len(said) < (LAST_LINES + 50) * LINE


def test_where_it_cannot_begin_the_file_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("shutil.which", lambda *_: None)
    settings = load_profile(ROOT, "l4-v5", ["model.backend=transformers"])
    with pytest.raises(UserError, match="shows no CUDA device"):
        rehearse(settings, "l4-v5")
    said = (tmp_path / "runs-rehearsal-l4-v5" / "rehearsal.txt").read_text(encoding="utf-8")
    assert "FAILED: model.device=cuda, but this machine shows no CUDA device" in said and "Next step: " in said


def test_a_fault_of_ours_is_written_down_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> int:
        raise RuntimeError("a bug")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tucano.cli.inprocess.run", broken)
    with pytest.raises(RuntimeError, match="a bug"):
        rehearse(load_profile(ROOT, "laptop", []), "laptop")
    said = (tmp_path / "runs-rehearsal-laptop" / "rehearsal.txt").read_text(encoding="utf-8")
    assert "FAILED: RuntimeError: a bug" in said and ELSE in said


def test_where_the_project_is_a_folder_and_no_package_the_fault_is_still_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in the images: the missing version hid the fault, and no file was written."""

    def absent(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.version", absent)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="is no local folder"):
        rehearse(load_profile(ROOT, "laptop", ["model.name=./nowhere"]), "laptop")
    said = (tmp_path / "runs-rehearsal-laptop" / "rehearsal.txt").read_text(encoding="utf-8")
    assert said.startswith("Rehearsal of laptop with tucano of this folder\n") and "FAILED: " in said


@pytest.mark.long
def test_a_profile_is_rehearsed_by_the_command(tmp_path: Path) -> None:
    small = {"model.nano_hidden": 64, "model.nano_layers": 2, "model.nano_vocabulary": 600, "storage": tmp_path / "runs",
             "grpo.batch_size": 16, "grpo.micro_batch": 16, "grpo.generations": 4}  # fmt: skip
    command = [sys.executable, "-m", "tucano.cli", "rehearse", "laptop"]
    command += [part for name, value in small.items() for part in ("--set", f"{name}={value}")]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=ROOT, timeout=600, check=False,
        env={**os.environ, "MLFLOW_TRACKING_URI": "http://127.0.0.1:9", "PREFECT_API_URL": "http://127.0.0.1:9/api"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    said = (tmp_path / "runs-rehearsal-laptop" / "rehearsal.txt").read_text(encoding="utf-8")
    for stage in ("data", "sft", "preflight", "grpo-seed-42", "answers", "comparison", "report"):
        assert f"\n  {stage} " in said
    assert "\nPreflight\n" in said and "Every stage works here" in done.stdout
