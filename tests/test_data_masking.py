"""Personal data leaves the text; what only looks like it stays."""

from collections import Counter

import pytest
from data.masking import is_cnpj, is_cpf, luhn, mask
from hypothesis import given
from hypothesis import strategies as st

MASKED = [
    ("meu e-mail é maria.silva+1@exemplo.com.br, obrigada", "meu e-mail é [EMAIL], obrigada", {"email": 1}),
    ("CPF 529.982.247-25", "CPF [CPF]", {"cpf": 1}),
    ("meu cpf: 12345678901 ok", "meu cpf: [CPF] ok", {"cpf": 1}),
    ("nota em nome de 52998224725", "nota em nome de [CPF]", {"cpf": 1}),
    ("CNPJ 11.222.333/0001-81", "CNPJ [CNPJ]", {"cnpj": 1}),
    ("empresa 11222333000181", "empresa [CNPJ]", {"cnpj": 1}),
    ("ligue (11) 98765-4321 hoje", "ligue [PHONE] hoje", {"phone": 1}),
    ("fone 11987654321", "fone [PHONE]", {"phone": 1}),
    ("+55 21 3456-7890", "[PHONE]", {"phone": 1}),
    ("meu pedido 12345678 sumiu", "meu pedido [ORDER] sumiu", {"order": 1}),
    ("Pedido nº 02-679454637", "Pedido nº [ORDER]", {"order": 1}),
    ("o número do pedido: 02-6502 47333", "o número do pedido: [ORDER]", {"order": 1}),
    ("rastreio PN779108646BR", "rastreio [ORDER]", {"order": 1}),
    ("id a4591c265e18cb1dcee52889e2d8acc3.", "id [ORDER].", {"order": 1}),
    ("cartão 4111 1111 1111 1111 recusado", "cartão [CARD] recusado", {"card": 1}),
    ("a@b.com e c@d.org", "[EMAIL] e [EMAIL]", {"email": 2}),
]
UNTOUCHED = [
    "chegou em 12/03/2018, prazo 15.03.2018",
    "paguei R$ 1.234,56 em 10 parcelas de 123,45",
    "o modelo 43UJ6525 é bom",
    "cartão 4111 1111 1111 1112 não existe",
    "Nota 5/5. Comprei 2 unidades de 500 ml",
    "fiz o pedido em 2018 e nada",
    "receita R$ 87.013; pedidos 592; atraso 22,8%",
]


@pytest.mark.parametrize(("text", "expected", "counts"), MASKED)
def test_personal_data_is_masked_and_counted(text: str, expected: str, counts: dict[str, int]) -> None:
    assert mask(text) == (expected, Counter(counts))


@pytest.mark.parametrize("text", UNTOUCHED)
def test_other_numbers_stay(text: str) -> None:
    assert mask(text) == (text, Counter())


def test_check_digits_are_checked() -> None:
    assert is_cpf("52998224725") and not is_cpf("52998224724") and not is_cpf("11111111111")
    assert is_cnpj("11222333000181") and not is_cnpj("11222333000180")
    assert luhn("79927398713") and not luhn("79927398710")  # the worked example of ISO/IEC 7812-1


@given(st.text(max_size=200))
def test_masking_twice_is_masking_once(text: str) -> None:
    once, _ = mask(text)
    assert mask(once)[0] == once


@given(st.text(alphabet="abc çã.,!", max_size=40), st.integers(0, 10**9 - 1))
def test_any_written_cpf_disappears(around: str, number: int) -> None:
    digits = f"{number:09d}"
    cpf = f"{digits[:3]}.{digits[3:6]}.{digits[6:]}-00"
    assert cpf not in mask(f"{around} {cpf} {around}")[0]
