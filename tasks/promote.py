"""Stage 7: the candidate becomes the registry's challenger or champion, only when comparison and lineage allow it.

What is registered can be served as it is: merged 16-bit weights, tokenizer, system prompts and decoding, beside the adapter.
"""

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from prefect import get_run_logger
from prefect.artifacts import create_markdown_artifact

from tasks.audit import read_report
from tasks.compare import CHAMPION, candidate, read_comparison
from tasks.context import Run, cores, run_child, stage
from tasks.reaudit import read_reaudit
from tasks.tracked import training_run
from tasks.train import start_of
from tucano.artifacts import Artifact, Recipe
from tucano.errors import Transient
from tucano.evaluation.answers import arms_of, read_answers
from tucano.evaluation.promotion import noninferiority_bound
from tucano.lineage import digests, faults, unpinned, verify
from tucano.tracking.models import pack
from tucano.training.jobs import Job

CHALLENGER = "challenger"
EXAMPLE = [{"task": "push", "prompt": "Crie uma notificação para o produto Fone Bluetooth, com frete grátis até domingo."}]
LOADER = Path(__file__).parent.parent / "tucano" / "training" / "served_model.py"


@dataclass(frozen=True, slots=True)
class Promotion:
    """What became of the candidate and why; `version` is None when it was not registered."""

    candidate: str
    status: str
    reason: str
    model: str
    version: int | None


@stage("promote")
def promote(
    run: Run,
    prompts: Artifact,
    audit: Artifact,
    start: Artifact | None,
    seeds: list[Artifact],
    answers: Artifact,
    reaudit: Artifact,
    comparison: Artifact,
) -> Promotion:
    """Register the seed that is best on validation, if the held-out comparison allows it. All of it, or nothing."""
    best, model = candidate(seeds), run.settings.promotion.model
    name = f"seed-{best.record['seed']}"
    refusal = _incomplete(run) or _refusal(comparison, reaudit, best)
    champion = run.tracker.champion(model)
    if refusal:
        result = Promotion(name, "not promoted", refusal, model, None)
    elif champion is not None and champion.tags.get("digest.grpo") == best.digest:
        result = Promotion(name, CHAMPION, "it is the champion since an earlier run", model, champion.version)
    else:
        result = _admit(run, prompts, audit, start, best, answers, comparison, has_champion=champion is not None)
    publish(run, result)
    return result


def _admit(
    run: Run,
    prompts: Artifact,
    audit: Artifact,
    start: Artifact | None,
    best: Artifact,
    answers: Artifact,
    comparison: Artifact,
    has_champion: bool,
) -> Promotion:
    """Register the candidate, unless it is registered already or is not itself any more once merged."""
    name, model = f"seed-{best.record['seed']}", run.settings.promotion.model
    status, reason = _status(run, answers, name, has_champion)
    if status == CHAMPION and run.settings.promotion.approval_hours is not None:
        status, reason = CHALLENGER, f"{reason}; a person's approval is asked for"
    challenger = run.tracker.with_alias(model, CHALLENGER)
    if status == CHALLENGER and challenger is not None and challenger.tags.get("digest.grpo") == best.digest:
        return Promotion(name, status, reason, model, challenger.version)
    merged = _merge(run, prompts, start, best)
    if not merged.record["faithful"]:
        moved = f"{merged.record['mean_difference']:.3f} nats per token"
        return Promotion(name, "not promoted", f"merged into 16 bits it answers otherwise than it was trained ({moved})", model, None)
    tags = _lineage(run, prompts, audit, best, comparison)
    return Promotion(name, status, reason, model, _register(run, prompts, best, merged, tags, status))


def publish(run: Run, result: Promotion) -> None:
    """Say what became of the candidate: in the log, in the Prefect page and with the MLflow run."""
    where = f" as {result.model} version {result.version}" if result.version else ""
    get_run_logger().info("promotion: %s is %s%s, because %s", result.candidate, result.status, where, result.reason)
    create_markdown_artifact(
        key="promotion",
        markdown=f"**{result.candidate}: {result.status}**{where}\n\n{result.reason}",
        description=f"{result.candidate}: {result.status}",
    )
    run.tracker.set_tags(run.tracking_run, {f"promotion.{key}": value for key, value in asdict(result).items()})


def _incomplete(run: Run) -> str | None:
    """What is wrong with the candidate's lineage; None when every link holds."""
    if broken := faults(verify(run.store.root, digests(run.stages))):
        return f"its lineage is broken: {'; '.join(broken)}"
    unknown = unpinned(run.settings.model.name, run.settings.model.revision)
    return f"its lineage is incomplete: {unknown}" if unknown else None


def _refusal(comparison: Artifact, reaudit: Artifact, best: Artifact) -> str | None:
    """Why what was measured does not allow the candidate even to become challenger; None when it does."""
    verdict = read_comparison(comparison).verdict
    if not verdict.improved:
        return "the primary test does not show an improvement"
    if verdict.worse_tasks:
        return f"it is worse on {', '.join(verdict.worse_tasks)}"
    if verdict.hacking_suspected:
        return "the reward rose while the ground truth fell: reward hacking is suspected"
    for alarm in best.record["alarms"]:
        if alarm["name"] == "hacking":
            return f"its training raised the hacking alarm at step {alarm['step']}: {alarm['evidence']}"
    if failed := read_reaudit(reaudit).failed(f"seed-{best.record['seed']}"):
        return f"the re-audit of its own samples failed: {failed[0].message}"
    return None


def _status(run: Run, answers: Artifact, name: str, has_champion: bool) -> tuple[str, str]:
    if not has_champion:
        return CHAMPION, "it improves on its start, no task is worse, and there was no champion"
    settings, given = run.settings, read_answers(answers.folder / "answers.jsonl")
    if CHAMPION not in arms_of(given):
        return CHALLENGER, "it improves on its start, but a champion was registered since, which has not answered these prompts"
    bound = noninferiority_bound(given, name, CHAMPION, settings.comparison.primary)
    if bound > -settings.promotion.margin:
        return CHAMPION, f"it improves on its start and is at most {max(0.0, -bound):.3f} below the champion (95 % bound)"
    return (
        CHALLENGER,
        f"it improves on its start, but may be {-bound:.3f} below the champion (95 % bound, margin {settings.promotion.margin})",
    )


def _merge(run: Run, prompts: Artifact, start: Artifact | None, best: Artifact) -> Artifact:
    """The candidate as one model of 16-bit weights, loaded again and held against what was trained."""
    base, _ = start_of(run, start)

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        work = run.store.work_folder(recipe)
        plain = run.settings.model_dump(mode="json")
        job = Job(
            "merge", plain, str(prompts.folder), str(work), str(draft), run.settings.seed, cores(), base, str(best.folder / "adapter")
        )
        return run_child(run, job, "merge")

    inputs = {"prompts": prompts.digest, "start": start.digest if start else "", f"seed-{best.record['seed']}": best.digest}
    parts = {"model": run.settings.model.model_dump(), "max_completion_tokens": run.settings.grpo.max_completion_tokens}
    return run.make("merged", ("tucano.training.merge",), parts, inputs, produce)


def _register(run: Run, prompts: Artifact, best: Artifact, merged: Artifact, tags: dict[str, object], status: str) -> int:
    """The number of the new version."""
    description, identity = _description(run, tags), training_run(run, best)
    if identity is None:  # it is registered anew when it is reused, if the store takes that
        raise Transient(f"MLflow has no run of {best.stage}, from which {run.settings.promotion.model} would be registered")
    with _package(run, prompts, best, merged) as folder:
        return run.tracker.register(run.settings.promotion.model, identity, folder, tags, [status], description).version


@contextmanager
def _package(run: Run, prompts: Artifact, best: Artifact, merged: Artifact) -> Iterator[Path]:
    """What a registry version holds: a model that MLflow can load and serve, and the adapter that it was merged from."""
    settings = run.settings
    serving = {
        "temperature": settings.comparison.served_temperature,
        "max_new_tokens": settings.grpo.max_completion_tokens,
        "seed": settings.seed,
    }
    with tempfile.TemporaryDirectory() as scratch:
        data = Path(scratch) / "data"
        shutil.copytree(merged.folder / "model", data / "model")
        shutil.copytree(best.folder / "adapter", data / "adapter")
        shutil.copy2(prompts.folder / "system_prompts.json", data)
        (data / "serving.json").write_text(json.dumps(serving), encoding="utf-8")
        pack(data, LOADER, Path(scratch) / "packed", EXAMPLE)
        yield Path(scratch) / "packed"


def _lineage(run: Run, prompts: Artifact, audit: Artifact, best: Artifact, comparison: Artifact) -> dict[str, object]:
    """The chain from data to verdict by digests, with licences and whatever was overridden."""
    report = read_report(audit)
    licences = json.loads((prompts.folder / "report.json").read_text(encoding="utf-8"))["licences"]
    return {
        **{f"digest.{stage}": digest for stage, digest in digests(run.stages).items()},
        "digest.grpo": best.digest,
        "base": run.settings.model.name,
        "base.revision": run.settings.model.revision,
        "pipeline_run": run.tracking_run,
        "seed": best.record["seed"],
        "licences": ", ".join(licences),
        "noncommercial": any("NC" in licence for licence in licences),
        "verdict": comparison.record["headline"],
        "audit": report.verdict,
        "audit.override_by": report.overridden_by,
        "audit.override_reason": report.override_reason,
    }


def _description(run: Run, tags: dict[str, object]) -> str:
    """What a reader of the version's page sees first: the verdict, and the way back to runs and data."""
    page = run.tracker.page(run.tracking_run)
    return (
        f"{tags['verdict']}\n\nTrained from data `{str(tags['digest.data'])[:16]}` ({tags['licences']}), "
        f"seed {tags['seed']}. [The pipeline run]({page}) has its data sets, report and verdict. "
        f"`tucano lineage {run.settings.promotion.model}@{CHAMPION}` checks the chain.\n"
    )
