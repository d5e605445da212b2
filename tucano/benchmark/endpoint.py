"""Arms behind an OpenAI-compatible chat API, with retries, latency and cost. Prompts leave the machine only with leave
to do so.

An API is not trusted: one odd reply costs one answer.
"""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

from tucano.benchmark.chat import Chat, NoAnswer, Refused, Request, Unusable, client_of, key_of, patiently
from tucano.benchmark.replies import Ledger, Reply, opened
from tucano.errors import UserError
from tucano.masking import NOT_MASKED
from tucano.prompts import Prompt, messages
from tucano.security.addresses import is_external
from tucano.settings.endpoint import EndpointSettings

OF_ONE_REQUEST = {400, 413, 422, 451}
"""Refusals that one text can cause, as a content filter's do."""
FEWEST_REFUSALS = 5
"""So many of them, before any reply, are a mistake in the settings."""
IN_SETTINGS = "--set benchmark.allow_external=true, or take the endpoint out of benchmark.endpoints"
SILENCE = Reply("", 0, 0, 0.0, truncated=False, failed=True)
REFUSAL = replace(SILENCE)
"""In place of a reply, known by their identity: of requests that no attempt brought one for, and of those that were
refused. Neither is kept, or paid for.
"""

log = logging.getLogger(__name__)


class NotTaken(UserError):
    """The endpoint refuses the requests themselves."""


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


def counts_of(prompts: Sequence[Prompt]) -> dict[str, int]:
    """How many prompts there are of each task and source."""
    return dict(sorted(Counter(f"{prompt.task} ({prompt.source})" for prompt in prompts).items()))


def refuse_unless_allowed(
    endpoints: Sequence[EndpointSettings],
    prompts: Sequence[Prompt],
    times: int,
    allowed: bool,
    with_answers: bool = False,
    mend: str = IN_SETTINGS,
) -> str | None:
    """A paragraph that lists what goes where, and how often each prompt; None where nothing leaves the machine.
    UserError where it may not; `mend` allows it.
    """
    outside = [endpoint for endpoint in endpoints if is_external(endpoint.url)]
    if not outside:
        return None
    texts = ", ".join(f"{count} {name}" for name, count in counts_of(prompts).items())
    places = ", ".join(f"{endpoint.name} at {urlsplit(endpoint.url).hostname}" for endpoint in outside)
    answers = " and the answers to judge, without their arms' names" if with_answers else ""
    leaving = (
        f"These prompts leave this machine, {times} times each, to {places}: {texts}. Sent are the system prompt and"
        f" the text shown to a model{answers}, with personal data masked ({NOT_MASKED}); no reference answers, no"
        " ratings, no results."
    )
    if not allowed:
        raise UserError(f"{leaving} Allow it with {mend}.")
    return leaving


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

    SILENCE or REFUSAL stands where none came. NotTaken where the endpoint refuses the requests themselves.
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
    async with client_of(endpoint, key) as client:
        conversation = _Conversation(Chat(endpoint, key, client), ledger, asyncio.Semaphore(endpoint.parallel))
        try:
            async with asyncio.TaskGroup() as group:
                answers = [group.create_task(conversation.answer(request)) for request in requests]
        except BaseExceptionGroup as failed:
            raise failed.exceptions[0] from None
    if conversation.refusals and not ledger.known:
        raise NotTaken(conversation.refusals[0])
    return [answer.result() for answer in answers]


@dataclass
class _Conversation:
    """One endpoint while it is asked, and the sentences about requests that it did not take."""

    chat: Chat
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
                reply = await patiently(self.chat.endpoint, lambda: self._attempt(request))
            except (NoAnswer, Refused) as fault:
                if isinstance(fault, Refused):
                    self._require_one_text(fault)
                log.warning("endpoint %s gave no answer: %s", self.chat.endpoint.name, fault)
                return REFUSAL if isinstance(fault, Refused) else SILENCE
            self.ledger.add(request, reply)
            return reply

    async def _attempt(self, request: Request) -> Reply:
        """An empty reply where it cannot be used."""
        began = time.monotonic()
        try:
            return await self.chat.reply(request)
        except Unusable as odd:
            log.warning("endpoint %s gave an answer that cannot be used: %s", self.chat.endpoint.name, odd)
            return Reply("", *odd.tokens, time.monotonic() - began, truncated=False, failed=True)

    def _require_one_text(self, refusal: Refused) -> None:
        """NotTaken for what a person has to mend, and not for what this one text may have caused."""
        self.refusals.append(str(refusal))
        known = len(self.ledger.known)
        hopeless = not known and len(self.refusals) >= FEWEST_REFUSALS
        if refusal.status not in OF_ONE_REQUEST or hopeless:
            kept = f"; {known} replies are kept and not asked for again" if known else ""
            raise NotTaken(f"{refusal}{kept}") from None


def bill(endpoint: EndpointSettings, replies: Sequence[Reply]) -> Bill:
    tokens_in = sum(reply.tokens_in for reply in replies)
    tokens_out = sum(reply.tokens_out for reply in replies)
    times = [reply.seconds for reply in replies if not reply.failed]
    median, slow = np.quantile(times, [0.5, 0.95]) if times else (0.0, 0.0)
    dollars = (tokens_in * endpoint.dollars_in + tokens_out * endpoint.dollars_out) / 1e6
    return Bill(len(replies), len(replies) - len(times), tokens_in, tokens_out, dollars, float(median), float(slow))
