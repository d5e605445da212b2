"""The adapter merged into its base: added in float32, stored in 16 bits, loaded again and held against what was
trained.

Adding in float32 first rounds every weight once, at the end. A merge into 16-bit or 4-bit weights would round the
adapter's small changes away one by one. What 4-bit training means for it: the adapter learned on rounded weights and is
merged into the exact ones. How far that alone moves the answers is measured with the adapter off, here and in the
preflight, and the merge may move them by so much more.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tucano.files.models import MergedFiles
from tucano.files.prompts import PromptFiles
from tucano.prompts import TASKS, Prompt, read_prompts
from tucano.settings.grpo import MergeStage
from tucano.settings.model import LoadedModel
from tucano.training.checkpoints import weights
from tucano.training.jobs import Job
from tucano.training.policies.chat import encode, stop_tokens
from tucano.training.policies.likelihood import token_logps
from tucano.training.policies.load import load_base, load_policy
from tucano.training.samplers import Decoding
from tucano.training.samplers.local import LocalSampler

PROMPTS_PER_TASK = 4
LARGEST_MEAN = 0.05
"""Nats per token: how far the stored model's log-probabilities may lie from the trained one's, on its own answers."""
Ids = Sequence[Sequence[int]]
"""Tokens of prompts, or of answers."""


def run(job: Job) -> dict[str, object]:
    """Write the model (merged bfloat16 weights, tokenizer) into `job.output`; the record says what rounding did to the
    answers.

    `mean_difference`, `largest_difference`: of the log-probabilities (nats) of tokens that the trained policy sampled.
    `quantisation`: what of that mean the base's quantisation does by itself, 0 where it has none.
    """
    settings = MergeStage.model_validate(job.settings)
    assert job.adapter is not None, "there is nothing to merge without an adapter"
    files = PromptFiles(Path(job.prompts))
    systems = files.systems()
    trained, tokenizer = load_policy(settings.model, job.base, Path(job.adapter), trainable=False, seed=job.seed)
    ids = encode(tokenizer, _some_of_each(read_prompts(files.validation)), systems)
    generator = torch.Generator().manual_seed(job.seed)
    decoding = Decoding(settings.max_completion_tokens, 1.0, tuple(stop_tokens(trained, tokenizer)))
    answers = [draw.tokens for draw in LocalSampler().sample(trained, ids, decoding, generator)]
    expected = token_logps(trained, ids, answers)
    own = quantisation_distance(trained, settings.model, job.base, ids, answers)
    del trained
    exact = _exact(settings.model)
    adapted, _ = load_policy(exact, job.base, Path(job.adapter), trainable=False, seed=job.seed)
    merged = adapted.merge_and_unload(safe_merge=True)
    stored = MergedFiles(Path(job.output)).model
    weights.save(merged.to(torch.bfloat16), stored)
    tokenizer.save_pretrained(stored)
    reloaded, _ = load_base(exact.model_copy(update={"revision": None}), str(stored))
    return _differences(expected, token_logps(reloaded, ids, answers), own)


def limit(own: float) -> float:
    """How far a faithful merge may lie from what was trained, where quantisation alone makes `own`."""
    return LARGEST_MEAN + own


@torch.no_grad()
def quantisation_distance(policy: Any, model: LoadedModel, base: str, ids: Ids, answers: Ids) -> float:
    """Mean difference (nats per token) between the quantised base under `policy`, its adapter off, and the full base
    in 16 bits: what merging an adapter of zeros would do. 0 where the base is not quantised.
    """
    if model.quantization == "none":
        return 0.0
    was_training = policy.training
    policy.eval()
    with policy.disable_adapter():
        before = token_logps(policy, ids, answers)
    policy.train(was_training)
    full, _ = load_base(_exact(model), base)
    return (torch.cat(token_logps(full.to(torch.bfloat16), ids, answers)) - torch.cat(before)).abs().mean().item()


def _exact(model: LoadedModel) -> LoadedModel:
    return model.model_copy(update={"dtype": "float32", "quantization": "none", "backend": "transformers"})


def _some_of_each(prompts: list[Prompt]) -> list[Prompt]:
    return [
        prompt for task in TASKS for prompt in [prompt for prompt in prompts if prompt.task == task][:PROMPTS_PER_TASK]
    ]


def _differences(expected: list[Tensor], found: list[Tensor], own: float) -> dict[str, object]:
    differences = (torch.cat(found) - torch.cat(expected)).abs()
    mean = differences.mean().item()
    return {
        "faithful": mean <= limit(own),
        "mean_difference": mean,
        "quantisation": own,
        "largest_difference": differences.max().item(),
        "tokens": len(differences),
    }
