"""Whether a text is Portuguese in an order that Portuguese has: a frozen judge, without the answer's content.

An interpolated trigram model (Witten and Bell 1991) over word classes: function words and frequent words stand for
themselves, other words for their ending. A text is judged by the log-odds of its order: how much likelier its words
are where they stand than anywhere (SLOR, Pauls and Klein 2012), so that rare words cost nothing. It is estimated from
the lines of `corpus/`, written for this project (CC0-1.0), and from nothing that is ever scored.
"""

import math
import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from tucano.truth.reading import plain, word_set

TOKEN = re.compile(
    r"(?P<money>r\$)|(?P<number>\d+(?:[.,/]\d+)*)|(?P<word>[^\W\d_]+(?:-[^\W\d_]+)*)|(?P<mark>[%.,;:!?()])"
    r"|(?P<other>\S)"
)
EDGE = "<>"
FREQUENT = 5
_ENDINGS = (
    "mente", "coes", "cao", "ndo", "ados", "adas", "idos", "idas", "ado", "ada", "ido", "ida", "mos", "ram", "ar",
    "er", "ir", "ou", "eu", "iu", "am", "em", "es", "os", "as", "is", "ns", "l", "r", "m", "z", "o", "a", "e", "s",
)  # fmt: skip
FUNCTION = word_set(
    """
    a o e de da do das dos que em um uma para com nao os as no na nos nas se por mais mas ao aos foi ele ela
    sao tem ser seu sua seus suas ou quando muito ha ja esta estao eu tambem so pelo pela pelos pelas ate
    isso entre depois sem mesmo quem me esse essa este estes estas eles elas voce voces meu minha nossa
    nosso nossos nossas como onde qual quais cada todos todas todo toda pra pro sobre ainda porque pois
    apenas assim aqui agora hoje entao bem era sera deve podem pode deste desta desse dessa neste nesta isto
    aquele aquela lhe num numa antes porem nem sempre nunca sob contra durante desde cujo oi que
    """
)


_PICTURES = r"\s*[\u2300-\u27bf\U0001f300-\U0001faff][\u2300-\u27bf\U0001f300-\U0001faff\ufe0f\u200d\s]*"
"""Pictures with what joins and colours them: one class for the run, so that a long one takes no more than its share."""
_BETWEEN = re.compile(rf"(?:(?<=[.!?…])|\A){_PICTURES}(?=\w)")
_INSTEAD = re.compile(rf"(?<=[\w%]){_PICTURES}(?=[A-ZÀ-Ý][a-zà-ÿ])")
"""A picture in the place of a full stop."""
_COLLOQUIAL = {
    "pra": "para",
    "pras": "para as",
    "pro": "para o",
    "pros": "para os",
    "vc": "voce",
    "vcs": "voces",
    "ta": "esta",
    "pq": "porque",
}
_SAID = re.compile(rf"\b(?:{'|'.join(_COLLOQUIAL)})\b")


def tokens(text: str) -> list[str]:
    """Words, figures and marks as the model reads them; a picture in front of a sentence is none of it."""
    bare = _BETWEEN.sub(" ", plain(_INSTEAD.sub(". ", text)))
    return [
        "€" if found["money"] else "9" if found["number"] else found["word"] or found["mark"] or "*"
        for found in TOKEN.finditer(_SAID.sub(lambda found: _COLLOQUIAL[found[0]], bare))
    ]


def _ending(word: str) -> str:
    return next((f"-{ending}" for ending in _ENDINGS if word.endswith(ending) and len(word) > len(ending)), "-")


class Model:
    def __init__(self, lines: list[str]) -> None:
        read = [tokens(line) for line in lines]
        counts = Counter(token for line in read for token in line)
        self._known = FUNCTION | {token for token, count in counts.items() if count >= FREQUENT or not token.isalpha()}
        self._after: list[defaultdict[tuple[str, ...], Counter[str]]] = [defaultdict(Counter) for _ in range(3)]
        for line in read:
            classes = [EDGE, EDGE, *map(self.of, line), EDGE]
            for place in range(2, len(classes)):
                for order in range(3):
                    self._after[order][tuple(classes[place - order : place])][classes[place]] += 1
        self._size = len(self._after[0][()]) + 1

    def of(self, token: str) -> str:
        return token if token in self._known else _ending(token)

    def is_known(self, token: str) -> bool:
        return token in self._known

    def probability(self, history: tuple[str, ...], following: str) -> float:
        if not history:
            seen = self._after[0][()]
            return (seen[following] + 1) / (seen.total() + self._size)
        shorter = self.probability(history[1:], following)
        seen = self._after[len(history)].get(history, Counter())
        if not seen:
            return shorter
        kinds = len(seen)
        return (seen[following] + kinds * shorter) / (seen.total() + kinds)

    def odds(self, text: str) -> list[float]:
        """Per place, also the end: log of how much likelier the class is here than anywhere."""
        classes = [EDGE, EDGE, *map(self.of, tokens(text)), EDGE]
        return [
            math.log(self.probability((classes[place - 2], classes[place - 1]), classes[place]))
            - math.log(self.probability((), classes[place]))
            for place in range(2, len(classes))
        ]


CORPUS = ("other", "shop", "push")
"""Explanations and complaints; what is told to who runs a shop; what a shop tells its customers."""


def corpus(*names: str) -> list[str]:
    """The lines of these parts of the corpus."""
    texts = (files("tucano.truth").joinpath("corpus", f"{name}.txt").read_text(encoding="utf-8") for name in names)
    return [line for text in texts for line in text.splitlines()]


@lru_cache(maxsize=1)
def model() -> Model:
    return Model(corpus(*CORPUS))


ODD = -0.7
"""Log-odds below which a word stands where it hardly ever stands."""
WINDOW = 5
"""Places that are looked at together for a broken part."""


@dataclass(frozen=True, slots=True)
class Order:
    """How a text stands beside the corpus. mean: log-odds of its places; odd: share of its words in odd places; worst:
    mean of its worst five places in a row; known: share of its words that the corpus has.
    """

    mean: float
    odd: float
    worst: float
    known: float


NONE = Order(-9.0, 1.0, -9.0, 0.0)


def order(text: str) -> Order:
    """NONE for a text without words."""
    read = [token for token in tokens(text) if token[0].isalpha()]
    if not read:
        return NONE
    odds = model().odds(text)
    last = max(1, len(odds) - WINDOW + 1)
    return Order(
        mean=sum(odds) / len(odds),
        odd=sum(value < ODD for value in odds) / len(odds),
        worst=min(sum(odds[start : start + WINDOW]) / WINDOW for start in range(last)),
        known=sum(map(model().is_known, read)) / len(read),
    )
