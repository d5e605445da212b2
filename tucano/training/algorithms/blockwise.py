"""Every field of a structured answer gets an advantage of its own, for its own tokens (BAE: Blockwise Advantage
Estimation, arXiv 2602.10231).

One advantage for a whole object praises a wrong category because the sentiment beside it was right. A block is here a
field of the prompt's reference that stands in the answer, name and value; its reward is how well it agrees. All other
tokens (braces, the summary, whatever is no object) keep the advantage of the whole answer.

What was left out: blocks of answers that are no object. A later block is conditioned on what was written before it, and
the paper's baseline is the mean of those whose prefix came out alike: here, of those that have at least half of the
fields before it right. Where few are alike their mean says little, and it is drawn towards that of the group.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from tucano.settings.training.grpo import TrainerStage
from tucano.training.algorithms import Algorithm, Block, RolloutBatch

PULL = 2.0
"""Completions that the group's mean counts as, beside those whose prefix came out alike (assumed)."""


@dataclass(frozen=True)
class Blockwise(Algorithm):
    """[B, T]: b - baseline on the tokens of a block with reward b in [0, 1], the completion's advantage elsewhere."""

    def advantages(self, batch: RolloutBatch) -> Tensor:
        spread = batch.advantages[:, None].repeat(1, int(batch.lengths.max()))
        for first in range(0, len(batch.blocks), batch.generations):
            group = batch.blocks[first : first + batch.generations]
            values = torch.tensor([[block.value for block in blocks] for blocks in group]).to(spread)  # [G, K]
            for row, blocks, own in zip(spread[first:], group, values - baselines(values), strict=False):
                _write(row, blocks, own)
        return spread


def baselines(values: Tensor) -> Tensor:
    """[G, K] of rewards [G, K], blocks in their order: (n m + PULL g) / (n + PULL), where g is the block's mean over
    the group, and m that over the n completions that are like this one in whether the blocks before have .5 on average.
    """
    count = torch.arange(values.shape[1]).to(values)
    before = values @ (count[:, None] < count).to(values)  # no running sum: on CUDA that of floats has no fixed order
    reached = before >= count / 2  # [G, K]; all have reached the first block alike
    alike = (reached[:, None] == reached[None]).to(values)  # [G, G, K]
    summed = (alike * values[None]).sum(dim=1)
    return (summed + PULL * values.mean(dim=0)) / (alike.sum(dim=1) + PULL)


def _write(row: Tensor, blocks: Sequence[Block], own: Tensor) -> None:
    for block, value in zip(blocks, own, strict=True):
        row[block.start : block.end] = value


def from_settings(settings: TrainerStage) -> Algorithm | None:
    return Blockwise() if settings.grpo.block_advantages else None
