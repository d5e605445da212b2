"""`tucano serve` as a program: under load, through a new champion and a killed process, and beside vLLM's own server."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from benchmarks.serve_load import (
    SYSTEMS,
    Load,
    Served,
    events,
    expected,
    packed,
    prepared,
    registered,
    rows_of,
    serving,
)
from benchmarks.vllm_standin import interpreter
from tucano.files.models import ServedFiles
from tucano.tracking import Tracker
from tucano.training.samplers import guardian

REAL = os.environ.get("TUCANO_VLLM_PYTHON")
TOKENS = 24
CLIENT = Path(__file__).parent.parent / "benchmarks" / "serve_client.py"


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


@pytest.mark.vllm
@pytest.mark.skipif(not REAL, reason="no TUCANO_VLLM_PYTHON")
def test_one_client_gets_the_same_from_us_and_from_vllm(tmp_path: Path) -> None:
    """The `openai` package comes with vLLM, so the client runs in that interpreter."""
    (tmp_path / "runs").mkdir()
    tracker = Tracker.connect(None, tmp_path / "runs")
    packed(tmp_path, 1, TOKENS)
    registered(tracker, tmp_path, 1)
    rows = [row for row in rows_of(70) if row[0] != "sentiment"][:50]
    chats = [[{"role": "system", "content": SYSTEMS[task]}, {"role": "user", "content": text}] for task, text in rows]
    with serving(tmp_path / "runs") as served:
        ours = ask(served.url, served.token, chats)
        assert httpx.post(f"{served.url}/v1/chat/completions", json={}).status_code == 401
    with vllm(ServedFiles(tmp_path / "1" / "data").model, tmp_path) as theirs_at:
        theirs = ask(theirs_at.url, theirs_at.token, chats)
    right = expected(tmp_path, 1, rows, TOKENS)
    assert ours["answers"] == [right[row] for row in rows] == theirs["answers"]
    assert ours["without the key"] == theirs["without the key"] == 401
    assert "tucano" in ours["models"] and "tucano" in theirs["models"]


def ask(url: str, key: str, chats: list[list[dict[str, str]]]) -> dict[str, Any]:
    command = [str(REAL), str(CLIENT), f"{url}/v1", "tucano", str(TOKENS)]
    environment = {"PATH": os.environ["PATH"], "OPENAI_API_KEY": key}
    done = subprocess.run(
        command, input=json.dumps(chats), env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


@contextmanager
def vllm(model: Path, place: Path) -> Iterator[Served]:
    """vLLM's own server over a version's weights, as docs/serving.md starts it."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    folder, log, key = place / "vllm", place / "vllm.txt", "key-of-the-test"
    folder.mkdir()
    command = [
        *(str(REAL), "-m", "vllm.entrypoints.openai.api_server", "--host", "127.0.0.1", "--port", str(port)),
        *("--model", str(model), "--served-model-name", "tucano", "--dtype", "float32"),
        *("--max-model-len", "512", "--generation-config", "vllm"),
    ]
    own = {"VLLM_API_KEY": key, "VLLM_NO_USAGE_STATS": "1", "VLLM_CPU_KVCACHE_SPACE": "1", "DO_NOT_TRACK": "1"}
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ} | own
    with log.open("wb") as file:
        guarded = [sys.executable, "-I", str(guardian.__file__), str(folder), *command]
        process = subprocess.Popen(guarded, stdin=subprocess.PIPE, stdout=file, stderr=file, env=environment)
    served = Served(f"http://127.0.0.1:{port}", key, process.pid, log)
    assert process.stdin is not None
    try:
        deadline = time.monotonic() + 600
        while not _answers(served.url):
            assert process.poll() is None and time.monotonic() < deadline, log.read_text(encoding="utf-8")[-3000:]
            time.sleep(0.5)
        yield served
    finally:
        process.stdin.close()
        process.wait(600)


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health").status_code == httpx.codes.OK
    except httpx.TransportError:
        return False
