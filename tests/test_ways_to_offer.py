"""How people in shops write a notification: turns that no list of phrases has, and what only looks like them."""

from collections.abc import Callable

import pytest

from rewards import load_reward_set
from tucano.prompts import Prompt
from tucano.truth import truth

Judge = Callable[[Prompt, str], float]


@pytest.fixture(params=["grounded", "truth"])
def judge(request: pytest.FixtureRequest) -> Judge:
    if request.param == "truth":
        return lambda prompt, text: truth(prompt, text) or 0.0
    rewards = load_reward_set("grounded")
    return lambda prompt, text: rewards.score(prompt, text).total


def brief(product: str, offer: str, *figures: float) -> Prompt:
    reference = {"product": product, "terms": product.split(), "figures": list(figures)}
    return Prompt("p", "push", f"Faça um push de {product}. {offer}", "t", "synthetic", "CC0-1.0", None, reference)


FALLEN = brief("cadeira", "Desconto: 33%.", 33)
PRICED = brief("ventilador", "Preço: R$ 148.", 148)
CODED = brief("mochila", "Cupom: VOLTEI.")
NEARLY = brief("furadeira", "Desconto: 47%.", 47)
FREE = brief("martelo", "Frete grátis.")
NOTHING = brief("panela", "Sem oferta.")


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        (FALLEN, "As costas pediram e o preço ouviu: a cadeira baixou 33%. Venha experimentar!"),
        (FALLEN, "Sente com calma: a cadeira sai 33% mais em conta para quem já é da casa."),
        (FALLEN, "Trabalhar em pé cansa. Leve a cadeira com 33% de abatimento e descanse."),
        (FALLEN, "A sua cadeira velha range? Troque de cadeira e pague 33% menos."),
        (PRICED, "Calor de rachar lá fora, brisa aqui dentro: ventilador a R$ 148."),
        (PRICED, "O ventilador fica em R$ 148, e a sua noite fica mais fresca."),
        (CODED, "A mochila é a mesma que você olhou, e o código VOLTEI vale para ela. Passe aqui!"),
        (CODED, "É esse o cupom da sua mochila: VOLTEI. Digite no carrinho e boa viagem!"),
        (NEARLY, "A parede espera e o preço não: furadeira quase pela metade, com 47% de desconto!"),
        (FREE, "Prego não falta, falta martelo. A entrega sai de graça, é só pedir."),
        (NOTHING, "De colher em colher a panela esvazia. Que tal uma panela nova para o domingo?"),
        (NOTHING, "A gente sabe: panela boa é panela cheia. Venha ver as que chegaram!"),
    ],
)
def test_it_may_be_told_in_other_turns(judge: Judge, prompt: Prompt, text: str) -> None:
    assert judge(prompt, text) >= 0.85


@pytest.mark.parametrize(
    ("prompt", "text", "most"),
    [
        (FALLEN, "As costas pediram e o preço ouviu: a cadeira baixou 53%. Venha experimentar!", 0.3),
        (FALLEN, "A cadeira fica pela metade para quem já é da casa. Venha ver!", 0.3),
        (FALLEN, "Quase pela metade: a cadeira com 33% de desconto. Venha ver!", 0.3),
        (PRICED, "Calor de rachar lá fora, brisa aqui dentro: ventilador a R$ 98.", 0.3),
        (CODED, "É esse o cupom da sua mochila: CLUBE. Digite no carrinho e boa viagem!", 0.3),
        (FREE, "Prego não falta, falta martelo. O segundo martelo sai de graça, é só pedir.", 0.3),
        (FALLEN, "Já com 33% OFF, desconto, só hoje, cadeira.", 0.35),
        (NOTHING, "Pede de panela em a gente que cheia. Colher boa domingo a.", 0.3),
    ],
)
def test_what_only_looks_like_it_earns_little(judge: Judge, prompt: Prompt, text: str, most: float) -> None:
    assert judge(prompt, text) <= most


LIGHTER = brief("parafusadeira", "Desconto: 28%.", 28)
FOIL = brief("película", "Preço: R$ 274.", 274)
DOLL = brief("boneca", "Sem oferta.")


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        (LIGHTER, "Parafusadeira 28% mais leve. Leve para a sua oficina!"),
        (LIGHTER, "O peso da parafusadeira caiu 28%. Aproveite!"),
        (LIGHTER, "Economize 28% na conta de luz com a parafusadeira. Aproveite!"),
        (LIGHTER, "Caiu 28% o estoque da parafusadeira. Corra!"),
        (FOIL, "Película hoje R$ 274 mais em conta. Aproveite!"),
        (FOIL, "A película caiu R$ 274 hoje. Aproveite!"),
        (FOIL, "Compre a película e ganhe, R$ 274 de volta!"),
        (FOIL, "R$ 274 em películas para quem comprar hoje!"),
        (FOIL, "Troque a sua película por R$ 274 na loja hoje."),
        (FALLEN, "Cadeira quase pela metade do tamanho. Leve a sua!"),
    ],
)
def test_a_figure_of_something_else_is_no_offer(judge: Judge, prompt: Prompt, text: str) -> None:
    assert judge(prompt, text) <= 0.3


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        (DOLL, "Para brincar o dia inteiro, boneca. Venha ver na loja!"),
        (CODED, "No sol ou na chuva, mochila! Use o cupom VOLTEI na loja."),
        (FREE, "O martelo sumiu de novo? O outro chega com frete grátis!"),
        (FREE, "Nesta segunda, martelo com entrega gratuita. Bora levar?"),
    ],
)
def test_a_comma_and_a_second_one_are_no_fault(judge: Judge, prompt: Prompt, text: str) -> None:
    assert judge(prompt, text) >= 0.8
