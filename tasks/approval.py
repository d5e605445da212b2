"""Between challenger and champion stands a person, where the settings ask for one: a typed form in the Prefect page.

The run is suspended: no process waits. What was registered and reported before stays, whatever the answer, and without
one.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from prefect import get_run_logger
from prefect.flow_runs import suspend_flow_run
from prefect.input import RunInput
from pydantic import Field

from tasks.promote import announce, publish
from tasks.running.handles import ComparisonResult
from tasks.running.labels import is_deployed
from tasks.running.run import Run, stage
from tucano.comparison.compare import Comparison
from tucano.comparison.promotion import CHALLENGER, CHAMPION, Promotion
from tucano.security.printable import escaped

PAGES = ("report", "pipeline run", "answers side by side", "registered model")
"""Links of a run that a person needs who decides."""


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
    text = question(promotion, comparison.comparison, run.tracker.links(run.tracking_run), hours)
    form = Approval.with_initial_data(description=text)
    return suspend_flow_run(
        wait_for_input=form, timeout=int(hours * 3600), key=f"approval-{promotion.model}-{promotion.version}"
    )


def question(promotion: Promotion, compared: Comparison, links: Mapping[str, str], hours: float) -> str:
    """What the form says, in Markdown: why a person is asked, the candidate beside the champion, and where to read
    more.
    """
    candidate = f"{promotion.candidate} ({promotion.model} version {promotion.version})"
    pages = " · ".join(f"[{escaped(name)}]({link})" for name, link in links.items() if name in PAGES)
    return "\n\n".join(
        [
            f"# Shall {escaped(candidate)} become champion?",
            f"**{escaped(promotion.reason)}.**",
            _table(promotion.candidate, compared),
            f"Against its start: {escaped(compared.verdict.headline)}",
            pages,
            f"Without an answer within {hours:g} h it stays challenger.",
        ]
    )


def _table(candidate: str, compared: Comparison) -> str:
    """Mean reward and truth of candidate, champion and start on the same test prompts, per task."""
    arms = [arm for arm in (candidate, CHAMPION, compared.reference) if arm in compared.means[compared.primary]]
    lines = [f"| mean reward (truth) | {' | '.join(arms)} |", f"|---|{'---|' * len(arms)}"]
    rewards, truths = compared.means[compared.primary], compared.truths[compared.primary]
    for name in ("overall", *compared.main.tasks):
        cells = [f"{rewards[arm][name]:.3f}{_in_brackets(truths[arm].get(name))}" for arm in arms]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _in_brackets(truth: float | None) -> str:
    return "" if truth is None else f" ({truth:.3f})"


@stage("decide promotion")
def decide(run: Run, promotion: Promotion, approval: Approval) -> Promotion:
    """The promotion after a person's decision, recorded in the registry and with the run."""
    signed = {"approval.decision": approval.decision, "approval.who": approval.who, "approval.why": approval.why}
    approved = approval.decision == "approve"
    reason = f"{approval.who} {'approved' if approved else 'declined'}: {approval.why}"
    reason_pt = f"{approval.who} {'aprovou' if approved else 'recusou'}: {approval.why}"
    run.tracker.set_tags(run.tracking_run, signed)
    if approved and promotion.version is not None:
        run.tracker.crown(promotion.model, promotion.version, signed)
        result = replace(promotion, status=CHAMPION, reason=reason, reason_pt=reason_pt)
        if crowned := run.tracker.champion(promotion.model):
            announce(run, result, crowned.tags)
    else:
        result = replace(promotion, reason=reason, reason_pt=reason_pt)
    publish(run, result)
    return result
