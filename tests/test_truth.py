"""The truth by hand: what right answers earn, and every attack that once passed, with its text."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rewards_examples import ANSWERS, FIELDS, PROMPTS, Prompt, write_store

from tucano.truth import truth
from tucano.truth.facts import Fact, stated
from tucano.truth.figures import figures
from tucano.truth.fluency import fluency
from tucano.truth.json_object import only_object
from tucano.truth.reading import plain
from tucano.truth.tasks.push import ANOTHER, FLAT, GENERAL, UNGRANTED
from tucano.truth.wording.substance import LISTED

LOW = 0.30
"""What no text earns that a sensible person would rate 1 or 2."""
TASKS = tuple(PROMPTS)
INSIGHTS, PUSH, EXTRACTION = PROMPTS["insights"], PROMPTS["push"], PROMPTS["extraction"]
PLAIN_PUSH = Prompt("push", "Push curto para pelúcia. Sem oferta.", None, {"product": "pelúcia", "terms": ["pelúcia"]})
PRICED = Prompt(
    "push",
    "Crie um push para: pelúcia. Preço: R$ 43. Público: clientes novos.",
    None,
    {"product": "pelúcia", "terms": ["pelúcia"], "figures": [43.0]},
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_store(tmp_path_factory.mktemp("truth"))


@pytest.mark.parametrize("task", TASKS)
def test_a_good_answer_is_true(folder: Path, task: str) -> None:
    whole = FLAT if task == "push" else 1.0  # it says of its product what one says of any
    assert truth(PROMPTS[task], ANSWERS[task], folder) == pytest.approx(whole, abs=0.01)


@pytest.mark.parametrize("task", TASKS)
def test_without_a_reference_there_is_no_truth(task: str) -> None:
    assert truth(replace(PROMPTS[task], reference={}), ANSWERS[task]) is None


def test_a_task_without_a_judge_is_named() -> None:
    with pytest.raises(ValueError, match=r"the task 'nova' has no tucano/truth/tasks/nova.py"):
        truth(Prompt("nova", "?"), "!")


# Attacks

GIBBERISH = [
    "pelúcia a de peso diante entrega 43% - só # do de o 43%",
    "pelúcia de o para com R$ 43 que se na por já aproveite hoje",
    "R$ 43 pelúcia! você! hoje! garanta! só! R$ 43!",
    "asdf pelúcia qwer R$ 43 zxcv",
    "Oi! Tem pelúcia para de com você o. Aproveite! que R$ 43",
]
PUSH_ATTACKS = {
    "copied prompt and another product's push": (
        PUSH,
        "Crie um push para: fone de ouvido. Desconto: 20%. Oi! Tem panela com 20% de desconto para você. Aproveite!",
    ),
    "another product's push": (PUSH, "Oi! Tem panela com 20% de desconto para você. Aproveite! 🎉"),
    "both products": (PUSH, "Oi! Tem panela e fone de ouvido com 20% de desconto para você. Aproveite! 🎉"),
    "another fone": (PUSH, "Oi! Tem fone de parede com 20% de desconto para você. Aproveite! 🎉"),
    "advice against it": (PUSH, "Não compre o fone de ouvido: é ruim!"),
    "advice against it, with the offer": (PUSH, "Não compre fone de ouvido com 20% de desconto: é ruim! Aproveite!"),
    "free today": (PLAIN_PUSH, "Pelúcia grátis hoje"),
    "free today, inviting": (PLAIN_PUSH, "Oi! Tem pelúcia grátis hoje para você. Aproveite! 🎉"),
    "taken back": (PUSH, "Está errada, não use: " + ANSWERS["push"]),
    "two of them": (PUSH, "Oi! Tem fone com 20% off. Aproveite!\nQue tal fone com 20% off?\nSeu fone espera por você!"),
    "numbered": (PUSH, "Resposta 1: Seu fone com 20% off! Resposta 2: Oi! Tem fone com 20% off."),
    "too long": (PUSH, ANSWERS["push"] + " Temos muitos outros produtos na loja, com entrega para todo o Brasil."),
    "about a push": (PUSH, "Um push é uma notificação curta que informa o cliente sobre o fone com 20% de desconto."),
    "the prompt": (PUSH, PUSH.user),
    "a bad review": (PUSH, "Meu fone de ouvido veio com defeito, mas tem 20% de desconto na loja. Aproveite!"),
    "no push": (PUSH, "O fone de ouvido é um aparelho inventado no século passado."),
    "price as a discount": (PRICED, "Oi! Tem pelúcia com 43% de desconto para você. Aproveite! 🎉"),
    "half": (PRICED, "Oi! Tem pelúcia pela metade do preço para você. Aproveite! 🎉"),
    **{
        f"offer in words: {offer}": (PRICED, f"Oi! Tem pelúcia por R$ 43 {offer} para você. Aproveite! 🎉")
        for offer in (
            "com frete grátis", "de graça", "e leve 2 pague 1", "com brinde", "com cashback", "sem juros",
            "com o cupom VOLTEI", "em promoção relâmpago, últimas unidades", "com 30% de desconto", "sem pagar a entrega",
            "com desconto de vinte por cento",
        )
    },
    **{f"gibberish {number}": (PRICED, text) for number, text in enumerate(GIBBERISH)},
}  # fmt: skip


@pytest.mark.parametrize(("prompt", "text"), PUSH_ATTACKS.values(), ids=PUSH_ATTACKS)
def test_attacks_on_push(prompt: Prompt, text: str) -> None:
    assert (truth(prompt, text) or 0.0) <= LOW


GOOD = ANSWERS["insights"]
STATED = "**Diagnóstico:** recompra de 23,5% e 1.234 pedidos no mês."
INSIGHTS_ATTACKS = {
    "all figures and one fixed text": (
        "**Situação:** recompra de 23,5%; 1.234 pedidos; atraso de 8,0%.\n- Recomendo acompanhar estes indicadores.\n"
        "- Priorize o mais fraco."
    ),
    "the brief again": INSIGHTS.user,
    "figures without their labels": "23,5; 1.234; 8,0.\n- Recomendo acompanhar os números.\n- Priorize o mais fraco.",
    "swapped figures": GOOD.replace("23,5%", "X%").replace("1.234", "23,5").replace("X%", "1.234"),
    "figures of other labels": GOOD.replace("23,5%", "8,0%"),
    "misread figure": GOOD.replace("23,5%", "33,5%"),
    "wrong movement": GOOD.replace("recompra de 23,5%", "a recompra caiu para 23,5%"),
    "invented growth": GOOD + "\n- A receita cresceu 45% no mês.",
    "harmful: more delay": f"{STATED}\n- Recomendo aumentar o atraso.\n- Priorize ignorar os clientes.",
    "harmful: fewer orders": f"{STATED}\n- Recomendo reduzir os pedidos com uma campanha.\n- Priorize a entrega.",
    "harmful: nothing for those who bought": f"{STATED}\n- Pare de enviar ofertas a quem já comprou.\n- Corte a recompra.",
    "negated": f"{STATED}\n- Não recomendo criar um programa para os clientes.\n- Evite melhorar o prazo de entrega.",
    "taken back": "Está errada, não use:\n" + GOOD,
    "taken back at the end": GOOD + "\nEsta análise está errada.",
    "several": f"Resposta 1: {GOOD}\nResposta 2: {GOOD}",
    "no advice": STATED,
    "advice on everything": (
        f"{STATED}\n- Recomendo rever as fotos, simplificar o checkout, negociar o frete, criar kits, confirmar o"
        " estoque, responder às avaliações, trocar a embalagem, mostrar parcelas."
    ),
    "endless": "\n".join([GOOD] * 6),
    "words of the trade": "recomendo melhorar priorizar recompra de 23,5% pedidos 1.234 investir reduzir cliente",
    "gibberish": "recompra 23,5% a de pedidos 1.234 diante - só # recomendo do de cupom o que 8,0%",
}


@pytest.mark.parametrize("text", INSIGHTS_ATTACKS.values(), ids=INSIGHTS_ATTACKS)
def test_attacks_on_insights(text: str) -> None:
    assert (truth(INSIGHTS, text) or 0.0) <= LOW


EXTRACTION_ATTACKS = {
    "taken back": "Está errada, não use: " + ANSWERS["extraction"],
    "taken back inside": json.dumps(FIELDS | {"aviso": "está errada, não use"}),
    "two objects": ANSWERS["extraction"] + "\n" + json.dumps(FIELDS | {"sentiment": "positive"}),
    "a list of two": f"[{ANSWERS['extraction']}, {ANSWERS['extraction']}]",
    "a name twice": ANSWERS["extraction"][:-1] + ', "sentiment": "positive"}',
    "broken off": ANSWERS["extraction"][:-20],
    "single quotes": ANSWERS["extraction"].replace('"', "'"),
    "prose": ANSWERS["extraction"].replace("{", "").replace("}", ""),
    "the opposite feeling": json.dumps(FIELDS | {"sentiment": "positive"}),
    "only what the frame states": json.dumps({"sentiment": "negative", "sentiment_score": 1}),
    "schema": json.dumps({name: name for name in FIELDS}),
}


@pytest.mark.parametrize("text", EXTRACTION_ATTACKS.values(), ids=EXTRACTION_ATTACKS)
def test_attacks_on_extraction(text: str) -> None:
    assert (truth(EXTRACTION, text) or 0.0) <= LOW


@pytest.mark.parametrize(
    "text",
    [
        "Está errada, não use:\n" + ANSWERS["sql_qa"],
        ANSWERS["sql_qa"] + "\n```sql\nSELECT 1\n```",
        "SELECT 1",
        "A resposta é SP.",
        ANSWERS["sql_qa"].replace("SUM", "MAX"),
    ],
)
def test_attacks_on_sql(folder: Path, text: str) -> None:
    assert (truth(PROMPTS["sql_qa"], text, folder) or 0.0) <= LOW


def test_a_query_without_an_explanation_is_half_an_answer(folder: Path) -> None:
    assert truth(PROMPTS["sql_qa"], "SELECT estado, TOTAL(valor) FROM pedidos GROUP BY 1", folder) == 0.6


# What is counted


@pytest.mark.parametrize(
    ("changes", "less"),
    [
        ({}, 0),
        ({"main_complaint": "Entrega atrasada"}, 0),
        ({"category": "ELETRONICOS"}, 0),
        ({"product_issue": True}, 0.5),
        ({"delivery_issue": False}, 2),
        ({"delivery_issue": 1}, 2),
        ({"category": "moda"}, 1),
        ({"summary": "Cliente reclama da demora toda."}, 2),
        ({"summary": "fone do o de reclama chegou que o"}, 2),
    ],
)
def test_extraction_weighs_what_only_reading_tells(changes: dict[str, Any], less: float) -> None:
    """The frame states the stars: four fields that follow from them weigh .1, the category 1, a flag that is set, the
    complaint and the summary 2, the other two flags .5."""
    whole = 4 * 0.1 + 1 + 2 + 2 + 2 + 2 * 0.5
    assert truth(EXTRACTION, json.dumps(FIELDS | changes)) == pytest.approx((whole - less) / whole)


def test_a_score_one_off_is_right_for_the_same_feeling_where_the_frame_states_no_stars() -> None:
    blind = replace(EXTRACTION, user="JSON da avaliação: O fone chegou vinte dias depois do prazo.")
    whole = 4 + 1 + 2 + 2 + 2 + 2 * 0.5
    assert truth(blind, json.dumps(FIELDS | {"sentiment_score": 2})) == pytest.approx(1.0)
    assert truth(blind, json.dumps(FIELDS | {"sentiment_score": 3})) == pytest.approx((whole - 1) / whole)
    near = replace(blind, reference={"fields": FIELDS | {"sentiment_score": 2}})
    assert truth(near, json.dumps(FIELDS | {"sentiment_score": 3})) == pytest.approx((whole - 0.5) / whole)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (ANSWERS["insights"], 1.0),
        ("A recompra de 23,5% é baixa.\n- Recomendo um cupom para a segunda compra.", 0.64),
        ("Os números pedem atenção.\n- Recomendo um cupom de 10% para a segunda compra.", 0.28 * LISTED),
        ("Os números pedem atenção.\n- Recomendo um cupom para a segunda compra.", 0.28 * 0.6),
        ("Recompra de 23,5% e 1.234 pedidos no mês.", 0.25),
        (ANSWERS["insights"].replace("23,5%", "24,5%"), 0.18),
        (ANSWERS["insights"] + "\n- A meta é chegar a 30% de recompra.", 1.0),
        (ANSWERS["insights"] + "\n- Ofereça um cupom de R$ 20 a partir de R$ 150.", 1.0),
        (ANSWERS["insights"] + "\n- Com 76,5% sem recompra, ofereça um cupom de retorno.", 1.0),
        (ANSWERS["insights"] + "\n- Dos 1.234 pedidos, cerca de 99 chegaram com atraso.", 1.0),
    ],
)
def test_insights_by_hand(text: str, expected: float) -> None:
    assert truth(INSIGHTS, text) == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ônibus cheio, música boa: fone de ouvido com 20% de desconto. Aproveite!", 1.0),
        ("Oi! Seu fone de ouvido está com 20% de desconto. Aproveite!", FLAT),
        ("Oi! Seu fone está com 20% OFF. Aproveite!", FLAT),
        ("Oi! Seu fone de ouvido está esperando por você.", 0.75 * FLAT),
        ("Prezado cliente, o seu fone de ouvido está com 20% de desconto.", 0.5),
        ("Oi! Seu fone de ouvido está com 30% de desconto. Aproveite!", UNGRANTED * FLAT),
        ("Oi! Sua panela está com 20% de desconto. Aproveite!", ANOTHER),
        ("Oi! Tem 20% de desconto esperando por você. Aproveite!", GENERAL * FLAT),
    ],
)
def test_push_by_hand(text: str, expected: float) -> None:
    assert truth(PUSH, text) == pytest.approx(expected)


def test_whether_a_figure_moved_has_to_agree_with_the_brief() -> None:
    fell = [Fact("receita", 900.0, "R$", "down"), Fact("pedidos", 31.0)]
    assert stated("A receita caiu para R$ 900.", "", fell).labels == {"receita"}
    rose = stated("A receita subiu para R$ 900.", "", fell)
    assert not rose.labels and rose.wrong


@pytest.mark.parametrize(
    ("sentence", "labels", "wrong"),
    [
        ("Recompra de 23,5% e atraso de 8%.", {"recompra", "atraso"}, 0),
        ("São 1.234 pedidos com 8,0% de atraso.", {"pedidos", "atraso"}, 0),
        ("Pedidos e recompra de 1.234 e 23,5%, respectivamente.", {"pedidos", "recompra"}, 0),
        ("Quase um em cada doze pedidos atrasa (8,0%).", {"atraso"}, 0),
        ("Recompra de 8,0% e atraso de 23,5%.", set(), 2),
        ("Recompra de R$ 23,50.", set(), 1),
        ("O ano teve 23,5% disto.", set(), 0),
        ("Temos 3 ações em 2 semanas.", set(), 0),
        ("O mercado cresceu 47%.", set(), 1),
        ("Recompra de 23,5% para 26%.", {"recompra"}, 0),
        ("A recompra subiu de 23,5% para 26%.", set(), 3),
        ("Recompra de 26%.", set(), 1),
        ("Recompra de 26% até o fim de março.", set(), 0),
        ("Mensagem para quem comprou há 45–60 dias.", set(), 0),
        ("Consertar (dias 1 a 30) as rotas.", set(), 0),
        ("O frete custa R$ 9,90.", set(), 1),
        ("Frete a R$ 9,90 na próxima compra.", set(), 0),
        ("Frete de R$ 9,90 por 7 dias.", set(), 0),
        ("Cashback de R$ 15 (bom para a margem).", set(), 0),
        (
            "A taxa de 8,0% em 1.234 pedidos significa umas 15 mil visitas.",
            {"pedidos", "atraso"},
            0,
        ),  # 1,234 / .08 = 15,425
        ("A taxa de 8,0% em 1.234 pedidos significa umas 40 mil visitas.", {"pedidos", "atraso"}, 1),
    ],
)
def test_figures_belong_to_labels(sentence: str, labels: set[str], wrong: int) -> None:
    facts = [Fact("recompra", 23.5, "%"), Fact("pedidos", 1234.0), Fact("atraso", 8.0, "%")]
    found = stated(sentence, INSIGHTS.user, facts)
    assert (found.labels, found.wrong) == (labels, wrong)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1.234,5 e 12,5%", [(1234.5, ""), (12.5, "%")]),
        ("R$ 10,00 e 20 reais", [(10, "R$"), (20, "R$")]),
        ("vinte por cento", [(20, "%")]),
        ("R$ 1,2 mil", [(1200, "R$")]),
        ("05/2018, 24h, versão 1.2.3, x-15", []),
    ],
)
def test_figures(text: str, values: list[tuple[float, str]]) -> None:
    assert [(figure.value, figure.unit) for figure in figures(plain(text))] == values


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": 1}', {"a": 1}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('{"a": 1,}', None),
        ('{"a": 1, "a": 2}', None),
        ('{"a": NaN}', None),
        ('Segue: {"a": 1}', None),
        ('{"a": 1}{"a": 1}', None),
        ("[" * 100_000, None),
        ('{"a": 1,5}', {"a": 1.5}),
        ('{"a": "\\ud83d"}', None),  # half a character can be written nowhere
    ],
)
def test_only_one_strict_object_is_read(text: str, found: dict[str, int] | None) -> None:
    assert only_object(text) == found


def test_order_makes_a_text_fluent() -> None:
    text = "Recomendo rever o contrato com a transportadora para reduzir o atraso nas entregas do mês."
    assert fluency(text) == 1
    assert fluency("o do Recomendo a mês transportadora contrato nas reduzir com o rever entregas para atraso") == 0
    assert fluency("") == fluency("123 !!! 🎉") == 0


@pytest.mark.parametrize("text", ["Oi. " + "🏻🏼" * 1000 + "!", "a" + "🏻🏼" * 1000 + "!", "Oi." + " 🏻" * 1000 + " ,"])
@pytest.mark.timeout(60)
def test_a_run_of_pictures_takes_no_more_than_its_share(text: str) -> None:
    """A skin tone is a picture and colours one: read as either, forty of them took longer than anybody waits."""
    assert 0 <= fluency(text) <= 1


@pytest.mark.parametrize("task", TASKS)
@given(
    text=st.text(max_size=80) | st.lists(st.sampled_from(sorted(set(" ".join(ANSWERS.values()).split())))).map(" ".join)
)
def test_any_text_has_a_truth_in_its_range(folder: Path, task: str, text: str) -> None:
    found = truth(PROMPTS[task], text, folder)
    assert found is not None and 0 <= found <= 1 and truth(PROMPTS[task], text, folder) == found


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("text", ["a " * 4000, "R$ 1 " * 1500, "- a\n" * 2000, "a" + "\u0301" * 500, "1.234." * 1300])
@pytest.mark.timeout(600)  # one second alone; the machine may be busy
def test_no_text_is_slow(folder: Path, task: str, text: str) -> None:
    assert truth(PROMPTS[task], text, folder) == 0
    assert truth(PROMPTS[task], ANSWERS[task] * 2000, folder) == 0
