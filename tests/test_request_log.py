"""The request log of `tucano serve` where its file is not what it was, or cannot be written."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from odd_files import ODD, put_in_place

from tucano.monitoring.log import read_log
from tucano.serving.answers import Answer, Ask
from tucano.serving.metrics import Metrics
from tucano.serving.request_log import FILE, RequestLog
from tucano.serving.routes import Routed
from tucano.settings.promotion import ServingSettings

LOST = "tucano_requests_not_kept_total"


class Kept:
    """A log that keeps every request."""

    def __init__(self, folder: Path, log: RequestLog, metrics: Metrics) -> None:
        self.folder, self.log, self.metrics, self.number = folder, log, metrics, 0

    def keep(self, many: int = 1) -> None:
        for _ in range(many):
            self.number += 1
            identity = f"{self.number:032x}"
            self.log.keep(identity, Ask("push", "a"), Routed(Answer("b", "rules"), None, ()), 0.1)

    @property
    def lost(self) -> float:
        line = next(line for line in self.metrics.text().decode().splitlines() if line.startswith(LOST))
        return float(line.rpartition(" ")[2])


@contextmanager
def kept(folder: Path, log_requests: bool = True) -> Iterator[Kept]:
    metrics = Metrics()
    with RequestLog(folder, ServingSettings(log_requests=log_requests), metrics) as log:
        yield Kept(folder, log, metrics)


def test_requests_are_kept_only_where_somebody_asked_for_it(tmp_path: Path) -> None:
    """And only a share of them: tests/test_traces.py."""
    with kept(tmp_path, log_requests=False) as found:
        found.keep(9)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ODD)
def test_what_is_no_file_in_the_logs_place_is_not_waited_for_nor_written(tmp_path: Path, kind: str) -> None:
    put_in_place(kind, tmp_path / FILE)
    with kept(tmp_path) as found:
        found.keep()
        assert found.lost == 1
    assert not (tmp_path / "nowhere").exists(), "where a link leads to"


def test_requests_that_are_not_kept_are_said_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    place, other = tmp_path / FILE, tmp_path / "other"
    other.write_text("mine", encoding="utf-8")
    place.symlink_to(other)
    with caplog.at_level("INFO"), kept(tmp_path) as found:
        found.keep(3)
        assert found.lost == 3
        place.unlink()
        found.keep(2)
        assert found.lost == 3
    assert other.read_text(encoding="utf-8") == "mine"
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 2 and f"{place} cannot be written" in said[0] and LOST in said[0]
    assert said[1] == f"{place} is written again; 3 requests were not kept"
    log = read_log(tmp_path)
    assert [int(row.id, 16) for row in log.rows] == [4, 5] and log.unreadable == ()


def test_a_row_behind_half_a_line_is_whole(tmp_path: Path) -> None:
    """A disk that becomes full takes a part of a line."""
    with kept(tmp_path) as found:
        found.keep()
        (tmp_path / FILE).rename(tmp_path / "aside")
        (tmp_path / FILE).symlink_to("/dev/full")
        found.keep()
        (tmp_path / FILE).unlink()
        (tmp_path / FILE).write_text('{"id": "0', encoding="utf-8")
        found.keep()
    log = read_log(tmp_path)
    assert [int(row.id, 16) for row in log.rows] == [3] and len(log.unreadable) == 1


@pytest.mark.parametrize(
    "away", [Path.unlink, lambda path: path.rename(path.with_name("aside"))], ids=["gone", "moved"]
)
def test_a_log_that_is_taken_away_is_begun_anew(tmp_path: Path, away: object) -> None:
    with kept(tmp_path) as found:
        found.keep(2)
        away(tmp_path / FILE)  # type: ignore[operator]
        found.keep(2)
        assert found.lost == 0
    rows = [json.loads(line) for line in (tmp_path / FILE).read_text(encoding="utf-8").splitlines()]
    assert [int(row["id"], 16) for row in rows] == [3, 4]
