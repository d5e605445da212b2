"""One comparison, read in every place that shows it: gain, interval, p, Holm, truth, time and cost are the same.

`agree` is asked of made-up artifacts here, and of a pipeline that really ran in tests/test_pipeline.py.
"""

import html
import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from storages import Finished, finished
from test_overview import BEST, PRICED

from tasks.compare import _metrics
from tucano.artifacts.store import opened
from tucano.comparison.claims import after_holm
from tucano.comparison.compare import Comparison
from tucano.comparison.table import render_markdown, render_table
from tucano.cost import costs, sentence, total
from tucano.overview.page import view, write_page
from tucano.presentation.numbers import duration, english, p_value
from tucano.profiles import validated
from tucano.report.report import Facts, render_report


def gain(value: float) -> str:
    return english(value, signed=True)


def plain(text: str) -> str:
    """The English half of a page, as it is read: its elements and its white space are one space."""
    half = text[text.index('<main lang="en">') :] if '<main lang="en">' in text else text
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", half)))


def agree(places: Mapping[str, str], metrics: Mapping[str, float], compared: Comparison, hours: float) -> list[str]:
    """What lacks or differs somewhere: nothing. `metrics` are MLflow's; the other `places` are texts."""
    overall, tasks = compared.main.overall, compared.main.tasks
    truth = compared.find(compared.main.arm, compared.reference, compared.primary, "truth")
    p = p_value(overall.p).removeprefix("= ")
    ends = gain(overall.low), gain(overall.high)
    is_known = ends != ("-1.000", "+1.000")
    terms, points = (f"[{mark.join(ends)}]" for mark in (", ", "; "))
    if not is_known:
        terms, points = "[?]", "[not assessable]"
    table = [gain(overall.gain), p.replace(" ", ""), f"{gain(overall.estimate)} {terms}"]
    holm = [p_value(effect.p_holm or 1.0).removeprefix("= ") for effect in tasks.values()]
    of_truth = [gain(truth.overall.gain)] if truth else []
    wanted = {
        "terminal": [*table, *(value.replace(" ", "") for value in holm), *of_truth, f"{hours:.2f} machine-hours"],
        "Prefect": [*table, *(value.replace(" ", "") for value in holm), *of_truth],
        "report": [gain(overall.gain), p, *([points] if is_known else []), *holm, *of_truth, duration(3600 * hours)],
        "page": [gain(overall.gain), p, f"{gain(overall.estimate)} {points}", *of_truth],
    }
    missing = [f"{place} lacks {one}" for place, all_of in wanted.items() for one in all_of if one not in places[place]]
    everything = re.compile(r"\[-1\.000[;,] \+1\.000\]")
    missing += [f"{place} gives an interval of everything" for place, text in places.items() if everything.search(text)]
    numbers = {
        "gain/overall": overall.gain,
        "gain/typical": overall.estimate,
        "interval/low": overall.low,
        "interval/high": overall.high,
    }
    numbers |= {f"gain/{task}": effect.gain for task, effect in tasks.items()}
    numbers |= {"truth/gain": truth.overall.gain} if truth else {}
    small = {f"holm/{task}": after_holm(effect.p_holm) for task, effect in tasks.items()} | {"p/overall": overall.p}
    apart = [name for name, value in numbers.items() if abs(metrics[name] - value) > 5.1e-5]
    apart += [name for name, value in small.items() if abs(metrics[name] - value) > 0.051 * max(value, 1e-9)]
    return missing + [f"MLflow's {name} is {metrics[name]}" for name in apart]


@pytest.mark.parametrize("share", [1, 0])
def test_gain_interval_p_holm_truth_time_and_cost_are_the_same_in_every_place(tmp_path: Path, share: int) -> None:
    """Also where nothing differs, so that no interval is known."""
    gains = {task: share * gain for task, gain in BEST.gains.items()}
    report = finished(tmp_path, Finished(BEST.overrides, gains, per_task=5, noise=share))
    page = plain(write_page(tmp_path).read_text(encoding="utf-8"))
    (line,) = view(tmp_path).lines
    compared, settings = line.row.comparison, json.loads((report.folder / "settings.json").read_text(encoding="utf-8"))
    stages = {path.parent.parent.name: opened(path.parent) for path in tmp_path.glob("artifacts/*/*/manifest.json")}
    del stages["report"]  # its cost is not known when it is written
    cost = total(list(costs(stages, validated({**settings, "storage": "runs"}).cost).values()))
    facts = Facts(settings, "laptop", [], {}, machine_hours=cost.hours, usd=cost.dollars)
    places = {
        "terminal": f"{render_table(compared)}\ncost: {sentence(cost, compared.main.overall.gain)}",
        "Prefect": render_markdown(compared),
        "report": plain(render_report(compared, facts)),
        "page": page,
    }
    assert agree(places, _metrics(compared), compared, cost.hours) == []
    assert cost.dollars is not None and PRICED in BEST.overrides
    own, shared = line.spent.own, line.spent.shared
    assert own.hours + shared.hours == pytest.approx(cost.hours)
    assert (own.dollars or 0) + (shared.dollars or 0) == pytest.approx(cost.dollars)
    assert f"US$ {english(cost.dollars, 2)}" in places["report"] and f"US$ {english(cost.dollars, 2)}" in page
    wrong = {**places, "page": page.replace(gain(compared.main.overall.gain), "+0.999")}
    assert agree(wrong, _metrics(compared), compared, cost.hours), "a number that differs is found"
