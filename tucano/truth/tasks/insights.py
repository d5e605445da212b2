"""Truth of `insights`: the decisive figures, each at its label, and advice that fits the problem."""

import re
from pathlib import Path

from tucano.truth.advice import covered, harmful
from tucano.truth.facts import facts_of, stated
from tucano.truth.figures import figures
from tucano.truth.fluency import READS, Norm, fluency
from tucano.truth.reading import clip, listed, plain, sentences, spoken, untabled, words
from tucano.truth.single import copied, is_single, portuguese
from tucano.truth.types import PromptLike
from tucano.truth.wording.junk import is_astray, is_junk
from tucano.truth.wording.manner import manner, praises_low
from tucano.truth.wording.substance import depth, substance

ON_OTHERS = 0.5
"""Advice on indicators of the brief that were not asked about."""
ADVICE_ALONE, FIGURES_ALONE = 0.28, 0.25
"""Advice that uses no figure would fit any shop; figures that lead to nothing repeat the brief."""
WRONG, MISREAD_ADVICE = 0.2, 0.18
"""What is left beside one wrong figure, and what advice that fits is worth beside any number of them: such an answer is
of little use, words strung together are of none."""
MOST_SENTENCES, TOO_MANY_SENTENCES = 16, 30
"""From where an answer begins to be worth less, and from where it goes on without an end."""
SAYS = 3
"""Words of a sentence; fewer are a heading or an entry."""
LONGEST = 4000
"""Characters of an answer that somebody reads."""
MOST_FIGURES = 60
"""A text with more is a table or nothing, and each figure is weighed against each label."""
FLUENT = Norm(sentence=-1.6)
LONG_RUN, MOST_IN_LONG_RUNS = 12, 0.3
"""Words of the brief in a row, and the share of an answer that may stand in such runs."""
ECHO = 0.5
"""Share of a line in runs of the brief from where it advises nothing: it gives the question back."""
SOUND = 0.95
"""From here on every part of a text is read, else those that read well by themselves."""
PART = Norm(mean=-1.0, odd=0.62)
"""Of a sentence alone: headings and short ones have few words to tell by."""


def truth(prompt: PromptLike, answer: str, databases: Path | None) -> float | None:
    """None without facts. Else, where it reads, (advice x (.28 + .72 figures) + (1 - advice) x .25 figures).

    `figures`: share of the key figures at their labels. `advice`: how much of it is about the indicators in question.
    0 for harmful advice, several answers, one that takes itself back, a copy; a wrong figure leaves a fifth, more
    of them what advice alone is worth at most.
    """
    facts = facts_of(prompt.reference)
    key = [str(label) for label in prompt.reference.get("key", ())]
    if not facts or not key:
        return None
    answer = listed(untabled(answer))
    labels = [fact.label for fact in facts]
    variety = _variety(answer) if len(answer) <= LONGEST else 0.0
    if not variety or len(figures(plain(answer))) > MOST_FIGURES:
        return 0.0
    if is_junk(answer) or not is_single(answer) or harmful(answer, labels) or _is_handed_back(answer, prompt.user):
        return 0.0
    said = stated(answer, prompt.user, facts)
    order = min(fluency(answer, FLUENT), fluency(_CLAUSES.sub(_ended, answer), FLUENT))
    if order < READS or is_astray(answer, prompt.user, "shop"):
        return 0.0
    good = answer if order >= SOUND else "\n".join(map(_sound_part, answer.splitlines()))
    read = stated(good, prompt.user, facts)
    shown = len(read.labels & set(key)) / len(key)
    own = "\n".join(row for row in good.splitlines() if copied(row, prompt.user) < ECHO)
    hits, share = covered(own, key, labels)
    asked = 1.0 if hits else ON_OTHERS if share else 0.0
    advice = asked * clip((share - 0.4) / 0.35)
    whole = advice * (ADVICE_ALONE + (1 - ADVICE_ALONE) * shown) + (1 - advice) * FIGURES_ALONE * shown
    wrong = said.wrong + (0 if shown == 1 else said.apart) + praises_low(answer, facts)
    if wrong:
        whole = max(WRONG * whole if wrong == 1 else 0.0, MISREAD_ADVICE * advice)
    if advice:
        whole *= substance(answer) * depth(answer, prompt.user)
    return portuguese(answer) * variety * manner(answer) * whole


_CLAUSES = re.compile(r"; *([^\W\d_])")


def _ended(clause: re.Match[str]) -> str:
    """Clauses behind a semicolon as sentences, so that none hides in a long one."""
    return f". {clause[1].upper()}"


def _is_handed_back(answer: str, brief: str) -> bool:
    """Whether most of an answer is its brief, or much of it in long runs of a line; a list of the figures has none."""
    long = sum(len(words(row)) * copied(row, brief, LONG_RUN) for row in answer.splitlines())
    return copied(answer, brief) > 0.6 or long > MOST_IN_LONG_RUNS * len(words(answer))


def _sound_part(row: str) -> str:
    """The sentences of a line that read well by themselves."""
    return " ".join(part for part in sentences(row, whole=True) if fluency(spoken(part), PART) >= 0.4)


def _variety(answer: str) -> float:
    """1 for ordinary text, 0 where it says the same again and again, or goes on without an end."""
    found = words(answer)
    triples = list(zip(found, found[1:], found[2:], strict=False))
    if not triples:
        return 0.0
    said = sum(len(words(one)) >= SAYS for one in sentences(answer))
    length = clip((TOO_MANY_SENTENCES - said) / (TOO_MANY_SENTENCES - MOST_SENTENCES))
    return clip((len(set(triples)) / len(triples) - 0.5) / 0.35) * length
