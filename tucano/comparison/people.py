"""What people preferred in a blind A/B, as it stands beside the numbers of a verdict."""

from dataclasses import replace
from typing import TYPE_CHECKING

from tucano.comparison.wording import ENGLISH, PORTUGUESE, Speaker
from tucano.statistics.preference import Preference

if TYPE_CHECKING:
    from tucano.comparison.compare import Comparison

LOST = "lost people"


def told(comparison: "Comparison", people: Preference | None) -> "Comparison":
    """The comparison whose verdict says also what people preferred. It changes no claim; an established loss is a
    caution.
    """
    if people is None:
        return comparison
    verdict = comparison.verdict
    lost = (LOST,) if people.wins.worse else ()
    english, portuguese = ((said(speaker, people), *map(speaker, lost)) for speaker in (ENGLISH, PORTUGUESE))
    verdict = replace(
        verdict,
        sentences=(*verdict.sentences, *english),
        sentences_pt=(*verdict.sentences_pt, *portuguese),
        cautions=(*verdict.cautions, *lost),
    )
    return replace(comparison, verdict=verdict, people=people)


def said(say: Speaker, people: Preference) -> str:
    """Like «People preferred seed-42 to champion blind on 31 of 50 prompts that they decided (62 %, …), 14 ties»."""
    wins = people.wins
    low, high = wins.interval
    return say(
        "people",
        raters=str(people.raters),
        side=people.side,
        against=people.against,
        wins=str(wins.wins),
        decided=str(wins.decided),
        rate="-" if wins.rate is None else say.number(wins.rate, 2),
        low=say.number(low, 2),
        high=say.number(high, 2),
        ties=str(wins.ties),
        reads=say("people better" if wins.better else "people worse" if wins.worse else "people open"),
    )
