"""What the code of a stage does, as a digest: its syntax trees, the files it reads from our packages, and the numeric
packages where it imports one.

Comments, docstrings, layout and the descriptions of settings do nothing, so they count for nothing; nor does the
version of Python.
"""

import ast
import importlib.metadata
import threading
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, cast

from tucano.artifacts.identity import digest, fingerprint

OUR_PACKAGES = ("data", "rewards", "tucano")
NUMERIC_PACKAGES = ("torch", "trl", "peft", "transformers")
"""Their versions, all of them, are part of the code version of every stage that imports one: results depend on
them.
"""
ROOT = Path(__file__).parents[2]

_parsing = threading.Lock()
"""Python 3.11's parser counts its recursion per process: two threads that parse at once fail (CPython issue 106905)."""


def code_version(module: str, root: Path = ROOT) -> str:
    """Digest of what `module` does, with everything of ours that it imports. `root` holds our packages."""
    found: dict[str, str] = {}
    waiting, is_numeric = [module], False
    while waiting:
        name = waiting.pop()
        is_numeric |= name.split(".")[0] in NUMERIC_PACKAGES
        if name.endswith(".*"):
            waiting += _members(name.removesuffix(".*"), root)
            continue
        path = _source(name, root)
        if path is not None and name not in found:
            with _parsing:  # whoever waits for a file finds it read
                found[name], imports, resources = _read(path, path.stat().st_mtime_ns)
            found |= {
                resource.relative_to(root).as_posix(): str(fingerprint(resource)["sha256"]) for resource in resources
            }
            waiting += imports
    assert found, f"{module} is none of our modules"
    return digest({"sources": found, "versions": _versions() if is_numeric else {}})[:16]


@cache
def _versions() -> dict[str, str]:
    """Without the local part: 2.13.0+cu130 is 2.13.0."""
    return {name: importlib.metadata.version(name).partition("+")[0] for name in NUMERIC_PACKAGES}


@cache
def _read(path: Path, modified: int) -> tuple[str, tuple[str, ...], tuple[Path, ...]]:
    """What a source file does, what it imports, and the other files that it names."""
    plain = _Plain().visit(ast.parse(path.read_bytes()))
    spelt = {node.value for node in ast.walk(plain) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    resources = {*_resources(spelt, path.parent), *_in_named_folders(spelt, path.parent)}
    return digest(_form(plain)), tuple(_imports(plain)), tuple(sorted(resources))


def _form(node: Any) -> Any:
    """A syntax tree as JSON, the same from every Python: what is unset or empty is left out, as some versions have
    fields that others have not, and texts are in ASCII, as `repr` goes by the Unicode of its day.
    """
    if isinstance(node, ast.AST):
        fields = {name: _form(value) for name, value in ast.iter_fields(node) if value is not None and value != []}
        return [type(node).__name__, fields]
    return [_form(item) for item in node] if isinstance(node, list) else ascii(node)


class _Plain(ast.NodeTransformer):
    """Takes away what does nothing at run time: strings that stand alone, descriptions of fields, imports for the type
    checker, and the empty parts that Python 3.12.0 and 3.12.1 put into f-strings.
    """

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        stands_alone = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return None if stands_alone else self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name) and node.func.id == "Field":
            node.keywords = [keyword for keyword in node.keywords if keyword.arg != "description"]
        return self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        node.values = [part for part in node.values if not isinstance(part, ast.Constant) or part.value]
        return self.generic_visit(node)

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        plain = cast("ast.If", self.generic_visit(node))
        only_types = isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        return plain.orelse if only_types else plain


def _imports(tree: ast.AST) -> list[str]:
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "import_module":
            names += [f"{package}.*" for package in _packages(node)]
    return names


def _packages(call: ast.Call) -> Iterator[str]:
    """Where `import_module(f"package.{name}")` takes its modules from: any one of them may be meant."""
    for argument in call.args:
        first = argument.values[0] if isinstance(argument, ast.JoinedStr) and argument.values else None
        if isinstance(first, ast.Constant):
            yield str(first.value).removesuffix(".")


def _resources(spelt: set[str], folder: Path) -> list[Path]:
    """Templates, word lists and the like: files in `folder` whose names the code spells, and those that they name in
    turn.
    """
    here = _data_files(folder)
    found = [path for path in here if path.name in spelt]
    for path in found:  # grows while it is walked
        text = path.read_text(encoding="utf-8", errors="replace")
        found += [other for other in here if other not in found and other.name in text]
    return found


def _in_named_folders(spelt: set[str], folder: Path) -> Iterator[Path]:
    """All files of `folder` where the code spells its name as a package (`files("data.generator.natural")`), and of
    folders without code whose names it spells, beside it or one package up: a corpus.
    """
    if any("." in name and folder.parts[-name.count(".") - 1 :] == tuple(name.split(".")) for name in spelt):
        yield from _data_files(folder)
    packages = [place for place in (folder, folder.parent) if (place / "__init__.py").is_file()]
    for path in (path for place in packages for path in place.iterdir() if path.is_dir() and path.name in spelt):
        if not any(path.glob("*.py")):
            yield from _data_files(path)


def _data_files(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.is_file() and path.suffix not in (".py", ".pyc")]


def _members(package: str, root: Path) -> list[str]:
    """The modules of one of our packages; none for other people's."""
    if package.split(".")[0] not in OUR_PACKAGES:
        return []
    return [f"{package}.{path.stem}" for path in sorted(root.joinpath(*package.split(".")).glob("*.py"))]


def _source(module: str, root: Path) -> Path | None:
    """The file of one of our modules, found without importing anything; None for other people's, and for names in a
    module.
    """
    if module.split(".")[0] not in OUR_PACKAGES:
        return None
    place = root.joinpath(*module.split("."))
    candidates = (place / "__init__.py", place.with_suffix(".py"))
    return next((path for path in candidates if path.is_file()), None)
