"""From the fields of an answer to the tokens that wrote them."""

from collections.abc import Sequence
from itertools import accumulate

from transformers import PreTrainedTokenizerBase

from rewards import field_scores
from tucano.prompts import Prompt
from tucano.training.algorithms import Block

UNFINISHED = "\ufffd"
"""What bytes that are no whole character yet are read as."""
LONGEST_CHARACTER = 8
"""Tokens after which a character that is still unfinished never will be."""


def blocks_of(
    tokenizer: PreTrainedTokenizerBase, prompt: Prompt, tokens: Sequence[int], answer: str
) -> tuple[Block, ...]:
    """One block per field of the prompt's reference; it has the tokens whose first character lies in the field.
    `answer` is what the tokens say, behind their thought.
    """
    pieces = _pieces(tokenizer, tokens)
    text = "".join(pieces)
    ends = list(accumulate(map(len, pieces)))
    starts = [0, *ends[:-1]]
    before = len(text) - len(answer)
    # else the tokenizer reads tokens together otherwise than one by one
    is_read = text == tokenizer.decode(tokens, skip_special_tokens=True) and text.endswith(answer)

    def place(character: int) -> int:
        """The first token that starts at this character of the answer, or later."""
        return sum(start < before + character for start in starts)

    return tuple(
        Block(field.value, place(field.start), place(field.end))
        if is_read and field.end > field.start
        else Block(field.value, 0, 0)
        for field in field_scores(prompt, answer)
    )


def _pieces(tokenizer: PreTrainedTokenizerBase, tokens: Sequence[int]) -> list[str]:
    """The text of each token; that of a character of several tokens stands at its last one."""
    pieces: list[str] = []
    pending: list[int] = []
    for token in tokens:
        pending.append(token)
        piece = tokenizer.decode(pending, skip_special_tokens=True)
        if piece.endswith(UNFINISHED) and len(pending) < LONGEST_CHARACTER:
            pieces.append("")
        else:
            pieces.append(piece)
            pending = []
    if pending:
        pieces[-1] = tokenizer.decode(pending, skip_special_tokens=True)
    return pieces
