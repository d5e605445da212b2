"""The adapter merged into its base: added in float32, stored in 16 bits, loaded again and held against what was
trained.

Adding in float32 first rounds every weight once, at the end. A merge into 16-bit or 4-bit weights would round the
adapter's small changes away one by one. What 4-bit training means for it: the adapter learned on rounded weights and is
merged into the exact ones. How far that alone moves the answers is measured with the adapter off, here and in the
preflight, and the merge may move them by so much more.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from peft import PeftModel
from torch import Tensor

from tucano.files.models import MergedFiles
from tucano.files.per_task import adapters_by_task
from tucano.files.prompts import PromptFiles
from tucano.prompts import TASKS, Prompt, read_prompts
from tucano.settings.model import LoadedModel
from tucano.settings.training.grpo import MergeStage
from tucano.training.checkpoints import merged
from tucano.training.jobs import Job
from tucano.training.policies import effect
from tucano.training.policies.chat import encode, stop_tokens
from tucano.training.policies.likelihood import Ids, token_logps
from tucano.training.policies.load import Policy, load_base, load_policy
from tucano.training.policies.per_task import by_speaker, drawn_by_speaker
from tucano.training.samplers import Decoding
from tucano.training.samplers.local import LocalSampler

PROMPTS_PER_TASK = 4
LARGEST_MEAN = 0.05
"""Nats per token: how far the stored model's log-probabilities may lie from the trained one's, on its own answers."""


def run(job: Job) -> dict[str, object]:
    """Write the model (merged bfloat16 weights, tokenizer) into `job.output`; the record says what rounding did to the
    answers. Adapters of single tasks cannot all be merged into one model: then the base is written, and they stay.

    `mean_difference`, `largest_difference`: of the log-probabilities (nats) of tokens that the trained policy sampled.
    `quantisation`: what of that mean the base's quantisation does by itself, 0 where it has none.
    """
    settings = MergeStage.model_validate(job.settings)
    assert job.adapter is not None, "there is nothing to merge without an adapter"
    files = PromptFiles(Path(job.prompts))
    systems = files.systems()
    trained, tokenizer = load_policy(settings.model, job.base, Path(job.adapter), trainable=False, seed=job.seed)
    prompts = _some_of_each(read_prompts(files.validation))
    ids = encode(tokenizer, prompts, systems)
    tasks = [prompt.task for prompt in prompts]
    decoding = Decoding(settings.max_completion_tokens, 1.0, tuple(stop_tokens(trained, tokenizer)))
    draws = drawn_by_speaker(LocalSampler(), trained, tasks, ids, decoding, torch.Generator().manual_seed(job.seed))
    answers = [draw.tokens for draw in draws]
    expected = _logps(trained, tasks, ids, answers)
    assert isinstance(trained, PeftModel)
    with trained.disable_adapter():
        bare = _logps(trained, tasks, ids, answers)
    changed = effect.of(trained)
    own = quantisation_distance(trained, settings.model, job.base, ids, answers)
    del trained
    stored = MergedFiles(Path(job.output)).model
    left = Path(job.adapter) if adapters_by_task(Path(job.adapter)) else None
    base = merged.Base(job.base, settings.model.revision)
    into = None if left else Path(job.adapter)
    merged.write(base, into, settings.model.device, tokenizer, decoding.stop, stored)
    tokenizer.save_pretrained(stored)
    unpinned = _exact(settings.model).model_copy(update={"revision": None})
    reloaded, _ = load_policy(unpinned, str(stored), left, trainable=False, seed=job.seed)
    if left is None:  # whoever loads the model sees whether it still is the one that is measured here
        replace(changed, with_adapter=effect.logps(reloaded, changed.texts)).write(stored)
    return _differences(expected, _logps(reloaded, tasks, ids, answers), bare, own)


def _logps(policy: Policy, tasks: Sequence[str], ids: Ids, answers: Ids) -> list[Tensor]:
    """What the same policy thinks of each answer's tokens (nats)."""
    return by_speaker(
        policy, tasks, lambda rows: token_logps(policy, [ids[r] for r in rows], [answers[r] for r in rows])
    )


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
    full, _ = load_base(_exact(model, "bfloat16"), base)
    return (torch.cat(token_logps(full, ids, answers)) - torch.cat(before)).abs().mean().item()


def _exact(model: LoadedModel, dtype: str = "float32") -> LoadedModel:
    """How the full model is loaded: in the precision that it is asked in, never cast afterwards. A cast rounds the
    rotary frequencies, too; and where Unsloth was imported its forward is that of every model, and begins in the
    precision that the model was loaded in.
    """
    return model.model_copy(update={"dtype": dtype, "quantization": "none", "backend": "transformers"})


def _some_of_each(prompts: list[Prompt]) -> list[Prompt]:
    return [
        prompt for task in TASKS for prompt in [prompt for prompt in prompts if prompt.task == task][:PROMPTS_PER_TASK]
    ]


def _differences(expected: list[Tensor], found: list[Tensor], bare: list[Tensor], own: float) -> dict[str, object]:
    """Faithful is what is near to what was trained, and nearer than to the base: where an adapter changes less than the
    limit, the base itself, or matrices that are exchanged, would be within it.
    """
    differences = (torch.cat(found) - torch.cat(expected)).abs()
    mean = differences.mean().item()
    follows = effect.follows(torch.cat(found), torch.cat(expected), torch.cat(bare), least=0.0, slack=own)
    return {
        "faithful": mean <= limit(own) and follows,
        "mean_difference": mean,
        "quantisation": own,
        "largest_difference": differences.max().item(),
        "tokens": len(differences),
    }
