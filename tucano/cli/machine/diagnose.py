"""`tucano diagnose`: one file with what a maintainer needs to see, and without what nobody should.

In it: the doctor's findings, this machine, the ends of the storage's logs, what its runs say of themselves, and the
settings of its artifacts. Not in it: prompts, answers, ratings, weights, databases, passwords. Whatever is packed has
been searched for secrets and for personal data, line by line.
"""

import contextlib
import io
import json
import os
import platform
import re
import shutil
import zipfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from tucano.artifacts.store import MANIFEST, read_manifest
from tucano.cli.machine import doctor
from tucano.errors import UserError
from tucano.masking import mask
from tucano.requirements.machine import cores
from tucano.security.access import credentials_file, token_file
from tucano.security.addresses import masked
from tucano.security.printable import printable

TAIL_BYTES = 200_000
"""Of each log, its end."""
NEWEST = 60
"""Artifacts and runs that are described."""
LONGEST_LINE = 2000
SHOWN = re.compile(
    r"(TUCANO|PREFECT|MLFLOW|PYTHON|PIP|HF|OMP|MKL|CUDA|LC)_?\w*|LANG|TMPDIR|PATH|VIRTUAL_ENV|\w*_proxy", re.I
)
"""Variables whose values say how the programs behave; no other, and none that may hold a secret, is shown."""
SECRET = re.compile(r"pass|secret|token|key|auth|credential|signature", re.I)


def main(storage: Path) -> int:
    """Write `tucano-diagnosis-DATE.zip` into the current folder, and say what is in it."""
    file = Path.cwd() / f"tucano-diagnosis-{datetime.now().astimezone():%Y-%m-%d-%H%M%S}.zip"
    hidden = _known_secrets(storage)
    try:
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise UserError(f"{file} is there already; take it, or start the command again") from None
    with os.fdopen(handle, "wb") as opened, zipfile.ZipFile(opened, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, text in _parts(storage):
            packed.writestr(name, cleaned(text, hidden))
        names = packed.namelist()
    print(f"{file} ({file.stat().st_size // 1024 + 1} KB): {', '.join(names[:6])}{', …' if len(names) > 6 else ''}")
    print("It holds no prompts, answers or weights; secrets and personal data are masked. Look into it before sending.")
    return 0


def cleaned(text: str, hidden: frozenset[str]) -> str:
    """`text` with secrets, personal data and what is no character masked."""
    for secret in sorted(hidden, key=len, reverse=True):
        text = text.replace(secret, "***")
    return "\n".join(mask(masked(printable(line[:LONGEST_LINE])))[0] for line in text.splitlines())


def _known_secrets(storage: Path) -> frozenset[str]:
    """Passwords that belong to this storage, and the values of variables that are called like secrets."""
    found = {value for name, value in os.environ.items() if SECRET.search(name)}
    for file in (credentials_file(storage), token_file(storage)):
        with contextlib.suppress(OSError):
            kept = file.read_text(encoding="utf-8").strip()
            found |= {kept, kept.partition(":")[2]}
    return frozenset(value for value in found if len(value) > 5)


def _parts(storage: Path) -> Iterator[tuple[str, str]]:
    yield "machine.txt", _machine(storage)
    with contextlib.redirect_stdout(io.StringIO()) as said:
        doctor.main(None, [])
    yield "doctor.txt", said.getvalue()
    for log in sorted(storage.glob("logs/*.log*")):
        if log.is_file() and not log.is_symlink():
            yield f"logs/{log.name}", _end(log)
    for run in _newest(storage.glob("overview/*.json")):
        yield f"runs/{run.name}", _end(run)
    manifests = [path.parent for path in _newest(storage.glob(f"artifacts/*/*/{MANIFEST}"))]
    yield "artifacts.json", json.dumps([_artifact(folder) for folder in manifests], indent=1, default=str)


def _machine(storage: Path) -> str:
    free = shutil.disk_usage(storage if storage.is_dir() else Path.cwd()).free
    values = {
        name: value for name, value in sorted(os.environ.items()) if SHOWN.fullmatch(name) and not SECRET.search(name)
    }
    rows: dict[str, object] = {"platform": platform.platform(), "python": platform.python_version(), "cores": cores()}
    rows |= {"disk free": f"{free / 1e9:.1f} GB", "storage": storage, "folder": Path.cwd()}
    return "\n".join(f"{name}: {value}" for name, value in {**rows, **values}.items())


def _end(file: Path) -> str:
    with file.open("rb") as opened:
        opened.seek(max(0, file.stat().st_size - TAIL_BYTES))
        return opened.read().decode(errors="replace")


def _newest(files: Iterator[Path]) -> list[Path]:
    whole = [file for file in files if file.is_file() and not file.is_symlink()]
    return sorted(whole, key=lambda file: file.stat().st_mtime, reverse=True)[:NEWEST]


def _artifact(folder: Path) -> dict[str, object]:
    """What made it; not what it is, since a record may quote data."""
    manifest = read_manifest(folder) or {}
    kept = ("stage", "digest", "made_at", "seconds", "code", "inputs", "settings")
    return {"folder": f"{folder.parent.name}/{folder.name}"} | {
        name: manifest[name] for name in kept if name in manifest
    }
