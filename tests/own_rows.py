"""Tiny builders of files that other people's prompts come in, and what has to hold of the sets made of them."""

import json
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

from data.separation import normal_form
from tucano.prompts import Prompt

WORDS = [
    "produto", "entrega", "caixa", "prazo", "loja", "cor", "tamanho", "peça", "cheiro", "tecido", "motor", "manual",
    "preço", "vidro", "cabo", "tampa", "couro", "bolsa", "sapato", "lápis", "mesa", "janela", "flor", "chave", "ponte",
    "praia", "nuvem", "livro", "carta", "festa",
]  # fmt: skip


def words(number: int, count: int = 9) -> str:
    return " ".join(Random(number).sample(WORDS, count))


def require_apart(*sets: list[Prompt]) -> None:
    """By brute force: no text, part of a text or gold query in two sets."""
    for one, other in combinations(sets, 2):
        texts = [[f" {normal_form(prompt.user)} " for prompt in prompts] for prompts in (one, other)]
        assert not [(mine, theirs) for mine in texts[0] for theirs in texts[1] if mine in theirs or theirs in mine]
        queries = [{prompt.reference.get("sql") for prompt in prompts} - {None} for prompts in (one, other)]
        assert not queries[0] & queries[1]


def push(number: int, **more: Any) -> dict[str, Any]:
    return {"prompt": f"Escreva um push: {words(number)}.", "task": "push", **more}


def insight(number: int, **more: Any) -> dict[str, Any]:
    return {"prompt": f"Que insights você tira? {words(number)}.", "task": "insights", **more}


def written(path: Path, rows: list[Any]) -> Path:
    """One JSON object a line; bytes and texts stand as they are."""
    lines = [
        row if isinstance(row, bytes) else (row if isinstance(row, str) else json.dumps(row)).encode() for row in rows
    ]
    path.write_bytes(b"\n".join([*lines, b""]))
    return path


ODD_ROWS: dict[str, tuple[Any, str]] = {
    "cut": ('{"prompt": "Oi', "unreadable"),
    "a list": ("[1]", "unreadable"),
    "deep": ('{"a":' * 5000 + "1" + "}" * 5000, "unreadable"),
    "deep enough for Python": ('{"prompt": "Crie um push", "reference": {"a":' + "[" * 300 + "]" * 300 + "}}", "reference"),
    "not a number": ('{"prompt": "Crie um push", "stars": NaN}', "unreadable"),
    "endless number": ('{"prompt": "Crie um push", "stars": ' + "9" * 5000 + "}", "unreadable"),
    "large number": ({**push(1), "reference": {"figures": [10**400]}}, "reference"),
    "latin-1": ('{"prompt": "Notificação"}'.encode("latin-1"), "unreadable"),
    "lone surrogate": ('{"prompt": "push \\ud800 novo"}', "unreadable"),
    "surrogate in a name": ('{"prompt": "um push novo", "reference": {"\\udfff": 1}, "task": "push"}', "unreadable"),
    "zero byte": ({"prompt": "push\0"}, "unreadable"),
    "escape": ({"prompt": "push \x1b[2J"}, "unreadable"),
    "long line": ({"prompt": "push", "more": "x" * 2**18}, "unreadable"),
    "no prompt": ({"task": "push"}, "missing"),
    "blank": ({"prompt": " \n"}, "missing"),
    "no word": ({"prompt": "?!"}, "missing"),
    "a number": ({"prompt": 7}, "wrong value"),
    "too long": ({"prompt": "palavra " * 1001}, "too long"),
    "long answer": ({**push(2), "demonstration": "palavra " * 1001}, "too long"),
    "unknown task": ({**push(3), "task": "poesia"}, "unknown task"),
    "stars": ({**push(4), "stars": 6}, "wrong value"),
    "truth for stars": ({**push(4), "stars": True}, "wrong value"),
    "consent": ({**push(5), "consent": "talvez"}, "wrong value"),
    "no consent": ({**push(6), "consent": False}, "no consent"),
    "source": ({**push(7), "source": "a|b\n# c"}, "wrong value"),
    "two-line licence": ({**push(8), "licence": "a\nb"}, "wrong value"),
    "reference of a list": ({**push(9), "reference": [1]}, "reference"),
    "reference of text": ({**push(9), "reference": "{"}, "reference"),
    "misfit": ({**push(9), "reference": {"product": 5}}, "reference"),
    "sentiment without stars": ({"prompt": "bom", "task": "sentiment", "reference": {"fields": {"sentiment": "positive"}}}, "reference"),
    "churn without a probability": ({"prompt": "x", "task": "churn", "reference": {"fields": {"churn_risk": "low"}}}, "reference"),
    "extraction of a wrong type": ({"prompt": "x", "task": "extraction", "reference": {"fields": {"churn_risk": ["low"]}}}, "reference"),
    "extraction of nothing known": ({"prompt": "x", "task": "extraction", "reference": {"fields": {"cor": "azul"}}}, "reference"),
    "query without a store": ({"prompt": "x", "task": "sql_qa", "reference": {"sql": "SELECT 1"}}, "reference"),
}  # fmt: skip
"""{what: (row, the kind of finding)}"""
