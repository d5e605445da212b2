"""Watching what is served, and what an alarm starts: look, say, ask, train. The tests are in tucano/monitoring/."""

from dataclasses import asdict
from typing import Literal

from prefect import get_run_logger, runtime
from prefect.events import emit_event
from prefect.flow_runs import suspend_flow_run
from prefect.input import RunInput
from pydantic import Field

from tasks.running.deployed import started
from tasks.running.labels import is_deployed
from tasks.running.pages import show_markdown, show_table
from tasks.running.run import stage
from tucano.monitoring.alarms import EVENT, Alarm, is_taken, read_alarm, taken
from tucano.monitoring.state import FOLDER
from tucano.monitoring.table import COLUMNS, headline, rows_of
from tucano.monitoring.watch import Seen, look
from tucano.security.printable import escaped
from tucano.settings import PipelineSettings
from tucano.storage.root import writable
from tucano.tracking import Tracker
from tucano.tracking.store import named


class Retraining(RunInput):
    """A person's decision on what an alarm would start."""

    decision: Literal["approve", "decline"] = Field(
        description="Approve: training starts, and what it makes is judged like any other. Decline: nothing is trained."
    )
    who: str = Field(min_length=2, description="Your name; kept with this run.")
    why: str = Field(min_length=5, description="Your reason; kept with this run.")


@stage("look at requests")
def look_at_requests(settings: PipelineSettings, again: bool) -> Seen:
    """One look; the table is shown in the run's page."""
    root = writable(settings.storage)
    seen = look(settings, root, Tracker.connect(named(settings.tracking_uri), root), again)
    said = headline(seen)
    names = [name or place for name, place in zip(COLUMNS, ("quantity", *COLUMNS[1:-1], "alarm"), strict=True)]
    show_table("monitor", [dict(zip(names, row, strict=True)) for row in rows_of(seen)], said)
    get_run_logger().info("%s; %d of %d new lines scored", said, seen.scored, seen.new)
    return seen


@stage("raise alarm")
def raise_alarm(settings: PipelineSettings, alarm: Alarm) -> None:
    """An event for who listens, look after look until a run has taken the alarm up: an event may be lost, and no alarm
    should be.
    """
    root = writable(settings.storage)
    show_markdown("alarm", _markdown(alarm), alarm.what)
    if is_taken(root / FOLDER, alarm.id):
        get_run_logger().info("the alarm of %s stands, and a run has taken it up", alarm.at)
        return
    figures = {raised.quantity: asdict(raised) for raised in alarm.raised}
    emit_event(
        EVENT,
        resource={"prefect.resource.id": f"tucano.champion.{alarm.champion}", "prefect.resource.name": alarm.champion},
        payload={
            "champion": alarm.champion,
            "what": alarm.what,
            "figures": figures,
            "storage": str(root),
            "alarm": alarm.id,
            "trains": alarm.deployment or "",
        },
    )


@stage("take up alarm")
def take_up(storage: str, identity: str) -> Alarm | str:
    """The alarm, or why this run has nothing to do: one run has an alarm, for ever, and its later attempts have it
    still.
    """
    folder = writable(storage) / FOLDER
    alarm = read_alarm(folder, identity)
    if alarm.deployment is None:
        return f"nothing is trained: {alarm.why}"
    this = str(runtime.flow_run.id)
    first = taken(folder, identity, this)
    return alarm if first == this else f"run {first} has taken this alarm up"


def approved(alarm: Alarm) -> bool:
    """A person's decision; True where nobody is asked. Suspends the run; it comes here again when the form was sent."""
    if alarm.approval_hours is None:
        return True
    if not is_deployed():
        get_run_logger().warning("monitor.approval_hours: only a deployment's run can ask a person; nothing is trained")
        return False
    text = f"{_markdown(alarm)}\n\nShall {alarm.deployment} train with {alarm.prompts} served prompts?"
    answer = suspend_flow_run(
        wait_for_input=Retraining.with_initial_data(description=text),
        timeout=int(alarm.approval_hours * 3600),
        key=f"retrain-{alarm.id}",
    )
    show_markdown("approval", f"**{answer.decision}** by {escaped(answer.who)}: {escaped(answer.why)}")
    return answer.decision == "approve"


@stage("start training")
def start_training(alarm: Alarm) -> str:
    """A run of the alarm's deployment; a second request for it finds the first."""
    assert alarm.deployment is not None
    key = f"tucano-alarm-{alarm.id}"
    run = started(alarm.deployment, {"settings": alarm.settings}, key, as_subflow=False)
    return f"{alarm.deployment} runs as {run.name} ({run.id})"


def _markdown(alarm: Alarm) -> str:
    rows = [
        f"- {raised.quantity}: {raised.since:.3f} ({raised.since_low:.3f} to {raised.since_high:.3f}) served,"
        f" {raised.before:.3f} ({raised.before_low:.3f} to {raised.before_high:.3f}) before"
        for raised in alarm.raised
    ]
    return "\n".join([f"# {escaped(alarm.champion)}: something has changed", "", *rows])
