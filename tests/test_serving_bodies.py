"""The longest body that may be sent holds up nobody else: its check takes no more than reading its JSON a few times."""

import asyncio
import json
import time
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from tucano.serving.app import Service, app_of
from tucano.serving.door import Door
from tucano.serving.metrics import Metrics
from tucano.settings import PipelineSettings

LONGEST = 2**20
MANY = {f"k{number}": 1 for number in range(LONGEST // 12)}
PATHS: dict[str, tuple[str, Any]] = {
    "unknown fields": ("/answer", MANY),
    "unknown fields of a chat": ("/v1/chat/completions", MANY),
    "unknown fields of a message": (
        "/v1/chat/completions",
        {"model": "tucano", "messages": [{"role": "user", "content": "oi", **MANY}]},
    ),
    "messages": ("/v1/chat/completions", {"model": "tucano", "messages": [{}] * (LONGEST // 4)}),
    "parts": ("/v1/chat/completions", {"messages": [{"role": "user", "content": [{}] * (LONGEST // 4)}]}),
    "numbers": ("/answer", {"text": [1] * (LONGEST // 3)}),
}


@pytest.mark.parametrize("path", PATHS)
def test_health_is_said_while_the_longest_body_is_looked_at(path: str) -> None:
    where, sent = PATHS[path]
    body = json.dumps(sent, separators=(",", ":")).encode()
    began = time.process_time()
    json.loads(body)
    once = time.process_time() - began
    versions: Any = SimpleNamespace(held={})
    service = Service(PipelineSettings(), None, versions, Metrics(), None)  # type: ignore[arg-type]

    async def held_up() -> tuple[int, float]:
        transport = httpx.ASGITransport(Door(app_of(service), "token", 2 * LONGEST))
        headers = {"Authorization": "Bearer token", "Content-Type": "application/json"}
        async with httpx.AsyncClient(transport=transport, base_url="http://here", headers=headers) as client:
            posting = asyncio.create_task(client.post(where, content=body))
            longest = 0.0
            while not posting.done():
                began = time.process_time()
                await asyncio.sleep(0)
                assert (await client.get("/health")).status_code == 200
                longest = max(longest, time.process_time() - began)
            return posting.result().status_code, longest

    tries = [
        asyncio.run(held_up()) for _ in range(3)
    ]  # what holds it up does so each time; a full collection does once
    assert {status for status, _ in tries} == {400} and min(longest for _, longest in tries) < 4 * once + 0.1
