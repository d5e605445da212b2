"""Branches of patterns, which benchmarks/which_patterns_matter.py takes away in turn."""

import re

import pytest

from benchmarks.source_parts import branches


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("abc", {}),
        ("a|b", {"a": "b", "b": "a"}),
        (r"x(?:a|b\|c|[|)])y", {"a": r"x(?:b\|c|[|)])y", r"b\|c": "x(?:a|[|)])y", "[|)]": r"x(?:a|b\|c)y"}),
        ("(?<!no )go(?! up)", {"(?<!no )": "go(?! up)", "(?! up)": "(?<!no )go"}),
        ("(?P<n>a(?:b|c)|d)", {"b": "(?P<n>a(?:c)|d)", "c": "(?P<n>a(?:b)|d)", "a(?:b|c)": "(?P<n>d)", "d": "(?P<n>a(?:b|c))"}),
    ],
)  # fmt: skip
def test_each_branch_is_taken_away(pattern: str, found: dict[str, str]) -> None:
    assert dict(branches(pattern)) == found
    assert all(re.compile(without) for without in found.values())
