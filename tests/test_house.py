"""The limits that keep the product code easy to read: files, folders, parameters, statements."""

import ast
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
PRODUCT = ("data", "deployments", "flows", "rewards", "tasks", "tucano")
MODULES_PER_FOLDER = 14
LINES_PER_FILE = 400
PARAMETERS = 7
COMPREHENSIONS = 4
TUPLE_ASSIGNMENTS_PER_1000_LINES = 4.6
IGNORED_TYPES = 8
COMPREHENSION = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
COMPOUND = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.If, ast.For, ast.While, ast.With, ast.Try, ast.Match,
)  # fmt: skip


@cache
def sources() -> dict[str, str]:
    """{path of every module of the product: its text}."""
    paths = [path for package in PRODUCT for path in sorted((ROOT / package).rglob("*.py"))]
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def nodes() -> Iterator[tuple[str, ast.AST]]:
    for path, text in sources().items():
        for node in ast.walk(ast.parse(text)):
            yield path, node


def place(path: str, node: ast.stmt) -> str:
    return f"{path}:{node.lineno}"


def test_no_folder_holds_more_modules_than_one_looks_through() -> None:
    modules = Counter(path.rpartition("/")[0] for path in sources() if not path.endswith("__init__.py"))
    assert {folder: count for folder, count in modules.items() if count > MODULES_PER_FOLDER} == {}


def test_no_file_is_longer_than_its_reader_has_patience() -> None:
    lines = {path: text.count("\n") for path, text in sources().items()}
    assert {path: count for path, count in lines.items() if count > LINES_PER_FILE} == {}


def test_no_function_has_more_parameters_than_one_can_keep_apart() -> None:
    found = {}
    for path, node in nodes():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
            count = len([name for name in names if name not in ("self", "cls")])
            if count > PARAMETERS:
                found[f"{place(path, node)} {node.name}"] = count
    assert found == {}


def test_no_statement_has_more_comprehensions_than_one_can_follow() -> None:
    found = {}
    for path, node in nodes():
        if isinstance(node, ast.stmt) and not isinstance(node, COMPOUND):
            count = sum(isinstance(part, COMPREHENSION) for part in ast.walk(node))
            if count > COMPREHENSIONS:
                found[place(path, node)] = count
    assert found == {}


def test_values_are_assigned_together_only_where_they_belong_together() -> None:
    found = [
        place(path, node)
        for path, node in nodes()
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple)
    ]
    lines = sum(text.count("\n") for text in sources().values())
    assert 1000 * len(found) / lines <= TUPLE_ASSIGNMENTS_PER_1000_LINES, found


def test_few_types_are_ignored() -> None:
    ignored = {path: text.count("# type: ignore") for path, text in sources().items() if "# type: ignore" in text}
    assert sum(ignored.values()) <= IGNORED_TYPES, ignored


def test_the_import_rules_have_no_exemptions() -> None:
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    assert [contract["name"] for contract in rules["contracts"] if "ignore_imports" in contract] == []


def test_flows_holds_flows_alone() -> None:
    found = []
    for path, text in sources().items():
        if path.startswith("flows/"):
            for node in ast.parse(text).body:
                if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                    marks = [mark.func if isinstance(mark, ast.Call) else mark for mark in node.decorator_list]
                    if not any(isinstance(mark, ast.Name) and mark.id == "flow" for mark in marks):
                        found.append(f"{place(path, node)} {node.name}")
    assert found == []


def test_the_init_files_of_rewards_hold_no_code_that_keys_would_miss() -> None:
    """Keys follow the modules that are imported by name, and not the `__init__.py` of the folders on the way there."""
    found = []
    for path, text in sources().items():
        if path.startswith("rewards/") and path.count("/") > 1 and path.endswith("/__init__.py"):
            found += [place(path, node) for node in ast.parse(text).body if not isinstance(node, ast.Expr)]
    assert found == []
