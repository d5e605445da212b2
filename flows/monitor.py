"""The monitor flow: one look at what the champion answers, by the clock. An alarm becomes an event."""

from prefect import flow

from tasks.monitor import look_at_requests, raise_alarm
from tasks.running.labels import plain_name
from tucano.monitoring.table import headline
from tucano.settings import PipelineSettings


@flow(name="monitor", flow_run_name=plain_name)
def monitor(settings: PipelineSettings, again: bool = False) -> str:
    """The headline, like «tucano/3: no alarm after 12 looks at 2400 answers»; the table is the run's artifact.

    `again`: an alarm stands and the champion stays, so a new test begins with what comes from now on.
    """
    seen = look_at_requests(settings, again)
    if seen.alarm is not None:
        raise_alarm(settings, seen.alarm)
    return headline(seen)
