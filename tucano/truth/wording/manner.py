"""How insights are told: as a letter, round in circles, the same step twice, a bad rating as a good one."""

import re
from collections.abc import Sequence

from tucano.truth.advice import recommends
from tucano.truth.facts import Fact
from tucano.truth.figures import figures
from tucano.truth.reading import clip, plain, sentences, words

AS_LETTER, SAID_TWICE, WORD_FOR_WORD = 0.6, 0.85, 0.25
"""What is left of insights in the form of a letter, of those that advise one step twice, and of those that have a
sentence of four words and more twice: two answers in one."""
_OPENS = re.compile(r"\bprezad[oa]s?\b|\b(?:car[oa]s?|estimad[oa]s?) (?:client|senhor)\w*")
_CLOSES = re.compile(r"\b(?:atenciosamente|cordialmente|respeitosamente|inteira disposicao)\b")
_QUOTE = re.compile(r"[\"“«][^\"”»\n]{1,300}[\"”»]")
_CALLS = re.compile(r"\b(?:recomend|suger|sugir|prioriz|propo|vale)\w*")
_TELLING = re.compile(r"[a-z]{4,}|\d[\d.,]*")
_LONG = 30
"""Words of a text that can go round in circles."""


def manner(answer: str) -> float:
    """1 for insights as colleagues tell them, less for a letter, a step advised twice, and a text of few words that
    come again and again: from 45 % different ones among those of four letters and more down to 25 %."""
    text = plain(answer)
    own = _QUOTE.sub(" ", text)
    letter = AS_LETTER if _OPENS.search(own) and _CLOSES.search(own) else 1.0
    told = [word for word in words(answer) if len(word) >= 4 and word.isalpha()]
    fresh = clip((len(set(told)) / len(told) - 0.25) / 0.2) if len(told) >= _LONG else 1.0
    said = [" ".join(words(one)) for one in sentences(answer) if len(words(one)) >= 4]
    again = WORD_FOR_WORD if len(set(said)) < len(said) else SAID_TWICE if _advises_twice(answer) else 1.0
    return letter * fresh * again


def _advises_twice(answer: str) -> bool:
    """Whether two sentences of advice have the same words, but for those that only say that something is advised."""
    advice = [
        " ".join(_TELLING.findall(_CALLS.sub(" ", one))) for one in map(plain, sentences(answer)) if recommends(one)
    ]
    steps = [step for step in advice if step]
    return len(set(steps)) < len(steps)


_PRAISE = re.compile(
    r",?\s(?:(?:mostra|demonstra|diz|indica|revela|confirma|prova|significa|comprova)m? que (?:\w+ ){0,5}?(?:esta"
    r"|estao"
    r"|saem|sai|ficam"
    r"|seguem) (?:\w+ )?(?:satisfeit|feliz|felizes|content|encantad)\w*|(?:e|foi|esta) (?:muito |bem )?(?:boa"
    r"|otima|excelente"
    r"|alta)\b|[^.;!?]{0,60}\bcomo prova social)|(?:\s+de nota media)?, [^.;!?]{0,20}\bestao (?:satisfeit|content"
    r"|feliz)\w*"
)
_PRAISED = re.compile(r"\b(?:satisfeitos|satisfeitas|felizes|contentes): (?:a )?nota (?:media )?(?:de )?\Z")
LOWEST_GOOD = 3.0
"""Stars in the mean below which nobody calls a rating good."""


def praises_low(answer: str, facts: Sequence[Fact]) -> bool:
    """Whether a sentence takes a mean rating of below three stars for a good one («mostra que estão satisfeitos»)."""
    low = [fact.value for fact in facts if fact.label == "nota média" and fact.value < LOWEST_GOOD]
    for sentence in map(plain, sentences(answer)) if low else ():
        for shown in (one for one in figures(sentence) if not one.unit and any(map(one.shows, low))):
            if "nota" in sentence and (_PRAISE.match(sentence, shown.end) or _PRAISED.search(sentence[: shown.start])):
                return True
    return False
