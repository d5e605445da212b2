"""From drawn tokens to an answer: thoughts are counted, limited and taken off here, for whoever judges or serves it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from transformers import PreTrainedTokenizerBase

from tucano.thoughts import CLOSE, OPEN, answer_of, has_unclosed_thought, told


@dataclass(frozen=True, slots=True)
class Said:
    """What a completion says. answer: without its thought; empty where the thought is not closed, or longer than
    allowed. think_tokens: of the thought with its marks, 0 where there is none. cut: the thought cost the answer.
    """

    answer: str
    think_tokens: int = 0
    cut: bool = False


@dataclass(frozen=True)
class Reader:
    """Reads completions. most: tokens that a thought may have, or None."""

    tokenizer: PreTrainedTokenizerBase
    most: int | None = None

    @cached_property
    def opens(self) -> frozenset[bool]:
        """Of prompts that say that there shall be a thought (True), and that there shall be none (False): those whose
        answer the chat template begins with one. What is drawn then lacks the mark that opens it.
        """

        def asked(thinks: bool) -> str:
            chat = [{"role": "system", "content": told(".", thinks)}, {"role": "user", "content": "."}]
            return str(self.tokenizer.apply_chat_template(chat, add_generation_prompt=True, tokenize=False))

        return frozenset(thinks for thinks in (True, False) if asked(thinks).rstrip().endswith(OPEN))

    def read(self, tokens: Sequence[int], thinks: bool = False) -> Said:
        return self.said(str(self.tokenizer.decode(tokens, skip_special_tokens=True)), tokens, thinks)

    def said(self, text: str, tokens: Sequence[int], thinks: bool = False) -> Said:
        """`text` is what the tokens say; `thinks`, whether the prompt says that there shall be a thought."""
        whole = OPEN + text if thinks in self.opens else text
        answer = answer_of(whole)
        if answer == whole:
            return Said(text)
        count = self._count(tokens)
        cut = has_unclosed_thought(whole) or (self.most is not None and count > self.most)
        return Said("" if cut else answer, count, cut)

    def _count(self, tokens: Sequence[int]) -> int:
        """Up to the last mark that closes a thought; all of them where none does."""
        close = self.tokenizer.convert_tokens_to_ids(CLOSE)
        return max((place + 1 for place, token in enumerate(tokens) if token == close), default=len(tokens))
