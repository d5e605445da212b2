"""No pattern repeats a group possessively: Python before 3.11.5 matches some of them wrongly (python/cpython#106052), and
Debian's, which the images have, is one. An atomic group around a plain repetition says the same, and is right everywhere.
"""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import data
import rewards
import tucano

SINGLE = {"LITERAL", "NOT_LITERAL", "IN", "ANY", "CATEGORY"}


def patterns() -> dict[str, re.Pattern[str]]:
    """{MODULE.NAME: every compiled pattern that a module of ours holds}"""
    found: dict[str, re.Pattern[str]] = {}
    for package in (data, rewards, tucano):
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if info.name.endswith("__main__"):
                continue
            for name, value in vars(importlib.import_module(info.name)).items():
                found.update((f"{info.name}.{name}", one) for one in held(value))
    return found


def held(value: Any) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from held(one)
    elif isinstance(value, tuple | list):
        for one in value:
            yield from held(one)


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


def test_no_pattern_repeats_a_group_possessively() -> None:
    found = patterns()
    assert len(found) > 200, "they are looked for where they are"
    assert [name for name, one in found.items() if repeats_a_group(one.pattern, one.flags)] == []


def test_the_look_sees_them_wherever_they_stand() -> None:
    for pattern in (r"a(?:bc|d)*+", r"(?P<x>(?:\.\d)++)", r"(?=(?:ab){2,3}+)", r"x|(?:(?:ab)?+|c)", r"(?>(?:ab)*+)"):
        assert repeats_a_group(pattern), pattern
    for pattern in (r"a*+", r"[a-z]{2,3}+", r"(?>(?:b|c)*)", r"(?:a|b)+", r"\d?+", r".*+"):
        assert not repeats_a_group(pattern), pattern
