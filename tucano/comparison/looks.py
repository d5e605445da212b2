"""The ledger of looks: how often a test set has judged something.

A set that judges often chooses in the end. Each look is one small file named after what was looked at, so that the same
comparison made again is no second look, and two machines with one remote storage count together.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tucano.artifacts.identity import digest, fingerprint
from tucano.storage.folder import Folder

FOLDER = "looks"


def record_look(root: Path, remote: Folder | None, test_set: Path, looked: Any, what: Mapping[str, Any]) -> int:
    """Note that the prompts of a file have judged what was `looked` at (JSON), in a storage and its remote one; returns
    how often they have, this time included.
    """
    name = f"{FOLDER}/{str(fingerprint(test_set)['sha256'])[:16]}"
    look = digest(looked)[:16]
    entry = json.dumps({"at": datetime.now(UTC).isoformat(timespec="seconds"), **what}, ensure_ascii=False)
    seen = {look}
    for place in filter(None, [Folder(str(root)), remote]):
        known = set(place.names(name))
        if f"{look}.json" not in known:
            place.fs.makedirs(f"{place.root}/{name}", exist_ok=True)
            place.create(f"{name}/{look}.json", entry.encode())
        seen |= {file.removesuffix(".json") for file in known}
    return len(seen)
