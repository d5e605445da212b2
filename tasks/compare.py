"""Stages 5 and 6: every arm answers the held-out prompts, and statistics say whether the seeds are better."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from tasks.context import Run, cores, run_child, stage
from tasks.pages import show_text
from tasks.plan import came_first
from tasks.train import Seeds, start_of
from tucano.artifacts import Artifact, Recipe, digest, fingerprint
from tucano.evaluation.answers import read_answers
from tucano.evaluation.comparison import Comparison, compare
from tucano.evaluation.forgetting import read_readings
from tucano.evaluation.looks import record_look
from tucano.evaluation.text_health import vocabulary
from tucano.evaluation.verdict import without
from tucano.evaluation.verdict_table import render_table
from tucano.prompts import read_prompts
from tucano.storage import Place
from tucano.tracking import RegisteredModel
from tucano.tracking.models import WEIGHTS
from tucano.training.jobs import Arm, Job

CHAMPION = "champion"


@stage("answer test prompts")
def answer_prompts(run: Run, prompts: Artifact, start: Artifact | None, seeds: list[Artifact]) -> Artifact:
    """Answers of base, start, every seed and the champion to the test prompts, served and sampled, scored.

    The champion answers unless it is one of these seeds: then the run has been promoted before and there is nothing to compare.
    """
    settings = run.settings
    champion = run.tracker.champion(settings.promotion.model)
    if champion is not None and champion.tags.get("digest.grpo") in {seed.digest for seed in seeds}:
        champion = None

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        work = run.store.work_folder(recipe)
        job = Job(
            kind="answer",
            settings=settings.model_dump(mode="json"),
            prompts=str(prompts.folder),
            work=str(work),
            output=str(draft),
            seed=settings.seed,
            threads=cores(),
            arms=model_arms(run, start, seeds) + ([_champion_arm(run, champion, work)] if champion else []),
        )
        return run_child(run, job, "answers")

    parts = {
        "comparison": settings.comparison.model_dump(exclude={"primary", "alpha"}),
        "max_completion_tokens": settings.grpo.max_completion_tokens,
        "seed": settings.seed,
    }
    inputs = {"prompts": prompts.digest, "start": start.digest if start else ""}
    inputs |= {f"seed-{seed.record['seed']}": seed.digest for seed in seeds}
    inputs |= {CHAMPION: f"{champion.model} version {champion.version}"} if champion else {}
    return run.make("answers", ("tucano.training.answers",), parts, inputs, produce)


def model_arms(run: Run, start: Artifact | None, seeds: list[Artifact]) -> list[Arm]:
    """Base, SFT start and seeds."""
    base, adapter = start_of(run, start)
    built_here = start is not None and (start.folder / "base").is_dir()
    arms = [Arm("base", str(start.folder / "base") if start and built_here else run.settings.model.name)]
    if start is not None:
        arms.append(Arm("sft", base, adapter))
    return arms + [Arm(f"seed-{seed.record['seed']}", base, str(seed.folder / "adapter")) for seed in seeds]


def _champion_arm(run: Run, champion: RegisteredModel, work: Path) -> Arm:
    folder = run.tracker.fetch(champion, work / CHAMPION)
    return Arm(CHAMPION, str(folder / WEIGHTS))


@stage("compare arms")
def compare_arms(run: Run, prompts: Artifact, plan: Artifact, start: Artifact | None, seeds: Seeds, answers: Artifact) -> Artifact:
    """Verdict: the seeds against their start on the held-out prompts, by the tests that the settings fixed before training."""
    settings = run.settings
    planned = came_first(plan, seeds.trained)

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        demonstrations = read_prompts(prompts.folder / "demonstrations.jsonl")
        texts = [text for p in (*read_prompts(prompts.folder / "train.jsonl"), *demonstrations) for text in (p.user, p.demonstration or "")]
        comparison = compare(
            read_answers(answers.folder / "answers.jsonl"),
            read_prompts(prompts.folder / "test.jsonl"),
            settings.comparison,
            "sft" if start else "base",
            [seed.record["seed"] for seed in seeds.trained],
            vocabulary(texts),
            candidate(seeds.trained).record["seed"],
            read_readings(answers.folder / "language.jsonl"),
            _looks(run, prompts, answers),
            planned,
        )
        comparison = replace(comparison, verdict=without(comparison.verdict, seeds.missing))
        (draft / "comparison.json").write_text(json.dumps(comparison.to_json(), indent=1, ensure_ascii=False), encoding="utf-8")
        return {
            "improved": comparison.verdict.improved,
            "headline": comparison.verdict.headline,
            "sentences": list(comparison.verdict.sentences),
        }

    inputs = {"prompts": prompts.digest, "answers": answers.digest}
    parts = {"comparison": settings.comparison.model_dump(), "planned": planned, "missing": sorted(seeds.missing)}
    artifact = run.make("comparison", ("tucano.evaluation.comparison",), parts, inputs, produce)
    comparison = read_comparison(artifact)
    show_text("verdict", render_table(comparison), comparison.verdict.headline)
    run.tracker.log_metrics(run.tracking_run, _metrics(comparison))
    run.tracker.log_artifact(run.tracking_run, artifact.folder / "comparison.json", "comparison")
    return artifact


def _looks(run: Run, prompts: Artifact, answers: Artifact) -> int:
    """How often this test set has judged; the same answers judged by the same settings are the same look."""
    settings = run.settings.comparison.model_dump()
    look = digest({"answers": answers.digest, "comparison": settings})[:16]
    places = [Place(str(run.store.root)), *([run.store.remote] if run.store.remote else [])]
    what = {"what": "comparison", "answers": answers.digest, "pipeline_run": run.tracking_run}
    return record_look(places, str(fingerprint(prompts.folder / "test.jsonl")["sha256"]), look, what)


def read_comparison(artifact: Artifact) -> Comparison:
    return Comparison.from_json(json.loads((artifact.folder / "comparison.json").read_text(encoding="utf-8")))


def candidate(seeds: list[Artifact]) -> Artifact:
    """The seed that is best on the validation set; the test set chooses nothing."""
    return max(seeds, key=lambda seed: seed.record["best_value"])


def _metrics(comparison: Comparison) -> dict[str, float]:
    """What an analyst sorts runs by: mean reward per arm, gain and p of the primary contrast, per task as well.

    Rounded to what is read: four decimals, p to two digits.
    """
    rows = comparison.means[comparison.primary]
    metrics = {f"test/{arm}/{name}": round(value, 4) for arm, row in rows.items() for name, value in row.items()}
    effects = {"overall": comparison.main.overall, **comparison.main.tasks}
    for name, effect in effects.items():
        metrics |= {f"gain/{name}": round(effect.gain, 4), f"p/{name}": float(f"{effect.p:.2g}")}
    if comparison.main.configuration is not None:
        metrics["p/new seed"] = float(f"{comparison.main.configuration.p:.2g}")
    metrics |= {f"perplexity/over {found.reference}": round(found.after / found.before, 4) for found in comparison.language}
    return metrics | {"looks": float(comparison.looks)}
