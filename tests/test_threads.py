"""The first computation of a process gives the bits of all others; `python -m benchmarks.first_bits` is the long look."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch

from tucano.training.threads import compute_with

NAMES = ("exp", "log", "sin", "cos", "tanh", "erf", "sqrt", "erfinv", "rsqrt")


@pytest.fixture
def _restored() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("_restored")
def test_one_thread_alone_calls_each_function_of_both_precisions_first(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.set_num_threads(2)
    called: set[tuple[str, torch.dtype, int]] = set()

    def watched(name: str) -> Any:
        return lambda x: called.add((name, x.dtype, torch.get_num_threads()))

    for name in NAMES:
        monkeypatch.setattr(torch, name, watched(name))
    compute_with(3)
    assert called == {(name, dtype, 1) for name in NAMES for dtype in (torch.float32, torch.float64)}
    assert torch.get_num_threads() == 3
