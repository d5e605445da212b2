"""`tucano serve` as a program: under load, through a new champion and a killed process, and drawing by a vLLM server."""

import asyncio
from pathlib import Path

import pytest

from benchmarks.serve_load import Load, events, expected, packed, prepared, registered, rows_of, serving
from benchmarks.vllm_standin import interpreter
from tucano.tracking import Tracker

TOKENS = 24


@pytest.mark.long
def test_no_answer_is_lost_doubled_or_wrong_through_a_new_champion_and_a_killed_process(tmp_path: Path) -> None:
    found = events(prepared(tmp_path, requests=600, tokens=16), clients=32)
    assert found.misdeeds == [] and len(found.got) == 600
    assert {"tucano/1", "tucano/2", "rules"} == {one.by for one in found.got}
    assert found.killed and found.starts == 3, "one for each version and one for the killed one"


@pytest.mark.long
def test_a_vllm_server_draws_for_the_champion(tmp_path: Path) -> None:
    """A stand-in for vLLM, as in tests/test_vllm.py; the weights are its alone."""
    (tmp_path / "runs").mkdir()
    tracker = Tracker.connect(None, tmp_path / "runs")
    packed(tmp_path, 1, TOKENS)
    registered(tracker, tmp_path, 1)
    rows = [row for row in rows_of(10) if row[0] != "sentiment"]
    right = expected(tmp_path, 1, rows, TOKENS)
    python = interpreter(tmp_path)
    with serving(tmp_path / "runs", "grpo.sampler=vllm", f"worker.vllm_python={python}") as served:
        load = Load(served)
        asyncio.run(load.run(rows, 4))
    assert load.faults == [] and {one.row: one.text for one in load.got} == right
