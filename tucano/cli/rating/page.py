"""The rating page and its server. The page is one HTML file that needs nothing else."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import parse_qs

from jinja2 import Environment
from markdown_it import MarkdownIt
from markupsafe import Markup

from tucano.errors import UserError
from tucano.presentation.pages import environment
from tucano.prompts import Task
from tucano.rating.aids import guides
from tucano.rating.choices import FIRST, SECOND, TIE, Choosing
from tucano.rating.files import LONGEST_CORRECTION
from tucano.rating.session import Session, View, corrected
from tucano.security.local_page import LocalHandler, LocalServer
from tucano.security.printable import printable
from tucano.serving.schema import fault_of
from tucano.specs.registry import spec_of

LONGEST_FORM_BYTES = 1000 + 12 * LONGEST_CORRECTION  # a character has four bytes at most, written as %XX each


@dataclass(frozen=True, slots=True)
class Button:
    """What may be said of an item: the key that says it, and what it means."""

    key: str
    meaning: str


RATE = {
    "1": Button("1", "sem valor"),
    "2": Button("2", "quase inútil"),
    "3": Button("3", "útil com retrabalho"),
    "4": Button("4", "boa após uma olhada"),
    "5": Button("5", "pronta para usar"),
}
"""The general scale of the guide, in a word or two."""
CHOOSE = {
    FIRST: Button("1", "a resposta 1 é melhor"),
    TIE: Button("0", "tanto faz"),
    SECOND: Button("2", "a resposta 2 é melhor"),
}

AnySitting = Session | Choosing
Tables = list[tuple[str, list[str], list[str]]]


class RatingServer(LocalServer):
    """Serves one session."""

    def __init__(self, session: AnySitting, tables: Tables, port: int) -> None:
        self.session = session
        self.tables = tables
        super().__init__(Handler, port)


class Handler(LocalHandler):
    """GET shows what is to be rated now; POST does one thing and leads back to it, so a reload never repeats it."""

    server: RatingServer
    most_bytes = LONGEST_FORM_BYTES

    def do_GET(self) -> None:
        if self.asked() is None:
            return
        try:
            view = self.server.session.view()
        except (UserError, OSError) as error:
            self.failed(500, "As notas gravadas não podem ser lidas.", error)
            return
        self.send_page(lambda nonce: render(view, self.server.session, self.server.tables, nonce))

    def do_POST(self) -> None:
        if self.asked() is None or (body := self.body()) is None:
            return
        form = {name: values[-1] for name, values in parse_qs(body.decode(errors="replace")).items()}
        try:
            self._do(form)
        except (UserError, OSError) as error:
            self.failed(500, "Não gravado.", error)
        except KeyError:
            self.send(400, "Não gravado: a página é de antes. Volte e recarregue-a.")
        except ValueError as error:
            self.send(400, f"Não gravado: {error}. Volte e recarregue a página.")
        else:
            self.send(303, "", {"Location": self.path})

    def _do(self, form: dict[str, str]) -> None:
        session = self.server.session
        if form["do"] == "undo":
            session.undo()
        elif form["do"] == "skip":
            session.skip(form["item"])
        else:
            item = session.shown(form["item"])
            correction = corrected(item.completion, form.get("correction")) if session.corrects else None
            check_form(item.task, correction)
            session.say(item.id, form["do"], correction)


def buttons_of(session: AnySitting) -> dict[str, Button]:
    """{what may be said: its button}"""
    return CHOOSE if isinstance(session, Choosing) else RATE


def check_form(task: Task, correction: str | None) -> None:
    """ValueError for a correction that has not the form that its task asks for."""
    if correction is not None and fault_of(task, correction) is not None:
        fields = ", ".join(spec_of(task).fields)
        raise ValueError(
            f"a correção não é um único objeto JSON com os campos {fields}, cada um com um valor permitido"
        )


def render(view: View, session: AnySitting, tables: Tables, nonce: str) -> str:
    """The page for a view. What it shows comes from the view, which knows nothing of rewards, models and origins."""
    guide = _guide_pages()[view.item.task] if view.item else ""
    display = spec_of(view.item.task).display if view.item else None
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            view=view,
            item=view.item,
            session=session,
            tables=tables,
            nonce=nonce,
            guide=guide,
            buttons=buttons_of(session),
            display=display,
            choosing=isinstance(session, Choosing),
            longest=LONGEST_CORRECTION,
        )
    )


@cache
def _environment() -> Environment:
    made = environment(Path(__file__).parent)
    made.filters["breakable"] = breakable
    return made


def breakable(text: str) -> Markup:
    """Escaped, and breaking lines at commas: JSON without spaces would break within its words."""
    return Markup(",<wbr>").join(printable(text).split(","))


@cache
def _guide_pages() -> dict[Task, Markup]:
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    return {task: Markup(markdown.render(text)) for task, text in guides().items()}
