"""The benchmark's stages: its prompts, the answers of every arm, and what they are worth by ground truth."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from prefect import get_run_logger

from data.benchmark import Places, prepare_benchmark
from data.prepare import OF_FILES
from tasks.compare import model_arms
from tasks.prepare import choose_preferences
from tasks.running.child import run_child
from tasks.running.handles import (
    AnswerSet,
    ArmPaces,
    BenchmarkResult,
    EndpointAnswers,
    Handle,
    JudgeRatings,
    Preferences,
    PromptSet,
    Questions,
    SeedResult,
    Start,
)
from tasks.running.pages import show_markdown
from tasks.running.run import Run, Untrained, stage
from tasks.train import fine_tune, train_seed
from tucano.artifacts.identity import digest, digests_at, folder_digest
from tucano.artifacts.lineage import adapter_config, base_of
from tucano.artifacts.records import write_record
from tucano.artifacts.store import Recipe
from tucano.benchmark.answers import scored, write_answers, write_baselines
from tucano.benchmark.benchmark import Benchmark, Inference, benchmark, render_table
from tucano.benchmark.endpoint import Bill, ask, bill, refuse_unless_allowed
from tucano.benchmark.judge import TASK, rate
from tucano.benchmark.pace import read_paces
from tucano.benchmark.speeds import Speeds
from tucano.comparison.answers import Answer, arms_of
from tucano.comparison.looks import record_look
from tucano.errors import UserError
from tucano.files.results import BenchmarkFiles
from tucano.machine_time import machine_name
from tucano.prompts import read_prompts
from tucano.requirements import cores
from tucano.settings import EndpointSettings
from tucano.settings.stages import (
    of_baselines,
    of_benchmark,
    of_benchmark_answers,
    of_benchmark_set,
    of_endpoint,
    of_greedy_answers,
    of_judge,
)
from tucano.training.jobs import MODULES, Arm
from tucano.training.orders import JobFolders, order

REPLIES = "replies"
"""Folder of a storage with what APIs have answered."""


def finished(run: Run, prompts: PromptSet) -> tuple[Start | None, tuple[SeedResult, ...]]:
    """SFT start and seeds of these settings as far as they are there; (None, ()) where they are not."""
    reader = replace(run, makes=False)
    try:
        start = fine_tune.fn(reader, prompts) if run.settings.sft.enabled else None
        preferences = _chosen(reader, prompts)
        seeds = run.settings.grpo.seeds
        return start, tuple(train_seed.fn(reader, prompts, start, seed, preferences) for seed in seeds)
    except Untrained as missing:
        get_run_logger().warning(
            "the storage holds no %s of these settings, so no trained arm answers; `tucano run` with the same settings"
            " trains them",
            missing,
        )
        return None, ()


def _chosen(reader: Run, prompts: PromptSet) -> Preferences | None:
    """Where the file of the pairs is gone, what was learned from it cannot be named."""
    try:
        return choose_preferences.fn(reader, prompts)
    except UserError as error:
        raise Untrained(f"preferences ({error})") from None


@stage("benchmark prompts")
def make_benchmark_set(run: Run, prompts: PromptSet) -> Questions:
    """A folder like a prompt set's, with more and other prompts."""
    chosen = of_benchmark_set(run.settings)
    reviews = run.settings.benchmark
    places = Places(run.settings.data.paths, reviews.olist, reviews.b2w)

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        return prepare_benchmark(chosen, places, prompts.files.folder, draft)

    named = {"olist": reviews.olist, "b2w": reviews.b2w}
    inputs = {"prompts": prompts.digest} | {
        name: digest(digests_at(Path(place), OF_FILES[name].files)) for name, place in named.items() if place
    }
    return Questions(run.make("benchmark-set", prepare_benchmark, chosen, inputs, produce))


@stage("models answer the benchmark")
def answer_with_models(
    run: Run, questions: Questions, start: Start | None, seeds: Sequence[SeedResult]
) -> AnswerSet | None:
    """Answers of the trained arms and of the adapters that the settings name; None where there is no model."""
    settings = run.settings
    trained = model_arms(run, start, seeds) if seeds else []
    arms = trained + [_named_arm(name, Path(folder)) for name, folder in settings.benchmark.adapters.items()]
    if not arms:
        return None
    chosen = of_benchmark_answers(settings)

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        folders = JobFolders(questions.files.folder, run.store.work_folder(recipe), draft)
        job = order("answer", settings, settings.seed, cores(), folders, arms=arms)
        return run_child(run, replace(job, settings=chosen.model_dump(mode="json")), "benchmark answers")

    inputs = {"questions": questions.digest, "start": start.digest if start else ""}
    inputs |= {seed.arm: seed.digest for seed in seeds}
    inputs |= {f"adapter {name}": folder_digest(Path(place)) for name, place in settings.benchmark.adapters.items()}
    return AnswerSet(run.make("benchmark-answers", MODULES["answer"], chosen, inputs, produce))


def _named_arm(name: str, folder: Path) -> Arm:
    """A model folder, or the folder of a LoRA adapter, which names its own base."""
    if adapter_config(folder).is_file():
        return Arm(name, base_of(folder), str(folder))
    if not (folder / "config.json").is_file():
        raise UserError(
            f"benchmark.adapters: {folder} ({name}) holds neither adapter_config.json nor config.json; name a model's"
            " folder"
        )
    return Arm(name, str(folder))


@stage("trained arms are timed")
def time_models(run: Run, questions: Questions, start: Start | None, seeds: Sequence[SeedResult]) -> ArmPaces:
    """How fast each trained arm answers the benchmark's prompts, on the machine where the models are."""
    settings = run.settings
    chosen = of_greedy_answers(settings, settings.seed)

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        folders = JobFolders(questions.files.folder, run.store.work_folder(recipe), draft)
        job = order("pace", settings, settings.seed, cores(), folders, arms=model_arms(run, start, seeds))
        made = run_child(run, job, "speed of the arms")
        return {**made, "machine": machine_name(settings.cost.machine), "cores": cores()}

    inputs = {"questions": questions.digest, "start": start.digest if start else ""}
    inputs |= {seed.arm: seed.digest for seed in seeds}
    return ArmPaces(run.make("benchmark-pace", MODULES["pace"], chosen, inputs, produce))


@stage("baselines answer the benchmark")
def answer_with_baselines(run: Run, prompts: PromptSet, questions: Questions) -> AnswerSet:
    """Constant, majority and rules: each gives one and the same answer in both decodings."""

    chosen = of_baselines(run.settings)

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        return {"arms": write_baselines(chosen, prompts.files, questions.files, draft)}

    inputs = {"questions": questions.digest, "prompts": prompts.digest}
    return AnswerSet(run.make("benchmark-baselines", write_baselines, chosen, inputs, produce))


@stage("endpoint answers the benchmark")
def answer_with_endpoint(run: Run, questions: Questions, endpoint: EndpointSettings) -> EndpointAnswers:
    """Answers of one API: served once, sampled as often as local arms. Each is kept as it comes and paid for once."""
    settings = run.settings
    chosen = of_endpoint(run.settings, endpoint)
    samples = chosen.comparison.samples

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        asked = read_prompts(questions.files.test)
        leaving = refuse_unless_allowed([endpoint], asked, 1 + samples, settings.benchmark.allow_external)
        if leaving:
            get_run_logger().warning(leaving)
        systems = questions.files.systems()
        most = chosen.max_completion_tokens
        kept = run.store.root / REPLIES
        served = ask(endpoint, asked, systems, chosen.comparison.served_temperature, most, chosen.seed, kept)
        repeated = [prompt for prompt in asked for _ in range(samples)]
        sampled = ask(endpoint, repeated, systems, 1.0, most, chosen.seed + len(asked), kept)
        write_answers(
            draft, scored(chosen.comparison.rewards, endpoint.name, asked, served, sampled, questions.files.folder)
        )
        return {"bill": asdict(bill(endpoint, [*served, *sampled]))}

    stage_name = f"benchmark-endpoint-{endpoint.name}"
    return EndpointAnswers(run.make(stage_name, scored, chosen, {"questions": questions.digest}, produce))


@stage("a model rates the insights")
def rate_insights(run: Run, questions: Questions, answered: Sequence[AnswerSet]) -> JudgeRatings | None:
    """Ratings of every arm's served insights by the judge that the settings name; None without one."""
    settings = run.settings.benchmark
    judge = next((endpoint for endpoint in settings.endpoints if endpoint.name == settings.judge), None)
    if judge is None:
        return None
    chosen = of_judge(run.settings, judge)

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        asked = read_prompts(questions.files.test)
        answers = _answers(answered)
        insights = [prompt for prompt in asked if prompt.task == TASK]
        leaving = refuse_unless_allowed(
            [judge], insights, len(arms_of(answers)), settings.allow_external, with_answers=True
        )
        if leaving:
            get_run_logger().warning(leaving)
        ratings, cost = rate(judge, asked, answers, chosen.seed, run.store.root / REPLIES)
        return {"ratings": ratings, "bill": asdict(cost)}

    inputs = {"questions": questions.digest} | _digests(answered)
    return JudgeRatings(run.make("benchmark-judge", rate, chosen, inputs, produce))


def _answers(answered: Sequence[AnswerSet]) -> list[Answer]:
    return [answer for given in answered for answer in given.read()]


def _digests(made: Sequence[Handle]) -> dict[str, str]:
    return {one.artifact.stage: one.digest for one in made}


@stage("judge the benchmark")
def judge_benchmark(
    run: Run, questions: Questions, answered: Sequence[AnswerSet], rated: JudgeRatings | None, paces: ArmPaces | None
) -> BenchmarkResult:
    """The benchmark's numbers and their table; every new set of answers is a look at the benchmark's prompts."""
    trained = paces is not None
    chosen = of_benchmark(run.settings, trained)

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        judged = benchmark(
            _answers(answered),
            read_prompts(questions.files.test),
            questions.files.folder,
            chosen.reference,
            Inference(chosen.alpha, chosen.resamples, chosen.seed),
            _look(run, questions, answered) if trained else 1,
        )
        result = replace(
            judged,
            bills=_bills(answered, rated),
            judged=rated.record.ratings if rated else {},
            speeds=_speeds(paces, chosen.usd_per_hour),
        )
        files = BenchmarkFiles(draft)
        write_record(files.result, result)
        files.table.write_text(render_table(result) + "\n", encoding="utf-8")
        return {"hacking_suspected": result.hacking_suspected}

    inputs = {"questions": questions.digest} | _digests([*answered, *(made for made in (rated, paces) if made)])
    made = BenchmarkResult(run.make("benchmark", benchmark, chosen, inputs, produce))
    show_markdown("benchmark", made.files.table.read_text(encoding="utf-8"))
    run.tracker.set_tags(run.tracking_run, {"kind": "benchmark"})
    run.tracker.log_metrics(run.tracking_run, _metrics(made.result))
    run.tracker.log_artifact(run.tracking_run, made.files.folder, "benchmark")
    return made


def _bills(answered: Sequence[AnswerSet], rated: JudgeRatings | None) -> dict[str, Bill]:
    paid = [given for given in answered if isinstance(given, EndpointAnswers)]
    bills = {given.artifact.stage.removeprefix("benchmark-endpoint-"): given.record.bill for given in paid}
    return bills | ({"the judge": rated.record.bill} if rated else {})


def _speeds(paces: ArmPaces | None, usd_per_hour: Mapping[str, float]) -> Speeds | None:
    if paces is None:
        return None
    machine = paces.record.machine
    return Speeds(machine, paces.record.cores, usd_per_hour.get(machine), read_paces(paces.files.paces))


def _look(run: Run, questions: Questions, answered: Sequence[AnswerSet]) -> int:
    looked = sorted(given.digest for given in answered if given.artifact.stage == "benchmark-answers")
    return record_look(run.store.root, run.store.remote, questions.files.test, looked, {"what": "benchmark"})


def _metrics(result: Benchmark) -> dict[str, float]:
    metrics = {
        f"benchmark/{arm}/{name}": ends[0]
        for arm, found in result.metrics.items()
        for name, ends in found["all"].items()
    }
    metrics |= {f"benchmark/{arm}/{name}": value for arm, row in result.means.items() for name, value in row.items()}
    return metrics | {f"benchmark/{arm}/dollars": found.dollars for arm, found in result.bills.items()}
