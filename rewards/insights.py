"""The reward of insights: what a brief's figures say, and what to do about it, in Portuguese that reads; for the shop
that the generator makes up as for any other.

All credit is a product. What the text is: an answer at all, in order, in enough words of its own. What it says: the
figures asked about are told and none is false (rewards/parsing/claims.py), steps are advised that fit this shop
(rewards/parsing/advice.py) and do no harm.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from rewards.parsing import advice as advising
from rewards.parsing import text
from rewards.parsing.claims import claims, insight_figures, sentences
from rewards.parsing.fluency import stream
from rewards.parsing.prose import advice_lines, disorder, is_scrappy, stands
from rewards.texts.prose import LETTER
from rewards.types import Component, PromptLike, clip, filled
from rewards.wording.unwanted import harms

LONGEST = 4000
"""Characters from which on a text is none at all: several times those from which on its length earns nothing."""
MOST_FIGURES = 80
"""A text with more is a table or none; each is weighed against every fact."""
FALSE = 0.3
"""Credit of what is false."""
MANY = 6
"""How many figures that are right excuse one that nothing explains, since who tells much works out what no reader of
figures follows; one at a label of the brief takes twice as many."""
WRONG_SHARE = 4.5
"""By how much more than its share of all figures a false one costs."""
UNUSED = 0.25
"""Credit without the figures asked about."""
NO_ADVICE = 0.1
"""Credit without a step to take."""
ENOUGH_ADVICE = 1.5
"""Lines of advice that earn all: one with a means, and one about a word of the brief."""
ENOUGH_FIGURES = 2
THIN = 0.2
"""Credit of hardly a word of its own."""
FEWEST_WORDS, MOST_WORDS = 13, 45
WANTED, SPARED = 3, 50
"""Words of its own that are enough, by those of the brief: so many for each but the first ones, since a question with
many figures wants a longer answer."""
ODD = 8.0
"""What a place that no sentence has takes from a text's worth in the order model, and what each text has to make up:
a few good words in a row are no proof that somebody meant them."""
SCRAPS, PROSE = -0.4, -0.2
"""Worth of a place, in the mean, up to which a text is scraps, and from which on it reads."""
BLEMISHED = 0.95
"""Credit of a text that reads with one odd place."""
FORMAL = 0.6
"""Credit of a letter; what it quotes is one to somebody else."""
LONGEST_ECHO = 4
"""Words in a row of its brief that a step may have: the question given back advises nothing."""
_QUOTED = re.compile(r"[\"“«][^\"”»\n]{1,300}[\"”»]")


@dataclass(frozen=True)
class Insights:
    components: tuple[Component, ...] = (
        Component("insights.structure", 0.10, "told in parts: lines or sentences", "2 of them earn all"),
        Component(
            "insights.action_words",
            0.25,
            "lines that ask for action and name a means",
            f"a line with a means is 1, about a word of the brief alone .5, and {ENOUGH_ADVICE} earn all; without any"
            f" {NO_ADVICE:.0%} of all credit is left, x .75 with a step that says nothing, x .55 with most, x .85 with"
            " one said twice, x .6 without a figure where none serves what was asked about, where figures are only"
            " listed x .6 if all steps would fit any shop, else x .89; advice that harms leaves none",
        ),
        Component(
            "insights.length",
            0.10,
            "up to 1000 characters, falling to 0 at 1600",
            f"all credit falls to {THIN:.0%} with the words that are not the brief's, {FEWEST_WORDS} to {MOST_WORDS} of"
            " which are enough, by the length of the brief",
        ),
        Component(
            "insights.key_figures",
            0.35,
            "share of the figures asked about that are told, and at no other label",
            f"half of them are enough for the rest of the credit, without any {UNUSED:.0%} of it is left; a letter"
            f" keeps {FORMAL:.0%}",
        ),
        Component(
            "insights.coherence",
            0.20,
            "figures that are not false: of the brief, that follow from them, proposed",
            f"{ENOUGH_FIGURES} earn all",
        ),
        Component(
            "insights.invented",
            -0.05,
            "false figures: of another label, moved otherwise, or unknown to the brief",
            f"2 cost all; one leaves {FALSE:.0%} of all credit, more among many; {MANY} right ones excuse one that"
            " nothing explains; whole numbers up to 10 without a unit, proposals, spans of time and what follows from"
            " the brief are free",
        ),
    )

    def shares(self, prompt: PromptLike, answer: str, databases: Path | None) -> tuple[float, ...]:
        length = len(text.squeeze(answer))
        if length > LONGEST or len(text.figures(answer)) > MOST_FIGURES:
            return (0.0,) * len(self.components)
        known = bool(prompt.reference.get("key_figures"))
        folded = text.fold(advising.untabled(answer))
        told = insight_figures(prompt, advising.untabled(answer))
        used = max(told.used, told_anywhere(prompt, answer))
        false = told.false + advising.praises_low(folded) * known
        right = len({(one.value, one.unit) for one in claims(text.spelled(answer))}) - false
        advice, worth = _advice(prompt, folded, used)
        gate = _is_answer(prompt, answer) * worth * enough_words(answer, prompt.user)
        true = truth(right, false - told.untied, told.untied)
        if known:
            true = min(true, UNUSED + (1 - UNUSED) * clip(2 * used))
        shares = (
            gate * true * clip(len(advising.parts(answer)) / 2),
            gate * true * advice,
            gate * true * clip((1600 - length) / 600),
            gate * true * used,
            gate * true * clip(right / ENOUGH_FIGURES),
            gate * clip(false / 2),
        )
        return filled(shares, self.components, frozenset({"insights.key_figures"}), known)


def _is_answer(prompt: PromptLike, answer: str) -> float:
    """How much a text is one answer at all, in [0, 1]: Portuguese, in order and whole, with variety and words of its
    own; nothing of one that takes itself back, or advises harm."""
    said = advising.untabled(answer)
    folded = text.fold(said)
    if harms(folded) or not stands(said) or is_scrappy(said):
        return 0.0
    tokens = text.words(folded)
    own = text.portuguese(tokens) * text.in_one_language(tokens) * text.variety(tokens)
    own *= text.originality(tokens, prompt.user)
    whole = text.sound(said, prompt.user) * order(said)
    letter = FORMAL if LETTER.search(_QUOTED.sub(" ", folded)) else 1.0
    return own * whole * letter * advising.telling(folded, tokens, prompt.user)


def order(said: str) -> float:
    """Credit by how well words stand in an order that occurs, in [0, 1]; long texts may have an odd place now and
    then."""
    found = stream(said)
    worth = [place for sentence in found for place in sentence]
    odd = max(0, disorder(said) - len(worth) // 40) + sum(map(_is_odd, found))
    mean = (sum(worth) - ODD * (1 + odd)) / max(1, len(worth))
    return BLEMISHED ** min(10, odd) * clip((mean - SCRAPS) / (PROSE - SCRAPS))


def _is_odd(sentence: list[float]) -> bool:
    return sum(sentence) / (len(sentence) + _SHORT) < _ODD_SENTENCE


_SHORT, _ODD_SENTENCE = 3, -0.5
"""Places that a sentence counts as longer, since one word tells little; and the worth of one that nobody writes."""


def _advice(prompt: PromptLike, folded: str, used: float) -> tuple[float, float]:
    """How much of enough advice a folded text has, and the credit that its advice leaves. `used`: share of the figures
    asked about that it tells."""
    brief = {token for token in text.words(prompt.user) if len(token) >= 4 and token.isalpha()}
    own = text.without_copies(folded, prompt.user, LONGEST_ECHO)
    lines = {line: advising.advises(line, planned, brief) for line, planned in advice_lines(own)}
    told = [line for line, worth in lines.items() if worth]
    advice = clip(sum(lines[line] * advising.steps(line) for line in told) / ENOUGH_ADVICE)
    credit = NO_ADVICE + (1 - NO_ADVICE) * advice
    if advice > ENOUGH_ADVICE / 3:
        credit *= advising.substance(line for line in lines if lines[line] or advising.says_nothing(line))
        credit *= advising.REPEATED if advising.repeats(told) else 1.0
        asked = map(text.fold, prompt.reference.get("key", ()))
        credit *= advising.ASTRAY if not used and advising.is_astray(told, asked) else 1.0
        credit *= advising.detail(told, folded, prompt.user)
    return advice, credit


def enough_words(answer: str, brief: str) -> float:
    """Credit by how many words of its own an answer has, in [`THIN`, 1]; a longer brief wants more of them."""
    said, known = ({word[:5] for word in text.words(one) if len(word) > 2} for one in (answer, brief))
    wanted = min(MOST_WORDS, max(FEWEST_WORDS, WANTED * len(known) - SPARED))
    return THIN + (1 - THIN) * clip(len(said - known) / wanted)


def truth(right: int, tied: int, untied: int) -> float:
    """Credit by what is false, in [`FALSE`, 1]: by its share of all figures, but for what many right ones excuse.
    `tied`: false figures at a label of the brief, and movements."""
    excused = right / MANY if right >= MANY else 0.0
    strange = max(0.0, untied - excused) + max(0.0, tied - excused / 2)
    return max(FALSE, 1 - WRONG_SHARE * strange / max(1, right + tied + untied))


def told_anywhere(prompt: PromptLike, answer: str) -> float:
    """Share of the key figures that the answer states in a sentence which names their label, or, with their unit, fewer
    labels than figures: it may call them by other names than its brief («quem chega tarde são 13%»)."""
    facts = prompt.reference.get("facts", ())
    key = {float(number) for number in prompt.reference.get("key_figures", ())}
    found: set[float] = set()
    for sentence in sentences(text.spelled(answer)):
        told = claims(sentence)
        named = {fact["label"] for fact in facts if told and advising.named_by(fact).search(sentence)}
        for number in key - found:
            units = {fact["label"]: fact.get("unit", "") for fact in facts if fact["value"] == number}
            if len(named) < len(told) or units.keys() & named:
                may_be = {*units.values(), *([""] if units.keys() & named else [])}
                near = [one for one in told if not units or one.unit in may_be]
                found |= {number for one in near if abs(one.value - number) <= min(one.tolerance, _ROUNDED * number)}
    return len(found) / max(1, len(key))


_ROUNDED = 0.035
"""Share of a figure by which it may be rounded («3» is no «3,2»)."""
