"""Stage 7: the candidate becomes the registry's challenger or champion, only when the comparison allows it."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from prefect import get_run_logger
from prefect.artifacts import create_markdown_artifact

from tasks.audit import read_report
from tasks.compare import CHAMPION, candidate, read_comparison
from tasks.context import Run, stage
from tasks.reaudit import read_reaudit
from tucano.artifacts import Artifact
from tucano.evaluation.answers import read_answers
from tucano.evaluation.promotion import noninferiority_bound

CHALLENGER = "challenger"


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
    best = candidate(seeds)
    name, model = f"seed-{best.record['seed']}", run.settings.promotion.model
    refusal = _refusal(comparison, reaudit, best)
    champion = run.tracker.champion(model)
    if refusal:
        result = Promotion(name, "not promoted", refusal, model, None)
    elif champion is not None and champion.tags.get("digest.grpo") == best.digest:
        result = Promotion(name, CHAMPION, "it is the champion since an earlier run", model, champion.version)
    else:
        status, reason = _status(run, answers, name, champion is not None)
        with _package(run, prompts, start, best) as folder:
            tags = _lineage(run, prompts, audit, start, best, answers, reaudit, comparison)
            aliases = [CHAMPION] if status == CHAMPION else [CHALLENGER]
            version = run.tracker.register(model, best.record["tracking_run"], folder, tags, aliases).version
        result = Promotion(name, status, reason, model, version)
    where = f" as {model} version {result.version}" if result.version else ""
    get_run_logger().info("promotion: %s is %s%s, because %s", name, result.status, where, result.reason)
    create_markdown_artifact(key="promotion", markdown=f"**{name}: {result.status}**{where}\n\n{result.reason}")
    run.tracker.set_tags(run.tracking_run, {f"promotion.{key}": value for key, value in asdict(result).items()})
    return result


def _refusal(comparison: Artifact, reaudit: Artifact, best: Artifact) -> str | None:
    """Why the candidate may not even become challenger; None when it may."""
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
    settings = run.settings
    bound = noninferiority_bound(read_answers(answers.folder / "answers.jsonl"), name, CHAMPION, settings.comparison.primary)
    if bound > -settings.promotion.margin:
        return CHAMPION, f"it improves on its start and is at most {max(0.0, -bound):.3f} below the champion (95 % bound)"
    return (
        CHALLENGER,
        f"it improves on its start, but may be {-bound:.3f} below the champion (95 % bound, margin {settings.promotion.margin})",
    )


@contextmanager
def _package(run: Run, prompts: Artifact, start: Artifact | None, best: Artifact) -> Iterator[Path]:
    """What a registry version holds: the adapter, the system prompts it was trained with, and a base that was built here."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(best.folder / "adapter", Path(folder) / "adapter")
        shutil.copy2(prompts.folder / "system_prompts.json", folder)
        if start is not None and (start.folder / "model").is_dir():
            shutil.copytree(start.folder / "model", Path(folder) / "model")
        yield Path(folder)


def _lineage(
    run: Run,
    prompts: Artifact,
    audit: Artifact,
    start: Artifact | None,
    best: Artifact,
    answers: Artifact,
    reaudit: Artifact,
    comparison: Artifact,
) -> dict[str, object]:
    """The chain from data to verdict by digests, with licences and whatever was overridden."""
    report = read_report(audit)
    trained = {"data": prompts, "audit": audit, "sft": start, "grpo": best}
    chain = {**trained, "answers": answers, "re-audit": reaudit, "comparison": comparison}
    licences = json.loads((prompts.folder / "report.json").read_text(encoding="utf-8"))["licences"]
    return {
        **{f"digest.{stage}": artifact.digest for stage, artifact in chain.items() if artifact is not None},
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
