"""What a value holds, as one digest per leaf: two trainers that hold the same go on alike.

So what a step changes is found by comparing, not by a list of what is known to change; a checkpoint keeps digests of
what it holds, against which everything is checked that was loaded from it. `make drill` looks into objects, too
(benchmarks/reachable.py).
"""

import copy
import enum
import hashlib
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import PurePath
from typing import Any

import numpy as np
import torch

PLAIN = (type(None), bool, int, float, str, bytes)
NAMED = (enum.Enum, type, types.BuiltinFunctionType, np.generic, torch.dtype, torch.device, PurePath)
"""What they print as is what they are."""
Below = Callable[[Any, str], Iterable[tuple[str, Any]]]
"""The parts of a value at a path, by their names."""
LONG = 64
"""A text up to this length stands for itself; for a longer one its digest does."""


class NotAsSaved(RuntimeError):
    """What was loaded is not what was saved. Nobody but a bug does that; going on would train something else than it
    says.
    """


def parts(value: Any, path: str) -> Iterable[tuple[str, Any]]:
    """Of containers. TypeError for what has neither content nor parts: nobody would see it changed."""
    if isinstance(value, Mapping):
        return [(f"[{key!r}]", item) for key, item in value.items()]
    if isinstance(value, list | tuple) and not _is_long(value):
        return [(f"[{index}]", item) for index, item in enumerate(value)]
    if not isinstance(value, torch.Tensor | np.ndarray | list | tuple):
        raise TypeError(f"{path} is a {type(value).__qualname__}, of which no digest can be made")
    return []


def digests(root: Any, below: Below = parts) -> dict[str, str]:
    """{path: content} of every leaf below `root`; equal where two roots hold the same, bit for bit.

    An object that is met again is named by the path of its first meeting.
    """
    return dict(_walk(root, "", below, {}))


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


def _walk(value: Any, path: str, below: Below, seen: dict[int, tuple[str, Any]]) -> Iterator[tuple[str, str]]:
    if isinstance(value, PLAIN):
        yield path, _short(repr(value))
        return
    if isinstance(value, NAMED):
        yield path, _short(f"{type(value).__qualname__} {value!r}")
        return
    if id(value) in seen:
        yield path, f"-> {seen[id(value)][0]}"
        return
    seen[id(value)] = path, value  # held, or the name of a temporary object would go to another one
    yield path, " ".join((type(value).__qualname__, *(_hash(part) for part in _content(value))))
    for name, child in below(value, path):
        yield from _walk(child, f"{path}.{name}" if path else name, below, seen)


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
    elif _is_long(value):
        yield repr(value).encode("utf-8", "surrogatepass")


def _is_long(value: Any) -> bool:
    """Whether this is a long row of numbers or texts, which stands as one."""
    return type(value) in (list, tuple) and len(value) > LONG and all(type(item) in PLAIN for item in value)
