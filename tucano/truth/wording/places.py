"""The states and the months that a text names, and whether an explanation is about others than its question."""

import re
import unicodedata
from collections.abc import Iterator, Set

from tucano.truth.reading import plain

_STATES = {
    "acre": "AC", "alagoas": "AL", "amapa": "AP", "amazonas": "AM", "bahia": "BA", "ceara": "CE",
    "distrito federal": "DF", "espirito santo": "ES", "goias": "GO", "maranhao": "MA", "mato grosso do sul": "MS",
    "mato grosso": "MT", "minas gerais": "MG", "paraiba": "PB", "parana": "PR", "pernambuco": "PE", "piaui": "PI",
    "rio de janeiro": "RJ", "rio grande do norte": "RN", "rio grande do sul": "RS", "rondonia": "RO", "roraima": "RR",
    "santa catarina": "SC", "sao paulo": "SP", "sergipe": "SE", "tocantins": "TO",
}  # fmt: skip
"""Without Pará, which without its accent is the word for «for»; the longer of two names first."""
_PARA = re.compile(r"(?i:\bpará\b)|\b(?:n?o|do|estado do) Para\b")
_NAMED = re.compile(rf"\b(?:{'|'.join(_STATES)})\b")
_CODE = re.compile(rf"\b(?:{'|'.join([*_STATES.values(), 'PA'])})\b")
_MONTHS = [
    "janeiro", "fevereiro", "marco", "abril", "maio", "junho", "julho", "agosto", "setembro", "outubro", "novembro",
    "dezembro",
]  # fmt: skip
_SHORT = "|".join(name[:3] for name in _MONTHS)
_YEAR = r"(?:\s+de\s+|\s*/\s*|\s+)(?P<{}>20\d\d)\b"
_IN_WORDS = re.compile(
    rf"\b(?P<lead>(?:de|em|mes de|durante|para|ate)\s+)?(?P<month>{'|'.join(_MONTHS)}|(?:{_SHORT})(?=\s*/))"
    rf"(?:{_YEAR.format('year')})?(?!\w)"
)
_IN_DIGITS = re.compile(
    r"(?<![\d/-])(?:\d{1,2}/)?(?P<month>\d{1,2})/(?P<year>20\d\d)\b|\b(?P<first>20\d\d)-(?P<second>\d{1,2})\b"
    r"|\bmes\s+(?:de\s+)?(?P<only>\d{1,2})\b(?:\s+de\s+(?P<of>20\d\d)\b)?"
)
Month = tuple[int, str]
"""Its number, and its year where that is named."""


def tells_of_another(prose: str, question: str, query: str) -> bool:
    """Whether an explanation names a state or a month, and none that the question is about. What a question does not
    name, its query does."""
    states = _states(question) or _states(query)
    if (told := _states(prose)) and states and not told & states:
        return True
    months = set(_months(question)) or set(_months(query))
    said = set(_months(prose))
    return bool(said and months) and not any(_is_same(one, other) for one in said for other in months)


def _states(text: str) -> Set[str]:
    found = {_STATES[name] for name in _NAMED.findall(plain(text))} | set(_CODE.findall(text))
    return found | ({"PA"} if _PARA.search(unicodedata.normalize("NFC", text)) else set())


def _months(text: str) -> Iterator[Month]:
    """A month in words needs a year or a word that leads to it: «marco» alone may be anything."""
    bare = plain(text)
    for found in _IN_WORDS.finditer(bare):
        if found["lead"] or found["year"]:
            yield (
                1 + next(place for place, name in enumerate(_MONTHS) if name[:3] == found["month"][:3]),
                found["year"] or "",
            )
    for found in _IN_DIGITS.finditer(bare):
        yield (
            int(found["month"] or found["second"] or found["only"]),
            found["year"] or found["first"] or found["of"] or "",
        )


def _is_same(one: Month, other: Month) -> bool:
    return one[0] == other[0] and (one[1] == other[1] or not one[1] or not other[1])
