"""From prompts to token ids: the chat template, and the tokens that end an answer."""

import re
from collections.abc import Iterable, Sequence

from transformers import PreTrainedTokenizerBase

from tucano.bases.asking import refused_template
from tucano.bases.folders import require_end_tokens
from tucano.prompts import Prompt, messages
from tucano.training.checkpoints.weights import Policy

Chat = list[dict[str, str]]


def stop_tokens(model: Policy, tokenizer: PreTrainedTokenizerBase) -> list[int]:
    """Every end token that the tokenizer or the model's generation config declares."""
    listed = require_end_tokens(model.generation_config.eos_token_id)
    return sorted({token for token in (tokenizer.eos_token_id, *listed) if token is not None})


def encode(
    tokenizer: PreTrainedTokenizerBase, prompts: Sequence[Prompt], system_prompts: dict[str, str]
) -> list[list[int]]:
    """Token ids of each prompt in the chat template, the assistant's turn opened."""
    return encode_chats(tokenizer, [messages(prompt, system_prompts) for prompt in prompts])


def encode_chats(tokenizer: PreTrainedTokenizerBase, chats: Sequence[Chat]) -> list[list[int]]:
    """Token ids of each chat, the assistant's turn opened. UserError where the template does not take them."""
    try:
        return tokenizer.apply_chat_template(
            harmless(tokenizer, chats), add_generation_prompt=True, tokenize=True, return_dict=True
        )["input_ids"]
    except Exception as fault:
        raise refused_template(tokenizer, fault) from None


def harmless(tokenizer: PreTrainedTokenizerBase, chats: Iterable[Chat]) -> list[Chat]:
    """The chats with the model's own marks (`</s>`) written apart (`< /s>`): nobody's text ends or opens a turn."""
    special = (token.content for token in tokenizer.added_tokens_decoder.values() if token.special)
    marks = re.compile("|".join(map(re.escape, sorted(special, key=len, reverse=True))) or r"\A(?!)")
    return [
        [{**part, "content": marks.sub(lambda mark: f"{mark[0][0]} {mark[0][1:]}", part["content"])} for part in chat]
        for chat in chats
    ]
