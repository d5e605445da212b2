"""A blind A/B at work: which of two answers people choose, and what their choices say once the key is opened."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from tucano.errors import UserError
from tucano.rating.files import Judged, RaterKind
from tucano.rating.ledger import Ledger
from tucano.rating.pairs import PAIRS, Pair, key_of, read_key, read_pairs
from tucano.rating.session import Item, Sitting
from tucano.statistics.preference import Preference, WinRate

CHOSEN = "choices.jsonl"
FIRST, SECOND, TIE = "first", "second", "tie"


class ChoiceLine(Judged):
    """What one person chose of a pair."""

    pair: str = Field(pattern=r"^[0-9a-f]{16}$")
    choice: Literal["first", "second", "tie"]


def choice_ledger(folder: Path) -> Ledger[ChoiceLine]:
    return Ledger(folder / CHOSEN, ChoiceLine, "a choice")


class Choosing(Sitting[Pair, ChoiceLine]):
    """Pairs, of each of which the better one is chosen, or none."""

    keys = (FIRST, SECOND, TIE)

    def __init__(self, folder: Path, pairs: Sequence[Pair], rater: str, kind: RaterKind, consent: bool) -> None:
        self.consent = consent
        super().__init__(choice_ledger(folder), pairs, rater, kind)

    def _item(self, thing: Pair) -> Item:
        return Item(thing.id, thing.prompt.task, thing.prompt.user, thing.first, thing.second)

    def _about(self, record: ChoiceLine) -> str:
        return record.pair

    def _said(self, record: ChoiceLine) -> str:
        return record.choice

    def _line(self, thing: Pair, said: str, correction: str | None) -> dict[str, Any]:
        return {"pair": thing.id, "choice": said, "consent": self.consent}


def read_choices(folder: Path) -> list[ChoiceLine]:
    """What people chose, each of a pair once: what they said of it first."""
    ledger = choice_ledger(folder)
    said = [record for record in ledger.read() if record.rater_kind == "human"]
    return list({(record.rater, record.pair): record for record in reversed(said)}.values())[::-1]


def majority(choices: Sequence[ChoiceLine]) -> dict[str, str]:
    """{pair: what most people chose}; a tie where as many chose one as the other."""
    votes: dict[str, Counter[str]] = {}
    for record in choices:
        votes.setdefault(record.pair, Counter())[record.choice] += 1
    return {pair: _most(count) for pair, count in votes.items()}


def _most(count: Mapping[str, int]) -> str:
    lead = count[FIRST] - count[SECOND]
    return FIRST if lead > 0 else SECOND if lead < 0 else TIE


def preference(folder: Path) -> Preference:
    """What those people preferred who have judged every pair: before that the key stays closed, so that nobody stops
    where the result is pleasant. UserError where nobody has, or the key is elsewhere.
    """
    if not (folder / PAIRS).exists():
        raise UserError(f"{folder} holds no blind A/B; start one with tucano rate {folder} --rater NAME --ab A B")
    pairs = read_pairs(folder)
    key = read_key(folder, pairs)
    if key is None:
        raise UserError(f"{key_of(folder)} is not here; the win rate of {folder} is told where the key is")
    choices = [record for record in read_choices(folder) if record.pair in key.first]
    judged = Counter(record.rater for record in choices)
    whole = {rater for rater, count in judged.items() if count == len(pairs)}
    if pairs and not whole:
        most = max(judged.values(), default=0)
        raise UserError(
            f"{folder}: {most} of {len(pairs)} pairs are judged, and the key stays closed until a person has judged"
            " all; go on with tucano rate"
        )
    found = majority([record for record in choices if record.rater in whole])
    side, against = key.sides
    chosen = Counter(_writer(key.first[pair], said, key.sides) for pair, said in found.items() if said != TIE)
    ties = len(found) - chosen.total() + key.same
    wins = WinRate(chosen[side], chosen[against], ties)
    return Preference(side, against, len(whole), wins, dict(key.made_of))


def _writer(first: str, said: str, sides: tuple[str, str]) -> str:
    other = sides[1] if first == sides[0] else sides[0]
    return first if said == FIRST else other
