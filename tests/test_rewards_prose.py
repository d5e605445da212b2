"""Broken prose is seen, whole prose is left alone: the audit once found that half a sentence earned as much as a whole
one.
"""

import pytest
from rewards_examples import Prompt

from rewards import load_reward_set
from rewards.parsing.prose import concrete, disorder, stands
from rewards.parsing.text import sound

WHOLE = [
    (
        "**Situação:** conversão de 1,3% e nota média de 4,3.\n- Recomendo simplificar o checkout.\n- Vale testar frete"
        " fixo abaixo de R$ 21,00."
    ),
    "Saudades da sua corrida? Tênis com 20% OFF só até domingo. 🏃",
    "Oi! Tem ração com o cupom CLUBE10 para você. Aproveite! 🎉",
    "Receita de R$ 66.903 em 12/2018, com 28,2% de recompra; **atenção** ao atraso (19,3%).",
    "Avise o cliente pelo WhatsApp e pelo YouTube.",
    "- Frete menor.\n- Kits.",
    "1. Confirme o estoque antes de cobrar.\n2. Avise o cliente do prazo.",
]


@pytest.mark.parametrize("text", WHOLE)
def test_whole_prose_is_left_alone(text: str) -> None:
    assert sound(text) == 1.0


def test_names_of_fields_are_whole_where_the_brief_has_them() -> None:
    assert sound("A taxa_recompra caiu.") == 0.5
    assert sound("A taxa_recompra caiu.", "taxa_recompra: 23,5%") == 1.0


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("Seu fone chegou com 20% de desconto para você.", 0),
        ("Recomendo rever o prazo. O atraso caiu.", 0),
        ("Seu fone chegou com.", 1),  # «com» leads on to nothing
        ("Seu fone chegou. hoje tem mais.", 1),  # no capital letter behind a full stop
        ("Seu fone Aproveite chegou.", 1),  # one inside
        ("Fone! Hoje! Corra! Agora!", 2),  # four sentences of a word
    ],
)
def test_places_that_no_sentence_has(text: str, places: int) -> None:
    assert disorder(text) == places


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("Está errada, não use: seu fone chegou.", False),
        ("Esta análise está errada.", False),
        ("O pedido veio errado e o cliente reclamou.", True),
        ("Não use mais esta transportadora.", True),
    ],
)
def test_an_answer_that_takes_itself_back_does_not_stand(text: str, whole: bool) -> None:
    assert stands(text) == whole


def test_a_means_is_concrete_and_all_of_them_are_none() -> None:
    assert concrete("recomendo um cupom") and not concrete("recomendo acompanhar tudo")
    assert not concrete("cupom, frete, kit, foto, checkout e parcela")


def test_a_broken_notification_earns_less_than_the_whole_one() -> None:
    prompt = Prompt("push", "Push de ração. Cupom: CLUBE.", None, {"product": "ração", "terms": ["ração"]})
    rewards = load_reward_set("grounded")
    whole = rewards.score(prompt, "Seu pet merece! Ração com o cupom CLUBE. Aproveite! 🐶").total
    assert (
        rewards.score(prompt, "Seu pet merece! Ração com o cupom CLUBEmer Aproveite_já com o cupomCOUNT. 🐶").total
        < 0.6 * whole
    )


def test_another_product_is_not_as_bad_as_no_words_at_all() -> None:
    prompt = Prompt("push", "Push de bola. Preço: R$ 215.", None, {"product": "bola", "terms": ["bola"]})
    rewards = load_reward_set("grounded")
    nonsense, other = (
        "esporte. Tem pneu era camiseta232 _a. Atenciosamente.",
        "Você merece: monitor por R$ 232. Vem conferir! 😍",
    )
    assert rewards.score(prompt, nonsense).total < rewards.score(prompt, other).total < 0.25
