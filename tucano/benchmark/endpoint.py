"""Arms behind an OpenAI-compatible chat API, with retries, latency and cost. Prompts leave the machine only with leave
to do so.

An API is not trusted: what it sends is bounded in bytes, in seconds and in type, and one odd reply costs one answer.
"""

import asyncio
import json
import logging
import os
import re
import ssl
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

import httpx
import numpy as np

from tucano.benchmark.replies import Ledger, Reply, opened
from tucano.errors import UserError
from tucano.masking import NOT_MASKED
from tucano.prompts import Prompt, messages
from tucano.security.addresses import is_external
from tucano.security.printable import printable
from tucano.settings.benchmark import EndpointSettings

TRANSIENT = {408, 409, 425, 429, 500, 502, 503, 504, 529}
OF_ONE_REQUEST = {400, 413, 422, 451}
"""Refusals that one text can cause, as a content filter's do."""
FEWEST_REFUSALS = 5
"""So many of them, before any reply, are a mistake in the settings."""
LONGEST_PAUSE_S = 30.0
MOST_BYTES = 2 * 2**20
"""Of a reply; 8,000 tokens have less than a tenth of that."""
MOST_TOKENS = 10**9
FEWEST_KEY_CHARACTERS = 8
"""A shorter key, as servers on this machine get (`x`), is no secret and stands in any answer."""
SHOWN_BYTES = 300
"""Of what is said with a refusal."""

log = logging.getLogger(__name__)

Request = Mapping[str, Any]
"""The JSON of a request."""


@dataclass(frozen=True, slots=True)
class Bill:
    """What an endpoint's answers cost: dollars, tokens, failed answers, median and 95th percentile of the latency in
    seconds.
    """

    answers: int
    failed: int
    tokens_in: int
    tokens_out: int
    dollars: float
    median_s: float
    slow_s: float


class NoAnswer(Exception):
    """No reply has begun; one may the next time. `pause_s` is what the server asks for."""

    def __init__(self, reason: str, pause_s: float | None = None) -> None:
        super().__init__(reason)
        self.pause_s = pause_s


class Refused(Exception):
    """The endpoint does not take this one request: nothing was generated, nothing is paid for."""


class Unusable(Exception):
    """A reply that has begun, so that it is paid for, and that cannot be used: asking again would cost again."""

    def __init__(self, reason: str, tokens_in: int = 0, tokens_out: int = 0) -> None:
        super().__init__(reason)
        self.tokens = tokens_in, tokens_out


def what_leaves(
    endpoints: Sequence[EndpointSettings], prompts: Sequence[Prompt], times: int, with_answers: bool = False
) -> str | None:
    """A paragraph that lists what goes where, and how often each prompt; None where nothing leaves the machine."""
    outside = [endpoint for endpoint in endpoints if is_external(endpoint.url)]
    if not outside:
        return None
    counts: dict[str, int] = {}
    for prompt in prompts:
        counts[f"{prompt.task} ({prompt.source})"] = counts.get(f"{prompt.task} ({prompt.source})", 0) + 1
    texts = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
    places = ", ".join(f"{endpoint.name} at {urlsplit(endpoint.url).hostname}" for endpoint in outside)
    answers = " and the answers to judge, without their arms' names" if with_answers else ""
    return (
        f"These prompts leave this machine, {times} times each, to {places}: {texts}. Sent are the system prompt and"
        f" the text shown to a model{answers}, with personal data masked ({NOT_MASKED}); no reference answers, no"
        " ratings, no results."
    )


def refuse_unless_allowed(
    endpoints: Sequence[EndpointSettings],
    prompts: Sequence[Prompt],
    times: int,
    allowed: bool,
    with_answers: bool = False,
) -> str | None:
    """What leaves, if it may; UserError if it may not."""
    leaving = what_leaves(endpoints, prompts, times, with_answers)
    if leaving and not allowed:
        raise UserError(
            f"{leaving} Allow it with --set benchmark.allow_external=true, or take the endpoint out of"
            " benchmark.endpoints."
        )
    return leaving


def key_of(endpoint: EndpointSettings) -> str | None:
    """The key from the environment; None where the endpoint needs none. UserError where the variable does not hold
    one.
    """
    if endpoint.key_env is None:
        return None
    key = os.environ.get(endpoint.key_env, "").strip()
    if not key:
        raise UserError(
            f"endpoint {endpoint.name} needs the environment variable {endpoint.key_env}, which is not set; export it"
            " first"
        )
    if not (key.isascii() and key.isprintable()):
        raise UserError(
            f"endpoint {endpoint.name}: {endpoint.key_env} holds more than a key (spaces, line breaks or accents);"
            " export it anew"
        )
    return key


def ask(
    endpoint: EndpointSettings,
    prompts: Sequence[Prompt],
    system_prompts: dict[str, str],
    temperature: float,
    max_tokens: int,
    seed: int,
    kept: Path,
) -> list[Reply]:
    """One reply per prompt, in order, `endpoint.parallel` at a time; those in the folder `kept` are not asked for, new
    ones are put there.

    UserError where the endpoint refuses the requests themselves.
    """
    key = key_of(endpoint)
    requests = [
        {
            "model": endpoint.model,
            "messages": messages(prompt, system_prompts),
            "temperature": temperature,
            "max_tokens": max_tokens,
            "seed": seed + number,
        }
        for number, prompt in enumerate(prompts)
    ]
    with opened(kept, endpoint.url, endpoint.model) as ledger:
        return asyncio.run(_asked(endpoint, key, requests, ledger))


async def _asked(
    endpoint: EndpointSettings, key: str | None, requests: Sequence[Request], ledger: Ledger
) -> list[Reply]:
    client = httpx.AsyncClient(
        headers={"Accept-Encoding": "identity", **({"Authorization": f"Bearer {key}"} if key else {})},
        trust_env=is_external(endpoint.url),  # proxies
        verify=ssl.create_default_context(),
        follow_redirects=False,  # prompts and key go to the host that was named and to no other
        timeout=endpoint.timeout_s,
        limits=httpx.Limits(max_connections=endpoint.parallel),
    )
    async with client:
        conversation = _Conversation(endpoint, key, client, ledger, asyncio.Semaphore(endpoint.parallel))
        try:
            async with asyncio.TaskGroup() as group:
                answers = [group.create_task(conversation.answer(request)) for request in requests]
        except BaseExceptionGroup as failed:
            raise failed.exceptions[0] from None
    if conversation.refusals and not ledger.known:
        raise UserError(conversation.refusals[0])
    return [answer.result() for answer in answers]


@dataclass
class _Conversation:
    """One endpoint while it is asked, and the sentences about requests that it did not take."""

    endpoint: EndpointSettings
    key: str | None
    client: httpx.AsyncClient
    ledger: Ledger
    slots: asyncio.Semaphore
    refusals: list[str] = field(default_factory=list)

    async def answer(self, request: Request) -> Reply:
        """The reply that is kept, or a new one, kept before this returns; one that nothing came of is empty and is not
        kept.
        """
        kept = self.ledger.get(request)
        if kept is not None:
            return kept
        async with self.slots:
            try:
                reply = await self._patiently(request)
            except (NoAnswer, Refused) as fault:
                log.warning("endpoint %s gave no answer: %s", self.endpoint.name, fault)
                return Reply("", 0, 0, 0.0, truncated=False, failed=True)
            self.ledger.add(request, reply)
            return reply

    async def _patiently(self, request: Request) -> Reply:
        """The reply of the first attempt that brings one; an empty one where it cannot be used."""
        for attempt in range(self.endpoint.attempts):
            began = time.monotonic()
            try:
                return _reply(await self._post(request), time.monotonic() - began)
            except Unusable as odd:
                log.warning("endpoint %s gave an answer that cannot be used: %s", self.endpoint.name, odd)
                return Reply("", *odd.tokens, time.monotonic() - began, truncated=False, failed=True)
            except NoAnswer as fault:
                last = fault
            if attempt + 1 < self.endpoint.attempts:
                await asyncio.sleep(_pause(attempt, last.pause_s))
        raise last

    async def _post(self, request: Request) -> bytes:
        """The body of a reply, within `timeout_s` from the first byte sent to the last received."""
        begun = False
        url = f"{self.endpoint.url.rstrip('/')}/chat/completions"
        try:
            async with (
                asyncio.timeout(self.endpoint.timeout_s),
                self.client.stream("POST", url, json=request) as response,
            ):
                begun = response.status_code == HTTPStatus.OK
                if not begun:
                    await self._refuse(response)
                body = await _body(response)
                # some repeat what they were sent
                return (
                    body.replace(self.key.encode(), b"***")
                    if self.key and len(self.key) >= FEWEST_KEY_CHARACTERS
                    else body
                )
        except (TimeoutError, httpx.TimeoutException):
            if begun:
                raise Unusable(f"it was not complete after {self.endpoint.timeout_s:g} s") from None
            raise NoAnswer(f"none within {self.endpoint.timeout_s:g} s") from None
        except httpx.HTTPError as error:
            if begun:
                raise Unusable(f"it broke off ({type(error).__name__})") from None
            raise NoAnswer(f"{type(error).__name__} {error}") from None

    async def _refuse(self, response: httpx.Response) -> NoReturn:
        """NoAnswer for what may pass, Refused for what this one text may have caused, UserError for what a person has
        to mend.
        """
        status = response.status_code
        if status in TRANSIENT:
            raise NoAnswer(f"status {status}", _seconds(response.headers.get("Retry-After")))
        said = await _up_to(response, SHOWN_BYTES + len(self.key or ""))
        self.refusals.append(_refusal(self.endpoint, status, said, self.key))
        hopeless = not self.ledger.known and len(self.refusals) >= FEWEST_REFUSALS
        if status not in OF_ONE_REQUEST or hopeless:
            raise UserError(self.refusals[-1])
        raise Refused(self.refusals[-1])


async def _body(response: httpx.Response) -> bytes:
    """Unusable beyond `MOST_BYTES`, and where it could become more than it is."""
    encodings = {name.strip().lower() for name in response.headers.get("Content-Encoding", "").split(",")}
    if not encodings <= {"", "identity"}:
        raise Unusable("it is compressed, which was not asked for")
    content = await _up_to(response, MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise Unusable(f"it has more than {MOST_BYTES} bytes")
    return content


async def _up_to(response: httpx.Response, most: int) -> bytes:
    """Its first bytes; the others are never read."""
    content = bytearray()
    async for part in response.aiter_raw():
        content += part
        if len(content) >= most:
            break
    return bytes(content[:most])


def _reply(content: bytes, seconds: float) -> Reply:
    """Unusable for what is no reply of a chat API, or one with no text in it."""
    try:
        answer = json.loads(content)
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise Unusable(f"it is no JSON ({error})") from None
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits, 100,000 brackets
        raise Unusable(f"its JSON cannot be read ({type(error).__name__})") from None
    answer = answer if isinstance(answer, dict) else {}
    choices = answer.get("choices")
    usage = answer.get("usage")
    tokens = _tokens(usage, "prompt_tokens"), _tokens(usage, "completion_tokens")
    if not (isinstance(choices, list) and choices and isinstance(choices[0], dict)):
        raise Unusable("it has no choices", *tokens)
    message = choices[0].get("message")
    if not isinstance(message, dict):
        raise Unusable("it has no message", *tokens)
    text = message.get("content")
    if not (text is None or isinstance(text, str)):
        raise Unusable(f"its content is no text ({type(text).__name__})", *tokens)
    return Reply(_whole(text or ""), *tokens, seconds, choices[0].get("finish_reason") == "length", failed=False)


def _tokens(usage: Any, name: str) -> int:
    count = usage.get(name, 0) if isinstance(usage, dict) else 0
    return count if type(count) is int and 0 <= count <= MOST_TOKENS else 0


def _whole(text: str) -> str:
    """`text` with U+FFFD for lone surrogates, which no file takes."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _seconds(retry_after: str | None) -> float | None:
    return float(retry_after) if retry_after and re.fullmatch(r"\d{1,6}(\.\d{1,6})?", retry_after) else None


def _pause(attempt: int, asked_s: float | None) -> float:
    """Seconds before the next attempt: what the server asks for, else 0.5, 1, 2, ...; at most half a minute."""
    return min(LONGEST_PAUSE_S, 0.5 * 2**attempt if asked_s is None else asked_s)


def _refusal(endpoint: EndpointSettings, status: int, body: bytes, key: str | None) -> str:
    if status in (401, 403):
        return (
            f"endpoint {endpoint.name} refuses the key ({status}); check the environment variable"
            f" {endpoint.key_env or 'that key_env should name'}"
        )
    said = " ".join(printable(body.decode(errors="replace")).split())
    said = (said.replace(key, "***") if key else said)[:SHOWN_BYTES]
    return (
        f"endpoint {endpoint.name} refuses the request ({status}: {said}); check its url and model in"
        " benchmark.endpoints"
    )


def bill(endpoint: EndpointSettings, replies: Sequence[Reply]) -> Bill:
    tokens_in = sum(reply.tokens_in for reply in replies)
    tokens_out = sum(reply.tokens_out for reply in replies)
    times = [reply.seconds for reply in replies if not reply.failed]
    median, slow = np.quantile(times, [0.5, 0.95]) if times else (0.0, 0.0)
    dollars = (tokens_in * endpoint.dollars_in + tokens_out * endpoint.dollars_out) / 1e6
    return Bill(len(replies), len(replies) - len(times), tokens_in, tokens_out, dollars, float(median), float(slow))
