"""One request to an OpenAI-compatible chat API and its reply.

An API is not trusted: what it sends is bounded in bytes, in seconds and in type, and it is never followed elsewhere.
"""

import asyncio
import json
import os
import re
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, NoReturn, TypeVar

import httpx

from tucano.benchmark.replies import Reply
from tucano.errors import UserError
from tucano.security.addresses import is_external
from tucano.security.printable import printable
from tucano.settings.endpoint import EndpointSettings

TRANSIENT = {408, 409, 425, 429, 500, 502, 503, 504, 529}
MOST_BYTES = 2 * 2**20
"""Of a reply; 8,000 tokens have less than a tenth of that."""
MOST_TOKENS = 10**9
FEWEST_KEY_CHARACTERS = 8
"""A shorter key, as servers on this machine get (`x`), is no secret and stands in any answer."""
SHOWN_BYTES = 300
"""Of what is said with a refusal."""
LONGEST_PAUSE_S = 30.0

T = TypeVar("T")


Request = Mapping[str, Any]
"""The JSON of a request."""


class NoAnswer(Exception):
    """No reply has begun; one may the next time. `pause_s` is what the server asks for."""

    def __init__(self, reason: str, pause_s: float | None = None) -> None:
        super().__init__(reason)
        self.pause_s = pause_s


class Refused(Exception):
    """The endpoint does not take a request, and says so with `status`: nothing was generated, nothing is paid for."""

    def __init__(self, sentence: str, status: int) -> None:
        super().__init__(sentence)
        self.status = status


class Unusable(Exception):
    """A reply that has begun, so that it is paid for, and that cannot be used: asking again would cost again."""

    def __init__(self, reason: str, tokens_in: int = 0, tokens_out: int = 0) -> None:
        super().__init__(reason)
        self.tokens = tokens_in, tokens_out


class BrokenOff(Unusable):
    """A reply that has begun and was not complete in time, or whose connection was lost."""


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


def client_of(endpoint: EndpointSettings, key: str | None) -> httpx.AsyncClient:
    """For requests to one endpoint; prompts and key go to the host that was named and to no other."""
    return httpx.AsyncClient(
        headers={"Accept-Encoding": "identity", **({"Authorization": f"Bearer {key}"} if key else {})},
        trust_env=is_external(endpoint.url),  # proxies
        verify=ssl.create_default_context(),
        follow_redirects=False,
        timeout=endpoint.timeout_s,
        limits=httpx.Limits(max_connections=endpoint.parallel),
    )


@dataclass(frozen=True)
class Chat:
    """One endpoint with the client that it is asked through."""

    endpoint: EndpointSettings
    key: str | None
    client: httpx.AsyncClient

    async def reply(self, request: Request) -> Reply:
        """One attempt. NoAnswer for what may pass, Refused for what asking again does not mend, Unusable for a reply
        that is none.
        """
        began = time.monotonic()
        body = await self.body(request, "chat/completions")
        return _reply(body, time.monotonic() - began)

    async def body(self, request: Request, path: str, most: int = MOST_BYTES) -> bytes:
        """The body of a reply, of at most so many bytes, within `timeout_s` from the first byte sent to the last
        received. Raises as `reply`, and BrokenOff where it began and did not end.
        """
        begun = False
        url = f"{self.endpoint.url.rstrip('/')}/{path}"
        try:
            async with (
                asyncio.timeout(self.endpoint.timeout_s),
                self.client.stream("POST", url, json=request) as response,
            ):
                begun = response.status_code == HTTPStatus.OK
                if not begun:
                    await self._raise(response)
                body = await _body(response, most)
                # some repeat what they were sent
                return (
                    body.replace(self.key.encode(), b"***")
                    if self.key and len(self.key) >= FEWEST_KEY_CHARACTERS
                    else body
                )
        except (TimeoutError, httpx.TimeoutException):
            if begun:
                raise BrokenOff(f"it was not complete after {self.endpoint.timeout_s:g} s") from None
            raise NoAnswer(f"none within {self.endpoint.timeout_s:g} s") from None
        except httpx.HTTPError as error:
            if begun:
                raise BrokenOff(f"it broke off ({type(error).__name__})") from None
            raise NoAnswer(f"{type(error).__name__} {error}") from None

    async def _raise(self, response: httpx.Response) -> NoReturn:
        status = response.status_code
        if status in TRANSIENT:
            raise NoAnswer(f"status {status}", _seconds(response.headers.get("Retry-After")))
        said = await _up_to(response, SHOWN_BYTES + len(self.key or ""))
        raise Refused(_refusal(self.endpoint, status, said, self.key), status)


async def patiently(endpoint: EndpointSettings, attempt: Callable[[], Awaitable[T]]) -> T:
    """What the first attempt brings, of as many as the settings allow; NoAnswer where none brings anything. In between
    are as many seconds as the server asks for, else 0.5, 1, 2, ...; at most half a minute.
    """
    for number in range(endpoint.attempts):
        try:
            return await attempt()
        except NoAnswer as fault:
            last = fault
        if number + 1 < endpoint.attempts:
            await asyncio.sleep(min(LONGEST_PAUSE_S, 0.5 * 2**number if last.pause_s is None else last.pause_s))
    raise last


async def _body(response: httpx.Response, most: int) -> bytes:
    """Unusable beyond `most` bytes, and where it could become more than it is."""
    encodings = {name.strip().lower() for name in response.headers.get("Content-Encoding", "").split(",")}
    if not encodings <= {"", "identity"}:
        raise Unusable("it is compressed, which was not asked for")
    content = await _up_to(response, most + 1)
    if len(content) > most:
        raise Unusable(f"it has more than {most} bytes")
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
    """Unusable for what is no reply of a chat API, or one with no text in it. NoAnswer for an error with status 200
    that costs nothing: some APIs say 200 before they have asked whom they pass requests on to.
    """
    answer = read_json(content)
    choices = answer.get("choices")
    usage = answer.get("usage")
    tokens = _tokens(usage, "prompt_tokens"), _tokens(usage, "completion_tokens")
    if not choices and answer.get("error") and not any(tokens):
        raise NoAnswer(f"status 200 with an error: {printable(str(answer['error']))[:SHOWN_BYTES]}")
    if not (isinstance(choices, list) and choices and isinstance(choices[0], dict)):
        raise Unusable("it has no choices", *tokens)
    if choices[0].get("finish_reason") == "error":
        raise Unusable("it broke off with an error", *tokens)
    message = choices[0].get("message")
    if not isinstance(message, dict):
        raise Unusable("it has no message", *tokens)
    text = _text(message.get("content"))
    if not (text is None or isinstance(text, str)):
        raise Unusable(f"its content is no text ({type(text).__name__})", *tokens)
    return Reply(_whole(text or ""), *tokens, seconds, choices[0].get("finish_reason") == "length", failed=False)


def read_json(content: bytes) -> dict[str, Any]:
    """The object that a reply is; empty where it is another value, Unusable where it is no JSON."""
    try:
        answer = json.loads(content)
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise Unusable(f"it is no JSON ({error})") from None
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits, 100,000 brackets
        raise Unusable(f"its JSON cannot be read ({type(error).__name__})") from None
    return answer if isinstance(answer, dict) else {}


def _text(content: Any) -> Any:
    """Some answer in parts, the thought beside the text: the texts alone. What is not in parts stays as it is."""
    parts = content if isinstance(content, list) else []
    texts = [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]
    return "".join(texts) if texts else content


def _tokens(usage: Any, name: str) -> int:
    count = usage.get(name, 0) if isinstance(usage, dict) else 0
    return count if type(count) is int and 0 <= count <= MOST_TOKENS else 0


def _whole(text: str) -> str:
    """`text` with U+FFFD for lone surrogates, which no file takes."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _seconds(retry_after: str | None) -> float | None:
    return float(retry_after) if retry_after and re.fullmatch(r"\d{1,6}(\.\d{1,6})?", retry_after) else None


def _refusal(endpoint: EndpointSettings, status: int, body: bytes, key: str | None) -> str:
    if status in (401, 403):
        return (
            f"endpoint {endpoint.name} refuses the key ({status}); check the environment variable"
            f" {endpoint.key_env or 'that key_env should name'}"
        )
    said = " ".join(printable(body.decode(errors="replace")).split())
    said = (said.replace(key, "***") if key else said)[:SHOWN_BYTES]
    mend = (
        "its account" if status == HTTPStatus.PAYMENT_REQUIRED else "its url and model, and how long an answer may be"
    )
    return f"endpoint {endpoint.name} refuses the request ({status}: {said}); check {mend}"
