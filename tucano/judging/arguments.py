"""The arguments of `tucano judge`. Imports nothing that takes time: help is instant."""

import argparse
from pathlib import Path

EXAMPLES = """examples:
  tucano judge show                                  what the judge that comes with the program has learned
  tucano judge fit --to mine.json.xz                 learn it anew from the ratings that come with the program
  tucano judge fit --ratings ratings --to mine.json.xz    and from your own, and say how far it may be trusted
  tucano judge fit --curve --to mine.json.xz         and how much more ratings would help
"""


def add_arguments(command: argparse.ArgumentParser) -> None:
    actions = command.add_subparsers(dest="action", required=True, metavar="ACTION")
    shown = actions.add_parser("show", help="say what a judge was learned from, and how far it may be trusted")
    shown.add_argument("file", nargs="?", type=Path, help="a file of judges (default: the one that comes along)")
    fit = actions.add_parser("fit", help="learn judges from ratings")
    fit.add_argument(
        "--ratings",
        action="append",
        default=[],
        type=Path,
        metavar="FOLDER",
        help="a folder of `tucano rate`; repeatable",
    )
    fit.add_argument("--to", type=Path, required=True, metavar="FILE", help="where the judges are written")
    fit.add_argument("--curve", action="store_true", help="measure what further ratings bring; takes minutes")
