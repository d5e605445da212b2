"""One question's stores, by hand, and what both judges of SQL answers have to say about answers to it."""

import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from rewards.parsing.sql_results import answers_gold
from tucano.truth.sql import right_answer

ORDERS = {
    "store.sqlite": [(1, "SP", "a", 10.0), (2, "SP", "b", 25.0), (3, "RJ", "a", 7.0), (4, "RJ", "b", 30.0), (5, "MG", "a", 4.0)],
    "store-1.sqlite": [(1, "SP", "b", 10.0), (2, "SP", "b", 20.0), (3, "SP", "a", 4.5), (4, "RJ", "a", 20.0), (5, "RJ", "b", 1.0)],
    "store-2.sqlite": [(1, "RJ", "b", 1.0), (2, "RJ", "a", 1.0), (3, "MG", "b", 2.0), (4, "MG", "a", 2.0), (5, "SP", "a", 6.0)],
}  # fmt: skip
"""Pedidos (id, estado, tipo, valor)."""


def write_stores(folder: Path) -> Path:
    for name, orders in ORDERS.items():
        with closing(sqlite3.connect(folder / name)) as connection:
            connection.execute("CREATE TABLE pedidos(id INTEGER PRIMARY KEY, estado TEXT, tipo TEXT, valor REAL)")
            connection.executemany("INSERT INTO pedidos VALUES (?, ?, ?, ?)", orders)
            connection.commit()
    return folder


DAYS = "dias.sqlite"


def write_days(folder: Path) -> None:
    """`dias`: four thousand days from 2000-01-01 on."""
    with closing(sqlite3.connect(folder / DAYS)) as connection:
        connection.execute("CREATE TABLE dias(dia TEXT)")
        connection.executemany(
            "INSERT INTO dias VALUES (date('2000-01-01', ?))", [(f"+{n} days",) for n in range(4_000)]
        )
        connection.commit()


@contextmanager
def busy() -> Iterator[None]:
    """Four other processes compute meanwhile."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


THIRDS = "SELECT ROUND(SUM(valor)/3,2) FROM pedidos"  # 25.333, 18.5, 4.0
BY_STATE = "SELECT estado, ROUND(AVG(valor)/7,2) AS media FROM pedidos GROUP BY estado ORDER BY media DESC"
RANKING = "SELECT estado, COUNT(*) AS n FROM pedidos GROUP BY estado ORDER BY n DESC LIMIT 2"
BY_VALUE = "SELECT id, valor FROM pedidos ORDER BY valor"
FOUR = "SELECT id, estado, valor, valor * 2 AS dobro FROM pedidos"
CROSSED = "SELECT iif(SUM(valor) > 60, 5, 4), iif(SUM(valor) > 60, 4, 5) FROM pedidos"  # sums of 76, 55.5 and 12
TOTAL = "SELECT SUM(valor) FROM pedidos WHERE estado = 'MG'"  # 4, NULL, 4

ROUNDED_OTHERWISE = [
    (THIRDS, "SELECT SUM(valor)/3 FROM pedidos"),
    (THIRDS, "SELECT ROUND(SUM(valor)/3,4) FROM pedidos"),
    ("SELECT SUM(valor)/3 FROM pedidos", "SELECT ROUND(SUM(valor)/3,2) FROM pedidos"),
    (BY_STATE, "SELECT estado, AVG(valor)/7 FROM pedidos GROUP BY 1 ORDER BY 2 DESC"),
]
"""Right, unless the question asks for a rounding."""

COLUMNS_OTHERWISE = [
    (FOUR, "SELECT valor * 2 AS d, valor AS v, estado, id FROM pedidos"),
    (BY_STATE, "SELECT AVG(valor)/7, estado FROM pedidos GROUP BY estado ORDER BY 1 DESC"),
    (
        "SELECT COUNT(*), COUNT(DISTINCT estado) + 2 FROM pedidos",  # 5 and 5, 5 and 4, 5 and 5
        "SELECT COUNT(DISTINCT estado) + 2, COUNT(*) FROM pedidos",
    ),
]
"""Right, unless the question asks for an order of the columns."""

RIGHT = [
    (  # 2, 1 and 0
        "SELECT COUNT(*) FROM pedidos WHERE estado = 'RJ' AND valor > 5",
        "SELECT COUNT(*) FROM pedidos WHERE estado = 'RJ' AND valor > 5 GROUP BY estado",
    ),
    *ROUNDED_OTHERWISE,
    *COLUMNS_OTHERWISE,
    ("SELECT id, 6 - id FROM pedidos", "SELECT 6 - id, id FROM pedidos"),
    (BY_VALUE, "SELECT id, valor FROM pedidos ORDER BY valor, id"),
    (BY_VALUE, "SELECT id, valor FROM pedidos ORDER BY valor, id DESC"),
    ("SELECT id, valor FROM pedidos", "SELECT id, valor FROM pedidos ORDER BY valor DESC"),
    (RANKING, RANKING.replace("n DESC", "n DESC, estado")),
    (RANKING, RANKING.replace("n DESC", "n DESC, estado DESC")),
    ("SELECT estado FROM pedidos ORDER BY valor", "SELECT estado FROM pedidos ORDER BY valor, estado DESC"),
    ("SELECT DISTINCT tipo FROM pedidos ORDER BY tipo", "SELECT tipo FROM pedidos GROUP BY 1 ORDER BY 1"),
    (
        "SELECT tipo FROM pedidos UNION SELECT estado FROM pedidos ORDER BY 1",
        "SELECT estado FROM pedidos UNION SELECT tipo FROM pedidos ORDER BY 1",
    ),
    (  # on the first store there is none
        "SELECT estado, id FROM pedidos WHERE valor = 20",
        "SELECT p.id, p.estado FROM pedidos AS p WHERE p.valor = 20",
    ),
    (THIRDS, f"SELECT * FROM ({THIRDS.replace('2)', '4)')}) AS x"),
    (THIRDS, f"WITH x AS ({THIRDS.replace('2)', '4)')}) SELECT * FROM x"),
    (TOTAL, TOTAL.replace("SUM(valor)", "COALESCE(SUM(valor), 0)")),
    (
        "SELECT estado, tipo FROM pedidos ORDER BY estado LIMIT 3",  # any RJ will do behind MG, any SP behind RJ
        "SELECT estado, tipo FROM pedidos ORDER BY estado, tipo DESC LIMIT 3",
    ),
]
WRONG = [
    ("SELECT estado, id FROM pedidos WHERE valor = 20", "SELECT estado, id FROM pedidos WHERE valor >= 20"),
    (THIRDS, "SELECT ROUND(SUM(valor)/3) FROM pedidos"),
    (THIRDS, "SELECT SUM(valor)/3 + 0.006 FROM pedidos"),
    (THIRDS, "SELECT ROUND(SUM(valor)/3,2) + 0.01 FROM pedidos"),
    (BY_VALUE, "SELECT id, valor FROM pedidos ORDER BY valor DESC"),
    (BY_VALUE, "SELECT id, valor FROM pedidos"),
    (BY_VALUE, "SELECT id FROM pedidos ORDER BY valor"),
    (BY_VALUE, "SELECT id, valor, estado FROM pedidos ORDER BY valor"),
    (RANKING, RANKING.replace("n DESC", "n")),
    (RANKING, RANKING.replace("LIMIT 2", "LIMIT 1")),
    (RANKING, RANKING.replace("LIMIT 2", "LIMIT 3")),
    (FOUR, "SELECT id, estado, valor, valor FROM pedidos"),
    ("SELECT id, 6 - id FROM pedidos", "SELECT id, id FROM pedidos"),
    ("SELECT tipo FROM pedidos", "SELECT DISTINCT tipo FROM pedidos"),
    ("SELECT tipo FROM pedidos", "SELECT tipo FROM pedidos UNION ALL SELECT 'a'"),
    ("SELECT tipo FROM pedidos", "SELECT iif(id < 5, tipo, 'b') FROM pedidos"),
    ("SELECT estado FROM pedidos LIMIT 3", "SELECT estado FROM pedidos LIMIT 2"),
    (
        "SELECT estado, tipo FROM pedidos ORDER BY estado LIMIT 3",
        "SELECT estado, 'b' FROM pedidos ORDER BY estado LIMIT 3",
    ),
]
RIGHT_BY_LUCK = [
    (THIRDS, "SELECT 25.33 FROM pedidos LIMIT 1"),
    ("SELECT COUNT(*) FROM pedidos WHERE valor > 20", "SELECT COUNT(*) FROM pedidos WHERE valor >= 20"),
    ("SELECT COUNT(*) FROM pedidos WHERE estado = 'SP'", "SELECT COUNT(*) FROM pedidos WHERE estado = 'RJ'"),
    ("SELECT COUNT(DISTINCT estado) FROM pedidos", "SELECT 3 FROM pedidos LIMIT 1"),
    ("SELECT COUNT(*) FROM pedidos WHERE valor < 100", "SELECT COUNT(*) FROM pedidos WHERE valor <> 1"),
    (
        "SELECT tipo, COUNT(*) AS n FROM pedidos GROUP BY tipo ORDER BY n DESC LIMIT 1",
        "SELECT tipo, COUNT(*) AS n FROM pedidos GROUP BY tipo ORDER BY tipo LIMIT 1",
    ),
    (  # the columns change places from store to store
        CROSSED,
        "SELECT 4 + (SUM(valor) > 60), CASE WHEN SUM(valor) < 20 THEN 4 WHEN SUM(valor) < 60 THEN 5 ELSE 4 END FROM pedidos",
    ),
]  # fmt: skip
"""Equal on the first store alone."""


# The judges

Judge: TypeAlias = Callable[[Mapping[str, Any], str, Path], bool]


def of_reward(reference: Mapping[str, Any], query: str, stores: Path) -> bool:
    return answers_gold(reference, query, stores).equal


def of_truth(reference: Mapping[str, Any], query: str, stores: Path) -> bool:
    return right_answer(reference, f"```sql\n{query};\n```\nTotal.", stores)


def asked(gold: str, **more: object) -> dict[str, object]:
    return {"sql": gold, "database": "store.sqlite"} | more
