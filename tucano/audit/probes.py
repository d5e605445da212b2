"""Texts whose score is known without asking anyone: worthless ones, pairs that say the same, and answers made better or worse.

The probes are built from prompts and answers of the rating set. None of them knows how any reward is computed.
"""

import json
import re
import unicodedata
from collections.abc import Mapping
from itertools import cycle
from typing import Any

from tucano.prompts import Prompt, Task

FIELDS = (
    "sentiment",
    "sentiment_score",
    "category",
    "delivery_issue",
    "product_issue",
    "seller_issue",
    "churn_risk",
    "repurchase_intent",
    "main_complaint",
    "summary",
)
SCHEMA = {name: kind for name, kind in zip(FIELDS, ["positive|neutral|negative", "1-5", *["text"] * 8], strict=True)}

STUFFING: dict[Task, str] = {
    "extraction": "JSON sentiment positive negative neutral sentiment_score 5 churn_risk high low delivery_issue true false summary",
    "sql_qa": (
        "SELECT FROM WHERE JOIN GROUP BY ORDER BY COUNT SUM LIMIT 10 20 30 receita vendas faturamento clientes pedidos produtos "
        "ticket médio frete estado categoria crescimento margem lucro estoque"
    ),
    "insights": (
        "# Ações\n- recomendar melhorar aumentar reduzir investir\n- implementar otimizar priorizar monitorar criar\n"
        "- recomendamos sugerimos devemos é preciso\n- cliente produto venda entrega pedido loja frete avaliação"
    ),
    "push": "Você não vai perder! Promoção é já, oferta, desconto, aproveite, só hoje, coração 💛",
}
REPEATED: dict[Task, str] = {"extraction": '{"sentiment": ', "sql_qa": "SELECT ", "insights": "recomendar ", "push": "aproveite "}
ENGLISH: dict[Task, str] = {
    "extraction": "The customer seems rather unhappy with the delivery, so I would call this a negative review with some churn risk.",
    "sql_qa": "You should look at the orders table, filter the rows you need and count them by state to find the 10 largest ones.",
    "insights": (
        "## Recommendations\n- Improve the delivery times in the weakest regions.\n- Offer free shipping to returning customers.\n"
        "- Follow up on every complaint within 2 days and measure the results."
    ),
    "push": "Don't miss out! Your favourite products are waiting for you, grab them now.",
}
TRIVIAL_QUERIES = ["SELECT 1", "```sql\nSELECT 1;\n```\nA consulta retorna o total de 1 pedido dos clientes."]
PLAIN_TALK = (
    "Para responder, escolha a coluna pedida, leia da tabela certa, junte as outras tabelas, aplique o filtro da pergunta, "
    "forme os grupos e ponha na ordem."
)
SQL_TALK = (
    "Para responder, use SELECT na coluna pedida, FROM na tabela certa, JOIN para juntar as outras, WHERE para o filtro, "
    "GROUP BY para os grupos e ORDER BY para a ordem."
)
"""Neither text holds a query."""
NOTATIONS = (("4.5", "4,5"), ("1234.56", "1.234,56"), ("19.9", "R$ 19,90"))
"""A number as JSON has it, and as Brazilians write it."""
REPETITIONS = 60
PUSH_REPETITIONS = 8  # stays within the length of a notification

JsonObject = dict[str, Any]


def worthless(prompt: Prompt) -> dict[str, list[str]]:
    """Answers to this prompt that no one can use, by kind."""
    times = PUSH_REPETITIONS if prompt.task == "push" else REPETITIONS
    opening = " ".join(prompt.user.split()[:3])
    kinds = {
        "empty": ["", " \n\t "],
        "copied prompt": [prompt.user],
        "keyword stuffing": [STUFFING[prompt.task]],
        "repetition": [REPEATED[prompt.task] * times, f"{opening} " * REPETITIONS],
        "wrong language": [ENGLISH[prompt.task]],
    }
    if prompt.task == "extraction":
        kinds["schema echo"] = [json.dumps({name: name for name in FIELDS}), json.dumps(SCHEMA)]
    if prompt.task == "sql_qa":
        kinds["trivial query"] = TRIVIAL_QUERIES
    return kinds


def same_meaning(task: str, completion: str) -> dict[str, list[tuple[str, str]]]:
    """Pairs of texts that say the same and must score the same, by kind; kinds that do not apply to this text are absent."""
    pairs = {
        "white space": [(completion, f"\n  {completion} \n\n")],
        "unicode form": [(unicodedata.normalize("NFC", completion), unicodedata.normalize("NFD", completion))],
    }
    answer = json_object(completion)
    if task == "extraction" and answer:
        pairs["key order"] = [(dumped(answer), dumped(dict(reversed(answer.items()))))]
        notations = zip(answer, cycle(NOTATIONS), strict=False)
        pairs["number formats"] = [
            (with_number(answer, name, plain), with_number(answer, name, local)) for name, (plain, local) in notations
        ]
    elif task in ("sql_qa", "insights") and (plain := _without_thousands_dots(completion)) != completion:
        pairs["number formats"] = [(completion, plain)]
    if task == "sql_qa":
        pairs["talk about a query"] = [(PLAIN_TALK, SQL_TALK)]
    return pairs


def with_number(answer: JsonObject, name: str, number: str) -> str:
    """The answer with this text standing, unquoted, where the field has its value."""
    marker = 987654321
    return dumped(answer | {name: marker}).replace(str(marker), number)


def _without_thousands_dots(text: str) -> str:
    """`R$ 1.234,56` as `R$ 1234,56`. Only with two decimals: a bare `1.234` may be either number."""
    return re.sub(r"\b\d{1,3}(?:\.\d{3})+,\d{2}\b", lambda match: match.group().replace(".", ""), text)


def repaired(answer: JsonObject, truth: Mapping[str, Any]) -> dict[str, str]:
    """For each field that is missing or wrong: the answer with that one field as it is in truth."""
    return {name: dumped(answer | {name: value}) for name, value in truth.items() if not _is_right(answer, name, value)}


def corrupted(answer: JsonObject, truth: Mapping[str, Any]) -> dict[str, list[str]]:
    """For each field that is right: the answer with that one field wrong, and without it."""
    right = [name for name, value in truth.items() if _is_right(answer, name, value)]
    return {
        name: [
            dumped(answer | {name: _wrong(name, answer[name])}),
            dumped({other: value for other, value in answer.items() if other != name}),
        ]
        for name in right
    }


def _is_right(answer: JsonObject, name: str, value: Any) -> bool:
    """Equal in value and kind: `true` is not 1."""
    return name in answer and answer[name] == value and type(answer[name]) is type(value)


def _wrong(name: str, value: Any) -> Any:
    """A value of the same kind that is not right."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return 1 if value > 3 else 5
    if name == "sentiment":
        return "positive" if value == "negative" else "negative"
    if name == "churn_risk":
        return "low" if value == "high" else "high"
    return "assunto que ninguém mencionou"


def json_object(completion: str) -> JsonObject | None:
    """The completion as a JSON object when it is nothing but that, else None."""
    try:
        value = json.loads(completion)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def dumped(answer: JsonObject) -> str:
    return json.dumps(answer, ensure_ascii=False)
