"""A champion as others load it: every form answers as the model, says what it is, and nothing is sent unasked."""

import contextlib
import io
import json
import os
import re
import shutil
import socket
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import bundles
import numpy as np
import pytest
import torch
import yaml
from bundles import OVERRIDES, Made, champion
from here import running
from hub_api import Hub
from nano_models import nano_adapter, nano_base
from peft import AutoPeftModelForCausalLM, PeftModel
from programs import python
from test_cli import sentence
from tokenizers import Tokenizer
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel

from data.prepare import prepare
from tucano.artifacts.identity import SHIPPED
from tucano.cli import main as cli
from tucano.errors import UserError
from tucano.export import command, converter, hub, llama
from tucano.export.folders import BASE, GGUF, Wanted
from tucano.files.models import ServedFiles, StartFiles
from tucano.files.prompts import PromptFiles
from tucano.prompts import read_prompts
from tucano.settings.data import PromptPlan
from tucano.settings.pipeline import PipelineSettings
from tucano.tracking import Tracker
from tucano.training.policies import nano

MODEL = PipelineSettings().model.model_copy(update={"nano_hidden": 16, "nano_layers": 1, "nano_vocabulary": 300})
SYSTEMS = {"push": "Escreva um push. Nunca escreva ```."}
SERVING = {"temperature": 0.1, "max_new_tokens": 8, "seed": 1}
CHECKOUT = os.environ.get("TUCANO_LLAMA_CPP", "")
"""A checkout of llama.cpp, where somebody has one."""


@dataclass(frozen=True)
class Shop:
    """A storage with a registered nano model: the base, and the merged folder as transformers loads it."""

    root: Path
    base: Path
    merged: Path

    @property
    def settings(self) -> PipelineSettings:
        return PipelineSettings(storage=str(self.root))

    def set(self) -> list[str]:
        return ["--set", f"storage={self.root}"]


def shop(home: Path, overrides: Sequence[str] = OVERRIDES, shipped: bool = False) -> Shop:
    """What `bundles` makes, with weights that answer: a base, an adapter, and both merged; or mini instead."""
    home.mkdir(exist_ok=True)
    nano_base(home, MODEL, SYSTEMS, [])
    adapter = nano_adapter(home / "base", MODEL, noise=0.2)
    base = StartFiles(home).base

    def write_sft(draft: Path) -> dict[str, Any]:
        AutoModelForCausalLM.from_pretrained(base).save_pretrained(StartFiles(draft).model)
        return {}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bundles, "write_sft", write_sft)
        found = champion(home / "champion", Made(overrides=overrides))
    served = ServedFiles(home / "version" / "data" / "data")
    merged = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(base), adapter).merge_and_unload()
    merged.to(torch.bfloat16).save_pretrained(served.model)
    AutoTokenizer.from_pretrained(base).save_pretrained(served.model)
    (served.model / "effect.json").touch()
    if shipped:
        shutil.copytree(SHIPPED["mini"], served.model, dirs_exist_ok=True)
    adapter.rename(served.adapter)
    served.system_prompts.write_text(json.dumps(SYSTEMS), encoding="utf-8")
    served.serving.write_text(json.dumps(SERVING), encoding="utf-8")
    tracker = Tracker.connect(None, found.root)
    tracker.register("tucano", tracker.start_pipeline("p", {}, {}), home / "version", found.version.tags, ["champion"])
    return Shop(found.root, base, served.model)


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    return shop(tmp_path_factory.mktemp("shop"))


def export(ours: Shop, folder: Path, form: str, **more: Any) -> int:
    wanted = Wanted("tucano@champion", form, more.get("llama_cpp"), more.get("base_licence"))
    return command.export(ours.settings, wanted, folder)


def logits(model: PreTrainedModel) -> torch.Tensor:
    with torch.inference_mode():
        found: torch.Tensor = model.float().eval()(torch.arange(3, 60)[None]).logits
    return found


def card_of(folder: Path) -> tuple[dict[str, Any], str]:
    """The YAML header, and the rest."""
    _, header, text = (folder / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    return yaml.safe_load(header), text


def answer_by_card(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """What the code of a card prints, typed beside the folder."""
    code = re.findall(r"```python\n(.*?)```", card_of(folder)[1], re.DOTALL)
    monkeypatch.chdir(folder.parent)
    with contextlib.redirect_stdout(io.StringIO()) as said:
        exec(code[0], {"SYSTEM": SYSTEMS["push"], "TEXT": "Crie um push."})
    return said.getvalue()


def test_merged_is_the_registered_model_with_a_card_whose_code_runs(
    ours: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert export(ours, tmp_path / "loja", "merged") == 0
    assert "MB  model.safetensors" in capsys.readouterr().out
    loaded = [AutoModelForCausalLM.from_pretrained(place) for place in (tmp_path / "loja", ours.merged)]
    assert torch.equal(*map(logits, loaded))
    assert not (tmp_path / "loja" / "effect.json").exists()
    header, text = card_of(tmp_path / "loja")
    assert (header["library_name"], header["license"], header["language"]) == ("transformers", "cc0-1.0", ["pt"])
    assert "base_model" not in header and header["model-index"][0]["results"]
    assert f"### push\n\n````text\n{SYSTEMS['push']}\n````" in text, "a fence that the prompt cannot leave"
    assert answer_by_card(tmp_path / "loja", monkeypatch).strip()


def test_an_adapter_lies_beside_the_base_that_it_names_and_together_they_are_the_model(
    ours: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export(ours, tmp_path / "loja", "adapter")
    config = json.loads((tmp_path / "loja" / "adapter_config.json").read_text(encoding="utf-8"))
    assert (config["base_model_name_or_path"], config["revision"]) == (f"./{BASE}", None)
    base = AutoModelForCausalLM.from_pretrained(tmp_path / "loja" / BASE)
    bare = logits(base)
    together = logits(PeftModel.from_pretrained(base, tmp_path / "loja"))
    merged = logits(AutoModelForCausalLM.from_pretrained(ours.merged))
    assert 20 * (together - merged).abs().mean() < (together - bare).abs().mean(), "bfloat16 rounds what is merged"
    assert answer_by_card(tmp_path / "loja", monkeypatch).strip()
    assert "where `AutoPeftModelForCausalLM` and" in card_of(tmp_path / "loja")[1]
    monkeypatch.chdir(tmp_path / "loja")
    assert torch.equal(logits(AutoPeftModelForCausalLM.from_pretrained(".")), together), "from within it is found"


def test_the_card_of_a_published_adapter_fetches_it_with_its_base(
    ours: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def send(made: Path, repository: str, token: str) -> str:
        return str(shutil.copytree(made, tmp_path / "sent" / repository))

    monkeypatch.setattr(hub, "send", send)
    monkeypatch.setenv("HF_TOKEN", "hf_x")
    assert command.publish(ours.settings, Wanted("tucano@champion", "adapter", None, None), "ana/loja", yes=True) == 0
    fetched = {"ana/loja": str(tmp_path / "sent" / "ana" / "loja")}
    monkeypatch.setattr("huggingface_hub.snapshot_download", fetched.__getitem__)
    assert answer_by_card(tmp_path / "sent" / "ana" / "loja", monkeypatch).strip()


TWO_TASKS = "data.mix={push: 0.5, extraction: 0.5, sql_qa: 0, insights: 0}"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
ON_HUB = (*OVERRIDES, "model.name=casa/base", f"model.revision={COMMIT}")


def test_a_base_of_a_hub_is_named_with_its_commit_and_its_licence_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    hosted = shop(tmp_path / "shop", ON_HUB)
    export(hosted, tmp_path / "unknown", "adapter")
    assert f"the licence of the base casa/base (commit {COMMIT}) is not known here" in capsys.readouterr().out
    config = json.loads((tmp_path / "unknown" / "adapter_config.json").read_text(encoding="utf-8"))
    assert (config["base_model_name_or_path"], config["revision"]) == ("casa/base", COMMIT)
    assert not (tmp_path / "unknown" / BASE).exists()
    export(hosted, tmp_path / "known", "adapter", base_licence="apache-2.0")
    assert "Before" not in capsys.readouterr().out
    header, text = card_of(tmp_path / "known")
    assert (header["base_model"], header["license_name"]) == ("casa/base", "CC0-1.0; base: apache-2.0")
    assert f"from_pretrained('casa/base', revision='{COMMIT}')" in text
    monkeypatch.setenv("HF_TOKEN", "hf_x")
    with pytest.raises(UserError, match="nothing was sent: the licence of the base casa/base"):
        command.publish(hosted.settings, Wanted("tucano@champion", "merged", None, None), "ana/loja", yes=True)


def test_what_cannot_be_exported_is_refused_in_a_sentence(ours: Shop, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is there already"):
        export(ours, tmp_path, "merged")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    with pytest.raises(UserError, match="is there already"):
        export(ours, tmp_path / "dangling", "merged")
    with pytest.raises(UserError, match="give --llama-cpp FOLDER"):
        export(ours, tmp_path / "x", "gguf")
    with pytest.raises(UserError, match="--llama-cpp is for --to gguf"):
        export(ours, tmp_path / "x", "adapter", llama_cpp=tmp_path)
    with pytest.raises(UserError, match=r"no convert_hf_to_gguf.py in .*nowhere"):
        export(ours, tmp_path / "x", "gguf", llama_cpp=tmp_path / "nowhere")
    single = shop(tmp_path / "shop", (*OVERRIDES[:1], TWO_TASKS, "grpo.adapters=per_task"))
    with pytest.raises(UserError, match="an adapter of its own for each task"):
        export(single, tmp_path / "x", "merged")
    assert not (tmp_path / "x").exists()


CONVERTER = """
import argparse, json, gguf
from pathlib import Path
from safetensors import safe_open

class ModelBase: ...
class TextModel(ModelBase):
    def get_vocab_base_pre(self, tokenizer): raise NotImplementedError("not recognized")
    def get_vocab_base(self): return ["a", "\\u01201", "\\u0120b"], [1, 1, 1], self.get_vocab_base_pre(self.tokenizer)

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=Path)
    parser.add_argument("--outtype")
    parser.add_argument("--outfile")
    given = parser.parse_args()
    from transformers import AutoTokenizer
    text = TextModel()
    text.tokenizer = AutoTokenizer.from_pretrained(given.model)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.QWEN3, 1)
    writer = gguf.GGUFWriter(given.outfile, "qwen3")
    writer.add_block_count(1)
    tokens, types, pre = text.get_vocab_base()
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    with safe_open(given.model / "model.safetensors", framework="pt") as opened:
        for name in opened.keys():
            values = opened.get_tensor(name).float().numpy()
            values = values.astype("float16") if values.ndim == 2 else values
            CHANGE
            writer.add_tensor(names.get_name(name, try_suffixes=(".weight",)), values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
"""


def checkout(folder: Path, change: str = "pass") -> Path:
    """A converter for the nano model that does as llama.cpp's does, or `change` beside it."""
    folder.mkdir()
    (folder / llama.SCRIPT).write_text(CONVERTER.replace("CHANGE", change), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def without_llama() -> Iterator[None]:
    pytest.importorskip("gguf")
    pytest.importorskip("sentencepiece")
    there = llama.importlib.util.find_spec
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(llama.importlib.util, "find_spec", lambda name: None if name == "llama_cpp" else there(name))
        yield


@pytest.fixture(scope="module")
def written(ours: Shop, without_llama: None, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of a GGUF, and what was said when it was made."""
    place = tmp_path_factory.mktemp("gguf")
    with contextlib.redirect_stdout(io.StringIO()) as said:
        assert export(ours, place / "loja", "gguf", llama_cpp=checkout(place / "llama")) == 0
    return place / "loja", said.getvalue()


def test_a_gguf_is_read_back_and_knows_our_tokenizer(
    ours: Shop, written: tuple[Path, str], capsys: pytest.CaptureFixture[str]
) -> None:
    folder, said = written
    assert "Every tensor of the GGUF, read back, is the model's" in said and "were not compared" in said
    import gguf

    fields = gguf.GGUFReader(folder / GGUF).fields
    assert fields["tokenizer.ggml.pre"].contents() == converter.NEAREST
    assert fields["tokenizer.ggml.tokens"].contents() == ["a", " 1", "Ġb"], "a digit with its blank is the user's own"
    assert fields["tokenizer.ggml.token_type"].contents() == [1, converter.USERS_OWN, 1]
    header, text = card_of(folder)
    assert header["library_name"] == "llama.cpp" and f"Llama('loja/{GGUF}', n_ctx=" in text
    wanted = Wanted("tucano@champion", "gguf", folder.parent / "llama", None)
    assert command.publish(ours.settings, wanted, "ana/loja", yes=False) == 0
    assert f"Llama.from_pretrained(repo_id='ana/loja', filename='{GGUF}', n_ctx=" in capsys.readouterr().out


@pytest.mark.usefixtures("without_llama")
def test_a_gguf_of_other_values_is_not_written(ours: Shop, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scaling = checkout(tmp_path / "llama", "values = values * 1.001")
    assert export(ours, tmp_path / "loja", "gguf", llama_cpp=scaling) == 1
    assert "13 tensors" in capsys.readouterr().out and not (tmp_path / "loja").exists()


def exchanged(values: Any) -> Any:
    """With the first two entries of its first column in each other's place."""
    found = values.copy()
    found[[0, 1], 0] = values[[1, 0], 0]
    return found


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        (lambda name, values: values[::-1].copy() if name == "blk.0.attn_q.weight" else values, 0),
        (lambda name, values: values[::-1].copy() if name == "token_embd.weight" else values, 1),
        (lambda name, values: exchanged(values) if name == "blk.0.attn_q.weight" else values, 1),
        (lambda name, values: values if "q_norm" in name else values * np.inf, 12),
    ],
    ids=["rows of queries in another order", "of the vocabulary", "exchanged within a column", "not finite"],
)
def test_a_gguf_is_compared_row_by_row_in_any_order(
    ours: Shop, written: tuple[Path, str], tmp_path: Path, change: Callable[[str, Any], Any], wrong: int
) -> None:
    import gguf

    file = tmp_path / GGUF
    shutil.copyfile(written[0] / GGUF, file)
    with np.errstate(invalid="ignore"):
        for tensor in gguf.GGUFReader(file, "r+").tensors:
            tensor.data[:] = change(tensor.name, tensor.data)
    assert len([*llama.differing(ours.merged, file)]) == wrong


@pytest.mark.usefixtures("without_llama")
def test_what_the_converter_refuses_is_said_in_its_words(ours: Shop, tmp_path: Path) -> None:
    stubborn = checkout(tmp_path / "llama", "raise NotImplementedError('Architecture not supported!')")
    with pytest.raises(UserError, match="does not take this model: NotImplementedError: Architecture not supported!"):
        export(ours, tmp_path / "loja", "gguf", llama_cpp=stubborn)
    assert not (tmp_path / "loja").exists()


@pytest.mark.skipif(not CHECKOUT, reason="TUCANO_LLAMA_CPP names no checkout of llama.cpp")
def test_llama_cpp_itself_answers_as_transformers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("llama_cpp")
    mini = shop(tmp_path / "shop", shipped=True)
    assert export(mini, tmp_path / "loja", "gguf", llama_cpp=Path(CHECKOUT)) == 0
    said = capsys.readouterr().out
    assert "llama.cpp reads 6 of 6 held-out prompts as the same tokens, and answers 6 greedily" in said


def nearest(tokenizer: Any) -> Any:
    """{text: tokens} as llama.cpp cuts with `superbpe`: a second way to what converter.py says of it."""
    plain = json.loads(tokenizer.backend_tokenizer.to_str())
    digits = {"type": "Split", "pattern": {"Regex": r"\p{N}+"}, "behavior": "Isolated", "invert": False}
    plain["pre_tokenizer"]["pretokenizers"][0] = digits
    cut = Tokenizer.from_str(json.dumps(plain))
    known = tokenizer.get_vocab()
    own = {f" {token[1]}": number for token, number in known.items() if re.fullmatch(r"Ġ\d", token)}

    def tokens(text: str) -> list[int]:
        parts = re.split(f"({'|'.join(own)})", text)
        return [n for part in parts for n in ([own[part]] if part in own else cut.encode(part).ids)]

    return tokens


def test_our_tokenizers_cut_nothing_that_their_merges_would_join(tmp_path: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(SHIPPED["mini"])
    assert converter.is_ours(tokenizer) and converter.is_ours(nano.build_tokenizer(["um texto"], MODEL))
    plan = PromptPlan.model_validate({"train_prompts": 300, "demonstrations": 100})
    prepare(plan, 7, ("extraction", "sql_qa", "insights", "push"), tmp_path)
    files = PromptFiles(tmp_path)
    prompts = [*read_prompts(files.train), *read_prompts(files.test), *read_prompts(files.demonstrations)]
    texts = [text for prompt in prompts for text in (prompt.user, prompt.demonstration) if text]
    assert len(texts) >= 500
    tokens = nearest(tokenizer)
    assert [text for text in texts if tokens(text) != tokenizer(text)["input_ids"]] == []
    assert tokens("a  b") != tokenizer("a  b")["input_ids"], "what docs/export.md says stays another"


def test_nothing_is_sent_unasked_and_with_yes_the_folder_arrives(
    ours: Shop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["publish", "tucano@champion", "ana/loja", *ours.set()]
    with running(Hub()) as there:
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", there.url)
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
        monkeypatch.setenv("HF_TOKEN", "hf_writes")
        asked = cli.parser().parse_args(words)
        assert cli.COMMANDS["publish"](asked) == 0
        shown = capsys.readouterr().out
        assert "# tucano version 1" in shown and f"{there.url}/ana/loja\n" in shown
        assert "MB  model.safetensors" in shown and "Nothing was sent; --yes sends it." in shown
        assert there.asked == [], "a look sends nothing"
        at = partial(python, HF_ENDPOINT=there.url, HF_HUB_DISABLE_XET="1", HF_HUB_OFFLINE="0")
        sent = at("-m", "tucano.cli", *words, "--yes")
        assert sent.returncode == 0, sent.stderr
        assert f"Sent: {there.url}/ana/loja/commit/1" in sent.stdout and "hf_writes" not in sent.stdout + sent.stderr
        assert {token for method, _, token in there.asked if method == "POST"} == {"Bearer hf_writes"}
        assert there.made == [{"name": "loja", "organization": "ana", "visibility": "private"}]
        assert there.files["model.safetensors"] == (ours.merged / "model.safetensors").read_bytes()
        assert b"# tucano version 1" in there.files["README.md"]
        there.refuses = True
        assert "You may not write here" in sentence(*words, "--yes")
    monkeypatch.setenv("HF_TOKEN", "")
    monkeypatch.setattr("huggingface_hub.constants.HF_TOKEN_PATH", str(ours.root / "nobody"))
    assert "without a token; set HF_TOKEN" in sentence(*words, "--yes")


def test_a_hub_that_never_answers_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "SILENCE_S", 0.2)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}")
        with pytest.raises(UserError, match=r"did not take it: .*timed out"):
            hub.send(tmp_path, "ana/loja", "hf_writes")


def test_what_a_killed_export_left_goes_with_the_next_one(ours: Shop, tmp_path: Path) -> None:
    left, others = tmp_path / ".x.tucano-1", tmp_path / ".y.tucano-1"
    for folder in (left, others):
        (folder / "version").mkdir(parents=True)
    assert export(ours, tmp_path / "x", "merged") == 0
    assert not left.exists() and others.exists() and (tmp_path / "x").is_dir()


NO_REPOSITORIES = ("loja", "ana/loja/x", "-ana/loja", "ana/lo ja", "a/b\n", "ana/loja..", "ana/loja.git", "ana/a--b")


@pytest.mark.parametrize("name", NO_REPOSITORIES)
def test_a_name_that_is_no_repository_is_refused(name: str) -> None:
    with pytest.raises(UserError, match="OWNER/NAME"):
        hub.require_name(name)


def test_the_command_takes_what_its_help_says(ours: Shop, tmp_path: Path) -> None:
    assert cli.COMMANDS["export"] is cli.COMMANDS["publish"]
    said = sentence("export", "tucano@nobody", str(tmp_path / "x"), *ours.set())
    assert "the registry has no tucano@nobody" in said
