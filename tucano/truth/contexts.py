"""Whether the figures of an answer are the prompt's, and stand there beside the words that they stand beside here."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from tucano.truth.facts import UNKNOWN
from tucano.truth.figures import Figure, Quantity, figures, follows, worked_out
from tucano.truth.reading import plain, word_set
from tucano.truth.standing import MOST_FIGURES

SMALL = 31
"""A number without a unit up to this one may count anything: days, items, hours."""
LETTERS = 5
ALL = (100.0, "%")
"""Says of anything that it is so wholly («100% algodão»)."""
MEANING = {
    "figures": "figures of the answer",
    "figures asked": "figures of the prompt",
    "figures used": "share of the prompt's figures that it has",
    "new figures": "figures that the prompt lacks",
    "loose figures": "of these, such as no step of arithmetic leads to",
    "loose shares": "of these, shares in per cent",
    "loose amounts": "of these, amounts of money",
    "loose numbers": "of these, numbers above 31 or with a unit",
    "same words": "share of the shared figures that stand beside a word as in the prompt",
    "other words": "shared figures beside a word that the prompt has beside another figure alone",
    "no words": "shared figures beside neither",
    "other part": "shared figures behind a small word that the prompt has before another figure alone",
    "turned round": "pairs of shared figures in another sequence",
    "times added": "days, months and hours that the prompt lacks",
    "times left": "those of the prompt that it lacks",
}
_TOKEN = re.compile(r"[a-z]{2,}")
_CUT = re.compile(r"[.!?;\n|,]")
_SMALL_WORDS = word_set(
    "de da do das dos em no na nos nas por para com um uma ate que so ao aos pelo pela mais seu sua"
)
_TIMES = re.compile(
    r"\b(?:segunda|terca|quarta|quinta|sexta|sabado|domingo|janeiro|fevereiro|marco|abril|maio|junho|julho|agosto"
    r"|setembro|outubro|novembro|dezembro|hoje|amanha|ontem|meia-noite|semana|mes|ano|horas?|minutos?|dias?)\b"
)


@dataclass(frozen=True, slots=True)
class Placed:
    """A figure with the beginnings of the content words beside it, and the small or other word right before it."""

    figure: Figure
    beside: frozenset[str]
    before: str


def figure_facts(prompt: str, answer: str) -> dict[str, float]:
    """The facts of `MEANING`."""
    text = plain(answer)
    given, steps = _placed(plain(prompt))
    said = figures(text)[:MOST_FIGURES]
    new = [figure for figure in said if not any(figure.agrees(one.figure) for one in given)]
    loose = [figure for figure in new if not (follows(figure, steps) or (figure.value, figure.unit) == ALL)]
    shared = _shared(_read(text, said), given)
    kinds = [_kind(found) for found in shared]
    places = [one.first for one in shared]
    times = set(_TIMES.findall(text))
    asked = set(_TIMES.findall(plain(prompt)))
    used = sum(any(figure.agrees(one.figure) for figure in said) for one in given)
    units = [figure.unit for figure in loose]
    large = [figure for figure in loose if figure.unit or figure.value > SMALL]
    return {
        "figures": float(len(said)),
        "figures asked": float(len(given)),
        "figures used": used / len(given) if given else UNKNOWN,
        "new figures": float(len(new)),
        "loose figures": float(len(loose)),
        "loose shares": float(units.count("%")),
        "loose amounts": float(units.count("R$")),
        "loose numbers": float(len(large)),
        "same words": kinds.count("same") / len(kinds) if kinds else UNKNOWN,
        "other words": float(kinds.count("other")),
        "no words": float(kinds.count("none")),
        "other part": float(sum(map(_is_other_part, shared))),
        "turned round": float(sum(one > other for one, other in pairwise(places))),
        "times added": float(len(times - asked)),
        "times left": float(len(asked - times)),
    }


class _Shared(NamedTuple):
    """A figure that the prompt has: those that it may be, all others, and the place of the first that it may be."""

    one: Placed
    mine: list[Placed]
    others: list[Placed]
    first: int


def _shared(ours: Sequence[Placed], given: Sequence[Placed]) -> list[_Shared]:
    found = []
    for one in ours:
        places = [place for place, to in enumerate(given) if one.figure.agrees(to.figure)]
        if places:
            known = frozenset(places)
            others = [to for place, to in enumerate(given) if place not in known]
            found.append(_Shared(one, [given[place] for place in places], others, places[0]))
    return found


@lru_cache(maxsize=4096)
def _placed(prompt: str) -> tuple[list[Placed], list[Quantity]]:
    """The prompt's figures in their places, and what is worked out of them."""
    found = figures(prompt)
    return _read(prompt, found), worked_out([(figure.value, figure.unit) for figure in found])


def _read(text: str, found: Sequence[Figure]) -> list[Placed]:
    cuts = [0, *(cut.end() for cut in _CUT.finditer(text)), len(text) + 1]
    placed = []
    for figure in found:
        start = cuts[bisect_right(cuts, figure.start) - 1]
        end = cuts[bisect_left(cuts, figure.end)]
        ahead = _TOKEN.findall(text, start, figure.start)
        behind = _TOKEN.findall(text, figure.end, end)
        nearest = [word for word in ahead if word not in _SMALL_WORDS][-2:]
        nearest += [word for word in behind if word not in _SMALL_WORDS][:2]
        placed.append(
            Placed(figure, frozenset(word[:LETTERS] for word in nearest), ahead[-1][:LETTERS] if ahead else "")
        )
    return placed


def _kind(found: _Shared) -> str:
    """Whether a figure stands beside the «same» words as in the prompt, those of «other» figures alone, or «none»."""
    beside = found.one.beside
    own = frozenset[str]().union(*(to.beside for to in found.mine))
    theirs = frozenset[str]().union(*(to.beside for to in found.others))
    return "same" if beside & own else "other" if beside & (theirs - own) else "none"


def _is_other_part(found: _Shared) -> bool:
    """Whether the word right before a figure is another figure's in the prompt («de 49,90 por 64,90» turned round)."""
    before, own = found.one.before, {to.before for to in found.mine}
    return bool(before) and before not in own and before in {to.before for to in found.others}
