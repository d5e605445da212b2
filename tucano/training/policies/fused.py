"""The operations of a training pass, each of which reads and writes a tensor once on a GPU and keeps only its inputs.

On CUDA rotation and gate are kernels of ours (tucano/training/policies/kernels.py), attention is torch's flash kernel
for rows of any length, and an adapter's product is added by the matrix product that follows it. Elsewhere the same is
written in plain operations. Liger's kernels do as much, but replace classes of transformers for the whole process.
"""

from itertools import pairwise
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd import Function


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary embedding of x [N, heads, size] by cos and sin [N, size], whose halves are equal."""
    if x.is_cuda:
        from tucano.training.policies import kernels

        return kernels.rotate(x.contiguous(), cos, sin)
    first, second = x.chunk(2, dim=-1)
    return x * cos[:, None] + torch.cat((-second, first), dim=-1) * sin[:, None]


def gate(gates: Tensor, ups: Tensor) -> Tensor:
    """silu(gates) * ups, all [N, size]."""
    if gates.is_cuda:
        from tucano.training.policies import kernels

        return kernels.gate(gates, ups)
    return F.silu(gates) * ups


def gate_back(change: Tensor, gates: Tensor, ups: Tensor) -> tuple[Tensor, Tensor]:
    """The gradients of `gate`'s inputs, given that of its output."""
    if gates.is_cuda:
        from tucano.training.policies import kernels

        return kernels.gate_back(change.contiguous(), gates, ups)
    open_share = gates.sigmoid()
    return change * ups * open_share * (1 + gates * (1 - open_share)), change * gates * open_share


class Rotated(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        ctx.save_for_backward(cos, sin)
        return rotate(x, cos, sin)

    @staticmethod
    def backward(ctx: Any, change: Tensor) -> Any:
        cos, sin = ctx.saved_tensors
        return rotate(change, cos, -sin), None, None


class Gated(Function):
    @staticmethod
    def forward(ctx: Any, gates: Tensor, ups: Tensor) -> Tensor:
        ctx.save_for_backward(gates, ups)
        return gate(gates, ups)

    @staticmethod
    def backward(ctx: Any, change: Tensor) -> Any:
        return gate_back(change, *ctx.saved_tensors)


class Adapted(Function):
    """x W^T + scaling (x A^T) B^T of several layers that read the same x, for their fixed W and the trained A and B.

    A and B are rounded to the precision of x, in which they are multiplied, as autocast does; sums are in float32,
    and so are the gradients of A and B. x itself is never converted.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, scaling: float, *weights: Tensor) -> tuple[Tensor, ...]:
        """weights: all W [out, in], then all A [rank, in], then all B [out, rank]."""
        size = len(weights) // 3
        fixed = weights[:size]
        stacked = (torch.cat(weights[size : 2 * size]) * scaling).to(x.dtype)
        rounded = [weight.to(x.dtype) for weight in weights[2 * size :]]
        narrow = x @ stacked.T
        ctx.save_for_backward(x, narrow, stacked, *fixed, *rounded)
        ctx.scaling = scaling
        outs = [x @ weight.T for weight in fixed]
        for out, low, weight in zip(outs, narrow.chunk(size, dim=1), rounded, strict=True):
            out.addmm_(low, weight.T)
        return tuple(outs)

    @staticmethod
    def backward(ctx: Any, *changes: Tensor) -> Any:
        size = len(changes)
        x, narrow, stacked, *weights = ctx.saved_tensors
        lows = torch.cat([change @ weight for change, weight in zip(changes, weights[size:], strict=True)], dim=1)
        first = (ctx.scaling * _summed(lows.T, x)).chunk(size)
        second = [_summed(change.T, low) for change, low in zip(changes, narrow.chunk(size, dim=1), strict=True)]
        back = None
        if ctx.needs_input_grad[0]:
            back = lows @ stacked
            for change, weight in zip(changes, weights[:size], strict=True):
                back.addmm_(change, weight)
        return back, None, *[None] * size, *first, *second


def _summed(left: Tensor, right: Tensor) -> Tensor:
    """A product in float32 of factors in 16 bits, where there is a kernel for it."""
    if left.is_cpu or left.dtype == torch.float32:
        return (left @ right).float()
    return torch.mm(left, right, out_dtype=torch.float32)


class _Flash(Function):
    """torch's own flash attention, by the names that it has in every version from 2.11 on (`varlen_attn` changes)."""

    @staticmethod
    def forward(ctx: Any, query: Tensor, keys: Tensor, values: Tensor, starts: Tensor, longest: int) -> Tensor:
        out, spread, *state, _ = torch.ops.aten._flash_attention_forward(
            query, keys, values, starts, starts, longest, longest, 0.0, True, False
        )
        ctx.save_for_backward(query, keys, values, out, spread, starts, *state)
        ctx.longest = longest
        return out

    @staticmethod
    def backward(ctx: Any, change: Tensor) -> Any:
        *inputs, starts, seed, offset = ctx.saved_tensors
        back = torch.ops.aten._flash_attention_backward(
            change.contiguous(), *inputs, starts, starts, ctx.longest, ctx.longest, 0.0, True, seed, offset
        )
        return *back, None, None


def attend(query: Tensor, keys: Tensor, values: Tensor, starts: Tensor, longest: int) -> Tensor:
    """Causal attention [N, heads, size] of rows that lie behind one another, the k-th from starts[k] to starts[k+1]."""
    if not query.is_cpu:
        return _Flash.apply(query, keys, values, starts, longest)
    rows = []
    for start, end in pairwise(starts.tolist()):
        one, own, told = (x[start:end].transpose(0, 1) for x in (query, keys, values))
        rows.append(F.scaled_dot_product_attention(one, own, told, is_causal=True, enable_gqa=True))
    return torch.cat(rows, dim=1).transpose(0, 1)
