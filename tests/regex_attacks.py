"""Texts that are the worst for a regular expression, found from its own parts: each repetition is fed with what it repeats,
behind what leads to it, and ended by what fails.
"""

import math
import re
import signal
import time
from collections import deque
from collections.abc import Iterator
from re import _parser  # type: ignore[attr-defined]
from typing import Any

from patterns import ALL

CHARACTERS = [chr(code) for code in [*range(9, 14), *range(32, 127), *map(ord, "áçÁñª½–“…—•€😀\u0301\xa0")]]
ENDS = ("", "\n\x00")
MOST = 0.05
"""Seconds of CPU time for 10,000 characters, on a core that reads the yardstick in `QUIET` seconds."""
QUIET = 0.02
_YARDSTICK = re.compile(r"[\"“«][^\"”»\n]{1,300}[\"”»]")
FAR = 40
"""Repetitions of at most so many cost a factor, not growth."""


class Parts:
    """What a parsed pattern is made of: `repeated` holds (what leads there, what is repeated) of each long repetition."""

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self.sets: list[frozenset[str]] = []
        self.groups: dict[int, str] = {}
        self.repeated: list[tuple[str, list[str]]] = []
        self.tree = _parser.parse(pattern, flags)
        self._collect(self.tree)
        self.walk(list(self.tree), "")

    def _collect(self, tree: Any) -> None:
        for node in tree:
            if isinstance(node, tuple) and len(node) == 2 and str(node[0]) in _ONE:
                self.sets.append(self._letters(node))
            elif isinstance(node, tuple | list | _parser.SubPattern):
                self._collect(node)

    def _letters(self, node: tuple[Any, Any]) -> frozenset[str]:
        """The characters that one node for a single character takes"""
        state = _parser.State()
        state.flags, state.str = self.tree.state.flags, ""
        one = re._compiler.compile(_parser.SubPattern(state, [node]))  # type: ignore[attr-defined]
        return frozenset(filter(one.fullmatch, CHARACTERS))

    def letters(self, node: tuple[Any, Any]) -> list[str]:
        """Of these, one for each way to belong to the pattern's sets; those that belong to most come first."""
        kinds = {tuple(letter in held for held in self.sets): letter for letter in sorted(self._letters(node))[::-1]}
        return [kinds[kind] for kind in sorted(kinds, key=sum, reverse=True)][:4]

    def walk(self, nodes: list[Any], before: str) -> list[str]:
        """Some texts that the nodes match, behind `before`; notes the repetitions among them."""
        said = [""]
        for op, value in nodes:
            name, found = str(op), [""]
            if name in _ONE:
                found = self.letters((op, value)) or [""]
            elif name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
                least, most, body = value
                found = self.walk(list(body), before + said[0])
                if most > FAR:
                    self.repeated.append((before + said[0], found))
                found = [one * max(least, 1) for one in found] if least else ["", *found]
            elif name == "SUBPATTERN":
                found = self.walk(list(value[3]), before + said[0])
                self.groups[value[0]] = found[0]
            elif name == "ATOMIC_GROUP":
                found = self.walk(list(value), before + said[0])
            elif name == "BRANCH":
                each = [self.walk(list(branch), before + said[0]) for branch in value[1]]
                found = [one[0] for one in each][:6]
            elif name == "GROUPREF":
                found = [self.groups.get(value, "")]
            elif name == "ASSERT":
                ahead = self.walk(list(value[1]), before + said[0])
                found = ahead if value[0] < 0 else [""]
            elif name == "ASSERT_NOT":
                self.walk(list(value[1]), before + said[0])
            elif name == "GROUPREF_EXISTS":
                found = self.walk(list(value[1]), before + said[0])
            said = [said[0] + one for one in found[:5]] + [one + found[0] for one in said[1:3]]
        return list(dict.fromkeys(said))


_ONE = {"LITERAL", "NOT_LITERAL", "IN", "ANY"}


def attacks(pattern: re.Pattern[str]) -> Iterator[tuple[str, str, str]]:
    """(how a text begins, what is repeated, how it ends)"""
    seen = set()
    for before, bodies in Parts(pattern.pattern, pattern.flags).repeated:
        for body in bodies:
            for start, pump in ((before, body), ("", before + body), ("", before + body + " ")):
                if pump and (start, pump) not in seen:
                    seen.add((start, pump))
                    yield from ((start, pump, end) for end in ENDS)


def text_of(attack: tuple[str, str, str], length: int) -> str:
    start, pump, end = attack
    return start + pump * (length // len(pump)) + end


class TooLong(Exception):
    pass


def seconds(pattern: re.Pattern[str], methods: set[str], text: str, limit: float = 1) -> float:
    """CPU time of the methods, infinite beyond the limit. Of the main thread alone: a signal ends what does not end."""

    def end(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGVTALRM, end)
    begun = time.process_time()
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, limit)
        for method in methods or {"search"}:
            if method in ALL:
                deque(pattern.finditer(text), maxlen=0)
            else:
                getattr(pattern, method)(text)
    except TooLong:
        return math.inf
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    return time.process_time() - begun


def slowness() -> float:
    """How many times longer than a quiet core this one takes now, at least 1: shared machines differ by a factor of 3."""
    return max(1.0, min(seconds(_YARDSTICK, {"search"}, "“" * 10_000) for _ in range(3)) / QUIET)


def slow(pattern: re.Pattern[str], methods: set[str]) -> str:
    """How a pattern is too slow, and for which text; empty where none was found."""
    for attack in attacks(pattern):
        if any(
            seconds(pattern, methods, text_of(attack, size)) < MOST * (size / 10_000) ** 2 / 2 for size in (500, 2_000)
        ):
            continue
        at_10_000, at_20_000 = (
            min(seconds(pattern, methods, text_of(attack, size)) for _ in range(3)) for size in (10_000, 20_000)
        )
        most = MOST * slowness() if at_20_000 > MOST else MOST
        if at_10_000 > most or (at_20_000 > most and at_20_000 > 6 * at_10_000):
            return f"{at_10_000:.3f} s for 10,000 and {at_20_000:.3f} s for 20,000 characters of {attack}"
    return ""
