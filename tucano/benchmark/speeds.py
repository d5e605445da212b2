"""What the speed of the trained arms is worth: a table, and from how many answers on a machine pays over an API."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

import numpy as np

from tucano.benchmark.pace import Pace
from tucano.presentation.tables import pipe_table, wrapped

DAY_S, HOUR_S = 86_400, 3_600


@dataclass(frozen=True, slots=True)
class Speeds:
    """`machine`: its name in the price table; `usd_per_hour` is None where that has no row for it."""

    machine: str
    cores: int
    usd_per_hour: float | None
    paces: tuple[Pace, ...]


def dollars_per_thousand(usd_per_hour: float, per_second: float) -> float:
    """Of a machine that answers without a pause."""
    return 1000 * usd_per_hour / (HOUR_S * per_second)


def break_even_per_day(usd_per_hour: float, usd_per_answer: float, per_second: float) -> int | None:
    """Answers a day from which on a machine that is held all day costs no more than an API that is paid by the answer;
    None where it cannot give so many, or the API costs nothing.
    """
    if usd_per_answer <= 0:
        return None
    answers = ceil(24 * usd_per_hour / usd_per_answer)
    return answers if answers <= DAY_S * per_second else None


def render_speeds(speeds: Speeds, paid: Mapping[str, float]) -> list[str]:
    """Lines of markdown: a row for each arm and number at a time, and from where on the machine pays over each API.
    paid: {API: US dollars for an answer}.
    """
    lines = ["", f"*speed of the trained arms ({speeds.machine}, {speeds.cores} cores)*", "", *_rows(speeds), ""]
    said = "Whoever asks together waits for the last of them."
    if speeds.usd_per_hour is None:
        said += f" {speeds.machine} has no price in `cost.prices`, so nothing here has one."
    return [*lines, *wrapped(said), *_break_even_rows(speeds, paid)]


def _rows(speeds: Speeds) -> list[str]:
    rows: list[tuple[str, ...]] = [
        ("arm", "at a time", "answers", "median s", "95 % s", "answers/s", "tokens/s", "USD per 1,000")
    ]
    for pace in speeds.paces:
        median, slow = np.quantile(pace.seconds, [0.5, 0.95])
        price = speeds.usd_per_hour
        dollars = "-" if price is None else f"{dollars_per_thousand(price, pace.per_second):.4f}"
        rates = (f"{pace.per_second:.2f}", f"{pace.tokens / sum(pace.seconds):.0f}")
        rows.append((pace.arm, str(pace.at_a_time), str(pace.answers), f"{median:.2f}", f"{slow:.2f}", *rates, dollars))
    return pipe_table(rows)


def _break_even_rows(speeds: Speeds, paid: Mapping[str, float]) -> list[str]:
    if speeds.usd_per_hour is None or not paid or not speeds.paces:
        return []
    rows: list[tuple[str, ...]] = [("arm", *(f"pays over {name} from" for name in paid))]
    for arm in dict.fromkeys(pace.arm for pace in speeds.paces):
        best = max(pace.per_second for pace in speeds.paces if pace.arm == arm)
        found = [break_even_per_day(speeds.usd_per_hour, dollars, best) for dollars in paid.values()]
        rows.append((arm, *("never" if count is None else f"{count:,} answers a day" for count in found)))
    return ["", *pipe_table(rows)]
