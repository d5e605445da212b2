"""What each stage receives of a pipeline's settings: the keys of artifacts are made from these objects and nothing
else.

A setting that is not handed over here cannot reach the stage. What only says where or how something is computed (paths,
interpreters, when checkpoints are written, prices) is not handed over: it travels beside these objects.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from tucano.prompts import Task
from tucano.settings.audit import AuditStage, ReauditStage
from tucano.settings.base import S, Section, narrowed
from tucano.settings.benchmark import (
    BaselinesStage,
    BenchmarkSetStage,
    BenchmarkStage,
    EndpointStage,
    JudgeStage,
    PublicSetStage,
    PublicStage,
)
from tucano.settings.comparison import AnswersStage, Asking, ComparisonStage, GreedyAnswersStage, PlanStage
from tucano.settings.data import DataStage, GeneralShare, PromptPlan, SourceShare
from tucano.settings.endpoint import Endpoint, EndpointSettings
from tucano.settings.model import AdaptedModel, NanoModel
from tucano.settings.pipeline import PipelineSettings
from tucano.settings.training.dpo import DpoRun, DpoStage, DpoTraining
from tucano.settings.training.drawing import Drawing, Looking
from tucano.settings.training.grpo import GrpoStage, MergeStage, PreflightStage
from tucano.settings.training.sft import SftStage


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


def _received(kind: type[S], settings: PipelineSettings, **given: Any) -> S:
    """A stage's settings: for each field what is given, or what the run has by that name. Of a section a stage gets
    what the field's type knows of it.
    """
    found: dict[str, Any] = {}
    for name, field in kind.model_fields.items():
        value = given[name] if name in given else getattr(settings, name)
        whole = isinstance(value, Section) and name not in given
        found[name] = narrowed(cast("type[Section]", field.annotation), value) if whole else value
    return kind(**found)


def of_data(settings: PipelineSettings) -> DataStage:
    return _received(DataStage, settings, data=_prompt_plan(settings))


def of_audit(settings: PipelineSettings) -> AuditStage:
    return _received(AuditStage, settings, rewards=settings.grpo.rewards)


def of_sft(settings: PipelineSettings, seed: int) -> SftStage:
    """Of a model that is built here the shape counts, of any other the adapter."""
    kind = NanoModel if settings.model.name == "nano" else AdaptedModel
    return _received(SftStage, settings, model=narrowed(kind, settings.model), seed=seed)


def of_preflight(settings: PipelineSettings, seed: int) -> PreflightStage:
    return _received(
        PreflightStage,
        settings,
        threads=settings.worker.threads,
        seed=seed,
        served_temperature=settings.comparison.served_temperature,
        steps=settings.preflight.steps,
        adapters=settings.grpo.adapters,
    )


def of_grpo(settings: PipelineSettings, seed: int) -> GrpoStage:
    return _received(GrpoStage, settings, threads=settings.worker.threads, seed=seed)


def of_join(settings: PipelineSettings, seed: int) -> JoinStage:
    return _received(JoinStage, settings, seed=seed)


def of_dpo(settings: PipelineSettings, seed: int, number: int = 1) -> DpoStage:
    own = narrowed(DpoTraining, settings.dpo)
    shared = (narrowed(Drawing, settings.grpo), narrowed(Looking, settings.grpo))
    run = DpoRun.model_construct(**{name: value for part in (own, *shared) for name, value in part})
    return _received(DpoStage, settings, dpo=run, threads=settings.worker.threads, seed=seed, round=number)


def of_answers(settings: PipelineSettings, seed: int) -> AnswersStage:
    return _received(AnswersStage, settings, seed=seed)


def of_merge(settings: PipelineSettings, seed: int) -> MergeStage:
    return _received(MergeStage, settings, max_completion_tokens=settings.grpo.max_completion_tokens, seed=seed)


def of_reaudit(settings: PipelineSettings) -> ReauditStage:
    given = {"rewards": settings.grpo.rewards, "alpha": settings.comparison.alpha}
    return _received(ReauditStage, settings, **given, resamples=settings.audit.resamples)


def of_plan(settings: PipelineSettings) -> PlanStage:
    return _received(PlanStage, settings, seeds=tuple(sorted(settings.grpo.seeds)), reference=settings.reference)


def of_comparison(
    settings: PipelineSettings, planned: bool, missing: Mapping[int, str], unmoved: Sequence[int]
) -> ComparisonStage:
    return _received(
        ComparisonStage,
        settings,
        planned=planned,
        missing=tuple(sorted(missing.items())),
        unmoved=tuple(unmoved),
        untrained_base=settings.model.name == "nano",
    )


def of_benchmark_set(settings: PipelineSettings) -> BenchmarkSetStage:
    return _received(BenchmarkSetStage, settings, data=_prompt_plan(settings))


def of_benchmark_answers(settings: PipelineSettings) -> AnswersStage:
    """As for the comparison, with the benchmark's own number of samples."""
    return _received(AnswersStage, settings, comparison=_benchmark_asking(settings))


def of_public_set(settings: PipelineSettings) -> PublicSetStage:
    return _received(PublicSetStage, settings, benchmarks=tuple(settings.benchmark.named))


def of_greedy_answers(settings: PipelineSettings, seed: int) -> GreedyAnswersStage:
    return _received(GreedyAnswersStage, settings, seed=seed)


def of_public(settings: PipelineSettings) -> PublicStage:
    return _received(PublicStage, settings, alpha=settings.comparison.alpha, resamples=settings.benchmark.resamples)


def of_baselines(settings: PipelineSettings) -> BaselinesStage:
    return BaselinesStage(rewards=settings.comparison.rewards)


def of_endpoint(settings: PipelineSettings, endpoint: EndpointSettings) -> EndpointStage:
    return _received(
        EndpointStage,
        settings,
        comparison=_benchmark_asking(settings),
        endpoint=narrowed(Endpoint, endpoint),
        max_completion_tokens=settings.grpo.max_completion_tokens,
    )


def of_judge(settings: PipelineSettings, judge: EndpointSettings) -> JudgeStage:
    return _received(JudgeStage, settings, judge=narrowed(Endpoint, judge))


def of_benchmark(settings: PipelineSettings, trained: bool) -> BenchmarkStage:
    return _received(
        BenchmarkStage,
        settings,
        alpha=settings.comparison.alpha,
        resamples=settings.benchmark.resamples,
        reference=settings.reference if trained else None,
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
