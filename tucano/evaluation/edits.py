"""Edits of good answers that the rating guide puts lower, and edits that it puts nowhere else. None knows how a reward computes.

A `Degradation` names the points of the guide's scale that an answer rated 4 loses. `before` is the answer itself, or, where the
edit would change something else too (its length, say), a text that changes only that.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from tucano.evaluation.probes import FIELDS, JsonObject, json_object
from tucano.prompts import Prompt, Task

POINT = 0.25
"""One point of the 1-5 scale in units of the reward, which spans it from 0 to 1."""
LEAST_SHARE = 1 / 3
"""Rewards are asked for the guide's order, not for its distances: a third of them is little, less is lost in GRPO's noise."""
FIELD_COST = 0.025
"""Ten fields of equal worth have a tenth of the reward each; what a program cannot read costs a quarter of that at least."""
SCREEN = 120
"""Characters that a notification shows."""


@dataclass(frozen=True, slots=True)
class Degradation:
    """One edit of a good answer: it must cost `least` or more, in the mean over answers. `detail` tells variants of a kind apart."""

    kind: str
    detail: str
    least: float
    prompt: Prompt
    before: str
    after: str


Edit = tuple[str, int, str, str]
"""Kind, points lost, before, after."""


def degradations(prompt: Prompt, text: str, others: Sequence[Prompt]) -> list[Degradation]:
    """The edits that apply to this good answer. `others` are prompts of the same task, whose truth is not this one's."""
    edits = [
        Degradation(kind, "", points * POINT * LEAST_SHARE, prompt, before, after)
        for kind, points, before, after in _EDITS[prompt.task](prompt, text, others)
    ]
    return edits + (_wrong_types(prompt, text) if prompt.task == "extraction" else [])


_WRONG_TYPES: dict[str, tuple[Any, ...]] = {
    "sentiment": (1, True, ["negative"]),
    "sentiment_score": ("dois", True, 2.5),
    "category": (3, True, ["casa"]),
    "delivery_issue": ("sim", 1, None),
    "product_issue": ("sim", 1, None),
    "seller_issue": ("sim", 1, None),
    "churn_risk": (2, True, ["high"]),
    "repurchase_intent": ("sim", 1, None),
    "main_complaint": (3, True, ["atraso"]),
}
"""For each field with a type or value check: values of a JSON type that the answer's form does not allow."""


def _wrong_types(prompt: Prompt, text: str) -> list[Degradation]:
    """Every checked field with a value of the wrong JSON type, also where the prompt's truth is not known."""
    answer = json_object(text) or {}
    return [
        Degradation(kind, f"`{name}` as {json.dumps(value)}", FIELD_COST, asked, text, _dumped(answer | {name: value}))
        for kind, asked in (("wrong type", prompt), ("wrong type, truth unknown", replace(prompt, reference={})))
        for name, values in _WRONG_TYPES.items()
        if name in answer
        for value in values
    ]


def _dumped(answer: JsonObject) -> str:
    return json.dumps(answer, ensure_ascii=False)


def _extraction(prompt: Prompt, text: str, others: Sequence[Prompt]) -> Iterator[Edit]:
    answer = json_object(text)
    if answer is None:
        return
    yield "half of the fields", 2, text, _dumped({name: answer[name] for name in FIELDS[::2] if name in answer})
    yield "no object", 1, text, "\n".join(f"{name}: {value}" for name, value in answer.items())
    yield "field names as values", 3, text, _dumped({name: name for name in answer})
    sentiment = answer.get("sentiment")
    opposite = [fields for other in others if (fields := other.reference.get("fields", {})) and fields.get("sentiment") != sentiment]
    if opposite:
        yield "another review's facts", 3, text, _dumped(opposite[0])


_FENCED = re.compile(r"```sql\n(?P<query>.*?)\n?```\s*(?P<prose>.*)", re.DOTALL)
TALK = (
    "Para responder, use SELECT na coluna pedida, FROM na tabela certa, JOIN para juntar as outras, WHERE para o filtro, "
    "GROUP BY para os grupos e ORDER BY para a ordem."
)
PLAIN_TALK = (
    "Para responder, escolha a coluna pedida, leia da tabela certa, junte as outras tabelas, aplique o filtro da pergunta, "
    "forme os grupos e ponha na ordem."
)


def _sql_qa(prompt: Prompt, text: str, others: Sequence[Prompt]) -> Iterator[Edit]:
    found = _FENCED.fullmatch(text.strip())
    if found is None:
        return
    query, prose = found["query"], found["prose"]
    yield "no explanation", 1, text, fenced(query, "")
    yield "talk about a query", 2, text, f"{prose}\n{TALK}"
    yield "unknown tables", 2, text, fenced(re.sub(r"(?i)\b(FROM|JOIN)\s+(\w+)", r"\1 \2_antiga", query), prose)
    asked = re.sub(r"(?is)\bWHERE\b.*?(?=\bGROUP BY\b|\bORDER BY\b|\bLIMIT\b|;|$)", "", query)
    if asked != query:
        yield "no filter", 1, text, fenced(asked, prose)
    if strangers := [sql for other in others if (sql := other.reference.get("sql")) and sql != query]:
        yield "another question's query", 2, text, fenced(strangers[0], prose)


def fenced(query: str, prose: str) -> str:
    """An answer in the form that the task asks for: the query in a code fence, then the explanation."""
    return f"```sql\n{query}\n```\n{prose}".strip()


def _insights(prompt: Prompt, text: str, others: Sequence[Prompt]) -> Iterator[Edit]:
    yield "other figures", 2, text, re.sub(r"[1-9]", lambda digit: str(int(digit.group()) % 9 + 1), text)
    lines = text.splitlines()
    if kept := [line for line in lines if not line.lstrip().startswith(("-", "*", "•"))]:
        yield "no advice", 1, text, "\n".join(kept) if len(kept) < len(lines) else ""
    yield "endless repetition", 3, text, "\n".join([text] * 8)
    yield "words strung together", 3, text, _shuffled(text)


_GOES_ON = (
    "Combina com a sua rotina, chega rápido na sua casa e foi escolha da nossa equipe para quem gosta de ter por perto coisas "
    "bonitas, úteis e feitas para durar, do primeiro ao último dia de uso, com todo o cuidado que você já conhece da nossa loja."
)


def _push(prompt: Prompt, text: str, others: Sequence[Prompt]) -> Iterator[Edit]:
    yield "cut off on the screen", 1, text, f"{text} {_GOES_ON}"
    letter, greeting = f"Prezado cliente, {text} Atenciosamente.", f"Oi, cliente querido, {text} Até logo mais."
    if len(letter) <= SCREEN and len(greeting) <= SCREEN:
        yield "formal letter", 1, greeting, letter
    yield "words strung together", 3, text, _shuffled(text)
    known = prompt.reference.get("figures", ())
    if 87 not in known:
        yield "invented offer", 2, f"{text} Tem desconto!", f"{text} Tem 87% OFF!"
    products = (name for other in others if (name := other.reference.get("product")) and name != prompt.reference.get("product"))
    named = re.compile("|".join(map(re.escape, prompt.reference.get("terms", ()))) or r"(?!)", re.IGNORECASE)
    if (stranger := next(products, None)) and named.search(text):
        yield "another product", 2, text, named.sub(stranger, text)


def _shuffled(text: str) -> str:
    words = text.split()
    Random(len(words)).shuffle(words)
    return " ".join(words)


_EDITS: dict[Task, Callable[[Prompt, str, Sequence[Prompt]], Iterator[Edit]]] = {
    "extraction": _extraction,
    "sql_qa": _sql_qa,
    "insights": _insights,
    "push": _push,
}

CONCEPTS = (
    *("pedido", "cliente", "item", "produto", "pagamento", "avaliação", "estado", "categoria", "preço", "frete"),
    *("parcela", "atraso", "receita", "ticket médio", "conversão", "recompra", "devolução", "cancelamento", "nota", "venda"),
    *("cupom", "troca", "estoque", "boleto", "cartão", "margem", "lucro", "vendedor", "entrega", "desconto"),
)
"""What an online shop talks about: the store's tables and columns, the indicators of the briefs, and what its people and papers are."""
CONCEPTS_NAMED = 5


def equals(prompt: Prompt, text: str) -> dict[str, list[list[str]]]:
    """Rows of texts, made of a good answer, that people would rate alike; by kind."""
    answer, found = json_object(text), _FENCED.fullmatch(text.strip())
    if prompt.task == "extraction" and answer:
        return {"number notation": _notations(answer), "list spacing": [[_listed(answer, "[4, 5]"), _listed(answer, "[4,5]")]]}
    if prompt.task == "sql_qa" and found:
        groups = len(CONCEPTS) // CONCEPTS_NAMED
        named = [CONCEPTS[start::groups] for start in range(groups)]
        return {
            "concepts of the trade": [
                [fenced(found["query"], f"A consulta serve a quem acompanha na empresa {', '.join(row[:-1])} e {row[-1]}.") for row in named]
            ],
            "talk about a query": [[f"{found['prose']}\n{talk}" for talk in (PLAIN_TALK, TALK)]],
        }
    return {}


_PLACE = 987654321


def _notations(answer: JsonObject) -> list[list[str]]:
    """For each field: a decimal number as JSON and as Brazilians write it, unquoted."""
    places = [_dumped(answer | {name: _PLACE}) for name in answer]
    pairs = [("4.5", "4,5"), ("1234.56", "1.234,56")]
    return [[place.replace(str(_PLACE), number) for number in pair] for place in places for pair in pairs]


def _listed(answer: JsonObject, items: str) -> str:
    return _dumped(answer | {"main_complaint": _PLACE}).replace(str(_PLACE), items)


_READ_VALUES: tuple[Any, ...] = ([4, 5], [1, 2, 3], ["4,5", "R$ 9,90"], {"min": 4, "max": 5}, "nota 4,5, prazo 10,5", -3, 4.5, None)


def readings(answer: JsonObject) -> list[tuple[str, JsonObject]]:
    """Texts that hold this object together with values of every kind, written flawlessly and with slips that are forgiven; what they say."""
    found = []
    for value in _READ_VALUES:
        whole = {"extra": value} | answer
        text = json.dumps(whole, ensure_ascii=False, separators=(",", ":"))
        slips = [text, f"Segue o JSON:\n```json\n{text}\n```\nEspero ter ajudado.", f"{text[:-1]},}}", text[:-1]]
        slips += [text.replace('"', "'")] if "'" not in text else []
        found += [(slip, whole) for slip in slips]
        for number, notation in ((4.5, "4,5"), (1234.56, "1.234,56"), (19.9, "R$ 19,90")):
            placed = whole | {"valor": _PLACE, "fim": True}
            found.append((_dumped(placed).replace(str(_PLACE), notation), whole | {"valor": number, "fim": True}))
    return found


def right_answers(prompt: Prompt) -> list[str]:
    """An answer made of the prompt's truth, where the truth is a whole answer: the object, or the query and what it does."""
    fields, query = prompt.reference.get("fields", {}), prompt.reference.get("sql")
    if prompt.task == "extraction" and set(fields) == set(FIELDS):
        return [_dumped({name: fields[name] for name in FIELDS})]
    if prompt.task == "sql_qa" and query:
        return [fenced(query, "A consulta lê as tabelas da loja, aplica o filtro pedido na pergunta e mostra o resultado.")]
    return []
