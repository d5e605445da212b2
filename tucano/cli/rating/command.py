"""`tucano rate`: a person rates completions blind, chooses between two models' answers, or corrects what was served, in
a local web page or in the terminal. All that they say is on disk at once.
"""

import argparse
import shlex
import signal
import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from tucano.cli.rating.assessed import assessed
from tucano.cli.rating.page import AnySitting, RatingServer, buttons_of, check_form
from tucano.errors import UserError
from tucano.rating.aids import guides
from tucano.rating.arguments import RUNS
from tucano.rating.choices import Choosing, choice_ledger, preference
from tucano.rating.draw import CANDIDATES, Candidate, CandidateSource, open_folder, read_source, stores_of_run
from tucano.rating.files import LONGEST_CORRECTION, RaterKind
from tucano.rating.pairs import DRAW_SEED, PAIRS, PairDraw, key_of, open_pairs
from tucano.rating.ratings import rating_ledger
from tucano.rating.session import Asked, Item, Session, corrected
from tucano.rating.store import tables
from tucano.security.local_page import STOP_SIGNALS
from tucano.security.printable import printable
from tucano.specs.registry import spec_of
from tucano.tracking import Tracker
from tucano.tracking.store import has_store, named

RATE = "nota 1 a 5 (s pula, u desfaz, ? guia, q sai): "
CORRECT = "nota 1 a 5 (c corrige, s pula, u desfaz, ? guia, q sai): "
CHOOSE = "melhor: 1, 2 ou 0 tanto faz (s pula, u desfaz, ? guia, q sai): "
WRITE = "Escreva como deveria ser; uma linha só com um ponto termina."
END = "."
WIDTH = 100


@dataclass(frozen=True)
class Desk:
    """Where and as whom somebody rates: a `port` (0: any free one) serves the page, None asks in the terminal.
    `is_new`: this name may not be known in the folder yet; `consents`: models may be trained with what it says.
    """

    folder: Path
    rater: str
    kind: RaterKind
    is_new: bool
    consents: bool
    port: int | None
    source: str = RUNS
    """What completions are drawn from; their ratings go to its MLflow."""

    def command(self, flags: str) -> str:
        """That goes on here."""
        given = [
            flags,
            " --kind model" if self.kind == "model" else "",
            f" --port {self.port}" if self.port else "",
            " --consent" if self.consents and flags else "",
            f" --from {_quoted(Path(self.source))}" if self.source != RUNS else "",
            "" if self.port is not None else " --terminal",
        ]
        return f"tucano rate {_quoted(self.folder)} --rater {shlex.quote(self.rater)}{''.join(given)}"


def main(arguments: argparse.Namespace) -> int:
    if min(arguments.prompts, arguments.completions) < 1:
        raise UserError("--prompts and --completions are at least 1")
    port = None if arguments.terminal else arguments.port
    folder, rater = Path(arguments.folder), arguments.rater
    desk = Desk(folder, rater, arguments.kind, arguments.new_rater, arguments.consent, port)
    if arguments.ab is None:
        _rate(replace(desk, source=arguments.source), arguments)
    else:
        _choose(desk, PairDraw(Path(arguments.source), arguments.ab, arguments.prompts, arguments.seed))
    return 0


def _rate(desk: Desk, arguments: argparse.Namespace) -> None:
    """Rate, and perhaps correct, until everything is rated or the rater stops."""
    folder, place, corrects = desk.folder, Path(arguments.source), arguments.correct
    _refuse_other(folder, PAIRS, "a blind A/B; add --ab, or name another folder")
    drawn = "drawn before" if (folder / CANDIDATES).is_file() else f"drawn from {place}"
    seed = DRAW_SEED if arguments.seed is None else arguments.seed
    source = _served if corrects else read_source
    candidates = open_folder(folder, place, arguments.prompts, arguments.completions, seed, source)
    print(f"{folder}: {len(candidates)} completions {drawn} ({_per_task(candidates)})")
    rating_ledger(folder).check_rater(desk.rater, desk.kind, desk.is_new)
    session = Session(folder, candidates, desk.rater, desk.kind, desk.consents if corrects else None)
    around = assessed(folder, lambda: _tracker(place), desk.rater)
    _sit(session, desk, " --correct" if corrects else "", lambda: _after_rating(folder, corrects), around)


def _tracker(storage: Path) -> Tracker | None:
    """None where candidates are of a file, or of a storage whose runs and server left no store."""
    return Tracker.connect(named(None), storage) if storage.is_dir() and has_store(str(storage), None) else None


def _choose(desk: Desk, drawing: PairDraw) -> None:
    """Choose between two models' answers until every pair is judged or the rater stops."""
    folder = desk.folder
    _refuse_other(folder, CANDIDATES, "completions to rate one by one; name another folder for an A/B")
    drawn = "drawn before" if (folder / PAIRS).is_file() else f"drawn from {drawing.place}"
    pairs = open_pairs(folder, drawing)
    print(
        f"{folder}: {len(pairs)} pairs of answers {drawn} ({_per_task(pairs)}); who wrote which stands in"
        f" {key_of(folder)}"
    )
    choice_ledger(folder).check_rater(desk.rater, desk.kind, desk.is_new)
    session = Choosing(folder, pairs, desk.rater, desk.kind, desk.consents)
    _sit(session, desk, " --ab", lambda: _after_choosing(folder), nullcontext())


def _refuse_other(folder: Path, name: str, what: str) -> None:
    if (folder / name).exists():
        raise UserError(f"{folder} holds {what}")


def _served(place: Path) -> CandidateSource:
    """What was served, of a storage; each request with its answer once. A file is a file."""
    from tucano.monitoring.alarms import prompt_of  # seconds, which only who corrects has to wait
    from tucano.monitoring.log import read_log
    from tucano.serving.request_log import FOLDER as SERVING

    if not place.is_dir():
        return read_source(place)
    log = read_log(place / SERVING)
    rows = {
        (row.task, row.text, row.answer): row
        for row in log.rows
        if max(len(row.text), len(row.answer)) <= LONGEST_CORRECTION
    }
    if not rows:
        raise UserError(
            f"{place / SERVING} holds no requests; keep some of them: tucano serve --set serving.log_requests=true"
        )
    if log.unreadable:
        print(f"{len(log.unreadable)} lines of the request log are none and were left out")
    made = [Candidate(prompt_of(row, {}), row.answer, "sampled", row.by) for row in rows.values()]
    return CandidateSource(made, stores_of_run(place))


def _per_task(things: Sequence[Asked]) -> str:
    return ", ".join(f"{task} {count}" for task, count in Counter(thing.prompt.task for thing in things).items())


def _sit(
    session: AnySitting,
    desk: Desk,
    flags: str,
    after: Callable[[], Iterator[str]],
    around: AbstractContextManager[None],
) -> None:
    """Ask, and in the end say what to do next."""
    if session.consent is False:
        print("Nothing of this trains a model; with --consent it may.")
    with around:
        if desk.port is None:
            _in_terminal(session, desk.folder)
        else:
            _in_browser(session, desk.folder, desk.port)
    view = session.view()
    print(f"{session.rater}: {view.rated} of {view.total} rated, in {session.ledger.path}")
    if view.item:
        print(f"Go on with: {desk.command(flags)}", flush=True)
    else:
        print("\n".join(after()), flush=True)


def _in_browser(session: AnySitting, folder: Path, port: int) -> None:
    with RatingServer(session, tables(folder), port) as server:
        view = session.view()
        told = f"{session.rater}: {view.rated} of {view.total} rated. Open this link:"
        server.serve_until_stopped(lambda: print(f"{told}\n\n    {server.url}\n\nCtrl-C stops.", flush=True))


def _in_terminal(session: AnySitting, folder: Path) -> None:
    for number in STOP_SIGNALS:
        signal.signal(number, signal.default_int_handler)
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]  # a terminal without emoji is no reason to stop
    schema = [f"{name}({', '.join(columns)})   ex.: {', '.join(row)}" for name, columns, row in tables(folder)]
    ask = CHOOSE if isinstance(session, Choosing) else CORRECT if session.corrects else RATE
    try:
        while item := session.view().item:
            _show(session, item, schema)
            _ask(session, item, ask)
    except (KeyboardInterrupt, EOFError):
        pass
    print()


def _show(session: AnySitting, item: Item, schema: list[str]) -> None:
    view = session.view()
    display = spec_of(item.task).display
    print(f"\n{'─' * WIDTH}\n{view.rated} de {view.total} · {display.name}\n")
    print(f"SOLICITAÇÃO\n{_indented(item.prompt)}\n")
    if display.with_tables:
        print("TABELAS\n" + "".join(f"{_indented(line)}\n" for line in schema))
    texts = (
        {"RESPOSTA": item.completion}
        if item.other is None
        else {"RESPOSTA 1": item.completion, "RESPOSTA 2": item.other}
    )
    for heading, text in texts.items():
        print(f"{heading}\n{_indented(text) or '    (resposta vazia)'}\n")


def _ask(session: AnySitting, item: Item, question: str) -> None:
    """Until something is done with the item."""
    correction = None
    while True:
        key = input(question).strip().lower()
        if key == "c" and session.corrects:
            correction = _written(item)
        elif _answered(session, item, key, correction):
            return


def _written(item: Item) -> str | None:
    """A correction, line by line; None for one that cannot be taken."""
    print(WRITE)
    text = "\n".join(iter(input, END))
    try:
        check_form(item.task, corrected(item.completion, text))
    except ValueError as error:
        print(f"não guardada: {error}")
        return None
    return text


def _answered(session: AnySitting, item: Item, key: str, correction: str | None) -> bool:
    """Do what the key says; False where the same item has to be asked again."""
    meant = next((said for said, button in buttons_of(session).items() if button.key == key), None)
    if meant is not None:
        session.say(item.id, meant, correction)
    elif key == "s":
        session.skip(item.id)
    elif key == "u":
        session.undo()
    elif key == "q":
        raise EOFError
    else:
        print(guides()[item.task] if key == "?" else "não entendi")
        return False
    return True


def _indented(text: str) -> str:
    return textwrap.indent(printable(text), "    ")


def _after_rating(folder: Path, corrects: bool) -> Iterator[str]:
    if corrects:
        yield f"Train with them: tucano data feedback {_quoted(folder)}"
    yield f"Audit with them: tucano audit laptop --set audit.ratings={_quoted(folder)}"


def _after_choosing(folder: Path) -> Iterator[str]:
    from tucano.comparison.verdict import said
    from tucano.comparison.wording import ENGLISH

    try:
        yield said(ENGLISH, preference(folder))
    except UserError as why:  # the key is elsewhere: whoever has it is told
        yield str(why)
        return
    yield f"In the verdict: tucano run laptop --set promotion.people={_quoted(folder)}"
    yield f"Train with them: tucano data feedback {_quoted(folder)}"


def _quoted(folder: Path) -> str:
    return shlex.quote(str(folder))
