"""Small faults for a Python module: each mutant differs from the source in one place, as a slip of the pen would.

Left alone: docstrings, annotations, decorators, `__all__`, messages of errors, and the texts of the component table (a
test compares those with the docs).
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult, ast.Mod: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
TWINS = {"min": "max", "max": "min", "any": "all", "all": "any"}
REMOVABLE = {"clip", "fold", "squeeze", "readable", "sorted", "set", "abs"}
"""Functions of one argument whose result is of a like kind."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """`key` names it whatever its line: module, function, change, and a number where that is not unique."""

    module: str
    line: int
    key: str
    source: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where a node hangs: a field of its parent, or an item of one; `where` is the function or class around it."""

    parent: ast.AST
    field: str
    index: int | None
    where: str

    def put(self, node: ast.AST) -> None:
        if self.index is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.index] = node


def mutants(path: Path, package: str) -> list[Mutant]:
    """All mutants of a module in the order of its lines; those that do not compile, or print as the source does, are
    left out.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    whole = ast.unparse(tree)
    found: list[Mutant] = []
    seen: Counter[str] = Counter()
    for place, node in list(_places(tree, path.stem)):
        for spoilt in _spoilt(node):
            place.put(ast.copy_location(spoilt, node))
            source = ast.unparse(ast.fix_missing_locations(tree))
            place.put(node)
            if source != whole and _compiles(source):
                name = f"{place.where}: {_change(_short(node), _short(spoilt))}"
                seen[name] += 1
                key = name if seen[name] == 1 else f"{name} #{seen[name]}"
                found.append(Mutant(f"{package}.{path.stem}", getattr(node, "lineno", 0), key, source))
    return found


def _compiles(source: str) -> bool:
    try:
        compile(source, "mutant", "exec")
    except SyntaxError:
        return False
    return True


def _short(node: ast.AST) -> str:
    """A node's first line; of a `try` what it catches."""
    if isinstance(node, ast.Try):
        node = node.handlers[0]
    return ast.unparse(node).strip().splitlines()[0]


def _change(before: str, after: str) -> str:
    """`before -> after`, of long texts only where they differ."""
    if max(len(before), len(after)) <= 100:
        return f"{before} -> {after}"
    start = _same(before, after)
    end = _same(before[start:][::-1], after[start:][::-1])
    parts = (text[max(0, start - 20) : len(text) - max(0, end - 20)] for text in (before, after))
    return " -> ".join(f"…{part}…" for part in parts)


def _same(first: str, second: str) -> int:
    """How many characters two texts begin with in common."""
    return next(
        (place for place, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), min(len(first), len(second))
    )


def _places(node: ast.AST, where: str) -> Iterator[tuple[Place, ast.AST]]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        where = f"{where}.{node.name}"
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(child, ast.AST) and not _is_left_alone(node, child):
                yield Place(node, name, index, where), child
                yield from _places(child, where)


def _is_left_alone(parent: ast.AST, child: ast.AST) -> bool:
    if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
        return True  # a docstring
    if isinstance(child, ast.Assign) and isinstance(child.targets[0], ast.Name):
        return child.targets[0].id in ("__all__", "_SOURCE", "REPORT")
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name):
        text = isinstance(child, ast.Constant) and isinstance(child.value, str)
        return parent.func.id == "ValueError" or (parent.func.id == "Component" and text)
    return False


def _spoilt(node: ast.AST) -> Iterator[ast.AST]:
    """What could stand in a node's place by mistake."""
    match node:
        case ast.Compare(left=left, ops=ops, comparators=others):
            for place, operator in enumerate(ops):
                yield ast.Compare(left, [*ops[:place], COMPARISONS[type(operator)](), *ops[place + 1 :]], others)
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in OPERATORS:
            yield ast.BinOp(left, OPERATORS[type(operator)](), right)
        case ast.BoolOp(op=operator, values=values):
            for place in range(len(values)):
                rest = [*values[:place], *values[place + 1 :]]
                yield ast.BoolOp(operator, rest) if len(rest) > 1 else rest[0]
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield operand
        case ast.IfExp(body=body, orelse=orelse):
            yield body
            yield orelse
        case ast.Constant(value=value):
            yield from map(ast.Constant, _values(value))
        case ast.Subscript(value=value, slice=ast.Slice()):
            yield value
        case ast.Dict(keys=keys, values=values):
            for place in range(len(keys)):
                yield ast.Dict([*keys[:place], *keys[place + 1 :]], [*values[:place], *values[place + 1 :]])
        case ast.comprehension(target=target, iter=iterated, ifs=[_, *_]):
            yield ast.comprehension(target, iterated, [], 0)
        case ast.Call():
            yield from _calls(node)
        case ast.stmt():
            yield from _statements(node)
        case _:
            pass


def _calls(node: ast.Call) -> Iterator[ast.AST]:
    match node:
        case ast.Call(func=ast.Name(id=name)) if name in TWINS:
            yield ast.Call(ast.Name(TWINS[name]), node.args, node.keywords)
        case ast.Call(func=ast.Name(id=name), args=[only], keywords=[]) if name in REMOVABLE:
            yield only
        case ast.Call(func=ast.Attribute(value=value), args=[], keywords=[]):
            yield value  # text.strip() -> text
        case _:
            pass
    for place in range(len(node.keywords)):
        yield ast.Call(node.func, node.args, [*node.keywords[:place], *node.keywords[place + 1 :]])


def _statements(node: ast.stmt) -> Iterator[ast.AST]:
    match node:
        case ast.If(body=body, orelse=orelse):
            yield ast.If(ast.Constant(True), body, orelse)
            yield ast.If(ast.Constant(False), body, orelse)
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Break() | ast.Continue():
            yield ast.Pass()
        case ast.Try(handlers=[only], body=body, orelse=orelse, finalbody=final) if isinstance(only.type, ast.Tuple):
            for place in range(len(only.type.elts)):
                fewer = ast.Tuple([*only.type.elts[:place], *only.type.elts[place + 1 :]], ast.Load())
                yield ast.Try(body, [ast.ExceptHandler(fewer, only.name, only.body)], orelse, final)
        case _:
            pass


def _values(value: object) -> Iterator[bool | float | str]:
    match value:
        case bool():
            yield not value
        case int():
            yield value + 1
        case float():
            yield value * 1.1 if value else 0.1
        case str() if len(words := value.split()) > 8 and re.fullmatch(r"[\w\s*]+", value):
            for place in (0, len(words) // 2, len(words) - 1):
                yield " ".join([*words[:place], *words[place + 1 :]])
        case str() if re.search(r"[\\|*+?^]|\[|\{\d", value):
            yield from dict.fromkeys(_patterns(value))
        case str():
            yield f"XX{value}"
        case _:
            pass


_PIECE = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{\d*,?\d*\}|\(\?(?:P<\w+>|<[=!]|[:=!]|[a-z]+:)|[*+?]\+?|.", re.DOTALL
)


def _patterns(pattern: str) -> Iterator[str]:
    """A pattern with one alternative, boundary or quantifier less, or one count more; only what is still a pattern."""
    pieces = _PIECE.findall(pattern)
    for place, piece in enumerate(pieces):
        before, after = "".join(pieces[:place]), "".join(pieces[place + 1 :])
        others: list[str] = []
        if piece in ("\\b", "^", "$", "\\Z", "?"):
            others = [""]
        elif piece[0] in "*+":
            others = [{"*": "+", "+": "*"}[piece[0]] + piece[1:]]
        elif re.fullmatch(r"\{\d*,?\d+\}", piece):
            others = [re.sub(r"\d+(?=\})", lambda match: str(int(match[0]) + 1), piece)]
        for other in others:
            if _is_pattern(before + other + after):
                yield before + other + after
    yield from _fewer_alternatives(pieces)


def _fewer_alternatives(pieces: list[str]) -> Iterator[str]:
    """The pattern without one of the alternatives of each group."""
    opened, starts = [0], [0]
    for place, piece in enumerate([*pieces, ")"]):
        if piece.startswith("("):
            opened.append(place + 1)
            starts.append(place + 1)
        elif piece in ("|", ")") and opened:
            if piece == "|" or starts[-1] != opened[-1]:
                first = starts[-1] == opened[-1]
                shorter = [*pieces[: starts[-1] if first else starts[-1] - 1], *pieces[place + 1 if first else place :]]
                if _is_pattern("".join(shorter)):
                    yield "".join(shorter)
            starts[-1] = place + 1
            if piece == ")":
                opened.pop()
                starts.pop()


def _is_pattern(text: str) -> bool:
    try:
        re.compile(text, re.VERBOSE if "\n" in text else 0)
    except re.error:
        return False
    return True
