"""The storage root: everything a run writes lies under one folder, and is known to fit before training begins.

`Place` is a folder in any storage that fsspec reaches. What is written to one is complete when its manifest, sent last, is there.
"""

import fcntl
import json
import os
import re
import shlex
import shutil
import socket
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from fsspec.core import url_to_fs

from tucano.errors import UserError
from tucano.settings import ModelSettings, PipelineSettings

BYTES_PER_WEIGHT = 4
COPIES_PER_CHECKPOINT = 4
"""Weights, the two moments of AdamW, and the best weights so far."""
CHECKPOINTS = 4
"""Two recovery checkpoints, the one being written, and the best with its copy in the artifact."""
LORA_WEIGHTS_UNKNOWN = 30_000_000
"""Adapter weights assumed for a hub model whose config is not at hand: above rank 16 on a model of 1.5 billion."""


class Place:
    """A folder at a local path or an fsspec URL; names are relative to it, with slashes."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.fs, self.root = url_to_fs(url)

    def names(self, folder: str) -> list[str]:
        """What lies directly in a folder, sorted; nothing where there is none."""
        self.fs.invalidate_cache()
        try:
            return sorted(path.rstrip("/").rpartition("/")[2] for path in self.fs.ls(self._path(folder), detail=False))
        except FileNotFoundError:
            return []

    def read(self, name: str) -> bytes:
        return self.fs.cat_file(self._path(name))

    def create(self, name: str, content: bytes) -> None:
        """Write a file that must not exist yet; FileExistsError when it does."""
        self.fs.makedirs(self._path(""), exist_ok=True)
        self.fs.pipe_file(self._path(name), content, mode="create")

    def write(self, name: str, content: bytes) -> None:
        """Write a file, whether or not it exists."""
        target = self._path(name)
        self.fs.makedirs(target.rpartition("/")[0], exist_ok=True)
        self.fs.pipe_file(target, content)

    def push(self, folder: Path, name: str, last: str) -> None:
        """Upload a folder; its file `last`, which makes it complete, is taken away first and sent last."""
        if last in self.names(name):
            self.fs.rm_file(self._path(f"{name}/{last}"))
        files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path != folder / last]
        for path in [*files, folder / last]:
            target = self._path(f"{name}/{path.relative_to(folder).as_posix()}")
            self.fs.makedirs(target.rpartition("/")[0], exist_ok=True)
            self.fs.put_file(str(path), target)

    def pull(self, name: str, folder: Path) -> None:
        """Download a folder; it stands in its place only once it is there whole."""
        draft = folder.with_name(f"{folder.name}.draft")
        shutil.rmtree(draft, ignore_errors=True)
        for path in self.fs.find(self._path(name)):
            target = draft / path.removeprefix(self._path(name)).lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            self.fs.get_file(path, str(target))
        draft.replace(folder)

    def remove(self, name: str, first: str | None = None) -> None:
        """Delete a folder if it is there, its file `first` before the others, so that a half-deleted one is visibly incomplete."""
        if first is not None and first in self.names(name):
            self.fs.rm_file(self._path(f"{name}/{first}"))
        if self.names(name):
            self.fs.rm(self._path(name), recursive=True)

    def _path(self, name: str) -> str:
        return f"{self.root}/{name}".rstrip("/")


def remote_of(storage: str) -> Place | None:
    """The remote storage, where `storage` is the URL of one."""
    return Place(storage) if "://" in storage and not storage.startswith("file://") else None


def working_copy(storage: str) -> Path:
    """The storage root on this machine: the folder itself, or the one that is copied to remote storage."""
    if "://" in storage and not storage.startswith("file://"):
        return Path("runs", re.sub(r"[^\w.-]+", "-", storage)).resolve()
    return Path(storage.removeprefix("file://")).resolve()


def writable(storage: str) -> Path:
    """The storage root on this machine, made if needed. UserError when it, or the remote storage, cannot be written."""
    _require_remote(storage)
    root = working_copy(storage)
    probe = root / f".write-test-{os.getpid()}"
    try:
        root.mkdir(parents=True, exist_ok=True)
        probe.write_bytes(b"tucano")
        probe.unlink()
    except OSError as error:
        raise UserError(
            f"storage={storage} cannot be written ({error.strerror}); choose another folder with --set storage=FOLDER"
        ) from error
    return root


def _require_remote(storage: str) -> None:
    name = f".write-test-{socket.gethostname()}-{os.getpid()}"
    try:
        place = remote_of(storage)
        if place is not None:
            place.create(name, b"tucano")
            place.fs.rm_file(f"{place.root}/{name}")
    except Exception as error:  # every kind of storage raises its own kinds
        raise UserError(f"storage={storage} cannot be written ({type(error).__name__}: {error}); see docs/resume.md") from error


@contextmanager
def owned(root: Path, wait: Callable[[str], None] | None = None) -> Iterator[None]:
    """Hold a folder for one run at a time; the lock goes with the process, however it ends.

    Where somebody else holds it: UserError, or `wait` hears so and it is waited for.
    """
    root.mkdir(parents=True, exist_ok=True)
    with (root / "owner.lock").open("a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            owner = file.read().strip()
            if wait is None:
                raise UserError(
                    f"storage {root} is in use by another run (process {owner}); wait for it, or use --set storage=FOLDER"
                ) from None
            wait(f"process {owner} is at it as well ({root.name}); this run goes on when that one has ended")
            fcntl.flock(file, fcntl.LOCK_EX)
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


@contextmanager
def shared(root: Path, wait: Callable[[str], None]) -> Iterator[None]:
    """Work in a storage beside others, and keep `alone` out until it ends. While that one is at it, `wait` hears so, once."""
    root.mkdir(parents=True, exist_ok=True)
    with (root / "in-use.lock").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            wait(f"storage {root} is being tidied up; this goes on when that has ended")
            fcntl.flock(file, fcntl.LOCK_SH)
        yield


@contextmanager
def alone(root: Path) -> Iterator[None]:
    """Hold a storage that no run is at work in, of this machine's: UserError where there is one. A run that begins meanwhile waits."""
    with (root / "in-use.lock").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(f"storage {root} is in use by a run; wait until it has ended, then try again") from None
        with owned(root):
            yield


def require_whole(database: Path, holds: str) -> None:
    """UserError when an SQLite file is damaged; `holds` says what is lost with it. One that is not there, or is being written, is whole."""
    if not database.is_file():
        return
    try:
        with closing(sqlite3.connect(database, timeout=20)) as connection:
            found = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0]).splitlines()[-1]
    except sqlite3.OperationalError:
        return
    except sqlite3.DatabaseError as error:
        found = str(error)
    if found != "ok":
        place = shlex.quote(str(database))
        raise UserError(
            f"{database} is damaged ({found}); it holds {holds}. Move it away, and the same command begins a new one: "
            f"mv {place} {place}.damaged"
        )


def require_space(root: Path, settings: PipelineSettings) -> None:
    """UserError when the checkpoints of this run would not fit on the storage's disk."""
    trained = [adapter_weights(settings.model)] * len(settings.grpo.seeds)
    if settings.sft.enabled:
        trained.append(nano_weights(settings.model) if settings.model.name == "nano" else adapter_weights(settings.model))
    needed = sum(trained) * BYTES_PER_WEIGHT * COPIES_PER_CHECKPOINT * CHECKPOINTS
    free = shutil.disk_usage(root).free
    if needed > free:
        raise UserError(
            f"the checkpoints of this run need about {needed / 1e9:.1f} GB and {root} has {free / 1e9:.1f} GB free; "
            "free some space or choose another disk with --set storage=FOLDER"
        )


def require_device(model: ModelSettings) -> None:
    """UserError when a CUDA profile meets a machine whose driver shows no GPU; asked without importing torch."""
    if model.device == "cuda" and not any(Path("/dev").glob("nvidia[0-9]*")) and shutil.which("nvidia-smi") is None:
        raise UserError(
            "model.device=cuda, but this machine shows no CUDA device; run a CPU profile such as laptop, or go to a GPU machine"
        )


def nano_weights(model: ModelSettings) -> int:
    """Weights of the nano model: embedding, and per layer attention (1 + .5 + .5 + 1) and MLP (3 x 3) times hidden squared."""
    return model.nano_vocabulary * model.nano_hidden + model.nano_layers * 12 * model.nano_hidden**2


def adapter_weights(model: ModelSettings) -> int:
    """Weights of a LoRA adapter on all linear layers: rank x (inputs + outputs) of each."""
    if model.name == "nano":
        hidden, inner, layers, query, key_value = (
            model.nano_hidden,
            3 * model.nano_hidden,
            model.nano_layers,
            model.nano_hidden,
            model.nano_hidden // 2,
        )
    elif (Path(model.name) / "config.json").is_file():
        config = json.loads((Path(model.name) / "config.json").read_text(encoding="utf-8"))
        hidden, inner, layers = config["hidden_size"], config["intermediate_size"], config["num_hidden_layers"]
        size = config.get("head_dim") or hidden // config["num_attention_heads"]
        query, key_value = size * config["num_attention_heads"], size * config.get("num_key_value_heads", config["num_attention_heads"])
    else:
        return LORA_WEIGHTS_UNKNOWN
    per_layer = 2 * (hidden + query) + 2 * (hidden + key_value) + 3 * (hidden + inner)
    return model.lora_rank * layers * per_layer
