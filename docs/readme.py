"""Writes what a finished run says into README.md, and its report's first page as a picture: `make readme`. A test says
when its judges have changed since."""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import TextWrapper, fill

from tucano.artifacts.code_version import code_version
from tucano.artifacts.identity import digest
from tucano.artifacts.store import read_manifest
from tucano.comparison import wording
from tucano.comparison.answers import Answer, Decoding, read_answers
from tucano.comparison.compare import BASE, TOGETHER, Comparison
from tucano.comparison.contrast import Contrast, Effect
from tucano.comparison.promotion import CHAMPION
from tucano.errors import UserError
from tucano.files.prompts import PromptFiles
from tucano.files.results import AnswerFiles, ReportFiles
from tucano.overview.rows import Row, read_rows
from tucano.overview.runs import read_runs
from tucano.presentation.numbers import duration
from tucano.profiles import load_profile
from tucano.prompts import read_prompts
from tucano.report.language import ENGLISH
from tucano.storage.root import working_copy
from tucano.training.jobs import MODULES

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "README.md"
PICTURE = ROOT / "docs" / "images" / "report.png"
PICTURE_SIZE = "1000,1525"
PROFILE = "laptop"
MEND = "make run && make readme"
PARTS = ("verdict", "example", "times")
MARKED = re.compile(rf"(<!-- from the run: ({'|'.join(PARTS)}) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
WHOLE = "all"
SHOWN: Decoding = "served"
"""The example is decoded as a user would see it; the verdict is on samples."""
FENCE = "```"
WIDTH = 110


class Lines(TextWrapper):
    """Breaks after a blank or a comma: JSON without blanks has no other place."""

    wordsep_simple_re = re.compile(r"(\s+)|(?<=,)")


def today() -> dict[str, str]:
    """{what the figures follow from: its digest now}: the code of both judges, and the settings of the profile."""
    settings = load_profile(ROOT, PROFILE, []).model_dump(mode="json", exclude={"storage", "tracking_uri"})
    judges = {"rewards": code_version("rewards.sets"), "truth": code_version("tucano.truth")}
    return judges | {PROFILE: digest(settings)[:16]}


def stale(page: str) -> str | None:
    """Why what stands between the markers is not what a run would say today, in one sentence; None where it is."""
    parts = {name: body.strip() for _, name, body, _ in MARKED.findall(page)}
    now = today()
    for part in PARTS:
        said = dict(re.findall(r"(\w+) ([0-9a-f]{16})\b", parts.get(part, "").partition("\n")[0]))
        if not said:
            return f"README.md names no run between its markers of {part!r}; fill them: {MEND}"
        if changed := [name for name in now if said.get(name) != now[name]]:
            return f"README.md ({part}) is of a run before a change of {', '.join(changed)}; write it anew: {MEND}"
    return None


def filled(page: str, made_from: str, parts: Mapping[str, str]) -> str:
    """The page with these parts between their markers, each below the line that says what it was made from."""
    if missing := {*parts} - {name for _, name, _, _ in MARKED.findall(page)}:
        raise UserError(f"README.md has no markers for {', '.join(sorted(missing))}")
    return MARKED.sub(lambda found: f"{found[1]}{made_from}\n\n{parts[found[2]]}\n{found[4]}", page)


def newest(root: Path) -> Row:
    """The newest finished run of a storage."""
    rows = read_rows(root).rows
    if not rows:
        raise UserError(f"{root} holds no finished run; make one: {MEND}")
    return max(rows, key=lambda row: row.made_at)


def require_todays(root: Path, row: Row) -> None:
    """UserError for a run by other code or settings: README would name digests that it was not made by."""
    answers = read_manifest(row.stages["answers"].folder)
    settings = json.loads(ReportFiles((root / row.report).parent).settings.read_text(encoding="utf-8"))
    if digest(settings)[:16] != today()[PROFILE]:
        raise UserError(f"the newest run of {root} has other settings than the profile {PROFILE}; make one: {MEND}")
    if answers is None or answers["code"] != code_version(MODULES["answer"]):
        raise UserError(f"the answers of the newest run of {root} were made and judged by other code: {MEND}")


def made_from(row: Row) -> str:
    judges = ", ".join(f"{name} {found}" for name, found in today().items())
    made = row.stages["comparison"].digest[:12]
    return f"<!-- made {row.made_at:%Y-%m-%d} from run {row.label}, comparison {made}: {judges} -->"


def verdict(row: Row) -> str:
    """What the comparison says, and every task by the reward and by the truth."""
    compared = row.comparison
    truth = compared.find(TOGETHER, compared.reference, compared.primary, "truth")
    say, words = wording.ENGLISH, {"reference": compared.reference, "decoding": wording.ENGLISH(compared.primary)}
    said = [f"**{compared.verdict.headline}**", *compared.verdict.reservations]
    said += [say("overall", compared.main.overall, **words), *([say("truth", truth.overall)] if truth else [])]
    said += [sentence for sentence in compared.verdict.sentences if sentence.startswith("Caution")]
    quoted = fill(" ".join(said), WIDTH, initial_indent="> ", subsequent_indent="> ", break_on_hyphens=False)
    of = f"{_seeds(compared)}; {row.made_at:%Y-%m-%d}; [terms](docs/statistics.md)"
    return f"From `make run` ({of}):\n\n{quoted}\n\n{_table(compared, truth)}"


def _seeds(compared: Comparison) -> str:
    return f"seeds {', '.join(map(str, compared.seeds))}"


def _table(compared: Comparison, truth: Contrast | None) -> str:
    """The base model stands before its tuned start, where the two are not the same."""
    reward, base = compared.main, compared.find(TOGETHER, BASE, compared.primary, "reward")
    of = reward.reference
    head = ["task", f"reward: {of}", "trained", "gain", "p (Holm)", f"truth: {of}", "trained", "gain"]
    if base:
        head[1:2] = ["reward: base", of]
    right = {WHOLE: truth.overall, **truth.tasks} if truth else {}
    before = {WHOLE: base.overall, **base.tasks} if base else {}
    rows = [head, ["---"] * len(head)]
    for name, effect in {WHOLE: reward.overall, **reward.tasks}.items():
        p = effect.p if effect.p_holm is None else effect.p_holm
        first = [ENGLISH.number(before[name].reference_mean)] if base else []
        rows.append([name, *first, *_means(effect), ENGLISH.p(p), *_means(right.get(name))])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _means(effect: Effect | None) -> list[str]:
    if effect is None:
        return ["–"] * 3
    return [ENGLISH.number(effect.reference_mean), ENGLISH.number(effect.arm_mean), ENGLISH.gain(effect.gain)]


def example(row: Row) -> str:
    """Of the held-out prompts whose answer, as served, earns otherwise after training, the one whose two answers score
    and differ most nearly as their arms' do in the mean.
    """
    compared = row.comparison
    scored = {"reward": compared.means[SHOWN], "truth": compared.truths.get(SHOWN, {})}
    arms = (compared.reference, compared.shown_arm)
    means = {of: [by_arm[arm]["overall"] for arm in arms] for of, by_arm in scored.items() if by_arm}
    asked = {prompt.id: prompt.user for prompt in read_prompts(PromptFiles(row.stages["data"].folder).test)}
    answers = read_answers(AnswerFiles(row.stages["answers"].folder).answers)
    pairs = [
        (_median(answers, compared.reference, prompt, SHOWN), _median(answers, compared.shown_arm, prompt, SHOWN))
        for prompt in asked
    ]
    other = [(before, after) for before, after in pairs if before.reward != after.reward]
    shown = [
        (before, after)
        for before, after in other
        if not any(FENCE in text for text in (asked[before.prompt_id], before.completion, after.completion))
    ]
    if not shown:
        raise UserError("every prompt or answer of this run holds a fence of Markdown, or earns what it did")

    def off(pair: tuple[Answer, Answer]) -> float:
        missed = (
            [(getattr(answer, of) or 0) - mean for answer, mean in zip(pair, both, strict=True)]
            for of, both in means.items()
        )
        return sum(abs(before) + abs(after) + abs(after - before) for before, after in missed)

    before, after = min(shown, key=off)
    said = ", ".join(f"{of} {' to '.join(map(ENGLISH.number, both))}" for of, both in means.items())
    role = "champion" if row.promotion and row.promotion.status == CHAMPION else "candidate"
    intro = (
        f"As served, the answers to {len(other)} of {compared.prompts} held-out prompts earn otherwise after"
        f" training. This is the one of them whose two answers ({before.task}) score and differ most nearly as its arm"
        f" does in the mean ({said}). Only line breaks are ours."
    )
    parts = [
        fill(intro, WIDTH, break_on_hyphens=False), _block(asked[before.prompt_id]),
        f"Before GRPO ({before.arm}), {_worth(before)}:", _block(before.completion),
        f"After GRPO ({after.arm}, the {role}), {_worth(after)}:", _block(after.completion),
    ]  # fmt: skip
    return "\n\n".join(parts)


def _median(answers: Sequence[Answer], arm: str, prompt: str, decoding: Decoding) -> Answer:
    """The answer of the median reward; of two in the middle the lower one."""
    mine = [a for a in answers if (a.arm, a.prompt_id, a.decoding) == (arm, prompt, decoding)]
    return sorted(mine, key=lambda answer: answer.reward)[(len(mine) - 1) // 2]


def _worth(answer: Answer) -> str:
    truth = "not known" if answer.truth is None else ENGLISH.number(answer.truth)
    return f"reward {ENGLISH.number(answer.reward)}, truth {truth}"


def _block(text: str) -> str:
    wrap = Lines(WIDTH, break_on_hyphens=False, replace_whitespace=False, expand_tabs=False).wrap
    lines = [part for line in text.splitlines() for part in wrap(line) or [""]]
    return "\n".join([f"{FENCE}{'json' if text.startswith('{') else 'text'}", *lines, FENCE])


def times(root: Path, row: Row) -> str:
    """How long the run took; `make readme` is called on the machine of `make run`, whose cores are counted."""
    compared = row.stages["comparison"].digest
    runs = [run for run in read_runs(root)[0] if run.state == "finished" and run.stages.get("comparison") == compared]
    if not runs:
        raise UserError(f"{root} does not know how long its newest run took; make one: {MEND}")
    whole = min(runs, key=lambda run: len(run.reused))
    seconds = (datetime.fromisoformat(whole.seen) - datetime.fromisoformat(whole.began)).total_seconds()
    reused = f" It reused {', '.join(whole.reused)}." if whole.reused else ""
    cores = f"{os.cpu_count()} cores, {row.made_at:%Y-%m-%d}, {_seeds(row.comparison)}"
    return f"`make run` took {duration(seconds)} ({cores}), once its packages were there.{reused}"


def picture(report: Path) -> None:
    """The first page of a report, in English, as `PICTURE`; UserError without a browser."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        raise UserError(f"{PICTURE.name} stays as it was: neither chromium nor google-chrome is on the PATH")
    page = report.read_text(encoding="utf-8")
    chosen = [f'<input type="radio" name="language" id="in-{code}"' for code in ("pt-BR", "en")]
    page = page.replace(f"{chosen[0]} checked", chosen[0]).replace(chosen[1], f"{chosen[1]} checked")
    with TemporaryDirectory() as folder:
        shown = Path(folder) / report.name
        shown.write_text(page, encoding="utf-8")
        options = [f"--user-data-dir={folder}/browser", f"--window-size={PICTURE_SIZE}", f"--screenshot={PICTURE}"]
        options += ["--no-sandbox"] if os.geteuid() == 0 else []
        line = [browser, "--headless=new", "--disable-gpu", "--hide-scrollbars", *options, shown.as_uri()]
        subprocess.run(line, check=True, capture_output=True, timeout=600)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--storage", default="runs", help="of the finished run (default: runs)")
    root = working_copy(asked.parse_args().storage)
    try:
        row = newest(root)
        require_todays(root, row)
        parts = {"verdict": verdict(row), "example": example(row), "times": times(root, row)}
        PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), made_from(row), parts), encoding="utf-8")
        picture(root / row.report)
    except UserError as error:
        sys.exit(f"docs.readme: {error}")


if __name__ == "__main__":
    main()
