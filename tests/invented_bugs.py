"""Twenty-five bugs of `grounded` that no run has had, invented by somebody who had not read the audit: slips and
well-meant rewritings. The audit was mended while looking at what it missed of these.

Most of them edit the source of a reward's function as a programmer would, and compile it anew where it stands.
"""

import inspect
import re
import textwrap
from collections.abc import Callable
from typing import Any

import pytest
from historic_bugs import Change

from rewards import grounded, v42
from rewards.parsing import advice, claims, offers, prose, sql, sql_results, text
from rewards.sets import SetName

GROUNDED: tuple[SetName, ...] = ("grounded",)


def _edit(
    patch: pytest.MonkeyPatch, home: Any, name: str, *changes: tuple[str, str], users: tuple[Any, ...] = ()
) -> None:
    """Edit a function where it stands and in the modules that import it by name."""
    function = inspect.unwrap(getattr(home, name))
    source = textwrap.dedent(inspect.getsource(function))
    for old, new in changes:
        if source.count(old) != 1:
            raise AssertionError(f"{name} holds {old!r} {source.count(old)} times; mend the bug")
        source = source.replace(old, new)
    made: dict[str, Any] = {}
    exec(compile(source, f"<{name}, edited>", "exec"), function.__globals__, made)
    for place in (home, *users):
        patch.setattr(place, name, made[name])


# extraction


def form_undamped(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The branches of a conditional are swapped: form earns all where the fields are known to be wrong."""
    _edit(
        patch,
        grounded.Extraction,
        "shares",
        ("(damped(matched**2) if expected else 1.0)", "(1.0 if expected else damped(matched**2))"),
    )


# sql_qa


def results_within_a_fifth(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """A tolerance meant for float noise lets numbers through that are 20 % off."""
    _edit(patch, sql_results, "_is_same", ("rel_tol=1e-6", "rel_tol=0.2"))


def order_forgotten(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """A misspelt key of the syntax tree: no query is ever ordered, so rows may stand in any order."""
    _edit(patch, sql, "is_ordered", ('"order"', '"order_by"'))


def tells_too_little(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The subset is taken the wrong way round: prose is misleading where it does not repeat every state and month."""
    _edit(patch, prose, "tells_of_others", ("not found <= known", "not known <= found"))


# insights


def figures_within_a_fifth(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """A figure shows every number that is up to 20 % away («arredondar não é inventar»)."""

    def occurs(number: float, found: Any) -> bool:
        return any(abs(abs(number) - figure.value) <= max(figure.tolerance, 0.2 * abs(number)) for figure in found)

    patch.setattr(claims, "occurs", occurs)


def movement_unseen(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The pattern of «subiu» and «caiu» lost the space before it, so it matches behind no label any more."""
    pattern = claims._MOVED.pattern.removeprefix(r"\W+")
    patch.setattr(claims, "_MOVED", re.compile(pattern))


def all_figures_wanted(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """A label is looked up among the key values: none is found, and the fallback wants every figure of the brief."""
    _edit(patch, claims, "insight_figures", ('if fact["value"] in key]', 'if fact["label"] in key]'), users=(grounded,))


def points_end_sentences(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """Sentences end at every point, also at the one within «R$ 63.272»."""
    patch.setattr(claims, "_SENTENCE", re.compile(r"[.;!?\n]"))


def first_falsehood_free(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """Off by one: the gate for invented figures closes at the second one only."""
    _edit(patch, grounded.Insights, "shares", ("if inventions:", "if inventions > 1:"))


def one_means_is_none(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """Off by one: a line of advice is concrete from its second means on."""
    _edit(patch, prose, "concrete", ("1 <= means", "1 < means"), users=(advice,))


# push


def push_to_140(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """Both limits of a push's length moved by 20 characters: all up to 140, nothing from 220."""
    _edit(patch, v42, "push_length_share", ("(200 - characters)", "(220 - characters)"))


def product_inside_words(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The name is looked for as characters and not as words: «ração» stands in «coração»."""

    def names_product(prompt: Any, answer: str) -> bool:
        named = (prompt.reference.get("product", ""), *prompt.reference.get("terms", ()))
        return any(term and text.fold(term) in text.fold(answer) for term in named)

    for place in (offers, grounded):
        patch.setattr(place, "names_product", names_product)


def offers_swapped(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The difference is taken the wrong way round: what the brief offers and the push leaves out is the invention."""
    _edit(
        patch,
        offers,
        "ungranted",
        ("len(_kinds(answer, name) - given)", "len(given - _kinds(answer, name))"),
    )


def unknown_and_other_unit(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """`&` for `|`: a number is invented only if the brief knows neither its value nor its unit."""
    _edit(patch, offers, "push_inventions", ("false | others", "false & others"), users=(grounded,))


def formal_in_capitals(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The formal words are written as a letter has them, with a capital, but looked for in folded text."""
    pattern = re.sub(r"\\b([a-z])", lambda found: rf"\b{found[1].upper()}", v42.FORMAL.pattern)
    patch.setattr(v42, "FORMAL", re.compile(pattern))


def other_product_unharmed(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """A negation is missing: a push that does not name its product keeps its other credit, where one is known."""
    _edit(patch, grounded.Push, "shares", ("if named or not known", "if named or known"))


def all_of_no_figures(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """`all` for `any`: a brief without figures counts as shown, whatever the push says."""
    _edit(
        patch,
        grounded.Push,
        "shares",
        ("figure = any(text.occurs(number, shown) for", "figure = all(text.occurs(number, shown) for"),
    )


def _bug(apply: Callable[[pytest.MonkeyPatch, SetName], None], *tasks: str) -> Change:
    return Change(apply.__name__, apply, tasks, GROUNDED)


BUGS: tuple[Change, ...] = (
    _bug(form_undamped, "extraction"),
    _bug(results_within_a_fifth, "sql_qa"),
    _bug(order_forgotten, "sql_qa"),
    _bug(tells_too_little, "sql_qa"),
    _bug(figures_within_a_fifth, "insights", "push"),
    _bug(movement_unseen, "insights"),
    _bug(all_figures_wanted, "insights"),
    _bug(points_end_sentences, "insights"),
    _bug(first_falsehood_free, "insights"),
    _bug(one_means_is_none, "insights"),
    _bug(push_to_140, "push"),
    _bug(product_inside_words, "push"),
    _bug(offers_swapped, "push"),
    _bug(unknown_and_other_unit, "push"),
    _bug(formal_in_capitals, "push"),
    _bug(other_product_unharmed, "push"),
    _bug(all_of_no_figures, "push"),
)
