"""The sampler that the settings name."""

from pathlib import Path

from tucano.files.models import WorkFiles
from tucano.settings.drawing import Completions
from tucano.settings.model import LoadedModel
from tucano.training.jobs import Job
from tucano.training.samplers import Sampler
from tucano.training.samplers.local import LocalSampler
from tucano.training.samplers.server import ServerPlan
from tucano.training.samplers.vllm import VllmSampler


def sampler_for(job: Job, base: str, rank: int, model: LoadedModel, completions: Completions) -> Sampler:
    """Draws from policies of one base (folder or hub id), with adapters of at most `rank` on it (0: none). To be closed
    by whoever asked for it.
    """
    if completions.sampler == "local":
        return LocalSampler(completions.own_decoding)
    assert job.vllm_python is not None, "settings without an interpreter are refused"
    return VllmSampler(
        ServerPlan(
            python=job.vllm_python,
            base=base,
            revision=None if Path(base).exists() else model.revision,
            dtype=model.dtype,
            max_length_tokens=model.max_length_tokens,
            rank=rank,
            memory_share=job.vllm_memory_share,
            threads=job.threads,
            log=WorkFiles(Path(job.work)).server_log,
        )
    )
