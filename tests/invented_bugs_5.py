"""Twenty-five more, by another author who had read neither the audit nor what the others wrote. Shown to the audit once
it caught 8: each changes what one kind of answer earns and leaves all others alone.
"""

import pytest
from historic_bugs import Change
from invented_bugs_2 import changes, edit

from rewards import extraction, grounded
from rewards.parsing import objects, sql, sql_near, sql_results
from rewards.sets import SetName
from rewards.wording import complaints, mistold


def a_value_takes_the_object_back(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """What takes an answer back is looked for in all of it, no longer around the object: where a summary says «Veio tudo
    errado, …» of an order, the object reads as if it were called wrong itself, and earns nothing.
    """
    edit(
        patch,
        objects,
        "standing_object",
        "map(stands, (around(answer), *beside))",
        "map(stands, (answer, *beside))",
        users=[grounded],
    )


def denials_at_the_beginning(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The window in front of a kind of complaint has no lower end at 0: near the beginning of a longer complaint the
    slice is empty, so «Não houve atraso na entrega, …» is a complaint about the delay.
    """
    edit(patch, complaints, "_asserted", "folded[max(0, end - _NEAR) : end]", "folded[end - _NEAR : end]")


def values_in_words_weighed_the_other_way(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The weights of what values in words mean and of the values as they stand are exchanged: «sim» and «alto», which
    cost a fifth, cost four fifths.
    """
    edit(
        patch,
        grounded.Extraction,
        "shares",
        "TOLD * told + (1 - TOLD) * match(usable, expected, prompt)",
        "(1 - TOLD) * told + TOLD * match(usable, expected, prompt)",
    )


def long_summaries_are_quotes(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """A text's whole length stands for its longest quote of the prompt: a summary of sixteen words of its own is the
    prompt handed back, and is not usable.
    """
    edit(
        patch,
        extraction,
        "_is_no_field",
        "longest_copy(words(value), asked) >= limit",
        "len(words(value)) >= limit",
    )


def categories_are_compared_as_written(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The stated category is compared without folding the answer's: «Eletrônicos» for «eletronicos» counts as another
    category than stated, and costs 30 % of all credit.
    """
    edit(
        patch,
        complaints,
        "worth",
        "fold(str(own)).strip() != fold(category)",
        "str(own).strip() != category",
        users=[grounded],
    )


def complaints_have_to_tell_the_whole_review(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """Three fifths of the review's words have to stand in a complaint, instead of three fifths of the complaint's in
    the review: a complaint in the review's words, other than the reference's, no longer counts.
    """
    edit(
        patch,
        extraction,
        "says_the_same",
        "5 * len(told) >= 3 * len(said)",
        "5 * len(told) >= 3 * len(stems(review))",
    )


def the_same_query_on_one_line_is_another(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """Queries are compared character by character: an answer that tells its query again on one line, or in small
    letters, holds two to choose from and loses three quarters.
    """
    edit(
        patch,
        sql,
        "has_another",
        '" ".join(found.text.split()).rstrip("; ").casefold()',
        'found.text.strip().rstrip("; ")',
        users=[grounded],
    )


def blank_lines_end_fenced_queries(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """One pattern for the end of a query, in a code fence and outside: a blank line between WITH and SELECT cuts a
    fenced query in two, and none is found that runs.
    """
    patch.setattr(sql, "_FENCED_END", sql._END)


def only_the_query_says_what_it_is_about(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """An explanation is held against the query alone and no longer against the question: one that speaks of «janeiro a
    junho de 2018» beside `data < '2018-07-01'` is about another month.
    """
    edit(
        patch,
        mistold,
        "mistells",
        'tells_of_others(query.prose, f"{prompt.user} {query.text}")',
        "tells_of_others(query.prose, query.text)",
        users=[grounded],
    )


def further_columns_are_counted_in_all(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The limit of further columns is one of all columns: where two or three columns were asked for, a right answer
    with two more of them is wrong instead of near.
    """
    edit(
        patch,
        sql_near,
        "_holds",
        "expected.width <= width <= expected.width + MOST_BESIDE",
        "expected.width <= width <= MOST_BESIDE",
    )


def the_smaller_of_two_budgets(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """An answer has the smaller of the free steps and four times the gold query's: a right query that reads a table once
    more for each row is stopped, where the gold query is cheap.
    """
    edit(
        patch,
        sql,
        "answers_gold",
        "max(FREE_STEPS, GOLD_FACTOR * steps)",
        "min(FREE_STEPS, GOLD_FACTOR * steps)",
        users=[sql_near],
    )


def coarse_rounding_forgives_a_twentieth(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The larger of two allowances holds instead of the smaller: where the gold query does not round, a query that rounds
    may miss it by 5 %, so that a sum with a wrong limit (`>` for `>=`) passes for the right one.
    """
    edit(
        patch,
        sql_results.Rounding,
        "slack",
        "min(0.5 * 10.0**-self.ours, MOST_LOST * abs(value))",
        "max(0.5 * 10.0**-self.ours, MOST_LOST * abs(value))",
    )


def pushes_measured_in_bytes(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """A push is measured in bytes: accents count twice and pictures four times, so that one that just fits is cut."""
    edit(
        patch,
        grounded.Push,
        "shares",
        "len(text.squeeze(answer))",
        "len(text.squeeze(answer).encode())",
    )


BUGS: tuple[Change, ...] = (
    *changes(
        ("extraction",),
        a_value_takes_the_object_back,
        denials_at_the_beginning,
        values_in_words_weighed_the_other_way,
        long_summaries_are_quotes,
        categories_are_compared_as_written,
        complaints_have_to_tell_the_whole_review,
    ),
    *changes(
        ("sql_qa",),
        the_same_query_on_one_line_is_another,
        blank_lines_end_fenced_queries,
        only_the_query_says_what_it_is_about,
        further_columns_are_counted_in_all,
        the_smaller_of_two_budgets,
        coarse_rounding_forgives_a_twentieth,
    ),
    *changes(
        ("push",),
        pushes_measured_in_bytes,
    ),
)
