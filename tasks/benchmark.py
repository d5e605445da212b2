"""The benchmark's stages: its prompts, the answers of every arm, and what they are worth by ground truth."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from prefect import get_run_logger
from prefect.artifacts import create_markdown_artifact

from data.benchmark import Places, prepare_benchmark
from tasks.compare import model_arms
from tasks.context import Run, cores, run_child, stage
from tasks.train import fine_tune, train_seed
from tucano.artifacts import Artifact, Recipe, Store
from tucano.errors import TucanoError, UserError
from tucano.evaluation.answers import Answer, arms_of, read_answers
from tucano.evaluation.benchmark import Benchmark, benchmark, render_table
from tucano.evaluation.benchmark_answers import scored, write_answers, write_baselines
from tucano.evaluation.endpoint import Bill, ask, bill, refuse_unless_allowed
from tucano.evaluation.judge import TASK, rate
from tucano.evaluation.looks import record_look
from tucano.identity import digest, fingerprint, folder_digest
from tucano.prompts import read_prompts
from tucano.settings import EndpointSettings
from tucano.settings.stages import (
    of_baselines,
    of_benchmark,
    of_benchmark_answers,
    of_benchmark_set,
    of_endpoint,
    of_judge,
)
from tucano.storage import Place
from tucano.training.jobs import MODULES, Arm
from tucano.training.orders import order


class Untrained(TucanoError):
    """A stage of these settings has no valid artifact, and the benchmark trains nothing."""


class FinishedOnly(Store):
    """A store that makes nothing."""

    def make(self, recipe: Recipe, produce: Callable[[Path], Mapping[str, Any]], say: Callable[[str], None]) -> Artifact:
        def refuse(draft: Path) -> Mapping[str, Any]:
            draft.rmdir()
            raise Untrained(recipe.stage)

        return super().make(recipe, refuse, lambda sentence: None)


def finished(run: Run, prompts: Artifact) -> tuple[Artifact | None, list[Artifact]]:
    """SFT start and seeds of these settings as far as they are there; (None, []) where they are not."""
    reader = replace(run, store=FinishedOnly(run.store.root, run.store.remote))
    try:
        start = fine_tune.fn(reader, prompts) if run.settings.sft.enabled else None
        return start, [train_seed.fn(reader, prompts, start, seed) for seed in run.settings.grpo.seeds]
    except Untrained as missing:
        get_run_logger().warning(
            "the storage holds no %s of these settings, so no trained arm answers; `tucano run` with the same settings trains them", missing
        )
        return None, []


@stage("benchmark prompts")
def make_benchmark_set(run: Run, prompts: Artifact) -> Artifact:
    """A folder like a prompt set's, with more and other prompts."""
    chosen, reviews = of_benchmark_set(run.settings), run.settings.benchmark
    places = Places(run.settings.data.path, reviews.olist, reviews.b2w)

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        return prepare_benchmark(chosen, places, prompts.folder, draft)

    named = {"olist": reviews.olist, "b2w": reviews.b2w}
    inputs = {"prompts": prompts.digest} | {name: _digest_of(place) for name, place in named.items() if place}
    return run.make("benchmark-set", prepare_benchmark, chosen, inputs, produce)


def _digest_of(place: str) -> str:
    path = Path(place)
    files = sorted(path.glob("*.csv")) if path.is_dir() else [path] if path.is_file() else []
    return digest({file.name: fingerprint(file)["sha256"] for file in files})


@stage("models answer the benchmark")
def answer_with_models(run: Run, questions: Artifact, start: Artifact | None, seeds: list[Artifact]) -> Artifact | None:
    """Answers of the trained arms and of the adapters that the settings name; None where there is no model."""
    settings = run.settings
    trained = model_arms(run, start, seeds) if seeds else []
    arms = trained + [_named_arm(name, Path(folder)) for name, folder in settings.benchmark.adapters.items()]
    if not arms:
        return None
    chosen = of_benchmark_answers(settings)

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        work = run.store.work_folder(recipe)
        job = order("answer", settings, settings.seed, cores(), prompts=questions.folder, work=work, output=draft, arms=arms)
        return run_child(run, replace(job, settings=chosen.model_dump(mode="json")), "benchmark answers")

    inputs = {"questions": questions.digest, "start": start.digest if start else ""}
    inputs |= {f"seed-{seed.record['seed']}": seed.digest for seed in seeds}
    inputs |= {f"adapter {name}": folder_digest(Path(place)) for name, place in settings.benchmark.adapters.items()}
    return run.make("benchmark-answers", MODULES["answer"], chosen, inputs, produce)


def _named_arm(name: str, folder: Path) -> Arm:
    """A model folder, or the folder of a LoRA adapter, which names its own base."""
    if (folder / "adapter_config.json").is_file():
        base = json.loads((folder / "adapter_config.json").read_text(encoding="utf-8"))["base_model_name_or_path"]
        return Arm(name, base, str(folder))
    if not (folder / "config.json").is_file():
        raise UserError(f"benchmark.adapters: {folder} ({name}) holds neither adapter_config.json nor config.json; name a model's folder")
    return Arm(name, str(folder))


@stage("baselines answer the benchmark")
def answer_with_baselines(run: Run, prompts: Artifact, questions: Artifact) -> Artifact:
    """Constant, majority and rules: each gives one and the same answer in both decodings."""

    chosen = of_baselines(run.settings)

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        return {"arms": write_baselines(chosen, prompts.folder, questions.folder, draft)}

    inputs = {"questions": questions.digest, "prompts": prompts.digest}
    return run.make("benchmark-baselines", write_baselines, chosen, inputs, produce)


@stage("endpoint answers the benchmark")
def answer_with_endpoint(run: Run, questions: Artifact, endpoint: EndpointSettings) -> Artifact:
    """Answers of one API: served once, sampled as often as local arms. Paid for once; a later run reuses them."""
    settings, chosen = run.settings, of_endpoint(run.settings, endpoint)
    samples = chosen.comparison.samples

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        asked = read_prompts(questions.folder / "test.jsonl")
        leaving = refuse_unless_allowed([endpoint], asked, 1 + samples, settings.benchmark.allow_external)
        if leaving:
            get_run_logger().warning(leaving)
        systems = json.loads((questions.folder / "system_prompts.json").read_text(encoding="utf-8"))
        most = chosen.max_completion_tokens
        served = ask(endpoint, asked, systems, chosen.comparison.served_temperature, most, chosen.seed)
        repeated = [prompt for prompt in asked for _ in range(samples)]
        sampled = ask(endpoint, repeated, systems, 1.0, most, chosen.seed + len(asked))
        write_answers(draft, scored(chosen.comparison.rewards, endpoint.name, asked, served, sampled, questions.folder))
        return {"bill": asdict(bill(endpoint, [*served, *sampled]))}

    return run.make(f"benchmark-endpoint-{endpoint.name}", scored, chosen, {"questions": questions.digest}, produce)


@stage("a model rates the insights")
def rate_insights(run: Run, questions: Artifact, answered: list[Artifact]) -> Artifact | None:
    """Ratings of every arm's served insights by the judge that the settings name; None without one."""
    settings = run.settings.benchmark
    judge = next((endpoint for endpoint in settings.endpoints if endpoint.name == settings.judge), None)
    if judge is None:
        return None
    chosen = of_judge(run.settings, judge)

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        asked = read_prompts(questions.folder / "test.jsonl")
        answers = _answers(answered)
        insights = [prompt for prompt in asked if prompt.task == TASK]
        leaving = refuse_unless_allowed([judge], insights, len(arms_of(answers)), settings.allow_external, with_answers=True)
        if leaving:
            get_run_logger().warning(leaving)
        ratings, cost = rate(judge, asked, answers, chosen.seed)
        return {"ratings": ratings, "bill": asdict(cost)}

    inputs = {"questions": questions.digest} | {artifact.stage: artifact.digest for artifact in answered}
    return run.make("benchmark-judge", rate, chosen, inputs, produce)


def _answers(answered: Sequence[Artifact]) -> list[Answer]:
    return [answer for artifact in answered for answer in read_answers(artifact.folder / "answers.jsonl")]


@stage("judge the benchmark")
def judge_benchmark(run: Run, questions: Artifact, answered: list[Artifact], rated: Artifact | None, trained: bool) -> Artifact:
    """benchmark.json and its table; every new set of answers is a look at the benchmark's prompts."""
    chosen = of_benchmark(run.settings, trained)

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        result = benchmark(
            _answers(answered),
            read_prompts(questions.folder / "test.jsonl"),
            questions.folder,
            chosen.reference,
            _bills(answered, rated),
            rated.record["ratings"] if rated else {},
            chosen.alpha,
            chosen.resamples,
            chosen.seed,
            _look(run, questions, answered) if trained else 1,
        )
        (draft / "benchmark.json").write_text(json.dumps(result.to_json(), indent=1, ensure_ascii=False), encoding="utf-8")
        (draft / "benchmark.md").write_text(render_table(result) + "\n", encoding="utf-8")
        return {"hacking_suspected": result.hacking_suspected}

    inputs = {"questions": questions.digest} | {artifact.stage: artifact.digest for artifact in [*answered, *([rated] if rated else [])]}
    artifact = run.make("benchmark", benchmark, chosen, inputs, produce)
    create_markdown_artifact(key="benchmark", markdown=(artifact.folder / "benchmark.md").read_text(encoding="utf-8"))
    run.tracker.set_tags(run.tracking_run, {"kind": "benchmark"})
    run.tracker.log_metrics(run.tracking_run, _metrics(read_benchmark(artifact)))
    run.tracker.log_artifacts(run.tracking_run, artifact.folder, "benchmark")
    return artifact


def _bills(answered: Sequence[Artifact], rated: Artifact | None) -> dict[str, Bill]:
    prefix = "benchmark-endpoint-"
    paid = {artifact.stage.removeprefix(prefix): artifact for artifact in answered if artifact.stage.startswith(prefix)}
    bills = {name: Bill(**artifact.record["bill"]) for name, artifact in paid.items()}
    return bills | ({"the judge": Bill(**rated.record["bill"])} if rated else {})


def _look(run: Run, questions: Artifact, answered: list[Artifact]) -> int:
    places = [Place(str(run.store.root)), *([run.store.remote] if run.store.remote else [])]
    look = digest(sorted(artifact.digest for artifact in answered if artifact.stage == "benchmark-answers"))[:16]
    return record_look(places, str(fingerprint(questions.folder / "test.jsonl")["sha256"]), look, {"what": "benchmark"})


def read_benchmark(artifact: Artifact) -> Benchmark:
    return Benchmark.from_json(json.loads((artifact.folder / "benchmark.json").read_text(encoding="utf-8")))


def _metrics(result: Benchmark) -> dict[str, float]:
    metrics = {f"benchmark/{arm}/{name}": ends[0] for arm, found in result.metrics.items() for name, ends in found["all"].items()}
    metrics |= {f"benchmark/{arm}/{name}": value for arm, row in result.means.items() for name, value in row.items()}
    return metrics | {f"benchmark/{arm}/dollars": found.dollars for arm, found in result.bills.items()}
