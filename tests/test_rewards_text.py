"""The measures of Portuguese text, each worked out by hand, and what an answer claims in figures."""

import pytest
from rewards_examples import Prompt

from rewards import v42
from rewards.extraction import _DESCRIPTORS
from rewards.parsing import text
from rewards.parsing.claims import claims, insight_figures, invented
from rewards.parsing.text import Figure, figures, occurs
from rewards.types import LONGEST


def twenty(*first: str) -> list[str]:
    """Twenty words; those not given belong to no list."""
    return [*first, *["casa"] * (20 - len(first))]


@pytest.mark.parametrize(
    ("words", "portuguese", "foreign"),
    [
        ([], 0, 0),
        (["12", "3,5"], 0, 0),
        (twenty(), 0, 0),
        (twenty("de"), 1 / 3, 0),
        (twenty("de", "que", "nao"), 1, 0),
        ([*twenty("de"), "12", "7"], 1 / 3, 0),
        (twenty("de", "que", "the"), 0, 0),
        (twenty("de", "que", "nao", "the"), 1 / 3, 0),
        (twenty("the"), 0, 1 / 3),
        ([*twenty("the"), "12", "7"], 0, 1 / 3),
        (twenty("the", "of", "de"), 0, 1 / 3),
        (twenty("the", "of", "and", "el"), 0, 1),
    ],
)
def test_language(words: list[str], portuguese: float, foreign: float) -> None:
    assert text.portuguese(words) == pytest.approx(portuguese)
    assert text.foreign(words) == pytest.approx(foreign)


@pytest.mark.parametrize(
    ("words", "share"),
    [
        ("", 1),
        ("a", 1),
        ("a a", (1 / 2 - 0.35) / 0.4),
        ("a a b b", (2 / 4 - 0.35) / 0.4),
        ("a b c a b c d", (4 / 7 - 0.35) / 0.4),  # below 8 words the words count
        ("a b c a b c a d", (4 / 6 - 0.35) / 0.4),  # from 8 on the 3-grams: abc bca cab cad
        ("a a a a a a a a", 0),
        ("a b c d e f g h", 1),
    ],
)
def test_variety(words: str, share: float) -> None:
    assert text.variety(words.split()) == pytest.approx(share)


@pytest.mark.parametrize(
    ("words", "share"),
    [
        ("a b c", 1),  # no 4-gram
        ("a b c d", 0),
        ("a b c d x", (0.9 - 1 / 2) / 0.4),
        ("a b c d e f x", (0.9 - 3 / 4) / 0.4),
        ("x a b c d y", 1),
        ("p q r s", 1),
    ],
)
def test_originality(words: str, share: float) -> None:
    assert text.originality(words.split(), "A, b, c; d e. F!") == pytest.approx(share)


def test_words_are_folded_and_keep_their_numbers_whole() -> None:
    assert text.words("Não é 1.234,5: snake_case, fim.") == ["nao", "e", "1.234,5", "snake", "case", "fim"]
    assert text.fold("AÇÃO Ú\u0303") == "acao u"
    assert len(text.fold("ﷺ" * 2000)) == LONGEST
    assert text.squeeze(" a\n\n b\t c ") == "a b c"


def test_the_word_lists_are_as_long_as_they_were() -> None:
    patterns = [v42.BUSINESS_WORDS, v42.ACTION_WORDS, v42.DOMAIN_WORDS, v42.PUSH_WORDS, v42.GENERIC]
    assert [pattern.pattern.count("|") + 1 for pattern in patterns] == [30, 34, 10, 19, 16]
    assert [len(words) for words in (text.PORTUGUESE, text.FOREIGN, _DESCRIPTORS)] == [113, 95, 19]
    assert frozenset() == (text.FOREIGN & text.PORTUGUESE)


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("45", Figure(45, 0.5, "")),
        ("4,5", Figure(4.5, 0.05, "")),
        ("4.5", Figure(4.5, 0.05, "")),
        ("1.234", Figure(1234, 0.5, "")),
        ("1.234,56", Figure(1234.56, 0.005, "")),
        ("1,234,567.8", Figure(1234567.8, 0.05, "")),
        ("1,234,567", Figure(1234567, 0.5, "")),
        ("1.234.567.890.123", Figure(1234567890123, 0.5, "")),
        ("123456789012345", Figure(123456789012345, 0.5, "")),
        ("123456789012345,123456", Figure(123456789012345.123456, 5e-7, "")),
        ("12,5%", Figure(12.5, 0.05, "%")),
        ("12 %", Figure(12, 0.5, "%")),
        ("R$ 10,00", Figure(10, 0.005, "R$")),
        ("r$10", Figure(10, 0.5, "R$")),
        ("1,2 mil", Figure(1200, 50, "")),
        ("3 milhões", Figure(3e6, 5e5, "")),
        ("1 milhão", Figure(1e6, 5e5, "")),
        ("2 mi", Figure(2e6, 5e5, "")),
        ("1 bilhão", Figure(1e9, 5e8, "")),
        ("2 bilhões", Figure(2e9, 5e8, "")),
        ("2 bi", Figure(2e9, 5e8, "")),
        ("R$ 1,2 mil", Figure(1200, 50, "R$")),
        ("45 milhas", Figure(45, 0.5, "")),
        ("1234.567890", Figure(1234.56789, 5e-7, "")),
        ("1.234,1234567", Figure(1234.1234567, 5e-8, "")),
    ],
)
def test_a_figure_knows_its_value_its_precision_and_its_unit(written: str, found: Figure) -> None:
    (figure,) = figures(f"total: {written}.")
    assert (figure.value, figure.unit) == (pytest.approx(found.value), found.unit)
    assert figure.tolerance == pytest.approx(found.tolerance)
    assert figures(f"total: {written}") == figures(f"({written})") == [figure]


@pytest.mark.parametrize(
    "written",
    [
        "1.2.3.4",
        "05/2018",
        "2018-05",
        "2018-05-01",
        "3x",
        "x3",
        "a_3",
        "a-3",
        "_-3",
        "12,3,4",
        "1.23,4.5",
        "3. um",
        "> 3) um",
        "- 3. um",
        "\t**3.** um",
        "#3) um",
        "_3. um",
        "1" * 16,
        "1,1.5",
        "1234.567,8",
        "1.234.567.890.123.456",
        "1" * 16 + ",5",
        "1234,567,890",
        "1,234,567,890,123,456",
        "12/5",
    ],
)
def test_dates_codes_versions_and_list_numbers_are_no_figures(written: str) -> None:
    assert figures(written) == []


def test_list_numbers_are_left_out_in_every_line_only_at_its_beginning() -> None:
    assert [figure.value for figure in figures("1. um\n22. dois\n333. três\nsão 4. fim")] == [333, 4]


def test_only_whole_dates_are_left_out() -> None:
    assert [figure.value for figure in figures("12018-05")] == [12018, 5]
    assert [figure.value for figure in figures("2018-05-017")] == [17]


@pytest.mark.parametrize(
    ("number", "written", "shown"),
    [
        (23.46, "23,5%", True),
        (23.44, "23,5%", False),
        (23.56, "23,5%", False),
        (1234.4, "1.234", True),
        (1249.9, "1,2 mil", True),
        (1251.0, "1,2 mil", False),
        (-8.0, "8", True),
        (8.5, "8", True),
    ],
)
def test_a_number_is_shown_where_it_rounds_to_what_is_written(number: float, written: str, shown: bool) -> None:
    assert occurs(number, figures(written)) == shown


def test_small_whole_numbers_without_a_unit_claim_nothing() -> None:
    found = claims("3 ações em 2 semanas para 10 lojas e 11 cidades, 5% de R$ 7, nota 4,5")
    assert [figure.value for figure in found] == [11, 5, 7, 4.5]


def test_an_invented_figure_counts_once() -> None:
    assert invented(figures("50%, 50% e 60%"), [60.0]) == 1
    assert invented(figures("50%, 51% e 60%"), figures("60%"), [51]) == 1


def test_figures_of_insights() -> None:
    prompt = Prompt("insights", "Recompra de 20%.", None, {"figures": [99.0], "key_figures": [20.0, 30.0]})
    assert insight_figures(prompt, "De 20% e 99% a 30%, não 77%.") == (1, 1, 4, 1)
    assert insight_figures(prompt, "20%") == (0.5, 0, 1, 0)
    assert insight_figures(Prompt("insights", "Recompra de 20%."), "20% e 99%") == (0, 1, 2, 1)


BROKEN_ONCE = [
    "um \ufffd aqui",
    "ValeAnálise de loja",
    "loja olefonSUM boa",
    "loja deSU boa",
    "Situação:**e **",
    "o produto_id de lá",
    "o dia acima3 mil",
    "o mês3 mil",
    "com 34% deinformática44 entrega",
    "há 3dia de lá",
    "nota 3,7,9 boa",
    "há 3.7.9% aqui",
    "há 3,7%,9% aqui",
    "de R$ 33% aqui",
    "de R$33 % aqui",
    "Uma loja\n. fim",
    "Uma loja\n  - ) fim",
    "Uma loja\n-. e um fim",
    "Uma loja\n- para\nUma loja",
    "Uma loja\n• com \nUma loja",
    "um SELECT de lá",
    "um COUNT de lá",
    "um ROUND de lá",
    "um SUM de lá",
    "um JOIN de lá",
    "um WHERE de lá",
    "um GROUP BY de lá",
    "um ORDER BY de lá",
    'fim "} de lá',
    'fim {" de lá',
    "um **negrito",
]


@pytest.mark.parametrize("answer", BROKEN_ONCE)
def test_each_broken_place_halves_a_text(answer: str) -> None:
    assert text.sound(answer) == 0.5
    assert text.sound(answer + "\n" + " um \ufffd" * 3) == 0.5**4
    assert text.sound(answer + " \ufffd" * 20) == 0.5**10


@pytest.mark.parametrize(
    "answer",
    [
        "aB aBc AB Ab iPhone",
        "WhatsApp, YouTube e TikTok",
        "Uma loja\n- Vale.\nUma loja",
        "Uma loja\n• Vale mais\nUma loja",
        "**Nota:** e",
        "**Situação:**\n- Vale mais a pena",
        "a _b_ c",
        "m2 24h 3d",
        "de 3,7 e 9",
        "12.345,67%",
        "3..5%",
        "R$ 33 e 5%",
        "R$ 33,50",
        "Loja\n- um bom dia\n- Vale mais a pena",
        "SELECTA, COUNTY, DISCOUNT, RESUME e WHEREVER",
        "fim } e { fim",
        "ponto. Fim, enfim; sim: não",
        "**a** e **b**",
    ],
)
def test_what_only_looks_broken_is_whole(answer: str) -> None:
    assert text.sound(answer) == 1
