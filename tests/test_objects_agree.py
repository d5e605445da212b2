"""Reward and truth read the objects of answers by one table, the one of docs/rewards.md; they share no code."""

import json
import re
from pathlib import Path

import pytest
from rewards_examples import ANSWERS, PROMPTS

from rewards import load_reward_set
from rewards.parsing.objects import find_object, is_strict
from tucano.serving.schema import data_of
from tucano.truth import truth
from tucano.truth.json_object import only_object

PAGE = (Path(__file__).parents[1] / "docs" / "rewards.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `+ ?(.+?) ?`+ \| (yes|no) \| (.+?) \| ([\d.]+) \| ([\d.]+) \|$", PAGE, re.MULTILINE)
BYTE_ORDER_MARK = ("\\ufeff{…}", "yes", "the fields", "1", "1")  # the page says it in words: nobody sees the mark
PROMPT, FIELDS = PROMPTS["churn"], ANSWERS["churn"][1:-1]


def as_text(cell: str) -> str:
    return cell.replace("\\n", "\n").replace("\\ufeff", "\ufeff").replace("…", FIELDS)


def test_the_table_is_there() -> None:
    assert len(ROWS) == 17


@pytest.mark.parametrize(("cell", "strict", "read", "reward", "true"), [*ROWS, BYTE_ORDER_MARK])
def test_an_object_is_read_as_the_page_says(cell: str, strict: str, read: str, reward: str, true: str) -> None:
    text = as_text(cell)
    further = {} if read == "the fields" else json.loads(read.strip("`"))
    assert find_object(text) == json.loads(f"{{{FIELDS}}}") | further
    assert (data_of("churn", text) is not None) == (strict == "yes")
    assert load_reward_set("grounded").score(PROMPT, text).total == pytest.approx(float(reward), abs=0.005)
    assert truth(PROMPT, text) == float(true)
    assert only_object(text) == (find_object(text) if true == "1" else None)


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
