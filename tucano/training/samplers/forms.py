"""Completions held to a JSON schema while they are drawn: a token that would leave it gets no probability.

llguidance (the extra `serve`) says which tokens those are.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedTokenizerBase

SPACES = {"whitespace_pattern": "[ ]?"}
"""Between the parts of an answer one blank or none, as its model has learnt it: held to blanks that it does not write,
the shipped base had 20 of 160 fields right instead of 142.
"""


class Held:
    """A batch of completions, each of which has to have the form. ImportError without llguidance."""

    def __init__(self, beginning: Any, rows: int) -> None:
        self._matchers = [beginning.deep_copy() for _ in range(rows)]
        self._read = [0] * rows

    def masked(self, logits: Tensor, owners: Iterable[int], completions: Sequence[Sequence[int]]) -> Tensor:
        """Logits [R, vocabulary] of what follows the completions `owners` [R], -inf where it would leave the form. What
        is whole, or has left it all the same, can only end.
        """
        allowed = [self._allowed(owner, completions[owner]) for owner in owners]
        bits = torch.frombuffer(bytearray(b"".join(allowed)), dtype=torch.uint8).view(len(allowed), -1)
        return logits.masked_fill(bits.to(logits.device) == 0, float("-inf"))

    def _allowed(self, owner: int, completion: Sequence[int]) -> bytes:
        """A byte for each token, 0 for one that may not follow."""
        matcher = self._matchers[owner]
        matcher.consume_tokens(list(completion[self._read[owner] :]))
        self._read[owner] = len(completion)
        return bytes(matcher.compute_logit_bias())


@lru_cache(maxsize=16)
def beginning(tokenizer: PreTrainedTokenizerBase, vocabulary: int, stop: tuple[int, ...], form: str) -> Any:
    """Where a completion of a form, a JSON schema, begins. vocabulary: of the logits, which may be padded."""
    from llguidance import LLMatcher

    grammar = LLMatcher.grammar_from_json_schema(form, overrides=SPACES)
    return LLMatcher(_vocabulary(tokenizer, vocabulary, stop), grammar, log_level=0)


@lru_cache(maxsize=2)
def _vocabulary(tokenizer: PreTrainedTokenizerBase, size: int, stop: tuple[int, ...]) -> Any:
    from llguidance.hf import from_tokenizer

    return from_tokenizer(tokenizer, n_vocab=size, eos_token=list(stop))
