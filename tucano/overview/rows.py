"""What a storage knows of each configuration: its newest report on the same test prompts, with verdict, settings, cost
and training curves.

Everything is read from artifacts, whoever wrote them: what cannot be read is named and left out.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from tucano.artifacts.identity import digest
from tucano.artifacts.records import parsed, read_record
from tucano.artifacts.store import MANIFEST, Artifact, described, inspect
from tucano.comparison.compare import Comparison
from tucano.comparison.promotion import CHAMPION, Promotion
from tucano.configuration import configuration_digits, of_configuration
from tucano.cost import Cost, costs, total
from tucano.errors import UserError
from tucano.files.models import SeedFiles
from tucano.files.results import ComparisonFiles, ReportFiles
from tucano.overview.backs import Back, read_backs
from tucano.settings import CostSettings
from tucano.storage.journal import read_journal

MOST = 100
"""Reports that are read, and so configurations that are shown."""
FEW = 4
"""So many settings that vary are all shown, with every configuration."""
UNREADABLE = (UserError, OSError, ValueError, TypeError, KeyError, AttributeError)
"""How reading ends of what another version of the program has written, or somebody has changed."""
CACHED = 4096
LOOKS = "validation/reward"


@dataclass(frozen=True)
class Row:
    """A configuration by its newest report on these test prompts.

    `profile` is the one that it is nearest to, with `differences` as {setting: value here}. `settings` are those that
    make the configuration, by dotted name; rows with the same `asked` answered the same prompts in the same way and
    were judged alike. `stages` are the artifacts it was made from, by name; `report` is the page's path below the
    storage. `gone`: the names of stages that it was made from and that are no longer there.
    """

    label: str
    profile: str
    differences: Mapping[str, Any]
    settings: Mapping[str, Any]
    asked: str
    comparison: Comparison
    stages: Mapping[str, Artifact]
    report: str
    made_at: datetime
    prices: CostSettings
    promotion: Promotion | None
    gone: tuple[str, ...]

    def curves(self) -> dict[int, list[tuple[int, float]]]:
        """{seed: [(step, mean reward of the validation set)]}."""
        made = {seed: self.stages.get(f"grpo-seed-{seed}") for seed in self.comparison.seeds}
        journals = {seed: read_journal(SeedFiles(one.folder).journal) for seed, one in made.items() if one is not None}
        return {
            seed: [(entry.step, entry.values[LOOKS]) for entry in journal if LOOKS in entry.values]
            for seed, journal in journals.items()
        }


Promoted = tuple[datetime, Promotion, str]
"""When, what and of which configuration."""


@dataclass(frozen=True)
class Found:
    """`rows` in no order; `promoted` every champion with its date and its configuration, oldest first, also where a
    person went back to it; `unreadable` in words; `older`: reports beyond those that are read.
    """

    rows: tuple[Row, ...]
    promoted: tuple[Promoted, ...]
    unreadable: tuple[str, ...]
    older: int


def read_rows(root: Path) -> Found:
    """What lies in a storage."""
    manifests = [path for path in root.glob(f"artifacts/*/*/{MANIFEST}") if path.is_file() and not path.is_symlink()]
    newest = sorted(manifests, key=lambda path: path.stat().st_mtime, reverse=True)
    reports = [path.parent for path in newest if path.parent.parent.name == "report"]
    made = {
        artifact.digest: artifact
        for path in newest
        if (artifact := _described(path.parent, path.stat().st_mtime_ns)) is not None
    }
    rows: list[Row] = []
    unreadable: list[str] = []
    for folder in reports[:MOST]:
        try:
            row = _row(root, folder, made)
            costs(row.stages, row.prices)  # stays that another version wrote are refused here
            rows.append(row)
        except UNREADABLE as error:
            unreadable.append(why(root, folder, error))
    rows.sort(key=lambda row: row.made_at)
    backs, damaged = read_backs(root)
    newest_of_each = {(row.label, row.asked): row for row in rows}
    incomplete = [_incomplete(root, row) for row in newest_of_each.values() if row.gone]
    return Found(
        tuple(newest_of_each.values()),
        _promoted(rows, backs),
        (*unreadable, *incomplete, *damaged),
        max(0, len(reports) - MOST),
    )


def _incomplete(root: Path, row: Row) -> str:
    """What of a row is not shown, in one line."""
    lacks = f"its cost and pairs are without {', '.join(row.gone)}, which is gone"
    return why(root, (root / row.report).parent, UserError(lacks))


def _promoted(rows: Sequence[Row], backs: Sequence[Back]) -> tuple[Promoted, ...]:
    """Every champion once, from its first report on, and each time that a person went back to one; oldest first."""
    champions: dict[tuple[str, int | None], Promoted] = {}
    for row in rows:
        if row.promotion is not None and row.promotion.status == CHAMPION:
            entry = (row.made_at, row.promotion, row.label)
            champions.setdefault((row.promotion.model, row.promotion.version), entry)
    again = [_again(back, champions.get((back.model, back.version))) for back in backs]
    return tuple(sorted([*champions.values(), *again], key=lambda entry: entry[0]))


def _again(back: Back, first: Promoted | None) -> Promoted:
    """`first`: how it became champion; None where no report here says that."""
    said = f"tucano promote --back: {back.why}"
    candidate, label = (first[1].candidate, first[2]) if first else ("", "")
    return back.moment, Promotion(candidate, CHAMPION, said, back.model, back.version, said), label


def varied(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """What of each row's settings differs: all that vary where they are few, else those that are not the usual value.
    Of a single configuration, what differs from its profile.

    {dotted name: value}, for each row.
    """
    if len({row.label for row in rows}) == 1:
        return [{**row.differences} for row in rows]
    names = dict.fromkeys(name for row in rows for name in row.settings)
    kinds = {name: Counter(_key(row.settings.get(name)) for row in rows) for name in names}
    several = [name for name, values in kinds.items() if len(values) > 1]
    if len(several) <= FEW:
        return [{name: row.settings.get(name) for name in several} for row in rows]
    usual = {name: kinds[name].most_common(1)[0][0] for name in several}
    return [
        {name: row.settings.get(name) for name in several if _key(row.settings.get(name)) != usual[name]}
        for row in rows
    ]


@dataclass(frozen=True, slots=True)
class Spent:
    """What a configuration alone cost, what it shares with others, and the stages that it shares."""

    own: Cost
    shared: Cost
    with_others: tuple[str, ...]


def spent(rows: Sequence[Row]) -> list[Spent]:
    """The cost of each row: work that serves several configurations (data, audit, SFT) is nobody's alone."""
    used = Counter(artifact.digest for row in rows for artifact in row.stages.values())
    return [_spent(row, used) for row in rows]


def _spent(row: Row, used: Mapping[str, int]) -> Spent:
    each = costs(row.stages, row.prices)
    shared = [name for name, artifact in row.stages.items() if used[artifact.digest] > 1]
    own = [cost for name, cost in each.items() if name not in shared]
    return Spent(total(own), total([each[name] for name in shared]), tuple(shared))


def _row(root: Path, folder: Path, made: Mapping[str, Artifact]) -> Row:
    manifest = sound(folder)
    digests = manifest["inputs"]
    compared = made.get(digests.get("comparison", ""))
    if compared is None:
        raise UserError("the comparison that it reports is gone")
    sound(compared.folder)
    file = ComparisonFiles(compared.folder).comparison
    settings = json.loads(ReportFiles(folder).settings.read_text(encoding="utf-8"))
    promotion = manifest["record"].get("promotion")
    return Row(
        label=configuration_digits(settings),
        profile=str(manifest["settings"].get("profile", "")),
        differences={str(name): here for name, here, _ in manifest["settings"].get("differences", ())},
        settings=_flat(of_configuration(settings)),
        asked=digest({"data": digests.get("data"), "comparison": settings.get("comparison")}),
        comparison=_comparison(file, file.stat().st_mtime_ns),
        stages={name: made[known] for name, known in digests.items() if known in made},
        report=ReportFiles(folder).page.relative_to(root).as_posix(),
        made_at=datetime.fromisoformat(manifest["made_at"]).astimezone(UTC),
        prices=CostSettings.model_validate(settings.get("cost", {})),
        promotion=parsed(Promotion, promotion) if promotion else None,
        gone=tuple(sorted(digests.keys() - {name for name, known in digests.items() if known in made})),
    )


def _flat(sections: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    return {f"{section}.{name}": value for section, settings in sections.items() for name, value in settings.items()}


def sound(folder: Path) -> dict[str, Any]:
    """The manifest of an artifact that is as it was made; UserError of any other."""
    manifest, fault = _inspected(folder, (folder / MANIFEST).stat().st_mtime_ns)
    if manifest is None or fault is not None:
        raise UserError(str(fault))
    return manifest


def why(root: Path, folder: Path, error: Exception) -> str:
    """What is wrong with an artifact, in one line."""
    said = " ".join(str(error).replace(f"{root}/", "").split())
    return f"{folder.relative_to(root).as_posix()}: {said}"


def _key(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


# The page is made anew each minute; what has its name and time still is not read again.


@lru_cache(CACHED)
def _described(folder: Path, changed: int) -> Artifact | None:
    return described(folder)


@lru_cache(CACHED)
def _inspected(folder: Path, changed: int) -> tuple[dict[str, Any] | None, str | None]:
    return inspect(folder)


@lru_cache(MOST)
def _comparison(file: Path, changed: int) -> Comparison:
    return read_record(Comparison, file)
