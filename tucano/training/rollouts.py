"""From prompts to scored answers: chat template, sampling, reward and truth of every completion.

A bad completion is data: it scores low. Nothing here raises because of what a model wrote.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch
from transformers import PreTrainedTokenizerBase

from rewards import RewardSet, Score
from tucano.prompts import Prompt, messages
from tucano.training.decode import Decoder, supports
from tucano.training.policies import Policy
from tucano.truth import truth

BATCH_ROWS = 128


@dataclass(frozen=True, slots=True)
class Rollout:
    """One completion of one prompt, with what it earned."""

    prompt: Prompt
    tokens: list[int]
    completion: str
    truncated: bool
    score: Score
    truth: float | None


def stop_tokens(model: Policy, tokenizer: PreTrainedTokenizerBase) -> list[int]:
    """Every end token that the tokenizer or the model's generation config declares."""
    declared = model.generation_config.eos_token_id
    listed = declared if isinstance(declared, list) else [declared]
    return sorted({token for token in (tokenizer.eos_token_id, *listed) if token is not None})


def encode(
    tokenizer: PreTrainedTokenizerBase, prompts: Sequence[Prompt], system_prompts: dict[str, str]
) -> list[list[int]]:
    """Token ids of each prompt in the chat template, the assistant's turn opened."""
    chats = [messages(prompt, system_prompts) for prompt in prompts]
    return tokenizer.apply_chat_template(chats, add_generation_prompt=True, tokenize=True, return_dict=True)[
        "input_ids"
    ]


def sample(
    model: Policy,
    tokenizer: PreTrainedTokenizerBase,
    prompt_ids: Sequence[Sequence[int]],
    max_new_tokens: int,
    temperature: float,
    generator: torch.Generator,
    fast_cpu: bool = True,
) -> list[list[int]]:
    """Completions as token ids, in the order of `prompt_ids`, `BATCH_ROWS` at a time, nearly equal lengths together."""
    order = sorted(range(len(prompt_ids)), key=lambda index: len(prompt_ids[index]))
    completions: list[list[int]] = [[] for _ in prompt_ids]
    stop = stop_tokens(model, tokenizer)
    decoder = Decoder(model) if fast_cpu and supports(model) else None
    for start in range(0, len(order), BATCH_ROWS):
        rows = order[start : start + BATCH_ROWS]
        batch = [prompt_ids[row] for row in rows]
        if decoder is not None:
            drawn = decoder.sample(batch, max_new_tokens, stop, temperature, generator)
        else:
            drawn = _generate(model, tokenizer, batch, max_new_tokens, stop, temperature, generator)
        for row, tokens in zip(rows, drawn, strict=True):
            completions[row] = tokens
    return completions


@torch.no_grad()
def _generate(
    model: Policy,
    tokenizer: PreTrainedTokenizerBase,
    batch: Sequence[Sequence[int]],
    max_new_tokens: int,
    stop: list[int],
    temperature: float,
    generator: torch.Generator,
) -> list[list[int]]:
    """`model.generate` with every parameter explicit: a temperature of 0.1 in a shipped generation_config once cost a
    whole run.
    """
    inputs = tokenizer.pad({"input_ids": [list(ids) for ids in batch]}, padding_side="left", return_tensors="pt").to(
        model.device
    )
    with seeded(generator):
        output = model.generate(
            **inputs,
            max_new_tokens=max_new_tokens,
            do_sample=temperature > 0,
            temperature=temperature if temperature > 0 else None,
            top_k=0 if temperature > 0 else None,
            top_p=1.0 if temperature > 0 else None,
            repetition_penalty=1.0,
            pad_token_id=tokenizer.pad_token_id,
            eos_token_id=stop,
        )
    drawn = output[:, inputs["input_ids"].shape[1] :].tolist()
    return [_until_stop(tokens, stop) for tokens in drawn]


def _until_stop(tokens: list[int], stop: list[int]) -> list[int]:
    end = next((index for index, token in enumerate(tokens) if token in stop), len(tokens) - 1)
    return tokens[: end + 1]


@contextmanager
def seeded(generator: torch.Generator) -> Iterator[None]:
    """Run a block that draws from torch's global generators on a stream of its own, and leave theirs untouched."""
    with torch.random.fork_rng():
        torch.manual_seed(int(torch.randint(2**62, (1,), generator=generator)))
        yield


@dataclass(frozen=True, slots=True)
class Examiner:
    """Lets a policy answer prompts and scores the answers: rewards of one set, and the ground truth where it is
    known.
    """

    tokenizer: PreTrainedTokenizerBase
    system_prompts: dict[str, str]
    rewards: RewardSet
    databases: Path
    max_new_tokens: int
    fast_cpu: bool = True

    def answer(
        self, model: Policy, prompts: Sequence[Prompt], samples: int, temperature: float, seed: int
    ) -> list[Rollout]:
        """`samples` scored rollouts per prompt, those of one prompt side by side. Own random stream; training's is not
        touched.
        """
        was_training = model.training
        model.eval()
        generator = torch.Generator().manual_seed(seed)
        repeated = [prompt for prompt in prompts for _ in range(samples)]
        ids = encode(self.tokenizer, repeated, self.system_prompts)
        drawn = sample(model, self.tokenizer, ids, self.max_new_tokens, temperature, generator, self.fast_cpu)
        model.train(was_training)
        stop = stop_tokens(model, self.tokenizer)
        texts = self.tokenizer.batch_decode(drawn, skip_special_tokens=True)
        return [
            Rollout(
                prompt,
                tokens,
                text,
                tokens[-1] not in stop,
                self.rewards.score(prompt, text),
                truth(prompt, text, self.databases),
            )
            for prompt, tokens, text in zip(repeated, drawn, texts, strict=True)
        ]
