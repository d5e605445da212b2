"""What the numbers allow to be said, in words that a business reader understands and a statistician accepts.

"Not significant" is never said as "no difference", and a drop is said as a drop. The facts are in
tucano/comparison/claims.py, the words in verdict.en.json and verdict.pt.json.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from tucano.artifacts.identity import fingerprint
from tucano.comparison.claims import (
    Claim,
    Facts,
    StudyContext,
    cautions,
    confirmed,
    improved,
    of_configuration,
    open_tasks,
    task_drops,
    task_gains,
    truth_falls,
    worsened,
)
from tucano.comparison.contrast import Contrast
from tucano.comparison.wording import ENGLISH, PORTUGUESE, Speaker, headline, reservations, sentences
from tucano.files.prompts import PromptFiles
from tucano.settings.comparison import Judging
from tucano.statistics.preference import Preference
from tucano.truth.judge import own_judges

if TYPE_CHECKING:
    from tucano.comparison.compare import Comparison

LOST = "lost people"


@dataclass(frozen=True, slots=True)
class Verdict:
    """`improved`: the primary test passed and the mean rose, so the adapter claim holds; `better`: both claims do, and
    the ground truth confirms them; `worse`: the overall drop is established.

    `worse_tasks`: the drop stands after Holm over the tasks. `hacking_suspected`: the reward rose while the ground
    truth fell, over all or on a task where it rose. Sentences come in English and in Portuguese; `cautions` names those
    that weaken the claim. `reservations` belong to the headline: where it claims a gain, they name every task whose
    reward, truth (`open_by_truth`) or served answers (`open_as_served`) do not show it, the base model where no gain
    over it is shown (`below_base`: a drop is established), and the seeds that are no other than their start or are
    missing.
    """

    improved: bool
    worse: bool
    adapter_claim: Claim
    configuration_claim: Claim
    better_tasks: tuple[str, ...]
    worse_tasks: tuple[str, ...]
    hacking_suspected: bool
    headline: str
    headline_pt: str
    sentences: tuple[str, ...]
    sentences_pt: tuple[str, ...]
    cautions: tuple[str, ...] = ()
    reservations: tuple[str, ...] = ()
    reservations_pt: tuple[str, ...] = ()
    open_by_truth: tuple[str, ...] = ()
    open_as_served: tuple[str, ...] = ()
    below_base: bool = False

    @property
    def better(self) -> bool:
        whole = self.adapter_claim == self.configuration_claim == "supported"
        return whole and not self.hacking_suspected and not {"unconfirmed", "no truth"} & set(self.cautions)

    @property
    def tone(self) -> Literal["good", "fair", "open", "bad"]:
        """Its colour: `fair` for the adapter claim alone, `open` where nothing is shown, `bad` for hacking, or a drop,
        if only on a task.
        """
        if self.hacking_suspected or self.worse or self.worse_tasks:
            return "bad"
        if self.better:
            return "good"
        return "fair" if self.improved else "open"


def judge(
    reward: Contrast,
    settings: Judging,
    base: Contrast | None = None,
    truth: Contrast | None = None,
    served: Contrast | None = None,
    others: Sequence[Contrast] = (),
    around: StudyContext | None = None,
) -> Verdict:
    """The verdict on the primary contrast; tuned against base, the ground truth, the served answers (where they are not
    primary) and other arms are reported beside it.
    """
    around = around or StudyContext()
    alpha = settings.alpha
    shown_above_base = base is None or improved(base, alpha, around.looks)
    facts = replace(_facts(reward, truth, served, settings, around), base=None if shown_above_base else base)
    beside = [("base", base), ("truth", truth), *(("other", other) for other in others)]
    return Verdict(
        improved=facts.improved,
        worse=facts.worse,
        adapter_claim="supported" if facts.improved else "not supported",
        configuration_claim=facts.configuration,
        better_tasks=tuple(task for task, claimed in task_gains(reward, alpha, around.looks).items() if claimed),
        worse_tasks=task_drops(reward, alpha),
        hacking_suspected=facts.hacking,
        headline=headline(ENGLISH, reward, facts),
        headline_pt=headline(PORTUGUESE, reward, facts),
        sentences=sentences(ENGLISH, reward, alpha, facts, beside, around),
        sentences_pt=sentences(PORTUGUESE, reward, alpha, facts, beside, around),
        cautions=facts.cautions,
        reservations=reservations(ENGLISH, facts),
        reservations_pt=reservations(PORTUGUESE, facts),
        open_by_truth=facts.open_by_truth,
        open_as_served=facts.open_as_served,
        below_base=facts.base is not None and worsened(facts.base, alpha, around.looks),
    )


def _facts(
    reward: Contrast, truth: Contrast | None, served: Contrast | None, settings: Judging, around: StudyContext
) -> Facts:
    better = improved(reward, settings.alpha, around.looks)
    configuration = of_configuration(reward, settings.alpha, around.looks)
    fallen = truth_falls(reward, truth, settings.alpha) if better and truth else ()
    found = tuple(cautions(reward, settings.alpha, around))
    if better and truth is None:
        found += ("no truth",)
    elif better and truth and not fallen and not confirmed(truth, settings.alpha, settings.truth_margin):
        found += ("unconfirmed",)
    elif truth and reward.overall.gain < 0 and improved(truth, settings.alpha, 1):
        found += ("truth rose",)
    return Facts(
        better,
        worsened(reward, settings.alpha, around.looks),
        configuration,
        fallen,
        found,
        open_tasks(reward, reward, settings.alpha, around.looks),
        open_tasks(reward, truth, settings.alpha, around.looks) if truth else (),
        open_tasks(reward, served, settings.alpha, around.looks) if served else (),
        around.unmoved,
    )


def without(verdict: Verdict, missing: Mapping[int, str]) -> Verdict:
    """The verdict, which also says which seeds are missing, beside the headline too, and why ({seed: reason}).

    A reason is the English text of an error, and stands in the English sentence alone.
    """
    english, portuguese = (
        tuple(speaker("missing", seed=str(seed), why=speaker("see the log")) for seed in missing)
        for speaker in (ENGLISH, PORTUGUESE)
    )
    reasons = tuple(ENGLISH("missing", seed=str(seed), why=f": {reason}") for seed, reason in missing.items())
    verdict = replace(
        verdict, sentences=(*reasons, *verdict.sentences), sentences_pt=(*portuguese, *verdict.sentences_pt)
    )
    return _reserved(verdict, english, portuguese)


def judged_apart(verdict: Verdict, files: PromptFiles) -> Verdict:
    """The verdict, which also says whose truth it is where a judge of one's own lies beside the prompts."""
    if not files.judge.exists():
        return verdict
    tasks = ", ".join(sorted(own_judges(files.judge)))
    digest = str(fingerprint(files.judge)["sha256"])[:16]
    english, portuguese = (speaker("own judge", tasks=tasks, judge=digest) for speaker in (ENGLISH, PORTUGUESE))
    return _reserved(verdict, (english,), (portuguese,))


def _reserved(verdict: Verdict, english: tuple[str, ...], portuguese: tuple[str, ...]) -> Verdict:
    """The verdict with further reservations."""
    return replace(
        verdict,
        reservations=(*verdict.reservations, *english),
        reservations_pt=(*verdict.reservations_pt, *portuguese),
    )


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
    """Like «Blind A/B, judged by 2: seed-42 was preferred to champion on 31 of 50 prompts …»."""
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
