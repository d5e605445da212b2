"""The store of what stages made. An artifact is a folder of files with a manifest, written last and atomically.

A stage whose valid artifact for the same inputs, settings and code exists is not run again. Before reuse it is checked,
and the store says what is wrong, that

- the manifest is as it was sealed (its seal is over its whole content);
- it was made by the stage and from the settings, inputs and code that its folder stands for: a folder's name is never
  trusted;
- the folder holds the files that the manifest lists, with their sizes and hashes, and nothing else: no further file, no
  link.

That finds every accident, and every edit by somebody who does not seal the artifact anew. It is no signature: whoever
can write the storage can write a whole artifact with a manifest of its own. What was registered or reported names
artifacts by their digests, so `tucano lineage` finds those replaced.
"""

import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import FiniteFloat

from tucano.artifacts.identity import digest, fingerprint
from tucano.artifacts.records import parsed
from tucano.errors import UserError
from tucano.storage.folder import Folder
from tucano.storage.locks import owned
from tucano.storage.places import require_own_folder, write_whole

SCHEMA_VERSION = 2
OF_ITS_MAKING = ("made_at", "seconds")
"""What of a manifest says nothing about what the artifact is."""
MANIFEST = "manifest.json"
MOST_BYTES = 2**24
"""Of a manifest. One of ten thousand files has 2 MB."""
MOST_REASONS = 3
CHECKPOINT = re.compile(r"checkpoint-(\d+)")
NAME = re.compile(r"[\w.-]*\w/[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything an artifact follows from: equal recipes make interchangeable artifacts."""

    stage: str
    settings: Mapping[str, Any]
    inputs: Mapping[str, str]
    code: str

    @property
    def key(self) -> str:
        return digest({"stage": self.stage, "settings": self.settings, "inputs": self.inputs, "code": self.code})[:16]


@dataclass(frozen=True, slots=True)
class _Fields:
    """What every manifest holds."""

    digest: str
    schema_version: int
    stage: str
    settings: dict[str, Any]
    inputs: dict[str, str]
    code: str
    made_at: str
    seconds: FiniteFloat
    files: dict[str, dict[str, int | str]]
    record: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Artifact:
    """A valid artifact: where it is, what identifies it, and the stage's own record."""

    stage: str
    folder: Path
    digest: str
    record: Mapping[str, Any]
    seconds: float
    made_at: datetime
    reused: bool = field(compare=False, default=False)

    @property
    def name(self) -> str:
        """What another process finds it by, in the same storage."""
        return f"{self.folder.parent.name}/{self.folder.name}"


class Store:
    """Artifacts and work folders under one root: `artifacts/<stage>/<key>/` and `work/<stage>/<key>/`.

    With remote storage the root is this machine's working copy: artifacts are uploaded when they stand, and fetched
    where they are missing.
    """

    def __init__(self, root: Path, remote: Folder | None = None) -> None:
        self.root, self.remote = root, remote

    def named(self, name: str) -> Artifact:
        """The artifact that another process has made and named, like `sft/3fa8…`; fetched where it is missing.

        Raises UserError when it is not valid.
        """
        if not NAME.fullmatch(name):
            raise UserError(f"{name!r} is no name of an artifact; one looks like sft/3fa86c0d51e2b7a4")
        folder = self.root / "artifacts" / name
        require_own_folder(self.root, f"artifacts/{name}")
        if not folder.is_dir():
            self._fetched(folder)
        made = opened(folder)
        _used_now(folder)
        return made

    def alike(self, recipe: Recipe, shared: Callable[[Mapping[str, str]], object], stage: str) -> Artifact | None:
        """The newest valid artifact of `stage` here that was made by the settings and code of a recipe, and of inputs
        in which `shared` sees the same; None where there is none.
        """
        for folder in newest_first(self.root, stage):
            known = read_manifest(folder) if NAME.fullmatch(f"{stage}/{folder.name}") else None
            if known is None or (known["settings"], known["code"]) != (recipe.settings, recipe.code):
                continue
            if shared(known["inputs"]) == shared(recipe.inputs) and inspect(folder)[1] is None:
                return _artifact(folder, known)
        return None

    def work_folder(self, recipe: Recipe) -> Path:
        """Where a stage keeps checkpoints over attempts; emptied once its artifact stands."""
        return self.root / _work(recipe)

    def work_mirror(self, recipe: Recipe) -> str | None:
        """URL of the work folder's copy in remote storage."""
        return f"{self.remote.url.rstrip('/')}/{_work(recipe)}" if self.remote else None

    def make(
        self, recipe: Recipe, produce: Callable[[Path], Mapping[str, Any]], say: Callable[[str], None]
    ) -> Artifact:
        """The artifact of `recipe`: the valid one that stands, or a new one from `produce(draft folder) -> record`.

        `say` hears in one sentence whether and why the stage runs. Where another process of this machine is making it,
        that one is waited for.
        """
        name = f"{recipe.stage}/{recipe.key}"
        for place in (f"artifacts/{name}", f"artifacts/{name}.draft", f"work/{name}", f"locks/{name}"):
            require_own_folder(self.root, place)
        with owned(self.root / "locks" / name, say):
            return self._make(recipe, produce, say)

    def _make(
        self, recipe: Recipe, produce: Callable[[Path], Mapping[str, Any]], say: Callable[[str], None]
    ) -> Artifact:
        folder = self.root / "artifacts" / recipe.stage / recipe.key
        found, reason = self._check(recipe, folder)
        if found is None and self._fetched(folder):
            found, reason = self._check(recipe, folder)
        if found is not None:
            say(f"{recipe.stage}: reused, nothing it depends on has changed")
            _used_now(folder)
            self._upload(recipe, folder, say)
            return found
        say(f"{recipe.stage}: runs, {reason}")
        draft = folder.with_name(f"{folder.name}.draft")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        began = time.monotonic()
        record = produce(draft)
        self._seal(recipe, draft, record, time.monotonic() - began)
        shutil.rmtree(folder, ignore_errors=True)
        draft.replace(folder)
        shutil.rmtree(self.work_folder(recipe), ignore_errors=True)
        self._upload(recipe, folder, say)
        made, _ = self._check(recipe, folder)
        assert made is not None, "an artifact just written is valid"
        return replace(made, reused=False)

    def _fetched(self, folder: Path) -> bool:
        """Whether a complete copy was in remote storage and stands here now."""
        name = folder.relative_to(self.root).as_posix()
        if self.remote is None or MANIFEST not in self.remote.names(name):
            return False
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        self.remote.pull(name, folder)
        return True

    def _upload(self, recipe: Recipe, folder: Path, say: Callable[[str], None]) -> None:
        """Copy an artifact to remote storage, unless it is there; then nobody needs its checkpoints any more."""
        name = folder.relative_to(self.root).as_posix()
        try:
            if self.remote is not None and MANIFEST not in self.remote.names(name):
                self.remote.push(folder, name, last=MANIFEST)
                self.remote.remove(_work(recipe))
        # every kind of storage raises its own kinds; the artifact stands here, and the next run tries again
        except Exception as error:
            say(f"{recipe.stage}: not uploaded ({type(error).__name__}: {error}); the next run tries again")

    def _seal(self, recipe: Recipe, draft: Path, record: Mapping[str, Any], seconds: float) -> None:
        manifest = {
            "schema_version": SCHEMA_VERSION,
            "stage": recipe.stage,
            "settings": recipe.settings,
            "settings_digest": digest(recipe.settings),
            "inputs": dict(recipe.inputs),
            "code": recipe.code,
            "made_at": datetime.now(UTC).isoformat(),
            "seconds": round(seconds, 3),
            "files": {path.relative_to(draft).as_posix(): fingerprint(path) for path in _files(draft)},
            "record": dict(record),
        }
        sealed = {"digest": _identity(manifest), **manifest}
        text = json.dumps({"seal": digest(sealed), **sealed}, indent=1, ensure_ascii=False, default=str)
        write_whole(draft / MANIFEST, text)

    def _check(self, recipe: Recipe, folder: Path) -> tuple[Artifact | None, str]:
        """The artifact in `folder` if it is valid, else None and why not."""
        if not (folder / MANIFEST).is_file():
            return None, self._what_changed(recipe, folder)
        manifest, fault = inspect(folder)
        if manifest is None or fault is not None:
            return None, str(fault)
        return _artifact(folder, manifest), ""

    def _what_changed(self, recipe: Recipe, folder: Path) -> str:
        """Compare with the newest earlier artifact of the stage: which settings, inputs or code differ."""
        others = newest_first(self.root, recipe.stage)
        saved = [CHECKPOINT.fullmatch(path.name) for path in self.work_folder(recipe).glob("attempt-*/*")]
        if steps := [int(found[1]) for found in saved if found]:
            return f"it goes on at step {max(steps)}"
        if folder.is_dir():
            return f"its manifest {folder / MANIFEST} is missing"
        if not others:
            return "for the first time"
        before = read_manifest(others[0])
        if before is None:
            return "its last manifest is damaged"
        changed = [f"input {name}" for name, value in recipe.inputs.items() if before["inputs"].get(name) != value]
        now = json.loads(json.dumps(recipe.settings, default=str))
        changed += [f"setting {name}" for name in _differences(before["settings"], now)]
        changed += ["code"] if before["code"] != recipe.code else []
        more = f" and {len(changed) - MOST_REASONS} more" if len(changed) > MOST_REASONS else ""
        return f"because of a new {', '.join(changed[:MOST_REASONS])}{more}" if changed else "its artifact is gone"


def opened(folder: Path) -> Artifact:
    """The artifact that lies in a folder; UserError when it is not valid."""
    manifest, fault = inspect(folder)
    if manifest is None or fault is not None:
        raise UserError(f"artifact {folder.parent.name}/{folder.name} cannot be used: {fault}")
    return _artifact(folder, manifest)


def newest_first(root: Path, stage: str) -> list[Path]:
    """The folders of a stage's artifacts in a storage, by when they were made or used last."""
    manifests = root.glob(f"artifacts/{stage}/*/{MANIFEST}")
    return [path.parent for path in sorted(manifests, key=lambda path: path.lstat().st_mtime, reverse=True)]


def last_used(root: Path, stage: str) -> Path | None:
    """The folder of a stage's artifact that was made or used last; UserError when it is not valid."""
    found = newest_first(root, stage)
    return opened(found[0]).folder if found else None


def described(folder: Path) -> Artifact | None:
    """The artifact that a folder's manifest describes, whose files nobody has checked; None where it is damaged."""
    manifest = read_manifest(folder)
    return None if manifest is None else _artifact(folder, manifest)


def inspect(folder: Path) -> tuple[dict[str, Any] | None, str | None]:
    """The manifest of an artifact's folder (None: unreadable), and what is wrong with the artifact (None: it is as it
    was made).
    """
    manifest = read_manifest(folder)
    if manifest is None:
        return None, f"its manifest {folder / MANIFEST} is damaged"
    content = {name: value for name, value in manifest.items() if name != "seal"}
    made_from = Recipe(manifest["stage"], manifest["settings"], manifest["inputs"], manifest["code"])
    if manifest.get("seal") != digest(content) or manifest["digest"] != _identity(manifest):
        return None, f"its manifest {folder / MANIFEST} was edited"
    if (folder.parent.name, folder.name) != (made_from.stage, made_from.key):
        return manifest, f"it is another artifact, {made_from.stage}/{made_from.key}, in the place of {folder}"
    return manifest, _files_fault(folder, manifest["files"])


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """What the manifest of an artifact's folder holds, whoever wrote it; None where it is missing or damaged."""
    path = folder / MANIFEST
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > MOST_BYTES:
            return None
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        datetime.fromisoformat(parsed(_Fields, content).made_at)
        digest(content)  # text may hold what is no character
    except (OSError, ValueError, RecursionError):
        return None
    return content


def _identity(manifest: Mapping[str, Any]) -> str:
    """What is the same for an artifact that was made again with the same files and the same record."""
    return digest({name: value for name, value in manifest.items() if name not in ("seal", "digest", *OF_ITS_MAKING)})


def _files_fault(folder: Path, expected: Mapping[str, Mapping[str, int | str]]) -> str | None:
    found = {
        path.relative_to(folder).as_posix(): path
        for path in folder.rglob("*")
        if path.is_symlink() or not path.is_dir()
    }
    for name in sorted({*found} - {*expected, MANIFEST}):
        return f"it holds a file that it was not made with, {folder / name}"
    for name, fingerprinted in expected.items():
        if name not in found:
            return f"its file {folder / name} is missing"
        if found[name].is_symlink():
            return f"its file {folder / name} is a link now"
        if not found[name].is_file():  # it is not opened: a pipe would be waited for
            return f"its file {folder / name} is no file any more"
        if fingerprint(found[name]) != fingerprinted:
            return f"its file {folder / name} was changed or truncated"
    return None


def _artifact(folder: Path, manifest: Mapping[str, Any]) -> Artifact:
    made_at = datetime.fromisoformat(manifest["made_at"])
    return Artifact(
        manifest["stage"], folder, manifest["digest"], manifest["record"], manifest["seconds"], made_at, reused=True
    )


def _used_now(folder: Path) -> None:
    """An artifact is as old as its last use: `tucano gc` goes by the times of its files."""
    os.utime(folder / MANIFEST)


def _work(recipe: Recipe) -> str:
    return f"work/{recipe.stage}/{recipe.key}"


def _differences(before: Mapping[str, Any], now: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for name in sorted({*before, *now}):
        old, new = before.get(name), now.get(name)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from _differences(old, new, f"{prefix}{name}.")
        elif old != new:
            yield f"{prefix}{name}"


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path != folder / MANIFEST)
