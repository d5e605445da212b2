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
from rewards.parsing import objects, sql, sql_near, sql_results, text
from rewards.sets import SetName
from rewards.wording import complaints, mistold


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
    edit(patch, mistold, "tells_of_others", "not found <= known", "found != known")


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


# insights and push


def thousands_read_as_decimals(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The pattern of Portuguese numbers wants a comma now, so that «63.272» is read as 63,272: the right amount is
    false."""
    _rewrite(patch, text, "_FIGURE", r"\d{1,3}(?:\.\d{3}){1,4}(?:,\d{1,6})?|", r"\d{1,3}(?:\.\d{3}){1,4},\d{1,6}|")


def price_with_a_space_broken(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The pattern of broken text no longer allows the space of «R$ 41»: every price as Brazilians write it halves the
    credit."""
    _rewrite(patch, text, "_BROKEN", r"R\$(?!\s?(?:", r"R\$(?!(?:")


# push


def push_measured_in_bytes(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """A push's length is counted in bytes: each Portuguese accent counts as two characters and a picture as four, so
    that what fits the screen is too long."""
    edit(patch, grounded.Push, "shares", "len(text.squeeze(answer))", "len(text.squeeze(answer).encode())")


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
    *changes(("insights", "push"), thousands_read_as_decimals, price_with_a_space_broken),
    *changes(
        ("push",),
        push_measured_in_bytes,
    ),
)
