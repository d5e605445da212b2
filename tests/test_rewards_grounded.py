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
from rewards.insights import FALSE as INSIGHTS_FALSE
from rewards.insights import NO_ADVICE, enough_words
from rewards.parsing.claims import insight_figures
from rewards.push import FALSE, FORMAL, PLAIN, UNTOLD, WITHOUT_PRODUCT
from rewards.sql_qa import NAMELESS
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
    least = PLAIN - 0.01 if task == "push" else 0.95  # it says of its product what one says of any
    assert grounded.score(PROMPTS[task], ANSWERS[task]).total > least


@pytest.mark.parametrize("task", TASKS)
def test_without_a_reference_form_fills_the_range(grounded: RewardSet, task: str) -> None:
    score = grounded.score(replace(PROMPTS[task], reference={}), ANSWERS[task])
    assert score.total > (PLAIN - 0.01 if task == "push" else 0.9)
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


INSIGHTS = ANSWERS["insights"]


@pytest.mark.parametrize(
    ("task", "text", "lost"),
    [
        ("insights", INSIGHTS.replace("23,5%", "41,7%"), "invented"),
        ("insights", INSIGHTS.replace("23,5%", "alta"), "key_figures"),
        (
            "insights",
            INSIGHTS.replace(
                "Priorize melhorar o prazo de entrega, porque o atraso reduz",
                "O prazo de entrega e o atraso pesam sobre",
            ),
            "action_words",
        ),
        ("insights", INSIGHTS.replace(".\n- ", ", "), "structure"),
        ("push", "Oi! O seu tênis está com 20% de desconto só hoje. Aproveite! 🎉", "product"),
        ("push", "Oi! O seu fone de ouvido está com 70% de desconto só hoje. Aproveite! 🎉", "invented"),
        ("push", "Prezado, o seu fone de ouvido está com 20% de desconto só hoje. Atenciosamente.", "formal"),
        (
            "push",
            ANSWERS["push"] + " Temos muitos outros produtos na loja, com entrega para todo o Brasil.",
            "length",
        ),
        ("push", "Oi! O seu fone de ouvido é bonito e confortável, feito com carinho.", "reason"),
        ("push", "Oi! Os seu fone de ouvido está com 20% de desconto só hoje. Aproveite! 🎉", "portuguese"),
    ],
)
def test_an_answer_loses_what_it_lacks(grounded: RewardSet, task: str, text: str, lost: str) -> None:
    good, found = shares(grounded, PROMPTS[task], ANSWERS[task]), shares(grounded, PROMPTS[task], text)
    assert found[lost] < good[lost] and sum(found.values()) <= sum(good.values())


def test_a_rounded_figure_earns_no_more(grounded: RewardSet) -> None:
    good, found = (grounded.score(PROMPTS["insights"], text) for text in (INSIGHTS, INSIGHTS.replace("23,5%", "24%")))
    assert found.total <= good.total


QUERY = "SELECT estado, SUM(valor) FROM pedidos GROUP BY estado"


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        (replace(PROMPTS["sql_qa"], user=f"Corrija: {QUERY}"), QUERY),
        (
            replace(PROMPTS["extraction"], user=f"Avaliação: chegou tarde. Exemplo: {ANSWERS['extraction']}"),
            ANSWERS["extraction"],
        ),
    ],
    ids=["a query of the prompt", "an object of the prompt"],
)
def test_what_earns_nothing(grounded: RewardSet, prompt: Prompt, answer: str) -> None:
    assert not any(grounded.score(prompt, answer).components.values())


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
    "insights": {"structure": 0.1 / 0.65, "action_words": 0.25 / 0.65, "length": 0.1 / 0.65, "key_figures": 0, "coherence": 0.2 / 0.65, "invented": 0},
    "push": {"length": PLAIN * 0.25 / 0.7, "product": 0, "portuguese": PLAIN * 0.2 / 0.7, "reason": PLAIN * 0.25 / 0.7, "invented": 0, "formal": 0},
}  # fmt: skip


@pytest.mark.parametrize("task", WITHOUT_TRUTH)
def test_without_a_reference_each_weight_of_form_grows_alike(grounded: RewardSet, task: str) -> None:
    assert shares(grounded, replace(PROMPTS[task], reference={}), ANSWERS[task]) == pytest.approx(WITHOUT_TRUTH[task])


def test_penalties_do_not_grow_without_a_reference(grounded: RewardSet) -> None:
    bare = {task: replace(prompt, reference={}) for task, prompt in PROMPTS.items()}
    assert shares(grounded, bare["extraction"], json.dumps(FIELDS | {"sentiment": "positive"}))["contradiction"] == -0.2
    false = f"{ANSWERS['insights']}\n- Já são 88,8% e 99,9%."
    assert (
        shares(grounded, bare["insights"], false)["invented"]
        == shares(grounded, PROMPTS["insights"], false)["invented"]
    )
    # the offer is not told
    assert shares(grounded, bare["push"], "Prezado, o seu fone tem 77% de desconto para você.") == pytest.approx(
        {name: FALSE * FORMAL * part for name, part in WITHOUT_TRUTH["push"].items()}
        | {"invented": -0.03, "formal": -0.03, "reason": 0}
    )


@pytest.mark.parametrize("name", ["fone bluetooth", "caneca térmica", "tênis de corrida"])
def test_a_product_earns_the_same_in_capitals_wherever_it_stands(grounded: RewardSet, name: str) -> None:
    prompt = replace(PROMPTS["push"], user=f"Push de {name} com frete grátis.", reference={"product": name})
    shouted = name.title().replace(" De ", " de ")
    for text in ("{} com frete grátis só hoje!", "Seu {} tem frete grátis só hoje, aproveite!"):
        small = text.format(name)
        earned = grounded.score(prompt, small[0].upper() + small[1:]).total
        assert grounded.score(prompt, text.format(shouted)).total == earned > 0.5


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
    # 12 words, 10 3-grams of which 4 differ; not a word of the brief's offer
    answer = "Seu fone chegou hoje, seu fone chegou hoje, seu fone chegou hoje"
    worth = PLAIN * UNTOLD * (4 / 10 - 0.35) / 0.4
    assert shares(grounded, PROMPTS["push"], answer)["product"] == pytest.approx(0.3 * worth)
    prose = "a soma de tudo\na soma de tudo\na loja"  # 10 words, 8 3-grams of which 5 differ
    found = shares(grounded, PROMPTS["sql_qa"], f"```sql\nSELECT estado FROM pedidos\n```\n{prose}")
    assert found["query"] == pytest.approx(0.05 * (5 / 8 - 0.35) / 0.4)


def test_insights_in_the_words_of_their_brief_earn_their_own_share(grounded: RewardSet) -> None:
    brief = "A devolução pesa mais que o frete no bolso do cliente. Que ações você recomenda?"
    prompt = replace(PROMPTS["insights"], user=brief, reference={})
    advice = "sugiro rever as medidas e as fotos dos dez itens mais devolvidos."
    own = f"- As trocas custam caro demais para uma loja nova: {advice}"
    copied = f"- A devolução pesa mais que o frete no bolso: {advice}"
    earned = shares(grounded, prompt, copied)["structure"] / enough_words(copied, brief)
    # of 21 words 9 stand in the prompt in a row: from 65 % of own words down to 50 % all is lost
    assert earned / shares(grounded, prompt, own)["structure"] == pytest.approx((12 / 21 - 0.5) / 0.15)


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


def test_insights_by_component(grounded: RewardSet) -> None:
    # one part of two, one line of advice with a means where 1.5 earn all, one right figure of two and a false one
    answer = "- Recomendo rever o prazo, com recompra de 23,5% e mais 77,7% no mês."
    found = shares(grounded, PROMPTS["insights"], answer)
    gate = (NO_ADVICE + (1 - NO_ADVICE) / 1.5) * enough_words(answer, PROMPTS["insights"].user)
    assert found == pytest.approx(
        {
            "structure": gate * INSIGHTS_FALSE * 0.1 / 2,
            "action_words": gate * INSIGHTS_FALSE * 0.25 / 1.5,
            "length": gate * INSIGHTS_FALSE * 0.1,
            "key_figures": gate * INSIGHTS_FALSE * 0.35 / 2,
            "coherence": gate * INSIGHTS_FALSE * 0.2 / 2,
            "invented": gate * -0.05 / 2,
        }
    )
    more = shares(grounded, PROMPTS["insights"], answer + " Já 88,8% e 99,9%.")
    assert more["invented"] < 2 * found["invented"] < 0


def test_figures_earn_at_their_labels_alone(grounded: RewardSet) -> None:
    loose = "- O atraso foi de 23,5%.\n- Recomendo um cupom de 10% para quem já comprou na loja."
    assert shares(grounded, PROMPTS["insights"], loose)["key_figures"] == 0
    told = "- Recompra de 23,5% mostra pouca gente de volta em 1.234 pedidos.\n- Recomendo um cupom de 10% para quem já comprou na loja."
    assert shares(grounded, PROMPTS["insights"], told)["key_figures"] > 0.15


def test_key_figures_are_those_of_the_labels_that_are_asked_for() -> None:
    facts = [{"label": "conversão", "value": 2.5, "unit": "%"}, {"label": "devolução", "value": 2.5, "unit": "%"}]
    reference = {"figures": [2.5, 2.5], "key_figures": [2.5], "facts": facts, "key": ["devolução"]}
    user = "Números de maio: conversão 2,5%; devolução 2,5%. O que fazer com a devolução?"
    prompt = replace(PROMPTS["insights"], user=user, reference=reference)
    assert insight_figures(prompt, "- A devolução está em 2,5%.\n- Recomendo revisar as fotos.")[0] == 1


def test_a_price_makes_no_copy_of_its_brief(grounded: RewardSet) -> None:
    prompt = replace(
        PROMPTS["push"],
        user="Item mesa. Por R$ 36 na loja. Escreva um push.",
        reference={"product": "mesa", "terms": ["mesa"], "figures": [36.0]},
    )
    assert grounded.score(prompt, "Olha só: mesa por R$ 36 na loja. Garanta já a sua!").total > 0.8


def test_a_push_without_its_product_shrinks_with_its_inventions(grounded: RewardSet) -> None:
    other = shares(grounded, PROMPTS["push"], "O seu tênis é bonito e confortável, com 77% para o dia.")
    left = WITHOUT_PRODUCT * FALSE
    form = {"length": 0.25 * left, "portuguese": 0.2 * left}
    assert other == pytest.approx({**form, "product": 0, "reason": 0, "invented": 0, "formal": 0})


def test_an_offer_in_words_that_the_brief_does_not_grant_is_invented(grounded: RewardSet) -> None:
    free = shares(grounded, PROMPTS["push"], "Oi! O seu fone tem 20% de desconto e frete grátis. Aproveite!")
    assert (free["invented"], free["product"]) == (-0.03, pytest.approx(PLAIN * 0.3 * FALSE))
    granted = replace(PROMPTS["push"], user=PROMPTS["push"].user + " Frete grátis.")
    assert shares(grounded, granted, "Oi! O seu fone tem 20% de desconto e frete grátis. Aproveite!")["invented"] == 0


def test_another_product_beside_the_own_one_costs(grounded: RewardSet) -> None:
    both = shares(grounded, PROMPTS["push"], "Oi! Tem panela e fone de ouvido com 20% de desconto para você!")
    own = shares(grounded, PROMPTS["push"], "Oi! Tem fone de ouvido com 20% de desconto para você!")
    assert (both["product"], own["product"]) == (pytest.approx(PLAIN * 0.3 * FALSE), pytest.approx(PLAIN * 0.3))


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


@pytest.mark.parametrize(("said", "invented"), [("do primeiro ao último dia de uso", 0), ("últimas unidades", -0.03)])
def test_the_last_days_of_use_are_no_hurry(grounded: RewardSet, said: str, invented: float) -> None:
    found = shares(grounded, PROMPTS["push"], f"Oi! O seu fone tem 20% de desconto, {said}. Aproveite!")
    assert found["invented"] == invented
