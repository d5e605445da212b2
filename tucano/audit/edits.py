"""Good answers, and edits of them that the rating guide puts lower. None knows how a reward computes."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from tucano.audit.probes import FIELDS, NOTATIONS, SQL_TALK, JsonObject, dumped, json_object, with_number
from tucano.prompts import Prompt, Task

LEAST_PER_POINT = 0.25 / 3
"""What losing one point of the guide's 1-5 scale must cost. A point is .25 of the reward; rewards are asked for the guide's order,
not for its distances, so a third of that is enough. Less is lost in GRPO's noise."""
LEAST_PER_FIELD = 0.025
"""Ten fields of equal worth have a tenth of the reward each; what a program cannot read costs a quarter of that at least."""
SCREEN = 120
"""Characters that a notification shows."""


@dataclass(frozen=True, slots=True)
class Degradation:
    """One edit of a good answer: it must cost `least` or more, in the mean over answers. `detail` tells variants of a kind apart.

    `before` is the answer itself, or, where the edit would change something else too (its length, say), a text that changes only that.
    """

    kind: str
    detail: str
    least: float
    prompt: Prompt
    before: str
    after: str


Edit = tuple[str, int, str, str]
"""Kind, points of the guide's scale lost, before, after."""


def degradations(prompt: Prompt, text: str, others: Sequence[Prompt]) -> list[Degradation]:
    """The edits that apply to this good answer. `others` are prompts of the same task, whose truth is not this one's."""
    edits = _EDITS[prompt.task](prompt, text, others)
    made = [Degradation(kind, "", points * LEAST_PER_POINT, prompt, before, after) for kind, points, before, after in edits]
    return made + (_wrong_types(prompt, text) if prompt.task == "extraction" else [])


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
        Degradation(kind, f"`{name}` as {json.dumps(value)}", LEAST_PER_FIELD, asked, text, dumped(answer | {name: value}))
        for kind, asked in (("wrong type", prompt), ("wrong type, truth unknown", replace(prompt, reference={})))
        for name, values in _WRONG_TYPES.items()
        if name in answer
        for value in values
    ]


def _extraction(prompt: Prompt, text: str, others: Sequence[Prompt]) -> Iterator[Edit]:
    answer = json_object(text)
    if answer is None:
        return
    yield "half of the fields", 2, text, dumped({name: answer[name] for name in FIELDS[::2] if name in answer})
    yield "no object", 1, text, "\n".join(f"{name}: {value}" for name, value in answer.items())
    yield "field names as values", 3, text, dumped({name: name for name in answer})
    strangers = (other.reference.get("fields", {}) for other in others)
    if stranger := next((fields for fields in strangers if fields and fields.get("sentiment") != answer.get("sentiment")), None):
        yield "another review's facts", 3, text, dumped(stranger)


_FENCED = re.compile(r"```sql\n(?P<query>.*?)\n?```\s*(?P<prose>.*)", re.DOTALL)


def _sql_qa(prompt: Prompt, text: str, others: Sequence[Prompt]) -> Iterator[Edit]:
    found = _FENCED.fullmatch(text.strip())
    if found is None:
        return
    query, prose = found["query"], found["prose"]
    yield "no explanation", 1, text, fenced(query, "")
    yield "talk about a query", 2, text, f"{prose}\n{SQL_TALK}"
    yield "unknown tables", 2, text, fenced(re.sub(r"(?i)\b(FROM|JOIN)\s+(\w+)", r"\1 \2_antiga", query), prose)
    unfiltered = re.sub(r"(?is)\bWHERE\b.*?(?=\bGROUP BY\b|\bORDER BY\b|\bLIMIT\b|;|$)", "", query)
    if unfiltered != query:
        yield "no filter", 1, text, fenced(unfiltered, prose)
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
    if 87 not in prompt.reference.get("figures", ()):
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

_VALUES: tuple[Any, ...] = ([4, 5], [1, 2, 3], ["4,5", "R$ 9,90"], {"min": 4, "max": 5}, "nota 4,5, prazo 10,5", -3, 4.5, None)


def readings(answer: JsonObject) -> list[tuple[str, JsonObject]]:
    """Texts that hold this object together with values of every kind, written flawlessly and with forgivable slips; what they say."""
    found = []
    for value in _VALUES:
        whole = {"extra": value} | answer
        text = json.dumps(whole, ensure_ascii=False, separators=(",", ":"))
        slips = [text, f"Segue o JSON:\n```json\n{text}\n```\nEspero ter ajudado.", f"{text[:-1]},}}", text[:-1]]
        slips += [text.replace('"', "'")] if "'" not in text else []
        found += [(slip, whole) for slip in slips]
        numbered = whole | {"valor": 0.0, "fim": True}
        found += [(with_number(numbered, "valor", local), numbered | {"valor": float(plain)}) for plain, local in NOTATIONS]
    return found


def right_answers(prompt: Prompt) -> list[str]:
    """An answer made of the prompt's truth, where the truth is a whole answer: the object, or the query and what it does."""
    fields, query = prompt.reference.get("fields", {}), prompt.reference.get("sql")
    if prompt.task == "extraction" and set(fields) == set(FIELDS):
        return [dumped({name: fields[name] for name in FIELDS})]
    if prompt.task == "sql_qa" and query:
        return [fenced(query, "A consulta lê as tabelas da loja, aplica o filtro pedido na pergunta e mostra o resultado.")]
    return []
