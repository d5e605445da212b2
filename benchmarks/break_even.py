"""From how many answers on a machine with one L4 costs less than an API; written into docs/serving.md.

python -m benchmarks.break_even

No price and no speed is made up here: each has a source and a date. The machine is held all day, busy or not; an API
is paid by the token.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from pathlib import Path

from tucano.benchmark.speeds import break_even_per_day, dollars_per_thousand
from tucano.presentation.tables import pipe_table
from tucano.settings import CostSettings
from tucano.settings.execution import Price

DOCUMENT = Path(__file__).parent.parent / "docs" / "serving.md"
DAYS_PER_MONTH = 30
LIST = "Google's list prices as github.com/Cyclenerd/google-cloud-pricing-cost-calculator read them, 0166a59"
MACHINES = (
    Price(machine="g2-standard-8 us-central1", usd_per_hour=0.853624271, source=LIST, date=date(2025, 3, 6)),
    Price(machine="g2-standard-8 spot us-central1", usd_per_hour=0.336764, source=LIST, date=date(2025, 3, 6)),
    *CostSettings().prices,
)


@dataclass(frozen=True)
class Api:
    """US dollars per million tokens in and out."""

    name: str
    dollars_in: float
    dollars_out: float
    source: str
    date: date


APIS = tuple(
    Api(name, into, out, "OpenAI's page as github.com/CommitBrief/commitbrief/wiki/Provider-OpenAI read it", on)
    for name, into, out, on in (("gpt-4o-mini", 0.15, 0.6, date(2026, 5, 27)), ("gpt-4o", 2.5, 10.0, date(2026, 5, 27)))
)


@dataclass(frozen=True)
class Speed:
    """What one L4 answers, and what an answer holds."""

    seconds: float
    answers: int
    tokens_in: int
    tokens_out: int
    source: str
    date: date

    @property
    def per_second(self) -> float:
        return self.answers / self.seconds

    @property
    def per_day(self) -> float:
        return 86_400 * self.per_second


L4 = Speed(
    seconds=7.3,
    answers=64,
    tokens_in=128,
    tokens_out=512,
    source="`tucano forecast l4-v5`: 64 answers of 512 tokens, 640 with their prompts, in 7.3 s, foreseen and not"
    " measured: from half as long to twice as long (docs/speed.md)",
    date=date(2026, 11, 22),
)


def dollars_per_answer(api: Api, speed: Speed) -> float:
    return (api.dollars_in * speed.tokens_in + api.dollars_out * speed.tokens_out) / 1e6


def break_even(machine: Price, api: Api, speed: Speed) -> int | None:
    """Answers a day from which on a machine costs no more than the API; None where it cannot give so many."""
    return break_even_per_day(machine.usd_per_hour, dollars_per_answer(api, speed), speed.per_second)


def table() -> str:
    """Markdown: what an answer costs, from where on a machine pays, and where each figure is from."""
    head = ("machine", "a day", "1,000 answers, busy", *(f"pays over {api.name} from" for api in APIS))
    rows: list[tuple[str, ...]] = [
        (
            machine.machine,
            f"{24 * machine.usd_per_hour:.2f} USD",
            f"{dollars_per_thousand(machine.usd_per_hour, L4.per_second):.4f} USD",
            *(_shown(break_even(machine, api, L4)) for api in APIS),
        )
        for machine in MACHINES
    ]
    apis: list[tuple[str, ...]] = [("API", "in, per million", "out, per million", "1,000 answers")]
    apis += [
        (api.name, f"{api.dollars_in} USD", f"{api.dollars_out} USD", f"{1000 * dollars_per_answer(api, L4):.4f} USD")
        for api in APIS
    ]
    return "\n".join(["", *_narrow([head, *rows]), "", *_narrow(apis), "", *_sources(), ""])


def _narrow(rows: list[tuple[str, ...]]) -> list[str]:
    """A table that only a browser shows needs no equal columns."""
    return [re.sub(r"-{3,}", "---", re.sub(r" {2,}", " ", line)) for line in pipe_table(rows)]


def _shown(answers: int | None) -> str:
    return "never" if answers is None else f"{answers:,} a day ({DAYS_PER_MONTH * answers:,} a month)"


def _sources() -> Iterator[str]:
    yield f"- An answer: {L4.tokens_in} tokens in, {L4.tokens_out} out."
    yield f"- One L4 gives {L4.per_day:,.0f} answers a day: {L4.source}, {L4.date}."
    sourced = [(machine.machine, machine.source, machine.date) for machine in MACHINES]
    sourced += [(api.name, api.source, api.date) for api in APIS]
    for (source, day), alike in groupby(sourced, key=lambda found: found[1:]):
        yield f"- {', '.join(name for name, *_ in alike)}: {source}, {day}."


def with_table(document: str) -> str:
    """The document with the table between its markers."""
    between = re.compile(r"(<!-- break-even -->\n).*?(<!-- end of break-even -->)", re.DOTALL)
    assert between.search(document), "the markers are gone"
    return between.sub(lambda found: f"{found[1]}{table()}{found[2]}", document)


def main() -> None:
    DOCUMENT.write_text(with_table(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
