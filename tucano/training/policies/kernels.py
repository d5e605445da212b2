"""Two operations of a training pass in Triton: each value is read once and written once, and computed in float32.

What they compute is said in plain torch in tucano/training/policies/fused.py, which tests/test_unsloth.py holds them
against in Triton's interpreter. They are deterministic: every value is computed by itself.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

BLOCK = 1024


@triton.jit
def _rotate(x, cos, sin, out, heads, HEADS: tl.constexpr, HALF: tl.constexpr):
    token = tl.program_id(0).to(tl.int64)
    head = tl.arange(0, HEADS)[:, None]
    lane = tl.arange(0, HALF)[None, :]
    at = (token * heads + head) * 2 * HALF + lane
    there = (head < heads) & (lane < HALF)
    first = tl.load(x + at, mask=there).to(tl.float32)
    second = tl.load(x + at + HALF, mask=there).to(tl.float32)
    c = tl.load(cos + token * 2 * HALF + lane).to(tl.float32)
    s = tl.load(sin + token * 2 * HALF + lane).to(tl.float32)
    tl.store(out + at, first * c - second * s, mask=there)
    tl.store(out + at + HALF, second * c + first * s, mask=there)


@triton.jit
def _gate(gates, ups, out, size, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    there = at < size
    x = tl.load(gates + at, mask=there).to(tl.float32)
    up = tl.load(ups + at, mask=there).to(tl.float32)
    tl.store(out + at, x * tl.sigmoid(x) * up, mask=there)


@triton.jit
def _gate_back(change, gates, ups, back, others, size, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    there = at < size
    slope = tl.load(change + at, mask=there).to(tl.float32)
    x = tl.load(gates + at, mask=there).to(tl.float32)
    up = tl.load(ups + at, mask=there).to(tl.float32)
    share = tl.sigmoid(x)
    tl.store(back + at, slope * up * share * (1 + x * (1 - share)), mask=there)
    tl.store(others + at, slope * x * share, mask=there)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    tokens, heads, size = x.shape
    out = torch.empty_like(x)
    _rotate[(tokens,)](x, cos, sin, out, heads, HEADS=triton.next_power_of_2(heads), HALF=size // 2)
    return out


def gate(gates: Tensor, ups: Tensor) -> Tensor:
    out = torch.empty_like(gates)
    _gate[(triton.cdiv(out.numel(), BLOCK),)](gates, ups, out, out.numel(), BLOCK=BLOCK)
    return out


def gate_back(change: Tensor, gates: Tensor, ups: Tensor) -> tuple[Tensor, Tensor]:
    back = torch.empty_like(gates)
    others = torch.empty_like(gates)
    _gate_back[(triton.cdiv(back.numel(), BLOCK),)](change, gates, ups, back, others, back.numel(), BLOCK=BLOCK)
    return back, others
