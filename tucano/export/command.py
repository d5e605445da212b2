"""`tucano export` and `tucano publish`."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from glob import escape
from pathlib import Path

from tucano.bundle.card import base_on_hub
from tucano.bundle.command import registered
from tucano.bundle.manifest import CARD
from tucano.bundle.pack import gathered
from tucano.bundle.reading import Contents
from tucano.errors import UserError
from tucano.export import folders, hub, llama
from tucano.export.folders import Wanted
from tucano.files.models import ServedFiles
from tucano.security.printable import short
from tucano.settings import PipelineSettings
from tucano.tracking import RegisteredModel, Tracker
from tucano.tracking.models import WEIGHTS


def export(settings: PipelineSettings, wanted: Wanted, folder: Path) -> int:
    """Write the folder, all of it or nothing; exit code 1 where a GGUF is not the model. What a killed export to the
    same place has left beside it goes.
    """
    if os.path.lexists(folder) or not os.access(folder.parent, os.W_OK) or not folder.parent.is_dir():
        raise UserError(f"{folder} is there already, or no folder that can be written is around it; name a new one")
    tracker, version, contents = _opened(settings, wanted)
    for left in folder.parent.glob(f".{escape(folder.name)}.tucano-*"):
        shutil.rmtree(left)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}.tucano-", dir=folder.parent) as scratch:
        made = Path(scratch) / "made"
        files = _fetched(tracker, version, Path(scratch))
        if not _write(files, contents, made, wanted, folder.name):
            print(f"{folder} was not written.")
            return 1
        made.rename(folder)
    _say(folder, str(folder), contents, wanted)
    return 0


def publish(settings: PipelineSettings, wanted: Wanted, repository: str, yes: bool) -> int:
    """Show what would be sent, or send it. What forbids sending is said before anything is made."""
    hub.require_name(repository)
    token = hub.token()
    if yes and token is None:
        raise UserError(f"{hub.endpoint()} takes nothing without a token; set HF_TOKEN to one that may write")
    tracker, version, contents = _opened(settings, wanted)
    if yes and (unknown := _unknown(contents, wanted)):
        raise UserError(f"nothing was sent: {unknown}")
    with tempfile.TemporaryDirectory(prefix="tucano-") as scratch:
        made = Path(scratch) / "made"
        if not _write(_fetched(tracker, version, Path(scratch)), contents, made, wanted, repository):
            print("Nothing was sent.")
            return 1
        print((made / CARD).read_text(encoding="utf-8"))
        _say(made, f"{hub.endpoint()}/{repository}", contents, wanted)
        if yes:
            print(f"Sent: {hub.send(made, repository, str(token))}")
        else:
            print("Nothing was sent; --yes sends it." + ("" if token else " It needs a token in HF_TOKEN."))
    return 0


def _opened(settings: PipelineSettings, wanted: Wanted) -> tuple[Tracker, RegisteredModel, Contents]:
    """A version that can have this form; UserError where something for it is missing."""
    if wanted.form == "gguf":
        llama.require(wanted.llama_cpp)
    elif wanted.llama_cpp:
        raise UserError(f"--llama-cpp is for --to gguf, and this is --to {wanted.form}; leave one of them out")
    root, tracker, version = registered(settings, wanted.reference)
    contents = gathered(root, version)
    if contents.settings.grpo.adapters == "per_task":
        raise UserError(
            f"{version} has an adapter of its own for each task (grpo.adapters=per_task), which no one model can hold;"
            " serve it with tucano serve, or train one adapter for all tasks"
        )
    return tracker, version, contents


def _fetched(tracker: Tracker, version: RegisteredModel, scratch: Path) -> ServedFiles:
    return ServedFiles(tracker.fetch(version, scratch / "version") / WEIGHTS.parent)


def _write(files: ServedFiles, contents: Contents, made: Path, wanted: Wanted, place: str) -> bool:
    """Write the new folder `made`, which its card calls `place`; False where a GGUF is not the model."""
    if wanted.form == "merged":
        folders.write_merged(files, made)
    elif wanted.form == "adapter":
        folders.write_adapter(files, contents, made)
    elif not llama.is_same(files, llama.convert(files.model, Path(str(wanted.llama_cpp)), made), contents):
        return False
    folders.write_card(files, contents, made, wanted, place)
    return True


def _say(folder: Path, place: str, contents: Contents, wanted: Wanted) -> None:
    """What it holds, and what to know before passing it on."""
    print(place)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        print(f"{path.stat().st_size / 1e6:10.3f} MB  {path.relative_to(folder)}")
    for warning in _warnings(contents, wanted):
        print(f"Before you pass it on: {warning}.")


def _unknown(contents: Contents, wanted: Wanted) -> str | None:
    """What nobody here knows of the base, and may forbid to pass it on."""
    model = contents.settings.model
    if model.is_ours or wanted.base_licence:
        return None
    where = f"{short(model.name)} (commit {model.revision})" if base_on_hub(model) else f"folder {short(model.name)}"
    return (
        f"the licence of the base {where} is not known here and may forbid it; read it where the base comes from, and"
        " give it as --base-licence NAME, which the card then says"
    )


def _warnings(contents: Contents, wanted: Wanted) -> Iterator[str]:
    if unknown := _unknown(contents, wanted):
        yield unknown
    tags = contents.manifest.tags
    if tags.get("noncommercial") == "True":
        yield f"its data are not for commercial use ({tags['licences']})"
