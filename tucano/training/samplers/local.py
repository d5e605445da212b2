"""Drawing completions in this process: by our own decode loop, or by `generate` of transformers where that cannot."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise

import torch
from peft import PeftModel
from transformers import PreTrainedTokenizerBase

from tucano.training.jobs import pulse
from tucano.training.policies.load import Policy
from tucano.training.samplers import Decoding, Draw
from tucano.training.samplers.decode import Decoder, supports
from tucano.training.samplers.forms import Held, beginning
from tucano.training.samplers.slots import until_stop

BATCH_ROWS = 128
CACHE_BYTES = 4 * 10**9
"""Of keys and values of completions that are drawn at a time. `generate` copies its cache as it grows, so twice that
for a moment.
"""


class LocalSampler:
    """Draws with the policy itself. own_decoding: whether the own decode loop may stand in for `generate`. fixed: it
    draws from one policy alone, whose weights do not change; which of its adapters speaks may. tokenizer: for
    completions that are held to a form.
    """

    def __init__(
        self, own_decoding: bool = True, fixed: bool = False, tokenizer: PreTrainedTokenizerBase | None = None
    ) -> None:
        self.own_decoding = own_decoding
        self.fixed = fixed
        self._tokenizer = tokenizer
        self._kept: dict[str, Decoder | None] = {}

    def sample(
        self,
        policy: Policy,
        prompts: Sequence[Sequence[int]],
        decoding: Decoding,
        generator: torch.Generator | None = None,
    ) -> list[Draw]:
        """See `Sampler`: nearly equal lengths together, as many at a time as fit, in even batches. ImportError for a
        form without llguidance.
        """
        own = generator or torch.default_generator
        order = sorted(range(len(prompts)), key=lambda index: len(prompts[index]))
        drawn: dict[int, list[int]] = {}
        by_own_loop = decoding.form is None or policy.device.type == "cpu"  # a GPU's graphs look at no form
        decoder = self._decoder(policy) if by_own_loop else None
        longest = max(map(len, prompts), default=0) + decoding.max_new_tokens
        for start, end in batches(len(prompts), rows_that_fit(policy, longest)):
            rows = order[start:end]
            batch = [prompts[row] for row in rows]
            held = self._held(policy, decoding, len(batch))
            if decoder is None:
                found = _generate(policy, batch, decoding, own, held)
            else:
                most, stop = decoding.max_new_tokens, list(decoding.stop)
                found = decoder.sample(batch, most, stop, decoding.temperature, own, held)
            drawn.update(zip(rows, found, strict=True))
            pulse()
        return [Draw(drawn[row]) for row in range(len(prompts))]

    def _decoder(self, policy: Policy) -> Decoder | None:
        """A snapshot of the weights; None where the own loop does not know the architecture."""
        speaker = str(policy.active_adapter) if isinstance(policy, PeftModel) else ""
        if speaker in self._kept:
            return self._kept[speaker]
        decoder = Decoder(policy) if self.own_decoding and supports(policy) else None
        if self.fixed:
            self._kept[speaker] = decoder
        return decoder

    def _held(self, policy: Policy, decoding: Decoding, rows: int) -> Held | None:
        if decoding.form is None:
            return None
        assert self._tokenizer is not None, "who asks for a form gives the tokenizer"
        vocabulary = policy.get_output_embeddings().weight.shape[0]
        return Held(beginning(self._tokenizer, vocabulary, decoding.stop, decoding.form), rows)

    def close(self) -> None:
        """See `Sampler`: there is nothing."""


def rows_that_fit(policy: Policy, longest: int) -> int:
    """Sequences of `longest` tokens whose keys and values take at most `CACHE_BYTES`, and at most `BATCH_ROWS`."""
    config = policy.config
    size = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    per_token = config.num_hidden_layers * 2 * config.num_key_value_heads * size * policy.dtype.itemsize
    return max(1, min(BATCH_ROWS, CACHE_BYTES // (longest * per_token)))


def batches(count: int, most: int) -> list[tuple[int, int]]:
    """(start, end) of as few batches as hold `count` with at most `most` in each; their sizes differ by one at most."""
    parts = -(-count // most)
    edges = [count * part // parts for part in range(parts + 1)] if parts else []
    return list(pairwise(edges))


@torch.no_grad()
def _generate(
    model: Policy, batch: Sequence[Sequence[int]], decoding: Decoding, generator: torch.Generator, held: Held | None
) -> list[list[int]]:
    """`model.generate` with every parameter explicit: a temperature of .1 in a generation_config cost a whole run."""
    width, padding = max(map(len, batch)), decoding.stop[0]  # masked before a prompt, cut off behind an answer
    ids = torch.tensor([[padding] * (width - len(row)) + list(row) for row in batch], device=model.device)
    mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in batch], device=model.device)
    drawing = decoding.temperature > 0

    def masked(ids: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
        assert held is not None
        drawn = [until_stop(tokens, decoding.stop) for tokens in ids[:, width:].tolist()]
        return held.masked(logits, range(len(drawn)), drawn)

    with seeded(generator):
        output = model.generate(
            input_ids=ids,
            attention_mask=mask,
            max_new_tokens=decoding.max_new_tokens,
            do_sample=drawing,
            temperature=decoding.temperature if drawing else None,
            top_k=0 if drawing else None,
            top_p=1.0 if drawing else None,
            repetition_penalty=1.0,
            pad_token_id=padding,
            eos_token_id=list(decoding.stop),
            logits_processor=[] if held is None else [masked],
        )
    return [until_stop(tokens, decoding.stop) for tokens in output[:, width:].tolist()]


@contextmanager
def seeded(generator: torch.Generator) -> Iterator[None]:
    """Run a block that draws from torch's global generators on a stream of its own, and leave theirs untouched."""
    with torch.random.fork_rng():
        torch.manual_seed(int(torch.randint(2**62, (1,), generator=generator)))
        yield
