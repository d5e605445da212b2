"""From how many answers a machine pays: by hand, and as the page says."""

from datetime import date

import pytest

from benchmarks.break_even import DOCUMENT, Api, Speed, break_even, dollars_per_answer, with_table
from tucano.settings.execution import Price

TEN_A_SECOND = Speed(1.0, 10, 100, 50, "by hand", date(2026, 11, 23))


def test_by_hand() -> None:
    """A machine of 1 USD an hour: 24 USD a day. 100 tokens in at 1, 50 out at 4 USD a million: .0003 USD."""
    machine = Price(machine="m", usd_per_hour=1.0, source="by hand", date=date(2026, 11, 23))
    api = Api("a", 1.0, 4.0, "by hand", date(2026, 11, 23))
    assert dollars_per_answer(api, TEN_A_SECOND) == pytest.approx(0.0003)
    assert break_even(machine, api, TEN_A_SECOND) == 80_000
    assert TEN_A_SECOND.per_day == 864_000
    assert break_even(machine, Api("cheap", 0.01, 0.05, "by hand", date(2026, 11, 23)), TEN_A_SECOND) is None


def test_the_page_has_the_table_of_today() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert with_table(text) == text, "python -m benchmarks.break_even writes it anew"
