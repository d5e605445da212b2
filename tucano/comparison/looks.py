"""The ledger of looks: how often a test set has judged something.

A set that judges often chooses in the end. Each look is one small file named after what was looked at, so that the same
comparison made again is no second look, and two machines with one remote storage count together.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from tucano.storage.folder import Folder

FOLDER = "looks"


def record_look(places: list[Folder], test_set: str, look: str, what: Mapping[str, Any]) -> int:
    """Note a look at a test set (both named by digests) in every place, and return how many there have been, this one
    included.
    """
    name = f"{FOLDER}/{test_set[:16]}"
    entry = json.dumps({"at": datetime.now(UTC).isoformat(timespec="seconds"), **what}, ensure_ascii=False)
    seen = {look}
    for place in places:
        known = set(place.names(name))
        if f"{look}.json" not in known:
            place.fs.makedirs(f"{place.root}/{name}", exist_ok=True)
            place.create(f"{name}/{look}.json", entry.encode())
        seen |= {file.removesuffix(".json") for file in known}
    return len(seen)
