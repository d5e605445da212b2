"""Whether a folder holds a model, before anything is trained on it: its config, its tokenizer and the headers of its
weights, in a second or two after torch is imported.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tucano.artifacts.identity import SHIPPED
from tucano.errors import UserError
from tucano.security.printable import short

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

ADAPTER, CONFIG, ENDS = "adapter_config.json", "config.json", "generation_config.json"
WHOLE, INDEX = "model.safetensors", "model.safetensors.index.json"
NO_CONFIG = "is damaged or describes no language model"
SHOWN = 3
MOST_BYTES = 2**20
"""Of a config: the largest that are published have some ten thousand, and transformers checks long lists slowly."""

_LAYERS = re.compile(r"(?:num|n)_(?:\w+_)?layers?|depth")
Stored = dict[str, tuple[str, list[int]]]
"""{tensor: its kind, as safetensors names it, and its shape}."""


def require_model(place: str) -> None:
    """UserError for a local folder that transformers would not load as a causal language model. No weight is read.

    Of a model that is shipped the tokenizer and the agreement of weights and config are left out, for these need torch,
    whose import takes seconds.
    """
    folder = Path(place)
    if not folder.is_dir():
        return
    if (folder / ADAPTER).exists():
        raise UserError(f"{folder} holds an adapter ({ADAPTER}); name the base it belongs to, or a merged model")
    if not (folder / CONFIG).is_file():
        raise UserError(f"{folder} holds no model, for it has no {CONFIG}; name the folder of a whole one")
    for entry in folder.iterdir():
        if entry.exists() and not (entry.is_file() or entry.is_dir()):  # a pipe would be waited for
            raise UserError(f"{entry} is no ordinary file; bring the whole folder back, or name another")
    if (folder / CONFIG).stat().st_size > MOST_BYTES:
        raise _refused(folder / CONFIG, NO_CONFIG, f"more than {MOST_BYTES // 2**20} MiB")
    with _refusing(folder / CONFIG, NO_CONFIG):
        config = json.loads((folder / CONFIG).read_bytes())
    if not isinstance(config, dict):
        raise _refused(folder / CONFIG, NO_CONFIG, "it is no JSON object")
    stored = _stored(folder)
    if _most_layers(config) > len(stored):  # such a number alone may fill the memory
        raise _refused(folder / CONFIG, NO_CONFIG, f"more layers than the {len(stored)} tensors that are stored")
    if folder not in SHIPPED.values():
        with _quiet():
            _require_loadable(folder, stored, "quantization_config" in config)


def _most_layers(config: Any, depth: int = 4) -> int:
    """The largest number of layers in a config, by whatever name an architecture gives it, its parts' among them."""
    if not isinstance(config, dict) or not depth:
        return 0
    own = (value for name, value in config.items() if type(value) is int and _LAYERS.fullmatch(name))
    return max([*own, *(_most_layers(value, depth - 1) for value in config.values())], default=0)


def _stored(folder: Path) -> Stored:
    """What the headers of a folder's weights say. UserError where a file is not as long as its header says."""
    from safetensors import safe_open

    files = [folder / WHOLE]
    if not files[0].is_file() and (folder / INDEX).is_file():
        with _refusing(folder / INDEX, "is damaged"):
            index = json.loads((folder / INDEX).read_bytes())
            _, names = dict(index["metadata"]), {*index["weight_map"].values()}  # transformers asks for both
            files = [folder / name for name in sorted(names)]
    stored: Stored = {}
    for file in files:
        if not file.is_file():
            raise UserError(
                f"there are no weights at {file}; bring the whole folder back, or name one with safetensors"
            )
        with _refusing(file, "is cut off, damaged or no safetensors"), safe_open(file, framework="numpy") as opened:
            for name in opened.keys():  # noqa: SIM118  it is no mapping
                part = opened.get_slice(name)
                stored[name] = (part.get_dtype(), part.get_shape())
    return stored


def _require_loadable(folder: Path, stored: Stored, is_quantized: bool) -> None:
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    with _refusing(folder / CONFIG, NO_CONFIG), torch.device("meta"):
        config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        model = AutoModelForCausalLM.from_config(config, trust_remote_code=False)
    kind, named = type(model).__name__, config.architectures
    if named and kind not in named:
        raise _refused(folder / CONFIG, NO_CONFIG, f"{short(str(named))} would be loaded as {kind}")
    if not is_quantized:
        _require_agreement(folder, model, stored)
    _require_ends(folder)
    tokenizer_in(folder)


def _require_agreement(folder: Path, model: "PreTrainedModel", stored: Stored) -> None:
    """By transformers' own way to find a tensor's place, with tensors that hold nothing."""
    import torch

    fault = f"has weights that do not fit its {CONFIG}"
    with _refusing(folder, fault):
        empty = {name: torch.empty(shape, device="meta") for name, (_, shape) in stored.items()}
        _, found = type(model).from_pretrained(
            None, config=model.config, state_dict=empty, device_map="meta", output_loading_info=True,
            ignore_mismatched_sizes=True,
        )  # fmt: skip
    wrong = [f"{name} is missing" for name in sorted(found["missing_keys"])]
    wrong += [f"{name} has another shape" for name, *_ in sorted(found["mismatched_keys"])]
    wrong += [f"{name} is {kind}" for name, kind in _whole_numbers(model, stored)]
    if wrong:
        more = f" and {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
        raise _refused(folder, fault, ", ".join(wrong[:SHOWN]) + more)


def _whole_numbers(model: "PreTrainedModel", stored: Stored) -> Iterator[tuple[str, str]]:
    """Parameters that are stored as integers: only a quantization could say what these mean."""
    held = [f".{name}" for name, _ in model.named_parameters()]
    for name, (kind, _) in stored.items():
        if not kind.startswith(("F", "BF")) and any(
            f".{name}".endswith(one) or one.endswith(f".{name}") for one in held
        ):
            yield name, kind


def _require_ends(folder: Path) -> None:
    from transformers import GenerationConfig

    if (folder / ENDS).is_file():
        with _refusing(folder / ENDS, "is damaged"):
            require_end_tokens(GenerationConfig.from_pretrained(folder).eos_token_id)


def require_end_tokens(declared: Any) -> list[int]:
    """The end tokens of a generation config. UserError for what is no token."""
    listed = declared if isinstance(declared, list) else [] if declared is None else [declared]
    if not all(type(token) is int for token in listed):
        raise UserError(
            f"eos_token_id={short(str(declared))} in the model's {ENDS} is no token; write the number of one there, or"
            " a list of numbers"
        )
    return listed


def tokenizer_in(folder: Path) -> "PreTrainedTokenizerBase":
    from transformers import AutoTokenizer

    with _refusing(f"the tokenizer in {folder} (tokenizer.json, tokenizer_config.json)", "is missing or damaged"):
        tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(
            folder, local_files_only=True, trust_remote_code=False
        )
        return tokenizer


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the bars and reports that transformers prints while it loads."""
    from transformers.utils import logging

    level, has_bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity(logging.CRITICAL)
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if has_bars:
            logging.enable_progress_bar()


@contextmanager
def _refusing(what: Path | str, fault: str) -> Iterator[None]:
    """Libraries that read a damaged file raise anything; here it becomes one sentence."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        raise _refused(what, fault, short(f"{type(error).__name__}: {error}")) from error


def _refused(what: Path | str, fault: str, why: str) -> UserError:
    return UserError(f"{what} {fault} ({why}); bring the whole folder back, or name another")
