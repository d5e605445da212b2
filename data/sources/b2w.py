"""B2W-Reviews01 (Americanas): a semicolon CSV of reviews. Extraction comes from it, the other tasks are generated."""

import difflib
import re
from collections.abc import Iterator
from pathlib import Path

from data.sources.csv_files import Kind, TableReader, without_personal_data
from data.sources.reviews import RealReview, ReviewSource, join_title
from tucano.errors import UserError
from tucano.settings.data import UNREADABLE, Style

COLUMNS: dict[str, Kind | None] = {
    "review_title": None, "review_text": None, "overall_rating": "stars", "recommend_to_a_friend": None,
    "site_category_lv1": "name",
}  # fmt: skip
SEPARATOR = ";"
RECOMMENDS = {"Yes": True, "No": False}
ISSUES = {"entrega": "delivery_issue", "produto": "product_issue", "atendimento": "seller_issue"}
COMPLAINT = "reclamacao"
TAGS = "Tags"
MOST_TAGS = 20
"""Of a review; the published file has at most a handful."""


class B2wSource(ReviewSource):
    """Silver truth: sentiment and score from the stars, category from the shop, repurchase intent from the
    recommendation, issues from human tags where the file has them.
    """

    name = "b2w"

    def __init__(
        self, path: Path, folder: Path, seed: int, style: Style = "plain", most_bad: float = UNREADABLE
    ) -> None:
        files = TableReader(most_bad)
        super().__init__(real_reviews(csv_file(path), files), files, folder, seed, style)


def csv_file(path: Path) -> Path:
    if not path.is_dir():
        return path
    files = sorted(path.glob("*.csv"))
    if len(files) != 1:
        raise UserError(
            f"data.path: the folder {path} holds {len(files)} CSV files, one is needed; name the file itself"
        )
    return files[0]


def real_reviews(path: Path, files: TableReader) -> Iterator[RealReview]:
    """Its reviews; what its human tags say about the issues, where it has tags."""
    table = files.read(path, COLUMNS, SEPARATOR, optional=(TAGS,))
    table = table.assign(site_category_lv1=without_personal_data(table["site_category_lv1"]))
    rows = table.astype(object).where(table.notna(), None).itertuples(index=False, name=None)
    for title, text, stars, recommends, category, *tags in rows:
        silver = {"repurchase_intent": RECOMMENDS[recommends]} if recommends in RECOMMENDS else {}
        silver |= issues_of(str(tags[0])) if tags and tags[0] else {}
        yield RealReview(join_title(title, text), int(stars), category, silver)


def issues_of(tags: str) -> dict[str, bool]:
    """What human tags («elogio,produto,reclamacao») say about the three issues; {} without tags.

    Without a complaint there is no issue. With one, the only topic named is the issue; of several named topics nothing
    is known, and a topic that is not named is none, unless no topic is. Typing errors in a tag are forgiven.
    """
    known = (*ISSUES, COMPLAINT)
    named = {
        found[0]
        for tag in re.split(r"[,\s]+", tags, maxsplit=MOST_TAGS)[:MOST_TAGS]
        if (found := difflib.get_close_matches(tag, known, n=1, cutoff=0.8))
    }
    if not tags.strip():
        return {}
    topics = named - {COMPLAINT}
    if COMPLAINT not in named:
        return dict.fromkeys(ISSUES.values(), False)
    sure = {field: False for topic, field in ISSUES.items() if topics and topic not in topics}
    return sure | ({ISSUES[topic]: True for topic in topics} if len(topics) == 1 else {})
