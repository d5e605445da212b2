"""What says the opposite of its review or of its brief, and what only looks so: both judges, each by itself."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from rewards_examples import Prompt

from rewards import load_reward_set
from tucano.truth import truth

GROUNDED = load_reward_set("grounded")
GLAD: Mapping[str, Any] = {
    "sentiment": "positive", "sentiment_score": 5, "category": "beleza", "delivery_issue": False,
    "product_issue": False, "seller_issue": False, "churn_risk": "low", "repurchase_intent": True,
    "main_complaint": None, "summary": "O perfume agradou, e o cliente compra de novo.",
}  # fmt: skip
SOUR: Mapping[str, Any] = {
    "sentiment": "negative", "sentiment_score": 1, "category": "esporte", "delivery_issue": False,
    "product_issue": False, "seller_issue": True, "churn_risk": "high", "repurchase_intent": False,
    "main_complaint": "vendedor não responde", "summary": "O cliente perguntou da esteira 14 vezes sem resposta.",
}  # fmt: skip


def review(text: str, fields: Mapping[str, Any]) -> Prompt:
    return Prompt("extraction", text, fields["sentiment_score"], {"fields": dict(fields)})


PERFUME = review("Extraia em JSON, nota 5: o perfume é de ótima qualidade. o preço foi bom. compraria de novo.", GLAD)
SPEAKER = review(
    "Extraia da avaliação, nota 5: muito feliz, o perfume superou o esperado. recomendo e compraria outra vez.", GLAD
)
TREADMILL = review("JSON da avaliação, nota 1: Perguntei 14 vezes sobre a esteira e o vendedor não responde.", SOUR)
SHEETS = review(
    "JSON da avaliação com nota 1: O vendedor negou a troca do lençol.",
    {**SOUR, "main_complaint": "troca negada", "summary": "O vendedor recusou a troca do lençol."},
)
BROKEN_SHOP = review(
    "JSON da avaliação, nota 2: Atendimento péssimo na compra da esteira. Nunca mais compro nesta loja.",
    {**SOUR, "sentiment_score": 2, "main_complaint": "atendimento ruim"},
)
POT = Prompt("push", "Push de panela, frete grátis.", reference={"product": "panela", "figures": []})
PHONE = Prompt("push", "Push para celular. Preço: R$ 313.", reference={"product": "celular", "figures": [313]})
CAMERA = Prompt(
    "push", "Temos câmera. Vale o cupom SURPRESA. Escreva o push.", reference={"product": "câmera", "figures": []}
)
NAPPY = Prompt("push", "Push: o cliente favoritou a fralda.", reference={"product": "fralda", "figures": []})
FACTS = (
    {"label": "recompra", "value": 28.2, "unit": "%"},
    {"label": "atraso", "value": 19.3, "unit": "%"},
    {"label": "pedidos", "value": 465.0, "unit": ""},
)
SHOP = Prompt(
    "insights",
    "Outubro: recompra 28,2%; atraso 19,3%; pedidos 465. O que fazer sobre recompra e atraso?",
    reference={"key_figures": [28.2, 19.3], "facts": FACTS, "key": ["recompra", "atraso"]},
)
ORDERS = Prompt(
    "insights",
    "Outubro: recompra 10,0%; pedidos 465; cancelamento 12,1%. O que fazer sobre recompra e pedidos?",
    reference={
        "key_figures": [10.0, 465.0],
        "facts": (
            {"label": "recompra", "value": 10.0, "unit": "%"},
            {"label": "pedidos", "value": 465.0, "unit": ""},
            {"label": "cancelamento", "value": 12.1, "unit": "%"},
        ),
        "key": ["recompra", "pedidos"],
    },
)
BAD, GOOD, WRONG_COMPLAINT = 0.3, 0.85, 0.4


def both(prompt: Prompt, text: str) -> tuple[float, float]:
    known = truth(prompt, text, None)
    assert known is not None
    return GROUNDED.score(prompt, text).total, known


def answer(prompt: Prompt, **changed: str) -> str:
    return json.dumps(prompt.reference["fields"] | changed, ensure_ascii=False)


@pytest.mark.parametrize(
    ("prompt", "summary"),
    [
        (PERFUME, "Cliente achou o perfume caro e de má qualidade."),
        (PERFUME, "Perfume fraco, não recomenda."),
        (PERFUME, "Cliente devolveu o perfume."),
        (PERFUME, "Cliente não compraria o perfume de novo."),
        (PERFUME, "Cliente não gostou do perfume."),
        (PERFUME, "O perfume tem preço alto e qualidade baixa."),
        (PERFUME, "O perfume não vale o preço."),
        (SPEAKER, "O perfume ficou abaixo do esperado."),
        (SPEAKER, "Cliente infeliz com o perfume, não recomenda."),
        (SPEAKER, "O perfume não superou o esperado; não compraria outra vez."),
        (SPEAKER, "Cliente decepcionado com o perfume, não recomenda."),
        (TREADMILL, "Cliente adorou a esteira e recomenda."),
        (TREADMILL, "Cliente muito satisfeito com a esteira, superou as expectativas."),
        (SHEETS, "O vendedor aceitou a troca do lençol."),
        (SHEETS, "O lençol foi trocado pelo vendedor sem problema."),
    ],
)
def test_a_summary_that_says_the_opposite_of_its_review_earns_little(prompt: Prompt, summary: str) -> None:
    assert max(both(prompt, answer(prompt, summary=summary))) <= BAD


@pytest.mark.parametrize(
    ("prompt", "summary"),
    [
        (PERFUME, "Cliente não se decepcionou com o perfume e recomenda."),
        (PERFUME, "O perfume não decepciona: qualidade ótima e preço bom."),
        (PERFUME, "O perfume tem preço abaixo do esperado e ótima qualidade."),
        (PERFUME, "O perfume vale o preço; o cliente não compraria em outra loja."),
        (PERFUME, "O cliente não recomenda outra marca: o perfume tem ótima qualidade."),
        (PERFUME, "O cliente não achou o perfume caro e elogia a qualidade."),
        (PERFUME, "O perfume devolveu a confiança do cliente, que elogia a qualidade."),
        (SPEAKER, "O cliente nunca ficou infeliz com o perfume, que superou o esperado."),
        (SPEAKER, "O perfume não só atendeu como superou o esperado, e o cliente recomenda."),
        (TREADMILL, "O cliente não recomenda a loja: perguntou da esteira 14 vezes e ficou sem resposta."),
        (TREADMILL, "O cliente esperava gostar da esteira, mas o vendedor não responde."),
        (TREADMILL, "Nada feliz, o cliente conta que o vendedor não responde sobre a esteira."),
        (SHEETS, "O vendedor não aceitou a troca do lençol."),
        (SHEETS, "O cliente queria o lençol trocado pelo vendedor, que recusou."),
    ],
)
def test_a_summary_with_such_words_that_is_true_keeps_its_credit(prompt: Prompt, summary: str) -> None:
    assert min(both(prompt, answer(prompt, summary=summary))) >= GOOD


@pytest.mark.parametrize(
    "complaint",
    [
        "vendedor negou a troca",
        "vendedor não enviou",
        "vendedor demora a enviar",
        "vendedor vende caro",
        "vendedor cobrou duas vezes",
        "vendedor cancelou a compra",
    ],
)
def test_another_failing_of_the_seller_is_another_complaint(complaint: str) -> None:
    assert max(both(TREADMILL, answer(TREADMILL, main_complaint=complaint))) <= WRONG_COMPLAINT


@pytest.mark.parametrize(
    "complaint",
    [
        "vendedor sem resposta",
        "vendedor demora a responder",
        "vendedor ignora perguntas",
        "o vendedor não respondeu às 14 perguntas",
        "vendedor não retorna contato",
    ],
)
def test_the_same_failing_in_other_words_is_the_complaint(complaint: str) -> None:
    assert min(both(TREADMILL, answer(TREADMILL, main_complaint=complaint))) >= GOOD


def test_what_the_review_itself_says_is_no_other_failing() -> None:
    charged = review(
        "Avaliação, nota 1: cancelei o produto e veio cobrado no meu cartão. quero o meu dinheiro de volta!",
        {**SOUR, "main_complaint": "reembolso não feito"},
    )
    told = answer(
        charged,
        main_complaint="cobrança no cartão de compra cancelada",
        summary="O cliente cancelou a compra, foi cobrado no cartão mesmo assim e pede o dinheiro de volta.",
    )
    assert GROUNDED.score(charged, told).total > WRONG_COMPLAINT


def test_who_charges_too_much_does_not_serve_badly() -> None:
    assert max(both(BROKEN_SHOP, answer(BROKEN_SHOP, main_complaint="atendente cobrou a mais"))) <= WRONG_COMPLAINT
    assert min(both(BROKEN_SHOP, answer(BROKEN_SHOP, main_complaint="péssimo atendimento da loja"))) >= GOOD


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        (POT, "Panela sem frete grátis. Garanta a sua!"),
        (POT, "A panela vai até você e o frete é por sua conta. Peça já!"),
        (PHONE, "Celular com multa de R$ 313. Garanta o seu!"),
        (CAMERA, "Use o cupom SURPRESA na câmera e pague mais caro. Aproveite!"),
        (NAPPY, "A fralda que você favoritou esgotou. Melhor procurar em outra loja."),
        (NAPPY, "Seu pedido da fralda foi aprovado. Veja no app!"),
    ],
)
def test_a_push_that_turns_its_offer_round_earns_little(prompt: Prompt, text: str) -> None:
    assert max(both(prompt, text)) <= BAD


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        (POT, "Panela com frete grátis. Sem pegadinha! Garanta a sua."),
        (POT, "Frete grátis na panela? Sem frete grátis ninguém fica: peça a sua!"),
        (POT, "Frete por sua conta? Aqui não! Panela com frete grátis pra você."),
        (POT, "Não fique sem frete grátis na panela: peça a sua hoje!"),
        (PHONE, "Celular por R$ 313, sem multa e sem surpresa. Garanta o seu!"),
        (PHONE, "Celular por R$ 313! Não pague mais caro: aproveite."),
        (CAMERA, "Deixe para depois e pague mais caro, ou use hoje o cupom SURPRESA na câmera!"),
        (CAMERA, "Use o cupom SURPRESA na câmera antes que esgote!"),
        (NAPPY, "A fralda que você favoritou quase esgotou. Garanta a sua!"),
        (NAPPY, "Esgotou e voltou: a fralda que você favoritou está aqui. Aproveite!"),
        (NAPPY, "Seu pedido da fralda está a um toque. Aproveite!"),
    ],
)
def test_a_push_with_such_words_that_offers_keeps_its_credit(prompt: Prompt, text: str) -> None:
    assert min(both(prompt, text)) >= GOOD


READ = "A recompra de 28,2% é boa, mas o atraso de 19,3% pesa.\n"


@pytest.mark.parametrize(
    "steps",
    [
        "- Atrase também os pedidos que chegam no prazo.\n- Use uma transportadora mais lenta e barata.",
        "- Use uma transportadora mais lenta e barata.\n- Envie cupom de retorno 30 dias depois da compra.",
        "- Peça ao cliente que avalie o pedido.\n- Cobre multa de quem reclamar do atraso.",
    ],
)
def test_advice_to_do_what_hurts_customers_earns_little(steps: str) -> None:
    assert max(both(SHOP, READ + steps)) <= BAD


@pytest.mark.parametrize(
    "steps",
    [
        "- Troque a transportadora mais lenta nas rotas com atraso.\n- Envie cupom de retorno 30 dias após a compra.",
        "- Cobre multa da transportadora que atrasar.\n- Troque a transportadora nas rotas com atraso.\n- Envie cupom 30 dias após a compra.",
        "- Use uma transportadora mais lenta só onde não há atraso.\n- Envie cupom de retorno 30 dias após a compra.",
        "- Troque a transportadora das rotas com atraso.\n- Envie cupom de retorno 30 dias após a compra."
        "\n- Não cobre multa de quem reclamar do atraso.",
    ],
)
def test_advice_with_such_words_that_helps_keeps_its_credit(steps: str) -> None:
    assert min(both(SHOP, READ + steps)) >= GOOD


@pytest.mark.parametrize(
    ("least", "text"),
    [
        (
            GOOD,
            "A recompra está em 10,0%, ou seja, nove em cada dez dos 465 pedidos vieram de gente nova.\n"
            "- Enviar WhatsApp com oferta de reposição 30 dias depois da entrega.\n"
            "- Criar um programa de pontos válido a partir da segunda compra.",
        ),
        (
            0.6,  # its steps stand in one sentence, which the reward counts as one
            "Temos 465 pedidos, mas a recompra é de apenas 10,0%. Sugiro testar dois caminhos com metade dos clientes"
            " cada: um cupom para a segunda compra e um lembrete de reposição. Ficamos com o que trouxer mais pedidos.",
        ),
    ],
)
def test_shares_in_words_and_a_test_by_halves_are_good(least: float, text: str) -> None:
    assert min(both(ORDERS, text)) >= least


def test_a_share_in_words_that_is_another_is_still_wrong() -> None:
    text = "A recompra está em 10,0%: seis em cada dez dos 465 pedidos vieram de gente nova.\n- Envie cupom de retorno."
    assert GROUNDED.score(ORDERS, text).total <= BAD
