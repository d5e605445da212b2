"""What raters and truth agreed on in spent rating sets and the reward saw otherwise, as facts of both judges."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rewards_examples import FIELDS, Prompt

from rewards import load_reward_set
from rewards.wording.complaints import names_another
from tucano.truth import truth

Judge = Callable[[Prompt, str], float]


@pytest.fixture(params=["grounded", "truth"])
def judge(request: pytest.FixtureRequest, tmp_path: Path) -> Judge:
    if request.param == "truth":
        return lambda prompt, text: truth(prompt, text, tmp_path) or 0.0
    rewards = load_reward_set("grounded", tmp_path)
    return lambda prompt, text: rewards.score(prompt, text).total


PLEASED: dict[str, Any] = FIELDS | {
    "sentiment": "positive", "sentiment_score": 5, "churn_risk": "low", "repurchase_intent": True,
    "delivery_issue": False, "main_complaint": None, "category": "informática",
}  # fmt: skip


def extraction(review: str, stars: int, fields: dict[str, Any], **said: Any) -> tuple[Prompt, str]:
    return Prompt("extraction", f"JSON da avaliação: {review}", stars, {"fields": fields}), json.dumps(
        fields | said, ensure_ascii=False
    )


@pytest.mark.parametrize(
    ("summary", "least", "most"),
    [
        ("Gostou do pendrive e da entrega rápida.", 0.85, 1.0),
        ("Gostou da entrega rápida.", 0.85, 1.0),
        ("Gostou do travesseiro e da entrega rápida.", 0.0, 0.6),
        ("Cliente satisfeito com o travesseiro.", 0.0, 0.6),
    ],
)
def test_a_summary_of_another_thing_halves_the_credit(judge: Judge, summary: str, least: float, most: float) -> None:
    asked, text = extraction(
        "Gostei muito do pendrive. Entrega rápida. nota 5, informática", 5, PLEASED, summary=summary
    )
    assert least <= judge(asked, text) <= most


def push(user: str, **reference: Any) -> Prompt:
    return Prompt("push", user, None, {"product": "mesa", "terms": ["mesa"], "figures": []} | reference)


@pytest.mark.parametrize(
    ("user", "figures", "text", "least", "most"),
    [
        ("Cupom: VOLTEI. Push sobre mesa.", [], "Sua mesa está esperando por você! Use o cupom VOLTEI e aproveite hoje.", 0.85, 1),
        ("Cupom: VOLTEI. Push sobre mesa.", [], "Sua mesa está esperando por você! Use o cupom VOLTE e aproveite hoje.", 0, 0.3),
        ("Desconto: 54%. Push sobre mesa.", [54.0], "A mesa do almoço de domingo sai com 54% OFF. Venha ver!", 0.9, 1),
        ("Desconto: 54%. Push sobre mesa.", [54.0], "A mesa do almoço de domingo espera por você. Venha ver!", 0.4, 0.8),
        ("Desconto: 54%. Push sobre mesa.", [54.0], "Prezado cliente, informamos que há mesa na loja.", 0, 0.3),
        ("Sem oferta. Push sobre mesa.", [], "A mesa do almoço de domingo espera por você. Venha ver!", 0.9, 1),
    ],
)  # fmt: skip
def test_a_push_passes_its_offer_on(
    judge: Judge, user: str, figures: list[float], text: str, least: float, most: float
) -> None:
    assert least <= judge(push(user, figures=figures), text) <= most


FACTS: list[dict[str, Any]] = [
    {"label": "nota média", "value": 2.4, "unit": ""},
    {"label": "receita", "value": 90861.0, "unit": "R$"},
    {"label": "conversão", "value": 2.1, "unit": "%"},
]
BRIEF = Prompt(
    "insights",
    "Analise nota média e receita. Dados de maio: nota média 2,4; receita R$ 90.861; conversão 2,1%.",
    None,
    {
        "facts": FACTS,
        "figures": [2.4, 90861.0, 2.1],
        "key_figures": [2.4, 90861.0],
        "key": ["nota média", "receita"],
    },
)
READ = (
    "- A nota média de 2,4 é baixa e põe em risco a receita de R$ 90.861.\n"
    "- Ligar para os clientes que deram nota 1 ou 2 e oferecer troca em até 48 horas.\n"
    "- Testar kits com desconto de 10% no carrinho por 30 dias e medir a receita."
)


@pytest.mark.parametrize(
    "step",
    [
        "Tomar providências necessárias.",
        "Fazer algo especial para os clientes.",
        "Incentivar os clientes de alguma forma.",
        "Melhorar o checkout de um modo geral.",
        "Buscar formas de vender mais.",
    ],
)
def test_a_step_that_leaves_open_what_is_a_blemish(judge: Judge, step: str) -> None:
    said = judge(BRIEF, f"{READ}\n- Oferecer cupom de R$ 20 na segunda compra, válido por 15 dias.")
    assert said > 0.95
    assert 0.6 * said <= judge(BRIEF, f"{READ}\n- {step}") <= 0.9 * said


@pytest.mark.parametrize(
    ("sentence", "worth"),
    [
        ("A nota média de 2,4 é baixa e a receita de R$ 90.861 sofre com isso.", 0.9),
        ("A nota média de 2,1 é baixa e a receita de R$ 90.861 sofre com isso.", 0.0),
        (
            "A nota média de 2,4 demonstra que os clientes do Sul estão muito satisfeitos com a receita de R$ 90.861.",
            0.0,
        ),
    ],
)
def test_a_rating_is_no_count_and_below_three_no_praise(judge: Judge, sentence: str, worth: float) -> None:
    steps = "- Ligar para os clientes que deram nota 1 ou 2.\n- Testar kits com desconto de 10% no carrinho."
    scored = judge(BRIEF, f"- {sentence}\n{steps}")
    assert scored >= worth if worth else scored <= 0.35


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("Celular protegido e cheio de estilo: mesa com 17% OFF. Escolha a sua.", 0.8, 1.0),
        ("Cadeira com 17% OFF e mesa também. Escolha a sua hoje!", 0.0, 0.3),
        ("Leve uma cadeira e uma mesa com 17% OFF hoje!", 0.0, 0.3),
    ],
)
def test_what_a_push_speaks_of_is_not_what_it_offers(judge: Judge, text: str, least: float, most: float) -> None:
    asked = push("Desconto: 17%. Push sobre mesa.", figures=[17.0])
    assert least <= judge(asked, text) <= most


@pytest.mark.parametrize(
    "step",
    [
        "Criar campanhas especiais com cupom de 10% para quem devolveu.",
        "Testar algo diferente: kit de 3 peças com frete grátis acima de R$ 150.",
    ],
)
def test_a_step_with_a_means_is_none(judge: Judge, step: str) -> None:
    assert judge(BRIEF, f"{READ}\n- {step}") > 0.95


@pytest.mark.parametrize(
    ("review", "summary", "other"),
    [
        ("As mesas são lindas e a entrega foi rápida. nota 5, móveis", "Gostou da mesa e da entrega.", False),
        ("O note é ótimo e a entrega foi rápida. nota 5, móveis", "Gostou do notebook e da entrega.", False),
        ("O pendrive é leve e a entrega foi rápida. nota 5, móveis", "Gostou da leveza e da entrega.", False),
        ("O pendrive é leve e a entrega foi rápida. nota 5, móveis", "Gostou da cadeira e da entrega.", True),
    ],
)
def test_which_things_are_others(review: str, summary: str, other: bool) -> None:
    asked, _ = extraction(review, 5, PLEASED | {"summary": ""})
    assert names_another(summary, asked) == other
