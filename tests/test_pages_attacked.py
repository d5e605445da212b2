"""Overview and report under what no tidy run has: words without a blank, parts that are gone, paper."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from browser import Page, open_page
from storages import Finished
from test_overview import BEST, FOUR, HACKED, SMALL, gains, record, stage_of, storage_of
from test_report import PAPERS, audit, comparison, render

from tucano.overview.page import PAGE, view, write_page
from tucano.overview.runs import write_run
from tucano.report.report import since_they_part
from tucano.storage.locks import FILLED, claimed

WORD = "palavra" * 60


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("pair")
    return storage_of(root, *(replace(run, per_task=5) for run in (BEST, SMALL)))


def test_a_suspect_that_beats_all_others_is_marked_wherever_it_stands(tmp_path: Path) -> None:
    """Among the pairs the configuration that was set aside looked like the best."""
    root = storage_of(tmp_path, *(replace(run, per_task=5) for run in (BEST, HACKED)))
    page = write_page(root).read_text(encoding="utf-8")
    english = page[page.index('<main lang="en">') :]
    section = english[english.index("<h2>All pairs") :].partition("</section>")[0]
    assert section.count("worse or suspect") == 1
    assert section.index("worse or suspect") > section.index(view(root).lines[1].row.label)


@pytest.mark.parametrize(("stage", "lacks"), [("grpo-seed-42", "cost"), ("answers", "pairs")])
def test_what_is_gone_is_named_and_not_left_out_in_silence(pair: Path, tmp_path: Path, stage: str, lacks: str) -> None:
    """The cost of a configuration fell by that of a seed whose artifact was not there."""
    root = tmp_path / "copy"
    shutil.copytree(pair, root)
    report = (root / view(root).lines[0].row.report).parent
    shutil.rmtree(stage_of(report, root, stage))
    said = view(root).unreadable
    assert len(said) == 1 and said[0].startswith(f"{report.relative_to(root)}: ") and stage in said[0]
    assert lacks in said[0] and len(view(root).lines) == 2


def test_a_gain_of_exactly_0_has_a_row_a_drawing_and_a_pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("random.Random.gauss", lambda self, mean, deviation: mean)
    nothing = [Finished([f"grpo.learning_rate={rate}"], gains(0, 0, 0, 0), per_task=5) for rate in (0.001, 0.002)]
    root = storage_of(tmp_path, *nothing)
    assert [line.effect.estimate for line in view(root).lines] == [0.0, 0.0]
    page = write_page(root).read_text(encoding="utf-8")
    assert page.count("[not assessable]") > 2 and page.count("[não avaliável]") > 2
    assert "[-1.000; +1.000]" not in page and "-0.000" not in page and "−0,000" not in page
    assert "nan" not in re.sub(r"\w*nan\w+|\w+nan\w*", "", page)
    assert "An improvement over sft is not shown." in page


def test_two_answers_are_shown_from_where_they_part() -> None:
    """Two JSON answers with one beginning looked the same on the first page, with rewards .32 and .71."""
    before = json.dumps({"sentiment": "negative", "category": "cozinha", "delivery_issue": True, "complaint": "a"})
    after = before.replace('"a"', '"b"')
    assert since_they_part(before, after) == ('… "complaint": "a"}', '… "complaint": "b"}')
    assert since_they_part("curto a", "curto b") == ("curto a", "curto b")
    assert since_they_part(before, before) == (before, before)
    assert since_they_part("x" * 300 + "a", "x" * 300 + "b") == ("… " + "x" * 40 + "a", "… " + "x" * 40 + "b")
    said = '{"category": "' + "cozinha" * 10 + '", "summary": "Cliente reclama: a panela veio com defeito, e '
    assert since_they_part(f'{said}a"}}', f'{said}b"}}')[0].startswith('… "summary": "Cliente'), (
        "a field from its name on"
    )
    assert since_they_part(before[:-4], before) == ('… "complaint": ', '… "complaint": "a"}'), "one that was cut off"


def go(tab: Page, file: Path, width: int) -> None:
    tab.call("Emulation.setDeviceMetricsOverride", width=width, height=844, deviceScaleFactor=1, mobile=width < 500)
    tab.go(file.as_uri())
    tab.wait_for("document.readyState", "complete")


@pytest.mark.services
def test_no_word_is_too_long_for_a_page(tmp_path: Path) -> None:
    """A line of a child or a model's name made the page 24,000 pixels wide."""
    promoted = {"candidate": "seed-42", "status": "champion", "reason": WORD, "model": WORD, "version": 1}
    root = storage_of(tmp_path, replace(BEST, per_task=5, promotion=promoted, changed={"model": {"name": WORD}}))
    write_run(root, record(label=WORD, at_work={"grpo": WORD}))
    write_run(root, record("failed", run="c3d4", label=WORD, failure=WORD))
    with claimed(root / FILLED, "a1b2"):
        write_page(root)
    odd = audit(provisional=True)
    checks = tuple(replace(check, level="warn", passed=False, message=WORD) for check in odd.checks)
    (root / "report.html").write_text(render(comparison(), replace(odd, checks=checks)), encoding="utf-8")
    with open_page(tmp_path) as tab:
        for file in (root / PAGE, root / "report.html"):
            for width in (1400, 390):
                go(tab, file, width)
                tab.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
                for language in ("pt-BR", "en"):
                    tab.evaluate(f"document.querySelector('label[for=in-{language}]').click()")
                    assert tab.evaluate("document.documentElement.scrollWidth") <= width, (file.name, width, language)


EMPTY = """(() => {
    const table = document.querySelector('main[lang="pt-BR"] table.configurations');
    const kept = [...document.querySelectorAll('main[lang="pt-BR"] section')].filter(s => s.contains(table));
    return getComputedStyle(kept[0]).breakInside + ' ' + getComputedStyle(table.rows[1]).breakInside; })()"""
BROKEN = """[...document.querySelectorAll('main[lang="pt-BR"] .names')].filter(e => e.offsetParent && e.getClientRects().length > 1)
    .map(e => e.innerText)"""
TORN = """(() => { const torn = [];
    const walker = document.createTreeWalker(document.querySelector('main[lang="pt-BR"] table.configurations'), 4);
    while (walker.nextNode()) for (const found of walker.currentNode.textContent.matchAll(/[^\\s-]+/g)) {
        const range = document.createRange();
        range.setStart(walker.currentNode, found.index);
        range.setEnd(walker.currentNode, found.index + found[0].length);
        if (range.getClientRects().length > 1) torn.push(found[0]);
    } return torn; })()"""
"""Words of the table that are torn in two."""


@pytest.mark.services
def test_on_paper_the_table_begins_on_the_first_page_and_no_number_is_torn(tmp_path: Path) -> None:
    """The table of four went to the second page as a whole: two thirds of the first one were empty."""
    root = storage_of(tmp_path, *FOUR)
    write_page(root)
    with open_page(tmp_path) as tab:
        go(tab, root / PAGE, 390)
        assert tab.evaluate(BROKEN) == [], "on a phone"
        tab.call("Emulation.setEmulatedMedia", media="print")
        assert tab.evaluate(EMPTY) == "auto avoid"
        for width, height, kind in PAPERS:
            tab.call(
                "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
            )
            assert tab.evaluate(BROKEN) == [] == tab.evaluate(TORN), kind
            assert tab.evaluate("document.documentElement.scrollWidth") <= width, kind
