"""No pattern takes long for any text, and none repeats a group possessively: Python before 3.11.5 matches some of these
wrongly (python/cpython#106052), and Debian's, which the images have, is one. An atomic group around a plain repetition
says the same, and is right everywhere.
"""

import re
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest
from patterns import Found, patterns
from regex_attacks import slow

from data.sources.reviews import join_title

SINGLE = {"LITERAL", "NOT_LITERAL", "IN", "ANY", "CATEGORY"}


@pytest.fixture(scope="module")
def every() -> tuple[Found, list[str]]:
    return patterns()


def repeats_a_group(pattern: str, flags: int = 0) -> bool:
    return any(map(_repeats, parser.parse(pattern, flags)))


def _repeats(node: Any) -> bool:
    """Whether a node, or one within it, is a possessive repetition of more than a character."""
    if isinstance(node, parser.SubPattern):
        return any(map(_repeats, node))
    if not isinstance(node, tuple | list):
        return False
    if len(node) == 2 and str(node[0]) == "POSSESSIVE_REPEAT":
        body = node[1][2]
        if len(body) != 1 or str(body[0][0]) not in SINGLE:
            return True
    return any(map(_repeats, node))


def test_no_pattern_repeats_a_group_possessively(every: tuple[Found, list[str]]) -> None:
    found, _ = every
    assert len(found) > 500, "they are looked for where they are"
    assert [place for one, (place, _) in found.items() if repeats_a_group(one.pattern, one.flags)] == []


def test_no_pattern_is_slow_for_a_text_made_of_its_own_parts(every: tuple[Found, list[str]]) -> None:
    found, unread = every
    assert len(unread) <= 5, unread
    assert {
        f"{place} {one.pattern[:60]}": how for one, (place, ways) in found.items() if (how := slow(one, ways))
    } == {}


@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (r"(.+?)[ .;,]*\1", "fullmatch"),  # read 4,000 characters of «. » in 4.4 s
        (r"(a+)+$", "match"),
        (r"(?<=[.!?] )\w+ ?(?:\w+ ?)*x", "search"),
    ],
)
def test_slow_patterns_are_found(pattern: str, method: str) -> None:
    assert slow(re.compile(pattern), {method})


@pytest.mark.parametrize(
    ("text", "once"),
    [
        ("muito bom muito bom", "muito bom"),
        ("Adorei. Adorei", "Adorei"),
        ("bom bom", "bom bom"),  # short words are said twice on purpose
        ("abcdXabcd", "abcdXabcd"),
        ("abcd,abcd", "abcd"),
        ("abcdabcdabcdabcd", "abcdabcd"),
        (". " * 5_000, ". " * 4_999 + "."),
        ("", ""),
    ],
)
def test_a_text_given_twice_stands_once(text: str, once: str) -> None:
    assert join_title(None, text) == once
