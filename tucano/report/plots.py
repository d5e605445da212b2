"""The plots of the report as inline SVG: matplotlib's object interface, numbers in the reader's language, no state
shared.
"""

import io
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from tucano.comparison.compare import Point
from tucano.comparison.contrast import Contrast, Effect
from tucano.presentation.numbers import possible
from tucano.report.language import Language

INK, MUTED, GRID = "#1d2733", "#667380", "#e3e8ed"
GAIN, LOSS, OPEN = "#0f766e", "#b42318", "#64748b"
COLOURS = ("#0f766e", "#b45309", "#4f46e5", "#be185d", "#0369a1", "#4d7c0f")
STYLE: Any = {
    "svg.fonttype": "none",
    "text.parse_math": False,  # a name may hold $
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


REWARD, VALIDATION = "train/reward/total", "validation/reward"
HEALTH = (
    ("validation/truth", "verdade na validação", "ground truth on validation"),
    ("train/entropy", "entropia (nats/token)", "entropy (nats/token)"),
    ("train/frac_reward_zero_std", "grupos sem sinal", "groups without signal"),
    ("train/completions/clipped_ratio", "cortadas no limite", "cut off at the ceiling"),
    ("train/completions/mean_length", "tokens por resposta", "tokens per completion"),
    ("validation/kl", "KL até o início (nats/token)", "KL to the start (nats/token)"),
)
"""Metrics of the journal that say whether a training is healthy, with their titles."""


@dataclass(frozen=True, slots=True)
class SeedCurves:
    """What one seed's training measured: {metric: [(step, value)]}."""

    seed: int
    metrics: Mapping[str, Sequence[tuple[int, float]]]


def _style(language: Language) -> Any:
    """Both languages stand on one page: the ids in their drawings differ, and are the same every time."""
    return {**STYLE, "svg.hashsalt": f"tucano {language.code}"}


def _svg(figure: Figure) -> str:
    """The figure as an `<svg>` element that takes the width of the page."""
    buffer = io.StringIO()
    figure.savefig(
        buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None, "Format": None, "Type": None}
    )
    text = buffer.getvalue()
    return re.sub(
        r'^<svg ([^>]*?)(?:width|height)="[^"]*pt" ?([^>]*?)(?:width|height)="[^"]*pt"',
        r"<svg \1\2",
        text[text.index("<svg") :],
    )


def _numbers(axis: Any, language: Language) -> None:
    axis.set_major_formatter(FuncFormatter(lambda value, _: language.plain(round(value, 6))))


def forest(contrast: Contrast, language: Language, narrow: bool = False) -> str:
    """Typical gain (Hodges-Lehmann) with its 95 % interval per task, overall last, and the zero line. What is written
    stands beside each interval; in a `narrow` one, for a phone, above it, so that it is as large as the page's text.
    """
    effects = {**contrast.tasks, language.say("geral", "overall"): contrast.overall}
    with matplotlib.rc_context(_style(language)):
        size = (3.6, 0.8 + 0.5 * len(effects)) if narrow else (5.8, 0.8 + 0.34 * len(effects))
        figure = Figure(figsize=size, layout="constrained")
        axes = _intervals(figure, effects, contrast.reference, language)
        if narrow:
            axes.xaxis.set_major_locator(MaxNLocator(4))
            axes.set_xlabel(textwrap.fill(axes.get_xlabel(), 34))
        behind = {"facecolor": "white", "edgecolor": "none", "pad": 1, "alpha": 0.85}  # the line of nothing lies there
        for place, effect in enumerate(effects.values()):
            where: dict[str, Any] = {"xy": (1.01, place), "va": "center"}
            if narrow:
                where = {"xy": (0.5, place - 0.22), "ha": "center", "va": "bottom", "bbox": behind}
            where |= {"xycoords": ("axes fraction", "data"), "color": INK}
            where |= {"weight": "bold" if effect is contrast.overall else "normal"}
            axes.annotate(_written(effect, language), **where)
        return _svg(figure)


def _written(effect: Effect, language: Language) -> str:
    ends = possible(effect.low, effect.high)
    return f"{language.gain(effect.estimate)}  [{'; '.join(map(language.gain, ends)) if ends else '?'}]"


def _intervals(figure: Figure, effects: Mapping[str, Effect], reference: str, language: Language) -> Axes:
    """A row per effect, the last of which is the whole, with its interval as a line, on axes that name all but the
    numbers.
    """
    axes = figure.add_subplot()
    for place, effect in enumerate(effects.values()):
        colour = GAIN if effect.low > 0 else LOSS if effect.high < 0 else OPEN
        whole = place == len(effects) - 1
        ends = possible(effect.low, effect.high) or ()
        line: dict[str, Any] = {"color": colour, "solid_capstyle": "round"}
        axes.plot(ends, [place] * len(ends), linewidth=3 if whole else 2, **line)
        axes.plot([effect.estimate], [place], "D" if whole else "o", color=colour, markersize=9 if whole else 8)
    axes.axvline(0, color=INK, linewidth=1)
    axes.set_yticks(range(len(effects)), list(effects), color=INK)
    axes.set_ylim(len(effects) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)
    _numbers(axes.xaxis, language)
    label = language.say(
        "ganho típico de recompensa em relação a {} (intervalo de 95 %)",
        "typical gain in reward over {} (95 % interval)",
    )
    axes.set_xlabel(label.format(reference))
    return axes


def paired(points: Sequence[Point], reference: str, language: Language) -> str:
    """Every prompt once: its reward at the reference against its mean reward over the seeds; above the diagonal is
    better.
    """
    with matplotlib.rc_context(_style(language)):
        figure = Figure(figsize=(5.2, 4.9), layout="constrained")
        axes = figure.add_subplot()
        axes.plot([0, 1], [0, 1], color=INK, linewidth=1)
        for colour, task in zip(COLOURS, dict.fromkeys(point.task for point in points), strict=False):
            chosen = [point for point in points if point.task == task]
            x = [point.reference for point in chosen]
            y = [point.tuned for point in chosen]
            axes.scatter(x, y, s=34, color=colour, alpha=0.75, edgecolors="white", linewidths=0.6, label=task)
        axes.set(
            xlim=(-0.03, 1.03),
            ylim=(-0.03, 1.03),
            aspect="equal",
            xlabel=language.say(f"recompensa de {reference}", f"reward of {reference}"),
            ylabel=language.say("recompensa média das sementes", "mean reward of the seeds"),
        )
        _numbers(axes.xaxis, language)
        _numbers(axes.yaxis, language)
        axes.legend(loc="upper left", bbox_to_anchor=(0, 1), handletextpad=0.2)
        return _svg(figure)


def curves(training: Sequence[SeedCurves], language: Language) -> str:
    """Training reward (of a long training its moving average) and validation reward by step.

    A line per seed, their mean, and the band from the worst to the best seed over the steps that all seeds have."""
    with matplotlib.rc_context(_style(language)):
        figure = Figure(figsize=(8.6, 3.2), layout="constrained")
        left, right = figure.subplots(1, 2, sharey=True)
        _seed_lines(left, training, REWARD)
        _seed_lines(right, training, VALIDATION)
        step = language.say("passo", "step")
        window = max(_window(len(one.metrics.get(REWARD, ()))) for one in training)
        over = language.say(f" (média móvel de {window} passos)", f" (moving average over {window} steps)")
        left.set(
            title=language.say("treino", "training") + (over if window > 1 else ""),
            xlabel=step,
            ylabel=language.say("recompensa média", "mean reward"),
        )
        right.set(title=language.say("validação", "validation"), xlabel=step)
        _numbers(left.yaxis, language)
        right.legend(loc="lower right", title=language.say("semente", "seed"))
        return _svg(figure)


def health(training: Sequence[SeedCurves], language: Language) -> str:
    """Small multiples of what tells a healthy training from a dying one, drawn like `curves`."""
    with matplotlib.rc_context(_style(language)):
        figure = Figure(figsize=(8.6, 4.2), layout="constrained")
        for axes, (metric, in_portuguese, in_english) in zip(figure.subplots(2, 3).flat, HEALTH, strict=True):
            _seed_lines(axes, training, metric)
            axes.set_title(language.say(in_portuguese, in_english), fontsize=9)
            axes.tick_params(labelsize=8)
            axes.set_visible(bool(axes.lines))
            _numbers(axes.xaxis, language)
            _numbers(axes.yaxis, language)
        return _svg(figure)


def _window(steps: int) -> int:
    return max(1, round(WINDOW_SHARE * steps))


def _smoothed(points: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
    window = _window(len(points))
    values = np.convolve([value for _, value in points], np.ones(window) / window, mode="valid")
    return [(step, float(value)) for (step, _), value in zip(points[window - 1 :], values, strict=True)]


def _seed_lines(axes: Axes, training: Sequence[SeedCurves], metric: str) -> None:
    """What a training logs at every step is smoothed; the looks at the validation set are marked one by one."""
    look = metric.startswith("validation/")
    lines = {curves.seed: list(curves.metrics.get(metric, ())) for curves in training}
    drawn = {seed: dict(points if look else _smoothed(points)) for seed, points in lines.items() if points}
    for colour, (seed, line) in zip(COLOURS * len(lines), drawn.items(), strict=False):
        axes.plot(
            list(line),
            list(line.values()),
            color=colour,
            linewidth=1.3,
            alpha=0.8,
            marker="o" if look else None,
            markersize=4,
            label=str(seed),
        )
    shared = sorted(set.intersection(*map(set, drawn.values()))) if drawn else []
    if len(drawn) > 1 and shared:
        by_step = [[line[step] for step in shared] for line in drawn.values()]
        axes.fill_between(shared, np.min(by_step, axis=0), np.max(by_step, axis=0), color=MUTED, alpha=0.2, linewidth=0)
        axes.plot(shared, np.mean(by_step, axis=0), color=INK, linewidth=2.2, label="x̄")
