"""A nano base in a folder, with prompts and with adapters that change its answers: nothing is trained."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from peft import PeftModel, get_peft_model
from transformers import AutoModelForCausalLM

from tucano.prompts import Prompt, write_prompts
from tucano.settings import ModelSettings
from tucano.training.policies.load import lora_config
from tucano.training.policies.nano import build_model, build_tokenizer


def nano_base(root: Path, model: ModelSettings, systems: Mapping[str, str], prompts: Sequence[Prompt]) -> None:
    """In base/, and in prompts/ what it is validated with."""
    (root / "prompts").mkdir()
    write_prompts(root / "prompts" / "validation.jsonl", prompts)
    (root / "prompts" / "system_prompts.json").write_text(json.dumps(systems, ensure_ascii=False), encoding="utf-8")
    tokenizer = build_tokenizer([*systems.values(), *(prompt.user for prompt in prompts)], model)
    built = build_model(tokenizer, model, seed=1)
    built.generation_config.eos_token_id = None  # the tokenizer alone knows, as with some bases
    built.save_pretrained(root / "base")
    tokenizer.save_pretrained(root / "base")


def nano_adapter(base: Path, model: ModelSettings, noise: float, name: str = "adapter", seed: int = 2) -> Path:
    """An adapter of a base whose B is noise of this standard deviation, in a folder beside it."""
    adapted = get_peft_model(AutoModelForCausalLM.from_pretrained(base), lora_config(model))
    move(adapted, noise, seed)
    adapted.save_pretrained(base.parent / name)
    return base.parent / name


def move(policy: PeftModel, by: float, seed: int = 1) -> None:
    """Add noise of this standard deviation to every B, which a new adapter has at 0."""
    noise = torch.Generator().manual_seed(seed)
    for name, weight in policy.named_parameters():
        if "lora_B" in name:
            weight.data += by * torch.randn(weight.shape, generator=noise)
