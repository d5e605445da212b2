"""What can be known before the first stage is said before it, in one sentence, and not after hours of a GPU."""

import json
import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest
import torch
from here import Answering, address, running
from safetensors.torch import load_file, save_file
from test_cli import sentence
from torch import Tensor
from transformers import AutoConfig, AutoModelForCausalLM

from flows.train import train
from tucano.artifacts.identity import SHIPPED
from tucano.cli import forecast
from tucano.cli.machine import doctor
from tucano.errors import UserError
from tucano.profiles import load_profile
from tucano.requirements.memory import MOST_CACHE_BYTES, needs, require_memory
from tucano.requirements.second_zero import refusals, require_startable, warnings_of
from tucano.requirements.shapes import LORA_WEIGHTS_UNKNOWN, TUCANO, adapter_weights, shape_of
from tucano.settings import ModelSettings
from tucano.training.samplers.local import CACHE_BYTES

ROOT = Path(__file__).parent.parent
HERE = ["execution.seeds=null"]
COMMIT = f"model.revision={'1' * 40}"
QWEN3 = {
    "hidden_size": 1024, "intermediate_size": 3072, "num_hidden_layers": 28, "num_attention_heads": 16,
    "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 49152, "tie_word_embeddings": True,
    "max_position_embeddings": 4096,
}  # fmt: skip


@pytest.fixture(autouse=True)
def no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PREFECT_API_URL", raising=False)


@pytest.fixture
def gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Puts a driver into the path that says how many MiB the machine's GPUs have."""

    def install(mebibytes: int) -> None:
        driver = tmp_path / "bin" / "nvidia-smi"
        driver.parent.mkdir(exist_ok=True)
        driver.write_text(f"#!/bin/sh\necho {mebibytes}\n", encoding="utf-8")
        driver.chmod(0o755)
        monkeypatch.setenv("PATH", f"{driver.parent}:{os.environ['PATH']}")

    return install


def changed(file: Path, **values: object) -> None:
    told = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**told, **values}), encoding="utf-8")


def shaped(folder: Path, **config: object) -> Path:
    """mini with another shape, whose weights are a hole in their file."""
    shutil.copytree(SHIPPED["mini"], folder)
    changed(folder / "config.json", layer_types=None, **config)
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(folder))
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, tensor in model.named_parameters():
        begin, end = end, end + 2 * tensor.numel()
        header[name] = {"dtype": "BF16", "shape": [*tensor.shape], "data_offsets": [begin, end]}
    written = json.dumps(header).encode()
    file = folder / "model.safetensors"
    file.write_bytes(len(written).to_bytes(8, "little") + written)
    os.truncate(file, 8 + len(written) + end)
    return folder


def sentences(profile: str, *overrides: str, refuses: bool = True) -> list[str]:
    settings = load_profile(ROOT, profile, [*HERE, *overrides])
    return refusals(settings) if refuses else warnings_of(settings)


@pytest.mark.parametrize("profile", ["l4", "l4-v5", "l4-1.5b", "l4-3.7b", "l4-base"])
def test_a_deployment_without_a_server_is_refused(
    profile: str, gpu: Callable[[int], None], capsys: pytest.CaptureFixture[str]
) -> None:
    """It used to say so in passing and to train on this machine."""
    gpu(23_034)
    said = sentence("run", profile)
    assert "starting Prefect" not in capsys.readouterr().out
    assert "execution.seeds=seed/local-gpu needs a Prefect server" in said
    assert "tucano up" in said and "PREFECT_API_URL" in said and "--set execution.seeds=null" in said


@pytest.mark.parametrize(
    ("profile", "commit"), [("l4", []), ("l4-v5", []), ("l4-1.5b", [COMMIT]), ("l4-3.7b", [COMMIT]), ("l4-base", [])]
)
def test_a_shipped_profile_can_begin_on_an_l4(profile: str, commit: list[str], gpu: Callable[[int], None]) -> None:
    gpu(23_034)
    require_startable(load_profile(ROOT, profile, [*HERE, *commit]))


@pytest.mark.parametrize("profile", ["l4-1.5b", "l4-3.7b"])
def test_a_larger_base_begins_when_its_commit_is_named(profile: str) -> None:
    """Nobody has read them: a commit that was made up would be worse than none."""
    assert "is not pinned to a commit" in sentences(profile)[0]


@pytest.mark.parametrize("revision", ["main", "v1.0", "d1953bb", "null"])
def test_a_base_that_is_no_commit_is_refused_first(
    revision: str, gpu: Callable[[int], None], capsys: pytest.CaptureFixture[str]
) -> None:
    gpu(23_034)
    said = sentence("run", "l4-v5", "--set", "execution.seeds=null", "--set", f"model.revision={revision}")
    assert "starting Prefect" not in capsys.readouterr().out
    assert "is not pinned to a commit" in said and "--set model.revision=COMMIT" in said


def test_the_deployments_run_is_refused_by_the_same_checks(tmp_path: Path) -> None:
    settings = load_profile(ROOT, "laptop", [f"storage={tmp_path / 'runs'}", "model.name=loja/modelo"])
    with pytest.raises(UserError, match=r"loja/modelo is no local folder, and .* is not pinned to a commit"):
        train.fn(settings)
    assert not (tmp_path / "runs").exists(), "nothing was begun"


def test_rewards_that_fail_the_audit_by_design_are_said_at_once() -> None:
    (said,) = sentences("l4", refuses=False)
    assert "grpo.rewards=v4.2" in said and "audit.override_by" in said and "audit.override_reason" in said
    assert "before SFT" in said
    assert sentences("l4", "audit.override_by=Ana", "audit.override_reason=piloto", refuses=False) == []
    assert sentences("l4-v5", refuses=False) == []


def test_answers_that_leave_no_room_for_a_prompt_are_refused() -> None:
    (said,) = sentences("l4-v5", "grpo.max_completion_tokens=1536")
    assert "grpo.max_completion_tokens=1536" in said and "model.max_length_tokens=1536" in said
    (said,) = sentences("l4-v5", "grpo.max_completion_tokens=1473")
    assert "leaves 63 tokens for a prompt in" in said and "to 1537 at least" in said
    assert sentences("l4-v5", "grpo.max_completion_tokens=1472") == []


def test_lengths_beyond_the_models_context_are_refused(tmp_path: Path) -> None:
    model = f"model.name={shaped(tmp_path / 'base', **QWEN3)}"
    assert sentences("l4-v5", model, "model.max_length_tokens=4096") == []
    (said,) = sentences("l4-v5", model, "model.max_length_tokens=4097")
    assert "model.max_length_tokens=4097" in said and "4096 positions" in said


def stored(folder: Path, change: Callable[[dict[str, Tensor]], object]) -> None:
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def instead(place: Path, make: Callable[[Path], object]) -> None:
    shutil.rmtree(place) if place.is_dir() else place.unlink()
    make(place)


UP = "model.layers.0.mlp.up_proj.weight"
DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "nothing in it": (lambda f: instead(f, Path.mkdir), "holds no model, for it has no config.json"),
    "an adapter": (lambda f: (f / "adapter_config.json").write_text("["), "holds an adapter"),
    "a pipe for a tokenizer": (lambda f: instead(f / "tokenizer.json", os.mkfifo), "tokenizer.json is no ordinary file"),
    "a large config": (lambda f: (f / "config.json").write_text("[" + "1," * 2**20), "more than 1 MiB"),
    "a folder for a config": (lambda f: instead(f / "config.json", Path.mkdir), "no config.json"),
    "a pipe for a config": (lambda f: instead(f / "config.json", os.mkfifo), "no config.json"),
    "a config in UTF-16": (lambda f: (f / "config.json").write_text("{}", encoding="utf-16"), "config.json is damaged"),
    "a list for a config": (lambda f: (f / "config.json").write_text("[]"), "config.json .*is no JSON object"),
    "a nested config": (lambda f: (f / "config.json").write_text('{"a":' * 9999), "config.json .*RecursionError"),
    "text for a size": (lambda f: changed(f / "config.json", hidden_size="256"), "config.json is damaged .*'hidden_s"),
    "no attention": (lambda f: changed(f / "config.json", num_attention_heads=0), "config.json .*ZeroDivisionError"),
    "a size beyond all": (lambda f: changed(f / "config.json", hidden_size=10**30), "config.json is damaged"),
    "layers beyond all": (lambda f: changed(f / "config.json", num_hidden_layers=10**9), "more layers than the 46 "),
    "layers by another name": (
        lambda f: changed(f / "config.json", model_type="gpt2", num_hidden_layers=None, n_layer=10**7), "more layers than the"
    ),
    "layers of a part": (lambda f: changed(f / "config.json", text_config={"num_layers": 10**7}), "more layers than the"),
    "an unknown type": (lambda f: changed(f / "config.json", model_type="banana"), "config.json .*banana"),
    "a list for a type": (lambda f: changed(f / "config.json", model_type=["a"]), "config.json .*TypeError"),
    "an encoder": (
        lambda f: changed(f / "config.json", model_type="bert", architectures=["BertModel"]), "describes no language model"
    ),
    "another vocabulary": (lambda f: changed(f / "config.json", vocab_size=10), "embed_tokens.weight has another shape"),
    "other heads": (lambda f: changed(f / "config.json", num_key_value_heads=3), "k_proj.weight has another shape"),
    "no weights": (lambda f: (f / "model.safetensors").unlink(), "no weights at .*model.safetensors"),
    "weights cut off": (lambda f: os.truncate(f / "model.safetensors", 99_999), "model.safetensors is cut off"),
    "a pointer of git-lfs": (
        lambda f: (f / "model.safetensors").write_text("version https://git-lfs.github.com/spec/v1\n"), "model.safetensors is"
    ),
    "an index of nothing": (
        lambda f: (f / "model.safetensors").rename(f / "model.safetensors.index.json"), "index.json is damaged"
    ),
    "a tensor too few": (lambda f: stored(f, lambda held: held.pop(UP)), f"{UP} is missing"),
    "integers": (lambda f: stored(f, lambda held: held.update({UP: held[UP].to(torch.int8)})), f"{UP} is I8"),
    "no tokenizer": (lambda f: (f / "tokenizer.json").unlink(), "the tokenizer in .* is missing or damaged"),
    "an empty tokenizer": (lambda f: (f / "tokenizer.json").write_text("{}"), "the tokenizer in .*KeyError"),
    "a number that ends": (lambda f: changed(f / "tokenizer_config.json", eos_token=5), "the tokenizer in .*eos_token"),
    "a word that ends": (lambda f: changed(f / "generation_config.json", eos_token_id="x"), "eos_token_id=x .* no token"),
    "a template that divides": (lambda f: (f / "chat_template.jinja").write_text("{{ 1 / 0 }}"), "division by zero"),
}  # fmt: skip


@pytest.mark.parametrize(("damage", "said"), DAMAGES.values(), ids=DAMAGES)
def test_a_folder_that_holds_no_model_is_refused_before_the_first_stage(
    damage: Callable[[Path], object], said: str, tmp_path: Path
) -> None:
    folder = shutil.copytree(SHIPPED["mini"], tmp_path / "base")
    settings = load_profile(ROOT, "laptop", [f"model.name={folder}"])
    require_startable(settings)
    damage(folder)
    with pytest.raises(UserError, match=said):
        require_startable(settings)


def test_alarms_that_cannot_fire_in_so_short_a_run_are_named() -> None:
    short = ["grpo.max_steps=4", "grpo.eval_steps=4", "grpo.save_steps=4", "grpo.patience=1"]
    with pytest.warns(UserWarning, match="early stopping cannot fire"):
        (steps,) = sentences("laptop", *short, refuses=False)
    (looks,) = sentences("laptop", "grpo.eval_steps=15", "grpo.save_steps=15", "grpo.patience=1", refuses=False)
    assert "policy_still and collapse" in looks and "grpo.eval_steps" in looks
    assert "no_signal, entropy_gone and at_ceiling" in steps and "health.window=5" in steps


def test_an_interpreter_with_tucano_is_not_refused() -> None:
    assert sentences("laptop", f"worker.python={sys.executable}") == []


@pytest.mark.parametrize("python", ["/of/nobody/python", "/bin/true", "/etc/passwd"])
def test_an_interpreter_without_tucano_is_refused(python: str) -> None:
    """Before any stage: its first child would be SFT's."""
    said = f"worker.python={python} is no interpreter that finds tucano"
    assert said in sentence("run", "laptop", "--set", f"worker.python={python}")
    with pytest.raises(UserError, match=said):
        forecast.show(load_profile(ROOT, "laptop", [f"worker.python={python}"]), "l4")


def test_an_interpreter_that_finds_tucano_only_from_the_folder_where_it_is_asked_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    venv.create(tmp_path / "bare")
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    said = sentence("run", "laptop", "--set", f"worker.python={tmp_path / 'bare' / 'bin' / 'python'}")
    assert "is no interpreter that finds tucano" in said


def test_an_interpreter_without_vllm_is_refused() -> None:
    """That it can be run is not enough."""
    for python in ("/of/nobody/python", "/bin/true", sys.executable):
        (said,) = sentences("laptop", "grpo.sampler=vllm", f"worker.vllm_python={python}")
        assert f"worker.vllm_python={python} is no interpreter that finds vLLM" in said


def test_a_servers_share_holds_the_weights_and_one_answer(gpu: Callable[[int], None]) -> None:
    gpu(23_034)
    given = [*HERE, "grpo.sampler=vllm", "worker.vllm_python=python", "worker.vllm_memory_share=0.01"]
    refusal = pytest.raises(
        UserError, match=r"share=0\.01 of the GPU is 0\.2 GB, .*=1536 need 1\.2 GB; raise it to 0\.05 at"
    )
    with refusal:
        require_memory(load_profile(ROOT, "l4-v5", given))
    require_memory(load_profile(ROOT, "l4-v5", [*given, "worker.vllm_memory_share=0.05"]))


def test_tucanos_shape_is_the_one_that_its_card_gives() -> None:
    """490.8 million weights: embedding once, since it is tied; 28 layers of attention, MLP and norms."""
    layer = 1024 * (2048 + 1024 + 1024 + 2048) + 3 * 1024 * 3072 + 2 * 1024 + 2 * 128
    assert TUCANO.weights == 49152 * 1024 + 28 * layer + 1024 == 490_799_104
    l4 = load_profile(ROOT, "l4", []).model
    assert shape_of(l4) is TUCANO and adapter_weights(l4) < LORA_WEIGHTS_UNKNOWN
    assert adapter_weights(l4) == 16 * 28 * (2 * (1024 + 2048) + 2 * (1024 + 1024) + 3 * (1024 + 3072))


def test_the_larger_tucanos_have_the_weights_that_their_cards_give() -> None:
    """1.51 and 3.76 billion: the layers of Qwen3-1.7B and of Qwen3-4B, with a vocabulary of 49,152."""
    whole = {}
    for size, hidden, inner, layers, query in (("1.5B", 2048, 6144, 28, 2048), ("3.7B", 2560, 9728, 36, 4096)):
        each = hidden * (2 * query + 2 * 1024) + 3 * hidden * inner + 2 * hidden + 2 * 128
        whole[size] = 49152 * hidden + layers * each + hidden
        shape = shape_of(ModelSettings(name=f"Polygl0t/Tucano2-qwen-{size}-Instruct", revision="0" * 40))
        assert shape is not None and shape.weights == whole[size]
    assert whole == {"1.5B": 1_510_073_344, "3.7B": 3_759_341_056}


@pytest.mark.parametrize("there", [True, False])
def test_the_shape_of_another_hub_model_is_asked_of_the_hub(there: bool, tmp_path: Path) -> None:
    """A hub of our own, in a process of its own, since the library reads its address once."""
    body = json.dumps(QWEN3).encode()
    commit = "3" * 40

    class Hub(Answering):
        def do_GET(self) -> None:
            found = there and self.path == f"/some/model/resolve/{commit}/config.json"
            self.reply(200 if found else 404, body, {"ETag": '"1"', "X-Repo-Commit": commit})

        do_HEAD = do_GET

    with running(ThreadingHTTPServer(("127.0.0.1", 0), Hub)) as hub:
        environment = os.environ | {"HF_ENDPOINT": address(hub), "HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "0"}
        code = (
            "from tucano.requirements.shapes import shape_of; from tucano.settings import ModelSettings;"
            f"shape = shape_of(ModelSettings(name='some/model', revision='{commit}')); print(shape and shape.weights)"
        )
        said = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert said.stdout.split()[-1] == ("490799104" if there else "None")


def test_the_lower_bounds_are_these() -> None:
    """By hand, for `l4-v5` on Tucano. Cache: 28 layers x keys and values of 8 x 128 in two bytes."""
    found = {need.stage: need.bytes for need in needs(load_profile(ROOT, "l4-v5", []))}
    weights = 2 * 490_799_104
    adapter = 10_092_544 * 4 * 4
    token = 28 * 2 * 8 * 128 * 2
    assert found == {
        "SFT": weights + adapter,
        "GRPO rollout": weights + adapter + 64 * 512 * token,
        "GRPO step": weights + adapter,
        "answers": weights + 4_000_000_000,
        "merge": 4 * 490_799_104,
    }
    assert MOST_CACHE_BYTES == CACHE_BYTES, "what is sampled at a time"


def test_the_largest_bounds_are_those_that_the_page_names() -> None:
    """docs/health.md"""
    largest = {name: max(need.bytes for need in needs(load_profile(ROOT, name, []))) for name in ("l4", "l4-v5")}
    assert largest == {"l4": pytest.approx(4.3e9, rel=0.01), "l4-v5": pytest.approx(5.0e9, rel=0.01)}


@pytest.mark.parametrize(
    "given",
    [
        ["data.source=jsonl", "data.path=nada.jsonl"],
        ["data.general.share=0.1", "data.general.path=nada.jsonl"],
    ],
)
def test_data_that_is_not_there_is_refused_before_anything_starts(given: list[str]) -> None:
    with pytest.raises(UserError, match=r"data: there is nothing at nada\.jsonl; put it there"):
        require_startable(load_profile(ROOT, "laptop", given))


@pytest.mark.timeout(60)
@pytest.mark.parametrize("what", ["no judges", "a folder", "a pipe", "nothing", "an address"])
def test_what_holds_no_judges_is_refused_before_anything_starts(what: str, tmp_path: Path) -> None:
    """A pipe was waited for, and an address was found to be no file by a traceback."""
    file = tmp_path / "mine.json.xz"
    match what:
        case "no judges":
            file.write_bytes(b"no judges")
        case "a folder":
            file.mkdir()
        case "a pipe":
            os.mkfifo(file)
    place = f"gs://bucket/{file.name}" if what == "an address" else file
    with pytest.raises(UserError, match=r"data\.judge=.*mine\.json\.xz holds no judges: .*tucano judge fit"):
        require_startable(load_profile(ROOT, "laptop", [f"data.judge={place}"]))


def test_a_large_batch_is_refused_above_the_device_with_the_setting_that_helps(
    tmp_path: Path, gpu: Callable[[int], None]
) -> None:
    model = f"model.name={shaped(tmp_path / 'base', **QWEN3)}"
    large = load_profile(ROOT, "l4-v5", [*HERE, model, "grpo.batch_size=512"])
    gpu(23_034)
    with pytest.raises(UserError, match=r"GRPO rollout needs at least 31\.. GB .* 24\.2 GB; lower grpo\.batch_size"):
        require_startable(large)
    gpu(81_559)
    require_startable(large)


def test_seeds_side_by_side_on_one_gpu_need_the_memory_of_all(gpu: Callable[[int], None]) -> None:
    gpu(10_240)
    require_startable(load_profile(ROOT, "l4-v5", HERE))
    with pytest.raises(UserError, match=r"GRPO rollout needs at least 14\.. GB .* 10\.7 GB; lower worker\.parallel"):
        require_startable(load_profile(ROOT, "l4-v5", [*HERE, "worker.parallel=3"]))


@pytest.mark.parametrize("profile", ["laptop", "l4", "l4-v5", "l4-1.5b", "l4-base"])
def test_doctor_prints_of_a_profile_what_is_known_of_it(
    profile: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(doctor, "profiles", lambda root: [profile])  # what it says of all, test_cli.py sees
    assert doctor.main(profile, []) == (0 if profile == "laptop" else 2)
    said = capsys.readouterr().out
    assert ("then SFT" in said) is (profile not in ("l4", "l4-base"))
    assert "GRPO step" in said and " GB" in said
    assert ("fails the audit by design" in said) == (profile == "l4")
    refused = re.search(r"^  Refused +execution\.seeds=seed/local-gpu needs a Prefect server", said, re.MULTILINE)
    assert (refused is not None) == (profile != "laptop")
