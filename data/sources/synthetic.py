"""The synthetic source: reviews, questions, briefs and offers whose truth is known because we wrote it; tasks make
prompts of them."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

from data.generator.insights import BY_LABEL, Segment, generated_segment
from data.generator.questions import AMOUNTS
from data.generator.store import Store, Tables, generated_tables, write_store
from data.generator.styles import WRITERS
from data.generator.suite import FURTHER, further_tables
from data.generator.words import CATALOGUE
from data.separation import GENERATED
from data.sources import FREE, Demonstration
from data.spoiling import spoil
from tucano.files.prompts import STORE, further_store
from tucano.prompts import Prompt, Task
from tucano.settings.data import Style
from tucano.specs.banks import Pool, Reword
from tucano.specs.base import Answer, Drawn, Review
from tucano.specs.registry import spec_of

ABOUT_THE_STORE = "sql_qa"
_LINKING = {"de", "do", "da", "e", "para", "com"}


class SyntheticSource:
    """Endless candidates of every task, and the material (`tucano.specs.base.Material`) that they are made of. Ids are
    given later, when a candidate has been chosen.

    The real sources extend it: they replace the tables, the segments or the products, and inherit what is generated.
    """

    name = GENERATED
    files = "*.csv"
    """What a source that extends this one reads where `data.path` is a folder: these files make new data when they
    change.
    """
    generated_source = GENERATED
    generated_licence = FREE

    def __init__(self, folder: Path, seed: int, style: Style = "plain") -> None:
        """Writes the store into `folder`, and beside it the further stores that answers are judged on. Where another
        source has done so, that one asks the questions about it. `style`: how what is generated is written.
        """
        self._writers = WRITERS[style]
        self.masked: Counter[str] = Counter()
        """How often each kind of personal data was masked while the source was read."""
        self.warnings: list[str] = []
        """What the data report has to say about its files."""
        self.bad_rows: list[str] = []
        """Rows that are not used, and why: the first of each kind, and how many more."""
        self._rewords: dict[str, Reword] = {}
        self._asks = not (folder / STORE).exists()
        if self._asks:
            self._write_stores(folder, seed)
        self.store = Store(folder / STORE)

    def _write_stores(self, folder: Path, seed: int) -> None:
        tables = self.tables(Random(f"{seed}/store"))
        write_store(folder / STORE, tables)
        for number in range(1, FURTHER + 1):
            further = further_tables(tables, AMOUNTS, Random(f"{seed}/store-{number}"))
            write_store(folder / further_store(number), further)

    def close(self) -> None:
        """Lets go of the store."""
        self.store.close()

    def tables(self, rng: Random) -> Tables:
        return generated_tables(rng)

    def segment(self, rng: Random) -> Segment:
        return generated_segment(rng)

    def product(self, rng: Random) -> tuple[str, float | None]:
        """(name, price in R$ or None where the brief may draw one)."""
        return rng.choice(CATALOGUE).name, None

    def available(self, task: Task) -> int | None:
        """How many different texts of the task exist; None where they are generated, 0 where it has none."""
        return None if self.demonstrates(task) else 0

    def demonstrates(self, task: Task) -> bool:
        """Whether it has worked answers of the task."""
        return self._asks or task != ABOUT_THE_STORE

    def fresh(self, task: Task, rng: Random) -> Iterator[Prompt]:
        """Candidates for the benchmark: their truth is known."""
        return self.prompts(task, "test", rng)

    def prompts(self, task: Task, pool: Pool, rng: Random) -> Iterator[Prompt]:
        """Candidates made from the templates of one pool. A finite source offers each of its texts once, whatever the
        pool.
        """
        while True:
            yield self._prompt(task, spec_of(task).draw(self, pool, rng))

    def demonstrations(self, task: Task, defect_share: float, rng: Random) -> Iterator[Demonstration]:
        """Worked answers, from known templates; `defect_share` of them (in expectation) are flawed."""
        while True:
            drawn = spec_of(task).draw(self, "known", rng)
            answer: Answer = drawn.answer
            defects: tuple[str, ...] = ()
            if rng.random() < defect_share:
                answer, defects = spoil(task, answer, rng)
            yield Demonstration(self._prompt(task, drawn, answer), defects)

    def review(self, pool: Pool, rng: Random) -> Review:
        return self._writers.review(pool, rng)

    def question(self, pool: Pool, rng: Random) -> Drawn:
        asked = self._writers.question(pool, self.store, rng)
        reference = {"sql": asked.sql, "database": STORE}
        return Drawn(asked.user, asked.template, reference, asked.answer(), reword=asked.reword)

    def brief(self, pool: Pool, rng: Random) -> Drawn:
        segment = self.segment(rng)
        brief = self._writers.brief(pool, segment, rng)
        figures = [float(value) for value in brief.figures.values()]
        in_label = [float(number) for number in re.findall(r"\d+", segment.label)]
        reference = {
            "figures": figures + in_label,
            "key_figures": [float(brief.figures[label]) for label in brief.key],
            "facts": [
                {"label": label, "value": float(value), "unit": BY_LABEL[label].unit}
                | ({"moved": brief.moved[label]} if label in brief.moved else {})
                for label, value in brief.figures.items()
            ],
            "key": list(brief.key),
        }
        return Drawn(brief.user, brief.template, reference, brief.answer(rng), reword=brief.reword)

    def offer(self, pool: Pool, rng: Random) -> Drawn:
        product, price = self.product(rng)
        brief = self._writers.push(pool, product, price, rng)
        terms = [word for word in re.findall(r"[\w-]+", product) if word not in _LINKING]
        reference = {"product": product, "terms": terms, "figures": list(brief.offer.figures)}
        return Drawn(brief.user, brief.template, reference, brief.answer(rng), reword=brief.reword)

    def reword(self, prompt: Prompt, rng: Random) -> tuple[str, str] | None:
        """(text, template) of another wording of a training prompt that it offered, with the same content; None where
        it does not know what of the text is content.
        """
        again = self._rewords.get(prompt.user)
        return again(rng) if again else None

    def _prompt(self, task: Task, drawn: Drawn, answer: Answer | None = None) -> Prompt:
        """With the worked answer, where one is given."""
        if drawn.reword:
            self._rewords[drawn.user] = drawn.reword
        source, licence = (
            (SyntheticSource.name, FREE) if drawn.invented else (self.generated_source, self.generated_licence)
        )
        worked = answer.text() if answer else None
        return Prompt("", task, drawn.user, drawn.template, source, licence, drawn.stars, drawn.reference, worked)
