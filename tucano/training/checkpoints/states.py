"""What an object holds, as one digest per leaf: two trainers that hold the same go on alike.

`digests` walks through everything that is reachable: numbers, texts, tensors, modules, optimizers, generators,
containers and the attributes of any object. So what a step changes is found by comparing, not by a list of what is
known to change; a checkpoint keeps digests of what it holds, against which everything is checked that was loaded from
it.
"""

import collections
import copy
import enum
import functools
import hashlib
import random
import re
import types
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePath
from typing import Any

import numpy as np
import torch

PLAIN = (type(None), bool, int, float, str, bytes)
LONG = 64
"""A text up to this length stands for itself; for a longer one its digest does."""


class NotAsSaved(RuntimeError):
    """What was loaded is not what was saved. Nobody but a bug does that; going on would train something else than it
    says.
    """


def digests(root: Any, without: str | None = None) -> dict[str, str]:
    """{path: content} of every leaf below `root`; equal where two roots hold the same, bit for bit.

    An object that is met again is named by the path of its first meeting. Opaque (named by their type alone): code,
    locks, files, weak references and objects of compiled libraries. Where a path matches the expression `without`,
    nothing is looked at.
    """
    return dict(_walk(root, "", re.compile(without or "(?!)"), {}))


def differences(expected: Mapping[str, str], found: Mapping[str, str]) -> list[str]:
    """The paths at which two states differ, sorted."""
    return sorted(path for path in expected.keys() | found.keys() if expected.get(path) != found.get(path))


def plain(value: Any) -> bool:
    """Whether a value is made of nothing but numbers, texts, tensors and their types in lists, tuples and dictionaries.

    Types of tensors, since Unsloth's trainer notes the one it computes in beside the fact that it did: with the fact
    alone, a run that was resumed crashed.
    """
    if type(value) in PLAIN or type(value) in (torch.Tensor, torch.dtype):
        return True
    if type(value) in (list, tuple):
        return all(map(plain, value))
    return type(value) is dict and all(type(key) in PLAIN and plain(item) for key, item in value.items())


def copied(owner: Any) -> dict[str, Any]:
    """Copies of the plain attributes of an object. An attribute that points at a part of the program is none."""
    return {name: copy.deepcopy(value) for name, value in vars(owner).items() if plain(value)}


def put_back(owner: Any, values: Mapping[str, Any]) -> None:
    """Give an object the attributes that `copied` has kept; those that are as they were stay the same objects."""
    for name, value in values.items():
        if name not in vars(owner) or digests(vars(owner)[name]) != digests(value):
            setattr(owner, name, copy.deepcopy(value))


def raw(tensor: torch.Tensor) -> torch.Tensor:
    """[bytes] a tensor's numbers as they stand in memory, on the CPU."""
    return tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8)


def _walk(
    value: Any, path: str, without: re.Pattern[str], seen: dict[int, tuple[str, Any]]
) -> Iterator[tuple[str, str]]:
    if isinstance(value, PLAIN):
        yield path, _short(repr(value))
        return
    if isinstance(
        value, enum.Enum | type | types.BuiltinFunctionType | np.generic | torch.dtype | torch.device | PurePath
    ):
        yield path, _short(f"{type(value).__qualname__} {value!r}")
        return
    if id(value) in seen:
        yield path, f"-> {seen[id(value)][0]}"
        return
    seen[id(value)] = path, value  # held, or the name of a temporary object would go to another one
    yield path, " ".join((type(value).__qualname__, *(_hash(part) for part in _content(value))))
    for name, child in _children(value):
        below = f"{path}.{name}" if path else name
        if not without.search(below):
            yield from _walk(child, below, without, seen)


def _short(text: str) -> str:
    return text if len(text) <= LONG else _hash(text.encode("utf-8", "surrogatepass"))


def _hash(content: Any) -> str:
    return hashlib.sha256(content).hexdigest()[:24]


def _content(value: Any) -> Iterator[Any]:
    """What a leaf holds, as bytes; nothing for what consists of its children."""
    if isinstance(value, torch.Tensor):
        yield f"{value.dtype} {tuple(value.shape)} {value.requires_grad}".encode()
        yield raw(value).numpy()
    elif isinstance(value, np.ndarray):
        yield f"{value.dtype} {value.shape}".encode()
        yield np.ascontiguousarray(value)
    elif isinstance(value, torch.Generator):
        yield raw(value.get_state()).numpy()
    elif isinstance(value, random.Random):
        yield repr(value.getstate()).encode()
    elif isinstance(value, np.random.Generator):
        yield repr(value.bit_generator.state).encode()
    elif _is_long(value):
        yield repr(value).encode("utf-8", "surrogatepass")


def _is_long(value: Any) -> bool:
    """Whether this is a long row of numbers or texts, which stands as one."""
    return type(value) in (list, tuple) and len(value) > LONG and all(type(item) in PLAIN for item in value)


def _children(value: Any) -> Iterable[tuple[str, Any]]:
    if isinstance(value, torch.Tensor):
        return [("grad", value.grad)] if value.is_leaf and value.grad is not None else []
    if isinstance(value, torch.optim.Optimizer):  # its own dictionary has tensors for keys
        return [
            *((name, item) for name, item in _attributes(value) if name != "state"),
            ("state", value.state_dict()["state"]),
        ]
    if isinstance(value, Mapping):
        return [(f"[{key!r}]", item) for key, item in value.items()]
    if isinstance(value, list | tuple | collections.deque):
        return [] if _is_long(value) else [(f"[{index}]", item) for index, item in enumerate(value)]
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
    return [] if isinstance(value, types.ModuleType) else _attributes(value)


def _attributes(value: Any) -> list[tuple[str, Any]]:
    named = dict(getattr(value, "__dict__", {}))
    for parent in type(value).__mro__:
        slots = getattr(parent, "__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            if not slot.startswith("__") and hasattr(value, slot):
                named.setdefault(slot, getattr(value, slot))
    return list(named.items())
