"""The store of what stages made. An artifact is a folder of files with a manifest, written last and atomically.

A stage whose valid artifact for the same inputs, settings and code exists is not run again. A missing, changed or half-written
file makes an artifact invalid, and the store says which. A folder's name is never trusted: the manifest's own digest and every
file's size and hash are checked before reuse.
"""

import ast
import hashlib
import importlib.metadata
import json
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tucano.errors import UserError
from tucano.storage import Place, owned

SCHEMA_VERSION = 1
MANIFEST = "manifest.json"
OUR_PACKAGES = ("data", "rewards", "tucano")
NUMERIC_PACKAGES = ("torch", "trl", "peft", "transformers")
"""Their versions are part of the code version of every stage that imports torch's world: results depend on them."""


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

    With remote storage the root is this machine's working copy: artifacts are uploaded when they stand, and fetched where they are
    missing.
    """

    def __init__(self, root: Path, remote: Place | None = None) -> None:
        self.root, self.remote = root, remote

    def named(self, name: str) -> Artifact:
        """The artifact that another process has made and named, like `sft/3fa8…`; fetched where it is missing. UserError when it is not valid."""
        folder = self.root / "artifacts" / name
        recipe = Recipe(name.partition("/")[0], {}, {}, "")
        if not folder.is_dir():
            self._fetched(folder)
        found, reason = self._check(recipe, folder)
        if found is None:
            raise UserError(f"artifact {name} cannot be used from storage {self.root}: {reason}")
        _used_now(folder)
        return found

    def work_folder(self, recipe: Recipe) -> Path:
        """Where a stage keeps checkpoints over attempts; emptied once its artifact stands."""
        return self.root / _work(recipe)

    def work_mirror(self, recipe: Recipe) -> str | None:
        """URL of the work folder's copy in remote storage."""
        return f"{self.remote.url.rstrip('/')}/{_work(recipe)}" if self.remote else None

    def make(self, recipe: Recipe, produce: Callable[[Path], Mapping[str, Any]], say: Callable[[str], None]) -> Artifact:
        """The artifact of `recipe`: the valid one that stands, or a new one from `produce(draft folder) -> record`.

        `say` hears in one sentence whether and why the stage runs. Where another process of this machine is making it, that one is
        waited for.
        """
        with owned(self.root / "locks" / recipe.stage / recipe.key, say):
            return self._make(recipe, produce, say)

    def _make(self, recipe: Recipe, produce: Callable[[Path], Mapping[str, Any]], say: Callable[[str], None]) -> Artifact:
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
        except Exception as error:  # every kind of storage raises its own kinds; the artifact stands here, and the next run tries again
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
        text = json.dumps({"digest": digest(manifest), **manifest}, indent=1, ensure_ascii=False, default=str)
        (draft / f"{MANIFEST}.draft").write_text(text, encoding="utf-8")
        (draft / f"{MANIFEST}.draft").replace(draft / MANIFEST)

    def _check(self, recipe: Recipe, folder: Path) -> tuple[Artifact | None, str]:
        """The artifact in `folder` if it is valid, else None and why not."""
        if not (folder / MANIFEST).is_file():
            return None, self._what_changed(recipe, folder)
        manifest, fault = inspect(folder)
        if manifest is None or fault is not None:
            return None, str(fault)
        return _artifact(recipe.stage, folder, manifest), ""

    def _what_changed(self, recipe: Recipe, folder: Path) -> str:
        """Compare with the newest earlier artifact of the stage: which settings, inputs or code differ."""
        manifests = sorted(folder.parent.glob(f"*/{MANIFEST}"), key=lambda path: path.stat().st_mtime)
        if folder.is_dir():
            return f"its manifest {folder / MANIFEST} is missing"
        if not manifests:
            return "for the first time"
        try:
            before = json.loads(manifests[-1].read_text(encoding="utf-8"))
            changed = [f"input {name}" for name, value in recipe.inputs.items() if before["inputs"].get(name) != value]
            now = json.loads(json.dumps(recipe.settings, default=str))
            changed += [f"setting {name}" for name in _differences(before["settings"], now)]
            changed += ["code"] if before["code"] != recipe.code else []
        except (ValueError, KeyError, AttributeError):
            return "its last manifest is damaged"
        return f"because of a new {', '.join(changed)}" if changed else "its artifact is gone"


def inspect(folder: Path) -> tuple[dict[str, Any] | None, str | None]:
    """The manifest of an artifact's folder (None: unreadable), and what is wrong with the artifact (None: it is as it was made)."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        content = {name: value for name, value in manifest.items() if name != "digest"}
        stated = manifest["digest"]
    except (OSError, ValueError, KeyError, AttributeError):
        return None, f"its manifest {folder / MANIFEST} is damaged"
    if stated != digest(content):
        return None, f"its manifest {folder / MANIFEST} was edited"
    for name, expected in manifest["files"].items():
        if not (folder / name).is_file():
            return manifest, f"its file {folder / name} is missing"
        if fingerprint(folder / name) != expected:
            return manifest, f"its file {folder / name} was changed or truncated"
    return manifest, None


def _artifact(stage: str, folder: Path, manifest: Mapping[str, Any]) -> Artifact:
    made_at = datetime.fromisoformat(manifest["made_at"])
    return Artifact(stage, folder, manifest["digest"], manifest["record"], manifest["seconds"], made_at, reused=True)


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


def digest(value: Any) -> str:
    """SHA-256 of a JSON-able value in canonical form (sorted keys, no spaces)."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str).encode()).hexdigest()


def fingerprint(path: Path) -> dict[str, int | str]:
    with path.open("rb") as file:
        return {"bytes": path.stat().st_size, "sha256": hashlib.file_digest(file, "sha256").hexdigest()}


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST)


_parsing = threading.Lock()
"""Python 3.11's parser counts its recursion per process: two threads that parse at once fail (CPython issue 106905)."""


def code_version(*modules: str) -> str:
    """Digest of the sources of `modules` and of everything of ours that they import, and of the numeric packages' versions.

    A commit that touches only docs changes nothing; an edit in the engine does.
    """
    sources: dict[str, str] = {}
    waiting = list(modules)
    while waiting:
        module = waiting.pop()
        path = _source(module)
        if path is not None and module not in sources:
            text = path.read_text(encoding="utf-8")
            sources[module] = hashlib.sha256(text.encode()).hexdigest()
            waiting += _imports(text)
    versions = {name: importlib.metadata.version(name) for name in NUMERIC_PACKAGES}
    return digest({"sources": sources, "versions": versions})[:16]


def _imports(source: str) -> list[str]:
    names: list[str] = []
    with _parsing:
        tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return names


def _source(module: str) -> Path | None:
    """The file of one of our modules, found without importing anything; None for other people's, and for names in a module."""
    if module.split(".")[0] not in OUR_PACKAGES:
        return None
    place = Path(__file__).parent.parent.joinpath(*module.split("."))
    candidates = (place / "__init__.py", place.with_suffix(".py"))
    return next((path for path in candidates if path.is_file()), None)
