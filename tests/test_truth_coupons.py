"""What a coupon grants, and which words make a text one about a notification."""

import pytest
from rewards_examples import Prompt

from tucano.truth import truth

COUPON = Prompt(
    "push", "Crie um push para: mochila. Cupom: VOLTEI.", None, {"product": "mochila", "terms": ["mochila"]}
)
PEN = Prompt(
    "push",
    "Crie um push para: marca-texto. Preço: R$ 19.",
    None,
    {"product": "marca-texto", "terms": ["marca-texto"], "figures": [19.0]},
)


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        (COUPON, "Sua mochila nova está te esperando! Use o cupom de desconto VOLTEI"),
        (COUPON, "Sua mochila te espera: com o cupom VOLTEI ela sai mais barata!"),
        (COUPON, "Com o cupom VOLTEI, a sua mochila sai com desconto!"),
        (COUPON, "Volta às aulas sem peso: use o cupom: VOLTEI e leve a sua mochila."),
        (PEN, "Estude com mais cor: marca-texto por R$ 19. Leve já!"),
    ],
)
def test_what_a_coupon_grants_and_a_name_are_no_fault(prompt: Prompt, text: str) -> None:
    assert (truth(prompt, text) or 0.0) >= 0.85


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        (COUPON, "Sua mochila com 30% de desconto no cupom VOLTEI"),
        (COUPON, "Sua mochila grátis com o cupom VOLTEI"),
        (COUPON, "Sua mochila nova sai com desconto. Aproveite!"),
        (COUPON, "Sua mochila pela metade do preço com o cupom VOLTEI"),
        (COUPON, "Produto: mochila. Cupom: VOLTEI."),
        (PEN, "Texto: marca-texto por R$ 19. Leve já!"),
        (PEN, "Um texto curto para marca-texto por R$ 19. Leve já!"),
        (PEN, "Leve o marca-texto por R$ 19 e use o cupom: VOLTEI."),
    ],
)
def test_a_coupon_grants_nothing_more_and_a_brief_is_no_push(prompt: Prompt, text: str) -> None:
    assert (truth(prompt, text) or 0.0) <= 0.15
