"""The nano model: a Qwen3 of some 650,000 random weights with its own tokenizer, so that the pipeline runs
anywhere.

It exists to exercise every stage without a download. It knows nothing but what SFT shows it, and it is not a product.
"""

from collections.abc import Iterable

import torch
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

from tucano.chat_templates import CHATML, EMPTY
from tucano.settings.model import NanoModel
from tucano.thoughts import CLOSE, OFF, OPEN

PAD, TURN_START, TURN_END = "<|pad|>", "<|im_start|>", "<|im_end|>"
THINKING_TEMPLATE = (
    "{%- set quiet = messages[0]['content'].endswith('" + OFF + "') %}"
    "{%- for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' }}"
    "{%- if quiet and message['role'] == 'assistant' %}{{ '" + EMPTY + "' }}{%- endif %}"
    "{{ message['content'] + '<|im_end|>\\n' }}{%- endfor %}"
    "{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}"
    "{%- if quiet %}{{ '" + EMPTY + "' }}{%- endif %}{%- endif %}"
)
"""Where the system prompt says so, the thought is already closed when the answer begins."""
WORDS = Regex(r" ?[\p{L}_]+| ?\p{N}|[^\s\p{L}\p{N}_]+|\s+")
"""Pre-tokens: words with underscores whole (field and table names), digits one by one (figures are copied, not
memorised).
"""


def build_tokenizer(texts: Iterable[str], settings: NanoModel, thinking: bool = False) -> PreTrainedTokenizerFast:
    """A byte-level BPE trained on `texts`, with a chat template and a pad token that is not the end token. thinking:
    with the marks of a thought, a token each, and a template that reads the switch.
    """
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(WORDS, behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=settings.nano_vocabulary,
        special_tokens=[PAD, TURN_START, TURN_END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=PAD,
        eos_token=TURN_END,
        padding_side="left",
        model_max_length=settings.max_length_tokens,
    )
    wrapped.chat_template = THINKING_TEMPLATE if thinking else CHATML
    if thinking:
        wrapped.add_tokens([AddedToken(mark, normalized=False) for mark in (OPEN, CLOSE)])
    return wrapped


def build_model(tokenizer: PreTrainedTokenizerFast, settings: NanoModel, seed: int) -> Qwen3ForCausalLM:
    """A freshly initialised Qwen3; the same seed gives the same weights."""
    hidden = settings.nano_hidden
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=hidden,
        intermediate_size=3 * hidden,
        num_hidden_layers=settings.nano_layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=hidden // 4,
        max_position_embeddings=settings.max_length_tokens,
        tie_word_embeddings=True,
        initializer_range=hidden
        ** -0.5,  # the library's 0.02 is for wide models; here it halves what SFT learns per step
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = Qwen3ForCausalLM(config)
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    model.generation_config.pad_token_id = tokenizer.pad_token_id
    return model
