"""Batched sampling from a Qwen3 model, several times faster than `generate`.

What makes the difference is not arithmetic but overhead: every distinct prompt is read once however often it is
sampled, adapters are merged into plain matrices first, keys and values live in one preallocated block and are never
repeated for the heads that share them, and sequences that have ended leave the batch. Greedy tokens equal those of
`transformers` (tests/test_decode.py); kernels and traffic per token are bounded (tests/test_foresight.py). The loop
here is a CPU's; a GPU has one of fixed shapes (tucano/training/samplers/slots.py). What was left out: other
architectures and 4-bit weights (`LocalSampler` falls back to `generate` for them), top-k and top-p.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from tucano.training.checkpoints import interruption
from tucano.training.samplers import slots
from tucano.training.samplers.forms import Held

SHRINK_AT = 0.75
"""The batch is compacted when at most this share of its rows is still unfinished: copying caches costs time as well."""


@dataclass(frozen=True, slots=True)
class _Layer:
    input_norm: Tensor
    query_key_value: Tensor
    query_key_norm: Tensor
    output: Tensor
    post_norm: Tensor
    gate_up: Tensor
    down: Tensor


def supports(model: Any) -> bool:
    """Whether `Decoder` can stand in for `model.generate`: a dense Qwen3, on a CPU in float32 (16 bits are slow there),
    elsewhere in any precision but 4 bits.
    """
    config = model.config
    plain = config.model_type == "qwen3" and not config.attention_bias and not config.use_sliding_window
    weights = list(model.parameters())  # all of them: the embedding of a 4-bit model is in float32 as well
    on_cpu = weights[0].device.type == "cpu"
    return plain and all(w.dtype == torch.float32 if on_cpu else w.is_floating_point() for w in weights)


def _merged(linear: Any) -> Tensor:
    """The weight [out, in] that a linear layer applies, its active LoRA adapters (W + scaling * B A) included. Added in
    float32 and rounded once, to the base's precision.
    """
    if not hasattr(linear, "base_layer"):
        return linear.weight
    base = linear.base_layer.weight
    weight = base.float()
    for name in linear.active_adapters:
        change = linear.lora_B[name].weight.float() @ linear.lora_A[name].weight.float()
        weight = weight + linear.scaling[name] * change
    return weight.to(base.dtype)


def _rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary position embedding in the half-split layout of Llama and Qwen; `sin` has its first half negated."""
    return x * cos + x.roll(x.shape[-1] // 2, dims=-1) * sin


class Cache:
    """Keys and values of each layer: [rows, kv heads, positions, head size]."""

    def __init__(self, layers: int, shape: tuple[int, int, int, int], like: Tensor) -> None:
        self.keys, self.values = ([like.new_zeros(shape) for _ in range(layers)] for _ in ("keys", "values"))

    @property
    def positions(self) -> int:
        return self.keys[0].shape[2]

    def write(self, layer: int, place: slice | Tensor, key: Tensor, value: Tensor) -> None:
        """Keep [rows, kv heads, length, head size] at `place` among the positions. A slice is where the host knows;
        a tensor [length] is on the device, which alone knows.
        """
        for kept, new in ((self.keys[layer], key), (self.values[layer], value)):
            if isinstance(place, slice):
                kept[:, :, place] = new
            else:
                kept.index_copy_(2, place, new)

    def select(self, rows: Tensor, used: int, positions: int) -> None:
        """Hold only `rows` from now on (repeats allowed), of which the first `used` positions are filled. A layer is
        let go before the next one is made: a cache may take half of a GPU, and there is no room for two.
        """
        for kept in (self.keys, self.values):
            for layer in range(len(kept)):
                kept[layer] = _selected(kept[layer], rows, used, positions)


def _selected(kept: Tensor, rows: Tensor, used: int, positions: int) -> Tensor:
    _, heads, _, size = kept.shape
    chosen = kept.new_zeros(len(rows), heads, positions, size)
    chosen[:, :, :used] = kept[rows, :, :used]
    return chosen


class Decoder:
    """A snapshot of a model's weights, ready to sample from; make a new one after every optimizer step."""

    @torch.no_grad()
    def __init__(self, model: Any) -> None:
        base = model.get_base_model() if hasattr(model, "get_base_model") else model
        config = base.config
        self.heads, self.kv_heads = config.num_attention_heads, config.num_key_value_heads
        self.head_size = config.head_dim
        self.epsilon = config.rms_norm_eps
        self.embedding, self.head = base.model.embed_tokens.weight, base.lm_head.weight
        self.final_norm = base.model.norm.weight
        self.layers = [self._pack(layer) for layer in base.model.layers]
        exponents = torch.arange(0, self.head_size, 2).float() / self.head_size
        angles = torch.outer(
            torch.arange(config.max_position_embeddings).float(), config.rope_parameters["rope_theta"] ** -exponents
        )
        cos, sin = torch.cat((angles, angles), dim=-1).cos(), torch.cat((-angles, angles), dim=-1).sin()
        self.cos = cos.to(self.embedding)
        self.sin = sin.to(self.embedding)

    def _pack(self, layer: Any) -> _Layer:
        attention = layer.self_attn
        mlp = layer.mlp
        norms = (attention.q_norm.weight.expand(self.heads, -1), attention.k_norm.weight.expand(self.kv_heads, -1))
        return _Layer(
            input_norm=layer.input_layernorm.weight,
            query_key_value=torch.cat([_merged(m) for m in (attention.q_proj, attention.k_proj, attention.v_proj)]),
            query_key_norm=torch.cat(norms).unsqueeze(1),
            output=_merged(attention.o_proj),
            post_norm=layer.post_attention_layernorm.weight,
            gate_up=torch.cat([_merged(mlp.gate_proj), _merged(mlp.up_proj)]),
            down=_merged(mlp.down_proj),
        )

    def _norm(self, x: Tensor, weight: Tensor | None) -> Tensor:
        return F.rms_norm(x, (x.shape[-1],), weight, self.epsilon)

    def forward(self, ids: Tensor, positions: Tensor, cache: Cache, place: slice | Tensor, mask: Tensor) -> Tensor:
        """Next-token logits [rows, vocabulary] of the last of `ids` [rows, length], which the cache keeps at `place`.

        `mask` is additive, broadcastable to [rows, heads, length, seen]: as many positions of the cache are attended.
        """
        rows, length = ids.shape
        seen = mask.shape[-1]
        cos, sin = self.cos[positions].unsqueeze(1), self.sin[positions].unsqueeze(1)
        x = F.embedding(ids, self.embedding)
        for index, layer in enumerate(self.layers):
            packed = F.linear(self._norm(x, layer.input_norm), layer.query_key_value)
            states = packed.view(rows, length, self.heads + 2 * self.kv_heads, self.head_size).transpose(1, 2)
            asked, value = states.split((self.heads + self.kv_heads, self.kv_heads), dim=1)
            rotated = _rotate(self._norm(asked, None) * layer.query_key_norm, cos, sin)
            query, key = rotated.split((self.heads, self.kv_heads), dim=1)
            cache.write(index, place, key, value)
            mixed = self._attend(query, cache.keys[index][:, :, :seen], cache.values[index][:, :, :seen], mask)
            x = x + F.linear(mixed.reshape(rows, length, -1), layer.output)
            gate, up = F.linear(self._norm(x, layer.post_norm), layer.gate_up).chunk(2, dim=-1)
            x = x + F.linear(F.silu(gate) * up, layer.down)
        return F.linear(self._norm(x[:, -1], self.final_norm), self.head)

    def _attend(self, query: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
        """[rows, length, heads, size] of a query [rows, heads, length, size] over keys of fewer heads.

        For a single token the heads that share keys are laid where a sequence would be: one kernel that reads every key
        once. For prompts a GPU gets the keys of every head: its fused kernels that take a mask take no fewer, and
        without one all scores are held. How the result lies in memory is each kernel's own matter: cuDNN's is
        contiguous, flash and memory-efficient attention lay heads innermost.
        """
        rows, heads, length, size = query.shape
        if length > 1:
            few = keys.device.type == "cpu"
            if not few:
                keys, values = (kept.repeat_interleave(heads // self.kv_heads, dim=1) for kept in (keys, values))
            mixed = F.scaled_dot_product_attention(query, keys, values, attn_mask=mask, enable_gqa=few)
            return mixed.transpose(1, 2)
        shared = query.reshape(rows, self.kv_heads, heads // self.kv_heads, size)
        return F.scaled_dot_product_attention(shared, keys, values, attn_mask=mask).reshape(rows, 1, heads, size)

    def opened(
        self, prompts: Sequence[Sequence[int]], most: int, multiple: int = 1
    ) -> tuple[Tensor, Cache, Tensor, Tensor]:
        """Every distinct prompt read once: logits [N, V] of the first token of each of N completions, a cache with room
        for `most` tokens of each (its positions a multiple of `multiple`), additive key mask [N, 1, 1, L] of the
        prompts, their lengths [N].
        """
        distinct = list(dict.fromkeys(tuple(prompt) for prompt in prompts))
        row_of = {prompt: row for row, prompt in enumerate(distinct)}
        rows = torch.tensor([row_of[tuple(prompt)] for prompt in prompts], device=self.embedding.device)
        logits, cache, mask, lengths = self._read(distinct)
        read = mask.shape[-1]
        room = -(-(read + most) // multiple) * multiple
        cache.select(rows, read, room)
        return logits[rows], cache, mask[rows], lengths[rows]

    def _read(self, prompts: list[tuple[int, ...]]) -> tuple[Tensor, Cache, Tensor, Tensor]:
        """Read distinct prompts, left-padded: logits [P, V], cache, additive key mask [P, 1, 1, L], lengths [P]."""
        longest = max(map(len, prompts))
        device = self.embedding.device
        ids = torch.tensor([[0] * (longest - len(prompt)) + list(prompt) for prompt in prompts], device=device)
        lengths = torch.tensor([len(prompt) for prompt in prompts], device=device)
        real = torch.arange(longest, device=device) >= (longest - lengths)[:, None]
        positions = (real.cumsum(dim=1) - 1).clamp(min=0)
        visible = torch.ones(longest, longest, dtype=torch.bool, device=device).tril() & real[:, None, :]
        # a padded row must see something, or its softmax is NaN
        visible = visible | torch.eye(longest, dtype=torch.bool, device=device)
        cache = Cache(len(self.layers), (len(prompts), self.kv_heads, longest, self.head_size), self.embedding)
        logits = self.forward(ids, positions, cache, slice(longest), self._additive(visible)[:, None])
        return logits, cache, self._additive(real)[:, None, None], lengths

    def _additive(self, visible: Tensor) -> Tensor:
        return torch.zeros_like(visible, dtype=self.embedding.dtype).masked_fill(~visible, float("-inf"))

    @torch.no_grad()
    def sample(
        self,
        prompts: Sequence[Sequence[int]],
        max_new_tokens: int,
        stop: Sequence[int],
        temperature: float,
        generator: torch.Generator | None = None,
        held: Held | None = None,
    ) -> list[list[int]]:
        """Completions of `prompts` in their order, each ending with a stop token unless it reached `max_new_tokens`.

        Temperature 0 is greedy. `generator` None draws from torch's global generator, whose state checkpoints hold.
        held: to which form; only on a CPU.
        """
        if self.embedding.device.type != "cpu":
            return slots.sample(self, prompts, max_new_tokens, stop, temperature, generator)
        logits, cache, mask, positions = self.opened(prompts, max_new_tokens)
        read, capacity = mask.shape[-1], cache.positions
        mask = F.pad(mask, (0, max_new_tokens))
        completions: list[list[int]] = [[] for _ in prompts]
        owner = list(range(len(prompts)))
        unfinished = set(owner)
        for step in range(max_new_tokens):
            interruption.check()
            if held is not None:
                logits = held.masked(logits, owner, completions)
            tokens = draw(logits, temperature, generator)
            for row, token in zip(owner, tokens.tolist(), strict=True):
                if row in unfinished:
                    completions[row].append(token)
                    if token in stop:
                        unfinished.discard(row)
            if not unfinished or step == max_new_tokens - 1:
                break
            used = read + step
            if len(unfinished) <= SHRINK_AT * len(owner):
                kept = [index for index, row in enumerate(owner) if row in unfinished]
                keep = torch.tensor(kept)
                cache.select(keep, used, capacity)
                tokens, positions, mask = tokens[keep], positions[keep], mask[keep]
                owner = [owner[index] for index in kept]
            logits = self.forward(
                tokens[:, None], positions[:, None], cache, slice(used, used + 1), mask[..., : used + 1]
            )
            positions = positions + 1
        return completions


def draw(logits: Tensor, temperature: float, generator: torch.Generator | None) -> Tensor:
    """One token per row [rows] from logits [rows, vocabulary]."""
    if temperature == 0:
        return logits.argmax(dim=-1)
    # By inverting the distribution function: one uniform number per row, three times as fast as torch.multinomial here.
    cumulated = F.softmax(logits.float() / temperature, dim=-1).cumsum(dim=-1)
    thresholds = torch.rand(len(logits), 1, generator=generator) * cumulated[:, -1:]
    return torch.searchsorted(cumulated, thresholds, right=True).squeeze(1).clamp(max=logits.shape[1] - 1)
