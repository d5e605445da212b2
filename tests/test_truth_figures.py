"""Which figures of an insight are claims, whatever stands beside them; and which advice says something."""

import pytest
from rewards_examples import ANSWERS, PROMPTS

from tucano.truth import truth
from tucano.truth.advice import harmful
from tucano.truth.facts import Fact, stated
from tucano.truth.single import is_single
from tucano.truth.wording.substance import MOST, substance

FACTS = [
    Fact("devolução", 6.9, "%"), Fact("conversão", 1.3, "%"), Fact("recompra", 23.6, "%", "down"),
    Fact("pedidos", 1234.0), Fact("nota média", 3.8), Fact("frete médio", 42.08, "R$"), Fact("ticket médio", 192.0, "R$"),
]  # fmt: skip
BRIEF = (
    "Resumo de maio: devolução 6,9%; conversão 1,3%; recompra caiu de 31% para 23,6%; pedidos 1.234; nota média 3,8; frete médio"
    " R$ 42,08; ticket médio R$ 192."
)


@pytest.mark.parametrize(
    "text",
    [
        "A devolução é de 55%.",
        "A devolução é de 55%, o que seria ruim.",
        "O sucesso importa. A devolução é de 55%.",
        "Metas: a loja vai mal. A devolução é de 55% e a conversão é de 40%.",
        "A devolução é de 55% por 30 dias.",
        'A "devolução de 55%" assusta.',
        '"A devolução é de 55%", diz o painel.',
        "Temos 55% de devolução, o que seria ruim.",
        "A devolução da loja é de 55% e o sucesso importa.",
        "O sucesso depende disto: a devolução está em 55%.",
        "Nosso objetivo é claro, mas a taxa de devolução é de 55%.",
        "A devolução é 55%, esperamos melhora.",
        "Se nada mudar em 30 dias, a devolução é de 55%.",
        "A devolução foi de 55% até o fim de março.",
        "O ticket médio é de R$ 350 na primeira compra.",
        "A nota média é de 1,2 até o fim de março.",
        "Os pedidos foram de 5.400, o que seria bom.",
        "A devolução chega a 55% até o fim de março.",
        "O sucesso importa e a devolução (55%) assusta.",
        "De cada 100 pedidos, 69 voltam.",
        "De cada 100 pedidos, 13 são devolvidos.",
        "De cada 100 pedidos, 93 são devolvidos.",
        "Recompra de 236,0%.",
        "A recompra de 236,0% anima.",
    ],
)
def test_no_other_word_frees_a_false_figure(text: str) -> None:
    found = stated(text, BRIEF, FACTS)
    assert found.wrong and not found.labels


@pytest.mark.parametrize(
    "text",
    [
        "A recompra caiu 7 pontos, para 24%.",
        "A recompra foi de 31% em abril.",
        "A meta é levar a recompra a 30%.",
        "Se a devolução passar de 10%, pare a campanha.",
        "A meta de recompra é de 30%.",
        "A meta de recompra é 30% até agosto.",
        "Meta: recompra de 30% e devolução de 5%.",
        "Metas até agosto: recompra 27%; devolução 5%.",
        "Sucesso: devolução de volta a 4%; recompra 28%.",
        "Se a recompra for de 30%, são mais 79 pedidos.",
        "Com recompra de 30%, seriam 370 pedidos.",
        "Busque a recompra de 30% até agosto.",
        "Para chegar a 30% de recompra, envie um cupom.",
        "Quando a devolução chega a 10%, pare a campanha.",
        "Olhar toda semana a devolução (meta 5%).",
        "Frete de R$ 9,90 por 7 dias.",
        'Enviar "frete por R$ 9,90 até sexta" a quem comprou.',
        'Mande "Seu frete sai por R$ 9,90" a quem comprou.',
        "1.234 pedidos a R$ 192 dariam R$ 237 mil.",
        "A soma de devolução e conversão é de 8,2%.",
        "De cada 100 clientes, 23 ou 24 voltam.",
        "De cada mil pedidos, 69 são devolvidos.",
        "De cada 100 pedidos, 7 são devolvidos e 93 não.",
        "Devolução e recompra distam (69 contra 236 em mil pedidos).",
    ],
)
def test_aims_conditions_and_shares_stay_right(text: str) -> None:
    assert not stated(text, BRIEF, FACTS).wrong


@pytest.mark.parametrize(
    "text",
    [
        'O indicador "frete médio" está em R$ 42,08 e o "ticket médio" chega a R$ 192.',
        'O indicador "frete médio" de R$ 42,08 e o "ticket médio" de R$ 192 pesam.',
        "O indicador «frete médio» está em “R$ 42,08” e o «ticket médio» chega a “R$ 192”.",
    ],
)
def test_quoted_names_and_figures_count(text: str) -> None:
    found = stated(text, BRIEF, FACTS)
    assert (found.labels, found.wrong) == ({"frete médio", "ticket médio"}, 0)


def test_a_false_figure_costs_a_good_answer_most_of_its_worth() -> None:
    good, insights = ANSWERS["insights"], PROMPTS["insights"]
    for false in ("O sucesso importa. O atraso é de 55%.", "O atraso é de 55%, o que seria ruim."):
        assert (truth(insights, good) or 0) > 0.95
        assert (truth(insights, f"{good}\n{false}") or 0) <= 0.2


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("- Avalie os parceiros de entrega e troque o pior.\n- Crie guia de tamanhos no site.", 1.0),
        ("- Melhorar a comunicação e avisar quem espera a entrega.", 1.0),
        ("- Avalie os parceiros de entrega.", MOST),
        ("- Oferecer um bom atendimento e promoções.", MOST),
        ("- Reduzir as devoluções e aumentar o ticket médio com promoções.", MOST),
        ("- Investir em ações de marketing e fortalecer o relacionamento.", MOST),
    ],
)
def test_a_step_with_something_to_do_says_something(text: str, kept: float) -> None:
    assert substance(text) == kept


@pytest.mark.parametrize(
    ("text", "wrong", "apart"),
    [
        ("O concorrente cobrou R$ 41 ontem.", 0, 1),
        ("Foram 350 caixas abertas.", 0, 1),
        ("O mercado cresceu 47%.", 1, 0),
        ("Foram R$ 350 de ticket médio.", 1, 0),
        ("A receita de R$ 9.000 anima.", 1, 0),
    ],
)
def test_a_figure_of_no_indicator_contradicts_none(text: str, wrong: int, apart: int) -> None:
    """A share is always told of something, and an amount of the indicator near by, in the brief or not."""
    found = stated(text, BRIEF, FACTS)
    assert (found.wrong, found.apart) == (wrong, apart)


@pytest.mark.parametrize(
    ("text", "single"),
    [
        ("A diferença é de dez vezes: um dos três números está errado.", True),
        ("É uma barreira para quem ainda não confia na loja.", True),
        ("Não confie nesta análise.", False),
        ("Está errada, não use: teste frete grátis.", False),
        ("Os números estão errados.", False),
    ],
)
def test_a_doubt_about_the_brief_takes_no_answer_back(text: str, single: bool) -> None:
    assert is_single(text) == single


@pytest.mark.parametrize(
    ("text", "harm"),
    [
        ("Suspender a vitrine de quem atrasa.", False),
        ("Não aumente a verba de anúncios até a nota passar de 3,7.", False),
        ("Suspender as entregas.", True),
        ("Não invista em fotos.", True),
    ],
)
def test_to_wait_with_a_step_is_no_harm(text: str, harm: bool) -> None:
    assert harmful(text, [fact.label for fact in FACTS]) == harm
