"""What `tucano rate` is called with."""

import argparse


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "folder", nargs="?", default="ratings", help="where completions and ratings are kept (default: ratings)"
    )
    command.add_argument(
        "--rater", required=True, metavar="NAME", help="who rates; each rater sees all completions in an own order"
    )
    command.add_argument(
        "--new-rater", action="store_true", help="NAME has not rated in this folder before, though others have"
    )
    command.add_argument("--kind", choices=("human", "model"), default="human", help="what NAME is (default: human)")
    command.add_argument(
        "--from",
        dest="source",
        default="runs",
        metavar="PLACE",
        help="storage of a finished run, or JSONL file, to draw from (default: runs)",
    )
    command.add_argument(
        "--prompts", type=int, default=24, metavar="N", help="prompts drawn per task, at the first start (default: 24)"
    )
    command.add_argument(
        "--completions", type=int, default=5, metavar="K", help="completions drawn per prompt (default: 5)"
    )
    command.add_argument("--seed", type=int, default=7, help="seed of the draw (default: 7)")
    where = command.add_mutually_exclusive_group()
    where.add_argument("--terminal", action="store_true", help="ask in the terminal instead of a page")
    where.add_argument("--port", type=int, default=0, help="port of the page on 127.0.0.1 (default: any free one)")
