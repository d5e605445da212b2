"""The judges of SQL against right answers put otherwise and wrong ones that nearly are right, in small."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from benchmarks.sql_judgement import Measured, called, measure, other_values
from benchmarks.sql_mutants import BOUNDARY
from benchmarks.sql_questions import own_questions


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Measured]:
    folder = tmp_path_factory.mktemp("own")
    yield measure(own_questions(folder, 40, 3), 100, Random(3))


@pytest.mark.parametrize("judge", ["reward", "truth"])
def test_the_judges_are_seldom_wrong(measured: Measured, judge: str) -> None:
    assert len(measured.equivalent) == len(measured.mutated) == 100
    assert measured.gold[judge] == 40
    assert len(called(judge, measured.equivalent, False)) <= 1
    assert len(called(judge, measured.mutated, True)) <= 2
    boundary = [pair for pair in measured.mutated if pair.kind in BOUNDARY]
    assert len(boundary) >= 15 and len(called(judge, boundary, True)) <= 1


def test_the_pairs_are_hard_enough_to_show_what_was_wrong_before(measured: Measured) -> None:
    assert len(called("before", measured.equivalent, False)) > 4
    assert len(called("before", measured.mutated, True)) > 8


def test_answers_judged_right_filter_on_the_gold_querys_values(tmp_path: Path) -> None:
    right, other = other_values(own_questions(tmp_path, 12, 3), tmp_path, Random(3))
    assert right["reward"] >= 12 and other["reward"] <= 0.02 * right["reward"]
    assert right["truth"] >= 12 and other["truth"] <= 0.02 * right["truth"]
    assert other["before"] > 2, "else the questions are too easy"
