"""Advantages worked out by hand."""

import math

import torch

from tucano.training.algorithms import RolloutBatch, gdpo, group

FLOOR = 0.05
NAN = math.nan


def batch(rows: list[list[float]], weights: list[float], generations: int) -> RolloutBatch:
    return RolloutBatch(torch.tensor(rows), torch.tensor(weights), generations, ["extraction"] * len(rows))


def test_group_advantage_is_the_distance_from_the_group_mean() -> None:
    found = group.advantages(batch([[0.1, 0.1], [0.3, 0.3], [0.5, 0.5], [0.5, 0.5]], [0.5, 0.5], generations=2), FLOOR)
    assert torch.allclose(found, torch.tensor([-0.2, 0.2, 0.0, 0.0]))


def test_gdpo_tells_apart_what_a_sum_cannot() -> None:
    """Right format and wrong content (1, 0) earn the same sum as the reverse (0, 1), but both differ from a rarer mix."""
    rows = [[0.5, 0.0], [0.5, 0.0], [0.5, 0.0], [0.0, 0.5]]
    summed = group.advantages(batch(rows, [0.5, 0.5], 4), FLOOR)
    assert torch.allclose(summed, torch.zeros(4))
    found = gdpo.advantages(batch(rows, [0.5, 0.5], 4), FLOOR)
    # per component on its own scale: 1,1,1,0 has mean 3/4 and spread sqrt(3)/4, so the rare one is -sqrt(3) in one, +sqrt(3) in the other
    assert torch.allclose(found, torch.zeros(4), atol=1e-6)
    weighted = gdpo.advantages(batch([[0.8, 0.0], [0.8, 0.0], [0.8, 0.0], [0.0, 0.2]], [0.8, 0.2], 4), FLOOR)
    # shares 1 and 1/4: (1/sqrt3) (1 - 1/4) three times, -sqrt3 (1 - 1/4) once; the common 1/sqrt(2) and 3/4 leave with the batch's spread of 1
    assert torch.allclose(weighted, torch.tensor([1, 1, 1, -3]) / math.sqrt(3))


def test_gdpo_a_group_without_signal_gets_zero_and_does_not_change_the_others() -> None:
    alone = gdpo.advantages(batch([[0.0], [1.0]], [1.0], 2), FLOOR)
    beside = gdpo.advantages(batch([[0.0], [1.0], [0.5], [0.5]], [1.0], 2), FLOOR)
    assert torch.allclose(alone, torch.tensor([-1.0, 1.0]))
    assert torch.allclose(beside, torch.tensor([-1.0, 1.0, 0.0, 0.0]))


def test_gdpo_float_noise_is_no_signal() -> None:
    noisy = batch([[0.5], [0.5 + 6e-8], [0.0], [1.0]], [1.0], 2)
    assert gdpo.advantages(noisy, FLOOR)[:2].abs().max() < 1e-5


def test_gdpo_all_groups_without_signal() -> None:
    assert torch.equal(gdpo.advantages(batch([[0.3], [0.3]], [1.0], 2), FLOOR), torch.zeros(2))


def test_gdpo_components_of_other_tasks_are_absent_not_zero() -> None:
    """Two tasks with two components each; a task's advantage must not depend on columns it does not have."""
    mixed = batch([[0.0, 0.2, NAN, NAN], [0.4, 0.2, NAN, NAN], [NAN, NAN, 0.1, 0.0], [NAN, NAN, 0.1, 0.6]], [0.4, 0.6, 0.4, 0.6], 2)
    found = gdpo.advantages(mixed, FLOOR)
    # live component shares are 2/3 and 1, over sqrt(2): +-(2/3)/sqrt2 and +-1/sqrt2; the batch's spread is sqrt((4/9 + 1)/4)
    first, second = (2 / 3) / math.sqrt(2), 1 / math.sqrt(2)
    spread = math.sqrt((first**2 + second**2) / 2)
    assert torch.allclose(found, torch.tensor([-first, first, -second, second]) / spread)
    assert torch.isfinite(found).all()
