"""What was loaded is held against the file; whatever a library left out, or made up, is named."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import load_file, save_file
from transformers import Qwen3Config, Qwen3ForCausalLM, Trainer, TrainingArguments

from tucano.errors import UserError
from tucano.settings import ModelSettings
from tucano.training.checkpoints import weights
from tucano.training.checkpoints.states import NotAsSaved
from tucano.training.policies.load import load_base, load_policy
from tucano.training.policies.nano import build_tokenizer

CONFIG = Qwen3Config(
    vocab_size=300, hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=1, head_dim=8,
    tie_word_embeddings=True,
)  # fmt: skip
A = "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight"


def base(seed: int = 0) -> Qwen3ForCausalLM:
    torch.manual_seed(seed)
    return Qwen3ForCausalLM(CONFIG)


def adapted(seed: int, reference: bool = False) -> PeftModel:
    """A model with an adapter of random numbers; with TRL's second adapter beside it where `reference`."""
    config = LoraConfig(r=2, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM")
    model = get_peft_model(base(), config)
    if reference:
        model.add_adapter("ref", config)
    torch.manual_seed(seed)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "lora" in name:
                weight.normal_()
    return model


def same(one: Any, other: Any) -> bool:
    first, second = (weights.adapter(model, weights.TRAINED) for model in (one, other))
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


def test_the_adapter_beside_a_reference_is_saved_alone_and_loaded_again(tmp_path: Path) -> None:
    trained, resumed = adapted(1, reference=True), adapted(2, reference=True)
    weights.save_whole(trained, tmp_path / "best")
    assert not [path for path in (tmp_path / "best").iterdir() if path.is_dir()]
    weights.load(resumed, tmp_path / "best")
    assert same(resumed, trained)
    reference = weights.held(resumed)["ref"]
    assert all(
        torch.equal(reference[name], tensor) for name, tensor in weights.held(adapted(2, reference=True))["ref"].items()
    )


def test_an_adapter_that_the_library_leaves_out_is_named(tmp_path: Path) -> None:
    """transformers loads the subfolders of a checkpoint that has any, and leaves the adapter beside them."""
    trained, resumed = adapted(1, reference=True), adapted(2, reference=True)
    trained.save_pretrained(str(tmp_path / "checkpoint"))
    assert (tmp_path / "checkpoint" / "ref").is_dir()
    trainer = Trainer(resumed, TrainingArguments(str(tmp_path / "drafts"), use_cpu=True))
    trainer._load_from_checkpoint(str(tmp_path / "checkpoint"))
    assert same(resumed, adapted(2, reference=True))  # no error, and not one weight was loaded
    with pytest.raises(
        NotAsSaved, match=r"checkpoint was read back .* 4 tensors differ: .*q_proj\.lora_A\.weight, .* and 1 more"
    ):
        weights.read_back(resumed, tmp_path / "checkpoint")


def edit(folder: Path, change: Any) -> None:
    file = next(folder.glob("*.safetensors"))
    stored = load_file(file)
    change(stored)
    save_file(stored, file, {"format": "pt"})


def flip_a_bit(stored: dict[str, Any]) -> None:
    stored[A].view(torch.int32)[0, 0] ^= 1


def lose(stored: dict[str, Any]) -> None:
    del stored[A]


def add(stored: dict[str, Any]) -> None:
    stored["base_model.model.lm_head.lora_A.weight"] = torch.ones(2, 2)


EDITS = {
    flip_a_bit: rf"1 tensors differ: {A}$",
    lose: rf"{A} \(in no file\)",
    add: r"lm_head\.lora_A\.weight \(not in the model\)",
}


@pytest.mark.parametrize("change", EDITS, ids=lambda change: change.__name__)
def test_one_weight_more_less_or_other_is_named(change: Any, tmp_path: Path) -> None:
    trained = adapted(1)
    weights.save(trained, tmp_path)
    edit(tmp_path, change)
    with pytest.raises(NotAsSaved, match=EDITS[change]):
        weights.read_back(trained, tmp_path)


def test_whole_weights_are_stored_once_where_they_are_tied(tmp_path: Path) -> None:
    trained, resumed = base(1), base(2)
    weights.save(trained, tmp_path)
    assert "lm_head.weight" not in load_file(tmp_path / "model.safetensors")
    weights.load(resumed, tmp_path)
    assert all(torch.equal(tensor, resumed.state_dict()[name]) for name, tensor in trained.state_dict().items())


def model_folder(folder: Path) -> Path:
    base(1).save_pretrained(folder)
    build_tokenizer(["um texto"], ModelSettings(nano_vocabulary=300)).save_pretrained(folder)
    return folder


def test_a_base_without_one_of_its_weights_is_refused_instead_of_drawn_by_chance(tmp_path: Path) -> None:
    name = "model.layers.0.mlp.up_proj.weight"
    edit(model_folder(tmp_path), lambda stored: stored.pop(name))
    with pytest.raises(UserError, match=rf"\({name} is missing\); bring the whole folder back"):
        load_base(ModelSettings(), str(tmp_path))


def test_the_adapter_that_training_starts_from_is_read_back(tmp_path: Path) -> None:
    folder = model_folder(tmp_path / "model")
    weights.save(adapted(1), tmp_path / "adapter")
    more = {"base_model.model.model.layers.7.lora_A.weight": torch.ones(2, 2)}
    edit(tmp_path / "adapter", lambda stored: stored.update(more))
    with pytest.raises(UserError, match=r"adapter at .*layers\.7\.lora_A\.weight \(not in the model\)"):
        load_policy(ModelSettings(), str(folder), tmp_path / "adapter", trainable=True, seed=1)


@pytest.mark.parametrize("damage", ["no config", "half a file", "another rank", "no json", "a rank as text"])
def test_a_damaged_adapter_is_a_users_mistake_said_with_its_folder(damage: str, tmp_path: Path) -> None:
    folder, adapter = model_folder(tmp_path / "model"), tmp_path / "adapter"
    weights.save(adapted(1), adapter)
    stored, config = adapter / "adapter_model.safetensors", adapter / "adapter_config.json"
    if damage == "no config":
        config.unlink()
    elif damage == "half a file":
        stored.write_bytes(stored.read_bytes()[: stored.stat().st_size // 2])
    elif damage == "another rank":
        config.write_text(json.dumps({**json.loads(config.read_text(encoding="utf-8")), "r": 3}), encoding="utf-8")
    elif damage == "a rank as text":
        config.write_text(json.dumps({**json.loads(config.read_text(encoding="utf-8")), "r": "8"}), encoding="utf-8")
    else:
        config.write_text("{", encoding="utf-8")
    with pytest.raises(UserError, match=rf"the adapter at {adapter} cannot be loaded .*bring all of it back"):
        load_policy(ModelSettings(), str(folder), adapter, trainable=True, seed=1)


@pytest.mark.parametrize("ranks", [{"r": 10**6}, {"rank_pattern": {"q_proj": 10**6}}])
def test_a_rank_that_no_adapter_has_makes_no_matrices(ranks: dict[str, Any], tmp_path: Path) -> None:
    folder, adapter = model_folder(tmp_path / "model"), tmp_path / "adapter"
    weights.save(adapted(1), adapter)
    config = adapter / "adapter_config.json"
    config.write_text(json.dumps({**json.loads(config.read_text(encoding="utf-8")), **ranks}), encoding="utf-8")
    with pytest.raises(UserError, match="has the rank 1000000, at most 4096"):
        load_policy(ModelSettings(), str(folder), adapter, trainable=True, seed=1)
