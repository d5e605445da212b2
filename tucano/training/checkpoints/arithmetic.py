"""What decides the last bits of every sum beside recipe and code: the number of threads, the machine's way of adding,
and on a GPU the kernels that may be chosen.

Sums are cut into as many parts as there are threads, whatever cores there are: 4 threads on one core give the bits of 4
threads on four. So a training goes on with the number of threads that it began with
(tucano/training/checkpoints/attempts.py), on any machine. The processor cannot be chosen: another instruction set gives
other bits, and that is said and recorded.
"""

import hashlib
import json
import platform
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
import torch.nn.functional as F

from tucano.training.checkpoints import exact
from tucano.training.checkpoints.states import raw
from tucano.training.threads import compute_with

FILE = "arithmetic.json"


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
        return Arithmetic(threads, torch.cuda.get_device_name(), probe(device), exact.chosen())
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
