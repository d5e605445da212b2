"""A bundle held against itself: each check looks at one kind of thing, and says in sentences what does not fit.

All of it may be an enemy's: nothing in it is run or unpickled, no weights are loaded, and what cannot be read is a
check that failed.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from tucano.artifacts.identity import digests_at, fingerprint
from tucano.artifacts.lineage import faults, verify
from tucano.artifacts.records import read_record
from tucano.audit.report import AuditReport
from tucano.bundle.card import render
from tucano.bundle.manifest import ARTIFACTS, CARD, MODEL, RATINGS, Manifest
from tucano.bundle.reading import SEED_STAGE, Contents, Holds
from tucano.bundle.received import code_here, code_there, settings_followed
from tucano.bundle.remaking import answers_scored_again, verdict_made_again
from tucano.files.models import MergedFiles, SeedFiles, ServedFiles
from tucano.files.prompts import SETS, PromptFiles
from tucano.files.results import AuditFiles
from tucano.prompts import read_prompts
from tucano.security.printable import short
from tucano.tracking import registry
from tucano.tracking.models import WEIGHTS


def held(look: Callable[[], Holds]) -> Holds:
    """A check that cannot read what it is about has failed."""
    try:
        return look()
    except Exception as error:  # whoever wrote the bundle chose what is read; nothing of it may end the others
        return Holds("", (f"it cannot be made: {type(error).__name__}: {error}",))


def looks(root: Path, contents: Contents) -> dict[str, Callable[[], Holds]]:
    """What each check of an unpacked bundle looks at, in order."""
    return {
        "files": lambda: files(root, contents.manifest),
        "artifacts": lambda: artifacts(root, contents.manifest),
        "registry": lambda: registered(root, contents),
        "ratings": lambda: ratings(root, contents),
        "settings": lambda: settings_followed(contents),
        "code": lambda: code(contents),
        "answers": lambda: answers_scored_again(contents),
        "verdict": lambda: verdict_made_again(contents),
        "model card": lambda: card(root, contents),
    }


def files(root: Path, manifest: Manifest) -> Holds:
    """Each file that the manifest lists is there with its size and SHA-256, and no other."""
    found = {path.relative_to(root).as_posix(): path for path in root.rglob("*") if path.is_file()}
    prints = {name: fingerprint(path) for name, path in found.items()}
    wanted = {name: {"bytes": entry.bytes, "sha256": entry.sha256} for name, entry in manifest.files.items()}
    added = {name: value for name, value in prints.items() if name not in wanted}
    said = []
    for name, value in wanted.items():
        if name in found:
            said += [f"{name} was changed"] if prints[name] != value else []
            continue
        renamed = next((other for other, print_ in added.items() if print_ == value), None)
        said.append(f"{name} is missing" if renamed is None else f"{name} is called {renamed}")
        added.pop(renamed or "", None)
    said += [f"{name} was added" for name in added]
    size = sum(path.stat().st_size for path in found.values())
    return Holds(f"{len(found)} files, {size / 1e6:.1f} MB, each with its size and SHA-256", tuple(said))


def artifacts(root: Path, manifest: Manifest) -> Holds:
    """Every link of the chain is there and whole, made from the ones before, and nothing stands beside it."""
    links = verify(root, manifest.chain, sources=False)
    beside = [
        f"{stage.name}/{one.name} is no link of the chain"
        for stage in sorted((root / ARTIFACTS).glob("*/"))
        for one in sorted(stage.glob("*/"))
        if one not in [link.folder for link in links]
    ]
    return Holds(f"{len(links)} stages, each made from the ones before it", (*faults(links), *beside))


def registered(root: Path, contents: Contents) -> Holds:
    """The registry's tags, the files of the version, and the seed that it should be."""
    manifest = contents.manifest
    said = []
    for stage, digest in manifest.chain.items():
        if stage != "report" and manifest.tags.get(f"digest.{stage}") != digest:
            said.append(f"the registry names another {stage}")
    best = contents.candidate
    if manifest.tags["digest.grpo"] != manifest.chain[f"{SEED_STAGE}{best}"]:
        said.append(f"{best} is best on validation, and another seed was registered")
    if manifest.tags["digest.files"] != registry.digest(root / MODEL):
        said.append("the files in model/ are not those that were registered")
    served = ServedFiles((root / MODEL / WEIGHTS).parent)
    for here, there in (
        (served.model, MergedFiles(contents.of("merged")).model),
        (served.adapter, SeedFiles(contents.of(f"{SEED_STAGE}{best}")).adapter),
    ):
        if digests_at(here, "*") != digests_at(there, "*"):
            said.append(f"{here.relative_to(root)} is not what {there.relative_to(root / ARTIFACTS)} holds")
    if manifest.tags["verdict"] != contents.comparison.verdict.headline:
        said.append("the registry has another verdict")
    said += _tags_apart(contents)
    return Holds(
        f"{manifest.model} version {manifest.version} is {best}, merged; its files are the registry's", tuple(said)
    )


def _tags_apart(contents: Contents) -> Iterator[str]:
    """What the registry says of licences and of the audit, and the artifacts do not."""
    licences = [str(licence) for licence in contents.made("data")["record"]["licences"]]
    own = sorted(_licences(PromptFiles(contents.of("data"))))
    if own != licences:
        said, says = (short(", ".join(names), 60) for names in (licences, own))
        yield f"the data stage says {said} of licences, and its prompts say {says}"
    report = read_record(AuditReport, AuditFiles(contents.of("audit")).report)
    expected = {
        "licences": ", ".join(licences),
        "noncommercial": str(any("NC" in licence for licence in licences)),
        **report.tags,
    }
    tags = {"noncommercial": "False", **contents.manifest.tags}
    for name, value in expected.items():
        if tags.get(name) != value:
            told = [short(repr(one), 60) if one is not None else "nothing" for one in (tags.get(name), value)]
            yield f"the registry says {told[0]} of {name}, and the artifacts say {told[1]}"


def _licences(files: PromptFiles) -> set[str]:
    """Of every prompt that the run has read."""
    there = [path for path in (*map(files.of, SETS), files.general) if path.is_file()]
    return {prompt.licence for path in there for prompt in read_prompts(path)}


def ratings(root: Path, contents: Contents) -> Holds:
    wanted = contents.rated
    found = digests_at(root / RATINGS, "*")
    said = [
        f"{name} is not what the audit read"
        for name in sorted({*wanted, *found})
        if wanted.get(name) != found.get(name)
    ]
    return Holds(f"{len(found)} files, as the audit read them", tuple(said))


def code(contents: Contents) -> Holds:
    """Whether the code here is the code that made it."""
    said = []
    for stage in contents.stages:
        there = code_there(contents, stage)
        here = code_here(stage)
        said += [] if there == here else [f"{stage} was made by code {there}, here is {here}"]
    return Holds("this is the code that made it", others=tuple(said))


def card(root: Path, contents: Contents) -> Holds:
    file = root / CARD
    same = file.read_text(encoding="utf-8") == render(contents)
    return Holds("says what the verdict says", () if same else (f"{CARD} is not the card of what is in here",))
