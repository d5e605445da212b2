"""A stand-in for CUDA, so that Unsloth's own loader, kernels, generate and trainer run where no GPU is
(tests/test_unsloth.py).

Whatever is put on `cuda` stays on the CPU, `torch.cuda` answers as an L4 would, autocast for CUDA is autocast on the
CPU, and Triton's kernels run in its interpreter, which learns bfloat16. NF4 is computed by bitsandbytes for CPUs and by
Unsloth's own kernels. What that cannot show: the speed, the memory, and whether a kernel compiles.

    sh python-of-cuda -m tucano.training.worker job.json    # `interpreter` writes it
"""

import contextlib
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch.overrides import TorchFunctionMode
from torch.utils import checkpoint

ROOT = Path(__file__).parent.parent
GIB = 1024**3
SWITCHES = {
    "TRITON_INTERPRET": "1",
    "UNSLOTH_COMPILE_DISABLE": "1",
    "TORCHDYNAMO_DISABLE": "1",
    "UNSLOTH_GEMV_MAX_ROWS": "1",  # rows are dequantised for together, as for the many of a real batch
    "HF_DEACTIVATE_ASYNC_LOAD": "1",  # what stands in for CUDA does so in one thread
    "TRITON_LIBCUDA_PATH": "/nowhere",  # or Unsloth has the system's linker look for it, as root with `ldconfig`
}


def interpreter(folder: Path, python: str) -> str:
    """A command that stands in for `python` on a machine with CUDA. Unsloth's generated code goes into `folder`."""
    script, switches = folder / "python-of-cuda", " ".join(f"{name}={value}" for name, value in SWITCHES.items())
    command = f'cd {folder}\nexec env {switches} {python} -W ignore {__file__} "$@"'
    script.write_text(f"#!/bin/sh\n{command}\n", encoding="utf-8")
    script.chmod(0o755)
    return str(script)


CARD = torch.device("cuda", 0)
AT, ON_CUDA = torch.Tensor.device.__get__, torch.Tensor.is_cuda.__get__  # type: ignore[attr-defined]


class OnCpu(TorchFunctionMode):
    """Tensors say that they are on CUDA, and every call that names CUDA names the CPU."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = {name: value for name, value in (kwargs or {}).items() if name != "pin_memory"}
        if function in (torch.Tensor.cuda, torch.Tensor.pin_memory):
            return args[0]
        if function == ON_CUDA:
            return not args[0].is_meta
        if function is torch.device:
            return CARD if type(args[0]) is int else function(*args, **given)
        if function is torch.Tensor.to and type(args[-1]) is int:
            args = (*args[:-1], CARD)
        if type(given.get("device")) is int:
            given["device"] = CARD
        found = function(*map(_here, args), **{name: _here(value) for name, value in given.items()})
        return CARD if function == AT and found.type == "cpu" else found


def _here(value: Any) -> Any:
    named = value.type if isinstance(value, torch.device) else value
    return torch.device("cpu") if isinstance(named, str) and named.partition(":")[0] == "cuda" else value


def _backwards(*args: Any, _engine: Any = torch.autograd._engine_run_backward, **kwargs: Any) -> Any:
    """Checkpointed layers are computed again in here, and inside an intercepted call nothing is intercepted."""
    with OnCpu():
        return _engine(*args, **kwargs)


class Device(contextlib.nullcontext[None]):
    """In place of torch.cuda.device."""

    idx = 0


def _bits_to_float(handle: Any) -> Any:
    """A handle of Triton's interpreter that holds bfloat16, as bits in uint16, in float32; any other as it is."""
    from triton.language import bfloat16, float32
    from triton.runtime.interpreter import TensorHandle

    if not isinstance(handle, TensorHandle) or handle.dtype.scalar != bfloat16:
        return handle
    return TensorHandle((np.asarray(handle.data).astype(np.uint32) << 16).view(np.float32), float32)


def _float_to_bits(handle: Any) -> Any:
    """The way back, to the nearest and the even one of two; what a comparison gives, as it is."""
    from triton.language import bfloat16
    from triton.runtime.interpreter import TensorHandle

    if handle.data.dtype != np.float32:
        return handle
    bits = np.ascontiguousarray(handle.data).view(np.uint32)
    nearest = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return TensorHandle(np.where(np.isnan(handle.data), 0x7FC0, nearest).astype(np.uint16), bfloat16)


def teach_triton_bfloat16() -> None:
    """Its interpreter would calculate with the bits of bfloat16, and cut what it casts. A GPU calculates in float32 and
    rounds.
    """
    from triton.language import bfloat16, float32
    from triton.runtime.interpreter import InterpreterBuilder, TensorHandle

    def calculating(compute: Any) -> Any:
        def computed(builder: Any, *given: Any) -> Any:
            last = [value for value in given if isinstance(value, TensorHandle)][-1]  # which gives the type
            found = compute(builder, *map(_bits_to_float, given))
            return _float_to_bits(found) if last.dtype.scalar == bfloat16 else found

        return computed

    def casting(cast: Any) -> Any:
        def done(builder: Any, source: Any, kind: Any, *rest: Any) -> Any:
            if kind.scalar == bfloat16:
                return _float_to_bits(cast(builder, _bits_to_float(source), float32, *rest))
            return cast(builder, _bits_to_float(source), kind, *rest)

        return done

    arithmetic = ("binary_op", "ternary_op", "unary_op", "create_fma", "create_erf", "create_rsqrt", "create_dot")
    for wrap, names in ((calculating, arithmetic), (casting, ("cast_impl", "create_fp_to_fp"))):
        for name in names:
            setattr(InterpreterBuilder, name, wrap(getattr(InterpreterBuilder, name)))


def _autocast_on_cpu() -> None:
    """What is said of autocast on CUDA holds on the CPU."""
    begin = torch.autocast.__init__

    def there(device: str) -> str:
        return "cpu" if device == "cuda" else device

    def begun(context: Any, device_type: str, *rest: Any, **named: Any) -> None:
        begin(context, there(device_type), *rest, **named)

    torch.autocast.__init__ = begun  # type: ignore[assignment,method-assign]
    for name in ("is_autocast_enabled", "get_autocast_dtype", "set_autocast_enabled", "set_autocast_dtype"):
        own = getattr(torch, name)
        setattr(torch, name, lambda device="cuda", *rest, _own=own: _own(there(device), *rest))


def pretend() -> None:
    """From now on this process has a GPU."""
    stream = SimpleNamespace(cuda_stream=0, synchronize=lambda: None)
    card = SimpleNamespace(
        name="stand-in",
        major=8,
        minor=9,
        total_memory=24 * GIB,
        multi_processor_count=58,
        warp_size=32,
        max_threads_per_multi_processor=1536,
        regs_per_multiprocessor=65536,
        shared_memory_per_block_optin=101376,
    )
    nothing = ("synchronize", "empty_cache", "set_device", "manual_seed", "manual_seed_all", "set_rng_state")
    free = ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved", "current_device")
    answers = {
        **dict.fromkeys((*nothing, "reset_peak_memory_stats"), None),
        **dict.fromkeys(free, 0),
        **dict.fromkeys(("current_stream", "default_stream"), stream),
        **dict.fromkeys(("is_available", "is_bf16_supported"), True),
        "is_current_stream_capturing": False,
        "device_count": 1,
        "get_device_name": card.name,
        "get_device_properties": card,
        "get_device_capability": (card.major, card.minor),
        "mem_get_info": (20 * GIB, 24 * GIB),
        "get_rng_state": torch.zeros(16, dtype=torch.uint8),
    }
    for name, answer in answers.items():
        setattr(torch.cuda, name, lambda *_, _answer=answer, **__: _answer)
        if hasattr(torch.cuda.random, name):
            setattr(torch.cuda.random, name, getattr(torch.cuda, name))
    torch.cuda.device = Device  # type: ignore[assignment,misc]
    torch._C._cuda_getCurrentRawStream = lambda *_: 0
    torch.autograd._engine_run_backward = _backwards
    checkpoint._allowed_determinism_checks_to_fns["default"] = lambda tensor: {"shape": tensor.shape}
    teach_triton_bfloat16()
    _autocast_on_cpu()
    OnCpu().__enter__()


if __name__ == "__main__":
    module = sys.argv[1] == "-m"
    what, *arguments = sys.argv[1 + module :]
    sys.path[0], sys.argv = str(ROOT), [what, *arguments]
    pretend()
    if module:
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(what, run_name="__main__")
