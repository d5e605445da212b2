"""The promotion policy: which candidate is registered, and whether it becomes champion or waits as a challenger."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from tucano.comparison.answers import Answer, Decoding, arms_of, prompt_means
from tucano.comparison.verdict import Verdict
from tucano.comparison.wording import Speaker, messages
from tucano.presentation.numbers import english, portuguese
from tucano.settings.data import SMALLEST_STRATUM
from tucano.settings.promotion import PromotionSettings
from tucano.statistics.inference import UNKNOWN, mean_t
from tucano.statistics.preference import Preference

CHAMPION = "champion"
CHALLENGER = "challenger"
NOT_PROMOTED = "not promoted"
SPEAKERS = Speaker(messages("promotion.en.json"), english), Speaker(messages("promotion.pt.json"), portuguese)


@dataclass(frozen=True, slots=True)
class Standing:
    """What a candidate may become, and why, in both languages: champion, challenger or not promoted."""

    status: str
    reason: str
    reason_pt: str


@dataclass(frozen=True, slots=True)
class Promotion:
    """What became of a candidate and why; `version` is None when it was not registered."""

    candidate: str
    status: str
    reason: str
    model: str
    version: int | None
    reason_pt: str = ""


def stands(status: str, why: str, **words: str | float) -> Standing:
    """`why` names the sentence; numbers are written as the readers of each language expect them."""
    in_english, in_portuguese = (
        say(why, None, **{name: say.number(word) if isinstance(word, float) else word for name, word in words.items()})
        for say in SPEAKERS
    )
    return Standing(status, in_english, in_portuguese)


@dataclass(frozen=True, slots=True)
class HeldOut:
    """The test prompts: their ids by source, and {id: what it shares with others}."""

    sources: Mapping[str, Set[str]] = field(default_factory=dict)
    clusters: Mapping[str, str] = field(default_factory=dict)


STAYS_CHAMPION = stands(CHAMPION, "stays")


def refusal(
    verdict: Verdict, hacked: tuple[int, str] | None, reaudit_failure: str | None, decayed: str | None
) -> Standing | None:
    """Why what was measured does not allow the candidate even to become challenger; None when it does.

    `hacked`: step and evidence of the alarm that its training raised. `reaudit_failure` and `decayed` say what the
    re-audit and the health of its texts have against it.
    """
    if not verdict.improved:
        return refused("not improved")
    if verdict.worse_tasks:
        return refused("worse", tasks=", ".join(verdict.worse_tasks))
    if verdict.below_base:
        return refused("below base")
    if verdict.hacking_suspected:
        return refused("hacking")
    if "unconfirmed" in verdict.cautions:
        return refused("unconfirmed")
    if hacked is not None:
        step, evidence = hacked
        return refused("alarm", evidence, step=str(step))
    if reaudit_failure is not None:
        return refused("re-audit", reaudit_failure)
    return refused("decayed", decayed) if decayed is not None else None


def refused(why: str, detail: str = "", **words: str | float) -> Standing:
    """`detail` has English words only, and stands in the English sentence alone."""
    found = stands(NOT_PROMOTED, why, **words)
    return replace(found, reason=f"{found.reason}: {detail}") if detail else found


def unfaithful(difference: float) -> Standing:
    """Of a candidate that is not itself any more once merged; `difference` in nats per token."""
    return refused("unfaithful", difference=difference)


def standing(
    answers: Sequence[Answer],
    candidate: str,
    has_champion: bool,
    primary: Decoding,
    settings: PromotionSettings,
    held_out: HeldOut,
    people: Preference | None = None,
) -> Standing:
    """What a candidate becomes that nothing refuses: where a person is asked, challenger at most until then. `people`:
    what they preferred, it or the champion.
    """
    found = _standing(answers, candidate, primary, settings, held_out) if has_champion else _FIRST
    if found.status == CHAMPION and has_champion and settings.each_source:
        found = _by_source(answers, candidate, primary, settings, held_out) or found
    if found.status == CHAMPION and has_champion and people is not None and people.wins.worse:
        found = _not_preferred(people)
    if found.status == CHAMPION and settings.approval_hours is not None:
        asked = (
            say("approval", reason=why) for say, why in zip(SPEAKERS, (found.reason, found.reason_pt), strict=True)
        )
        return Standing(CHALLENGER, *asked)
    return found


_FIRST = stands(CHAMPION, "first")


def _standing(
    answers: Sequence[Answer], candidate: str, primary: Decoding, settings: PromotionSettings, held_out: HeldOut
) -> Standing:
    """Against the champion: it has to be at most the margin below it, by the bound."""
    if CHAMPION not in arms_of(answers):
        return stands(CHALLENGER, "another champion")
    bound = noninferiority_bound(answers, candidate, primary, held_out.clusters)
    if bound == UNKNOWN[0]:
        return stands(CHALLENGER, "nothing known")
    below = max(0.0, -bound)
    if bound > -settings.margin:
        return stands(CHAMPION, "near the champion", below=below)
    return stands(CHALLENGER, "below the champion", below=below, margin=settings.margin)


def _not_preferred(people: Preference) -> Standing:
    """It is no worse by the reward, and people see that it is."""
    wins = people.wins
    low, high = wins.interval
    return stands(CHALLENGER, "not preferred", wins=str(wins.wins), decided=str(wins.decided), low=low, high=high)


def _by_source(
    answers: Sequence[Answer], candidate: str, primary: Decoding, settings: PromotionSettings, held_out: HeldOut
) -> Standing | None:
    """Why it stays challenger: on the prompts of one source it may be worse, or on all together it does not win. None
    where it may be champion.
    """
    for source, ids in sorted(held_out.sources.items()):
        if len(ids) < SMALLEST_STRATUM:
            return stands(CHALLENGER, "few of a source", count=str(len(ids)), source=source)
        here = [answer for answer in answers if answer.prompt_id in ids]
        bound = noninferiority_bound(here, candidate, primary, held_out.clusters)
        if bound == UNKNOWN[0]:
            return stands(CHALLENGER, "nothing known by source", source=source)
        if bound <= -settings.margin:
            return stands(CHALLENGER, "below by source", below=-bound, margin=settings.margin, source=source)
    bound = noninferiority_bound(answers, candidate, primary, held_out.clusters)
    return None if bound > 0 else stands(CHALLENGER, "not above the champion", bound=bound)


def noninferiority_bound(
    answers: Sequence[Answer], challenger: str, decoding: Decoding, clusters: Mapping[str, str]
) -> float:
    """One-sided 95 % lower bound of challenger - champion in mean reward per prompt (Student's t); prompts of one
    cluster are taken together, one without a cluster stands alone. -1 where every prompt differs by the same, so that
    nothing is known of the spread: two arms of equal answers, or rewards that never move.

    Of the mean and not of the typical prompt: that stays where it was while one prompt in five loses half.
    """
    means = prompt_means(answers, "reward")
    challengers = means[challenger, decoding]
    champions = means[CHAMPION, decoding]
    differences = [challengers[prompt] - champions[prompt] for prompt in champions]
    return mean_t(differences, [clusters.get(prompt, prompt) for prompt in champions], level=0.90).low
