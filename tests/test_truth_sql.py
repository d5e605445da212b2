"""Truth's own judge of SQL answers: what it reads as the answer's query, and what it calls right."""

import threading
from pathlib import Path

import pytest
from sql_stores import DAYS, busy, write_days, write_stores

from tucano.truth.sql import right_answer


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_stores(tmp_path_factory.mktemp("suite"))


COUNT = "SELECT COUNT(*) FROM pedidos WHERE estado = 'SP'"


def judged(suite: Path, completion: str) -> bool:
    return right_answer({"sql": f"{COUNT};", "database": "store.sqlite"}, completion, suite)


@pytest.mark.parametrize(
    "completion",
    [
        COUNT,
        f"{COUNT};",
        f"```sql\n{COUNT};\n```",
        f"```{COUNT}```",
        f"```SQL\r\n{COUNT}\r\n```\r\nA consulta conta os pedidos de SP: total de 2.",
        f"```sqlite\n{COUNT}",
        *(f"```{label}\n{COUNT};\n```" for label in ("postgresql", "mysql", "plaintext", "T-SQL")),
        f"Veja: {COUNT}; ela conta os pedidos.",
        f"{COUNT}\nA consulta conta os pedidos (todos).\nSão 2.",
        f"A consulta usa SELECT com WHERE:\n\n{COUNT}\n\nSão 2.",
        f"```sql\n{COUNT}\n```\nOu seja: {COUNT}",
        f"```sql\n{COUNT}\n```\n```\nCOUNT\n2\n```",
        "WITH sp AS (SELECT id FROM pedidos WHERE estado = 'SP') SELECT COUNT(id) FROM sp",
        f"```sql\n{COUNT}\n```\nNão usa JOIN: só a tabela pedidos importa, sem os pedidos com endereço errado.",
    ],
)
def test_the_query_of_an_answer_is_found(suite: Path, completion: str) -> None:
    assert judged(suite, completion)


@pytest.mark.parametrize(
    "completion",
    [
        "",
        "São 2 pedidos.",
        f"```sql\n{COUNT}\n```\n```sql\nSELECT COUNT(*) FROM pedidos\n```",
        f"{COUNT};\nSELECT COUNT(*) FROM pedidos;",
        f"```sql\n{COUNT}; {COUNT};\n```",
        f"```sql\nSELECT id FROM\n```\n{COUNT}",
        f"```sql\nEXPLAIN {COUNT}\n```",
        f"```EXPLAIN {COUNT}\n```",
        f"```sql\n{COUNT.replace('COUNT(*)', 'COUNT(*)::int')}\n```",
        f"{COUNT} AND '\x00' = ''",
        f"{COUNT} AND estado <> '\ud800'",
        COUNT + " " * 20_000,
        f"{COUNT} AND {' AND '.join(['1 = 1'] * 400)}",
    ],
)
def test_an_answer_without_one_query_is_wrong(suite: Path, completion: str) -> None:
    assert not judged(suite, completion)


@pytest.mark.parametrize(
    "trick",
    [
        "random() > -9e18",
        "date('now') > '2000'",
        "date('n' || 'ow') > '2000'",
        "date(\"now\") > '2000'",
        "julianday(x'6E6F77') > 0",
        "strftime('%Y') > '2000'",
        "CURRENT_TIMESTAMP > '2000'",
        "datetime('2018-01-01', 'local' || 'time') > '2000'",
        "length(printf('%.*c', 1000, 'x')) > 1",
        "id IN (WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT x FROM t)",
    ],
)
def test_a_query_may_not_ask_the_clock_nor_chance_nor_run_forever(suite: Path, trick: str) -> None:
    assert judged(suite, f"{COUNT} AND date('2018-01-31', '+1 month') = '2018-03-03'")
    assert not judged(suite, f"{COUNT} AND {trick}")


@pytest.mark.parametrize(
    "statement", ["DELETE FROM pedidos", "ATTACH 'x' AS y", "PRAGMA user_version", "DROP TABLE pedidos"]
)
def test_nothing_but_reading_is_possible(suite: Path, statement: str) -> None:
    before = (suite / "store.sqlite").read_bytes()
    assert not judged(suite, f"{COUNT}; {statement}") or not judged(suite, f"```sql\n{statement}\n```")
    assert not judged(suite, f"```sql\nWITH x AS (SELECT 1) {statement}\n```")
    assert (suite / "store.sqlite").read_bytes() == before


def test_a_reference_that_cannot_be_judged_is_an_error(suite: Path) -> None:
    for name, folder in (("store.sqlite", None), ("other.sqlite", suite), ("../store.sqlite", suite)):
        with pytest.raises(ValueError, match="has to be a file"):
            right_answer({"sql": COUNT, "database": name}, COUNT, folder)
    with pytest.raises(ValueError, match="gold query does not run"):
        right_answer({"sql": "SELECT cor FROM pedidos", "database": "store.sqlite"}, COUNT, suite)


def test_other_threads_judge_as_well(suite: Path) -> None:
    verdicts: list[bool] = []
    threads = [threading.Thread(target=lambda: verdicts.append(judged(suite, COUNT))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert verdicts == [True] * 4


def test_four_busy_processes_change_no_verdict(tmp_path: Path) -> None:
    write_days(tmp_path)
    gold = "SELECT strftime('%Y', datetime(date(dia, '+1 day'), '-1 day'), '+1 day') AS ano, COUNT(*) FROM dias GROUP BY ano"
    reference = {"sql": gold, "database": DAYS}
    with busy():
        verdicts = [right_answer(reference, query, tmp_path) for query in (gold, gold.replace("-1 day", "+3 days"))]
    assert verdicts == [True, False]
