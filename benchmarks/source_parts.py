"""Takes parts of the rewards' source away while they run: conditions, factors, functions, patterns and their branches.

`install` has `rewards` imported with hooks. While a text is scored, the hooks note which parts it met; what is in
`STATE.forced` they leave out.
"""

import ast
import builtins
import importlib.abc
import importlib.machinery
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).parents[1]
MOST_NOTED, MOST_UNMET = 20_000, 3_000
"""Strings a pattern keeps, and those among the first that it does not match; one that reads every word is no list of
turns."""
LEAST = 20
"""Characters of a condition or factor that is worth a try."""
LEFT_ALONE = {
    "objects",
    "sql",
    "sql_readings",
    "sql_results",
    "v42",
    "controls",
    "sets",
    "types",
    "classify",
    "describe",
}
"""Modules that read answers or sum up, and are no lists of what pays; so are those of later tasks."""
NEUTRAL: dict[str, object] = {"bool": False, "float": 1.0, "int": 0}


@dataclass
class Part:
    """A part of the source. code: the event that says that a text could change without it; instead: what would stand
    there; size: its characters."""

    label: str
    kind: str
    code: int
    instead: object
    size: int


@dataclass
class State:
    """What hooks note and what they force. frame: the events of the text in hand, 2 x a part's number + 1 where its
    value was another than what would stand instead, or a pattern's number and call; trial: the event that is tried."""

    parts: list[Part] = field(default_factory=list)
    forced: set[int] = field(default_factory=set)
    frame: set[Any] | None = None
    stores: list[dict[Any, Any]] = field(default_factory=list)
    trial: int = -1
    noting: bool = False
    patterns: list["Noted"] = field(default_factory=list)

    def add(self, label: str, kind: str, instead: object, size: int) -> int:
        """A new part's number."""
        self.parts.append(Part(label, kind, 2 * len(self.parts) + 1, instead, size))
        return len(self.parts) - 1


STATE = State()


def hook(numbers: tuple[int, ...], value: Any) -> Any:
    """Notes what a condition, factor or result is, or forces it."""
    if STATE.frame is None:
        return value
    for number in numbers:
        instead = STATE.parts[number].instead
        if isinstance(instead, bool):
            other = bool(value) != instead
        elif type(value) in (int, float, bool):
            other = value != instead
        else:
            continue
        if other:
            STATE.frame.add(2 * number + 1)
            if number in STATE.forced:
                return instead
    return value


def remembered(function: Callable[..., Any]) -> Callable[..., Any]:
    """As lru_cache, but an answer brings the events by which it came about, and is made anew where these are tried."""
    known: dict[Any, tuple[Any, set[Any]]] = {}
    STATE.stores.append(known)

    def call(*args: Any, **kwargs: Any) -> Any:
        key = (args, tuple(kwargs.items()))
        if key in known and STATE.trial not in known[key][1]:
            if STATE.frame is not None:
                STATE.frame |= known[key][1]
            return known[key][0]
        outer = STATE.frame
        STATE.frame = set()
        try:
            value = function(*args, **kwargs)
        finally:
            events, STATE.frame = STATE.frame, outer
        if STATE.trial not in events:
            known[key] = value, events if len(events) < 300 else {one for one in events if isinstance(one, int)}
        if outer is not None:
            outer |= events
        return value

    return call


class Noted:
    """A pattern that notes the strings it matches."""

    def __init__(self, real: re.Pattern[str], label: str) -> None:
        self.real, self.pattern, self.label = real, real.pattern, label
        self.number = STATE.add(label, "pattern", None, len(real.pattern) + 30)
        self.lax = "(?!" in real.pattern or "(?<!" in real.pattern
        self.left = MOST_NOTED
        STATE.patterns.append(self)

    def _do(self, how: str, text: str, *rest: int) -> Any:
        found = getattr(self.real, how)(text, *rest)
        if how == "finditer":
            found = list(found)
        if STATE.frame is not None:
            matched = len(found) > 1 if how == "split" else bool(found)
            if matched:
                STATE.frame.add(2 * self.number + 1)
            if STATE.noting and (self.left > 0 if matched else self.lax and self.left > MOST_NOTED - MOST_UNMET):
                self.left -= 1
                STATE.frame.add((self.number, how, text, *rest))
        return iter(found) if how == "finditer" else found

    def sub(self, instead: Any, text: str, count: int = 0) -> str:
        self._do("finditer", text)
        return self.real.sub(instead, text, count=count)

    def subn(self, instead: Any, text: str) -> tuple[str, int]:
        self._do("finditer", text)
        return self.real.subn(instead, text)

    def search(self, *asked: Any) -> Any:
        return self._do("search", *asked)

    def match(self, *asked: Any) -> Any:
        return self._do("match", *asked)

    def fullmatch(self, *asked: Any) -> Any:
        return self._do("fullmatch", *asked)

    def findall(self, *asked: Any) -> Any:
        return self._do("findall", *asked)

    def finditer(self, *asked: Any) -> Any:
        return self._do("finditer", *asked)

    def split(self, text: str) -> Any:
        return self._do("split", text)


def branches(pattern: str) -> Iterator[tuple[str, str]]:
    """Each branch of each alternation, and each negative look around, with the pattern that lacks it."""
    stack: list[list[int]] = [[0]]
    opened: list[int] = []
    spans: list[tuple[int, int]] = []
    place = 0
    while place <= len(pattern):
        mark = pattern[place : place + 1]
        if mark == "\\":
            place += 1
        elif mark == "[":
            place += 2 if pattern[place + 1 : place + 2] in ("]", "^") else 1
            while pattern[place : place + 1] != "]":
                place += 2 if pattern[place] == "\\" else 1
        elif mark == "(":
            head = re.match(r"\((?:\?(?:P<\w+>|<?[=!]|[a-zA-Z]*-?[a-zA-Z]*:|>))?", pattern[place:])
            opened.append(place)
            place += len(head[0]) - 1 if head else 0
            stack.append([place + 1])
        elif mark == "|":
            stack[-1].append(place + 1)
        elif mark in (")", ""):
            starts = [*stack.pop(), place + 1]
            if len(starts) > 2:
                spans += [(start, end - 1) for start, end in pairwise(starts)]
            if mark and re.match(r"\(\?<?!", pattern[opened[-1] :]):
                yield pattern[opened[-1] : place + 1], pattern[: opened[-1]] + pattern[place + 1 :]
            opened = opened[:-1]
        place += 1
    for start, end in spans:
        is_last = pattern[end : end + 1] != "|"
        yield pattern[start:end], pattern[: start - is_last] + pattern[end + (not is_last) :]


class Hooks(ast.NodeTransformer):
    """Wraps every condition, factor, addend and simple result of a module's functions."""

    def __init__(self, module: str, source: str) -> None:
        self.module, self.source, self.inside = module, source, 0

    def _wrap(self, node: ast.expr, kind: str, *instead: object, size: int = 0) -> ast.expr:
        told = " ".join((ast.get_source_segment(self.source, node) or "").split())
        label = f"{self.module}:{node.lineno} {told[:90]}"
        if max(size, len(told)) < LEAST:
            return self.visit(node)
        numbers = [STATE.add(f"{label} -> {value}", kind, value, size or len(told)) for value in instead]
        call = ast.Call(
            ast.Name("_hook", ast.Load()),
            [ast.Tuple([ast.Constant(number) for number in numbers], ast.Load()), self.visit(node)],
            [],
        )
        return ast.copy_location(call, node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        kept = [one for one in node.decorator_list if "cache" not in ast.unparse(one)]
        if len(kept) < len(node.decorator_list):
            kept.append(ast.Name("_remembered", ast.Load()))
        node.decorator_list = kept
        self.inside += 1
        length = len(ast.get_source_segment(self.source, node) or "")
        told = ast.unparse(node.returns) if node.returns else ""
        instead = NEUTRAL.get(told)
        label = f"{self.module}:{node.lineno} def {node.name} -> {instead}"
        number = -1 if instead is None else STATE.add(label, "def", instead, length)
        for one in ast.walk(node):
            if isinstance(one, ast.Return) and one.value is not None and instead is not None:
                one.value = ast.Call(
                    ast.Name("_hook", ast.Load()), [ast.Tuple([ast.Constant(number)], ast.Load()), one.value], []
                )
        node.body = [self.visit(one) for one in node.body]
        self.inside -= 1
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.BoolOp:
        if self.inside:
            node.values = [self._wrap(one, "cond", isinstance(node.op, ast.And)) for one in node.values]
        return node

    def visit_If(self, node: ast.If) -> ast.If:
        length = len(ast.get_source_segment(self.source, node) or "")
        node.test = self._wrap(node.test, "if", False, size=length) if self.inside else node.test
        node.body, node.orelse = [self.visit(one) for one in node.body], [self.visit(one) for one in node.orelse]
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        if self.inside:
            node.test = self._wrap(node.test, "if", False, True)
            node.body, node.orelse = self.visit(node.body), self.visit(node.orelse)
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        node.iter = self.visit(node.iter)
        node.ifs = [self._wrap(one, "cond", True) if self.inside else one for one in node.ifs]
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        neutral = {ast.Mult: 1.0, ast.Add: 0, ast.Sub: 0}.get(type(node.op))
        if neutral is None or not self.inside:
            return self.generic_visit(node)
        both = [node.right] if isinstance(node.op, ast.Sub) else [node.left, node.right]
        done = [one if isinstance(one, ast.Constant) else self._wrap(one, "term", neutral) for one in both]
        node.left, node.right = (self.visit(node.left), done[0]) if len(done) == 1 else (done[0], done[1])
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        neutral = {ast.Mult: 1.0, ast.Add: 0}.get(type(node.op))
        known = neutral is None or isinstance(node.value, ast.Constant)
        node.value = self.visit(node.value) if known or not self.inside else self._wrap(node.value, "term", neutral)
        return node


def noted(value: Any, label: str) -> Any:
    """A value of a module with its patterns noted."""
    if isinstance(value, re.Pattern):
        return Noted(value, label)
    if type(value) is dict and any(isinstance(one, re.Pattern) for one in value.values()):
        value.update({key: noted(one, f"{label}[{key!r}]") for key, one in value.items()})
    if type(value) is tuple and value and not isinstance(value[0], str):
        return tuple(noted(one, f"{label}[{place}]") for place, one in enumerate(value))
    return value


def is_left_alone(path: str) -> bool:
    return Path(path).stem in LEFT_ALONE or Path(path).parent.name == "tasks"


class Loader(importlib.machinery.SourceFileLoader):
    def get_code(self, fullname: str) -> Any:
        source = Path(self.path).read_text(encoding="utf-8")
        tree = ast.parse(source)
        if not is_left_alone(self.path):
            Hooks(Path(self.path).relative_to(ROOT).as_posix(), source).visit(tree)
        return compile(ast.fix_missing_locations(tree), self.path, "exec")

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        if is_left_alone(self.path):
            return
        for name, value in list(vars(module).items()):
            if not isinstance(value, Noted) and not name.startswith("__"):
                setattr(module, name, noted(value, f"{Path(self.path).relative_to(ROOT).as_posix()} {name}"))


class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        if fullname.split(".")[0] != "rewards":
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        if spec is not None and spec.origin:
            spec.loader = Loader(fullname, spec.origin)
        return spec


def install() -> None:
    """Has `rewards` imported with hooks; it must not be imported yet."""
    builtins.__dict__.update(_hook=hook, _remembered=remembered)
    sys.meta_path.insert(0, Finder())
