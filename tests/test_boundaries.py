"""Handles between stages are typed: mypy finds swapped arguments; every file's name stands once."""

import ast
import copy
import re
from functools import cache
from itertools import combinations
from pathlib import Path

import pytest
from programs import python

ROOT = Path(__file__).parent.parent
PRODUCT = ("data", "deployments", "flows", "rewards", "tasks", "tucano")
HANDLES = Path("tasks", "running", "handles.py")


def sources() -> list[Path]:
    return [path.relative_to(ROOT) for package in PRODUCT for path in sorted((ROOT / package).rglob("*.py"))]


def swapped() -> list[tuple[str, str]]:
    """Every variant of the train flow with two positional arguments of one call in each other's place, and its name."""
    tree = ast.parse((ROOT / "flows" / "train.py").read_text(encoding="utf-8"))
    calls = [place for place, node in enumerate(ast.walk(tree)) if isinstance(node, ast.Call)]
    variants = []
    for place in calls:
        node = list(ast.walk(tree))[place]
        assert isinstance(node, ast.Call)
        for one, two in combinations(range(len(node.args)), 2):
            changed = copy.deepcopy(tree)
            call = list(ast.walk(changed))[place]
            assert isinstance(call, ast.Call)
            call.args[one], call.args[two] = call.args[two], call.args[one]
            variants.append((ast.unparse(call), ast.unparse(changed)))
    return variants


@pytest.mark.long
def test_swapping_any_two_arguments_of_any_call_in_the_train_flow_is_a_type_error(tmp_path: Path) -> None:
    variants = swapped()
    assert len(variants) > 80
    for number, (_, text) in enumerate(variants):
        (tmp_path / f"swapped_{number}.py").write_text(text, encoding="utf-8")
    files = [str(tmp_path / f"swapped_{number}.py") for number in range(len(variants))]
    done = python("-m", "mypy", "--config-file", "pyproject.toml", "--cache-dir", str(tmp_path / "cache"), *files)
    found = {int(number) for number in re.findall(r"swapped_(\d+)\.py:\d+: error", done.stdout)}
    assert [call for number, (call, _) in enumerate(variants) if number not in found] == [], done.stderr


def test_records_are_read_by_their_handles_alone() -> None:
    others = [path for path in sources() if path != HANDLES]
    assert [path for path in others if ".record[" in (ROOT / path).read_text(encoding="utf-8")] == []


@cache
def file_names() -> dict[str, list[str]]:
    """Where each name of a file in an artifact's folder is spelt."""
    spelt: dict[str, list[str]] = {}
    for path in sources():
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                spelt.setdefault(node.value, []).append(str(path))
    return spelt


@pytest.mark.parametrize("path", sorted((ROOT / "tucano" / "files").glob("*.py")), ids=lambda path: path.stem)
def test_the_name_of_an_artifacts_file_stands_once(path: Path) -> None:
    spelt = file_names()
    names = {
        node.value
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.fullmatch(r"[\w-]+\.(jsonl|json|txt|html|md|sqlite)", node.value)
    }
    own = f"tucano/files/{path.name}"
    loader = "tucano/training/policies/served_model.py"  # imports nothing of ours, since it travels with the weights
    assert {
        name: places for name in names if (places := [place for place in spelt[name] if place not in (own, loader)])
    } == {}
