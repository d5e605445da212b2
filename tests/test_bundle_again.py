"""A champion trained again from its bundle: what is held against what, and once really, to the same bits."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bundles import ARITHMETIC, OVERRIDES, ROOT, Made, champion, write_merged, write_sft, write_weights
from programs import python

from benchmarks.bad_days import Day
from tucano.bundle import archive, retraining
from tucano.bundle.checks import Check
from tucano.bundle.pack import pack
from tucano.bundle.reading import Contents, unpacked
from tucano.bundle.retraining import Retraining, require_retrainable
from tucano.errors import UserError
from tucano.files.models import SeedFiles
from tucano.profiles import load_profile
from tucano.training.jobs import Job, Progress

OWN = (*OVERRIDES, "data.source=jsonl", "data.path=own.jsonl", "worker.threads=3", "worker.python=/of/the/bundle")
ELSEWHERE = [{"threads": 1, "machine": "arm64 NEON", "probe": "1" * 16}]


@pytest.fixture
def bundle(tmp_path: Path) -> Contents:
    """With prompts of somebody's own, which are taken from the bundle."""
    made = champion(tmp_path, Made(overrides=OWN))
    pack(made.root, made.version, made.model, made.ratings, "Ana", tmp_path / "b.tar.gz")
    (tmp_path / "opened").mkdir()
    return unpacked(tmp_path / "opened", archive.unpack(tmp_path / "b.tar.gz", tmp_path / "opened"))


def trainer(bundle: Contents, jobs: list[Job], weights: str, arithmetic: list[dict[str, Any]]) -> Callable[..., Any]:
    """Stands for the training child: writes what the fixture's trainings wrote, `weights` for the seeds."""

    def run(job: Job, python: str | None, show: Callable[[Progress], None]) -> dict[str, Any]:
        assert python is None, "no program of the bundle is run"
        jobs.append(job)
        show(Progress(job.kind, 1, 1, {}))
        output = Path(job.output)
        if job.kind == "sft":
            write_sft(output)
        elif job.kind == "grpo":
            write_weights(SeedFiles(output).adapter, f"{weights} {job.seed}")
        elif job.kind == "merge":
            write_merged(output)
        else:
            shutil.copytree(bundle.of("answers"), output, dirs_exist_ok=True)
        return {"arithmetic": arithmetic}

    return run


def trained(
    bundle: Contents, folder: Path, patch: pytest.MonkeyPatch, weights: str, arithmetic: list[dict[str, Any]]
) -> tuple[dict[str, Check], list[Job]]:
    jobs: list[Job] = []
    patch.setattr(retraining, "run_job", trainer(bundle, jobs, weights, arithmetic))
    made = Retraining(bundle, folder / "again", True, lambda sentence: None).checks()
    return {one.name.removeprefix("again: "): one for one in made}, jobs


def test_the_same_bits_are_well_and_trained_with_the_threads_of_the_bundle(
    bundle: Contents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, jobs = trained(bundle, tmp_path, monkeypatch, "adapter", ARITHMETIC)
    assert {*made} == {"data", "SFT", "seeds", "model", "answers", "verdict"}
    assert {one.state for one in made.values()} == {"ok"}, made
    threads = {("sft", 1), ("grpo", 3), ("merge", 1), ("answer", 3), ("answer", 1)}
    assert {(job.kind, job.threads) for job in jobs} == threads
    assert sorted(job.seed for job in jobs if job.kind == "grpo") == [42, 123]
    assert {job.prompts for job in jobs} == {str(bundle.prompts.folder)}


def test_other_bits_are_a_fault_where_the_processor_is_the_same(
    bundle: Contents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, _ = trained(bundle, tmp_path, monkeypatch, "other", ARITHMETIC)
    said = tuple(f"grpo-seed-{seed}/adapter: model.safetensors is another" for seed in (42, 123))
    assert made["seeds"] == Check("again: seeds", "FAILED", said)
    assert made["SFT"].state == made["verdict"].state == "ok"


def test_other_bits_of_another_processor_are_said_with_both(
    bundle: Contents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, _ = trained(bundle, tmp_path, monkeypatch, "other", ELSEWHERE)
    assert made["seeds"].state == "other"
    assert made["seeds"].said[0].endswith("on x86_64 AVX2 with 1 threads, here on arm64 NEON with 1 threads")


@pytest.mark.parametrize(
    ("profile", "override", "sentence"),
    [
        ("l4-v5", "grpo.max_steps=1500", "trains models that begin with what this program has; this one is Polygl0t"),
        ("laptop", "model.device=cuda", "this one is mini on cuda"),
    ],
)
def test_what_cannot_be_trained_again_is_refused(profile: str, override: str, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        require_retrainable(load_profile(ROOT, profile, [override]))


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_a_champion_trained_again_elsewhere_is_the_same_to_the_bit(tmp_path: Path) -> None:
    """`tucano run laptop` in small, packed; a copy of the code without the storage trains the same weights."""
    day = Day(tmp_path / "runs")
    day.run().ended(0)
    out = tmp_path / "tiny.tar.gz"
    day.tucano("bundle", "tucano@champion", str(out)).ended(0)
    clone = tmp_path / "clone"
    for package in ("data", "rewards", "tasks", "flows", "deployments", "tucano"):
        shutil.copytree(ROOT / package, clone / package)
    shutil.copy2(ROOT / "prefect.yaml", clone)
    done = python("-m", "tucano.cli", "verify", str(out), "--retrain", folder=clone, PYTHONPATH=str(clone))
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith(("ok", "OTHER", "FAILED"))]
    assert done.returncode == 0 and {row[0] for row in rows} == {"ok"}, done.stdout + done.stderr
    assert len(rows) == 15 and "letter for letter" in done.stdout and "bit for bit" in done.stdout
