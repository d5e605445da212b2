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
from itertools import pairwise

from tucano.truth.reading import clip, plain, sentences, word_set, words
from tucano.truth.verbs import FORMS

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
        return token if token in self._known else FORMS.get(token) or _ending(token)

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


FAULT, MISSING_CAPITAL = 0.4, 0.5
"""What is left for every ordinary word with a capital inside of a sentence, every word that waits for another one and
every verb of the past behind an article or another one, and for every sentence that begins without a capital."""
SMALL_LETTERS = 0.9
"""What is left of a text that has no capital letters at all: a manner of writing."""
WORDS_PER_FAULT = 40
SENTENCES_PER_ODD_ONE = 6
"""Of so many sentences one may be odd."""
_LEFT_HANGING = re.compile(
    r"\b(?:o|a|os|as|um|uma|de|do|da|dos|das|em|no|na|nos|nas|com|por|para|ao|aos|pelo|pela|e|ou|mas|que)"
    r"\s*(?:[.!;:?)]|$)"
    r"|\b(?:de|do|da|dos|das|em|no|na|nos|nas|com|por|para|ao|aos|pelo|pela|seu|sua|meu)\s+"
    r"(?:de|do|da|dos|das|em|no|na|nos|nas|com|por|pelo|pela|ao|aos|e|ou|mas)\b(?!-)|\b(?:com|sem) (?:para|por)\b"
    r"|\b(?:o|os|as|um|uma|do|da|dos|das|no|na|nos|nas|pelo|pela|ao|aos)\s+(?:o|a|os|as|um|uma)\b"
    r"|\b(?:e|ou|mas) (?:[.!?])|(?:\A|[.!?] )que (?:de|do|da|em|no|na|para|por|com)\b"
    r"|\b(?:o|os|as|um|uma|do|da|dos|das|no|na|por|com|de|em)\s+(?:e|ou|mas)\b(?!-)"
    r"|r\$(?!\s*\d)|\b(?:e|ou|mas|que) (?:e|ou|mas)\b"
)
_CAPITAL = re.compile(r"(?<=[a-zà-ÿ0-9] )[A-ZÀ-Ý][a-zà-ÿ]*\b")
_NO_CAPITAL = re.compile(r"(?:\A\W*|[\wà-ÿ%][.!?](?!\.\.|[\"”»])\W{1,20})(?=[a-zà-ÿ])")
_ASIDE = re.compile(r"\([^()\n]{1,80}\)")
"""What stands in brackets may ask and begin small («(produto? prazo?)»)."""
_WITH_CAPITAL = re.compile(r"(?m)(?:\A|^|[.!?]\s)\W{0,20}[A-ZÀ-Ý][a-zà-ÿ]")
_ITEM = re.compile(r"(?m)^[ \t]*(?:[-*•→–|]|\(?\w{1,2}[.)]|\d\ufe0f?\u20e3)[ \t]*")
"""Marks of lists: what stands behind them may begin small, but for the first."""
_DISAGREES = re.compile(
    r"\b(?:os|as|dos|das|nos|nas|aos)\s+(?!que\b|r\$|com\b|em\b|de\b|quem\b|(?:dez|onze|doze|quinze|vinte|trinta"
    r"|quarenta|cinquenta|quatro|cinco|sete|oito|nove|cem|mil)\b)[a-z-]+[^\Ws0-9_]\b"
    r"|\b(?:o|um|uma|do|da|no|na|ao|pelo|pela|seu|sua)\s+(?!dos|das|nos|nas|pois|mas\b|mais|menos)[a-z]{2,}(?:[oa]s"
    r"|oes|ens)\b"
    r"|\b(?:o|um|do|no|ao|pelo|seu|meu)\s+(?!coracao)[a-z]+(?:cao|dade|agem|ncia)\b"
    r"|\b(?:uma|da|na|pela|sua|minha)\s+[a-z]+(?:mento|ismo)\b"
)
_LABEL = re.compile(
    r"\b(?:hipotese|fase|grupo|plano|opcao|vale|cenario|teste|item) [a-e]\b(?=\W)|\bum a um\b|\b(?:o seu"
    r"|a sua)(?= (?:e (?:[a-z]{2,}e|garanta|corra|curta|receba)|por|com|sai|fica|vem|no|na)\b)"
    r"|(?<=[oa])\((?:a|as|o|os)\)|\b(?<=cada )um(?=:)|\bda (?=uma\b)"
    r"|\b(?<=n)os (?=cinco\b)|\ba partir de(?=\W*\.\.)|\b(?:(?<=leva )|(?<=pega )|(?<=leve ))uma?\b"
)
"""What is numbered by letters, and turns that look unfinished («um a um», «da uma tarde», «nos cinco»)."""
_TURNED_ROUND = re.compile(r"\A[^()]*\w\w\)[^()]*\(")
"""Brackets that close before one opens; «a)» is a mark."""
_GLUED = re.compile(r"[a-zà-ÿ]{2}[A-ZÀ-Þ][a-zà-ÿ]")
"""Two words in one."""
_BROKEN = re.compile(r"\ufffd|\d[a-zà-ÿ]{5,}|\w[?!]\.(?!\.)|\w[<>]=(?!\s?\d)|:\*\*[a-zà-ÿ]|[A-Z]{4},\d")
"""Half a character, a word that begins in a figure («9,6produto») or behind a label's mark, marks that do not go
together, a figure that has lost its beginning."""
_BRANDS = re.compile(r"\b(?:WhatsApp|YouTube|TikTok|LinkedIn|PicPay|PayPal|MasterCard|PlayStation)s?\b")
_IS = re.compile(r"\b(?:é|dá|dó|pôr|quê)\b|\b(?<=\bpor )que(?=\s*\?)", re.IGNORECASE)
"""Words that are no «e», «da», «do», «por» and «que» without their accents, and «por que?», often written without."""
_REGIONS = word_set("sul norte nordeste sudeste oeste brasil natal pascoa")
_UNFINISHED = re.compile(r"[.!?] off[.!?]|[\w,;:(-]\s*\Z|\n[^\S\n]*[-*•][^\S\n]*(?:\n|\Z)|[;,:]\s*[;,.]")
_BEFORE_NOUNS = word_set("um uma do da dos das no na nos nas ao aos pelo pela seu sua meu minha")


@dataclass(frozen=True)
class Norm:
    """What is ordinary for a kind of text: mean log-odds of its words, and share of words in odd places.

    Nineteen of twenty good answers of other writers lie above the mean and below the share; the same words shuffled
    hardly ever come near (docs/truth.md).
    """

    mean: float = -0.3
    odd: float = 0.44
    sentence: float = -1.8


PROSE = Norm()


def fluency(text: str, norm: Norm = PROSE) -> float:
    """How much a text reads like Portuguese in its order, in [0, 1]: the least of four looks, each 1 for good text.

    The mean log-odds of its words (0 from .28 below the norm on), the share of words in odd places (0 from .08 above
    the norm on), the worst five words in a row (1 down to -2.6, 0 at -3), and the worst of its sentences of five
    words and more (0 at the norm, 1 from .5 above). Faults that one can name cost besides, but for one in 40 words. A
    text without words is 0.
    """
    if not any(token.isalpha() for token in tokens(text)):
        return 0.0
    odds = model().odds(text)
    mean = _mean(text)
    odd = sum(value < ODD for value in odds) / len(odds)
    last = max(1, len(odds) - WINDOW + 1)
    worst = min(sum(odds[start : start + WINDOW]) / WINDOW for start in range(last))
    means = sorted(_mean(part) for part in sentences(text, whole=True) if len(words(part)) >= WINDOW)
    sentence = means[min(len(means) - 1, len(means) // SENTENCES_PER_ODD_ONE)] if means else 0.0
    looks = (clip((mean - norm.mean + 0.28) / 0.28), clip((norm.odd + 0.08 - odd) / 0.08), clip((worst + 3.0) / 0.4))
    beyond = max(0, faults(text) - len(words(text)) // WORDS_PER_FAULT)
    small = len(_NO_CAPITAL.findall(_ITEM.sub(_begun, _ASIDE.sub(" ", text))))
    kept = FAULT**beyond * (SMALL_LETTERS if _is_small(text, small) else MISSING_CAPITAL**small)
    return kept * min(*looks, clip((sentence - norm.sentence) / 0.5))


READS = 0.6
"""Fluency from which on prose reads. A judge that pays for half-broken prose shows the way to prose that passes and
means nothing."""


def reads(text: str, norm: Norm) -> bool:
    return fluency(text, norm) >= READS


def _begun(mark: re.Match[str]) -> str:
    """Nothing for the first item's mark, else what keeps its first word from following a full stop."""
    return "_" if mark.start() else ""


def _is_small(text: str, small: int) -> bool:
    """Whether a long text has no capital letters at the beginning of any of its sentences: its writer's manner."""
    return small > 2 and len(words(text)) >= WORDS_PER_FAULT and not _WITH_CAPITAL.search(text)


def _mean(text: str) -> float:
    """Mean log-odds of the words, without marks, figures and pictures."""
    pairs = zip(tokens(text), model().odds(text), strict=False)
    found = [value for token, value in pairs if token[0].isalpha()]
    return sum(found) / len(found) if found else 0.0


def faults(text: str) -> int:
    """How many faults one can name: broken words, capitals inside, words that wait for another, brackets left open."""
    folded = _LABEL.sub(" ", plain(_IS.sub("eh", text)))
    brackets = folded.count("(") != folded.count(")") or bool(_TURNED_ROUND.search(folded))
    unfinished = bool(_UNFINISHED.search(folded))
    named = len(_LEFT_HANGING.findall(folded)) + len(_DISAGREES.findall(folded)) + _misplaced_verbs(tokens(text))
    glued = len(_GLUED.findall(_BRANDS.sub("Marca", text))) + len(_BROKEN.findall(text))
    return _misplaced_capitals(text) + named + brackets + unfinished + glued


def _misplaced_capitals(text: str) -> int:
    """How many ordinary words stand inside of a sentence and begin with a capital («Aproveite Sua novidade»)."""
    found = (plain(word) for word in _CAPITAL.findall(_PLACES.sub("", text)) if len(word) > 1)
    return sum(
        (model().is_known(word) or word in FORMS) and word in _ordinary() and word not in _REGIONS for word in found
    )


_PLACES = re.compile(
    r"\b(?:S(?:ão|anto|anta) (?=[A-ZÀ-Ý])|Rio (?:de Janeiro|Grande(?: do (?:Sul|Norte))?)|Minas Gerais|Mato Grosso"
    r"|Espírito Santo|Distrito Federal|Belo Horizonte|Porto Alegre|Boa Vista|Porto Velho|Campo Grande|Rio Branco)"
)
"""Names of places, or their beginning («São Paulo»), made of words that are ordinary by themselves."""


@lru_cache(maxsize=1)
def _ordinary() -> frozenset[str]:
    """Words that the corpus writes small: others that it knows are names."""
    return frozenset(map(plain, re.findall(r"\b[a-zà-ÿ]+\b", "\n".join(corpus(*CORPUS)))))


def _misplaced_verbs(read: list[str]) -> int:
    """How many verbs in the past follow another one, or an article («uma derrubou sabia»)."""
    kinds = [FORMS.get(token, "article" if token in _BEFORE_NOUNS else "") for token in read]
    verbs = [
        "" if token == "sai" else kind for token, kind in zip(read, kinds, strict=True)
    ]  # «o seu sai por»: present
    return sum(other == "v:past" and one in ("v:past", "article") for one, other in pairwise(verbs))
