"""Forgetting: how well the arms still predict ordinary Portuguese that has nothing to do with the tasks."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log
from pathlib import Path

import numpy as np

from tucano.prompts import jsonl_lines
from tucano.statistics.inference import mean_t

FORGETTING = 0.05
"""An established loss of this share of the reference's bits per character is called forgetting."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One passage under one arm: negative log-likelihood in nats over `tokens` tokens; `characters` of its text."""

    arm: str
    passage: int
    nats: float
    tokens: int
    characters: int

    @property
    def bits(self) -> float:
        """Bits per character, which arms with different tokenizers share."""
        return self.nats / log(2) / self.characters


@dataclass(frozen=True, slots=True)
class Forgetting:
    """The trained adapters against an earlier arm, paired by passage: `change` in bits per character (above 0: worse),
    95 % t interval.

    `before` and `after` are perplexities per token; `p` is one-sided, for a loss. Where all passages change alike, or
    none does, nothing is known (`UNKNOWN`, p 1) and nothing established.
    """

    reference: str
    passages: int
    before: float
    after: float
    bits: float
    change: float
    low: float
    high: float
    p: float

    def established(self, alpha: float) -> bool:
        return self.p < alpha and self.change > FORGETTING * self.bits


def read_readings(path: Path) -> list[Reading]:
    return [Reading(**json.loads(line)) for line in jsonl_lines(path)]


def perplexity(readings: Sequence[Reading], arm: str) -> float:
    """Per token, over all passages of an arm; its tokens are its tokenizer's."""
    mine = [reading for reading in readings if reading.arm == arm]
    return exp(sum(reading.nats for reading in mine) / sum(reading.tokens for reading in mine))


def forgetting(readings: Sequence[Reading], reference: str, tuned: Sequence[str]) -> Forgetting:
    """The mean over the seeds against the reference."""
    bits = {(reading.arm, reading.passage): reading.bits for reading in readings}
    passages = sorted({reading.passage for reading in readings})
    before = [bits[reference, passage] for passage in passages]
    change = mean_t(
        [
            float(np.mean([bits[arm, passage] for arm in tuned])) - was
            for passage, was in zip(passages, before, strict=True)
        ]
    )
    after = exp(float(np.mean([log(perplexity(readings, arm)) for arm in tuned])))
    started = perplexity(readings, reference)
    return Forgetting(
        reference, len(passages), started, after, float(np.mean(before)), change.mean, change.low, change.high, change.p
    )
