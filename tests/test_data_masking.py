"""Personal data leaves the text; what only looks like it stays."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from masking_corpus import Labelled, corpora

from benchmarks import masking
from benchmarks.masking import REPEATED, missed_in, recall
from tucano.masking import KINDS, mask
from tucano.masking.check_digits import is_access_key, is_cnpj, is_cpf, luhn
from tucano.masking.prompts import masked_prompt
from tucano.prompts import Prompt

ROOT = Path(__file__).parents[1]

NFE_KEY = "35180311222333000181550010001234561123456788"
NFE_GROUPS = "3518 0311 2223 3300 0181 5500 1000 1234 5611 2345 6788"
"""The access key of an invoice of March 2018; its check digit is summed up apart from the rules, left to right."""

LONG_NAME = "Maria Aparecida dos Santos Oliveira de Albuquerque Cavalcanti"

MASKED = [
    ("meu e-mail é maria.silva+1@exemplo.com.br, obrigada", "meu e-mail é [EMAIL], obrigada"),
    ("ana (at) exemplo (dot) com", "[EMAIL]"),
    ("ana@gmail,com ou bia@hotmail", "[EMAIL] ou [EMAIL]"),
    ("?email=ana%40gmail.com&x=1", "?email=[EMAIL]&x=1"),
    ("ana%2540gmail.com, bia&#64;exemplo.com", "[EMAIL], [EMAIL]"),
    ("ana＠gmail.com", "[EMAIL]"),
    ("meu cpf é 12345601, confiram", "meu cpf é [CPF], confiram"),  # 000.123.456-01, kept as a number
    ("cnpj 394460005887", "cnpj [CNPJ]"),  # 00.394.460/0058-87
    ("CPF nº 99822472, CPF n. 1234567", "CPF nº [CPF], CPF n. [CPF]"),  # 000.998.224-72
    ("pix 550e8400_e29b_41d4_a716_446655440000", "pix [PIX]"),
    ("nota em nome de 52998224725", "nota em nome de [CPF]"),
    ("meucpf52998224700ok", "meucpf[CPF]ok"),
    ("12345678901 é meu cpf", "[CPF] é meu cpf"),
    ("CPF e telefone: 12345678901 e 11987654321", "CPF e telefone: [CPF] e [CPF]"),
    ("５２９.９８２.２４７－２５", "[CPF]"),
    ("5\u200b2\u200b9.982.247\u201125", "[CPF]"),
    ("cpf\u00a05\u03322\u03329\u033282247255 fim", "cpf\u00a0[CPF] fim"),
    ("loja 12.ABC.345/01DE-35", "loja [CNPJ]"),
    ("11.222.333/0001-12.345.678/0001-99", "[CNPJ][CNPJ]"),
    ("o cnpj deles é 12abc34501de36", "o cnpj deles é [CNPJ]"),
    ("meu doc é 12.345.678-X", "meu doc é [RG]"),
    ("me chama no 987654321", "me chama no [PHONE]"),
    ("(11) 987 654 55 (11) 98765-4321", "[PHONE] [PHONE]"),
    ("0xx11 3456-7890", "[PHONE]"),
    (
        "00020126580014br.gov.bcb.pix0136123e4567-e89b-12d3-a456-4266141740005204000053039865802BR5913FULANO DE TAL"
        "6008BRASILIA62070503***63041D3D!",
        "[PIX]!",
    ),
    ("cartão 4111111111111112 não existe", "cartão [CARD] não existe"),
    ("Pedido nº 02-679454637", "Pedido nº [ORDER]"),
    ("12345678 é o número do meu pedido", "[ORDER] é o número do meu pedido"),
    ("id a4591c265e18cb1dcee52889e2d8acc3.", "id [ORDER]."),
    ("AA.123.456.789.BR, LB-123456789-CN", "[ORDER], [ORDER]"),
    ("nota fiscal 000.123.456", "nota fiscal [ORDER]"),
    (f"segue {NFE_KEY} ok", "segue [ORDER] ok"),
    (f"segue {NFE_GROUPS} ok", "segue [ORDER] ok"),
    (f"{NFE_GROUPS.replace(' ', '.')} e {NFE_GROUPS.replace(' ', '-')}", "[ORDER] e [ORDER]"),
    ("pedido 1234 5678 9012, protocolo 2345 6789", "pedido [ORDER], protocolo [ORDER]"),
    (f"chave de acesso: {NFE_GROUPS[:-1]}0", "chave de acesso: [ORDER]"),
    ("cpf (529)982.247-25", "cpf ([CPF]"),
    ("é o 529_982_247_25 ou 529,982,247,25", "é o [CPF] ou [CPF]"),
    ("CPF 398,259,791-90 digitado errado", "CPF [CPF] digitado errado"),
    (f"CPF da compradora {LONG_NAME} 529 982 247 24", f"CPF da compradora {LONG_NAME} [CPF]"),
    (f"telefone do titular {LONG_NAME}: 34567890", f"telefone do titular {LONG_NAME}: [PHONE]"),
    ("4111_1111_1111_1111 ou 4111,1111,1111,1111", "[CARD] ou [CARD]"),
    ("11 98765_4321 ou (11) 98765_4321", "[PHONE] ou [PHONE]"),
    ("esse número: 21987654321, o novo numero = 31987654321", "esse número: [PHONE], o novo numero = [PHONE]"),
    ("ana at hotmail.com", "[EMAIL]"),
    ("ana@@gmail.com ou bia@.hotmail.com", "[EMAIL] ou [EMAIL]"),
    ("ana@gmailcom, ana at uol com, anaarrobagmail.com", "[EMAIL], [EMAIL], [EMAIL]"),
    ("é o ana.silva @ empresa.com.br", "é o [EMAIL]"),
    ("fale comigo: maria @ empresa . com . br", "fale comigo: [EMAIL]"),
]
UNTOUCHED = [
    "chegou em 12/03/2018, prazo 15.03.2018", "paguei R$ 1.234,56 em 10 parcelas de 123,45",
    "receita R$ 87.013; pedidos 592; atraso 22,8%",
    "total de pedidos de DF em 09/2018; GROUP BY pedidos WHERE mes='2018-09'",
    "pedido de 1500 reais, compras acima de 100000", "CEP 01310-100, cep 12945009",
    "EAN 7891234567895 ou 7891000100103", "código 4111111111111111 do produto",
    "2018-2019, 2500-3000 rpm, das 08:00 às 18:00", "siga @loja.oficial e @ana.silva",
    "cartão de memória 128 gb, cartão final 1234", "11111111111 e 12345678901234567890",
    "contrato/2018-10, em que não veio 12", "ligar em 110/220/127 ou 127 220 380",
    "resolução de 2532-1170, tela 2560-1440", "identidade visual de 1999 2001 2003", "Meu numero é 38 40 42 44",
    "pedido 38 40 42, compra 36/38/40", "compra @ americanas.com", "look at this dot com, meet at noon",
    "contrato número 11987654321, lote numero 11987654321", "faturou R$ 529.982.247,25",
    "nota fiscal de 1.123.456",
    "chave de acesso do wifi 12345678, compra de 1234.56 reais, mais de 10.000.000.000 de linhas",
    "de 123 456 789 em 2018", "tamanhos 529,982,247,24", "3050, 4120, 5030, 6010 e 4111,1111,1111,1112",
    f"{NFE_KEY[:-1]}0", "nota\u00a0dez ＡＢＣ\u200b\u0301 ½ %20 &amp; 100%25",
]  # fmt: skip


@pytest.fixture(scope="module")
def labelled() -> dict[str, list[Labelled]]:
    return corpora()


@pytest.mark.parametrize(("text", "expected"), MASKED)
def test_personal_data_is_masked_and_counted(text: str, expected: str) -> None:
    assert mask(text) == (expected, Counter(kind.lower() for kind in re.findall(r"\[([A-Z]+)\]", expected)))


@pytest.mark.parametrize("text", UNTOUCHED)
def test_other_numbers_stay(text: str) -> None:
    assert mask(text) == (text, Counter())


def test_what_stands_around_a_masked_value_stays_as_it_was() -> None:
    around = "ＡＢＣ\u200b e\u0301 ½\u00a0"
    assert mask(f"{around}529.982.247-25{around}")[0] == f"{around}[CPF]{around}"


def test_check_digits_are_checked() -> None:
    assert is_cpf("52998224725") and not is_cpf("52998224724") and not is_cpf("11111111111")
    assert is_cnpj("11222333000181") and not is_cnpj("11222333000180") and not is_cnpj("00000000000000")
    assert is_cnpj("12ABC34501DE35") and is_cnpj("12abc34501de35")  # the example of technical note 49/2024
    assert not is_cnpj("12ABC34501DE36")
    assert is_access_key(NFE_KEY) and not is_access_key(f"{NFE_KEY[:-1]}0")
    assert luhn("79927398713") and not luhn("79927398710")  # the worked example of ISO/IEC 7812-1


@pytest.mark.parametrize("name", ["first", "second", "third"])
def test_recall_of_each_kind_and_false_masks_on_each_labelled_corpus(
    name: str, labelled: dict[str, list[Labelled]]
) -> None:
    assert min(spans for _, spans in recall(labelled[name]).values()) >= 50
    assert missed_in(labelled[name]) == []


def test_the_table_in_the_docs_is_current(labelled: dict[str, list[Labelled]]) -> None:
    document = masking.DOCUMENT.read_text(encoding="utf-8")
    current = masking.with_tables(document, quality=masking.quality_table(labelled))
    assert current == document, "python -m benchmarks.masking writes it anew"
    assert all(f"| {name} |" in document for name in KINDS)


@pytest.mark.parametrize("name", REPEATED)
def test_a_hundred_thousand_characters_take_little_more_than_plain_passes_do(name: str) -> None:
    """In one of up to forty tries: the rest of the machine may be busy. A machine's speed is that of a plain pass."""
    text = masking.text_of(name)

    def is_quick() -> bool:
        return masking.milliseconds(text, rounds=1) < masking.MOST_PASSES * masking.pass_milliseconds()

    assert any(is_quick() for _ in range(40))


@given(st.text(max_size=200))
def test_masking_twice_is_masking_once(text: str) -> None:
    once, _ = mask(text)
    assert mask(once)[0] == once


@given(st.text(alphabet="0123456789 .-/()+@,:eapcfrgx\u200b%４", max_size=120))
def test_any_text_can_be_masked(text: str) -> None:
    masked, counts = mask(text)
    assert sum(counts.values()) == sum(masked.count(f"[{kind.upper()}]") for kind in KINDS)


@given(st.text(alphabet="abc çã.,!", max_size=40), st.integers(0, 10**9 - 1))
def test_any_written_cpf_disappears(around: str, number: int) -> None:
    digits = f"{number:09d}"
    cpf = f"{digits[:3]}.{digits[3:6]}.{digits[6:]}-00"
    assert cpf not in mask(f"{around} {cpf} {around}")[0]


def test_nothing_committed_would_be_masked() -> None:
    files = [*(ROOT / "data" / "samples").glob("*.jsonl"), ROOT / "data" / "ratings" / "ratings.jsonl"]
    records = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    prompts = [Prompt(**record.get("prompt", record)) for record in records]
    assert len(prompts) > 400 and [prompt for prompt in prompts if masked_prompt(prompt) != prompt] == []
    completions = [record["completion"] for record in records if "completion" in record]
    assert len(completions) > 400 and [text for text in completions if mask(text)[1]] == []


def test_a_prompt_of_others_is_masked_in_all_that_it_says() -> None:
    said = "ligue (11) 98765-4321"
    reference = {"fields": {"summary": said, "sentiment_score": 1}, "sql": said}
    safe = masked_prompt(Prompt("p", "extraction", said, "t", "s", "l", 1, reference, said))
    assert safe.user == safe.demonstration == "ligue [PHONE]"
    assert safe.reference == {"fields": {"summary": "ligue [PHONE]", "sentiment_score": 1}, "sql": said}
