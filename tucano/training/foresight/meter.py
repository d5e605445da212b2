"""Counts what code would ask of a GPU, while it runs on the meta device: kernels, bytes moved, bytes held.

Every operation that makes new values counts as one kernel that reads its inputs and writes its outputs once. Views are
free, and so is what a lookup leaves unread. Attention, RMS norm and our own kernels (tucano/training/policies/fused.py)
are one kernel each on CUDA, but are taken apart on the meta device, where no kernel is registered for them; here they
are put together again, with the tensors that the fused ones keep for the way back. What is not seen: how well a kernel
uses the machine, and what allocators waste.
"""

import weakref
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Self
from unittest.mock import patch

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import addmm_flop, flop_registry, sdpa_backward_flop_count, sdpa_flop_count

from tucano.training.policies import fused

LOOKUPS = {"aten.embedding.default", "aten.index.Tensor", "aten.index_select.default", "aten.gather.default"}
"""Of their first input they read only what they write."""
OVERWRITES = {"aten.copy_.default", "aten.fill_.Scalar", "aten.zero_.default"}
"""Their first input is written and not read."""
INSERTIONS = {"aten.index_copy_.default", "aten.index_fill_.int_Scalar"}
"""Of their first input they write only as much as they are given."""
PRODUCTS = {**flop_registry, torch.ops.aten.addmm_: addmm_flop}
ALLOCATIONS = {"aten.empty.memory_format", "aten.empty_like.default", "aten.new_empty.default", "aten.detach.default"}


@dataclass(frozen=True, slots=True)
class Kernel:
    """What one kernel reads and writes, and how many floating point operations its matrix products take."""

    moved_bytes: int
    operations: int


class Meter:
    """`with Meter() as meter:` counts until the block ends.

    kernels: in their order; peak_bytes: the most that was held at once by tensors that were made inside, or were told
    of by `holds`.
    """

    def __init__(self) -> None:
        self.kernels: list[Kernel] = []
        self.held_bytes = self.peak_bytes = 0
        self._seen: set[int] = set()
        self._modes = ExitStack()

    def __enter__(self) -> Self:
        self._modes.enter_context(_Operations(self))
        # By name, not by a mode of torch's: what is computed again on the way back runs outside of such modes.
        self._modes.enter_context(patch.object(F, "scaled_dot_product_attention", self._attention))
        self._modes.enter_context(patch.object(F, "rms_norm", self._fused(_Norm.apply)))
        self._modes.enter_context(patch.object(fused, "rotate", self._fused(lambda x, *_: torch.empty_like(x))))
        self._modes.enter_context(patch.object(fused, "gate", self._fused(lambda x, *_: torch.empty_like(x))))
        self._modes.enter_context(
            patch.object(fused, "gate_back", self._fused(lambda _, x, y: (torch.empty_like(x), torch.empty_like(y))))
        )
        # Asked of the meta device it raises; 16-bit hidden states are what autocast would make of them.
        self._modes.enter_context(patch.object(torch, "is_autocast_enabled", lambda *_: False))
        return self

    def __exit__(self, *_: object) -> None:
        self._modes.close()

    def holds(self, tensors: Any) -> None:
        """Count tensors that were there before, or are made, in any nest, until nobody refers to their memory."""
        for tensor in tree_leaves(tensors):
            if isinstance(tensor, Tensor):
                self._hold(tensor.untyped_storage())

    @property
    def moved_bytes(self) -> int:
        return sum(kernel.moved_bytes for kernel in self.kernels)

    def ran(self, read: Any, written: Any, operations: int = 0) -> None:
        """One kernel."""
        moved = sum(map(_size, tree_leaves(read))) + sum(map(_size, tree_leaves(written)))
        self.kernels.append(Kernel(moved, operations))

    def _fused(self, stand_in: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any, **kwargs: Any) -> Any:
            out = stand_in(*args, **kwargs)
            self.ran((args, kwargs), out)
            return out

        return counted

    def _attention(self, query: Tensor, keys: Tensor, values: Tensor, *_: Any, **named: Any) -> Tensor:
        out: Tensor = _Attention.apply(query, keys, values, self)
        self.ran((query, keys, values, named), out, sdpa_flop_count(query.shape, keys.shape, values.shape))
        return out

    def _hold(self, storage: torch.UntypedStorage) -> None:
        address = storage._cdata
        size = storage.nbytes()
        if address in self._seen:
            return
        self._seen.add(address)
        self.held_bytes += size
        self.peak_bytes = max(self.peak_bytes, self.held_bytes)
        weakref.finalize(storage, self._let_go, address, size)

    def _let_go(self, address: int, size: int) -> None:
        self._seen.discard(address)
        self.held_bytes -= size


class _Operations(TorchDispatchMode):
    def __init__(self, meter: Meter) -> None:
        super().__init__()
        self.meter = meter

    def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = operation(*args, **(kwargs or {}))
        name = str(operation)
        inputs = tree_leaves((args, kwargs))
        if name not in ALLOCATIONS and not _is_view(operation, inputs, out):
            read = [out] if name in LOOKUPS else inputs[1:] if name in OVERWRITES | INSERTIONS else inputs
            count = PRODUCTS.get(operation._overloadpacket)
            operations = count(*args, **(kwargs or {}), out_val=out) if count else 0
            self.meter.ran(read, inputs[1:] if name in INSERTIONS else out, operations)
        self.meter.holds(out)
        return out


class _Attention(torch.autograd.Function):
    """Keeps queries, keys, values, result and one number per query, as the memory-efficient kernels do."""

    @staticmethod
    def forward(ctx: Any, query: Tensor, keys: Tensor, values: Tensor, meter: Meter) -> Tensor:
        out = query.new_empty((*query.shape[:-1], values.shape[-1]))
        ctx.meter = meter
        ctx.save_for_backward(query, keys, values, out, query.new_empty(query.shape[:-1], dtype=torch.float32))
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        kept = ctx.saved_tensors  # asked once: what checkpointing has made again is let go
        back = tuple(torch.empty_like(tensor) for tensor in kept[:3])
        products = sdpa_backward_flop_count(gradients[0].shape, *(tensor.shape for tensor in kept[:3]))
        ctx.meter.ran((gradients, kept), back, products)
        return *back, None


class _Norm(torch.autograd.Function):
    """Keeps its input and one number per row, as torch's kernel does."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, shape: Any, weight: Tensor | None = None, epsilon: float | None = None) -> Tensor:
        ctx.shape = shape
        ctx.save_for_backward(x, x.new_empty((*x.shape[:-1], 1), dtype=torch.float32), weight)
        return torch.empty_like(x)

    @staticmethod
    def backward(ctx: Any, change: Tensor) -> Any:
        x, spread, weight = ctx.saved_tensors
        back = torch.ops.aten._fused_rms_norm_backward(change, x, ctx.shape, spread, weight, [True, False])
        return back[0], None, None, None


def _is_view(operation: Any, inputs: list[Any], out: Any) -> bool:
    """Whether an operation only looks at its inputs' memory in another way."""
    if operation._schema.is_mutable:
        return False
    there = {tensor.untyped_storage()._cdata for tensor in inputs if isinstance(tensor, Tensor)}
    made = [tensor for tensor in tree_leaves(out) if isinstance(tensor, Tensor)]
    return not made or all(tensor.untyped_storage()._cdata in there for tensor in made)


def _size(tensor: Any) -> int:
    """Bytes of the distinct elements: what is expanded is read once."""
    if not isinstance(tensor, Tensor):
        return 0
    elements = 1
    for length, stride in zip(tensor.shape, tensor.stride(), strict=True):
        elements *= length if stride else min(1, length)
    return elements * tensor.element_size()
