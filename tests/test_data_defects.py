"""Each defect does to a good answer what its name says."""

import json
from pathlib import Path
from random import Random

import pytest

from data.spoiling import describe, spoil
from data.write_samples import FOLDER, write_samples
from tucano.prompts import TASKS, Task
from tucano.specs.base import Answer
from tucano.specs.extraction import missing_field
from tucano.specs.insights import InsightsAnswer
from tucano.specs.objects import ObjectAnswer
from tucano.specs.push import PushAnswer
from tucano.specs.registry import SPECS
from tucano.specs.sql_qa import SqlAnswer

DEFECTS = {task: spec.defects for task, spec in SPECS.items()}

FIELDS = {
    "sentiment": "negative", "sentiment_score": 2, "category": "pet", "delivery_issue": True,
    "product_issue": False, "seller_issue": False, "churn_risk": "high", "repurchase_intent": False,
    "main_complaint": "entrega atrasada", "summary": "Cliente reclama da coleira: entrega atrasada.",
}  # fmt: skip
GOOD: dict[Task, Answer] = {
    "extraction": ObjectAnswer(FIELDS),
    "sql_qa": SqlAnswer(
        "SELECT COUNT(*) FROM pedidos WHERE mes='2018-03';", "A consulta conta os pedidos de 03/2018: total de 31."
    ),
    "insights": InsightsAnswer(
        "Análise", "atraso de 8,5% e recompra de 12,0%.", ("Recomendo rever a transportadora.", "Priorize o pós-venda.")
    ),
    "sentiment": ObjectAnswer({"sentiment": "negative", "sentiment_score": 2}),
    "churn": ObjectAnswer({"churn_risk": "high", "probability": 0.75}),
    "push": PushAnswer("Que tal coleira por R$ 39? Corra e garanta já!", "coleira"),
}
EXPECTED = {
    "contradicted_stars": '"sentiment":"positive"', "score_as_text": '"sentiment_score":"2',
    "wrong_level": '"churn_risk":"alto"', "boolean_as_word": '"delivery_issue":"sim","product_issue":"não"',
    "text_before": ': {"', "no_explanation": "```sql\nSELECT COUNT(*) FROM pedidos WHERE mes='2018-03';\n```",
    "no_number": "A consulta conta os pedidos de 03/2018.", "wrong_column": "WHERE data='2018-03'",
    "wrong_table": "FROM tb_pedidos WHERE",
    "no_fence": "SELECT COUNT(*) FROM pedidos WHERE mes='2018-03';\nA consulta",
    "lost_filter": "SELECT COUNT(*) FROM pedidos;",
    "flat_text": "atraso de 8,5% e recompra de 12,0%. Recomendo rever", "no_action": "12,0%.\n- ",
    "invented_figure": "A meta é ", "too_short": "**Análise:** atraso de 8,5% e recompra de 12,0%.",
    "figures_ignored": "**Análise:** os indicadores do período pedem atenção", "too_long": "garanta já! ",
    "opposite_label": '{"sentiment":"positive"', "translated_label": '{"sentiment":"negativo"',
    "far_score": '{"sentiment":"negative","sentiment_score":', "opposite_risk": '{"churn_risk":"low"',
    "translated_risk": '{"churn_risk":"alto"', "probability_as_text": '"probability":"75%"',
    "turned_probability": '"probability":0.25', "no_probability": '{"churn_risk":"high"}',
    "no_score": '{"sentiment":"negative"}', "formal": "Prezado cliente, informamos que há coleira",
    "generic": "!", "invented_discount": "% off!",
}  # fmt: skip


@pytest.mark.parametrize(
    ("task", "defect"), [(task, defect) for task, defects in DEFECTS.items() for defect in defects]
)
def test_a_defect_shows(task: Task, defect: object) -> None:
    text = defect(GOOD[task], Random(1)).text()  # type: ignore[operator]
    assert text != GOOD[task].text()
    assert EXPECTED.get(defect.__name__, "") in text  # type: ignore[attr-defined]


def test_missing_fields_are_missing() -> None:
    left = json.loads(missing_field(ObjectAnswer(FIELDS), Random(1)).text())
    assert 7 <= len(left) <= 9 and left.items() <= FIELDS.items()


def test_spoiling_names_one_or_two_defects_that_really_changed_the_answer() -> None:
    for task, answer in GOOD.items():
        rng = Random(task)
        outcomes = [spoil(task, answer, rng) for _ in range(300)]
        assert {len(names) for _, names in outcomes} == (set(range(1, SPECS[task].most_defects + 1))), task
        undone = {names for spoilt, names in outcomes if spoilt.text() == answer.text()}
        assert not undone, f"{task}: the second of these defects undoes the first: {undone}"
        assert {name for _, names in outcomes for name in names} == {defect.__name__ for defect in DEFECTS[task]}


def test_the_document_holds_the_table_of_defects() -> None:
    text = (Path(__file__).parents[1] / "docs/data.md").read_text(encoding="utf-8")
    assert f"\n\n{describe()}" in text


def test_the_committed_samples_are_what_the_script_writes(tmp_path: Path) -> None:
    write_samples(tmp_path)
    for task in TASKS:
        assert (FOLDER / f"{task}.jsonl").read_bytes() == (tmp_path / f"{task}.jsonl").read_bytes()
