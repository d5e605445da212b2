"""The verdict as tables for the terminal (100 columns) and for Prefect and MLflow (markdown)."""

from tucano.comparison.compare import TOGETHER, Comparison
from tucano.comparison.contrast import Contrast, Effect
from tucano.presentation.numbers import english, p_value, possible
from tucano.presentation.tables import blocks, items, pipe_table, wrapped
from tucano.security.printable import escaped


def render_table(comparison: Comparison) -> str:
    """Headline; arms x tasks means; the primary contrast by task; what may be said; warnings about the texts."""
    main, verdict = comparison.main, comparison.verdict
    return blocks(
        wrapped(f"**{verdict.headline}**"),
        [line for said in verdict.reservations for line in wrapped(said)],
        wrapped(
            f"Mean reward on {comparison.prompts} held-out prompts, {comparison.primary}; `{TOGETHER}` is the mean over"
            " the seeds."
        ),
        _mean_rows(comparison),
        wrapped(
            f"`{main.arm}` - `{main.reference}`: gain is the difference of the means; p is exact and one-sided, Holm"
            " over the tasks; typical gain, which p is about, is Hodges-Lehmann's median with 95 % interval, [?] where"
            " it cannot be assessed; sees: smallest gain likely to show."
        ),
        _effect_rows(main),
        wrapped(
            "Where the gain comes from, mean reward with 95 % interval: the same base answers read strictly and as"
            " scored, then training."
        ),
        _step_rows(comparison),
        wrapped("Mean gain of each seed:"),
        _seed_rows(main),
        items(verdict.sentences),
    )


def render_markdown(comparison: Comparison) -> str:
    """The same for a page that renders Markdown: headline, what stands beside it, effects, arms, sentences."""
    main, verdict = comparison.main, comparison.verdict
    parts = [f"**{escaped(verdict.headline)}**", *map(escaped, verdict.reservations)]
    parts += ["\n".join(_effect_rows(main)), "\n".join(_mean_rows(comparison))]
    parts.append("\n".join(f"- {escaped(sentence)}" for sentence in verdict.sentences))
    return "\n\n".join(parts)


def _mean_rows(comparison: Comparison) -> list[str]:
    means = comparison.means[comparison.primary]
    names = [*comparison.main.tasks, "overall"]
    return pipe_table(
        [("arm", *names), *((arm, *(english(row[name]) for name in names)) for arm, row in means.items())]
    )


def _effect_rows(main: Contrast) -> list[str]:
    head = ("task", "n", "gain", "gain %", "p", "Holm", "typical gain", "effect", "sees")
    return pipe_table(
        [head, *(_effect_row(name, effect) for name, effect in [*main.tasks.items(), ("overall", main.overall)])]
    )


def _step_rows(comparison: Comparison) -> list[str]:
    steps = comparison.decomposition.steps
    names = [*comparison.main.tasks, "overall"]
    rows = [("task", "before", *(f"by {step.name}" for step in steps["overall"]), "after")]
    for name in names:
        gains = (f"{english(step.gain, signed=True)} {_range(step.low, step.high)}" for step in steps[name])
        rows.append((name, english(steps[name][0].before), *gains, english(steps[name][-1].after)))
    return pipe_table(rows)


def _range(low: float, high: float, digits: int = 2) -> str:
    ends = possible(low, high)
    return "[?]" if ends is None else f"[{', '.join(english(end, digits, signed=True) for end in ends)}]"


def _seed_rows(main: Contrast) -> list[str]:
    names = [*main.tasks, "overall"]
    rows = ((seed, *(english(gains[name], signed=True) for name in names)) for seed, gains in main.seeds.items())
    return pipe_table([("seed", *names), *rows])


def _short(p: float) -> str:
    return p_value(p).removeprefix("= ").replace(" ", "")


def _effect_row(name: str, effect: Effect) -> tuple[str, ...]:
    return (
        name,
        str(effect.n),
        english(effect.gain, signed=True),
        "-" if effect.gain_percent is None else english(effect.gain_percent, 1, signed=True),
        _short(effect.p),
        "-" if effect.p_holm is None else _short(effect.p_holm),
        f"{english(effect.estimate, signed=True)} {_range(effect.low, effect.high, 3)}",
        english(effect.rank_biserial, 2, signed=True),
        "-" if effect.detectable is None else english(effect.detectable),
    )
