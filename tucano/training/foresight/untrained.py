"""What SFT or GRPO would have made, untrained: a rehearsal goes on from it where the stage itself failed."""

import shutil
from pathlib import Path

import torch

from tucano.files.models import StartFiles, WorkFiles
from tucano.files.prompts import PromptFiles
from tucano.settings import PipelineSettings
from tucano.settings.stages import of_preflight, of_sft
from tucano.training import sft
from tucano.training.checkpoints.weights import save_whole
from tucano.training.jobs import Job
from tucano.training.policies.load import load_policy

SMALL = 0.01
"""Entries of LoRA's B. At 0, where training begins, an adapter would change nothing and a merge have nothing to do."""


def run(job: Job) -> dict[str, object]:
    """A nano model, or an adapter for `job.base`, one for each task where tasks have their own, into `job.output`."""
    settings = PipelineSettings.model_validate(job.settings)
    output = StartFiles(Path(job.output))
    if job.base == "nano":
        examples, _ = sft.demonstrated(PromptFiles(Path(job.prompts)))
        sft._start(job, of_sft(settings, job.seed), examples)
        for place in (output.base, output.model):
            shutil.copytree(WorkFiles(Path(job.work)).base, place)
        return {}
    model = of_preflight(settings, job.seed).model
    policy, _ = load_policy(model, job.base, None, trainable=True, seed=job.seed)
    torch.manual_seed(job.seed)
    for name, weight in policy.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(weight, std=SMALL)
    tasks = settings.tasks if settings.grpo.adapters == "per_task" else ("",)
    for task in tasks:
        (output.adapter / task).parent.mkdir(parents=True, exist_ok=True)
        save_whole(policy, output.adapter / task)
    return {}
