"""One field of an extraction at a time: which values are valid, how far they agree with the reference, when they count
as right.
"""

from typing import Any

import pytest
from rewards_examples import Prompt

from rewards.extraction import CHECKS, FIELDS, agreement, contradicts, token_f1
from rewards.wording.beside import retracts
from rewards.wording.summaries import (
    DISORDERED,
    INVENTED,
    LABEL,
    OPPOSED,
    OTHER_NAME,
    OTHER_THING,
    in_order,
    summary_worth,
)
from rewards.wording.troubles import same_trouble

VALID: dict[str, list[Any]] = {
    "sentiment": ["positive", "neutral", "negative"],
    "sentiment_score": [1, 2, 3, 4, 5],
    "category": ["moda", " x "],
    "delivery_issue": [True, False],
    "product_issue": [True, False],
    "seller_issue": [True, False],
    "churn_risk": ["low", "medium", "high"],
    "repurchase_intent": [True, False],
    "main_complaint": ["atraso", None],
}
INVALID: dict[str, list[Any]] = {
    "sentiment": ["Positive", "ruim", "", None, True, 1, ["positive"], {"a": 1}],
    "sentiment_score": [0, 6, -1, True, False, 3.0, "3", None, [3]],
    "category": ["", " \n", None, 0, ["moda"], True],
    "delivery_issue": [0, 1, "true", None, []],
    "product_issue": [0, 1, "false", None, {}],
    "seller_issue": [0, 1, "não", None, 1.0],
    "churn_risk": ["alto", "High", None, 2, ["low"]],
    "repurchase_intent": [0, 1, "true", None, "sim"],
    "main_complaint": ["", " ", False, 0, [], {}],
}


def test_ten_fields_of_which_nine_are_checked() -> None:
    assert list(CHECKS) == list(VALID) and (*VALID, "summary") == FIELDS


@pytest.mark.parametrize("name", VALID)
def test_checks(name: str) -> None:
    assert [value for value in VALID[name] if not CHECKS[name](value)] == []
    assert [value for value in INVALID[name] if CHECKS[name](value)] == []


@pytest.mark.parametrize("stars", [None, 1, 2, 3, 4, 5])
def test_a_sentiment_contradicts_the_stars(stars: int | None) -> None:
    found = [
        sentiment
        for sentiment in ("positive", "neutral", "negative", "Positive", None)
        if contradicts(sentiment, stars)
    ]
    assert found == {1: ["positive"], 2: ["positive"], 4: ["negative"], 5: ["negative"]}.get(stars or 0, [])


@pytest.mark.parametrize(
    ("text", "expected", "f1"),
    [
        ("entrega atrasada", "Entrega ATRASADA", 1),
        ("a entrega", "entrega atrasada", 0.5),
        ("a a a entrega", "entrega atrasada", 0.5),
        ("entrega", "entrega muito atrasada", 0.5),
        ("entrega", "produto", 0),
        ("É só", "e SÓ", 1),
        ("", "entrega", 0),
        ("entrega", "", 0),
        ("", "", 1),
        ("!", " ! ", 1),
        (" !", "!", 1),
        ("!", "?", 0),
        ("¨A", "¨á", 1),
    ],
)
def test_word_f1(text: str, expected: str, f1: float) -> None:
    assert token_f1(text, expected) == pytest.approx(f1)


@pytest.mark.parametrize(
    ("name", "value", "expected", "agreed"),
    [
        ("sentiment", "positive", "positive", 1),
        ("sentiment", "Positive", "positive", 0),
        ("sentiment", "positive", None, 0),
        ("churn_risk", "low high", "low", 0),
        ("sentiment_score", 3, 3, 1),
        ("sentiment_score", 4, 3, 0.5),
        ("sentiment_score", 2, 3, 0.5),
        ("sentiment_score", 5, 3, 0),
        ("sentiment_score", 5, 1, 0),
        ("sentiment_score", 3.0, 3, 0),
        ("sentiment_score", True, 1, 0),
        ("sentiment_score", "3", 3, 0),
        ("delivery_issue", True, True, 1),
        ("delivery_issue", False, True, 0),
        ("delivery_issue", 1, True, 0),
        ("category", "Eletrônicos", "eletronicos", 1),
        ("category", " moda ", "Moda\n", 1),
        ("category", "moda feminina", "moda", 2 / 3),
        ("category", None, "moda", 0),
        ("main_complaint", "Entrega atrasada!", "entrega atrasada", 1),
        ("main_complaint", "entrega", "entrega muito atrasada", 0.5),
        ("main_complaint", "entrega", "a entrega muito atrasada", 0.4),
        ("main_complaint", None, None, 1),
        ("main_complaint", None, "atraso", 0),
        ("main_complaint", "atraso", None, 0),
        ("summary", "Cliente feliz", "cliente muito feliz", 0.8),
    ],
)
def test_agreement_is_dense(name: str, value: object, expected: object, agreed: float) -> None:
    assert agreement(name, value, expected) == pytest.approx(agreed)


@pytest.mark.parametrize(
    ("said", "agreed"),
    [
        ("chegou oito dias depois do prazo", 1),  # its kind
        ("fone com vinte dias", 1),  # nearly all in words of the review
        ("nenhum atraso", 0),
        ("produto quebrado, atendimento ruim, sem nota fiscal", 0),  # three kinds that nobody told of
        ("cor feia", 0),
    ],
)
def test_a_complaint_agrees_by_its_kind_or_its_words(said: str, agreed: float) -> None:
    review = "O fone chegou vinte dias depois do prazo."
    assert same_trouble(said, "entrega atrasada", review) == agreed


@pytest.mark.parametrize(
    ("summary", "worth"),
    [
        ("O fone veio vinte dias atrasado e ele desistiu da loja.", 1),
        ("Cliente insatisfeito com o fone.", LABEL),
        ("Cliente insatisfeito com o travesseiro.", OTHER_NAME),
        ("Fala da compra.", OTHER_THING),
        (None, OTHER_THING),
        ("O fone veio noventa dias atrasado, e ele desistiu.", INVENTED),
        ("Adorou o fone, excelente.", OPPOSED),
    ],
)
def test_what_a_summary_leaves(summary: str | None, worth: float) -> None:
    fields = {"sentiment": "negative", "main_complaint": "entrega atrasada", "summary": "O fone atrasou."}
    prompt = Prompt("extraction", "Avaliação: O fone chegou vinte dias depois do prazo.", 1, {"fields": fields})
    assert summary_worth(summary, "entrega atrasada", prompt) == worth


@pytest.mark.parametrize(
    ("summary", "least", "most"),
    [
        ("Cliente não recebeu a boneca em 14 dias e pede o dinheiro de volta.", 1, 1),
        ("Cliente reclama: não recebi a boneca, quero meu dinheiro.", 1, 1),  # the review's own order
        ("Cliente reclama: boneca.", 1, 1),  # too short to have one
        ("1. \n2. \n3. \n4. \n5. \n6. \n7. ", 0.75, 1),  # marks of a list alone
        ("Boneca 14 de não volta os já recebi do meu a faz da.", DISORDERED, 0.8),
        ("Cliente reclama: boneca a dias não meu para o de volta recebi sem.", DISORDERED, 0.85),
    ],
)
def test_a_summary_of_words_in_no_order_costs(summary: str, least: float, most: float) -> None:
    review = "Já faz 14 dias e não recebi a boneca. Quero meu dinheiro de volta."
    assert least <= in_order(summary, review) <= most


@pytest.mark.parametrize(
    ("text", "taken_back"),
    [
        ("A consulta está errada.", True),
        ("Não use esta consulta.", True),
        ("Favor desconsiderar.", True),
        ("Sem o JOIN, o total sai errado.", False),
        ("Não use este número como total do ano.", False),
        ("O cliente recebeu o produto errado.", False),
    ],
)
def test_an_answer_is_taken_back_by_what_is_said_of_it(text: str, taken_back: bool) -> None:
    assert retracts(text) == taken_back
