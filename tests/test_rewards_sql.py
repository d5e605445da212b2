"""Queries in completions: finding them, running them inside the limits, comparing their results."""

import os
import sqlite3
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlglot
from pace import slowness
from rewards_examples import DATABASE, write_store
from sql_stores import DAYS, THIRDS, WRONG, busy, write_days, write_stores

from rewards import load_reward_set
from rewards.parsing import sql
from rewards.parsing.sql import (
    FREE_STEPS,
    GOLD_FACTOR,
    Result,
    Row,
    find_query,
    is_ordered,
    names,
    parse,
    run_query,
)
from rewards.parsing.sql_results import Outcome, answers_gold, fits, gold_result, in_order, unordered
from rewards.sql_qa import has_hanging_figures, leaves_open, tells_of_others
from tucano.prompts import Prompt
from tucano.truth.tasks import sql_qa as of_sql_qa


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_store(tmp_path_factory.mktemp("sql")) / DATABASE


@pytest.mark.parametrize(
    ("completion", "query", "prose"),
    [
        ("```sql\nSELECT a FROM t;\n```\nSoma tudo.", "SELECT a FROM t", "Soma tudo."),
        ("Veja: SELECT a FROM t; soma tudo.", "SELECT a FROM t", "Veja: ; soma tudo."),
        ("SELECT a\nFROM t\n\nSoma tudo.", "SELECT a\nFROM t", "Soma tudo."),
        ("SELECT a FROM t\nEsta consulta soma (tudo).", "SELECT a FROM t", "Esta consulta soma (tudo)."),
        ("select a from t where b = 'x; y'", "select a from t where b = 'x; y'", ""),
        ("WITH x AS (SELECT 1 AS a) SELECT a FROM x", "WITH x AS (SELECT 1 AS a) SELECT a FROM x", ""),
        ("```sql\nSELECT a\n\nFROM t\n```", "SELECT a\n\nFROM t", ""),
        ("```sql\nSELECT a FROM t", "SELECT a FROM t", ""),
        ("```sql SELECT a FROM t```fim", "SELECT a FROM t", "fim"),
        ("```sql\r\nSELECT a FROM t\r\n```\r\nfim", "SELECT a FROM t", "fim"),
        ("``````\n```sql\nSELECT a FROM t;\n```", "SELECT a FROM t", "``````"),
        (
            "```\nSELECT a FROM t WHERE b = 'x;``' AND c = ';'; fim\n```",
            "SELECT a FROM t WHERE b = 'x;``' AND c = ';'",
            "",
        ),
        ("SELECT x; Antes da cerca:\n```sql\nSELECT a FROM t\n```", "SELECT a FROM t", "SELECT x; Antes da cerca:"),
        ("Veja: selecte, withal, oselect; select a from t;", "select a from t", "Veja: selecte, withal, oselect; ;"),
        ("SELECT a FROM t\n \t\r\nSoma tudo.", "SELECT a FROM t", "Soma tudo."),
        ("SELECT a FROM t WHERE b = '' AND c = ';'", "SELECT a FROM t WHERE b = '' AND c = ';'", ""),
        ("SELECT a FROM t WHERE b = 'x\n\ny'", "SELECT a FROM t WHERE b = 'x\n\ny'", ""),
        ("SELECT a FROM t ``` fim", "SELECT a FROM t", "``` fim"),
        ("WITH os dados: SELECT a FROM t;", "SELECT a FROM t", "WITH os dados: ;"),
        ("SELECT a FROM t  \nlinha (um\nlinha dois)", "SELECT a FROM t", "linha (um linha dois)"),
    ],
)
def test_a_query_is_found(completion: str, query: str, prose: str) -> None:
    found = find_query(completion)
    assert found is not None
    assert (found.text, " ".join(found.prose.split())) == (query, prose)


@pytest.mark.parametrize(
    "completion",
    [
        "",
        "Use SELECT, FROM, WHERE e GROUP BY para agrupar os pedidos.",
        "SELECT FROM WHERE GROUP BY ORDER BY",
        "Select the best products with a great price",
        "DROP TABLE pedidos",
        "INSERT INTO t SELECT",
        "SELECT " + "(" * 65 + "1" + ")" * 65,
        "[" * 65 + " SELECT a FROM t",
        "SELECT a FROM t WHERE " + " AND ".join(["a = 1"] * 400),
    ],
)
def test_no_query_is_found(completion: str) -> None:
    assert find_query(completion) is None


@pytest.mark.parametrize(
    "piece",
    ["SELECT ", "SELECT a FROM (\n", "SELECT CASE WHEN 1 THEN ", "SELECT NOT ", "WITH x AS (", "SELECT 1+", "'", "```"],
)
def test_the_search_is_bounded(piece: str) -> None:
    started = time.thread_time()
    find_query(("SELECT " + piece * 16_000)[:16_000])
    assert time.thread_time() - started < 0.5 * slowness()


def rows(store: Path, sql: str) -> object:
    result = run_query(store, sql)
    return result and result.rows


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM pedidos WHERE estado ILIKE 'sp'",
        "SELECT COUNT(*)::int FROM pedidos WHERE id % 2 = 1",
        "SELECT GREATEST(COUNT(*), 3) FROM pedidos WHERE id % 2 = 1",
        "SELECT CHAR_LENGTH(STRING_AGG(estado, '')) / 2 FROM pedidos WHERE id % 2 = 1",
        "SELECT COUNT(*) FROM (SELECT id FROM pedidos FETCH FIRST 30 ROWS ONLY) AS t",
    ],
)
def test_other_dialects_are_translated(store: Path, sql: str) -> None:
    assert rows(store, sql) == ((30,),)


def test_what_a_translation_leaves_out_is_not_reported(store: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert rows(store, "SELECT COUNT(*)::int FROM pedidos TABLESAMPLE SYSTEM (50)") == ((60,),)
    assert caplog.records == []


@pytest.mark.parametrize(
    "query", ["SELECT cor FROM pedidos", "SELECT COUNT(*) FROM pedidos a, pedidos b, pedidos c, pedidos d"]
)
def test_a_query_that_is_read_but_fails_is_not_translated(
    store: Path, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    run_query.cache_clear()
    monkeypatch.setattr(sqlglot, "transpile", lambda *_, **__: pytest.fail("translated"))
    assert run_query(store, query) is None


FORBIDDEN = {
    "write": "INSERT INTO pedidos VALUES (1, 2, 'SP')",
    "write in a cte": "WITH x AS (SELECT 1) DELETE FROM pedidos",
    "drop": "DROP TABLE pedidos",
    "attach": "ATTACH 'outro.db' AS outro",
    "pragma": "PRAGMA table_info(pedidos)",
    "pragma as a table": "SELECT * FROM pragma_table_info('pedidos')",
    "extension": "SELECT load_extension('x') FROM pedidos",
    "two statements": "SELECT 1 FROM pedidos; DROP TABLE pedidos",
    "memory": "SELECT length(zeroblob(1000000000)) FROM pedidos",
    "memory by format": "SELECT printf('%.*c', 100000000, 'x') FROM pedidos",
    "memory by doubling": (
        "WITH RECURSIVE t(x, n) AS (SELECT 'aaaaaaaa', 1 UNION ALL SELECT x || x, n + 1 FROM t LIMIT 40) SELECT x"
        " FROM t"
    ),
    "chance": "SELECT random() FROM pedidos",
    "clock": "SELECT date('now') FROM pedidos",
    "clock without a name": "SELECT strftime('%Y') FROM pedidos",
    "clock as a constant": "SELECT CURRENT_TIMESTAMP FROM pedidos",
    "clock in pieces": "SELECT date('n' || 'ow') FROM pedidos",
    "clock as a name": 'SELECT date("now") FROM pedidos',
    "clock as bytes": "SELECT julianday(x'6E6F77') FROM pedidos",
    "clock before a zero byte": "SELECT unixepoch('Now' || char(0) || '1') FROM pedidos",
    "clock behind a comment": "SELECT time(/**/) FROM pedidos",
    "clock by name of a column": "SELECT strftime('%s', agora) FROM (SELECT 'now' AS agora FROM pedidos)",
    "clock by format alone": "SELECT strftime('%' || 's') FROM pedidos",
    "time zone": "SELECT datetime('2018-01-01', 'local' || 'time') FROM pedidos",
    "time zone back": "SELECT datetime('2018-01-01', 'UTC') FROM pedidos",
    "files": "SELECT readfile('/etc/hostname') FROM pedidos",
    "random bytes": "SELECT randomblob(8) FROM pedidos",
    "unknown names": "SELECT quote(estado) FROM pedidos",
    "no such column": "SELECT cor FROM pedidos",
    "neither dialect": "SELECT `id`::int FROM pedidos",
    "zero byte": "SELECT id FROM pedidos WHERE estado = '\x00'",
    "lone surrogate": "SELECT id FROM pedidos WHERE estado = '\ud800'",
}


@pytest.mark.parametrize("sql", FORBIDDEN.values(), ids=FORBIDDEN)
def test_what_is_forbidden_gives_nothing(store: Path, sql: str) -> None:
    before = store.read_bytes()
    assert run_query(store, sql) is None
    assert store.read_bytes() == before


@pytest.mark.parametrize(
    "statement",
    [
        "ATTACH ':memory:' AS x",
        "BEGIN",
        "CREATE TEMP TABLE x(a)",
        "DELETE FROM pedidos",
        "PRAGMA user_version",
        "PRAGMA user_version = date",
        "SELECT random()",
    ],
)
def test_a_connection_refuses_what_parsing_lets_through(store: Path, statement: str) -> None:
    with pytest.raises(sqlite3.DatabaseError, match="not authorized"):
        sql._connection(store).execute(statement)


LONG = "replace(replace('xxxxxxxxxx', 'x', 'yyyyyyyyy'), 'y', 'abcdefghij') || a.id || b.id || c.id"
ENDLESS = [
    f"SELECT COUNT(*) FROM pedidos a, pedidos b, pedidos c WHERE {LONG} LIKE '%{'_a' * 20}z%'",
    f"SELECT COUNT(*) FROM pedidos a, pedidos b, pedidos c WHERE instr({LONG}, substr({LONG}, 1, 450) || 'z')",
    f"SELECT COUNT(*) FROM pedidos a, pedidos b, pedidos c WHERE {LONG} GLOB '*{'[a-c]b' * 5}z*'",
    f"SELECT COUNT(*) FROM pedidos a, pedidos b, pedidos c GROUP BY {LONG}",
    f"SELECT DISTINCT {LONG} FROM pedidos a, pedidos b, pedidos c ORDER BY 1",
    (
        "SELECT SUM(x) FROM (SELECT MAX(a.id) OVER (ORDER BY a.id RANGE BETWEEN 9 PRECEDING AND 9 FOLLOWING) AS x FROM"
        " pedidos a, pedidos b, pedidos)"
    ),
    "SELECT a.id FROM pedidos a, pedidos b, pedidos c ORDER BY a.estado || b.estado || c.estado",
]


@pytest.mark.parametrize("sql", ENDLESS)
def test_slow_steps_cost_little_since_texts_are_short(store: Path, sql: str) -> None:
    seconds = []
    for _ in range(3):
        run_query.cache_clear()
        started = time.thread_time()
        assert run_query(store, sql) is None
        seconds.append(time.thread_time() - started)
    assert min(seconds) < 1.5 * slowness()


@pytest.mark.parametrize(
    ("call", "value"),
    [
        ("date('2018-01-31', '+1 month')", "2018-03-03"),
        ("strftime('%Y-%m', '2018-01-31 10:00:00')", "2018-01"),
        ("strftime('%Y', estado)", None),
        ("julianday('2000-01-01 12:00:00')", 2451545.0),
        ("unixepoch('1970-01-02')", 86400),
        ("datetime(86400, 'unixepoch')", "1970-01-02 00:00:00"),
        ("time('10:11:12')", "10:11:12"),
        ("date(NULL)", None),
        ("date(x'323031382D30312D3032')", "2018-01-02"),
        ("datetime('2018-01-02')", "2018-01-02 00:00:00"),
        ("3 ^ 2", 9),  # PostgreSQL's power
    ],
)
def test_dates_are_computed(store: Path, call: str, value: object) -> None:
    assert rows(store, f"SELECT {call} FROM pedidos LIMIT 1") == ((value,),)


def test_a_constant_date_is_computed_once_and_not_in_every_row(store: Path) -> None:
    def steps(constant: str) -> int:
        result = run_query(store, f"SELECT COUNT(*) FROM pedidos a, pedidos b WHERE a.id + b.id > length({constant})")
        assert result is not None
        return result.steps

    assert steps("date('2018-01-02')") <= steps("'2018-01-02'") + 100


@pytest.mark.parametrize(
    "sql",
    [
        "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT COUNT(*) FROM t",
        "SELECT COUNT(*) FROM pedidos a, pedidos b, pedidos c, pedidos d, pedidos e",
        "SELECT group_concat(a.estado) FROM pedidos a, pedidos b, pedidos c, pedidos d",
        "SELECT COUNT(*) FROM " + ", ".join(f"pedidos p{n}" for n in range(40)),
    ],
)
def test_endless_work_costs_a_score_and_nothing_else(store: Path, sql: str) -> None:
    started = time.thread_time()
    assert run_query(store, sql) is None
    assert time.thread_time() - started < 0.5 * slowness()
    assert rows(store, "SELECT COUNT(*) FROM pedidos") == ((60,),)


def same_result(gold: Sequence[Row], rows: Sequence[Row], ordered: bool) -> bool:
    expected = in_order(gold) if ordered else unordered(gold)
    return fits(expected, rows)


def test_results_ignore_row_order_column_names_and_float_noise() -> None:
    gold = [("SP", 0.3), ("RJ", 2.0)]
    assert same_result(gold, [("RJ", 2), ("SP", 0.1 + 0.2)], ordered=False)
    assert not same_result(gold, [("RJ", 2), ("SP", 0.1 + 0.2)], ordered=True)
    assert same_result(gold, [("SP", 0.1 + 0.2), ("RJ", 2)], ordered=True)
    assert not same_result(gold, [("RJ", 2.001), ("SP", 0.3)], ordered=False)
    noisy = [
        (12345.650000000001, "A"),
        (12345.62, "B"),
    ]  # to six digits the first is 12345.7 with the noise and 12345.6 without
    assert same_result([(12345.65, "A"), (12345.62, "B")], noisy, ordered=False)
    swapped = [(0.1 + 0.2, "A"), (0.3, "B")]  # by their exact numbers the two rows would change places
    assert same_result([(0.3, "A"), (0.1 + 0.2, "B")], swapped, ordered=False)
    assert not same_result(gold, [*gold, gold[0]], ordered=False)
    assert not same_result([(1,), (1,), (2,)], [(1,), (2,), (2,)], ordered=False)
    assert not same_result([(1, 2)], [(1,)], ordered=False)
    assert not same_result([(None,)], [(0,)], ordered=False)
    assert not same_result([("1",)], [(1,)], ordered=False)
    assert same_result([(None,), (1,), ("a",), (b"x",)], [("a",), (b"x",), (None,), (1.0,)], ordered=False)


def test_an_answer_is_compared_with_the_gold_query(store: Path) -> None:
    reference = {
        "sql": "SELECT estado, SUM(valor) FROM pedidos GROUP BY estado ORDER BY estado",
        "database": store.name,
    }
    assert answers_gold(
        reference, "SELECT estado AS uf, TOTAL(valor) FROM pedidos GROUP BY 1 ORDER BY 1", store.parent
    ).equal
    reordered = answers_gold(
        reference, "SELECT estado, SUM(valor) FROM pedidos GROUP BY 1 ORDER BY 1 DESC", store.parent
    )
    assert reordered.ran and not reordered.equal
    assert not answers_gold(reference, "SELECT cor FROM pedidos", store.parent).ran


def test_faults_of_the_data_are_errors(store: Path) -> None:
    with pytest.raises(ValueError, match="there is no database"):
        gold_result(store.parent / "falta.sqlite", "SELECT 1")
    with pytest.raises(ValueError, match="gold query does not run"):
        gold_result(store, "SELECT cor FROM pedidos")
    with pytest.raises(ValueError, match="databases"):
        answers_gold({"sql": "SELECT 1", "database": store.name}, "SELECT 1", None)


def test_parsing_needs_a_query_that_selects() -> None:
    assert parse("SELECT 1") is not None
    assert parse("SELECT") is None
    assert parse("VALUES (1)") is None
    assert parse("SELECT a FROM t WHERE b = '" + "x" * 3000 + "'") is None


def test_the_limits_of_parsing_are_exact() -> None:
    assert parse("SELECT " + "a" * 1017) is not None and parse("SELECT " + "a" * 1018) is None
    assert parse("SELECT 1" + " + (1)" * 64) is not None and parse("SELECT 1" + " + (1)" * 65) is None
    last = "SELECT a FROM t"
    unread = "SELECT " + "x" * (2048 - len(last) - len("SELECT "))
    assert find_query(f"{unread}\n\n{last}") is not None
    assert find_query(f"{unread}x\n\n{last}") is None
    assert (
        find_query(f"without {unread[len('SELECT ') :]}x\n\n{last}") is not None
    )  # no attempt begins with another word


THOUSAND = f"replace('xxxxxxxxxx', 'x', '{'0123456789' * 10}')"


@pytest.mark.parametrize(
    ("within", "beyond"),
    [
        ("SELECT 1" + " + 1" * 49 + " FROM pedidos", "SELECT 1" + " + 1" * 50 + " FROM pedidos"),
        ("SELECT 1 FROM pedidos a, pedidos b LIMIT 1000", "SELECT 1 FROM pedidos a, pedidos b LIMIT 1001"),
        ("SELECT id FROM pedidos" + " UNION SELECT 1" * 9, "SELECT id FROM pedidos" + " UNION SELECT 1" * 10),
        (
            f"SELECT id FROM pedidos WHERE estado LIKE '{'S' * 50}'",
            f"SELECT id FROM pedidos WHERE estado LIKE '{'S' * 51}'",
        ),
        (
            f"SELECT length({THOUSAND} || '') FROM pedidos",
            f"SELECT length({THOUSAND} || 'x') FROM pedidos",
        ),
        (
            "SELECT " + ", ".join(["id"] * 50) + " FROM pedidos LIMIT 1",
            "SELECT " + ", ".join(["id"] * 51) + " FROM pedidos LIMIT 1",
        ),
        (
            "SELECT 1 FROM pedidos" + "".join(f" JOIN pedidos p{n} USING(id)" for n in range(7)),
            "SELECT 1 FROM pedidos" + "".join(f" JOIN pedidos p{n} USING(id)" for n in range(8)),
        ),
        (
            f"SELECT {THOUSAND} FROM pedidos a, pedidos b LIMIT 200",
            f"SELECT {THOUSAND}, iif(a.id = 1 AND b.id = 1, 'x', NULL) FROM pedidos a, pedidos b LIMIT 200",
        ),
        (  # 2,048 bytes: 38 and 3 of each €
            f"SELECT '{'€' * 223}', '{'€' * 223}', '{'€' * 224}' FROM pedidos LIMIT 1",
            f"SELECT '{'€' * 223}a', '{'€' * 223}', '{'€' * 224}' FROM pedidos LIMIT 1",
        ),
    ],
)
def test_the_limits_of_running_are_exact(store: Path, within: str, beyond: str) -> None:
    assert run_query(store, within) is not None
    assert run_query(store, beyond) is None


CALLS: dict[str, object] = {
    "abs(-2)": 2, "cast('3' AS INTEGER)": 3, "ceil(1.2)": 2, "ceiling(1.2)": 2, "char(65)": "A", "coalesce(NULL, 4)": 4, "floor(1.8)": 1,
    "glob('a*', 'abc')": 1, "ifnull(NULL, 5)": 5, "iif(1, 2, 3)": 2, "instr('abc', 'c')": 3, "length('abc')": 3, "like('A%', 'abc')": 1,
    "ln(1)": 0, "log(100)": 2, "log10(100)": 2, "log2(8)": 3, "lower('A')": "a", "ltrim(' a')": "a", "mod(7, 4)": 3, "nullif(1, 1)": None,
    "pow(2, 3)": 8, "power(2, 3)": 8, "replace('aba', 'a', 'c')": "cbc", "round(1.25, 1)": 1.3, "rtrim('a ')": "a", "sign(-3)": -1,
    "sqrt(9)": 3, "substr('abc', 2)": "bc", "substring('abc', 2, 1)": "b", "trim(' a ')": "a", "trunc(1.9)": 1, "typeof(1)": "integer",
    "unicode('A')": 65, "upper('a')": "A", "AVG(id)": 30.5, "COUNT(*)": 60, "MAX(id)": 60, "MIN(id)": 1, "SUM(id)": 1830, "TOTAL(id)": 1830.0,
    "group_concat(id % 1)": ",".join(["0"] * 60), "date('2018-01-02 10:00')": "2018-01-02", "datetime('2018-01-02')": "2018-01-02 00:00:00",
    "CUME_DIST() OVER (ORDER BY id)": 1 / 60, "DENSE_RANK() OVER (ORDER BY id)": 1, "FIRST_VALUE(id) OVER (ORDER BY id)": 1,
    "LAG(id, 1, 9) OVER (ORDER BY id)": 9, "LAST_VALUE(id) OVER (ORDER BY id)": 1, "LEAD(id) OVER (ORDER BY id)": 2,
    "NTH_VALUE(id, 1) OVER (ORDER BY id)": 1, "NTILE(2) OVER (ORDER BY id)": 1, "PERCENT_RANK() OVER (ORDER BY id)": 0,
    "RANK() OVER (ORDER BY id)": 1, "ROW_NUMBER() OVER (ORDER BY id)": 1,
}  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_what_a_query_may_call(store: Path, call: str) -> None:
    assert rows(store, f"SELECT {call} FROM pedidos LIMIT 1") == ((CALLS[call],),)


def test_what_every_query_may_call_is_tested() -> None:
    called = {call.partition("(")[0].lower() for call in CALLS}
    assert called == sql._FUNCTIONS - {"time", "julianday", "unixepoch", "strftime"}  # these are tested with the dates


def test_an_answer_may_take_four_times_the_steps_of_the_gold_query(store: Path) -> None:
    def times(count: int) -> str:
        return f"SELECT COUNT(*) FROM pedidos a, pedidos b, (SELECT 1 FROM pedidos LIMIT {count})"

    reference = {"sql": times(10), "database": store.name}
    assert gold_result(store, times(10)).steps * GOLD_FACTOR > FREE_STEPS
    assert answers_gold(reference, times(39), store.parent).ran
    assert not answers_gold(reference, times(42), store.parent).ran


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("SELECT t.a, B.C FROM T AS t JOIN b ON t.a = b.x", {"table:t", "table:b", "column:a", "column:c", "column:x"}),
        (
            "WITH caros AS (SELECT id, valor FROM Pedidos JOIN itens USING(pedido_id)) SELECT SUM(valor) AS total FROM"
            " caros ORDER BY total",
            {"table:pedidos", "table:itens", "column:id", "column:valor", "column:pedido_id"},
        ),
        ("isto não é SQL", set()),
        ("SELECT a AS B FROM t GROUP BY b HAVING B > 1 ORDER BY b", {"table:t", "column:a"}),
        ("SELECT a AS b FROM t WHERE b > 1", {"table:t", "column:a", "column:b"}),
        ("SELECT a FROM t ORDER BY c", {"table:t", "column:a", "column:c"}),
        ("SELECT a FROM t JOIN u USING (K)", {"table:t", "table:u", "column:a", "column:k"}),
        ("SELECT COUNT(*) FROM (SELECT a FROM t) AS s", {"table:t", "column:a"}),
        ("SELECT [id] FROM `pedidos`", {"table:pedidos", "column:id"}),
        ("SELECT '' FROM json_each('[1]')", set()),
        ('SELECT "" FROM t', {"table:t"}),
        ("SELECT 1", set()),
    ],
)
def test_names_in_lower_case(query: str, found: set[str]) -> None:
    assert names(query) == found


@pytest.mark.parametrize(
    ("query", "ordered"),
    [
        ("SELECT a FROM t ORDER BY a", True),
        ("SELECT a FROM t", False),
        ("SELECT a FROM (SELECT a FROM t ORDER BY a)", False),
        ("SELECT RANK() OVER (ORDER BY a) FROM t", False),
        ("SELECT a FROM t UNION SELECT b FROM u ORDER BY 1", True),
        ("isto não é SQL", False),
    ],
)
def test_only_an_order_at_the_top_counts(query: str, ordered: bool) -> None:
    assert is_ordered(query) == ordered


def test_the_budget_is_exact(store: Path) -> None:
    query = "SELECT COUNT(*) FROM pedidos a, pedidos b"
    found = run_query(store, query)
    assert (
        found is not None
        and found.steps % 100 == 0
        and run_query(store, "SELECT 1 FROM pedidos LIMIT 1") == Result(((1,),), 100)
    )
    assert run_query(store, query, found.steps - 100) == found  # the last hundred is not full
    assert run_query(store, query, found.steps - 101) is None


def test_a_relative_path_is_found_and_nothing_is_written(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(store.parent)
    assert run_query(Path(store.name), "SELECT date('2018-01-02') FROM pedidos LIMIT 1") == Result(
        (("2018-01-02",),), 100
    )
    assert [path.name for path in store.parent.iterdir()] == [store.name]


def test_a_connection_is_kept_but_not_by_a_forked_child(store: Path) -> None:
    mine = sql._connection(store)
    assert sql._connection(store) is mine
    child = os.fork()
    if child == 0:
        os._exit(sql._connection(store) is mine)
    assert os.waitpid(child, 0)[1] == 0


def test_every_thread_has_a_connection(store: Path) -> None:
    query = "SELECT MAX(id) FROM pedidos"
    assert rows(store, query) == ((60,),)
    run_query.cache_clear()
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(rows, store, query).result() == ((60,),)


def test_how_near_is_the_same_number() -> None:
    assert same_result([(1000.0,)], [(1000.00095,)], ordered=True) and not same_result(
        [(1000.0,)], [(1000.00105,)], ordered=True
    )
    assert same_result([(0,)], [(0.95e-9,)], ordered=True) and not same_result([(0,)], [(1.05e-9,)], ordered=True)


# Several stores, and what an answer may do otherwise than the gold query


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_stores(tmp_path_factory.mktemp("suite"))


def right(suite: Path, gold: str, answer: str, **asked: object) -> bool:
    return answers_gold({"sql": gold, "database": "store.sqlite"} | asked, answer, suite).equal


@pytest.mark.parametrize(("gold", "answer"), WRONG)
def test_what_is_wrong_runs(suite: Path, gold: str, answer: str) -> None:
    assert answers_gold({"sql": gold, "database": "store.sqlite"}, answer, suite) == Outcome(True, False)


def test_a_coarser_rounding_may_not_hide_a_small_number(suite: Path) -> None:
    assert right(suite, THIRDS, THIRDS.replace(",2)", ",1)"))
    for inner in ("SELECT * FROM ({}) AS x", "SELECT s FROM ({}) AS x", "WITH x AS ({}) SELECT * FROM x"):
        assert right(suite, THIRDS, inner.format("SELECT ROUND(SUM(valor)/3,1) AS s FROM pedidos"))
    share = "SELECT ROUND(SUM(valor)/100000,5) FROM pedidos"
    assert right(suite, share, "SELECT SUM(valor)/100000 FROM pedidos")
    assert not right(suite, share, "SELECT ROUND(SUM(valor)/100000,1) FROM pedidos")


def test_a_gold_query_is_its_own_answer_on_a_slow_machine(tmp_path: Path) -> None:
    """Four thousand days, four other processes at work: what is right does not depend on how long it takes."""
    write_days(tmp_path)
    day = "datetime(date(datetime(date(dia, '+1 day'), '-1 day'), '+2 days'), '-1 day')"
    gold = f"SELECT strftime('%Y', {day}) AS ano, COUNT(*) FROM dias GROUP BY ano"
    wrong = gold.replace("+2 days", "+3 days")
    reference = {"sql": gold, "database": DAYS}
    outcomes = []
    with busy():
        for _ in range(2):
            run_query.cache_clear()
            outcomes.append([answers_gold(reference, query, tmp_path) for query in (gold, wrong)])
    assert outcomes == [[Outcome(True, True), Outcome(True, False)]] * 2


# What is near, and what the prose tells

COUNT = "SELECT COUNT(*) AS n FROM pedidos WHERE valor > 5"


@pytest.mark.parametrize(
    ("answer", "is_open"),
    [
        ("SELECT COUNT(*) AS n, AVG(valor) AS media FROM pedidos WHERE valor > 5", False),
        ("SELECT COUNT(*) FILTER (WHERE valor > 5) AS a, COUNT(*) FILTER (WHERE valor > 6) AS b FROM pedidos", True),
        ("SELECT MIN(id) AS a, MAX(id) AS b, COUNT(*) AS n FROM pedidos WHERE valor > 5", True),
    ],
)
def test_a_query_may_leave_open_which_figure_answers(answer: str, is_open: bool) -> None:
    assert leaves_open(COUNT, answer) == is_open


def test_further_columns_and_whole_numbers_are_near(suite: Path) -> None:
    reference = {"sql": THIRDS, "database": "store.sqlite"}
    for answer in (THIRDS.replace("SELECT", "SELECT 1 AS a,"), THIRDS.replace(",2)", ")")):
        assert (
            not answers_gold(reference, answer, suite).equal and answers_gold(reference, answer, suite, near=True).equal
        )


@pytest.mark.parametrize(
    ("prose", "of_others"),
    [
        ("Soma os pedidos de SP em maio de 2018.", False),
        ("Soma os pedidos de SP em 05/2018.", False),
        ("Soma os pedidos do Rio de Janeiro.", True),
        ("Soma os pedidos de SP e RJ.", True),
        ("Soma os pedidos de SP, e não os de RJ.", False),
        ("Soma os pedidos de 06/2018.", True),
        ("Soma os pedidos de janeiro de 2017.", True),
    ],
)
@pytest.mark.parametrize(
    "brief",
    ["Quanto vendeu SP em 05/2018? WHERE estado = 'SP' AND mes = '2018-05'", "Quanto SP vendeu em maio de 2018?"],
)
def test_prose_may_tell_of_other_states_or_months(prose: str, brief: str, of_others: bool) -> None:
    assert tells_of_others(prose, brief) == of_others


@pytest.mark.parametrize(
    ("prose", "hang"),
    [
        ("A consulta ordena meses pelo valor médio de RJ,8,8,8 de RJ,8 de RJ,8.", True),  # a champion's
        ("A nota média dos clientes de PR em 12/2018,2,2,5,2.", True),
        ("O frete médio de GO em 09/2018,9.", True),
        ("Soma R$ 1.234,56 em 05/2018, 3 itens, ou 2,5% do total: 1, 2 e 3.", False),
        ("Usa COALESCE(valor,0) e `IN (1,2,3)` para nulos.", False),
    ],
)
def test_figures_that_hang_at_words_explain_nothing(prose: str, hang: bool, suite: Path) -> None:
    """Training found that «RJ,8,8,8» is one word: the reward was 1, and the truth rose."""
    assert has_hanging_figures(prose) == hang
    prompt = Prompt(
        "q", "sql_qa", "Pedidos de SP?", "t", "b2w", "own", reference={"sql": COUNT, "database": "store.sqlite"}
    )
    right = f"```sql\n{COUNT};\n```\nA consulta conta os pedidos que têm valor acima do limite pedido. "
    rewards = load_reward_set("grounded", suite)
    plain, told = (rewards.score(prompt, right + more).total for more in ("", prose))
    assert (told < 0.7 < plain) == hang
    plain, told = (of_sql_qa.exact(of_sql_qa.facts(prompt, right + more, suite)) for more in ("", prose))
    assert (plain, told) == (1.0, of_sql_qa.GARBLED if hang else 1.0)
