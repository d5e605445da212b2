"""A storage with the artifacts of finished runs, made by hand: nothing is trained."""

import json
import random
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from tucano.artifacts.records import write_record
from tucano.artifacts.store import Artifact, Recipe, Store
from tucano.comparison.answers import Answer, Decoding
from tucano.comparison.compare import Design, compare
from tucano.files.models import SeedFiles
from tucano.files.prompts import PromptFiles
from tucano.files.results import AnswerFiles, ComparisonFiles, ReportFiles
from tucano.profiles import load_profile, nearest_profile
from tucano.prompts import Prompt, write_prompts
from tucano.storage.journal import JournalWriter

ROOT = Path(__file__).parent.parent
TASKS = ("extraction", "sql_qa", "insights", "push")
DECODINGS: tuple[Decoding, ...] = ("served", "sampled")
SEEDS = (42, 123, 456)


@dataclass(frozen=True)
class Finished:
    """A finished run: its settings as overrides of the profile nano, what each task gains, and what became of its
    candidate.
    """

    overrides: Sequence[str]
    gains: Mapping[str, float]
    truth: float = 0.5
    """Share of a gain that the ground truth has too."""
    hours: float = 0.2
    promotion: Mapping[str, Any] | None = None
    seeds: Sequence[int] = SEEDS
    per_task: int = 7
    noise: float = 1.0
    """0: answers to a prompt differ by the gain alone."""
    machine: str = "l4 workbench"
    changed: Mapping[str, Any] = field(default_factory=dict)
    """Settings that no profile can have."""


def finished(root: Path, run: Finished) -> Artifact:
    """Its artifacts in a storage; returns the report's."""
    settings = load_profile(ROOT, "nano", [*run.overrides, f"grpo.seeds={list(run.seeds)}"])
    plain = {**settings.model_dump(mode="json", exclude={"storage", "tracking_uri"}), **run.changed}
    prompts = [
        Prompt(f"{task}-{n}", task, f"Pergunta {n}", f"t{n}", "synthetic", "CC0")
        for task in TASKS
        for n in range(run.per_task)
    ]
    asked = {"prompts": len(prompts)}
    data = made(root, "data", lambda draft: write_prompts(PromptFiles(draft).test, prompts), settings=asked)
    record: dict[str, Any] = {"machine_time": [_stay(run.machine, 0, 0.1)]}
    trained = {"sft": made(root, "sft", settings={"sft": plain["sft"]}, record=record)}
    trained |= {f"grpo-seed-{seed}": _trained(root, plain, run, seed) for seed in run.seeds}
    inputs = {name: one.digest for name, one in {"data": data, **trained}.items()}
    replies = _answers(prompts, run)
    answers = made(root, "answers", lambda draft: _write_answers(draft, replies), inputs, plain["comparison"])
    inputs |= {"answers": answers.digest}
    judged = compare(replies, prompts, settings.comparison, Design("sft", run.seeds), frozenset({"bem"}))
    verdict = made(root, "comparison", lambda draft: write_record(ComparisonFiles(draft).comparison, judged), inputs)
    inputs |= {"comparison": verdict.digest}

    def report(draft: Path) -> None:
        ReportFiles(draft).settings.write_text(json.dumps(plain), encoding="utf-8")
        ReportFiles(draft).page.write_text("<!doctype html><p>Relatório", encoding="utf-8")

    profile, rows = nearest_profile(ROOT, settings)
    chosen = {"settings": plain, "profile": profile, "differences": rows}
    record = {"registered": None, "promotion": run.promotion}
    return made(root, "report", report, inputs, chosen, record)


def made(
    root: Path,
    stage: str,
    fill: Callable[[Path], object] = lambda draft: None,
    inputs: Mapping[str, str] | None = None,
    settings: Mapping[str, Any] | None = None,
    record: Mapping[str, Any] | None = None,
) -> Artifact:
    """An artifact of a storage with this record; `fill` writes its files into a folder."""

    def produce(draft: Path) -> Mapping[str, Any]:
        fill(draft)
        return record or {}

    return Store(root).make(Recipe(stage, settings or {}, inputs or {}, "code"), produce, lambda said: None)


def _trained(root: Path, plain: Mapping[str, Any], run: Finished, seed: int) -> Artifact:
    gain = sum(run.gains.values()) / len(run.gains)

    def curves(draft: Path) -> None:
        writer = JournalWriter(SeedFiles(draft).journal, resume_step=None)
        for step in range(0, plain["grpo"]["max_steps"] + 1, 5):
            value = 0.45 + gain * min(1, step / 30) + (seed % 7) / 300 + (step * seed % 5) / 500
            writer.log(step, {"validation/reward": value})
        writer.close()

    chosen = {"grpo": plain["grpo"], "gain": gain}
    record = {"seed": seed, "machine_time": [_stay(run.machine, seed, run.hours)]}
    return made(root, f"grpo-seed-{seed}", curves, settings=chosen, record=record)


def _stay(machine: str, began: float, hours: float) -> dict[str, Any]:
    ended = 1e6 * began + 3600 * hours
    return {"host": "h", "machine": machine, "began_s": 1e6 * began, "last_s": ended, "useful_s": ended}


def _answers(prompts: Sequence[Prompt], run: Finished) -> list[Answer]:
    """Starts answer as often as all seeds together; a gain differs a little from prompt to prompt and seed to seed."""
    rng = random.Random(str(run.overrides))
    replies = []
    for arm, prompt in product(("sft", *(f"seed-{seed}" for seed in run.seeds)), prompts):
        tuned = arm != "sft"
        gain = (run.gains[prompt.task] + rng.gauss(0, 0.015 * run.noise)) if tuned else 0.0
        for decoding, sample in product(DECODINGS, range(1 if tuned else len(run.seeds))):
            reward = 0.45 + int(prompt.id.rpartition("-")[2]) / 40 + gain + rng.gauss(0, 0.01 * run.noise)
            truth = 0.3 + run.truth * gain + rng.gauss(0, 0.01 * run.noise)
            replies.append(
                Answer(
                    arm, prompt.id, prompt.task, decoding, sample, f"{arm} vai bem", reward, {}, truth, 1.0, 10, False
                )
            )
    return replies


def _write_answers(draft: Path, replies: Sequence[Answer]) -> None:
    lines = (json.dumps(asdict(reply)) for reply in replies)
    AnswerFiles(draft).answers.write_text("\n".join(lines) + "\n", encoding="utf-8")


def answered(root: Path, asked: Sequence[Prompt], rows: Sequence[Mapping[str, Any]], store: str, **inputs: str) -> Path:
    """The artifacts of a run that has prepared its data and asked its models: `store` is SQL, `rows` say of each answer
    what is not plain.
    """

    def data(draft: Path) -> None:
        write_prompts(PromptFiles(draft).test, asked)
        other = Prompt("v", "push", "Anuncie um fogão de lenha", "", "own", "CC0")
        write_prompts(PromptFiles(draft).validation, [other])
        with closing(sqlite3.connect(PromptFiles(draft).store)) as connection:
            connection.executescript(store)

    def answers(draft: Path) -> None:
        text = "".join(json.dumps({**_PLAIN, **row}, ensure_ascii=False) + "\n" for row in rows)
        AnswerFiles(draft).answers.write_text(text, encoding="utf-8")

    made(root, "answers", answers, {"prompts": made(root, "data", data).digest, **inputs})
    return root


_PLAIN = {
    "decoding": "served", "sample": 0, "reward": 0.5, "components": {}, "truth": None, "loss": 1.0, "tokens": 3, "truncated": False,
}  # fmt: skip
