"""GRPO with draws from a real vLLM server, on whatever device it is built for, a CPU too.

    python -m benchmarks.vllm_rollouts --python /PATH/bin/python --folder runs-vllm

In a new folder: a nano model after a short SFT, then 20 steps of GRPO that refills groups and lengthens answers on its
way, four times: left alone; with the server killed by `kill -9` in the middle; with the trainer killed so and started
again; with a server that keeps its first weights, which the alarm has to say. Then the start answers the test prompts
greedily, once drawn here and once by the server. Prints a table; fails where one row is not as it must be.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from unittest import mock

import psutil

from data.prepare import prepare
from tucano.errors import WorkerCrashed
from tucano.files.results import AnswerFiles
from tucano.profiles import validated
from tucano.settings import PipelineSettings
from tucano.storage.journal import read_journal
from tucano.training import grpo
from tucano.training.checkpoints.weights import Policy
from tucano.training.jobs import Arm, Job, Progress
from tucano.training.launch import run_job
from tucano.training.orders import JobFolders, order
from tucano.training.samplers.vllm import VllmSampler

GAP = "train/sampling/sampling_logp_difference/mean"
LARGEST_GAP = 1e-4
STEPS = 20
GREEDY = 0.0
SERVER = "vllm.entrypoints.openai.api_server"
SETTINGS = {
    "data": {"train_prompts": 200, "validation_prompts": 26, "test_prompts": 65, "demonstrations": 300},
    "model": {"nano_hidden": 128, "nano_layers": 2, "nano_vocabulary": 1000, "max_length_tokens": 512},
    "sft": {"max_epochs": 6, "batch_size": 16, "learning_rate": 0.004, "eval_steps": 20, "save_steps": 20},
    "grpo": {
        "sampler": "vllm", "max_steps": STEPS, "batch_size": 16, "generations": 4, "micro_batch": 16,
        "max_completion_tokens": 80, "length_stages": [[0, 40], [8, 60], [14, 80]], "drop_zero_variance": True,
        "refill_rounds": 1, "learning_rate": 0.002, "eval_steps": 10, "save_steps": 5, "patience": 9,
        "validation_samples": 1,
    },
    "comparison": {"samples": 1},
    "health": {"window": 2},
}  # fmt: skip


class At:
    """Does something once, when the child says that a step is finished."""

    def __init__(self, step: int, act: Callable[[], None]) -> None:
        self.step, self.act, self.done = step, act, False

    def __call__(self, progress: Progress) -> None:
        if progress.step >= self.step and not self.done:
            self.done = True
            self.act()


def kill(word: str) -> None:
    """`kill -9` of every process below this one whose command holds a word."""
    for child in psutil.Process().children(recursive=True):
        if word in " ".join(child.cmdline()):
            child.kill()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True, help="an interpreter with vLLM")
    parser.add_argument("--folder", type=Path, required=True, help="a new folder for what it writes")
    arguments = parser.parse_args()
    settings = validated({**SETTINGS, "worker": {"vllm_python": arguments.python, "threads": 2}})
    arguments.folder.mkdir(parents=True)
    prompts, model = start(settings, arguments.folder)
    bad = 0
    print("| | | |\n|---|---|---|", flush=True)
    for what, found, well in rows(settings, arguments.folder, prompts, model):
        bad += not well
        print(f"| {what} | {found} | {'as it must be' if well else 'WRONG'} |", flush=True)
    return min(bad, 1)


def start(settings: PipelineSettings, folder: Path) -> tuple[Path, Path]:
    """A prompt set and the model after SFT."""
    prompts = folder / "prompts"
    prompts.mkdir()
    prepare(settings.data, settings.seed, settings.tasks, prompts)
    made = job("sft", settings, prompts, folder / "sft", None)
    run_job(made, None, lambda progress: None)
    return prompts, Path(made.output) / "model"


def job(kind: str, settings: PipelineSettings, prompts: Path, place: Path, model: Path | None) -> Job:
    (place / "output").mkdir(parents=True, exist_ok=True)
    folders = JobFolders(prompts=prompts, work=place / "work", output=place / "output")
    begin = (str(model), None) if model else None
    return order(kind, settings, 1, settings.worker.threads, folders, start=begin)  # type: ignore[arg-type]


def rows(settings: PipelineSettings, folder: Path, prompts: Path, model: Path) -> Iterator[tuple[str, str, bool]]:
    """What was tried, what was seen, whether that is well."""

    def train(name: str, act: At | None = None) -> tuple[list[int], list[float], float]:
        asked = job("grpo", settings, prompts, folder / name, model)
        began = time.monotonic()
        try:
            run_job(asked, None, act or (lambda progress: None))
        except WorkerCrashed:
            run_job(asked, None, lambda progress: None)
        spent = time.monotonic() - began
        found = [row for row in read_journal(Path(asked.work) / "journal.jsonl") if GAP in row.values]
        return [row.step for row in found], [row.values[GAP] for row in found], spent

    every = list(range(1, STEPS + 1))
    for name, what, act in (
        ("alone", "left alone", None),
        ("server", "server killed at step 7", At(7, lambda: kill(SERVER))),
        ("trainer", "trainer killed at step 13", At(13, lambda: kill("tucano.training.worker"))),
    ):
        steps, gaps, spent = train(name, act)
        seen = f"{len(steps)} steps, largest mean difference {max(gaps):.1e} nats per token, {spent:.0f} s"
        yield f"{STEPS} steps, {what}", seen, steps == every and max(gaps) <= LARGEST_GAP and (not act or act.done)
    left = [one for one in psutil.process_iter(["cmdline"]) if of_vllm(one.info["cmdline"] or [])]
    yield "processes of servers left", str(len(left)), not left
    yield groups(folder / "alone")
    yield stale(job("grpo", settings, prompts, folder / "stale", model))
    yield greedy(settings, folder, prompts, model)


def of_vllm(command: list[str]) -> bool:
    """Its server, or its engine and workers, which call themselves VLLM::..."""
    return SERVER in command or any(part.startswith("VLLM::") for part in command)


def stale(asked: Job) -> tuple[str, str, bool]:
    """In this process, so that the server can be left with the first weights that it gets."""
    hold = VllmSampler._hold

    def first_only(sampler: VllmSampler, policy: Policy) -> str:
        return sampler._loaded or hold(sampler, policy)

    with mock.patch.object(VllmSampler, "_hold", first_only):
        grpo.run(asked)
    found = [row for row in read_journal(Path(asked.work) / "journal.jsonl")]
    raised = next((row.step for row in found if "health/sampler_apart" in row.values), None)
    last = [row.values[GAP] for row in found if GAP in row.values][-1]
    seen = f"difference {last:.2g} after {STEPS} steps, alarm at step {raised}"
    return "a server that keeps its first weights", seen, raised is not None


def groups(place: Path) -> tuple[str, str, bool]:
    """Copies in a group would earn the same in every group: some spread in almost all says that there are none."""
    rows_ = [row.values for row in read_journal(place / "work" / "journal.jsonl") if GAP in row.values]
    shares = [value for row in rows_ for name, value in row.items() if "zero_variance" in name]
    mean = sum(shares) / len(shares)
    return "groups whose completions all earn the same", f"{mean:.0%}", mean < 0.5


def greedy(settings: PipelineSettings, folder: Path, prompts: Path, model: Path) -> tuple[str, str, bool]:
    """The start's served answers at temperature 0."""
    found = {}
    for sampler in ("local", "vllm"):
        asked = settings.model_copy(
            update={
                "grpo": settings.grpo.model_copy(update={"sampler": sampler}),
                "comparison": settings.comparison.model_copy(update={"served_temperature": GREEDY}),
            }
        )
        made = replace(
            job("answer", asked, prompts, folder / f"greedy-{sampler}", None), arms=[Arm("base", str(model))]
        )
        run_job(made, None, lambda progress: None)
        lines = AnswerFiles(Path(made.output)).answers.read_text(encoding="utf-8").splitlines()
        found[sampler] = [row["completion"] for row in map(json.loads, lines) if row["decoding"] == "served"]
    same = sum(one == other for one, other in zip(found["local"], found["vllm"], strict=True))
    return (
        "greedy answers that are the same, drawn here and there",
        f"{same} of {len(found['local'])}",
        same == len(found["local"]),
    )


if __name__ == "__main__":
    sys.exit(main())
