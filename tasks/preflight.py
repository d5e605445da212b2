"""Stage between SFT and GRPO: what would ruin the run, seen before it. A red check closes the gate."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tasks.running.child import run_child
from tasks.running.handles import CheckLine, PreflightRecord, PreflightResult, PromptSet, Start
from tasks.running.pages import show_table
from tasks.running.run import Run, stage
from tasks.train import start_of
from tucano.artifacts.store import Recipe
from tucano.errors import GateClosed, WorkerFailed
from tucano.files.models import WorkFiles
from tucano.files.results import PreflightFiles
from tucano.settings.stages import of_preflight
from tucano.training.jobs import MODULES
from tucano.training.orders import JobFolders, order

MARKS = {"ok": "ok", "warn": "WARN", "red": "RED"}


class ChecksRaised(WorkerFailed):
    """Checks that ended in a fault have seen nothing: there is no result to keep, and the next run asks again."""


@stage("preflight")
def check_before_grpo(run: Run, prompts: PromptSet, start: Start | None) -> PreflightResult:
    """One line per check with its evidence, on the model that GRPO starts from."""
    settings = run.settings
    seed = run.settings.grpo.seeds[0]

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        folders = JobFolders(prompts.files.folder, run.store.work_folder(recipe), draft)
        job = order("preflight", settings, seed, settings.worker.threads, folders, start=start_of(run, start))
        result = run_child(run, job, "preflight")
        checks = PreflightRecord.model_validate(result).checks
        if any(line.raised for line in checks):
            log = WorkFiles(folders.work).log
            raise ChecksRaised(f"checks of the preflight raised, so GRPO did not start ({log}).\n\n{table(checks)}")
        PreflightFiles(draft).text.write_text(table(checks), encoding="utf-8")
        return result

    inputs = {"prompts": prompts.digest, "start": start.digest if start else ""}
    made = PreflightResult(run.make("preflight", MODULES["preflight"], of_preflight(settings, seed), inputs, produce))
    show_table("preflight", [line.model_dump() for line in made.record.checks])
    run.tracker.log_artifact(run.tracking_run, made.files.folder, "preflight")
    return made


def pass_preflight(run: Run, preflight: PreflightResult) -> None:
    """Raise GateClosed with the table where a check is red and not allowed to be."""
    checks = preflight.record.checks
    red = [line.name for line in checks if line.level == "red"]
    closed = [name for name in red if name not in run.settings.preflight.allow_red]
    run.tracker.set_tags(
        run.tracking_run,
        {
            "preflight": "red" if closed else "passed",
            "preflight.allowed_red": ", ".join(name for name in red if name not in closed) or None,
        },
    )
    if closed:
        raise GateClosed(
            f"the preflight failed, so GRPO did not start.\n\n{table(checks)}\n"
            "Mend what is RED; what you know to be harmless goes into\n"
            f"  --set 'preflight.allow_red={json.dumps(closed)}'"
        )


def table(checks: Sequence[CheckLine]) -> str:
    """The checks as plain text, one line each."""
    width = max(len(line.name) for line in checks)
    return "".join(f"{MARKS[line.level]:<5} {line.name:<{width}}  {line.evidence}\n" for line in checks)
