"""From drawn tokens to an answer: thoughts are counted, limited and taken off here, for whoever judges or serves it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from transformers import PreTrainedTokenizerBase

from tucano.thoughts import CLOSE, OPEN, answer_of, has_unclosed_thought


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
    opened: dict[str, bool] = field(default_factory=dict, repr=False, compare=False)
    """What is known of system prompts: whether the chat template begins the answer with a thought."""

    def opens(self, system: str) -> bool:
        """Whether an answer after this system prompt begins in a thought: what is drawn then lacks its first mark."""
        if system not in self.opened:
            chat = [{"role": "system", "content": system}, {"role": "user", "content": "."}]
            asked = str(self.tokenizer.apply_chat_template(chat, add_generation_prompt=True, tokenize=False))
            self.opened[system] = asked.rstrip().endswith(OPEN)
        return self.opened[system]

    def read(self, tokens: Sequence[int], system: str = ".") -> Said:
        return self.said(str(self.tokenizer.decode(tokens, skip_special_tokens=True)), tokens, system)

    def said(self, text: str, tokens: Sequence[int], system: str = ".") -> Said:
        """`text` is what the tokens say, drawn after this system prompt."""
        whole = OPEN + text if self.opens(system) else text
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
