"""The audit for a terminal of 100 columns; it is markdown too."""

from tucano.audit.report import AuditReport, Disagreement, Estimate
from tucano.presentation.tables import pipe_table, wrapped

PROMPT_SHOWN, ANSWER_SHOWN = 180, 150
"""Characters of a prompt and of an answer."""


def render_table(report: AuditReport) -> str:
    """The gate's result: agreement per task, what blocks, what warns."""
    kinds = sorted(set(report.raters.values()))
    head = (
        f"Audit of the reward set `{report.reward_set}`: {report.verdict}. {len(report.raters)} rater(s)"
        f" ({', '.join(kinds) or 'none'}). Spearman's rho of rewards and ratings with its 90 % interval over"
        f" {report.resamples} resamples by prompt; the gate reads the lower ends over all answers, as one-sided 95 %"
        " bounds."
    )
    lines = [*wrapped(head), "", *_agreement_rows(report)]
    for title, checks in (("Blocking", report.failed_checks), ("Warnings", report.warnings)):
        if checks:
            lines += ["", f"{title}:", *(line for check in checks for line in wrapped(f"- {check.message}"))]
    if report.overridden_by:
        lines += ["", *wrapped(f"Overridden by {report.overridden_by}: {report.override_reason}")]
    return "\n".join(lines)


def _agreement_rows(report: AuditReport) -> list[str]:
    rows: list[tuple[str, ...]] = [("task", "answers", "prompts", "n", "over all", "within prompts", "checks")]
    for row in report.agreement:
        checks = [check for check in report.checks if check.task == row.task] if row.origin == "all" else []
        passed = f"{sum(check.passed for check in checks)}/{len(checks)}" if checks else ""
        rows.append(
            (row.task, row.origin, str(row.prompts), str(row.completions), shown(row.pooled), shown(row.within), passed)
        )
    return pipe_table(rows)


def shown(estimate: Estimate | None, sign: str = "") -> str:
    """`0.80 (0.71 … 0.86)`; `sign` is "+" where the value is a change."""
    return "-" if estimate is None else f"{estimate.value:{sign}.2f} ({estimate.low:.2f} … {estimate.high:.2f})"


def render_details(report: AuditReport) -> str:
    """What stands behind the result: components, signal and headroom, raters, and the prompts with the largest
    disagreement.
    """
    parts = [_youden(report), _components(report), _sampled(report), _raters(report)]
    parts += [_consensus(report), _people(report), _fooling(report)]
    parts += map(_disagreement, report.disagreements)
    return "\n\n".join("\n".join(part) for part in parts if part)


def _youden(report: AuditReport) -> list[str]:
    head = (
        "Does the reward teach? Youden's J: how much larger a share of good answers than of others (their numbers: n)"
        " earns the threshold; over all of them, how much more good answers earn. Its sign there says whether GRPO"
        " learns or unlearns. At the best threshold J is less what choosing it gained."
    )
    rows: list[tuple[str, ...]] = [("task", "n", "threshold", "good", "others", "J", "so")]
    for row in report.youden:
        so = row.judgement if row.at == "all" else ""
        counts = f"{row.good} + {row.others}"
        rows.append((row.task, counts, row.where, f"{row.tpr:.2f}", f"{row.fpr:.2f}", shown(row.j, "+"), so))
    return [*wrapped(head), "", *pipe_table(rows)] if report.youden else []


def _components(report: AuditReport) -> list[str]:
    rows: list[tuple[str, ...]] = [("left out", "change over all", "change within prompts", "so it")]
    rows += [(e.component, shown(e.pooled, "+"), shown(e.within, "+"), e.judgement) for e in report.components]
    return [*wrapped("What each component adds: how rho changes without it. Below 0 it helps."), "", *pipe_table(rows)]


def _sampled(report: AuditReport) -> list[str]:
    head = "Rewards of the rating set's sampled answers: headroom is what choosing the best of k would gain."
    rows: list[tuple[str, ...]] = [
        ("task", "prompts", "up to k", "mean", "best of k", "headroom", "prompts whose rewards differ")
    ]
    for row in report.sampled:
        numbers = [f"{value:.3f}" for value in (row.mean, row.best, row.best - row.mean)]
        rows.append((row.task, str(row.prompts), str(row.k), *numbers, f"{row.differing:.0%}"))
    return [*wrapped(head), "", *pipe_table(rows)] if report.sampled else []


def _raters(report: AuditReport) -> list[str]:
    rows: list[tuple[str, ...]] = [("task", "raters", "rated by both", "quadratic kappa")]
    for pair in report.raters_agree:
        kappa = "-" if pair.kappa is None else f"{pair.kappa:.2f}"
        rows.append((pair.task, f"{pair.first}, {pair.second}", str(pair.completions), kappa))
    return [*wrapped("How far raters agree with each other:"), "", *pipe_table(rows)] if report.raters_agree else []


def _consensus(report: AuditReport) -> list[str]:
    rows: list[tuple[str, ...]] = [("task", "raters", "rated by two or more", "Krippendorff's alpha")]
    for row in report.consensus:
        rows.append((row.task, str(row.raters), str(row.completions), "-" if row.alpha is None else f"{row.alpha:.2f}"))
    return pipe_table(rows) if report.consensus else []


def _people(report: AuditReport) -> list[str]:
    head = "Agreement with people's ratings, helped by models' ratings of other prompts as far as both agree:"
    rows: list[tuple[str, ...]] = [("task", "prompts", "helped by", "over all", "within prompts")]
    rows += [(p.task, str(p.prompts), str(p.helped), shown(p.pooled), shown(p.within)) for p in report.people]
    return [*wrapped(head), "", *pipe_table(rows)] if report.people else []


def _fooling(report: AuditReport) -> list[str]:
    head = (
        "Made by a search of worthless answers, the prompt's words and scraps of other answers. If nobody would take"
        " such a text for a good answer, the reward can be had without one:"
    )
    lines = wrapped(head) if report.fooling else []
    for found in report.fooling:
        lines += wrapped(
            f"- {found.task} {found.prompt_id}, reward {found.reward:.2f}: {clipped(found.text, ANSWER_SHOWN)}"
        )
    return lines


def _disagreement(found: Disagreement) -> list[str]:
    head = (
        f"{found.task} {found.prompt_id}: rewards and ratings order these answers least alike (rho"
        f" {found.agreement:.2f})."
    )
    answers = sorted(found.answers, key=lambda answer: -answer.rating)
    lines = [*wrapped(head), *wrapped(f"Prompt: {clipped(found.user, PROMPT_SHOWN)}")]
    for answer in answers:
        lines += wrapped(
            f"- rated {answer.rating:.1f}, reward {answer.reward:.2f}: {clipped(answer.completion, ANSWER_SHOWN)}"
        )
    return lines


def clipped(text: str, longest: int) -> str:
    """A text on one line, cut off."""
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
