"""What each stage receives of a pipeline's settings: the keys of artifacts are made from these objects and nothing
else.

A setting that is not handed over here cannot reach the stage. What only says where or how something is computed (paths,
interpreters, when checkpoints are written, prices) is not handed over: it travels beside these objects.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from tucano.artifacts.identity import base_identity
from tucano.prompts import Task
from tucano.settings.audit import AuditStage, Gate, ReauditStage
from tucano.settings.base import Section, narrowed
from tucano.settings.benchmark import (
    BaselinesStage,
    BenchmarkPlan,
    BenchmarkSetStage,
    BenchmarkStage,
    Endpoint,
    EndpointSettings,
    EndpointStage,
    JudgeStage,
    PublicSetStage,
    PublicStage,
)
from tucano.settings.comparison import AnswersStage, Asking, ComparisonStage, GreedyAnswersStage, Judging, PlanStage
from tucano.settings.data import DataStage, GeneralShare, PromptPlan, SourceShare
from tucano.settings.dpo import DpoRun, DpoStage, DpoTraining
from tucano.settings.drawing import Completions, Drawing, Looking
from tucano.settings.grpo import GrpoRun, GrpoStage, GrpoTraining, MergeStage, PreflightStage
from tucano.settings.model import AdaptedModel, LoadedModel, NanoModel
from tucano.settings.pipeline import PipelineSettings
from tucano.settings.sft import SftStage, SftTraining


class JoinStage(Section):
    """What the joined adapters of a seed follow from, beside these."""

    tasks: tuple[Task, ...]
    seed: int


class ReportStage(Section):
    """What the report shows, beside what the stages made: settings, where they differ from the profile, and the
    lineage.
    """

    settings: dict[str, Any]
    profile: str
    differences: tuple[tuple[str, Any, Any], ...]
    lineage: dict[str, str]


def of_data(settings: PipelineSettings) -> DataStage:
    return DataStage(data=_prompt_plan(settings), tasks=settings.tasks, seed=settings.seed)


def of_audit(settings: PipelineSettings) -> AuditStage:
    gate = narrowed(Gate, settings.audit)
    return AuditStage(rewards=settings.grpo.rewards, audit=gate, tasks=settings.tasks, seed=settings.seed)


def of_sft(settings: PipelineSettings, seed: int) -> SftStage:
    """Of a model that is built here the shape counts, of any other the adapter."""
    kind = NanoModel if settings.model.name == "nano" else AdaptedModel
    sft = narrowed(SftTraining, settings.sft)
    model = narrowed(kind, settings.model)
    return SftStage(sft=sft, model=model, base=base_identity(settings.model.place), seed=seed)


def of_preflight(settings: PipelineSettings, seed: int) -> PreflightStage:
    return PreflightStage(
        grpo=narrowed(GrpoTraining, settings.grpo),
        model=narrowed(AdaptedModel, settings.model),
        base=base_identity(settings.model.place),
        tasks=settings.tasks,
        threads=settings.worker.threads,
        seed=seed,
        trainings=settings.trainings,
        served_temperature=settings.comparison.served_temperature,
        steps=settings.preflight.steps,
        adapters=settings.grpo.adapters,
    )


def of_grpo(settings: PipelineSettings, seed: int) -> GrpoStage:
    return GrpoStage(
        grpo=narrowed(GrpoRun, settings.grpo),
        validation_temperature=settings.validation_temperature,
        model=narrowed(AdaptedModel, settings.model),
        base=base_identity(settings.model.place),
        tasks=settings.tasks,
        threads=settings.worker.threads,
        health=settings.health,
        seed=seed,
    )


def of_join(settings: PipelineSettings, seed: int) -> JoinStage:
    return JoinStage(tasks=settings.tasks, seed=seed)


def of_dpo(settings: PipelineSettings, seed: int) -> DpoStage:
    own = narrowed(DpoTraining, settings.dpo)
    shared = (narrowed(Drawing, settings.grpo), narrowed(Looking, settings.grpo))
    return DpoStage(
        dpo=DpoRun.model_construct(**{name: value for part in (own, *shared) for name, value in part}),
        validation_temperature=settings.validation_temperature,
        model=narrowed(LoadedModel, settings.model),
        base=base_identity(settings.model.place),
        threads=settings.worker.threads,
        health=settings.health,
        seed=seed,
    )


def of_answers(settings: PipelineSettings, seed: int) -> AnswersStage:
    return AnswersStage(
        comparison=narrowed(Asking, settings.comparison),
        grpo=narrowed(Completions, settings.grpo),
        model=narrowed(LoadedModel, settings.model),
        base=base_identity(settings.model.place),
        seed=seed,
    )


def of_merge(settings: PipelineSettings, seed: int) -> MergeStage:
    return MergeStage(
        max_completion_tokens=settings.grpo.max_completion_tokens,
        model=narrowed(LoadedModel, settings.model),
        base=base_identity(settings.model.place),
        seed=seed,
    )


def of_reaudit(settings: PipelineSettings) -> ReauditStage:
    return ReauditStage(
        rewards=settings.grpo.rewards,
        alpha=settings.comparison.alpha,
        resamples=settings.audit.resamples,
        seed=settings.seed,
    )


def of_plan(settings: PipelineSettings) -> PlanStage:
    reference = "sft" if settings.sft.enabled else "base"
    return PlanStage(comparison=settings.comparison, seeds=tuple(sorted(settings.grpo.seeds)), reference=reference)


def of_comparison(
    settings: PipelineSettings, planned: bool, missing: Mapping[int, str], unmoved: Sequence[int]
) -> ComparisonStage:
    return ComparisonStage(
        comparison=narrowed(Judging, settings.comparison),
        planned=planned,
        missing=tuple(sorted(missing.items())),
        unmoved=tuple(unmoved),
        untrained_base=settings.model.name == "nano",
    )


def of_benchmark_set(settings: PipelineSettings) -> BenchmarkSetStage:
    return BenchmarkSetStage(
        benchmark=narrowed(BenchmarkPlan, settings.benchmark),
        data=_prompt_plan(settings),
        tasks=settings.tasks,
        seed=settings.seed,
    )


def of_benchmark_answers(settings: PipelineSettings) -> AnswersStage:
    """As for the comparison, with the benchmark's own number of samples."""
    return of_answers(settings, settings.seed).model_copy(update={"comparison": _benchmark_asking(settings)})


def of_public_set(settings: PipelineSettings) -> PublicSetStage:
    return PublicSetStage(benchmarks=tuple(settings.benchmark.named), seed=settings.seed)


def of_greedy_answers(settings: PipelineSettings, seed: int) -> GreedyAnswersStage:
    return GreedyAnswersStage(
        grpo=narrowed(Completions, settings.grpo),
        model=narrowed(LoadedModel, settings.model),
        base=base_identity(settings.model.place),
        seed=seed,
    )


def of_public(settings: PipelineSettings) -> PublicStage:
    return PublicStage(
        alpha=settings.comparison.alpha,
        resamples=settings.benchmark.resamples,
        reference="sft" if settings.sft.enabled else "base",
        seed=settings.seed,
    )


def of_baselines(settings: PipelineSettings) -> BaselinesStage:
    return BaselinesStage(rewards=settings.comparison.rewards)


def of_endpoint(settings: PipelineSettings, endpoint: EndpointSettings) -> EndpointStage:
    return EndpointStage(
        comparison=_benchmark_asking(settings),
        endpoint=_identity(endpoint),
        max_completion_tokens=settings.grpo.max_completion_tokens,
        seed=settings.seed,
    )


def of_judge(settings: PipelineSettings, judge: EndpointSettings) -> JudgeStage:
    return JudgeStage(judge=_identity(judge), seed=settings.seed)


def of_benchmark(settings: PipelineSettings, trained: bool) -> BenchmarkStage:
    return BenchmarkStage(
        alpha=settings.comparison.alpha,
        resamples=settings.benchmark.resamples,
        reference=("sft" if settings.sft.enabled else "base") if trained else None,
        seed=settings.seed,
        usd_per_hour={price.machine: price.usd_per_hour for price in settings.cost.prices},
    )


def _prompt_plan(settings: PipelineSettings) -> PromptPlan:
    """A share of 0 is a task left out, and a list of one source that source, however it is written."""
    data = settings.data
    mix = {task: data.mix[task] for task in settings.tasks}
    sources = tuple(narrowed(SourceShare, part) for part in data.sources)
    source = sources[0].source if len(sources) == 1 else data.source
    several = sources if len(sources) > 1 else ()
    general = narrowed(GeneralShare, data.general)
    chosen = {"mix": mix, "source": source, "sources": several, "general": general}
    return narrowed(PromptPlan, data).model_copy(update=chosen)


def _benchmark_asking(settings: PipelineSettings) -> Asking:
    return narrowed(Asking, settings.comparison).model_copy(update={"samples": settings.benchmark.samples})


def _identity(endpoint: EndpointSettings) -> Endpoint:
    return Endpoint(name=endpoint.name, url=endpoint.url, model=endpoint.model)
