"""Twenty-five more, by another author who had read neither the audit nor what the others wrote. Shown to the audit once
it caught 11; it was mended for kinds that it missed, and catches 22.
"""

import re

import pytest
from historic_bugs import Change
from invented_bugs_2 import changes, edit

from rewards import extraction, grounded
from rewards.parsing import advice, claims, objects, offers, prose, sql, sql_results, text
from rewards.sets import SetName

# extraction


def frame_in_characters(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The sentence around an object may have twelve characters, not words: «Segue o resultado da análise:» leaves a
    tenth of the credit and not 85 %."""
    edit(patch, objects, "_frame", 'words(" ".join(said))', 'list(" ".join(said))')


def any_complaint_is_none(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """`fullmatch` became `match`, and the pattern may be empty: whatever somebody who is content is said to complain
    of counts as «não há»."""
    edit(patch, extraction, "agreement", "_NO_COMPLAINT.fullmatch(", "_NO_COMPLAINT.match(")


# sql_qa


def one_connection_for_a_folder(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """Connections are kept by the folder of a store, not by the store: all further stores answer as the first one, so
    that a query which is right on it by chance (`>=` for `>`) is right."""
    edit(patch, sql, "_connection", "(os.getpid(), database)\n", "(os.getpid(), database.parent)\n")


def near_in_percent(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """Float noise may be a per cent (1e-2 for 1e-6): a sum or a count that leaves out few rows is the gold one."""
    edit(patch, sql_results, "_is_same", "rel_tol=1e-6", "rel_tol=1e-2")


def must_name_its_state(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """«No others» (a subset) became «some of them» (an intersection): a right query about SP whose explanation does
    not say «SP» is mistold, and one that says «SP e RJ» is not."""
    edit(patch, prose, "tells_of_others", "not found <= known", "not found & known")


# insights


def rounding_without_its_scale(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The tolerance of «1,2 mil» is that of «1,2»: a rightly rounded figure of the brief is no figure of it any more,
    neither in insights nor in a push."""
    edit(patch, text, "placed_figures", "0.5 * scale * 10.0**-decimals", "0.5 * 10.0**-decimals", [claims])


def every_line_has_three_steps(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """`max` for `min` with the most steps of a line: each line counts as three, so one short step earns all advice."""
    edit(patch, advice, "steps", "min(MOST_STEPS, max(", "max(MOST_STEPS, max(")


def harm_in_small_letters(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """`harms` gets the answer as it is written, and its patterns know small letters without accents: «- Aumentar o
    atraso …» or «Reduza a recompra …» at the beginning of a line is advice like any other."""
    edit(patch, grounded.Insights, "shares", "if harms(folded) else", "if harms(answer) else")


def astray_beside_figures(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The condition of `use` is inverted: steps are held against the question where a figure is told (x .6 for another
    good step), and where none is told anything goes."""
    edit(patch, grounded.Insights, "shares", "() if used else map(", "() if not used else map(")


def sentences_end_at_every_dot(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The pattern of a sentence's end was simplified and splits «1.234 pedidos»: 234 orders are a false figure, so
    that whoever writes thousands as Brazilians do loses 70 %."""
    patch.setattr(claims, "_SENTENCE", re.compile(r"[.;!?\n]"))


def unit_is_enough(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """`or` for `and`: a figure shows a fact if it has its unit, whatever its value; invented shares earn as true."""
    edit(patch, claims, "_shows", 'occurs(fact["value"], (figure,)) and (', 'occurs(fact["value"], (figure,)) or (')


# push


def implied_the_other_way(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """What offers imply was turned round when the table was rewritten: a brief with a discount grants a coupon, half
    of the price and «leve 2, pague 1», so that these are invented for nothing."""
    patch.setattr(offers, "_IMPLIES", {"gratis": ("frete",), "desconto": ("metade", "cupom", "leve")})


def push_length_in_words(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The length of a push is counted in words: three times the screen's length costs nothing."""
    edit(patch, grounded.Push, "shares", "len(text.squeeze(answer))", "len(text.squeeze(answer).split())")


def plural_of_terms_alone(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """`!=` for `==`: the plural is allowed of terms and no longer of the name, so «saias» does not name the product
    «saia»."""
    edit(patch, offers, "names_product", "if term and term == product", "if term and term != product", [grounded])


def all_figures_or_none(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """`all` for `any`: a push tells the offer only with every figure of its brief (who tells the price and not
    the discount does not), and always where the brief has none, say only «frete grátis»."""
    edit(patch, grounded.Push, "shares", "figure = any(text.occurs(", "figure = all(text.occurs(")


def two_pushes_are_one(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """Off by one: a text is several pushes from three lines with the product on; a choice of two earns as one."""
    edit(patch, grounded, "_is_one_push", "if line) > 1", "if line) > 2")


def loose_offers_of_folded_text(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """`loose_offers` gets the folded text, where no code has capital letters and «só» and «até» have no accents: «use
    o cupom: VOLTA10» and «por só R$ 49» halve all credit."""
    edit(patch, grounded, "_is_one_push", "loose_offers(answer) if gate", "loose_offers(folded) if gate")


BUGS: tuple[Change, ...] = (
    *changes(
        ("extraction",),
        any_complaint_is_none,
    ),
    *changes(("extraction", "sentiment", "churn"), frame_in_characters),
    *changes(
        ("sql_qa",),
        one_connection_for_a_folder,
        near_in_percent,
        must_name_its_state,
    ),
    *changes(("insights", "push"), rounding_without_its_scale),
    *changes(
        ("insights",),
        every_line_has_three_steps,
        harm_in_small_letters,
        astray_beside_figures,
        sentences_end_at_every_dot,
        unit_is_enough,
    ),
    *changes(
        ("push",),
        implied_the_other_way,
        push_length_in_words,
        plural_of_terms_alone,
        all_figures_or_none,
        two_pushes_are_one,
        loose_offers_of_folded_text,
    ),
)
