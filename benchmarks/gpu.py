"""What a GPU says of this program, in at most eight minutes.

    python -m benchmarks.gpu --folder FOLDER --prepare     # anywhere: prompts, tokens, a tokenizer
    python -m benchmarks.gpu --folder FOLDER               # on the machine with the GPU: the rest, and the table
    python -m benchmarks.gpu --folder FOLDER --docs        # anywhere: writes the table into docs/gpu.md

A base of 0.5 billion weights is made on the GPU itself, since no model is downloaded. Both profiles are rehearsed with
it, side by side. Then alone: draws against their floor, a training pass, a whole step against stock TRL, three
trainings of which one is killed, the continuous batching of transformers, and vLLM where an interpreter is named. Each
part is a process of its own with a limit; one that fails is a row with its fault, and what no time is left for is said.
"""

import argparse
import json
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.gpu_parts import Setup
from data.prepare import prepare
from tucano.prompts import messages, read_prompts
from tucano.settings.data import PromptPlan
from tucano.settings.model import NanoModel
from tucano.training.launch import environment
from tucano.training.policies.nano import build_tokenizer

PAGE = Path("docs/gpu.md")
MIX = {"extraction": 0.3, "sql_qa": 0.3, "insights": 0.2, "push": 0.2}
SECONDS = {"base": 110, "draws": 60, "training": 50, "step": 75, "resume": 130, "batching": 50, "vllm": 120}
"""What each part may take."""
REHEARSAL_MINUTES = 2.5
Results = dict[str, dict[str, Any]]


def prepare_on_a_cpu(folder: Path, demonstrations: int = 16_000) -> None:
    """Everything that needs no GPU."""
    (folder / "prompts").mkdir(parents=True, exist_ok=True)
    plan = PromptPlan(
        style="natural",
        train_prompts=200,
        validation_prompts=65,
        test_prompts=65,
        demonstrations=demonstrations,
        mix=MIX,
    )
    prepare(plan, 9001, tuple(MIX), folder / "prompts", (None,))
    systems = json.loads((folder / "prompts/system_prompts.json").read_text(encoding="utf-8"))
    rows = read_prompts(folder / "prompts/demonstrations.jsonl")
    texts = [*(text for row in rows for text in (row.user, str(row.demonstration))), *systems.values()]
    tokenizer = build_tokenizer(texts, NanoModel(nano_vocabulary=6000, max_length_tokens=4096))
    tokenizer.save_pretrained(folder / "tokenizer")
    whole = [
        tokenizer.apply_chat_template(
            messages(row, systems), add_generation_prompt=True, tokenize=True, return_dict=True
        )["input_ids"]
        + [*tokenizer(str(row.demonstration))["input_ids"], tokenizer.eos_token_id]
        for row in rows
    ]
    random.Random(1).shuffle(whole)
    flat = np.array([token for ids in whole for token in ids], dtype=np.uint16)
    np.savez_compressed(folder / "tokens.npz", flat=flat, lengths=np.array([len(ids) for ids in whole], dtype=np.int32))


@dataclass
class Run:
    """All parts, one after another, until the time is over."""

    setup: Setup
    ends_at: float

    def all(self) -> Iterator[tuple[str, dict[str, Any]]]:
        self.setup.write()
        yield "machine", self.machine()
        yield "base", self.part("base")
        yield from self.rehearsals()
        for name in ("draws", "training", "step", "resume", "batching", *(["vllm"] if self.setup.vllm else [])):
            yield name, self.part(name)

    def machine(self) -> dict[str, Any]:
        return {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "cuda": str(torch.version.cuda)}

    def part(self, name: str) -> dict[str, Any]:
        left = min(SECONDS[name], self.ends_at - time.monotonic())
        if left < SECONDS[name] / 4:
            return {"fault": "not run: no time was left"}
        command = [sys.executable, "-W", "ignore", "-m", "benchmarks.gpu_parts", name, str(self.setup.folder)]
        with (self.setup.folder / f"{name}.log").open("w", encoding="utf-8") as log:
            try:
                ran = subprocess.run(
                    command,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    text=True,
                    env=environment(2),
                    timeout=left,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                return {"fault": f"ended after its {left:.0f} s"}
        return self.told(name, ran.stdout, ran.returncode)

    def told(self, name: str, said: str, code: int) -> dict[str, Any]:
        """What a part printed last; its fault where it failed."""
        if code == 0:
            return dict(json.loads(said.splitlines()[-1]))
        lines = (self.setup.folder / f"{name}.log").read_text(encoding="utf-8").splitlines()
        return {"fault": next((line for line in reversed(lines) if line.strip()), f"exit code {code}")}

    def rehearsals(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Both profiles at once: what the GPU of one waits for, the other's may use."""
        own = [f"model.name={self.setup.base}", "model.revision=null"]
        told = [part for pair in own for part in ("--set", pair)]
        children = {}
        for profile in ("l4-v5", "l4"):
            rehearse = ["-m", "tucano.cli", "rehearse", profile, "--minutes", f"{REHEARSAL_MINUTES}", *told]
            with (self.setup.folder / f"rehearse-{profile}.log").open("w", encoding="utf-8") as log:
                children[profile] = subprocess.Popen(
                    [sys.executable, *rehearse], stdout=log, stderr=subprocess.STDOUT, env=environment(4)
                )
        for profile, child in children.items():
            yield f"rehearse {profile}", {"exit code": self.ended(child), **end_of(Path(f"runs-rehearsal-{profile}"))}

    def ended(self, child: subprocess.Popen[bytes]) -> int | str:
        try:
            return child.wait(max(1.0, self.ends_at - time.monotonic()))
        except subprocess.TimeoutExpired:
            child.kill()
            return "killed: the time was over"


def end_of(rehearsal: Path) -> dict[str, str]:
    """What a rehearsal left out, its faults, and how long the GPU waited."""
    said = (rehearsal / "rehearsal.txt").read_text(encoding="utf-8") if (rehearsal / "rehearsal.txt").is_file() else ""
    found = re.search(r"^(Left out|Faults:).*\Z", said, re.DOTALL | re.MULTILINE)
    return {"end": "; ".join(line.strip() for line in found[0].splitlines() if line.strip())} if found else {}


def table(results: Mapping[str, Mapping[str, Any]]) -> str:
    """A row per part, as Markdown."""
    rows = ["| part | seen |", "|---|---|"]
    for name, seen in results.items():
        rows.append(f"| {name} | {'; '.join(f'{what} {_shown(value)}' for what, value in seen.items())} |")
    return "\n".join(rows)


def _shown(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value).replace("|", "/").replace("\n", " ")


def into_the_page(page: str, results: Results) -> str:
    block = re.compile(r"(<!-- gpu -->\n).*?(\n<!-- end -->)", re.DOTALL)
    return block.sub(lambda found: found[1] + table(results) + found[2], page, count=1)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="where everything lies")
    parser.add_argument("--prepare", action="store_true", help="make what needs no GPU, and end")
    parser.add_argument("--docs", action="store_true", help="write FOLDER/results.json into docs/gpu.md, and end")
    parser.add_argument("--minutes", type=float, default=8.0, help="for everything on the GPU")
    parser.add_argument("--vllm", help="an interpreter with vLLM")
    asked = parser.parse_args(argv)
    kept = asked.folder / "results.json"
    if asked.docs and kept.is_file():
        results = json.loads(kept.read_text(encoding="utf-8"))
        PAGE.write_text(into_the_page(PAGE.read_text(encoding="utf-8"), results), encoding="utf-8")
        return 0
    if asked.docs:
        return _refused(f"{kept} is not there: run without --docs on a machine with a GPU first")
    if asked.prepare:
        prepare_on_a_cpu(asked.folder)
        print(f"{asked.folder} is ready: on a machine with a GPU: python -m benchmarks.gpu --folder FOLDER")
        return 0
    if not (asked.folder / "tokens.npz").is_file():
        return _refused(f"{asked.folder} holds no tokens.npz: add --prepare first, which needs no GPU")
    if not torch.cuda.is_available():
        return _refused("this machine has no usable CUDA device; nothing of this benchmark can be measured without one")
    setup = replace(Setup(asked.folder.resolve()), vllm=asked.vllm)
    results = {}
    for name, seen in Run(setup, time.monotonic() + 60 * asked.minutes).all():
        results[name] = seen
        kept.write_text(json.dumps(results, indent=1), encoding="utf-8")
        print(table({name: seen}).splitlines()[-1], flush=True)
    return int(any("fault" in seen or seen.get("exit code", 0) != 0 for seen in results.values()))


def _refused(why: str) -> int:
    print(why, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
