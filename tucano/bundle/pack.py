"""A registered version, its chain of artifacts and the ratings behind its audit, gathered into one file."""

import hashlib
import importlib.metadata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from tucano.artifacts.code_version import NUMERIC_PACKAGES
from tucano.artifacts.identity import fingerprint
from tucano.artifacts.lineage import faults, verify
from tucano.artifacts.store import read_manifest
from tucano.bundle import archive
from tucano.bundle.card import render
from tucano.bundle.manifest import ARTIFACTS, CARD, MODEL, RATINGS, SCHEMA_VERSION, Entry, Manifest, require_name
from tucano.bundle.reading import Contents
from tucano.errors import UserError
from tucano.settings import PipelineSettings
from tucano.tracking import RegisteredModel
from tucano.tracking.registry import digests_of

OURS = "synthetic"
"""The source whose texts were generated here and are free."""


@dataclass(frozen=True, slots=True)
class Packed:
    """What was written, and what a person should know before passing it on."""

    manifest: Manifest
    bytes: int
    warnings: tuple[str, ...]


def pack(root: Path, version: RegisteredModel, model: Path, ratings: Path, consent: str | None, out: Path) -> Packed:
    """Write the bundle of a version whose files lie in `model`, from the storage at `root`.

    `ratings`: the folder of those that ship with the code, for runs whose settings name no other.
    UserError where its chain is not whole, or holds texts of others and nobody answers for that.
    """
    contents = gathered(root, version, consent)
    chosen = contents.settings
    for there, what in (
        (chosen.dpo.enabled, "dpo.enabled=true"),
        (chosen.grpo.adapters == "per_task", "grpo.adapters=per_task"),
    ):
        if there:
            raise UserError(
                f"{version} was trained with {what}, which a bundle cannot train again; share the registered version"
                " itself, or one of a run without it"
            )
    texts = _texts_of_others(contents.settings)
    if texts and consent is None:
        raise UserError(
            f"the bundle would hold texts of others ({texts}), word for word; give --consent NAME to say who answers"
            " for passing them on"
        )
    named = contents.settings.audit.ratings
    rated = _rated(contents, Path(named) if named else ratings)
    sources = dict(_files(contents.stages, model, rated))
    card = render(contents).encode()
    entries = _entries(sources) | {CARD: Entry(len(card), hashlib.sha256(card).hexdigest())}
    manifest = replace(contents.manifest, files=dict(sorted(entries.items())))
    archive.write(out, manifest, {**sources, CARD: card})
    return Packed(manifest, out.stat().st_size, tuple(_warnings(version, texts, named is not None)))


def gathered(root: Path, version: RegisteredModel, consent: str | None = None) -> Contents:
    """All that a version was made from, with a manifest that lists no files yet. UserError where its chain is not
    whole.
    """
    chain = _chain(root, version)
    links = verify(root, chain)
    if broken := faults(links):
        raise UserError(f"{version} cannot be passed on: {broken[0]}")
    stages = {link.stage: link.folder for link in links if link.folder is not None}
    packages = {name: importlib.metadata.version(name) for name in NUMERIC_PACKAGES}
    empty = Manifest(SCHEMA_VERSION, version.model, version.version, version.tags, chain, consent, packages, {})
    return Contents(empty, stages)


def registered_chain(version: RegisteredModel) -> dict[str, str]:
    """{stage: digest} by the registry, whose tags also name the files, and the candidate, which is one of the seeds."""
    return {name: value for name, value in digests_of(version.tags).items() if name not in ("files", "grpo")}


def _chain(root: Path, version: RegisteredModel) -> dict[str, str]:
    """The registry's, and the newest report on exactly these artifacts."""
    chain = registered_chain(version)
    manifests = map(read_manifest, (root / ARTIFACTS / "report").glob("*/"))
    reports = [made for made in manifests if made is not None and chain.items() <= made["inputs"].items()]
    if not reports:
        raise UserError(
            f"{root} holds no report on {version}, which its settings stand in; start its run again, which reuses all"
            " else"
        )
    return {**chain, "report": max(reports, key=lambda made: str(made["made_at"]))["digest"]}


def _texts_of_others(settings: PipelineSettings) -> str | None:
    """What holds texts that we did not write: sources, general demonstrations, ratings, public benchmarks."""
    places = {"data.general.path": settings.data.general.path, "audit.ratings": settings.audit.ratings}
    places |= {f"benchmark.{name}": folder for name, folder in settings.benchmark.named.items()}
    sources = [part.source for part in settings.data.parts if part.source != OURS]
    return ", ".join(dict.fromkeys([*sources, *(name for name, place in places.items() if place)])) or None


def _rated(contents: Contents, folder: Path) -> dict[str, Path]:
    """The files of the rating folder that the audit read."""
    for name, sha256 in contents.rated.items():
        if not (folder / name).is_file() or fingerprint(folder / name)["sha256"] != sha256:
            raise UserError(f"{folder / name} is not what the audit read any more; bring it back, or run again")
    return {name: folder / name for name in contents.rated}


def _files(stages: Mapping[str, Path], model: Path, rated: Mapping[str, Path]) -> Iterator[tuple[str, Path]]:
    for stage, folder in stages.items():
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            yield f"{ARTIFACTS}/{stage}/{folder.name}/{path.relative_to(folder).as_posix()}", path
    for path in sorted(path for path in model.rglob("*") if path.is_file()):
        yield f"{MODEL}/{path.relative_to(model).as_posix()}", path
    for name, path in rated.items():
        yield f"{RATINGS}/{name}", path


def _entries(sources: Mapping[str, Path]) -> dict[str, Entry]:
    """Of equal files the first one is packed."""
    entries: dict[str, Entry] = {}
    first: dict[str, str] = {}
    for name, path in sorted(sources.items()):
        require_name(name)
        found = fingerprint(path)
        sha256 = str(found["sha256"])
        entries[name] = Entry(int(found["bytes"]), sha256, first.get(sha256))
        first.setdefault(sha256, name)
    return entries


def _warnings(version: RegisteredModel, texts: str | None, rated_elsewhere: bool) -> Iterator[str]:
    if texts:
        yield f"it holds texts of others ({texts})"
    if version.tags.get("noncommercial") == "True":
        yield f"its data are not for commercial use ({version.tags['licences']})"
    if rated_elsewhere:
        yield "it holds your own ratings with their raters' names"
    yield "names of hosts and folders of the machine that trained stand in its records"
