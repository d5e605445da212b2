"""What decides the last bits of every sum beside recipe and code: the number of threads, the machine's way of adding,
and on a GPU the kernels that may be chosen.

Sums are cut into as many parts as there are threads, whatever cores there are: 4 threads on one core give the bits of 4
threads on four. So a training goes on with the number of threads that it began with
(tucano/training/checkpoints/attempts.py), on any machine. The processor cannot be chosen: another instruction set gives
other bits, and that is said and recorded.

Of a GPU the attention of cuDNN is left out: it makes a plan for every new length (1.4 ms per layer and token on an
H200, where the kernel takes .05), and would be chosen on some machines only. `deterministic` is torch's own switch:
operations take their deterministic form, and those without one raise. Where torch may only warn, flash and
memory-efficient attention do not: backwards they add in any order. It says nothing of kernels that others bring:
Unsloth's and those of bitsandbytes are theirs.
"""

import hashlib
import json
import os
import platform
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
import torch.nn.functional as F

from tucano.training.checkpoints.states import raw

FILE = "arithmetic.json"
_VECTOR_MATHS = (
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "erf", "erfc", "erfinv", "exp", "exp2",
    "expm1", "floor", "lgamma", "log", "log10", "log1p", "log2", "reciprocal", "round", "rsqrt", "sigmoid", "sin",
    "sinh", "sqrt", "tan", "tanh", "trunc",
)  # fmt: skip
"""Functions of one argument, among them all that torch hands to MKL's vector maths (ATen/cpu/vml.h)."""


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`probe` is the digest of a small fixed computation: machines on which it differs do not train to the same
    bits. kernels: those that a GPU may choose from.
    """

    threads: int
    machine: str
    probe: str
    kernels: str = ""


def settle(checkpoint: Path | None, threads: int, device: str) -> tuple[list[Arithmetic], str | None]:
    """Compute with `threads` from now on.

    Returns every arithmetic that the training at `checkpoint` has had, this one last, and a sentence where it is not
    the one before.
    """
    known = [] if checkpoint is None else json.loads((checkpoint / FILE).read_text(encoding="utf-8"))
    had = [Arithmetic(**fields) for fields in known]
    here = measured(threads, device)
    if not had or here == had[-1]:
        return had or [here], None
    return [*had, here], (
        f"this machine ({_said(here)}) adds otherwise than the one that trained before ({_said(had[-1])}): "
        "from here on the weights may differ in their last bits from those of a run left alone"
    )


def write(had: list[Arithmetic], checkpoint: Path) -> None:
    (checkpoint / FILE).write_text(json.dumps([asdict(one) for one in had], indent=1), encoding="utf-8")


def measured(threads: int, device: str) -> Arithmetic:
    """How this machine computes on `device` (cpu or cuda) with `threads`, which it does from now on."""
    compute_with(threads)
    if device == "cuda":
        return Arithmetic(threads, torch.cuda.get_device_name(), probe(device), chosen())
    return Arithmetic(threads, f"{platform.machine()} {torch.backends.cpu.get_cpu_capability()}", probe(device))


def _said(one: Arithmetic) -> str:
    return f"{one.machine}, {one.kernels}" if one.kernels else one.machine


def probe(device: str) -> str:
    """What a layer of a language model computes forwards and backwards, in small: products, attention, exponentials,
    long sums; on a GPU in 16 bits, whose kernels are others.
    """
    generator = torch.Generator().manual_seed(0)
    dtype = torch.float32 if device == "cpu" else torch.bfloat16
    x, weight = (torch.rand(256, size, generator=generator).to(device, dtype).requires_grad_() for size in (384, 512))
    heads = (x.T @ weight).view(1, 8, 384, 64)
    mixed = F.scaled_dot_product_attention(heads, heads, heads, is_causal=True)
    loss = F.silu(F.rms_norm(mixed, (64,))).flatten(2).log_softmax(dim=-1).exp().square().sum()
    found = (loss, *torch.autograd.grad(loss, (x, weight)))
    return hashlib.sha256(torch.cat([raw(values) for values in found]).numpy().tobytes()).hexdigest()[:16]


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


def choose(deterministic: bool, patched: bool) -> None:
    """From now on. patched: whether a library has put kernels of its own in; torch only warns there, since what has no
    deterministic form is not ours to change.
    """
    torch.backends.cuda.enable_cudnn_sdp(False)
    torch.backends.cudnn.benchmark = False
    torch.use_deterministic_algorithms(deterministic, warn_only=patched)
    # a kernel more for each tensor that is made
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]


def chosen() -> str:
    """What is chosen, for the record of a training; a run that goes on elsewhere is compared by it."""
    cuda = torch.backends.cuda
    kinds = {
        "flash": cuda.flash_sdp_enabled(),
        "efficient": cuda.mem_efficient_sdp_enabled(),
        "math": cuda.math_sdp_enabled(),
        "cudnn": cuda.cudnn_sdp_enabled(),
    }
    warns = " where torch is strict (warn only)" if torch.is_deterministic_algorithms_warn_only_enabled() else ""
    strict = f"deterministic{warns}" if torch.are_deterministic_algorithms_enabled() else "any order"
    workspace = os.environ.get("CUBLAS_WORKSPACE_CONFIG", "")
    attention = ", ".join(name for name, on in kinds.items() if on)
    return f"attention {attention}; {strict}; cuBLAS {workspace}; torch {torch.__version__}"
