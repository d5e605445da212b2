"""Asks a teacher how likely it finds the student's tokens (`grpo.teacher`): vLLM's completions API, which takes token
ids as a prompt and gives the log-probability of each of them (`prompt_logprobs`) at temperature 1.

A teacher is not trusted: a reply is bounded in bytes and seconds, and holds one log-probability for every token, or the
step ends. Nothing of it is kept: a resumed run asks again about what it draws again.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from tucano.benchmark.chat import (
    MOST_BYTES,
    BrokenOff,
    Chat,
    NoAnswer,
    Refused,
    Unusable,
    client_of,
    key_of,
    patiently,
    read_json,
)
from tucano.errors import UserError, WorkerFailed
from tucano.security.printable import short
from tucano.settings.endpoint import EndpointSettings
from tucano.training.checkpoints import interruption
from tucano.training.jobs import pulse

LOOK_SECONDS = 0.2
PROBE = 'Olá! «Preço»: R$ 1.234,56 (-10 %) às 9h30?\n{"nota": [5, 4.5], "ok": true}\n\tSELECT COUNT(*) FROM pedidos;'
LOWEST = -1e4
"""vLLM writes -9999 for an impossible token."""
BYTES_PER_TOKEN = 256
"""Of a reply; vLLM writes about 80 for a token: its log-probability, rank and text."""


@dataclass(frozen=True)
class Teacher:
    """One endpoint. Its key is read when it is asked: what a trainer holds is written into checkpoints."""

    endpoint: EndpointSettings

    def require_tokenizer(self, tokenizer: PreTrainedTokenizerBase) -> None:
        """UserError for a teacher that reads a chat and its end as other tokens than the student's `tokenizer`, and
        where its key is not in the environment.
        """
        chat = [{"role": "user", "content": PROBE}]
        text = f"{tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)}{tokenizer.eos_token}"
        ids: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
        try:
            asyncio.run(self._asked([(text, ids)]))
        except Unusable as odd:
            raise UserError(
                f"grpo.teacher: {self.endpoint.name} reads a text as other tokens than the student, or says nothing of"
                f" them ({odd}); name a model with the student's tokenizer, on a vLLM server"
            ) from None

    def gaps(self, output: Mapping[str, Tensor], logps: Tensor) -> Tensor:
        """[B, C] log p_teacher - log p_student of every token of the completions (nats), 0 behind their ends.

        output: TRL's tensors; logps: [B, C], the student's. UserError for a reply that cannot be used or a request that
        the teacher refuses, WorkerFailed where it does not answer.
        """
        prompts = _rows(output["prompt_ids"], output["prompt_mask"])
        drawn = _rows(output["completion_ids"], output["completion_mask"])
        rows = [prompt + tokens for prompt, tokens in zip(prompts, drawn, strict=True)]
        try:
            said = asyncio.run(self._asked([(row, row) for row in rows]))
        except Unusable as odd:
            raise UserError(
                f"grpo.teacher: {self.endpoint.name} gave a reply that cannot be used: {odd}; look at its server"
            ) from None
        found = torch.zeros_like(logps)
        for row, prompt, values in zip(found, prompts, said, strict=True):
            own = values[len(prompt) - 1 :]
            row[: len(own)] = torch.tensor(own)
        return (found - logps) * output["completion_mask"]

    def dollars(self, output: Mapping[str, Tensor]) -> float:
        """What asking about these completions costs: all their tokens are read, and one is written for each."""
        read = int(output["prompt_mask"].sum() + output["completion_mask"].sum())
        return (read * self.endpoint.dollars_in + len(output["prompt_mask"]) * self.endpoint.dollars_out) / 1e6

    async def _asked(self, questions: Sequence[tuple[str | list[int], list[int]]]) -> list[list[float]]:
        """For each text or ids, and the tokens that it is: the log-probability of each but the first, given those
        before it. Unusable for a reply that does not say that.
        """
        key, slots = key_of(self.endpoint), asyncio.Semaphore(self.endpoint.parallel)
        async with client_of(self.endpoint, key) as client:
            chat = Chat(self.endpoint, key, client)
            tasks = [asyncio.create_task(self._answer(chat, slots, *question)) for question in questions]
            waiting = set(tasks)
            while waiting:
                done, waiting = await asyncio.wait(waiting, timeout=LOOK_SECONDS, return_when=asyncio.FIRST_EXCEPTION)
                interruption.check()
                for task in done:
                    task.result()
                    pulse()
        return [task.result() for task in tasks]

    async def _answer(
        self, chat: Chat, slots: asyncio.Semaphore, shown: str | list[int], tokens: list[int]
    ) -> list[float]:
        request = {
            **{"model": self.endpoint.model, "prompt": shown, "add_special_tokens": False},
            **{"prompt_logprobs": 0, "max_tokens": 1, "temperature": 0.0},
        }

        async def attempt() -> bytes:
            try:
                return await chat.body(request, "completions", max(MOST_BYTES, BYTES_PER_TOKEN * len(tokens)))
            except BrokenOff as broken:  # to judge again costs little, and a broken connection is nobody's mistake
                raise NoAnswer(str(broken)) from None

        try:
            async with slots:
                body = await patiently(self.endpoint, attempt)
        except NoAnswer as fault:
            raise WorkerFailed(
                f"the teacher {self.endpoint.name} gave no answer in {self.endpoint.attempts} attempts ({fault}); start"
                " the same run again once it does: it goes on from its last checkpoint"
            ) from None
        except Refused as refusal:
            raise UserError(f"grpo.teacher: {refusal}") from None
        return _logps(body, tokens)


def _rows(ids: Tensor, mask: Tensor) -> list[list[int]]:
    return [row[kept.bool()].tolist() for row, kept in zip(ids, mask, strict=True)]


def _logps(body: bytes, tokens: Sequence[int]) -> list[float]:
    """[tokens - 1]; Unusable unless there is one number from LOWEST to 0 for each of these very tokens."""
    choices = read_json(body).get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    said = choice.get("prompt_logprobs") if isinstance(choice, dict) else None
    if not isinstance(said, list) or len(said) != len(tokens):
        count = len(said) if isinstance(said, list) else "no"
        raise Unusable(f"it has {count} log-probabilities for {len(tokens)} tokens")
    found: list[float] = []
    for token, place in zip(tokens[1:], said[1:], strict=True):
        one = place.get(str(token)) if isinstance(place, dict) else None
        value: Any = one.get("logprob") if isinstance(one, dict) else None
        if type(value) not in (int, float) or not LOWEST <= value <= 0:
            raise Unusable(
                f"its log-probability of token {token}, number {len(found) + 2}, is {short(str(value)[:20])}"
            )
        found.append(float(value))
    return found
