"""The audit for a terminal of 100 columns, which is markdown too; and its tables, which the page shows as well."""

from dataclasses import dataclass

from tucano.audit.report import AuditReport, Disagreement, Estimate
from tucano.presentation.tables import blocks, items, pipe_table, wrapped

PROMPT_SHOWN, ANSWER_SHOWN = 180, 150
"""Characters of a prompt and of an answer."""


@dataclass(frozen=True, slots=True)
class Table:
    """`note` says how it is read; the first of the `rows` is the head."""

    title: str
    note: str
    rows: list[tuple[str, ...]]


def render_table(report: AuditReport) -> str:
    """The gate's result: agreement per task, what blocks, what warns."""
    kinds = sorted(set(report.raters.values()))
    head = (
        f"Audit of the reward set `{report.reward_set}`: {report.verdict}. {len(report.raters)} rater(s)"
        f" ({', '.join(kinds) or 'none'}). Spearman's rho of rewards and ratings with its 90 % interval over"
        f" {report.resamples} resamples by prompt; the gate reads the lower ends over all answers, as one-sided 95 %"
        " bounds."
    )
    lines = [*wrapped(head), "", *pipe_table(agreement(report).rows)]
    for title, checks in (("Blocking", report.failed_checks), ("Warnings", report.warnings)):
        if checks:
            lines += ["", f"{title}:", *items(check.message for check in checks)]
    if report.overridden_by:
        lines += ["", *wrapped(f"Overridden by {report.overridden_by}: {report.override_reason}")]
    return "\n".join(lines)


def agreement(report: AuditReport) -> Table:
    rows: list[tuple[str, ...]] = [("task", "answers", "prompts", "n", "over all", "within prompts", "checks")]
    for row in report.agreement:
        checks = [check for check in report.checks if check.task == row.task] if row.origin == "all" else []
        passed = f"{sum(check.passed for check in checks)}/{len(checks)}" if checks else ""
        rows.append(
            (row.task, row.origin, str(row.prompts), str(row.completions), shown(row.pooled), shown(row.within), passed)
        )
    note = (
        f"Spearman's rho of rewards and ratings with its 90 % interval over {report.resamples} resamples by prompt. The"
        " gate reads the lower ends over all answers, as one-sided 95 % bounds."
    )
    return Table("Do rewards order answers as raters do?", note, rows)


def shown(estimate: Estimate | None, sign: str = "") -> str:
    """`0.80 (0.71 … 0.86)`; `sign` is "+" where the value is a change."""
    return "-" if estimate is None else f"{estimate.value:{sign}.2f} ({estimate.low:.2f} … {estimate.high:.2f})"


def render_details(report: AuditReport) -> str:
    """What stands behind the result: its tables, what a search found, and the prompts with the largest disagreement."""
    tables = [part for table in details(report) for part in (wrapped(table.note), pipe_table(table.rows))]
    fooling = _fooling(report) if report.fooling else []
    return blocks(*tables, fooling, *map(_disagreement, report.disagreements))


def details(report: AuditReport) -> list[Table]:
    """The tables behind the result, as far as there is anything in them: whether the reward teaches, components, signal
    and headroom, raters.
    """
    made = (
        _youden(report),
        _components(report),
        _sampled(report),
        _raters(report),
        _consensus(report),
        _people(report),
    )
    return [found for found in made if len(found.rows) > 1]


def _youden(report: AuditReport) -> Table:
    note = (
        "Does the reward teach? Youden's J: how much larger a share of good answers than of others (their numbers: n)"
        " earns the threshold; over all of them, how much more good answers earn. Its sign there says whether GRPO"
        " learns or unlearns. At the best threshold J is less what choosing it gained."
    )
    rows: list[tuple[str, ...]] = [("task", "n", "threshold", "good", "others", "J", "so")]
    for row in report.youden:
        so = row.judgement if row.at == "all" else ""
        counts = f"{row.good} + {row.others}"
        rows.append((row.task, counts, row.where, f"{row.tpr:.2f}", f"{row.fpr:.2f}", shown(row.j, "+"), so))
    return Table("Does the reward teach?", note, rows)


def _components(report: AuditReport) -> Table:
    rows: list[tuple[str, ...]] = [("left out", "change over all", "change within prompts", "so it")]
    rows += [(e.component, shown(e.pooled, "+"), shown(e.within, "+"), e.judgement) for e in report.components]
    note = "What each component adds: how rho changes without it. Below 0 it helps."
    return Table("What each component adds", note, rows)


def _sampled(report: AuditReport) -> Table:
    rows: list[tuple[str, ...]] = [
        ("task", "prompts", "up to k", "mean", "best of k", "headroom", "prompts whose rewards differ")
    ]
    for row in report.sampled:
        numbers = [f"{value:.3f}" for value in (row.mean, row.best, row.best - row.mean)]
        rows.append((row.task, str(row.prompts), str(row.k), *numbers, f"{row.differing:.0%}"))
    note = "Rewards of the rating set's sampled answers: headroom is what choosing the best of k would gain."
    return Table("Signal and headroom", note, rows)


def _raters(report: AuditReport) -> Table:
    rows: list[tuple[str, ...]] = [("task", "raters", "rated by both", "quadratic kappa")]
    rows += [(p.task, f"{p.first}, {p.second}", str(p.completions), _number(p.kappa)) for p in report.raters_agree]
    return Table("Raters among themselves", "How far raters agree with each other:", rows)


def _consensus(report: AuditReport) -> Table:
    rows: list[tuple[str, ...]] = [("task", "raters", "rated by two or more", "Krippendorff's alpha")]
    rows += [(row.task, str(row.raters), str(row.completions), _number(row.alpha)) for row in report.consensus]
    return Table("All raters of a task", "", rows)


def _people(report: AuditReport) -> Table:
    note = "Agreement with people's ratings, helped by models' ratings of other prompts as far as both agree:"
    rows: list[tuple[str, ...]] = [("task", "prompts", "helped by", "over all", "within prompts")]
    rows += [(p.task, str(p.prompts), str(p.helped), shown(p.pooled), shown(p.within)) for p in report.people]
    return Table("Agreement with people", note, rows)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _fooling(report: AuditReport) -> list[str]:
    head = (
        "Made by a search of worthless answers, the prompt's words and scraps of other answers. If nobody would take"
        " such a text for a good answer, the reward can be had without one:"
    )
    lines = wrapped(head)
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
