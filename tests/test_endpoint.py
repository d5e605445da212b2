"""Endpoints against a real server on this machine: answers, retries, refusals, cost, and what may leave."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tucano.benchmark.endpoint import Reply, ask, bill, is_external, refuse_unless_allowed, what_leaves
from tucano.benchmark.judge import rate
from tucano.comparison.answers import Answer
from tucano.errors import UserError
from tucano.prompts import Prompt
from tucano.settings import EndpointSettings

SYSTEMS = {"push": "Escreva um push."}
PROMPTS = [Prompt(f"p{number}", "push", f"Produto: bola {number}.", "t", "synthetic", "CC0-1.0") for number in range(3)]
Response = tuple[int, dict[str, str], bytes]


def chat(text: str | None, finish: str = "stop") -> bytes:
    usage = {"prompt_tokens": 20, "completion_tokens": 5}
    return json.dumps({"choices": [{"message": {"content": text}, "finish_reason": finish}], "usage": usage}).encode()


class Server(ThreadingHTTPServer):
    """Keeps what it was asked; `answer(body, number of the request)` says what to answer."""

    asked: list[tuple[dict[str, Any], dict[str, str], str]]
    answer: Callable[[dict[str, Any], int], Response]


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((body, dict(self.headers), self.path))
        status, headers, content = self.server.answer(body, len(self.server.asked))
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server(("127.0.0.1", 0), Handler)
    made.asked, made.answer = [], lambda body, number: (200, {}, chat(f"Eco: {body['messages'][-1]['content']}"))
    thread = threading.Thread(target=made.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield made
    made.shutdown()
    made.server_close()


def endpoint(server: Server, **changes: Any) -> EndpointSettings:
    url = f"http://127.0.0.1:{server.server_port}/v1"
    return EndpointSettings(**{"name": "local", "url": url, "model": "m", "timeout_s": 2, **changes})


def answered(server: Server, prompts: list[Prompt] = PROMPTS, **changes: Any) -> list[Reply]:
    return ask(endpoint(server, **changes), prompts, SYSTEMS, 0.1, 64, 7)


def test_every_prompt_is_asked_with_its_system_prompt_and_answered_in_order(server: Server) -> None:
    replies = answered(server)
    assert [reply.text for reply in replies] == [f"Eco: Produto: bola {number}." for number in range(3)]
    assert not any(reply.failed or reply.truncated for reply in replies)
    body, headers, path = server.asked[0]
    assert path == "/v1/chat/completions" and "Authorization" not in headers
    assert body["messages"][0] == {"role": "system", "content": "Escreva um push."}
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("m", 0.1, 64)
    assert {asked["seed"] for asked, _, _ in server.asked} == {7, 8, 9}


def test_the_key_comes_from_the_environment(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", "secret")
    answered(server, PROMPTS[:1], key_env="A_KEY")
    assert server.asked[0][1]["Authorization"] == "Bearer secret"
    monkeypatch.delenv("A_KEY")
    with pytest.raises(UserError, match="needs the environment variable A_KEY, which is not set"):
        answered(server, key_env="A_KEY")


@pytest.mark.parametrize(
    "fault", [(503, {}, b""), (429, {"Retry-After": "0.01"}, b""), (200, {}, b"no json"), (200, {}, b'{"choices": []}')]
)
def test_a_passing_fault_is_tried_again(server: Server, fault: Response) -> None:
    server.answer = lambda body, number: fault if number == 1 else (200, {}, chat("enfim"))
    replies = answered(server, PROMPTS[:1])
    assert replies[0].text == "enfim"
    assert len(server.asked) == 2


def test_what_never_answers_counts_as_a_failed_and_empty_answer(server: Server) -> None:
    server.answer = lambda body, number: (500, {"Retry-After": "0"}, b"")
    replies = answered(server, PROMPTS[:1], attempts=3)
    assert (replies[0].text, replies[0].failed) == ("", True)
    assert len(server.asked) == 3


@pytest.mark.parametrize(("status", "words"), [(401, "refuses the key"), (404, "check its url and model"), (302, "refuses the request")])
def test_a_refusal_is_the_users_to_mend_and_is_not_tried_again(server: Server, status: int, words: str) -> None:
    elsewhere = {"Location": f"http://127.0.0.1:{server.server_port}/other"}
    server.answer = lambda body, number: (status, elsewhere, b"nope")
    with pytest.raises(UserError, match=words):
        answered(server, PROMPTS[:1])
    assert len(server.asked) == 1  # a redirect is not followed either


def test_an_empty_or_cut_answer_is_data(server: Server) -> None:
    server.answer = lambda body, number: (200, {}, chat(None, "length"))
    reply = answered(server, PROMPTS[:1])[0]
    assert (reply.text, reply.truncated, reply.failed) == ("", True, False)


def test_a_bill_by_hand(server: Server) -> None:
    found = bill(endpoint(server, dollars_in=1.0, dollars_out=4.0), [*answered(server), Reply("", 0, 0, 0.0, False, True)])
    assert (found.answers, found.failed, found.tokens_in, found.tokens_out) == (4, 1, 60, 15)
    assert found.dollars == pytest.approx((60 * 1 + 15 * 4) / 1e6)
    assert 0 < found.median_s <= found.slow_s


@pytest.mark.parametrize(
    ("url", "external"),
    [
        ("http://127.0.0.1:8000/v1", False),
        ("http://localhost/v1", False),
        ("http://[::1]:1/v1", False),
        ("http://10.0.0.5/v1", True),
        ("https://api.example.com/v1", True),
        ("http://localhost.example.com/v1", True),
    ],
)
def test_what_counts_as_outside(url: str, external: bool) -> None:
    assert is_external(url) == external


def test_prompts_leave_only_with_leave_and_it_is_said_what_does(server: Server) -> None:
    outside = EndpointSettings(name="cloud", url="https://api.example.com/v1", model="m")
    with pytest.raises(UserError, match=r"benchmark\.allow_external=true"):
        refuse_unless_allowed([outside], PROMPTS, 5, allowed=False)
    said = refuse_unless_allowed([outside], PROMPTS, 5, allowed=True)
    assert said is not None and "5 times each, to cloud at api.example.com: 3 push (synthetic)" in said
    assert what_leaves([endpoint(server)], PROMPTS, 5) is None


def test_a_judge_rates_blind_and_what_it_does_not_say_is_none(server: Server) -> None:
    brief = Prompt("i", "insights", "Conversão 2%.", "t", "synthetic", "CC0-1.0")
    made = [Answer("sft", "i", "insights", "served", 0, "Nota 5! Melhore.", 0.5, {}, 0.5, 0.0, 5, False)]
    made += [replace(made[0], arm="seed-1", completion="Recomendo kits."), replace(made[0], decoding="sampled")]
    server.answer = lambda body, number: (200, {}, chat("4" if "kits" in body["messages"][-1]["content"] else "não sei"))
    ratings, found = rate(endpoint(server), [brief, *PROMPTS], made, 7)
    assert ratings == {"sft": [None], "seed-1": [4]}
    assert found.answers == len(server.asked) == 2
    assert not any("sft" in json.dumps(body) or "seed-1" in json.dumps(body) for body, _, _ in server.asked)
