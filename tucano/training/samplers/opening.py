"""The sampler that the settings name."""

from pathlib import Path
from typing import TYPE_CHECKING

from peft import LoraConfig

from tucano.files.models import WorkFiles
from tucano.settings.model import LoadedModel
from tucano.settings.training.drawing import Completions
from tucano.training.jobs import Arm, Job
from tucano.training.samplers import Sampler
from tucano.training.samplers.local import LocalSampler
from tucano.training.samplers.server import ServerPlan
from tucano.training.samplers.vllm import VllmSampler

if TYPE_CHECKING:
    from tucano.training.answering.messages import Opening


def rank_of(arm: Arm) -> int:
    """Of its adapter, 0 without one."""
    return LoraConfig.from_pretrained(arm.adapter).r if arm.adapter else 0


def sampler_for(
    job: Job, base: str, rank: int, model: LoadedModel, completions: Completions, fixed: bool = False
) -> Sampler:
    """Draws from policies of one base (folder or hub id), with adapters of at most `rank` on it (0: none). To be closed
    by whoever asked for it. fixed: see `LocalSampler`.
    """
    if completions.sampler == "local":
        return LocalSampler(completions.own_decoding, fixed)
    return server_for(job, base, rank, model, WorkFiles(Path(job.work)).server_log, job.vllm_gpu)


def server_for(
    asked: "Job | Opening", base: str, rank: int, model: LoadedModel, log: Path, gpu: str | None = None
) -> Sampler:
    """Draws from a vLLM server, which is started as `asked` says."""
    assert asked.vllm_python is not None, "settings without an interpreter are refused"
    share, threads = asked.vllm_memory_share, asked.threads
    return VllmSampler(ServerPlan(asked.vllm_python, base, model, rank, share, threads, log, gpu))
