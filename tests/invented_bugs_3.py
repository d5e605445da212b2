"""Twenty-five more, by an author who had read rewards and rating guide and neither the audit nor the other bugs. Shown to
the audit once it caught 21.
"""

import re
from types import ModuleType

import pytest
from historic_bugs import Change
from invented_bugs_2 import changes, edit

import rewards.fields
from rewards import extraction, grounded
from rewards.parsing import claims, offers, prose, sums, text
from rewards.sets import SetName
from rewards.wording import unwanted


def _rewrite(patch: pytest.MonkeyPatch, module: ModuleType, pattern: str, old: str, new: str) -> None:
    """Replace `old`, wherever it stands, in a compiled pattern of a module."""
    before: re.Pattern[str] = getattr(module, pattern)
    if old not in before.pattern:
        raise ValueError(f"{module.__name__}.{pattern} holds no {old!r}; mend the bug")
    patch.setattr(module, pattern, re.compile(before.pattern.replace(old, new), before.flags))


# extraction


def absent_field_means_false(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """«Robustness»: a field that is not there is read as false or null, so that an object without flags and complaint
    agrees wholly with a review that reports no issue."""
    edit(
        patch,
        extraction,
        "agreements",
        "if name in usable else 0.0 for name",
        "if name in usable else float(not value) for name",
        [rewards.fields],
    )


# extraction and sql_qa


def foreign_and_portuguese_swapped(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The two sums of a difference were swapped in a rewrite: Portuguese values and explanations count as foreign."""
    edit(
        patch,
        text,
        "foreign",
        "sum(token in FOREIGN for token in letters) - sum(token in PORTUGUESE for token in letters)",
        "sum(token in PORTUGUESE for token in letters) - sum(token in FOREIGN for token in letters)",
        [extraction],
    )


# sql_qa


def explanation_must_name_all(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """A subset became an equality: an explanation that does not repeat the question's month and state counts as one
    about others."""
    edit(patch, prose, "tells_of_others", "not found <= known", "found != known")


# insights


def first_invention_free(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """«One may be a slip»: only the second false figure takes the credit; a text that misreads the decisive one earns
    nearly all."""
    edit(patch, grounded.Insights, "shares", "if inventions:", "if inventions > 1:")


def more_repurchases_called_harm(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """A colleague took «recompra» for a return of goods and added it to what nobody wants more of: the advice to raise
    it leaves no credit at all."""
    _rewrite(patch, unwanted, "_HARM", "(?:atras|devoluc|", "(?:atras|recompra|devoluc|")


def all_figures_called_key(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """«Simplification»: every figure of the brief is wanted and not only those that it asks about, so that an answer to
    the point earns half of the figures' share."""
    edit(
        patch,
        claims,
        "insight_figures",
        'list(asked) or [fact["label"] for fact in facts if fact["value"] in key] or labels',
        "labels",
        [grounded],
    )


def longest_insights_a_digit_short(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The limit beyond which insights are no text at all lost a digit: whatever has more than 400 characters earns
    nothing, though 800 still earn the whole length."""
    patch.setattr(grounded, "LONGEST_INSIGHTS", 400)


def unknown_movement_free(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """«Robustness»: a movement is only checked where the brief tells one; «a recompra caiu» over a brief that knows of
    no month before is no longer false."""
    edit(patch, claims, "_stated", "if moved and (", "if moved and any(was) and (")


# insights and push


def thousands_read_as_decimals(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The pattern of Portuguese numbers wants a comma now, so that «63.272» is read as 63,272: the right amount is
    false."""
    _rewrite(patch, text, "_FIGURE", r"\d{1,3}(?:\.\d{3}){1,4}(?:,\d{1,6})?|", r"\d{1,3}(?:\.\d{3}){1,4},\d{1,6}|")


def price_with_a_space_broken(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The pattern of broken text no longer allows the space of «R$ 41»: every price as Brazilians write it halves the
    credit."""
    _rewrite(patch, text, "_BROKEN", r"R\$(?!\s?(?:", r"R\$(?!(?:")


def figures_off_by_a_tenth_accepted(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """«People round»: a figure shows a number if it is off by a tenth at most; wrong shares and prices pass."""
    edit(
        patch,
        text,
        "occurs",
        "figure.tolerance * (1 + 1e-9)",
        "max(figure.tolerance * (1 + 1e-9), 0.1 * abs(number))",
        [claims, sums],
    )


# push


def push_measured_in_bytes(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """A push's length is counted in bytes: each Portuguese accent counts as two characters and a picture as four, so
    that what fits the screen is too long."""
    edit(patch, grounded.Push, "shares", "len(text.squeeze(answer))", "len(text.squeeze(answer).encode())")


def inventions_must_be_false_twice(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """`|` became `&`: a number of a push is invented only if it is unknown and has a unit of its own; another discount
    than the brief's is none."""
    edit(patch, offers, "push_inventions", "false | others", "false & others", [grounded])


def offers_subtracted_the_wrong_way(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The two sides of a difference were swapped: what the brief grants and the push leaves out counts as invented, and
    an invented «frete grátis» is free."""
    edit(
        patch,
        offers,
        "ungranted",
        "_kinds(answer, name) - given",
        "given - _kinds(answer, name)",
    )


def accents_hide_the_product(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """«Speed up»: the answer's words are only put in lower case; «câmera» and «lençol» are no longer found, since the
    product's name is compared without accents."""
    edit(
        patch,
        offers,
        "names_product",
        "said = words(answer)",
        r'said = re.findall(r"\w+", answer.lower())',
        [grounded],
    )


def text_about_a_push_is_one(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """`or` became `and`: two pushes in one answer are fine unless it says so, and a text about a push unless it holds
    two."""
    edit(patch, grounded, "_is_one_push", "several or is_none", "several and is_none")


BUGS: tuple[Change, ...] = (
    *changes(("extraction",)),
    *changes(
        ("extraction",),
        absent_field_means_false,
    ),
    *changes(("extraction", "sql_qa"), foreign_and_portuguese_swapped),
    *changes(
        ("sql_qa",),
        explanation_must_name_all,
    ),
    *changes(
        ("insights",),
        first_invention_free,
        more_repurchases_called_harm,
        all_figures_called_key,
        longest_insights_a_digit_short,
        unknown_movement_free,
    ),
    *changes(
        ("insights", "push"), thousands_read_as_decimals, price_with_a_space_broken, figures_off_by_a_tenth_accepted
    ),
    *changes(
        ("push",),
        push_measured_in_bytes,
        inventions_must_be_false_twice,
        offers_subtracted_the_wrong_way,
        accents_hide_the_product,
        text_about_a_push_is_one,
    ),
)
