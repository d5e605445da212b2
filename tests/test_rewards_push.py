"""The reward of pushes: what each part counts, in briefs of shops that the generator does not know."""

import pytest
from rewards_examples import Prompt

from rewards import load_reward_set
from rewards.push import (
    FALSE,
    PLAIN,
    UNCALLED,
    UNTOLD,
    WITHOUT_PRODUCT,
    is_one,
    lively,
    names_product,
    push_inventions,
    tells_offer,
)
from rewards.texts import numbers, offers
from rewards.texts.slips import CREDIT, neatness, slips


def brief(product: str, offer: str, *terms: str) -> Prompt:
    return Prompt(
        "push", f"Push para {product}. {offer}", None, {"product": product, "terms": list(terms or (product,))}
    )


FONE = brief("fone de ouvido Bluetooth", "De R$ 199 por R$ 149 até 12 de outubro.", "fone")
RACAO = brief("ração premium para gatos", "Cupom MIAU10: 10% de desconto. Não prometa frete grátis.", "ração")
GOOD = "Seu treino com trilha sonora: fone Bluetooth por R$ 149 só até 12/10 🎧"


def total(prompt: Prompt, answer: str) -> float:
    return load_reward_set("grounded").score(prompt, answer).total


def test_a_good_push_earns_all() -> None:
    assert total(FONE, GOOD) == pytest.approx(1)
    assert total(RACAO, "Miau! A ração premium do seu gato sai com 10% OFF no cupom MIAU10 🐱") == pytest.approx(1)


@pytest.mark.parametrize(
    ("answer", "most"),
    [
        (GOOD.replace("149", "129"), FALSE),
        (GOOD.replace("12/10", "15/10"), FALSE),
        (GOOD.replace("🎧", "com frete grátis 🎧"), FALSE),
        (GOOD.replace("fone Bluetooth", "teclado mecânico"), WITHOUT_PRODUCT),
        ("Seu treino merece trilha sonora: conheça o fone de ouvido Bluetooth 🎧", UNTOLD),
        (f"Opção 1: {GOOD}\nOpção 2: {GOOD.replace('treino', 'passeio')}", 0.35),
        (f"{GOOD}\n{GOOD}", 0.35),
        (f"{GOOD} Leve o som com você: fone de ouvido por R$ 149 até 12/10!", 0.35),  # two pushes, nothing between them
        (f"{GOOD}! = Vem ver o teclado novo.", 0),
        (f"{GOOD}! ou Vem ver o teclado novo.", 0),
        (f"{GOOD}! / vem ver o teclado novo.", 0),
        (f"Esta notificação é sobre um produto: {GOOD}", 0.35**2),
        (f"Prezado cliente, {GOOD} Atenciosamente, a loja.", 0.6),
        (f"{GOOD} Desconsidere.", 0),
        (f"{GOOD} Evite o fone.", 0),
        (f"{GOOD} O a de para cliente o na.", 0.3),
        (f"{GOOD} Sol rua mesa casa festa.", 0.8),
        (GOOD.upper(), 0.75),
        ("Your new headphones are here: Bluetooth for R$ 149, only until 12/10!", 0.3),
        ("até 149 trilha R$ fone só seu com Bluetooth 12/10 por sonora: treino", 0.3),
    ],
)
def test_what_a_bad_push_has_at_most(answer: str, most: float) -> None:
    assert total(FONE, answer) <= most + 1e-9


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        ("fone novo", 1),
        ("FONES novos", 1),
        ("o seu Bluetooth", 1),
        ("o seu microfone", 0),
        ("fone de parede", 0),
        ("caixa Bluetooth nova", 0),
        ("tudo para ouvido e coração", 0.5),
    ],
)
def test_a_product_is_named_by_its_first_word_or_a_name_of_its_own(answer: str, named: float) -> None:
    assert names_product(FONE, answer) == named


def test_no_product_is_never_named() -> None:
    assert names_product(Prompt("push", "Push"), "qualquer texto") == 0


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (GOOD, 1),
        ("Fone por R$ 149", 1 / 2 / 0.75),  # the old price may be left out, and the time counts half: 1 of 2
        ("De R$ 199 por R$ 149", 1),
        ("Fone de R$ 199", 1 / 2.5 / 0.75),
        ("Fone novo", 0),
    ],
)
def test_what_is_offered_is_told(answer: str, told: float) -> None:
    assert tells_offer(FONE, answer) == pytest.approx(told)


@pytest.mark.parametrize(
    ("prompt", "answer", "false"),
    [
        (FONE, GOOD, 0),
        (FONE, "R$ 50 a menos no fone", 0),  # 199 - 149
        (FONE, "Economize 25% no fone", 0),  # 50 of 199
        (FONE, "De R$ 149 por R$ 199", 1),
        (FONE, "fone com brinde", 1),
        (FONE, "Use o cupom FONE10", 2),
        (FONE, "Leve uma panela e um fone", 1),
        (FONE, "Confira panela e fone por R$ 149", 1),
        (FONE, "Para a praia e o fone por R$ 149", 0),
        (RACAO, "ração com MIAU10 e frete grátis", 1),
        (RACAO, "ração por R$ 10", 1),
        (brief("lâmpada 12V", "Preço R$ 30."), "Lâmpada 12V por 30 reais", 0),
        (brief("tinta 500 ml", "Leva 1 minuto."), "Em 1 min: tinta 500ml", 0),
        (brief("tênis", "20% de desconto."), "Tênis com 20% OFF do primeiro ao último dia de uso", 0),
        (brief("tênis", "51% de desconto."), "Tênis com mais de 50% OFF", 0),
        (brief("tênis", "51% de desconto."), "Tênis com mais de 60% OFF", 1),
        (brief("tênis", "51% de desconto."), "Tênis pela metade do preço", 0),
        (brief("bola", "R$ 2.500."), "Bola por R$ 2,5 mil", 0),
        (brief("caixa de brindes", "Frete grátis."), "Caixa com frete grátis e um brinde", 1),
        (brief("tênis", "20% de desconto."), "Últimas unidades do tênis com 20% OFF", 1),
    ],
)
def test_what_is_invented(prompt: Prompt, answer: str, false: int) -> None:
    assert (push_inventions(prompt, answer) > 0) == (false > 0)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("frete grátis hoje", {"frete"}),
        ("a entrega sai de graça", {"frete"}),
        ("ganhe um brinde", {"brinde"}),
        ("um som sem fio", set()),
    ],
)
def test_kinds_of_offers(text: str, kinds: set[str]) -> None:
    assert kinds <= offers.kinds(text) and bool(kinds) == bool(offers.kinds(text))


@pytest.mark.parametrize(
    "granted",
    ["A entrega fica grátis hoje.", "O frete hoje é grátis.", "Frete por conta da loja.", "Não cobramos frete."],
)
def test_free_shipping_is_granted_in_many_words(granted: str) -> None:
    assert push_inventions(brief("fone", granted), "Fone novo com frete grátis. Aproveite!") == 0
    assert push_inventions(brief("fone", "Novo."), "Fone novo com frete grátis. Aproveite!") > 0


@pytest.mark.parametrize(
    ("written", "same"),
    [("12/10", "12 de outubro"), ("R$ 149", "149 reais"), ("20%", "20 por cento")],
)
def test_a_number_may_be_written_otherwise(written: str, same: str) -> None:
    one, other = numbers.told(written), numbers.told(same)
    assert numbers.unknown(one, other) == numbers.unknown(other, one) == []
    assert not numbers.other_dates(one, other)


def test_one_push_in_lively_words() -> None:
    assert (is_one(FONE, GOOD), lively(FONE, GOOD)) == (1, 1)
    assert lively(FONE, "Aproveite: fone com desconto hoje!") == PLAIN
    assert lively(FONE, "Fone com desconto.") == pytest.approx(PLAIN * UNCALLED)
    assert lively(FONE, "Compre fone com desconto agora, aproveite, venha, confira, garanta") == 0.2


@pytest.mark.parametrize(
    ("offer", "answer"),
    [
        ("R$ 149. Frete grátis.", "Seu treino pede trilha sonora! 🎧 só R$ 149 no fone de ouvido, com frete grátis."),
        ("20% OFF. Frete grátis.", "Seu treino pede: fone de ouvido com 20% OFF 🎧 + Frete grátis. Garanta o seu!"),
        ("Cupom TREINO20: 20%.", "Seu treino pede trilha: fone de ouvido com 20% OFF! 🎧 use TREINO20"),
        (
            "20% de desconto e 20% de cashback.",
            "Seu treino: fone de ouvido com 20% OFF e mais 20% de cashback. Garanta!",
        ),
        (
            "R$ 99. Frete grátis acima de R$ 99.",
            "Seu treino: fone de ouvido por R$ 99, e acima de R$ 99 o frete é grátis.",
        ),
    ],
)
def test_one_push_is_no_two(offer: str, answer: str) -> None:
    asked = brief("fone de ouvido", offer, "fone")
    assert is_one(asked, answer) == 1 and total(asked, answer) > 0.5


def test_without_a_known_product_offers_are_the_briefs_all_the_same() -> None:
    unknown = Prompt("push", "Push para fone. 20% de desconto.", None, {})
    assert total(unknown, "Seu treino pede fone: 20% OFF hoje na loja!") > 0.8
    assert total(unknown, "Seu treino pede fone: 87% OFF hoje na loja!") <= FALSE


def test_a_cart_that_was_forgotten_takes_nothing_back() -> None:
    cart = brief("fone", "Ficou no carrinho.")
    assert total(cart, "Você esqueceu o fone no carrinho! Que tal terminar a compra e ouvir seu samba? 🎧") > 0.8


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (GOOD, 0),
        (GOOD.lower(), 0),  # some shops write so
        ("Chegou o fone por R$ 149. R$ 149 só hoje!", 1),
        ("Chegou o fone! Os casa é bonito.", 1),
        ("Chegou o fone! vem ver.", 1),
        ("Aproveite já! Chegou o fone por R$ 149. Compre agora!", 1),
        ("Fone de ouvido Bluetooth. Vem ver!", len(CREDIT) - 1),
        ("Você não se vê de fone.", 0),  # alone it may be none
        ("Você não se vê de fone. vem ver!", 2),
    ],
)
def test_slips_are_counted(answer: str, found: int) -> None:
    assert slips(FONE, answer) == found
    assert neatness(FONE, answer) == CREDIT[min(found, len(CREDIT) - 1)]


def test_what_is_not_used_any_more_takes_nothing_back() -> None:
    assert total(FONE, f"{GOOD} Não use mais desculpas!") > 0.8
    assert total(FONE, f"{GOOD} Não use mais isso.") == 0
