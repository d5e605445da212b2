"""What `grounded` promises: good answers near 1, floors low, invariances, monotonicity, truth where a reference has it."""

import json
import unicodedata
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rewards_examples import ANSWERS, FIELDS, PROMPTS, Prompt, write_store

from rewards import RewardSet, load_reward_set, truth

TASKS = tuple(PROMPTS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_store(tmp_path_factory.mktemp("grounded"))


@pytest.fixture(scope="module")
def grounded(folder: Path) -> RewardSet:
    return load_reward_set("grounded", folder)


@pytest.mark.parametrize("task", TASKS)
def test_good_answers_score_high(grounded: RewardSet, folder: Path, task: str) -> None:
    assert grounded.score(PROMPTS[task], ANSWERS[task]).total > 0.95
    assert truth(PROMPTS[task], ANSWERS[task], folder) == 1.0


@pytest.mark.parametrize("task", TASKS)
def test_without_a_reference_form_fills_the_range(grounded: RewardSet, task: str) -> None:
    score = grounded.score(replace(PROMPTS[task], reference={}), ANSWERS[task])
    assert score.total > 0.9
    assert tuple(score.components) == grounded.component_names(task)


FLOORS = {
    "empty": "",
    "blank": " \n ",
    "schema echo": json.dumps({name: name for name in FIELDS}),
    "schema of types": json.dumps({"sentiment": "positive|neutral|negative", "category": "string", "main_complaint": "text"}),
    "keywords of insights": "recomendo melhorar priorizar investir reduzir cliente produto venda entrega pedido " * 2,
    "keywords as bullets": "- recomendo cliente\n- melhorar produto\n- priorizar venda\n- reduzir entrega",
    "keywords of push": "promoção oferta desconto frete grátis compre aproveite corra garanta já",
    "keywords of SQL": "SELECT FROM WHERE JOIN GROUP BY ORDER BY HAVING COUNT SUM AVG LIMIT",
    "SELECT 1": "SELECT 1",
    "one sentence again and again": "A loja recomenda melhorar a entrega. " * 12,
    "one word again and again": "fone " * 15,
    "English": "The customer is not happy with the delivery of this product and we should improve it for them.",
    "English push": "Your new headphones are waiting for you! Get 20% off now and enjoy the best sound.",
    "Spanish": "El cliente no está contento con la entrega y la tienda tiene que mejorar los plazos para sus pedidos.",
    "noise": "asdf qwer zxcv 123 !!! ???",
    "brackets": "{[(<>)]}",
}


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("text", FLOORS.values(), ids=FLOORS)
@pytest.mark.parametrize("known", [True, False], ids=["reference", "no reference"])
def test_floors(grounded: RewardSet, task: str, text: str, known: bool) -> None:
    prompt = PROMPTS[task] if known else replace(PROMPTS[task], reference={})
    assert grounded.score(prompt, text).total <= 0.25


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("text", ["{prompt}", "{prompt} {prompt}", "{answer}" * 12])
def test_copies_and_repetitions_are_floors(grounded: RewardSet, task: str, text: str) -> None:
    prompt = PROMPTS[task]
    assert grounded.score(prompt, text.format(prompt=prompt.user, answer=ANSWERS[task] + "\n")).total <= 0.25


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_unicode_forms_and_outer_space_change_nothing(grounded: RewardSet, folder: Path, task: str, form: Any) -> None:
    changed = "\n  " + unicodedata.normalize(form, ANSWERS[task]) + " \n"
    assert grounded.score(PROMPTS[task], changed) == grounded.score(PROMPTS[task], ANSWERS[task])
    assert truth(PROMPTS[task], changed, folder) == truth(PROMPTS[task], ANSWERS[task], folder)


@pytest.mark.parametrize("indent", [None, 1, 4])
def test_key_order_and_layout_change_nothing(grounded: RewardSet, indent: int | None) -> None:
    turned = json.dumps(dict(reversed(FIELDS.items())), indent=indent)
    assert grounded.score(PROMPTS["extraction"], turned) == grounded.score(PROMPTS["extraction"], ANSWERS["extraction"])


@pytest.mark.parametrize("written", ["1.234", "1234", "1234,0", "R$ 1.234,00", "1,234 mil"])
def test_number_formats_change_nothing(grounded: RewardSet, written: str) -> None:
    changed = ANSWERS["insights"].replace("1.234", written)
    parts = grounded.score(PROMPTS["insights"], changed).components
    assert parts["insights.key_figures"] == pytest.approx(0.35)
    assert parts["insights.invented"] == 0


WRONG: dict[str, list[Any]] = {
    "sentiment": ["positive", "neutral", "ruim", 3, ...],
    "sentiment_score": [5, 2, "1", True, 1.0, 9, ...],
    "category": ["moda", "category", "", None, "eletrônicos e telefonia", ...],
    "delivery_issue": [False, "true", "delivery_issue", None, ...],
    "product_issue": [True, "false", 0, ...],
    "seller_issue": [True, "não", ...],
    "churn_risk": ["low", "alto", None, ...],
    "repurchase_intent": [True, "false", ...],
    "main_complaint": ["produto quebrado", None, "main_complaint", "the product is broken and it is late", ...],
    "summary": [None, "summary", ...],
}
states = st.fixed_dictionaries({name: st.integers(-1, len(wrong) - 1) for name, wrong in WRONG.items()})


def answer(state: dict[str, int]) -> str:
    """The object whose field is right at -1, else one of the wrong values (`...`: left out)."""
    values = {name: FIELDS[name] if choice < 0 else WRONG[name][choice] for name, choice in state.items()}
    return json.dumps({name: value for name, value in values.items() if value is not ...})


@given(states, st.sampled_from(sorted(FIELDS)))
def test_repairing_a_field_never_lowers(grounded: RewardSet, state: dict[str, int], name: str) -> None:
    prompt = PROMPTS["extraction"]
    before, after = answer(state), answer(state | {name: -1})
    assert grounded.score(prompt, after).total >= grounded.score(prompt, before).total - 1e-12
    fixed, broken = truth(prompt, after), truth(prompt, before)
    assert fixed is not None and broken is not None and fixed >= broken


@given(states, st.sampled_from(sorted(FIELDS)))
def test_spoiling_a_valid_field_never_raises(grounded: RewardSet, state: dict[str, int], name: str) -> None:
    prompt = PROMPTS["extraction"]
    spoilt = json.dumps(json.loads(answer(state)) | {name: {"x": 1}})
    assert grounded.score(prompt, spoilt).total <= grounded.score(prompt, answer(state | {name: -1})).total + 1e-12


def test_sql_is_worth_more_step_by_step(grounded: RewardSet) -> None:
    told = "\nA consulta soma o valor dos pedidos de cada estado da loja e mostra o total."
    steps = [
        told,
        "SELECT 1;" + told,
        "SELECT cor FROM carros;" + told,
        "SELECT estado FROM carros;" + told,
        "SELECT estado, valor FROM pedidos;" + told,
        "SELECT estado, SUM(valor) FROM pedidos GROUP BY estado;" + told,
    ]
    totals = [grounded.score(PROMPTS["sql_qa"], text).total for text in steps]
    assert totals == sorted(totals) and totals[1] == 0 and len(set(totals)) == 5
    assert totals[-2] < 0.7 and totals[-1] == pytest.approx(1)


def test_naming_everything_does_not_pay(grounded: RewardSet) -> None:
    few = grounded.score(PROMPTS["sql_qa"], "SELECT estado, valor FROM pedidos").components
    many = grounded.score(PROMPTS["sql_qa"], "SELECT estado, valor, a, b, c FROM pedidos, x, y, z").components
    assert many["sql_qa.names"] < few["sql_qa.names"]


@pytest.mark.parametrize(
    ("changed", "component"),
    [
        (("23,5%", "24%"), None),
        (("23,5%", "41,7%"), "insights.invented"),
        (("23,5%", "alta"), "insights.key_figures"),
        (
            ("Priorize melhorar o prazo de entrega, porque o atraso reduz", "O prazo de entrega e o atraso pesam sobre"),
            "insights.action_words",
        ),
        (("\n- ", " "), "insights.structure"),
    ],
)
def test_insights_lose_what_they_lack(grounded: RewardSet, changed: tuple[str, str], component: str | None) -> None:
    good = grounded.score(PROMPTS["insights"], ANSWERS["insights"]).components
    parts = grounded.score(PROMPTS["insights"], ANSWERS["insights"].replace(*changed)).components
    assert component is None or parts[component] < good[component]
    assert sum(parts.values()) <= sum(good.values())


@pytest.mark.parametrize(
    ("text", "lost"),
    [
        ("Oi! O seu tênis está com 20% de desconto só hoje. Aproveite! 🎉", "push.product"),
        ("Oi! O seu fone de ouvido está com 70% de desconto só hoje. Aproveite! 🎉", "push.invented"),
        ("Prezado, o seu fone de ouvido está com 20% de desconto só hoje. Atenciosamente.", "push.formal"),
        (ANSWERS["push"] + " Temos muitos outros produtos na loja, com entrega para todo o Brasil.", "push.length"),
        ("Oi! O seu fone de ouvido é bonito e confortável, feito com carinho.", "push.reason"),
        ("Não perca! O seu fone de ouvido está com 20% de desconto só hoje.", "push.portuguese"),
    ],
)
def test_push_loses_what_it_lacks(grounded: RewardSet, text: str, lost: str) -> None:
    good = grounded.score(PROMPTS["push"], ANSWERS["push"]).components
    parts = grounded.score(PROMPTS["push"], text).components
    assert parts[lost] < good[lost]


def test_a_query_taken_from_the_prompt_earns_nothing(grounded: RewardSet) -> None:
    query = "SELECT estado, SUM(valor) FROM pedidos GROUP BY estado"
    prompt = replace(PROMPTS["sql_qa"], user=f"Corrija: {query}")
    assert grounded.score(prompt, query).total == 0


def test_a_missing_database_is_said(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="databases"):
        load_reward_set("grounded").score(PROMPTS["sql_qa"], "SELECT estado FROM pedidos")
    with pytest.raises(ValueError, match="there is no database"):
        load_reward_set("grounded", tmp_path).score(PROMPTS["sql_qa"], "SELECT estado FROM pedidos")


def test_a_partial_reference_is_enough(grounded: RewardSet) -> None:
    prompt = Prompt("extraction", "Avaliação", None, {"fields": {"delivery_issue": True}})
    right = grounded.score(prompt, json.dumps(FIELDS)).components
    wrong = grounded.score(prompt, json.dumps(FIELDS | {"delivery_issue": False})).components
    assert (right["extraction.field_match"], wrong["extraction.field_match"]) == (0.5, 0.0)
