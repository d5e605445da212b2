"""Saved views and deep links of the MLflow page, so that an analyst lands on an answer and not on an empty table.

MLflow keeps a shared view as an experiment tag, `mlflow.sharedViewState.<key>`; the format is not documented (it is the
page's own state, deflated) and may change with a version. What shows is taken from the metrics that runs have: one
chart per metric, one section per `train/reward/…`, `validation/…` and so on. Importing this module imports no mlflow.
"""

from __future__ import annotations

import base64
import json
import time
import zlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    from mlflow import MlflowClient

PIPELINES, TRAINING, EVALUATION = "tucano-pipelines", "tucano-training", "tucano-evaluation"
EXPERIMENTS = (PIPELINES, TRAINING, EVALUATION)
SERVING = "tucano-serving"
"""Made by who sends traces of what was served; the others are made by every run."""

LEADERBOARD, BY_CONFIGURATION, EVERY_SEED, EVALUATIONS = (
    "tucano-leaderboard",
    "tucano-by-config",
    "tucano-seeds",
    "tucano-evaluations",
)

COLUMNS = 10
"""A table with more metrics than this is not read."""

WIDE = 260
"""Pixels of a column with words. MLflow puts tags behind all metrics, unless it is told an order."""

CHARTS = 100
"""Keeps a view well below the 20,000 characters of an experiment tag."""

SECTIONS_FIRST = ("gain", "truth", "served", "p", "holm", "validation", "train/reward", "cost")
"""What an analyst asks for before anything else; the other sections follow in alphabetical order."""

REWARDS = ("reward", "total", "overall")
"""Within a section the chart of the whole comes before those of its parts."""

DECISIVE = (
    "gain/overall", "gain/typical", "interval/low", "interval/high", "truth/gain", "served/gain", "p/overall",
    "p/mean over seeds", "cost/usd", "cost/hours",
)  # fmt: skip
"""The leaderboard's columns beside the gain per task: how much better, how sure, does the mean over seeds gain, at what
cost.
"""

LEADER = "gain/overall"
"""The metric by which the leaderboard is sorted, where runs have it."""

LATEST_RUNS = 100

SECTION = {"display": True, "isReordered": True, "deleted": False, "isGenerated": False, "columns": 2}
"""Of charts: two a row, so that axes and legends can be read."""

MARK = "leaderboard"
"""Tag of the pipeline runs that the leaderboard lists: of those with the same comparison the newest."""
LISTED, REPEATED = "listed", "repeated"


def view_links(experiments: dict[str, str]) -> dict[str, str]:
    """Links to the views, relative to the MLflow page; `experiments` maps names to ids, and may lack some."""
    views = (
        ("leaderboard", PIPELINES, LEADERBOARD, "TABLE"),
        ("curves by configuration", TRAINING, BY_CONFIGURATION, "CHART"),
        ("every seed", TRAINING, EVERY_SEED, "CHART"),
        ("evaluations", EVALUATION, EVALUATIONS, "TABLE"),
    )
    links = {
        name: f"{runs_link(experiments[experiment])}&viewStateShareKey={key}&compareRunsMode={mode}"
        for name, experiment, key, mode in views
        if experiment in experiments
    }
    return links | (
        {"served requests": f"#/experiments/{experiments[SERVING]}/traces"} if SERVING in experiments else {}
    )


def runs_link(experiment_id: str, search: str = "") -> str:
    """An experiment's runs. Without the workflow type MLflow opens an empty page of traces."""
    return f"#/experiments/{experiment_id}/runs?workflowType=machine_learning" + (
        f"&searchFilter={quote(search)}" if search else ""
    )


def run_link(experiment_id: str, run_id: str) -> str:
    return f"#/experiments/{experiment_id}/runs/{run_id}?workflowType=machine_learning"


def registry_link(model: str, version: str) -> str:
    return f"#/models/{model}/versions/{version}"


def pipeline_links(experiments: Mapping[str, str], run_id: str, tags: Mapping[str, str]) -> dict[str, str]:
    """Links to a pipeline run and to what its tags say belongs to it, relative to the MLflow page, in the order of
    interest.
    """
    links = {"pipeline run": run_link(experiments[PIPELINES], run_id)}
    if "verdict" in tags:
        links["report"] = f"#/experiments/{experiments[PIPELINES]}/runs/{run_id}/artifacts/report/report.html"
    if "compared" in tags:
        tuned, reference = tags["compared"].split()
        page = f"#/experiments/{experiments[EVALUATION]}/evaluation-runs"
        links["answers side by side"] = f"{page}?selectedRunUuid={tuned}&compareToRunUuid={reference}"
    if "training_runs" in tags:
        wanted = ", ".join(f"'{identity}'" for identity in tags["training_runs"].split())
        links["training runs"] = runs_link(experiments[TRAINING], f"attributes.run_id IN ({wanted})")
    if "promotion.version" in tags:
        links["registered model"] = registry_link(tags["promotion.model"], tags["promotion.version"])
    return links


def save_views(client: MlflowClient, experiments: dict[str, str]) -> None:
    """Write the saved views, with the metrics that the newest runs have."""
    _list_once(client, experiments[PIPELINES])
    training = _metric_keys(client, experiments[TRAINING])
    tables = (
        (PIPELINES, LEADERBOARD, "Leaderboard", ["tags.`verdict`"]),
        (EVALUATION, EVALUATIONS, "Evaluations", ["tags.`config_label`", "tags.`arm`", "tags.`seed`"]),
    )
    for experiment, key, name, tags in tables:
        found = _metric_keys(client, experiments[experiment])
        metrics = [metric for metric in found if metric in DECISIVE or metric.startswith("gain/")] or found[:COLUMNS]
        state = page_state([*tags, *(f"metrics.`{metric}`" for metric in metrics)], found)
        only = f" and tags.{MARK} = '{LISTED}'" if experiment == PIPELINES else ""
        search = f"attributes.status = 'FINISHED'{only}"
        _save(client, experiments[experiment], key, name, {**state, "searchFilter": search})
    seeds = [
        "tags.`stage`",
        "tags.`config_label`",
        "tags.`seed`",
        *(f"metrics.`{metric}`" for metric in training[:COLUMNS]),
    ]
    _save(
        client,
        experiments[TRAINING],
        BY_CONFIGURATION,
        "Curves by configuration (mean over seeds)",
        page_state(seeds, training, "config_label"),
    )
    _save(client, experiments[TRAINING], EVERY_SEED, "Curves of every seed", page_state(seeds, training))


def _list_once(client: MlflowClient, experiment: str) -> None:
    """Mark the newest pipeline run with each comparison: one that reuses every stage repeats an earlier row."""
    reached = "tags.verdict != '' and attributes.status != 'FAILED' and attributes.status != 'KILLED'"
    seen: set[str] = set()
    for run in client.search_runs([experiment], reached, order_by=["attributes.start_time DESC"]):
        compared = run.data.tags.get("digest.comparison", run.info.run_id)
        mark = REPEATED if compared in seen else LISTED
        seen.add(compared)
        if run.data.tags.get(MARK) != mark:
            client.set_tag(run.info.run_id, MARK, mark)


def page_state(columns: Sequence[str], metrics: Sequence[str], group_by_tag: str | None = None) -> dict[str, Any]:
    """The state of the runs page: its columns, one line chart per metric, and the tag over which runs are averaged."""
    charted = list(metrics)[:CHARTS]
    sections = dict.fromkeys(_section(metric) for metric in charted)
    group = {"aggregateFunction": "average", "groupByKeys": [{"mode": "tag", "groupByData": group_by_tag}]}
    return {
        "searchFilter": "tags.stage = 'grpo'" if group_by_tag else "",
        "orderByKey": f"metrics.`{LEADER}`" if LEADER in charted else "attributes.start_time",
        "orderByAsc": False,
        "startTime": "ALL",
        "lifecycleFilter": "Active",
        "datasetsFilter": [],
        "modelVersionFilter": "All Runs",
        "selectedColumns": list(columns),
        "columnOrder": list(columns),
        "columnWidths": {column: WIDE for column in columns if column.startswith("tags.")},
        "runsHiddenMode": "SHOWALL",
        "compareRunCharts": [_chart(metric) for metric in charted],
        "compareRunSections": [{**SECTION, "uuid": name, "name": name} for name in sections],
        "viewMaximized": False,
        "runListHidden": False,
        "isAccordionReordered": True,
        "useGroupedValuesInCharts": True,
        "hideEmptyCharts": True,
        "groupBy": group if group_by_tag else None,
        "groupsExpanded": {},
        "globalLineChartConfig": {"xAxisKey": "step", "lineSmoothness": 0, "selectedXAxisMetricKey": ""},
    }


def _chart(metric: str) -> dict[str, Any]:
    return {
        "uuid": f"chart-{metric}".replace("/", "-"),
        "type": "LINE",
        "runsCountToCompare": 10,
        "metricSectionId": _section(metric),
        "deleted": False,
        "isGenerated": False,
        "displayName": _title(metric),
        "metricKey": metric,
        "lineSmoothness": 0,
        "scaleType": "linear",
        "xAxisScaleType": "linear",
        "xAxisKey": "step",
        "selectedXAxisMetricKey": "",
        "yAxisKey": "metric",
        "yAxisExpressions": [],
        "range": {},
        "ignoreOutliers": False,
        "useGlobalXaxisKey": True,
        "useGlobalLineSmoothing": True,
    }


def _title(metric: str) -> str:
    """What of a metric's name its section does not say: a chart's title has room for some twenty characters."""
    section = _section(metric)
    return metric.removeprefix(f"{section}/").removesuffix("/mean")


def _section(metric: str) -> str:
    """At most the first two parts of the name's path: `train/rewards/format/mean` stands in `train/rewards`."""
    return "/".join(metric.split("/")[:-1][:2]) or "other"


def _metric_keys(client: MlflowClient, experiment_id: str) -> list[str]:
    """The metrics of the newest runs, in the order in which they are shown."""

    def place(metric: str) -> tuple[int, str, bool, str]:
        section = _section(metric)
        rank = SECTIONS_FIRST.index(section) if section in SECTIONS_FIRST else len(SECTIONS_FIRST)
        return rank, section, _title(metric) not in REWARDS, metric

    runs = client.search_runs([experiment_id], max_results=LATEST_RUNS)
    return sorted({metric for run in runs for metric in run.data.metrics}, key=place)


def _save(client: MlflowClient, experiment_id: str, key: str, name: str, state: dict[str, Any]) -> None:
    now = time.time_ns() // 1_000_000
    packed = base64.b64encode(zlib.compress(json.dumps(state).encode())).decode()
    view = {"name": name, "createdAt": now, "updatedAt": now, "state": f"deflate;{packed}"}
    client.set_experiment_tag(experiment_id, f"mlflow.sharedViewState.{key}", json.dumps(view))
