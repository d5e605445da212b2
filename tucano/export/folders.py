"""Folders that transformers and PEFT load, and the card that lies in every form."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tucano.artifacts.identity import base_identity
from tucano.artifacts.lineage import adapter_config
from tucano.bundle.card import Use, base_on_hub, render
from tucano.bundle.manifest import CARD
from tucano.bundle.reading import SEED_STAGE, Contents
from tucano.errors import UserError
from tucano.files.models import ServedFiles, StartFiles
from tucano.security.printable import escaped, fenced

OURS = shutil.ignore_patterns("effect.json", "COMPLETE.json", CARD)
"""What only this program reads, and PEFT's empty card."""
NO_TOKENIZER = shutil.ignore_patterns("*.safetensors*", "config.json", "generation_config.json", "effect.json")
GGUF = "model-f16.gguf"
BASE = "base"
"""Below an adapter, where its base lies on no hub. Its config says `./base`, which is no name of a repository."""
NOT_ALONE = (
    "Its base lies beside the adapter, in `base/`, where `AutoPeftModelForCausalLM` and others that load an"
    " adapter alone do not find it; load both as above."
)
LIBRARIES = {"merged": "transformers", "adapter": "peft", "gguf": "llama.cpp"}
ASKS_LLAMA = """from llama_cpp import Llama

llama = {opened}, n_ctx={context})
messages = [{{"role": "system", "content": SYSTEM}}, {{"role": "user", "content": TEXT}}]
said = llama.create_chat_completion(messages, temperature={temperature}, max_tokens={most})
print(said["choices"][0]["message"]["content"])
"""
PEFT = "from peft import PeftModel\n"
ASKS_TRANSFORMERS = """from transformers import AutoModelForCausalLM, AutoTokenizer

{named}tokenizer = AutoTokenizer.from_pretrained({place})
model = AutoModelForCausalLM.from_pretrained({base}){adapted}
messages = [{{"role": "system", "content": SYSTEM}}, {{"role": "user", "content": TEXT}}]
asked = tokenizer.apply_chat_template(
    messages, add_generation_prompt=True, return_tensors="pt", return_dict=True
)
said = model.generate(**asked, do_sample=True, temperature={temperature}, top_k=0, max_new_tokens={most})
print(tokenizer.decode(said[0, asked["input_ids"].shape[1] :], skip_special_tokens=True))
"""


@dataclass(frozen=True, slots=True)
class Wanted:
    """`reference`: like tucano@champion. `form`: merged, adapter or gguf. `llama_cpp`: a checkout, for a GGUF.
    `base_licence`: of a base that is not ours.
    """

    reference: str
    form: str
    llama_cpp: Path | None
    base_licence: str | None


def write_merged(files: ServedFiles, made: Path) -> None:
    """A folder for transformers: merged bfloat16 weights, tokenizer with chat template, generation config."""
    shutil.copytree(files.model, made, ignore=OURS)


def write_adapter(files: ServedFiles, contents: Contents, made: Path) -> None:
    """A folder for PEFT that names its base: on a hub with its commit, else the copy that lies in the folder."""
    model = contents.settings.model
    hub = base_on_hub(model)
    shutil.copytree(files.adapter, made, ignore=OURS)
    shutil.copytree(files.model, made, ignore=NO_TOKENIZER, dirs_exist_ok=True)
    if hub is None:
        shutil.copytree(_base(contents), made / BASE, ignore=OURS)
    place = adapter_config(made)
    config = json.loads(place.read_text(encoding="utf-8"))
    config |= {"base_model_name_or_path": hub or f"./{BASE}", "revision": model.revision}
    place.write_text(json.dumps(config, indent=2), encoding="utf-8")


def _base(contents: Contents) -> Path:
    """What the adapter was trained on, where it is ours. UserError where that is not here any more."""
    model = contents.settings.model
    if "sft" in contents.stages and (start := StartFiles(contents.of("sft"))).built_here:
        return start.model
    trained = next(stage for stage in contents.stages if stage.startswith(SEED_STAGE))
    if not model.is_ours or contents.made(trained)["settings"]["base"] != base_identity(model.place):
        raise UserError(
            f"the base {model.name} lies on no hub, or is another here than the one that was trained; export the model"
            " merged"
        )
    return Path(model.place)


def write_card(files: ServedFiles, contents: Contents, made: Path, wanted: Wanted, place: str) -> None:
    """The bundle's card, with how to use this form, and the system prompts that it was trained with. place: the name of
    the folder, or OWNER/NAME on a hub.
    """
    header: dict[str, Any] = {"library_name": LIBRARIES[wanted.form]}
    if wanted.base_licence and not contents.settings.model.is_ours:
        licences = f"{contents.manifest.tags['licences']}; base: {wanted.base_licence}"
        header |= {"license": "other", "license_name": licences}
    systems: dict[str, str] = json.loads(files.system_prompts.read_text(encoding="utf-8"))
    parts = [
        "## How to use it",
        f"```python\n{_code(files, contents, wanted.form, place)}```",
        *([NOT_ALONE] if (made / BASE).is_dir() else []),
        "This is how it was judged. Each task has its own system prompt, word for word:",
    ]
    for task, prompt in systems.items():
        parts += [f"### {escaped(task)}", fenced(prompt)]
    name = f"{contents.manifest.model}/{contents.manifest.version}"
    check = f"`tucano bundle {name}` of its maker packs what it was made from; `tucano verify` checks that anywhere."
    (made / CARD).write_text(render(contents, Use(header, parts, check)), encoding="utf-8")


def _code(files: ServedFiles, contents: Contents, form: str, place: str) -> str:
    """Python that asks the model, as it is typed."""
    serving = json.loads(files.serving.read_text(encoding="utf-8"))
    values = {"temperature": serving["temperature"], "most": serving["max_new_tokens"]}
    model = contents.settings.model
    on_hub = "/" in place
    if form == "gguf":
        fetched = f"Llama.from_pretrained(repo_id={place!r}, filename={GGUF!r}"
        opened = fetched if on_hub else f"Llama({f'{place}/{GGUF}'!r}"
        return ASKS_LLAMA.format_map(values | {"opened": opened, "context": model.max_length_tokens})
    if form == "merged":
        return ASKS_TRANSFORMERS.format_map(
            values | {"named": "", "place": repr(place), "base": repr(place), "adapted": ""}
        )
    hub = base_on_hub(model)
    if hub is None:
        return _code_beside(values, place, on_hub)
    adapted = f"\nmodel = PeftModel.from_pretrained(model, {place!r})"
    values |= {"named": "", "place": repr(place), "base": f"{hub!r}, revision={model.revision!r}", "adapted": adapted}
    return PEFT + ASKS_TRANSFORMERS.format_map(values)


def _code_beside(values: dict[str, Any], place: str, on_hub: bool) -> str:
    """For an adapter with its base beside it. It is fetched whole: transformers goes from a repository with an adapter
    to the base that its config names, whatever subfolder is asked for.
    """
    folder = f"snapshot_download({place!r})" if on_hub else repr(place)
    values |= {"named": f"folder = {folder}\n", "place": "folder", "base": f'folder + "/{BASE}"'}
    code = PEFT + ASKS_TRANSFORMERS.format_map(
        values | {"adapted": "\nmodel = PeftModel.from_pretrained(model, folder)"}
    )
    return f"from huggingface_hub import snapshot_download\n{code}" if on_hub else code
