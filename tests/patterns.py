"""Every regular expression of the project, and how it is applied: those that modules hold, and those that calls of `re`
are given where they stand.
"""

import ast
import builtins
import importlib
import pkgutil
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import data
import deployments
import flows
import rewards
import tasks
import tucano

ONE, ALL = {"search", "match", "fullmatch"}, {"finditer", "sub", "subn", "split", "findall"}
Found = dict[re.Pattern[str], tuple[str, set[str]]]


class _Unknown(str):
    """Stands for a value that only a call knows."""

    def __getattr__(self, name: str) -> "_Unknown":
        return self

    def __getitem__(self, key: object) -> "_Unknown":
        return self


class _Names(dict[str, Any]):
    def __missing__(self, name: str) -> _Unknown:
        if hasattr(builtins, name):
            raise KeyError(name)
        return _Unknown("x")


def patterns() -> tuple[Found, list[str]]:
    """{pattern: (its place, the methods that are called on it)}, and the places of calls that could not be read"""
    found: Found = {}
    unread: list[str] = []
    modules = list(_modules())
    for module in modules:
        for name, value in vars(module).items():
            for one in held(value):
                found.setdefault(one, (f"{module.__name__}.{name}", set()))
    for module in modules:
        nodes = list(ast.walk(ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))))
        looped = _looped(nodes, module)
        for node in nodes:
            if isinstance(node, ast.Attribute) and node.attr in ONE | ALL:
                for one in [*looped.get(ast.unparse(node.value), []), *held(_value(node.value, module))]:
                    found.setdefault(one, (module.__name__, set()))[1].add(node.attr)
            _read(node, module, found, unread)
    return found, unread


def held(value: Any) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield value
    elif isinstance(value, Mapping | tuple | list):
        for one in [*value, *value.values()] if isinstance(value, Mapping) else value:
            yield from held(one)


def _modules() -> Iterator[ModuleType]:
    for package in (data, rewards, tucano, tasks, flows, deployments):
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            # they need Triton, Inspect, verifiers, and hold none
            if not info.name.endswith(("__main__", ".policies.kernels", ".inspect_task", ".environments.taskset")):
                yield importlib.import_module(info.name)


def _looped(nodes: list[ast.AST], module: ModuleType) -> dict[str, list[re.Pattern[str]]]:
    """{name in a loop: the patterns that it goes through}"""
    found: dict[str, list[re.Pattern[str]]] = {}
    for node in nodes:
        if isinstance(node, ast.comprehension | ast.For):
            for target in ast.walk(node.target):
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, []).extend(held(_value(node.iter, module)))
    return found


def _value(node: ast.expr, module: ModuleType, names: dict[str, Any] | None = None) -> Any:
    """What an expression is at the top of its module, without `names` only a name's value; None where it needs more."""
    if names is None and not re.fullmatch(r"[\w.]+(\[[\w']+\])?(\.(items|values)\(\))?", ast.unparse(node)):
        return None
    try:
        return eval(compile(ast.Expression(node), "", "eval"), vars(module), names)
    except (NameError, AttributeError, TypeError, KeyError):
        return None


def _read(node: ast.AST, module: ModuleType, found: Found, unread: list[str]) -> None:
    """The pattern of a call of `re`, with «x» for what only the call knows"""
    if not isinstance(node, ast.Call) or not ast.unparse(node.func).startswith("re."):
        return
    method = ast.unparse(node.func).removeprefix("re.")
    if method not in ONE | ALL | {"compile"}:
        return
    place = f"{module.__name__}:{node.lineno}"
    names = _Names(vars(module))
    flags = [given.value for given in node.keywords if given.arg == "flags"]
    flags += node.args[{"compile": 1, "sub": 4, "subn": 4, "split": 3}.get(method, 2) :]
    try:
        one = re.compile("".join(_value(node.args[0], module, names)), _value(flags[0], module, names) if flags else 0)
    except (TypeError, re.error):
        unread.append(place)
    else:
        found.setdefault(one, (place, set()))[1].update({method} - {"compile"})
