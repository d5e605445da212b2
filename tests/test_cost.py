"""Machine-hours with all that was lost and repeated, and what they cost; expected values by hand."""

import datetime
import json
import time
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import pytest

from tucano import machine_time as clock
from tucano.artifacts import Artifact
from tucano.cost import cost_of, dollars_per_point, sentence, total
from tucano.machine_time import Clock, Stay, machine_time, read_stays
from tucano.profiles import validated
from tucano.settings import CostSettings, Price

HOUR = 3600.0
MADE = datetime.datetime(2026, 11, 21, tzinfo=datetime.UTC)
SPOT = Price(machine="spot", usd_per_hour=0.3, source="test", date=datetime.date(2026, 11, 21))
DESK = Price(machine="desk", usd_per_hour=0.8, source="test", date=datetime.date(2026, 11, 21))


def stay(began_h: float, last_h: float, machine: str = "spot", share: float = 1.0) -> Stay:
    return Stay(machine, began_h * HOUR, last_h * HOUR, share)


def trained(*stays: Stay, kept_h: tuple[float, ...] = ()) -> Artifact:
    record = {"machine_time": asdict(machine_time(stays, [hours * HOUR for hours in kept_h]))}
    return Artifact("grpo-seed-1", Path(), "", json.loads(json.dumps(record)), 1.0, MADE)


def prices(*rows: Price) -> CostSettings:
    return CostSettings(machine="desk", prices=rows)


def test_a_training_left_alone_has_lost_nothing() -> None:
    assert machine_time([stay(0, 2)], [HOUR]) == clock.MachineTime({"spot": 2.0}, 0.0, 1)


def test_what_came_after_the_last_kept_row_of_a_stay_is_lost() -> None:
    """Three hours on the first machine, of which the journal kept two; half an hour without a step; two hours to the end."""
    spent = machine_time([stay(0, 3), stay(4, 4.5), stay(5, 7)], [1 * HOUR, 2 * HOUR, 6 * HOUR])
    assert spent.hours == {"spot": 5.5} and spent.lost_hours == pytest.approx(1.5) and spent.stays == 3


def test_trainings_side_by_side_share_their_machine() -> None:
    assert machine_time([stay(0, 3, share=0.5)], []).hours == {"spot": 1.5}


def test_each_machine_has_its_own_price() -> None:
    cost = cost_of(trained(stay(0, 2), stay(3, 4, "desk"), kept_h=(2, 3.5)), prices(SPOT, DESK))
    assert cost.hours == 3 and cost.dollars == pytest.approx(2 * 0.3 + 1 * 0.8)


def test_a_machine_without_a_price_has_hours_and_no_dollars() -> None:
    cost = cost_of(trained(stay(0, 2), stay(2, 3, "mine")), prices(SPOT))
    assert cost.dollars is None and cost.unpriced == ("mine",)
    assert sentence(cost, 0.1) == "3.00 machine-hours, 2.00 of them lost to interruptions; no price for mine in cost.prices"
    assert total([cost, cost_of(trained(stay(0, 1)), prices(SPOT))]).dollars is None


def test_a_stage_that_trains_nothing_took_its_seconds_on_the_pipelines_machine() -> None:
    cost = cost_of(Artifact("answers", Path(), "", {}, 1800.0, MADE), prices(DESK))
    assert (cost.hours, cost.dollars, cost.lost_hours) == (0.5, 0.4, 0)


def test_dollars_per_point_of_reward() -> None:
    """Two seeds of ten hours at .30 for a gain of .12: 6 USD for 12 points."""
    both = total([cost_of(trained(stay(0, 10)), prices(SPOT))] * 2)
    assert dollars_per_point(both, 0.12) == pytest.approx(0.5)
    assert dollars_per_point(both, 0.0) is None and dollars_per_point(both, -0.1) is None
    assert sentence(both, 0.12) == "20.00 machine-hours; 6.00 USD, 0.50 USD per point (0.01) of reward gained"
    assert sentence(both, -0.1) == "20.00 machine-hours; 6.00 USD; nothing was gained"


def test_a_stay_that_ended_with_its_machine_counts_up_to_its_last_sign_of_life(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first machine goes without a word and with its disk, 30 s after it was last heard of; the second begins on an empty disk."""
    now = [1000.0]
    monkeypatch.setattr(clock, "time", SimpleNamespace(time=lambda: now[0]))
    monkeypatch.setattr(Clock, "_beat_on", lambda self: None)  # its beats are given by hand
    mirror = (tmp_path / "bucket").as_uri()
    first = Clock(tmp_path / "one", mirror, "spot", 1.0)
    first.__enter__()
    now[0] = 1600.0
    first.beat()
    now[0] = 1630.0
    with Clock(tmp_path / "two", mirror, "desk", 0.5) as second:
        now[0] = 2000.0
        stays = second.stays()
    assert stays == [Stay("spot", 1000.0, 1600.0, 1.0), Stay("desk", 1630.0, 2000.0, 0.5)]
    assert read_stays(tmp_path / "two" / clock.FOLDER) == stays
    first.__exit__(None, None, None)


def test_a_rented_machine_is_counted_from_its_containers_start_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(clock.MACHINE, "g2-standard-8 spot us-central1")
    monkeypatch.setenv(clock.BEGAN, datetime.datetime.fromtimestamp(time.time() - 100, datetime.UTC).isoformat())
    for number in (1, 2):
        with Clock(tmp_path / str(number), None, "own machine", 1.0) as watch:
            (found,) = watch.stays()
        assert found.machine == "g2-standard-8 spot us-central1"
        assert (found.last_s - found.began_s > 99) == (number == 1)


def test_storage_that_does_not_answer_stops_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "bucket").write_text("a file where a folder should be", encoding="utf-8")
    with Clock(tmp_path / "work", (tmp_path / "bucket").as_uri(), "spot", 1.0) as watch:
        assert len(watch.stays()) == 1
    assert "machine time in remote storage could not be written" in caplog.text


def test_a_torn_record_of_another_machine_is_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "bucket" / clock.FOLDER).mkdir(parents=True)
    (tmp_path / "bucket" / clock.FOLDER / "1-other-2.json").write_text('{"machine": "spo', encoding="utf-8")
    with Clock(tmp_path / "work", (tmp_path / "bucket").as_uri(), "spot", 1.0) as watch:
        assert len(watch.stays()) == 1
    assert "machine time in remote storage could not be read" in caplog.text


def test_prices_have_a_source_and_a_date() -> None:
    (price,) = validated({}).cost.prices
    assert price.source and price.date < datetime.date(2026, 12, 1)
    twice = [json.loads(SPOT.model_dump_json())] * 2
    with pytest.raises(ValueError, match="has a machine twice: spot, spot"):
        validated({"cost": {"prices": twice}})
