"""The JSON object in a completion, and the 30 cases of Portuguese numbers."""

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pace import slowness

from rewards.parsing.objects import find_object, is_parsable, normalize_decimals
from rewards.types import LONGEST

DECIMALS: list[tuple[str, dict[str, Any] | None]] = [
    ('{"a": 4,5}', {"a": 4.5}),
    ('{"a": 4.5}', {"a": 4.5}),
    ('{"a": -4,5}', {"a": -4.5}),
    ('{"a": 0,75}', {"a": 0.75}),
    ('{"a": 4,5, "b": 1}', {"a": 4.5, "b": 1}),
    ('{"a":4,5,"b":1}', {"a": 4.5, "b": 1}),
    ('{"a": 4,5\n}', {"a": 4.5}),
    ('{"a": 4,5', {"a": 4.5}),
    ('{"a": 4, "b": 5}', {"a": 4, "b": 5}),
    ('{"a": 4,"b": 5}', {"a": 4, "b": 5}),
    ('{"a": 4,', {"a": 4}),
    ('{"a": 1.234,56}', {"a": 1234.56}),
    ('{"a": 1.234.567,8}', {"a": 1234567.8}),
    ('{"a": 1.234.567}', {"a": 1234567}),
    ('{"a": 1.234}', {"a": 1.234}),
    ('{"a": 1234,56, "b": true}', {"a": 1234.56, "b": True}),
    ('{"a": R$ 1.234,56}', {"a": 1234.56}),
    ('{"a": "R$ 1.234,56"}', {"a": "R$ 1.234,56"}),
    ('{"a": "4,5"}', {"a": "4,5"}),
    ('{"a": "nota: 4,5, boa", "b": 4,5}', {"a": "nota: 4,5, boa", "b": 4.5}),
    ("{'a': 'nota: 4,5, boa', 'b': 4,5}", {"a": "nota: 4,5, boa", "b": 4.5}),
    ('{"a": "aspas \\": 4,5, fim"}', {"a": 'aspas ": 4,5, fim'}),
    ('{"a": [4,5]}', {"a": [4, 5]}),
    ('{"a": [4,5], "b": 4,5}', {"a": [4, 5], "b": 4.5}),
    ('{"a": [{"b": 4,5}, {"b": 5}]}', {"a": [{"b": 4.5}, {"b": 5}]}),
    ('{"a": {"b": 4,5}, "c": 1}', {"a": {"b": 4.5}, "c": 1}),
    ('{"a": 4,5,6}', {"a": "4,5,6"}),
    ('{"a": 2024-01-05, "b": 4,5}', {"a": "2024-01-05", "b": 4.5}),
    ('{"a": 05/01/2024, "b": 1}', {"a": "05/01/2024", "b": 1}),
    ('{"a": 1.2.3, "b": 1}', {"a": "1.2.3", "b": 1}),
    ('{"a": "12.345.678/0001-95"}', {"a": "12.345.678/0001-95"}),
    ("a nota foi 4,5", None),
    ("[4,5]", None),
    ('"4,5"', None),
    ("1.234,56", None),
]
SUBTLE: list[tuple[str, dict[str, Any]]] = [
    ('{"a": "", "b": "x: 4,5", "c": 4,5}', {"a": "", "b": "x: 4,5", "c": 4.5}),
    ('{"a": 4,5, "b": "nota: 4,5', {"a": 4.5, "b": "nota: 4,5"}),
    ("{'a':'nota: 4,5','b':4,5}", {"a": "nota: 4,5", "b": 4.5}),
    ("{'a': 'x', 'b': 4,5, 'c': 'y'}", {"a": "x", "b": 4.5, "c": "y"}),
    ("{'a' : 'x: 4,5' , 'b' : 4,5}", {"a": "x: 4,5", "b": 4.5}),
    ("{'a': 4,5, 'b': 'x: 4,5'", {"a": 4.5, "b": "x: 4,5"}),
    ("{'a': 4,5, 'b': ['x: 4,5'], 'c': 1}", {"a": 4.5, "b": ["x: 4,5"], "c": 1}),
    ("{'x: 4,5': 4,5}", {"x: 4,5": 4.5}),
    ("{'a': 'copo d'água: 4,5', 'b': 4,5}", {"a": "copo d'água: 4,5", "b": 4.5}),
    ('{"a": "x\\\ny: 4,5", "b": 4,5}', {"a": "x\\\ny: 4,5", "b": 4.5}),
    ('{"a": 1.234, "b": 4,5}', {"a": 1.234, "b": 4.5}),
    ('{"a": 0, "b": 4,5]}', {"a": 0, "b": 4.5}),
    ('{"a": 4,5"b": 1}', {"a": 4.5, "b": 1}),
    ('{"a": 4,5 , "b": 1}', {"a": 4.5, "b": 1}),
    ('{"a": 4,5, 6}', {"a": "4,5"}),
    ('{"a": 01,5}', {"a": "01,5"}),
    ('{"a": 10,50, "b": 2,0}', {"a": 10.5, "b": 2.0}),
    ('{"a": 12.34,5}', {"a": "12.34,5"}),
    ('{"a": 1234.567,5}', {"a": "1234.567,5"}),
    ('{"a": 12.345,67, "b": 123.456,7}', {"a": 12345.67, "b": 123456.7}),
    ('{"a": R$4,5, "b":R$  5}', {"a": 4.5, "b": 5}),
    ('{"a":\n4,5, "b" : \t 4,5}', {"a": 4.5, "b": 4.5}),
]


@pytest.mark.parametrize(("text", "expected"), [*DECIMALS, *SUBTLE])
def test_portuguese_numbers(text: str, expected: dict[str, Any] | None) -> None:
    found = find_object(text)
    assert found == expected
    if found is not None and expected is not None:
        assert {name: type(value) for name, value in found.items()} == {
            name: type(value) for name, value in expected.items()
        }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('Claro! Segue: {"a": 1} Espero ter ajudado {risos}.', {"a": 1}),
        ('Para {nome}: {"a": 1}', {"a": 1}),
        ("{'a': 'b', 'c': True, 'd': None}", {"a": "b", "c": True, "d": None}),
        ('{"a": 1, "b": [1, 2,],}', {"a": 1, "b": [1, 2]}),
        ('{"a": 1, "b": "cort', {"a": 1, "b": "cort"}),
        ('{"a": 1, "b": {"c": 2', {"a": 1, "b": {"c": 2}}),
        ('{"a": 1, "a": 2}', {"a": 2}),
        ('{"a": 1, "a": 2,}', {"a": 2}),
        ('{"a": "chave } dentro"}', {"a": "chave } dentro"}),
        ('[{"a": 1}, {"b": 2}]', {"a": 1}),
        ("{}", {}),
        ("[1, 2]", None),
        ("sem objeto", None),
        ("", None),
        ("{'```json5```", None),  # json_repair ends in an AssertionError, and so did the step that asked for the reward
    ],
)
def test_forgiven_shapes(text: str, expected: dict[str, Any] | None) -> None:
    assert find_object(text) == expected


def test_nan_and_infinity_do_not_break_the_other_fields() -> None:
    found = find_object('{"a": NaN, "b": Infinity, "c": 1}')
    assert found is not None and found["c"] == 1


def test_the_limits_are_exact() -> None:
    assert is_parsable("[" * 40 + "{" * 24) and not is_parsable("[" * 40 + "{" * 25)
    assert is_parsable(" " * LONGEST) and not is_parsable(" " * (LONGEST + 1))
    assert find_object("{" + '"a": 1,' * 49 + '"b": 1') == {"a": 1, "b": 1}  # 200 marks
    assert find_object("{" + '"a": 1,' * 49 + '"b": 1,') is None
    assert find_object('{"a": ' + "[" * 15) == {"a": []}
    assert find_object('{"a": ' + "[" * 16) is None
    cut = find_object(" " * 4000 + '{"a": "' + "x" * 4000)
    assert cut is not None and len(cut["a"]) == 3000 - len('{"a": "')
    words = "x" * 95
    assert (
        normalize_decimals(f"{{'a': '{words}: 4,5'}}") == f"{{'a': '{words}: 4,5'}}"
    )  # a string of 100 characters in single quotes
    assert (
        normalize_decimals(f"{{'a': 'x{words}: 4,5'}}") == f"{{'a': 'x{words}: 4.5'}}"
    )  # what is longer is not seen as one


def test_of_several_objects() -> None:
    assert find_object('{"a": 1} {"b": 2, "c": 3}') == {"a": 1}
    assert find_object('{x} {"b": 2} {"c": 3}') == {"b": 2}
    assert find_object('{"a": {"b": 2}, "c": 3} {"d": 4}') == {"a": {"b": 2}, "c": 3}
    assert find_object('{} {"b": 2}') == {"b": 2}
    assert find_object('{"a": 1,} {"b": 2, "c": 3,}') == {"b": 2, "c": 3}
    assert find_object('{"a": 4,5} {"b": 2}') == {"b": 2}  # valid as it stands comes before mended
    assert find_object('{"a": 1,} {"b": 2,}') == {"a": 1}
    assert find_object('{"a": 1,} ["x", "y", "z"]') == {"a": 1}


@pytest.mark.parametrize(
    "text", ['{"a": 1}' + " " * 16_400, '{"a": ' + "[" * 64 + "]" * 64 + "}", "[" * 100_000, '{" ' * 33_000]
)
def test_the_guard_refuses_at_once(text: str) -> None:
    started = time.thread_time()
    assert find_object(text) is None
    assert time.thread_time() - started < 0.005 * slowness()


@pytest.mark.parametrize(
    "text",
    [
        '{"a"::' + "' a:" * 4000,
        "{" + '"' * 16_000,
        "{" + '"a' * 8000,
        '{"a":' + " " * 16_000,
        '{"a":"' + '",' * 8000,
        "{" + "1 (" * 900,
        "{" + "```(" * 700,
        "{" + '"a"#xxxxxxxxxxxxx' * 170,
    ],
)
def test_hostile_text_below_the_guard_is_bounded(text: str) -> None:
    for end in ("", '"', "a", '"a'):
        seconds = []
        for _ in range(3):
            started = time.thread_time()
            find_object(text + end)
            seconds.append(time.thread_time() - started)
        assert min(seconds) < 0.05 * slowness()


def test_what_is_long_but_valid_is_read_and_what_is_long_and_broken_is_cut() -> None:
    long = {"a": 1, "b": "x" * 10_000}
    assert find_object(json.dumps(long)) == long
    cut = find_object(json.dumps(long)[:-1])
    assert cut is not None and cut["a"] == 1 and len(cut["b"]) < 3000
    assert find_object("{" + '"a": 1,' * 100) is None


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**6), 10**6)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(max_size=8), json_values, min_size=1, max_size=5), st.booleans())
def test_valid_json_comes_back_unchanged(value: dict[str, Any], ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    assert normalize_decimals(text) == text
    assert find_object(f"Segue:\n{text}\nFim.") == value


@given(st.text(alphabet="{}[]\"':,\\ \n45.-eRS$aNtrue\x00é", max_size=80))
def test_no_text_raises(text: str) -> None:
    found = find_object(text)
    assert found is None or isinstance(found, dict)
