"""The benchmark compares like with like: every side decodes the recorded completions and comes to the same losses."""

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from test_grpo_parity import settings, tiny

from benchmarks import lockstep
from benchmarks.lockstep import MARK, Kind, Side
from benchmarks.speed import report

STEPS = 3


@pytest.fixture(autouse=True)
def as_many_threads_as_before() -> Iterator[None]:
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


def test_all_sides_read_and_write_the_same_tokens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tiny(tmp_path / "tiny")
    chosen = settings(advantages="group", max_steps=STEPS, eval_steps=STEPS, save_steps=STEPS).model_dump(mode="json")

    def steps_of(kind: Kind) -> list[dict[str, float]]:
        side = Side(
            kind, chosen, str(folder), str(folder / "model"), str(tmp_path / kind), 1, str(tmp_path / "tape.json")
        )
        monkeypatch.setattr(sys, "stdin", io.StringIO("\n" * STEPS))
        lockstep.main(side.write())
        lines = capsys.readouterr().out.splitlines()
        ready, *steps = [json.loads(line.removeprefix(MARK)) for line in lines if line.startswith(MARK)]
        assert ready == {} and len(steps) == STEPS
        return steps

    recorded, ours, stock = (steps_of(kind) for kind in ("record", "ours", "stock"))
    for first, mine, theirs in zip(recorded, ours, stock, strict=True):
        assert first["completions/mean_length"] == mine["completions/mean_length"] == theirs["completions/mean_length"]
        assert first["loss"] == mine["loss"] == pytest.approx(theirs["loss"], rel=1e-4, abs=1e-7)
        assert mine["grad_norm"] == pytest.approx(theirs["grad_norm"], rel=1e-3)
        assert 0 < mine["decoding"] < mine["cpu"]
    assert len({row["completions/mean_length"] for row in recorded}) > 1, "else equal lengths would say little"


def test_the_table_says_what_was_reached_from_medians_without_the_first_step() -> None:
    def rows(*seconds: float) -> list[dict[str, float]]:
        return [{"cpu": value, "decoding": value / 2, "loss": 0.01} for value in seconds]

    steps = {"ours": rows(9, 1, 1, 2), "stock": rows(9, 2, 2, 2), "defaults": rows(9, 4, 4, 4)}
    table, reached = report(steps, [1.2, 1.3, 1.1], [8.0])  # type: ignore[arg-type]
    assert reached and "| 0.50 (median of 3; 0.50 to 1.00) | at most 0.6 |" in table and "| 0.25 (median" in table
    assert not report(steps, [1.1, 1.1, 1.1], [8.0])[1]  # type: ignore[arg-type]
    assert not report({**steps, "ours": rows(9, 2, 2, 2)}, [1.2], [8.0])[1]  # type: ignore[dict-item]
