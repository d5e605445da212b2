"""Questions with gold queries and stores: the generator's own, and Spider's in Portuguese. Spider's databases are made
here from its schemas.
"""

import json
import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random

from sqlglot import exp

from benchmarks.sql_equivalents import EDGE
from benchmarks.sql_mutants import mutants
from benchmarks.sql_queries import Schema, is_determined, tree_of
from data.generator.questions import ask
from data.generator.store import Store
from data.sources.synthetic import SyntheticSource
from rewards.parsing.sql import run_query
from tucano.files.prompts import STORE

SEED = 20261122
CANDIDATES = 300
MOST_STORES = 24


@dataclass(frozen=True)
class Question:
    sql: str
    folder: Path
    schema: Schema = field(repr=False)

    @property
    def reference(self) -> dict[str, str]:
        return {"sql": self.sql, "database": STORE}


OWN_KEYS = {"clientes": "cliente_id", "produtos": "produto_id", "pedidos": "pedido_id"}
OWN_COLUMNS = {
    "clientes": ("cliente_id", "estado"),
    "produtos": ("produto_id", "categoria"),
    "pedidos": ("pedido_id", "cliente_id", "mes", "status", "dias_atraso"),
    "itens": ("pedido_id", "produto_id", "preco", "frete"),
    "pagamentos": ("pedido_id", "tipo", "parcelas", "valor"),
    "avaliacoes": ("pedido_id", "nota"),
}
OWN_PARENTS = frozenset(
    {
        ("pedidos", "clientes"),
        ("itens", "pedidos"),
        ("itens", "produtos"),
        ("pagamentos", "pedidos"),
        ("avaliacoes", "pedidos"),
    }
)


def own_schema(store: Store) -> Schema:
    status = [row[0] for row in store.rows("SELECT DISTINCT status FROM pedidos")]
    values = {
        "estado": store.states,
        "categoria": store.categories,
        "mes": store.months,
        "tipo": store.payments,
        "status": status,
    }
    return Schema(OWN_KEYS, OWN_COLUMNS, OWN_PARENTS, values, frozenset({"dias_atraso", "parcelas", "nota"}))


def own_questions(folder: Path, count: int, seed: int) -> list[Question]:
    """Different gold queries of all splits."""
    with closing(SyntheticSource(folder, seed)) as source:
        rng, schema = Random(f"{seed}/own"), own_schema(source.store)
        asked: dict[str, Question] = {}
        while len(asked) < count:
            for pool in ("known", "validation", "test"):
                sql = ask(pool, source.store, rng).sql
                asked[sql] = Question(sql, folder, schema)
    return list(asked.values())[:count]


# Spider


def spider_questions(spider: Path, folder: Path, rng: Random) -> list[Question]:
    """Spider's gold queries that have one meaning, over stores made from its schemas."""
    schemas = {schema["db_id"]: schema for schema in json.loads((spider / "tables.json").read_text(encoding="utf-8"))}
    lines = (spider / "dev.jsonl").read_text(encoding="utf-8").splitlines()
    golds: dict[str, list[str]] = defaultdict(list)
    for line in lines:
        row = json.loads(line)
        sql = re.sub(r'"([^"]*)"', lambda found: "'" + found[1].replace("'", "''") + "'", row["query"]).rstrip("; ")
        if sql not in golds[row["db_id"]]:
            golds[row["db_id"]].append(sql)
    questions = []
    for name, queries in sorted(golds.items()):
        place = folder / name
        place.mkdir(parents=True)
        schema = Maker(schemas[name], queries, rng).write(place)
        for sql in queries:
            if run_query(place / STORE, sql) is not None and is_determined(tree_of(sql), schema):
                questions.append(Question(sql, place, schema))
    return questions


def _told_apart(store: sqlite3.Connection, pairs: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
    """The pairs of a gold query and a mutant that give other rows."""

    @cache
    def result(sql: str) -> list[str] | None:
        try:
            return sorted(map(repr, store.execute(sql).fetchmany(2000)))
        except sqlite3.Error:
            return None

    return {pair for pair in pairs if (ours := result(pair[1])) is not None and ours != result(pair[0])}


class Maker:
    """Databases of one schema; rows hold what the gold queries ask for together, and its neighbours."""

    WORDS = ("Ana", "Bruno", "Clara", "Davi", "Elisa", "Fabio", "Gil", "Helena", "Iris", "Joana")

    def __init__(self, schema: dict, queries: Sequence[str], rng: Random) -> None:
        self._rng = rng
        self._tables = [name.lower() for name in schema["table_names_original"]]
        self._columns: dict[str, dict[str, str]] = {
            table: {} for table in self._tables if not table.startswith("sqlite_")
        }
        places: list[tuple[str, str]] = []
        for (table, column), kind in zip(schema["column_names_original"], schema["column_types"], strict=True):
            places.append((self._tables[table], column.lower()) if table >= 0 else ("", ""))
            if table >= 0 and self._tables[table] in self._columns:
                self._columns[self._tables[table]][column.lower()] = kind
        self._keys = {places[key][0]: places[key][1] for key in schema["primary_keys"]}
        self._foreign = {places[child]: places[parent] for child, parent in schema["foreign_keys"]}
        self._queries = queries
        self._wanted: list[dict[str, str | float]] = []
        self._words: list[str] = []

    def _compared(self, query: str) -> Iterator[dict[str, str | float]]:
        """What one SELECT compares columns with: {column: value}."""
        for select in tree_of(query).find_all(exp.Select):
            profile: dict[str, str | float] = {}
            for node in select.find_all(exp.EQ, exp.NEQ, exp.Like, exp.Between, *EDGE):
                edges = (node.args.get("low"), node.args.get("high"))
                value = self._rng.choice(edges) if isinstance(node, exp.Between) else node.expression
                column = node.this.this if isinstance(node.this, exp.AggFunc) else node.this
                if isinstance(column, exp.Column) and isinstance(value, exp.Literal):
                    text = str(value.this).replace("%", "x" if self._rng.random() < 0.5 else "")
                    if column.name.lower() not in profile or self._rng.random() < 0.5:
                        profile[column.name.lower()] = text if value.is_string else float(value.this)
            if profile:
                yield profile

    def write(self, folder: Path) -> Schema:
        """As many of `CANDIDATES` databases as tell a mutant from its gold query that none before told, at most
        `MOST_STORES`; the mutants are of the kinds that are judged later, drawn anew where chance has a part.
        """
        rng, schema = Random(f"{SEED}/distil"), self._schema(self._rows() for _ in range(3))
        left = [(sql, mutant) for sql in self._queries for _, mutant in mutants(sql, schema, rng)]
        kept = 0
        for _ in range(CANDIDATES):
            with closing(self._stored(self._rows())) as store:
                told = _told_apart(store, left)
                if told and kept < MOST_STORES:
                    with closing(sqlite3.connect(folder / (f"store-{kept}.sqlite" if kept else STORE))) as file:
                        store.backup(file)
                    left = [pair for pair in left if pair not in told]
                    kept += 1
        return schema

    def _stored(self, rows: Mapping[str, list[dict[str, str | float | int]]]) -> sqlite3.Connection:
        connection = sqlite3.connect(":memory:")
        for table, columns in self._columns.items():
            kinds = ", ".join(f'"{c}" {"NUMERIC" if k == "number" else "TEXT"}' for c, k in columns.items())
            connection.execute(f'CREATE TABLE "{table}" ({kinds})')
            cells = [tuple(row[column] for column in columns) for row in rows[table]]
            connection.executemany(f'INSERT INTO "{table}" VALUES ({",".join("?" * len(columns))})', cells)
        connection.commit()
        return connection

    def _schema(self, made: Iterable[Mapping[str, list[dict[str, str | float | int]]]]) -> Schema:
        values: dict[str, set[str]] = defaultdict(set)
        for rows in made:
            for table, columns in self._columns.items():
                for column in (column for column, kind in columns.items() if kind != "number"):
                    values[column] |= {str(row[column]) for row in rows[table]}
        return Schema(
            self._keys,
            {table: tuple(columns) for table, columns in self._columns.items()},
            frozenset((child, parent) for (child, _), (parent, _) in self._foreign.items() if child != parent),
            {column: sorted(found) for column, found in values.items()},
        )

    def _rows(self) -> dict[str, list[dict[str, str | float | int]]]:
        """Rows of every table, with what a few of the queries ask for; then the foreign keys, until those that point at
        foreign keys are right too.
        """
        rng = self._rng
        focus = rng.sample(self._queries, min(len(self._queries), rng.choice((1, 2, 4, 100))))
        self._wanted = [profile for query in focus for profile in self._compared(query)]
        self._words = rng.sample(self.WORDS, rng.randint(2, 6))
        sizes = {table: rng.choice((0, 3, 10, 25, 25, 40, 40)) for table in self._columns}
        sizes |= {parent: max(8, sizes[parent]) for parent, _ in self._foreign.values()}
        made = {table: [self._row(table, place) for place in range(size)] for table, size in sizes.items()}
        for table, key in self._keys.items():
            names = {key, *(column for (_, column), parent in self._foreign.items() if parent == (table, key))}
            asked = [profile[name] for profile in self._wanted for name in names if name in profile]
            keys = dict.fromkeys([*asked, *(row[key] for row in made.get(table, ()))])
            for row, value in zip(made.get(table, ()), keys, strict=False):
                row[key] = value
        for _ in range(3):
            for (child, column), (parent, key) in self._foreign.items():
                pool = [row[key] for row in made[parent]]
                if self._keys.get(child) == column:
                    chosen = list(dict.fromkeys(rng.sample(pool, len(pool))))
                    made[child] = made[child][: len(chosen)]
                else:
                    front = pool[: rng.choice((3, 6, 100))]
                    favourites = rng.sample(front, rng.randint(1, max(1, len(front) // 2)))
                    chosen = [
                        rng.choice(favourites if rng.random() < 0.6 else pool[: len(pool) - 3]) for _ in made[child]
                    ]
                for row, value in zip(made[child], chosen, strict=False):
                    row[column] = value
        return made

    def _row(self, table: str, place: int) -> dict[str, str | float | int]:
        rng = self._rng
        profile = rng.choice(self._wanted) if self._wanted and rng.random() < 0.8 else {}
        row: dict[str, str | float | int] = {}
        for column, kind in self._columns[table].items():
            if column == self._keys.get(table):
                row[column] = place + 1 if kind == "number" else f"{column[:3]}{place + 1}"
            elif column in profile and rng.random() < 0.85:
                value = profile[column]
                shift = rng.choice((0, 0, 1, -1))
                row[column] = value if isinstance(value, str) else int(value) + shift
            else:
                row[column] = self._value(column, kind)
        return row

    def _value(self, column: str, kind: str) -> str | int:
        rng = self._rng
        known = [profile[column] for profile in self._wanted if column in profile]
        if kind == "number":
            base = [int(value) for value in known if isinstance(value, float)]
            return rng.choice(base) + rng.randint(-3, 3) if base and rng.random() < 0.5 else rng.randint(1, 60)
        if kind == "time":
            return f"20{rng.randint(10, 12)}-0{rng.randint(1, 3)}-11"
        words = [str(value) for value in known if isinstance(value, str)]
        return rng.choice(words) if words and rng.random() < 0.5 else rng.choice(self._words)
