"""Complaints that are denied, and things that are the same in another number or by a short name."""

import json

import pytest
from rewards_examples import ANSWERS, FIELDS, PROMPTS

from tucano.truth import truth
from tucano.truth.tasks.extraction import is_right
from tucano.truth.wording.complaints import is_told_otherwise, names_other_thing


@pytest.mark.parametrize(
    ("summary", "review", "other"),
    [
        ("Cliente adorou o travesseiro macio.", "Adorei os travesseiros, macios.", False),
        ("A camiseta atrasou.", "As camisetas atrasaram.", False),
        ("Os lençóis rasgaram.", "O lençol rasgou.", False),
        ("O notebook chegou bem.", "O note chegou bem.", False),
        ("A cafeteira queimou.", "O aparelho queimou.", False),
        ("O relógio digital parou.", "O relógio parou, o mouse também.", False),
        ("Cliente reclama do tapete.", "A cafeteira queimou.", True),
        ("Cliente reclama dos tapetes.", "A cafeteira queimou.", True),
        ("Cliente satisfeito com a camiseta.", "A saia é como na foto.", True),
    ],
)
def test_number_and_short_names_make_no_other_thing(summary: str, review: str, other: bool) -> None:
    assert names_other_thing(summary, review) == other


@pytest.mark.parametrize(
    ("complaint", "expected", "right"),
    [
        ("não atrasou", "entrega atrasada", False),
        ("nenhum atraso", "entrega atrasada", False),
        ("não houve demora", "entrega atrasada", False),
        ("produto sem defeito, entrega no prazo, nada atrasou", "entrega atrasada", False),
        ("nenhum defeito", "produto com defeito", False),
        ("produto sem defeito", "produto com defeito", False),
        ("o produto não quebrou", "produto com defeito", False),
        ("embalagem não veio amassada", "embalagem danificada", False),
        ("não chegou", "pedido não chegou", True),
        ("nunca recebi", "pedido não chegou", True),
        ("não funciona", "produto com defeito", True),
        ("não resolveu o defeito", "produto com defeito", True),
        ("loja não trocou o produto quebrado", "produto com defeito", True),
        ("sem nota fiscal", "não veio nota fiscal", True),
        ("troca não aceita", "troca negada", True),
        ("sem resposta", "vendedor não responde", True),
        ("não quebrou, mas atrasou", "entrega atrasada", True),
    ],
)
def test_a_denied_complaint_is_none(complaint: str, expected: str, right: bool) -> None:
    otherwise = is_told_otherwise(complaint, expected, "Avaliação.")
    assert (is_right("main_complaint", complaint, expected) or otherwise) == right


def test_a_denied_complaint_costs_the_object_half() -> None:
    extraction = PROMPTS["extraction"]
    denied = json.dumps(FIELDS | {"main_complaint": "nada atrasou"}, ensure_ascii=False)
    assert (truth(extraction, denied) or 0) <= 0.5 < (truth(extraction, ANSWERS["extraction"]) or 0)
