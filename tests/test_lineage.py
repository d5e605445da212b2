"""The chain from a model back to its data: whole, or with the broken link named."""

import json
import shutil
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest
from storages import made

from tasks.promote import _incomplete
from tasks.running.run import Run
from tucano.artifacts.identity import digest, fingerprint
from tucano.artifacts.lineage import digests, faults, seed_stage, verify
from tucano.artifacts.store import Artifact, Store
from tucano.cli import lineage
from tucano.errors import UserError
from tucano.settings import PipelineSettings
from tucano.tracking import RegisteredModel, Tracker


def make(root: Path, stage: str, inputs: Mapping[str, str], **record: object) -> Artifact:
    return made(root, stage, lambda draft: (draft / "content.txt").write_text(stage, "utf-8"), inputs, record=record)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "reviews.csv").write_text("nota;texto\n5;bom\n", encoding="utf-8")
    return tmp_path / "reviews.csv"


@pytest.fixture
def stages(tmp_path: Path, source: Path) -> dict[str, Artifact]:
    root = tmp_path / "runs"
    data = make(root, "data", {source.name: str(fingerprint(source)["sha256"])}, source_path=str(source))
    audit = make(root, "audit", {"ratings.jsonl": "abc"})
    seed = make(root, "grpo-seed-42", {"prompts": data.digest, "start": ""})
    answers = make(
        root, "answers", {"prompts": data.digest, "start": "", "seed-42": seed.digest, "champion": "tucano version 1"}
    )
    comparison = make(root, "comparison", {"prompts": data.digest, "answers": answers.digest})
    return {one.stage: one for one in (data, audit, seed, answers, comparison)}


def broken(tmp_path: Path, stages: Mapping[str, Artifact]) -> list[str]:
    return faults(verify(tmp_path / "runs", digests(stages)))


def test_a_whole_chain_has_no_fault(tmp_path: Path, stages: dict[str, Artifact]) -> None:
    links = verify(tmp_path / "runs", digests(stages))
    assert faults(links) == []
    assert [(link.stage, link.folder, link.files) for link in links] == [
        (name, one.folder, 1) for name, one in stages.items()
    ]


def test_the_answers_of_a_seed_are_of_its_last_round_of_dpo(tmp_path: Path, stages: dict[str, Artifact]) -> None:
    root, before = tmp_path / "runs", stages["grpo-seed-42"]
    chain = {name: stages[name] for name in ("data", "grpo-seed-42")}
    for stage in ("dpo-seed-42", "dpo-seed-42-round-2"):
        chain[stage] = before = make(root, stage, {before.stage: before.digest})
    answers = make(root, "answers", {"prompts": stages["data"].digest, "seed-42": before.digest})
    assert broken(tmp_path, {**chain, "answers": answers}) == []
    assert seed_stage(chain, "seed-42") == "dpo-seed-42-round-2"
    of_the_first = make(root, "answers", {"seed-42": chain["dpo-seed-42"].digest})
    (fault,) = broken(tmp_path, {**chain, "answers": of_the_first})
    assert fault.startswith("answers: it was made from another dpo-seed-42-round-2")


@pytest.mark.parametrize("stage", ["data", "audit", "grpo-seed-42", "comparison"])
def test_a_changed_file_is_named(tmp_path: Path, stages: dict[str, Artifact], stage: str) -> None:
    (stages[stage].folder / "content.txt").write_text("changed", encoding="utf-8")
    (fault,) = broken(tmp_path, stages)
    assert fault.startswith(f"{stage}: its file ") and fault.endswith("content.txt was changed or truncated")


def test_what_is_mixed_in_from_elsewhere_is_no_source_by_its_number(tmp_path: Path, source: Path) -> None:
    """`general/falas.jsonl` was read as the number of a source, and a run ended in a traceback at its promotion."""
    read = {source.name: str(fingerprint(source)["sha256"])}
    for mixed in ({"general/falas.jsonl": "abc"}, {"benchmark/enem": "abc"}, {"judge/file": "abc"}):
        data = make(tmp_path / "runs", "data", read | mixed, source_path=str(source))
        assert broken(tmp_path, {"data": data}) == []
    source.write_text("nota;texto\n1;mau\n", encoding="utf-8")
    (fault,) = broken(tmp_path, {"data": data})
    assert str(source) in fault


def test_a_manifest_forged_with_its_digest_is_not_the_named_one(tmp_path: Path, stages: dict[str, Artifact]) -> None:
    path = stages["answers"].folder / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8")) | {"code": "mine"}
    own = {name: value for name, value in manifest.items() if name not in ("seal", "digest", "made_at", "seconds")}
    manifest = {**{name: value for name, value in manifest.items() if name != "seal"}, "digest": digest(own)}
    path.write_text(json.dumps({"seal": digest(manifest), **manifest}), encoding="utf-8")
    assert broken(tmp_path, stages) == [f"answers: no artifact has the digest {stages['answers'].digest[:16]}"]


def test_a_missing_artifact_and_a_link_of_another_chain_are_named(tmp_path: Path, stages: dict[str, Artifact]) -> None:
    shutil.rmtree(stages["audit"].folder)
    other = make(tmp_path / "runs", "data", {"reviews.csv": "abc"})
    found = broken(tmp_path, {**stages, "data": other})
    assert found[0].startswith("audit: no artifact has the digest")
    assert [fault.partition(":")[0] for fault in found[1:]] == ["grpo-seed-42", "answers", "comparison"]
    assert "made from another data" in found[1]


def test_a_source_file_that_changed_is_named_and_one_that_was_deleted_is_not(
    tmp_path: Path, stages: dict[str, Artifact], source: Path
) -> None:
    source.write_text("nota;texto\n1;ruim\n", encoding="utf-8")
    assert broken(tmp_path, stages) == [f"data: its source file {source} has changed since"]
    source.unlink()
    assert broken(tmp_path, stages) == []


def test_promotion_refuses_a_broken_chain(tmp_path: Path, stages: dict[str, Artifact]) -> None:
    (stages["audit"].folder / "content.txt").write_text("passed", encoding="utf-8")
    run = Run(
        PipelineSettings(), Store(tmp_path / "runs"), Tracker("", None, {}), "", threading.BoundedSemaphore(), stages
    )
    refusal = _incomplete(run)
    assert refusal is not None and refusal.reason.startswith("its lineage is broken: audit: its file")


@pytest.fixture
def registered(tmp_path: Path, stages: dict[str, Artifact]) -> RegisteredModel:
    """A champion whose tags name the chain, in the store of the storage."""
    tracker = Tracker.connect(None, tmp_path / "runs")
    run_id = tracker.start_pipeline("p", {}, {})
    tags = {f"digest.{name}": one.digest for name, one in stages.items()} | {
        "digest.grpo": stages["grpo-seed-42"].digest
    }
    tags |= {"base": "nano", "licences": "CC0-1.0", "audit": "passed", "verdict": "Better."}
    return tracker.register("tucano", run_id, stages["grpo-seed-42"].folder, tags, ["champion"])


def test_the_chain_of_the_champion_is_printed_and_checked(
    tmp_path: Path, stages: dict[str, Artifact], registered: RegisteredModel, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = PipelineSettings(storage=str(tmp_path / "runs"))
    assert lineage.show(settings, "tucano@champion") == lineage.show(settings, "tucano/1") == 0
    printed = capsys.readouterr().out
    assert all(f"ok      {name:<12}  {one.digest[:16]}" in printed for name, one in stages.items())
    assert "The chain is whole" in printed
    (stages["data"].folder / "content.txt").write_text("changed", encoding="utf-8")
    (registered_file,) = (tmp_path / "runs" / "mlflow" / "artifacts").rglob("content.txt")
    registered_file.write_text("other weights", encoding="utf-8")
    assert lineage.show(settings, "tucano@champion") == 1
    printed = capsys.readouterr().out
    assert "BROKEN  data: its file" in printed
    assert "BROKEN  registry: tucano version 1 is not what was registered" in printed
    for reference in ("tucano@nobody", "tucano/9", "other@champion", "tucano"):
        with pytest.raises(UserError, match=f"the registry has no {reference}"):
            lineage.show(settings, reference)
