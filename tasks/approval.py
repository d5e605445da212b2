"""Between challenger and champion stands a person, where the settings ask for one: a typed form in the Prefect page.

The run is suspended: no process waits. What was registered and reported before stays, whatever the answer, and without
one.
"""

from dataclasses import replace
from typing import Literal

from prefect import get_run_logger
from prefect.flow_runs import suspend_flow_run
from prefect.input import RunInput
from pydantic import Field

from tasks.handles import ComparisonResult
from tasks.promote import publish
from tasks.running.labels import is_deployed
from tasks.running.run import Run, stage
from tucano.comparison.promotion import CHALLENGER, CHAMPION, Promotion
from tucano.security.printable import escaped


class Approval(RunInput):
    """A person's decision on a challenger."""

    decision: Literal["approve", "decline"] = Field(
        description="Approve: it becomes champion. Decline: it stays challenger."
    )
    who: str = Field(min_length=2, description="Your name; recorded in the registry.")
    why: str = Field(min_length=5, description="Your reason; recorded in the registry.")


def ask(run: Run, promotion: Promotion, comparison: ComparisonResult) -> Approval | None:
    """A person's decision, None where nobody is asked. Suspends the run; it comes here again when the form was sent."""
    hours = run.settings.promotion.approval_hours
    if hours is None or promotion.status != CHALLENGER:
        return None
    if not is_deployed():
        get_run_logger().warning(
            "promotion.approval_hours: only a deployment's run can ask a person; %s stays challenger",
            promotion.candidate,
        )
        return None
    text = (
        f"# {promotion.candidate} is {promotion.model} version"
        f" {promotion.version}\n\n{escaped(comparison.comparison.verdict.headline)}\n\nIt is challenger:"
        f" {escaped(promotion.reason)}.\n\nShall it become champion? Without an answer within {hours:g} h it stays"
        " challenger."
    )
    form = Approval.with_initial_data(description=text)
    return suspend_flow_run(
        wait_for_input=form, timeout=int(hours * 3600), key=f"approval-{promotion.model}-{promotion.version}"
    )


@stage("decide promotion")
def decide(run: Run, promotion: Promotion, approval: Approval) -> Promotion:
    """The promotion after a person's decision, recorded in the registry and with the run."""
    signed = {"approval.decision": approval.decision, "approval.who": approval.who, "approval.why": approval.why}
    reason = f"{approval.who} {'approved' if approval.decision == 'approve' else 'declined'}: {approval.why}"
    run.tracker.set_tags(run.tracking_run, signed)
    if approval.decision == "approve" and promotion.version is not None:
        run.tracker.crown(promotion.model, promotion.version, signed)
        result = replace(promotion, status=CHAMPION, reason=reason)
    else:
        result = replace(promotion, reason=reason)
    publish(run, result)
    return result
