"""Twenty-five more, by another author who had read neither the audit nor what the others wrote. Shown to the audit once
it caught 8: each changes what one kind of answer earns and leaves all others alone.
"""

import re

import pytest
from historic_bugs import Change
from invented_bugs_2 import changes, edit

from rewards import grounded
from rewards.parsing import (
    advice,
    calls,
    claims,
    fluency,
    offers,
    prose,
    sql,
    sums,
    text,
)
from rewards.sets import SetName
from rewards.wording import unwanted


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


def blank_lines_end_fenced_queries(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """One pattern for the end of a query, in a code fence and outside: a blank line between WITH and SELECT cuts a
    fenced query in two, and none is found that runs.
    """
    patch.setattr(sql, "_FENCED_END", sql._END)


def thousands_are_exact(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The half of the last digit is not scaled: «R$ 77 mil» shows 77,000 and no longer 77,410, so that who rounds to
    thousands tells a false figure.
    """
    edit(
        patch,
        text,
        "placed_figures",
        "0.5 * scale * 10.0**-decimals",
        "0.5 * 10.0**-decimals",
        users=[claims],
    )


def movements_are_read_farther_on(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """A movement is searched in all of the sentence behind a label: in «a receita chegou a R$ 90 mil e o frete caiu» the
    receipts fell too, which is false.
    """
    edit(patch, claims, "_stated", "_MOVED.match(sentence, end)", "_MOVED.search(sentence, end)")


def an_aim_holds_for_all_that_follows(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """An aim that one line names is not forgotten at the line's end: in the lines below it figures may be invented."""
    edit(
        patch,
        claims,
        "_said",
        '    for row, heading in rows(answer, [float(fact["value"]) for fact in facts]):\n'
        "        aimed = bool(proposed.AIM.search(heading))\n",
        '    aimed = False\n    for row, heading in rows(answer, [float(fact["value"]) for fact in facts]):\n',
    )


def tables_of_two_columns(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """Of a table's row only the first two cells are read: who puts what to do into the third advises nothing."""
    edit(
        patch,
        advice,
        "_item",
        "{''.join(f'; {cell}' for cell in cells[2:])}.",
        ".",
    )


def a_blank_line_ends_the_plan(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """Every row without a mark says anew whether a plan follows, a blank one too: under a heading with a blank line
    below it, items without a verb are no advice.
    """
    edit(
        patch,
        prose,
        "advice_lines",
        'if not marked and _HEADING.fullmatch(row.strip("*#_ \\t")):',
        "if not marked:",
        users=[grounded],
    )


def fewer_cancelled_orders_are_harm(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The exception for orders that are no good ones lost a case: «reduzir os pedidos cancelados» would make orders
    fewer, and takes all credit.
    """
    patch.setattr(
        unwanted, "_HARM", re.compile(unwanted._HARM.pattern.replace("(?:cancelad|devolvid|", "(?:devolvid|"))
    )


def growth_minus_one_point(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """A bracket is lost in the rate of growth, 100 a / b - 1: «de R$ 18 para R$ 27, uma alta de 50%» tells a false
    figure.
    """
    edit(
        patch,
        sums,
        "_results",
        '(100 * (value / second - 1), "%")',
        '(100 * value / second - 1, "%")',
    )


def plural_of_the_last_word(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The plural is put at the end of a name: «fones de ouvido» no longer names the «fone de ouvido»."""
    edit(patch, offers, "_plural", "[several, *term[1:]]", '[*term[:-1], f"{term[-1]}s"]')


def pushes_measured_in_bytes(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """A push is measured in bytes: accents count twice and pictures four times, so that one that just fits is cut."""
    edit(
        patch,
        grounded.Push,
        "shares",
        "len(text.squeeze(answer))",
        "len(text.squeeze(answer).encode())",
    )


def the_name_is_one_word_only_in_front(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The product's name counts as one word only where the push begins with it: elsewhere a long name and the offer
    behind it, in the brief's words, are a copy of the brief, and the push earns nothing.
    """
    edit(
        patch,
        fluency,
        "handed_back",
        "if product and name.search(said):",
        "if product and name.match(said):",
        users=[grounded],
    )


def no_flight_from_the_heat(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """Words against a product lost their exceptions: «fuja do calor», «fuja da rotina» warn of the product."""
    patch.setattr(offers, "_AGAINST", re.compile(re.sub(r"\|fuja\(\?!.*\)\\b\)\)", r"|fuja)", offers._AGAINST.pattern)))


def codes_in_small_letters(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """Codes are looked for in folded text, where their pattern finds none: a code that the brief does not have is no
    invention.
    """
    edit(patch, offers, "other_codes", "_CODE.findall(answer)", "_CODE.findall(fold(answer))")


def the_coupon_is_a_note(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The labels of a brief's notes are read without the exception for coupons: «use o cupom: VOLTEI» hands a note of
    the brief back, and the push keeps a quarter.
    """
    edit(patch, calls, "_labels", r"((?!cupom\b|codigo\b)\w{5,30})", r"(\w{5,30})")


BUGS: tuple[Change, ...] = (
    *changes(
        ("extraction",),
        values_in_words_weighed_the_other_way,
    ),
    *changes(
        ("sql_qa",),
        blank_lines_end_fenced_queries,
    ),
    *changes(
        ("insights",),
        thousands_are_exact,
        movements_are_read_farther_on,
        an_aim_holds_for_all_that_follows,
        tables_of_two_columns,
        a_blank_line_ends_the_plan,
        fewer_cancelled_orders_are_harm,
        growth_minus_one_point,
    ),
    *changes(
        ("push",),
        plural_of_the_last_word,
        pushes_measured_in_bytes,
        the_name_is_one_word_only_in_front,
        no_flight_from_the_heat,
        codes_in_small_letters,
        the_coupon_is_a_note,
    ),
)
