"""Computing with several threads, to the same bits in every process."""

import torch

_VECTOR_MATHS = (
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "erf", "erfc", "erfinv", "exp", "exp2",
    "expm1", "floor", "lgamma", "log", "log10", "log1p", "log2", "reciprocal", "round", "rsqrt", "sigmoid", "sin",
    "sinh", "sqrt", "tan", "tanh", "trunc",
)  # fmt: skip
"""Functions of one argument, among them all that torch hands to MKL's vector maths (ATen/cpu/vml.h)."""


def compute_with(threads: int) -> None:
    """Compute with `threads` from now on, after one thread alone has called every function of MKL's vector maths.

    MKL chooses the kernel of such a function at its first call. Where two threads make that call at once, one of them
    may get a kernel of lower accuracy for it: a process in some hundred would then compute other bits than the rest
    (pytorch/pytorch issue 188792; MKL 2024.2, which torch 2.13 contains).
    """
    torch.set_num_threads(1)
    for dtype in (torch.float32, torch.float64):
        half = torch.full((1,), 0.5, dtype=dtype)
        for name in _VECTOR_MATHS:
            getattr(torch, name)(half)
    torch.set_num_threads(threads)
