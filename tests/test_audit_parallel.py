"""The audit on several cores: the same report on any number of them, and nothing that is left behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from test_audit import SETTINGS, failed

from tucano.artifacts.records import read_record
from tucano.audit.parallel import forks, process
from tucano.audit.report import AuditReport
from tucano.errors import UserError, WorkerCrashed
from tucano.files.results import AuditFiles
from tucano.project import COMMITTED_RATINGS
from tucano.settings.audit import AuditStage, Gate
from tucano.settings.base import narrowed

GATE = narrowed(Gate, SETTINGS).model_copy(update={"search_calls": 100})
STAGE = AuditStage(rewards="grounded", audit=GATE, tasks=("sentiment", "churn"), seed=7)
"""The tasks of which the table of relations has fewest rows: the audit of another one takes ten times as long."""
ON_CORES = """
import sys
from pathlib import Path
from tucano.audit.gate import audit
from tucano.audit.parallel import ahead
from tucano.audit.parallel.forks import Hands
from tucano.settings.audit import AuditStage
from rewards.sets import RewardSet
clean = RewardSet.score
def score(self, prompt, completion):
    if "0.75" in completion:
        raise OverflowError("75")
    if pid == os.getpid():
        here.append(completion)
    return clean(self, prompt, completion)
import os
RewardSet.score = score
stage = AuditStage.model_validate_json(sys.argv[1])
for cores in (1, 3):
    here, pid = [], os.getpid()
    report = audit(stage.rewards, Path(sys.argv[2]), stage.audit, stage.tasks, stage.seed, Hands(cores=cores))
    print(f"{report!r}")
    print(len(here), file=sys.stderr)
"""


def test_any_number_of_cores_says_the_same() -> None:
    """Rewards that raise among them; and all is scored in the forks."""
    command = [sys.executable, "-c", ON_CORES, STAGE.model_dump_json(), str(COMMITTED_RATINGS)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    one, other = done.stdout.splitlines()
    assert one == other and "OverflowError (75)" in one
    alone, beside = map(int, done.stderr.split())
    assert alone > 1000 and beside == 0


def test_forks_keep_the_order_and_raise_what_the_work_raised() -> None:
    assert forks.forked(lambda number: (number, os.getpid()), range(1), 8) == [(0, os.getpid())]
    assert forks.forked(lambda number: number**2, range(5000), 3) == [number**2 for number in range(5000)]
    with pytest.raises(UserError, match="three"):
        forks.forked(_refusing_three, range(9), 2)
    with pytest.raises(WorkerCrashed, match="-9"):
        forks.forked(lambda number: os.kill(os.getpid(), signal.SIGKILL), range(2), 2)


SLOW_FORKS = """
import time
from tucano.audit.parallel.forks import forked
print("begun", flush=True)
forked(lambda number: time.sleep(0.1), range(40), 2)
"""


def test_forks_end_although_their_process_was_killed() -> None:
    """Nobody asks for their results any more; the command waits for whoever holds the audit's output open."""
    started = subprocess.Popen([sys.executable, "-c", SLOW_FORKS], stdout=subprocess.PIPE, start_new_session=True)
    assert started.stdout is not None and started.stdout.readline() == b"begun\n"
    time.sleep(0.5)
    started.kill()
    assert started.communicate(timeout=60) == (b"", None)  # the output ends when the last one that holds it does


def _refusing_three(number: int) -> int:
    if number == 3:
        raise UserError("three")
    return number


def test_a_process_of_its_own_writes_the_same_and_tells_how_far_it_is(tmp_path: Path) -> None:
    heard: list[str] = []
    told = process.audited_apart(STAGE, COMMITTED_RATINGS, tmp_path, heard.append)
    report = read_record(AuditReport, AuditFiles(tmp_path).report)
    assert told == {"verdict": report.verdict, "passed": report.passed, "provisional": report.provisional}
    assert not failed(report)
    assert {line.split(":")[0].split(",")[0] for line in heard} >= {f"reward audit of {task}" for task in STAGE.tasks}
    with pytest.raises(UserError, match=r"ratings\.jsonl"):
        process.audited_apart(STAGE, tmp_path, tmp_path, heard.append)


def test_an_interrupted_audit_leaves_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[int] = []

    class Noted(subprocess.Popen[str]):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            started.append(self.pid)

    def interrupted(line: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(process.subprocess, "Popen", Noted)
    with pytest.raises(KeyboardInterrupt):
        process.audited_apart(STAGE, COMMITTED_RATINGS, tmp_path, interrupted)
    with pytest.raises(ProcessLookupError):
        os.killpg(started[0], 0)
