"""Reward set `grounded`: form, plus truth where a prompt's reference holds some; dense, and hard to please without an
answer.

All credit is multiplied by gates: how much the text is an answer at all (Portuguese, in order, whole, not the same
again and again, not the prompt copied, not taken back), and how much of it is true. Where a reference is empty nothing
is known to be true, and the credit for form is scaled up to fill [0, 1].
"""

from dataclasses import dataclass
from pathlib import Path

from rewards import v42
from rewards.extraction import Extraction
from rewards.open.push import Push
from rewards.parsing import advice as advising
from rewards.parsing import text
from rewards.parsing.claims import insight_figures
from rewards.parsing.fluency import INSIGHTS, reads_well, stepped, unnamed
from rewards.parsing.prose import advice_lines, is_scrappy, ordered, stands
from rewards.sql_qa import SqlQa
from rewards.types import Component, PromptLike, TaskReward, clip, damped, filled
from rewards.wording.unwanted import harms

FALSE = 0.3
"""Credit of insights that say something false."""
ENOUGH_ADVICE = 1.5
"""Lines of advice that earn all: one with a means, and one about a word of the brief."""
LONGEST_INSIGHTS = 4000
"""Characters from which on a text is none at all: several times those from which on its length earns nothing."""
MOST_FIGURES = 60
"""A text of insights with more is a table or none; each is weighed against every fact."""
LONGEST_ECHO = 4
"""Words in a row of its brief that a step may have: the question given back advises nothing."""


def _is_answer(answer: str, tokens: list[str], prompt: PromptLike) -> float:
    """How much a text is an answer at all, in [0, 1]: Portuguese, in order and whole, with variety and words of its
    own; nothing of one that takes itself back or offers several.
    """
    if not stands(answer) or is_scrappy(answer):
        return 0.0
    own = text.portuguese(tokens) * text.variety(tokens) * text.originality(tokens, prompt.user)
    whole = text.sound(answer, prompt.user) * stepped(ordered(unnamed(answer, prompt)))
    return own * whole


@dataclass(frozen=True)
class Insights:
    components: tuple[Component, ...] = (
        Component("insights.structure", 0.10, "told in parts: lines or sentences", "2 of them earn all"),
        Component(
            "insights.action_words",
            0.25,
            "lines that ask for action and name a means",
            "a line with a means is 1, about a word of the brief alone .5, and 1.5 earn all; without any"
            " all credit x .3, x .75 with a step that says nothing, x .55 with most, x .85 with one said"
            " twice, x .6 without a figure where none serves what was asked about, where figures are only"
            " listed x .6 if all steps would fit any shop, else x .89; advice that harms leaves none",
        ),
        Component("insights.length", 0.10, "100 to 1000 characters"),
        Component(
            "insights.key_figures",
            0.35,
            "share of the brief's key figures that stand at their labels",
            "without any, and nothing false, all credit is halved",
        ),
        Component(
            "insights.coherence",
            0.20,
            "words of the trade and of the brief",
            "half for 2 domain words, half for 3 words of the brief",
        ),
        Component(
            "insights.invented",
            -0.05,
            "false figures: of another label, moved otherwise, or unknown to the brief",
            f"2 cost all; the first leaves {FALSE:.0%} of all credit; whole numbers up to 10 without a unit,"
            " proposals, spans of time and what follows from the brief are free",
        ),
    )

    def shares(self, prompt: PromptLike, answer: str, databases: Path | None) -> tuple[float, ...]:
        length = len(text.squeeze(answer))
        if length > LONGEST_INSIGHTS or len(text.figures(answer)) > MOST_FIGURES:
            return (0.0,) * len(self.components)
        answer = advising.untabled(answer)
        folded = text.fold(answer)
        tokens = text.words(folded)
        known = bool(prompt.reference.get("key_figures"))
        used, inventions, _ = insight_figures(prompt, answer)
        brief = {token for token in text.words(prompt.user) if len(token) >= 4 and token.isalpha()}
        domain = clip(text.count_distinct(v42.BUSINESS_WORDS, folded) / 2)
        own = text.without_copies(folded, prompt.user, LONGEST_ECHO)
        lines = {line: advising.advises(line, planned, brief) for line, planned in advice_lines(own)}
        advice = clip(sum(worth * advising.steps(line) for line, worth in lines.items() if worth) / ENOUGH_ADVICE)
        gate = 0.0 if harms(folded) else _is_answer(answer, tokens, prompt) * damped(advice)
        if advice > ENOUGH_ADVICE / 3:
            steps_told = [line for line in lines if lines[line]]
            gate *= advising.substance(line for line in lines if lines[line] or advising.says_nothing(line))
            gate *= advising.REPEATED if advising.repeats(steps_told) else 1.0
            asked = map(text.fold, prompt.reference.get("key", ()))
            gate *= advising.ASTRAY if not used and advising.is_astray(steps_told, asked) else 1.0
            gate *= advising.detail(steps_told, folded, prompt.user)
        gate *= advising.telling(folded, tokens, prompt.user) if gate and reads_well(answer, prompt, INSIGHTS) else 0.0
        inventions += advising.praises_low(folded) * known
        if inventions:
            gate *= FALSE
        elif known:
            gate *= 0.44 + 0.56 * clip(2 * used)
        shares = (
            gate * clip(len(advising.parts(answer)) / 2),
            gate * advice,
            gate * clip(min(length / 100, (1600 - length) / 600)),
            gate * used,
            gate * (domain + clip(len(brief.intersection(tokens)) / 3)) / 2,
            clip(inventions / 2),
        )
        return filled(shares, self.components, frozenset({"insights.key_figures"}), known)


TASKS: dict[str, TaskReward] = {"extraction": Extraction(), "sql_qa": SqlQa(), "insights": Insights(), "push": Push()}
