"""The metrics journal: what is read back is what was measured, through torn lines, cuts and kill -9."""

import json
import math
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tucano.storage.journal import Commit, JournalWriter, read_commit, read_journal

WRITER = """
import sys
from pathlib import Path
from tucano.storage.journal import JournalWriter, read_commit

path, last = Path(sys.argv[1]), int(sys.argv[2])
start = read_commit(path).step
journal = JournalWriter(path, resume_step=start)
for step in range((start or 0) + 1, last + 1):
    journal.log(step, {"reward": step / 8, "loss": -step})
    if step % 50 == 0:
        journal.commit(step)
"""


def write(path: Path, steps: range, resume_step: int | None = None, commit: int | None = None) -> None:
    with JournalWriter(path, resume_step=resume_step) as journal:
        for step in steps:
            journal.log(step, {"reward": step / 8})
            if step == commit:
                journal.commit(step)


def steps(path: Path) -> list[int]:
    return [entry.step for entry in read_journal(path)]


@given(values=st.dictionaries(st.text(min_size=1, max_size=20), st.floats(), max_size=5))
def test_every_float_survives(tmp_path_factory: pytest.TempPathFactory, values: dict[str, float]) -> None:
    path = tmp_path_factory.mktemp("floats") / "j.jsonl"
    with JournalWriter(path, resume_step=None) as journal:
        journal.log(1, values)
    (entry,) = read_journal(path)
    assert entry.values.keys() == values.keys()
    for name, value in values.items():
        assert entry.values[name] == value or (math.isnan(value) and math.isnan(entry.values[name]))


def test_a_line_is_json_for_any_reader(tmp_path: Path) -> None:
    with JournalWriter(tmp_path / "j.jsonl", resume_step=None) as journal:
        journal.log(1, {"loss": math.nan})
    line = json.loads((tmp_path / "j.jsonl").read_text(encoding="utf-8"), parse_constant=pytest.fail)
    assert line["values"] == {"loss": "nan"}


@pytest.mark.parametrize("torn", [b'{"step": 6, "ti', b"\0\0\0\0", b'{"step": 4, "time_ms": 1, "values": {}}'])
def test_a_torn_last_line_is_not_read_and_is_cut_on_resume(tmp_path: Path, torn: bytes) -> None:
    path = tmp_path / "j.jsonl"
    write(path, range(1, 6), commit=5)
    with path.open("ab") as file:
        file.write(torn)
    assert steps(path) == [1, 2, 3, 4, 5]
    write(path, range(6, 8), resume_step=5)
    assert steps(path) == [1, 2, 3, 4, 5, 6, 7]


def test_a_commit_covers_the_bytes_logged_so_far(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    with JournalWriter(path, resume_step=None) as journal:
        journal.log(1, {"reward": 1})
        journal.commit(1)
        size = path.stat().st_size
        journal.log(2, {"reward": 2})
    assert read_commit(path) == Commit(1, size, ())
    JournalWriter(path, resume_step=1).close()
    assert read_commit(path) == Commit(1, size, (size,))


def test_killed_between_commit_and_cut_the_next_attempt_cuts(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    write(path, range(1, 8), commit=5)
    whole = path.read_bytes()
    JournalWriter(path, resume_step=3).close()
    path.write_bytes(whole)
    write(path, range(4, 6), resume_step=3)
    assert steps(path) == [1, 2, 3, 4, 5]


def test_steps_never_go_back(tmp_path: Path) -> None:
    with JournalWriter(tmp_path / "j.jsonl", resume_step=None) as journal:
        journal.log(5, {})
        with pytest.raises(ValueError, match="step 4 after step 5"):
            journal.log(4, {})
        with pytest.raises(ValueError, match="commit of step 4"):
            journal.commit(4)


def test_kill_9_of_a_writer_loses_and_repeats_no_step(tmp_path: Path) -> None:
    path, last, moments = tmp_path / "j.jsonl", 60_000, random.Random(7)
    command = [sys.executable, "-c", WRITER, str(path), str(last)]
    for _ in range(5):
        child = subprocess.Popen(command)
        before = read_commit(path).step or 0
        while (read_commit(path).step or 0) == before and child.poll() is None:
            time.sleep(0.01)
        time.sleep(moments.uniform(0, 0.2))
        child.send_signal(signal.SIGKILL)
        assert child.wait() == -signal.SIGKILL
    interrupted = read_commit(path).step
    assert interrupted is not None and interrupted < last
    subprocess.run([sys.executable, "-c", WRITER, str(path), str(interrupted + 500)], check=True)
    entries = read_journal(path)
    assert [entry.step for entry in entries] == list(range(1, interrupted + 501))
    assert all(entry.values == {"reward": entry.step / 8, "loss": -entry.step} for entry in entries)


def test_a_look_after_the_checkpoint_of_the_same_step_is_cut_and_taken_again(tmp_path: Path) -> None:
    path, copy = tmp_path / "j.jsonl", tmp_path / "checkpoint-5.jsonl"
    with JournalWriter(path, resume_step=None) as journal:
        journal.log(5, {"train/loss": 1})
        journal.copy_to(copy)
        journal.commit(5)
        journal.log(5, {"validation/reward": 2})
    with JournalWriter(path, resume_step=5, covered=copy) as journal:
        journal.log(5, {"validation/reward": 2})
    assert [entry.values for entry in read_journal(path)] == [{"train/loss": 1}, {"validation/reward": 2}]
    assert read_commit(path) == Commit(5, copy.stat().st_size, (copy.stat().st_size,))


def test_a_machine_that_was_overtaken_takes_the_other_ones_journal(tmp_path: Path) -> None:
    """Both went on from step 2; the other machine's steps 3 and 4 count."""
    path, other = tmp_path / "j.jsonl", tmp_path / "other.jsonl"
    write(path, range(1, 3))
    shared = path.stat().st_size
    other.write_bytes(path.read_bytes())
    with path.open("ab") as file:
        file.write(b'{"step": 3, "time_ms": 1, "values": {"reward": 9.0}}\n')
    write(other, range(3, 5), resume_step=2)
    JournalWriter(path, resume_step=4, covered=other).close()
    assert path.read_bytes() == other.read_bytes()
    assert read_commit(path) == Commit(4, other.stat().st_size, (shared,))
