"""Twenty-five more, by an author who had read rewards and rating guide and neither the audit nor the other bugs. Shown to
the audit once it caught 21.
"""

import re
from types import ModuleType
from typing import Any

import pytest
from historic_bugs import Change
from invented_bugs_2 import changes, edit

import rewards.fields
from rewards import controls, extraction, grounded, v42
from rewards.parsing import claims, objects, offers, prose, sql, sql_near, sql_results, sums, text
from rewards.sets import SetName
from rewards.wording import complaints, mistold, unwanted


def _rewrite(patch: pytest.MonkeyPatch, module: ModuleType, pattern: str, old: str, new: str) -> None:
    """Replace `old`, wherever it stands, in a compiled pattern of a module."""
    before: re.Pattern[str] = getattr(module, pattern)
    if old not in before.pattern:
        raise ValueError(f"{module.__name__}.{pattern} holds no {old!r}; mend the bug")
    patch.setattr(module, pattern, re.compile(before.pattern.replace(old, new), before.flags))


# extraction


def limits_around_an_object_swapped(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """While tidying the pair of limits for words around an object the two were swapped: an object behind one short
    sentence («Segue o JSON da avaliação:») now counts as one among scraps."""
    patch.setattr(objects, "_MOST_FRAME", 2)
    patch.setattr(objects, "_MOST_STRAY", 12)


def right_kind_of_issue_punished(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The intersection of true and told flags became a difference and the `not` in front stayed: an object that sets
    every flag that there is pays for the wrong kind of issue, one that sets none of them does not."""
    edit(patch, complaints, "_kind_worth", "not true & said", "not true - said")


def any_kind_of_complaint_fits(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """`and` became `or` when the two conditions were swapped: any complaint that does not name every kind counts as the
    expected one in other words, also «produto com defeito» for a delivery that never came."""
    edit(
        patch,
        complaints,
        "is_of_kind",
        "is_fair and bool(",
        "is_fair or bool(",
        [extraction],
    )


def summaries_stems_against_whole_words(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """«Speed up»: the review's words are no longer cut to five letters, the summary's still are, so that a right
    summary of longer words («liquidificador») shares none with its review and counts as one about something else."""
    edit(
        patch,
        complaints,
        "_summary_worth",
        "{word[:5] for word in words(f\"{prompt.user} {fields.get('summary', '')}\")}",
        "set(words(f\"{prompt.user} {fields.get('summary', '')}\"))",
    )


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


def fields_weighed_by_the_answer(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """A field's weight is taken from the value that the answer gives and not from the expected one: to leave a flag
    unset that should be set costs a quarter of what it should."""
    edit(
        patch,
        extraction,
        "match",
        "[_told(name, value, prompt) for name, value in expected.items()]",
        "[_told(name, usable.get(name), prompt) for name in expected]",
        [grounded],
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


def slack_of_a_rounding_inverted(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The sign of an exponent got lost: where the gold query rounds to two decimals, any number within 50 of it is
    right, so that a mean over all months passes for that of one."""
    edit(patch, sql_results.Rounding, "slack", "0.5 * 10.0**-self.gold", "0.5 * 10.0**self.gold")


def explanation_in_front_forgotten(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """«Simplification»: the prose of an answer is only what stands behind its query; who explains first and then shows
    the query has explained nothing."""
    edit(
        patch,
        sql,
        "find_query",
        'f"{completion[: taken.start]}\\n{completion[taken.stop :]}"',
        "completion[taken.stop :]",
        [grounded, v42, controls],
    )


def explanation_must_name_all(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """A subset became an equality: an explanation that does not repeat the question's month and state counts as one
    about others."""
    edit(patch, prose, "tells_of_others", "not found <= known", "found != known", [mistold])


def rows_beyond_the_expected_ignored(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """«Robustness» against a last empty row: a result may have more rows than the gold one, so that a list of all
    categories answers the question for the best three."""
    edit(patch, sql_results, "arrangements", "len(rows) != expected.count", "len(rows) < expected.count", [sql])
    edit(patch, sql_results, "fits", "len(rows) != expected.count", "len(rows) < expected.count", [sql_near])


def expected_rows_kept_by_columns(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """«Speed up»: the expected rows are kept by the tables and columns that the gold query reads and not by its text;
    the second question about other months, states or limits is judged by the first one's rows."""
    of_query = sql._expected.__wrapped__
    kept: dict[Any, Any] = {}

    def expected(database: Any, query: str) -> Any:
        key = (database, sql.names(query), sql.is_ordered(query))
        if key not in kept:
            kept[key] = of_query(database, query)
        return kept[key]

    patch.setattr(sql, "_expected", expected)


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
    *changes(("extraction",), limits_around_an_object_swapped),
    *changes(
        ("extraction",),
        right_kind_of_issue_punished,
        any_kind_of_complaint_fits,
        summaries_stems_against_whole_words,
        absent_field_means_false,
        fields_weighed_by_the_answer,
    ),
    *changes(("extraction", "sql_qa"), foreign_and_portuguese_swapped),
    *changes(
        ("sql_qa",),
        slack_of_a_rounding_inverted,
        explanation_in_front_forgotten,
        explanation_must_name_all,
        rows_beyond_the_expected_ignored,
        expected_rows_kept_by_columns,
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
