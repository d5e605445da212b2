"""Golden examples of the report's reward set: each expected share is worked out from the component table."""

import json
from typing import Any

import pytest
from rewards_examples import FIELDS, PROMPTS

from rewards import RewardSet, load_reward_set
from rewards.parsing.text import any_of, count_distinct, fold
from rewards.v42 import BUSINESS_WORDS, FORMAL, GENERIC, STRUCTURE, length_share, push_length_share, sql_keywords


@pytest.fixture
def v42() -> RewardSet:
    return load_reward_set("v4.2")


def extraction(v42: RewardSet, **changes: Any) -> dict[str, float]:
    """The components of the good answer with some fields changed (`...` leaves a field out)."""
    fields = {name: value for name, value in (FIELDS | changes).items() if value is not ...}
    return v42.score(PROMPTS["extraction"], json.dumps(fields)).components


def test_extraction_good_answer(v42: RewardSet) -> None:
    assert extraction(v42) == {
        "extraction.valid_json": 0.30,
        "extraction.fields_present": pytest.approx(0.30),
        "extraction.value_checks": pytest.approx(0.40),
        "extraction.contradiction": 0.0,
    }


@pytest.mark.parametrize(
    ("changes", "fields", "checks"),
    [
        ({"summary": ...}, 9, 9),
        ({"summary": 3}, 10, 9),
        ({"main_complaint": None}, 10, 9),
        ({"main_complaint": ...}, 9, 8),
        ({"main_complaint": ""}, 10, 8),
        ({"category": None}, 10, 8),
        ({"sentiment_score": True}, 10, 8),
        ({"sentiment_score": 4.0}, 10, 8),
        ({"sentiment_score": "1"}, 10, 8),
        ({"sentiment_score": 0}, 10, 8),
        ({"sentiment_score": 6}, 10, 8),
        ({"sentiment_score": 5}, 10, 9),
        ({"delivery_issue": "delivery_issue", "product_issue": "false", "seller_issue": 0}, 10, 6),
        ({"repurchase_intent": None, "churn_risk": "baixo", "sentiment": "Negative"}, 10, 6),
        ({"outro": 1}, 10, 9),
    ],
)
def test_extraction_counts_fields_and_checks(v42: RewardSet, changes: dict[str, Any], fields: int, checks: int) -> None:
    parts = extraction(v42, **changes)
    assert parts["extraction.fields_present"] == pytest.approx(0.30 * fields / 10)
    assert parts["extraction.value_checks"] == pytest.approx(0.40 * checks / 9)


@pytest.mark.parametrize(
    ("stars", "sentiment", "penalty"),
    [
        (5, "negative", -0.2),
        (3, "negative", 0),
        (1, "positive", -0.2),
        (None, "negative", 0),
    ],
)
def test_extraction_contradiction(v42: RewardSet, stars: int | None, sentiment: str, penalty: float) -> None:
    prompt = type(PROMPTS["extraction"])("extraction", "Avaliação", stars)
    score = v42.score(prompt, json.dumps(FIELDS | {"sentiment": sentiment}))
    assert score.components["extraction.contradiction"] == penalty
    assert score.total == pytest.approx(1 + penalty)


def test_extraction_portuguese_decimals_do_not_hide_the_other_fields(v42: RewardSet) -> None:
    text = json.dumps(FIELDS).replace('"sentiment_score": 1', '"sentiment_score": 4,5')
    assert v42.score(PROMPTS["extraction"], text).total == pytest.approx(0.6 + 0.4 * 8 / 9)


@pytest.mark.parametrize(
    ("answer", "parts"),
    [
        ("", (0, 0, 0, 0)),
        ("SELECT 1", (0.1, 0, 0.125, 0)),
        ("Use SELECT, FROM, WHERE e GROUP BY nos pedidos.", (0, 0, 0, 0.04)),
        ("SELECT COUNT(*) FROM t WHERE a = 'JOIN LIMIT'", (0.3, 0, 0, 0)),
        ("SELECT a FROM t\n\num dois tres quatro cinco", (0.2, 0.125, 0, 0)),
        ("Foram 12 e 3,5% sem consulta.", (0, 0, 0.25, 0)),
        ("Os pedidos do cliente: receita, frete e estoque da loja.", (0, 0, 0, 0.2)),
    ],
)
def test_sql_qa(v42: RewardSet, answer: str, parts: tuple[float, ...]) -> None:
    assert tuple(v42.score(PROMPTS["sql_qa"], answer).components.values()) == pytest.approx(parts)


def test_thirty_business_words() -> None:
    assert BUSINESS_WORDS.pattern.count("|") + 1 == 30


@pytest.mark.parametrize(
    ("answer", "parts"),
    [
        ("Recomendo melhorar.", (0.2, 0.3 * 19 / 100, 0, 0)),
        ("- Recomendo\n- Melhore\n- Priorize\n- Invista", (0.4, 0.3 * 42 / 100, 0.2, 0)),
        ("# Cliente\n1. Produtos\n" + "a" * 880, (0, 0.3 * (1600 - 902) / 800, 0.2 * 2 / 3, 0.1)),
    ],
)
def test_insights(v42: RewardSet, answer: str, parts: tuple[float, ...]) -> None:
    assert tuple(v42.score(PROMPTS["insights"], answer).components.values()) == pytest.approx(parts)


@pytest.mark.parametrize(
    ("characters", "share"), [(0, 0), (50, 0.5), (100, 1), (800, 1), (1200, 0.5), (1600, 0), (5000, 0)]
)
def test_insights_length(characters: int, share: float) -> None:
    assert length_share(characters) == pytest.approx(share)


@pytest.mark.parametrize(
    ("characters", "share"), [(1, 1), (120, 1), (121, (79 / 80) ** 2), (140, 0.5625), (160, 0.25), (200, 0), (201, 0)]
)
def test_push_length(characters: int, share: float) -> None:
    assert push_length_share(characters) == pytest.approx(share)


@pytest.mark.parametrize(
    ("answer", "parts"),
    [
        ("", (0, 0, 0, 0)),
        ("ok", (0.5, 0, 0, 0)),
        ("Você ganhou frete hoje", (0.5, 0.3, 0.2, 0)),
        ("Buy this now", (0.5, 0, 0.2, 0)),
        ("Não perca, confira", (0.5, 0.25, 0.1, 0)),
        ("Prezado cliente, seu fone chegou. Atenciosamente.", (0.5, 0.1, 0.2, -0.2)),
        ("a b " * 60, (0, 0, 0.2, 0)),
    ],
)
def test_push(v42: RewardSet, answer: str, parts: tuple[float, ...]) -> None:
    assert tuple(v42.score(PROMPTS["push"], answer).components.values()) == pytest.approx(parts)


def test_words_match_without_accents_and_case_and_count_once() -> None:
    pattern = any_of("recomend* so")
    assert count_distinct(pattern, fold("RECOMENDAÇÃO, recomendo: só isso, sobre")) == 2


KEYWORDS = [
    "SELECT",
    "FROM",
    "WHERE",
    "JOIN",
    "GROUP_BY",
    "ORDER_BY",
    "HAVING",
    "LIMIT",
    "DISTINCT",
    "UNION",
    "WITH",
    "CASE",
    "COUNT",
    "SUM",
    "AVG",
    "MIN",
    "MAX",
]


@pytest.mark.parametrize("keyword", [word.replace("_", " ") for word in KEYWORDS])
def test_each_keyword_counts_as_a_whole_word(keyword: str) -> None:
    assert sql_keywords(f"a {keyword}(b)") == sql_keywords(f"a {keyword.lower()}") == 1
    assert (
        sql_keywords(f"a{keyword}")
        == sql_keywords(f"{keyword}a")
        == sql_keywords(keyword.replace(" ", "")) % 2 - (" " not in keyword)
        == 0
    )


def test_keywords_in_literals_names_and_comments_do_not_count() -> None:
    assert sql_keywords("'a''FROM' \"JOIN\" -- WHERE\nLIMIT /* SUM\n MIN */ ''AVG''") == 2  # LIMIT and AVG
    assert sql_keywords("group by a GROUP\n BY b") == sql_keywords("GROUP --\nBY c") == 1
    assert (
        sql_keywords("select '' from 'x'")
        == sql_keywords('select "" from "x"')
        == sql_keywords("/**/ select /* x */ from /* y */")
        == 2
    )
    assert sql_keywords("'it''s from'") == sql_keywords("'from'''") == 0
    assert sql_keywords("GROUPBY ORDERBY") == 0


STOCK = [
    "confira nossas ofertas", "confira as nossas novidades", "confira nossas promoções", "não perca", "aproveite já", "aproveite agora",
    "aproveite as ofertas", "aproveite nossas", "ofertas imperdíveis", "promoção imperdível", "temos novidades", "visite nossa loja",
    "clique aqui", "oferta especial", "caro cliente", "olá, cliente".replace(",", ""),
]  # fmt: skip


@pytest.mark.parametrize("phrase", STOCK)
def test_each_stock_phrase_is_generic(v42: RewardSet, phrase: str) -> None:
    assert len(GENERIC.findall(fold(f"Hoje {phrase}, seu fone"))) == 1
    parts = [
        v42.score(PROMPTS["push"], f"Seu fone chegou. {phrase * times}").components["push.not_generic"]
        for times in (0, 1, 2, 3)
    ]
    assert parts == pytest.approx([0.2, 0.1, 0, 0])


@pytest.mark.parametrize(
    "word",
    ["prezado", "prezada", "prezados", "atenciosamente", "cordialmente", "estimado", "estimadas", "venho por meio", "vimos por meio", "vossa senhoria"],
)  # fmt: skip
def test_each_word_of_a_formal_email_counts_as_a_whole(word: str) -> None:
    assert FORMAL.search(f"({word})") and not FORMAL.search(f"des{word}") and not FORMAL.search(f"{word}x")


@pytest.mark.parametrize(
    ("line", "marks"),
    [
        ("- a", 1), ("* a", 1), ("• a", 1), ("– a", 1), ("  - a", 1), ("\t-\ta", 1), ("-a", 0), ("- ", 0), ("a - b", 0), ("+ a", 0),
        ("# a", 1), ("###### a", 1), ("####### a", 1), ("#a", 1), ("#", 0), ("1. a", 1), ("12) a", 1), ("123. a", 0), ("1.a", 0), ("1 a", 0),
        ("**a**", 1), ("** a b** c", 1), ("**a", 0), ("****", 0), ("**a\nb**", 0), ("a **b**", 0), ("- a\n- b\n\n1. c", 3),
    ],
)  # fmt: skip
def test_marks_of_structure(line: str, marks: int) -> None:
    assert len(STRUCTURE.findall(line)) == marks


def test_an_accent_or_three_words_are_half_of_portuguese_each(v42: RewardSet) -> None:
    def portuguese(text: str) -> float:
        return v42.score(PROMPTS["push"], text).components["push.portuguese"]

    assert [portuguese(f"x{letter}x") for letter in "áàâãéêíóôõúüçÁÇ"] == pytest.approx([0.15] * 15)
    assert [portuguese(text) for text in ("xñx", "xëx", "xyz")] == [0, 0, 0]
    assert [portuguese(text) for text in ("com", "com com para", "com para por", "com para por hoje")] == pytest.approx(
        [0.05, 0.1, 0.15, 0.15]
    )


def test_three_words_are_needed_not_to_be_generic(v42: RewardSet) -> None:
    assert [v42.score(PROMPTS["push"], text).components["push.not_generic"] for text in ("a b", "a b c")] == [0, 0.2]


def test_sql_counts(v42: RewardSet) -> None:
    def parts(answer: str) -> tuple[float, ...]:
        return tuple(v42.score(PROMPTS["sql_qa"], answer).components.values())

    nine, ten = "um dois três quatro cinco seis sete oito nove", "um dois três quatro cinco seis sete oito nove dez"
    assert [parts(f"SELECT a FROM t\n\n{prose}")[1] for prose in (nine, ten, ten + " onze")] == pytest.approx(
        [0.225, 0.25, 0.25]
    )
    assert [parts(f"há {numbers}")[2] for numbers in ("x", "3 x", "3 e 3", "3, 4 e 5")] == pytest.approx(
        [0, 0.125, 0.25, 0.25]
    )
    words = ["cliente", "pedido", "produto", "venda", "receita", "frete"]
    assert [parts(" ".join(words[:count]))[3] for count in range(7)] == pytest.approx(
        [0, 0.04, 0.08, 0.12, 0.16, 0.2, 0.2]
    )


def test_insights_counts(v42: RewardSet) -> None:
    def parts(answer: str) -> tuple[float, ...]:
        return tuple(v42.score(PROMPTS["insights"], answer).components.values())

    words = ["recomendo", "melhorar", "priorizar", "investir", "reduzir"]
    assert [parts("x " + " ".join(words[:count]))[0] for count in range(6)] == pytest.approx(
        [0, 0.1, 0.2, 0.3, 0.4, 0.4]
    )
    assert [parts("x\n" + "- a\n" * count)[2] for count in range(5)] == pytest.approx([0, 0.2 / 3, 0.4 / 3, 0.2, 0.2])
    assert [
        parts(text)[3] for text in ("x", "cliente", "cliente clientes", "cliente loja", "cliente loja frete")
    ] == pytest.approx([0, 0.05, 0.05, 0.1, 0.1])
