"""Two objects that hold the same have the same digests; whatever is changed in one is found by its path."""

import collections
import functools
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from benchmarks import reachable
from tucano.training.checkpoints import states


@dataclass(slots=True)
class Slotted:
    value: float
    other: "Thing | None" = None


def counted() -> Callable[[], None]:
    counter = [0]

    def count() -> None:
        counter[0] += 1

    return count


class Thing:
    """Something of each kind that a trainer is made of."""

    def __init__(self) -> None:
        torch.manual_seed(3)
        self.linear, self.dropout = torch.nn.Linear(2, 3), torch.nn.Dropout(0.5)
        self.model = torch.nn.Sequential(self.linear, self.dropout)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=0.1)
        self.model(torch.ones(1, 2)).sum().backward()
        self.optimizer.step()
        self.torch, self.python = torch.Generator().manual_seed(1), random.Random(2)
        self.numpy = np.random.default_rng(3)
        self.window = collections.deque([1.0, float("nan")], maxlen=2)
        self.counts = collections.defaultdict(list, {("train", 0): [1, 2]})
        self.slotted = Slotted(0.1 + 0.2, self)
        self.long = list(range(1000))
        self.names = {"b", "a"}
        self.array = np.arange(3, dtype=np.float32)
        self.listener = counted()
        self.partial = functools.partial(self.count, more=[5])

    def count(self, more: list[int]) -> int:
        return len(more)


def change_last_bit(thing: Thing) -> None:
    thing.linear.weight.data.view(torch.int32)[1, 1] ^= 1


CHANGES: dict[Callable[[Thing], Any], str] = {
    change_last_bit: "linear._parameters.['weight']",
    lambda t: t.linear(torch.ones(1, 2)).sum().backward(): "linear._parameters.['weight'].grad",
    lambda t: t.dropout.train(False): "dropout.training",
    lambda t: t.optimizer.state_dict()["state"][0]["exp_avg"].mul_(2): "optimizer.state.[0].['exp_avg']",
    lambda t: t.optimizer.param_groups[0].update(lr=0.2): "optimizer.param_groups.[0].['lr']",
    lambda t: torch.rand(1, generator=t.torch): "torch.state",
    lambda t: t.python.random(): "python.state.[1]",
    lambda t: t.numpy.random(): "numpy.state.['state'].['state']",
    lambda t: t.window.append(2.0): "window.[1]",
    lambda t: t.counts[("train", 0)].append(3): "counts.[('train', 0)].[2]",
    lambda t: setattr(t.slotted, "value", 0.3): "slotted.value",
    lambda t: t.long.__setitem__(500, -1): "long",
    lambda t: t.names.add("c"): "names.{2}",
    lambda t: t.array.__setitem__(0, -0.0): "array",
    lambda t: t.listener(): "listener.counter.[0]",
    lambda t: t.partial.keywords["more"].append(6): "partial.keywords.['more'].[1]",
    lambda t: setattr(t, "new", None): "new",
}


@pytest.mark.parametrize("change", CHANGES, ids=CHANGES.values())
def test_every_change_is_found_under_its_path(change: Callable[[Thing], Any]) -> None:
    one, other = Thing(), Thing()
    assert reachable.digests(one) == reachable.digests(other)
    change(other)
    assert CHANGES[change] in states.differences(reachable.digests(one), reachable.digests(other))


def test_plain_attributes_are_kept_and_put_back_and_those_unchanged_stay_the_same_objects() -> None:
    class Owner:
        pass

    owner: Any = Owner()
    owner.step, owner.buffer, owner.constant, owner.part = 1, [{"ids": torch.arange(3)}], ["a"], Thing()
    constant, kept = owner.constant, states.copied(owner)
    assert set(kept) == {"step", "buffer", "constant"}
    owner.step = 2
    owner.buffer[0]["ids"] += 1
    states.put_back(owner, kept)
    assert owner.step == 1 and owner.buffer[0]["ids"].tolist() == [0, 1, 2] and owner.constant is constant
    owner.buffer[0]["ids"] += 1
    assert kept["buffer"][0]["ids"].tolist() == [0, 1, 2]  # what was kept does not move with the object


def test_what_belongs_together_is_kept_together(tmp_path: Path) -> None:
    """Unsloth's trainer notes whether it casts and to what: a checkpoint had one without the other, and crashed."""
    owner = SimpleNamespace(_autocast_enabled=True, _autocast_dtype=torch.bfloat16)
    torch.save(states.copied(owner), tmp_path / "state.pt")
    again = SimpleNamespace()
    states.put_back(again, torch.load(tmp_path / "state.pt", weights_only=True))
    assert vars(again) == vars(owner)
