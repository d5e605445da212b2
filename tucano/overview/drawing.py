"""The drawings of the overview, as numbers that its template puts into SVG: one scale for all rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

WIDTH = 150.0
"""Of an interval's drawing, in its own units."""
PLOT = (360.0, 210.0)
"""Width and height of the curves' drawing; on a phone a unit is a pixel."""
LEFT, RIGHT, TOP, BOTTOM = 44.0, 8.0, 10.0, 24.0
MOST_CURVES = 8
"""Configurations with a colour and a dash of their own."""


@dataclass(frozen=True, slots=True)
class Scale:
    """From values to places, linear."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        span = self.high / 2 - self.low / 2  # by halves nothing that a float holds is too large
        share = (value / 2 - self.low / 2) / span if span > 0 else 0.5
        return round(self.start + share * (self.end - self.start), 1)


def interval_scale(intervals: Sequence[tuple[float, float]]) -> Scale:
    """One that holds 0 and all intervals."""
    ends = [0.0, *(end for interval in intervals for end in interval)]
    return Scale(min(ends), max(ends), 4.0, WIDTH - 4.0)


@dataclass(frozen=True, slots=True)
class Curve:
    """A configuration's mean over its seeds, and the band from its worst to its best, as points of SVG."""

    label: str
    line: str
    band: str
    last: float


@dataclass(frozen=True, slots=True)
class Plot:
    """`x_ticks` and `y_ticks` are (place, value)."""

    curves: tuple[Curve, ...]
    x_ticks: tuple[tuple[float, float], ...]
    y_ticks: tuple[tuple[float, float], ...]


Points = Mapping[int, Sequence[tuple[int, float]]]
"""{seed: [(step, value)]}"""


def plot(curves: Mapping[str, Points]) -> Plot | None:
    """The first configurations' curves over the steps that all their seeds have; None where none has two."""
    shared = {label: means for label, points in curves.items() if len(means := _by_step(points)) > 1}
    drawn = dict(list(shared.items())[:MOST_CURVES])
    if not drawn:
        return None
    values = [value for means in drawn.values() for row in means.values() for value in row]
    steps = [step for means in drawn.values() for step in means]
    x = Scale(0.0, max(steps), LEFT, PLOT[0] - RIGHT)
    y = Scale(min(values), max(values), PLOT[1] - BOTTOM, TOP)
    return Plot(
        tuple(_curve(label, means, x, y) for label, means in drawn.items()),
        tuple((x(value), value) for value in (0.0, max(steps) / 2, max(steps))),
        tuple((y(value), value) for value in sorted({min(values), min(values) / 2 + max(values) / 2, max(values)})),
    )


def _by_step(points: Points) -> dict[int, list[float]]:
    """{step that all seeds have: their values}."""
    seeds = [dict(found) for found in points.values() if found]
    shared = sorted(set.intersection(*map(set, seeds))) if seeds else []
    return {step: [seed[step] for seed in seeds] for step in shared}


def _curve(label: str, means: Mapping[int, Sequence[float]], x: Scale, y: Scale) -> Curve:
    middle = {step: sum(value / len(row) for value in row) for step, row in means.items()}
    top = [f"{x(step)},{y(max(row))}" for step, row in means.items()]
    bottom = [f"{x(step)},{y(min(row))}" for step, row in means.items()]
    line = " ".join(f"{x(step)},{y(value)}" for step, value in middle.items())
    return Curve(label, line, " ".join([*top, *reversed(bottom)]), list(middle.values())[-1])
