"""The base of a 4-bit policy as a folder of 16-bit weights: what a vLLM server draws with is what is trained.

bitsandbytes rounds the base once, when it is loaded, and makes each matrix anew from its 4 bits in every pass. Made
once and stored, the same matrices are a model that any server loads. The exact base would be another policy
(docs/health.md, `quantisation`).
"""

import copy
from pathlib import Path

import torch
from peft import PeftModel
from torch import Tensor
from transformers import AutoTokenizer

from tucano.errors import UserError
from tucano.settings.model import LoadedModel
from tucano.training.checkpoints.merged import store
from tucano.training.checkpoints.weights import Policy
from tucano.training.policies.load import COMPUTED


def write(policy: Policy, base: str, model: LoadedModel, folder: Path) -> None:
    """Into `folder`: the policy's base as it computes, without adapters, with the tokenizer of `base` (folder or hub
    id). One matrix is dequantised at a time, and each is read back.
    """
    whole = policy.get_base_model() if isinstance(policy, PeftModel) else policy
    weights = {
        name.replace(".base_layer.", "."): weight for name, weight in whole.named_parameters() if "lora_" not in name
    }
    dtype = getattr(torch, model.dtype)
    shapes = {name: torch.empty(_shape(weight), dtype=dtype, device="meta") for name, weight in weights.items()}
    store(shapes, lambda name: dequantised(weights[name]).to("cpu", dtype).contiguous(), folder)
    config = copy.deepcopy(whole.config)
    del config.quantization_config
    config.dtype = model.dtype
    config.save_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(base, revision=model.revision, trust_remote_code=False)
    tokenizer.save_pretrained(folder)


def dequantised(weight: Tensor) -> Tensor:
    """A matrix of 4 bits as it is multiplied with; any other weight as it is. UserError where a CPU has packed it."""
    state = getattr(weight, "quant_state", None)
    if state is None:
        return weight.detach()
    from bitsandbytes.functional import dequantize_4bit

    if getattr(state, "packing_format_for_cpu", False):  # bitsandbytes 0.50, once it has answered on such a CPU
        raise UserError(
            "this CPU computes in bfloat16 and has packed the 4-bit weights in its own way, which no vLLM server takes;"
            " set grpo.sampler=local, or model.device=cuda"
        )
    return dequantize_4bit(weight.data, state).to(COMPUTED)


def _shape(weight: Tensor) -> torch.Size:
    return torch.Size(weight.quant_state.shape) if hasattr(weight, "quant_state") else weight.shape
