"""An adapter merged from file to file has the bits of PEFT's merge in memory, and takes the memory of one file."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch
from nano_models import nano_adapter
from peft import PeftModel
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, PreTrainedModel, Qwen2Config, Qwen3Config

from tucano.errors import UserError
from tucano.settings import ModelSettings
from tucano.training.checkpoints import merged
from tucano.training.checkpoints.states import NotAsSaved
from tucano.training.policies.load import load_base
from tucano.training.policies.nano import build_tokenizer

MODEL = ModelSettings(nano_hidden=32, nano_layers=2, nano_vocabulary=400, max_length_tokens=256)
SMALL = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "vocab_size": 400,
}
SHAPES = {
    "qwen3, tied": Qwen3Config(**SMALL, tie_word_embeddings=True),
    "qwen2, biases": Qwen2Config(**SMALL, tie_word_embeddings=True),
    "llama, a head of its own": LlamaConfig(**SMALL, tie_word_embeddings=False),
}


def base_of(config: Any, folder: Path, without_pad: bool = False, **saving: Any) -> PreTrainedModel:
    tokenizer = build_tokenizer(["Uma pergunta sobre caixas", "Outra resposta"], MODEL)
    if without_pad:
        tokenizer.pad_token = tokenizer.eos_token
    torch.manual_seed(3)
    config.vocab_size = len(tokenizer)
    model = AutoModelForCausalLM.from_config(config)
    for weight in model.parameters():
        weight.data = torch.randn(weight.shape) / 7  # biases and norms, too
    model.save_pretrained(folder, **saving)
    tokenizer.save_pretrained(folder)
    return model


def in_memory(base: Path, adapter: Path | None) -> PreTrainedModel:
    """The whole model in float32, merged by PEFT, rounded once: 10 bytes a weight."""
    model, _ = load_base(MODEL, str(base))
    if adapter is None:
        return model.to(torch.bfloat16)
    whole: PreTrainedModel = PeftModel.from_pretrained(model, str(adapter)).merge_and_unload(safe_merge=True)
    return whole.to(torch.bfloat16)


def merge(base: Path, adapter: Path | None, folder: Path) -> Path:
    merged.write(merged.Base(str(base), None), adapter, "cpu", AutoTokenizer.from_pretrained(base), [2], folder)
    return folder


@pytest.mark.parametrize("without_pad", [False, True], ids=["as it is", "with a row for padding"])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_bits_are_those_of_a_merge_in_memory(shape: str, without_pad: bool, tmp_path: Path) -> None:
    base_of(SHAPES[shape], tmp_path / "base", without_pad, max_shard_size="20KB")
    adapter = nano_adapter(tmp_path / "base", MODEL, noise=0.1)
    expected = in_memory(tmp_path / "base", adapter)
    expected.generation_config.eos_token_id = [2]
    expected.save_pretrained(tmp_path / "expected")
    merge(tmp_path / "base", adapter, tmp_path / "merged")
    for name in ("model.safetensors", "config.json", "generation_config.json"):
        assert (tmp_path / "merged" / name).read_bytes() == (tmp_path / "expected" / name).read_bytes(), name


def test_without_an_adapter_it_is_the_base_in_16_bits(tmp_path: Path) -> None:
    base_of(SHAPES["qwen3, tied"], tmp_path / "base")
    merge(tmp_path / "base", None, tmp_path / "merged")
    found = AutoModelForCausalLM.from_pretrained(tmp_path / "merged").state_dict()
    for name, tensor in in_memory(tmp_path / "base", None).state_dict().items():
        assert torch.equal(found[name], tensor), name


def test_a_large_model_is_written_into_several_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merged, "MOST_BYTES", 20_000)
    base_of(SHAPES["llama, a head of its own"], tmp_path / "base")
    adapter = nano_adapter(tmp_path / "base", MODEL, noise=0.1)
    merge(tmp_path / "base", adapter, tmp_path / "merged")
    index = json.loads((tmp_path / "merged" / "model.safetensors.index.json").read_text(encoding="utf-8"))
    files = {*index["weight_map"].values()}
    assert len(files) > 2 and all((tmp_path / "merged" / file).stat().st_size < 40_000 for file in files)
    found = AutoModelForCausalLM.from_pretrained(tmp_path / "merged").state_dict()
    for name, tensor in in_memory(tmp_path / "base", adapter).state_dict().items():
        assert torch.equal(found[name], tensor), name


def test_a_base_that_lacks_a_weight_is_refused(tmp_path: Path) -> None:
    model = base_of(SHAPES["qwen3, tied"], tmp_path / "base")
    kept = {name: tensor for name, tensor in model.state_dict().items() if "layers.1.mlp.up" not in name}
    model.save_pretrained(tmp_path / "base", state_dict=kept)
    with pytest.raises(UserError, match=r"model\.layers\.1\.mlp\.up_proj\.weight"):
        merge(tmp_path / "base", None, tmp_path / "merged")


def test_an_adapter_of_another_shape_or_with_nan_is_refused(tmp_path: Path) -> None:
    base_of(SHAPES["qwen3, tied"], tmp_path / "base")
    with pytest.raises(ValueError, match="NaNs detected"):
        merge(tmp_path / "base", nano_adapter(tmp_path / "base", MODEL, noise=math.nan), tmp_path / "merged")


def test_what_is_written_is_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base_of(SHAPES["qwen3, tied"], tmp_path / "base")
    write = merged.save_file
    monkeypatch.setattr(
        merged, "save_file", lambda tensors, *rest: write({n: torch.zeros_like(t) for n, t in tensors.items()}, *rest)
    )
    with pytest.raises(NotAsSaved, match="was read back"):
        merge(tmp_path / "base", None, tmp_path / "merged")
