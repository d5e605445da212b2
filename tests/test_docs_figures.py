"""Figures in README and docs/: each page that has some is held by a test, or names the command that measures them."""

import json
import re
from itertools import product
from pathlib import Path
from typing import get_args

import pytest

from rewards.names import REPORTED
from tucano.cli.forecast import TIME_FACTOR
from tucano.settings import AlarmName, PipelineSettings
from tucano.settings.training.preflight import CHECKS

ROOT = Path(__file__).parent.parent
HELD_BY = {
    "docs/audit.md": "test_docs_figures", "docs/data.md": "test_data_defects", "docs/health.md": "test_docs",
    "docs/rewards.md": "test_rewards_sets", "docs/settings.md": "test_settings_reference",
    "docs/statistics.md": "test_docs_figures",
}  # fmt: skip
MEASURED_BY = {
    "README.md": ["make run"],
    "docs/algorithms.md": ["python -m benchmarks.ablation --folder runs-ablation"],
    "docs/audit.md": ["python -m benchmarks.held_out_ratings --ratings FOLDER"],
    "docs/bad-days.md": ["python -m benchmarks.bad_days --home FOLDER"],
    "docs/gpu.md": ["python -m benchmarks.vllm_rollouts --python PYTHON --folder FOLDER"],
    "docs/images.md": ["make images"],
    "docs/monitoring.md": ["python -m benchmarks.monitor_alarms"],
    "docs/operations.md": ["make operations", "python -m benchmarks.overhead"],
    "docs/resume.md": ["make drill KILLS=50"],
    "docs/serving.md": ["python -m benchmarks.serve_load"],
    "docs/speed.md": ["make bench", "tucano forecast laptop"],
    "docs/truth.md": ["python -m benchmarks.truth_search --task push --calls 10000 --seed 1"],
    "docs/statistics-answers.md": ["python -m benchmarks.answers_simulation --write docs/statistics-answers.md"],
    "docs/statistics-simulation.md": ["python -m benchmarks.verdict_simulation --write docs/statistics-simulation.md"],
}
"""Minutes to hours of measuring: no test repeats them."""
FIGURE = re.compile(r"^(?:\||> ).*(?:\d\.\d|\d %)", re.MULTILINE)


def text(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def test_every_page_with_figures_says_where_they_are_from() -> None:
    pages = [path.relative_to(ROOT).as_posix() for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]]
    with_figures = {page for page in pages if FIGURE.search(text(page)) and page != "docs/decisions.md"}
    assert with_figures <= HELD_BY.keys() | MEASURED_BY.keys()
    unnamed = [line for page, lines in MEASURED_BY.items() for line in lines if f"`{line}`" not in text(page)]
    assert unnamed == [], "a measured page names its command"
    assert all((ROOT / "tests" / f"{test}.py").is_file() for test in HELD_BY.values())


def test_the_error_of_a_gpus_times_holds_the_only_measurement() -> None:
    """It was plus or minus 50 %."""
    page = text("docs/speed.md")
    ((measured, foreseen),) = re.findall(r"measured (\d+) s for a step of `l4`; the forecast says (\d+)", page)
    assert int(measured) / int(foreseen) < TIME_FACTOR
    assert f"from half as long to {TIME_FACTOR} times as long" in page


def test_the_number_of_ratings() -> None:
    rated = [json.loads(line) for line in text("data/ratings/ratings.jsonl").splitlines()]
    tasks = [task for task, _, _ in {(r["prompt"]["task"], r["prompt"]["id"], r["completion"]) for r in rated}]
    assert re.findall(r"ratings of (\d+) answers", text("README.md")) == [str(len(tasks))]
    ((answers, prompts),) = re.findall(r"(\d+) answers to (\d+) prompts of the first four tasks", text("docs/audit.md"))
    assert int(answers) == sum(task in REPORTED for task in tasks)
    assert int(prompts) == 24 * len(REPORTED)


def rows(page: str, heading: str) -> list[list[str]]:
    """The cells of the first table below a heading, without its head."""
    below = text(page).partition(f"## {heading}\n")[2]
    found = [line for line in below.split("\n## ")[0].splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in found[2:]]


def point(word: str) -> str:
    """What the page says after the first occurrence of a word, to the end of that point of the list."""
    return text("docs/statistics.md").partition(word)[2].partition("\n- ")[0]


SIMULATION = "docs/statistics-simulation.md"
NULLS = rows(SIMULATION, "Where nothing is true")


@pytest.mark.parametrize(("claim", "column"), [("adapter", 1), ("configuration", 2)])
def test_the_rates_of_the_two_claims_span_what_the_simulation_found(claim: str, column: int) -> None:
    held = [row for row in NULLS if row[0].startswith(claim) and row[-1] == "holds"]
    said = {row[0]: row[column] for row in rows("docs/statistics.md", "Two questions")}
    rejected = sorted(float(row[3]) for row in held)
    covered = sorted(round(float(row[4])) for row in held)
    assert said["wrong at nominal 5 %"] == f"{rejected[0]} to {rejected[-1]} %"
    assert said["interval holds the truth"] == f"{covered[0]} to {covered[-1]} %"


def test_the_power_table_repeats_the_simulation() -> None:
    simulated = {(claim, seeds): powers for claim, seeds, *powers in rows(SIMULATION, "Power, %")}
    said = rows("docs/statistics.md", "Power")
    for name, *powers in said:
        (found,) = re.findall(r"(\w+), (\d) seeds(?: of SD (\S+))?", name)
        claim, seeds, deviation = found
        simulation = simulated[f"{claim}, seed SD 0{deviation}" if deviation else claim, seeds]
        assert powers == [f"{power} %" for power in simulation], name
    assert len(said) == 4


def test_the_signed_rank_test_under_skewness() -> None:
    rejected = [
        row[3] for row in NULLS if row[0] == "adapter" and "mean 0 but pseudo-median" in row[1] and row[2] == "3"
    ]
    said = point("takes differences to be symmetric")
    assert len(rejected) == 2 and all(f"{round(float(rate))} %" in said for rate in rejected)


def test_the_adapter_test_read_for_new_seeds() -> None:
    for deviation, seeds in product(("0.02", "0.05"), ("1", "3")):
        claim = f"adapter test, read as if for new seeds of SD {deviation}"
        (rejected,) = [row[3] for row in NULLS if row[0] == claim and row[2] == seeds]
        assert f"{round(float(rejected))} %" in point("nothing about new seeds")


def test_the_page_lists_every_alarm_and_which_of_them_stop() -> None:
    said = {name: stops for name, _, stops, _ in rows("docs/health.md", "Health")}
    stops = PipelineSettings().health.stop_on
    assert said == {name: "yes" if name in stops else "no" for name in get_args(AlarmName)}


def test_the_page_lists_every_check_that_can_be_red() -> None:
    said = {name.removesuffix(", per task") for name, red, _ in rows("docs/health.md", "Preflight") if red}
    assert said == {name.partition(":")[0] for name in CHECKS}
