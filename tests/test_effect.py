"""An adapter that was saved does the same wherever it is loaded; its file may be wrong, and equal to what was loaded."""

import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from peft import PeftModel, get_peft_model
from safetensors.torch import load_file, save_file
from torch import Tensor

from tucano.errors import UserError
from tucano.settings import ModelSettings
from tucano.training.checkpoints import weights
from tucano.training.checkpoints.states import NotAsSaved
from tucano.training.checkpoints.weights import compare
from tucano.training.merge import _differences
from tucano.training.policies import effect
from tucano.training.policies.load import load_base, load_policy, lora_config
from tucano.training.policies.nano import build_model, build_tokenizer

SMALL = ModelSettings(nano_hidden=64, nano_layers=3, nano_vocabulary=300)


def adapted(scale: float) -> PeftModel:
    """A base with an adapter on all its linear layers."""
    model = build_model(build_tokenizer(["um texto"], SMALL), SMALL, seed=1)
    policy = get_peft_model(model, lora_config(SMALL))
    noise = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for name, weight in policy.named_parameters():
            if "lora" in name:
                weight.copy_((scale if "lora_B" in name else 0.1) * torch.randn(weight.shape, generator=noise))
    return policy


@pytest.fixture(params=[0.3, 0.005], ids=["large", "small"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """base/ and adapter/ as training leaves them. The small one changes some thousandths of a nat, far below .05."""
    tokenizer = build_tokenizer(["um texto"], SMALL)
    build_model(tokenizer, SMALL, seed=1).save_pretrained(tmp_path / "base")
    tokenizer.save_pretrained(tmp_path / "base")
    policy = adapted(request.param)
    weights.save_whole(policy, tmp_path / "adapter")
    weights.describe(policy, tmp_path / "adapter")
    return tmp_path


def change(folder: Path, edit: Callable[[dict[str, Tensor]], dict[str, Tensor]]) -> None:
    file = folder / "adapter_model.safetensors"
    save_file(edit(load_file(file)), file, {"format": "pt"})


def without_b(held: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: torch.zeros_like(tensor) if "lora_B" in name else tensor for name, tensor in held.items()}


def exchanged(held: dict[str, Tensor]) -> dict[str, Tensor]:
    """up_proj's and gate_proj's matrices have the same shapes."""
    other = {"up_proj": "gate_proj", "gate_proj": "up_proj"}
    names = {name: next((name.replace(*pair) for pair in other.items() if pair[0] in name), name) for name in held}
    return {names[name]: tensor for name, tensor in held.items()}


def loaded(place: Path, **settings: str) -> None:
    chosen = SMALL.model_copy(update=settings)
    load_policy(chosen, str(place / "base"), place / "adapter", trainable=False, seed=0)


def test_what_was_saved_is_loaded_in_any_precision(place: Path) -> None:
    held = json.loads((place / "adapter" / effect.FILE).read_text(encoding="utf-8"))
    assert held["with_adapter"] != held["without"]
    loaded(place)
    loaded(place, dtype="bfloat16")


@pytest.mark.parametrize("edit", [without_b, exchanged])
def test_matrices_of_zero_or_of_another_layer_are_refused(
    edit: Callable[[dict[str, Tensor]], dict[str, Tensor]], place: Path
) -> None:
    change(place / "adapter", edit)
    with pytest.raises(UserError, match="does not change its base as it did"):
        loaded(place)


def test_an_adapter_on_another_base_is_refused(place: Path) -> None:
    build_model(build_tokenizer(["um texto"], SMALL), SMALL, seed=9).save_pretrained(place / "base")
    with pytest.raises(UserError, match="another base"):
        loaded(place)


def filled(factor: str, value: float) -> Callable[[dict[str, Tensor]], dict[str, Tensor]]:
    return lambda held: {name: t.fill_(value) if factor in name else t for name, t in held.items()}


def without_scale(folder: Path) -> None:
    config = folder / "adapter_config.json"
    config.write_text(json.dumps(json.loads(config.read_text(encoding="utf-8")) | {"lora_alpha": 0}), encoding="utf-8")


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda folder: change(folder, without_b), "changes nothing"),
        (lambda folder: change(folder, filled("lora_A", 0.0)), "changes nothing"),
        (without_scale, "changes nothing"),
        (lambda folder: change(folder, filled("lora_B", math.nan)), "no numbers"),
        (lambda folder: change(folder, filled("lora_A", math.inf)), "no numbers"),
    ],
    ids=["B of zero", "A of zero", "scale of zero", "B of NaN", "A of infinity"],
)
def test_an_adapter_that_does_nothing_or_gives_no_numbers_is_refused(
    spoil: Callable[[Path], None], said: str, place: Path
) -> None:
    """Nothing beside it says what it did; one of several tasks is no better."""
    (place / "adapter" / effect.FILE).unlink()
    loaded(place)
    shutil.copytree(place / "adapter", place / "tasks" / "insights")
    spoil(place / "adapter")
    with pytest.raises(UserError, match=f"adapter {said}|adapter gives {said}"):
        loaded(place)
    shutil.copytree(place / "adapter", place / "tasks" / "push")
    with pytest.raises(UserError, match=f"push {said}|push gives {said}"):
        load_policy(SMALL, str(place / "base"), place / "tasks", trainable=False, seed=0)


def test_an_adapter_whose_training_changed_nothing_is_loaded_and_gives_numbers(place: Path) -> None:
    """Its best look was the one before the first step."""
    change(place / "adapter", without_b)
    held = json.loads((place / "adapter" / effect.FILE).read_text(encoding="utf-8"))
    effect.Effect(held["texts"], held["without"], held["without"]).write(place / "adapter")
    loaded(place)
    change(place / "adapter", filled("lora_B", math.nan))
    with pytest.raises(UserError, match="no numbers"):
        loaded(place)


def test_an_adapter_that_is_to_be_trained_may_change_nothing_yet(place: Path) -> None:
    (place / "adapter" / effect.FILE).unlink()
    change(place / "adapter", without_b)
    load_policy(SMALL, str(place / "base"), place / "adapter", trainable=True, seed=0)


def test_what_is_written_beside_an_adapter_leaves_the_model_as_it_was() -> None:
    policy = adapted(0.3).train()
    trained = {name for name, weight in policy.named_parameters() if weight.requires_grad}
    state = torch.get_rng_state()
    effect.of(policy)
    assert policy.training and torch.equal(state, torch.get_rng_state())
    assert trained == {name for name, weight in policy.named_parameters() if weight.requires_grad}


@pytest.mark.parametrize(
    ("found", "faithful"),
    [([-1.0, -2.02, -3.01], True), ([-1.0, -2.0, -3.0], False), ([-1.02, -2.0, -2.99], False)],
    ids=["as trained", "as the base", "another change of the same size"],
)
def test_a_merge_that_answers_like_its_base_is_not_faithful(found: list[float], faithful: bool) -> None:
    """The adapter moves three tokens by .02 and .01; all of these are within the limit of .05."""
    base, trained = torch.tensor([-1.0, -2.0, -3.0]), torch.tensor([-1.0, -2.02, -3.01])
    record = _differences([trained], [torch.tensor(found)], [base], 0.0)
    assert record["faithful"] is faithful and float(str(record["mean_difference"])) < 0.05


def test_a_merged_model_that_answers_like_its_base_is_not_loaded(place: Path) -> None:
    """What `tucano serve` loads: the base's weights in the merged model's folder."""
    policy = adapted(0.3)
    held = effect.of(policy)
    merged = policy.merge_and_unload()
    merged.save_pretrained(place / "merged")
    build_tokenizer(["um texto"], SMALL).save_pretrained(place / "merged")
    held.write(place / "merged")
    load_base(SMALL, str(place / "merged"))
    (place / "merged" / "model.safetensors").write_bytes((place / "base" / "model.safetensors").read_bytes())
    with pytest.raises(UserError, match="does not change its base as it did"):
        load_base(SMALL, str(place / "merged"))


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("", "Expecting value"),
        ("[]", "Effect"),
        ('{"texts": [[1000000000, 1]], "with_adapter": [1], "without": [1]}', "none of a model with"),
        ('{"texts": [[1, 1]], "with_adapter": [], "without": [1]}', "one number for each token"),
    ],
)
def test_a_damaged_record_of_what_was_changed_is_named(place: Path, written: str, said: str) -> None:
    (place / "base" / effect.FILE).write_text(written, encoding="utf-8")
    with pytest.raises(UserError, match=rf"base/{effect.FILE} is damaged \(.*{said}"):
        load_base(SMALL, str(place / "base"))


def first_is(place: Path, change: Callable[[Tensor], Tensor]) -> None:
    file = place / "base" / "model.safetensors"
    held = load_file(file)
    name = min(held)
    save_file({**held, name: change(held[name])}, file, {"format": "pt"})


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda place: first_is(place, lambda held: held * float("nan")), "has NaN or infinity in 1 of its tensors"),
        (lambda place: first_is(place, lambda held: held[:1].clone()), "has weights that do not fit"),
        (lambda place: (place / "base" / "model.safetensors").write_text("<html>"), "safetensors is cut off"),
        (lambda place: (place / "base" / "tokenizer.json").write_text("{}"), "the tokenizer in .*KeyError"),
        (lambda place: (place / "base" / "adapter_config.json").write_text("["), "holds an adapter"),
        (lambda place: (place / "base" / "config.json").write_text('{"model_type": ["a"]}'), "config.json is damaged"),
    ],
)
def test_a_damaged_base_is_refused_where_it_is_loaded(place: Path, damage: Callable[[Path], object], said: str) -> None:
    damage(place)
    with pytest.raises(UserError, match=said):
        load_base(SMALL, str(place / "base"))


def test_integers_are_no_weights_that_a_model_holds() -> None:
    with pytest.raises(NotAsSaved, match="1 tensors differ"):
        compare({"w": torch.ones(2)}, [("w", torch.ones(2, dtype=torch.int8))], Path("base"), set())
