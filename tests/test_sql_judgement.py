"""The judges of SQL answers against right answers put otherwise and wrong ones that nearly are right; the benchmark,
small. Its rules about what is the same are checked by hand.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from benchmarks.sql_judgement import JUDGES, Measured, measure, other_values, rate
from benchmarks.sql_mutants import BOUNDARY, is_same
from benchmarks.sql_queries import Schema
from benchmarks.sql_questions import OWN_COLUMNS, OWN_KEYS, OWN_PARENTS, own_questions, spider_questions

SHOP = Schema(OWN_KEYS, OWN_COLUMNS, OWN_PARENTS, {"estado": ["SP", "RJ"]}, frozenset({"dias_atraso"}))


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Measured]:
    folder = tmp_path_factory.mktemp("own")
    yield measure(own_questions(folder, 40, 3), 100, Random(3))


@pytest.mark.parametrize("judge", ["reward", "truth"])
def test_the_judges_are_seldom_wrong(measured: Measured, judge: str) -> None:
    assert len(measured.equivalent) == len(measured.mutated) == 100
    assert measured.gold[judge] == 40
    assert rate(judge, measured.equivalent, False)[0] <= 1
    assert rate(judge, measured.mutated, True)[0] <= 2
    boundary = [pair for pair in measured.mutated if pair.kind in BOUNDARY]
    assert len(boundary) >= 15 and rate(judge, boundary, True)[0] <= 1


def test_the_pairs_are_hard_enough_to_show_what_was_wrong_before(measured: Measured) -> None:
    assert rate("before", measured.equivalent, False)[0] > 4
    assert rate("before", measured.mutated, True)[0] > 8


def test_answers_judged_right_filter_on_the_gold_querys_values(tmp_path: Path) -> None:
    right, other = other_values(own_questions(tmp_path, 12, 3), tmp_path, Random(3))
    assert right["reward"] >= 12 and other["reward"] <= 0.02 * right["reward"]
    assert right["truth"] >= 12 and other["truth"] <= 0.02 * right["truth"]
    assert other["before"] > 2, "else the questions are too easy"


@pytest.mark.parametrize(
    ("kind", "gold", "mutant", "reason"),
    [
        ("LEFT JOIN", "SELECT estado FROM pedidos JOIN clientes USING(cliente_id)", "", "every row has its parent"),
        ("LEFT JOIN", "SELECT COUNT(*) FROM clientes JOIN pedidos USING(cliente_id)", "", None),
        (
            "LEFT JOIN",
            "SELECT COUNT(*) FROM clientes JOIN pedidos USING(cliente_id) WHERE mes='2018-01'",
            "",
            "WHERE drops rows without a partner",
        ),
        ("LEFT JOIN", "SELECT COUNT(*) FROM clientes JOIN pedidos USING(cliente_id) WHERE estado='SP' OR mes='x'", "", None),
        ("LEFT JOIN", "SELECT MAX(mes) FROM clientes JOIN pedidos USING(cliente_id)", "", "aggregates pass over rows without a partner"),
        ("another order", "SELECT COUNT(*) FROM pedidos ORDER BY 1", "SELECT COUNT(*) FROM pedidos", "there is one row"),
        (
            "operator",
            "SELECT mes FROM pedidos GROUP BY mes HAVING COUNT(*) > 0",
            "SELECT mes FROM pedidos GROUP BY mes HAVING COUNT(*) >= 0",
            "a group has at least one row",
        ),
        (
            "operator",
            "SELECT mes FROM pedidos GROUP BY mes HAVING COUNT(*) > 1",
            "SELECT mes FROM pedidos GROUP BY mes HAVING COUNT(*) >= 1",
            None,
        ),
    ],
)  # fmt: skip
def test_what_is_the_same_by_rule(kind: str, gold: str, mutant: str, reason: str | None) -> None:
    assert is_same(kind, gold, mutant or gold.replace(" JOIN", " LEFT JOIN"), SHOP) == reason


def test_a_schema_of_spiders_kind_gets_stores_that_keep_its_keys(tmp_path: Path) -> None:
    schema = {
        "db_id": "zoo",
        "table_names_original": ["Keeper", "Animal"],
        "column_names_original": [[-1, "*"], [0, "Id"], [0, "Name"], [1, "Id"], [1, "Keeper"], [1, "Age"]],
        "column_types": ["text", "number", "text", "number", "number", "number"],
        "primary_keys": [1, 3],
        "foreign_keys": [[4, 1]],
    }
    queries = ['SELECT Name FROM Keeper WHERE Name = "Ana"', "SELECT count(*) FROM Animal WHERE Age > 7"]
    (tmp_path / "spider").mkdir()
    (tmp_path / "spider" / "tables.json").write_text(json.dumps([schema]), encoding="utf-8")
    lines = [json.dumps({"db_id": "zoo", "query": query}) for query in queries]
    (tmp_path / "spider" / "dev.jsonl").write_text("\n".join(lines), encoding="utf-8")
    questions = spider_questions(tmp_path / "spider", tmp_path / "made", Random(1))
    assert [re.sub(r"'", '"', question.sql) for question in questions] == queries
    assert all(JUDGES[judge](question, question.sql) for judge in JUDGES for question in questions)
    assert not any(JUDGES[judge](questions[1], queries[1].replace(">", ">=")) for judge in ("reward", "truth"))
    orphans = "SELECT COUNT(*) FROM animal WHERE keeper NOT IN (SELECT id FROM keeper)"
    assert all(JUDGES[judge](questions[1], f"{queries[1]} AND ({orphans}) = 0") for judge in ("reward", "truth"))
