"""Arms behind an OpenAI-compatible chat API, with retries, latency and cost. Prompts leave the machine only with leave to do so."""

import http.client
import ipaddress
import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from tucano.errors import UserError
from tucano.prompts import Prompt, messages
from tucano.settings.benchmark import EndpointSettings

TRANSIENT = {408, 409, 425, 429, 500, 502, 503, 504, 529}
LONGEST_PAUSE_S = 30.0


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of an endpoint. `seconds`: of the attempt that succeeded; `failed`: all attempts did not, and the text is empty."""

    text: str
    tokens_in: int
    tokens_out: int
    seconds: float
    truncated: bool
    failed: bool


@dataclass(frozen=True, slots=True)
class Bill:
    """What an endpoint's answers cost: dollars, tokens, failed answers, median and 95th percentile of the latency in seconds."""

    answers: int
    failed: int
    tokens_in: int
    tokens_out: int
    dollars: float
    median_s: float
    slow_s: float


def is_external(url: str) -> bool:
    """Whether requests to a URL leave this machine: anything but localhost and loopback addresses."""
    host = urlsplit(url).hostname or ""
    try:
        return not ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host != "localhost"


def what_leaves(endpoints: Sequence[EndpointSettings], prompts: Sequence[Prompt], times: int, with_answers: bool = False) -> str | None:
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
        f"These prompts leave this machine, {times} times each, to {places}: {texts}. Sent are the system prompt and the text shown "
        f"to a model{answers}, with personal data masked; no reference answers, no ratings, no results."
    )


def refuse_unless_allowed(
    endpoints: Sequence[EndpointSettings], prompts: Sequence[Prompt], times: int, allowed: bool, with_answers: bool = False
) -> str | None:
    """What leaves, if it may; UserError if it may not."""
    leaving = what_leaves(endpoints, prompts, times, with_answers)
    if leaving and not allowed:
        raise UserError(f"{leaving} Allow it with --set benchmark.allow_external=true, or take the endpoint out of benchmark.endpoints.")
    return leaving


def key_of(endpoint: EndpointSettings) -> str | None:
    """The key from the environment; None where the endpoint needs none. UserError where the variable is not set."""
    if endpoint.key_env is None:
        return None
    key = os.environ.get(endpoint.key_env, "").strip()
    if not key:
        raise UserError(f"endpoint {endpoint.name} needs the environment variable {endpoint.key_env}, which is not set; export it first")
    return key


def ask(
    endpoint: EndpointSettings, prompts: Sequence[Prompt], system_prompts: dict[str, str], temperature: float, max_tokens: int, seed: int
) -> list[Reply]:
    """One reply per prompt, in order, `endpoint.parallel` at a time. UserError where the endpoint refuses the request itself."""
    key = key_of(endpoint)
    bodies = [
        {
            "model": endpoint.model,
            "messages": messages(prompt, system_prompts),
            "temperature": temperature,
            "max_tokens": max_tokens,
            "seed": seed + number,
        }
        for number, prompt in enumerate(prompts)
    ]
    with ThreadPoolExecutor(endpoint.parallel) as pool:
        return list(pool.map(lambda body: _reply(endpoint, key, body), bodies))


def _reply(endpoint: EndpointSettings, key: str | None, body: dict[str, Any]) -> Reply:
    for attempt in range(endpoint.attempts):
        began = time.monotonic()
        try:
            answer = _post(endpoint, key, body)
            choice, usage = answer["choices"][0], answer.get("usage") or {}
            text = choice["message"]["content"] or ""
            cut = choice.get("finish_reason") == "length"
            tokens = int(usage.get("prompt_tokens", 0)), int(usage.get("completion_tokens", 0))
            return Reply(text, *tokens, time.monotonic() - began, cut, failed=False)
        except urllib.error.HTTPError as error:
            if error.code not in TRANSIENT:
                raise UserError(_refusal(endpoint, error)) from None
            pause = _pause(attempt, error.headers.get("Retry-After"))
        except (OSError, http.client.HTTPException, ValueError, KeyError, IndexError, TypeError):
            # no connection, a time-out, or something that is no answer of this API: all may be gone the next time
            pause = _pause(attempt, None)
        if attempt + 1 < endpoint.attempts:
            time.sleep(pause)
    return Reply("", 0, 0, 0.0, truncated=False, failed=True)


def _post(endpoint: EndpointSettings, key: str | None, body: dict[str, Any]) -> dict[str, Any]:
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
    request = urllib.request.Request(f"{endpoint.url.rstrip('/')}/chat/completions", json.dumps(body).encode(), headers)
    proxy = urllib.request.ProxyHandler(None if is_external(endpoint.url) else {})
    with urllib.request.build_opener(_NoRedirect, proxy).open(request, timeout=endpoint.timeout_s) as response:
        return json.loads(response.read())


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Prompts and key go to the host that was named and to no other."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _pause(attempt: int, retry_after: str | None) -> float:
    """Seconds before the next attempt: what the server asks for, else 0.5, 1, 2, ...; at most half a minute."""
    asked = float(retry_after) if retry_after and retry_after.replace(".", "", 1).isdigit() else 0.5 * 2**attempt
    return min(LONGEST_PAUSE_S, asked)


def _refusal(endpoint: EndpointSettings, error: urllib.error.HTTPError) -> str:
    if error.code in (401, 403):
        return f"endpoint {endpoint.name} refuses the key ({error.code}); check the environment variable {endpoint.key_env or 'that key_env should name'}"
    said = " ".join(error.read(300).decode(errors="replace").split())
    return f"endpoint {endpoint.name} refuses the request ({error.code}: {said}); check its url and model in benchmark.endpoints"


def bill(endpoint: EndpointSettings, replies: Sequence[Reply]) -> Bill:
    tokens_in, tokens_out = sum(reply.tokens_in for reply in replies), sum(reply.tokens_out for reply in replies)
    times = [reply.seconds for reply in replies if not reply.failed]
    median, slow = np.quantile(times, [0.5, 0.95]) if times else (0.0, 0.0)
    dollars = (tokens_in * endpoint.dollars_in + tokens_out * endpoint.dollars_out) / 1e6
    return Bill(len(replies), len(replies) - len(times), tokens_in, tokens_out, dollars, float(median), float(slow))
