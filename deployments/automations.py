"""The automations that let runs go on, and begin, by themselves. They need PostgreSQL: on SQLite one event fires an
action several times.

1. A run tagged `resumable` that has crashed, and about which nothing else is heard for ten seconds, is scheduled again:
   same run, next attempt. The delay matters: the worker may report the same crash twice, a second apart.
2. A run whose heartbeat (every 30 s) has been silent for 90 s has crashed: its machine is gone. Then 1 takes over.
3. A run of which ten crashes are reported within an hour is given up. A single one may be reported twice, so three in a
   row pass.
4. An alarm of `tucano monitor` starts the run that asks for, and starts, a training (`retrain/any`).
"""

from datetime import timedelta

from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.objects import StateType
from prefect.events.actions import ChangeFlowRunState, RunDeployment
from prefect.events.schemas.automations import Automation, AutomationCore, EventTrigger, Posture
from prefect.events.schemas.events import ResourceSpecification
from prefect.exceptions import ObjectNotFound

from tucano.monitoring.alarms import EVENT

PREFIX = "tucano: "
RESUMABLE = "resumable"
HEARTBEAT_SECONDS = 30
SILENT_SECONDS = 90
RESUME_SECONDS = 10
REPORTS = 10

RUNS = ResourceSpecification({"prefect.resource.id": ["prefect.flow-run.*"]})
TAGGED = ResourceSpecification({"prefect.resource.id": [f"prefect.tag.{RESUMABLE}"], "prefect.resource.role": ["tag"]})
PER_RUN = {"prefect.resource.id"}
RETRAINS = "retrain/any"
"""The deployment that takes an alarm up."""


def wanted(client: SyncPrefectClient) -> list[AutomationCore]:
    """The automations as they shall be. A project without the deployment that one starts does without that one."""
    return [*_for_runs(), *_for_alarms(client)]


def _for_alarms(client: SyncPrefectClient) -> list[AutomationCore]:
    try:
        retrains = client.read_deployment_by_name(RETRAINS)
    except ObjectNotFound:
        return []
    champions = ResourceSpecification({"prefect.resource.id": ["tucano.champion.*"]})
    trigger = EventTrigger(
        expect={EVENT}, match=champions, posture=Posture.Reactive, threshold=1, within=timedelta(seconds=0)
    )
    given = {name: f"{{{{ event.payload.{name} }}}}" for name in ("storage", "alarm")}
    return [
        AutomationCore(
            name=f"{PREFIX}retrain after an alarm",
            description="Trains with what was served, once per alarm.",
            trigger=trigger,
            actions=[RunDeployment(deployment_id=retrains.id, parameters=given)],
        )
    ]


def _for_runs() -> list[AutomationCore]:
    resume = EventTrigger(
        after={"prefect.flow-run.Crashed"},
        expect={"prefect.flow-run.*"},
        match=RUNS,
        match_related=TAGGED,
        for_each=PER_RUN,
        posture=Posture.Proactive,
        threshold=1,
        within=timedelta(seconds=RESUME_SECONDS),
    )
    silent = resume.model_copy(
        update={"after": {"prefect.flow-run.heartbeat"}, "within": timedelta(seconds=SILENT_SECONDS)}
    )
    loop = resume.model_copy(
        update={
            "after": set(),
            "expect": {"prefect.flow-run.Crashed"},
            "posture": Posture.Reactive,
            "threshold": REPORTS,
            "within": timedelta(hours=1),
        }
    )
    again = ChangeFlowRunState(
        state=StateType.SCHEDULED, name="AwaitingRetry", message="Scheduled again after a crash."
    )
    gone = ChangeFlowRunState(
        state=StateType.CRASHED, message=f"No heartbeat for {SILENT_SECONDS} s: its machine is gone."
    )
    capped = ChangeFlowRunState(
        state=StateType.FAILED, message=f"Given up after {REPORTS} reports of a crash within an hour."
    )
    return [
        AutomationCore(
            name=f"{PREFIX}resume crashed runs",
            description="Goes on from the last checkpoint.",
            trigger=resume,
            actions=[again],
        ),
        AutomationCore(
            name=f"{PREFIX}notice silent runs",
            description="Notices machines that are gone.",
            trigger=silent,
            actions=[gone],
        ),
        AutomationCore(
            name=f"{PREFIX}give up crash loops", description="Ends crash loops.", trigger=loop, actions=[capped]
        ),
    ]


def apply(client: SyncPrefectClient) -> None:
    """Create what is missing, update what differs, delete our older ones. Switching one off in the page is kept."""
    automations = wanted(client)
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


def remove(client: SyncPrefectClient) -> None:
    """Without PostgreSQL there must be none."""
    for found in client.read_automations():
        if found.name.startswith(PREFIX):
            client.delete_automation(found.id)


def _content(automation: AutomationCore) -> dict[str, object]:
    fields = automation.model_dump(mode="json", include={"name", "description", "trigger", "actions"})
    fields["trigger"].pop("id", None)
    return fields
