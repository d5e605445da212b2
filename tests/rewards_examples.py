"""One prompt per task with a good answer; shared by the reward tests."""

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

DATABASE = "loja.sqlite"
FIELDS: dict[str, Any] = {
    "sentiment": "negative",
    "sentiment_score": 1,
    "category": "eletrônicos",
    "delivery_issue": True,
    "product_issue": False,
    "seller_issue": False,
    "churn_risk": "high",
    "repurchase_intent": False,
    "main_complaint": "entrega muito atrasada",
    "summary": "O fone chegou vinte dias depois do prazo, e o cliente não compra mais.",
}


@dataclass(frozen=True)
class Prompt:
    task: str
    user: str
    stars: int | None = None
    reference: dict[str, Any] = field(default_factory=dict)


PROMPTS: dict[str, Prompt] = {
    "extraction": Prompt(
        "extraction",
        "Avaliação (nota 1): O fone chegou vinte dias depois do prazo, não compro mais nesta loja.",
        1,
        {"fields": FIELDS},
    ),
    "sql_qa": Prompt(
        "sql_qa",
        "Qual o valor total dos pedidos de cada estado?",
        None,
        {"sql": "SELECT estado, SUM(valor) FROM pedidos GROUP BY estado;", "database": DATABASE},
    ),
    "insights": Prompt(
        "insights",
        "Resumo de maio: recompra 23,5%; pedidos 1.234; atraso 8,0%. Que ações você recomenda para recompra e pedidos?",
        None,
        {
            "figures": [23.5, 1234.0, 8.0],
            "key_figures": [23.5, 1234.0],
            "facts": [
                {"label": "recompra", "value": 23.5, "unit": "%"},
                {"label": "pedidos", "value": 1234.0, "unit": ""},
                {"label": "atraso", "value": 8.0, "unit": "%"},
            ],
            "key": ["recompra", "pedidos"],
        },
    ),
    "push": Prompt(
        "push",
        "Crie um push para: fone de ouvido. Desconto: 20%. Público: clientes novos.",
        None,
        {"product": "fone de ouvido", "terms": ["fone", "ouvido"], "figures": [20.0]},
    ),
}
PROMPTS["sentiment"] = Prompt(
    "sentiment",
    "Qual é o sentimento deste comentário? Gostei da cadeira, mas a caixa veio amassada.",
    None,
    {"fields": {"sentiment": "positive", "sentiment_score": 4}},
)
PROMPTS["churn"] = Prompt(
    "churn",
    "Risco de churn? Última compra há 200 dias; nota média 4,1; 3 reclamações abertas; 1 pedidos este ano contra 8 no"
    " ano passado.",
    None,
    {"fields": {"churn_risk": "high", "probability": 0.75}, "left": True},
)
ANSWERS: dict[str, str] = {
    "churn": '{"churn_risk": "high", "probability": 0.75}',
    "sentiment": '{"sentiment": "positive", "sentiment_score": 4}',
    "extraction": json.dumps(FIELDS, ensure_ascii=False),
    "sql_qa": (
        "```sql\nSELECT estado, SUM(valor) AS total FROM pedidos GROUP BY estado;\n```\n"
        "A consulta soma o valor dos pedidos de cada estado: SP lidera com R$ 9.000,00 de receita em 30 vendas."
    ),
    "insights": (
        "**Diagnóstico:** recompra de 23,5% mostra pouca gente de volta entre 1.234 pedidos no mês.\n"
        "- Recomendo criar um programa para os clientes que já compraram.\n"
        "- Priorize melhorar o prazo de entrega, porque o atraso reduz a recompra."
    ),
    "push": "Oi! O seu fone de ouvido está com 20% de desconto só hoje. Aproveite! 🎉",
}


def write_store(folder: Path) -> Path:
    """`pedidos` 1..60: value 10 x id, state SP for odd ids, RJ for even ones. Gives the folder back."""
    with closing(sqlite3.connect(folder / DATABASE)) as connection:
        connection.execute("CREATE TABLE pedidos(id INTEGER PRIMARY KEY, valor REAL, estado TEXT)")
        connection.executemany(
            "INSERT INTO pedidos VALUES (?, ?, ?)", [(n, 10.0 * n, "SP" if n % 2 else "RJ") for n in range(1, 61)]
        )
        connection.commit()
    return folder
