"""`tucano bundle` and `tucano verify`."""

import shlex
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tucano.artifacts.identity import SHIPPED, folder_digest
from tucano.bundle.archive import require_place, unpack
from tucano.bundle.checks import held, looks
from tucano.bundle.manifest import Manifest
from tucano.bundle.pack import pack
from tucano.bundle.reading import Holds, State, unpacked
from tucano.errors import UserError
from tucano.mini.seal import faults
from tucano.project import COMMITTED_RATINGS
from tucano.security.printable import short
from tucano.settings import PipelineSettings
from tucano.storage.root import writable
from tucano.tracking import RegisteredModel, Tracker
from tucano.tracking.store import named, require_registry

ENDS: dict[State, str] = {
    "ok": "The bundle is whole: all of it fits together, and the code here makes its verdict again.",
    "OTHER": (
        "The bundle is whole. What is marked OTHER is not the same here and says why; for the same figures take the"
        " code that made it."
    ),
    "FAILED": (
        "The bundle is not what it says. Take it from its maker again and compare the first line; with other code"
        " (see the line «code»), check out the version that made it, and verify again."
    ),
}


def write(settings: PipelineSettings, reference: str, out: Path | None, consent: str | None) -> int:
    """Pack a registered version, and say what to know before passing it on."""
    root, tracker, version = registered(settings, reference)
    place = out or Path(f"{version.model}-{version.version}.tar.gz")
    require_place(place)
    with tempfile.TemporaryDirectory(prefix="tucano-") as scratch:
        model = tracker.fetch(version, Path(scratch) / "version")
        packed = pack(root, version, model, COMMITTED_RATINGS, consent, place)
    print(f"{place}   {packed.bytes / 1e6:.1f} MB, {len(packed.manifest.files)} files")
    print(_identity(packed.manifest))
    for warning in packed.warnings:
        print(f"Before you pass it on: {warning}.")
    print(f"Elsewhere: tucano verify {shlex.quote(str(place))}")
    return 0


def registered(settings: PipelineSettings, reference: str) -> tuple[Path, Tracker, RegisteredModel]:
    """The storage, its tracker and the version that `tucano@champion` names. UserError where the registry has none."""
    require_registry(settings.storage, settings.tracking_uri)
    root = writable(settings.storage)
    tracker = Tracker.connect(named(settings.tracking_uri), root)
    version = tracker.find_version(reference)
    if version is None:
        raise UserError(
            f"the registry has no {reference}; name a model with an alias or a version, like tucano@champion or"
            " tucano/1"
        )
    return root, tracker, version


def verify(path: Path) -> int:
    """Check a bundle line by line; exit code 1 where it is not what it says."""
    with tempfile.TemporaryDirectory(prefix="tucano-bundle-") as scratch:
        root = Path(scratch) / "bundle"
        root.mkdir()
        manifest = unpack(path, root)
        print(_identity(manifest))
        contents = unpacked(root, manifest)
        states = {_told(name, look).state for name, look in looks(root, contents).items()}
    worst: State = "FAILED" if "FAILED" in states else "OTHER" if "OTHER" in states else "ok"
    print(ENDS[worst])
    return 1 if worst == "FAILED" else 0


def verify_shipped(name: str) -> int:
    """Whether a base that comes with the program is what its recipe made; exit code 1 where it is not."""
    found = faults(SHIPPED[name])
    if found:
        print(
            f"{name} is not what its recipe made: {'; '.join(found)}. Install the program again, or make it: make base"
        )
    else:
        print(f"{name} is what its recipe made   {folder_digest(SHIPPED[name])[:16]}")
    return 1 if found else 0


def _identity(manifest: Manifest) -> str:
    """Whoever can edit a bundle can make it fit together again; this line then differs from its maker's."""
    return f"{short(manifest.model)} version {manifest.version}   bundle {manifest.identity}"


def _told(name: str, look: Callable[[], Holds]) -> Holds:
    """What a check finds, and a line about it."""
    began = time.monotonic()
    found = held(look)
    seconds = time.monotonic() - began
    first, *further = (short(sentence, 400) for sentence in found.said)
    print(f"{found.state:<6}  {name:<15} {seconds:6.1f} s  {first}", flush=True)
    for sentence in further:
        print(f"{'':<6}  {'':<15} {'':>8}  {sentence}", flush=True)
    return found
