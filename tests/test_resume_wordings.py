"""Prompt augmentation and data mixing after an interruption: the same wordings, bit for bit."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from test_grpo_parity import (
    PROMPTS,
    one_thread_and_the_signals_as_before,  # noqa: F401  the fixture is used by its name
    tiny,
)
from test_resume import chosen, interrupted, left, train
from trainings import job_in

from tucano.profiles import validated
from tucano.prompts import GENERAL, Paraphrase, Prompt, write_prompts
from tucano.training import sft
from tucano.training.grpo_trainer import GrpoMixin
from tucano.training.rollouts.wordings import WordingSampler


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two further wordings of each prompt; of each a demonstration too, and two general ones."""
    place = tiny(tmp_path_factory.mktemp("wordings") / "tiny")
    worked = [replace(prompt, demonstration=f"{prompt.user} sim") for prompt in PROMPTS]
    general = [Prompt(f"g{n}", GENERAL, f"Quanto é {n}?", "g", "own", "own", demonstration=str(n)) for n in range(2)]
    write_prompts(place / "demonstrations.jsonl", worked)
    write_prompts(place / "demonstrations_validation.jsonl", worked[:2])
    write_prompts(place / "general_demonstrations.jsonl", general)
    further = [Paraphrase(p.id, f"{word} {p.user}", "t") for p in PROMPTS for word in ("diga", "outro")]
    write_prompts(place / "paraphrases.jsonl", further)
    return place


def test_grpo_goes_on_with_its_epochs_wordings(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps of two of six prompts: the fourth is in the second epoch."""
    shown: list[str] = []
    rollout = GrpoMixin._generate_single_turn

    def watched(self: GrpoMixin, ids: list[list[int]], *more: Any, **named: Any) -> Any:
        tokenizer: Any = self.processing_class
        shown.append(tokenizer.decode(ids[0]))
        return rollout(self, ids, *more, **named)

    monkeypatch.setattr(GrpoMixin, "_generate_single_turn", watched)
    train(folder, tmp_path / "alone", chosen())
    assert any("diga" in text or "outro" in text for text in shown)
    interrupted(monkeypatch, 7, lambda: train(folder, tmp_path / "resumed", chosen()))
    train(folder, tmp_path / "resumed", chosen())
    assert left(tmp_path / "resumed") == left(tmp_path / "alone")


def tune(folder: Path, place: Path) -> Any:
    small = {"nano_hidden": 32, "nano_layers": 2, "nano_vocabulary": 300, "max_length_tokens": 256}
    steps = {"max_epochs": 4, "batch_size": 2, "learning_rate": 0.01, "eval_steps": 3, "save_steps": 1, "patience": 9}
    run = validated({"data": {"mix": {"push": 0.5, "insights": 0.5}}, "model": small, "sft": steps})
    return sft.run(job_in(place, "sft", run, folder))


def test_sft_goes_on_with_its_epochs_wordings(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight examples in batches of two are four steps an epoch, whatever the number of wordings."""
    drawn: list[tuple[int, list[int]]] = []
    rows = WordingSampler.__iter__

    def watched(self: WordingSampler) -> Any:
        drawn.append((self._epoch, list(rows(self))))
        return iter(drawn[-1][1])

    monkeypatch.setattr(WordingSampler, "__iter__", watched)
    assert tune(folder, tmp_path / "alone")["steps"] == 16
    epochs = dict(drawn)
    assert sorted(epochs) == [0, 1, 2, 3] and len({tuple(order) for order in epochs.values()}) == 4
    assert all(len(order) == 8 for order in epochs.values())
    interrupted(monkeypatch, 7, lambda: tune(folder, tmp_path / "resumed"))
    tune(folder, tmp_path / "resumed")
    assert left(tmp_path / "resumed") == left(tmp_path / "alone")
