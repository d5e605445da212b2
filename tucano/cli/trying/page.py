"""The page of `tucano try` and its server. The page asks one model at a time, so that each answer is seen when it is
there; what the server gives back are pieces of HTML in which everything is escaped.
"""

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jinja2 import Environment, Template
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rewards.sets import RewardSet
from tucano.cli.rating.page import RATE, Tables, breakable
from tucano.cli.trying.judged import MET, judged
from tucano.cli.trying.models import Models, NoAnswer
from tucano.cli.trying.ratings import Rated, Ratings, typed
from tucano.errors import UserError
from tucano.presentation.numbers import portuguese
from tucano.presentation.pages import environment
from tucano.prompts import Prompt, Task
from tucano.rating.files import LONGEST_CORRECTION
from tucano.security.local_page import LocalHandler, LocalServer
from tucano.security.printable import printable, short
from tucano.specs.registry import gold, spec_of

LONGEST_TEXT = 4000
LONGEST_REQUEST_BYTES = 64 * 1024
MOST_LISTED = 300
"""Held-out prompts of a task that can be picked; the first one is the example."""


@dataclass(frozen=True, slots=True)
class Column:
    """A model as the page shows it."""

    name: str
    title: str
    note: str


@dataclass(frozen=True)
class Trial:
    """A finished run to be tried: who answers, what is asked, what judges, and where ratings go."""

    label: str
    columns: Sequence[Column]
    tasks: Sequence[Task]
    prompts: Mapping[str, Prompt]
    models: Models
    rewards: RewardSet
    ratings: Ratings
    tables: Tables
    limit: str = ""
    """What its base cannot do, said where one asks; "" where nothing is known."""

    def listed(self, task: Task) -> list[Prompt]:
        """The held-out prompts of a task that the page offers."""
        return [prompt for prompt in self.prompts.values() if prompt.task == task][:MOST_LISTED]


class Asked(BaseModel):
    """What the page sends. prompt: the id of a held-out prompt whose text was not changed."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    model: str = Field(max_length=100)
    task: str = Field(max_length=100)
    text: str = Field(max_length=LONGEST_TEXT)
    prompt: str = Field("", max_length=500)


class TryServer(LocalServer):
    """Serves one trial."""

    def __init__(self, trial: Trial, port: int) -> None:
        self.trial = trial
        self.judging = ThreadPoolExecutor(1)  # SQLite's connections belong to the thread that opened them
        super().__init__(Handler, port)

    def server_close(self) -> None:
        super().server_close()
        self.judging.shutdown()

    def answer(self, asked: Asked) -> str:
        """The answer of a model and what is said of it, as HTML. ValueError for what cannot be asked; NoAnswer."""
        trial = self.trial
        prompt = self._prompt(asked)
        if asked.model not in [column.name for column in trial.columns]:
            raise ValueError("este modelo não está na página")
        answered = trial.models.answer(asked.model, prompt.task, prompt.user)
        drawn = answered.drawn
        if drawn.refused is not None:
            raise ValueError("o texto contém uma marca do próprio modelo, ou é longo demais para ele; mude-o")
        found = self.judging.submit(judged, prompt, drawn.text, trial.rewards).result()
        return _template("answer.html.j2").render(
            id=trial.ratings.show(prompt, drawn.text, asked.model),
            answered=answered,
            drawn=drawn,
            judged=found,
            met=MET,
            has_fields=bool(spec_of(prompt.task).fields),
            gold=gold(prompt),
            display=spec_of(prompt.task).display,
            ratings=RATE,
            longest=LONGEST_CORRECTION,
        )

    def _prompt(self, asked: Asked) -> Prompt:
        text = printable("\n".join(asked.text.splitlines())).strip()
        if asked.task not in self.trial.tasks:
            raise ValueError("esta tarefa não é da execução")
        if not text:
            raise ValueError("o texto está vazio; escreva ou escolha um pedido")
        known = self.trial.prompts.get(asked.prompt)
        return known if known is not None and known.task == asked.task else typed(asked.task, text)

    def page(self, nonce: str) -> str:
        return _template("page.html.j2").render(
            trial=self.trial,
            displays={task: spec_of(task).display for task in self.trial.tasks},
            longest=LONGEST_TEXT,
            nonce=nonce,
        )


class Handler(LocalHandler):
    """GET shows the page; POST asks a model, or keeps a rating."""

    places = ("", "answer", "rate")
    most_bytes = LONGEST_REQUEST_BYTES
    server: TryServer

    def do_GET(self) -> None:
        if (place := self.asked()) == "":
            self.send_page(self.server.page, "connect-src 'self'")
        elif place is not None:
            self.send(405, "Este endereço só recebe pedidos da página.")

    def do_POST(self) -> None:
        place = self.asked()
        body = None if place is None else self.body()
        if place is None or body is None:
            return
        try:
            if self.headers.get_content_type() != "application/json":
                raise ValueError("o pedido não é JSON")
            self.send(200, self._done(place, body))
        except ValidationError as error:
            field = ".".join(map(str, error.errors(include_url=False, include_input=False)[0]["loc"]))
            self.send(400, f"O pedido não vale{f': {short(field)}' if field else ''}.")
        except NoAnswer as why:
            self.failed(503, "O modelo não respondeu.", why)
        except KeyError:
            self.send(400, "Não gravado: esta resposta é de antes; peça outra e avalie-a.")
        except (UserError, OSError) as why:
            self.failed(400, "Não deu.", why)
        except ValueError as why:
            self.send(400, f"Não deu: {why}.")

    def _done(self, place: str, body: bytes) -> str:
        if place == "answer":
            return self.server.answer(Asked.model_validate_json(body))
        if place == "rate":
            rated = Rated.model_validate_json(body)
            self.server.trial.ratings.keep(rated)
            return f"Nota {rated.rating} gravada."
        raise ValueError("aqui só se lê")


@cache
def sentences() -> Mapping[str, str]:
    """{English sentence of a component, fact or fault: Portuguese one}: by sentence, since components of one name mean
    other things in other sets.
    """
    found: dict[str, str] = json.loads(Path(__file__).with_name("portuguese.json").read_text(encoding="utf-8"))
    return found


def said(sentence: str) -> str:
    """In Portuguese; the sentence itself where somebody's own component has none."""
    return sentences().get(sentence, sentence)


def _template(name: str) -> Template:
    return _environment().get_template(name)


@cache
def _environment() -> Environment:
    made = environment(Path(__file__).parent)
    made.filters |= {"breakable": breakable, "number": portuguese, "said": said}
    return made
