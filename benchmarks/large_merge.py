"""What the merge of a large base takes: random weights of Tucano2-qwen-3.7B's shape on disk, an adapter of rank 16.

    python -m benchmarks.large_merge --home /tmp/large-merge

writes 15 GB there, prints seconds and the peak of the process, and deletes them again.
"""

import argparse
import gc
import resource
import shutil
import time
from pathlib import Path

import torch
from peft import get_peft_model
from safetensors.torch import save_file
from torch import Tensor
from transformers import AutoModelForCausalLM, PreTrainedModel, Qwen3Config

from tucano.requirements.shapes import TUCANO_3_7B
from tucano.settings import ModelSettings
from tucano.training.checkpoints import merged
from tucano.training.policies.load import lora_config
from tucano.training.policies.nano import build_tokenizer

FILE_BYTES = 10**9


def main() -> None:
    """One line of figures."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--home", type=Path, required=True, help="a folder that is not there yet")
    home: Path = arguments.parse_args().home
    model = ModelSettings(nano_vocabulary=400)
    tokenizer = build_tokenizer(["Uma pergunta sobre caixas"], model)
    weights = _write(home, model)
    gc.collect()
    began = time.monotonic()
    merged.write(merged.Base(str(home / "base"), None), home / "adapter", "cpu", tokenizer, [2], home / "merged")
    seconds = time.monotonic() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f"{weights:,} weights: {seconds:.0f} s, peak {peak / 2**30:.2f} GiB")
    shutil.rmtree(home)


def _write(home: Path, settings: ModelSettings) -> int:
    """base/ and adapter/; how many weights the base has."""
    shape = {name: getattr(TUCANO_3_7B, name) for name in TUCANO_3_7B.__slots__ if name != "model_type"}
    config = Qwen3Config(**{name: value for name, value in shape.items() if value is not None})
    with torch.device("meta"):
        model: PreTrainedModel = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    generator = torch.Generator().manual_seed(1)
    (home / "base").mkdir(parents=True)
    config.save_pretrained(home / "base")
    held: dict[str, Tensor] = {}
    named = dict(model.named_parameters())
    for number, (name, weight) in enumerate(named.items(), 1):
        held[name] = torch.randn(weight.shape, generator=generator, dtype=torch.bfloat16) / 50
        if sum(tensor.nbytes for tensor in held.values()) > FILE_BYTES or number == len(named):
            save_file(held, home / "base" / f"model-{number:04d}.safetensors", {"format": "pt"})
            held = {}
    adapted = get_peft_model(model, lora_config(settings))
    drawn = {
        name.replace(".default", ""): torch.randn(weight.shape, generator=generator) / 50
        for name, weight in adapted.named_parameters()
        if "lora_" in name
    }
    adapted.peft_config["default"].save_pretrained(home / "adapter")
    save_file(drawn, home / "adapter" / "adapter_model.safetensors", {"format": "pt"})
    return sum(weight.numel() for weight in named.values())


if __name__ == "__main__":
    main()
