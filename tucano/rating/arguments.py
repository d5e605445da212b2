"""What `tucano rate` is called with."""

import argparse

EXAMPLES = """examples:
  tucano rate --rater ana                                  answers of the last run; goes on where it stopped
  tucano rate mine --rater ana --from answers.jsonl        answers of a file, ratings kept in the folder mine/
  tucano rate ab --rater ana --ab seed-42 sft              which of two models answers better, blind
  tucano rate ab --rater bia --new-rater --ab              a second person, the same pairs
  tucano rate fixes --rater ana --correct --consent        served answers, rated and corrected, to train with

then:
  tucano audit laptop --set audit.ratings=mine             the reward audit with these ratings
  tucano run laptop --set promotion.people=ab              the verdict with the win rate of the A/B
  tucano data feedback fixes                               demonstrations and preference pairs out of it
"""


RUNS = "runs"
"""Drawn from where --from says nothing."""


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
        default=RUNS,
        metavar="PLACE",
        help="storage of a finished run, or JSONL file, to draw from (default: runs)",
    )
    what = command.add_mutually_exclusive_group()
    what.add_argument(
        "--ab",
        nargs="*",
        metavar="MODEL",
        help="choose between the answers of two models of a run (seed-42 sft) instead of rating; they are named"
        " at the first start alone",
    )
    what.add_argument(
        "--correct", action="store_true", help="rate what was served (serving.log_requests), and correct it"
    )
    command.add_argument(
        "--consent", action="store_true", help="NAME agrees that models are trained with these choices and corrections"
    )
    command.add_argument(
        "--prompts", type=int, default=24, metavar="N", help="prompts drawn per task, at the first start (default: 24)"
    )
    command.add_argument(
        "--completions", type=int, default=5, metavar="K", help="completions drawn per prompt (default: 5)"
    )
    command.add_argument(
        "--seed",
        type=int,
        help="seed of the draw (default: 7), or of who stands first in an A/B (default: a secret one)",
    )
    where = command.add_mutually_exclusive_group()
    where.add_argument("--terminal", action="store_true", help="ask in the terminal instead of a page")
    where.add_argument("--port", type=int, default=0, help="port of the page on 127.0.0.1 (default: any free one)")
