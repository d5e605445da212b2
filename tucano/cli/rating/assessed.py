"""What raters say goes to MLflow when a sitting ends, beside the traces of what they rated."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tucano.errors import TucanoError
from tucano.rating.files import RatingLine
from tucano.rating.ratings import rating_ledger
from tucano.tracking import Tracker
from tucano.tracking.traces import refusals_said, show_ratings


@contextmanager
def assessed(folder: Path, connect: Callable[[], Tracker | None], rater: str | None = None) -> Iterator[None]:
    """While it is entered, somebody rates in `folder`; afterwards all that `rater` (None: anybody) has said there is
    sent, and what was taken back is withdrawn. `connect` gives None where there is no store. What cannot be sent is
    said, and ends nothing: ratings are on disk.
    """
    before = _said(folder, rater)
    yield
    after = _said(folder, rater)
    if not before and not after:
        return
    kept = {_place(line) for line in after}
    withdrawn = [line for line in before if _place(line) not in kept]
    try:
        with refusals_said():
            if (tracker := connect()) is not None:
                print("Showing ratings in MLflow …", flush=True)
                print(show_ratings(tracker, after, withdrawn), flush=True)
    except (TucanoError, KeyboardInterrupt) as fault:
        why = str(fault) or "interrupted"
        print(f"MLflow does not show all of these ratings; the end of the next sitting sends them again ({why})")


def _said(folder: Path, rater: str | None) -> list[RatingLine]:
    ledger = rating_ledger(folder)
    with ledger.held():
        records = ledger.read()
    return [line for line in records if rater in (None, line.rater)]


def _place(line: RatingLine) -> tuple[str, str, str, str]:
    return line.rater, line.prompt.task, line.prompt.user, line.completion
