"""Answers in the styles of other writers, as people rate them: what both judges make of each kind, by examples of our own
wording. The rated sets hold none of these texts.
"""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from rewards_examples import FIELDS, PROMPTS, Prompt
from sql_stores import write_stores

from rewards import load_reward_set
from rewards.parsing.advice import says_nothing
from rewards.parsing.sql_near import by_order
from rewards.wording.complaints import is_of_kind
from tucano.truth import truth
from tucano.truth.wording.complaints import is_told_otherwise
from tucano.truth.wording.sql_meant import once_per_order
from tucano.truth.wording.substance import substance

Judge: TypeAlias = Callable[[Prompt, str], float]
COUNT = "SELECT COUNT(*) FROM pedidos WHERE estado = 'SP'"
NAMED = "SELECT COUNT(*) AS pedidos FROM pedidos WHERE estado = 'SP'"
MEAN = "SELECT ROUND(AVG(valor), 2) FROM pedidos WHERE estado = 'SP'"
PROSE = "Conta os pedidos de quem mora em São Paulo, um por linha da tabela."


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_stores(tmp_path_factory.mktemp("styles"))
    with closing(sqlite3.connect(folder / "loja.sqlite")) as shop:
        shop.executescript("""
            CREATE TABLE itens(pedido_id INTEGER, preco REAL); CREATE TABLE avaliacoes(pedido_id INTEGER, nota INTEGER);
            INSERT INTO itens VALUES (1, 5), (1, 7), (1, 9), (2, 8); INSERT INTO avaliacoes VALUES (1, 5), (2, 2);
        """)
    return folder


@pytest.fixture(params=["grounded", "truth"])
def judge(request: pytest.FixtureRequest, stores: Path) -> Judge:
    if request.param == "truth":
        return lambda prompt, text: truth(prompt, text, stores) or 0.0
    rewards = load_reward_set("grounded", stores)
    return lambda prompt, text: rewards.score(prompt, text).total


def asked(gold: str, database: str = "store.sqlite", question: str = "Quantos pedidos de SP?") -> Prompt:
    return Prompt("sql_qa", question, None, {"sql": gold, "database": database})


def query(sql: str, prose: str = PROSE) -> str:
    return f"```sql\n{sql};\n```\n{prose}"


@pytest.mark.parametrize(
    ("gold", "sql", "least", "most"),
    [
        (COUNT, NAMED, 0.95, 1.0),
        (COUNT, "-- de São Paulo\n" + NAMED, 0.95, 1.0),
        (COUNT, COUNT, 0.85, 0.94),  # the number has no name
        (COUNT, "SELECT estado, COUNT(*) FROM pedidos WHERE estado = 'SP' GROUP BY estado", 0.6, 0.85),
        (MEAN, "SELECT estado, AVG(valor), COUNT(*) FROM pedidos WHERE estado = 'SP' GROUP BY estado", 0.6, 0.85),
        (MEAN, "SELECT ROUND(AVG(valor)) FROM pedidos WHERE estado = 'SP'", 0.6, 0.85),
        (COUNT, "SELECT estado, COUNT(*) FROM pedidos WHERE estado = 'RJ' GROUP BY estado", 0.0, 0.3),  # the filter
        (COUNT, "SELECT estado, COUNT(*) FROM pedidos GROUP BY estado", 0.0, 0.3),  # other rows too
        (COUNT, "SELECT 1, 2, 3, 4, 5, COUNT(*) FROM pedidos WHERE estado = 'SP'", 0.0, 0.3),  # a table to search in
        (COUNT, "SELECT COUNT(*) FROM pedidos", 0.01, 0.3),
    ],
)
def test_further_columns_and_other_decimals_are_a_blemish(
    judge: Judge, gold: str, sql: str, least: float, most: float
) -> None:
    assert least <= judge(asked(gold), query(sql)) <= most


def test_a_right_query_needs_an_explanation_and_that_of_its_own_question(judge: Judge) -> None:
    whole, bare = judge(asked(COUNT), query(NAMED)), judge(asked(COUNT), query(NAMED, ""))
    other = judge(asked(COUNT), query(COUNT, "A consulta conta os pedidos dos clientes de MG, um por um."))
    assert whole > 0.95 and 0.5 <= bare <= 0.7 and 0.4 <= other <= 0.7


def test_a_mean_of_ratings_may_count_each_order_once(judge: Judge) -> None:
    """Order 1 has three items: 4.25 over the items, 3.5 over the orders."""
    gold = "SELECT ROUND(AVG(nota),2) FROM itens JOIN avaliacoes USING(pedido_id)"
    once = "SELECT AVG(nota) FROM avaliacoes WHERE pedido_id IN (SELECT pedido_id FROM itens)"
    prompt = asked(gold, "loja.sqlite", "Qual a nota média dos produtos?")
    prose = "Tira a média das notas dos pedidos que têm algum item."
    assert judge(prompt, query(gold, prose)) > 0.85
    assert judge(prompt, query(once, prose)) > 0.85
    assert judge(prompt, query("SELECT MAX(nota) FROM avaliacoes", prose)) <= 0.3
    assert by_order(COUNT) is None and once_per_order(COUNT) is None


PUSH = PROMPTS["push"]


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("Trânsito parado, podcast em dia: fone de ouvido com 20% OFF. Qual episódio falta?", 0.75, 1.0),
        ("O metrô fica mais curto com música: seu fone de ouvido chega com 20% de desconto", 0.95, 1.0),
        ("Oi! Seu fone de ouvido está com 20% de desconto. Aproveite!", 0.85, 0.96),  # of any product
        (
            "Faz tempo que você não passa por aqui, e separamos um presente para os seus dias de viagem: o fone de ouvido"
            " que você tanto queria está com 20% de desconto, é só escolher a cor no site.",
            0.2,
            0.55,
        ),
        (
            "Prezado cliente, comunicamos que o fone de ouvido está com 20% de desconto. Atenciosamente, a loja.",
            0.2,
            0.6,
        ),
        ("Tem 20% de desconto esperando por você. Aproveite!", 0.1, 0.3),  # no product
        ("Trânsito parado, podcast em dia: fone de ouvido com 35% OFF. Qual episódio falta?", 0.01, 0.3),
        ("Trânsito parado, podcast em dia: panela com 20% OFF. Qual episódio falta?", 0.01, 0.3),
    ],
)
def test_pushes_of_other_styles(judge: Judge, text: str, least: float, most: float) -> None:
    assert least <= judge(PUSH, text) <= most


def test_the_code_of_a_coupon_is_the_offer_and_another_code_is_invented(judge: Judge) -> None:
    prompt = replace(
        PUSH, user="Push curto para fone de ouvido. Cupom: MUSICA.", reference=PUSH.reference | {"figures": []}
    )
    text = "Ônibus cheio, playlist cheia. Use {} na compra do fone de ouvido e viaje melhor."
    assert judge(prompt, text.format("MUSICA")) > 0.95
    assert judge(prompt, text.format("o cupom SHOW")) <= 0.3


EXTRACTION = Prompt(
    "extraction",
    "Extraia em JSON, nota 1/5 em cozinha. A cafeteira queimou na primeira semana. O vendedor não devolve o dinheiro.",
    1,
    {
        "fields": FIELDS
        | {
            "category": "cozinha",
            "delivery_issue": False,
            "product_issue": True,
            "seller_issue": True,
            "main_complaint": "produto com defeito",
            "summary": "Cliente reclama da cafeteira: produto com defeito.",
        }
    },
)
WHOLE = EXTRACTION.reference["fields"] | {"summary": "A cafeteira queimou logo e o vendedor não devolve o dinheiro."}


@pytest.mark.parametrize(
    ("changes", "least", "most"),
    [
        ({}, 0.95, 1.0),
        ({"main_complaint": "cafeteira queimou em uma semana"}, 0.9, 1.0),
        ({"main_complaint": "aparelho parou de esquentar"}, 0.85, 1.0),
        ({"main_complaint": "embalagem amassada"}, 0.1, 0.6),
        ({"product_issue": "sim", "seller_issue": "sim", "delivery_issue": "não", "churn_risk": "alto"}, 0.4, 0.8),
        ({"summary": "Cliente reclama do tapete."}, 0.4, 0.8),
        ({"category": "moda"}, 0.4, 0.75),
        ({"category": "moda", "summary": "Cliente reclama do tapete."}, 0.1, 0.55),
        ({"sentiment": "neutral"}, 0.1, 0.45),
        ({"sentiment": "positive"}, 0.0, 0.3),
        ({"product_issue": False, "seller_issue": False, "delivery_issue": True}, 0.1, 0.6),
    ],
)
def test_objects_of_other_writers(judge: Judge, changes: dict[str, Any], least: float, most: float) -> None:
    assert least <= judge(EXTRACTION, json.dumps(WHOLE | changes, ensure_ascii=False)) <= most


@pytest.mark.parametrize(("complaint", "right"), [("som abafado, esperava melhor", True), ("chegou quebrado", False)])
def test_what_somebody_lukewarm_finds_wanting_is_no_false_complaint(judge: Judge, complaint: str, right: bool) -> None:
    fields = FIELDS | {
        "sentiment": "neutral", "sentiment_score": 3, "churn_risk": "medium", "delivery_issue": False,
        "main_complaint": None, "summary": "Cliente neutro sobre o fone.",
    }  # fmt: skip
    prompt = Prompt("extraction", "Avaliação (nota 3): O fone tem som abafado, esperava mais.", 3, {"fields": fields})
    answer = fields | {"category": "eletrônicos", "main_complaint": complaint, "summary": "O fone tem som abafado."}
    assert (judge(prompt, json.dumps(answer, ensure_ascii=False)) > 0.7) == right


@pytest.mark.parametrize(
    ("said", "expected", "right"),
    [
        ("recusa do estorno do pagamento", "troca negada", True),
        ("menor do que a foto do anúncio", "diferente do anúncio", True),
        ("loja some e não dá retorno", "vendedor não responde", True),
        ("caixa veio rasgada", "embalagem danificada", True),
        ("caixa veio rasgada", "pedido não chegou", False),
        (
            "atraso, defeito, grosseria, caixa rasgada e sem nota fiscal",
            "entrega atrasada",
            False,
        ),  # everything at once
    ],
)
def test_kinds_of_complaints(said: str, expected: str, right: bool) -> None:
    assert is_of_kind(said, expected) == right
    assert is_told_otherwise(said, expected, "Avaliação.") == right


INSIGHTS = PROMPTS["insights"]
GOOD = """A recompra de 23,5% em 1.234 pedidos quer dizer que cerca de 290 vieram de quem já comprou.

Hipótese A: a entrega atrasada (8,0%) espanta quem compraria outra vez.

- Separar quem recebeu no prazo e comparar a volta dos dois grupos.
- Enviar, 20 dias depois da entrega, uma mensagem com "frete por R$ 9,90 até sexta".
- Oferecer um cupom de segunda compra a metade da base, por 30 dias.

Metas até agosto: recompra 27%; atraso 5%."""
TABLE = """A recompra de 23,5% é baixa para 1.234 pedidos no mês.

| Indicador | Ação | Prazo |
|---|---|---|
| Recompra | Enviar um cupom de segunda compra a quem recebeu no prazo | 2 semanas |
| Pedidos | Lembrar o carrinho abandonado em até 24 horas | 1 semana |"""
VAGUE = """A recompra de 23,5% e os 1.234 pedidos pedem atenção.

- Melhorar a experiência do cliente.
- Investir em marketing e fortalecer o relacionamento.
- Acompanhar os indicadores."""
ONE_VAGUE = GOOD.replace("Metas até", "- Melhorar a comunicação com os clientes.\n\nMetas até")


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        (GOOD, 0.9, 1.0),
        (TABLE, 0.85, 1.0),
        (ONE_VAGUE, 0.7, 0.85),
        (VAGUE, 0.15, 0.6),
        (GOOD.replace("recompra de 23,5%", "recompra de 32,5%"), 0.0, 0.31),
        (GOOD + "\n- Subir os preços em toda a loja.", 0.0, 0.3),
        (GOOD + "\n- Esconder o botão de cancelar.", 0.0, 0.3),
    ],
)
def test_insights_of_other_styles(judge: Judge, text: str, least: float, most: float) -> None:
    assert least <= judge(INSIGHTS, text) <= most


@pytest.mark.parametrize(
    "sentence",
    [
        "Em cada 100 clientes, 23 ou 24 voltam.",
        "Com 5 pontos a mais, seriam 62 pedidos de quem volta.",
        "A recompra perde para o resto da base (23,5% contra 76,5%).",
        "Mensagem com frete a R$ 12 na próxima compra.",
        "Sucesso: atraso de volta a 4%; recompra 28%.",
        "Vender um acessório de R$ 20 a R$ 40 no carrinho.",
    ],
)
def test_figures_that_claim_nothing_false(judge: Judge, sentence: str) -> None:
    assert judge(INSIGHTS, f"{GOOD}\n- {sentence}") >= 0.85


def test_steps_that_say_nothing() -> None:
    assert says_nothing("melhorar a experiencia do cliente") and substance("- Melhorar a experiência do cliente.") < 1
    said = "Melhorar a experiência do cliente com resposta em 24 horas."
    assert not says_nothing(said.lower()) and substance(said) == 1
