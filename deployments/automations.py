"""The automations that let runs go on, and begin, by themselves. They need PostgreSQL: on SQLite one event fires an
action several times.

1. A run tagged `resumable` that has crashed, and about which nothing else is heard for ten seconds, is scheduled again:
   same run, next attempt. The delay matters: the worker may report the same crash twice, a second apart.
2. A run whose heartbeat (every 30 s) has been silent for 90 s has crashed: its machine is gone. Then 1 takes over.
3. A run of which ten crashes are reported within an hour is given up. A single one may be reported twice, so three in a
   row pass.
4. An alarm of `tucano monitor` starts the run that asks for, and starts, a training (`retrain/any`).
"""

from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any

from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.objects import StateType
from prefect.events.actions import ActionTypes, ChangeFlowRunState, RunDeployment
from prefect.events.schemas.automations import Automation, AutomationCore, EventTrigger, Posture
from prefect.events.schemas.events import ResourceSpecification
from prefect.exceptions import ObjectNotFound

from tucano.monitoring.alarms import EVENT

PREFIX = "tucano: "
RESUMABLE = "resumable"
SILENT_SECONDS = 90
RESUME_SECONDS = 10
REPORTS = 10
CRASHED, HEARTBEAT = "prefect.flow-run.Crashed", "prefect.flow-run.heartbeat"

RUNS = ResourceSpecification({"prefect.resource.id": ["prefect.flow-run.*"]})
TAGGED = ResourceSpecification({"prefect.resource.id": [f"prefect.tag.{RESUMABLE}"], "prefect.resource.role": ["tag"]})
CHAMPIONS = ResourceSpecification({"prefect.resource.id": ["tucano.champion.*"]})
RETRAINS = "retrain/any"
"""The deployment that takes an alarm up."""


def wanted(client: SyncPrefectClient) -> list[AutomationCore]:
    """The automations as they shall be. A project without the deployment that one starts does without that one."""
    again = ChangeFlowRunState(
        state=StateType.SCHEDULED, name="AwaitingRetry", message="Scheduled again after a crash."
    )
    gone = ChangeFlowRunState(
        state=StateType.CRASHED, message=f"No heartbeat for {SILENT_SECONDS} s: its machine is gone."
    )
    capped = ChangeFlowRunState(
        state=StateType.FAILED, message=f"Given up after {REPORTS} reports of a crash within an hour."
    )
    crashes = _of_a_run(expect={CRASHED}, posture=Posture.Reactive, threshold=REPORTS, within=timedelta(hours=1))
    found = [
        _automation(
            "resume crashed runs", "Goes on from the last checkpoint.", _silent(CRASHED, RESUME_SECONDS), again
        ),
        _automation("notice silent runs", "Notices machines that are gone.", _silent(HEARTBEAT, SILENT_SECONDS), gone),
        _automation("give up crash loops", "Ends crash loops.", crashes, capped),
    ]
    with suppress(ObjectNotFound):
        retrains = client.read_deployment_by_name(RETRAINS)
        alarm = EventTrigger(
            expect={EVENT}, match=CHAMPIONS, posture=Posture.Reactive, threshold=1, within=timedelta(0)
        )
        given = {name: f"{{{{ event.payload.{name} }}}}" for name in ("storage", "alarm")}
        start = RunDeployment(deployment_id=retrains.id, parameters=given)
        found.append(
            _automation("retrain after an alarm", "Trains with what was served, once per alarm.", alarm, start)
        )
    return found


def _automation(name: str, description: str, trigger: EventTrigger, action: ActionTypes) -> AutomationCore:
    return AutomationCore(name=f"{PREFIX}{name}", description=description, trigger=trigger, actions=[action])


def _of_a_run(**trigger: Any) -> EventTrigger:
    """What happens to one resumable run."""
    return EventTrigger(match=RUNS, match_related=TAGGED, for_each={"prefect.resource.id"}, **trigger)


def _silent(since: str, seconds: int) -> EventTrigger:
    """Nothing is heard of a run for so long since that was."""
    within = timedelta(seconds=seconds)
    return _of_a_run(
        after={since}, expect={"prefect.flow-run.*"}, posture=Posture.Proactive, threshold=1, within=within
    )


def apply(client: SyncPrefectClient, automations: Sequence[AutomationCore]) -> None:
    """Create what is missing, update what differs, delete our other ones. Switching one off in the page is kept."""
    names = {automation.name for automation in automations}
    present: dict[str, Automation] = {}
    for found in client.read_automations():
        if found.name.startswith(PREFIX):
            if found.name in present or found.name not in names:
                client.delete_automation(found.id)
            else:
                present[found.name] = found
    for automation in automations:
        old = present.get(automation.name)
        if old is None:
            client.create_automation(automation)
        elif _content(old) != _content(automation):
            client.update_automation(old.id, automation.model_copy(update={"enabled": old.enabled}))


def _content(automation: AutomationCore) -> dict[str, object]:
    fields = automation.model_dump(mode="json", include={"name", "description", "trigger", "actions"})
    fields["trigger"].pop("id", None)
    return fields
