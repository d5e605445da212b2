"""Stages 5 and 6: every arm answers the held-out prompts, and statistics say whether the seeds are better."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from prefect import get_run_logger
from prefect.futures import PrefectFuture

from tasks.plan import came_first
from tasks.running.child import run_child
from tasks.running.handles import AnswerSet, ComparisonResult, Plan, PromptSet, PublicScores, SeedResult, Seeds, Start
from tasks.running.pages import show_markdown
from tasks.running.run import Run, stage
from tasks.train import start_of
from tucano.artifacts.identity import fingerprint
from tucano.artifacts.lineage import BESIDE, STARTS_STAGE
from tucano.artifacts.records import write_record
from tucano.artifacts.store import Artifact, Recipe
from tucano.comparison.claims import after_holm
from tucano.comparison.compare import TOGETHER, Comparison, Design, compare
from tucano.comparison.forgetting import read_readings
from tucano.comparison.looks import record_look
from tucano.comparison.promotion import CHAMPION
from tucano.comparison.table import render_markdown
from tucano.comparison.text_health import known_words
from tucano.comparison.verdict import judged_apart, told, without
from tucano.errors import UserError
from tucano.files.models import ServedFiles, WorkFiles
from tucano.files.results import ComparisonFiles
from tucano.machine_time import Clock
from tucano.prompts import read_prompts
from tucano.rating.choices import CHOSEN, preference
from tucano.rating.pairs import PAIRS, key_of
from tucano.requirements import cores
from tucano.security.printable import short
from tucano.settings import PipelineSettings
from tucano.settings.stages import of_answers, of_comparison
from tucano.statistics.preference import Preference
from tucano.tracking.models import WEIGHTS
from tucano.training.jobs import MODULES, Arm, Job, version_arm
from tucano.training.orders import JobFolders, order

TIMES = "times"
"""Among the inputs of what the starts answered alone: how often, beside what the settings say."""


@stage("answer test prompts")
def answer_prompts(run: Run, prompts: PromptSet, start: Start | None, seeds: Seeds) -> AnswerSet:
    """Answers of base, start, every seed and the champion to the test prompts, served and sampled, scored.

    The champion answers unless it is one of these seeds: then the run has been promoted before and there is nothing to
    compare.
    """
    settings = run.settings
    champion = run.tracker.champion(settings.promotion.model)
    if champion is not None and champion.tags.get("digest.grpo") in {seed.digest for seed in seeds.trained}:
        champion = None

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        arms = _start_arms(run, start, len(seeds.trained)) + _seed_arms(run, start, seeds.trained)
        if champion:
            folder = run.tracker.fetch(champion, run.store.work_folder(recipe) / CHAMPION)
            arms.append(version_arm(CHAMPION, ServedFiles((folder / WEIGHTS).parent)))
        return run_child(run, _job(run, prompts, start, recipe, draft, arms), "answers")

    inputs = _inputs(prompts, start) | seeds.inputs
    inputs |= {CHAMPION: str(champion)} if champion else {}
    chosen = of_answers(settings, settings.seed)
    return AnswerSet(run.make("answers", MODULES["answer"], chosen, inputs, produce))


@stage("answer with starts")
def answer_starts(run: Run, prompts: PromptSet, start: Start | None) -> AnswerSet:
    """What base and SFT start answer, while the seeds are trained: `answer_prompts` takes their lines from here."""
    times = len(run.settings.grpo.seeds)
    return _beside(run, prompts, start, STARTS_STAGE, _start_arms(run, start, times), {TIMES: str(times)})


@stage("answer with a seed", task_run_name="answer with {seed.arm}")
def answer_seed(run: Run, prompts: PromptSet, start: Start | None, seed: SeedResult) -> AnswerSet:
    """What one seed answers, while others are trained; so that no core waits for the last one."""
    return _beside(run, prompts, start, BESIDE + seed.arm, _seed_arms(run, start, [seed]), {seed.arm: seed.digest})


def _beside(
    run: Run, prompts: PromptSet, start: Start | None, name: str, arms: list[Arm], more: dict[str, str]
) -> AnswerSet:
    """What some arms answer in the place of a seed. Nothing is lost where they do not: they are asked again."""

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        job = replace(_job(run, prompts, start, recipe, draft, arms), threads=run.settings.worker.threads)
        work = WorkFiles(Path(job.work))
        with Clock(work.folder, None, run.settings.cost.machine) as clock:
            made = run_child(run, job, name)
            return {**made, "machine_time": clock.spent(work.journal)}

    with run.seed_slots:  # what is waited for is no time of this stage
        chosen = of_answers(run.settings, run.settings.seed)
        return AnswerSet(run.make(name, MODULES["answer"], chosen, _inputs(prompts, start) | more, produce))


def wait_for(beside: Sequence[PrefectFuture[Any]]) -> None:
    """What went beside the training: who did not answer, or was not shown, is asked and shown again with all others."""
    for future in beside:
        future.wait()
        if future.state.is_failed() or future.state.is_crashed():
            get_run_logger().warning("%s; it is done again", short(str(future.state.message)))


def _job(run: Run, prompts: PromptSet, start: Start | None, recipe: Recipe, draft: Path, arms: list[Arm]) -> Job:
    """Arms answer, but for those that have done so before."""
    before = {arm.name: found.folder for arm in arms if (found := _answered(run, recipe, arm)) is not None}
    work = run.store.work_folder(recipe)
    folders = JobFolders(prompts=prompts.files.folder, work=work, output=draft, answered=before)
    reference = _start_arms(run, start, 1)[-1]
    job = order("answer", run.settings, run.settings.seed, cores(), folders, arms=arms)
    return replace(job, reference=reference)


def _answered(run: Run, recipe: Recipe, arm: Arm) -> Artifact | None:
    """Where an arm has answered the same, beside others that trained or among all of another run."""
    if arm.name == CHAMPION:
        return None
    of_seed = arm.name.startswith("seed-")
    shared = partial(_of_seed, arm.name) if of_seed else _of_starts
    beside = BESIDE + arm.name if of_seed else STARTS_STAGE
    return run.store.alike(recipe, shared, beside) or run.store.alike(recipe, shared, "answers")


def _inputs(prompts: PromptSet, start: Start | None) -> dict[str, str]:
    return {"prompts": prompts.digest, "start": start.digest if start else ""}


def _of_starts(inputs: Mapping[str, str]) -> tuple[str, str, int]:
    """What the answers of base and SFT start follow from, beside settings: a start answers as often as all seeds."""
    times = inputs.get(TIMES) or sum(name.startswith("seed-") for name in inputs)
    return inputs["prompts"], inputs["start"], int(times)


def _of_seed(arm: str, inputs: Mapping[str, str]) -> tuple[str, str, str | None]:
    return inputs["prompts"], inputs["start"], inputs.get(arm)


def model_arms(run: Run, start: Start | None, seeds: Sequence[SeedResult]) -> list[Arm]:
    """Base, SFT start and seeds, each answering once."""
    return _start_arms(run, start, 1) + _seed_arms(run, start, seeds)


def _start_arms(run: Run, start: Start | None, times: int) -> list[Arm]:
    """Base and SFT start. In a comparison they answer as often as all seeds together: with fewer answers their means
    would be more skewed than those of the seeds, and the two would differ where nothing has changed. Random weights
    answer once: nothing is like them, and they never come to an end.
    """
    base, adapter = start_of(run, start)
    if start is None:
        return [Arm("base", run.settings.model.place, times=times)]
    random = start.files.built_here
    name = str(start.files.base) if random else run.settings.model.place
    return [Arm("base", name, times=1 if random else times), Arm("sft", base, adapter, times=times)]


def _seed_arms(run: Run, start: Start | None, seeds: Sequence[SeedResult]) -> list[Arm]:
    base, _ = start_of(run, start)
    return [Arm(seed.arm, base, str(seed.files.adapter)) for seed in seeds]


@stage("compare arms")
def compare_arms(
    run: Run,
    prompts: PromptSet,
    plan: Plan,
    start: Start | None,
    seeds: Seeds,
    answers: AnswerSet,
    public: PublicScores | None,
) -> ComparisonResult:
    """The verdict: the seeds against their start on the held-out prompts, by the tests that the settings fixed before
    training; beside it what public benchmarks say.
    """
    unmoved = [seed.seed for seed in seeds.trained if seed.record.unmoved]
    chosen = of_comparison(run.settings, came_first(plan, seeds.trained), seeds.missing, unmoved)

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        comparison = compare(
            answers.read(),
            read_prompts(prompts.files.test),
            chosen.comparison,
            Design(
                reference="sft" if start else "base",
                seeds=[seed.seed for seed in seeds.trained],
                shown_seed=seeds.best.seed,
                looks=_looks(run, prompts, answers),
                planned=chosen.planned,
                unmoved=chosen.unmoved,
                untrained_base=chosen.untrained_base,
                public=tuple(one for one in public.result.contrasts if one.arm == TOGETHER) if public else (),
            ),
            known_words(prompts.files),
            read_readings(answers.files.language),
        )
        verdict = without(comparison.verdict, dict(chosen.missing))
        comparison = replace(comparison, verdict=judged_apart(verdict, prompts.files))
        comparison = told(comparison, _preference(run.settings, seeds))
        write_record(ComparisonFiles(draft).comparison, comparison)
        return {
            "improved": comparison.verdict.improved,
            "headline": comparison.verdict.headline,
            "sentences": list(comparison.verdict.sentences),
        }

    inputs = {"prompts": prompts.digest, "answers": answers.digest} | ({"public": public.digest} if public else {})
    inputs |= _people_files(run.settings)
    made = ComparisonResult(run.make("comparison", compare, chosen, inputs, produce))
    comparison = made.comparison
    show_markdown("verdict", render_markdown(comparison), comparison.verdict.headline)
    run.tracker.log_metrics(run.tracking_run, _metrics(comparison))
    run.tracker.log_artifact(run.tracking_run, made.files.comparison, "comparison")
    return made


def _people_files(settings: PipelineSettings) -> dict[str, str]:
    """{file of the blind A/B: its digest}"""
    folder = Path(settings.promotion.people) if settings.promotion.people else None
    files = [folder / PAIRS, folder / CHOSEN, key_of(folder)] if folder else []
    return {f"people/{file.name}": str(fingerprint(file)["sha256"]) for file in files if file.is_file()}


def _preference(settings: PipelineSettings, seeds: Seeds) -> Preference | None:
    """What people preferred. UserError where they were not asked about a seed of this run."""
    if settings.promotion.people is None:
        return None
    found = preference(Path(settings.promotion.people))
    if found.made_of.get(found.side) not in {seed.digest for seed in seeds.trained}:
        raise UserError(
            f"promotion.people={settings.promotion.people} is an A/B of {short(found.side)}, which is no seed of this"
            " run; name the A/B of its answers, or leave the setting empty"
        )
    return found


def _looks(run: Run, prompts: PromptSet, answers: AnswerSet) -> int:
    """How often this test set has judged; the same answers judged by the same settings are the same look."""
    settings = run.settings.comparison.model_dump()
    looked = {"answers": answers.digest, "comparison": settings}
    what = {"what": "comparison", "answers": answers.digest, "pipeline_run": run.tracking_run}
    return record_look(run.store.root, run.store.remote, prompts.files.test, looked, what)


def _metrics(comparison: Comparison) -> dict[str, float]:
    """What an analyst sorts runs by: mean reward per arm, gain, interval and p of the primary contrast; per task the p
    that the verdict goes by, after Holm; the same gain by truth and as served.

    Rounded to what is read: four decimals, p to two digits.
    """
    rows = comparison.means[comparison.primary]
    metrics = {f"test/{arm}/{name}": round(value, 4) for arm, row in rows.items() for name, value in row.items()}
    effects = {"overall": comparison.main.overall, **comparison.main.tasks}
    metrics |= {f"gain/{name}": round(effect.gain, 4) for name, effect in effects.items()}
    tasks = comparison.main.tasks.items()
    metrics |= {f"holm/{name}": _two_digits(after_holm(effect.p_holm)) for name, effect in tasks}
    metrics["p/overall"] = _two_digits(comparison.main.overall.p)
    metrics["gain/typical"] = round(comparison.main.overall.estimate, 4)
    metrics["interval/low"] = round(comparison.main.overall.low, 4)
    metrics["interval/high"] = round(comparison.main.overall.high, 4)
    truth = comparison.find(TOGETHER, comparison.reference, comparison.primary, "truth")
    served = comparison.find(TOGETHER, comparison.reference, "served", "reward")
    beside = {"truth/gain": truth, "served/gain": served}
    metrics |= {name: round(found.overall.gain, 4) for name, found in beside.items() if found is not None}
    if comparison.main.configuration is not None:
        metrics["p/mean over seeds"] = _two_digits(comparison.main.configuration.p)
    metrics |= {
        f"perplexity/over {found.reference}": round(found.after / found.before, 4) for found in comparison.language
    }
    return metrics | {"looks": float(comparison.looks)}


def _two_digits(p: float) -> float:
    return float(f"{p:.2g}")
