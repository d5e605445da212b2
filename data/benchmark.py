"""The benchmark's prompts: more of each task than the test set has, from templates that training never saw (own files
may share theirs), and real reviews.

Real reviews are shown without their stars and category: a sentiment that can be copied from the prompt measures
nothing.

A folder like a prompt set's (test.jsonl, system_prompts.json, the stores, portuguese.txt), so that whatever answers a
test set answers it too. No text is the same as, or near, one of the prompt set it belongs to.
"""

import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from data.prepare import Paths, opened_sources
from data.separation import NearPrompts, normal_form, unread
from data.shares import apportion, filled
from data.sources import NONCOMMERCIAL
from data.sources.b2w import B2wSource, csv_file, real_reviews
from data.sources.csv_files import TableReader
from data.sources.olist import OlistSource, olist_reviews
from data.sources.olist_tables import read_olist
from data.sources.reviews import BLIND_ENVELOPE, RealReviews
from data.splits import judged_shares, taken
from tucano.files.prompts import SETS, PromptFiles
from tucano.prompts import Prompt, read_general, read_paraphrases, read_prompts, reworded, write_prompts
from tucano.settings.benchmark import BenchmarkSetStage


@dataclass(frozen=True, slots=True)
class Places:
    """Where files of reviews are: the sources' own (`data.path`), and real ones that are asked about besides."""

    data: Paths = (None,)
    olist: str | None = None
    b2w: str | None = None


def prepare_benchmark(settings: BenchmarkSetStage, places: Places, prompt_set: Path, folder: Path) -> dict[str, Any]:
    """Writes the benchmark into `folder` and returns its counts. Raises `UserError` for data that cannot be used."""
    plan, tasks, seed = settings.benchmark, settings.tasks, settings.seed
    known_files = PromptFiles(prompt_set)
    files = PromptFiles(folder)
    used = [prompt for part in SETS for prompt in read_prompts(known_files.of(part))]
    used += reworded(used, read_paraphrases(known_files.paraphrases)) + read_general(known_files.general)
    asked = NearPrompts(used)
    chosen: list[Prompt] = []
    reader = TableReader(settings.data.unreadable)
    with opened_sources(settings.data, places.data, seed, folder) as sources:
        shares = [part.share for part in settings.data.parts]
        sizes = apportion(plan.prompts, judged_shares(tasks))
        cells = filled(sizes, shares, lambda number, task: None if sources[number].demonstrates(task) else 0)
        for (number, task), wanted in cells.items():
            name = f"{seed}/benchmark/{task}" + (f"/source-{number}" if number else "")
            chosen += taken(unread(sources[number].fresh(task, Random(name))), wanted, asked.admit)
        masked = sum((source.masked for source in sources), Counter[str]())
        bad = [row for source in sources for row in source.bad_rows]
    if "extraction" in tasks:
        known = [normal_form(prompt.user) for prompt in used]
        for reviews in _real_reviews(places, seed, reader):
            chosen += taken(_unseen(reviews.offers("test", Random(seed)), known), plan.reviews, asked.admit)
            masked += reviews.masked
    for file in (known_files.system_prompts, *known_files.stores, known_files.passages):
        shutil.copyfile(file, folder / file.name)
    write_prompts(
        files.test, [replace(p, id=f"benchmark-{number:05d}-{p.source}-{p.task}") for number, p in enumerate(chosen)]
    )
    counts = Counter(f"{prompt.task} {prompt.source}" for prompt in chosen)
    licences = sorted({prompt.licence for prompt in chosen})
    return {
        "prompts": dict(sorted(counts.items())),
        "licences": licences,
        "masked": dict(sorted(masked.items())),
        "bad_rows": bad + reader.bad_rows,
    }


def _unseen(offers: Iterator[Prompt], known: list[str]) -> Iterator[Prompt]:
    """Reviews whose text stands in no prompt of the set, whatever frame it had there."""
    for offer in offers:
        text = normal_form(offer.user.removeprefix(BLIND_ENVELOPE.format(t="")))
        if not any(text in other for other in known):
            yield offer


def _real_reviews(places: Places, seed: int, files: TableReader) -> Iterator[RealReviews]:
    """Real reviews of each source that is named, without their stars and category."""
    rng = Random(f"{seed}/benchmark/reviews")
    if places.olist:
        reviews = olist_reviews(read_olist(Path(places.olist), files))
        yield RealReviews(OlistSource.name, NONCOMMERCIAL, reviews, rng, blind=True)
    if places.b2w:
        reviews = real_reviews(csv_file(Path(places.b2w)), files)
        yield RealReviews(B2wSource.name, NONCOMMERCIAL, reviews, rng, blind=True)
