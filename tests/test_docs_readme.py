"""The figures of README.md are those of a run that today's rewards and truth have judged; what `make readme` writes."""

import re
import shutil
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import fmean

import pytest
from PIL import Image
from storages import Finished, finished

from docs import readme
from tucano.artifacts.store import read_manifest
from tucano.comparison.answers import read_answers
from tucano.errors import UserError
from tucano.files.results import AnswerFiles
from tucano.overview.rows import Row
from tucano.overview.runs import RunRecord, write_run

GAINS = {"extraction": 0.12, "sql_qa": 0.01, "insights": 0.09, "push": 0.06}
CHAMPION = {"candidate": "seed-42", "status": "champion", "reason": "it improves", "model": "tucano", "version": 1}
BLANK = "\n".join(f"Before.\n\n<!-- from the run: {part} -->\n<!-- end -->\n" for part in readme.PARTS)
BEGAN = datetime(2026, 11, 28, tzinfo=UTC)


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("readme")
    made = read_manifest(finished(root, Finished([], GAINS, promotion=CHAMPION)).folder)
    assert made is not None
    seen = (BEGAN + timedelta(seconds=372)).isoformat()
    write_run(root, RunRecord("a1", "nano", BEGAN.isoformat(), seen, "finished", "", "", stages=made["inputs"]))
    return root


@pytest.fixture(scope="module")
def row(storage: Path) -> Row:
    return readme.newest(storage)


def test_the_readme_is_of_todays_judges_and_profile() -> None:
    said = readme.stale(readme.PAGE.read_text(encoding="utf-8"))
    assert said is None, said


def test_a_page_without_a_run_or_of_another_day_says_what_to_run(row: Row) -> None:
    assert readme.stale(BLANK) == (
        "README.md names no run between its markers of 'verdict'; fill them: make run && make readme"
    )
    fresh = readme.filled(BLANK, readme.made_from(row), dict.fromkeys(readme.PARTS, "Said."))
    assert readme.stale(fresh) is None
    assert readme.filled(fresh, readme.made_from(row), dict.fromkeys(readme.PARTS, "Said.")) == fresh
    for judge, digest in readme.today().items():
        assert readme.stale(fresh.replace(digest, "0" * 16)) == (
            f"README.md (verdict) is of a run before a change of {judge}; write it anew: make run && make readme"
        )


def test_all_is_written_between_the_markers(storage: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "README.md"
    page.write_text(BLANK, encoding="utf-8")
    monkeypatch.setattr(readme, "PAGE", page)
    monkeypatch.setattr(readme, "require_todays", lambda root, row: None)
    monkeypatch.setattr(sys, "argv", ["readme", "--storage", str(storage)])
    shown: list[Path] = []
    monkeypatch.setattr(readme, "picture", shown.append)
    readme.main()
    written = page.read_text(encoding="utf-8")
    assert readme.stale(written) is None and written.count("Before.") == 3
    assert re.search(
        r"`make run` took 6 min 12 s \(\d+ cores, \d{4}-\d\d-\d\d, seeds 42, 123, 456\), once its packages were there\.\n",
        written,
    )
    assert [report.name for report in shown] == ["report.html"]


REPORT = """<!DOCTYPE html><body style="margin: 0"><style>main { height: 2000px; background: #f00 }
#in-pt-BR:checked ~ main[lang=en], #in-en:checked ~ main[lang=pt-BR] { display: none } [lang=en] { background: #00f }
input { position: absolute } </style><input type="radio" name="language" id="in-pt-BR" checked>
<input type="radio" name="language" id="in-en"><main lang="pt-BR"></main><main lang="en"></main></body>"""


@pytest.mark.services
def test_the_picture_is_of_the_report_in_english(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not (shutil.which("chromium") or shutil.which("google-chrome")):
        pytest.skip("neither chromium nor google-chrome is on the PATH")
    (tmp_path / "report.html").write_text(REPORT, encoding="utf-8")
    monkeypatch.setattr(readme, "PICTURE", tmp_path / "report.png")
    readme.picture(tmp_path / "report.html")
    with Image.open(readme.PICTURE) as made:
        assert made.size == (1000, 1525)
        assert made.convert("RGB").getpixel((500, 1000)) == (0, 0, 255)


def test_without_a_browser_the_old_picture_stays_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(UserError, match=r"report\.png stays as it was: neither chromium nor google-chrome"):
        readme.picture(tmp_path / "report.html")


def test_the_verdict_has_each_task_by_reward_and_by_truth(row: Row) -> None:
    text, answers = readme.verdict(row), read_answers(AnswerFiles(row.stages["answers"].folder).answers)
    assert f"> **{row.comparison.verdict.headline[:40]}" in text and "Ground truth (is it right" in text
    for task in GAINS:
        found = [answer for answer in answers if answer.task == task and answer.decoding == "sampled"]
        before, after = ([a for a in found if (a.arm == "sft") == is_start] for is_start in (True, False))
        cells = re.search(rf"^\| {task} \| (.*) \|$", text, re.MULTILINE)
        assert cells is not None
        said = cells[1].split(" | ")
        rewards, truths = (
            [f"{fmean(getattr(a, of) for a in side):.3f}" for side in (before, after)] for of in ("reward", "truth")
        )
        assert [said[:2], said[4:6]] == [rewards, truths]


def test_the_example_is_as_served_and_nearest_to_the_means(row: Row) -> None:
    text, answers = readme.example(row), read_answers(AnswerFiles(row.stages["answers"].folder).answers)
    served = [answer for answer in answers if answer.decoding == "served"]
    means = {
        arm: [fmean(getattr(answer, of) or 0 for answer in served if answer.arm == arm) for of in ("reward", "truth")]
        for arm in ("sft", "seed-42")
    }

    def middle(arm: str, prompt: str) -> tuple[float, float | None]:
        mine = [a for a in served if (a.arm, a.prompt_id) == (arm, prompt)]
        return sorted((a.reward, a.truth) for a in mine)[(len(mine) - 1) // 2]

    def off(prompt: str) -> float:
        shown = {arm: middle(arm, prompt) for arm in means}
        return sum(abs((shown[arm][of] or 0) - means[arm][of]) for arm in shown for of in (0, 1))

    nearest = min((point.prompt_id for point in row.comparison.points), key=off)
    number = nearest.rpartition("-")[2]
    assert f"```text\nPergunta {number}\n```" in text and "```text\nsft vai bem\n```" in text
    reward, truth = middle("sft", nearest)
    assert f"Before GRPO (sft), reward {reward:.3f}, truth {truth:.3f}:" in text
    assert "After GRPO (seed-42, the champion), reward" in text


def test_an_answer_is_broken_into_lines_and_nothing_else() -> None:
    answer = '{"sentiment":"negative",' * 12 + '"summary":"Cliente reclama do arranhador, vendedor não responde."}'
    lines = readme._block(answer).splitlines()
    assert lines[0] == "```json" and len(lines) > 4 and max(map(len, lines)) <= readme.WIDTH
    assert "".join(lines[1:-1]).replace(" ", "") == answer.replace(" ", "")


def test_a_run_of_other_code_or_settings_and_one_of_unknown_length_are_refused(
    storage: Path, row: Row, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readme, "PROFILE", "nano")  # that of the storage
    with pytest.raises(UserError, match="were made and judged by other code"):
        readme.require_todays(storage, row)
    monkeypatch.setattr(readme, "today", lambda: {"nano": "0" * 16})
    with pytest.raises(UserError, match="has other settings than the profile nano"):
        readme.require_todays(storage, row)
    with pytest.raises(UserError, match="does not know how long"):
        readme.times(tmp_path, row)
    with pytest.raises(UserError, match="holds no finished run"):
        readme.newest(tmp_path)
    with pytest.raises(UserError, match="no markers for verdict"):
        readme.filled("", "", {"verdict": ""})
