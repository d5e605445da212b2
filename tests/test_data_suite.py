"""The further stores: other contents, and all that holds in the first store holds in them."""

import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random

import pytest
from sql_stores import Judge, asked, of_reward, of_truth

from data.generator.questions import AMOUNTS
from data.generator.store import Tables
from data.generator.suite import FURTHER, further_tables
from data.sources.synthetic import SyntheticSource
from tucano.files.prompts import PromptFiles

HOLDS = {
    "an order's client": "SELECT 1 FROM pedidos WHERE cliente_id NOT IN (SELECT cliente_id FROM clientes)",
    "an item's order": "SELECT 1 FROM itens WHERE pedido_id NOT IN (SELECT pedido_id FROM pedidos)",
    "an item's product": "SELECT 1 FROM itens WHERE produto_id NOT IN (SELECT produto_id FROM produtos)",
    "a payment's order": "SELECT 1 FROM pagamentos WHERE pedido_id NOT IN (SELECT pedido_id FROM pedidos)",
    "a score's order": "SELECT 1 FROM avaliacoes WHERE pedido_id NOT IN (SELECT pedido_id FROM pedidos)",
    "a payment is the sum of the items": (
        "SELECT 1 FROM pagamentos JOIN (SELECT pedido_id, SUM(preco + frete) AS total FROM itens GROUP BY 1)"
        " USING(pedido_id) WHERE ABS(valor - total) > 0.001"
    ),
    "only cards are paid in instalments": "SELECT 1 FROM pagamentos WHERE tipo <> 'cartão' AND parcelas > 1",
    "only what was delivered has a delay": "SELECT 1 FROM pedidos WHERE (status = 'entregue') <> (dias_atraso IS NOT NULL)",
    "amounts are positive": "SELECT 1 FROM itens WHERE preco <= 0 OR frete <= 0",
    "scores are 1 to 5": "SELECT 1 FROM avaliacoes WHERE nota NOT BETWEEN 1 AND 5",
}  # fmt: skip
OCCURS = {
    "an amount that is asked for, exactly": f"SELECT 1 FROM pagamentos WHERE valor IN {AMOUNTS}",
    "a cent more": f"SELECT 1 FROM pagamentos WHERE valor - 0.01 IN {AMOUNTS} OR valor IN (100.01, 200.01)",
    "a client with two orders": "SELECT 1 FROM pedidos GROUP BY cliente_id HAVING COUNT(*) > 1",
    "a client without orders": "SELECT 1 FROM clientes WHERE cliente_id NOT IN (SELECT cliente_id FROM pedidos)",
    "an order without a review": "SELECT 1 FROM pedidos WHERE pedido_id NOT IN (SELECT pedido_id FROM avaliacoes)",
    "an order with two": "SELECT 1 FROM avaliacoes GROUP BY pedido_id HAVING COUNT(*) > 1",
    "a client who cancels twice in a month": (
        "SELECT 1 FROM pedidos WHERE status = 'cancelado' GROUP BY cliente_id, mes HAVING COUNT(*) > 1"
    ),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> PromptFiles:
    folder = tmp_path_factory.mktemp("suite")
    with closing(SyntheticSource(folder, 7)):
        return PromptFiles(folder)


def rows(store: Path, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(store)) as connection:
        return connection.execute(sql).fetchall()


@pytest.mark.parametrize("fault", HOLDS)
def test_what_holds_in_the_first_store_holds_in_all(files: PromptFiles, fault: str) -> None:
    assert len(files.stores) == 1 + FURTHER
    assert [rows(store, HOLDS[fault]) for store in files.stores] == [[]] * (1 + FURTHER)


@pytest.mark.parametrize("what", OCCURS)
def test_what_tells_wrong_queries_apart_occurs(files: PromptFiles, what: str) -> None:
    assert all(rows(store, OCCURS[what]) for store in files.stores[1:])


def test_every_delay_and_number_of_instalments_that_is_asked_for_occurs(files: PromptFiles) -> None:
    for store in files.stores[1:]:
        assert {(delay,) for delay in range(10)} <= set(rows(store, "SELECT DISTINCT dias_atraso FROM pedidos"))
        assert {(parts,) for parts in range(1, 10)} <= set(rows(store, "SELECT DISTINCT parcelas FROM pagamentos"))


def test_no_two_states_have_the_same_numbers_of_orders(files: PromptFiles) -> None:
    count = "SELECT estado, COUNT(*) FROM pedidos JOIN clientes USING(cliente_id) GROUP BY 1"
    counts = [{state: number for state, number in rows(store, count)} for store in files.stores]
    states = {state for found in counts for state in found}
    assert len({tuple(found.get(state, 0) for found in counts) for state in states}) == len(states)


_ITEMS = "FROM itens JOIN produtos USING(produto_id) JOIN pedidos USING(pedido_id) JOIN clientes USING(cliente_id)"
LUCKY = {
    "SELECT COUNT(*) FROM pedidos WHERE status='cancelado' AND mes='2018-01'": (
        "SELECT COUNT(DISTINCT cliente_id) FROM pedidos WHERE status='cancelado' AND mes='2018-01'",
        "SELECT COUNT(*) FROM pedidos WHERE status='cancelado' AND mes<='2018-01'",
        "SELECT COUNT(*) FROM pedidos WHERE status='cancelado' AND mes LIKE '%-01'",
    ),
    "SELECT COUNT(*) FROM pedidos WHERE mes='2018-12'": ("SELECT COUNT(*) FROM pedidos WHERE mes>='2018-12'",),
    f"SELECT ROUND(SUM(preco),2) {_ITEMS} WHERE categoria='brinquedos'": (
        f"SELECT ROUND(SUM(DISTINCT preco),2) {_ITEMS} WHERE categoria='brinquedos'",
        f"SELECT ROUND(SUM(preco),2) {_ITEMS} WHERE categoria='brinquedos' AND mes LIKE '2018%'",
    ),
    f"SELECT ROUND(AVG(frete),2) {_ITEMS} WHERE estado='RS' AND mes='2018-11'": (
        f"SELECT ROUND(AVG(DISTINCT frete),2) {_ITEMS} WHERE estado='RS' AND mes='2018-11'",
    ),
    "SELECT COUNT(*) FROM pedidos JOIN clientes USING(cliente_id) WHERE estado='MG'": (
        "SELECT COUNT(*) FROM pedidos JOIN clientes USING(cliente_id) WHERE estado LIKE 'M%'",
    ),
}  # fmt: skip
"""Gold queries, and others that are right only in a shop of one year, without repeats, with few states."""


@pytest.mark.parametrize("judge", [of_reward, of_truth])
@pytest.mark.parametrize(("gold", "query"), [(gold, query) for gold in LUCKY for query in LUCKY[gold]])
def test_what_one_year_and_few_states_hide_is_told_apart(
    files: PromptFiles, judge: Judge, gold: str, query: str
) -> None:
    assert judge(asked(gold), gold, files.folder) and not judge(asked(gold), query, files.folder)


def test_real_tables_have_gaps() -> None:
    """No state, no category, no items, no payment, two payments, a missing delay: as in Olist."""
    tables = Tables(
        clientes=[(1, None), (2, "SP"), (3, "RJ")],
        produtos=[(1, None), (2, "pet")],
        pedidos=[(1, 1, "2018-01", "entregue", None), (2, 2, "2018-02", None, 3), (3, 3, "2018-02", "enviado", None)],
        itens=[(1, 1, 10, 2), (2, 2, None, 3.5)],
        pagamentos=[(2, "voucher", 1, 5), (2, "cartão", None, 6)],
        avaliacoes=[(2, 5)],
    )
    made = further_tables(tables, AMOUNTS, Random(3))
    assert {state for _, state in made.clientes} == {None, "SP", "SX", "RJ", "RX"} and made.produtos[0] == (1, None)
    assert {(payment[1], payment[2]) for payment in made.pagamentos} == {("voucher", 1), ("cartão", None)}
    assert {order[4] for order in made.pedidos} <= {None, *range(11)}
