"""Who answers a task: the first of its route that gives a valid answer in time."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tucano.benchmark.chat import Chat, NoAnswer, Unusable, client_of, key_of
from tucano.benchmark.chat import Refused as RefusedByApi
from tucano.errors import UserError
from tucano.masking import NOT_MASKED, mask
from tucano.prompts import TASKS, Prompt, Task
from tucano.security.addresses import is_external
from tucano.security.printable import printable
from tucano.serving.answers import Answer, Ask, Refused, Unavailable
from tucano.serving.metrics import Metrics
from tucano.serving.schema import fault_of
from tucano.serving.versions import Versions
from tucano.settings import EndpointSettings, PipelineSettings
from tucano.settings.promotion import CHAMPION, RULES, ServingSettings
from tucano.specs.registry import spec_of
from tucano.thoughts import answer_of
from tucano.tracking.store import named
from tucano.training.answering.messages import chat as talk

log = logging.getLogger(__name__)

Answering = Callable[[Ask], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Routed:
    """An answer; fault: why it cannot be used as it is; passed: those in the route that were asked before, and why
    their answers were not taken.
    """

    answer: Answer
    fault: str | None
    passed: tuple[str, ...]


class Routes:
    """Asks those that the settings name for a task, one after the other."""

    def __init__(self, serving: ServingSettings, by_name: Mapping[str, Answering], metrics: Metrics) -> None:
        self._serving, self._by_name, self._metrics = serving, by_name, metrics

    async def answer(self, ask: Ask) -> Routed:
        """The first valid answer; else the first of all, of a form of the client's own only one that the ceiling cut.
        Without any: Refused where nobody takes the request, Unavailable where somebody may a little later.
        """
        answers: list[tuple[Answer, str]] = []
        passed: list[str] = []
        later = False
        for step in self._serving.route(ask.task):
            try:
                async with asyncio.timeout(self._serving.timeout_s):
                    answer = await self._by_name[step](ask)
            except Exception as fault:  # a fault of ours in one of them is no reason not to ask the next
                later = later or not isinstance(fault, Refused)
                why = self._why(step, fault)
                self._note(ask, step, "refused" if isinstance(fault, Refused) else "no answer")
                passed.append(f"{step}: {why}")
                continue
            wrong = fault_of(ask.task, answer.text, ask.form)
            if wrong is None:
                return Routed(answer, None, tuple(passed))
            self._note(ask, step, "not valid")
            passed.append(f"{step}: {wrong}")
            if ask.form is None or answer.truncated:
                answers.append((answer, wrong))
        if answers:
            return Routed(*answers[0], tuple(passed))
        raise (Unavailable if later else Refused)("; ".join(passed))

    def _why(self, step: str, fault: Exception) -> str:
        if isinstance(fault, TimeoutError):
            return f"none within {self._serving.timeout_s:g} s"
        if isinstance(fault, Refused | Unavailable):
            return str(fault)
        log.error("%s failed", step, exc_info=fault)
        return f"it failed ({type(fault).__name__}); the server's log has why"

    def _note(self, ask: Ask, step: str, why: str) -> None:
        self._metrics.passed_on.labels(ask.task, step, why).inc()


def references(settings: PipelineSettings) -> dict[str, str]:
    """{name in a route: what the registry calls it} of the versions that routes need."""
    serving = settings.serving
    others = {RULES, *(endpoint.name for endpoint in serving.endpoints)}
    steps = dict.fromkeys(step for task in TASKS for step in serving.route(task) if step not in others)
    return {step: f"{settings.promotion.model}@champion" if step == CHAMPION else step for step in steps}


async def opened(settings: PipelineSettings, versions: Versions, metrics: Metrics, closing: AsyncExitStack) -> Routes:
    """Everybody that the routes name, ready to be asked. What they hold is let go of by `closing`."""
    by_name: dict[str, Answering] = {RULES: by_rules()}
    for step, reference in references(settings).items():
        by_name[step] = partial(versions.answer, reference)
    for endpoint in settings.serving.endpoints:
        key = key_of(endpoint)
        client = await closing.enter_async_context(client_of(endpoint, key))
        by_name[endpoint.name] = by_endpoint(Chat(endpoint, key, client), settings)
    return Routes(settings.serving, by_name, metrics)


def by_rules() -> Answering:
    """The page of rules of each task, which needs no model."""
    rules = {task: spec_of(task).baseline.rules(()) for task in TASKS}

    async def answer(ask: Ask) -> Answer:
        return Answer(rules[ask.task](_prompt(ask.task, ask.text)), RULES)

    return answer


def by_endpoint(chat: Chat, settings: PipelineSettings) -> Answering:
    """An API, once per request: what does not answer is passed on, not waited for. Personal data are masked on the way
    to another machine.
    """
    outside = is_external(chat.endpoint.url)

    async def answer(ask: Ask) -> Answer:
        texts = [mask(text)[0] if outside else text for text in (*ask.earlier, ask.text)]
        default = settings.comparison.served_temperature
        request: dict[str, Any] = {
            "model": chat.endpoint.model,
            "messages": talk(spec_of(ask.task).system_prompt, texts),
            "temperature": default if ask.temperature is None else ask.temperature,
            "max_tokens": ask.max_tokens or settings.grpo.max_completion_tokens,
        }
        if ask.seed is not None:
            request["seed"] = ask.seed
        if ask.form is not None:
            form = {"name": "answer", "schema": json.loads(ask.form)}
            request["response_format"] = {"type": "json_schema", "json_schema": form}
        try:
            reply = await chat.reply(request)
        except (NoAnswer, RefusedByApi, Unusable) as fault:
            log.warning("endpoint %s gave no answer: %s", chat.endpoint.name, fault)
            raise Unavailable(f"{chat.endpoint.name} gave no answer") from None
        return Answer(answer_of(reply.text), chat.endpoint.name, reply.tokens_in, reply.tokens_out, reply.truncated)

    return answer


def what_leaves(settings: PipelineSettings) -> str | None:
    """A sentence on requests that leave this machine; None where none does. UserError where they may not."""
    asked = {step for task in TASKS for step in settings.serving.route(task)}
    outside = [_place(one) for one in settings.serving.endpoints if is_external(one.url) and one.name in asked]
    outside += _traced_at(settings)
    if not outside:
        return None
    sentence = (
        f"Requests leave this machine for {', '.join(outside)}: the text, with the system prompt or the answer, with"
        f" personal data masked ({NOT_MASKED})."
    )
    if not settings.serving.allow_external:
        raise UserError(
            f"{sentence} Allow it with --set serving.allow_external=true, or take the endpoint out of serving.routes"
            " (for MLflow: leave serving.trace_requests out)."
        )
    return sentence


def _traced_at(settings: PipelineSettings) -> list[str]:
    """The MLflow server or database of traces, where that is not on this machine; no more than one."""
    address = named(settings.tracking_uri) if settings.serving.trace_requests else None
    try:
        parts = urlsplit(address or "")
        asked = [value for name, value in parse_qsl(parts.query) if name in ("host", "hostaddr")]  # of a database
        hosts = [host for one in [parts.hostname or "", *asked] for host in one.split(",")]
    except ValueError:  # who opens the store says what is wrong with it
        return []
    outside = [host for host in hosts if host and not host.startswith("/") and is_external(f"http://{_in_url(host)}")]
    return [f"MLflow at {printable(host)}" for host in outside[:1]]


def _in_url(host: str) -> str:
    """A host of IPv6 stands in brackets there; one with a port keeps it."""
    return f"[{host}]" if host.count(":") > 1 else host


def _place(endpoint: EndpointSettings) -> str:
    return f"{endpoint.name} at {endpoint.url.partition('://')[2].partition('/')[0]}"


def _prompt(task: Task, text: str) -> Prompt:
    return Prompt(id="", task=task, user=text, template="", source="request", licence="")
