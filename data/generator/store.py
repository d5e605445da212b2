"""The SQLite store that SQL questions are about, and what can be asked of it.

Six tables, the same whether the rows are generated or come from Olist:

    clientes(cliente_id, estado)                           pedidos(pedido_id, cliente_id, mes 'AAAA-MM', status,
    dias_atraso)
    produtos(produto_id, categoria)                        itens(pedido_id, produto_id, preco, frete)
    pagamentos(pedido_id, tipo, parcelas, valor)           avaliacoes(pedido_id, nota)

`dias_atraso` counts days after the promised date: negative when early, NULL when not delivered.
"""

import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

from data.generator.words import CATEGORIES, MONTHS, PAYMENTS, STATES

SCHEMA = """
CREATE TABLE clientes(cliente_id INTEGER PRIMARY KEY, estado TEXT);
CREATE TABLE produtos(produto_id INTEGER PRIMARY KEY, categoria TEXT);
CREATE TABLE pedidos(pedido_id INTEGER PRIMARY KEY, cliente_id INTEGER, mes TEXT, status TEXT, dias_atraso INTEGER);
CREATE TABLE itens(pedido_id INTEGER, produto_id INTEGER, preco REAL, frete REAL);
CREATE TABLE pagamentos(pedido_id INTEGER, tipo TEXT, parcelas INTEGER, valor REAL);
CREATE TABLE avaliacoes(pedido_id INTEGER, nota INTEGER);
CREATE INDEX itens_pedido ON itens(pedido_id);
CREATE INDEX pagamentos_pedido ON pagamentos(pedido_id);
CREATE INDEX avaliacoes_pedido ON avaliacoes(pedido_id);
"""
ORDERS = 400
Row = tuple[Any, ...]


@dataclass
class Tables:
    """Rows per table, in the column order of `SCHEMA`."""

    clientes: list[Row] = field(default_factory=list)
    produtos: list[Row] = field(default_factory=list)
    pedidos: list[Row] = field(default_factory=list)
    itens: list[Row] = field(default_factory=list)
    pagamentos: list[Row] = field(default_factory=list)
    avaliacoes: list[Row] = field(default_factory=list)


def write_store(path: Path, tables: Tables) -> None:
    """A new database file; the same rows give the same bytes."""
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;" + SCHEMA)
        for table, rows in vars(tables).items():
            if rows:
                connection.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * len(rows[0]))})", rows)
        connection.commit()
        connection.execute("VACUUM")


def generated_tables(rng: Random) -> Tables:
    """A shop of one year. Big states and some categories sell more, so that rankings have an answer."""
    tables = Tables(
        produtos=[(number, CATEGORIES[number % len(CATEGORIES)]) for number in range(1, 4 * len(CATEGORIES) + 1)]
    )
    for order in range(1, ORDERS + 1):
        state = rng.choices(STATES, range(2 * len(STATES), 0, -2))[0]
        status = rng.choices(("entregue", "enviado", "cancelado"), (84, 7, 9))[0]
        delay = rng.choices((rng.randint(-12, 0), rng.randint(1, 20)), (75, 25))[0] if status == "entregue" else None
        tables.clientes.append((order, state))
        tables.pedidos.append((order, order, rng.choice(MONTHS), status, delay))
        total = 0.0
        for _ in range(rng.choices((1, 2, 3), (75, 18, 7))[0]):
            product = min(rng.randint(1, len(tables.produtos)), rng.randint(1, len(tables.produtos)))
            price = round(rng.lognormvariate(4.6, 0.7), 2)
            freight = round(rng.uniform(8, 45), 2)
            total += price + freight
            tables.itens.append((order, product, price, freight))
        payment = rng.choices(PAYMENTS, (70, 18, 5, 7))[0]
        tables.pagamentos.append((order, payment, rng.randint(1, 10) if payment == "cartão" else 1, round(total, 2)))
        late = delay is None or delay > 0
        tables.avaliacoes.append(
            (order, rng.choices((1, 2, 3, 4, 5), (40, 20, 15, 15, 10) if late else (4, 4, 12, 30, 50))[0])
        )
    return tables


class Store:
    """A finished store, opened read-only: its values fill the questions' slots, its answers the explanations."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        self.states = self._values(
            "SELECT estado FROM clientes WHERE estado IS NOT NULL GROUP BY 1 HAVING COUNT(*) > 3 "
            "ORDER BY COUNT(*) DESC LIMIT 20"
        )
        self.categories = self._values(
            "SELECT categoria FROM produtos JOIN itens USING(produto_id) WHERE categoria IS NOT NULL "
            "GROUP BY 1 HAVING COUNT(*) > 3 ORDER BY COUNT(*) DESC, 1 LIMIT 30"
        )
        self.months = self._values("SELECT mes FROM pedidos GROUP BY 1 HAVING COUNT(*) > 3 ORDER BY 1")
        self.payments = self._values(
            "SELECT tipo FROM pagamentos WHERE tipo IS NOT NULL GROUP BY 1 HAVING COUNT(*) > 3 ORDER BY 1"
        )
        self.rows = lru_cache(maxsize=None)(self._rows)

    def close(self) -> None:
        self._connection.close()

    def _rows(self, sql: str) -> list[Row]:
        """All rows of a query; raises `sqlite3.Error` for a wrong one."""
        return self._connection.execute(sql).fetchall()

    def _values(self, sql: str) -> list[str]:
        return [row[0] for row in self._rows(sql)]
