"""The report of a pipeline run: one HTML file that needs nothing else, verdict first, in Portuguese with Portuguese numbers.

Completions are untrusted text: the template escapes everything, and the page forbids scripts and anything from elsewhere.
"""

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from tucano.evaluation import plots
from tucano.evaluation.audit_report import AuditReport
from tucano.evaluation.comparison import BASE, TOGETHER, Comparison
from tucano.evaluation.pages import environment
from tucano.evaluation.plots import SeedCurves
from tucano.evaluation.reaudit import Reaudit
from tucano.evaluation.verdict import Verdict, p_value, portuguese

__all__ = ["SeedCurves", "render_report"]

HEALTHY = 0.1
"""A text measure may differ this much from the reference's, relative to it, before the report marks it."""


def render_report(
    comparison: Comparison,
    audit: AuditReport,
    reaudit: Reaudit,
    data_report: Mapping[str, Any],
    settings: Mapping[str, Any],
    training: Sequence[SeedCurves],
    lineage: Mapping[str, str],
    stage_seconds: Mapping[str, float],
    title: str = "Tucano Commerce",
) -> str:
    """The page as text. `data_report` and `settings` may nest; `lineage` is {what: digest or name}, in reading order."""
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            title=title,
            comparison=comparison,
            main=comparison.main,
            verdict=comparison.verdict,
            tone=_tone(comparison.verdict),
            other=next(c for c in comparison.contrasts if c.decoding != comparison.primary),
            truths=[c for c in comparison.contrasts if c.measure == "truth" and c.decoding == comparison.primary],
            against_base=comparison.find(TOGETHER, BASE, comparison.primary, "reward"),
            health=_health(comparison),
            audit=audit,
            reaudit=reaudit,
            data_rows=flat(data_report),
            setting_rows=flat(settings),
            lineage=lineage,
            stage_seconds=stage_seconds,
            longest_stage=max(stage_seconds.values(), default=0.0),
            forest=Markup(plots.forest(comparison.main)),
            paired=Markup(plots.paired(comparison.points, comparison.reference)),
            curves=Markup(plots.curves(training)) if training else None,
        )
    )


def _environment() -> Environment:
    made = environment()
    made.filters |= {
        "number": portuguese,
        "gain": _gain,
        "percent": _percent,
        "p": _p,
        "duration": duration,
        "shown": shown,
    }
    return made


def _gain(value: float, digits: int = 3) -> str:
    return portuguese(value, digits, signed=True)


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{_gain(value, 1)} %"


def _p(value: float | None) -> str:
    return "–" if value is None else p_value(value, portuguese).removeprefix("= ")


def _tone(verdict: Verdict) -> str:
    """`good`, `fair` (the adapter claim alone), `open` (nothing shown) or `bad` (hacking, or worse, if only on a task)."""
    if verdict.hacking_suspected or verdict.worse or verdict.worse_tasks:
        return "bad"
    if verdict.better:
        return "good"
    return "fair" if verdict.improved else "open"


def _health(comparison: Comparison) -> dict[str, dict[str, tuple[float | None, bool]]]:
    """{arm: {measure: (ratio to the reference, marked)}}; a base that speaks differently is no fault of the tuning."""
    reference = comparison.texts[comparison.reference]
    return {
        arm: {
            name: (ratio, arm != BASE and ratio is not None and abs(ratio - 1) > HEALTHY) for name, ratio in health.ratio(reference).items()
        }
        for arm, health in comparison.texts.items()
    }


def duration(seconds: float) -> str:
    """`45 s`, `3 min 20 s`, `2 h 05 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


def shown(value: Any) -> str:
    """A setting or count as a Portuguese reader expects it: decimal comma, points between thousands."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "sim" if value else "não"
    if isinstance(value, int):
        return f"{value:,}".replace(",", ".")
    if isinstance(value, Real):
        return f"{value:g}".replace(".", ",").replace("-", "−")
    if isinstance(value, list | tuple):
        return ", ".join(map(shown, value))
    return str(value)


def flat(values: Mapping[str, Any], above: str = "") -> list[tuple[str, str]]:
    """Nested values as rows (`grpo.max_steps`, `1.500`)."""
    rows: list[tuple[str, str]] = []
    for name, value in values.items():
        rows += flat(value, f"{above}{name}.") if isinstance(value, Mapping) else [(f"{above}{name}", shown(value))]
    return rows
