"""A GGUF in float16 by llama.cpp's own converter, read back weight by weight, and asked."""

import importlib.util
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tucano.bundle.reading import Contents
from tucano.errors import UserError
from tucano.export.folders import GGUF
from tucano.files.models import ServedFiles
from tucano.prompts import Prompt, read_prompts
from tucano.security.printable import short
from tucano.thoughts import answer_of

SCRIPT = "convert_hf_to_gguf.py"
ASKED, LEAST = 50, 45
"""Prompts of the held-out set that both are asked, and how many must be answered alike: another order of adding in
float16 may turn a tie.
"""
COMPUTED = "rope_"
"""Tensors that the converter computes from the config begin so."""
REORDERED = re.compile(r"\.attn_(q|k|qkv)\.")
"""Tensors whose rows the converter may put in another order: Llama's queries and keys, and the three in one matrix."""


def require(checkout: Path | None) -> None:
    """UserError unless there is all that writing a GGUF takes."""
    if checkout is None or not (checkout / SCRIPT).is_file():
        where = "" if checkout is None else f" (no {SCRIPT} in {checkout})"
        raise UserError(
            f"a GGUF is written by llama.cpp's own converter: give --llama-cpp FOLDER, a checkout of"
            f" https://github.com/ggml-org/llama.cpp{where}"
        )
    for name in ("gguf", "sentencepiece"):
        if importlib.util.find_spec(name) is None:
            raise UserError(f"a GGUF takes the package {name}; pip install -e '.[gguf]'")


def convert(model: Path, checkout: Path, made: Path) -> Path:
    """The GGUF of a transformers folder, in the new folder `made`. UserError with the converter's last words."""
    made.mkdir()
    file = made / GGUF
    runner = str(Path(__file__).with_name("converter.py"))
    arguments = [str(checkout), str(model), "--outtype", "f16", "--outfile", str(file)]
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "PYTHONUTF8": "1"}
    command = [sys.executable, "-P", runner, *arguments]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if ended.returncode or not file.is_file():
        last = (ended.stderr.strip().splitlines() or ["it wrote nothing"])[-1]
        raise UserError(f"llama.cpp's converter does not take this model: {short(last, 300)}; export it merged")
    return file


def is_same(files: ServedFiles, file: Path, contents: Contents) -> bool:
    """Whether the GGUF is the model, by its weights and, where llama_cpp is installed, by its answers; says what was
    found.
    """
    wrong = [*differing(files.model, file)]
    if wrong:
        print(f"{len(wrong)} tensors of the GGUF are not the model's in 16 bits: {', '.join(wrong[:5])}")
        return False
    print("Every tensor of the GGUF, read back, is the model's: matrices in float16, the rest in float32.")
    if importlib.util.find_spec("llama_cpp") is None:
        print("Its answers were not compared: llama_cpp is not installed (pip install llama-cpp-python).")
        return True
    held_out = read_prompts(contents.prompts.test)
    count = min(ASKED, len(held_out))
    prompts = [held_out[place * len(held_out) // count] for place in range(count)]
    cut, said = _compared(files, file, prompts, contents.settings.model.max_length_tokens)
    print(f"llama.cpp reads {cut} of {count} held-out prompts as the same tokens, and answers {said} greedily with the")
    print(f"same text as transformers; {LEAST} of {ASKED} have to be.")
    return said * ASKED >= LEAST * count


def differing(model: Path, file: Path) -> Iterator[str]:
    """Names of tensors that are in one of both only, or hold other values than the model's, rounded to their type."""
    import gguf

    from tucano.training.checkpoints.weights import stored_tensors

    reader = gguf.GGUFReader(file)
    theirs = {tensor.name: tensor.data for tensor in reader.tensors}
    architecture = reader.fields["general.architecture"].contents()
    kind = next(kind for kind, name in gguf.MODEL_ARCH_NAMES.items() if name == architecture)
    names = gguf.get_tensor_name_map(kind, reader.fields[f"{architecture}.block_count"].contents())
    for name, tensor in stored_tensors(sorted(model.glob("*.safetensors"))):
        called = names.get_name(name, try_suffixes=(".weight", ".bias")) or name
        found = theirs.pop(called, None)
        if found is None or not _equal(tensor.float().numpy(), found, bool(REORDERED.search(called))):
            yield name
    yield from (name for name in theirs if not name.startswith(COMPUTED))


def _equal(ours: np.ndarray, theirs: np.ndarray, reordered: bool) -> bool:
    """Equal, or, where they may be `reordered`, the same whole rows in another order."""
    with np.errstate(over="ignore"):
        ours = ours.astype(theirs.dtype)
    if ours.shape != theirs.shape or not np.isfinite(theirs).all():
        return False
    return np.array_equal(ours, theirs) or (reordered and _rows(ours) == _rows(theirs))


def _rows(matrix: np.ndarray) -> Counter[bytes]:
    return Counter(row.tobytes() for row in matrix)


def _compared(files: ServedFiles, file: Path, prompts: Sequence[Prompt], context: int) -> tuple[int, int]:
    """How many prompts are the same tokens, and how many greedy answers the same text."""
    from llama_cpp import Llama

    from tucano.training.policies.served_model import ServedModel
    from tucano.training.worker import quieten_libraries

    quieten_libraries()
    ours = ServedModel(files.folder)
    ours.decoding["temperature"] = 0.0
    llama = Llama(str(file), n_ctx=context, seed=0, verbose=False)
    greedy: dict[str, Any] = {"temperature": 0.0, "repeat_penalty": 1.0, "max_tokens": ours.decoding["max_new_tokens"]}
    cut, said = 0, 0
    for prompt in prompts:
        messages = ours.messages(prompt.task, prompt.user)
        text = str(ours.tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False))
        tokens = ours.tokenizer(text, add_special_tokens=False)["input_ids"]
        cut += tokens == llama.tokenize(text.encode(), add_bos=False, special=True)
        answer = llama.create_chat_completion(messages, **greedy)["choices"][0]["message"]["content"]
        said += answer_of(answer or "").strip() == ours.answer(prompt.task, prompt.user)
    return cut, said
