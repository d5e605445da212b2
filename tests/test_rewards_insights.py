"""The reward of insights: which figures are right, how much is enough, and what a text loses."""

import pytest
from rewards_examples import Prompt

from rewards import load_reward_set
from rewards.insights import (
    FALSE,
    FEWEST_WORDS,
    MOST_WORDS,
    THIN,
    UNUSED,
    enough_words,
    harms,
    told_anywhere,
    truth,
)
from rewards.parsing.claims import insight_figures
from rewards.parsing.sums import is_worked_out
from rewards.parsing.text import figures

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
    return load_reward_set("grounded").score(BRIEF, answer).total


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
    ("said", "false"),
    [
        ("O atraso é de 13%.", False),
        ("São 720 pedidos.", False),
        ("Dos pedidos, 94 chegaram tarde.", False),  # 13 % of 720
        ("Cada pedido deixa R$ 90.", False),  # 64.800 / 720
        ("Chegam no prazo 87%.", False),  # 100 - 13
        ("A meta é chegar a 9% de atraso.", False),
        ("Ofereça um cupom de R$ 20 a partir de R$ 150.", False),
        ("Teste por 30 dias.", False),
        ("Em três meses, o atraso de 7%.", False),
        ("A receita é de R$ 64,8 mil.", False),
        ("A padaria rende 37,4% da margem.", True),
        ("Perdemos 333 clientes no mês.", True),
        ("O abandono foi de 45%.", True),
        ("O ticket ficou em R$ 777.", True),
        ("O atraso foi de 31%.", True),
        ("A recompra é de 13%.", True),
        ("A recompra caiu.", True),  # the brief tells no movement
        ("O atraso disparou no mês.", True),
    ],
)
def test_what_a_figure_is(said: str, false: bool) -> None:
    assert (insight_figures(BRIEF, said)[1] > 0) == false


@pytest.mark.parametrize(
    ("said", "share"),
    [
        ("O atraso é de 13%.", 1),
        ("Treze por cento chegam tarde.", 1),  # in other words than the brief's
        ("Um em cada oito chega tarde (13%).", 1),
        ("A recompra é de 13%.", 0),  # at another label
        ("Chegam tarde R$ 13.", 0),
        ("Chegam tarde muitos.", 0),
    ],
)
def test_a_key_figure_is_told_without_its_label_but_at_no_other(said: str, share: float) -> None:
    assert told_anywhere(BRIEF, said) == share


@pytest.mark.parametrize(
    ("right", "tied", "untied", "credit"),
    [
        (3, 0, 0, 1),
        (1, 0, 1, FALSE),  # half of two figures
        (5, 0, 1, FALSE),  # too few to excuse one
        (6, 0, 1, 1),  # six right ones do
        (6, 1, 0, 1 - 4.5 / 2 / 7),  # half of one that stands at a label
        (20, 0, 6, 1 - 4.5 * (6 - 20 / 6) / 26),
    ],
)
def test_truth(right: int, tied: int, untied: int, credit: float) -> None:
    assert truth(right, tied, untied) == pytest.approx(credit)


MANY_FACTS = [
    *FACTS,
    {"label": "ticket médio", "value": 90.0, "unit": "R$"},
    {"label": "nota média", "value": 4.1, "unit": ""},
    {"label": "conversão", "value": 2.4, "unit": "%"},
]


@pytest.mark.parametrize("invented", ["333 clientes", "333 clientes, 1.777 visitas e 291 seguidores"])
def test_a_false_figure_never_pays_where_none_that_was_asked_about_is_told(invented: str) -> None:
    brief = Prompt(
        "insights",
        BRIEF.user.replace("O que", "ticket médio R$ 90; nota média 4,1; conversão 2,4%. O que"),
        None,
        {**BRIEF.reference, "facts": MANY_FACTS},
    )
    beside = (
        "A loja fez R$ 64.800 em 720 pedidos, com ticket médio de R$ 90, nota média de 4,1 e conversão de 2,4%; só 8% de"
        " recompra.\n- Troque a transportadora das rotas que mais demoram e avise a nova data por mensagem.\n- Separe o"
        " estoque dos rótulos campeões na véspera de cada entrega."
    )
    rewards = load_reward_set("grounded")
    before, after = (rewards.score(brief, text).total for text in (beside, f"{beside}\nPerdemos {invented}."))
    assert 0 < after <= before


def test_a_longer_brief_wants_more_words_of_its_own() -> None:
    own = " ".join(chr(97 + place % 26) * 3 + chr(97 + place // 26) * 2 for place in range(MOST_WORDS))
    short = "um brief curto"
    long = " ".join(f"{chr(97 + place % 26)}{chr(97 + place // 26)}xyz" for place in range(60))
    few = " ".join(own.split()[:FEWEST_WORDS])
    assert enough_words(few, short) == 1
    assert enough_words(few, long) == pytest.approx(THIN + (1 - THIN) * FEWEST_WORDS / MOST_WORDS)
    assert enough_words(own, long) == 1
    assert enough_words(long, long) == THIN


@pytest.mark.parametrize(
    ("said", "follows"),
    [("R$ 90", True), ("94", True), ("87%", True), ("R$ 65.803", False), ("55%", False)],
)
def test_what_follows_by_arithmetic(said: str, follows: bool) -> None:
    operands = [(13.0, "%"), (720.0, ""), (64800.0, "R$")]
    assert is_worked_out(figures(said)[0], operands) == follows


@pytest.mark.parametrize(
    ("said", "harm"),
    [
        ("recomendo aumentar o atraso", True),
        ("reduzir os pedidos", True),
        ("deixe de responder aos clientes", True),
        ("pare de enviar ofertas", True),
        ("nao recomendo kits e evite melhorar o prazo", True),
        ("esconda o botao de devolucao", True),
        ("recomendo reduzir o atraso e aumentar os pedidos", False),
        ("nao prometa prazo falso", False),
        ("suba o frete para todos", True),
        ("reduza as vendas perdidas por falta de estoque", False),
        ("nao envie mais de dois e-mails por semana", False),
        ("nao recomendo kits agora", False),
        ("reduzir os pedidos que atrasam", False),
    ],
)
def test_harm_is_seen_where_it_is_not_denied(said: str, harm: bool) -> None:
    assert harms(said) == harm


def test_without_figures_or_steps_credit_falls() -> None:
    assert total("O atraso pesa.\n- Troque a transportadora das rotas lentas e avise cada comprador.") < UNUSED


SHOP = [
    {"label": "pedidos", "value": 1480.0, "unit": ""},
    {"label": "devolução", "value": 6.9, "unit": "%"},
    {"label": "custo da troca", "value": 68.0, "unit": "R$"},
    {"label": "NPS", "value": 41.0, "unit": ""},
    {"label": "NPS anterior", "value": 58.0, "unit": ""},
    {"label": "caixas por dia", "value": 12.0, "unit": ""},
    {"label": "prazo", "value": 15.0, "unit": ""},
]
SHOP_BRIEF = Prompt(
    "insights",
    "Junho: 1.480 pedidos, devolução 6,9% (era 4,1%), custo da troca R$ 68. NPS 41, NPS anterior 58. Saem 12 caixas por"
    " dia; prazo 15 dias.",
    None,
    {"figures": [fact["value"] for fact in SHOP], "key_figures": [6.9], "facts": SHOP, "key": ["devolução"]},
)


@pytest.mark.parametrize(
    ("said", "false"),
    [
        ("São 102 devoluções, ou R$ 6,9 mil no mês.", 0),  # 6,9% of 1.480, x R$ 68
        ("As trocas custam R$ 6.944 no mês.", 0),
        ("As trocas custam R$ 9.944 no mês.", 1),
        ("Até chegar a carga saem 180 caixas.", 0),  # 12 x 15
        ("Até chegar a carga saem 230 caixas.", 1),
        ("A loja voltou de NPS 58 para 41.", 0),
        ("O NPS foi de 58 para 41.", 0),
        ("O NPS foi de 41 para 58.", 1),
        ("O NPS caiu.", 0),
        ("O NPS subiu.", 1),
        ("A devolução subiu de 4,1% para 6,9%.", 0),
        ("A devolução subiu 2,8 p.p. no mês.", 0),
        ("A devolução caiu.", 1),
        ("A devolução foi de 6,9% para 4,1%.", 1),
        ("A devolução é de 4,1%.", 1),
        ("Queremos levar a devolução de 6,9% para 4,1%.", 0),
    ],
)
def test_two_steps_and_what_was_are_read(said: str, false: int) -> None:
    assert min(1, insight_figures(SHOP_BRIEF, said).false) == false
