"""Measures of Portuguese text: words, language, repetition, copying, figures. All linear in the text, all in [0, 1]."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from rewards.types import LONGEST, clip

REMEMBERED = 4096
"""Texts of which a function of a text alone remembers what it said: a brief is asked about with every answer, and most
of an edited answer is what it was before."""

_FURTHER = re.compile(r"[^\x00-\x7f]")
_MOST_MARKS = 30
_PILE = re.compile(rf"[^\x00-\u02ff]{{{_MOST_MARKS + 1}}}")
_BLANKS = re.compile(r"(\s{30})\s+")
_WORD = re.compile(r"[^\W_]+(?:[.,][^\W_]+)*")
_ALPHABETIC = re.compile(r"[^\W\d_]+")


def word_set(names: str) -> frozenset[str]:
    return frozenset(names.split())


PORTUGUESE = word_set("""
    a o e de da do das dos que em um uma para com nao os as no na nos nas se por mais mas ao aos foi ele ela sao tem ser
    seu sua seus suas ou quando muito ha ja esta estao eu tambem so pelo pela pelos pelas ate isso entre depois sem
    mesmo quem me esse essa este estes estas eles elas voce voces meu minha nossa nosso nossos nossas como onde qual
    quais cada todos todas todo toda pra pro sobre ainda porque pois apenas assim aqui agora hoje entao bem era sera
    deve podem pode deste desta desse dessa neste nesta isto aquele aquela lhe num numa
    """)
"""Function words, without accents. A Portuguese sentence has them in about 40 % of its places."""

FOREIGN = word_set("""
    el la los las y en con del un pero muy su sus lo le es fue hay usted ustedes nuestro nuestra muchas gracias the of
    and to in is for with on that this your you are our it its from now get have has was were be been by we they he she
    not or an at will can which what when there their his her but all would should these those than then if into more
    some any about here how who out up just only over also don buy check best
    """)
"""Spanish and English words that are no Portuguese words."""


def readable(completion: str) -> str:
    """What is judged of a completion: its NFC form, without a byte order mark.

    Nothing of more than `LONGEST` characters, nor of one with more than 30 combining marks in a row (no stream-safe
    text has them, UAX 15): normalizing takes time with the square of their number. Of a run of white space its first
    30 characters: pages of it are read by every pattern and say nothing.
    """
    too_much = len(completion) > LONGEST or (_PILE.search(completion) and _has_piled_marks(completion))
    return "" if too_much else _BLANKS.sub(r"\1", unicodedata.normalize("NFC", completion)).removeprefix("\ufeff")


def _has_piled_marks(text: str) -> bool:
    return "m" * (_MOST_MARKS + 1) in "".join(
        "m" if combining else " " for combining in map(unicodedata.combining, text)
    )


@lru_cache(maxsize=REMEMBERED)
def fold(text: str) -> str:
    """Lower case without accents: what words are compared in. At most `LONGEST` characters, since some become 18 of
    them.
    """
    return _FURTHER.sub(lambda found: _simplest(found[0]), text.lower())[:LONGEST]


@lru_cache(maxsize=REMEMBERED)
def _simplest(letter: str) -> str:
    """A character's plain form; a sign that is a number of its own (`²`, `½`) stays, else `10²` would be 102."""
    if letter.isnumeric() and not letter.isdecimal():
        return letter
    return "".join(part for part in unicodedata.normalize("NFKD", letter) if not unicodedata.combining(part))


def words(text: str) -> list[str]:
    """The words and numbers, folded; folding them before changes nothing."""
    return list(_words(text))


@lru_cache(maxsize=REMEMBERED)
def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(fold(text)))


def squeeze(text: str) -> str:
    """The text with every run of white space as one space: the form whose characters are counted."""
    return " ".join(text.split())


def portuguese(tokens: list[str]) -> float:
    """How much a text's words look like Portuguese sentences: 1 from 15 % function words on; each foreign word takes
    two back.
    """
    letters = [token for token in tokens if _ALPHABETIC.match(token)]
    if not letters:
        return 0.0
    there = sum(one == "la" and other in _THERE for one, other in pairwise(letters))
    hits = sum(token in PORTUGUESE for token in letters) - 2 * (sum(token in FOREIGN for token in letters) - there)
    return clip(hits / len(letters) / 0.15)


_THERE = word_set("fora dentro em na no nas nos do da de vem vai atras")
"""What follows «lá», which is no article without its accent."""


def foreign(tokens: list[str]) -> float:
    """How clearly a text is Spanish or English: 1 where their words outnumber Portuguese ones by 15 % of all words."""
    letters = [token for token in tokens if _ALPHABETIC.match(token)]
    if not letters:
        return 0.0
    surplus = sum(token in FOREIGN for token in letters) - sum(token in PORTUGUESE for token in letters)
    return clip(surplus / len(letters) / 0.15)


_MIXED = 0.25


def in_one_language(tokens: list[str]) -> float:
    """1, or what is left where words of English or Spanish stand side by side: three of them, or twice two others. Two
    alone may be a term («just in time», «check-out»), however often it is said.
    """
    pairs = {(one, other) for one, other in pairwise(tokens) if one in FOREIGN and other in FOREIGN}
    return _MIXED if len(pairs) > 1 else 1.0


_NO_WORD = re.compile(r"(?!tv|pc|kg|cd|dvd|mdf|ml|cm|hd|gb|px|sp|rj)[bcdfghjklmnpqrstvwxz]{2,}")


def is_nonsense(text: str) -> bool:
    """Whether a text has letters that are no word and not one word that links others («xq zzt plim»)."""
    tokens = words(text)
    return not PORTUGUESE.intersection(tokens) and any(map(_NO_WORD.fullmatch, tokens))


def variety(tokens: list[str]) -> float:
    """1 for ordinary text, 0 where it says the same again and again: from 75 % distinct 3-grams (words, below 8 words)
    down to 35 %.
    """
    if not tokens:
        return 1.0
    size = 3 if len(tokens) >= 8 else 1
    grams = _grams(tokens, size)
    return clip((len(set(grams)) / len(grams) - 0.35) / 0.4)


def originality(tokens: list[str], source: str) -> float:
    """1 for own words, 0 for a copy of `source`: by the share of 4-grams that stand in it, from 50 % up to 90 %."""
    return clip((0.9 - copied(tokens, source)) / 0.4)


def copied(tokens: list[str], source: str) -> float:
    """Share of a text's 4-grams, in [0, 1], that stand in `source`."""
    grams = _grams(tokens, 4)
    known = _source_grams(source)
    return sum(gram in known for gram in grams) / len(grams) if grams else 0.0


def longest_copy(tokens: list[str], source: str) -> int:
    """Length in words of the longest run that stands in `source`; 0 for runs of fewer than four."""
    known = _source_grams(source)
    longest = run = 0
    for gram in _grams(tokens, 4):
        run = run + 1 if gram in known else 0
        longest = max(longest, run + 3 if run else 0)
    return longest


def without_copies(folded: str, source: str, longest: int) -> str:
    """A folded text without the runs of more than so many words that stand in `source`."""
    spans = [match.span() for match in _WORD.finditer(folded)]
    known = _source_grams(source)
    kept, end, run = [], 0, 0
    grams = _grams([folded[start:stop] for start, stop in spans], 4)
    for place in range(len(grams) + 1):
        if place < len(grams) and grams[place] in known:
            run += 1
            continue
        if run and run + 3 > longest:
            kept.append(folded[end : spans[place - run][0]])
            end = spans[place + 2][1]
        run = 0
    return "\n".join([*kept, folded[end:]])


def _grams(tokens: list[str], size: int) -> list[tuple[str, ...]]:
    return list(zip(*(tokens[start:] for start in range(size)), strict=False))


@lru_cache(maxsize=1024)
def _source_grams(source: str) -> frozenset[tuple[str, ...]]:
    return frozenset(_grams(words(source), 4))


def count_distinct(pattern: re.Pattern[str], folded: str) -> int:
    """How many different things a pattern matches in folded text."""
    return len(set(pattern.findall(folded)))


def any_of(names: str) -> re.Pattern[str]:
    """A pattern for any of the words, in folded text; `recomend*` stands for all words that begin so."""
    alternatives = (re.escape(name.removesuffix("*")) + ("" if name.endswith("*") else r"\b") for name in names.split())
    return re.compile(rf"\b(?:{'|'.join(alternatives)})")


Unit = Literal["%", "R$", ""]


@dataclass(frozen=True, slots=True)
class Figure:
    """A number in a text: its value, half of its last written digit, and its unit."""

    value: float
    tolerance: float
    unit: Unit


_FIGURE = re.compile(
    r"""(?=[r\d])(?P<money>r\$\s*)?(?:(?<![\w.,/])|(?<=[%.][.,/])|(?<=[a-z],))(?<![a-z_]-)
    (?:(?P<pt>[1-9]\d{0,2}(?:\.\d{3}){1,4}(?:,\d+)?|\d{1,15},\d+)
    |(?P<en>[1-9]\d{0,2}(?:,\d{3}){1,4}(?:\.\d+)?|\d{1,15}(?:\.\d+)?))
    (?:e(?P<power>[+-]?\d\d?))?(?:\s*(?P<scale>mil|k|mi|bi|tri)(?:lhao|lhoes)?\b)?
    (?:\s*(?:(?P<percent>%|por\s+cento\b)|(?P<reais>(?:de\s+)?reais\b))|\b(?![./]\d|(?<=\d),\d))""",
    re.VERBOSE,
)
_NO_FIGURE = re.compile(r"^[ \t>*#_-]*\d{1,2}[.)](?=[\s*_])|\b(?:19|20)\d\d-(?:0\d|1[0-2])(?:-\d\d)?\b", re.MULTILINE)
_SCALES = {"k": 3, "mil": 3, "mi": 6, "bi": 9, "tri": 12}


def figures(text: str) -> list[Figure]:
    """The figures of a text, as docs/rewards.md says: `1.234,5`, `1234.5`, `12,5%`, `R$ 10,00`, `1,2 mil`.

    The numbers of a list's items, and digits inside words, dates and codes are none.
    """
    return [figure for figure, _, _ in placed_figures(fold(text))]


@lru_cache(maxsize=REMEMBERED)
def placed_figures(folded: str) -> tuple[tuple[Figure, int, int], ...]:
    """The figures of a folded text, each with where it begins and ends."""
    bare = _NO_FIGURE.sub(lambda match: " " * len(match[0]), folded)
    return tuple((_figure(match), *match.span()) for match in _FIGURE.finditer(bare))


def _figure(match: re.Match[str]) -> Figure:
    pt, en = match["pt"], match["en"]
    plain = pt.replace(".", "").replace(",", ".") if pt else en.replace(",", "")
    power = int(match["power"] or 0) + _SCALES.get(match["scale"], 0)
    unit: Unit = "R$" if match["money"] or match["reais"] else "%" if match["percent"] else ""
    return Figure(float(f"{plain}e{power}"), float(f"5e{power - 1 - len(plain.partition('.')[2])}"), unit)


def occurs(number: float, found: Iterable[Figure]) -> bool:
    """Whether one of the figures shows the number, rounded as it is written there."""
    return any(abs(abs(number) - figure.value) <= figure.tolerance * (1 + 1e-9) for figure in found)


_BROKEN = re.compile(
    r"\ufffd"  # a character that is not one
    r"|[a-zà-ÿ]{2}[A-ZÀ-Þ][a-zà-ÿ]|[a-zà-ÿ]{2}[A-Z]{2}"  # two words in one: "ValeAnálise", "olefonSUM"
    r"|:\*\*[a-zà-ÿ]"  # bold that ends in a word: "**Situação:**e"
    r"|[a-zà-ÿ]{3}\d|\d[a-zà-ÿ]{3}"  # a word and a number in one: "acima34"
    r"|R\$(?!\s?(?:\d|[XYNx]\b))"  # a price without a figure
    r"|\w[?!]\.(?!\.)|\w[<>]=(?!\s?\d)"  # marks that do not go together
    r"|\d,\d+,\d|\d[.,]\d+[.,]?%?[.,]\d%|R\$ ?[\d.,]+ ?%"  # a number that is none: "3,7,91%", "R$ 33%"
    r"|(?m:^[^\S\n]*(?:[-*•]\s*)?[.,;:%)])"  # a line that begins with the end of another
    r"|(?m:^[^\S\n]*[-*•](?!\*)\s*(?:d[aeo]s?|n[ao]s?|a|o|e|com|para|por|em|que)\s*$)"  # a bullet that only leads on
    r"|\b(?:SELECT|COUNT|ROUND|SUM|JOIN|WHERE|GROUP BY|ORDER BY)\b|\"\}|\{\""  # scraps of SQL and JSON
)
_BRANDS = re.compile(
    r"\b(?:WhatsApp|YouTube|TikTok|LinkedIn|AliExpress|PicPay|MasterCard|PayPal|iPhone|iPad|PlayStation)s?\b"
)
_COMPOUND = re.compile(r"\w+")


def sound(answer: str, source: str = "") -> float:
    """How whole a prose text is, in (0, 1]: it halves with every place where words, numbers or markup are broken.

    Names of fields («produto_id») are broken words unless the source has them.
    """
    compounds = [word for word in _COMPOUND.findall(answer) if "_" in word.strip("_") and word not in source]
    places = len(_BROKEN.findall(_BRANDS.sub("Marca", answer))) + answer.count("**") % 2 + len(compounds)
    return 0.5 ** min(places, 10)


SPELLED = {
    word: int(number)
    for word, _, number in (
        pair.partition("=")
        for pair in word_set("""
        um=1 uma=1 dois=2 duas=2 tres=3 quatro=4 cinco=5 seis=6 sete=7 oito=8 nove=9 dez=10 onze=11 doze=12 treze=13
        quatorze=14 catorze=14 quinze=15 dezesseis=16 dezessete=17 dezoito=18 dezenove=19 vinte=20 trinta=30
        quarenta=40 cinquenta=50 sessenta=60 setenta=70 oitenta=80 noventa=90 cem=100 cento=100 duzentos=200
        duzentas=200 trezentos=300 trezentas=300 quatrocentos=400 quatrocentas=400 quinhentos=500 quinhentas=500
        seiscentos=600 seiscentas=600 setecentos=700 setecentas=700 oitocentos=800 oitocentas=800 novecentos=900
        novecentas=900 mil=1000 milhao=1000000 milhoes=1000000
        """)
    )
}
_ONE_SPELLED = "|".join(SPELLED)
_IN_WORDS = re.compile(
    rf"(?<!\d )\b(?!(?<=\d por )cento\b)(?!(?<=por )cento\b(?! e (?:{_ONE_SPELLED})\b))"
    rf"(?P<number>(?:{_ONE_SPELLED})(?: (?:e )?(?:{_ONE_SPELLED}))*)\b"
    r"(?P<unit> por cento\b| (?:de )?reais\b)?(?! em cada\b)"
)
_FIRST_COUNT = 11
"""Smaller numbers in words count nothing that a brief could tell."""


def spelled(text: str, counts: bool = True) -> str:
    """A text, folded, with its figures in words as digits («oitenta por cento», «dez mil reais»); `counts`: those
    without a unit as well («vinte e sete vendedores»).
    """
    return _IN_WORDS.sub(lambda found: _in_digits(found, counts), fold(text))


def _in_digits(found: re.Match[str], counts: bool) -> str:
    value = _value(found["number"].replace(" e ", " ").split())
    unit = found["unit"] or ""
    if value is None or (not unit and not (counts and value >= _FIRST_COUNT and found["number"] not in _SAYINGS)):
        return found[0]
    return f"r$ {value}" if "reais" in unit else f"{value}%" if unit else str(value)


_SAYINGS = word_set("cem mil")
"""Words that stand for many («mil razões»)"""


def _value(words: list[str]) -> int | None:
    """The number that words say; none where they follow each other as those of no number do («dois três»)."""
    total = part = 0
    least = _THOUSAND
    for value in (SPELLED[word] for word in words):
        if value >= _THOUSAND:
            total, part, least = total + max(part, 1) * value, 0, _THOUSAND
        elif value >= least or (value >= 10 and least <= 20):
            return None
        else:
            part, least = part + value, 10 ** (len(str(value)) - 1) if value >= 20 else 1
    return total + part


_THOUSAND = 1_000
