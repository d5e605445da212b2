"""Stage 7: the candidate becomes the registry's challenger or champion, only when comparison and lineage allow it.

What is registered can be served as it is: merged 16-bit weights, tokenizer, system prompts and decoding, beside the
adapter.
"""

import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from prefect import get_run_logger
from prefect.events import emit_event

from tasks.running.child import run_child
from tasks.running.elsewhere import where
from tasks.running.handles import (
    AnswerSet,
    AuditResult,
    ComparisonResult,
    Merged,
    PromptSet,
    ReauditResult,
    SeedResult,
    Seeds,
    Start,
)
from tasks.running.pages import show_markdown
from tasks.running.run import Run, stage
from tasks.running.tracked import training_run
from tasks.train import start_of
from tucano.artifacts.lineage import digests, faults, unpinned, verify
from tucano.artifacts.store import Recipe
from tucano.comparison.contrast import clusters_of
from tucano.comparison.promotion import (
    CHALLENGER,
    CHAMPION,
    STAYS_CHAMPION,
    HeldOut,
    Promotion,
    Standing,
    refusal,
    refused,
    standing,
    unfaithful,
)
from tucano.comparison.text_health import decay
from tucano.errors import Transient
from tucano.files.models import ServedFiles
from tucano.prompts import read_prompts
from tucano.requirements import cores
from tucano.security.printable import escaped
from tucano.settings.stages import of_merge
from tucano.statistics.preference import Preference
from tucano.thoughts import THOUGHTS
from tucano.tracking import RegisteredModel
from tucano.tracking.models import pack
from tucano.training.jobs import MODULES
from tucano.training.orders import JobFolders, order

EXAMPLE = [
    {"task": "push", "prompt": "Crie uma notificação para o produto Fone Bluetooth, com frete grátis até domingo."}
]
PROMOTED = "tucano.model.promoted"
LOADER = Path(__file__).parent.parent / "tucano" / "training" / "policies" / "served_model.py"


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for or against the candidate."""

    answers: AnswerSet
    reaudit: ReauditResult
    comparison: ComparisonResult


@stage("promote")
def promote(
    run: Run, prompts: PromptSet, audit: AuditResult, start: Start | None, seeds: Seeds, evidence: Evidence
) -> Promotion:
    """Register the seed that is best on validation, if the held-out comparison allows it. All of it, or nothing."""
    best = seeds.best
    model = run.settings.promotion.model
    against = _incomplete(run) or _refusal(evidence, best)
    champion = run.tracker.champion(model)
    if against is not None:
        result = _promotion(run, best, against, None)
    elif champion is not None and champion.tags.get("digest.grpo") == best.digest:
        result = _promotion(run, best, STAYS_CHAMPION, champion.version)
    else:
        result = _admit(run, prompts, audit, start, best, evidence, champion)
    publish(run, result)
    return result


def _promotion(run: Run, best: SeedResult, found: Standing, version: int | None) -> Promotion:
    model = run.settings.promotion.model
    return Promotion(best.arm, found.status, found.reason, model, version, found.reason_pt)


def _refusal(evidence: Evidence, best: SeedResult) -> Standing | None:
    failed = evidence.reaudit.report.failed(best.arm)
    comparison = evidence.comparison.comparison
    decayed = decay(comparison.texts[best.arm], comparison.texts[comparison.reference])
    hacked = next(((alarm.step, alarm.evidence) for alarm in best.record.alarms if alarm.name == "hacking"), None)
    return refusal(comparison.verdict, hacked, failed[0].message if failed else None, decayed)


def _admit(
    run: Run,
    prompts: PromptSet,
    audit: AuditResult,
    start: Start | None,
    best: SeedResult,
    evidence: Evidence,
    champion: RegisteredModel | None,
) -> Promotion:
    """Register the candidate, unless it is registered already or is not itself any more once merged."""
    settings = run.settings
    answers = evidence.answers.read()
    people = _of_champion(evidence.comparison.comparison.people, champion)
    primary = settings.comparison.primary
    found = standing(answers, best.arm, champion is not None, primary, settings.promotion, _held_out(prompts), people)
    challenger = run.tracker.find_version(f"{settings.promotion.model}@{CHALLENGER}")
    if found.status == CHALLENGER and challenger is not None and challenger.tags.get("digest.grpo") == best.digest:
        return _promotion(run, best, found, challenger.version)
    merged = where(run, merge)(run, prompts, start, best)
    if not merged.record.faithful:
        return _promotion(run, best, unfaithful(merged.record.mean_difference), None)
    tags = _lineage(run, prompts, audit, best, evidence.comparison)
    version = register(run, prompts, best, merged, [found.status], tags, _description(run, tags))
    result = _promotion(run, best, found, version)
    announce(run, result, tags)
    return result


def announce(run: Run, result: Promotion, tags: Mapping[str, object]) -> None:
    """An event in Prefect for who listens: an automation there calls a webhook, or sends a mail (docs/serving.md).

    A stage that is tried again says the same once more, by the same id: the server passes on one of them.
    """
    emit_event(
        PROMOTED,
        id=uuid5(NAMESPACE_URL, f"{run.tracking_run} {result.version} {result.status}"),
        resource={"prefect.resource.id": f"tucano.model.{result.model}", "prefect.resource.name": result.model},
        payload={
            "model": result.model,
            "version": result.version,
            "alias": result.status,
            "reason": result.reason,
            "verdict": tags["verdict"],
            "digest": tags["digest.grpo"],
            "page": run.tracker.page(run.tracking_run),
        },
    )


def _of_champion(people: Preference | None, champion: RegisteredModel | None) -> Preference | None:
    """What people preferred, where it was this champion that the candidate stood against."""
    if people is None or champion is None:
        return None
    return people if people.made_of.get(people.against) == str(champion) else None


def _held_out(prompts: PromptSet) -> HeldOut:
    tested = read_prompts(prompts.files.test)
    sources: dict[str, set[str]] = {}
    for prompt in tested:
        sources.setdefault(prompt.source, set()).add(prompt.id)
    return HeldOut(sources, clusters_of(tested))


def publish(run: Run, result: Promotion) -> None:
    """Say what became of the candidate: in the log, in the Prefect page and with the MLflow run."""
    where = f" as {result.model} version {result.version}" if result.version else ""
    get_run_logger().info("promotion: %s is %s%s, because %s", result.candidate, result.status, where, result.reason)
    said = f"{result.candidate}: {result.status}"
    show_markdown("promotion", f"**{said}**{where}\n\n{escaped(result.reason)}", said)
    run.tracker.set_tags(run.tracking_run, {f"promotion.{key}": value for key, value in asdict(result).items()})


def _incomplete(run: Run) -> Standing | None:
    """What is wrong with the candidate's lineage; None when every link holds."""
    if broken := faults(verify(run.store.root, digests(run.stages))):
        return refused("broken lineage", "; ".join(broken))
    unknown = unpinned(run.settings.model.name, run.settings.model.revision)
    return refused("incomplete lineage", unknown) if unknown else None


@stage("merge")
def merge(run: Run, prompts: PromptSet, start: Start | None, best: SeedResult) -> Merged:
    """The candidate as one model of 16-bit weights, loaded again and held against what was trained."""
    settings = run.settings

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        folders = JobFolders(prompts.files.folder, run.store.work_folder(recipe), draft)
        begin = (start_of(run, start)[0], str(best.files.adapter))
        return run_child(run, order("merge", settings, settings.seed, cores(), folders, start=begin), "merge")

    inputs = {"prompts": prompts.digest, "start": start.digest if start else "", best.arm: best.digest}
    return Merged(run.make("merged", MODULES["merge"], of_merge(settings, settings.seed), inputs, produce))


def register(
    run: Run,
    prompts: PromptSet,
    best: SeedResult,
    merged: Merged,
    aliases: Sequence[str],
    tags: Mapping[str, object],
    description: str,
) -> int:
    """The number of the new version."""
    identity = training_run(run, best)
    if identity is None:  # it is registered anew when it is reused, if the store takes that
        raise Transient(
            f"MLflow has no run of {best.arm}, from which {run.settings.promotion.model} would be registered"
        )
    with _package(run, prompts, best, merged) as folder:
        model = run.settings.promotion.model
        version = run.tracker.register(model, identity, folder, tags, aliases, description).version
    run.tracker.register_prompts(model, version, prompts.files.systems())
    return version


@contextmanager
def _package(run: Run, prompts: PromptSet, best: SeedResult, merged: Merged) -> Iterator[Path]:
    """What a registry version holds: a model that MLflow can load and serve, and the adapter that it was merged
    from.
    """
    settings = run.settings
    serving = {
        "temperature": settings.comparison.served_temperature,
        "max_new_tokens": settings.grpo.max_completion_tokens,
        "seed": settings.seed,
        "thoughts": THOUGHTS,
        "max_think_tokens": settings.grpo.max_think_tokens,
    }
    with tempfile.TemporaryDirectory() as scratch:
        served = ServedFiles(Path(scratch) / "data")
        shutil.copytree(merged.files.model, served.model)
        shutil.copytree(best.files.adapter, served.adapter)
        shutil.copy2(prompts.files.system_prompts, served.system_prompts)
        served.serving.write_text(json.dumps(serving), encoding="utf-8")
        pack(served.folder, LOADER, Path(scratch) / "packed", EXAMPLE)
        yield Path(scratch) / "packed"


def _lineage(
    run: Run, prompts: PromptSet, audit: AuditResult, best: SeedResult, comparison: ComparisonResult
) -> dict[str, object]:
    """The chain from data to verdict by digests, with licences and whatever was overridden."""
    licences = prompts.record.licences
    return {
        **{f"digest.{stage}": digest for stage, digest in digests(run.stages).items()},
        "digest.grpo": best.digest,
        "base": run.settings.model.name,
        "base.revision": run.settings.model.revision,
        "pipeline_run": run.tracking_run,
        "seed": best.seed,
        "licences": ", ".join(licences),
        "noncommercial": any("NC" in licence for licence in licences),
        "verdict": comparison.comparison.verdict.headline,
        **audit.report.tags,
    }


def _description(run: Run, tags: dict[str, object]) -> str:
    """What a reader of the version's page sees first: the verdict, and the way back to runs and data."""
    page = run.tracker.page(run.tracking_run)
    return (
        f"{escaped(str(tags['verdict']))}\n\nTrained from data `{str(tags['digest.data'])[:16]}`"
        f" ({escaped(str(tags['licences']))}), seed {tags['seed']}. [The pipeline run]({page}) has its data sets,"
        f" report and verdict. `tucano lineage {run.settings.promotion.model}@{CHAMPION}` checks the chain.\n"
    )
