"""What counts as the same text, and as a near copy."""

from hypothesis import example, given
from hypothesis import strategies as st

from data.separation import NearDuplicates, NearPrompts, jaccard, normal_form, shingles
from tucano.prompts import Prompt


def test_case_accents_punctuation_and_spaces_make_no_new_text() -> None:
    assert normal_form("  Não CHEGOU,\n o pedido!!") == normal_form("nao chegou o pedido") == "nao chegou o pedido"


def test_jaccard_of_character_5_grams_by_hand() -> None:
    assert shingles("abcdefg") == {"abcde", "bcdef", "cdefg"} and shingles("abc") == {"abc"}
    assert jaccard(shingles("abcdefg"), shingles("abcdefh")) == 2 / 4


def test_a_near_copy_is_fenced_off_and_another_text_is_not() -> None:
    known = NearDuplicates(["Quantos pedidos do estado SP foram entregues com atraso em março?"])
    assert known.near("quantos pedidos do estado RJ foram entregues com atraso em marco")
    assert not known.near("Quantos pedidos do estado SP tiveram frete grátis no Natal?")


def stands_in(part: list[str], whole: list[str]) -> bool:
    """Whether some words stand in others, one after the other."""
    return bool(part) and any(whole[start : start + len(part)] == part for start in range(len(whole)))


@given(
    st.lists(st.text(alphabet="abcd ", min_size=5, max_size=30), min_size=1, max_size=5),
    st.text(alphabet="abcd ", min_size=5, max_size=30),
)
@example(["a aaa"], "a    ")
def test_the_length_filter_loses_nothing(fenced: list[str], text: str) -> None:
    grams = shingles(normal_form(text))
    by_definition = any(
        stands_in(text.split(), other.split())
        or stands_in(other.split(), text.split())
        or jaccard(shingles(normal_form(other)), grams) >= 0.8
        for other in fenced
    )
    assert NearDuplicates(fenced).near(text) == by_definition


def test_a_gold_query_is_kept_apart_however_it_is_asked_for() -> None:
    def asked(user: str, sql: str) -> Prompt:
        return Prompt("p", "sql_qa", user, "t", "synthetic", "CC0-1.0", None, {"sql": sql, "database": "store.sqlite"})

    known = NearPrompts([asked("Quantos pedidos?", "SELECT COUNT(*)  FROM pedidos;")])
    assert known.near(asked("Conte todas as compras da loja.", "select count(*) from pedidos"))
    assert not known.near(asked("Conte todas as compras da loja.", "SELECT COUNT(*) FROM itens"))
