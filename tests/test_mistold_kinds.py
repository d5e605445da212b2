"""A right query beside words about another category, status or way of payment than it asks for: both judges take some
of its credit, each by itself.
"""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from rewards_examples import Prompt

from rewards import load_reward_set
from tucano.truth import truth
from tucano.truth.wording.values import MOST_VALUES, tells_of_another_value

TOYS = "SELECT COUNT(*) FROM itens JOIN produtos USING(produto_id) WHERE categoria='brinquedos'"
PAID = "SELECT COUNT(*) FROM pagamentos WHERE tipo IN ('boleto', 'pix')"
RANKING = "SELECT categoria, COUNT(*) AS n FROM produtos GROUP BY categoria ORDER BY n DESC LIMIT 1"
QUESTIONS = {
    TOYS: "Quantos itens de brinquedos vendemos?",
    PAID: "Quantos pagamentos por boleto ou pix?",
    RANKING: "Qual categoria tem mais produtos?",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shop")
    with closing(sqlite3.connect(folder / "loja.sqlite")) as store:
        store.executescript("""
            CREATE TABLE produtos(produto_id INTEGER, categoria TEXT, nome TEXT);
            CREATE TABLE itens(produto_id INTEGER, preco REAL);
            CREATE TABLE pagamentos(tipo TEXT);
            INSERT INTO produtos VALUES (1, 'brinquedos', 'a'), (2, 'automotivo', 'b'), (3, 'cama_mesa_banho', 'c'),
                (4, 'automotivo', 'd'), (5, NULL, 'e');
            INSERT INTO itens VALUES (1, 10), (1, 12), (2, 90), (3, 40);
            INSERT INTO pagamentos VALUES ('boleto'), ('boleto'), ('pix'), ('cartão de crédito'), ('voucher');
        """)
        store.commit()
    return folder


def earned(sql: str, prose: str, shop: Path) -> tuple[float, float]:
    """(reward, truth)"""
    prompt = Prompt("sql_qa", QUESTIONS[sql], None, {"sql": sql, "database": "loja.sqlite"})
    answer = f"```sql\n{sql};\n```\n{prose}"
    return load_reward_set("grounded", shop).score(prompt, answer).total, truth(prompt, answer, shop) or 0.0


@pytest.mark.parametrize(
    ("sql", "prose"),
    [
        (TOYS, "A consulta conta os itens de automotivo que vendemos na loja ao todo."),
        (TOYS, "A consulta conta os itens de cama, mesa, banho: cama mesa banho na loja ao todo."),
        (PAID, "A consulta conta os pagamentos feitos com voucher, um por linha da tabela."),
        (PAID, "A consulta conta os pagamentos com Cartão de crédito, um por linha da tabela."),
    ],
)
def test_another_kind_costs_in_both(sql: str, prose: str, shop: Path) -> None:
    reward, true = earned(sql, prose, shop)
    assert reward < 0.75
    assert true <= 0.5


@pytest.mark.parametrize(
    ("sql", "prose"),
    [
        (TOYS, "A consulta conta os itens de brinquedos que vendemos na loja ao todo."),
        (TOYS, "A consulta conta os itens que vendemos nesta categoria, um por linha da tabela."),
        (TOYS, "A consulta conta os itens de brinquedos, e não os da categoria automotivo."),
        (PAID, "A consulta conta os pagamentos feitos com boleto e os feitos com pix."),
        (RANKING, "A consulta conta os produtos de cada categoria: automotivo vem na frente das outras."),
    ],
)
def test_the_kind_that_was_asked_costs_nothing(sql: str, prose: str, shop: Path) -> None:
    reward, true = earned(sql, prose, shop)
    assert reward > 0.85
    assert true > 0.85


def test_a_column_of_many_values_is_no_list_of_kinds(tmp_path: Path) -> None:
    def tells(values: int) -> bool:
        store = tmp_path / f"{values}.sqlite"
        with closing(sqlite3.connect(store)) as shop:
            shop.execute("CREATE TABLE clientes(nome TEXT)")
            shop.executemany("INSERT INTO clientes VALUES (?)", [(f"pessoa{number}",) for number in range(values)])
            shop.commit()
        query = "SELECT COUNT(*) FROM clientes WHERE nome = 'pessoa0'"
        return tells_of_another_value("Conta os pedidos de pessoa1.", "Quantos pedidos de pessoa0?", query, store)

    assert tells(MOST_VALUES)
    assert not tells(MOST_VALUES + 1)


def test_a_query_that_cannot_be_read_tells_nothing(tmp_path: Path) -> None:
    assert not tells_of_another_value("Conta os de moda.", "?", "SELECT FROM WHERE ((", tmp_path / "none.sqlite")
