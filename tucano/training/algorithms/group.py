"""Group-relative advantages of the summed reward, without division by the spread (Dr. GRPO, arXiv 2503.20783, section 3.1)."""

from torch import Tensor

from tucano.training.algorithms import RolloutBatch


def advantages(batch: RolloutBatch, std_floor: float) -> Tensor:
    """A_i = r_i - mean of its group, [B]. Dividing by the group's spread would favour groups of nearly equal rewards."""
    rewards = batch.rewards.nansum(dim=1).clamp(0, 1).view(-1, batch.generations)
    return (rewards - rewards.mean(dim=1, keepdim=True)).flatten()
