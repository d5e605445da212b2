"""Good answers of writers who have seen neither rewards nor truth earn, and their bad ones do not.

The first author's were looked at while fluency, figures and advice were loosened; the second's were not.
"""

import pytest

from benchmarks.answers_of_others import Row, rows, table

LEAST_KEPT = {
    ("first", "insights", "grounded"): 0.90, ("first", "push", "grounded"): 0.90,
    ("second", "insights", "grounded"): 0.85, ("second", "push", "grounded"): 0.80,
    ("second", "sql_qa", "grounded"): 0.95, ("first", "insights", "truth"): 0.60, ("first", "push", "truth"): 0.80,
    ("second", "insights", "truth"): 0.85, ("second", "push", "truth"): 0.85, ("second", "sql_qa", "truth"): 0.85,
}  # fmt: skip
"""Good answers from .50 on: one or two fewer than there are."""
LEAST_ORDER = {"grounded": 0.92, "truth": 0.70}


@pytest.fixture(scope="module")
def found() -> dict[tuple[str, str, str], Row]:
    return {(row.author, row.task, row.judge): row for row in rows()}


@pytest.mark.parametrize("place", LEAST_KEPT, ids=" ".join)
def test_good_answers_earn(found: dict[tuple[str, str, str], Row], place: tuple[str, str, str]) -> None:
    assert found[place].kept >= LEAST_KEPT[place]


@pytest.mark.parametrize("judge", LEAST_ORDER)
def test_bad_ones_do_not_and_stand_below(found: dict[tuple[str, str, str], Row], judge: str) -> None:
    mine = [row for row in found.values() if row.judge == judge]
    assert len(mine) == 5
    assert min(row.order for row in mine) >= LEAST_ORDER[judge]
    assert max(row.passed for row in mine) <= 0.13


def test_form_and_words_alone_cannot_tell_them_apart(found: dict[tuple[str, str, str], Row]) -> None:
    """What v4.2 makes of them, so that the sets are no easy ones."""
    assert min(found[author, task, "v4.2"].order for author, task, _ in LEAST_KEPT) <= 0.75


def test_order_and_shares_by_hand() -> None:
    row = Row("a", "push", "truth", good=[0.9, 0.4], middling=[], bad=[0.4, 0.0])
    assert (row.order, row.kept, row.passed) == ((1 + 1 + 0.5 + 1) / 4, 0.5, 0.5)
    assert "| a, push | truth | 0.65 | – | 0.20 | 50% of 2 | 50% of 2 | 0.88 |" in table([row])
