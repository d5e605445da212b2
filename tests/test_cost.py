"""Machine-hours with all that was lost and repeated, and what they cost; expected values by hand."""

import datetime
import json
import time
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tucano import machine_time as clock
from tucano.artifacts.store import Artifact
from tucano.cost import Cost, costs, dollars_per_point, sentence, total
from tucano.machine_time import Clock, Stay, divided, judged
from tucano.profiles import validated
from tucano.settings import CostSettings, Price

HOUR = 3600.0
MADE = datetime.datetime(2026, 11, 21, tzinfo=datetime.UTC)
SPOT = Price(machine="spot", usd_per_hour=0.3, source="test", date=datetime.date(2026, 11, 21))
DESK = Price(machine="desk", usd_per_hour=0.8, source="test", date=datetime.date(2026, 11, 21))


def stay(began_h: float, last_h: float, machine: str = "spot", host: str = "") -> Stay:
    """On a host of the machine's name, unless another is given."""
    return Stay(host or machine, machine, began_h * HOUR, last_h * HOUR, last_h * HOUR)


def trained(*stays: Stay, kept_h: tuple[float, ...] = (), stage: str = "grpo-seed-1") -> Artifact:
    record = {"machine_time": [asdict(stay) for stay in judged(stays, [hours * HOUR for hours in kept_h])]}
    return Artifact(stage, Path(), "", json.loads(json.dumps(record)), 1.0, MADE)


def cost_of(artifact: Artifact, settings: CostSettings) -> Cost:
    return costs({artifact.stage: artifact}, settings)[artifact.stage]


def prices(*rows: Price) -> CostSettings:
    return CostSettings(machine="desk", prices=rows)


def test_a_training_left_alone_has_lost_nothing() -> None:
    cost = cost_of(trained(stay(0, 2), kept_h=(1,)), prices(SPOT))
    assert (cost.hours, cost.lost_hours, cost.attempts, cost.dollars) == (2.0, 0.0, 1, 0.6)


def test_what_came_after_the_last_kept_row_of_a_stay_is_lost() -> None:
    cost = cost_of(trained(stay(0, 3), stay(4, 4.5), stay(5, 7), kept_h=(1, 2, 6)), prices(SPOT))
    assert cost.hours == 5.5 and cost.lost_hours == pytest.approx(1.5) and cost.attempts == 3


def test_seeds_of_4_8_and_10_hours_side_by_side_held_their_machine_for_10() -> None:
    """Three at a time for 4 h, two for another 4, one for the last 2: 4/3, 4/3 + 2 and 4/3 + 2 + 2 hours."""
    seeds = {f"grpo-seed-{hours}": trained(stay(0, hours), stage=f"grpo-seed-{hours}") for hours in (4, 8, 10)}
    found = costs(seeds, prices(SPOT))
    assert [cost.hours for cost in found.values()] == pytest.approx([4 / 3, 10 / 3, 16 / 3])
    assert total(list(found.values())).hours == pytest.approx(10)


def test_answers_beside_a_training_share_its_machine() -> None:
    """They were charged whole: 5 s of a machine cost 10."""
    stages = {"grpo-seed-1": trained(stay(0, 4)), "answers-of-starts": trained(stay(1, 3), stage="answers-of-starts")}
    assert [cost.hours for cost in costs(stages, prices(SPOT)).values()] == pytest.approx([3, 1])


def test_what_was_lost_on_a_shared_machine_is_the_share_that_was_held_meanwhile() -> None:
    """Killed after 2 h with 1 h kept, beside a training of 3 h, then an hour on another host."""
    killed = trained(stay(0, 2), stay(5, 6, host="second"), kept_h=(1, 5.5), stage="a")
    found = costs({"a": killed, "b": trained(stay(0, 3), stage="b")}, prices(SPOT))
    assert (found["a"].hours, found["a"].lost_hours) == pytest.approx((1 + 1, 0.5))
    assert (found["b"].hours, found["b"].lost_hours) == pytest.approx((2, 0))


@st.composite
def any_stay(draw: st.DrawFn) -> Stay:
    began, useful, last = sorted(600.0 * draw(st.integers(0, 40)) for _ in range(3))
    return Stay(draw(st.sampled_from("abc")), "spot", began, last, useful)


STAYS = st.lists(any_stay(), max_size=12)


@given(STAYS)
def test_shares_add_up_to_the_time_for_which_each_host_was_held(stays: list[Stay]) -> None:
    """The union of the stays, counted minute by minute as a second method."""
    found = divided(stays)
    for host in "abc":
        held = {minute for s in stays if s.host == host for minute in range(int(s.began_s), int(s.last_s), 60)}
        shares = [part.hours for part, s in zip(found, stays, strict=True) if s.host == host]
        assert sum(shares) == pytest.approx(len(held) / 60)


@given(STAYS)
def test_no_more_is_lost_than_was_held_and_only_after_the_last_use(stays: list[Stay]) -> None:
    for part, s in zip(divided(stays), stays, strict=True):
        assert -1e-9 <= part.lost_hours <= min(part.hours, (s.last_s - s.useful_s) / HOUR) + 1e-9
        assert part.hours <= (s.last_s - s.began_s) / HOUR + 1e-9


def test_each_machine_has_its_own_price() -> None:
    cost = cost_of(trained(stay(0, 2), stay(3, 4, "desk"), kept_h=(2, 3.5)), prices(SPOT, DESK))
    assert cost.hours == 3 and cost.dollars == pytest.approx(2 * 0.3 + 1 * 0.8)


def test_a_machine_without_a_price_has_hours_and_no_dollars() -> None:
    cost = cost_of(trained(stay(0, 2), stay(2, 3, "mine")), prices(SPOT))
    assert cost.dollars is None and cost.unpriced == ("mine",)
    lost = "3.00 machine-hours, 2.00 of them lost to interruptions"
    assert sentence(cost, 0.1) == f"{lost}; no price for mine in cost.prices"
    assert total([cost, cost_of(trained(stay(0, 1)), prices(SPOT))]).dollars is None


def test_the_machine_that_nobody_has_named_is_not_asked_for_its_price() -> None:
    assert sentence(Cost(0.5, 0.0, 1, None, ("own machine",)), 0.1) == "0.50 machine-hours"
    assert sentence(Cost(0.5, 0.0, 1, None, ("mine", "own machine")), 0.1).endswith("no price for mine in cost.prices")


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


def test_a_stay_that_ended_with_its_machine_counts_up_to_its_last_sign_of_life(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first machine goes without a word and with its disk; the second begins on an empty one."""
    now = [1000.0]
    monkeypatch.setattr(clock, "time", SimpleNamespace(time=lambda: now[0]))
    monkeypatch.setattr(clock.socket, "gethostname", lambda: "one")
    monkeypatch.setattr(Clock, "_beat_on", lambda self: None)  # its beats are given by hand
    mirror = (tmp_path / "bucket").as_uri()
    first = Clock(tmp_path / "one", mirror, "spot")
    first.__enter__()
    now[0] = 1600.0
    first.beat()
    now[0] = 1630.0
    monkeypatch.setattr(clock.socket, "gethostname", lambda: "two")
    with Clock(tmp_path / "two", mirror, "desk") as second:
        now[0] = 2000.0
        stays = second.stays()
    assert stays == [Stay("one", "spot", 1000.0, 1600.0, 1600.0), Stay("two", "desk", 1630.0, 2000.0, 2000.0)]
    first.__exit__(None, None, None)


def test_a_rented_machine_is_counted_from_its_containers_start_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(clock.MACHINE, "g2-standard-8 spot us-central1")
    monkeypatch.setenv(clock.BEGAN, datetime.datetime.fromtimestamp(time.time() - 100, datetime.UTC).isoformat())
    for number in (1, 2):
        with Clock(tmp_path / str(number), None, "own machine") as watch:
            (found,) = watch.stays()
        assert found.machine == "g2-standard-8 spot us-central1"
        assert (found.last_s - found.began_s > 99) == (number == 1)


@pytest.mark.parametrize("is_torn", [True, False])
def test_storage_that_does_not_answer_or_holds_a_torn_record_stops_nothing(
    is_torn: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    bucket = tmp_path / "bucket"
    if is_torn:
        (bucket / clock.FOLDER).mkdir(parents=True)
        (bucket / clock.FOLDER / "1-other-2.json").write_text('{"machine": "spo', encoding="utf-8")
    else:
        bucket.write_text("a file where a folder should be", encoding="utf-8")
    with Clock(tmp_path / "work", bucket.as_uri(), "spot") as watch:
        assert len(watch.stays()) == 1
    assert f"machine time could not be {'read' if is_torn else 'written to remote storage'}" in caplog.text


def test_prices_have_a_source_and_a_date() -> None:
    (price,) = validated({}).cost.prices
    assert price.source and price.date < datetime.date(2026, 12, 1)
    twice = [json.loads(SPOT.model_dump_json())] * 2
    with pytest.raises(ValueError, match="has a machine twice: spot, spot"):
        validated({"cost": {"prices": twice}})
