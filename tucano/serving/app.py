"""The HTTP side: OpenAI's chat completions, `/answer`, the list of models, health and figures."""

import asyncio
import json
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.exceptions import HTTPException

from rewards import classify_task
from tucano.prompts import TASKS, Task
from tucano.security.printable import short
from tucano.serving.answers import Ask, Refused, Unavailable
from tucano.serving.metrics import Metrics
from tucano.serving.request_log import RequestLog
from tucano.serving.requests import NEUTRAL, AnswerReply, AnswerRequest, ChatRequest, failed, streamed
from tucano.serving.routes import Routed, Routes
from tucano.serving.schema import data_of, form_of
from tucano.serving.versions import Versions
from tucano.settings import PipelineSettings
from tucano.training.answering.messages import ROLES

AGAIN_SECONDS = {"Retry-After": "1"}
NO_BODY = "There was an error parsing the body"
"""What FastAPI says of bytes that are no text."""


@dataclass
class Service:
    """Answers requests of any form, so many at a time."""

    settings: PipelineSettings
    routes: Routes
    versions: Versions
    metrics: Metrics
    log: RequestLog
    waiting: int = field(default=0)

    @property
    def name(self) -> str:
        return self.settings.promotion.model

    @property
    def names(self) -> list[str]:
        """What the models are called to clients: NAME, and NAME:TASK for one task."""
        return [self.name, *(f"{self.name}:{task}" for task in TASKS)]

    @property
    def health(self) -> str:
        """`ok`; `starting` while a process is not there; `hanging` while one has had a batch for longer than anybody
        waits for an answer.
        """
        models = [version.model for version in self.versions.held.values()]
        if not all(model.alive for model in models):
            return "starting"
        return "hanging" if any(model.busy_s > self.patience_s for model in models) else "ok"

    @property
    def patience_s(self) -> float:
        return self.settings.serving.timeout_s

    async def answer(self, ask: Ask, store: bool | None) -> tuple[str, Routed]:
        """An id and an answer. Refused, Unavailable or HTTPException where there is none."""
        most = self.settings.serving.queue
        if self.waiting >= most:
            busy = f"{most} requests wait already (serving.queue); try again in a moment"
            raise HTTPException(429, busy, AGAIN_SECONDS)
        began = time.monotonic()
        self.waiting += 1
        self.metrics.waiting.set(self.waiting)
        try:
            routed = await self.routes.answer(ask)
        finally:
            self.waiting -= 1
            self.metrics.waiting.set(self.waiting)
        seconds = time.monotonic() - began
        identity = uuid.uuid4().hex
        self._count(ask, routed, seconds)
        if store is not False and ask.alone:
            self.log.keep(identity, ask, routed, seconds)
        return identity, routed

    def task_of(self, request: ChatRequest) -> tuple[Task, list[str]]:
        """Task and turns of a chat: by the model's name, by its system prompt, or by what its first turn reads like.
        Refused where these disagree, and for instructions that no model here was trained with.
        """
        if request.model not in self.names:
            raise Refused(f"there is no model {short(request.model)}; /v1/models lists them")
        named = request.model.removeprefix(self.name).removeprefix(":")
        systems = [message for message in request.messages[:1] if message.role in ("system", "developer")]
        turns = request.messages[len(systems) :]
        if len(turns) % 2 == 0 or any(turn.role != ROLES[place % 2] for place, turn in enumerate(turns)):
            raise Refused("after its system message, if any, user and assistant take turns, and the user has the last")
        told = [self.versions.systems().get(message.content) for message in systems]
        if None in told:
            raise Refused(
                "the system message is none that the models were trained with; leave it out, and the task's own is"
                f" taken (model {self.name}:TASK names a task)"
            )
        tasks = {task for task in (named, *told) if task}
        if len(tasks) > 1:
            raise Refused(f"the model's name asks for {named}, the system message is that of {told[0]}; choose one")
        texts = [turn.content for turn in turns]
        return next(iter(tasks), None) or classify_task(texts[0]), texts

    def _count(self, ask: Ask, routed: Routed, seconds: float) -> None:
        answer = routed.answer
        self.metrics.seconds.labels(ask.task).observe(seconds)
        self.metrics.answers.labels(ask.task, answer.by, "no" if routed.fault else "yes").inc()
        self.metrics.tokens.labels(answer.by, "read").inc(answer.tokens_in)
        self.metrics.tokens.labels(answer.by, "written").inc(answer.tokens_out)


def app_of(service: Service) -> FastAPI:
    """The app, without a door."""
    app = FastAPI(title="tucano", docs_url=None, redoc_url=None, redirect_slashes=False)
    _add_answers(app, service)
    _add_looks(app, service)
    _add_faults(app, service)
    return app


def _add_answers(app: FastAPI, service: Service) -> None:
    @app.post("/answer")
    async def answer(request: AnswerRequest) -> AnswerReply:
        ask = Ask(request.task or classify_task(request.text), request.text, request.max_tokens, request.temperature)
        identity, routed = await service.answer(ask, request.store)
        found = routed.answer
        service.metrics.requests.labels(ask.task, "200").inc()
        return AnswerReply(
            id=identity,
            task=ask.task,
            text=found.text,
            data=data_of(ask.task, found.text),
            valid=routed.fault is None,
            fault=routed.fault,
            by=found.by,
            passed=list(routed.passed),
            truncated=found.truncated,
            tokens_in=found.tokens_in,
            tokens_out=found.tokens_out,
        )

    @app.post("/v1/chat/completions")
    async def complete(request: ChatRequest) -> Response:
        task, (*earlier, text) = service.task_of(request)
        form = await asyncio.to_thread(form_of, task, request.response_format)
        ask = Ask(task, text, request.most_tokens, request.temperature, form, tuple(earlier), request.seed)
        identity, routed = await service.answer(ask, request.store)
        service.metrics.requests.labels(ask.task, "200").inc()
        whole = _completion(identity, request.model, task, routed)
        if not request.stream:
            return JSONResponse(whole)
        options = request.stream_options
        events = streamed(whole, with_usage=options is not None and bool(options.include_usage))
        return Response(events, media_type="text/event-stream", headers={"Cache-Control": "no-cache"})


def _completion(identity: str, model: str, task: Task, routed: Routed) -> dict[str, Any]:
    """OpenAI's object, with what it has no place for under `tucano`."""
    answer = routed.answer
    message = {"role": "assistant", "content": answer.text, "refusal": None}
    return {
        "id": f"chatcmpl-{identity}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
        "system_fingerprint": answer.by,
        "choices": [
            {
                "index": 0,
                "message": message,
                "logprobs": None,
                "finish_reason": "length" if answer.truncated else "stop",
            }
        ],
        "usage": {
            "prompt_tokens": answer.tokens_in,
            "completion_tokens": answer.tokens_out,
            "total_tokens": answer.tokens_in + answer.tokens_out,
        },
        "tucano": {
            "task": task,
            "valid": routed.fault is None,
            "fault": routed.fault,
            "by": answer.by,
            "passed": list(routed.passed),
        },
    }


def _add_looks(app: FastAPI, service: Service) -> None:
    began = int(time.time())

    def row_of(name: str) -> dict[str, object]:
        return {"id": name, "object": "model", "created": began, "owned_by": "tucano"}

    @app.get("/v1/models")
    async def models() -> JSONResponse:
        versions = {reference: version.name for reference, version in service.versions.held.items()}
        said = {"versions": versions, "faults": service.versions.faults}
        return JSONResponse({"object": "list", "data": [row_of(name) for name in service.names], "tucano": said})

    @app.get("/v1/models/{name}")
    async def model(name: str) -> JSONResponse:
        if name not in service.names:
            raise HTTPException(404, f"there is no model {short(name)}; /v1/models lists them")
        return JSONResponse(row_of(name))

    @app.head("/health", include_in_schema=False)
    @app.get("/health")
    async def health() -> JSONResponse:
        """To everybody: whether every model's process answers."""
        return JSONResponse({"status": service.health}, 200 if service.health == "ok" else 503)

    @app.get("/metrics")
    async def metrics() -> Response:
        return Response(service.metrics.text(), media_type=CONTENT_TYPE_LATEST)


def _unreadable(cause: BaseException | None) -> str:
    if isinstance(cause, RecursionError):
        return "the request's JSON is nested too deeply"
    if isinstance(cause, ValueError) and not isinstance(cause, UnicodeError):
        return "a number of the request's JSON is too long"
    return "the request is no JSON: it is not in UTF-8"


def _oddity(request: Request, first: Mapping[str, Any]) -> str:
    """What is odd in a request, from pydantic's first finding."""
    place, kind = ".".join(str(part) for part in first["loc"][1:]), first["type"]
    if kind == "json_invalid":
        return f"the request is no JSON: {short(first['ctx']['error'])} (at character {place})"
    if not place and "json" not in request.headers.get("content-type", ""):
        return "the request says of no body that it is JSON; send one, with the header Content-Type: application/json"
    if not place:
        return 'the request is no JSON object; send one, like {"text": "..."}'
    if kind == "extra_forbidden":
        useful = [json.dumps(value) for value in NEUTRAL.get(place, ())]
        mend = f"it may be {' or '.join(useful)}, or left out" if useful else "leave it out"
        return f"{short(place)} is not supported here; {mend}"
    return f"{short(place)}: {short(first['msg'].removeprefix('Value error, '))}"


def _add_faults(app: FastAPI, service: Service) -> None:
    def refuse(status: int, sentence: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
        service.metrics.refuse(status)
        return failed(status, sentence, headers)

    @app.exception_handler(RequestValidationError)
    async def odd(request: Request, error: RequestValidationError) -> JSONResponse:
        return refuse(400, _oddity(request, error.errors()[0]))

    @app.exception_handler(HTTPException)
    async def plain(_: Request, error: HTTPException) -> JSONResponse:
        sentence = _unreadable(error.__cause__) if error.detail == NO_BODY else short(str(error.detail))
        return refuse(error.status_code, sentence, error.headers)

    @app.exception_handler(Refused)
    async def refused(_: Request, error: Refused) -> JSONResponse:
        return refuse(400, str(error))

    @app.exception_handler(Unavailable)
    async def unavailable(_: Request, error: Unavailable) -> JSONResponse:
        return refuse(503, f"nobody answers now ({error}); try again in a moment", AGAIN_SECONDS)
