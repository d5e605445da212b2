"""What mini reads: generated demonstrations without defects, general ones, and well rated answers of many tones."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from data.general import SHIPPED
from data.own.prompts import read_own
from data.separation import is_kept_for_judging
from data.sources.synthetic import SyntheticSource
from tucano.prompts import Prompt, Task
from tucano.rating.table import read_tones
from tucano.settings.data import Style
from tucano.specs.registry import spec_of

SHARES: dict[tuple[Task, Style], float] = {
    ("extraction", "natural"): 0.26,
    ("sql_qa", "natural"): 0.26,
    ("insights", "natural"): 0.22,
    ("push", "natural"): 0.14,
    ("extraction", "plain"): 0.02,
    ("sql_qa", "plain"): 0.02,
    ("insights", "plain"): 0.02,
    ("push", "plain"): 0.02,
    ("sentiment", "natural"): 0.02,
    ("churn", "natural"): 0.02,
}
SEED = 2**32
"""Of the generator here: larger than any `pipeline.seed`."""
WELL_RATED = 4.5
TIMES = 4
"""How often each general demonstration and each well rated answer is read."""


@dataclass(frozen=True, slots=True)
class Example:
    """A system prompt (or none), what is asked, and a good answer."""

    system: str
    user: str
    answer: str


def material(count: int) -> list[Example]:
    """`count` generated examples and the written ones, shuffled; the same ones each time."""
    rng = Random(SEED)
    examples = [*generated(count), *chain.from_iterable([*written()] for _ in range(TIMES))]
    rng.shuffle(examples)
    return examples


def generated(count: int) -> Iterator[Example]:
    """Of each task and style its share, from templates that judged prompts need not share, and without the values that
    are kept for judging (`data.separation.is_kept_for_judging`).
    """
    with TemporaryDirectory(prefix="tucano-mini-") as scratch:
        for style in ("natural", "plain"):
            folder = Path(scratch, style)
            folder.mkdir()
            source = SyntheticSource(folder, SEED, style)
            for (task, of), share in SHARES.items():
                if of == style:
                    yield from islice(_of_task(source, task, style), round(count * share))
            source.close()


def _of_task(source: SyntheticSource, task: Task, style: Style) -> Iterator[Example]:
    for drawn in source.demonstrations(task, 0.0, Random(f"{SEED}/{task}/{style}")):
        if not is_kept_for_judging(drawn.prompt.user):
            answer = drawn.prompt.demonstration or ""
            yield _example(drawn.prompt, without_result(answer) if task == "sql_qa" else answer)


def without_result(answer: str) -> str:
    """A query with its explanation, but without what it gave: no model can know the store's numbers.

    >>> without_result("```sql\\nSELECT 1;\\n```\\nA consulta conta os pedidos: 27.")
    '```sql\\nSELECT 1;\\n```\\nA consulta conta os pedidos.'
    """
    query, fence, prose = answer.rpartition("```\n")
    told = prose.rpartition(": ")[0]
    return f"{query}{fence}{told}." if told else answer


def written() -> Iterator[Example]:
    """Answers that people wrote, or that raters gave a good mark."""
    for prompt in read_own(SHIPPED).general:
        yield Example("", prompt.user, prompt.demonstration or "")
    for answers in read_tones().values():
        for rated in answers:
            if rated.rating >= WELL_RATED and not is_kept_for_judging(rated.prompt.user):
                yield _example(rated.prompt, rated.completion)


def _example(prompt: Prompt, answer: str) -> Example:
    return Example(spec_of(prompt.task).system_prompt, prompt.user, answer)
