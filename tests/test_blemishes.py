"""What makes a 4 of a 5, by both judges: summaries that only label, sums without a name, figures that are only listed;
and what the prompt leaves open, which is no blemish."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rewards_examples import FIELDS, PROMPTS, Prompt, write_store

from rewards import load_reward_set
from tucano.truth import truth
from tucano.truth.facts import Fact, stated
from tucano.truth.fluency import faults
from tucano.truth.product import has_wrong_article
from tucano.truth.wording.complaints import lists_topics

Judge = Callable[[Prompt, str], float]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_store(tmp_path_factory.mktemp("blemishes"))


@pytest.fixture(params=["grounded", "truth"])
def judge(request: pytest.FixtureRequest, folder: Path) -> Judge:
    if request.param == "truth":
        return lambda prompt, text: truth(prompt, text, folder) or 0.0
    rewards = load_reward_set("grounded", folder)
    return lambda prompt, text: rewards.score(prompt, text).total


def review(text: str, stars: int, **fields: Any) -> Prompt:
    return Prompt("extraction", f"JSON da avaliação: {text}", stars, {"fields": FIELDS | fields})


LATE = "O fone chegou vinte dias depois do prazo, não compro mais nesta loja."
PRAISED: dict[str, Any] = {
    "sentiment": "positive", "sentiment_score": 5, "churn_risk": "low", "repurchase_intent": True,
    "delivery_issue": False, "main_complaint": None,
}  # fmt: skip


def told(**fields: Any) -> str:
    return json.dumps(FIELDS | fields, ensure_ascii=False)


@pytest.mark.parametrize(
    ("prompt", "fields", "summary", "label"),
    [
        (review(LATE, 1), {}, "O fone veio vinte dias depois do prazo.", False),
        (review(LATE, 1), {}, "Cliente reclama do fone: entrega muito atrasada.", True),
        (review("O fone é ótimo. Preço bom.", 5, **PRAISED), PRAISED, "Cliente satisfeito com o fone.", True),
        (review("O fone é ótimo. Preço bom.", 5, **PRAISED), PRAISED, "Elogia o fone e diz que o preço é bom.", False),
    ],
)
def test_a_summary_that_only_labels_is_a_blemish(
    judge: Judge, prompt: Prompt, fields: dict[str, Any], summary: str, label: bool
) -> None:
    assert (0.85 if label else 0.99) <= judge(prompt, told(**fields, summary=summary)) <= (0.91 if label else 1.0)


@pytest.mark.parametrize(
    ("known", "said", "least", "most"),
    [
        ({}, {"sentiment_score": 2}, 0.97, 1.0),  # a star of the same feeling
        ({}, {"churn_risk": "medium"}, 0.95, 1.0),
        ({}, {"sentiment_score": 4}, 0.0, 0.93),
        (
            {"sentiment": "neutral", "sentiment_score": 3, "churn_risk": "medium"},
            {"sentiment": "negative", "sentiment_score": 2, "churn_risk": "high"},
            0.75,
            0.98,
        ),
        ({"sentiment": "neutral", "sentiment_score": 3}, {"sentiment": "positive", "sentiment_score": 4}, 0.0, 0.6),
    ],
)
def test_what_the_stars_would_decide_is_open_where_nobody_tells_them(
    judge: Judge, known: dict[str, Any], said: dict[str, Any], least: float, most: float
) -> None:
    summary = "O fone veio vinte dias depois do prazo."
    assert least <= judge(review(LATE, 1, **known), told(**(known | said), summary=summary)) <= most


@pytest.mark.parametrize(
    ("summary", "text", "listed"),
    [
        ("O cliente fala do produto, da entrega, da cor, do preço e da troca.", "Recomendo!", True),
        ("O cliente recomenda a compra, sem dar detalhes.", "Recomendo!", False),
        ("Elogia a entrega rápida e o preço.", "Chegou rápido e barato.", False),
    ],
)
def test_a_list_of_topics_sums_up_no_review(summary: str, text: str, listed: bool) -> None:
    assert lists_topics(summary, text) == listed


def test_a_short_review_is_summed_up_by_its_common_words(judge: Judge) -> None:
    summary = "O cliente recomenda a compra, sem dar detalhes."
    assert judge(review("Recomendo", 5, **PRAISED), told(**PRAISED, summary=summary)) >= 0.99


PROSE = "A consulta soma o valor de todos os pedidos de cada estado da loja."


@pytest.mark.parametrize(
    ("columns", "least", "most"),
    [
        ("estado, SUM(valor) AS total", 0.99, 1.0),
        ("estado, SUM(valor)", 0.86, 0.95),
        ("estado, SUM(valor) AS total, COUNT(*) AS pedidos", 0.84, 0.91),
    ],
)
def test_a_sum_without_a_name_and_a_further_column_are_blemishes(
    judge: Judge, columns: str, least: float, most: float
) -> None:
    sql = f"SELECT {columns} FROM pedidos GROUP BY estado"
    assert least <= judge(PROMPTS["sql_qa"], f"```sql\n{sql};\n```\n{PROSE}") <= most


STEPS = (
    "- Recomendo um cupom de 10% na segunda compra, 20 dias depois da entrega.\n"
    "- Priorize ligar para 20 clientes que fizeram pedidos e não voltaram."
)


@pytest.mark.parametrize(
    ("reading", "least", "most"),
    [
        ("**Análise:** recompra de 23,5% e 1.234 pedidos.", 0.85, 0.93),
        ("A recompra de 23,5% mostra que três em cada quatro dos 1.234 pedidos não se repetem.", 0.95, 1.0),
    ],
)
def test_figures_that_are_only_listed_are_a_blemish(judge: Judge, reading: str, least: float, most: float) -> None:
    assert least <= judge(PROMPTS["insights"], f"{reading}\n{STEPS}") <= most


@pytest.mark.parametrize("place", ["Rio de Janeiro", "Rio Grande do Sul", "Minas Gerais", "São Paulo", "Mato Grosso"])
def test_names_of_places_are_no_capitals_out_of_place(place: str) -> None:
    assert faults(f"É a média das notas dadas pelos clientes de {place}, em todos os meses.") == 0


FACTS = [Fact("frete médio", 12.95, "R$"), Fact("nota média", 3.3), Fact("atraso", 21.0, "%")]


@pytest.mark.parametrize(
    ("said", "label"),
    [
        ("A entrega ficou mais barata (R$ 12,95) e mesmo assim a conversão recuou.", "frete médio"),
        ("Isso combina com uma nota que não sai do morno (3,3).", "nota média"),
        ("O atraso, embora tenha melhorado muito, ainda leva 21% dos pedidos.", "atraso"),
    ],
)
def test_a_figure_counts_in_a_sentence_that_can_only_mean_its_label(said: str, label: str) -> None:
    assert stated(said, "Resumo de maio.", FACTS).labels == {label}


@pytest.mark.parametrize(
    "step",
    [
        "Bloquear o produto que se repetir três vezes entre as devoluções.",
        "Sem baixar o atraso para perto de 10%, o cupom compra só mais uma decepção.",
        "Testar frete de R$ 12 para pedidos menores, por 30 dias.",
        "Dar aos parceiros um limite (ex.: 6% de atraso) para entrar nas vitrines.",
    ],
)
def test_steps_of_people_are_neither_harm_nor_inventions(judge: Judge, step: str) -> None:
    answer = f"A recompra de 23,5% mostra que três em cada quatro dos 1.234 pedidos não se repetem.\n{STEPS}\n- {step}"
    assert judge(PROMPTS["insights"], answer) >= 0.9


@pytest.mark.parametrize(
    "text",
    ["Monte de fone de ouvido. 20% de desconto hoje.", "Crie hoje, fone de ouvido. Com 20% de desconto!"],
)
def test_the_order_for_a_push_is_none(judge: Judge, text: str) -> None:
    brief = replace(PROMPTS["push"], user=f"{text.split()[0]} um push para: fone de ouvido. Desconto: 20%.")
    assert judge(brief, text) <= 0.3


def test_a_call_with_the_verb_of_the_brief_is_no_order(judge: Judge) -> None:
    brief = replace(PROMPTS["push"], user="Faça um push para: fone de ouvido. Desconto: 20%.")
    assert judge(brief, "Trânsito parado? Faça do caminho a melhor hora: fone de ouvido com 20% OFF.") >= 0.85


@pytest.mark.parametrize(
    ("text", "wrong"), [("É pouco para o fralda.", True), ("Tem fralda nova, e a fralda é sua!", False)]
)
def test_an_article_of_the_other_gender_is_noticed(text: str, wrong: bool) -> None:
    assert has_wrong_article(text, "fralda") == wrong


def test_a_push_in_english_words_is_none() -> None:
    assert truth(PROMPTS["push"], "Oi! Grab them now: fone de ouvido com 20% de desconto só hoje!") == 0


@pytest.mark.parametrize(
    ("text", "stars", "fields", "summary"),
    [
        ("O fone superou o esperado.", 5, PRAISED, "O fone quebrou no primeiro dia e o cliente está furioso."),
        (LATE, 1, {}, "O fone chegou no prazo, e o cliente adorou e recomenda a loja."),
    ],
)
def test_a_summary_that_says_the_opposite_costs_half(
    judge: Judge, text: str, stars: int, fields: dict[str, Any], summary: str
) -> None:
    assert judge(review(text, stars, **fields), told(**fields, summary=summary)) <= 0.55


@pytest.mark.parametrize(
    "text",
    [
        "Seu fone de ouvido baixou de preço. Vem ver!",
        "Hoje o fone de ouvido custa menos. Aproveite!",
        "Fone de ouvido: quem comprar hoje leva uma surpresa. Confira!",
        "Leve o fone de ouvido e o microfone vai junto. Aproveite!",
        "Você merece: fone de ouvido em oferta. Vem conferir!",
    ],
)
@pytest.mark.parametrize("brief", ["Sem oferta.", "Não há oferta."])
def test_offers_in_other_words_are_not_granted(judge: Judge, text: str, brief: str) -> None:
    prompt = Prompt(
        "push", f"Push para fone de ouvido. {brief}", None, {"product": "fone de ouvido", "terms": ["fone"]}
    )
    assert judge(prompt, text) <= 0.3


def test_steps_that_count_in_words_read(judge: Judge) -> None:
    reading = "A recompra de 23,5% mostra que três em cada quatro dos 1.234 pedidos não se repetem."
    assert judge(PROMPTS["insights"], f"{reading}\n{STEPS}\n- Revisar as fotos dos dez produtos mais pedidos.") >= 0.9


@pytest.mark.parametrize(
    "step",
    ["Incentivar o atraso com um cupom de 10%.", "Enviar um cupom de 500% na segunda compra.", "Demitir a equipe."],
)
def test_more_harm_is_noticed(step: str) -> None:
    reading = "A recompra de 23,5% mostra que três em cada quatro dos 1.234 pedidos não se repetem."
    judged = truth(PROMPTS["insights"], f"{reading}\n{STEPS}\n- {step}")
    assert judged == 0


def test_a_movement_behind_a_figure_is_one() -> None:
    assert stated("A devolução de 13,9% caiu muito.", "Resumo.", [Fact("devolução", 13.9, "%")]).wrong == 1


def test_words_of_the_order_are_no_complaint() -> None:
    prompt = Prompt("extraction", f"Objeto JSON desta avaliação: {LATE}", 1, {"fields": FIELDS})
    judged = load_reward_set("grounded").score(prompt, told(main_complaint="Objeto JSON desta avaliação")).total
    assert judged <= 0.5


def test_a_push_that_says_a_sentence_twice_is_several(judge: Judge) -> None:
    again = "Você merece: fone de ouvido com 20% de desconto. Vem conferir!"
    assert judge(PROMPTS["push"], f"{again} Capacete novo com o cupom SURPRESA. {again}") <= 0.3
    assert judge(PROMPTS["push"], f"{again} {again}") <= 0.3


def test_a_reference_with_a_blank_product_breaks_no_judge(judge: Judge) -> None:
    blank = Prompt("push", "Monte um push.", None, {"product": " ", "terms": [" "]})
    assert 0 <= judge(blank, "Oi! Monte hoje e aproveite.") <= 1


@pytest.mark.parametrize("label", ["", " ", "—"])
def test_a_fact_without_a_name_breaks_no_judge(judge: Judge, label: str) -> None:
    facts = [{"label": label, "value": 23.5, "unit": "%"}, {"label": "pedidos", "value": 1234.0, "unit": ""}]
    reference = {"facts": facts, "figures": [23.5], "key_figures": [23.5], "key": [label]}
    assert 0 <= judge(replace(PROMPTS["insights"], reference=reference), f"A recompra é de 23,5%.\n{STEPS}") <= 1


@pytest.mark.parametrize(
    "text",
    [
        "Você não se vê de fone de ouvido.",
        "Você cortina blackout escurece se vê de fone de ouvido.",
        "FICA15, tinta três mudanças, que você para fone de ouvido.",
    ],
)
def test_a_product_in_a_sentence_about_nothing_is_no_push(judge: Judge, text: str) -> None:
    assert judge(PROMPTS["push"], text) <= 0.3


@pytest.mark.parametrize(
    "text",
    [
        "Prezado(a) cliente, informamos que o fone de ouvido encontra-se com desconto de 20%. Atenciosamente, Equipe.",
        "Prezada cliente, informamos que o fone de ouvido está com 20% de desconto. Cordialmente, a Loja.",
    ],
)
def test_a_letter_is_a_three(judge: Judge, text: str) -> None:
    assert 0.3 < judge(PROMPTS["push"], text) < 0.7


def test_who_should_lose_no_time_is_not_advised_against(judge: Judge) -> None:
    text = "O fone de ouvido está com 20% de desconto, então não perca tempo e venha ouvir a sua música!"
    assert judge(PROMPTS["push"], text) >= 0.8
