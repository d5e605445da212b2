"""The adapter merged into its base: added in float32, stored in 16 bits, loaded again and held against what was
trained.

Adding in float32 first rounds every weight once, at the end. A merge into 16-bit or 4-bit weights would round the
adapter's small changes away one by one. What 4-bit training means for it: the adapter learned on rounded weights and is
merged into the exact ones; the check says how far the answers move.
"""

from pathlib import Path

import torch
from torch import Tensor

from tucano.files.models import MergedFiles
from tucano.files.prompts import PromptFiles
from tucano.prompts import TASKS, Prompt, read_prompts
from tucano.settings.grpo import MergeStage
from tucano.training.checkpoints import weights
from tucano.training.jobs import Job
from tucano.training.policies.likelihood import token_logps
from tucano.training.policies.load import load_base, load_policy
from tucano.training.rollouts.sampling import encode, sample

PROMPTS_PER_TASK = 4
LARGEST_MEAN = 0.05
"""Nats per token: how far the stored model's log-probabilities may lie from the trained one's, on its own answers."""


def run(job: Job) -> dict[str, object]:
    """Write the model (merged bfloat16 weights, tokenizer) into `job.output`; the record says what rounding did to the
    answers.

    `mean_difference`, `largest_difference`: of the log-probabilities (nats) of tokens that the trained policy sampled.
    """
    settings = MergeStage.model_validate(job.settings)
    assert job.adapter is not None, "there is nothing to merge without an adapter"
    files = PromptFiles(Path(job.prompts))
    systems = files.systems()
    trained, tokenizer = load_policy(settings.model, job.base, Path(job.adapter), trainable=False, seed=job.seed)
    ids = encode(tokenizer, _some_of_each(read_prompts(files.validation)), systems)
    generator = torch.Generator().manual_seed(job.seed)
    answers = sample(trained, tokenizer, ids, settings.max_completion_tokens, 1.0, generator)
    expected = token_logps(trained, ids, answers)
    del trained
    exact = settings.model.model_copy(update={"dtype": "float32", "quantization": "none", "backend": "transformers"})
    adapted, _ = load_policy(exact, job.base, Path(job.adapter), trainable=False, seed=job.seed)
    merged = adapted.merge_and_unload(safe_merge=True)
    stored = MergedFiles(Path(job.output)).model
    weights.save(merged.to(torch.bfloat16), stored)
    tokenizer.save_pretrained(stored)
    reloaded, _ = load_base(exact.model_copy(update={"revision": None}), str(stored))
    return _differences(expected, token_logps(reloaded, ids, answers))


def _some_of_each(prompts: list[Prompt]) -> list[Prompt]:
    return [
        prompt for task in TASKS for prompt in [prompt for prompt in prompts if prompt.task == task][:PROMPTS_PER_TASK]
    ]


def _differences(expected: list[Tensor], found: list[Tensor]) -> dict[str, object]:
    differences = (torch.cat(found) - torch.cat(expected)).abs()
    mean = differences.mean().item()
    return {
        "faithful": mean <= LARGEST_MEAN,
        "mean_difference": mean,
        "largest_difference": differences.max().item(),
        "tokens": len(differences),
    }
