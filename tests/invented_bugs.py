"""Twenty-five bugs of `grounded` that no run has had, invented by somebody who had not read the audit: slips and
well-meant rewritings. The audit was mended while looking at what it missed of these.

Most of them edit the source of a reward's function as a programmer would, and compile it anew where it stands.
"""

import inspect
import re
import textwrap
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import pytest
from historic_bugs import Change

from rewards import extraction, grounded, v42
from rewards.parsing import objects, sql, sql_results
from rewards.sets import SetName
from rewards.wording import mistold

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


def only_given_fields(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The mean is taken over the fields that the answer gives, so a field left out costs nothing of the match."""
    _edit(
        patch,
        extraction,
        "match",
        (
            "agreements(usable, expected, prompt).values()",
            "[share for name, share in agreements(usable, expected, prompt).items() if name in usable]",
        ),
        (
            "[_told(name, value, prompt) for name, value in expected.items()]",
            "[_told(name, value, prompt) for name, value in expected.items() if name in usable]",
        ),
        users=(grounded,),
    )


def accents_in_texts(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """Texts are split by hand instead of by `words`, which folded accents and dropped punctuation."""
    _edit(
        patch,
        extraction,
        "token_f1",
        ("set(words(text))", "set(text.lower().split())"),
        ("set(words(expected))", "set(expected.lower().split())"),
    )


def shown_weighs_most(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The weights of a field that the prompt states and of one that only reading tells are swapped."""
    patch.setattr(extraction, "_SHOWN", 2.0)
    patch.setattr(extraction, "_ONLY_READ", 0.2)


def stars_turned(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """`<=` for `>=`: what fits five stars is «negative», and what fits one or two is «positive»."""
    _edit(patch, extraction, "fits_stars", ("stars >= 4", "stars <= 4"), users=(grounded,))


def two_objects_pass(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """Off by one: an answer is single with two objects too, so a model may hedge."""
    _edit(patch, objects, "is_single", ("<= 1", "<= 2"), users=(grounded,))


def form_undamped(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The branches of a conditional are swapped: form earns all where the fields are known to be wrong."""
    _edit(
        patch,
        grounded.Extraction,
        "shares",
        ("(damped(matched**2) if expected else 1.0)", "(1.0 if expected else damped(matched**2))"),
    )


# sql_qa


def ran_is_right(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The wrong field of the outcome: a query that runs counts as one with the gold result."""
    _edit(
        patch,
        grounded.SqlQa,
        "shares",
        ("ran, equal = outcome.ran, outcome.equal", "ran, equal = outcome.ran, outcome.ran"),
    )


def expected_by_store(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """What is expected is kept by store alone, so every prompt is compared with the first prompt's gold result."""
    kept: dict[Path, sql_results.Expected] = {}
    compute: Callable[[Path, str], sql_results.Expected] = inspect.unwrap(sql._expected)

    @wraps(compute)
    def expected(database: Path, query: str) -> sql_results.Expected:
        if database not in kept:
            kept[database] = compute(database, query)
        return kept[database]

    patch.setattr(sql, "_expected", expected)


def results_within_a_fifth(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """A tolerance meant for float noise lets numbers through that are 20 % off."""
    _edit(patch, sql_results, "_is_same", ("rel_tol=1e-6", "rel_tol=0.2"))


def order_forgotten(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """A misspelt key of the syntax tree: no query is ever ordered, so rows may stand in any order."""
    _edit(patch, sql, "is_ordered", ('"order"', '"order_by"'))


def tells_too_little(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The subset is taken the wrong way round: prose is misleading where it does not repeat every state and month."""
    _edit(patch, mistold, "tells_of_others", ("not found <= known", "not known <= found"))


def tables_keep_case(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """Tables are no longer compared in lower case, though SQLite does not care."""
    _edit(patch, sql, "names", ("{table.name.lower() for", "{table.name for"), users=(grounded,))


# insights


# push


def push_to_140(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """Both limits of a push's length moved by 20 characters: all up to 140, nothing from 220."""
    _edit(patch, v42, "push_length_share", ("(200 - characters)", "(220 - characters)"))


def formal_in_capitals(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The formal words are written as a letter has them, with a capital, but looked for in folded text."""
    pattern = re.sub(r"\\b([a-z])", lambda found: rf"\b{found[1].upper()}", v42.FORMAL.pattern)
    patch.setattr(v42, "FORMAL", re.compile(pattern))


def _bug(apply: Callable[[pytest.MonkeyPatch, SetName], None], *tasks: str) -> Change:
    return Change(apply.__name__, apply, tasks, GROUNDED)


BUGS: tuple[Change, ...] = (
    _bug(only_given_fields, "extraction"),
    _bug(accents_in_texts, "extraction"),
    _bug(shown_weighs_most, "extraction"),
    _bug(stars_turned, "extraction"),
    _bug(two_objects_pass, "extraction"),
    _bug(form_undamped, "extraction"),
    _bug(ran_is_right, "sql_qa"),
    _bug(expected_by_store, "sql_qa"),
    _bug(results_within_a_fifth, "sql_qa"),
    _bug(order_forgotten, "sql_qa"),
    _bug(tells_too_little, "sql_qa"),
    _bug(tables_keep_case, "sql_qa"),
    _bug(push_to_140, "push"),
    _bug(formal_in_capitals, "push"),
)
