"""The audit in a process of its own, which has no threads and so may fork."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from tucano.artifacts.code_version import code_version
from tucano.artifacts.identity import fingerprint
from tucano.artifacts.store import Artifact, Recipe, Store
from tucano.audit.parallel.forks import Hands
from tucano.audit.stage import write_audit
from tucano.errors import UserError, WorkerCrashed, WorkerFailed
from tucano.project import COMMITTED_RATINGS, OF_RELATIONS
from tucano.rating.store import stores_in
from tucano.requirements.machine import cores
from tucano.settings import PipelineSettings
from tucano.settings.audit import AuditStage
from tucano.settings.stages import of_audit

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""Numeric libraries start theirs when they are imported."""


def ratings_of(settings: PipelineSettings) -> tuple[Path, dict[str, str]]:
    """The folder of a run's ratings; its files and the stores of the table of relations: {name: SHA-256}."""
    folder = Path(settings.audit.ratings) if settings.audit.ratings else COMMITTED_RATINGS
    files = {file.name: file for file in sorted(folder.glob("*.*")) if file.is_file()}
    files |= {f"{OF_RELATIONS}{file.name}": file for file in stores_in(COMMITTED_RATINGS, ".sql")}
    return folder, {name: str(fingerprint(file)["sha256"]) for name, file in files.items()}


def audited_apart(settings: AuditStage, ratings: Path, folder: Path, say: Callable[[str], None]) -> dict[str, Any]:
    """`write_audit` on all cores of the machine; the record of its artifact. Errors as there, WorkerCrashed where the
    process was killed, WorkerFailed where it failed.
    """
    job = {"settings": settings.model_dump(mode="json"), "ratings": str(ratings), "folder": str(folder)}
    child = subprocess.Popen(
        [sys.executable, "-m", __name__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        start_new_session=True,  # Ctrl-C reaches this process alone
        env={**os.environ, **ONE_THREAD},
    )
    assert child.stdin is not None and child.stdout is not None
    end: dict[str, Any] = {}
    try:
        with child.stdin, suppress(BrokenPipeError):
            json.dump(job, child.stdin)
        for line in child.stdout:
            told = json.loads(line)
            if "said" in told:
                say(told["said"])
            else:
                end = told
        code = child.wait()
    finally:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)  # its forks with it
        child.stdout.close()
        child.wait()
    if "wrong" in end:
        raise UserError(end["wrong"])
    if not end:
        failed = WorkerCrashed if code < 0 else WorkerFailed
        raise failed(f"the audit's process ended with exit code {code} and no result; what it printed says why")
    return end


def stored(settings: PipelineSettings, store: Store, say: Callable[[str], None]) -> Artifact:
    """The artifact of a run's audit; a run that finds it in its storage does not audit again."""
    chosen = of_audit(settings)
    ratings, inputs = ratings_of(settings)
    recipe = Recipe("audit", chosen.model_dump(mode="json"), inputs, code_version(write_audit.__module__))
    return store.make(recipe, lambda draft: audited_apart(chosen, ratings, draft, say), say)


def main() -> None:
    job = json.load(sys.stdin)
    hands = Hands(lambda line: _tell({"said": line}), cores() if sys.platform == "linux" else 1)
    try:
        settings = AuditStage.model_validate(job["settings"])
        report = write_audit(settings, Path(job["ratings"]), Path(job["folder"]), hands)
    except UserError as mistake:
        _tell({"wrong": str(mistake)})
    else:
        _tell({"verdict": report.verdict, "passed": report.passed, "provisional": report.provisional})


def _tell(what: Mapping[str, Any]) -> None:
    os.write(sys.stdout.fileno(), f"{json.dumps(what)}\n".encode())  # in one piece: forks tell, too


if __name__ == "__main__":
    main()
