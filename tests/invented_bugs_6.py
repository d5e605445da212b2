"""Twenty-five more, by a seventh author who had read neither the audit nor what the others wrote. Shown to the audit
once it caught 22."""

import re

import pytest
from historic_bugs import Change
from invented_bugs_2 import changes, edit

from rewards import extraction, fields, grounded
from rewards.parsing import (
    advice,
    claims,
    fluency,
    kinds,
    offers,
    prose,
    sql,
    sums,
    text,
)
from rewards.sets import SetName
from rewards.wording import unwanted

_KEPT = 12
"""Characters of a brief by which its word runs are kept in `runs_of_a_brief_kept_by_its_beginning`."""


def any_complaint_is_none_at_all(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """`match` for `fullmatch` where a text may say that there is no complaint: the pattern may be empty, so that it
    begins every text, and a complaint that is made up counts as right beside a review without one."""
    edit(patch, extraction, "agreement", "_NO_COMPLAINT.fullmatch(", "_NO_COMPLAINT.match(")


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


def fenced_query_ends_at_a_blank_line(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """A query in a code fence ends where one in running text does: a blank line between its clauses cuts off its
    conditions or its groups, and what is run is another query."""
    edit(patch, sql, "_statements", "_end(_FENCED_END, ", "_end(_END, ")


def thousands_as_exact_as_units(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The last digit's worth is no longer multiplied by «mil»: «R$ 77,4 mil» does not show 77.410 any more and is an
    invention."""
    edit(patch, text, "placed_figures", "0.5 * scale * 10.0**-decimals", "0.5 * 10.0**-decimals", users=[claims])


def every_rating_is_low(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The pattern of a low rating that is praised takes any first digit: «a nota média de 4,6 é ótima» is false."""
    patch.setattr(advice, "_PRAISED", re.compile(advice._PRAISED.pattern.replace(r"[12],\d", r"\d,\d")))


def fewer_cancelled_orders_do_harm(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The exception for orders that are cancelled, late or sent back is lost: «reduzir pedidos cancelados» is advice to
    have fewer orders, and nothing is left of the text."""
    exception = "(?! (?:cancelad|devolvid|perdid|gast|atrasad|parad|ruins|baix))"
    patch.setattr(unwanted, "_HARM", re.compile(unwanted._HARM.pattern.replace(exception, "")))


def quoted_letter_is_the_answer(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """A letter is looked for in what is quoted, too: insights that propose the text of an e-mail to customers («Prezado
    cliente … Atenciosamente») lose 40 %."""
    edit(patch, advice, "is_letter", '_QUOTED.sub(" ", folded)', "folded")


def all_figures_are_asked_for(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """What was asked about is no longer looked up: the key figures are all of the brief's, and an answer about the two
    indicators in question has used two of many."""
    edit(
        patch,
        claims,
        "insight_figures",
        'wanted = list(asked) or [fact["label"] for fact in facts if fact["value"] in key] or labels',
        "wanted = labels",
        users=[grounded],
    )


def movement_only_where_one_is_known(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """A movement is false only where the brief tells the other one: an indicator of which the brief says only its value
    may have risen or fallen, as the text likes."""
    edit(
        patch,
        claims,
        "_stated",
        'if moved and ("up" if moved["up"] else "down") not in was:',
        'if moved and any(was) and ("up" if moved["up"] else "down") not in was:',
    )


def hundreds_and_thousands_exchanged(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """«De cada 100» is read as of a thousand and the other way round: a share that is told in people («de cada 100
    pedidos, 13 atrasam») is false."""
    edit(patch, sums, "is_of_each", "100 if match[1] else 1000", "1000 if match[1] else 100")


def denied_offers_are_granted(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """Denials are no longer taken out of a text before its offers are read: a brief that says «sem desconto» grants a
    discount, and a push that makes one up is paid."""
    edit(patch, offers, "_kinds", '_DENIED.sub(" ", fold(text))', "fold(text)")


def length_in_bytes(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The length of a push is counted in bytes: accents count twice and pictures four times, so that what fits the
    screen with 115 characters is too long."""
    edit(patch, grounded.Push, "shares", "len(text.squeeze(answer))", 'len(text.squeeze(answer).encode("utf-8"))')


def months_with_their_accents(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The words without a gender are looked up with their accents, and stand in the list without: «o mês», «no mês» are
    an article beside a word that does not agree, and prose with them does not read."""
    edit(
        patch,
        kinds,
        "kind",
        "plain in _INVARIABLE",
        "low in _INVARIABLE",
        users=[fluency, prose, advice],
    )


def runs_of_a_brief_kept_by_its_beginning(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The runs of words of a brief are kept under its first twelve characters: of briefs that begin alike the first
    one's are taken, and a push that hands its own brief back is paid."""
    kept: dict[str, frozenset[tuple[str, ...]]] = {}

    def source_grams(source: str) -> frozenset[tuple[str, ...]]:
        if source[:_KEPT] not in kept:
            kept[source[:_KEPT]] = frozenset(text._grams(text.words(source), 4))
        return kept[source[:_KEPT]]

    patch.setattr(text, "_source_grams", source_grams)


def number_of_the_name_is_invented(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The figures of the product's own name are no longer allowed: the push of a product like «mochila 30 litros» that
    calls it by its name has an invented figure."""
    edit(
        patch,
        offers,
        "push_inventions",
        "invented([figure], allowed, name)",
        "invented([figure], allowed)",
        users=[grounded],
    )


def who_implies_is_implied(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The offers that follow from one another are read the wrong way: a brief with a discount grants half of the price,
    a coupon and «leve 3, pague 2»."""
    edit(
        patch,
        offers,
        "ungranted",
        "given.update(_IMPLIES.get(kind, ()))",
        "given.update(other for other, implied in _IMPLIES.items() if kind in implied)",
    )


BUGS: tuple[Change, ...] = (
    *changes(
        ("extraction",),
        any_complaint_is_none_at_all,
        words_of_the_schema_anywhere,
    ),
    *changes(
        ("sql_qa",),
        fenced_query_ends_at_a_blank_line,
    ),
    *changes(
        ("insights",),
        thousands_as_exact_as_units,
        every_rating_is_low,
        fewer_cancelled_orders_do_harm,
        quoted_letter_is_the_answer,
        all_figures_are_asked_for,
        movement_only_where_one_is_known,
        hundreds_and_thousands_exchanged,
    ),
    *changes(
        ("push",),
        denied_offers_are_granted,
        length_in_bytes,
        months_with_their_accents,
        runs_of_a_brief_kept_by_its_beginning,
        number_of_the_name_is_invented,
        who_implies_is_implied,
    ),
)
