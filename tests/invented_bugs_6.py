"""Twenty-five more, by a seventh author who had read neither the audit nor what the others wrote. Shown to the audit
once it caught 22."""

import pytest
from historic_bugs import Change
from invented_bugs_2 import changes, edit

from rewards import extraction, fields, grounded
from rewards.parsing import objects, sql, sql_near, sql_results, text
from rewards.sets import SetName
from rewards.wording import complaints, mistold

_KEPT = 12
"""Characters of a brief by which its word runs are kept in `runs_of_a_brief_kept_by_its_beginning`."""


def any_complaint_is_none_at_all(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """`match` for `fullmatch` where a text may say that there is no complaint: the pattern may be empty, so that it
    begins every text, and a complaint that is made up counts as right beside a review without one."""
    edit(patch, extraction, "agreement", "_NO_COMPLAINT.fullmatch(", "_NO_COMPLAINT.match(")


def rest_counted_from_the_beginning(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """What stands behind an object is cut by the object's length alone, not from where it begins: behind a
    sentence that introduces it («Segue o resultado:») the object's own end is taken for scraps around it."""
    edit(
        patch,
        objects,
        "wholeness",
        "text[start + len(span) :]",
        "text[len(span) :]",
        users=[grounded],
    )


def words_of_the_schema_anywhere(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """A text is no answer where one of its words is one of the schema's («valor», «número», «categoria»), not only
    where it is nothing else: a complaint about a refund («não devolveram o valor») is thrown away."""
    edit(
        patch,
        extraction,
        "is_usable",
        "folded not in _DESCRIPTORS",
        "_DESCRIPTORS.isdisjoint(folded.split())",
        users=[fields],
    )


def category_is_always_asked_to_be_copied(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The condition that the prompt states the category is lost: where nobody states it, another fair category
    («áudio» for «eletrônicos») takes 30 % of all credit."""
    edit(
        patch,
        complaints,
        "worth",
        'if is_other and (fold(str(category)) in review or (own and names_another(found.get("summary"), prompt))):',
        "if is_other:",
        users=[grounded],
    )


def own_fields_take_the_answer_back(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """Every text of an object is read for words that take the answer back, not only those of further fields: a
    complaint or a summary that says «tudo errado» leaves nothing of the object."""
    edit(
        patch,
        objects,
        "standing_object",
        "if name not in fields and isinstance(value, str)",
        "if isinstance(value, str)",
        users=[grounded],
    )


def half_of_what_was_said(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The half of a complaint's words that has to agree is counted of what is said, not of what is wanted: one word of
    the expected complaint («caneta») counts as much as all of it."""
    edit(
        patch,
        extraction,
        "says_the_same",
        "2 * len(said & wanted) >= len(wanted)",
        "2 * len(said & wanted) >= len(said)",
    )


def ties_end_at_the_limit(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """A sorting query keeps its LIMIT when its ties are looked up: of rows that are tied at the end only those count
    that SQLite happened to give, and an answer with another of them is wrong."""
    edit(patch, sql_results, "ranking", '    ranked.set("limit", None)\n', "", users=[sql])


def further_stores_by_another_name(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The further stores are looked for as `x_1.sqlite`, and they are called `x-1.sqlite`: none is found, and a query
    that is right on the first store by chance (`>=` for `>`) is paid."""
    edit(patch, sql, "stores", "}-*{", "}_*{", users=[sql_near])


def decimals_without_their_sign(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The minus in front of the gold query's decimals is lost: a gold mean of two decimals may be missed by fifty, and
    any other mean is right."""
    edit(patch, sql_results.Rounding, "slack", "0.5 * 10.0**-self.gold", "0.5 * 10.0**self.gold")


def kinds_that_are_denied_are_told(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """What an explanation leaves out («sem os cancelados») is taken for what it is about: it loses the explanation and
    a third of the result where the gold query asks for another status."""
    edit(patch, mistold, "tells_of_other_kinds", "if _told(pattern, prose)", "if pattern.search(prose)")


def fenced_query_ends_at_a_blank_line(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """A query in a code fence ends where one in running text does: a blank line between its clauses cuts off its
    conditions or its groups, and what is run is another query."""
    edit(patch, sql, "_statements", "_end(_FENCED_END, ", "_end(_END, ")


def budget_of_the_smaller(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The smaller of the two budgets of steps holds instead of the larger one: a right query that goes another way
    than a quick gold query (a subquery for each row) does not run any more."""
    edit(
        patch,
        sql,
        "answers_gold",
        "max(FREE_STEPS, GOLD_FACTOR * steps)",
        "min(FREE_STEPS, GOLD_FACTOR * steps)",
        users=[sql_near],
    )


def length_in_bytes(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The length of a push is counted in bytes: accents count twice and pictures four times, so that what fits the
    screen with 115 characters is too long."""
    edit(patch, grounded.Push, "shares", "len(text.squeeze(answer))", 'len(text.squeeze(answer).encode("utf-8"))')


def runs_of_a_brief_kept_by_its_beginning(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The runs of words of a brief are kept under its first twelve characters: of briefs that begin alike the first
    one's are taken, and a push that hands its own brief back is paid."""
    kept: dict[str, frozenset[tuple[str, ...]]] = {}

    def source_grams(source: str) -> frozenset[tuple[str, ...]]:
        if source[:_KEPT] not in kept:
            kept[source[:_KEPT]] = frozenset(text._grams(text.words(source), 4))
        return kept[source[:_KEPT]]

    patch.setattr(text, "_source_grams", source_grams)


BUGS: tuple[Change, ...] = (
    *changes(
        ("extraction",),
        any_complaint_is_none_at_all,
        rest_counted_from_the_beginning,
        words_of_the_schema_anywhere,
        category_is_always_asked_to_be_copied,
        own_fields_take_the_answer_back,
        half_of_what_was_said,
    ),
    *changes(
        ("sql_qa",),
        ties_end_at_the_limit,
        further_stores_by_another_name,
        decimals_without_their_sign,
        kinds_that_are_denied_are_told,
        fenced_query_ends_at_a_blank_line,
        budget_of_the_smaller,
    ),
    *changes(
        ("push",),
        length_in_bytes,
        runs_of_a_brief_kept_by_its_beginning,
    ),
)
