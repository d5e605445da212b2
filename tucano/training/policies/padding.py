"""A token to pad with that ends nothing: what is masked by its id would else lose the end of every answer."""

import torch
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from tucano.training.policies.chat import stop_tokens

NEW = "<|pad|>"


def with_pad(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> PreTrainedTokenizerBase:
    """The tokenizer, padding on the left with a token of its own: the one that it comes with; else a special token that
    nothing uses; else a new one, in a row of the embedding that has no token yet; else in a new row. A function of
    model and tokenizer alone, so every process chooses the same.
    """
    tokenizer.padding_side = "left"
    if tokenizer.pad_token_id is None or tokenizer.pad_token_id in stop_tokens(model, tokenizer):
        tokenizer.add_special_tokens({"pad_token": _unused(model, tokenizer) or NEW})
    pad = tokenizer.pad_token_id
    if pad >= model.get_input_embeddings().weight.shape[0]:
        _lengthen(model, pad + 1)
    model.config.pad_token_id = model.generation_config.pad_token_id = pad
    return tokenizer


def _unused(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> str | None:
    """A special token that ends nothing and is not in the chat template. One that is named for padding goes before
    others, and the one for unknown words comes last; of several the one with the highest id.
    """
    taken = {*stop_tokens(model, tokenizer), tokenizer.bos_token_id}
    free = [
        ("pad" in token.content.lower(), token.content != tokenizer.unk_token, number, token.content)
        for number, token in tokenizer.added_tokens_decoder.items()
        if token.special and number not in taken and token.content not in str(tokenizer.chat_template)
    ]
    return max(free)[-1] if free else None


@torch.no_grad()
def _lengthen(model: PreTrainedModel, size: int) -> None:
    before = model.get_input_embeddings().weight.shape[0]
    model.resize_token_embeddings(size, mean_resizing=False)
    for layer in (model.get_input_embeddings(), model.get_output_embeddings()):
        layer.weight.copy_(lengthened(layer.weight[:before], size))


def lengthened(weight: Tensor, rows: int) -> Tensor:
    """With new rows, which are the mean of the old ones: no prompt makes such a token likely."""
    mean = weight.float().mean(dim=0).to(weight)
    return torch.cat([weight, mean.expand(rows - len(weight), -1)])
