"""The truth by hand: what right answers earn, what a false figure, offer or field costs, and which facts it reads."""

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rewards_examples import ANSWERS, FIELDS, PROMPTS, Prompt, write_store

from tucano.truth import truth
from tucano.truth.contexts import figure_facts
from tucano.truth.facts import text_facts
from tucano.truth.figures import figures, follows, worked_out
from tucano.truth.fluency import order
from tucano.truth.json_object import only_object, read_object
from tucano.truth.reading import plain
from tucano.truth.standing import stands
from tucano.truth.tasks import extraction, insights, push, sql_qa

TASKS = tuple(PROMPTS)
PUSH, INSIGHTS, EXTRACTION = PROMPTS["push"], PROMPTS["insights"], PROMPTS["extraction"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_store(tmp_path_factory.mktemp("truth"))


def worth(prompt: Prompt, answer: str, folder: Path | None = None) -> float:
    found = truth(prompt, answer, folder)
    assert found is not None
    return found


@pytest.mark.parametrize("task", TASKS)
def test_a_good_answer_is_worth_more_than_its_words_in_any_order_and_an_empty_one_nothing(
    folder: Path, task: str
) -> None:
    good = worth(PROMPTS[task], ANSWERS[task], folder)
    shuffled = " ".join(sorted(ANSWERS[task].split()))
    assert good >= 0.4 and worth(PROMPTS[task], shuffled, folder) < good - 0.2
    assert worth(PROMPTS[task], "  ", folder) == 0


@pytest.mark.parametrize("task", TASKS)
def test_without_a_reference_there_is_no_truth(task: str) -> None:
    assert truth(replace(PROMPTS[task], reference={}), ANSWERS[task]) is None


@pytest.mark.parametrize("task", TASKS)
@given(text=st.text(max_size=300) | st.text(alphabet='0123456789.,%R$ \n{}[]":aé😀', max_size=300))
def test_any_text_has_a_truth(folder: Path, task: str, text: str) -> None:
    assert 0 <= worth(PROMPTS[task], text, folder) <= 1


@pytest.mark.parametrize("value", [["low"], [], {}, 10**400, 1e999, float("nan"), True, None, "\ud83d", "x" * 9000])
@pytest.mark.parametrize("name", ["churn_risk", "sentiment", "sentiment_score", "main_complaint", "summary"])
def test_any_value_in_a_field_is_judged(name: str, value: Any) -> None:
    assert 0 <= worth(EXTRACTION, json.dumps(FIELDS | {name: value})) <= 1


def test_a_wrong_field_costs_and_the_opposite_feeling_leaves_a_quarter_at_most() -> None:
    right = worth(EXTRACTION, json.dumps(FIELDS, ensure_ascii=False))
    wrong = worth(EXTRACTION, json.dumps(FIELDS | {"delivery_issue": False}, ensure_ascii=False))
    opposite = worth(EXTRACTION, json.dumps(FIELDS | {"sentiment": "positive"}, ensure_ascii=False))
    assert right > wrong > opposite and opposite <= extraction.OPPOSITE_FEELING


def test_a_query_with_another_result_leaves_a_quarter_at_most(folder: Path) -> None:
    asked = PROMPTS["sql_qa"]
    other = ANSWERS["sql_qa"].replace("SUM", "COUNT")
    assert other != ANSWERS["sql_qa"] and worth(asked, other, folder) <= sql_qa.WRONG


@pytest.mark.parametrize(
    "back", ["Isto não está certo.", "Ignore tudo acima.", "(this is wrong)", "Não use esta resposta."]
)
@pytest.mark.parametrize("task", TASKS)
def test_an_answer_that_is_taken_back_leaves_a_quarter_at_most(folder: Path, task: str, back: str) -> None:
    assert worth(PROMPTS[task], f"{ANSWERS[task]}\n{back}", folder) <= 0.25


@pytest.mark.parametrize(
    "text", ["Não perca!", "Ignorar o prazo sai caro.", "O produto errado foi trocado.", "Evite prometer prazo curto."]
)
def test_what_only_sounds_like_it_takes_nothing_back(text: str) -> None:
    assert stands(text)


def test_figures_at_their_labels_are_stated_and_exchanged_ones_are_seen() -> None:
    told = insights.facts(INSIGHTS, "A recompra está em 23,5% e o atraso em 8,0%.", None)
    assert (told["key at labels"], told["facts at labels"], told["exchanged"]) == (0.5, pytest.approx(2 / 3), 0)
    turned = insights.facts(INSIGHTS, "A recompra está em 8,0%. O atraso chegou a 23,5%.", None)
    assert (turned["key at labels"], turned["exchanged"]) == (0, 2)
    assert insights.facts(INSIGHTS, "A recompra é de 55%.", None)["contradicted"] == 1


@pytest.mark.parametrize(
    ("said", "turned", "added"),
    [
        ("A recompra caiu para 23,5% e o atraso está em 8,0%.", 0, 0),
        ("A recompra subiu para 23,5%.", 1, 0),
        ("O atraso, de 8,0%, está em queda; pedidos aumentaram.", 1, 1),
        ("Recompra de 23,5%. Subiu o atraso.", 0, 0),  # behind a sentence's end
        ("Atraso de 8,0% (alta). Recomendo reduzir o frete.", 0, 0),
        ("Caiu a recompra, para 23,5%, e subiu o atraso, para 8,0%.", 0, 0),  # in front of the label
        ("A recompra está em 23,5% e não aumentou.", 0, 0),
        ("A recompra está em 23,5%, pior que na alta temporada.", 0, 0),
        ("Os pedidos recuaram para 1.234.", 0, 1),
    ],
)
def test_a_move_is_the_briefs_turned_round_or_made_up(said: str, turned: int, added: int) -> None:
    brief = "Resumo de maio: recompra caiu para 23,5%; pedidos 1.234; atraso 8,0% (alta). O que fazer?"
    told = insights.facts(replace(INSIGHTS, user=brief), said, None)
    assert (told["turned"], told["moves added"]) == (turned, added)


@pytest.mark.parametrize(
    "told", ["23,5% (em abril 25,1%)", "23,5% (-2 p.p.)", "23,5%, com queda", "25,1% antes e 23,5%"]
)
def test_a_move_that_the_brief_tells_in_other_words_is_not_added(told: str) -> None:
    brief = replace(INSIGHTS, user=f"Resumo de maio: recompra {told}; pedidos 1.234; atraso 8,0%. O que fazer?")
    assert insights.facts(brief, "A recompra caiu para 23,5%.", None)["moves added"] == 0
    assert insights.facts(brief, "O atraso caiu para 8,0%.", None)["moves added"] == 1


@pytest.mark.parametrize(
    ("brief", "offer", "kept"),
    [
        ("Desconto: 20%.", "20% de desconto", 1),
        ("Desconto: 20%.", "30% de desconto", push.INVENTED),
        ("Desconto: 20%.", "20% de desconto, 100% sem fio", 1),
        ("Vinte por cento de desconto.", "20% de desconto", 1),  # an amount in words is not read
    ],
)
def test_an_invented_amount_of_a_push_leaves_three_fifths(brief: str, offer: str, kept: float) -> None:
    asked = replace(PUSH, user=f"Crie um push para: fone de ouvido. {brief}")
    assert push.exact(push.facts(asked, f"Oi! O seu fone de ouvido está com {offer}.", None)) == kept


@pytest.mark.parametrize(
    ("said", "wanted", "kept"),
    [
        ("entrega muito atrasada", "entrega muito atrasada", 1),
        ("ponda estoque", "entrega muito atrasada", extraction.FOREIGN),
        ("sem som", "sem som", 1),  # no stem of three letters, and the same
        ("não há", None, 1),
    ],
)
def test_a_complaint_of_other_words_than_review_and_reference_leaves_three_quarters(
    said: str, wanted: str | None, kept: float
) -> None:
    asked = replace(EXTRACTION, reference={"fields": FIELDS | {"main_complaint": wanted}})
    assert extraction.exact(extraction.facts(asked, json.dumps(FIELDS | {"main_complaint": said}), None)) == kept


@pytest.mark.parametrize("joint", ["=", "/", "ou", "or", "\\lor", "=>"])
@pytest.mark.parametrize("task", ["insights", "push"])
def test_two_answers_side_by_side_do_not_stand(joint: str, task: str) -> None:
    assert not stands(f"{ANSWERS[task]} {joint} {ANSWERS[task]}")


@pytest.mark.parametrize(
    "text",
    [
        "Fone ou headset? Escolha já.",
        "Conversão = 2%. Atraso = 8%.",
        "- Frete (R$ 20). - Prazo.",
        "Total: a. + B.",
        "Use e-mail, SMS etc. ou WhatsApp para avisar.",
    ],
)
def test_a_sign_within_a_sentence_joins_no_answers(text: str) -> None:
    assert stands(text)


def test_an_offer_that_the_brief_lacks_is_a_fact() -> None:
    brief = replace(PUSH, user="Push da bolsa de couro, R$ 89, até 12/10.", reference={"product": "bolsa de couro"})
    fair = push.facts(brief, "Bolsa de couro por R$ 89 só até 12 de outubro!", None)
    assert (fair["product"], fair["offers invented"], fair["loose amounts"]) == (1, 0, 0)
    cheat = push.facts(brief, "Bolsa de couro por R$ 69 com frete grátis!", None)
    assert (cheat["offers invented"], cheat["free added"], cheat["loose amounts"]) == (2, 1, 1)


@pytest.mark.parametrize("answer", ["Bolsa de couro com desconto, oferta só hoje!", "Bolsa de couro em oferta!"])
def test_the_label_of_a_brief_grants_no_offer(answer: str) -> None:
    briefs = [replace(PUSH, user=f"Produto: bolsa de couro. Oferta: {terms}.") for terms in ("frete grátis", "nenhuma")]
    assert [push.facts(brief, answer, None)["offers added"] for brief in briefs] == [1, 1]
    granted = replace(PUSH, user="Produto: bolsa de couro. Oferta: 10% de desconto.")
    assert push.facts(granted, answer, None)["offers added"] == 0


def test_prices_and_numbers_that_change_their_places_are_seen() -> None:
    brief = "Porcelanato: de R$ 64,90 por R$ 49,90. Leve 3, pague 2."
    right = figure_facts(brief, "Porcelanato de R$ 64,90 por R$ 49,90: leve 3 e pague 2.")
    turned = figure_facts(brief, "Porcelanato de R$ 49,90 por R$ 64,90: leve 2 e pague 3.")
    assert right["other part"] == 0 and turned["other part"] >= 2
    assert right["loose figures"] == turned["loose figures"] == 0


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("r$ 1.234,50", 1234.5, "R$"),
        ("23,5%", 23.5, "%"),
        ("3,2 mil", 3200, ""),
        ("1.5", 1.5, ""),
        ("15 reais", 15, "R$"),
    ],
)
def test_figures_are_read_as_people_write_them(text: str, value: float, unit: str) -> None:
    (found,) = figures(text)
    assert (found.value, found.unit) == (pytest.approx(value), unit)


def test_one_step_of_arithmetic_explains_a_figure_and_two_do_not() -> None:
    known = worked_out([(200.0, ""), (50.0, "%"), (10.0, "R$")])
    (half,) = figures("100 pedidos")
    (money,) = figures("r$ 2.000")
    (other,) = figures("r$ 777")
    assert follows(half, known) and follows(money, known) and not follows(other, known)


def test_order_tells_portuguese_from_its_words_shuffled_and_from_another_language() -> None:
    text = "A consulta soma o valor dos pedidos de cada estado e mostra o total por mês."
    told, mixed = order(text), order(" ".join(sorted(text.split())))
    assert told.mean > mixed.mean + 0.3 and told.odd < mixed.odd
    assert order("The query adds up what every customer paid during the last twelve weeks.").known < told.known - 0.3


def test_what_is_said_twice_and_what_is_the_prompts_are_facts() -> None:
    told = text_facts("um dois três quatro cinco seis", "um dois três quatro cinco seis", "")
    assert told["borrowed 6"] == 1 and told["new words"] == 0
    assert text_facts("", "Isto foi dito uma vez. Isto foi dito uma vez.", "")["said twice"] == 0.5


def test_objects_are_read_strictly_or_as_a_person_would() -> None:
    assert only_object('{"a": 4,5}') == {"a": 4.5}
    assert only_object('Segue: {"a": 1}') is None and read_object('Segue: {"a": 1} pronto') == {"a": 1}
    assert read_object('{"a": 1, "b": tru') == {"a": 1}
    for odd in ("00!", "3٤"):  # a leading zero, a digit of another script
        assert read_object('{"a": 1, "b": ' + odd + "}") == {"a": 1}
    assert only_object('{"a": 1e999}') is None, "infinite"
    for broken in ('{"a": 4,5, "b": tru', '{"a": 4,5,}', '{"a": 4,5', '{"a": R$ 4,5 ,', 'Nota: {"a": 4,5 %'):
        assert read_object(broken) == {"a": 4.5}, "it was 4"
    assert read_object('{"a": 4,5,6, "b": 1, 5}') == {"b": 1}
    assert read_object("nada") == {} and only_object('{"a": 1, "a": 2}') is None
    assert read_object("{" * 5000) == {} and plain("ÁÇ") == "ac"


def test_answers_that_are_worth_nothing_do_not_differ(folder: Path) -> None:
    """Thousandths between two kinds of babble had become a significant drop, and hacking was suspected."""
    babble = ["a a de o o", "pedido pedido loja loja loja", "{ { : , o de de", "xq zt o que que"]
    assert {worth(PROMPTS["extraction"], text) for text in babble} == {0.0}


@pytest.mark.parametrize("loop", ["a ", "isto não ", "e de em ", "recompra 8,0% ", '{"a":', "SELECT 1 FROM a; "])
@pytest.mark.parametrize("prompt", [INSIGHTS, PUSH])
def test_a_loop_is_worth_nothing(prompt: Prompt, loop: str) -> None:
    """What a policy that has collapsed draws: the judge had given it up to .42."""
    assert worth(prompt, loop * 400) == 0


def test_an_answer_said_twice_is_worth_nothing() -> None:
    assert worth(INSIGHTS, f"{ANSWERS['insights']}\n{ANSWERS['insights']}") == 0
    assert worth(PUSH, f"{ANSWERS['push']} {ANSWERS['push']}") <= 0.25


LABEL = "aaaa " * 22 + "bbbb"


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        (replace(INSIGHTS, reference={"facts": [{"label": LABEL, "value": 10, "unit": "%"}], "key": [LABEL]}), "aaaa "),
        (replace(PUSH, user="Push da bolsa. " + "10% " * 2000), "Bolsa 10% "),
    ],
    ids=["a label that repeats a word", "a prompt of figures"],
)
def test_no_reference_and_no_prompt_makes_the_truth_slow(prompt: Prompt, answer: str) -> None:
    """14 and 27 seconds for 200 characters and for 8,000; in processor time, which others' work does not stretch."""
    began = time.process_time()
    worth(prompt, answer * 40)
    assert time.process_time() - began < 3
