"""What an analyst finds from the links of `tucano ui`, in a real browser over a real MLflow server.

Three pipeline runs of three seeds: two of one configuration, one of another. Each question takes at most two clicks
from a link.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Page, open_page

from deployments.services import stop, wait_until
from tucano.cli.ui import Server, _mlflow_links, _start_mlflow
from tucano.security.access import basic, fresh, login_link
from tucano.storage.journal import JournalWriter
from tucano.tracking import DataSplit, Row, Tracker
from tucano.tracking.store import default_uri

OLD, NEW = "advantages=group #0ddba1 nano synthetic grounded", "lr=0.003 #3fa9c1 nano synthetic grounded gdpo"
PIPELINES = ((OLD, 7, 0.0214), (NEW, 7, 0.0873), (NEW, 8, 0.0651))
PROMPT, BEFORE, AFTER = "Crie um push para o fone", "Texto de antes", "Texto de depois <b>sem script</b>"
GOLD = "o fone"
KNOWN = fresh()
SHA256 = "c0ffee" * 10 + "abcd"


def training(tracker: Tracker, parent: str, label: str, seed: int, slope: float, folder: Path) -> str:
    run_id = tracker.start_training(f"grpo seed {seed}", parent, "grpo", seed, label, {"max_steps": 20})
    path = folder / f"{run_id}.jsonl"
    with JournalWriter(path, resume_step=None) as journal:
        for step in range(1, 21):
            reward = 0.4 + slope * step / 20
            journal.log(step, {"train/reward/total": reward + seed / 5000, "validation/reward": reward})
        journal.commit(20)
    assert tracker.ship_journal(run_id, path).close()
    tracker.finish(run_id, "FINISHED")
    return run_id


def pipeline(tracker: Tracker, label: str, data_seed: int, gain: float, folder: Path) -> str:
    run_id = tracker.start_pipeline(
        f"{label}, seed {data_seed}", {"seed": data_seed}, {"config_label": label, "verdict": f"Gain {gain}"}
    )
    tracker.log_datasets(run_id, [DataSplit(name, "training", SHA256, "d/f.jsonl", 65) for name in ("train", "test")])
    tracker.log_metrics(run_id, {"gain/overall": gain, "p/overall": 0.004, "p/mean over seeds": 0.02, "cost/usd": 0.18})
    runs = [training(tracker, run_id, label, seed, gain, folder) for seed in (42, 123, 456)]
    tracker.set_tags(run_id, {"training_runs": " ".join(runs)})
    return run_id


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    storage = tmp_path_factory.mktemp("analyst")
    tracker = Tracker.connect(None, storage)
    for label, data_seed, gain in PIPELINES:
        newest = pipeline(tracker, label, data_seed, gain, storage)
    arms = {arm: tracker.start_evaluation(f"{arm}, #3fa9c1 seed 8", {"arm": arm}) for arm in ("seed-42", "sft")}
    texts = {"sft": (BEFORE, 0.2), "seed-42": (AFTER, 0.9)}
    tracker.show_answers(
        {run: [Row("push", PROMPT, *texts[arm], 0.25, {"push.length": 0.5}, GOLD)] for arm, run in arms.items()}, {}
    )
    (storage / "model").mkdir()
    (storage / "model" / "weights").write_text("w", encoding="utf-8")
    text = f"Better: verdict first. [The pipeline run]({tracker.page(newest)}) has its data sets."
    version = tracker.register(
        "tucano", newest, storage / "model", {"digest.data": SHA256, "verdict": "Better"}, ["champion"], text
    )
    compared = f"{arms['seed-42']} {arms['sft']}"
    tracker.set_tags(newest, {"compared": compared, "promotion.model": "tucano", "promotion.version": version.version})
    for run in tracker.client.search_runs([tracker.experiments["tucano-pipelines"]]):
        tracker.finish(run.info.run_id, "FINISHED")
    tracker.ensure_views()
    tracker.start_pipeline("at work, newer than all", {}, {"config_label": NEW})
    server = _start_mlflow(storage, default_uri(storage), 0, KNOWN)
    try:
        wait_until(server.service, server.answers)
        yield server
    finally:
        stop(server.service)


@pytest.fixture(scope="module")
def links(server: Server) -> dict[str, str]:
    return _mlflow_links(server.url, {"Authorization": basic(KNOWN)})


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory, server: Server) -> Iterator[Page]:
    """A browser that has opened the printed link once; nobody types a password."""
    with open_page(tmp_path_factory.mktemp("browser"), patience=300, size="1900,1000") as page:
        page.go(login_link(server.url, KNOWN))
        page.wait_for("location.pathname", "/")
        yield page


def test_a_newer_run_that_is_not_finished_takes_no_link_away(links: dict[str, str]) -> None:
    assert {"latest answers side by side", "latest training runs", "latest registered model"} <= links.keys()
    assert links["newest run, without a verdict"] != links["latest pipeline run"]


LINK = "[...document.querySelectorAll('a')].find(a => a.innerText.trim().startsWith({!r}))"


def test_which_configuration_is_better_how_sure_and_at_what_cost(page: Page, links: dict[str, str]) -> None:
    page.go(links["leaderboard"])
    for text in (*(f"{label}, seed {seed}" for label, seed, _ in PIPELINES), "0.0873", "0.004", "0.02", "0.18"):
        page.wait_for_text(text)
    cells = "[...document.querySelectorAll('[col-id*=\"gain/overall\"]')].map(e => e.innerText)"
    page.wait_for(f"{cells}.filter(t => t.startsWith('0.')).join()", "0.0873,0.0651,0.0214")
    left = "document.querySelector('.ag-header-cell[col-id*=\"{}\"]').getBoundingClientRect().left"
    assert page.evaluate(left.format("verdict")) < page.evaluate(left.format("gain/overall")), "the verdict comes first"
    asked = page.evaluate("[...new Set(performance.getEntriesByType('resource').map(e => new URL(e.name).origin))]")
    assert asked == [page.evaluate("location.origin")], "the page asks its own server and nobody else"


def test_curves_by_configuration_have_a_line_and_a_band_each(page: Page, links: dict[str, str]) -> None:
    page.go(links["curves by configuration"])
    page.wait_for("document.querySelectorAll('.js-plotly-plot').length", 2)
    for label in (OLD, NEW):
        page.wait_for_text(label)
    bands = "plot => plot.data.filter(trace => trace.fill).length"
    page.wait_for(f"[...document.querySelectorAll('.js-plotly-plot')].map({bands}).join()", "2,2")


def test_two_answers_to_one_prompt_stand_side_by_side_after_one_click(page: Page, links: dict[str, str]) -> None:
    page.go(links["latest answers side by side"])
    page.wait_for_text("seed-42, #3fa9c1 seed 8")
    for name in ("reward", "truth"):  # a column of the table
        page.wait_for_text(name)
    page.click("[...document.querySelectorAll('a')].find(a => a.innerText.includes('Crie um push'))")
    opened = "(document.body.innerText.split('Comparing 2 traces')[1] ?? '')"
    for text, count in ((BEFORE, 1), (AFTER, 1), (PROMPT, 2)):
        page.wait_for(f"{opened}.split({text!r}).length - 1", count)


def test_the_champion_leads_back_to_its_data_in_one_click(page: Page, links: dict[str, str]) -> None:
    page.go(links["tucano@champion"])
    page.wait_for_text("Better: verdict first.")
    page.wait_for_text(SHA256)
    found = LINK.format("The pipeline run")
    page.wait_for(f"!!({found})", True)
    page.go(page.evaluate(f"({found}).href"))  # it opens a tab of its own, where this browser would stay
    page.wait_for_text(f"train ({SHA256[:36]})")
