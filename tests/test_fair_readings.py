"""What right relations of the audit and two further sets of strangers' answers showed to be judged wrongly: other fair
readings of a question, harm that nobody advises, offers in further words, forms of an object that nobody minds.
"""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from rewards_examples import ANSWERS, FIELDS, PROMPTS, Prompt
from test_blemishes import STEPS

from rewards import load_reward_set
from tucano.truth import truth

Judge = Callable[[Prompt, str], float]


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two orders of customer 7 and one of customer 8; items are cheaper than what was paid."""
    folder = tmp_path_factory.mktemp("readings")
    with closing(sqlite3.connect(folder / "loja.sqlite")) as shop:
        shop.executescript("""
            CREATE TABLE pedidos(pedido_id INTEGER, cliente_id INTEGER, mes TEXT);
            CREATE TABLE avaliacoes(pedido_id INTEGER, nota INTEGER);
            CREATE TABLE itens(pedido_id INTEGER, preco REAL); CREATE TABLE pagamentos(pedido_id INTEGER, valor REAL);
            INSERT INTO pedidos VALUES (1, 7, '2018-05'), (2, 7, '2018-05'), (3, 8, '2018-05');
            INSERT INTO avaliacoes VALUES (1, 1), (2, 1), (3, 1);
            INSERT INTO itens VALUES (1, 10), (2, 20), (3, 30); INSERT INTO pagamentos VALUES (1, 12), (2, 23), (3, 34);
        """)
    return folder


@pytest.fixture(params=["grounded", "truth"])
def judge(request: pytest.FixtureRequest, stores: Path) -> Judge:
    if request.param == "truth":
        return lambda prompt, text: truth(prompt, text, stores) or 0.0
    rewards = load_reward_set("grounded", stores)
    return lambda prompt, text: rewards.score(prompt, text).total


RATED = "SELECT COUNT(*) FROM avaliacoes JOIN pedidos USING(pedido_id) WHERE nota<=1 AND mes='2018-05';"
SOLD = "SELECT ROUND(SUM(preco),2) FROM itens JOIN pedidos USING(pedido_id) WHERE mes='2018-05';"


@pytest.mark.parametrize(
    ("gold", "question", "another", "other", "wrong"),
    [
        (
            RATED,
            "Quantos clientes deram nota 1 em maio de 2018?",
            "Qual o total de avaliações até nota 1 em maio de 2018?",
            RATED.replace("COUNT(*)", "COUNT(DISTINCT cliente_id) AS clientes"),
            RATED.replace("nota", "4+nota"),
        ),
        (
            SOLD,
            "Qual foi a receita de maio de 2018?",
            "Qual foi a receita dos itens de maio de 2018?",
            "SELECT SUM(valor) AS receita FROM pagamentos JOIN pedidos USING(pedido_id) WHERE mes='2018-05';",
            "SELECT SUM(valor) AS receita FROM pagamentos;".replace("SUM(valor)", "AVG(valor)"),
        ),
    ],
)
def test_a_question_may_be_read_in_another_fair_way(
    judge: Judge, gold: str, question: str, another: str, other: str, wrong: str
) -> None:
    prompt = Prompt("sql_qa", question, None, {"sql": gold, "database": "loja.sqlite"})
    prose = "A consulta junta as tabelas pelo pedido e fica só com maio de 2018."
    assert judge(prompt, f"```sql\n{other}\n```\n{prose}") >= 0.8
    assert judge(replace(prompt, user=another), f"```sql\n{other}\n```\n{prose}") <= 0.3
    assert judge(prompt, f"```sql\n{wrong}\n```\n{prose}") <= 0.3


READ = "A recompra de 23,5% mostra que três em cada quatro dos 1.234 pedidos não se repetem."


@pytest.mark.parametrize(
    "step",
    [
        "Não deixe de responder aos clientes em até um dia.",
        "Reduza os pedidos cancelados com a confirmação do estoque.",
        "Pare de vender itens sem estoque no site.",
        "Semana 4: última chamada com 10% por sete dias.",
    ],
)
def test_what_avoids_harm_is_none(judge: Judge, step: str) -> None:
    assert judge(PROMPTS["insights"], f"{READ}\n{STEPS}\n- {step}") >= 0.8


@pytest.mark.parametrize("step", ["Suba o cancelamento.", "Ignore as reclamações.", "Pare de responder aos clientes."])
def test_harm_at_the_beginning_of_a_line_is_seen(judge: Judge, step: str) -> None:
    assert judge(PROMPTS["insights"], f"{READ}\n{STEPS}\n- {step}") <= 0.3


def test_a_share_may_be_told_as_a_number_of_orders(judge: Judge) -> None:
    """23.5 % of 1,234 are 290."""
    told = judge(PROMPTS["insights"], f"Cerca de 290 dos 1.234 pedidos são recompra, e o resto não volta.\n{STEPS}")
    assert told >= 0.8
    assert judge(PROMPTS["insights"], f"São 410 os pedidos que são recompra, e o resto não volta.\n{STEPS}") < told


@pytest.mark.parametrize("numbered", ["**1. Recompra.** ", "1️⃣ Recompra. "])
def test_numbers_of_a_list_are_no_sentences(judge: Judge, numbered: str) -> None:
    assert judge(PROMPTS["insights"], f"{numbered}{READ}\n{STEPS}") >= 0.85


@pytest.mark.parametrize(
    "offer",
    ["e um voucher", "na faixa", "e cortesia da casa", "com entrega expressa", "com reembolso garantido"],
)
def test_offers_in_further_words_are_not_granted(judge: Judge, offer: str) -> None:
    assert judge(PROMPTS["push"], f"Música sem fio: fone de ouvido com 20% de desconto {offer}. Garanta!") <= 0.3


def test_a_code_may_be_told_without_the_word_coupon(judge: Judge) -> None:
    text = "Música sem fio: fone de ouvido com 20% de desconto. Digite {} e garanta!"
    assert judge(PROMPTS["push"], text.format("EXTRA10")) <= 0.3


@pytest.mark.parametrize(
    "text", ["Oi! Tem com 20% de desconto para você. Aproveite!", "Fone fone fone de ouvido fone!"]
)
def test_a_push_without_a_thing_or_of_one_word_is_nothing(judge: Judge, text: str) -> None:
    assert judge(PROMPTS["push"], text) <= 0.1


def test_who_flees_from_the_heat_does_not_flee_from_the_product(judge: Judge) -> None:
    assert judge(PROMPTS["push"], "Fuja da rotina com o fone de ouvido com 20% de desconto. Aproveite!") >= 0.85


@pytest.mark.parametrize("frame", ["Segue o resultado:", "Segue a extração:", "Aqui está:"])
def test_a_sentence_in_front_of_an_object_costs_the_same_in_other_words(frame: str) -> None:
    rewards = load_reward_set("grounded")
    known = rewards.score(PROMPTS["extraction"], f"Segue o JSON:\n{ANSWERS['extraction']}").total
    assert rewards.score(PROMPTS["extraction"], f"{frame}\n{ANSWERS['extraction']}").total == known > 0.6


def test_a_capital_is_a_slip_and_no_other_value() -> None:
    answer = json.dumps(FIELDS | {"sentiment": "Negative"}, ensure_ascii=False)
    assert load_reward_set("grounded").score(PROMPTS["extraction"], answer).total >= 0.7


def test_a_vendor_who_answered_is_no_silent_one() -> None:
    """The complaint has the words of the expected one and says the opposite."""
    fields = FIELDS | {"main_complaint": "vendedor não responde", "delivery_issue": False, "seller_issue": True}
    prompt = replace(PROMPTS["extraction"], reference={"fields": fields})
    rewards = load_reward_set("grounded")
    whole, denied = (
        rewards.score(prompt, json.dumps(fields | {"main_complaint": text}, ensure_ascii=False)).total
        for text in ("vendedor não responde", "vendedor respondeu rápido")
    )
    assert denied < whole - 0.1
