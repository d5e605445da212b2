"""Every row of docs/bad-days.md: the mishap is really played, and it ends well.

`make long` plays them. What they rest on is tested one by one at every change (test_gc, test_moved, test_full_disk,
test_stack, test_logs).
"""

import os
import re
from pathlib import Path

import pytest

from benchmarks.bad_days import MISHAPS, played

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the calm run stands, which each mishap befalls a copy of."""
    return tmp_path_factory.mktemp("bad-days")


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", MISHAPS)
def test_a_bad_day_ends_well(home: Path, name: str) -> None:
    if name.startswith("full") and os.geteuid() != 0:
        pytest.skip("a disk of its own is mounted by root")
    played(name, home)


def test_the_documented_table_has_a_row_for_each_and_no_traceback() -> None:
    text = (ROOT / "docs" / "bad-days.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.+?) \| .* \| (\d+) \|$", text, flags=re.MULTILINE)
    assert [title for title, _ in rows] == [title for title, _ in MISHAPS.values()]
    assert {tracebacks for _, tracebacks in rows} == {"0"} and "NOT WELL" not in text
