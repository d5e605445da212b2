"""Weights on their way to a file and back. After every load they are read from the live model and held against the
file.

Libraries choose by themselves what they load: one folder too many beside an adapter, and they load that folder and
leave the adapter as it was; a tensor that no file has gets random numbers and a warning. So nothing is believed before
it was read back.
"""

import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

import torch
from peft import PeftModel, get_peft_model_state_dict, set_peft_model_state_dict
from safetensors import safe_open
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase
from transformers.utils import cached_file

from tucano.errors import UserError
from tucano.training.checkpoints import manifest
from tucano.training.checkpoints.states import NotAsSaved, raw
from tucano.training.policies import effect

TRAINED = "default"
"""The adapter that is trained and delivered. TRL keeps a second one, `ref`, for the KL penalty: a copy of where
training began.
"""
SHOWN = 3
Policy: TypeAlias = PreTrainedModel | PeftModel


def save_whole(model: Policy, folder: Path, tokenizer: PreTrainedTokenizerBase | None = None) -> None:
    """Write a model or adapter beside its place, seal it, and swap it in; a crash leaves the old one or the new one."""
    draft = folder.with_name(f"{folder.name}.draft")
    shutil.rmtree(draft, ignore_errors=True)
    save(model, draft)
    if tokenizer is not None:
        tokenizer.save_pretrained(str(draft))
    manifest.seal(draft)
    shutil.rmtree(folder, ignore_errors=True)
    draft.replace(folder)


def save(model: Policy, folder: Path) -> None:
    """Write the trained adapter, or a whole model, and read it back. NotAsSaved when the file holds something else."""
    if isinstance(model, PeftModel):
        model.save_pretrained(str(folder), selected_adapters=[TRAINED], save_embedding_layers=False)
    else:
        model.save_pretrained(str(folder))
    read_back(model, folder)


def load(model: Policy, folder: Path) -> None:
    """Put what `save` wrote into a live model. NotAsSaved when the model then holds something else."""
    stored = dict(stored_tensors(_files(folder)))
    if isinstance(model, PeftModel):
        set_peft_model_state_dict(model, stored, adapter_name=TRAINED)
    else:
        model.load_state_dict(stored, strict=False)  # tied weights are stored once
    read_back(model, folder)


def describe(model: Policy, folder: Path) -> None:
    """Write beside a saved adapter what it does in the model that was trained, once the training is over: to look while
    it goes on would change how a 4-bit base computes. NotAsSaved where the folder is not whole.
    """
    if (fault := manifest.fault(folder)) is not None:
        raise NotAsSaved(f"{folder}: {fault}")
    if isinstance(model, PeftModel):
        load(model, folder)
        effect.of(model).write(folder)
        manifest.seal(folder)


def read_back(model: Policy, folder: Path, name: str = TRAINED) -> None:
    """Hold all weights of an adapter, or of a model without one, against a folder. NotAsSaved names what differs."""
    trained = adapter(model, name) if isinstance(model, PeftModel) else dict(model.state_dict())
    compare({**model.state_dict(), **trained}, stored_tensors(_files(folder)), folder, set(trained))


def read_back_base(model: PreTrainedModel, base: str, revision: str | None, missing: Iterable[str]) -> None:
    """Hold the weights of a base model, as transformers has loaded it from a folder or hub id, against its files.
    UserError where they are no numbers.

    `missing` are those that transformers says no file has. What it converts on its way (4-bit weights, joined experts)
    is left out.
    """
    folder = Path(cached_file(base, "config.json", revision=revision)).parent
    live = {name: tensor for name, tensor in model.state_dict().items() if tensor.is_floating_point()}
    named = (
        (name, tensor)
        for name, tensor in stored_tensors(_files(folder))
        if name in live and live[name].shape == tensor.shape
    )
    compare(live, named, folder, set(missing))
    _require_numbers(model, base)


def _require_numbers(model: PreTrainedModel, base: str) -> None:
    """UserError where weights of a base are NaN or infinite: everything computed with them would be."""
    wide = ((name, weight) for name, weight in model.named_parameters() if weight.is_floating_point())
    wrong = [name for name, weight in wide if weight.element_size() > 1 and not weight.isfinite().all()]
    if wrong:
        raise UserError(
            f"the model at {base} has NaN or infinity in {len(wrong)} of its tensors ({', '.join(wrong[:SHOWN])});"
            " bring all of it back, or name another"
        )


@contextmanager
def kept_in_float32(model: Policy) -> Iterator[None]:
    """While a trainer of TRL is made: a trained adapter keeps its weights, in float32.

    On a 4-bit base TRL rounds them to bfloat16, whose 8 bits of mantissa lose an update of 5e-6 on a weight of .02: 98
    % of the entries of LoRA's A were the same to the bit after 12 steps. What training goes on from is rounded as well.
    """
    trained = [weight for weight in model.parameters() if weight.requires_grad and isinstance(model, PeftModel)]
    before = [weight.data.float() for weight in trained]
    yield
    for weight, data in zip(trained, before, strict=True):
        weight.data = data


def held(model: Policy) -> dict[str, dict[str, Tensor]]:
    """What training may hold beside a fixed base: {adapter: {name: weights}}; all weights of a model without one."""
    if not isinstance(model, PeftModel):
        return {"": dict(model.state_dict())}
    return {name: adapter(model, name) for name in model.peft_config}


def adapter(model: PeftModel, name: str) -> dict[str, Tensor]:
    """The weights of one adapter in a live model, named as in its file."""
    return dict(get_peft_model_state_dict(model, adapter_name=name, save_embedding_layers=False))


def stored_tensors(files: Iterable[Path]) -> Iterator[tuple[str, Tensor]]:
    for file in files:
        with safe_open(file, framework="pt") as opened:
            for name in opened.keys():  # noqa: SIM118  it is no mapping
                yield name, opened.get_tensor(name)


def compare(live: Mapping[str, Tensor], stored: Iterable[tuple[str, Tensor]], place: Path, needed: set[str]) -> None:
    """Hold live tensors against those stored at `place`, bit for bit. `needed` must be in a file, by themselves or
    through one that they share their memory with.
    """
    wrong, found = [], set()
    for name, tensor in stored:
        if name not in live:
            wrong.append(f"{name} (not in the model)")
            continue
        found.add(live[name].data_ptr())
        if not _same(live[name], tensor):
            wrong.append(name)
    wrong += [
        f"{name} (in no file)" for name in sorted(needed) if name not in live or live[name].data_ptr() not in found
    ]
    if wrong or not found:
        more = f" and {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
        what = f"{len(wrong)} tensors differ: {', '.join(wrong[:SHOWN])}{more}" if wrong else "there are no weights"
        raise NotAsSaved(f"{place} was read back and is not what the model holds: {what}")


def _same(live: Tensor, stored: Tensor) -> bool:
    """Bit for bit, in the precision that the model was asked to have."""
    if live.shape != stored.shape or live.is_floating_point() != stored.is_floating_point():
        return False
    return torch.equal(raw(live), raw(stored.to(live.dtype)))


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.safetensors"))
