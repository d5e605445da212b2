"""Every number of a short text with what it is of: unit, word in front, day and hour; and whether two texts agree on
them. `text.figures` reads amounts alone; a push also tells sizes, dates and hours («12V», «15/11», «20h»).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from rewards.parsing.sums import is_worked_out
from rewards.parsing.text import PORTUGUESE, REMEMBERED, SPELLED, Figure, fold, spelled

SIGNS = ("%", "R$")
FREE = 5
"""Numbers up to here without a sign claim nothing («os 3 filtros»)."""
_MONTHS = ("jan", "fev", "mar", "abr", "mai", "jun", "jul", "ago", "set", "out", "nov", "dez")
_DATE = re.compile(rf"\b(\d{{1,2}})(?:/(\d{{1,2}})(?:/\d{{2,4}})?|(?:º|o)? de ({'|'.join(_MONTHS)})[a-z]*)\b(?![/\d])")
_HOUR = re.compile(r"\b(\d{1,2})(?:h|:)(\d\d)\b")
_NUMBER = re.compile(r"(?<![a-z\d])(?P<money>r\$\s*)?(?P<digits>\d+(?:[.,]\d+)*)(?P<unit>\s?(?:%|[a-z]+))?")
_DECIMAL_COMMA = re.compile(r",\d{1,2}$|\.\d{3}$")
_WORD = re.compile(r"[a-z]+")
_OF_MORE = re.compile(r"(?: de desconto| off)? (?:extra|no|de volta)\b")
"""Behind a share of which «mais de» tells nothing of the brief's («mais de 50% de desconto no frete»)."""
_SMALL = re.compile(rf"\b(?:{'|'.join(word for word, value in SPELLED.items() if 2 <= value <= 10)})\b")
_PER_CENT = re.compile(r"(?<=\d) por cento\b")
_WEEKDAY = re.compile(r"\b(domingo|sabado|sexta|quinta|quarta|terca|segunda-feira)(?=-feira\b|\b)")
_SAME_UNIT = {"hora": "h", "reai": "R$", "gram": "g", "litr": "l", "unid": "un", "vez": "x", "veze": "x"}
_MULTIPLES = {"h": (24, 12), "mese": (12,), "dia": (7, 30), "dias": (7, 30), "seman": (4,)}
"""By what a number of a unit is divided where it is told in another one: hours as days, months as years."""
MORE_THAN = 1.05
"""By how much an amount may exceed a number that it is said to be more than."""
_CLEARLY = 2
"""By how much more numbers have to be like others than like themselves to stand in their place."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number with its unit («%», «R$», the beginning of the word behind it, or none) and the word in front."""

    value: float
    unit: str
    before: str


@dataclass(frozen=True, slots=True)
class Told:
    """The numbers of a text, and its dates as (day, month)."""

    numbers: tuple[Number, ...]
    dates: frozenset[tuple[int, int]]


@lru_cache(maxsize=REMEMBERED)
def digits(text: str) -> str:
    """A text, folded, with its numbers in words as digits, small ones too («leve três» is «leve 3»)."""
    return _PER_CENT.sub("%", _SMALL.sub(lambda match: str(SPELLED[match[0]]), spelled(text)))


@lru_cache(maxsize=REMEMBERED)
def told(text: str) -> Told:
    """What a text tells in numbers, digits and words alike."""
    dates: set[tuple[int, int]] = set()

    def dated(match: re.Match[str]) -> str:
        day, month = int(match[1]), int(match[2]) if match[2] else _MONTHS.index(match[3]) + 1
        if not (1 <= month <= 12 and 1 <= day <= 31):
            return match[0].replace("/", " / ")
        dates.add((day, month))
        return " "

    folded = _HOUR.sub(lambda match: f"{match[1]}h", _DATE.sub(dated, digits(text)))
    return Told(tuple(_read(match, folded) for match in _NUMBER.finditer(folded)), frozenset(dates))


def _read(match: re.Match[str], folded: str) -> Number:
    written = match["digits"]
    if _DECIMAL_COMMA.search(written):
        written = written.replace(".", "").replace(",", ".")
    plain = written.replace(",", "")
    word = (match["unit"] or "").strip()
    scale = 1000.0 if word == "mil" else 1.0
    unit = "R$" if match["money"] else "" if word in PORTUGUESE or word == "mil" else word[:4]
    front = _WORD.findall(folded[max(0, match.start() - 20) : match.start()])
    is_more = front[-2:] == ["mais", "de"] and not _OF_MORE.match(folded, match.end())
    before = "mais" if is_more else front[-1] if front else ""
    value = scale * float(plain) if plain.count(".") < 2 else 0.0
    return Number(value, _SAME_UNIT.get(unit, unit), before)


def unknown(said: Told, known: Told) -> list[Number]:
    """The numbers of an answer that its brief does not have and that do not follow from it."""
    values = {number.value for number in known.numbers} | {float(part) for date in known.dates for part in date}
    values |= {value % 12 for value in values if value <= 24}
    values |= {number.value / by for number in known.numbers for by in _MULTIPLES.get(number.unit, ())}
    amounts = [(number.value, number.unit if number.unit in SIGNS else "") for number in known.numbers]
    of_unit = {(number.value, number.unit) for number in known.numbers}
    return [
        number
        for number in said.numbers
        if not (number.value in values and (number.unit not in SIGNS or _may_be(number, of_unit)))
        and not _follows(number, amounts)
    ]


def _may_be(number: Number, known: set[tuple[float, str]]) -> bool:
    """Whether an amount is one of a brief, where its sign may be left out («4,99/kg»)."""
    signed = bool(known & {(number.value, number.unit), (number.value, "")})
    return signed or (number.unit == "R$" and number.value % 1 > 0 and (number.value, "%") not in known)


def _follows(number: Number, amounts: Sequence[tuple[float, str]]) -> bool:
    """Whether a number claims nothing, or follows from those of a brief."""
    if number.unit not in SIGNS:
        counted = (number.value == value * times for value, _ in amounts for times in (2, 7, 30))
        return number.value <= FREE or (len(amounts) > 1 and any(counted))
    if number.unit == "%" and number.value == 100:
        return True
    prices = [value for value, unit in amounts if unit == "R$"]
    if number.unit == "R$" and any(number.value == price * times for price in prices for times in (2, 3)):
        return True
    if any(_is_rounded(number, amount) for amount in amounts):
        return True
    figure = Figure(number.value, 0.5, "R$" if number.unit == "R$" else "%")
    return is_worked_out(figure, [amount for amount in amounts if amount[1]])


def _is_rounded(number: Number, amount: tuple[float, str]) -> bool:
    """Whether a number is an amount told as more than a little less («mais de 50%» for 51 %)."""
    value, unit = amount
    return number.before == "mais" and unit == number.unit and number.value < value <= MORE_THAN * number.value


def lacks_a_sign(said: Told, known: Told) -> bool:
    """Whether a share of a brief stands without its sign («51 de desconto»)."""
    shares = {one.value for one in known.numbers if one.unit == "%"}
    shares -= {one.value for one in known.numbers if one.unit != "%"}
    return any(one.value in shares and not one.unit for one in said.numbers)


def tells(said: Told, amount: Number) -> bool:
    """Whether a text tells an amount of its brief with its sign; the sign of a price may be left out."""
    units = {amount.unit, *(("",) if amount.unit == "R$" else ())}
    pair = (amount.value, amount.unit)
    return any(
        (one.value == amount.value and (one.unit in units or (one.unit not in SIGNS and amount.unit == "R$")))
        or _is_rounded(one, pair)
        for one in said.numbers
    )


def exchanged(said: Told, known: Told) -> bool:
    """Whether numbers of a brief stand in each other's place («de R$ 32 por R$ 39», «leve 2, pague 3»): some fit what
    is told of another number better than what is told of themselves."""
    margin = 0
    amounts = [(number.value, number.unit) for number in known.numbers if number.unit in SIGNS]
    for number in said.numbers:
        if number.unit in SIGNS and (number.value, number.unit) not in amounts and _follows(number, amounts):
            continue
        own = [_alike(number, other) for other in known.numbers if other.value == number.value]
        others = [_alike(number, other) for other in known.numbers if other.value != number.value]
        if own and others:
            margin += max(0, max(others) - max(own))
    return margin >= _CLEARLY


def _alike(one: Number, other: Number) -> int:
    """How much two numbers are of the same: unit counts twice, the word in front once."""
    unit = 2 * (one.unit == other.unit != "")
    if one.unit in SIGNS and other.unit in SIGNS and one.unit != other.unit:
        unit = -2
    return unit + (one.before == other.before != "")


def rises(said: Told) -> bool:
    """Whether a price falls to a higher one («de R$ 32 por R$ 39»)."""
    prices = [number for number in said.numbers if number.unit == "R$"]
    return any(
        one.before == "de" and other.before in ("por", "apenas") and other.value > one.value
        for one, other in pairwise(prices)
    )


def other_dates(said: Told, known: Told) -> bool:
    """Whether an answer tells a date that its brief does not; «dia 2» and «junho» may stand apart in it."""
    days = {float(day) for day, _ in known.dates} | {number.value for number in known.numbers}
    months = {month for _, month in known.dates}
    return any(date not in known.dates and (date[0] not in days or date[1] not in months) for date in said.dates)


def weekdays(text: str) -> frozenset[str]:
    """The days of the week that a text names."""
    return frozenset(_WEEKDAY.findall(fold(text)))


def other_weekday(said: str, brief: str) -> bool:
    """Whether an answer names another day of the week than its brief."""
    known, named = weekdays(brief), weekdays(said)
    return bool(known and named) and not named & known
