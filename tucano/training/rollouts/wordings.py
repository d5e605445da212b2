"""Which wording of a prompt an epoch shows (prompt augmentation, `data.paraphrases`).

A function of (seed, prompt, epoch) alone, so that a resumed training sees what it would have seen. Each wording comes
up once before any comes up again, the original among them.
"""

import random
from collections.abc import Iterator, Sequence
from typing import Any

from torch.utils.data import Sampler
from transformers import PreTrainedTokenizerBase

from tucano.prompts import Prompt, messages
from tucano.training.policies.chat import harmless


def wording_of(seed: int, prompt_id: str, epoch: int, count: int) -> int:
    """The number in [0, count) of the wording that this epoch shows."""
    lap, place = divmod(epoch, count)
    return random.Random(f"{seed} {prompt_id} {lap}").sample(range(count), count)[place]


class Wordings:
    """The chats of prompts that have several wordings, for GRPO, which draws from a prompt and not from a row."""

    def __init__(
        self,
        prompts: Sequence[Prompt],
        further: Sequence[Prompt],
        systems: dict[str, str],
        tokenizer: PreTrainedTokenizerBase,
        seed: int,
    ) -> None:
        """`further`: prompts in other wordings, by their ids."""
        self._seed = seed
        self._chats: dict[str, list[list[dict[str, str]]]] = {prompt.id: [] for prompt in prompts}
        shown = (*prompts, *further)
        for prompt, chat in zip(shown, harmless(tokenizer, (messages(p, systems) for p in shown)), strict=True):
            self._chats[prompt.id].append(chat)

    def shown(self, row: dict[str, Any], epoch: int) -> dict[str, Any]:
        """The row of a prompt in its wording of this epoch."""
        chats = self._chats[row["prompt_id"]]
        return {**row, "prompt": chats[wording_of(self._seed, row["prompt_id"], epoch, len(chats))]}


class WordingSampler(Sampler[int]):
    """For SFT: each example once an epoch, in random order, in the wording of that epoch. transformers says which epoch
    it is.

    `ids` [N]: of the rows of a dataset; rows of one id are wordings of one example.
    """

    def __init__(self, ids: Sequence[str], seed: int) -> None:
        self._rows: dict[str, list[int]] = {}
        for row, name in enumerate(ids):
            self._rows.setdefault(name, []).append(row)
        self._seed, self._epoch = seed, 0

    def set_epoch(self, epoch: int) -> None:
        self._epoch = epoch

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[int]:
        names = list(self._rows)
        random.Random(f"{self._seed} order {self._epoch}").shuffle(names)
        for name in names:
            rows = self._rows[name]
            yield rows[wording_of(self._seed, name, self._epoch, len(rows))]
