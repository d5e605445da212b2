"""The overview: one page over a storage says which configuration is better, where, how sure that is and what it cost."""

import errno
import html
import json
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import combinations, starmap
from pathlib import Path

import pytest
from browser import Page, open_page
from pace import until
from prefect.exceptions import Pause
from statsmodels.stats.multitest import multipletests
from storages import Finished, finished
from test_report import read

from tasks.running import overview as keeping
from tasks.running.overview import Overview
from tucano.artifacts.identity import digest, fingerprint
from tucano.artifacts.store import opened
from tucano.comparison.answers import read_answers
from tucano.comparison.contrast import Effect
from tucano.comparison.versus import Side, versus
from tucano.files.prompts import PromptFiles
from tucano.files.results import AnswerFiles, ComparisonFiles, ReportFiles
from tucano.overview import pairs as pairing
from tucano.overview.backs import record_back
from tucano.overview.page import PAGE, announced, view, write_page
from tucano.overview.rows import Row
from tucano.overview.runs import Addresses, RunRecord, unanswered, write_addresses, write_run
from tucano.prompts import read_prompts
from tucano.settings import ComparisonSettings
from tucano.storage.locks import FILLED, claimed


def gains(extraction: float, sql_qa: float, insights: float, push: float) -> dict[str, float]:
    return {"extraction": extraction, "sql_qa": sql_qa, "insights": insights, "push": push}


def champion(version: int) -> dict[str, object]:
    reason = "it improves on its start, no task is worse, and there was no champion"
    return {"candidate": "seed-42", "status": "champion", "reason": reason, "model": "tucano", "version": version}


PRICED = "cost.machine=l4 workbench"
SMALL = Finished(["grpo.learning_rate=0.001", PRICED], gains(0.04, 0.01, 0.03, 0.02), promotion=champion(1))
BEST = Finished(["grpo.learning_rate=0.003", PRICED], gains(0.12, 0.0, 0.09, 0.06), promotion=champion(2))
LONGER = Finished(["grpo.learning_rate=0.003", "grpo.max_steps=90", PRICED], gains(0.10, 0.01, 0.09, 0.06), hours=0.5)
HACKED = Finished(["grpo.learning_rate=0.01", PRICED], gains(0.14, 0.1, 0.12, 0.1), truth=-0.5)
FOUR = (SMALL, BEST, LONGER, HACKED)


def storage_of(root: Path, *runs: Finished) -> Path:
    for run in runs:
        finished(root, run)
    return root


@pytest.fixture(scope="module")
def four(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = storage_of(tmp_path_factory.mktemp("four"), *FOUR)
    write_page(root)
    return root


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """A storage with two configurations, and the folders of their reports below it."""
    root = tmp_path_factory.mktemp("two")
    best, small = (finished(root, replace(run, per_task=5)).folder for run in (BEST, SMALL))
    return root, str(best.relative_to(root)), str(small.relative_to(root))


@pytest.fixture
def two(made: tuple[Path, str, str], tmp_path: Path) -> Path:
    """A copy that a test may harm."""
    shutil.copytree(made[0], tmp_path / "two")
    return tmp_path / "two"


def record(state: str = "running", run: str = "a1b2", **changes: object) -> RunRecord:
    now = datetime.now(UTC).isoformat()
    made = RunRecord(run, "nano grounded #123456", now, now, "running", "#/experiments/1/runs/a1b2", "runs/flow-run/7")
    return replace(made, state=state, **changes)  # type: ignore[arg-type]


def test_the_highest_mean_reward_comes_first_and_suspects_come_last(four: Path) -> None:
    lines = view(four).lines
    shown = [dict(line.differs) for line in lines]
    expected = ((0.003, 60), (0.003, 90), (0.001, 60), (0.01, 60))
    assert shown == [{"learning_rate": rate, "max_steps": steps} for rate, steps in expected]
    assert lines[3].tone == "bad" and lines[3].effect.arm_mean > lines[0].effect.arm_mean, "its truth fell"


def test_it_says_how_many_of_the_better_tasks_are_so_as_served(four: Path) -> None:
    first = view(four).lines[0]
    better = first.row.comparison.verdict.better_tasks
    assert better and first.also_better(()) == len(better) == first.also_better(("no such task",))
    assert first.also_better(better[:1]) == len(better) - 1
    page = (four / PAGE).read_text(encoding="utf-8")
    served = first.also_better(first.row.comparison.verdict.open_as_served)
    assert f"as served {served}</p>" in page and f"como em produção {served}</p>" in page


def test_a_suspect_that_may_be_higher_is_not_counted_and_not_ahead_of(tmp_path: Path) -> None:
    """The page said «the highest of 2» and «Ahead of the second by -0.020» of one that was lower."""
    root = storage_of(tmp_path, *(replace(run, per_task=5) for run in (BEST, HACKED)))
    shown = view(root)
    best, hacked = shown.lines
    assert hacked.tone == "bad" and hacked.effect.arm_mean > best.effect.arm_mean
    assert shown.rivals == [best] and shown.set_aside == 1 and shown.ahead is None
    page = write_page(root).read_text(encoding="utf-8")
    assert "the highest of" not in page and "worse or suspect, not counted: 1" in page


def test_commands_name_a_storage_that_is_not_the_usual_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, said in {"runs": "tucano run laptop<", "my runs": "tucano run laptop --set storage='my runs'<"}.items():
        (tmp_path / name).mkdir()
        assert html.unescape(write_page(tmp_path / name).read_text(encoding="utf-8")).count(said) == 2


def test_a_champion_that_a_person_went_back_to_is_champion(two: Path) -> None:
    """The page went on calling the withdrawn version champion."""
    assert view(two).champions == {"tucano": 1}
    record_back(two, "tucano", 2, "erra nos descontos <b>")
    shown = view(two)
    assert shown.champions == {"tucano": 2} and [made.version for _, made, _ in shown.promoted] == [2, 1, 2]
    page = write_page(two).read_text(encoding="utf-8")
    assert "champion before<small>tucano version 1</small>" in page
    assert page.count("tucano promote --back: erra nos descontos &lt;b&gt;") == 2
    with (two / "overview" / "back.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"time": "gestern", "model": "tucano", "version": 1, "why": ""}\n')
    assert view(two).champions == {"tucano": 2}
    assert view(two).unreadable == ("overview/back.jsonl: line 2 is damaged",)


@pytest.mark.parametrize(
    ("error", "mend"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "make room for it"),
        (PermissionError(errno.EACCES, "Permission denied"), "all else stands without it"),
        (TypeError("an odd file"), "all else stands without it"),
    ],
)
def test_servers_stand_without_the_page_and_say_what_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, mend: str
) -> None:
    def fails(root: Path) -> Path:
        raise error

    monkeypatch.setattr("tucano.overview.page.write_page", fails)
    said = announced(tmp_path)
    assert said.startswith("not written") and str(error) in said and mend in said


def test_what_two_share_is_the_cost_of_neither(four: Path) -> None:
    best, longer = view(four).lines[:2]
    # Three seeds of .2 h (.5 h) at .82 USD; beside them a fraction of a second for answers and statistics.
    assert best.spent.own.hours == pytest.approx(0.6, abs=0.01)
    assert best.spent.own.dollars == pytest.approx(0.6 * 0.82, abs=0.01)
    assert longer.spent.own.hours == pytest.approx(1.5, abs=0.01)
    assert best.spent.shared.hours == pytest.approx(0.1, abs=0.01) and set(best.spent.with_others) == {"data", "sft"}


def test_a_pair_is_what_tucano_compare_says_and_is_corrected_for_all_pairs(four: Path) -> None:
    shown = view(four)
    one, other = shown.lines[0].row, shown.lines[2].row
    judged = compared(one, other)
    pair = shown.pairs[one.label, other.label]
    assert (pair.gain, pair.low, pair.high) == pytest.approx((judged.gain, judged.low, judged.high))
    assert shown.pairs[other.label, one.label].gain == -pair.gain
    rows = list(combinations([line.row for line in shown.lines], 2))
    two_sided = [min(1.0, 2 * min(found.p, found.p_worse)) for found in starmap(compared, rows)]
    corrected = multipletests(two_sided, method="holm")[1]
    assert [shown.pairs[one.label, other.label].p for one, other in rows] == pytest.approx(list(corrected))


def side(row: Row) -> Side:
    replies = read_answers(AnswerFiles(row.stages["answers"].folder).answers)
    return Side(row.label, {seed: [a for a in replies if a.arm == f"seed-{seed}"] for seed in row.comparison.seeds})


def compared(one: Row, other: Row) -> Effect:
    prompts = read_prompts(PromptFiles(one.stages["data"].folder).test)
    settings = ComparisonSettings(primary=one.comparison.primary)
    return versus(side(one), side(other), prompts, settings, frozenset(), 42).main.overall


def test_the_page_is_whole_closed_and_says_everything_in_both_languages(four: Path) -> None:
    page = (four / PAGE).read_text(encoding="utf-8")
    reader = read(page)
    assert reader.open == []
    assert "default-src 'none'" in page and "'unsafe-inline'; script-src 'sha256-" in page
    links = [str(attributes["href"]) for tag, attributes in reader.found if tag == "a"]
    assert links and all((four / link).is_file() for link in links), "no run said where its pages are"
    portuguese, english = page.split('<main lang="en">')
    for part in ("Qual?", "Onde?", "Com que certeza?", "Quanto custou?", "Todos os pares", "Campeões"):
        assert part in portuguese and part not in english
    for part in ("Which?", "Where?", "How sure?", "What did it cost?", "All pairs", "Champions"):
        assert part in english and part not in portuguese
    assert english.count('class="interval"') == 4
    assert english.count("champion before<small>tucano version 1</small>") == 1
    champions = english[english.index("Champions, first to last") :]
    assert champions.index("tucano version 1") < champions.index("tucano version 2")
    assert not re.search(r">[+−]?0\.\d+<", portuguese) and not re.search(r">[+-]?0,\d+<", english)


def test_none_and_one_configuration(two: Path, made: tuple[Path, str, str], tmp_path: Path) -> None:
    empty = write_page(tmp_path).read_text(encoding="utf-8")
    assert "No comparison yet" in empty and read(empty).open == []
    shutil.rmtree(two / made[2])
    single = write_page(two).read_text(encoding="utf-8")
    assert "<b>nano</b>" in single and "All pairs" not in single and "Ahead of the second" not in single
    assert "Ordered by" not in single and "<span>machine=<b>l4 workbench</b></span>" in single
    (line,) = view(two).lines
    assert line.differs == {"learning_rate": 0.003, "machine": "l4 workbench"}


def test_many_configurations_are_bounded(four: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tucano.overview.rows.MOST", 3)
    monkeypatch.setattr("tucano.overview.pairs.MOST", 2)
    shown = view(four)
    assert (len(shown.lines), shown.older, len(shown.pairs)) == (3, 1, 2)


def test_a_confirmation_on_other_prompts_leaves_the_ranking_as_it_was(two: Path) -> None:
    """The page advises another data seed, and the run that followed the advice emptied its ranking."""
    before = view(two)
    finished(two, replace(BEST, per_task=6, seeds=(1, 2, 3)))
    shown = view(two)
    best, small = (line.row.label for line in before.lines)
    assert [(line.row.label, line.ranked) for line in shown.lines] == [(best, True), (small, True), (best, False)]
    assert shown.pairs == before.pairs and [line.row.label for line in shown.matrix] == [best, small]
    assert [line.row.comparison.seeds for line in shown.confirming] == [(1, 2, 3)]
    page = write_page(two).read_text(encoding="utf-8")
    assert "outros prompts de teste: não comparável" in page and page.count("Com outros prompts de teste:") == 1


def test_of_a_configuration_its_newest_run_on_the_same_prompts_is_shown(two: Path) -> None:
    finished(two, replace(BEST, per_task=5, seeds=(1, 2, 3)))
    assert [line.row.comparison.seeds for line in view(two).lines] == [(1, 2, 3), (42, 123, 456)]


def test_answers_that_cannot_be_read_take_no_more_than_pairs_away(two: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of another version ended `tucano ui` in a traceback."""

    def odd(side: object) -> None:
        raise TypeError("Answer() got an unexpected keyword argument 'model'")

    monkeypatch.setattr(pairing, "_members", odd)
    shown = view(two)
    assert len(shown.lines) == 2 and not shown.pairs and not shown.matrix and len(shown.unreadable) == 2


def stage_of(report: Path, root: Path, stage: str) -> Path:
    """The folder of an artifact that a report was made from."""
    known = json.loads((report / "manifest.json").read_text(encoding="utf-8"))["inputs"][stage]
    folders = root.glob(f"artifacts/{stage}/*")
    return next(f for f in folders if json.loads((f / "manifest.json").read_text(encoding="utf-8"))["digest"] == known)


def edited(report: Path, root: Path) -> None:
    file = ComparisonFiles(stage_of(report, root, "comparison")).comparison
    file.write_text(file.read_text(encoding="utf-8").replace("sft", "base"), encoding="utf-8")


def of_another_version(report: Path, root: Path) -> None:
    """As an earlier version of the program would have sealed it."""
    folder = stage_of(report, root, "comparison")
    file = ComparisonFiles(folder).comparison
    file.write_text(json.dumps({**json.loads(file.read_text(encoding="utf-8")), "schema_version": 1}), encoding="utf-8")
    resealed(file)


def resealed(file: Path) -> None:
    """Its artifact, as if it had been made with this file."""
    place = file.parent / "manifest.json"
    manifest = json.loads(place.read_text(encoding="utf-8"))
    manifest["files"][file.name] = fingerprint(file)
    sealed = {name: value for name, value in manifest.items() if name != "seal"}
    place.write_text(json.dumps({"seal": digest(sealed), **sealed}), encoding="utf-8")


def no_comparison(report: Path, root: Path) -> None:
    (stage_of(report, root, "comparison") / "manifest.json").unlink()


def no_settings(report: Path, root: Path) -> None:
    ReportFiles(report).settings.unlink()


def odd_stay(report: Path, root: Path) -> None:
    """On a machine, with a word that this version of the program does not know."""
    place = stage_of(report, root, "grpo-seed-42") / "manifest.json"
    manifest = json.loads(place.read_text(encoding="utf-8"))
    manifest["record"]["machine_time"][0]["zone"] = "a"
    place.write_text(json.dumps(manifest), encoding="utf-8")


@pytest.mark.parametrize("harm", [edited, of_another_version, no_comparison, no_settings, odd_stay])
def test_what_cannot_be_read_is_named_and_the_rest_is_shown(
    two: Path, made: tuple[Path, str, str], harm: Callable[[Path, Path], None]
) -> None:
    harm(two / made[1], two)
    shown = view(two)
    assert [dict(line.row.settings)["grpo.learning_rate"] for line in shown.lines] == [0.001]
    assert len(shown.unreadable) == 1 and shown.unreadable[0].startswith(f"{made[1]}: ")
    page = write_page(two).read_text(encoding="utf-8")
    assert "Could not be read:" in page and made[1] in page and str(two) not in page


def test_names_of_others_are_text(two: Path) -> None:
    odd = "<script>alert(1)</script>\u202e"
    promotion = {**champion(1), "reason": odd}
    finished(two, replace(HACKED, changed={"model": {"name": odd}}, promotion=promotion, per_task=5))
    write_run(two, record("failed", label=odd, failure=odd))
    page = write_page(two).read_text(encoding="utf-8")
    assert page.count("<script>") == 1 and "\u202e" not in page and page.count("&lt;script&gt;alert(1)") > 2


@pytest.mark.parametrize(
    "changed",
    [{"began": "gestern"}, {"began": ""}, {"seen": "x"}, {"until": "2026-01-01T00:00:00"}, {"label": "x" * 2**20}],
)
def test_a_damaged_word_of_a_run_takes_no_page_away(tmp_path: Path, changed: dict[str, str]) -> None:
    write_run(tmp_path, record("finished"))
    file = tmp_path / "overview" / "a1b2.json"
    file.write_text(json.dumps(json.loads(file.read_text(encoding="utf-8")) | changed), encoding="utf-8")
    page = write_page(tmp_path).read_text(encoding="utf-8")
    assert "overview/a1b2.json" in page and len(page) < 2**16


def test_an_address_is_one_of_the_web_or_none(tmp_path: Path) -> None:
    write_addresses(tmp_path, Addresses("javascript:alert(1)//", "data:text/html,x"))
    write_run(tmp_path, record("finished"))
    page = write_page(tmp_path).read_text(encoding="utf-8")
    assert "javascript:" not in page and "data:text" not in page
    assert "http://127.0.0.1:5000/#/experiments/1/runs/a1b2" in page


def test_a_run_at_work_is_shown_with_what_it_last_said_and_a_dead_one_is_not_alive(tmp_path: Path) -> None:
    write_run(tmp_path, record(at_work={"grpo": "grpo seed 42   step 12/40"}, stages={"data": "d"}))
    assert [run.state for run, _ in view(tmp_path).runs] == ["killed"]
    with claimed(tmp_path / FILLED, "a1b2"):
        shown = view(tmp_path)
        assert shown.is_living and [run.state for run, _ in shown.runs] == ["running"]
        page = write_page(tmp_path).read_text(encoding="utf-8")
    assert 'data-living="yes"' in page and "grpo seed 42   step 12/40" in page
    assert "http://127.0.0.1:5000/#/experiments/1/runs/a1b2" in page
    write_addresses(tmp_path, Addresses("http://127.0.0.1:5001", "http://127.0.0.1:4201"))
    page = write_page(tmp_path).read_text(encoding="utf-8")
    assert "http://127.0.0.1:5001/#/experiments/1/runs/a1b2" in page
    assert "http://127.0.0.1:4201/runs/flow-run/7" in page


def test_a_run_links_its_configuration_and_what_is_none_is_named(two: Path, made: tuple[Path, str, str]) -> None:
    compared = json.loads((two / made[1] / "manifest.json").read_text(encoding="utf-8"))["inputs"]["comparison"]
    write_run(two, record("finished", stages={"comparison": compared}, mlflow="https://mlflow.example/#/runs/1"))
    (two / "overview" / "other.json").write_text('{"run": "../../etc"}', encoding="utf-8")
    (two / "overview" / "link.json").symlink_to("/dev/zero")
    shown = view(two)
    linked = {"MLflow": "https://mlflow.example/#/runs/1", "Prefect": "http://127.0.0.1:4200/runs/flow-run/7"}
    assert [line.pages for line in shown.lines] == [linked, {}]
    assert shown.unreadable == ("overview/other.json",)


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Overview]:
    monkeypatch.setattr(keeping, "EVERY_SECONDS", 0.05)
    with claimed(tmp_path / FILLED, "a1b2"):
        yield Overview(tmp_path, record())


def test_a_run_keeps_the_page_of_its_storage(kept: Overview, made: tuple[Path, str, str], tmp_path: Path) -> None:
    report = opened(made[0] / made[1])
    with kept.kept():
        kept.stage_ended(replace(report, reused=False))
        kept.stage_ended(replace(report, stage="data"))
        kept.hears("grpo", "step 1/40")
        kept.hears("sft", "step 2/40")
        kept.hears("grpo", None)
        wait_for(tmp_path, "step 2/40")
        assert "step 1/40" not in (tmp_path / PAGE).read_text(encoding="utf-8")
    ((run, _),) = view(tmp_path).runs
    assert (run.state, list(run.stages), run.reused) == ("finished", ["report", "data"], ("data",))
    assert not list(tmp_path.glob(".index*")) and "step 2/40" not in (tmp_path / PAGE).read_text(encoding="utf-8")


def wait_for(root: Path, text: str) -> None:
    until(lambda: (root / PAGE).exists() and text in (root / PAGE).read_text(encoding="utf-8"), lambda: text)


def test_a_run_that_nobody_answers_waits_no_longer_than_it_said(tmp_path: Path) -> None:
    waiting = Overview(tmp_path, record(), approval_hours=1.0)
    with pytest.raises(Pause), waiting.kept():
        raise Pause
    ((run, _),) = view(tmp_path).runs
    left = datetime.fromisoformat(run.until) - datetime.now(UTC)
    assert run.state == "waiting" and timedelta(minutes=50) < left <= timedelta(hours=1)
    assert unanswered(tmp_path) == []
    write_run(tmp_path, replace(run, until="2026-01-01T00:00:00+00:00"))
    assert "o prazo para responder acabou" in write_page(tmp_path).read_text(encoding="utf-8")
    assert [late.run for late in unanswered(tmp_path)] == [run.run]
    assert unanswered(tmp_path) == [], "said once"
    assert [run.state for run, _ in view(tmp_path).runs] == ["unanswered"]


def test_a_run_that_fails_says_why_and_goes_on_failing(kept: Overview, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="no space"), kept.kept():
        raise OSError("no space left at https://me:secret@host/x")
    ((run, _),) = view(tmp_path).runs
    assert run.state == "failed" and "OSError: no space left" in run.failure and "secret" not in run.failure


def test_a_page_that_is_not_made_ends_no_run(kept: Overview, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / PAGE).mkdir()
    with kept.kept():
        pass
    assert "could not be written" in caplog.text


QUESTIONS = {
    name: f"[...document.querySelectorAll('main[lang=\"pt-BR\"] .answers div')][{place}].innerText"
    for place, name in enumerate(("which", "where", "how sure", "what did it cost"))
}
ANSWERED = dict(zip(QUESTIONS, ("learning_rate=0,003", "▲ extraction", "p < 0,0001", "US$ 0,49"), strict=True))


@pytest.mark.services
@pytest.mark.parametrize(("width", "height"), [(1400, 1000), (390, 844)])
def test_the_first_screen_answers_four_questions_from_a_file_with_the_network_off(
    four: Path, tmp_path: Path, width: int, height: int
) -> None:
    with open_page(tmp_path) as tab:
        tab.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500
        )
        tab.call("Network.enable")
        tab.call("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0)
        tab.go((four / PAGE).as_uri())
        tab.wait_for("document.readyState", "complete")
        assert [name for name, text in QUESTIONS.items() if ANSWERED[name] not in tab.evaluate(text)] == []
        assert tab.evaluate("document.querySelector('.answers').getBoundingClientRect().bottom") <= height
        assert tab.evaluate("document.documentElement.scrollWidth") <= width, "nothing lies beside the screen"
        assert "há 0 min" in tab.text(), "the script of the age is the one that the policy allows"
        assert tab.evaluate("performance.getEntriesByType('resource').length") == 0
        reached = by_keyboard(tab)
        links = tab.evaluate("document.querySelectorAll('main[lang=\"pt-BR\"] a').length")
        assert sum(place == "A" for place in reached) == links > 4 and "INPUT" in reached and "DIV" in reached


def by_keyboard(tab: Page) -> list[str]:
    """What the tab key reaches, one after another."""
    reached: list[str] = []
    while True:
        tab.press("Tab")
        place = str(tab.evaluate("document.activeElement.tagName"))
        if place == "BODY" or len(reached) > 200:
            return reached
        reached.append(place)
