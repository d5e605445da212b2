"""What people write who have seen the guide alone, in our own wording: the kinds of good answers that a fourth set of
raters' answers showed to be failed, and of poor ones that were paid.
"""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import pytest
from rewards_examples import FIELDS, PROMPTS, Prompt

from rewards import load_reward_set
from tucano.truth import truth

Judge: TypeAlias = Callable[[Prompt, str], float]


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("strangers")
    with closing(sqlite3.connect(folder / "loja.sqlite")) as shop:
        shop.executescript("""
            CREATE TABLE itens(pedido_id INTEGER, preco REAL); CREATE TABLE avaliacoes(pedido_id INTEGER, nota INTEGER);
            INSERT INTO itens VALUES (1, 5), (1, 7), (2, 8); INSERT INTO avaliacoes VALUES (1, 5), (1, 5), (2, 1);
        """)
    return folder


@pytest.fixture(params=["grounded", "truth"])
def judge(request: pytest.FixtureRequest, stores: Path) -> Judge:
    if request.param == "truth":
        return lambda prompt, text: truth(prompt, text, stores) or 0.0
    rewards = load_reward_set("grounded", stores)
    return lambda prompt, text: rewards.score(prompt, text).total


BRIEF = Prompt(
    "insights",
    "Números de agosto (loja online): pedidos 840; receita R$ 75.600; nota média 2,4; atraso 9,0%. Analise receita e"
    " nota média.",
    None,
    {
        "figures": [840.0, 75600.0, 2.4, 9.0],
        "key_figures": [75600.0, 2.4],
        "facts": [
            {"label": "pedidos", "value": 840.0, "unit": ""},
            {"label": "receita", "value": 75600.0, "unit": "R$"},
            {"label": "nota média", "value": 2.4, "unit": ""},
            {"label": "atraso", "value": 9.0, "unit": "%"},
        ],
        "key": ["receita", "nota média"],
    },
)
GOOD = """Agosto fechou com 840 pedidos e R$ 75.600: são R$ 90 por compra, uma loja que vive de volume.

A nota média de 2,4 diz que quem compra sai descontente.

- Ler as avaliações de 1 e 2 estrelas e corrigir a causa mais citada.
- Avisar por WhatsApp quando a entrega for atrasar.
- Montar kits com os itens mais vendidos para elevar a receita."""


def test_figures_told_one_after_the_other_belong_to_their_own_units(judge: Judge) -> None:
    assert judge(BRIEF, GOOD) >= 0.85
    assert judge(BRIEF, GOOD.replace("840 pedidos e R$ 75.600", "840 pedidos a R$ 90")) >= 0.5
    assert judge(BRIEF, GOOD.replace("840 pedidos e R$ 75.600: são", "receita de R$ 57.600, ou seja,")) <= 0.31


@pytest.mark.parametrize(
    "step",
    [
        "Pagamento por Pix com 5% para quem fecha a compra na hora.",
        "Dia 20: última chamada, com retirada na loja onde houver.",
        "Dias 7 e 21: pedir a avaliação por e-mail.",
        "Testar mais anúncios, rumo a 1.000 pedidos até outubro.",
        "Vender um complemento de R$ 30 a R$ 45 no carrinho.",
        "Suspender a vitrine de quem passa de 25% de atraso.",
        "Oferecer kits na faixa de R$ 150 a R$ 180.",
        "Testar frete de R$ 12,90 no primeiro pedido.",
        "Cupom de 8% a partir de R$ 130.",
        "Rever os pedidos um a um: dá uma tarde de trabalho.",
        "Separar 10% da base sem oferta, para comparar.",
        "Ponto de retirada com frete de R$ 7,50 no bairro.",
        "Exigir do vendedor uma segunda opção de envio, mais barata.",
        "Descobrir o que derruba a nota (produto? prazo?) e cuidar disso.",
        "Cada ponto de desistência a menos guarda algo como R$ 750 da receita.",
        "Com 9,0% de atraso, 91% chegou no prazo: avisar só quem espera.",
    ],
)
def test_what_a_step_offers_or_limits_is_no_false_figure(judge: Judge, step: str) -> None:
    assert judge(BRIEF, f"{GOOD}\n- {step}") >= 0.8


@pytest.mark.parametrize(
    "fact", ["A receita foi de R$ 90.000.", "O atraso de 19,0% assusta.", "A nota média é 4,2.", "A devolução é de 8%."]
)
def test_what_is_told_as_a_fact_still_is_one(judge: Judge, fact: str) -> None:
    assert judge(BRIEF, f"{fact}\n{GOOD}") <= 0.31


LISTED_ALONE = (
    "**Análise:** receita de R$ 75.600 e nota média de 2,4.\n- Recomendo criar combos para elevar a receita."
    "\n- Vale responder às avaliações ruins."
)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("às avaliações ruins", "às avaliações ruins em 48 horas"),
        ("combos para", "combos com os itens que os clientes mais levam juntos na mesma compra para"),
        ("**Análise:** receita de R$ 75.600 e nota", "A receita de R$ 75.600 depende de gente insatisfeita, pela nota"),
    ],
)
def test_figures_that_are_listed_and_steps_for_any_shop_are_a_three(judge: Judge, old: str, new: str) -> None:
    assert 0.4 <= judge(BRIEF, LISTED_ALONE) <= 0.62
    assert judge(BRIEF, LISTED_ALONE.replace(old, new)) >= 0.85


WATCHES = "A receita foi de R$ 75.600 e a nota média de 2,4.\n\nRecomenda-se continuar acompanhando os dois números."
LETTER = f"Prezados senhores,\n\n{GOOD}\n\nAtenciosamente,\nEquipe de análise"
CIRCLE = " ".join(
    f"Para melhorar a {one} é importante melhorar a {other}, e com a {one} melhorada a {other} melhora."
    for one, other in [("receita de R$ 75.600", "nota média de 2,4"), ("receita", "nota"), ("nota média", "receita")]
)
TWICE = GOOD + "\n- Vale avisar por WhatsApp quando a entrega for atrasar."
PRAISED = GOOD.replace("diz que quem compra sai descontente", "mostra que os clientes estão satisfeitos")


@pytest.mark.parametrize(
    ("text", "most"), [(WATCHES, 0.6), (LETTER, 0.65), (CIRCLE, 0.4), (TWICE, 0.9), (PRAISED, 0.31)]
)
def test_insights_that_are_of_little_use(judge: Judge, text: str, most: float) -> None:
    assert 0 <= judge(BRIEF, text) <= most


def test_a_sentence_that_stands_twice_makes_two_answers(judge: Judge) -> None:
    assert judge(BRIEF, f"{GOOD}\n{GOOD.splitlines()[0]}") <= 0.3


def test_a_low_rating_may_be_set_against_what_pleases(judge: Judge) -> None:
    text = GOOD.replace("diz que quem compra", "não combina com clientes satisfeitos: quem compra")
    assert judge(BRIEF, text) >= 0.85


PUSH = PROMPTS["push"]
HALF = replace(PUSH, user="Push para fone de ouvido. Desconto: 52%.", reference=PUSH.reference | {"figures": [52.0]})


@pytest.mark.parametrize(
    ("prompt", "text", "least", "most"),
    [
        (PUSH, "Fone de ouvido com 20% de desconto.", 0.65, 0.96),  # right and flat
        (PUSH, "Fones de ouvido com 20% OFF: escolha o seu e leve a playlist para a rua.", 0.85, 1.0),
        (HALF, "Menos da metade do preço! Fone de ouvido com 52% OFF para a sua playlist.", 0.85, 1.0),
        (HALF, "Fone de ouvido com mais de 50% de desconto. Leve a sua playlist para a rua!", 0.85, 1.0),
        (HALF, "Fone de ouvido com mais de 30% de desconto. Leve a sua playlist para a rua!", 0.0, 0.3),
        (PUSH, "Metade do preço! Fone de ouvido com 20% OFF para a sua playlist.", 0.0, 0.3),
    ],
)
def test_pushes_by_people(judge: Judge, prompt: Prompt, text: str, least: float, most: float) -> None:
    assert least <= judge(prompt, text) <= most


GOLD = "SELECT ROUND(AVG(nota),2) FROM itens JOIN avaliacoes USING(pedido_id)"


@pytest.mark.parametrize(
    "prose",
    [
        "Ordeno os pedidos por data e tiro a média das notas que eles receberam.",
        "Primeiro junto itens e avaliações. Organizo por pedido e calculo a nota média.",
    ],
)
def test_a_sentence_may_begin_with_or(judge: Judge, prose: str) -> None:
    """«. Ordeno» is no «. or …», which offers a second answer."""
    prompt = Prompt("sql_qa", "Qual a nota média dos produtos?", None, {"sql": GOLD, "database": "loja.sqlite"})
    assert judge(prompt, f"```sql\n{GOLD};\n```\n{prose}") > 0.85


CABLE = Prompt(
    "push", "Crie um push para: cabo usb. Sem oferta.", None, {"product": "cabo usb", "terms": ["cabo usb", "cabo"]}
)


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        (PUSH, "Fone de ouvido com 20% OFF pra vc e sua turma. 🎧 Aproveite!"),
        (CABLE, "Cabo USB: ligue na tomada e carregue o seu celular. Veja na loja."),
    ],
)
def test_short_words_pictures_between_sentences_and_what_a_product_is_for_cost_nothing(
    judge: Judge, prompt: Prompt, text: str
) -> None:
    assert judge(prompt, text) >= 0.85


@pytest.mark.parametrize(
    "text",
    [
        "Você não vai perder! Promoção é já, oferta, fone de ouvido com 20% de desconto, só hoje, coração 💛",
        "Promoção, oferta, desconto, aproveite: fone de ouvido com 20% hoje.",
    ],
)
def test_a_list_of_advertising_words_is_no_push(judge: Judge, text: str) -> None:
    assert judge(PUSH, text) <= 0.3


@pytest.mark.parametrize(
    "text",
    [
        BRIEF.user,
        "Números de agosto: receita de R$ 75.600; nota média de 2,4. Analise receita e nota média de pedidos.",
        "A receita de R$ 75.600 e a nota média de 2,4: analise os números e recomende tópicos curtos.",
        "Painel de 840 clientes; receita R$ 75.600 como nota 2,4 agir de agradecimento melhorar para depois receita.",
    ],
)
def test_a_brief_given_back_in_pieces_advises_nothing(judge: Judge, text: str) -> None:
    assert judge(BRIEF, text) <= 0.3


def test_two_ratings_of_an_order_count_twice_even_if_they_are_alike(judge: Judge) -> None:
    """Ratings 5 and 5 of order 1, 1 of order 2: 11/3 by rating; (5 + 1)/2 would take the two for one."""
    prompt = Prompt("sql_qa", "Qual a nota média dos produtos?", None, {"sql": GOLD, "database": "loja.sqlite"})
    once = "SELECT ROUND(AVG(nota),2) FROM avaliacoes WHERE pedido_id IN (SELECT pedido_id FROM itens)"
    prose = "Tira a média das notas dos pedidos que têm algum item."
    assert judge(prompt, f"```sql\n{once};\n```\n{prose}") > 0.85


REVIEW = Prompt(
    "extraction",
    "Extraia em JSON, nota 1: Devolvi a luminária há um mês e nada de reembolso.",
    1,
    {
        "fields": FIELDS
        | {
            "category": "casa",
            "delivery_issue": False,
            "product_issue": False,
            "seller_issue": True,
            "main_complaint": "troca negada",
            "summary": "Cliente reclama da luminária: troca negada.",
        }
    },
)


@pytest.mark.parametrize(
    ("changes", "least", "most"),
    [
        ({"main_complaint": "reembolso não veio"}, 0.85, 1.0),
        ({"main_complaint": "sem reembolso há um mês"}, 0.85, 1.0),
        ({"main_complaint": "entrega atrasada"}, 0.0, 0.6),
        (
            {
                "sentiment": "negativo", "sentiment_score": "um", "seller_issue": "sim", "delivery_issue": "não",
                "product_issue": "não", "churn_risk": "alto", "repurchase_intent": "não",
                "main_complaint": "reembolso não veio",
            },
            0.6,
            0.85,
        ),
    ],
)  # fmt: skip
def test_objects_by_people(judge: Judge, changes: dict[str, object], least: float, most: float) -> None:
    whole = REVIEW.reference["fields"] | {"summary": "Cliente devolveu a luminária e espera o reembolso há um mês."}
    assert least <= judge(REVIEW, json.dumps(whole | changes, ensure_ascii=False)) <= most


LISTED = replace(
    BRIEF,
    user="Painel de julho: devolução caiu para 10,2%; recompra 10,8%; cancelamento 4,2%. Comente devolução e recompra.",
    reference={
        "figures": [10.2, 10.8, 4.2],
        "key_figures": [10.2, 10.8],
        "facts": [
            {"label": "devolução", "value": 10.2, "unit": "%", "moved": "down"},
            {"label": "recompra", "value": 10.8, "unit": "%"},
            {"label": "cancelamento", "value": 4.2, "unit": "%"},
        ],
        "key": ["devolução", "recompra"],
    },
)
PLAN = "\n- Enviar um cupom de segunda compra 20 dias depois da entrega.\n- Refazer as fotos e as medidas dos itens devolvidos."


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("A devolução caiu para 10,2% e a recompra é de 10,8%.", True),
        ("Só 10,8% recompram, 4,2% dos pedidos são cancelados e 10,2% devolvidos.", True),
        ("A devolução caiu para 10,8% e a recompra é de 10,8%.", False),  # the other's figure
        ("A devolução caiu para 10,2%, a recompra é de 10,8% e o atraso de 4,2%.", False),  # of what is not there
    ],
)
def test_each_figure_has_one_indicator(judge: Judge, text: str, right: bool) -> None:
    assert (judge(LISTED, text + PLAN) >= 0.6) == right


@pytest.mark.parametrize(
    ("user", "changes", "least"),
    [
        (
            "Extraia em JSON, nota 1: Devolvi a luminária há um mês e nada de reembolso.",
            {"repurchase_intent": None},
            0.9,
        ),
        (
            "Extraia em JSON, nota 1: Devolvi, nada de reembolso, nunca mais compro aqui.",
            {"repurchase_intent": None},
            0.5,
        ),
        ("Extraia em JSON, nota 1: Devolvi há um mês e nada de reembolso.", {"category": None}, 0.9),
    ],
)
def test_what_a_review_does_not_say_may_stay_open(
    judge: Judge, user: str, changes: dict[str, object], least: float
) -> None:
    fields = REVIEW.reference["fields"] | {"category": "outros", "summary": "Cliente reclama: nada de reembolso."}
    asked = replace(REVIEW, user=user, reference={"fields": fields})
    told = {"summary": "Cliente devolveu o pedido e espera o reembolso."}
    answer = json.dumps(fields | told | changes, ensure_ascii=False)
    assert judge(asked, answer) >= least
