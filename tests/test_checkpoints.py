"""A checkpoint counts when its manifest says so; attempts own a folder alone and read nothing that orphans write."""

import json
import logging
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from pace import slowness

from tucano.errors import UserError
from tucano.training.checkpoints import uploads
from tucano.training.checkpoints.attempts import Attempt, begin
from tucano.training.checkpoints.manifest import MANIFEST, fault, seal


def save(attempt: Attempt, step: int) -> Path:
    """A checkpoint as training writes one, in small."""
    draft = attempt.drafts / f"checkpoint-{step}"
    draft.mkdir(parents=True)
    for name in ("optimizer.pt", "scheduler.pt", "rng_state.pth"):
        (draft / name).write_bytes(bytes(range(100)))
    (draft / "trainer_state.json").write_text(json.dumps({"step": step}), encoding="utf-8")
    attempt.keep(draft)
    return attempt.folder / draft.name


def start(work: Path, mirror: Path | None = None, threads: int = 1) -> Attempt:
    return begin(work, mirror.as_uri() if mirror else None, threads)


def uploaded(attempt: Attempt, mirror: Path, step: int) -> Path:
    """A checkpoint saved, once it has arrived in the mirror too."""
    save(attempt, step)
    arrived = mirror / attempt.folder.name / f"checkpoint-{step}"
    while not (arrived / MANIFEST).exists():
        time.sleep(0.01)
    return arrived


def end(attempt: Attempt) -> None:
    """What the end of a process does."""
    if attempt.uploader is not None:
        assert attempt.uploader.close(10)
    attempt.lock.close()


def kept(work: Path) -> list[str]:
    return sorted(folder.relative_to(work).as_posix() for folder in work.glob("attempt-*/checkpoint-*"))


def newest(attempt: Attempt) -> str | None:
    return attempt.newest.relative_to(attempt.work).as_posix() if attempt.newest else None


def test_the_newest_is_by_step_not_by_name_and_two_are_kept(tmp_path: Path) -> None:
    first = start(tmp_path)
    assert first.newest is None
    for step in (9, 20, 100):
        save(first, step)
    assert kept(tmp_path) == ["attempt-1/checkpoint-100", "attempt-1/checkpoint-20"]
    end(first)
    assert newest(start(tmp_path)) == "attempt-1/checkpoint-100"


def flip_a_bit(folder: Path) -> None:
    content = bytearray((folder / "optimizer.pt").read_bytes())
    content[50] ^= 1
    (folder / "optimizer.pt").write_bytes(bytes(content))


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "cut": (lambda folder: (folder / "optimizer.pt").write_bytes(b"short"), "optimizer.pt has 5 bytes instead of 100"),
    "a flipped bit": (flip_a_bit, "optimizer.pt has changed"),
    "a lost file": (lambda folder: (folder / "rng_state.pth").unlink(), "rng_state.pth is missing"),
    "a lost manifest": (lambda folder: (folder / MANIFEST).unlink(), f"it has no {MANIFEST}"),
    "a torn manifest": (lambda folder: (folder / MANIFEST).write_text('{"files'), f"its {MANIFEST} is damaged"),
    "a manifest of another form": (
        lambda folder: (folder / MANIFEST).write_text('{"files": {"optimizer.pt": null}}'), f"its {MANIFEST} is damaged"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("damage", "said"), DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_newest_gives_way_to_the_one_before_and_says_why(
    damage: Callable[[Path], object], said: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first = start(tmp_path)
    save(first, 10)
    damage(save(first, 20))
    end(first)
    assert newest(start(tmp_path)) == "attempt-1/checkpoint-10"
    assert f"attempt-1/checkpoint-20 is not used: {said}" in caplog.text


def test_where_none_is_whole_a_sentence_says_so_and_nothing_is_deleted(tmp_path: Path) -> None:
    first = start(tmp_path)
    for step in (10, 20):
        flip_a_bit(save(first, step))
    end(first)
    before = kept(tmp_path)
    with pytest.raises(UserError, match=r"checkpoint-20: optimizer.pt has changed.*nothing was deleted"):
        start(tmp_path)
    assert kept(tmp_path) == before


def test_a_draft_is_no_checkpoint(tmp_path: Path) -> None:
    first = start(tmp_path)
    draft = first.drafts / "checkpoint-10"
    draft.mkdir(parents=True)
    seal(draft)
    end(first)
    assert start(tmp_path).newest is None
    assert not draft.exists()


HOLDER = """
import sys, time
from pathlib import Path
from tucano.training.checkpoints.attempts import begin
attempt = begin(Path(sys.argv[1]), None, 1)
print("ready", flush=True)
time.sleep(60)
"""


def test_a_second_process_is_refused_with_the_owners_name_until_the_owner_is_dead(tmp_path: Path) -> None:
    owner = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE)
    assert owner.stdout is not None and owner.stdout.readline() == b"ready\n"
    with pytest.raises(UserError, match=rf"attempt 1, process {owner.pid} on \S+, since .*wait for it or stop it"):
        start(tmp_path)
    owner.kill()
    owner.wait()
    assert start(tmp_path).record.number == 2


def test_what_an_orphan_writes_is_never_read(tmp_path: Path) -> None:
    """The orphan is alive on a machine believed lost, in a folder that both see and where locks do not reach."""
    orphan = start(tmp_path)
    late = save(orphan, 10).with_name("checkpoint-90")
    orphan.lock.close()
    second = start(tmp_path)
    shutil.copytree(late.with_name("checkpoint-10"), late)
    assert fault(late) is None
    with pytest.raises(UserError, match=r"attempt 1, .* was superseded by attempt 2, "):
        save(orphan, 91)
    end(second)
    third = start(tmp_path)
    assert newest(third) == "attempt-1/checkpoint-10"
    save(third, 20)
    assert kept(tmp_path) == ["attempt-1/checkpoint-10", "attempt-3/checkpoint-20"]


def test_an_empty_machine_goes_on_from_the_remote_copy(tmp_path: Path) -> None:
    first = start(tmp_path / "one", tmp_path / "remote")
    for step in (10, 20, 30):
        uploaded(first, tmp_path / "remote", step)
    end(first)
    assert kept(tmp_path / "remote") == ["attempt-1/checkpoint-20", "attempt-1/checkpoint-30"]
    second = start(tmp_path / "two", tmp_path / "remote")
    assert newest(second) == "attempt-1/checkpoint-30" and second.record.number == 2
    assert second.newest is not None and fault(second.newest) is None
    end(second)


def test_an_upload_without_its_manifest_is_not_read_and_a_damaged_one_is_passed_over(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first = start(tmp_path / "one", tmp_path / "remote")
    _, newer = (uploaded(first, tmp_path / "remote", step) for step in (10, 20))
    end(first)
    half = newer.with_name("checkpoint-30")
    shutil.copytree(newer, half)
    (half / MANIFEST).unlink()
    flip_a_bit(newer)
    second = start(tmp_path / "two", tmp_path / "remote")
    assert newest(second) == "attempt-1/checkpoint-10"
    assert "checkpoint-20 is not used: optimizer.pt has changed" in caplog.text
    end(second)


def test_of_two_machines_the_older_attempt_ends_and_is_not_read(tmp_path: Path) -> None:
    old = start(tmp_path / "old", tmp_path / "remote")
    uploaded(old, tmp_path / "remote", 10)
    new = start(tmp_path / "new", tmp_path / "remote")
    save(old, 20)
    end(old)
    with pytest.raises(UserError, match=r"attempt 1, .* was superseded by attempt 2, "):
        save(old, 30)
    assert kept(tmp_path / "remote") == ["attempt-1/checkpoint-10"]
    assert newest(new) == "attempt-1/checkpoint-10"
    end(new)
    back = start(tmp_path / "old", tmp_path / "remote")
    assert newest(back) == "attempt-1/checkpoint-10" and back.record.number == 3
    end(back)


def test_failed_uploads_are_tried_again_and_disturb_nobody(caplog: pytest.LogCaptureFixture) -> None:
    arrived: list[str] = []
    down = threading.Event()
    down.set()

    def push(name: str) -> None:
        if down.is_set():
            raise ConnectionError("storage is down")
        arrived.append(name)

    uploader = uploads.Uploader(push)
    uploader.add("checkpoint-10")
    while "upload of checkpoint-10 failed" not in caplog.text:
        time.sleep(0.01)
    uploader.add("checkpoint-20")
    down.clear()
    assert uploader.close(10)
    assert arrived == ["checkpoint-20"]


def test_a_checkpoint_pruned_while_it_is_uploaded_is_no_failure(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    newer = threading.Event()
    arrived = []

    def push(name: str) -> None:
        if name == "checkpoint-10":
            newer.wait()
            raise FileNotFoundError("trainer_state.json")
        arrived.append(name)

    uploader = uploads.Uploader(push)
    uploader.add("checkpoint-10")
    time.sleep(0.05)
    uploader.add("checkpoint-20")
    newer.set()
    assert uploader.close(10) and arrived == ["checkpoint-20"]
    assert "failed" not in caplog.text and "checkpoint-10 was pruned while it was uploaded" in caplog.text


def test_an_upload_that_cannot_be_made_ends_with_its_time() -> None:
    def push(name: str) -> None:
        raise ConnectionError("storage is down")

    uploader = uploads.Uploader(push)
    uploader.add("checkpoint-10")
    began = time.monotonic()
    assert not uploader.close(0.7)
    assert time.monotonic() - began < 2 * slowness()


def test_every_attempt_computes_with_as_many_threads_as_the_first(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Also one that finds no checkpoint, and one on an empty machine: another number of threads is another training."""
    caplog.set_level(logging.INFO)
    first = start(tmp_path / "one", tmp_path / "remote", threads=4)
    assert first.record.threads == 4 and "goes on" not in caplog.text
    end(first)
    second = start(tmp_path / "one", tmp_path / "remote", threads=2)
    assert second.record.threads == 4 and "goes on with 4 threads, as it began, not with 2" in caplog.text
    save(second, 10)
    end(second)
    third = start(tmp_path / "two", tmp_path / "remote", threads=1)
    assert third.record.threads == 4 and newest(third) == "attempt-2/checkpoint-10"
    end(third)
