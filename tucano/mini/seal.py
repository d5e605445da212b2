"""What mini's files are: the digests that `make base` found, and whether those here are still them."""

import json
from pathlib import Path

from tucano.artifacts.identity import SHIPPED, digests_at

SEAL = Path(__file__).with_name("seal.json")
"""{name of a file of the model: its SHA-256}"""


def seal(folder: Path, file: Path = SEAL) -> None:
    file.write_text(json.dumps(digests_at(folder, "*"), indent=2) + "\n", encoding="utf-8")


def faults(folder: Path = SHIPPED["mini"], file: Path = SEAL) -> list[str]:
    """One sentence for each file that is not what the recipe made; none where all are."""
    sealed: dict[str, str] = json.loads(file.read_text(encoding="utf-8"))
    found = digests_at(folder, "*")
    return [
        f"{name} {'is missing' if name not in found else 'is no part of it' if name not in sealed else 'differs'}"
        for name in sorted({*sealed, *found})
        if sealed.get(name) != found.get(name)
    ]
