"""Twenty-five more, by another author who had read neither the audit nor what the others wrote. Shown to the audit once
it caught 11; it was mended for kinds that it missed, and catches 22.
"""

import re

import pytest
from historic_bugs import Change
from invented_bugs_2 import changes, edit

from rewards import extraction, grounded
from rewards.parsing import objects, sql, sql_near, sql_results
from rewards.sets import SetName
from rewards.wording import complaints, mistold

# extraction


def stars_only_after_a_colon(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The pattern of stated stars wants a colon («nota: 1»), and prompts say «(nota 1)»: nothing counts as stated, so
    sentiment, stars and risk, which only have to be copied from the frame, weigh as much as what must be read."""
    patch.setattr(
        complaints,
        "_STARS",
        re.compile(r"\bnota: ([1-5])\b(?![.,]\d)|(?<!/)\b([1-5]) ?/ ?5\b(?![/\d])|\b([1-5]) estrelas?"),
    )


def category_as_typed(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The stated category is compared as it is typed: «Eletrônicos» or «eletronicos» loses 30 % of all credit."""
    edit(
        patch,
        complaints,
        "worth",
        "fold(str(own)).strip() != fold(category)",
        "str(own).strip() != category",
        [grounded],
    )


def every_issue_or_none(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """`not true & said` became `true - said`: who flags one of two issues is treated as who flags another one, and
    loses 40 % of all credit."""
    edit(
        patch,
        complaints,
        "_kind_worth",
        "true and not true & said and not may_be",
        "true and true - said and not may_be",
    )


def denial_asked_of_the_reference(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The arguments of `denies` are swapped: «nenhum atraso na entrega» is as good a complaint as «entrega atrasada»,
    for it has the same words."""
    edit(patch, extraction, "_complaint", "denies(said, wanted)", "denies(wanted, said)")


def frame_in_characters(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The sentence around an object may have twelve characters, not words: «Segue o resultado da análise:» leaves a
    tenth of the credit and not 85 %."""
    edit(patch, objects, "_is_frame", 'len(" ".join(said).split())', 'len(" ".join(said))')


def weighed_by_the_answer(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The weight of a field is looked up by the answer's value: a flag that is wrongly false weighs a quarter of what
    it should, so that never to flag an issue costs little."""
    edit(
        patch,
        extraction,
        "match",
        "_told(name, value, prompt) for",
        "_told(name, usable.get(name, value), prompt) for",
        [grounded],
    )


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


def another_query_is_the_same(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The last comparison of `has_another` is inverted: two different queries to choose from are free, and the query
    told again leaves a quarter."""
    edit(patch, sql, "has_another", "return one != other", "return one == other", [grounded])


def must_name_its_state(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """«No others» (a subset) became «some of them» (an intersection): a right query about SP whose explanation does
    not say «SP» is mistold, and one that says «SP e RJ» is not."""
    edit(patch, mistold, "tells_of_others", "not found <= known", "not found & known")


def less_of_both_budgets(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """`min` for `max` of the two budgets: a right query that takes more than four times the gold query's steps, as one
    with a subquery for each row does, is stopped and has no result."""
    edit(
        patch,
        sql,
        "answers_gold",
        "max(FREE_STEPS, GOLD_FACTOR * steps)",
        "min(FREE_STEPS, GOLD_FACTOR * steps)",
        [sql_near],
    )


def failing_stores_are_skipped(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """A store on which the query fails is passed over as one that is busy; a query that fails on all of them has been
    wrong on none, and so it is right."""
    edit(patch, sql, "answers_gold", "return Outcome(number > 0, False)", "continue", [sql_near])


# insights


# push


def push_length_in_words(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The length of a push is counted in words: three times the screen's length costs nothing."""
    edit(patch, grounded.Push, "shares", "len(text.squeeze(answer))", "len(text.squeeze(answer).split())")


BUGS: tuple[Change, ...] = (
    *changes(
        ("extraction",),
        stars_only_after_a_colon,
        category_as_typed,
        every_issue_or_none,
        denial_asked_of_the_reference,
        weighed_by_the_answer,
        any_complaint_is_none,
    ),
    *changes(("extraction", "sentiment", "churn"), frame_in_characters),
    *changes(
        ("sql_qa",),
        one_connection_for_a_folder,
        near_in_percent,
        another_query_is_the_same,
        must_name_its_state,
        less_of_both_budgets,
        failing_stores_are_skipped,
    ),
    *changes(
        ("push",),
        push_length_in_words,
    ),
)
