"""Log-probabilities of completions on a GPU, in a pass that moves little: rows lie behind one another without padding,
layers are read as tucano/training/policies/fused.py does, and the activations of as many layers are kept as there is
memory for; the others are computed again on the way back, to the same bits.

The same numbers as TRL's `_chunked_logps` of padded rows up to rounding (tests/test_packed.py), whose head this uses.
"""

from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from peft import PeftModel
from peft.tuners.lora import Linear
from torch import Tensor
from torch.utils.checkpoint import checkpoint
from trl import trainer as trl_trainer
from trl.trainer.utils import _ChunkedLogProbFunction

from tucano.training.policies.fused import Adapted, Gated, Rotated, attend


def packs(model: Any) -> bool:
    """Whether `packed_logps` can read this policy now: a dense Qwen3 in 16 bits with one active LoRA adapter on every
    projection, without dropout.
    """
    config = model.config
    if not isinstance(model, PeftModel) or config.model_type != "qwen3" or config.use_sliding_window:
        return False
    layers = model.get_base_model().model.layers
    projections = [module for name, module in layers.named_modules() if name.endswith("_proj")]
    return config.head_dim.bit_count() == 1 and all(map(_is_plain, projections))


def _is_plain(linear: Any) -> bool:
    if not isinstance(linear, Linear) or linear.disable_adapters or linear.merged or len(linear.active_adapters) != 1:
        return False
    (name,) = linear.active_adapters
    still = isinstance(linear.lora_dropout[name], torch.nn.Identity) and name not in linear.lora_variant
    weight = linear.base_layer.weight
    return still and linear.base_layer.bias is None and weight.dtype in (torch.bfloat16, torch.float16)


def packed_logps(
    model: Any, ids: Tensor, mask: Tensor, length: int, temperature: float, room: int
) -> tuple[Tensor, Tensor]:
    """As `likelihood.completion_logps`. room: of how many tokens' activations, times layers, there is memory."""
    real = mask.bool()
    lengths = mask.sum(dim=1)
    starts = F.pad(lengths.cumsum(0), (1, 0)).int()
    learned = torch.zeros_like(real)
    learned[:, -length:] = real[:, -length:]
    asked = learned[real].nonzero().squeeze(1) - 1  # each token is predicted one place before
    with torch.autocast(ids.device.type, enabled=False):
        hidden = last_hidden(model, ids[real], (mask.cumsum(dim=1) - 1)[real], starts, int(lengths.max()), room)
        logps, entropies = head(model, hidden.index_select(0, asked), ids[learned], temperature)
    seen = learned[:, -length:]
    return (
        logps.new_zeros(seen.shape).masked_scatter(seen, logps),
        entropies.new_zeros(seen.shape).masked_scatter(seen, entropies),
    )


def head(model: Any, hidden: Tensor, targets: Tensor, temperature: float) -> tuple[Tensor, Tensor]:
    """Log-probabilities of targets [N] and entropies after hidden [N, size], by TRL, which never holds all logits."""
    weight = model.get_base_model().lm_head.weight
    chunk = trl_trainer.grpo_trainer._CHUNKED_LOGPROB_CHUNK_SIZE
    found: tuple[Tensor, Tensor] = _ChunkedLogProbFunction.apply(
        hidden, weight, None, targets, temperature, chunk, None, 1.0
    )
    return found


def last_hidden(model: Any, ids: Tensor, positions: Tensor, starts: Tensor, longest: int, room: int) -> Tensor:
    """[N, size] behind the last norm, of packed ids [N]. The last layers' activations are kept: they go first."""
    trunk = model.get_base_model().model
    x = F.embedding(ids, trunk.embed_tokens.weight)
    cos, sin = (angles[0] for angles in trunk.rotary_emb(x, positions[None]))
    again = len(trunk.layers) - kept_layers(room, len(ids), len(trunk.layers)) if torch.is_grad_enabled() else 0
    for index, layer in enumerate(trunk.layers):
        read = partial(_layer, layer=layer, cos=cos, sin=sin, starts=starts, longest=longest)
        x = checkpoint(read, x, use_reentrant=False, preserve_rng_state=False) if index < again else read(x)
    return _norm(x, trunk.norm)


def kept_layers(room: int, tokens: int, layers: int) -> int:
    """Of how many layers the activations of so many tokens are kept."""
    return min(layers, room // tokens)


def _layer(x: Tensor, layer: Any, cos: Tensor, sin: Tensor, starts: Tensor, longest: int) -> Tensor:
    attention = layer.self_attn
    mlp = layer.mlp
    normed = _norm(x, layer.input_layernorm)
    packed = _adapted(normed, attention.q_proj, attention.k_proj, attention.v_proj)
    query, keys, values = (states.unflatten(1, (-1, attention.head_dim)) for states in packed)
    query = Rotated.apply(_norm(query, attention.q_norm), cos, sin)
    keys = Rotated.apply(_norm(keys, attention.k_norm), cos, sin)
    mixed = attend(query, keys, values, starts, longest).flatten(1)
    x = x + _adapted(mixed, attention.o_proj)[0]
    gated = Gated.apply(*_adapted(_norm(x, layer.post_attention_layernorm), mlp.gate_proj, mlp.up_proj))
    return x + _adapted(gated, mlp.down_proj)[0]


def _norm(x: Tensor, norm: Any) -> Tensor:
    return F.rms_norm(x, (x.shape[-1],), norm.weight, norm.variance_epsilon)


def _adapted(x: Tensor, *linears: Any) -> tuple[Tensor, ...]:
    name = linears[0].active_adapters[0]
    fixed = [linear.base_layer.weight for linear in linears]
    trained = [part[name].weight for side in ("lora_A", "lora_B") for part in (getattr(one, side) for one in linears)]
    outs: tuple[Tensor, ...] = Adapted.apply(x, linears[0].scaling[name], *fixed, *trained)
    return outs
