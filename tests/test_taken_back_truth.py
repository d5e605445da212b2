"""What the truth makes of values of a wrong kind, of answers that take themselves back, and of good ones that only
sound like it."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rewards_examples import ANSWERS, PROMPTS, Prompt, write_store

from tucano.truth import truth

EXTRACTION = PROMPTS["extraction"]
UNSTARRED = replace(EXTRACTION, stars=None)
"""Here a reader has to guess how many stars there were."""

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["low", "negative", "sim"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=4,
)


@pytest.mark.parametrize("prompt", [EXTRACTION, UNSTARRED, PROMPTS["sentiment"], PROMPTS["churn"]])
@given(data=st.data())
def test_any_value_in_any_field_is_judged(prompt: Prompt, data: st.DataObject) -> None:
    fields = json.loads(ANSWERS[prompt.task])
    name = data.draw(st.sampled_from(sorted(fields)))
    answer = json.dumps(fields | {name: data.draw(JSON)}, ensure_ascii=data.draw(st.booleans()))
    assert 0 <= truth(prompt, answer) <= 1  # type: ignore[operator]


@pytest.mark.parametrize("value", [["low"], [], {}, {"a": 1}, 10**400, 1e999, float("nan"), True, None, "\ud83d"])
def test_a_risk_that_is_no_word_is_wrong(value: Any) -> None:
    fields = json.loads(ANSWERS["extraction"])
    right, wrong = (truth(UNSTARRED, json.dumps(fields | risk)) for risk in ({}, {"churn_risk": value}))
    assert wrong < right  # type: ignore[operator]


QUERY = "SELECT estado, SUM(valor) AS total FROM pedidos GROUP BY estado;"
EXPLAINED = "A consulta soma o valor dos pedidos de cada estado."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_store(tmp_path_factory.mktemp("truth"))


DISOWNED = [
    "Na verdade essa query é de outro relatório e não serve aqui.",
    "Esta query foi feita para outra pergunta.",
    "Peguei a consulta de outro projeto.",
    "Copiei de outro lugar; não sei o que faz.",
    "A consulta acima responde a outra coisa.",
    "Esta consulta não responde à pergunta.",
    "O resultado não corresponde ao que foi pedido.",
    "Esse número não tem nada a ver com a pergunta.",
    "Ela devolve um número sem sentido para a sua pergunta.",
    "Não é isso que você pediu.",
    "Essa não é a resposta certa.",
    "A resposta certa seria outra.",
    "Ela falha porque a coluna não existe.",
    "A consulta está com erro.",
    "O resultado está invertido.",
    "Esse SQL é um exemplo de como não fazer.",
    "Esse resultado é mentira.",
    "Inventei os dados.",
    "Foi só um palpite.",
    "Escrevi sem ler a pergunta.",
    "Favor desconsiderar.",
    "Ignore o resultado.",
    "Não use este número.",
    "Não use esta consulta para responder à pergunta.",
    "Não recomendo usar esta consulta.",
    "Sem dúvida, esta consulta está errada.",
    "Cuidado: o resultado sai errado.",
    "É falso que a consulta soma os pedidos.",
]
"""Said of the answer itself."""


@pytest.mark.parametrize("said", DISOWNED)
def test_a_query_that_its_explanation_disowns_is_worth_nothing(folder: Path, said: str) -> None:
    for prose in (said, f"{EXPLAINED} {said}"):
        assert truth(PROMPTS["sql_qa"], f"```sql\n{QUERY}\n```\n{prose}", folder) == 0


@pytest.mark.parametrize(
    "said",
    [
        "Não sei responder. Inventei isto:",
        "Esta é a query de outro relatório:",
        "A consulta abaixo não responde à sua pergunta:",
        "Uma query qualquer:",
        "Versão com defeito, não rode:",
    ],
)
def test_a_query_that_is_disowned_before_it_stands_is_worth_nothing(folder: Path, said: str) -> None:
    assert truth(PROMPTS["sql_qa"], f"{said}\n```sql\n{QUERY}\n```\n{EXPLAINED}", folder) == 0


@pytest.mark.parametrize(
    "remark",
    [
        "-- ERRADA: não usar, responde outra coisa\n",
        "-- não responde à pergunta\n",
        "-- inventada\n",
        "/* Esta consulta está errada. */",
    ],
)
def test_a_query_that_its_own_remark_disowns_is_worth_nothing(folder: Path, remark: str) -> None:
    assert truth(PROMPTS["sql_qa"], f"```sql\n{remark}{QUERY}\n```\n{EXPLAINED}", folder) == 0


def test_what_the_query_does_not_do_is_no_explanation(folder: Path) -> None:
    said = EXPLAINED.replace("consulta soma", "consulta não soma")
    assert truth(PROMPTS["sql_qa"], f"```sql\n{QUERY}\n```\n{said}", folder) == 0


@pytest.mark.parametrize(
    "note",
    [
        "Não use este número como total do ano: ele só cobre o que a pergunta pediu.",
        "Não use este número para fechar a contabilidade, pois os cancelados entram na conta.",
        "Não use COUNT(DISTINCT) aqui, pois cada linha vale uma.",
        "Não confie na coluna status para saber se houve pagamento.",
        "Se o resultado parecer errado, confira se o mês está no formato AAAA-MM.",
        "Se o estado estiver com a sigla errada, não sai nada.",
        "É fácil buscar na tabela errada: preço está em itens e valor pago em pagamentos.",
        "Cuidado para não usar a tabela errada: o dado está nas tabelas acima.",
        "Sem o filtro, o resultado sairia errado.",
        "Com o JOIN errado, cada pedido entraria duas vezes.",
        "A consulta ignora essas linhas.",
        "Ignore os centavos: o valor sai arredondado.",
        "Desconsidere o frete: ele não entra.",
        "Não vale para outros anos.",
        "Não serve para medir o lucro, porque o frete não está aí.",
        "Ela não conta cancelados nem pedidos em trânsito.",
        "Não mostra os nomes.",
        "Não funciona com a data completa; use AAAA-MM.",
        "Cada pagamento é de um pedido, não de outro.",
        "Não deve ser usada para comparar anos.",
    ],
)
def test_what_a_query_is_not_for_may_be_said(folder: Path, note: str) -> None:
    assert truth(PROMPTS["sql_qa"], f"```sql\n{QUERY}\n```\n{EXPLAINED} {note}", folder) == pytest.approx(1)


@pytest.mark.parametrize("remark", [f"/* {EXPLAINED} */\n", "/* SP e RJ */ -- por estado\n", "/* um\n dois */\n\n"])
def test_a_remark_in_front_of_a_query_is_no_fault(folder: Path, remark: str) -> None:
    assert truth(PROMPTS["sql_qa"], f"```sql\n{remark}{QUERY}\n```\n{EXPLAINED}", folder) == pytest.approx(1)


RANKING = "SELECT estado, SUM(valor) AS total FROM pedidos GROUP BY estado ORDER BY total DESC LIMIT 1;"
NAME = "SELECT estado FROM pedidos GROUP BY estado ORDER BY SUM(valor) {} LIMIT 1;"


@pytest.mark.parametrize(
    ("question", "query", "least", "most"),
    [
        ("Quais 2 estados têm o maior valor?", NAME.format("DESC"), 1.0, 1.0),
        ("Em que estado o valor foi maior?", NAME.format("DESC"), 1.0, 1.0),
        ("Quais 2 estados têm o maior valor?", NAME.format("ASC"), 0.0, 0.3),
        ("Quais 2 estados têm o maior valor, e quanto é?", NAME.format("DESC"), 0.0, 0.3),
        ("Liste os estados com o maior valor, com seus totais.", NAME.format("DESC"), 0.0, 0.3),
    ],
)
def test_names_alone_answer_who_asks_which_ones(
    folder: Path, question: str, query: str, least: float, most: float
) -> None:
    prompt = replace(PROMPTS["sql_qa"], user=question, reference=PROMPTS["sql_qa"].reference | {"sql": RANKING})
    answer = f"```sql\n{query}\n```\nA consulta mostra o estado em que o valor dos pedidos é maior."
    assert least <= truth(prompt, answer, folder) <= most  # type: ignore[operator]
