"""What clients of OpenAI's API send without meaning anything by it, and what is said of requests that mean nothing."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tucano.errors import UserError
from tucano.profiles import validated
from tucano.serving import door
from tucano.serving.answers import Answer, Ask
from tucano.serving.app import Service, app_of
from tucano.serving.command import serve
from tucano.serving.door import Door
from tucano.serving.metrics import Metrics
from tucano.serving.request_log import FILE, RequestLog
from tucano.serving.routes import Routes
from tucano.serving.versions import Versions

TOKEN = "x" * 43
CHAT = "/v1/chat/completions"
CHATTED = {"model": "tucano:push", "messages": [{"role": "user", "content": "oi"}]}
JSON = {"Content-Type": "application/json"}


class Server:
    """An app whose only route says what it was asked for."""

    def __init__(self, place: Path) -> None:
        self.place, self.asked = place, list[Ask]()
        self.refused: list[int] = []
        self.says, self.serving = "Corre: fone com frete grátis!", dict[str, Any]()

    def send(self, method: str, path: str, **more: Any) -> httpx.Response:
        return asyncio.run(self._sent(method, path, **more))

    async def _sent(self, method: str, path: str, **more: Any) -> httpx.Response:
        settings = validated({"serving": {"routes": {"push": ["rules"]}, **self.serving}})

        async def answer(ask: Ask) -> Answer:
            self.asked.append(ask)
            return Answer(self.says, "rules")

        routes = Routes(settings.serving, {"rules": answer}, Metrics())
        versions = Versions(settings, None, self.place, [], Metrics())  # type: ignore[arg-type]
        with RequestLog(self.place, settings.serving, Metrics()) as log:
            app = Door(app_of(Service(settings, routes, versions, Metrics(), log)), TOKEN, 10_000, self.refused.append)
            transport = httpx.ASGITransport(app)
            headers = {"Authorization": f"Bearer {TOKEN}"} | more.pop("headers", {})
            async with httpx.AsyncClient(transport=transport, base_url="http://server", headers=headers) as client:
                return await client.request(method, path, **more)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    yield Server(tmp_path)


def said(reply: httpx.Response) -> str:
    return str(reply.json()["error"]["message"])


def test_of_two_limits_the_smaller_one_holds(server: Server) -> None:
    for limits in ((7, 90), (90, 7), (None, 7), (7, None)):
        named = dict(zip(("max_tokens", "max_completion_tokens"), limits, strict=True))
        assert server.send("POST", CHAT, json={**CHATTED, **named}).status_code == 200
    assert [ask.max_tokens for ask in server.asked] == [7, 7, 7, 7]


NOTHING: dict[str, Any] = {
    "n": 1, "stream": False, "stream_options": None, "stop": None, "top_p": 1.0, "presence_penalty": 0,
    "frequency_penalty": 0.0, "logit_bias": {}, "logprobs": False, "top_logprobs": None,
    "response_format": {"type": "text"}, "tools": [], "tool_choice": "none", "parallel_tool_calls": True,
    "function_call": None, "top_k": -1, "min_p": 0, "repetition_penalty": 1.0, "verbosity": "medium",
    "metadata": {}, "seed": None, "max_tokens": None, "temperature": None, "user": None, "store": None,
}  # fmt: skip


def test_what_asks_for_nothing_is_taken(server: Server) -> None:
    assert server.send("POST", CHAT, json={**CHATTED, **NOTHING}).status_code == 200


@pytest.mark.parametrize(
    ("field", "value", "mend"),
    [
        ("n", 2, "n is not supported here; it may be 1, or left out"),
        ("n", True, "n is not supported here; it may be 1, or left out"),
        ("stream", 1, "stream: Input should be a valid boolean"),
        ("stream_options", {"include_usage": True}, "stream_options: it is for streams"),
        ("stop", ["\n"], "stop is not supported here; it may be [], or left out"),
        ("response_format", {"type": "yaml"}, "response_format.type: Input should be 'text', 'json_object'"),
        ("response_format", {"type": "json_schema"}, "response_format.json_schema.schema is no JSON schema"),
        ("seed", 2**63, "seed: Input should be less than"),
        ("seed", 1.5, "seed: Input should be a valid integer"),
        ("wish", None, "wish is not supported here; leave it out"),
        ("top_k", 5, "top_k is not supported here; it may be -1 or 0, or left out"),
        ("max_tokens", True, "max_tokens: Input should be a valid integer"),
        ("max_completion_tokens", 0, "max_completion_tokens: "),
        ("temperature", "1", "temperature: Input should be a valid number"),
        ("store", "yes", "store: Input should be a valid boolean"),
    ],
)
def test_what_asks_for_something_is_refused_with_its_mend(server: Server, field: str, value: Any, mend: str) -> None:
    reply = server.send("POST", CHAT, json={**CHATTED, field: value})
    assert reply.status_code == 400 and mend in said(reply)
    assert server.asked == []


def test_an_answer_that_is_no_example_of_its_task_is_not_kept(server: Server) -> None:
    """Monitoring and corrections read text and answer as one of the task."""
    server.says, server.serving = '{"a": 1}', {"log_requests": True}
    talk = [{"role": role, "content": role} for role in ("user", "assistant", "user")]
    for more in ({"messages": talk, "seed": 7}, {"response_format": {"type": "json_object"}}, {}):
        assert server.send("POST", CHAT, json={**CHATTED, **more}).status_code == 200
    (line,) = (server.place / FILE).read_text(encoding="utf-8").splitlines()
    assert json.loads(line)["text"] == "oi"
    first = server.asked[0]
    assert (first.earlier, first.text, first.seed) == (("user", "assistant"), "user", 7)


def test_a_model_can_be_asked_for_by_its_name(server: Server) -> None:
    listed = server.send("GET", "/v1/models").json()["data"]
    for row in listed:  # each request has an app of its own here, which begins when it is asked
        assert server.send("GET", f"/v1/models/{row['id']}").json() | {"created": row["created"]} == row
    for name in ("gpt-4o", "tucano:", "tucano:push:push", "tucano:poesia"):
        reply = server.send("GET", f"/v1/models/{name}")
        assert reply.status_code == 404 and f"no model {name}" in said(reply)
        assert f"no model {name}" in said(server.send("POST", CHAT, json={**CHATTED, "model": name}))


@pytest.mark.parametrize(
    ("content", "headers", "mend"),
    [
        (b'{"text": "oi"}', {}, "with the header Content-Type: application/json"),
        (b'{"text": "oi"}', {"Content-Type": "text/plain"}, "with the header Content-Type: application/json"),
        (b"", JSON, "no JSON object; send one"),
        (b"[]", JSON, "no JSON object; send one"),
        (b"null", JSON, "no JSON object; send one"),
        (b'{"text": "\xe9"}', JSON, "it is not in UTF-8"),
        (b'{"text": ', JSON, "the request is no JSON: "),
        (b"[" * 9000, JSON, "nested too deeply"),
        (b'{"text": ' + b"9" * 5000 + b"}", JSON, "a number of the request's JSON is too long"),
    ],
)
def test_a_body_that_is_none_has_its_mend(server: Server, content: bytes, headers: dict[str, str], mend: str) -> None:
    for path in ("/answer", CHAT):
        reply = server.send("POST", path, content=content, headers=headers)
        assert reply.status_code == 400 and mend in said(reply), said(reply)


def test_a_body_whose_length_is_said_twice_or_that_is_packed_is_refused(server: Server) -> None:
    twice = {"Content-Length": "14", "Transfer-Encoding": "chunked"}
    reply = server.send("POST", "/answer", content=b'{"text": "oi"}', headers=JSON | twice)
    assert reply.status_code == 400 and "says its length twice" in said(reply)
    for plain in ("", "Identity"):
        as_it_is = JSON | {"Content-Encoding": plain}
        assert server.send("POST", "/answer", content=b'{"text": "oi", "task": "push"}', headers=as_it_is).is_success
    packed = server.send("POST", "/answer", content=b"x", headers=JSON | {"Content-Encoding": "gzip"})
    assert packed.status_code == 415 and "without Content-Encoding" in said(packed)


def test_more_requests_than_may_be_here_are_told_to_come_again(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "MOST_REQUESTS", 0)
    reply = server.send("POST", "/answer", json={"text": "oi", "task": "push"})
    assert reply.status_code == 503 and "try again in a moment" in said(reply)


def test_a_storage_without_runs_is_refused_and_stays_as_it_is(tmp_path: Path) -> None:
    for storage in (tmp_path / "none", tmp_path):
        with pytest.raises(UserError, match="holds no runs, so no model is registered there"):
            serve(validated({"storage": str(storage)}), "127.0.0.1", 0)
    assert list(tmp_path.iterdir()) == []
