"""Reward and truth read the objects of answers by one table, the one of docs/rewards.md; they share no code."""

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from regex_attacks import MOST, slowness
from rewards_examples import ANSWERS, PROMPTS

from rewards import load_reward_set
from rewards.parsing.objects import find_object, is_strict, normalize_decimals, standing_object, wholeness
from rewards.parsing.text import readable
from tucano.serving.schema import data_of, fault
from tucano.truth import truth
from tucano.truth.json_object import only_object, read_object, strict_object
from tucano.truth.reading import readable as truth_readable

PAGE = (Path(__file__).parents[1] / "docs" / "rewards.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `+ ?(.+?) ?`+ \| (yes|no) \| (.+?) \| ([\d.]+) \| ([\d.]+) \|$", PAGE, re.MULTILINE)
MARKED = (  # the page says it in words: nobody sees the mark
    ("\\ufeff{…}", "yes", "the fields", "1", "1"),
    ("\\n\\ufeff{…}", "no", "the fields", "0.1", "0"),
)
PROMPT, FIELDS = PROMPTS["churn"], ANSWERS["churn"][1:-1]


def as_text(cell: str) -> str:
    return cell.replace("\\n", "\n").replace("\\ufeff", "\ufeff").replace("…", FIELDS)


def test_the_table_is_there() -> None:
    assert len(ROWS) == 20


@pytest.mark.parametrize(("cell", "strict", "read", "reward", "true"), [*ROWS, *MARKED])
def test_an_object_is_read_as_the_page_says(cell: str, strict: str, read: str, reward: str, true: str) -> None:
    text = as_text(cell)
    further = {} if read == "the fields" else json.loads(read.strip("`"))
    assert find_object(text) == json.loads(f"{{{FIELDS}}}") | further
    assert (data_of("churn", text) is not None) == (strict == "yes")
    assert load_reward_set("grounded").score(PROMPT, text).total == pytest.approx(float(reward), abs=0.005)
    assert truth(PROMPT, text) == float(true)
    assert only_object(truth_readable(text)) == (find_object(text) if true == "1" else None)
    assert is_strict(readable(text)) == (true == "1")


@pytest.mark.parametrize(
    ("before", "strict"),
    [
        ("\ufeff", True), ("\ufeff\n", True), ("\ufeff```json\n", True), ("\n\ufeff", False), ("\ufeff\ufeff", False),
        ("\ufeff\n\ufeff", False), ("```json\n\ufeff", False), (" \ufeff```json\n", False),
    ],
)  # fmt: skip
def test_a_byte_order_mark_is_read_over_at_the_very_start_alone(before: str, strict: bool) -> None:
    """Truth took it for a blank, the reward for a mark of the object."""
    text = f"{before}{{{FIELDS}}}"
    assert (truth(PROMPT, text), load_reward_set("grounded").score(PROMPT, text).total > 0.9) == (float(strict), strict)
    assert (data_of("churn", text) is not None, fault("churn", text) is None) == (strict, strict)
    for bare in (truth_readable(text), readable(text), text):  # readers of their own take no mark away
        assert is_strict(bare) == (only_object(bare) is not None)


NUMBERS = {
    "4.5": 4.5, "1e+10": 1e10, "4,5": 4.5, "-4,5": -4.5, "0,75": 0.75, "1.234,56": 1234.56, "1.234.567": 1234567,
    "1.234": 1.234, "1,234": 1.234,  # JSON has the first word, and Portuguese the second
    "105,000.00": 105_000.0, "1,234,567": 1_234_567, "R$ 1.234,56": 1234.56, "R$ 19.90": 19.9, "4,5%": 4.5, "10%": 10,
    "12.34,5": None, "1,23,456": None, "01,5": None, "4,5,6": None, "05/01/2024": None, "1 234": None,
    "1e999": None,  # infinite
}  # fmt: skip


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("form", ['{"a": %s}', '{"b": "a: 1,5", "a": %s, "c": [1,5]}', '{"a":%s\n,"c": 1}'])
def test_a_number_is_the_same_for_both(number: str, form: str) -> None:
    text, value = form % number, NUMBERS[number]
    assert (only_object(text) or {}).get("a") == value
    assert is_strict(text) == (value is not None)
    if value is not None:
        assert find_object(text) == only_object(text)
        assert find_object(text.rstrip("}")) == only_object(text), "the same where the object has no end"


INFINITE = ("1e999", "-1e999", "[1e999]", '{"b": [2, -1E+999]}', "1" + "0" * 400 + ",5", "[1" + "0" * 400 + ".5]")


@pytest.mark.parametrize("number", [*INFINITE, "NaN", "[-Infinity]", "1" + "0" * 5000])
@pytest.mark.parametrize("form", ['{"n": %s,}', '{"n": %s', '{"n": %s}', "{'n': %s}"])
def test_no_reader_gives_a_number_that_is_none(number: str, form: str) -> None:
    """Repair made it infinite; as text it is no field's value, and the other fields are read."""
    text = form.replace("%s", '%s, "c": 1') % number
    found = find_object(text)
    json.dumps([found, read_object(text)], allow_nan=False)
    assert only_object(text) is None and not is_strict(text)
    assert found is None or len(number) > 5000 or found["c"] == 1


NO_NUMBERS = [
    "12/10", "2018-03-12", "12:30", "4-5", "10 mil", "1,5 mil", "4 e meio", "4 (de 5)", "4 estrelas", "4/5", "4.5.6", "4 5", "1 234",
    "~4", ">4", "+4", "4+", "4!", "4.", "05", ".5", "½", "4½", "10²", "４", "10k", "1_000", "0x10", "4\u00a0x", "10 d'água", "#4",
]  # fmt: skip
PLAIN = {
    "4, 5": 4,
    "4": 4,
    "-4": -4,
    "4.5": 4.5,
    "1e5": 1e5,
    "4 // x": 4,
    "4 # x": 4,
    "4 /* x": 4,
    "4\n": 4,
    "4\u00a0": 4,
    "1" * 400: int("1" * 400),
}
BROKEN = ['{"n": %s, "b": "x"', '{"b": "x", "n": %s', '{"b": "x", "n": %s,}', '{"n":%s\n, "b": "x"']


@pytest.mark.parametrize("form", BROKEN)
@pytest.mark.parametrize("text", NO_NUMBERS)
def test_what_is_more_than_a_number_is_none(text: str, form: str) -> None:
    """Of `10 mil` both made 10, and truth of `12/10` 12."""
    for found in (find_object(form % text), read_object(form % text)):
        assert found is not None and found["b"] == "x"
        assert not isinstance(found.get("n"), int | float)


@pytest.mark.parametrize("form", BROKEN)
@pytest.mark.parametrize("text", PLAIN)
def test_a_number_of_a_broken_object_is_the_same_for_both(text: str, form: str) -> None:
    for found in (find_object(form % text), read_object(form % text)):
        assert found is not None and found["n"] == PLAIN[text]


@pytest.mark.parametrize("text", ["true/false", "true ou false", "null?", "false 1"])
def test_a_word_of_json_that_goes_on_is_none(text: str) -> None:
    broken = f'{{"n": {text}, "b": "x"'
    for found in (find_object(broken), read_object(broken)):
        assert found is not None and found.get("n", "") not in (True, False, None)


FURTHER = [
    (r'"TV 50""', 'TV 50"'), (r'"TV 50" nova"', 'TV 50" nova'), (r'"TV 50\""', 'TV 50"'), (r'"a\u00e9"', "aé"), (r'"a\\b"', r"a\b"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "read"), FURTHER)
@pytest.mark.parametrize("name", ["n", r"\u006e"])
def test_a_text_or_name_of_a_broken_object_is_the_same_for_both(text: str, read: str, name: str) -> None:
    for form in ('{"%s": %s, "b": "x"', '{"b": "x", "%s": %s,}', '{"b": "x", "%s": %s'):
        broken = form % (name, text)
        assert find_object(broken) == read_object(broken) == {"n": read, "b": "x"}


TOKENS = [
    '\\"', '"', '{"', ":", ',"', "{", "}", "'", "1,", "1.111", " ", "\n", "`", ':"', '"a":', "\\", "R$", "%", "//", "\ufeff",
]  # fmt: skip
READERS: list[Callable[[str], Any]] = [
    find_object, is_strict, wholeness, lambda text: standing_object(text, ("a",)), normalize_decimals, only_object,
    strict_object, read_object,
]  # fmt: skip
LONG = 16_000
AT_MOST = 2 * MOST
"""The single quotes of `1,'` take half of it on a busy machine; what grew with the square took fifteen times as long."""


def seconds(read: Callable[[str], Any], text: str) -> float:
    started = time.thread_time()
    read(text)
    return time.thread_time() - started


def are_quick(pump: str, before: str = "", end: str = "") -> None:
    text = before + pump * (LONG // len(pump)) + end
    for read in READERS:
        if seconds(read, text) > AT_MOST:
            assert min(seconds(read, text) for _ in range(3)) < AT_MOST * slowness(), (read, text[:40])


def test_a_string_without_an_end_is_read_once() -> None:
    """Truth tried anew at each mark: .3 s for 10,000 characters, and four times that for twice as many."""
    are_quick('\\"')
    are_quick('\\"', '{"a": "')
    are_quick('"\\')


@given(
    st.lists(st.sampled_from(TOKENS), min_size=1, max_size=3).map("".join),
    st.sampled_from(["", "{", '{"a":', '{"a": "']),
    st.sampled_from(["", "}", '"}']),
)
@settings(max_examples=30)
def test_no_repetition_of_what_json_is_made_of_is_slow(pump: str, before: str, end: str) -> None:
    are_quick(pump, before, end)
