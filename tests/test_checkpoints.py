"""A checkpoint counts when its manifest says so and every file is as the manifest says."""

import json
from pathlib import Path

import pytest

from tucano.training.checkpoints import MANIFEST, fault, newest_valid, prune, seal


def checkpoint(work: Path, step: int, sealed: bool = True) -> Path:
    folder = work / f"checkpoint-{step}"
    folder.mkdir(parents=True)
    (folder / "optimizer.pt").write_bytes(bytes(range(100)))
    (folder / "trainer_state.json").write_text(json.dumps({"step": step}), encoding="utf-8")
    if sealed:
        seal(folder)
    return folder


def test_a_sealed_checkpoint_is_whole(tmp_path: Path) -> None:
    assert fault(checkpoint(tmp_path, 5)) is None


def test_newest_is_by_step_not_by_name(tmp_path: Path) -> None:
    for step in (9, 100, 20):
        checkpoint(tmp_path, step)
    assert newest_valid(tmp_path) == tmp_path / "checkpoint-100"


def test_nothing_to_go_on_from(tmp_path: Path) -> None:
    assert newest_valid(tmp_path) is None


def truncate(folder: Path) -> None:
    (folder / "optimizer.pt").write_bytes(b"short")


def flip_a_bit(folder: Path) -> None:
    content = bytearray((folder / "optimizer.pt").read_bytes())
    content[50] ^= 1
    (folder / "optimizer.pt").write_bytes(bytes(content))


def lose_a_file(folder: Path) -> None:
    (folder / "optimizer.pt").unlink()


def lose_the_manifest(folder: Path) -> None:
    (folder / MANIFEST).unlink()


@pytest.mark.parametrize("damage", [truncate, flip_a_bit, lose_a_file, lose_the_manifest])
def test_a_damaged_newest_gives_way_to_the_one_before_and_says_why(damage, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:  # type: ignore[no-untyped-def]
    checkpoint(tmp_path, 10)
    damage(checkpoint(tmp_path, 20))
    assert newest_valid(tmp_path) == tmp_path / "checkpoint-10"
    assert "checkpoint-20 is not used" in caplog.text


def test_pruning_keeps_the_newest_valid_ones(tmp_path: Path) -> None:
    for step in (10, 20, 30):
        checkpoint(tmp_path, step)
    checkpoint(tmp_path, 40, sealed=False)
    prune(tmp_path, keep=2)
    assert sorted(folder.name for folder in tmp_path.iterdir()) == ["checkpoint-20", "checkpoint-30"]
