"""What to do next with a storage: `tucano` alone says it. It reads what runs left, writes nothing and imports nothing
that is slow.
"""

import json
from collections.abc import Callable
from pathlib import Path

from tucano.artifacts.store import last_used
from tucano.errors import UserError
from tucano.files.results import ComparisonFiles, ReportFiles
from tucano.overview.runs import read_runs

UNREADABLE = (UserError, OSError, ValueError, TypeError, KeyError, RecursionError)
AFTER_A_RUN = ("try", "compare", "ui", "serve")
SAID = {
    "running": "A run is at work.",
    "waiting": "A run waits for a person's approval; its page in Prefect has the form.",
    "unanswered": "The last run waited for a person's approval, and in vain.",
    "killed": "The last run was interrupted; the same command goes on where it was.",
    "failed": "The last run ended early ({failure}); the same command goes on from what is done.",
}
"""By the state of the newest run; of one that is finished its verdict speaks."""
ENDED_EARLY = ("killed", "failed")


def next_steps(root: Path, serves: Callable[[], bool]) -> tuple[list[str], list[str]]:
    """(What is there, in sentences; the commands that come next.) `serves` says whether the servers of `tucano up` run
    over this storage.
    """
    try:
        newest = next(iter(read_runs(root)[0]), None)
        verdict = _verdict(root)
        report = last_used(root, "report")
        served = serves()
    except UNREADABLE as error:
        return [f"The storage {root} cannot be read: {' '.join(str(error).split())}"], ["doctor", "diagnose"]
    if newest is None and verdict is None:
        found, commands = [f"No run has begun in {root} yet."], ["run", "doctor"]
    else:
        said = SAID.get(newest.state, "").format(failure=newest.failure) if newest else ""
        found = [*filter(None, [said, f"The newest verdict here: {verdict}" if verdict else ""])]
        found += [f"Its report: {ReportFiles(report).page}"] if verdict and report else []
        commands = ["run"] if newest and newest.state in ENDED_EARLY else []
        commands += AFTER_A_RUN if verdict else ["ui"]
    if served:
        found.append("The servers of `tucano up` are running.")
        commands.append("status")
    return found, commands


def _verdict(root: Path) -> str | None:
    """The headline of the newest comparison; None where there is none."""
    folder = last_used(root, "comparison")
    if folder is None:
        return None
    return str(json.loads(ComparisonFiles(folder).comparison.read_text(encoding="utf-8"))["verdict"]["headline"])
