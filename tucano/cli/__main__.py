"""`python -m tucano.cli`, and what the command `tucano` runs first: whether this environment can run it at all."""

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).parents[2]
BESIDE = ("data", "rewards", "tasks", "flows", "deployments")
"""Packages that lie beside ours, under names that other projects use, too."""


def start() -> NoReturn:
    """Run the command. What of its environment is not whole is one sentence with the mend, and exit code 2."""
    for name in BESIDE:
        found = find_spec(name)
        places = [*found.submodule_search_locations] if found and found.submodule_search_locations else []
        if places and Path(places[0]).resolve() != ROOT / name:
            _end(f"another project's package {name!r} is found first, in {places[0]}; try: env -u PYTHONPATH tucano …")
    try:
        from tucano.cli.main import main

        main()
    except ModuleNotFoundError as error:
        if not error.name or (ROOT / error.name.partition(".")[0]).is_dir():
            raise
        _end(
            f"the environment in {sys.prefix} lacks {error.name}, as after an installation that was cut off; make it"
            " anew: sh install.sh"
        )


def _end(sentence: str) -> NoReturn:
    print(f"tucano: {sentence}", file=sys.stderr)
    sys.exit(2)


if __name__ == "__main__":
    start()
