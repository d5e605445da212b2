"""Endpoints against a real server here: answers, retries, refusals, odd replies, cost, and what may leave."""

import gzip
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import tracemalloc
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from chat_api import Handler, Response, Server, chat, question, serving
from pace import slowness

from tucano.benchmark.chat import MOST_BYTES
from tucano.benchmark.endpoint import ask, bill, refuse_unless_allowed
from tucano.benchmark.judge import rate
from tucano.benchmark.replies import Reply
from tucano.comparison.answers import Answer
from tucano.errors import UserError
from tucano.prompts import Prompt
from tucano.security.addresses import is_external
from tucano.settings import EndpointSettings

SYSTEMS = {"push": "Escreva um push."}
HUNDRED = [Prompt(f"p{n}", "push", f"Produto: bola {n}.", "t", "synthetic", "CC0-1.0") for n in range(100)]
PROMPTS = HUNDRED[:3]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with serving(tmp_path / "replies") as made:
        yield made


def endpoint(server: Server, **changes: Any) -> EndpointSettings:
    return EndpointSettings(**{"name": "local", "url": server.url, "model": "m", "timeout_s": 60, **changes})


def answered(server: Server, prompts: list[Prompt] = PROMPTS, **changes: Any) -> list[Reply]:
    return ask(endpoint(server, **changes), prompts, SYSTEMS, 0.1, 64, 7, server.kept)


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
    monkeypatch.setenv("A_KEY", "sk-secret")
    server.answer = lambda body, number: (200, {}, chat("Oi, Bearer sk-secret!"))
    (reply,) = answered(server, PROMPTS[:1], key_env="A_KEY")
    assert reply.text == "Oi, Bearer ***!"
    assert server.asked[0][1]["Authorization"] == "Bearer sk-secret"
    assert "secret" not in "".join(file.read_text(encoding="utf-8") for file in server.kept.rglob("*.jsonl"))
    monkeypatch.delenv("A_KEY")
    with pytest.raises(UserError, match="needs the environment variable A_KEY, which is not set"):
        answered(server, key_env="A_KEY")


@pytest.mark.parametrize("fault", [(503, {}, b""), (429, {"Retry-After": "0.01"}, b"")])
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


@pytest.mark.parametrize(
    ("status", "words"), [(401, "refuses the key"), (404, "check its url and model"), (302, "refuses the request")]
)
def test_a_refusal_is_the_users_to_mend_and_is_not_tried_again(server: Server, status: int, words: str) -> None:
    elsewhere = {"Location": f"http://127.0.0.1:{server.server_port}/other"}
    server.answer = lambda body, number: (status, elsewhere, b"nope")
    with pytest.raises(UserError, match=words):
        answered(server, PROMPTS[:1])
    assert len(server.asked) == 1  # a redirect is not followed either


def test_a_bill_by_hand(server: Server) -> None:
    failed = Reply("", 0, 0, 0.0, False, True)
    found = bill(endpoint(server, dollars_in=1.0, dollars_out=4.0), [*answered(server), failed])
    assert (found.answers, found.failed, found.tokens_in, found.tokens_out) == (4, 1, 60, 15)
    assert found.dollars == pytest.approx((60 * 1 + 15 * 4) / 1e6)
    assert 0 < found.median_s <= found.slow_s


def test_what_counts_as_outside() -> None:
    assert not any(map(is_external, ("http://127.0.0.1:8000/v1", "http://localhost/v1", "http://[::1]:1/v1")))
    outside = ("http://10.0.0.5/v1", "https://api.example.com/v1", "http://localhost.example.com/v1")
    assert all(map(is_external, outside))


def test_prompts_leave_only_with_leave_and_it_is_said_what_does(server: Server) -> None:
    outside = EndpointSettings(name="cloud", url="https://api.example.com/v1", model="m")
    with pytest.raises(UserError, match=r"benchmark\.allow_external=true"):
        refuse_unless_allowed([outside], PROMPTS, 5, allowed=False)
    said = refuse_unless_allowed([outside], PROMPTS, 5, allowed=True)
    assert said is not None and "5 times each, to cloud at api.example.com: 3 push (synthetic)" in said
    assert refuse_unless_allowed([endpoint(server)], PROMPTS, 5, allowed=False) is None


def test_a_judge_rates_blind_and_what_it_does_not_say_is_none(server: Server) -> None:
    brief = Prompt("i", "insights", "Conversão 2%.", "t", "synthetic", "CC0-1.0")
    made = [Answer("sft", "i", "insights", "served", 0, "Nota 5! Melhore.", 0.5, {}, 0.5, 0.0, 5, False)]
    made += [replace(made[0], arm="seed-1", completion="Recomendo kits."), replace(made[0], decoding="sampled")]
    server.answer = lambda body, number: (200, {}, chat("4" if "kits" in question(body) else "não sei"))
    ratings, found = rate(endpoint(server), [brief, *PROMPTS], made, 7, server.kept)
    assert ratings == {"sft": [None], "seed-1": [4]}
    assert found.answers == len(server.asked) == 2
    assert not any("sft" in json.dumps(body) or "seed-1" in json.dumps(body) for body, _, _ in server.asked)


def content(value: object) -> bytes:
    usage = {"prompt_tokens": 20, "completion_tokens": 5}
    return json.dumps({"choices": [{"message": {"content": value}}], "usage": usage}).encode()


class Endless:
    """600 MB of a reply, and how many of them were taken."""

    taken = 0

    def __call__(self, handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(600 * 2**20))
        handler.end_headers()
        for _ in range(600):
            handler.wfile.write(b"x" * 2**20)
            self.taken += 2**20


def dripping(handler: Handler) -> None:
    """One byte every twentieth of a second, for longer than any test lasts: no single read ever times out."""
    handler.send_response(200)
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    for _ in range(100_000):
        handler.wfile.write(b" ")
        handler.wfile.flush()
        time.sleep(0.05)


def broken_off(handler: Handler) -> None:
    """It was paid for: asked again it would be so twice."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"choices": [')
    handler.wfile.flush()
    handler.connection.shutdown(socket.SHUT_RDWR)


def dripping_headers(handler: Handler) -> None:
    for byte in b"HTTP/1.1 200 OK\r\nX-Slow: " + b"x" * 50_000:
        handler.wfile.write(bytes([byte]))
        handler.wfile.flush()
        time.sleep(0.05)


ENDLESS = Endless()
ODD: dict[int, Response] = {
    3: (200, {}, b'{"choices": [{"message": {"content": "Promo\\u00e7\\u00e3o \\ud800!"}}]}'),
    11: (200, {}, content([{"type": "text", "text": "a list"}])),
    23: (200, {}, content({"text": "an object"})),
    29: (200, {}, b'{"choices": [{"message": {"content": ' + b"[" * 100_000 + b"]" * 100_000 + b"}}]}"),
    31: (200, {}, b'{"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": ' + b"9" * 5000 + b"}}"),
    37: (200, {}, content("x").replace(b"20", b"1e999").replace(b": 5", b": -5")),
    41: (200, {}, b'{"choices": [{"message": "text"}]}'),
    47: (200, {"Content-Encoding": "gzip"}, gzip.compress(content("x" * 50_000_000))),
    53: ENDLESS,
    59: dripping,
    61: (400, {}, b"content_filter"),
    67: (200, {}, content("x" * (MOST_BYTES + 1))),
    71: (200, {}, b'{"choices": [{"message": {}}]}'),
    73: broken_off,
    79: (200, {}, chat("Eco")[:-9]),
    80: (200, {"Content-Type": "text/html"}, b"<html>sign in</html>"),
    81: (200, {}, b'{"choices": []}'),
    82: (200, {}, b'{"error": {"message": "overloaded"}, "usage": {"prompt_tokens": 20, "completion_tokens": 5}}'),
    83: (200, {}, b""),
    84: (200, {}, b"\xff\xfe"),
    87: (200, {"Content-Encoding": "Identity"}, chat("Eco")),
    89: (200, {"Content-Encoding": ""}, chat("Eco")),
    90: (200, {"Content-Encoding": "deflate"}, zlib.compress(chat("Eco"))),
    91: (200, {"Content-Encoding": "identity, gzip"}, gzip.compress(chat("Eco"))),
}
FILLED = {3: "Promoção \ufffd!", 11: "a list", 37: "x", 71: "", 87: "Eco", 89: "Eco"}
"""Odd replies that hold an answer all the same."""


def test_one_odd_reply_of_each_kind_costs_its_own_answer_and_nothing_is_asked_twice(server: Server) -> None:
    numbers = {prompt.user: number for number, prompt in enumerate(HUNDRED)}
    server.answer = lambda body, _: ODD.get(numbers[question(body)], (200, {}, chat("Eco")))
    slow = slowness()  # before tracemalloc, under which its loop takes five times as long
    tracemalloc.start()
    began = time.monotonic()
    replies = answered(server, HUNDRED, timeout_s=6 * slow)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert time.monotonic() - began < 30 * slow and peak < 60 * 2**20 and ENDLESS.taken < 60 * 2**20
    for number, reply in enumerate(replies):
        if number not in ODD:
            assert (reply.text, reply.failed) == ("Eco", False)
        else:
            assert (reply.text, reply.failed) == (FILLED.get(number, ""), number not in FILLED), number
    assert [replies[number].tokens_in for number in (11, 37, 82)] == [20, 0, 20]  # paid for; nonsense is no count
    assert replies[37].tokens_out == 0
    assert max(Counter(question(body) for body, _, _ in server.asked).values()) == 1
    json.dumps([reply.text for reply in replies], ensure_ascii=False).encode()

    again = answered(server, HUNDRED, timeout_s=6 * slowness())
    assert again == replies
    twice = {numbers[question(body)] for body, _, _ in server.asked[100:]}
    assert twice == {61}, "only what was refused, and is not paid for, is asked again"


def test_headers_that_drip_end_with_the_time_for_one_answer(server: Server) -> None:
    server.answer = lambda body, number: dripping_headers
    began = time.monotonic()
    assert answered(server, PROMPTS[:1], timeout_s=1, attempts=2)[0].failed
    assert time.monotonic() - began < 6 * slowness() and len(server.asked) == 2


def test_a_refusal_of_every_request_is_a_mistake_in_the_settings(server: Server) -> None:
    server.answer = lambda body, number: (400, {}, b"no such model")
    with pytest.raises(UserError, match="no such model"):
        answered(server, HUNDRED, parallel=1)
    assert len(server.asked) == 5
    with pytest.raises(UserError, match="no such model"):
        answered(server, PROMPTS[:1])


@pytest.mark.parametrize(
    "page", [b"Bearer %b \x1b[2J" + b"x" * 10_000_000, b"." * 270 + b"%b"], ids=["a long one", "across its end"]
)
def test_an_error_page_that_repeats_the_key_is_not_repeated(
    page: bytes, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-" + 12 * "SECRET"
    monkeypatch.setenv("A_KEY", key)
    server.answer = lambda body, number: (404, {}, page % key.encode())
    with pytest.raises(UserError) as caught:
        answered(server, PROMPTS[:1], key_env="A_KEY")
    assert "SECRET" not in str(caught.value) and "\x1b" not in str(caught.value) and len(str(caught.value)) < 500


def test_a_key_that_is_no_header_is_refused_without_repeating_it(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_KEY", "hunter2\nX-Evil: 1")
    with pytest.raises(UserError, match="A_KEY holds more than a key") as caught:
        answered(server, PROMPTS[:1], key_env="A_KEY")
    assert "hunter2" not in str(caught.value) and not server.asked


ASKING = """
import sys
from pathlib import Path
from test_endpoint import HUNDRED, SYSTEMS
from tucano.benchmark.endpoint import ask
from tucano.settings import EndpointSettings
settings = EndpointSettings(name="local", url=sys.argv[1], model="m", timeout_s=60)
ask(settings, HUNDRED, SYSTEMS, 0.1, 64, 7, Path(sys.argv[2]))
"""


@pytest.mark.parametrize(
    "damaged", [b"\0\0\n", b"[]\n", b"\xff\n", b'{"request": "a", "x": 1}\n', b"[" * 99_999 + b"\n"]
)
def test_a_damaged_line_is_no_reply_and_loses_no_other(server: Server, damaged: bytes) -> None:
    server.answer = lambda body, _: (200, {}, chat("Eco"))
    answered(server, PROMPTS[:2])
    (file,) = server.kept.glob("*/replies.jsonl")
    file.write_bytes(damaged + file.read_bytes())
    assert [reply.text for reply in answered(server, PROMPTS[:2])] == ["Eco", "Eco"] and len(server.asked) == 2


def test_a_key_of_one_letter_changes_no_answer(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", "x")
    server.answer = lambda body, _: (200, {}, chat("SELECT x FROM exemplo"))
    (reply,) = answered(server, PROMPTS[:1], key_env="A_KEY")
    assert reply.text == "SELECT x FROM exemplo"


@pytest.mark.parametrize("torn", [b"", b'{"request": "abc", "te'])
def test_after_a_kill_only_what_had_no_reply_is_asked(server: Server, torn: bytes) -> None:
    """The server answers 30 requests and holds the others while the program is killed."""
    held = threading.Event()
    replied: list[str] = []

    def answer(body: dict[str, Any], number: int) -> Response:
        if number > 30:
            held.wait(900)
        else:
            replied.append(question(body))
        return (200, {}, chat(f"Eco: {question(body)}"))

    server.answer = answer
    tests = Path(__file__).parent
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tests.parent), str(tests)])}
    program = subprocess.Popen([sys.executable, "-c", ASKING, endpoint(server).url, str(server.kept)], env=environment)
    deadline = time.monotonic() + 600
    while not (files := list(server.kept.glob("*/replies.jsonl"))) or files[0].read_bytes().count(b"\n") < 30:
        assert time.monotonic() < deadline and program.poll() is None
        time.sleep(0.02)
    program.send_signal(signal.SIGKILL)
    program.wait()
    with files[0].open("ab") as file:
        file.write(torn)
    held.set()
    server.asked.clear()
    server.answer = lambda body, _: (200, {}, chat(f"Eco: {question(body)}"))
    replies = answered(server, HUNDRED)
    assert [reply.text for reply in replies] == [f"Eco: {prompt.user}" for prompt in HUNDRED]
    asked = {question(body) for body, _, _ in server.asked}  # once more what the killed program had on its way
    assert len(asked) == 70 and not asked & {*replied}


def test_other_questions_models_and_apis_are_asked(server: Server) -> None:
    answered(server, PROMPTS)
    assert len(server.asked) == 3
    answered(server, PROMPTS)
    answered(server, PROMPTS, name="renamed", dollars_in=1.0, attempts=2)  # what the reply does not depend on
    assert len(server.asked) == 3
    answered(server, PROMPTS, model="other")
    ask(endpoint(server), PROMPTS, SYSTEMS, 0.2, 64, 7, server.kept)
    ask(endpoint(server), PROMPTS, SYSTEMS, 0.1, 64, 8, server.kept)
    assert len(server.asked) == 3 + 3 + 3 + 3


def test_two_benchmarks_at_once_pay_once(server: Server) -> None:
    threads = [threading.Thread(target=answered, args=(server, HUNDRED)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(server.asked) == 100
