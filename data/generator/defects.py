"""The documented defects of demonstrations: one small function each, from a good answer to a flawed one.

Demonstrations written by people or by other models are not all good; a fixed share of ours is flawed on purpose, so that
supervised fine-tuning starts from a mixture and reinforcement learning has something to improve.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import TypeVar

from data.generator.answers import Answer, ExtractionAnswer, InsightsAnswer, PushAnswer, SqlAnswer
from tucano.prompts import Task

A = TypeVar("A", bound=Answer)
Defect = Callable[[A, Random], A]

BOOLEANS = ("delivery_issue", "product_issue", "seller_issue", "repurchase_intent")


def missing_field(answer: ExtractionAnswer, rng: Random) -> ExtractionAnswer:
    """One to three of the ten fields are left out."""
    left_out = rng.sample(list(answer.values), rng.randint(1, 3))
    return replace(answer, values={name: value for name, value in answer.values.items() if name not in left_out})


def boolean_as_word(answer: ExtractionAnswer, rng: Random) -> ExtractionAnswer:
    """The booleans are the strings "sim" and "não"."""
    words = {name: "sim" if value else "não" for name, value in answer.values.items() if name in BOOLEANS}
    return replace(answer, values=answer.values | words)


def score_as_text(answer: ExtractionAnswer, rng: Random) -> ExtractionAnswer:
    """The score is a string or a decimal: "4" or "4,5"."""
    if "sentiment_score" not in answer.values:
        return answer
    return replace(answer, values=answer.values | {"sentiment_score": f"{answer.values['sentiment_score']}{rng.choice(('', ',5'))}"})


def contradicted_stars(answer: ExtractionAnswer, rng: Random) -> ExtractionAnswer:
    """The sentiment is the opposite of what the stars say."""
    opposite = {"positive": "negative", "negative": "positive", "neutral": "positive"}
    if "sentiment" not in answer.values:
        return answer
    return replace(answer, values=answer.values | {"sentiment": opposite[answer.values["sentiment"]]})


def echoed_name(answer: ExtractionAnswer, rng: Random) -> ExtractionAnswer:
    """A field's value is its own name: "delivery_issue":"delivery_issue"."""
    name = rng.choice([*BOOLEANS, "churn_risk"])
    return replace(answer, values=answer.values | {name: name} if name in answer.values else answer.values)


def wrong_level(answer: ExtractionAnswer, rng: Random) -> ExtractionAnswer:
    """The churn risk is a Portuguese word outside the three levels."""
    levels = {"low": "baixo", "medium": "médio", "high": "alto"}
    risk = answer.values.get("churn_risk")
    return replace(answer, values=answer.values | {"churn_risk": levels[risk]}) if risk in levels else answer


def cut_json(answer: ExtractionAnswer, rng: Random) -> ExtractionAnswer:
    """The object ends in the middle."""
    return replace(answer, kept=rng.uniform(0.4, 0.8))


def text_before(answer: ExtractionAnswer, rng: Random) -> ExtractionAnswer:
    """Talk before the object, without its braces being wrong."""
    return replace(answer, lead=rng.choice(("Claro! Segue a análise: ", "Resultado da avaliação: ")))


def no_explanation(answer: SqlAnswer, rng: Random) -> SqlAnswer:
    """The query stands alone."""
    return replace(answer, explanation="")


def no_number(answer: SqlAnswer, rng: Random) -> SqlAnswer:
    """The explanation quotes no result."""
    return replace(answer, explanation=answer.explanation.split(":")[0] + "." if answer.explanation else "")


def wrong_column(answer: SqlAnswer, rng: Random) -> SqlAnswer:
    """One column gets a name that the store does not have."""
    renamed = {"estado": "uf", "categoria": "tipo_produto", "preco": "price", "nota": "score", "mes": "data", "valor": "total"}
    present = [name for name in renamed if re.search(rf"\b{name}\b", answer.sql)]
    if not present:
        return answer
    name = rng.choice(present)
    return replace(answer, sql=re.sub(rf"\b{name}\b", renamed[name], answer.sql))


def wrong_table(answer: SqlAnswer, rng: Random) -> SqlAnswer:
    """The first table gets a name that the store does not have."""
    return replace(answer, sql=re.sub(r"FROM \w+", lambda found: found[0].replace("FROM ", "FROM tb_"), answer.sql, count=1))


def no_fence(answer: SqlAnswer, rng: Random) -> SqlAnswer:
    """The query is not marked as code."""
    return replace(answer, fenced=False)


def lost_filter(answer: SqlAnswer, rng: Random) -> SqlAnswer:
    """The WHERE clause is forgotten: the query runs and answers another question."""
    return replace(answer, sql=re.sub(r" WHERE .*?(?= GROUP|;|$)", "", answer.sql))


def flat_text(answer: InsightsAnswer, rng: Random) -> InsightsAnswer:
    """No heading, no bullets."""
    return replace(answer, structured=False)


def no_action(answer: InsightsAnswer, rng: Random) -> InsightsAnswer:
    """The bullets comment and recommend nothing."""
    comments = ("O período foi parecido com o anterior.", "Os números falam por si.", "Seguimos acompanhando o mês.")
    return replace(answer, actions=tuple(rng.sample(comments, 2)))


def invented_figure(answer: InsightsAnswer, rng: Random) -> InsightsAnswer:
    """A figure that the brief does not have."""
    return replace(answer, diagnosis=f"{answer.diagnosis} A meta é {rng.randint(31, 89)},{rng.randint(1, 9)}%.")


def too_short(answer: InsightsAnswer, rng: Random) -> InsightsAnswer:
    """The diagnosis is all there is."""
    return replace(answer, actions=())


def figures_ignored(answer: InsightsAnswer, rng: Random) -> InsightsAnswer:
    """The diagnosis quotes none of the figures."""
    return replace(answer, diagnosis="os indicadores do período pedem atenção da equipe.")


def too_long(answer: PushAnswer, rng: Random) -> PushAnswer:
    """Far beyond 120 characters."""
    tail = rng.choice(
        (
            " Acesse agora o nosso site, conheça todas as condições da loja e aproveite antes que acabe o estoque.",
            " Temos muitos outros produtos na loja, com entrega para todo o Brasil e várias formas de pagamento.",
        )
    )
    return replace(answer, line=answer.line + tail)


def formal(answer: PushAnswer, rng: Random) -> PushAnswer:
    """A formal letter instead of a friendly line."""
    return replace(answer, line=f"Prezado cliente, informamos que há {answer.product} em nossa loja. Atenciosamente.")


def generic(answer: PushAnswer, rng: Random) -> PushAnswer:
    """Fits any product, names none."""
    lines = ("Temos novidades para você! Confira nossa loja.", "Ofertas imperdíveis esperando por você! Aproveite.", "Não perca! Confira.")
    return replace(answer, line=rng.choice(lines))


def invented_discount(answer: PushAnswer, rng: Random) -> PushAnswer:
    """A discount that the brief does not grant."""
    return replace(answer, line=f"{answer.line} Só hoje {rng.randint(61, 90)}% off!")


DEFECTS: dict[Task, tuple[Defect, ...]] = {
    "extraction": (
        missing_field,
        boolean_as_word,
        score_as_text,
        contradicted_stars,
        echoed_name,
        wrong_level,
        cut_json,
        text_before,
    ),
    "sql_qa": (no_explanation, no_number, wrong_column, wrong_table, no_fence, lost_filter),
    "insights": (flat_text, no_action, invented_figure, too_short, figures_ignored),
    "push": (too_long, formal, generic, invented_discount),
}


def spoil(task: Task, answer: Answer, rng: Random) -> tuple[Answer, tuple[str, ...]]:
    """The answer with one defect (7 of 10) or two, and their names. A defect that changes nothing is not named; at least one does.

    Push lines get one: most of their defects replace the whole line.
    """
    while True:
        chosen = rng.sample(DEFECTS[task], 1 if task == "push" or rng.random() < 0.7 else 2)
        spoilt, names = answer, []
        for defect in chosen:
            changed = defect(spoilt, rng)
            if changed.text() != spoilt.text():
                names.append(defect.__name__)
            spoilt = changed
        if names:
            return spoilt, tuple(names)
