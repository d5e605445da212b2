"""The two languages of the report: Brazilian Portuguese for business readers, English for everybody else."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

from tucano.comparison.verdict import Verdict
from tucano.presentation.numbers import english, p_value, portuguese


@dataclass(frozen=True, slots=True)
class Language:
    """`say(pt, en)` is one of two texts; numbers are written as its readers expect them."""

    code: str
    number: Callable[..., str]

    @property
    def is_portuguese(self) -> bool:
        return self.code == "pt-BR"

    def say(self, in_portuguese: str, in_english: str) -> str:
        return in_portuguese if self.is_portuguese else in_english

    def headline(self, verdict: Verdict) -> str:
        return self.say(verdict.headline_pt, verdict.headline)

    def reservations(self, verdict: Verdict) -> tuple[str, ...]:
        return verdict.reservations_pt if self.is_portuguese else verdict.reservations

    def sentences(self, verdict: Verdict) -> tuple[str, ...]:
        return verdict.sentences_pt if self.is_portuguese else verdict.sentences

    def gain(self, value: float, digits: int = 3) -> str:
        return self.number(value, digits, signed=True)

    def percent(self, value: float | None) -> str:
        return "–" if value is None else f"{self.gain(value, 1)} %"

    def p(self, value: float | None) -> str:
        return "–" if value is None else p_value(value, self.number).removeprefix("= ")

    def plain(self, value: float) -> str:
        """As short as it is exact enough: an axis label, a setting."""
        text = f"{value:g}"
        return text.replace(".", ",").replace("-", "−") if self.is_portuguese else text

    def shown(self, value: Any) -> str:
        """A setting or count: decimal sign, thousands, yes and no."""
        if value is None:
            return "–"
        if isinstance(value, bool):
            return self.say("sim", "yes") if value else self.say("não", "no")
        if isinstance(value, int):
            return f"{value:,}".replace(",", ".") if self.is_portuguese else f"{value:,}"
        if isinstance(value, Real):
            return self.plain(float(value))
        if isinstance(value, Mapping):
            return " ".join(f"{name}={self.shown(one)}" for name, one in value.items()) or "–"
        if isinstance(value, list | tuple):
            return ", ".join(map(self.shown, value)) or "–"
        return str(value)


PORTUGUESE = Language("pt-BR", portuguese)
ENGLISH = Language("en", english)
LANGUAGES = (PORTUGUESE, ENGLISH)
