"""A demonstration that is cut has no end, and teaches that there is none: counted before it is shown, and left out."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from datasets import Dataset
from test_grpo_parity import one_thread_and_the_signals_as_before  # noqa: F401  the fixture is used by its name
from trainings import job_in

from data.own import command
from tucano.cli.machine.doctor import require_own_fitting
from tucano.errors import UserError
from tucano.profiles import validated
from tucano.prompts import Prompt, write_prompts
from tucano.settings import ModelSettings, PipelineSettings
from tucano.training import sft
from tucano.training.policies.nano import build_tokenizer

LONG = "um produto muito bom " * 60
"""1,260 characters; at least 240 tokens, one for each word."""


def example(number: int, answer: str) -> Prompt:
    return Prompt(f"p{number}", "push", f"Anuncie {number}", "t", "test", "own", demonstration=answer)


def tuned(place: Path, long: int, of: int = 100, long_shown: int = 0) -> Any:
    place.mkdir()
    shown = [example(n, LONG if n < long else "Compre já!") for n in range(of)]
    write_prompts(place / "demonstrations.jsonl", shown)
    write_prompts(
        place / "demonstrations_validation.jsonl",
        [example(n, LONG if n < long_shown else "Compre já!") for n in range(4)],
    )
    (place / "system_prompts.json").write_text(json.dumps({"push": "Escreva."}), encoding="utf-8")
    small = {"nano_hidden": 16, "nano_layers": 1, "nano_vocabulary": 400, "max_length_tokens": 200}
    steps = {"max_epochs": 1, "batch_size": 50, "eval_steps": 2, "save_steps": 1}
    run = validated({"data": {"mix": {"push": 1.0}}, "model": small, "sft": steps})
    return sft.run(job_in(place, "sft", run, place))


def test_sft_refuses_before_its_first_step_where_more_than_a_hundredth_would_be_cut(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^2 of 104 demonstrations .* model\.max_length_tokens=200, .*raise it"):
        tuned(tmp_path / "two", 2)
    assert not list((tmp_path / "two" / "work").rglob("checkpoint*"))


def test_one_in_a_hundred_is_left_out_and_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert tuned(tmp_path / "one", 1, of=101)["steps"] == 2, "100 in batches of 50"
    assert "1 of 105 demonstrations" in caplog.text


def test_a_validation_demonstration_is_left_out_too(tmp_path: Path) -> None:
    """It was cut, and SFT looked for the model that goes on where the answer ends."""
    rows = {"train_dataset": [10] * 99, "eval_dataset": [10, 11, 9]}
    trainer = SimpleNamespace(
        **{name: Dataset.from_dict({"input_ids": [[1] * n for n in rows[name]]}) for name in rows}
    )
    sft._leave_out_long(trainer, 102, 10)
    assert [list(map(len, trainer.eval_dataset["input_ids"])), len(trainer.train_dataset)] == [[10, 9], 99]
    with pytest.raises(UserError, match=r"^2 of 104 demonstrations"):
        tuned(tmp_path / "two", 0, long_shown=2)
    with pytest.raises(UserError, match=r"^4 of 4 demonstrations"):
        tuned(tmp_path / "all", 0, of=400, long_shown=4)


@pytest.fixture
def run(tmp_path: Path) -> PipelineSettings:
    """With a model whose tokenizer lies in its folder, and own rows of which two in a hundred are too long for it."""
    nano = ModelSettings(nano_vocabulary=400)
    build_tokenizer([LONG, "Compre já! Anuncie"], nano).save_pretrained(tmp_path / "model")
    rows = [
        {"task": "push", "prompt": f"Anuncie {n}", "demonstration": LONG if n < 2 else "Compre!"} for n in range(100)
    ]
    (tmp_path / "own.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    data = {"source": "jsonl", "path": str(tmp_path / "own.jsonl"), "mix": {"push": 1.0}}
    return validated({"data": data, "model": {"name": str(tmp_path / "model"), "max_length_tokens": 200}})


def test_own_rows_are_counted_at_second_zero_where_the_tokenizer_is_at_hand(run: PipelineSettings) -> None:
    with pytest.raises(UserError, match=r"^2 of 100 demonstrations"):
        require_own_fitting(run)
    enough = run.model_copy(update={"model": run.model.model_copy(update={"max_length_tokens": 700})})
    assert require_own_fitting(enough) is None
    nano = run.model_copy(update={"model": ModelSettings(max_length_tokens=200)})
    assert require_own_fitting(nano) is None, "its tokenizer is made by SFT, which counts"


def test_data_check_counts_them_by_their_characters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """768 tokens, the default, are some 2,300 characters."""
    rows = [
        {"task": "push", "prompt": f"Anuncie {n}", "demonstration": "bom " * (600 if n == 1 else 500)} for n in (1, 2)
    ]
    (tmp_path / "own.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    command.check(tmp_path / "own.jsonl")
    said = capsys.readouterr().out
    assert "  long: 1\n" in said and "own.jsonl line 1: by its characters" in said
