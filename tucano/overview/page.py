"""The overview: `index.html` in the storage, one file that needs nothing else and changes nothing.

Made from what the storage holds, and replaced atomically. It runs one script, named by its hash: the script says how
old the page is. All else is there without it.
"""

import base64
import errno
import hashlib
import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from markupsafe import Markup

from tucano.comparison.claims import after_looks
from tucano.comparison.compare import TOGETHER
from tucano.comparison.contrast import Effect
from tucano.comparison.promotion import Promotion
from tucano.configuration import telling
from tucano.overview.pairs import Pair, pairs
from tucano.overview.rows import UNREADABLE, Row, Spent, read_rows, spent, varied
from tucano.overview.runs import RunRecord, read_addresses, read_runs
from tucano.presentation.numbers import duration, possible
from tucano.presentation.pages import environment
from tucano.report.language import LANGUAGES, Language
from tucano.security.printable import short
from tucano.storage.places import write_whole

PAGE = "index.html"
RUNS_SHOWN = 10
SCRIPT = Path(__file__).with_name("age.js").read_text(encoding="utf-8")
WIDTH, MARGIN = 150.0, 4.0
"""Of an interval's drawing, in its own units."""
LONGEST_LABEL = 60
"""Characters of a setting's value."""
USUAL_STORAGE = "runs"
MOST_NAMED = 4
"""Settings that name a configuration; the report has all."""


@dataclass(frozen=True)
class Line:
    """A configuration as the page shows it: `pages` are its run's addresses, `ranked` whether it answered what the
    first one answered, `truth` and `served` the same contrast by another measure and another decoding.
    """

    row: Row
    differs: Mapping[str, Any]
    tone: str
    spent: Spent
    pages: Mapping[str, str]
    ranked: bool
    truth: Effect | None
    served: Effect | None

    @property
    def effect(self) -> Effect:
        """The primary contrast over all prompts."""
        return self.row.comparison.main.overall

    def also_better(self, unshown: Sequence[str]) -> int:
        """How many of the better tasks are so by another contrast too, given those on which that one shows no gain."""
        return len({*self.row.comparison.verdict.better_tasks}.difference(unshown))


@dataclass(frozen=True)
class View:
    """All that the page says, best configuration first; `storage` is what a command needs to read this storage."""

    written: datetime
    storage: str
    lines: tuple[Line, ...]
    pairs: Mapping[tuple[str, str], Pair]
    runs: tuple[tuple[RunRecord, Mapping[str, str]], ...]
    promoted: Sequence[tuple[datetime, Promotion, str]]
    unreadable: tuple[str, ...]
    older: int

    @property
    def is_living(self) -> bool:
        """Whether a run is at work."""
        return any(run.state == "running" for run, _ in self.runs)

    @property
    def champions(self) -> dict[str, int | None]:
        """{model: the version that became champion last}."""
        return {promotion.model: promotion.version for _, promotion, _ in self.promoted}

    @property
    def ranked(self) -> list[Line]:
        """The configurations that answered the same test prompts."""
        return [line for line in self.lines if line.ranked]

    @property
    def matrix(self) -> list[Line]:
        """The configurations of which all pairs are known."""
        known = {label for label, _ in self.pairs}
        return [line for line in self.ranked if line.row.label in known]

    @property
    def confirming(self) -> list[Line]:
        """The first configuration on other test prompts."""
        return [line for line in self.lines if not line.ranked and line.row.label == self.lines[0].row.label]

    @property
    def rivals(self) -> list[Line]:
        """The configurations among which the first one has the highest mean: none that is worse or suspect, except
        where all are.
        """
        return [line for line in self.ranked if line.tone != "bad"] or self.ranked

    @property
    def set_aside(self) -> int:
        """How many are worse or suspect, and so ranked behind those that they may be above."""
        return len(self.ranked) - len(self.rivals)

    @property
    def ahead(self) -> Pair | None:
        """The first against the second, where that is neither worse nor suspect."""
        if len(self.lines) < 2 or self.lines[1].tone == "bad":
            return None
        return self.pairs.get((self.lines[0].row.label, self.lines[1].row.label))


def write_page(root: Path) -> Path:
    """Write the overview of a storage anew; returns its path."""
    page = root / PAGE
    write_whole(page, render(view(root)))
    return page


def announced(root: Path) -> str:
    """Where the overview now is, or why it could not be written: servers stand without it."""
    try:
        return write_page(root).resolve().as_uri()
    except UNREADABLE as error:
        full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
        mend = "make room for it and start this again" if full else "all else stands without it"
        return f"not written ({type(error).__name__}: {error}); {mend}"


def view(root: Path) -> View:
    """What a storage holds."""
    found = read_rows(root)
    runs, broken = read_runs(root)
    addresses = read_addresses(root)
    rows = _ranked(found.rows)
    compared, gone = pairs(root, rows)
    return View(
        written=datetime.now(UTC),
        storage=_as_setting(root),
        lines=_lines(rows, {run.stages.get("comparison", ""): addresses.of(run) for run in reversed(runs)}),
        pairs=compared,
        runs=tuple((run, addresses.of(run)) for run in _newest(runs)),
        promoted=found.promoted,
        unreadable=(*found.unreadable, *gone, *broken),
        older=found.older,
    )


BUCKETS = ("gs", "gcs", "s3", "az", "abfs")
"""How addresses of remote storage begin, and so the names of their working copies (`working_copy`)."""


def _as_setting(root: Path) -> str:
    """What a command needs to read this storage: nothing where it is the usual one."""
    here = Path.cwd().resolve()
    place = root.resolve()
    scheme = place.name.partition("-")[0]
    if place.parent == Path("runs").resolve() and scheme in BUCKETS and scheme != place.name:
        return f" --set storage={scheme}://…"  # a working copy; its name does not tell the whole address
    name = str(place.relative_to(here) if place.is_relative_to(here) else place)
    return "" if name == USUAL_STORAGE else f" --set storage={shlex.quote(name)}"


def _newest(runs: Sequence[RunRecord]) -> list[RunRecord]:
    """Those at work first."""
    return sorted(runs, key=lambda run: run.state != "running")[:RUNS_SHOWN]


def _ranked(rows: Sequence[Row]) -> list[Row]:
    """The mean reward of the seeds ranks those that answered the same prompts: gains over several starts would not be
    comparable. First come the prompts that most configurations answered, the newer ones of equally many; among them
    what is worse than its start, or is suspected of hacking, comes after what is not.
    """
    together = Counter(row.asked for row in rows)
    newest = {row.asked: row.made_at for row in sorted(rows, key=lambda row: row.made_at)}

    def place(row: Row) -> tuple[int, float, bool, float]:
        suspect = row.comparison.verdict.tone == "bad"
        age = -newest[row.asked].timestamp()
        return -together[row.asked], age, suspect, -row.comparison.main.overall.arm_mean

    return sorted(rows, key=place)


def _lines(rows: Sequence[Row], pages: Mapping[str, Mapping[str, str]]) -> tuple[Line, ...]:
    lines = []
    for row, differs, cost in zip(rows, varied(rows), spent(rows), strict=True):
        compared = row.comparison
        truth = compared.find(TOGETHER, compared.reference, compared.primary, "truth")
        served = compared.find(TOGETHER, compared.reference, "served", "reward")
        lines.append(
            Line(
                row=row,
                differs=_short_names(telling(differs)),
                tone=compared.verdict.tone,
                spent=cost,
                pages=pages.get(row.stages["comparison"].digest, {}),
                ranked=row.asked == rows[0].asked,
                truth=truth.overall if truth else None,
                served=served.overall if served else None,
            )
        )
    return tuple(lines)


def _short_names(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The last part of each dotted name, where that is enough to tell them apart."""
    last = [name.rpartition(".")[2] for name in settings]
    return {
        (part if last.count(part) == 1 else name): value
        for (name, value), part in zip(settings.items(), last, strict=True)
    }


def render(shown: View) -> str:
    """The page as text: the same in both languages, Portuguese shown first."""
    folder = Path(__file__).parent
    bodies = [(language, Markup(_body(language, shown, folder))) for language in LANGUAGES]
    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    template = environment(folder).get_template("page.html.j2")
    return template.render(view=shown, bodies=bodies, script=Markup(SCRIPT), script_hash=digest)


def _body(language: Language, shown: View, folder: Path) -> str:
    made = environment(folder)
    made.filters |= {
        "number": language.number,
        "gain": language.gain,
        "p": language.p,
        "shown": lambda value: short(language.shown(value), LONGEST_LABEL),
        "duration": lambda hours: duration(3600 * hours),
        "moment": lambda moment: moment.astimezone().strftime("%Y-%m-%d %H:%M %Z"),
        "iso": lambda text: datetime.fromisoformat(text),
    }
    ends = [(line.effect.low, line.effect.high) for line in shown.lines]
    return made.get_template("body.html.j2").render(
        t=language.say,
        possible=possible,
        after_looks=after_looks,
        language=language,
        view=shown,
        first=shown.lines[0] if shown.lines else None,
        scale=interval_scale(ends),
        width=WIDTH,
        most_named=MOST_NAMED,
    )


def interval_scale(intervals: Sequence[tuple[float, float]]) -> Callable[[float], float]:
    """From values to places in an interval's drawing: one scale that holds 0 and all intervals."""
    ends = [0.0, *(end for interval in intervals for end in interval)]
    low, high = min(ends), max(ends)

    def place(value: float) -> float:
        span = high / 2 - low / 2  # by halves nothing that a float holds is too large
        share = (value / 2 - low / 2) / span if span > 0 else 0.5
        return round(MARGIN + share * (WIDTH - 2 * MARGIN), 1)

    return place
