"""What `grounded` promises: good answers near 1, floors low, invariances, monotonicity, truth where a reference has
it.
"""

import json
import unicodedata
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rewards_examples import ANSWERS, FIELDS, PROMPTS, Prompt, write_store

from rewards import RewardSet, load_reward_set
from rewards.sql_qa import NAMELESS, tells_of_others
from tucano.truth import truth

TASKS = tuple(PROMPTS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_store(tmp_path_factory.mktemp("grounded"))


@pytest.fixture(scope="module")
def grounded(folder: Path) -> RewardSet:
    return load_reward_set("grounded", folder)


@pytest.mark.parametrize("task", TASKS)
def test_good_answers_score_high(grounded: RewardSet, folder: Path, task: str) -> None:
    least = {"push": 0.84, "insights": 0.7}.get(task, 0.95)  # words of any product; few steps, of any shop
    assert grounded.score(PROMPTS[task], ANSWERS[task]).total > least


@pytest.mark.parametrize("task", TASKS)
def test_without_a_reference_form_fills_the_range(grounded: RewardSet, task: str) -> None:
    score = grounded.score(replace(PROMPTS[task], reference={}), ANSWERS[task])
    assert score.total > (0.6 if task == "insights" else 0.9)
    assert tuple(score.components) == grounded.component_names(task)


FLOORS = {
    "empty": "",
    "blank": " \n ",
    "schema echo": json.dumps({name: name for name in FIELDS}),
    "schema of types": json.dumps(
        {"sentiment": "positive|neutral|negative", "category": "string", "main_complaint": "text"}
    ),
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


@pytest.mark.parametrize("written", ["1.234", "1234", "1234,0", "1,234 mil"])
def test_number_formats_change_nothing(grounded: RewardSet, written: str) -> None:
    changed = ANSWERS["insights"].replace("1.234", written)
    before = grounded.score(PROMPTS["insights"], ANSWERS["insights"]).total
    assert grounded.score(PROMPTS["insights"], changed).total == pytest.approx(
        before, rel=0.1
    )  # «mil» is a word of its own


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
        "SELECT estado, SUM(valor) AS total FROM pedidos GROUP BY estado;" + told,
    ]
    totals = [grounded.score(PROMPTS["sql_qa"], text).total for text in steps]
    assert totals == sorted(totals) and totals[1] == 0 and len(set(totals)) == 6
    assert totals[-3] < 0.7 and totals[-2] == pytest.approx(0.35 + 0.65 * NAMELESS) and totals[-1] == pytest.approx(1)


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
        (("- Priorize melhorar o prazo de entrega, porque", "Diz muito que"), "insights.action_words"),
        ((".\n- ", ", "), "insights.structure"),
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
        ("O seu fone de ouvido: 20% de desconto.", "push.portuguese"),
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
    assert (right["extraction.field_match"], wrong["extraction.field_match"]) == (0.65, 0.0)


def shares(grounded: RewardSet, prompt: Prompt, answer: str) -> dict[str, float]:
    """The contributions without the task's name before each."""
    return {name.partition(".")[2]: part for name, part in grounded.score(prompt, answer).components.items()}


WITHOUT_TRUTH = {
    "extraction": {"valid_json": 0.1 / 0.35, "fields_present": 0.1 / 0.35, "value_checks": 0.15 / 0.35, "field_match": 0, "contradiction": 0},
    "sql_qa": {"query": 0.05 / 0.2, "explanation": 0.15 / 0.2, "names": 0, "executes": 0, "result": 0},
    "push": {"length": 0.25 / 0.7, "product": 0, "portuguese": 0.2 / 0.7, "reason": 0.25 / 0.7, "invented": 0, "formal": 0},
}  # fmt: skip


@pytest.mark.parametrize("task", WITHOUT_TRUTH)
def test_without_a_reference_each_weight_of_form_grows_alike(grounded: RewardSet, task: str) -> None:
    assert shares(grounded, replace(PROMPTS[task], reference={}), ANSWERS[task]) == pytest.approx(WITHOUT_TRUTH[task])


def test_penalties_do_not_grow_without_a_reference(grounded: RewardSet) -> None:
    bare = {task: replace(prompt, reference={}) for task, prompt in PROMPTS.items()}
    assert shares(grounded, bare["extraction"], json.dumps(FIELDS | {"sentiment": "positive"}))["contradiction"] == -0.2
    # a formal tone leaves 60 % of all credit; what the brief offers is not known
    assert shares(grounded, bare["push"], "Prezado, o seu fone tem 77% de desconto para você.") == pytest.approx(
        {name: 0.6 * part for name, part in WITHOUT_TRUTH["push"].items()} | {"formal": -0.03}
    )


@pytest.mark.parametrize("stars", [None, 1, 2, 3, 4, 5])
def test_sentiments_that_fit_the_stars(grounded: RewardSet, stars: int | None) -> None:
    prompt = replace(PROMPTS["extraction"], stars=stars, reference={})
    kept = [
        sentiment
        for sentiment in ("positive", "neutral", "negative", "bom", None, ["positive"])
        if shares(grounded, prompt, json.dumps(FIELDS | {"sentiment": sentiment}))["contradiction"] == 0
    ]
    fitting = {
        1: ["neutral", "negative"],
        2: ["neutral", "negative"],
        4: ["positive", "neutral"],
        5: ["positive", "neutral"],
    }
    assert kept == fitting.get(stars or 0, ["positive", "neutral", "negative", "bom", None, ["positive"]])


@pytest.mark.parametrize(("sentiment", "cost"), [("negative", 0), ("neutral", 0), ("positive", -0.2), ("bom", -0.2)])
def test_the_opposite_of_the_reference_costs_whatever_the_stars(
    grounded: RewardSet, sentiment: str, cost: float
) -> None:
    prompt = replace(PROMPTS["extraction"], stars=None)
    assert shares(grounded, prompt, json.dumps(FIELDS | {"sentiment": sentiment}))["contradiction"] == cost


@pytest.mark.parametrize(
    ("value", "usable"),
    [
        ("moda", True),
        ("", False),
        (" <> ", False),
        ("category", False),
        ("<Category>", False),
        ("[category]", False),
        ("string", False),
        ("{TEXTO}", False),
        ("moda|casa", False),
        ("the best product of this shop", False),
        ("categoria moda", True),
        (
            "the bola casa mesa fita pote lata copo rede sofa vaso faca pano",
            False,
        ),  # 1 foreign word of 13: 1 / 13 / .15 > .5
        ("the bola casa mesa fita pote lata copo rede sofa vaso faca pano luva", True),
        ("the of and " + " ".join(f"bola{chr(97 + n % 26)}{n}" for n in range(37)), False),  # 3 / 40 / .15 is .5
        (3, True),
        (None, True),
        ([], True),
    ],
)
def test_values_that_may_be_an_answer(grounded: RewardSet, value: object, usable: bool) -> None:
    blind = replace(PROMPTS["extraction"], reference={})
    found = shares(grounded, blind, json.dumps({"category": value, "seller_issue": False}))
    assert found["fields_present"] == pytest.approx(0.1 / 0.35 * (1 + usable) / 10)


def test_an_object_without_usable_fields_earns_nothing_and_one_is_enough(grounded: RewardSet) -> None:
    assert shares(grounded, PROMPTS["extraction"], '{"category": "category"}')["valid_json"] == 0
    blind = replace(PROMPTS["extraction"], reference={})
    assert shares(grounded, blind, '{"category": "category"}')["valid_json"] == 0
    assert shares(grounded, blind, '{"seller_issue": false}')["valid_json"] == pytest.approx(0.1 / 0.35)


def test_a_repetitive_text_earns_its_variety(grounded: RewardSet) -> None:
    prose = "a soma de tudo\na soma de tudo\na loja"  # 10 words, 8 3-grams of which 5 differ
    found = shares(grounded, PROMPTS["sql_qa"], f"```sql\nSELECT estado FROM pedidos\n```\n{prose}")
    assert found["query"] == pytest.approx(0.05 * (5 / 8 - 0.35) / 0.4)


def test_foreign_prose_beside_a_query_costs_up_to_three_quarters(grounded: RewardSet) -> None:
    query = "```sql\nSELECT estado, SUM(valor) AS total FROM pedidos GROUP BY estado\n```\n"
    foreign = shares(grounded, PROMPTS["sql_qa"], query + "This is the sum of all the orders in each state.")
    assert foreign == pytest.approx(
        {"query": 0.0125, "explanation": 0, "names": 0.025, "executes": 0.0125, "result": 0.6 * 0.1625}
    )
    copied = shares(grounded, PROMPTS["sql_qa"], query + PROMPTS["sql_qa"].user)
    assert (copied["explanation"], copied["result"]) == (0, pytest.approx(0.65 * 0.6))
    few = shares(grounded, PROMPTS["sql_qa"], query + "Soma de cada estado da loja.")
    assert few["explanation"] == pytest.approx(0.15 * 6 / 10)


def test_names_and_execution_of_a_query(grounded: RewardSet) -> None:
    # gold: pedidos, estado, valor; found: pedidos, id: F1 = 2 x 1 / (3 + 2), squared for the names
    found = shares(grounded, PROMPTS["sql_qa"], "SELECT id FROM pedidos")
    assert found == pytest.approx(
        {"query": 0.05, "explanation": 0, "names": 0.1 * 0.16, "executes": 0.05 * 0.4, "result": 0}
    )
    broken = shares(grounded, PROMPTS["sql_qa"], "SELECT cor FROM pedidos")
    assert broken == pytest.approx({"query": 0.05, "explanation": 0, "names": 0.1 * 0.16, "executes": 0, "result": 0})


def test_a_price_makes_no_copy_of_its_brief(grounded: RewardSet) -> None:
    prompt = replace(
        PROMPTS["push"],
        user="Item mesa. Por R$ 36 na loja. Escreva um push.",
        reference={"product": "mesa", "terms": ["mesa"], "figures": [36.0]},
    )
    assert grounded.score(prompt, "Olha só: mesa por R$ 36 na loja. Garanta já a sua!").total > 0.8


@pytest.mark.parametrize(("told", "of_others"), [("maio de 2018", False), ("janeiro de 2017", True), ("01/2017", True)])
def test_another_month_is_one_in_words_too(told: str, of_others: bool) -> None:
    assert tells_of_others(f"Conta os pedidos de {told}.", "Quantos pedidos em maio de 2018?") == of_others
    assert not tells_of_others("Conta os pedidos de 05/2018.", "Quantos pedidos em maio de 2018?")


def test_an_object_copied_from_the_prompt_earns_nothing(grounded: RewardSet) -> None:
    prompt = replace(PROMPTS["extraction"], user=f"Avaliação: chegou tarde. Exemplo: {ANSWERS['extraction']}")
    assert not any(shares(grounded, prompt, ANSWERS["extraction"]).values())


@pytest.mark.parametrize(
    ("told", "explanation", "result"),
    [("cada estado da loja", 0.15, 0.65), ("SP", 0, 0.65 * 0.65), ("05/2018", 0, 0.65 * 0.65)],
)
def test_another_state_or_month_beside_a_right_query_costs(
    grounded: RewardSet, told: str, explanation: float, result: float
) -> None:
    query = "SELECT SUM(valor) AS total FROM pedidos WHERE estado = 'RJ'"
    prompt = replace(
        PROMPTS["sql_qa"], user="Qual o total do RJ em 04/2018?", reference=PROMPTS["sql_qa"].reference | {"sql": query}
    )
    prose = f"A consulta soma o valor de todos os pedidos de {told} na loja."
    found = shares(grounded, prompt, f"```sql\n{query}\n```\n{prose}")
    assert (found["explanation"], found["result"]) == (pytest.approx(explanation), pytest.approx(result))


def test_strict_json_is_above_repaired_and_repaired_above_unreadable(grounded: RewardSet) -> None:
    strict = ANSWERS["extraction"]
    repaired = strict.replace('"', "'")
    totals = [grounded.score(PROMPTS["extraction"], text).total for text in (strict, repaired, strict.strip("{}"))]
    assert totals == pytest.approx([1.0, 0.45, 0.0])
    for same in (f"```json\n{strict}\n```", strict[:-1] + ', "valor": 4,5}'):
        assert grounded.score(PROMPTS["extraction"], same).total == pytest.approx(1.0)


def test_the_explanation_of_a_wrong_query_is_worth_half(grounded: RewardSet) -> None:
    wrong = shares(grounded, PROMPTS["sql_qa"], ANSWERS["sql_qa"].replace("SUM", "MAX"))
    assert (wrong["explanation"], wrong["result"]) == (pytest.approx(0.15 / 2), 0)
    assert sum(wrong.values()) <= 0.3
