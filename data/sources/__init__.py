"""Where prompts come from. A source offers candidates; `data.splits` chooses among them and keeps the sets apart."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Protocol

from tucano.prompts import Prompt, Task
from tucano.specs.banks import Pool

NONCOMMERCIAL = "CC BY-NC-SA 4.0 (noncommercial)"
FREE = "CC0-1.0"


@dataclass(frozen=True)
class Demonstration:
    """A prompt with a worked answer, and the names of the defects that were put into it (none: it is a good answer)."""

    prompt: Prompt
    defects: tuple[str, ...]


class Source(Protocol):
    """Candidates of every task. Ids are given later, when a candidate has been chosen."""

    name: str
    masked: Counter[str]
    """How often each kind of personal data was masked while the source was read."""
    warnings: list[str]
    """What the data report has to say about its files."""
    bad_rows: list[str]
    """Rows that are not used, and why: the first of each kind, and how many more."""

    def available(self, task: Task) -> int | None:
        """How many different texts of the task exist; None where they are generated, 0 where it has none."""

    def prompts(self, task: Task, pool: Pool, rng: Random) -> Iterator[Prompt]:
        """Candidates made from the templates of one pool. A finite source offers each of its texts once, whatever the
        pool.
        """

    def fresh(self, task: Task, rng: Random) -> Iterator[Prompt]:
        """Candidates for the benchmark: their truth is known."""

    def demonstrates(self, task: Task) -> bool:
        """Whether it has worked answers of the task."""

    def demonstrations(self, task: Task, defect_share: float, rng: Random) -> Iterator[Demonstration]:
        """Worked answers, from known templates; `defect_share` of them (in expectation) are flawed."""

    def reword(self, prompt: Prompt, rng: Random) -> tuple[str, str] | None:
        """(text, template) of another wording of a training prompt that it offered, with the same content; None where
        it does not know what of the text is content.
        """

    def close(self) -> None:
        """Lets go of the store."""
