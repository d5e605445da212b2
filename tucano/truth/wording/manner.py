"""How insights are told: as a letter, round in circles, the same step twice, a bad rating as a good one."""

import re
from collections.abc import Sequence

from tucano.truth.advice import recommends
from tucano.truth.facts import Fact
from tucano.truth.figures import figures
from tucano.truth.reading import clip, plain, sentences, words

AS_LETTER, SAID_TWICE = 0.6, 0.85
"""What is left of insights in the form of a letter, and of those that advise one step twice."""
_LETTER = re.compile(r"\b(?:prezad[oa]s?|atenciosamente|cordialmente|venho por meio|subscrev\w+|inteira disposicao)\b")
_MOST_OF_LETTERS = 1
_CALLS = re.compile(r"\b(?:recomend|suger|sugir|prioriz|propo|vale)\w*")
_TELLING = re.compile(r"[a-z]{4,}")
_LONG = 30
"""Words of a text that can go round in circles."""


def manner(answer: str) -> float:
    """1 for insights as colleagues tell them, less for a letter, a step advised twice, and a text of few words that
    come again and again: from 45 % different ones among those of four letters and more down to 25 %."""
    text = plain(answer)
    letter = AS_LETTER if len(set(_LETTER.findall(text))) > _MOST_OF_LETTERS else 1.0
    told = [word for word in words(answer) if len(word) >= 4 and word.isalpha()]
    fresh = clip((len(set(told)) / len(told) - 0.25) / 0.2) if len(told) >= _LONG else 1.0
    return letter * fresh * (SAID_TWICE if _advises_twice(answer) else 1.0)


def _advises_twice(answer: str) -> bool:
    """Whether two sentences of advice have the same words, but for those that only say that something is advised."""
    advice = [
        " ".join(_TELLING.findall(_CALLS.sub(" ", one))) for one in map(plain, sentences(answer)) if recommends(one)
    ]
    steps = [step for step in advice if step]
    return len(set(steps)) < len(steps)


_PRAISE = re.compile(
    r"\b(?:satisfeitos?|satisfeitas?|felizes|contentes|encantad\w+|otim[oa]s?|excelentes?|prova social|muito bo[am]"
    r"|boa aceitacao)\b"
)
_DOUBT = re.compile(r"\b(?:nao|nem|mas|porem|pouc\w+|insatisf\w+|para|ate|se|quem|cada|longe|so|apesar|embora)\b")
LOWEST_GOOD = 3.0
"""Stars in the mean below which nobody calls a rating good."""


def praises_low(answer: str, facts: Sequence[Fact]) -> bool:
    """Whether a sentence takes a mean rating of below three stars for a good one."""
    low = [fact.value for fact in facts if fact.label == "nota média" and fact.value < LOWEST_GOOD]
    for sentence in map(plain, sentences(answer)) if low else ():
        shown = next((one for one in figures(sentence) if not one.unit and any(map(one.shows, low))), None)
        praise = shown and _PRAISE.search(sentence, shown.end)
        if shown and praise and "nota" in sentence and not _DOUBT.search(sentence, shown.end, praise.start()):
            return True
    return False
