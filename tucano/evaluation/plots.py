"""The plots of the report as inline SVG: matplotlib's object interface, decimal commas, no state shared between plots."""

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from tucano.evaluation.comparison import Point
from tucano.evaluation.contrast import Contrast
from tucano.evaluation.verdict import portuguese

INK, MUTED, GRID = "#1d2733", "#667380", "#e3e8ed"
GAIN, LOSS, OPEN = "#0f766e", "#b42318", "#64748b"
COLOURS = ("#0f766e", "#b45309", "#4f46e5", "#be185d", "#0369a1", "#4d7c0f")
STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "tucano",
    "font.family": "sans-serif",
    "font.size": 10,
    "text.color": INK,
    "axes.edgecolor": GRID,
    "axes.labelcolor": MUTED,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "legend.frameon": False,
}
WINDOW_SHARE = 0.08
"""Share of a training curve's steps in its moving average."""


@dataclass(frozen=True, slots=True)
class SeedCurves:
    """What one seed's training measured: mean reward of the rollouts by step, and of the validation answers."""

    seed: int
    steps: Sequence[int]
    reward: Sequence[float]
    validation_steps: Sequence[int]
    validation_reward: Sequence[float]


def _svg(figure: Figure) -> str:
    """The figure as an `<svg>` element that takes the width of the page."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = buffer.getvalue()
    return re.sub(r'^<svg ([^>]*?)(?:width|height)="[^"]*pt" ?([^>]*?)(?:width|height)="[^"]*pt"', r"<svg \1\2", text[text.index("<svg") :])


def _decimal_commas(axis: Any) -> None:
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{round(value, 6):g}".replace(".", ",").replace("-", "−")))


def forest(contrast: Contrast) -> str:
    """Typical gain (Hodges-Lehmann) with its 95 % interval per task, overall last, and the zero line."""
    effects = {**contrast.tasks, "geral": contrast.overall}
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(8.6, 0.9 + 0.5 * len(effects)), layout="constrained")
        axes = figure.add_subplot()
        for place, (name, effect) in enumerate(effects.items()):
            colour = GAIN if effect.low > 0 else LOSS if effect.high < 0 else OPEN
            whole = name == "geral"
            axes.plot([effect.low, effect.high], [place, place], color=colour, linewidth=3 if whole else 2, solid_capstyle="round")
            axes.plot([effect.estimate], [place], "D" if whole else "o", color=colour, markersize=9 if whole else 8)
            estimate, low, high = (portuguese(value, signed=True) for value in (effect.estimate, effect.low, effect.high))
            label = f"{estimate}  [{low}; {high}]"
            axes.annotate(
                label, (1.01, place), xycoords=("axes fraction", "data"), va="center", color=INK, weight="bold" if whole else "normal"
            )
        axes.axvline(0, color=INK, linewidth=1)
        axes.set_yticks(range(len(effects)), list(effects), color=INK)
        axes.set_ylim(len(effects) - 0.5, -0.5)
        axes.grid(visible=False, axis="y")
        axes.spines["left"].set_visible(False)
        _decimal_commas(axes.xaxis)
        axes.set_xlabel(f"ganho típico de recompensa em relação a {contrast.reference} (intervalo de 95 %)")
        return _svg(figure)


def paired(points: Sequence[Point], reference: str) -> str:
    """Every prompt once: its reward at the reference against its mean reward over the seeds; above the diagonal is better."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(5.2, 4.9), layout="constrained")
        axes = figure.add_subplot()
        axes.plot([0, 1], [0, 1], color=INK, linewidth=1)
        for colour, task in zip(COLOURS, dict.fromkeys(point.task for point in points), strict=False):
            chosen = [point for point in points if point.task == task]
            x, y = [point.reference for point in chosen], [point.tuned for point in chosen]
            axes.scatter(x, y, s=34, color=colour, alpha=0.75, edgecolors="white", linewidths=0.6, label=task)
        axes.set(
            xlim=(-0.03, 1.03),
            ylim=(-0.03, 1.03),
            aspect="equal",
            xlabel=f"recompensa de {reference}",
            ylabel="recompensa média das sementes",
        )
        _decimal_commas(axes.xaxis)
        _decimal_commas(axes.yaxis)
        axes.legend(loc="upper left", bbox_to_anchor=(0, 1), handletextpad=0.2)
        return _svg(figure)


def curves(training: Sequence[SeedCurves]) -> str:
    """Training reward (moving average) and validation reward by step.

    A line per seed, their mean, and the band from the worst to the best seed over the steps that all seeds have."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(8.6, 3.2), layout="constrained")
        left, right = figure.subplots(1, 2, sharey=True)
        _seed_lines(left, [(curve.seed, *_smoothed(curve.steps, curve.reward)) for curve in training])
        _seed_lines(right, [(curve.seed, list(curve.validation_steps), list(curve.validation_reward)) for curve in training], marker="o")
        left.set(title="treino (média móvel)", xlabel="passo", ylabel="recompensa média")
        right.set(title="validação", xlabel="passo")
        _decimal_commas(left.yaxis)
        right.legend(loc="lower right", title="semente")
        return _svg(figure)


def _smoothed(steps: Sequence[int], values: Sequence[float]) -> tuple[list[int], list[float]]:
    window = max(1, round(WINDOW_SHARE * len(values)))
    return list(steps[window - 1 :]), list(np.convolve(values, np.ones(window) / window, mode="valid"))


def _seed_lines(axes: Axes, lines: Sequence[tuple[int, list[int], list[float]]], marker: str | None = None) -> None:
    shared = sorted(set.intersection(*(set(steps) for _, steps, _ in lines)))
    by_step = [[dict(zip(steps, values, strict=True))[step] for step in shared] for _, steps, values in lines]
    for colour, (seed, steps, values) in zip(COLOURS * len(lines), lines, strict=False):
        axes.plot(steps, values, color=colour, linewidth=1.3, alpha=0.8, marker=marker, markersize=4, label=str(seed))
    if len(lines) > 1 and shared:
        axes.fill_between(shared, np.min(by_step, axis=0), np.max(by_step, axis=0), color=MUTED, alpha=0.2, linewidth=0)
        axes.plot(shared, np.mean(by_step, axis=0), color=INK, linewidth=2.2, label="média")
