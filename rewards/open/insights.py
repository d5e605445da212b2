"""The reward of insights in the set `grounded`: what a brief's figures say, and what to do about it, in Portuguese that
reads.

All credit is a product. What the text is as a whole: an answer at all (rewards/parsing/prose.py), in enough words of
its own. What it says: the figures asked about are used and none is false (rewards/parsing/readings.py), steps are
advised, and they do no harm.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from rewards.open.advice import advises, clauses, sentences
from rewards.open.order import Limits, is_infinitive
from rewards.open.prose import LETTER, is_answer, said_twice
from rewards.open.readings import Reading, key_values, read_figures
from rewards.parsing import text
from rewards.parsing.text import fold, word_set, words
from rewards.types import Component, PromptLike, clip, filled
from rewards.wording.unwanted import harms

LONGEST = 4000
"""Characters from which on a text is none at all: several times those from which on its length earns nothing."""
MOST_FIGURES = 80
"""A text with more is a table or none; each is weighed against every fact."""
READS = Limits((-0.35, -0.1), {8: (-1.35, -1.1)})
UNUSED = 0.35
"""Credit without the figures asked about."""
NO_ADVICE = 0.5
"""Credit without a step to take."""
FALSE = 0.3
"""Credit of what is false."""
HALF_TRUE = 0.6
"""Credit of a false figure among many."""
MANY = 5
FORGIVEN = 8
"""How many figures that are right excuse one that nothing explains."""
THIN = 0.2
"""Credit of hardly a word of its own, and of a line of bare verbs."""
_QUOTED = re.compile('[“"«][^”"»]{0,200}[”"»]')
VAGUE = 0.95
"""Credit where a step would fit any shop."""
FORMAL = 0.85
"""Credit of a letter."""
TWICE = 0.6
"""Credit of a text that says a sentence twice."""
FEWEST_WORDS, MOST_WORDS, WANTED_SHARE = 18, 45, 1.35
"""Words of its own that are enough: by those of the brief, since a longer question wants a longer answer."""
LEAST_STEP = 0.15
"""Worth of advice that would fit any shop."""
ENOUGH_STEPS = 1.5
ENOUGH_DEPTH = 4
_ABOUT_THE_TASK = re.compile(
    r"\b(?:a tarefa (?:pede|era)|esta resposta (?:e|foi|tem|traz|analisa)\b|um bom analista"
    r"|boa analise|vou analisar|serao analisad"
    r"|retornar(?:emos|ei)|recebemos (?:a|sua) (?:solic|mensag)|recomend\w+ que (?:voce )?recomend"
    r"|recomend\w+ acoes (?:para|em|sobre)|nao (?:posso|consigo|sei) (?:ajud|respond))"
)
_STOCK = word_set("""
    melho exper clien marke forta relac acomp indic metri dados equip servi quali comun estra inves inova tecno capac
    trein engaj fidel cresc resul satis aprim otimi monit anali plane cuida atend negoc merca susta foco efici objet
    perio aten aumen reduz elev recom suger prior fazer mante manti criar busca acoes acao ating conti produ venda vende
    empre proce
    """)
"""Beginnings of words that advise any shop."""


@dataclass(frozen=True)
class Insights:
    components: tuple[Component, ...] = (
        Component("insights.structure", 0.10, "told in parts: lines or sentences", "3 earn all"),
        Component(
            "insights.action_words",
            0.25,
            "steps that are advised, in words that would not fit any shop",
            f"{ENOUGH_STEPS} earn all; without any {NO_ADVICE:.0%} of all credit is left",
        ),
        Component(
            "insights.length",
            0.10,
            "250 to 1400 characters",
            f"all credit falls to {THIN:.0%} with the words that are not the brief's, {FEWEST_WORDS} to {MOST_WORDS} of"
            " which are enough",
        ),
        Component(
            "insights.key_figures",
            0.35,
            "share of the figures asked about that are told",
            f"half of them are enough for the rest of the credit, without any {UNUSED:.0%} of it is left",
        ),
        Component(
            "insights.coherence",
            0.20,
            "what is made of the figures: others of the brief, what follows from them, tests and targets",
            f"{ENOUGH_DEPTH} earn all",
        ),
        Component(
            "insights.invented",
            -0.05,
            "false figures: unknown to the brief, at another label, moved the other way",
            f"2 cost all; one leaves {FALSE:.0%} of all credit, {HALF_TRUE:.0%} among {MANY} and more right ones, none"
            f" where nothing but {FORGIVEN} right ones stands against it; what is proposed and what follows from the"
            " brief is free",
        ),
    )

    def shares(self, prompt: PromptLike, answer: str, databases: Path | None) -> tuple[float, ...]:
        if len(answer) > LONGEST or len(text.figures(answer)) > MOST_FIGURES:
            return (0.0,) * len(self.components)
        answer = answer.strip()
        folded = fold(answer)
        length = len(text.squeeze(answer))
        reading = read_figures(prompt, answer)
        advised = clip(sum(advice(folded, prompt.user)) / ENOUGH_STEPS)
        known = len(key_values(prompt.reference))
        gate = 0.0 if harms(folded) or _ABOUT_THE_TASK.search(folded) else is_answer(answer, prompt.user, READS)
        gate *= substance(answer, prompt.user) * (NO_ADVICE + (1 - NO_ADVICE) * advised)
        is_false = bool(reading.false + reading.wrong and prompt.reference.get("facts"))
        gate *= truth(reading) if is_false else 1.0
        gate *= FORMAL if LETTER.search(_QUOTED.sub(" ", folded)) else 1.0
        gate *= VAGUE if is_vague(folded, prompt.user) else 1.0
        if any(_is_of_verbs(line) for line in answer.splitlines()):
            gate *= THIN
        if known and not is_false:
            gate *= UNUSED + (1 - UNUSED) * clip(2 * reading.used + reading.derived / known)
        shares = (
            gate * clip(len(sentences(folded)) / 3),
            gate * advised,
            gate * clip(min(length / 250, (2000 - length) / 600)),
            gate * reading.used,
            gate * clip((reading.told + reading.derived + min(2, reading.proposed)) / ENOUGH_DEPTH),
            clip((reading.false + reading.wrong) / 2),
        )
        return filled(shares, self.components, frozenset({"insights.key_figures"}), bool(known))


def substance(answer: str, brief: str) -> float:
    """Credit by how many words of its own an answer has, in [0, 1]: nearly none is its brief told again; a longer brief
    wants more of them; and what is said twice counts less."""
    said, known = ({word[:5] for word in words(one) if len(word) > 2} for one in (answer, brief))
    own = len(said - known)
    given_back = clip((own / max(1, len(said)) - 0.15) / 0.2)
    wanted = min(MOST_WORDS, max(FEWEST_WORDS, WANTED_SHARE * len(known)))
    return given_back * (THIN + (1 - THIN) * clip(own / wanted)) * (TWICE if said_twice(answer) else 1.0)


def truth(reading: Reading) -> float:
    """Credit by what is false, in [0, 1]: by the share of figures that nothing explains, some of which many right ones
    excuse; and by figures at another's label or moved otherwise."""
    right = reading.told + reading.derived
    strange = max(0.0, reading.false - (right / FORGIVEN if right >= MANY else 0))
    credit = max(FALSE, 1 - 3.5 * strange / (right + reading.false)) if strange else 1.0
    if reading.wrong:
        credit *= HALF_TRUE if right >= MANY * reading.wrong else FALSE
    return credit


def advice(folded: str, brief: str = "") -> list[float]:
    """The worth of each sentence that advises, in [0, 2]: 1 from three words on that would not fit any shop and are
    not the brief's, twice for two steps."""
    known = frozenset(word[:5] for word in words(brief)) | _STOCK
    return [_own(line, known) * min(2, max(1, clauses(line))) for line in sentences(folded) if advises(line, brief)]


def is_vague(folded: str, brief: str) -> bool:
    """Whether a sentence that advises has hardly a word that would not fit any shop."""
    known = frozenset(word[:5] for word in words(brief)) | _STOCK
    return any(_own(line, known) < _LEAST_OWN for line in sentences(folded) if advises(line))


_LEAST_OWN = 0.34
"""Two words of three that earn all."""


def _own(line: str, known: frozenset[str]) -> float:
    stems = {word[:5] for word in words(line) if len(word) > 3 and word.isalpha() and word not in text.PORTUGUESE}
    return max(LEAST_STEP, clip(len(stems - known) / 3))


def _is_of_verbs(line: str) -> bool:
    said = words(line)
    return len(said) > 2 and all(map(is_infinitive, said))
