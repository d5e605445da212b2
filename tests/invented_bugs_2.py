"""Twenty-five more, by another author who had read neither the audit nor the first ones. They were shown to the audit
once, when it was done (it caught 11), and it was mended while looking at what it missed.
"""

import inspect
import re
import textwrap
from collections.abc import Iterable
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest
from historic_bugs import Change, Patch

from rewards import extraction, grounded
from rewards.parsing import claims, objects, offers, proposed, text
from rewards.sets import SETS, SetName
from rewards.wording import unwanted
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


def null_agrees(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """A null was taken for «not told», so that it agrees with whatever the reference says."""
    edit(
        patch,
        extraction,
        "agreement",
        "is not type(expected):\n        return 0.0",
        "is not type(expected):\n        return float(value is None)",
    )


# sql_qa


# insights


def known_figures_used_up(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The known figures became an iterator, which the first figure without a label exhausts for all later ones."""
    edit(
        patch,
        claims,
        "insight_figures",
        "answer), facts, known)",
        "answer), facts, (number for number in known))",
        [grounded],
    )


def movements_never_found(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The pattern was anchored with ^, which matches at the sentence's beginning alone, wherever the search starts."""
    patch.setattr(claims, "_MOVED", re.compile(rf"^{claims._MOVED.pattern}"))


def all_after_de_is_proposed(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """«de» was added to the words of a proposal for «meta de 30 %», and frees «receita de R$ 11.652» as well."""
    patch.setattr(proposed, "PROPOSED", re.compile(proposed.PROPOSED.pattern.replace("|cerca de", "|cerca de|de", 1)))


def key_figures_are_all(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The key figures are read from the field of all figures, so that an answer has to tell every one."""
    edit(patch, claims, "insight_figures", 'get("key_figures", ())', 'get("figures", ())', [grounded])


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


def harm_only_with_negation(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """«or» became «and»: harmful advice is found only where the text also advises against itself twice."""
    edit(patch, unwanted, "harms", "_DECEIVES.search(folded)) or", "_DECEIVES.search(folded)) and", [grounded])


def soundness_floored(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The cap on the number of broken places moved to the wrong side: the first is counted, the others are not."""
    edit(patch, text, "sound", "0.5 ** min(places, 10)", "0.5 ** min(places, 1)")


# push


def length_in_bytes(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The length of a push is taken of its UTF-8 form, where accents count twice and an emoji four times."""
    edit(patch, grounded.Push, "shares", "len(text.squeeze(answer))", "len(text.squeeze(answer).encode())")


def offers_counted_not_compared(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The numbers of kinds are subtracted, not the kinds: another offer than the granted one is free."""
    edit(
        patch,
        offers,
        "ungranted",
        "len(_kinds(answer, name) - given)",
        "max(0, len(_kinds(answer, name)) - len(given))",
    )


def copy_counted_in_grams(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The longest copy is counted in 4-grams instead of words, so three more words of the brief are free."""
    edit(patch, text, "longest_copy", "max(longest, run + 3 if run else 0)", "max(longest, run)")


def other_product_keeps_worth(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """A lost «not»: only where no product is known is one missed."""
    edit(patch, grounded.Push, "shares", "if named or not known else", "if named or known else")


def formal_as_typed(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The formal words are sought in the answer as typed, where «Prezado» has a capital letter."""
    edit(patch, grounded.Push, "shares", "v42.FORMAL.search(folded)", "v42.FORMAL.search(answer)")


def units_of_the_answer(patch: pytest.MonkeyPatch, name: SetName) -> None:
    """The units that a push may use are taken from the push itself, so that a discount may become a price."""
    edit(patch, offers, "push_inventions", "in figures(prompt.user) if", "in shown if", [grounded])


def changes(tasks: tuple[Task, ...], *patches: Patch) -> tuple[Change, ...]:
    return tuple(Change(apply.__name__, apply, tasks, ("grounded",)) for apply in patches)


BUGS: tuple[Change, ...] = (
    *changes(
        ("extraction",),
        strict_between_braces,
        complaint_by_recall,
        null_agrees,
    ),
    *changes(
        ("sql_qa",),
    ),
    *changes(
        ("insights",),
        known_figures_used_up,
        movements_never_found,
        all_after_de_is_proposed,
        key_figures_are_all,
        layout_for_figures,
        harm_only_with_negation,
    ),
    *changes(("insights", "push"), soundness_floored),
    *changes(
        ("push",),
        length_in_bytes,
        offers_counted_not_compared,
        copy_counted_in_grams,
        other_product_keeps_worth,
        formal_as_typed,
        units_of_the_answer,
    ),
)

_BA = "estado='BA' AND mes='2018-09'"
_FREIGHT = "FROM itens JOIN pedidos USING(pedido_id) JOIN clientes USING(cliente_id) WHERE"
_LATE = (
    "```sql\nSELECT COUNT(*) FROM pedidos JOIN clientes USING(cliente_id) WHERE dias_atraso>3 AND estado='MG';\n```\n"
)
