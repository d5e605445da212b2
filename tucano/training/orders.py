"""Jobs for training children, made from the settings of a pipeline: each gets what its stage receives, and where to
work.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tucano.prompts import Task
from tucano.requirements.machine import apart, gpus_here, seeds_on_a_gpu
from tucano.requirements.memory import share_for_tensors
from tucano.settings import PipelineSettings
from tucano.settings.base import Section
from tucano.settings.stages import of_answers, of_dpo, of_greedy_answers, of_grpo, of_merge, of_preflight, of_sft
from tucano.training.jobs import Arm, ChildKind, Job

RECEIVED: dict[ChildKind, Callable[[PipelineSettings, int], Section]] = {
    "sft": of_sft,
    "preflight": of_preflight,
    "grpo": of_grpo,
    "dpo": of_dpo,
    "answer": of_answers,
    "public": of_greedy_answers,
    "pace": of_greedy_answers,
    "merge": of_merge,
    "trial": lambda settings, seed: settings,
    "untrained": lambda settings, seed: settings,
}
"""What a child of each kind receives of the settings, given the seed of its own generators."""


@dataclass(frozen=True)
class JobFolders:
    """Where a job reads its prompts, works, and puts what it made; `mirror` is the URL of the work folder's copy,
    `answered` are artifacts in which some of its arms have answered already, `preferences` is a file of answer pairs.
    """

    prompts: Path
    work: Path
    output: Path
    mirror: str | None = None
    answered: Mapping[str, Path] = field(default_factory=dict)
    preferences: Path | None = None


def for_task(job: Job, task: Task) -> Job:
    """The same training on the prompts of one task alone."""
    return replace(job, settings={**job.settings, "tasks": [task]})


def for_round(job: Job, number: int) -> Job:
    """The same preference optimisation as one of several rounds."""
    return replace(job, settings={**job.settings, "round": number})


def order(
    kind: ChildKind,
    settings: PipelineSettings,
    seed: int,
    threads: int,
    folders: JobFolders,
    start: tuple[str, str | None] | None = None,
    arms: Sequence[Arm] = (),
) -> Job:
    """`start` is base and adapter that the job begins with."""
    base, adapter = start or (settings.model.place, None)
    gpus = gpus_here() if settings.model.device == "cuda" else ()
    several, servers = len(gpus) > 1, apart(settings, len(gpus))
    children = seeds_on_a_gpu(settings, len(gpus))
    teacher = settings.grpo.teacher
    return Job(
        kind=kind,
        settings=RECEIVED[kind](settings, seed).model_dump(mode="json"),
        prompts=str(folders.prompts),
        work=str(folders.work),
        output=str(folders.output),
        threads=threads,
        deterministic=settings.worker.deterministic,
        base=base,
        adapter=adapter,
        mirror=folders.mirror,
        arms=list(arms),
        answered={arm: str(folder) for arm, folder in folders.answered.items()},
        preferences=str(folders.preferences) if folders.preferences else None,
        save_steps={"sft": settings.sft.save_steps, "dpo": settings.dpo.save_steps}.get(kind, settings.grpo.save_steps),
        checkpoint_minutes=settings.worker.checkpoint_minutes,
        vllm_python=settings.worker.vllm_python,
        vllm_memory_share=settings.worker.vllm_memory_share,
        gpu_share=share_for_tensors(settings, children, len(gpus)) / children,
        gpus=list(gpus[: len(gpus) - servers]) if several else [],
        vllm_gpu=gpus[-1] if servers else None,
        teacher=teacher.endpoint.model_dump(mode="json") if teacher else None,
    )
