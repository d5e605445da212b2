"""The checks that a prompt set has to pass before anything is trained on it. Each raises `UserError` and so fails the
stage.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from data.separation import NearPrompts
from data.splits import Splits
from rewards.parsing.sql_results import gold_result
from tucano.errors import UserError
from tucano.files.prompts import STORE
from tucano.prompts import Paraphrase, Prompt, Task, reworded
from tucano.settings.data import SMALLEST_STRATUM
from tucano.specs.banks import JOINT

HeldOut = dict[str, dict[str, int]]


def check(splits: Splits, paraphrases: Sequence[Paraphrase], tasks: tuple[Task, ...], folder: Path) -> HeldOut:
    """All checks; returns how many judged prompts come from templates that training never saw, per file and task."""
    seen = [*splits.train, *(made.prompt for made in [*splits.demonstrations, *splits.demonstrations_validation])]
    seen += reworded(seen, paraphrases)
    check_strata({"train": splits.train, "validation": splits.validation, "test": splits.test}, tasks)
    check_separation(seen, splits.validation, splits.test)
    check_gold_queries([*seen, *splits.validation, *splits.test], folder / STORE)
    held_out = {
        "validation": count_held_out(splits.validation, [*seen, *splits.test]),
        "test": count_held_out(splits.test, [*seen, *splits.validation]),
    }
    check_held_out(splits.test, held_out["test"])
    return held_out


def check_strata(parts: dict[str, list[Prompt]], tasks: tuple[Task, ...]) -> None:
    """Every task has at least `SMALLEST_STRATUM` prompts in training, validation and test."""
    for part, prompts in parts.items():
        counts = Counter(prompt.task for prompt in prompts)
        for task in tasks:
            if counts[task] < SMALLEST_STRATUM:
                raise UserError(
                    f"data.{part}_prompts: only {counts[task]} prompts of {task} in the {part} set, {SMALLEST_STRATUM}"
                    f" are needed; raise the setting, give the source more different texts, or take {task} out of"
                    " data.mix"
                )


def check_separation(seen: Iterable[Prompt], validation: list[Prompt], test: list[Prompt]) -> None:
    """No text of training, validation and test is the same as, near, or inside of one of another set; nor is a gold
    query.
    """
    fences = ((seen, "validation or test", NearPrompts([*validation, *test])), (validation, "test", NearPrompts(test)))
    for prompts, whose, fence in fences:
        for prompt in prompts:
            if fence.near(prompt):
                raise UserError(
                    f"{prompt.id} has (nearly) the text, or the gold query, of a {whose} prompt: {prompt.user!r};"
                    " report this with the data seed"
                )


def count_held_out(judged: list[Prompt], others: Iterable[Prompt]) -> dict[str, int]:
    """Per task, the judged prompts no part of whose template occurs among the others."""
    known = {(prompt.task, part) for prompt in others for part in prompt.template.split(JOINT)}
    counts = Counter({prompt.task: 0 for prompt in judged})
    counts.update(
        prompt.task
        for prompt in judged
        if not any((prompt.task, part) in known for part in prompt.template.split(JOINT))
    )
    return dict(sorted(counts.items()))


def check_held_out(test: list[Prompt], held_out: dict[str, int]) -> None:
    """At least half of each task's test prompts come from templates that nothing else uses."""
    for task, total in Counter(prompt.task for prompt in test).items():
        if 2 * held_out[task] < total:
            raise UserError(
                f"only {held_out[task]} of {total} test prompts of {task} use templates unseen in training; give the"
                " source more texts"
            )


def check_gold_queries(prompts: Iterable[Prompt], database: Path) -> None:
    """Every gold query runs on the store and returns a value."""
    queries = {prompt.reference["sql"]: prompt.id for prompt in prompts if "sql" in prompt.reference}
    for query, name in queries.items():
        try:
            rows = gold_result(database, query).rows  # as whoever scores runs it, other dialects translated
        except ValueError as error:
            raise UserError(f"the gold query of {name} does not run on {database.name}: {query}") from error
        if not rows or rows[0][0] is None:
            raise UserError(f"the gold query of {name} returns nothing on {database.name}: {query}")
