"""Arms that need no model: what a constant, the most frequent answer, and a page of rules are worth on the same prompts.

A model that does not beat them has learned nothing worth serving. They may look at the training set, never at a reference of the
benchmark.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from rewards.text import figures, fold
from tucano.comparison.text_health import words
from tucano.prompts import Prompt

FIELDS: dict[str, Any] = {
    "sentiment": "positive",
    "sentiment_score": 5,
    "category": "outros",
    "delivery_issue": False,
    "product_issue": False,
    "seller_issue": False,
    "churn_risk": "low",
    "repurchase_intent": True,
    "main_complaint": None,
    "summary": "Cliente avaliou a compra.",
}
CONSTANT = {
    "extraction": json.dumps(FIELDS, ensure_ascii=False),
    "sql_qa": "```sql\nSELECT COUNT(*) FROM pedidos;\n```\nA consulta conta os pedidos.",
    "insights": "**Análise:** os indicadores pedem atenção.\n- Recomendo ouvir os clientes.\n- Priorize a entrega no prazo.",
    "push": "Oi! Temos novidades esperando por você. Aproveite!",
}
Baseline = Callable[[Prompt], str]

_STARS = re.compile(r"nota:?\s*(\d)|(\d)\s*(?:/\s*5|estrelas?)")
_ISSUE_WORDS = {
    "delivery_issue": re.compile(r"atras|nao cheg|nao receb|demor|prazo venc|extravi|entrega (?:ruim|errada)|aguardando"),
    "product_issue": re.compile(
        r"defeit|quebrad|parou|rasg|estrag|riscad|falt(?:a|ou) |errad|diferente|nao funciona|qualidade (?:ruim|baixa)"
    ),
    "seller_issue": re.compile(r"vendedor|atendiment|nao respond|reembols|estorn|devolver o dinheiro|descaso"),
}
_PRAISE = re.compile(
    r"otim|excelent|ador|gost|recomend|perfeit|maravilh|super|rapid|antes do prazo|parabens|amei|satisfeit|lind|(?<!nao )bom\b|\bboa\b"
)
_SCORN = re.compile(
    r"pessim|horr|ruim|decep|lixo|nunca mais|nao (?:gost|recomend|compr|funcion|cheg|receb|veio)|devolv|reclam|descaso|enganad"
)
_PUSH_PRODUCT = re.compile(r"(?:produto|push para|notificacao para|divulgue|push sobre)\s*:?\s*([^.;,\n]+)", re.IGNORECASE)
_COMPLAINTS = {"delivery_issue": "entrega atrasada", "product_issue": "produto com defeito", "seller_issue": "vendedor não responde"}


def baselines(training: Sequence[Prompt]) -> dict[str, Baseline]:
    """{name: what answers a prompt}, from the training prompts with their references."""
    majority = _majority(training)
    questions = [(set(words(prompt.user)), prompt) for prompt in training if prompt.task == "sql_qa"]
    categories = _categories(training)
    return {
        "constant": lambda prompt: CONSTANT[prompt.task],
        "majority": lambda prompt: majority[prompt.task],
        "rules": lambda prompt: _rules(prompt, questions, categories),
    }


def _majority(training: Sequence[Prompt]) -> dict[str, str]:
    fields = dict(FIELDS)
    for name in fields:
        seen = Counter(
            json.dumps(prompt.reference["fields"][name])
            for prompt in training
            if prompt.task == "extraction" and name in prompt.reference.get("fields", {})
        )
        if seen:
            fields[name] = json.loads(seen.most_common(1)[0][0])
    queries = Counter(prompt.reference["sql"] for prompt in training if prompt.reference.get("sql"))
    products = Counter(prompt.reference["product"] for prompt in training if prompt.reference.get("product"))
    answers = CONSTANT | {"extraction": json.dumps(fields, ensure_ascii=False)}
    if queries:
        answers["sql_qa"] = f"```sql\n{queries.most_common(1)[0][0]}\n```"
    if products:
        answers["push"] = f"Seu produto espera por você: {products.most_common(1)[0][0]}. Aproveite!"
    return answers


def _categories(training: Sequence[Prompt]) -> list[str]:
    """Categories of the training references, longest first, so that the most specific one is found."""
    named = {prompt.reference.get("fields", {}).get("category") for prompt in training if prompt.task == "extraction"}
    return sorted((name for name in named if isinstance(name, str)), key=lambda name: (-len(name), name))


def _rules(prompt: Prompt, questions: Sequence[tuple[set[str], Prompt]], categories: Sequence[str]) -> str:
    if prompt.task == "extraction":
        return json.dumps(_extract(prompt.user, categories), ensure_ascii=False)
    if prompt.task == "sql_qa" and questions:
        asked = set(words(prompt.user))
        nearest = max(questions, key=lambda question: len(asked & question[0]) / max(1, len(asked | question[0])))[1]
        return f"```sql\n{nearest.reference.get('sql', '')}\n```"
    if prompt.task == "insights":
        shown = [f"{figure.value:g}".replace(".", ",") for figure in figures(prompt.user)]
        return f"**Situação:** {'; '.join(shown)}.\n- Recomendo acompanhar estes indicadores.\n- Priorize o mais fraco."
    if prompt.task == "push" and (found := _PUSH_PRODUCT.search(prompt.user)):
        return f"Oi! Seu produto espera por você: {found[1].strip()}. Aproveite!"
    return CONSTANT[prompt.task]


def _mood(folded: str) -> int:
    """Stars from words of praise and scorn: 5, 3 where they balance, 1."""
    surplus = len(set(_PRAISE.findall(folded))) - len(set(_SCORN.findall(folded)))
    return 5 if surplus > 0 else 1 if surplus < 0 else 3


def _extract(text: str, categories: Sequence[str]) -> dict[str, Any]:
    """Stars, word lists and the categories of the training set: what a page of rules knows about a review."""
    folded = fold(text)
    found = _STARS.search(folded)
    issues = {name: bool(pattern.search(folded)) for name, pattern in _ISSUE_WORDS.items()}
    stars = int(found[1] or found[2]) if found else _mood(folded)
    complaint = next((_COMPLAINTS[name] for name, present in issues.items() if present), None)
    return {
        "sentiment": "positive" if stars >= 4 else "neutral" if stars == 3 else "negative",
        "sentiment_score": min(5, max(1, stars)),
        "category": next((name for name in categories if fold(name) in folded), "outros"),
        **issues,
        "churn_risk": "low" if stars >= 4 else "medium" if stars == 3 else "high",
        "repurchase_intent": stars >= 4,
        "main_complaint": complaint,
        "summary": "Cliente reclama." if complaint else "Cliente satisfeito.",
    }
