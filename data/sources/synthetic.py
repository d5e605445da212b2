"""The synthetic source: reviews, questions, insight briefs and push briefs whose truth is known because we wrote it."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from data.generator.answers import Answer
from data.generator.banks import Pool
from data.generator.defects import spoil
from data.generator.insights import Segment, generated_segment, write_brief
from data.generator.pushes import write_push
from data.generator.questions import ask
from data.generator.reviews import write_review
from data.generator.store import Store, Tables, generated_tables, write_store
from data.generator.words import CATALOGUE
from data.sources import FREE, Demonstration
from tucano.files.prompts import STORE
from tucano.prompts import Prompt, Task

_LINKING = {"de", "do", "da", "e", "para", "com"}


class SyntheticSource:
    """Endless candidates of all four tasks.

    The real sources extend it: they replace the tables, the segments or the products, and inherit what is generated.
    """

    name = "synthetic"
    generated_source = "synthetic"
    generated_licence = FREE

    def __init__(self, folder: Path, seed: int) -> None:
        """Writes the store into `folder`."""
        self.masked: Counter[str] = Counter()
        write_store(folder / STORE, self.tables(Random(f"{seed}/store")))
        self.store = Store(folder / STORE)

    def close(self) -> None:
        self.store.close()

    def tables(self, rng: Random) -> Tables:
        return generated_tables(rng)

    def segment(self, rng: Random) -> Segment:
        return generated_segment(rng)

    def product(self, rng: Random) -> tuple[str, float | None]:
        """(name, price in R$ or None where the brief may draw one)."""
        return rng.choice(CATALOGUE).name, None

    def available(self, task: Task) -> int | None:
        return None

    def prompts(self, task: Task, pool: Pool, rng: Random) -> Iterator[Prompt]:
        while True:
            yield self._pair(task, pool, rng)[0]

    def demonstrations(self, task: Task, defect_share: float, rng: Random) -> Iterator[Demonstration]:
        while True:
            prompt, answer = self._pair(task, "known", rng)
            defects: tuple[str, ...] = ()
            if rng.random() < defect_share:
                answer, defects = spoil(task, answer, rng)
            yield Demonstration(_with_answer(prompt, answer), defects)

    def _pair(self, task: Task, pool: Pool, rng: Random) -> tuple[Prompt, Answer]:
        """A prompt with its good answer."""
        match task:
            case "extraction":
                return self._review(pool, rng)
            case "sql_qa":
                return self._question(pool, rng)
            case "insights":
                return self._brief(pool, rng)
            case "push":
                return self._push(pool, rng)

    def _review(self, pool: Pool, rng: Random) -> tuple[Prompt, Answer]:
        review = write_review(pool, rng)
        prompt = Prompt("", "extraction", review.user, review.template, SyntheticSource.name, FREE, review.stars, {"fields": review.fields})
        return prompt, review.answer()

    def _question(self, pool: Pool, rng: Random) -> tuple[Prompt, Answer]:
        question = ask(pool, self.store, rng)
        reference = {"sql": question.sql, "database": STORE}
        return self._prompt("sql_qa", question.user, question.template, reference), question.answer()

    def _brief(self, pool: Pool, rng: Random) -> tuple[Prompt, Answer]:
        segment = self.segment(rng)
        brief = write_brief(pool, segment, rng)
        figures = [float(value) for value in brief.figures.values()]
        in_label = [float(number) for number in re.findall(r"\d+", segment.label)]
        reference = {"figures": figures + in_label, "key_figures": [float(brief.figures[label]) for label in brief.key]}
        return self._prompt("insights", brief.user, brief.template, reference), brief.answer(rng)

    def _push(self, pool: Pool, rng: Random) -> tuple[Prompt, Answer]:
        product, price = self.product(rng)
        brief = write_push(pool, product, price, rng)
        terms = [word for word in re.findall(r"[\w-]+", product) if word not in _LINKING]
        reference = {"product": product, "terms": terms, "figures": list(brief.offer.figures)}
        return self._prompt("push", brief.user, brief.template, reference), brief.answer(rng)

    def _prompt(self, task: Task, user: str, template: str, reference: dict[str, Any]) -> Prompt:
        return Prompt("", task, user, template, self.generated_source, self.generated_licence, None, reference)


def _with_answer(prompt: Prompt, answer: Answer) -> Prompt:
    return Prompt(
        "", prompt.task, prompt.user, prompt.template, prompt.source, prompt.licence, prompt.stars, prompt.reference, answer.text()
    )
