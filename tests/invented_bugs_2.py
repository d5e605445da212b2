"""Twenty-five more, by another author who had read neither the audit nor the first ones. They were shown to the audit
once, when it was done (it caught 11), and it was mended while looking at what it missed.
"""

import inspect
import textwrap
from collections.abc import Iterable
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest
from historic_bugs import Change, Patch

from rewards import extraction, grounded
from rewards.parsing import objects, sql, sql_results, text
from rewards.sets import SETS, SetName
from rewards.wording import mistold
from tucano.prompts import Task


def edit(
    patch: pytest.MonkeyPatch, owner: ModuleType | type, function: str, old: str, new: str, users: Iterable[Any] = ()
) -> None:
    """Replace the one place `old` in a function's source; `users` are the modules that import the function by name.

    The function runs with its own module's globals, as if it had been written so.
    """
    module = owner if isinstance(owner, ModuleType) else inspect.getmodule(owner)
    assert module is not None and module.__file__, owner
    before = getattr(owner, function)
    source = textwrap.dedent(inspect.getsource(before))
    if source.count(old) != 1:
        raise ValueError(f"{module.__name__}.{function} holds {source.count(old)} times {old!r}; mend the bug")
    made: dict[str, Any] = {}
    exec(compile(source.replace(old, new), module.__file__, "exec"), vars(module), made)
    patch.setattr(owner, function, made[function])
    for user in users:
        if getattr(user, function) is not before:
            raise ValueError(f"{user.__name__}.{function} is another function")
        patch.setattr(user, function, made[function])


# extraction


def missing_fields_are_free(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The mean was taken over the fields that the answer has, not over those that the reference asks for."""
    edit(
        patch,
        extraction,
        "match",
        "for name, value in expected.items()]\n    return",
        "for name, value in expected.items() if name in usable]\n    return",
        [grounded],
    )


def strict_between_braces(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """Fences were to be cut off in a simpler way, and now any talk around the object counts as strict too."""
    edit(
        patch,
        objects,
        "is_strict",
        "    bare = _bare(text)\n",
        '    bare = text[text.find("{") : text.rfind("}") + 1]\n',
    )


def complaint_by_recall(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """Written as «the share of the expected words that are there», which is recall: a list of all complaints fits."""
    edit(
        patch,
        extraction,
        "token_f1",
        "2 * len(ours & theirs) / (len(ours) + len(theirs))",
        "len(ours & theirs) / max(1, len(theirs))",
    )


def unset_flags_weigh_most(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The two weights of the flags stand in each other's branch."""
    edit(
        patch,
        extraction,
        "_told",
        "_UNSET if value is False else _ONLY_READ",
        "_ONLY_READ if value is False else _UNSET",
    )


def null_agrees(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """A null was taken for «not told», so that it agrees with whatever the reference says."""
    edit(
        patch,
        extraction,
        "agreement",
        "is not type(expected):\n        return 0.0",
        "is not type(expected):\n        return float(value is None)",
    )


def neutral_is_the_opposite(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """A lost «not»: the neutral sentiment is cut as the opposite one, and the opposite one is not."""
    edit(
        patch,
        grounded.Extraction,
        "shares",
        'opposite = bool(wanted) and felt != wanted and "neutral" not in (felt, wanted)',
        'opposite = bool(wanted) and felt != wanted and "neutral" in (felt, wanted)',
    )


# sql_qa


def whole_numbers_for_means(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The coarsest rounding was set to no decimals, so a mean rounded to a whole number is right."""
    patch.setattr(sql_results, "COARSEST", 0)


def prose_vouches_for_itself(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """States and months of the prose are looked up in the whole answer, the prose included."""
    edit(
        patch,
        mistold,
        "mistells",
        'f"{prompt.user} {query.text}"',
        'f"{prompt.user} {query.text} {query.prose}"',
        [grounded],
    )


def further_rows_are_free(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The number of rows is a lower bound only: a query that forgets its LIMIT is right."""
    edit(patch, sql_results, "fits", "len(rows) != expected.count", "len(rows) < expected.count")
    edit(
        patch,
        sql_results,
        "arrangements",
        "len(rows) != expected.count",
        "len(rows) < expected.count",
        [sql],
    )


def outcome_unpacked_wrongly(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The two fields of the outcome were unpacked in the wrong order: a query that runs is a right one."""
    edit(patch, grounded.SqlQa, "shares", "outcome.ran, outcome.equal", "outcome.equal, outcome.ran")


def explained_in_characters(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The length of the explanation is taken of the text, not of its words: ten characters earn all."""
    edit(
        patch,
        mistold,
        "explains",
        "clip(len(tokens) / FEWEST_WORDS)",
        "clip(len(prose) / FEWEST_WORDS)",
        [grounded],
    )


def withdrawal_sought_in_query(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """Whether an answer takes itself back is asked of the query's text instead of the prose."""
    edit(patch, mistold, "takes_itself_back", "without_notes(query.prose)", "query.text", [grounded])


# insights


def layout_for_figures(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The weights of structure and key figures were exchanged."""
    reward: Any = SETS[name]["insights"]
    weights = {component.name: component.weight for component in reward.components}
    weights["insights.structure"], weights["insights.key_figures"] = (
        weights["insights.key_figures"],
        weights["insights.structure"],
    )
    changed = tuple(replace(component, weight=weights[component.name]) for component in reward.components)
    patch.setitem(SETS[name], "insights", replace(reward, components=changed))


def soundness_floored(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The cap on the number of broken places moved to the wrong side: the first is counted, the others are not."""
    edit(patch, text, "sound", "0.5 ** min(places, 10)", "0.5 ** min(places, 1)")


# push


def length_in_bytes(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The length of a push is taken of its UTF-8 form, where accents count twice and an emoji four times."""
    edit(patch, grounded.Push, "shares", "len(text.squeeze(answer))", "len(text.squeeze(answer).encode())")


def copy_counted_in_grams(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The longest copy is counted in 4-grams instead of words, so three more words of the brief are free."""
    edit(patch, text, "longest_copy", "max(longest, run + 3 if run else 0)", "max(longest, run)")


def changes(tasks: tuple[Task, ...], *patches: Patch) -> tuple[Change, ...]:
    return tuple(Change(apply.__name__, apply, tasks, ("grounded",)) for apply in patches)


BUGS: tuple[Change, ...] = (
    *changes(
        ("extraction",),
        missing_fields_are_free,
        strict_between_braces,
        complaint_by_recall,
        unset_flags_weigh_most,
        null_agrees,
        neutral_is_the_opposite,
    ),
    *changes(
        ("sql_qa",),
        whole_numbers_for_means,
        prose_vouches_for_itself,
        further_rows_are_free,
        outcome_unpacked_wrongly,
        explained_in_characters,
        withdrawal_sought_in_query,
    ),
    *changes(
        ("insights",),
        layout_for_figures,
    ),
    *changes(("insights", "push"), soundness_floored),
    *changes(
        ("push",),
        length_in_bytes,
        copy_counted_in_grams,
    ),
)

_BA = "estado='BA' AND mes='2018-09'"
_FREIGHT = "FROM itens JOIN pedidos USING(pedido_id) JOIN clientes USING(cliente_id) WHERE"
_LATE = (
    "```sql\nSELECT COUNT(*) FROM pedidos JOIN clientes USING(cliente_id) WHERE dias_atraso>3 AND estado='MG';\n```\n"
)
