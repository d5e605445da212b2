"""Whole numbers in given proportions."""

from collections.abc import Mapping
from math import floor
from typing import TypeVar

from tucano.prompts import Task

Sizes = dict[Task, int]
K = TypeVar("K")


def apportion(total: int, shares: Mapping[K, float]) -> dict[K, int]:
    """`total` in proportion to `shares`, in whole numbers that add up (largest remainders, Hamilton's method)."""
    whole = sum(shares.values())
    exact = {name: total * share / whole for name, share in shares.items()}
    sizes = {name: floor(value) for name, value in exact.items()}
    by_remainder = sorted(shares, key=lambda name: exact[name] - sizes[name], reverse=True)
    for name in by_remainder[: total - sum(sizes.values())]:
        sizes[name] += 1
    return sizes
