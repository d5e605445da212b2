"""What a reader of a day's mends found: a word near a figure, or near an offer, is no leave to invent one. Each text
earned .75 and more from one judge or both.
"""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from rewards_examples import Prompt
from test_strangers_styles import BRIEF, GOOD, PUSH, REVIEW, Judge

from rewards import load_reward_set
from tucano.truth import truth


@pytest.fixture(params=["grounded", "truth"])
def judge(request: pytest.FixtureRequest, tmp_path: Path) -> Judge:
    if request.param == "truth":
        return lambda prompt, text: truth(prompt, text, tmp_path) or 0.0
    rewards = load_reward_set("grounded", tmp_path)
    return lambda prompt, text: rewards.score(prompt, text).total


@pytest.mark.parametrize(
    "claim",
    [
        "A nota média está na casa de 4,6.",
        "O atraso está na faixa de 30%.",
        "O atraso, já na casa de 35%, derruba a loja.",
        "Rumo a 45% de atraso, a loja perde dinheiro.",
        "Primeiro ponto: receita de R$ 95.000 no mês.",
        "Primeiro o atraso, de 45%, depois a nota.",
        "A receita de R$ 95.000 a partir de agosto anima.",
        "O Pix com 70% das compras domina.",
        "Com o Pix fora, 45% desistem.",
        "Receita de R$ 95.000 no Pix.",
        "O complemento do frete custou R$ 9.000.",
        "Hoje foram 840 pedidos e R$ 99.000.",
        "Vale lembrar: 840 pedidos e R$ 12.000 no caixa.",
        "Lançamos receita de R$ 95.000.",
        "Na semana 45 o atraso explodiu.",
        "No dia 900 pedidos foram cancelados.",
        "Quem passa de 40% de atraso somos nós.",
        "Os clientes estão satisfeitos: nota média de 2,4.",
    ],
)
def test_a_claim_is_one_whatever_stands_near(judge: Judge, claim: str) -> None:
    assert judge(BRIEF, f"{claim}\n{GOOD}") <= 0.31


@pytest.mark.parametrize(
    "line",
    [
        "A nota média de 2,4 mostra que faltam clientes satisfeitos.",
        "Subir a nota média de 2,4 é tornar o atendimento excelente.",
        "Uma nota média de 2,4 é péssima: lojas excelentes ficam acima de 4,5.",
        "A nota média de 2,4 derruba a prova social nas páginas.",
    ],
)
def test_blame_is_no_praise(judge: Judge, line: str) -> None:
    assert judge(BRIEF, GOOD.replace("A nota média de 2,4 diz que quem compra sai descontente.", line)) >= 0.85


@pytest.mark.parametrize(
    "more",
    [
        "## Elevar a receita\n",
        "Para melhorar a nota média:\n",
        "Como elevar a receita?\n",
        "- Acompanhar a receita e a nota todo mês.\n",
        "- Mandar a quem recebeu tarde: «Prezada cliente, pedimos desculpas. Atenciosamente, a equipe».\n",
        "- Dia 7: enviar e-mail com cupom de 5%.\n- Dia 21: enviar e-mail com cupom de 8%.\n",
    ],
)
def test_headings_letters_to_others_and_two_sides_of_a_test_cost_little(judge: Judge, more: str) -> None:
    assert judge(BRIEF, f"{GOOD}\n{more}".strip()) >= 0.85


def offering(share: int) -> Prompt:
    return replace(
        PUSH,
        user=f"Push para fone de ouvido. Desconto: {share}%.",
        reference=PUSH.reference | {"figures": [float(share)]},
    )


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (52, "Fone de ouvido: o segundo sai pela metade do preço. Leve a sua playlist para a rua!"),
        (52, "Fone de ouvido pela metade do preço e frete pela metade. Leve a sua playlist!"),
        (52, "Metade do preço em toda a loja: fone de ouvido com 52% OFF para a sua playlist."),
        (60, "Fone de ouvido com 60% OFF, capinha pela metade do preço. Leve a sua playlist!"),
        (22, "Fone de ouvido com 22% OFF e mais de 20% de volta. Leve a playlist para a rua!"),
        (20, "Leve o seu e com 20% o seu e fone de ouvido."),
    ],
)
def test_half_of_a_price_is_that_of_the_product(judge: Judge, share: int, text: str) -> None:
    assert judge(offering(share), text) <= 0.3


@pytest.mark.parametrize(
    "text", ["O meu primo comprou fone de ouvido.", "Este texto fala de fone de ouvido.", "Fone de ouvido existe."]
)
def test_a_product_alone_is_no_offer(judge: Judge, text: str) -> None:
    nothing = replace(PUSH, user="Push para fone de ouvido.", reference=PUSH.reference | {"figures": []})
    assert judge(nothing, text) <= 0.3


@pytest.mark.parametrize(
    "complaint",
    [
        "reembolso foi feito, não houve problema",
        "o reembolso não demorou",
        "não ficou sem reembolso",
        "estorno pago e não contestado",
        "descaso com a embalagem",
    ],
)
def test_a_refund_that_came_was_not_refused(judge: Judge, complaint: str) -> None:
    whole = REVIEW.reference["fields"] | {"summary": "Cliente devolveu a luminária e espera o reembolso há um mês."}
    assert judge(REVIEW, json.dumps(whole | {"main_complaint": complaint}, ensure_ascii=False)) <= 0.45
