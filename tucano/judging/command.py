"""`tucano judge`: learn judges from ratings, and say how far each may be trusted."""

import argparse
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from tucano.errors import UserError
from tucano.judging.examples import GENERATED, Example, examples
from tucano.judging.fit import FEWEST, Trust, judge_of, learning_curve, lineage, trusts, write
from tucano.project import COMMITTED_RATINGS
from tucano.rating.ratings import read_ratings
from tucano.rating.store import rating_store
from tucano.rating.table import read_sets, read_tones
from tucano.security.printable import short
from tucano.truth.judge import FILE, JUDGED, Judge, committed, digest, own_judges

SIZES = (50, 100, 200, 400, 800)
HEAD = "| task | tone not seen | answers | rho | 95 % | rated 5 | rated 1 or 2 |\n|---|---|---:|---:|---|---:|---:|"


def main(arguments: argparse.Namespace) -> int:
    if arguments.action == "show":
        return _show(arguments.file)
    return _fit(arguments.ratings, arguments.to, arguments.curve)


def _show(file: Path | None) -> int:
    if file is None:
        print(f"The judges that come along ({FILE}, {digest()}):\n\n{_told(committed())}")
    else:
        learned = _read(file)
        print(f"The judges of {file} ({sha256(file.read_bytes()).hexdigest()[:16]}):\n\n{learned}")
    print("\nOwn ratings: tucano rate FOLDER --rater NAME, then tucano judge fit --ratings FOLDER --to FILE")
    return 0


def _told(judges: Mapping[str, Judge]) -> str:
    """What judges were learned from, and how far they may be trusted."""
    learned = [
        f"{task}: learned from {judge.lineage.answers} answers; tones: {', '.join(judge.lineage.tones)}"
        for task, judge in judges.items()
    ]
    rows = [_line(task, Trust(*row)) for task, judge in judges.items() for row in judge.lineage.trust]
    return "\n".join([*learned, "", HEAD, *rows])


def _read(file: Path) -> str:
    """The same of somebody's file, which may hold anything."""
    try:
        return _told(own_judges(file))
    except (OSError, ValueError) as error:
        raise UserError(f"{file} holds no judges: {short(str(error))}; make one: tucano judge fit --to OTHER") from None


def _fit(folders: Sequence[Path], to: Path, with_curve: bool) -> int:
    if to.is_dir() or not os.access(to.parent, os.W_OK):
        raise UserError(f"{to} cannot be written; --to names a file in a folder that is yours")
    if to.exists():
        _read(to)  # another file stays as it is
    own = [one for folder in folders for one in _own(folder)]  # first: what is wrong with them is said at once
    learned = [*shipped(), *own]
    judges = {}
    print(HEAD)
    for task in JUDGED:
        known = [one for one in learned if one.task == task]
        if len(known) < FEWEST:
            raise UserError(
                f"{task} has {len(known)} rated answers; a judge needs {FEWEST}: rate more with tucano rate"
            )
        trusted = trusts(known)
        print(*(_line(task, one) for one in trusted), sep="\n", flush=True)
        judges[task] = {**judge_of(known)[0], "lineage": lineage(known, trusted)}
        if with_curve and trusted:
            curve = learning_curve(known, [size for size in SIZES if size < len(known)])
            print(f"{task}: rho by answers of other shops: {', '.join(f'{n}: {rho:.2f}' for n, rho in curve.items())}")
    print(f"\n{to}: judges {write(judges, to)}\nSee it       tucano judge show {to}")
    return 0


def shipped() -> Iterator[Example]:
    """The rated answers that come with the program, as examples."""
    with rating_store(COMMITTED_RATINGS) as stores:
        for number, answers in read_sets().items():
            print(f"set {number} of the generator", file=sys.stderr, flush=True)
            yield from examples(answers, stores, GENERATED)
        for tone, answers in read_tones().items():
            yield from examples(answers, stores, tone)


def _own(folder: Path) -> list[Example]:
    answers = read_ratings(folder)
    with rating_store(folder) as stores:
        try:
            found = examples(answers, stores, f"own: {folder.resolve().name}")
        except ValueError as error:
            raise UserError(f"{folder}: {error}") from None
    if left_out := len(answers) - len(found):
        print(
            f"{folder}: {left_out} of {len(answers)} rated answers teach no judge: their prompt has no reference, their"
            " task no judge, or they are empty",
            file=sys.stderr,
        )
    return found


def _line(task: str, trust: Trust) -> str:
    span = f"{trust.low:.2f} to {trust.high:.2f}"
    return (
        f"| {task} | {trust.tone} | {trust.answers} | {trust.rho:.2f} | {span} | {trust.good:.2f} | {trust.poor:.2f} |"
    )
