"""One person's way through what a rating folder asks: blind, in an order of their own, all that they say on disk at
once.

What a rater sees is a `View`, and a view holds nothing of reward, model or origin. Where somebody stands follows from
the lines on disk alone, so that a session goes on where it stopped, however it stopped. Raters may share a folder at
the same time.
"""

import random
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from tucano.masking import mask
from tucano.prompts import TASKS, Prompt, Task
from tucano.rating.draw import Candidate
from tucano.rating.files import LONGEST_CORRECTION, Judged, RaterKind, RatingLine
from tucano.rating.ledger import Ledger
from tucano.rating.ratings import rating_ledger
from tucano.security.printable import printable


@dataclass(frozen=True, slots=True)
class Item:
    """What a rater sees: a prompt with one completion to rate, or with a second to choose from. `id` only names it in
    the answer.
    """

    id: str
    task: Task
    prompt: str
    completion: str
    other: str | None = None


@dataclass(frozen=True, slots=True)
class View:
    """What is to be judged now (None: everything is), how far the rater is, and what they said last."""

    item: Item | None
    rated: int
    total: int
    last: str | None


class Asked(Protocol):
    """Something to judge about a prompt."""

    @property
    def id(self) -> str: ...
    @property
    def prompt(self) -> Prompt: ...


A = TypeVar("A", bound=Asked)
J = TypeVar("J", bound=Judged)


def own_order(things: Sequence[A], rater: str) -> list[A]:
    """Task after task, so that a rater keeps one part of the guide in mind; tasks and things in an order of this
    rater's own.

    Completions of one prompt do not stand together: each is to be rated by itself.
    """
    rng = random.Random(rater)
    present = [task for task in TASKS if any(thing.prompt.task == task for thing in things)]
    tasks = rng.sample(present, len(present))
    shuffled = rng.sample(things, len(things))
    return sorted(shuffled, key=lambda thing: tasks.index(thing.prompt.task))


class Sitting(ABC, Generic[A, J]):
    """A rater at work. Safe from several threads and beside sittings of other raters: every change holds the folder's
    lock.
    """

    keys: ClassVar[tuple[str, ...]]
    """What may be said of an item."""
    corrects = False
    """Whether an item may be said to be better otherwise."""
    consent: bool | None = None
    """Whether models may be trained with what is said; None where nothing of it trains any."""

    def __init__(self, ledger: Ledger[J], things: Sequence[A], rater: str, kind: RaterKind) -> None:
        self.rater = rater
        self.ledger = ledger
        self._kind = kind
        self._order = own_order(things, rater)
        self._by_id = {thing.id: thing for thing in things}
        with ledger.held():
            ledger.mend_end()
            self._mine()

    @abstractmethod
    def _item(self, thing: A) -> Item:
        """What is shown of it."""

    @abstractmethod
    def _about(self, record: J) -> str:
        """The id of what a line is about."""

    @abstractmethod
    def _said(self, record: J) -> str:
        """Which of the keys a line holds."""

    @abstractmethod
    def _line(self, thing: A, said: str, correction: str | None) -> dict[str, Any]:
        """The line, without who says it."""

    def view(self) -> View:
        with self.ledger.held():
            mine = self._mine()
        left = next((thing for thing in self._order if thing.id not in mine), None)
        return View(
            self._item(left) if left else None, len(mine), len(self._order), next(reversed(mine.values()), None)
        )

    def shown(self, item: str) -> Item:
        """KeyError for an item that is none."""
        return self._item(self._by_id[item])

    def say(self, item: str, said: str, correction: str | None = None, again: bool = False) -> None:
        """Write what is said of an item. One that has been judged, from a page that is no longer the current one, stays
        as it is, unless it is said `again`: then it takes the place of what was said before.
        """
        if said not in self.keys or item not in self._by_id:
            raise ValueError("esta nota não existe, ou não é desta página")
        with self.ledger.held():
            self.ledger.mend_end()
            lines = enumerate(self.ledger.read())
            before = [place for place, line in lines if self._is_mine(line) and self._about(line) == item]
            if before and not again:
                return
            who = {"rater": self.rater, "rater_kind": self._kind}
            self.ledger.add(self._line(self._by_id[item], said, correction) | who, before)

    def skip(self, item: str) -> None:
        """Leave an item for the end of this sitting."""
        with self.ledger.held():
            self._order.sort(key=lambda thing: thing.id == item)

    def undo(self) -> None:
        """Take back what this rater said last, also in an earlier sitting; its item comes next."""
        with self.ledger.held():
            self.ledger.mend_end()
            given = [(place, record) for place, record in enumerate(self.ledger.read()) if self._is_mine(record)]
            if given:
                place, last = given[-1]
                self.ledger.drop([place])
                self._order.sort(key=lambda thing: thing.id != self._about(last))

    def _mine(self) -> dict[str, str]:
        """{item: what this rater said of it}, in the order in which they did."""
        return {self._about(record): self._said(record) for record in self.ledger.read() if self._is_mine(record)}

    def _is_mine(self, record: J) -> bool:
        return record.rater == self.rater and self._about(record) in self._by_id


class Session(Sitting[Candidate, RatingLine]):
    """Completions, each rated from 1 to 5. With a `consent` given or refused they may also be corrected, where the
    rater knows a better one; corrections are masked before they are written.
    """

    keys = ("1", "2", "3", "4", "5")

    def __init__(
        self,
        folder: Path,
        candidates: Sequence[Candidate],
        rater: str,
        kind: RaterKind,
        consent: bool | None = None,
    ) -> None:
        self.consent = consent
        self.corrects = consent is not None
        super().__init__(rating_ledger(folder), candidates, rater, kind)

    def _item(self, thing: Candidate) -> Item:
        return Item(thing.id, thing.prompt.task, thing.prompt.user, thing.completion)

    def _about(self, record: RatingLine) -> str:
        return Candidate(record.prompt, record.completion, record.origin, record.model).id

    def _said(self, record: RatingLine) -> str:
        return str(record.rating)

    def _line(self, thing: Candidate, said: str, correction: str | None) -> dict[str, Any]:
        line = {**asdict(thing), "rating": int(said)}
        if self.corrects:
            line |= {"correction": corrected(thing.completion, correction), "consent": self.consent}
        return line


def corrected(completion: str, correction: str | None) -> str | None:
    """The masked correction; None where nothing is corrected. ValueError for one that no row of own data may have."""
    text, *unchanged = (
        "\n".join(one.splitlines()).strip() for one in (correction or "", completion, printable(completion))
    )
    if text in ("", *unchanged):
        return None
    if len(text) > LONGEST_CORRECTION:
        raise ValueError(f"a correção tem mais de {LONGEST_CORRECTION} caracteres")
    if printable(text) != text:
        raise ValueError("a correção contém caracteres de controle; apague-os")
    return mask(text)[0]
