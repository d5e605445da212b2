"""A stage's code version is the same from every Python, and knows the numeric packages where they count."""

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tucano.artifacts import code_version as versions
from tucano.artifacts.code_version import ROOT, code_version

SOURCE = '''
"""A module."""
from dataclasses import dataclass as made

@made
class Row:
    width: int = 0
    marks = {**{}, "é": None, "\\U0001fae8": b"x", "n": 1.0, "t": True}

    async def told(self, *rest, key=..., **more) -> "Row":
        return f"{self.width:<{self.width}}" f"{key!r:}" "" f"{1e400}" and (lambda: (yield))
'''
FORM = "16fae08db6698ef369facec577438c1190972944e363710333120891392a0364"
"""The digest of what it says, from 3.11, 3.12 and 3.13 alike."""


def pythons() -> list[str]:
    """The other interpreters of this machine that our sources are written for."""
    names = [f"python3.{minor}" for minor in range(11, 20)]
    places = [shutil.which(name) for name in names]
    places += [str(place) for name in names for place in Path.home().glob(f".pyenv/versions/*/bin/{name}")]
    here = Path(sys.executable).resolve()
    runs = [place for place in places if place and Path(place).resolve() != here]
    return [place for place in runs if not subprocess.run([place, "-c", ""], capture_output=True).returncode]


def digest_of(tree: ast.AST) -> str:
    return versions.digest(versions._form(versions._Plain().visit(tree)))


def test_what_versions_of_python_add_counts_for_nothing() -> None:
    tree = ast.parse(SOURCE)
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.AsyncFunctionDef):  # 3.12
            vars(node).update(_fields=(*node._fields, "type_params"), type_params=[])
        if isinstance(node, ast.JoinedStr):  # 3.12.0 and 3.12.1
            node.values.append(ast.Constant(""))
    assert digest_of(tree) == digest_of(ast.parse(SOURCE)) == FORM
    assert digest_of(ast.parse(SOURCE.replace("key!r", "key!s"))) != FORM
    assert digest_of(ast.parse(SOURCE.replace("True", "1"))) != FORM


@pytest.mark.parametrize("python", pythons())
def test_other_interpreters_here_find_the_same(python: str) -> None:
    stages = ("data.prepare", "tucano.audit.stage", "tucano.comparison.plan")
    code = f"from tucano.artifacts.code_version import code_version; print(*map(code_version, {stages}))"
    told = subprocess.run([python, "-W", "ignore", "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert told.stdout.split() == list(map(code_version, stages))


def test_the_audit_of_a_machine_with_another_torch_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {module: code_version(module) for module in ("tucano.audit.stage", "tucano.training.grpo")}
    monkeypatch.setattr(versions, "_versions", lambda: {"torch": "2.11.0"})
    assert code_version("tucano.audit.stage") == before["tucano.audit.stage"]
    assert code_version("tucano.training.grpo") != before["tucano.training.grpo"]
