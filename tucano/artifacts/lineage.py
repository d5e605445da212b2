"""From a promoted model back to its data: a chain of artifacts, each named by its digest, checked link by link.

A link holds when an artifact with exactly that digest lies in the storage, its manifest and every file are what the
digest says, what it was made from are links of the same chain, and source files that are still there have not changed.
"""

import json
import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, takewhile
from pathlib import Path
from typing import Any

from tucano.artifacts.identity import SHIPPED, fingerprint
from tucano.artifacts.records import parsed
from tucano.artifacts.store import Artifact, inspect
from tucano.errors import UserError

INPUT_NAMES = {"prompts": "data", "start": "sft", "answers": "answers", "adapter": "grpo"}
"""Names under which stages take others' artifacts as inputs, where they differ from the stage's own; `seed-N` is what
`seed_stage` says.
"""

BESIDE = "answers-of-"
"""What an arm answered while others were trained. The answers of all arms copy its lines, and are what is judged."""

STARTS_STAGE = f"{BESIDE}starts"

COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class _Adapter:
    """What we read of an adapter's config."""

    base_model_name_or_path: str


@dataclass(frozen=True, slots=True)
class Link:
    """One artifact of a chain: where it is (None: not found), what it is made of, and what is wrong with it (None:
    nothing).
    """

    stage: str
    digest: str
    folder: Path | None
    made_at: str
    code: str
    files: int
    fault: str | None


def digests(stages: Mapping[str, Artifact]) -> dict[str, str]:
    """The chain of a run: {stage: digest}, in the order in which the stages ran."""
    return {name: artifact.digest for name, artifact in stages.items() if not name.startswith(BESIDE)}


def seed_stage(stages: Container[str], arm: str) -> str:
    """The stage that made the adapter of `seed-N`: the last round of DPO where it came after GRPO."""
    rounds = (f"dpo-{arm}" + (f"-round-{number}" if number > 1 else "") for number in count(1))
    return [f"grpo-{arm}", *takewhile(stages.__contains__, rounds)][-1]


def verify(root: Path, chain: Mapping[str, str], *, sources: bool = True) -> list[Link]:
    """Check every link of a chain ({stage: digest}) against the artifacts under a storage root.

    Without `sources` no file is looked for where data were read: of what came from elsewhere nothing here is meant.
    """
    return [_link(root, stage, digest, chain, sources) for stage, digest in chain.items()]


def faults(links: Sequence[Link]) -> list[str]:
    """One sentence per broken link."""
    return [f"{link.stage}: {link.fault}" for link in links if link.fault is not None]


def unpinned(name: str, revision: str | None) -> str | None:
    """Why a base model is not identified; None for one that was built here, comes with the program, lies in a local
    folder or is pinned to a commit.
    """
    if name == "nano" or name in SHIPPED or Path(name).exists() or COMMIT.fullmatch(revision or ""):
        return None
    return f"the base model {name} is not pinned to a commit (model.revision={revision})"


def _link(root: Path, stage: str, digest: str, chain: Mapping[str, str], sources: bool) -> Link:
    unreadable: list[str] = []
    for folder in sorted((root / "artifacts" / stage).glob("*/")):
        manifest, fault = inspect(folder)
        if manifest is None:
            unreadable.append(str(fault))
        elif manifest["digest"] == digest:
            fault = fault or _inputs_fault(manifest["inputs"], chain) or (_sources_fault(manifest) if sources else None)
            return Link(stage, digest, folder, manifest["made_at"], manifest["code"], len(manifest["files"]), fault)
    return Link(stage, digest, None, "", "", 0, "; ".join([f"no artifact has the digest {digest[:16]}", *unreadable]))


def _inputs_fault(inputs: Mapping[str, str], chain: Mapping[str, str]) -> str | None:
    """What an artifact was made from has to be the chain's own links."""
    for name, digest in inputs.items():
        stage = seed_stage(chain, name) if re.fullmatch(r"seed-\d+", name) else INPUT_NAMES.get(name, name)
        if digest and stage in chain and chain[stage] != digest:
            return f"it was made from another {stage} ({digest[:16]}, the chain has {chain[stage][:16]})"
    return None


def _sources_fault(manifest: Mapping[str, Any]) -> str | None:
    """The files that data were made from, where they are still there: raw data may have to be deleted."""
    place = manifest["record"].get("source_path") if manifest["stage"] == "data" else None
    if place is None:
        return None
    places = place if isinstance(place, list) else [place]
    for name, digest in manifest["inputs"].items():
        number, _, file_name = name.rpartition("/")
        if number and not number.isdecimal():
            continue  # of general demonstrations or a benchmark, whose places a record does not name
        at = Path(places[int(number or 0)])
        file = at if at.is_file() else at / file_name
        if file.is_file() and fingerprint(file)["sha256"] != digest:
            return f"its source file {file} has changed since"
    return None


def adapter_config(folder: Path) -> Path:
    """Where PEFT keeps what an adapter is; a folder without it holds none."""
    return folder / "adapter_config.json"


def base_of(adapter: Path) -> str:
    """The base model of a LoRA adapter's folder: a hub's name, or a folder.

    A folder in a storage is looked for in the adapter's own storage first: the adapter may have moved with it, and the
    place that its config names may be gone, or another storage's. Raises UserError where there is none.
    """
    config = adapter_config(adapter)
    try:
        named: str = parsed(_Adapter, json.loads(config.read_text(encoding="utf-8"))).base_model_name_or_path
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{config} is damaged or names no base; bring it back") from error
    if not Path(named).is_absolute():
        return named
    _, inside, tail = named.rpartition("/artifacts/")
    beside = [parent / "artifacts" / tail for parent in adapter.resolve().parents] if inside else []
    for folder in [*beside, Path(named)]:
        if folder.is_dir():
            return str(folder)
    raise UserError(
        f"{adapter} names {named} as its base, which is not there; bring that folder back, or correct"
        " adapter_config.json"
    )
