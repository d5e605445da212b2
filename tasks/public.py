"""Benchmarks that others wrote: their questions, every arm's answers, and what these are worth."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from data.public.prepare import NEEDED, prepare_public
from tasks.compare import model_arms
from tasks.running.child import run_child
from tasks.running.elsewhere import where
from tasks.running.handles import PublicAnswers, PublicQuestions, PublicScores, SeedResult, Start
from tasks.running.pages import show_markdown
from tasks.running.run import Run, stage
from tucano.artifacts.identity import digest, digests_at
from tucano.artifacts.records import write_record
from tucano.artifacts.store import Recipe
from tucano.benchmark.public.questions import PublicFiles, read_questions, read_replies
from tucano.benchmark.public.result import PublicResult, Reading, judge_public, render_public
from tucano.requirements import cores
from tucano.settings.stages import of_greedy_answers, of_public, of_public_set
from tucano.training.jobs import MODULES
from tucano.training.orders import JobFolders, order


@stage("public questions")
def make_public_set(run: Run) -> PublicQuestions | None:
    """The questions of the benchmarks whose folders the settings name; None where they name none."""
    places = run.settings.benchmark.named
    if not places:
        return None
    chosen = of_public_set(run.settings)

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        return prepare_public(chosen.seed, places, draft)

    inputs = {name: digest(digests_at(Path(place), " ".join(NEEDED[name]))) for name, place in places.items()}
    return PublicQuestions(run.make("public-set", prepare_public, chosen, inputs, produce))


@stage("models answer public questions")
def answer_public(
    run: Run, questions: PublicQuestions, start: Start | None, seeds: Sequence[SeedResult]
) -> PublicAnswers:
    """Greedy answers of base, start and seeds; of ENEM the likeliest option."""
    chosen = of_greedy_answers(run.settings, run.settings.seed)

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        folders = JobFolders(questions.files.folder, run.store.work_folder(recipe), draft)
        arms = model_arms(run, start, seeds)
        job = order("public", run.settings, run.settings.seed, cores(), folders, arms=arms)
        return run_child(run, job, "answers to public questions")

    inputs = {"public-set": questions.digest, "start": start.digest if start else ""}
    inputs |= {seed.arm: seed.digest for seed in seeds}
    return PublicAnswers(run.make("public-answers", MODULES["public"], chosen, inputs, produce))


@stage("judge public answers")
def judge_public_answers(run: Run, questions: PublicQuestions, answers: PublicAnswers | None) -> PublicScores:
    """Each arm's metrics with intervals, and the paired tests; without answers the baselines alone."""
    chosen = of_public(run.settings)

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        result = judge_public(
            read_questions(questions.files.questions),
            read_replies(answers.files.replies) if answers else [],
            questions.files.folder,
            questions.record.licences,
            Reading(str(chosen.reference), chosen.alpha, chosen.resamples, chosen.seed),
        )
        files = PublicFiles(draft)
        write_record(files.result, result)
        files.table.write_text(render_public(result) + "\n", encoding="utf-8")
        return {"counts": result.counts}

    inputs = {"public-set": questions.digest, "public-answers": answers.digest if answers else ""}
    made = PublicScores(run.make("public", judge_public, chosen, inputs, produce))
    show_markdown("public-benchmarks", made.files.table.read_text(encoding="utf-8"))
    run.tracker.log_metrics(run.tracking_run, _metrics(made.result))
    run.tracker.log_artifact(run.tracking_run, made.files.folder, "public")
    return made


def score_publicly(run: Run, start: Start | None, seeds: Sequence[SeedResult]) -> PublicScores | None:
    """All of it, where the settings name a public benchmark; the baselines alone where nothing is trained."""
    questions = make_public_set(run)
    if questions is None:
        return None
    answers = where(run, answer_public)(run, questions, start, seeds) if seeds else None
    return judge_public_answers(run, questions, answers)


def _metrics(result: PublicResult) -> dict[str, float]:
    return {
        f"public/{name}/{arm}/{metric}": ends[0]
        for name, arms in result.metrics.items()
        for arm, found in arms.items()
        for metric, ends in found.items()
    }
