"""The re-audit for a terminal of 100 columns; it is markdown too."""

from tucano.audit.reaudit import Reaudit
from tucano.audit.table import ANSWER_SHOWN, PROMPT_SHOWN, clipped, shown
from tucano.presentation.tables import WIDTH, items, pipe_table, wrapped


def render_table(report: Reaudit) -> str:
    """Verdict, what each arm samples, what failed, and the answers that earn most beyond their truth."""
    head = (
        f"Re-audit of the reward set `{report.reward_set}` on own samples (T=1, held-out prompts): {report.verdict}. "
        "Agreement: rank correlation of reward and ground truth within prompts, with its 90 % interval."
    )
    lines = [*wrapped(head), "", *_rows(report)]
    for arm in report.checks:
        lines += _failures(report, arm)
    if report.paid:
        lines += ["", "Paid most beyond its truth:"]
    for answer in report.paid:
        lines += wrapped(f"- {answer.task} {answer.prompt_id}: {clipped(answer.user, PROMPT_SHOWN)}")
        paid = (
            f"{answer.arm}, reward {answer.reward:.2f}, truth {answer.truth:.2f}:"
            f" {clipped(answer.completion, ANSWER_SHOWN)}"
        )
        lines += [f"  {line}" for line in wrapped(paid, WIDTH - 2)]
    return "\n".join(lines)


def _rows(report: Reaudit) -> list[str]:
    rows: list[tuple[str, ...]] = [("task", "arm", "reward", "best of k", "differing", "truth", "agreement")]
    for row in report.own:
        spread = row.spread
        truth = "-" if row.truth is None else f"{row.truth:.3f}"
        rows.append(
            (
                spread.task,
                row.arm,
                f"{spread.mean:.3f}",
                f"{spread.best:.3f}",
                f"{spread.differing:.0%}",
                truth,
                shown(row.agreement),
            )
        )
    return pipe_table(rows)


def _failures(report: Reaudit, arm: str) -> list[str]:
    failed = report.failed(arm)
    return ["", f"{arm} fails:", *items(check.message for check in failed)] if failed else []
