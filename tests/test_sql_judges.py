"""The reward's and the truth's judge of SQL share no code, and call the same answers right and wrong."""

import shutil
from pathlib import Path

import pytest
from sql_stores import (
    COLUMNS_OTHERWISE,
    RIGHT,
    RIGHT_BY_LUCK,
    ROUNDED_OTHERWISE,
    WRONG,
    Judge,
    asked,
    of_reward,
    of_truth,
    write_stores,
)


@pytest.fixture(params=[of_reward, of_truth])
def judge(request: pytest.FixtureRequest) -> Judge:
    chosen: Judge = request.param
    return chosen


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_stores(tmp_path_factory.mktemp("suite"))


@pytest.mark.parametrize(("gold", "answer"), RIGHT)
def test_what_is_right(judge: Judge, suite: Path, gold: str, answer: str) -> None:
    assert judge(asked(gold), answer, suite) and judge(asked(gold), gold, suite)


@pytest.mark.parametrize(("gold", "answer"), WRONG)
def test_what_is_wrong(judge: Judge, suite: Path, gold: str, answer: str) -> None:
    assert not judge(asked(gold), answer, suite)


@pytest.mark.parametrize(("gold", "answer"), RIGHT_BY_LUCK)
def test_right_on_one_store_by_luck_is_wrong(judge: Judge, suite: Path, tmp_path: Path, gold: str, answer: str) -> None:
    shutil.copy(suite / "store.sqlite", tmp_path)
    assert judge(asked(gold), answer, tmp_path)
    assert not judge(asked(gold), answer, suite) and judge(asked(gold), gold, suite)


@pytest.mark.parametrize(("gold", "answer"), ROUNDED_OTHERWISE)
def test_a_rounding_may_be_asked_for(judge: Judge, suite: Path, gold: str, answer: str) -> None:
    reference = asked(gold, asks=["rounding"])
    assert not judge(reference, answer, suite) and judge(reference, gold, suite)


@pytest.mark.parametrize(("gold", "answer"), COLUMNS_OTHERWISE)
def test_an_order_of_the_columns_may_be_asked_for(judge: Judge, suite: Path, gold: str, answer: str) -> None:
    reference = asked(gold, asks=["columns"])
    assert not judge(reference, answer, suite) and judge(reference, gold, suite)
