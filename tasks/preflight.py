"""Stage between SFT and GRPO: what would ruin the run, seen before it. A red check closes the gate."""

import json
from pathlib import Path
from typing import Any

from tasks.context import Run, run_child, stage
from tasks.pages import show_table
from tasks.train import start_of
from tucano.artifacts import Artifact, Recipe
from tucano.errors import GateClosed
from tucano.training.jobs import Job

MARKS = {"ok": "ok", "warn": "WARN", "red": "RED"}


@stage("preflight")
def check_before_grpo(run: Run, prompts: Artifact, start: Artifact | None) -> Artifact:
    """PreflightReport: one line per check with its evidence, on the model that GRPO starts from."""
    settings = run.settings
    base, adapter = start_of(run, start)

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        job = Job(
            kind="preflight",
            settings=settings.model_dump(mode="json"),
            prompts=str(prompts.folder),
            work=str(run.store.work_folder(recipe)),
            output=str(draft),
            seed=settings.grpo.seeds[0],
            threads=settings.worker.threads,
            base=base,
            adapter=adapter,
        )
        result = run_child(run, job, "preflight")
        (draft / "preflight.txt").write_text(table(result["checks"]), encoding="utf-8")
        return result

    parts = {"grpo": settings.grpo.model_dump(), "model": settings.model.model_dump()}
    inputs = {"prompts": prompts.digest, "start": start.digest if start else ""}
    artifact = run.make("preflight", ("tucano.training.preflight",), parts, inputs, produce)
    show_table("preflight", artifact.record["checks"])
    run.tracker.log_artifacts(run.tracking_run, artifact.folder, "preflight")
    return artifact


def pass_preflight(run: Run, artifact: Artifact) -> None:
    """Raise GateClosed with the table where a check is red and not allowed to be."""
    checks = artifact.record["checks"]
    red = [line["name"] for line in checks if line["level"] == "red"]
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


def table(checks: list[dict[str, str]]) -> str:
    """The checks as plain text, one line each."""
    width = max(len(line["name"]) for line in checks)
    return "".join(f"{MARKS[line['level']]:<5} {line['name']:<{width}}  {line['evidence']}\n" for line in checks)
