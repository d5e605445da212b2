"""Settings of the registry, of what is served from it, and of watching: `promotion.*`, `serving.*`, `monitor.*`."""

import re
from collections.abc import Iterator

from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt, field_validator

from tucano.prompts import Task
from tucano.security.texts import Line, Name
from tucano.settings.base import Section, Share
from tucano.settings.endpoint import EndpointSettings

CHAMPION, RULES = "champion", "rules"
VERSION = re.compile(r"[^@]+@.+|[^/]+/\d+")
"""Of the registry: tucano@challenger, tucano/2."""


class PromotionSettings(Section):
    """When a candidate becomes the registry's champion."""

    model: Name = Field("tucano", description="Name in the model registry.")
    margin: NonNegativeFloat = Field(
        0.02, description="A challenger may be at most this much worse than the champion (95 % bound)."
    )
    each_source: bool = Field(
        False, description="The margin holds for each source by itself, and a challenger has to win on all together."
    )
    approval_hours: PositiveFloat | None = Field(
        None, le=8760, description="Hours that a person has to approve a challenger; nobody is asked when empty."
    )
    people: Line | None = Field(
        None, description="Folder with a finished blind A/B; an established loss keeps a candidate challenger."
    )


class ServingSettings(Section):
    """Answers to requests, by the models of the registry and whoever else stands in a route."""

    routes: dict[Task, tuple[Line, ...]] = Field(
        {},
        max_length=100,
        description="Who is asked for a task, in turn: champion, a version, an endpoint's name, rules.",
    )
    endpoints: tuple[EndpointSettings, ...] = Field(
        (), max_length=100, description="OpenAI-compatible APIs that routes may name."
    )
    allow_external: bool = Field(
        False, description="Let requests leave this machine, masked: for endpoints or an MLflow that are not on it."
    )
    timeout_s: PositiveFloat = Field(30, le=3600, description="Longest wait for each of a route, in seconds.")
    batch: PositiveInt = Field(32, le=1024, description="Requests that a model answers at a time.")
    wait_ms: NonNegativeFloat = Field(
        5, le=1000, description="How long a request waits for others to be answered with, in milliseconds."
    )
    queue: PositiveInt = Field(256, le=100_000, description="Requests that may wait; a further one is refused (429).")
    request_bytes: PositiveInt = Field(65_536, ge=1024, le=2**20, description="Longest request, in bytes.")
    poll_seconds: PositiveFloat = Field(
        10, le=86_400, description="How often the registry is asked for new versions, in seconds."
    )
    log_requests: bool = Field(
        False, description="Keep requests and answers, masked, but for requests with `store: false`."
    )
    trace_requests: bool = Field(
        False, description="Send requests and answers to MLflow as traces, as `log_requests` keeps them."
    )
    log_share: Share = Field(1.0, description="Share of the requests that is kept or traced, drawn at random.")

    def _faults(self) -> Iterator[str]:
        names = [endpoint.name for endpoint in self.endpoints]
        if twice := [name for name in names if names.count(name) > 1 or name in (CHAMPION, RULES)]:
            yield f"serving.endpoints cannot have (another) one called {twice[0]}; give it another name"
        for task, steps in self.routes.items():
            if not steps:
                yield f"serving.routes.{task} is empty; name who answers it, like [champion]"
            for step in steps:
                if step not in (CHAMPION, RULES, *names) and not VERSION.fullmatch(step):
                    yield (
                        f"serving.routes.{task} names {step}, which is nothing that can answer: write champion, rules,"
                        " a version like tucano/2 or tucano@challenger, or a name of serving.endpoints"
                    )

    def route(self, task: Task) -> tuple[str, ...]:
        """Who is asked for a task, in order."""
        return self.routes.get(task, (CHAMPION,))


class MonitorSettings(Section):
    """Watching what is served: `tucano monitor`."""

    floor: Share = Field(0.5, gt=0, lt=1, description="A mean reward below it is an alarm.")
    sample: PositiveInt = Field(
        200, le=5000, description="Answers that a look scores, drawn at random from those that are new."
    )
    alarm_rate: Share = Field(
        0.02, gt=0, description="Chance of ever raising a false alarm: all looks, quantities and champions."
    )
    retrain: Line | None = Field(
        None, description="Deployment that an alarm starts, like train/laptop; none when empty."
    )
    share: Share = Field(0.3, gt=0, lt=1, description="Largest share of served prompts among those of the retraining.")
    approval_hours: PositiveFloat | None = Field(
        None, le=8760, description="Hours that a person has to approve a retraining; nobody is asked when empty."
    )

    @field_validator("retrain")
    @classmethod
    def _trains(cls, deployment: str | None) -> str | None:
        if deployment is not None and not re.fullmatch(r"train/[\w.-]+", deployment):
            raise ValueError(f"monitor.retrain={deployment} is no deployment that trains; write it like train/laptop")
        return deployment
