"""Whether the training children read every setting that their keys are made from, as far as its switch is on."""

import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from data.prepare import prepare
from tucano.benchmark.public.questions import PublicFiles, Question, write_lines
from tucano.preferences import AnswerPair, write_answer_pairs
from tucano.profiles import validated
from tucano.settings import PipelineSettings
from tucano.settings.base import Section
from tucano.training.jobs import Arm, ChildKind, Job
from tucano.training.orders import RECEIVED, JobFolders, order
from tucano.training.worker import run

SETTINGS: dict[str, dict[str, Any]] = {
    "data": {"train_prompts": 60, "validation_prompts": 26, "test_prompts": 26, "demonstrations": 40},
    "model": {"nano_hidden": 32, "nano_layers": 2, "nano_vocabulary": 700, "max_length_tokens": 512},
    "sft": {"max_epochs": 1, "batch_size": 8, "eval_steps": 4},
    "grpo": {
        "max_steps": 4, "eval_steps": 1, "save_steps": 1, "batch_size": 8, "generations": 4, "micro_batch": 4, "max_completion_tokens": 24,
        "task_weights": "iwu", "overlong_tokens": 8, "drop_zero_variance": True, "refill_rounds": 1, "patience": 3,
        "conditions": [{"component": "push.length", "needs": "push.product", "at_least": 0.5}],
    },
    "health": {"window": 1},
    "comparison": {"samples": 2},
}  # fmt: skip
UNREAD: dict[str, set[str]] = {
    "sft": set(),
    "preflight": set(),
    "grpo": {"max_length_tokens", "sampler_gap"},
    "dpo": {"ceiling_share", "collapse_share", "kl_floor", "sampler_gap", "stop_on", "zero_variance_share"},
    "answer": {"max_length_tokens"},
    "public": set(),
    "merge": {"max_length_tokens"},
}
"""Of these unsloth alone reads the length again after SFT, and runs that draw by vLLM alone the gap. DPO logs nothing of
rollouts, which the other alarms of GRPO look at.
"""
PASSED_ON = {"base", "threads", "seed", "backend"}
"""What the job's own fields are made from, and what the worker asks before it imports anything."""


@pytest.fixture(scope="module")
def settings() -> PipelineSettings:
    return validated(SETTINGS)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, settings: PipelineSettings) -> Path:
    folder = tmp_path_factory.mktemp("children")
    prepare(settings.data, 7, settings.tasks, folder / "prompts")
    write_answer_pairs(folder / "pairs.jsonl", [AnswerPair("Responda.", f"Oi, {n}", "bom dia", "x") for n in range(40)])
    (folder / "public").mkdir()
    asked = [
        Question("q0", "faquad", "Texto: Choveu em maio.\n\nPergunta: Quando?", "q0", ("maio",)),
        Question("q1", "enem", "Qual é a capital?", "q1", ("Brasília",), options=("Brasília", "Recife")),
    ]
    write_lines(PublicFiles(folder / "public").questions, asked)
    return folder


@pytest.fixture(autouse=True)
def process_as_before() -> Iterator[None]:
    threads, handler = torch.get_num_threads(), signal.getsignal(signal.SIGTERM)
    yield
    torch.set_num_threads(threads)
    signal.signal(signal.SIGTERM, handler)


def leaves(section: Section) -> set[str]:
    names: set[str] = set()
    for name in type(section).model_fields:
        value = getattr(section, name)
        names |= leaves(value) if isinstance(value, Section) else {name}
    return names


def reads(job: Job, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The leaves of the settings that are read while a job is done, by anything but the settings' own checks."""
    found: set[str] = set()
    plain = Section.__getattribute__

    def noted(self: Section, name: str) -> Any:
        by = sys._getframe(1).f_code.co_filename
        if name in type(self).model_fields and "pydantic" not in by and f"tucano{'/'}settings" not in by:
            found.add(name)
        return plain(self, name)

    with monkeypatch.context() as patch:
        patch.setattr(Section, "__getattribute__", noted, raising=False)
        run(job)
    return found


def test_each_child_reads_all_that_its_key_is_made_from(
    settings: PipelineSettings, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def job(kind: Any, **more: Any) -> Job:
        (place / kind / "output").mkdir(parents=True)
        (place / kind / "work").mkdir()
        folders = JobFolders(place / "prompts", work=place / kind / "work", output=place / kind / "output")
        return order(kind, settings, 1, 1, folders, **more)

    start = (str(place / "sft" / "output" / "model"), None)
    tuned = (start[0], str(place / "grpo" / "output" / "adapter"))
    jobs: dict[ChildKind, Callable[[], Job]] = {
        "sft": lambda: job("sft"),
        "preflight": lambda: job("preflight", start=start),
        "grpo": lambda: job("grpo", start=start),
        "dpo": lambda: replace(job("dpo", start=tuned), preferences=str(place / "pairs.jsonl")),
        "answer": lambda: job("answer", arms=[Arm("base", start[0]), Arm("seed-1", *tuned)]),
        "public": lambda: replace(job("public", arms=[Arm("seed-1", *tuned)]), prompts=str(place / "public")),
        "merge": lambda: job("merge", start=tuned),
    }
    unread = {
        kind: leaves(RECEIVED[kind](settings, 1)) - PASSED_ON - reads(make(), monkeypatch)
        for kind, make in jobs.items()
    }
    assert unread == UNREAD
