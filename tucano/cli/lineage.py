"""`tucano lineage tucano@champion`: from a registered model back to its data, every link checked."""

import tempfile
from collections.abc import Mapping
from pathlib import Path

from tucano.artifacts.lineage import Link, faults, unpinned, verify
from tucano.bundle.command import registered
from tucano.bundle.pack import registered_chain
from tucano.errors import UserError
from tucano.settings import PipelineSettings
from tucano.tracking import RegisteredModel, Tracker


def show(settings: PipelineSettings, reference: str) -> int:
    """Print the chain of a registered version; exit code 1 when a link is broken."""
    root, tracker, version = registered(settings, reference)
    tags = version.tags
    chain = registered_chain(version)
    links = verify(root, chain)
    broken = [*faults(links), *_faults_of_version(tracker, version, chain)]
    print(f"{version}   {tags['verdict']}")
    print(
        f"base {tags['base']}   revision {tags.get('base.revision', '-')}   licences {tags['licences']}   audit"
        f" {tags['audit']}"
    )
    if "audit.override_by" in tags:
        print(f"audit overridden by {tags['audit.override_by']}: {tags['audit.override_reason']}")
    print("\n".join(_lines(links, tags)))
    for sentence in broken:
        print(f"BROKEN  {sentence}")
    print(
        "The chain is broken."
        if broken
        else "The chain is whole: every artifact is what the registry says, and was made from the one before."
    )
    return 1 if broken else 0


def _faults_of_version(tracker: Tracker, version: RegisteredModel, chain: Mapping[str, str]) -> list[str]:
    found = (
        []
        if version.tags["digest.grpo"] in chain.values()
        else ["registry: the tag digest.grpo names none of the chain's seeds"]
    )
    with tempfile.TemporaryDirectory() as folder:
        try:
            tracker.fetch(version, Path(folder) / "version")
        except UserError as changed:
            found.append(f"registry: {changed}")
    base = unpinned(version.tags["base"], version.tags.get("base.revision"))
    return [*found, base] if base else found


def _lines(links: list[Link], tags: Mapping[str, str]) -> list[str]:
    width = max(len(link.stage) for link in links)
    marks = {link.stage: "BROKEN" if link.fault else "ok" for link in links}
    rows = [
        f"{marks[link.stage]:<7} {link.stage:<{width}}  {link.digest[:16]}  {link.made_at[:19]:<19}  code"
        f" {link.code or '-':<16}  {link.files}"
        f" files{'   (the candidate)' if link.digest == tags['digest.grpo'] else ''}"
        for link in links
    ]
    return [*rows, f"{'':<7} {'registry':<{width}}  {tags['digest.files'][:16]}"]
