"""Text of another kind: both judges know by the parts of their corpora what is told to customers and what to a manager."""

import pytest

from rewards.parsing.fluency import strays
from tucano.truth.wording.junk import is_astray

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
