"""Reward and truth read the numbers of prose by one table, the one of docs/rewards.md; they share no code."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards.parsing import text as reward
from tucano.truth import figures as truth
from tucano.truth.reading import plain
from tucano.truth.reading import readable as truth_readable

Read = tuple[float, float, str]
"""Value, tolerance, unit"""
PAGE = (Path(__file__).parents[1] / "docs" / "rewards.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (`[^|]+`[^|]*) \| (?:([\d.e]+) ?(%|R\$|)|no figure) \|$", PAGE, re.MULTILINE)
BY_HAND: dict[str, list[tuple[float, str]]] = {
    "2 bilhões": [(2e9, "")], "1 bilhão": [(1e9, "")], "1,5 bi": [(1.5e9, "")], "2 mi": [(2e6, "")],
    "1 milhão": [(1e6, "")], "R$ 3 milhões": [(3e6, "R$")], "3 milhões de reais": [(3e6, "R$")], "2 trilhões": [(2e12, "")],
    "105mil": [(105_000, "")], "105 mil": [(105_000, "")], "R$ 105mil": [(105_000, "R$")], "5k": [(5_000, "")],
    "1,5 k": [(1_500, "")], "1.250 mil": [(1.25e6, "")], "1e+10": [(1e10, "")], "1E10": [(1e10, "")],
    "2.5e-3": [(0.0025, "")], "1e999": [], "1e": [], "5e3x": [],
    "1.234": [(1234, "")], "1.234.567": [(1_234_567, "")], "1.234,56": [(1234.56, "")], "1.234,5%": [(1234.5, "%")],
    "1,234": [(1.234, "")], "1,5": [(1.5, "")], "1.5": [(1.5, "")], "0.750": [(0.75, "")], "1234.567": [(1234.567, "")],
    "1,234.5": [(1234.5, "")], "105,000.00": [(105_000, "")], "R$ 105,000.00": [(105_000, "R$")],
    "1,234,567": [(1_234_567, "")], "1,234,567.8": [(1_234_567.8, "")], "12.3456789": [(12.3456789, "")],
    "R$10": [(10, "R$")], "R$ 10,00": [(10, "R$")], "10 reais": [(10, "R$")], "10reais": [(10, "R$")],
    "R$ 10/mês": [(10, "R$")], "4,5%": [(4.5, "%")], "4,5 %": [(4.5, "%")], "4,5 por cento": [(4.5, "%")],
    "50%off": [(50, "%")], "45 milhas": [(45, "")], "12 por centena": [(12, "")], "10-12 dias": [(10, ""), (12, "")],
    "de 12% a 18%.": [(12, "%"), (18, "%")], "12, 13 e 14.": [(12, ""), (13, ""), (14, "")], "10:30": [(10, ""), (30, "")],
    "+10%": [(10, "%")], "(23)": [(23, "")],
    "2018-03": [], "2018-03-12": [], "em 2018-03, 7": [(7, "")], "12/10": [], "12/10/2018": [], "05/2018": [],
    "2018-13": [(2018, ""), (13, "")], "em 2018": [(2018, "")], "9999-99": [(9999, ""), (99, "")],
    "são 4. fim": [(4, "")],
    "v4.2": [], "covid-19": [], "a_3": [], "x3": [], "3x": [], "20h": [], "500ml": [], "2º": [], "SKU-123": [],
    "1.2.3.4": [], "12,3,4": [], "1.23,4.5": [], "1.234.5": [], "1,23,456": [], "1234,567,890": [], "1234.567,8": [],
    "123456789012345": [(123456789012345, "")], "1234567890123456": [], "1.234.567.890.123.456": [],
    "10²": [], "²": [], "½": [], "10½": [], "①": [], "10①": [], "Ⅳ": [], "１０％": [(10, "%")], "Ｒ＄ １.２３４，５": [(1234.5, "R$")],
    "10㎡": [], "10℃": [(10, "")], "10\u20d05": [(105, "")], "10…15": [(10, ""), (15, "")], "10...15": [(10, ""), (15, "")],
    "45%,50%": [(45, "%"), (50, "%")], "45%/50%": [(45, "%"), (50, "%")], "45%.50%": [(45, "%"), (50, "%")],
    "(10),20": [(10, "")], "nota,2),2": [(2, "")], "10k,20k": [(10_000, ""), (20_000, "")], "loja,50%": [(50, "%")], "10 mil,5": [(10_000, ""), (5, "")],
    "10 reais,20 reais": [(10, "R$"), (20, "R$")], "jan.2018": [], "jan/2018": [], ".5": [], ",5": [], "x .5": [],
    "1,234,567,890,123,456": [], "1234567890123456,5": [], "1." + "3" * 400: [(4 / 3, "")], "9" * 400: [],
}  # fmt: skip
ITEMS = {"1. um\n22) dois\n333. três": [333], "- **3.** um": [], "R$\n 1. um": [], "vende\n12.": [12], "-4,5": [4.5]}


def both(text: str) -> tuple[list[Read], list[Read]]:
    return (
        [(found.value, found.tolerance, found.unit) for found in reward.figures(reward.readable(text))],
        [(found.value, found.tolerance, found.unit) for found in truth.figures(plain(truth_readable(text)))],
    )


def close(wanted: list[tuple[float, str]]) -> list[tuple[object, str]]:
    return [(pytest.approx(value, rel=1e-12), unit) for value, unit in wanted]


def test_the_table_is_there() -> None:
    assert len(ROWS) == 22


@pytest.mark.parametrize(("cell", "value", "unit"), ROWS)
def test_a_number_is_read_as_the_page_says(cell: str, value: str, unit: str) -> None:
    for text in re.findall(r"`([^`]+)`", cell):
        wanted = close([(float(value), unit)] if value else [])
        for found in both(text):
            assert [(value, unit) for value, _, unit in found] == wanted, text


@pytest.mark.parametrize("text", BY_HAND)
@pytest.mark.parametrize(("before", "behind"), [("", ""), ("Total: ", ", ou seja,"), ("(", ")"), ("\n", ".\n")])
def test_a_number_is_the_same_for_both(text: str, before: str, behind: str) -> None:
    mine, theirs = both(before + text + behind)
    assert mine == theirs
    assert [(value, unit) for value, _, unit in mine] == close(BY_HAND[text])


@pytest.mark.parametrize("text", ITEMS)
def test_numbers_of_items_are_left_out_at_the_beginning_of_a_line_alone(text: str) -> None:
    mine, theirs = both(text)
    assert [value for value, *_ in mine] == [value for value, *_ in theirs] == ITEMS[text]


SCALES = [
    ("", 1.0), (" mil", 1e3), ("mil", 1e3), ("k", 1e3), (" mi", 1e6), (" milhões", 1e6), (" bi", 1e9), ("bi", 1e9),
    (" bilhão", 1e9), (" trilhões", 1e12), ("e+10", 1e10), ("e3", 1e3), ("E-2", 1e-2),
]  # fmt: skip
UNITS = [
    ("", "", ""), ("R$ ", "", "R$"), ("R$", "", "R$"), ("", " reais", "R$"), ("", " de reais", "R$"),
    ("", "%", "%"), ("", " %", "%"), ("", " por cento", "%"),
]  # fmt: skip
"""What stands before, what behind, and what it means."""
PIECES = [
    *"0123456789.,/-+ \n_e%#*()x²½…％０①",
    "r$",
    "R$ ",
    " mil",
    "k",
    "bi",
    "milhões",
    " reais",
    "por cento",
    "2018-03",
]


def grouped(whole: int, mark: str) -> str:
    return f"{whole:,}".replace(",", mark)


@st.composite
def numbers(draw: st.DrawFn) -> tuple[str, Read]:
    """A number in one of the documented notations, and what it is."""
    whole = draw(st.integers(0, 10**15 - 1) | st.integers(0, 9999))
    decimals = draw(st.text("0123456789", max_size=7))
    pairs = [(str(whole), ","), (grouped(whole, "."), ",")]
    pairs += [(str(whole), ".")] if len(decimals) != 3 or whole > 999 or whole == 0 else []
    pairs += [(grouped(whole, ","), ".")] if (decimals and whole > 999) or whole > 999_999 else []
    written, mark = draw(st.sampled_from(pairs))
    written += mark + decimals if decimals else ""
    value, last = float(f"{whole}.{decimals or 0}"), 10.0 ** -len(decimals)
    scale, times = draw(st.sampled_from(SCALES))
    before, behind, unit = draw(st.sampled_from(UNITS))
    return before + written + scale + behind, (value * times, 0.5 * last * times, unit)


@given(st.lists(numbers(), max_size=4), st.sampled_from(["; ", " e ", ", ", "\n- ", ". O total é "]))
def test_every_documented_notation_is_read_by_both(of: list[tuple[str, Read]], between: str) -> None:
    mine, theirs = both("Vendas: " + between.join(text for text, _ in of) + ".")
    assert mine == theirs
    assert [value for found in mine for value in found[:2]] == pytest.approx(
        [value for _, read in of for value in read[:2]], rel=1e-9, abs=0
    )
    assert [found[2] for found in mine] == [read[2] for _, read in of]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_what_is_no_documented_notation_is_the_same_for_both_too(text: str) -> None:
    mine, theirs = both(text)
    assert mine == theirs


@pytest.mark.parametrize("text", ["7, " * 600, "7 " * 4000])
def test_no_figure_is_left_out_of_a_long_text(text: str) -> None:
    mine, theirs = both(text)
    assert mine == theirs
    assert len(mine) == text.count("7")
