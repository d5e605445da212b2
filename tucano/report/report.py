"""The report: one HTML file that needs nothing else, verdict first, in Portuguese and in English.

Completions are untrusted text: the template escapes everything, and the page forbids scripts and anything from
elsewhere. So the languages are switched by two radio buttons and a style rule; what is printed is the language that is
shown.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from tucano.audit.reaudit import Reaudit
from tucano.audit.report import AuditReport
from tucano.comparison.claims import after_looks
from tucano.comparison.compare import BASE, TOGETHER, Comparison, Pair
from tucano.presentation.numbers import duration
from tucano.presentation.pages import environment
from tucano.report import plots
from tucano.report.language import LANGUAGES, Language
from tucano.report.plots import SeedCurves

if TYPE_CHECKING:
    from tucano.comparison.promotion import Promotion

__all__ = ["Facts", "SeedCurves", "render_report"]

SEEN = 0.005
"""The smallest change of a component that two digits show."""
HEALTHY = 0.1
"""A text measure may differ this much from the reference's, relative to it, before the report marks it."""
LONGEST_SHARED = 80
KEPT = 40
"""Characters with which two answers may begin alike, and how many of more than these are shown at most."""
LONGEST_FIELD = 200
"""A field of JSON is shown from its name on, unless more of it is alike than this."""
OVERVIEW = "../../../index.html"
"""Seen from a report in its storage."""
IN_PORTUGUESE = {"synthetic": "sintéticos", "jsonl": "próprios"}
"""Of the sources whose names are no names."""


@dataclass(frozen=True)
class Facts:
    """What the report says beside the comparison; a part that is empty or None is left out.

    `differences` are (setting, here, there) against `baseline`, a profile or the other side. `lineage` is {what: digest
    or name} in reading order. `usd` None: the machine has no price. `run` is what the run was called, `made_on` the day
    of the report (ISO), `overview` where that page lies as seen from this one.
    """

    settings: Mapping[str, Any]
    baseline: str
    differences: Sequence[tuple[str, Any, Any]]
    lineage: Mapping[str, str]
    data: Mapping[str, Any] = field(default_factory=dict)
    training: Sequence[SeedCurves] = ()
    stage_seconds: Mapping[str, float] = field(default_factory=dict)
    machine_hours: float | None = None
    usd: float | None = None
    audit: AuditReport | None = None
    reaudit: Reaudit | None = None
    run: str = ""
    made_on: str = ""
    overview: str = OVERVIEW
    promotion: "Promotion | None" = None

    @property
    def model(self) -> str:
        """What was trained; "" where that is not known."""
        return str(self.settings.get("model", {}).get("name", ""))

    def source(self, language: Language) -> str:
        """What it was trained on: `olist + synthetic`, `olist + sintéticos`."""
        data = self.settings.get("data", {})
        names = [str(part.get("source", "")) for part in data.get("sources") or [data]]
        return " + ".join(language.say(IN_PORTUGUESE.get(name, name), name) for name in names)


def render_report(comparison: Comparison, facts: Facts, title: str = "Tucano Commerce") -> str:
    """The page as text: the same in both languages, Portuguese shown first."""
    bodies = [(language, Markup(_body(language, comparison, facts, title))) for language in LANGUAGES]
    shell = environment(Path(__file__).parent).get_template("report.html.j2")
    return shell.render(
        title=title, headline=LANGUAGES[0].headline(comparison.verdict), bodies=bodies, tone=comparison.verdict.tone
    )


def _body(language: Language, comparison: Comparison, facts: Facts, title: str) -> str:
    made = environment(Path(__file__).parent)
    made.filters |= {
        "number": language.number,
        "gain": language.gain,
        "percent": language.percent,
        "p": language.p,
        "shown": language.shown,
        "duration": duration,
    }
    made.globals |= {"moved": moved, "since_they_part": since_they_part}
    return made.get_template("report_body.html.j2").render(
        title=title,
        t=language.say,
        language=language,
        comparison=comparison,
        main=comparison.main,
        verdict=comparison.verdict,
        tone=comparison.verdict.tone,
        other=next(c for c in comparison.contrasts if c.decoding != comparison.primary),
        after_looks=after_looks,
        truths=[c for c in comparison.contrasts if c.measure == "truth" and c.decoding == comparison.primary],
        against_base=comparison.find(TOGETHER, BASE, comparison.primary, "reward"),
        health=_health(comparison),
        facts=facts,
        data_rows=flat(facts.data),
        setting_rows=flat(facts.settings),
        longest_stage=max(facts.stage_seconds.values(), default=0.0),
        forests={
            "wide": Markup(plots.forest(comparison.main, language)),
            "narrow": Markup(plots.forest(comparison.main, language, narrow=True)),
        },
        paired=Markup(plots.paired(comparison.points, comparison.reference, language)),
        curves=Markup(plots.curves(facts.training, language)) if facts.training else None,
        training_health=Markup(plots.health(facts.training, language)) if facts.training else None,
    )


def moved(pair: Pair) -> dict[str, float]:
    """Why a pair's rewards differ: the components that do, by how much, the largest change first."""
    names = {*pair.components_before, *pair.components_after}
    changes = {n: pair.components_after.get(n, 0.0) - pair.components_before.get(n, 0.0) for n in sorted(names)}
    return dict(sorted(((n, by) for n, by in changes.items() if abs(by) > SEEN), key=lambda item: -abs(item[1])))


def since_they_part(before: str, after: str) -> tuple[str, str]:
    """Two answers from a little before their first difference on: with a long common beginning they would look the
    same where a line has to do.
    """
    differing = (place for place, (one, other) in enumerate(zip(before, after, strict=False)) if one != other)
    shared = next(differing, min(len(before), len(after)))
    if before == after or shared <= LONGEST_SHARED:
        return before, after
    near = shared - KEPT
    reach = {',"': shared - LONGEST_FIELD, ', "': shared - LONGEST_FIELD, ",": near, " ": near}
    found = (before.rfind(mark, max(0, least), shared) + 1 for mark, least in reach.items())
    begin = next((place for place in found if place), near)
    return f"… {before[begin:].lstrip()}", f"… {after[begin:].lstrip()}"


def _health(comparison: Comparison) -> dict[str, dict[str, tuple[float | None, bool]]]:
    """{arm: {measure: (ratio to the reference, marked)}}; a base that speaks differently is no fault of the tuning."""
    reference = comparison.texts[comparison.reference]
    return {
        arm: {
            name: (ratio, arm != BASE and ratio is not None and abs(ratio - 1) > HEALTHY)
            for name, ratio in health.ratio(reference).items()
        }
        for arm, health in comparison.texts.items()
    }


def flat(values: Mapping[str, Any], above: str = "") -> list[tuple[str, Any]]:
    """Nested values as rows: `("grpo.max_steps", 1500)`."""
    rows: list[tuple[str, Any]] = []
    for name, value in values.items():
        rows += flat(value, f"{above}{name}.") if isinstance(value, Mapping) else [(f"{above}{name}", value)]
    return rows


def apart(page: str) -> str:
    """A report as it reads where no storage lies around it: the overview has its name there, and no link to nowhere."""
    return page.replace(f'<a href="{OVERVIEW}">index.html</a>', "index.html")
