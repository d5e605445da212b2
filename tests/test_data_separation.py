"""What counts as the same text, and as a near copy."""

from hypothesis import given
from hypothesis import strategies as st

from data.separation import NearDuplicates, jaccard, normal_form, shingles


def test_case_accents_punctuation_and_spaces_make_no_new_text() -> None:
    assert normal_form("  Não CHEGOU,\n o pedido!!") == normal_form("nao chegou o pedido") == "nao chegou o pedido"


def test_shingles_are_the_character_5_grams() -> None:
    assert shingles("abcdefg") == {"abcde", "bcdef", "cdefg"}
    assert shingles("abc") == {"abc"}


def test_jaccard_by_hand() -> None:
    assert jaccard(shingles("abcdefg"), shingles("abcdefh")) == 2 / 4


def test_a_near_copy_is_fenced_off_and_another_text_is_not() -> None:
    known = NearDuplicates(["Quantos pedidos do estado SP foram entregues com atraso em março?"])
    assert known.near("quantos pedidos do estado RJ foram entregues com atraso em marco")
    assert not known.near("Quantos pedidos do estado SP tiveram frete grátis no Natal?")


@given(
    st.lists(st.text(alphabet="abcd ", min_size=5, max_size=30), min_size=1, max_size=5),
    st.text(alphabet="abcd ", min_size=5, max_size=30),
)
def test_the_length_filter_loses_nothing(fenced: list[str], text: str) -> None:
    grams = shingles(normal_form(text))
    by_definition = any(
        normal_form(other) == normal_form(text) or jaccard(shingles(normal_form(other)), grams) >= 0.8
        for other in fenced
    )
    assert NearDuplicates(fenced).near(text) == by_definition
