"""The benchmark's stages: its prompts, the answers of every arm, and what they are worth by ground truth."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from prefect import get_run_logger
from prefect.artifacts import create_markdown_artifact

from data.benchmark import prepare_benchmark
from rewards import load_reward_set, truth
from tasks.compare import model_arms
from tasks.context import Run, cores, run_child, stage
from tasks.train import fine_tune, train_seed
from tucano.artifacts import Artifact, Recipe, Store, digest, fingerprint
from tucano.errors import TucanoError, UserError
from tucano.evaluation.answers import Answer, Decoding, arms_of, read_answers
from tucano.evaluation.baselines import baselines
from tucano.evaluation.benchmark import Benchmark, benchmark, render_table
from tucano.evaluation.endpoint import Bill, Reply, ask, bill, refuse_unless_allowed
from tucano.evaluation.judge import TASK, rate
from tucano.evaluation.looks import record_look
from tucano.lineage import base_of
from tucano.prompts import Prompt, read_prompts
from tucano.settings import EndpointSettings
from tucano.storage import Place
from tucano.training.jobs import Arm, Job


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
    settings = run.settings
    chosen = settings.benchmark.model_dump(include={"prompts", "olist", "b2w", "reviews"})

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        return prepare_benchmark(settings.benchmark, settings.data, settings.tasks, settings.seed, prompts.folder, draft)

    parts = {"benchmark": chosen, "data": settings.data.model_dump(), "seed": settings.seed}
    inputs = {"prompts": prompts.digest} | {place: _digest_of(place) for place in (chosen["olist"], chosen["b2w"]) if place}
    return run.make("benchmark-set", ("data.benchmark",), parts, inputs, produce)


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
    answering = settings.model_copy(update={"comparison": settings.comparison.model_copy(update={"samples": settings.benchmark.samples})})

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        job = Job(
            kind="answer",
            settings=answering.model_dump(mode="json"),
            prompts=str(questions.folder),
            work=str(run.store.work_folder(recipe)),
            output=str(draft),
            seed=settings.seed,
            threads=cores(),
            arms=arms,
        )
        return run_child(run, job, "benchmark answers")

    parts = {**_answering(run), "adapters": {name: _weights_of(Path(place)) for name, place in settings.benchmark.adapters.items()}}
    inputs = {"questions": questions.digest, "start": start.digest if start else ""}
    inputs |= {f"seed-{seed.record['seed']}": seed.digest for seed in seeds}
    return run.make("benchmark-answers", ("tucano.training.answers",), parts, inputs, produce)


def _named_arm(name: str, folder: Path) -> Arm:
    """A model folder, or the folder of a LoRA adapter, which names its own base."""
    if (folder / "adapter_config.json").is_file():
        return Arm(name, base_of(folder), str(folder))
    if not (folder / "config.json").is_file():
        raise UserError(f"benchmark.adapters: {folder} ({name}) holds neither adapter_config.json nor config.json; name a model's folder")
    return Arm(name, str(folder))


def _weights_of(folder: Path) -> str:
    return digest({file.name: fingerprint(file)["sha256"] for file in sorted(folder.glob("*.safetensors"))})


def _answering(run: Run) -> dict[str, Any]:
    settings = run.settings
    return {
        "rewards": settings.comparison.rewards,
        "served_temperature": settings.comparison.served_temperature,
        "samples": settings.benchmark.samples,
        "max_completion_tokens": settings.grpo.max_completion_tokens,
        "seed": settings.seed,
    }


@stage("baselines answer the benchmark")
def answer_with_baselines(run: Run, prompts: Artifact, questions: Artifact) -> Artifact:
    """Constant, majority and rules: each gives one and the same answer in both decodings."""

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        asked = read_prompts(questions.folder / "test.jsonl")
        found = baselines(read_prompts(prompts.folder / "train.jsonl"))
        replies = {
            name: [Reply(answer(prompt), 0, 0, 0.0, truncated=False, failed=False) for prompt in asked] for name, answer in found.items()
        }
        _write(draft, [row for name, texts in replies.items() for row in _rows(run, name, asked, texts, texts, questions.folder)])
        return {"arms": list(found)}

    inputs = {"questions": questions.digest, "prompts": prompts.digest}
    modules = ("tucano.evaluation.baselines", "rewards")
    return run.make("benchmark-baselines", modules, {"rewards": run.settings.comparison.rewards}, inputs, produce)


@stage("endpoint answers the benchmark")
def answer_with_endpoint(run: Run, questions: Artifact, endpoint: EndpointSettings) -> Artifact:
    """Answers of one API: served once, sampled as often as local arms. Paid for once; a later run reuses them."""
    settings = run.settings
    samples = settings.benchmark.samples

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        asked = read_prompts(questions.folder / "test.jsonl")
        leaving = refuse_unless_allowed([endpoint], asked, 1 + samples, settings.benchmark.allow_external)
        if leaving:
            get_run_logger().warning(leaving)
        systems = json.loads((questions.folder / "system_prompts.json").read_text(encoding="utf-8"))
        most = settings.grpo.max_completion_tokens
        served = ask(endpoint, asked, systems, settings.comparison.served_temperature, most, settings.seed)
        repeated = [prompt for prompt in asked for _ in range(samples)]
        sampled = ask(endpoint, repeated, systems, 1.0, most, settings.seed + len(asked))
        _write(draft, _rows(run, endpoint.name, asked, served, sampled, questions.folder))
        return {"bill": asdict(bill(endpoint, [*served, *sampled]))}

    parts = {**_answering(run), "endpoint": endpoint.model_dump(include={"name", "url", "model"})}
    return run.make(f"benchmark-endpoint-{endpoint.name}", ("tucano.evaluation.endpoint",), parts, {"questions": questions.digest}, produce)


def _rows(
    run: Run, arm: str, prompts: Sequence[Prompt], served: Sequence[Reply], sampled: Sequence[Reply], databases: Path
) -> list[Answer]:
    """Scored answers; `sampled` holds those of one prompt side by side."""
    rewards = load_reward_set(run.settings.comparison.rewards, databases)
    given: tuple[tuple[Decoding, Sequence[Reply]], ...] = (("served", served), ("sampled", sampled))
    rows = []
    for decoding, replies in given:
        samples = len(replies) // len(prompts)
        for place, reply in enumerate(replies):
            prompt = prompts[place // samples]
            score = rewards.score(prompt, reply.text)
            rows.append(
                Answer(
                    arm,
                    prompt.id,
                    prompt.task,
                    decoding,
                    place % samples,
                    reply.text,
                    score.total,
                    score.components,
                    truth(prompt, reply.text, databases),
                    loss=0.0,
                    tokens=reply.tokens_out,
                    truncated=reply.truncated,
                )
            )
    return rows


def _write(folder: Path, answers: Sequence[Answer]) -> None:
    lines = (json.dumps(asdict(answer), ensure_ascii=False) + "\n" for answer in answers)
    (folder / "answers.jsonl").write_text("".join(lines), encoding="utf-8")


@stage("a model rates the insights")
def rate_insights(run: Run, questions: Artifact, answered: list[Artifact]) -> Artifact | None:
    """Ratings of every arm's served insights by the judge that the settings name; None without one."""
    settings = run.settings.benchmark
    judge = next((endpoint for endpoint in settings.endpoints if endpoint.name == settings.judge), None)
    if judge is None:
        return None

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        asked = read_prompts(questions.folder / "test.jsonl")
        answers = _answers(answered)
        insights = [prompt for prompt in asked if prompt.task == TASK]
        leaving = refuse_unless_allowed([judge], insights, len(arms_of(answers)), settings.allow_external, with_answers=True)
        if leaving:
            get_run_logger().warning(leaving)
        ratings, cost = rate(judge, asked, answers, run.settings.seed)
        return {"ratings": ratings, "bill": asdict(cost)}

    inputs = {"questions": questions.digest} | {artifact.stage: artifact.digest for artifact in answered}
    parts = {"judge": judge.model_dump(include={"name", "url", "model"}), "seed": run.settings.seed}
    return run.make("benchmark-judge", ("tucano.evaluation.judge",), parts, inputs, produce)


def _answers(answered: Sequence[Artifact]) -> list[Answer]:
    return [answer for artifact in answered for answer in read_answers(artifact.folder / "answers.jsonl")]


@stage("judge the benchmark")
def judge_benchmark(run: Run, questions: Artifact, answered: list[Artifact], rated: Artifact | None, trained: bool) -> Artifact:
    """benchmark.json and its table; every new set of answers is a look at the benchmark's prompts."""
    settings = run.settings

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        result = benchmark(
            _answers(answered),
            read_prompts(questions.folder / "test.jsonl"),
            questions.folder,
            ("sft" if settings.sft.enabled else "base") if trained else None,
            _bills(answered, rated),
            rated.record["ratings"] if rated else {},
            settings.comparison.alpha,
            settings.benchmark.resamples,
            settings.seed,
            _look(run, questions, answered) if trained else 1,
        )
        (draft / "benchmark.json").write_text(json.dumps(result.to_json(), indent=1, ensure_ascii=False), encoding="utf-8")
        (draft / "benchmark.md").write_text(render_table(result) + "\n", encoding="utf-8")
        return {"hacking_suspected": result.hacking_suspected}

    parts = {"alpha": settings.comparison.alpha, "resamples": settings.benchmark.resamples, "seed": settings.seed}
    inputs = {"questions": questions.digest} | {artifact.stage: artifact.digest for artifact in [*answered, *([rated] if rated else [])]}
    artifact = run.make("benchmark", ("tucano.evaluation.benchmark",), parts, inputs, produce)
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
