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
PET = "SELECT COUNT(*) FROM itens JOIN produtos USING(produto_id) WHERE categoria='pet' AND preco>5"
GONE = "SELECT COUNT(*) FROM pedidos WHERE status='cancelado' AND mes='2018-05'"
LEFT_OUT = "SELECT status, COUNT(*) FROM pedidos WHERE status<>'entregue' GROUP BY status"
NEITHER = "SELECT COUNT(*) FROM pedidos WHERE status NOT IN ('entregue')"
CASES = "SELECT SUM(CASE WHEN status='cancelado' THEN 1 ELSE 0 END) FROM pedidos"
ABOVE = "SELECT tipo FROM pagamentos GROUP BY tipo HAVING COUNT(*)>(SELECT COUNT(*) FROM pagamentos WHERE tipo='pix')"
CARD = "SELECT COUNT(*) FROM pagamentos WHERE tipo='cartao_credito'"
BOTH = "SELECT COUNT(*) FROM produtos WHERE categoria='alimentos bebidas'"
RANKING = "SELECT categoria, COUNT(*) AS n FROM produtos GROUP BY categoria ORDER BY n DESC LIMIT 1"
QUESTIONS = {
    TOYS: "Quantos itens de brinquedos vendemos?",
    PAID: "Quantos pagamentos por boleto ou pix?",
    PET: "Quantos itens da categoria pet custam mais de 5 reais?",
    GONE: "Quantos pedidos foram cancelados em 05/2018?",
    LEFT_OUT: "Quantos pedidos de cada status, fora os entregues?",
    NEITHER: "Quantos pedidos ainda não foram entregues?",
    CASES: "Quantos pedidos foram cancelados, de todos?",
    ABOVE: "Que forma de pagamento passa do pix?",
    CARD: "Quantos pagamentos com cartão de crédito?",
    BOTH: "Quantos produtos de alimentos bebidas?",
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
                (4, 'automotivo', 'd'), (5, NULL, 'e'), (6, 'pet', 'f'), (7, 'alimentos', 'g'), (8, 'bebidas', 'h'),
                (9, 'alimentos bebidas', 'i'), (10, 'moda', 'j');
            CREATE TABLE pedidos(status TEXT, mes TEXT);
            INSERT INTO pedidos VALUES ('entregue', '2018-05'), ('cancelado', '2018-05'), ('enviado', '2018-04');
            INSERT INTO itens VALUES (1, 10), (1, 12), (2, 90), (3, 40);
            INSERT INTO pagamentos VALUES ('boleto'), ('boleto'), ('pix'), ('cartao_credito'), ('voucher');
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
        (PET, "A consulta conta os itens de automotivo que custam mais de cinco reais na loja."),
        (GONE, "A consulta conta os pedidos entregues em 05/2018, um por linha da tabela."),
        (CARD, "A consulta conta os pagamentos com boleto, um por linha da tabela da loja."),
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
        (PET, "A consulta conta os itens da categoria pet, e não os da categoria automotivo."),
        (GONE, "A consulta conta os pedidos cancelados em 05/2018, e não os de status entregue."),
        (GONE, "A consulta conta o que foi desfeito em 05/2018, sem os pedidos entregues."),
        (LEFT_OUT, "A consulta conta os pedidos de cada status: enviado e cancelado, um de cada."),
        (NEITHER, "A consulta conta os pedidos com status enviado ou cancelado, que são dois."),
        (CASES, "A consulta soma um por pedido desfeito, de todos: entregue, enviado e os outros."),
        (ABOVE, "A consulta conta os pagamentos de cada forma; a única que passa é boleto."),
        (CARD, "A consulta conta os pagamentos com cartão de crédito, sem boleto nem voucher."),
        (BOTH, "A consulta conta os produtos de alimentos e bebidas, um por linha da tabela."),
        (TOYS, "A consulta conta o que vendemos para crianças, de todo modo, na nossa loja."),
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
