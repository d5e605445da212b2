"""The audit flow: the rewards of a profile against people's scores, by the clock. It fails when the gate would be
closed.
"""

from prefect import flow

from tasks.audit import audit_rewards, pass_gate
from tasks.running.labels import plain_name
from tasks.running.run import opened
from tucano.settings import PipelineSettings


@flow(name="audit", flow_run_name=plain_name)
def audit(settings: PipelineSettings) -> str:
    """The audit's verdict, like `passed`; its table is the run's artifact."""
    with opened(settings) as run:
        audited = audit_rewards(run)
        pass_gate(run, audited)
        return audited.report.verdict
