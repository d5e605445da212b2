"""How numbers and times are written: with a point for English readers, with a comma for Brazilian ones."""

from collections.abc import Callable

LEVEL = 0.05
"""The level that readers hold a p against."""
MOST_DIGITS = 9


def english(value: float, digits: int = 3, signed: bool = False) -> str:
    shown = round(value, digits) or 0.0  # no minus before nothing
    return f"{shown:+.{digits}f}" if signed else f"{shown:.{digits}f}"


def portuguese(value: float, digits: int = 3, signed: bool = False) -> str:
    """Decimal comma, and a true minus sign."""
    return english(value, digits, signed).replace(".", ",").replace("-", "−")


def possible(low: float, high: float) -> tuple[float, float] | None:
    """What an interval of a difference of rewards says: they lie in [0, 1], so differences in [-1, 1]. None where it
    holds all of these.
    """
    return None if low <= -1 and high >= 1 else (max(low, -1.0), min(high, 1.0))


def p_value(p: float, number: Callable[..., str] = english) -> str:
    """`= 0.031`, `= 0.0003`, `< 0.0001`: never 0, and never rounded onto 0.05 from either side."""
    if p < 0.0001:
        return f"< {number(0.0001, 4)}"
    digits = 4 if p < 0.001 else 3
    while round(p, digits) == LEVEL != round(p, MOST_DIGITS):
        digits += 1
    return f"= {number(p, digits)}"


def duration(seconds: float) -> str:
    """`45 s`, `3 min 20 s`, `2 h 05 min`: the same in both languages."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"
