"""Loading what is trained and what answers: base models with their adapters, behind one function per backend.

A base comes from a local folder or, by name and pinned revision, from the hub; without remote code, from safetensors
only.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, PeftConfig, PeftModel, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase

from tucano.bases.folders import require_model
from tucano.chat_templates import speaking
from tucano.errors import TucanoError, UserError, is_worth_a_retry
from tucano.files.per_task import adapters_by_task
from tucano.security.printable import short
from tucano.settings.model import AdaptedModel, LoadedModel
from tucano.training.checkpoints import weights
from tucano.training.checkpoints.states import NotAsSaved
from tucano.training.checkpoints.weights import Policy
from tucano.training.jobs import Arm
from tucano.training.policies import effect
from tucano.training.policies.padding import with_pad
from tucano.training.policies.per_task import with_adapters

CHECKPOINTING = "unsloth"
"""What unsloth is told wherever it can be told, with a new adapter and with one from a folder: it keeps this for the
model and prefers it to TRL's `gradient_checkpointing`. Without, a forward pass keeps 1.5 MB per token, with it 0.06.
"""
MOST_RANK = 4096
COMPUTED = torch.bfloat16
"""What a matrix of 4 bits becomes whenever it is multiplied with."""
LORA_TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def load_policy(
    settings: LoadedModel, base: str, adapter: Path | None, trainable: bool, seed: int
) -> tuple[Policy, PreTrainedTokenizerBase]:
    """The model at `base` (folder or hub id) with `adapter`, or one for each task where the folder holds several; with
    a new LoRA adapter when `trainable` and there is none.
    """
    if settings.device == "cuda" and not torch.cuda.is_available():
        raise UserError(
            "model.device=cuda, but this machine has no usable CUDA device; use a CPU profile such as laptop"
        )
    per_task = adapter is not None and bool(adapters_by_task(adapter))
    for place in (adapters_by_task(adapter).values() or [adapter]) if adapter else ():
        _require_rank(place)
    backend = "transformers" if per_task else settings.backend  # Unsloth loads one adapter from its folder
    model, tokenizer = BACKENDS[backend](settings, base, adapter, trainable, seed)
    if adapter is not None and not per_task:
        with _said_of("adapter", adapter):
            weights.read_back(model, adapter)
            effect.require(model, adapter, trainable)
    return model, tokenizer


def load_arm(settings: LoadedModel, arm: Arm, seed: int) -> tuple[Policy, PreTrainedTokenizerBase]:
    """A model that answers. A whole one that is not the base (a registered version, a folder) brings its template."""
    adapter = Path(arm.adapter) if arm.adapter else None
    if arm.system_prompts is not None or (adapter is None and arm.name != "base"):
        settings = settings.model_copy(update={"chat_template": None})
    return load_policy(settings, arm.base, adapter, trainable=False, seed=seed)


def _load_with_transformers(
    settings: LoadedModel, base: str, adapter: Path | None, trainable: bool, seed: int
) -> tuple[Policy, PreTrainedTokenizerBase]:
    model, tokenizer = load_base(settings, base)
    if adapter is not None and adapters_by_task(adapter):
        assert not trainable, "the adapters of several tasks are trained one by one"
        with _said_of("adapter", adapter):
            return with_adapters(model, adapter), tokenizer
    if adapter is not None:
        return _adapted(model, adapter, trainable), tokenizer
    if not trainable:
        return model, tokenizer
    if settings.quantization == "nf4":
        from peft import prepare_model_for_kbit_training

        model = prepare_model_for_kbit_training(model, use_gradient_checkpointing=False)
    assert isinstance(settings, AdaptedModel), "a new adapter has a shape"
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return get_peft_model(model, lora_config(settings)), tokenizer


def _require_rank(adapter: Path) -> None:
    """UserError for a rank that no adapter has: PEFT makes matrices of it before it looks at those that are stored."""
    with _said_of("adapter", adapter):
        config = PeftConfig.from_pretrained(str(adapter))
        rank = max([getattr(config, "r", 0), *(getattr(config, "rank_pattern", None) or {}).values()])
        if rank > MOST_RANK:
            raise UserError(f"the adapter at {adapter} has the rank {rank}, at most {MOST_RANK} is loaded")


def _adapted(model: PreTrainedModel, adapter: Path, trainable: bool) -> PeftModel:
    with _said_of("adapter", adapter):
        return PeftModel.from_pretrained(model, str(adapter), is_trainable=trainable)


def _load_with_unsloth(
    settings: LoadedModel, base: str, adapter: Path | None, trainable: bool, seed: int
) -> tuple[Policy, PreTrainedTokenizerBase]:
    """The worker has imported Unsloth before everything else. Given an adapter's folder it would take the base that the
    adapter names, at its newest commit; so the base is loaded by itself, at the pinned one, and read back.
    """
    from unsloth import FastLanguageModel

    with _said_of("model", base):
        model, tokenizer = FastLanguageModel.from_pretrained(
            model_name=base,
            revision=settings.revision,
            max_seq_length=settings.max_length_tokens,
            load_in_4bit=settings.quantization == "nf4",
            dtype=getattr(torch, settings.dtype),
            trust_remote_code=False,
            use_gradient_checkpointing=CHECKPOINTING,
        )
        weights.read_back_base(model, base, settings.revision, ())
    tokenizer = with_pad(model, speaking(tokenizer, settings.chat_template))
    if adapter is not None:  # as Unsloth does it, which leaves every adapter trainable
        attached = _adapted(model, adapter, trainable=True)
        model = FastLanguageModel.patch_peft_model(attached, use_gradient_checkpointing=CHECKPOINTING)
    elif trainable:
        assert isinstance(settings, AdaptedModel), "a new adapter has a shape"
        model = FastLanguageModel.get_peft_model(
            model,
            r=settings.lora_rank,
            lora_alpha=settings.lora_alpha,
            lora_dropout=settings.lora_dropout,
            target_modules=LORA_TARGETS,
            use_gradient_checkpointing=CHECKPOINTING,
            random_state=seed,
        )
    return _drawing_anew(model), tokenizer


def _drawing_anew(model: Policy) -> Policy:
    """Unsloth's `generate` (2026.10.7) keeps each matrix of an adapter in 16 bits from its first call on, and draws
    with that whatever training makes of the matrix; here every call begins without. And it switches off checkpointing
    and switches it on again where the model was in training alone: so it is, for the time of the call.
    """
    draw = model.generate

    def generate(*given: Any, **named: Any) -> Any:
        for weight in model.parameters():
            weight.__dict__.pop("_fast_lora", None)
        was_training = model.training
        model.train()
        found = draw(*given, **named)
        model.train(was_training)
        return found

    model.generate = generate
    return model


Loader = Callable[[LoadedModel, str, Path | None, bool, int], tuple[Policy, PreTrainedTokenizerBase]]
BACKENDS: dict[str, Loader] = {"transformers": _load_with_transformers, "unsloth": _load_with_unsloth}


def load_base(settings: LoadedModel, base: str) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """The base model alone, all weights trainable, and its tokenizer."""
    if not Path(base).exists() and settings.revision is None:
        raise UserError(
            f"model.name={base} is no local folder, and a hub model needs model.revision, the commit it is pinned to"
        )
    options: dict[str, Any] = {"revision": settings.revision, "trust_remote_code": False}
    with _said_of("model", base):
        tokenizer = AutoTokenizer.from_pretrained(base, **options)
    if settings.quantization == "nf4":
        from transformers import BitsAndBytesConfig

        options["quantization_config"] = BitsAndBytesConfig(
            load_in_4bit=True,
            bnb_4bit_quant_type="nf4",
            bnb_4bit_compute_dtype=COMPUTED,
            bnb_4bit_use_double_quant=True,
        )
    with _said_of("model", base):
        model, loading = AutoModelForCausalLM.from_pretrained(
            base,
            dtype=getattr(torch, settings.dtype),
            use_safetensors=True,
            device_map=settings.device,
            output_loading_info=True,
            **options,
        )
        weights.read_back_base(model, base, settings.revision, loading["missing_keys"])
    if settings.quantization == "none":  # which changes a model as much as an adapter may
        effect.require(model, Path(base))
    return model, with_pad(model, speaking(tokenizer, settings.chat_template))


@contextmanager
def _said_of(what: str, place: str | Path) -> Iterator[None]:
    """What is said of a base or an adapter that cannot be loaded as it is becomes one sentence: of a base in a folder
    what is wrong in it, where that is known. What another try or more memory may help stays as it is.
    """
    try:
        yield
    except Exception as error:
        if isinstance(error, (TucanoError, MemoryError, torch.OutOfMemoryError)) or is_worth_a_retry(error):
            raise
        if what == "model":
            require_model(str(place))
        own = isinstance(error, NotAsSaved)  # it names up to three tensors
        why = short(str(error), 1000) if own else short(f"{type(error).__name__}: {error}")
        raise UserError(
            f"the {what} at {place} cannot be loaded ({why}); bring all of it back, or name another"
        ) from error


def lora_config(settings: AdaptedModel) -> LoraConfig:
    return LoraConfig(
        r=settings.lora_rank,
        lora_alpha=settings.lora_alpha,
        lora_dropout=settings.lora_dropout,
        target_modules=LORA_TARGETS,
        bias="none",
        task_type="CAUSAL_LM",
    )
