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
