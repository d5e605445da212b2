"""Who listens hears of a promotion: the event, and the automation of docs/serving.md that answers it."""

import asyncio
import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import pytest
import yaml
from prefect.events.schemas.automations import AutomationCore
from prefect.events.schemas.events import Event
from prefect.server.events.schemas import automations, events
from prefect.server.utilities.user_templates import render_user_template

from tasks import approval, promote
from tucano.comparison.promotion import CHALLENGER, CHAMPION, Promotion

PAGE = Path(__file__).parents[1] / "docs" / "serving.md"


def test_the_automation_of_the_docs_answers_the_event_of_a_promotion(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Event] = []

    def emit(event: str, **told_too: Any) -> None:
        told.append(Event.model_validate({"event": event, **told_too}))

    monkeypatch.setattr(promote, "emit_event", emit)
    run: Any = SimpleNamespace(tracker=SimpleNamespace(page=lambda run: f"http://mlflow/{run}"), tracking_run="r1")
    result = Promotion("seed-7", CHAMPION, "it is better", "tucano", 3, "é melhor")
    tags = {"verdict": "Better", "digest.grpo": "abc"}
    promote.announce(run, result, tags)
    event = told[0]
    promote.announce(run, result, tags)
    promote.announce(run, replace(result, status=CHALLENGER), tags)
    assert event.id == told[1].id != told[2].id, "who tries again says nothing new"
    received = events.ReceivedEvent.model_validate(
        {**event.model_dump(mode="json"), "occurred": datetime(2026, 1, 1, tzinfo=UTC)}
    )
    written = yaml.safe_load(re.findall(r"```yaml\n(name: .*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[0])
    AutomationCore.model_validate(written)
    trigger = automations.EventTrigger.model_validate(written["trigger"])
    assert trigger.covers(received)
    other = {"prefect.resource.id": "tucano.model.other"}
    assert not trigger.covers(received.model_copy(update={"resource": events.Resource(other)}))
    said = asyncio.run(render_user_template(written["actions"][0]["payload"], {"event": received}))
    assert json.loads(said) == {"text": "tucano 3 is the champion"}
    assert event.payload["page"] == "http://mlflow/r1" and event.payload["verdict"] == "Better"


@pytest.mark.parametrize(("decision", "told"), [("approve", [CHAMPION]), ("decline", [])])
def test_a_champion_by_approval_is_told_too(
    decision: Literal["approve", "decline"], told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the challenger was, and the shop never heard of what it serves."""
    said: list[str] = []
    monkeypatch.setattr(promote, "emit_event", lambda event, payload, **more: said.append(payload["alias"]))
    monkeypatch.setattr(approval, "publish", lambda run, result: None)
    crowned = SimpleNamespace(tags={"verdict": "Better", "digest.grpo": "abc"})

    def nothing(*given: object) -> None:
        """What a tracker does with tags."""

    tracker = SimpleNamespace(set_tags=nothing, crown=nothing, champion=lambda model: crowned, page=lambda run: "")
    run: Any = SimpleNamespace(tracker=tracker, tracking_run="r1")
    answer = approval.Approval(decision=decision, who="Ana Souza", why="melhores")
    approval.decide.fn(run, Promotion("seed-7", CHALLENGER, "a person decides", "tucano", 3, ""), answer)
    assert said == told
