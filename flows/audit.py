"""The audit flow: the rewards of a profile against people's scores, by the clock. It fails when the gate would be
closed.
"""

from prefect import flow

from tasks.audit import audit_rewards, pass_gate
from tasks.context import opened
from tasks.names import plain_name
from tucano.settings import PipelineSettings


@flow(name="audit", flow_run_name=plain_name)
def audit(settings: PipelineSettings) -> str:
    """The audit's verdict, like `passed`; its table is the run's artifact."""
    with opened(settings) as run:
        audited = audit_rewards(run)
        pass_gate(run, audited)
        return audited.report.verdict
