"""From an adapter to a server: merged, registered, loaded by its alias, asked with each task's system prompt."""

import json
import os
import shutil
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import torch
from nano_models import nano_adapter, nano_base
from pace import until
from safetensors.torch import load_file, save_file
from trainings import job_in

from deployments.services import answers
from tucano.prompts import TASKS, Prompt
from tucano.settings import ModelSettings, PipelineSettings
from tucano.tracking import Tracker
from tucano.tracking.models import WEIGHTS, pack
from tucano.tracking.store import default_uri
from tucano.training import merge
from tucano.training.jobs import Job
from tucano.training.policies import served_model
from tucano.training.policies.load import load_policy

MODEL = ModelSettings(nano_hidden=32, nano_layers=2, nano_vocabulary=400, max_length_tokens=256)
SYSTEMS: dict[str, str] = {task: f"Você responde {task}." for task in TASKS}
ASKED = [{"task": task, "prompt": f"Pergunta sobre {number} caixas"} for number, task in enumerate(TASKS)]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """A nano base with an adapter that changes its answers, and the job that merges them."""
    root = tmp_path_factory.mktemp("trained")
    prompts = [
        Prompt(f"{task}-{n}", task, f"Pergunta {n}", "t", "synthetic", "CC0") for task in TASKS for n in range(4)
    ]
    nano_base(root, MODEL, SYSTEMS, prompts)
    nano_adapter(root / "base", MODEL, noise=0.1)
    settings = PipelineSettings.model_validate({"model": MODEL.model_dump(), "grpo": {"max_completion_tokens": 24}})
    return job_in(root, "merge", settings, root / "prompts", root / "base", root / "adapter")


@pytest.fixture(scope="module")
def merged(trained: Job) -> dict[str, Any]:
    return merge.run(trained)


@pytest.fixture(scope="module")
def packed(trained: Job, merged: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("packed")
    shutil.copytree(Path(trained.output) / "model", folder / "data" / "model")
    shutil.copy2(Path(trained.prompts) / "system_prompts.json", folder / "data")
    (folder / "data" / "serving.json").write_text(
        json.dumps({"temperature": 0.1, "max_new_tokens": 12, "seed": 7}), encoding="utf-8"
    )
    pack(folder / "data", Path(str(served_model.__file__)), folder / "model", ASKED[:1])
    return folder / "model"


def test_a_merged_model_says_by_itself_where_it_stops(trained: Job, merged: dict[str, Any]) -> None:
    """The packed model asks `generate`, which reads no tokenizer: it went on to its ceiling."""
    said = json.loads((Path(trained.output) / "model" / "generation_config.json").read_text(encoding="utf-8"))
    assert said["eos_token_id"] == [2], "<|im_end|>"


def test_the_merged_model_has_16_bits_and_answers_as_it_was_trained(trained: Job, merged: dict[str, Any]) -> None:
    weights = load_file(Path(trained.output) / "model" / "model.safetensors")
    assert {tensor.dtype for tensor in weights.values()} == {torch.bfloat16} and not any(
        "lora" in name for name in weights
    )
    assert merged["faithful"] and merged["mean_difference"] < 0.01 and merged["tokens"] > 100
    adapter, base = Path(str(trained.adapter)), Path(trained.base)
    plain, _ = load_policy(MODEL, str(base), None, trainable=False, seed=0)
    adapted, _ = load_policy(MODEL, str(base), adapter, trainable=False, seed=0)
    name = "model.layers.0.mlp.up_proj.weight"
    lora = adapted.get_submodule("base_model.model.model.layers.0.mlp.up_proj")
    by_hand = plain.state_dict()[name] + 2 * lora.lora_B["default"].weight @ lora.lora_A["default"].weight
    assert torch.equal(weights[name], by_hand.to(torch.bfloat16)), "added in float32 (alpha / rank = 2), rounded once"


def test_a_merge_without_adapter_is_unfaithful(trained: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tucano.training.checkpoints.merged._layers", lambda *given: {})
    assert not merge.run(replace(trained, output=str(tmp_path)))["faithful"]


def test_a_package_that_lacks_a_weight_is_refused(packed: Path, tmp_path: Path) -> None:
    """transformers would draw it by chance, warn, and answer."""
    shutil.copytree((packed / WEIGHTS).parent, tmp_path / "data")
    weights = load_file(tmp_path / "data" / "model" / "model.safetensors")
    del weights["model.layers.1.mlp.up_proj.weight"]
    save_file(weights, tmp_path / "data" / "model" / "model.safetensors", {"format": "pt"})
    with pytest.raises(ValueError, match=r"model lacks the weights model\.layers\.1\.mlp\.up_proj\.weight"):
        served_model.ServedModel(tmp_path / "data")


@pytest.mark.long
def test_the_package_needs_nothing_of_ours(packed: Path) -> None:
    """Loaded in a process that knows only the folder: no module of this project may come in."""
    code = (
        "import json, sys, mlflow, pandas as pd\nmodel = mlflow.pyfunc.load_model(sys.argv[1])\nanswers ="
        " model.predict(pd.DataFrame(json.loads(sys.argv[2])))['answer'].tolist()\nours = [name for name in sys.modules"
        " if name.split('.')[0] in ('tucano', 'rewards', 'data', 'tasks', 'flows')]\nprint(json.dumps([answers,"
        " ours]))\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-P", "-c", code, str(packed), json.dumps(ASKED)]
    result = subprocess.run(command, cwd=packed, env=environment, capture_output=True, text=True, check=True)
    answers, ours = json.loads(result.stdout.splitlines()[-1])
    assert ours == [] and answers == [by_hand(packed, **row) for row in ASKED]


def by_hand(packed: Path, task: str, prompt: str) -> str:
    """The answer with the task's system prompt put before the question as the chat template has it."""
    model = served_model.ServedModel((packed / WEIGHTS).parent)
    text = (
        f"<|im_start|>system\n{SYSTEMS[task]}<|im_end|>\n<|im_start|>user\n{prompt}<|im_end|>\n<|im_start|>assistant\n"
    )
    ids = torch.tensor([model.tokenizer.encode(text, add_special_tokens=False)])
    torch.manual_seed(7)
    how = {"do_sample": True, "temperature": 0.1, "top_p": 1.0, "top_k": 0, "max_new_tokens": 12}
    tokens = model.model.generate(input_ids=ids, attention_mask=torch.ones_like(ids), **how)
    return str(model.tokenizer.decode(tokens[0, ids.shape[1] :], skip_special_tokens=True)).strip()


def test_a_model_that_is_served_without_chance_gives_the_likeliest_answer(packed: Path) -> None:
    model = served_model.ServedModel((packed / WEIGHTS).parent)
    task, prompt = ASKED[0]["task"], ASKED[0]["prompt"]
    inputs = model.tokenizer.apply_chat_template(
        model.messages(task, prompt), add_generation_prompt=True, return_tensors="pt", return_dict=True
    )
    likeliest = model.model.generate(**inputs, do_sample=False, max_new_tokens=12)[0, inputs["input_ids"].shape[1] :]
    for temperature in (0.0, 1e-38):
        model.decoding["temperature"] = temperature
        assert model.answer(task, prompt) == model.tokenizer.decode(likeliest, skip_special_tokens=True).strip()


def test_the_champion_is_served(packed: Path, tmp_path: Path) -> None:
    tracker = Tracker.connect(None, tmp_path)
    run_id = tracker.start_pipeline("p", {}, {})
    version = tracker.register("tucano", run_id, packed, {"verdict": "Better."}, ["champion"], "Verdict first.")
    weights = tracker.fetch(version, tmp_path / "fetched") / WEIGHTS
    assert load_policy(MODEL, str(weights), None, trainable=False, seed=0), (
        "a later run lets the champion answer from here"
    )
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "mlflow", "models", "serve", "-m", "models:/tucano@champion"]
    command += ["--env-manager", "local", "--port", str(port)]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    own = {"MLFLOW_TRACKING_URI": default_uri(tmp_path), "MLFLOW_DISABLE_TELEMETRY": "true", "PATH": path}
    environment = os.environ | own
    with (tmp_path / "serve.log").open("wb") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
    try:
        until(lambda: answers(f"http://127.0.0.1:{port}/ping") or server.poll() is not None)
        found = ask(port, ASKED)
        assert found.is_success, found.text + (tmp_path / "serve.log").read_text(encoding="utf-8")
        assert [row["answer"] for row in found.json()["predictions"]] == [by_hand(packed, **row) for row in ASKED]
        refused = ask(port, [{"task": "poesia", "prompt": "x"}])
        assert refused.is_error and "task 'poesia' is none of extraction, sql_qa, insights, push" in refused.text
    finally:
        os.killpg(server.pid, 15)
        server.wait()


def ask(port: int, rows: list[dict[str, str]]) -> httpx.Response:
    return httpx.post(f"http://127.0.0.1:{port}/invocations", json={"dataframe_records": rows}, timeout=600)
