"""SQL questions: a query on the shop's tables that answers a business question, and an explanation."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from rewards.parsing.sql import find_query
from rewards.parsing.sql_results import answers_gold
from tucano.prompts import Prompt
from tucano.specs.base import Baseline, Display, Probes, Reference, Scorer, TaskSpec
from tucano.specs.scoring import Case, mean
from tucano.specs.texts import words


def _file_name(name: str) -> str:
    if Path(name).name != name or name == "..":
        raise ValueError("it is the name of a file in the rating folder")
    return name


class _Reference(Reference):
    sql: str = ""
    """The gold query."""
    database: Annotated[str, AfterValidator(_file_name)] = ""
    """A file in the prompt set's folder; further stores of the same questions lie beside it."""
    asks: list[Literal["columns", "rounding"]] = Field(default_factory=list)
    """What the question asks for besides the rows: their columns in that order, numbers rounded just so."""

    @model_validator(mode="after")
    def _database_is_named(self) -> Self:
        if self.sql and not self.database:
            raise ValueError("a gold query needs the name of its database")
        return self


@dataclass(frozen=True)
class SqlAnswer:
    """A fenced query, then the explanation with the number that it returns."""

    sql: str
    explanation: str
    fenced: bool = True

    def text(self) -> str:
        return fenced(self.sql, self.explanation) if self.fenced else f"{self.sql}\n{self.explanation}".strip()


def fenced(query: str, prose: str) -> str:
    """An answer in the form that the task asks for: the query in a code fence, then the explanation."""
    return f"```sql\n{query}\n```\n{prose}".strip()


def _thought(prompt: Prompt) -> list[str]:
    """The tables that are read, then the condition."""
    query = prompt.reference.get("sql", "")
    tables = re.findall(r"\b(?:FROM|JOIN) (\w+)", query)
    condition = re.search(r"(?s)\bWHERE (.*?)(?= GROUP| ORDER| LIMIT|;|\Z)", query)
    return (
        [f"Tabelas: {', '.join(dict.fromkeys(tables))}.", *([f"Filtro: {condition[1]}."] if condition else [])]
        if tables
        else []
    )


# Defects


def no_explanation(answer: SqlAnswer, rng: Random) -> SqlAnswer:
    """The query stands alone."""
    return replace(answer, explanation="")


def no_number(answer: SqlAnswer, rng: Random) -> SqlAnswer:
    """The explanation quotes no result."""
    return replace(answer, explanation=answer.explanation.split(":")[0] + "." if answer.explanation else "")


def wrong_column(answer: SqlAnswer, rng: Random) -> SqlAnswer:
    """One column gets a name that the store does not have."""
    renamed = {
        "estado": "uf",
        "categoria": "tipo_produto",
        "preco": "price",
        "nota": "score",
        "mes": "data",
        "valor": "total",
    }
    present = [name for name in renamed if re.search(rf"\b{name}\b", answer.sql)]
    if not present:
        return answer
    name = rng.choice(present)
    return replace(answer, sql=re.sub(rf"\b{name}\b", renamed[name], answer.sql))


def wrong_table(answer: SqlAnswer, rng: Random) -> SqlAnswer:
    """The first table gets a name that the store does not have."""
    return replace(
        answer, sql=re.sub(r"FROM \w+", lambda found: found[0].replace("FROM ", "FROM tb_"), answer.sql, count=1)
    )


def no_fence(answer: SqlAnswer, rng: Random) -> SqlAnswer:
    """The query is not marked as code."""
    return replace(answer, fenced=False)


def lost_filter(answer: SqlAnswer, rng: Random) -> SqlAnswer:
    """The WHERE clause is forgotten: the query runs and answers another question."""
    return replace(answer, sql=re.sub(r"(?s) WHERE .*?(?= GROUP|;|\Z)", "", answer.sql))


def _right_answers(prompt: Prompt) -> list[str]:
    query = prompt.reference.get("sql")
    prose = "A consulta lê as tabelas da loja, aplica o filtro pedido na pergunta e mostra o resultado."
    return [fenced(query, prose)] if query else []


# Baselines

_CONSTANT = "```sql\nSELECT COUNT(*) FROM pedidos;\n```\nA consulta conta os pedidos."


def _majority(training: Sequence[Prompt]) -> str:
    queries = Counter(prompt.reference["sql"] for prompt in training if prompt.reference.get("sql"))
    return fenced(queries.most_common(1)[0][0], "") if queries else _CONSTANT


def _rules(training: Sequence[Prompt]) -> Callable[[Prompt], str]:
    """The query of the training question with the most words in common (Jaccard)."""
    questions = [(set(words(prompt.user)), prompt) for prompt in training]

    def answer(prompt: Prompt) -> str:
        asked = set(words(prompt.user))
        if not questions:
            return _CONSTANT
        nearest = max(questions, key=lambda question: len(asked & question[0]) / max(1, len(asked | question[0])))[1]
        return fenced(nearest.reference.get("sql", ""), "")

    return answer


# The benchmark


def _read(prompt: Prompt, served: str, sampled: Sequence[str], databases: Path) -> Case:
    query = find_query(served)
    outcome = answers_gold(prompt.reference, query.text, databases) if query else None
    said = {"ran": bool(outcome and outcome.ran), "equal": bool(outcome and outcome.equal)}
    return Case(prompt.task, prompt.source, prompt.reference, said)


def _metrics(cases: Sequence[Case]) -> dict[str, float]:
    return {
        "sql_qa.execution": mean([case.said["equal"] for case in cases]),
        "sql_qa.valid": mean([case.said["ran"] for case in cases]),
    }


SPEC = TaskSpec(
    name="sql_qa",
    system_prompt=(
        "Responda com SQL (SQLite) e explique com números. Tabelas:"
        " pedidos(pedido_id,cliente_id,mes,status,dias_atraso) clientes(cliente_id,estado)"
        " itens(pedido_id,produto_id,preco,frete) produtos(produto_id,categoria)"
        " pagamentos(pedido_id,tipo,parcelas,valor) avaliacoes(pedido_id,nota)"
    ),
    judged=15,
    reference=_Reference,
    thought=_thought,
    draw=lambda material, pool, rng: material.question(pool, rng),
    defects=(no_explanation, no_number, wrong_column, wrong_table, no_fence, lost_filter),
    probes=Probes(
        stuffing=(
            "SELECT FROM WHERE JOIN GROUP BY ORDER BY COUNT SUM LIMIT 10 20 30 receita vendas faturamento clientes"
            " pedidos produtos ticket médio frete estado categoria crescimento margem lucro estoque"
        ),
        repeated="SELECT ",
        english=(
            "You should look at the orders table, filter the rows you need and count them by state to find the 10"
            " largest ones."
        ),
        more={
            "trivial query": [
                "SELECT 1",
                "```sql\nSELECT 1;\n```\nA consulta retorna o total de 1 pedido dos clientes.",
            ]
        },
    ),
    right_answers=_right_answers,
    baseline=Baseline(_CONSTANT, _majority, _rules),
    scorer=Scorer(_read, _metrics, {"sql_qa": ("sql_qa.valid", "sql_qa.execution")}),
    display=Display("Pergunta: SQL e explicação", guide="Pergunta SQL", as_code=True, with_tables=True),
)
