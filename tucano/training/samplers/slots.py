"""The decode loop of a GPU: a step has fixed shapes and places, is captured as a CUDA graph, and the host starts one
graph per token.

Started one by one, the kernels of a step take longer to start than to run (an H200, 0.5B, 64 rows: 12.4 ms, as a graph
3.8). So all rows share a slot of the cache, counters live on the device, random numbers are drawn before the first
step, and the host looks only every `LOOK_EVERY` tokens who has ended. Then the batch is cut to those at work, and the
slots that a step sees grow: a graph for each such shape. Eight or ten of them per call are cheap beside hundreds of
steps, and nothing is held when it is over.

The number by which a token is drawn depends on (what the generator gave, its token's number, its row), and not on who
shares the batch. Logits do in their last bits: products of other shapes may add in another order. No sum of the loop
depends on the order of threads, so the same machine draws the same again from the same batch.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor

from tucano.training.checkpoints import interruption

if TYPE_CHECKING:
    from tucano.training.samplers.decode import Cache, Decoder

LOOK_EVERY = 16
"""Tokens between two looks at who has ended: a look waits for the device. At most so many are drawn in vain."""
SLOT_STEP = 64
"""What a step sees of the cache grows by so many slots: 32 are read in vain in the mean."""
ROW_STEP, SHRINK_AT = 4, 0.75
"""The batch is cut to a multiple of `ROW_STEP` rows, when at most this share of it stays."""
SHARES = 2**30
"""A probability is counted in whole shares of this: sums of whole numbers are the same in every order."""


@dataclass(slots=True)
class Slots:
    """All that a step reads and writes, of R rows: each of its tensors stays where it is.

    tokens, positions: [R, 1] the tokens that were drawn last and their places in their rows. mask: additive, [R, 1, 1,
    slots]. slot, turn: [1] where the cache keeps these tokens, and how many have been drawn of each row. uniforms:
    [most, R] in [0, 1), by which each is drawn. drawn: [most, R]. ended: [R]. stop: [S].
    """

    tokens: Tensor
    positions: Tensor
    mask: Tensor
    cache: "Cache"
    slot: Tensor
    turn: Tensor
    uniforms: Tensor
    drawn: Tensor
    ended: Tensor
    stop: Tensor
    temperature: float

    def step(self, decoder: "Decoder", seen: int) -> None:
        """Draw the next token of each row, looking at the first `seen` slots. Rows that have ended go on unread."""
        self.mask.index_fill_(3, self.slot, 0.0)
        self.take(decoder.forward(self.tokens, self.positions, self.cache, self.slot, self.mask[..., :seen]))

    def take(self, logits: Tensor) -> None:
        """Draw from logits [R, vocabulary]."""
        token = chosen(logits, self.temperature, self.uniforms.index_select(0, self.turn))
        self.drawn.index_copy_(0, self.turn, token[None])
        self.ended |= (token[:, None] == self.stop).any(dim=1)
        self.tokens.copy_(token[:, None])
        for counter in (self.positions, self.slot, self.turn):
            counter += 1

    def select(self, rows: Tensor, used: int) -> "Slots":
        """Only `rows`, of whose slots `used` are filled; the cache is cut in its place."""
        self.cache.select(rows, used, self.mask.shape[-1])
        return replace(
            self,
            tokens=self.tokens[rows],
            positions=self.positions[rows],
            mask=self.mask[rows],
            uniforms=self.uniforms[:, rows],
            drawn=self.drawn[:, rows],
            ended=self.ended[rows],
        )


def chosen(logits: Tensor, temperature: float, uniforms: Tensor) -> Tensor:
    """One token per row [R] from logits [R, vocabulary], by one number per row [1, R]: the first at which the
    distribution function exceeds it.
    """
    if temperature == 0:
        return logits.argmax(dim=-1)
    scaled = logits if temperature == 1 else logits.float() / temperature
    shares = (F.softmax(scaled, dim=-1, dtype=torch.float32) * SHARES).int().cumsum(dim=-1, dtype=torch.int32)
    thresholds = (uniforms.T * shares[:, -1:]).int()
    return torch.searchsorted(shares, thresholds, right=True).squeeze(1).clamp(max=logits.shape[1] - 1)


@torch.no_grad()
def sample(
    decoder: "Decoder",
    prompts: Sequence[Sequence[int]],
    most: int,
    stop: Sequence[int],
    temperature: float,
    generator: torch.Generator | None = None,
) -> list[list[int]]:
    """See `Decoder.sample`."""
    completions: list[list[int]] = [[] for _ in prompts]
    with in_any_order():
        slots, read = begun(decoder, prompts, most, stop, temperature, generator)
        owners, done, shape = list(range(len(prompts))), 1, (0, 0)
        draw: Callable[[], None]
        while done < most:
            interruption.check()
            ended = slots.ended.tolist()
            live = [row for row, over in enumerate(ended) if not over]
            if not live:
                break
            rows = fitting(len(live), len(owners))
            if rows < len(owners):
                _write(completions, slots, owners, done)
                kept = sorted([*live, *(row for row, over in enumerate(ended) if over)][:rows])
                slots = slots.select(torch.tensor(kept, device=slots.mask.device), read + done - 1)
                owners = [owners[row] for row in kept]
            turns = min(LOOK_EVERY, most - done)
            done += turns
            seen = up_to(read + done - 1, SLOT_STEP)
            if (rows, seen) != shape:
                shape, draw = (rows, seen), partial(slots.step, decoder, seen)
                draw()  # the first of a shape by itself: libraries set themselves up in it, which no graph may hold
                draw, turns = captured(draw) if slots.mask.is_cuda else draw, turns - 1
            for _ in range(turns):
                draw()
        _write(completions, slots, owners, done)
    return [until_stop(tokens, stop) for tokens in completions]


def captured(step: Callable[[], None]) -> Callable[[], None]:
    """`step`, which has run before, as one launch, in memory of its own. The graph before is gone by now: torch 2.11
    captures nothing into the memory that it leaves, where cuBLAS keeps a workspace, and a graph that went later would
    take this one's workspace along (pytorch#193402).
    """
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        step()
    return graph.replay


def fitting(live: int, rows: int) -> int:
    """How many of the batch's rows go on, of which so many are at work."""
    fewer = up_to(live, ROW_STEP)
    return fewer if fewer <= SHRINK_AT * rows else rows


def up_to(count: int, multiple: int) -> int:
    return -(-count // multiple) * multiple


def begun(
    decoder: "Decoder",
    prompts: Sequence[Sequence[int]],
    most: int,
    stop: Sequence[int],
    temperature: float,
    generator: torch.Generator | None,
) -> tuple[Slots, int]:
    """With the first token of each row, and the number of slots that the prompts take."""
    logits, cache, mask, lengths = decoder.opened(prompts, most, SLOT_STEP)
    count, read, device = len(prompts), mask.shape[-1], mask.device
    uniforms = torch.zeros(most, count, dtype=torch.float64)
    if temperature:
        uniforms.uniform_(generator=generator)
    slots = Slots(
        tokens=torch.zeros(count, 1, dtype=torch.long, device=device),
        positions=lengths[:, None] - 1,
        mask=F.pad(mask, (0, cache.positions - read), value=float("-inf")),
        cache=cache,
        slot=torch.full((1,), read - 1, device=device),
        turn=torch.zeros(1, dtype=torch.long, device=device),
        uniforms=uniforms.to(device),
        drawn=torch.zeros(most, count, dtype=torch.long, device=device),
        ended=torch.zeros(count, dtype=torch.bool, device=device),
        stop=torch.tensor(list(stop), dtype=torch.long, device=device),
        temperature=temperature,
    )
    slots.take(logits)
    return slots, read


def _write(completions: list[list[int]], slots: Slots, owners: Sequence[int], done: int) -> None:
    """Take the `done` tokens that each row has from the device."""
    for owner, tokens in zip(owners, slots.drawn[:done].T.tolist(), strict=True):
        completions[owner] = tokens


def until_stop(tokens: list[int], stop: Sequence[int]) -> list[int]:
    end = next((place for place, token in enumerate(tokens) if token in stop), len(tokens))
    return tokens[: end + 1]


@contextmanager
def in_any_order() -> Iterator[None]:
    """Without torch's deterministic forms: nothing here needs them, and that of `index_copy_` sorts for each token."""
    enabled = torch.are_deterministic_algorithms_enabled()
    warn_only = torch.is_deterministic_algorithms_warn_only_enabled()
    torch.use_deterministic_algorithms(False)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(enabled, warn_only=warn_only)
