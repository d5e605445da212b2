"""From prompts to token ids: the chat template, and the tokens that end an answer."""

from collections.abc import Sequence

from transformers import PreTrainedTokenizerBase

from tucano.prompts import Prompt, messages
from tucano.training.checkpoints.weights import Policy


def stop_tokens(model: Policy, tokenizer: PreTrainedTokenizerBase) -> list[int]:
    """Every end token that the tokenizer or the model's generation config declares."""
    declared = model.generation_config.eos_token_id
    listed = declared if isinstance(declared, list) else [declared]
    return sorted({token for token in (tokenizer.eos_token_id, *listed) if token is not None})


def encode(
    tokenizer: PreTrainedTokenizerBase, prompts: Sequence[Prompt], system_prompts: dict[str, str]
) -> list[list[int]]:
    """Token ids of each prompt in the chat template, the assistant's turn opened."""
    return encode_chats(tokenizer, [messages(prompt, system_prompts) for prompt in prompts])


def encode_chats(tokenizer: PreTrainedTokenizerBase, chats: Sequence[list[dict[str, str]]]) -> list[list[int]]:
    """Token ids of each chat, the assistant's turn opened."""
    return tokenizer.apply_chat_template(chats, add_generation_prompt=True, tokenize=True, return_dict=True)[
        "input_ids"
    ]
