"""B2W-Reviews01 (Americanas): a semicolon CSV of reviews. Extraction comes from it, the other tasks are generated."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

from data.sources import NONCOMMERCIAL
from data.sources.csv_files import numbers, read_table, without_personal_data
from data.sources.reviews import RealReview, RealReviews, join_title
from data.sources.synthetic import SyntheticSource
from tucano.errors import UserError
from tucano.prompts import Prompt, Task
from tucano.specs.banks import Pool

COLUMNS = ("review_title", "review_text", "overall_rating", "recommend_to_a_friend", "site_category_lv1")
SEPARATOR = ";"
RECOMMENDS = {"Yes": True, "No": False}


class B2wSource(SyntheticSource):
    """Silver truth: sentiment and score from the stars, category from the shop, repurchase intent from the
    recommendation.
    """

    name = "b2w"

    def __init__(self, path: Path, folder: Path, seed: int) -> None:
        self._real = RealReviews(self.name, NONCOMMERCIAL, real_reviews(csv_file(path)), Random(f"{seed}/reviews"))
        super().__init__(folder, seed)
        self.masked = self._real.masked

    def available(self, task: Task) -> int | None:
        return self._real.size if task == "extraction" else None

    def prompts(self, task: Task, pool: Pool, rng: Random) -> Iterator[Prompt]:
        return self._real.offers(pool, rng) if task == "extraction" else super().prompts(task, pool, rng)


def csv_file(path: Path) -> Path:
    if not path.is_dir():
        return path
    files = sorted(path.glob("*.csv"))
    if len(files) != 1:
        raise UserError(
            f"data.path: the folder {path} holds {len(files)} CSV files, one is needed; name the file itself"
        )
    return files[0]


def real_reviews(path: Path) -> Iterator[RealReview]:
    """Its reviews with a valid number of stars."""
    return (review for _, review in numbered_reviews(path))


def numbered_reviews(path: Path) -> Iterator[tuple[int, RealReview]]:
    """The same, each with the number of its row, from 0."""
    table = read_table(path, COLUMNS, SEPARATOR)
    table = table.assign(
        overall_rating=numbers(table, "overall_rating", path),
        site_category_lv1=without_personal_data(table["site_category_lv1"]),
    )
    rows = table.astype(object).where(table.notna(), None).itertuples(index=False, name=None)
    for row, (title, text, stars, recommends, category) in enumerate(rows):
        if stars in (1, 2, 3, 4, 5):
            silver = {"repurchase_intent": RECOMMENDS[recommends]} if recommends in RECOMMENDS else {}
            yield row, RealReview(join_title(title, text), int(stars), category, silver)
