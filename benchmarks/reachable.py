"""What an object holds, whatever it is made of: modules, optimizers, generators, closures and attributes of any kind.

The drill compares whole trainers by it, to find what a resume loses that no checkpoint knows of.
"""

import collections
import functools
import random
import re
import types
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import torch

from tucano.training.checkpoints import states


def digests(root: Any, without: str | None = None) -> dict[str, str]:
    """{path: content} of everything that can be reached from `root` (tucano/training/checkpoints/states.py).

    Opaque (named by their type alone): code, locks, files, weak references and objects of compiled libraries. Where a
    path matches the expression `without`, nothing is looked at.
    """
    hidden = re.compile(without or "(?!)")

    def below(value: Any, path: str) -> Iterator[tuple[str, Any]]:
        for name, child in _children(value, path):
            if not hidden.search(f"{path}.{name}" if path else name):
                yield name, child

    return states.digests(root, below)


def _children(value: Any, path: str) -> Iterable[tuple[str, Any]]:
    if isinstance(value, torch.Tensor):
        return [("grad", value.grad)] if value.is_leaf and value.grad is not None else []
    if isinstance(value, torch.Generator):
        return [("state", value.get_state())]
    if isinstance(value, random.Random):
        return [("state", value.getstate())]
    if isinstance(value, np.random.Generator):
        return [("state", value.bit_generator.state)]
    if isinstance(value, torch.optim.Optimizer):  # its own dictionary has tensors for keys
        return [
            *((name, item) for name, item in _attributes(value) if name != "state"),
            ("state", value.state_dict()["state"]),
        ]
    if isinstance(value, collections.deque):
        return [(f"[{index}]", item) for index, item in enumerate(value)]
    if isinstance(value, set | frozenset):
        return [(f"{{{index}}}", item) for index, item in enumerate(sorted(map(repr, value)))]
    if isinstance(value, functools.partial):
        return [("func", value.func), ("args", value.args), ("keywords", value.keywords)]
    if isinstance(value, types.MethodType):
        return [("self", value.__self__)]
    if isinstance(value, types.FunctionType):
        return [
            (name, cell.cell_contents)
            for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True)
        ]
    if isinstance(value, Mapping | list | tuple):
        return states.parts(value, path)
    return [] if isinstance(value, types.ModuleType) else _attributes(value)


def _attributes(value: Any) -> list[tuple[str, Any]]:
    named = dict(getattr(value, "__dict__", {}))
    for parent in type(value).__mro__:
        slots = getattr(parent, "__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            if not slot.startswith("__") and hasattr(value, slot):
                named.setdefault(slot, getattr(value, slot))
    return list(named.items())
