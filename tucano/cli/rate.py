"""`tucano rate`: a person rates completions blind, in a local web page or in the terminal. Every rating is on disk at
once.
"""

import shlex
import signal
import sys
import textwrap
import threading
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tucano.cli.rate_page import RatingServer
from tucano.rating.aids import guides
from tucano.rating.draw import CANDIDATES, open_folder
from tucano.rating.files import RaterKind
from tucano.rating.ratings import RATINGS
from tucano.rating.session import CHOICES, Item, Session, check_rater
from tucano.rating.store import tables
from tucano.security.printable import printable
from tucano.specs.registry import spec_of

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
ASK = "nota 1 a 5 (s pula, u desfaz, ? guia, q sai): "
WIDTH = 100


@dataclass(frozen=True)
class Draw:
    """What a new folder is drawn from, and how many prompts with how many completions each."""

    source: Path
    prompts: int
    completions: int
    seed: int


@dataclass(frozen=True)
class Rater:
    """Who rates; `is_new` where this name may not be known in the folder yet."""

    name: str
    kind: RaterKind
    is_new: bool


def rate(
    folder: Path,
    draw: Draw,
    rater: Rater,
    port: int | None,
) -> int:
    """Rate until everything is rated or the rater stops; a `port` (0: any free one) serves the page, None asks in the
    terminal.
    """
    drawn = "drawn before" if (folder / CANDIDATES).is_file() else f"drawn from {draw.source}"
    candidates = open_folder(folder, draw.source, draw.prompts, draw.completions, draw.seed)
    tasks = Counter(candidate.prompt.task for candidate in candidates)
    print(
        f"{folder}: {len(candidates)} completions {drawn}"
        f" ({', '.join(f'{task} {count}' for task, count in tasks.items())})"
    )
    check_rater(folder, rater.name, rater.kind, rater.is_new)
    session = Session(folder, candidates, rater.name, rater.kind)
    if port is None:
        _in_terminal(session, folder)
    else:
        _in_browser(session, folder, port)
    _say_goodbye(session, folder, "" if port is not None else " --terminal")
    return 0


def _in_browser(session: Session, folder: Path, port: int) -> None:
    stop = threading.Event()
    for number in STOP_SIGNALS:
        signal.signal(number, lambda *_: stop.set())
    with RatingServer(session, tables(folder), port) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        view = session.view()
        print(
            f"{session.rater}: {view.rated} of {view.total} rated. Open this link:\n\n    {server.url}\n\nCtrl-C"
            " stops.",
            flush=True,
        )
        stop.wait()
        server.shutdown()
        thread.join()


def _in_terminal(session: Session, folder: Path) -> None:
    for number in STOP_SIGNALS:
        signal.signal(number, signal.default_int_handler)
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]  # a terminal without emoji is no reason to stop
    schema = [f"{name}({', '.join(columns)})   ex.: {', '.join(row)}" for name, columns, row in tables(folder)]
    try:
        while item := session.view().item:
            _show(session, item, schema)
            while not _answered(session, item, input(ASK).strip().lower()):
                pass
    except (KeyboardInterrupt, EOFError):
        pass
    print()


def _show(session: Session, item: Item, schema: list[str]) -> None:
    view = session.view()
    display = spec_of(item.task).display
    print(f"\n{'─' * WIDTH}\n{view.rated} de {view.total} · {display.name}\n")
    print(f"SOLICITAÇÃO\n{_indented(item.prompt)}\n")
    if display.with_tables:
        print("TABELAS\n" + "".join(f"{_indented(line)}\n" for line in schema))
    print(f"RESPOSTA\n{_indented(item.completion) or '    (resposta vazia)'}\n")


def _answered(session: Session, item: Item, key: str) -> bool:
    """Do what the key says; False where the same item has to be asked again."""
    if key.isdecimal() and key.isascii() and int(key) in CHOICES:
        session.rate(item.id, int(key))
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


def _say_goodbye(session: Session, folder: Path, mode: str) -> None:
    view = session.view()
    print(f"{session.rater}: {view.rated} of {view.total} rated, in {folder / RATINGS}")
    if view.item:
        print(
            f"Go on with: tucano rate {shlex.quote(str(folder))} --rater {shlex.quote(session.rater)}{mode}", flush=True
        )
    else:
        print(f"Audit with them: tucano audit laptop --set audit.ratings={shlex.quote(str(folder))}", flush=True)
