"""What no answer is made of: text of another kind, which both judges know by their corpora, and figures strung together."""

import pytest

from rewards.parsing.fluency import strays
from tucano.truth.fluency import faults
from tucano.truth.wording.junk import is_astray, is_junk

BRIEF = "Loja de brinquedos: atraso de 19,3% e ticket médio de R$ 66."
OFFER = "Escreva um push de capacete com o cupom SURPRESA."
POPCORN = "Garantir a pipoca térmica, a planta e a joelheira: tire o silicone da recompra."
PIPELINE = "Cupom SURPRESA. Sinal de alerta na triagem: revisão da devolução do capacete."


@pytest.mark.parametrize(("text", "brief", "part"), [(POPCORN, BRIEF, "insights"), (PIPELINE, OFFER, "push")])
def test_subjects_of_the_other_kind_are_seen_by_both(text: str, brief: str, part: str) -> None:
    assert strays(text, brief, f"{part}.txt")
    assert is_astray(text, brief, "shop" if part == "insights" else part)


def test_one_such_word_and_the_briefs_own_are_at_home() -> None:
    advice = "Oferecer pipoca de brinde a quem comprar de novo reduz a devolução e traz o cliente de volta à loja."
    assert not strays(advice, BRIEF, "insights.txt") and not is_astray(advice, BRIEF, "shop")
    asked = f"{BRIEF} Itens: pipoca térmica, planta, joelheira, silicone."
    assert not is_astray(POPCORN, asked, "shop")
    assert not strays("Pipoca térmica, planta, joelheira e silicone vendem bem.", asked, "insights.txt")


def test_what_each_kind_says_stays_what_it_is() -> None:
    push = "A furadeira que fura até parede teimosa está com o cupom SURPRESA. Aproveite!"
    assert not strays(push, OFFER, "push.txt") and not is_astray(push, OFFER, "push")
    insight = "O atraso de 19,3% pede uma segunda transportadora; teste por 30 dias e meça a devolução."
    assert not strays(insight, BRIEF, "insights.txt") and not is_astray(insight, BRIEF, "shop")


@pytest.mark.parametrize(
    ("text", "tangled"),
    [
        ("11,1%; viajar 2: cancelamento 11,1%; viajar e deixar (clientes novos): o mesmo aqui.", True),
        ("Boa vai que vale 3,8%; juntar venham os quinze anos: 1,6%; pedidos ouro.", True),
        ("43,94; e 43,94; recompra 28,2%; veio dos acessórios, cuja elevar o ticket médio.", True),
        ("Taxa de recompra: 17%; referência do setor: 21%; distância que dá para fechar em um ano.", False),
        ("Quadro: recompra 8,0%; frete médio R$ 36,40; nota 3,1.", False),
        ("Medir: % que volta a comprar em cada grupo; atraso em 14%; nota em 3,4.", False),
        (
            "Semana 2: para 60 dias, sugestão; para 90, frete por R$ 9,90; para 120, frete grátis acima de R$ 150.",
            False,
        ),
    ],
)
def test_figures_strung_together_are_no_list(text: str, tangled: bool) -> None:
    assert is_junk(text) == tangled


def test_a_bracket_closes_what_was_opened() -> None:
    assert faults("Sudeste): a conversão de 3,8% pede ação em julho (região.") == 1
    assert faults("O frete (R$ 36,40) pesa (muito).") == 0
