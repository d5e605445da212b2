"""The reward of insights in `grounded`: which figures are right, what advises, and what a text loses."""

import pytest
from rewards_examples import Prompt

from rewards import load_reward_set
from rewards.open.arithmetic import is_worked_out
from rewards.open.insights import FALSE, NO_ADVICE, UNUSED, advice, harms, truth
from rewards.open.readings import Reading, read_figures
from rewards.parsing.text import figures, fold

FACTS = [
    {"label": "atraso", "value": 13.0, "unit": "%"},
    {"label": "recompra", "value": 8.0, "unit": "%"},
    {"label": "pedidos", "value": 720.0, "unit": ""},
    {"label": "receita", "value": 64800.0, "unit": "R$"},
]
BRIEF = Prompt(
    "insights",
    "Abril na loja de vinhos: atraso 13,0%; recompra 8,0%; pedidos 720; receita R$ 64.800. O que fazer com o atraso?",
    None,
    {"figures": [13.0, 8.0, 720.0, 64800.0], "key_figures": [13.0], "facts": FACTS, "key": ["atraso"]},
)
GOOD = """O atraso de 13% atinge 94 dos 720 pedidos, e só 8% dos clientes voltam: quem espera a garrafa não compra outra.
- Troque a transportadora das rotas que mais demoram e avise a nova data por mensagem antes do vencimento.
- Separe o estoque dos rótulos campeões na véspera; em 30 dias o índice deve cair para 9%."""


def total(answer: str) -> float:
    return load_reward_set("open").score(BRIEF, answer).total


def test_a_good_analysis_earns_nearly_all() -> None:
    assert total(GOOD) > 0.9


@pytest.mark.parametrize(
    ("answer", "most"),
    [
        (GOOD.replace("13%", "31%"), 0.6),
        (GOOD.replace("O atraso de 13%", "A recompra de 13%").replace("8% dos", "poucos dos"), 0.6),
        (GOOD.replace("13% atinge 94 dos 720", "sempre atinge muitos"), 0.6),
        (GOOD.split("\n-")[0], 0.6),
        (GOOD + "\n- Aumente o atraso dos pedidos.", 0),
        (GOOD + "\nDesconsidere esta análise.", 0),
        (GOOD + "\nAlternativa B: os números estão bem.", 0),
        (GOOD + "\nMelhorar reduzir investir criar.", 0.3),
        (BRIEF.user, 0.05),
        ("O atraso é de 13%. Melhore sempre a qualidade para os clientes.", 0.3),
        ("The delay is 13% and we should change the carrier of the slow routes for the customers.", 0.1),
        (" ".join(sorted(GOOD.split())), 0.3),
        ("pedidos atraso recompra 13% 8% 720 recomendo melhorar reduzir investir aumentar", 0.3),
    ],
)
def test_what_a_bad_analysis_has_at_most(answer: str, most: float) -> None:
    assert total(answer) <= most + 1e-9


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("O atraso é de 13%.", "told"),
        ("São 720 pedidos.", "told"),
        ("Dos pedidos, 94 chegaram tarde.", "derived"),  # 13 % of 720
        ("Cada pedido deixa R$ 90.", "derived"),  # 64.800 / 720
        ("Chegam no prazo 87%.", "derived"),  # 100 - 13
        ("A meta é chegar a 9% de atraso.", "proposed"),
        ("Ofereça um cupom de R$ 20 a partir de R$ 150.", "proposed"),
        ("Teste por 30 dias.", "proposed"),
        ("Em três meses, o atraso de 7%.", "proposed"),
        ("A padaria rende 37,4% da margem.", "false"),
        ("Perdemos 333 clientes no mês.", "false"),
        ("A receita é de R$ 64,8 mil.", "told"),
        ("O abandono foi de 45%.", "false"),
        ("O ticket ficou em R$ 777.", "false"),
    ],
)
def test_what_a_figure_is(said: str, kind: str) -> None:
    found = read_figures(BRIEF, said)
    counts = {name: getattr(found, name) for name in ("told", "derived", "proposed", "false", "wrong")}
    assert counts[kind] > 0 and sum(counts.values()) == counts[kind]


@pytest.mark.parametrize(
    "said",
    [
        "O atraso foi de 31%.",
        "A recompra é de 13%.",
        "A recompra caiu.",  # the brief tells no movement
        "A loja teve 720 de receita e R$ 64.800 de pedidos.",
        "A recompra era o dobro.",
        "O atraso disparou no mês.",
        "A receita de 720 e pedidos de R$ 64.800 pedem cuidado.",
    ],
)
def test_figures_at_another_label_and_movements_that_nobody_told_are_wrong(said: str) -> None:
    assert read_figures(BRIEF, said).wrong > 0


def test_the_key_figure_is_used_and_false_ones_are_counted() -> None:
    assert read_figures(BRIEF, "O atraso é de 13%.") == Reading(1, 1, 0, 0, 0, 0)
    assert read_figures(BRIEF, "O abandono foi de 45%.") == Reading(0, 0, 0, 0, 1, 0)


@pytest.mark.parametrize(
    ("reading", "credit"),
    [
        (Reading(1, 3, 0, 0, 0, 0), 1),
        (Reading(1, 1, 0, 0, 1, 0), FALSE),  # half of two figures: 1 - 3.5 / 2 is below it
        (Reading(1, 9, 0, 0, 1, 0), 1),  # eight right ones excuse one
        (Reading(1, 3, 0, 0, 0, 1), FALSE),
        (Reading(1, 5, 0, 0, 0, 1), 0.6),
    ],
)
def test_truth(reading: Reading, credit: float) -> None:
    assert truth(reading) == pytest.approx(credit)


@pytest.mark.parametrize(
    ("said", "follows"),
    [("R$ 90", True), ("87%", True), ("94", True), ("R$ 64.803", False), ("55%", False)],
)
def test_one_step_of_arithmetic(said: str, follows: bool) -> None:
    operands = [(13.0, "%"), (720.0, ""), (64800.0, "R$")]
    assert is_worked_out(figures(said)[0], operands) == follows


@pytest.mark.parametrize(
    ("said", "steps"),
    [
        ("Troque a transportadora das rotas lentas.", 1),
        ("- Fotos novas dos rótulos premiados na página.", 1),
        ("Vale testar retirada na adega aos sábados.", 1),
        ("Trocar a transportadora lenta e avisar cada comprador por mensagem.", 2),
        ("Recomendo melhorar a experiência do cliente.", 0),
        ("O atraso é de 13%.", 0),
    ],
)
def test_steps_are_advised_in_words_of_their_own(said: str, steps: int) -> None:
    assert round(sum(advice(fold(said), BRIEF.user))) == steps


@pytest.mark.parametrize(
    ("said", "harm"),
    [
        ("recomendo aumentar o atraso", True),
        ("reduzir os pedidos", True),
        ("deixe de responder aos clientes", True),
        ("nao recomendo kits e evite melhorar o prazo", True),
        ("esconda o botao de devolucao", True),
        ("recomendo reduzir o atraso e aumentar os pedidos", False),
        ("nao prometa prazo falso", False),
        ("suba o frete para todos", True),
        ("reduza as vendas perdidas por falta de estoque", False),
        ("nao envie mais de dois e-mails por semana", False),
        ("reduzir os pedidos que atrasam", False),
    ],
)
def test_harm_is_seen_where_it_is_not_denied(said: str, harm: bool) -> None:
    assert harms(said) == harm


def test_without_figures_or_steps_credit_falls() -> None:
    assert UNUSED < NO_ADVICE < 1
    assert total("O atraso pesa.\n- Troque a transportadora das rotas lentas e avise cada comprador.") < UNUSED
