"""What the truth makes of queries that leave the answer open, and of explanations of something else."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from rewards_examples import Prompt

from tucano.truth import truth
from tucano.truth.wording.places import tells_of_another
from tucano.truth.wording.sql_hedges import is_hedged

COUNT = "SELECT COUNT(*) FROM pagamentos WHERE valor>100"
REVENUE = "SELECT ROUND(SUM(preco),2) FROM itens WHERE categoria='pet'"
RANKING = "SELECT mes, SUM(preco) AS receita FROM itens GROUP BY mes ORDER BY receita DESC LIMIT 2"


@pytest.mark.parametrize(
    ("gold", "query"),
    [
        (COUNT, "SELECT SUM(valor>=100), SUM(valor>100), SUM(valor<100), SUM(valor<=100) FROM pagamentos"),
        (COUNT, "SELECT SUM(valor>=100), SUM(valor>100) FROM pagamentos"),
        (COUNT, "SELECT COUNT(*), SUM(valor>100) FROM pagamentos"),
        (COUNT, "SELECT COUNT(*) FILTER (WHERE valor>100), COUNT(*) FROM pagamentos"),
        (COUNT, f"SELECT ({COUNT}), ({COUNT.replace('>', '>=')})"),
        (COUNT, "WITH a AS (SELECT SUM(valor>=100) AS p, SUM(valor>100) AS q FROM pagamentos) SELECT p, q FROM a"),
        (COUNT, "WITH a AS (SELECT SUM(valor>=100) AS p, SUM(valor>100) AS q FROM pagamentos) SELECT * FROM a"),
        (COUNT, "SELECT a.n, b.n FROM (SELECT COUNT(*) n FROM pagamentos) a, (SELECT MAX(valor) n FROM pagamentos) b"),
        (REVENUE, "SELECT COUNT(*), ROUND(SUM(preco),2), ROUND(AVG(preco),2), MAX(preco) FROM itens"),
        (REVENUE, "SELECT SUM(preco), AVG(preco) FROM itens WHERE categoria='pet'"),
        (RANKING, "SELECT mes, SUM(preco), AVG(preco), MAX(preco) FROM itens GROUP BY mes ORDER BY mes"),
    ],
)
def test_a_query_that_measures_several_things_is_hedged(gold: str, query: str) -> None:
    assert is_hedged(query, gold)


@pytest.mark.parametrize(
    ("gold", "query"),
    [
        (COUNT, "SELECT tipo, estado, COUNT(*) FROM pagamentos WHERE valor>100 GROUP BY tipo, estado"),
        (COUNT, "SELECT COUNT(*), AVG(valor) FROM pagamentos WHERE valor>100"),
        (REVENUE, "SELECT categoria, SUM(preco) AS receita, COUNT(*) FROM itens GROUP BY categoria"),
        (
            RANKING,
            "SELECT mes, SUM(preco) AS receita, COUNT(*), AVG(frete) FROM itens GROUP BY mes ORDER BY receita DESC",
        ),
        (RANKING, "SELECT COUNT(*), SUM(preco), mes, AVG(frete) FROM itens GROUP BY mes ORDER BY 2 DESC LIMIT 2"),
        (RANKING, "SELECT mes, COUNT(*), SUM(preco) FROM itens GROUP BY mes ORDER BY SUM(preco) DESC LIMIT 2"),
    ],
)
def test_a_superfluous_column_is_none(gold: str, query: str) -> None:
    assert not is_hedged(query, gold)


PROSE = "Conta os pagamentos de valor acima de cem reais, um por linha da tabela."
NAMED = COUNT.replace("COUNT(*)", "COUNT(*) AS total")
Earned = Callable[..., float]


@pytest.fixture
def earned(tmp_path: Path) -> Earned:
    """What an answer earns; of a query alone the one that shows it in a fence, with an explanation."""
    with closing(sqlite3.connect(tmp_path / "loja.sqlite")) as shop:
        shop.execute("CREATE TABLE pagamentos(mes TEXT, valor REAL)")
        rows = [("01", 50), ("01", 100.4), ("02", 150.3), ("02", 200.3), ("03", 20)]
        shop.executemany("INSERT INTO pagamentos VALUES (?, ?)", rows)
        shop.commit()

    def earned(answer: str, gold: str = COUNT, question: str = "Quantos pagamentos acima de 100?") -> float:
        prompt = Prompt("sql_qa", question, None, {"sql": gold, "database": "loja.sqlite"})
        shown = answer if "```" in answer else f"```sql\n{answer};\n```\n{PROSE}"
        return truth(prompt, shown, tmp_path) or 0.0

    return earned


def test_a_hedged_query_earns_what_a_wrong_one_does(earned: Earned) -> None:
    assert earned(NAMED) > 0.95
    assert earned("SELECT SUM(valor>=100), SUM(valor>100), SUM(valor<100), SUM(valor<=100) FROM pagamentos") <= 0.25


@pytest.mark.parametrize("result", ["```\ntotal\n123.45\n```", "```text\n| total |\n| 3 |\n```", "```\n42\n```"])
def test_figures_claimed_as_the_result_neither_help_nor_harm(earned: Earned, result: str) -> None:
    assert earned(f"```sql\n{NAMED}\n```\n{PROSE}\n\n{result}") == earned(NAMED)


@pytest.mark.parametrize(
    "second", ["```sql\nDELETE FROM pagamentos\n```", f"```\n{NAMED}\n```", "```sql\nVACUUM\n```", "```sql\nx\n```"]
)
def test_a_second_statement_is_no_result(earned: Earned, second: str) -> None:
    assert earned(f"```sql\n{NAMED}\n```\n{PROSE}\n\n{second}") == 0


MEAN = "SELECT ROUND(AVG(valor),2) AS media FROM pagamentos"


def test_other_decimals_are_those_of_the_result(earned: Earned) -> None:
    assert earned(MEAN.replace("2)", "0)"), MEAN) == pytest.approx(0.85)
    for wrong in (
        MEAN.replace("(valor)", "(ROUND(valor,0))"),
        "SELECT AVG(ROUND(valor)) AS media FROM pagamentos",
        "SELECT ROUND(SUM(ROUND(valor))/COUNT(*),2) AS media FROM pagamentos",
        "SELECT AVG(v) AS media FROM (SELECT ROUND(valor) AS v FROM pagamentos)",
        "WITH a AS (SELECT ROUND(valor) AS v FROM pagamentos) SELECT ROUND(AVG(v),2) AS media FROM a",
    ):
        assert earned(wrong, MEAN) <= 0.25


BY_MONTH = "SELECT mes, SUM(valor) AS receita FROM pagamentos GROUP BY mes ORDER BY receita DESC LIMIT 2"


@pytest.mark.parametrize("asks", ["Quais os 2 meses", "Liste os 2 meses", "Mostre os 2 meses", "Traga os 2 meses"])
def test_who_asks_for_names_gets_names(earned: Earned, asks: str) -> None:
    names = "SELECT mes FROM pagamentos GROUP BY mes ORDER BY SUM(valor) DESC LIMIT 2"
    assert earned(names, BY_MONTH, f"{asks} com maior receita.") > 0.95
    assert earned(names.replace("DESC", "ASC"), BY_MONTH, f"{asks} com maior receita.") <= 0.25


QUESTION = "Quantos pedidos de SP em 02/2018?"
QUERY = "SELECT COUNT(*) FROM pedidos WHERE estado='SP' AND mes='2018-02'"


@pytest.mark.parametrize(
    "prose",
    [
        "Vale para MT.", "Conta os pedidos para PA.", "Conta os pedidos para o Mato Grosso.", "Conta os do Pará.",
        "Conta os do Mato Grosso do Sul.", "Conta os pedidos de março de 2018.", "Conta os pedidos em maio.",
        "Conta os pedidos de mar/2018.", "Conta os de 3/2018.", "Conta os do mês 3.", "Conta os de fevereiro de 2017.",
    ],
)  # fmt: skip
def test_another_state_or_month_is_seen(prose: str) -> None:
    assert tells_of_another(prose, QUESTION, QUERY)


@pytest.mark.parametrize(
    "prose",
    [
        "Conta os pedidos para SP.", "Conta os pedidos de São Paulo em fevereiro de 2018.", "Conta os de fev/2018.",
        "Conta os pedidos entre 01/02/2018 e 01/03/2018.", "Um marco importante.", "Conta os pedidos de 2018-02.",
        "Para o ano de 2018, conta o que se pede.", "Soma tudo do mês 02.",
    ],
)  # fmt: skip
def test_the_state_and_month_of_the_question_are_no_others(prose: str) -> None:
    assert not tells_of_another(prose, QUESTION, QUERY)
