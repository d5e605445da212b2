"""The page of all commands, and what `tucano` alone says of a folder."""

import json
import shlex
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from programs import python
from storages import made

from tucano.cli import main as cli
from tucano.cli.arguments import GROUPS, example, parser
from tucano.overview.next_steps import AFTER_A_RUN, next_steps
from tucano.overview.runs import RunRecord, State, write_run

ROOT = Path(__file__).parent.parent
BETTER = "Better: the trained adapters beat sft."
NOW = datetime.now(UTC).isoformat()
RUN = RunRecord("a1b2", "nano grounded #123456", NOW, NOW, "finished", "", "", failure="UserError: no space")
HEAVY = ("torch", "transformers", "prefect", "mlflow")


def compared(root: Path) -> Path:
    """A storage with a comparison of which only the headline is known; its folder."""
    text = json.dumps({"verdict": {"headline": BETTER}})
    return made(root, "comparison", lambda draft: (draft / "comparison.json").write_text(text, "utf-8")).folder


def test_each_command_is_in_one_group_and_has_an_example_that_parses() -> None:
    grouped = Counter(name for commands in GROUPS.values() for name in commands)
    assert grouped == Counter([*cli.COMMANDS])
    made = parser()
    page = made.format_help()
    for name in grouped:
        assert made.parse_args(shlex.split(example(name))[1:]).command == name
        assert f"\n  {name} " in page and f" {example(name)}\n" in page


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("running", "A run is at work."),
        ("waiting", "waits for a person's approval"),
        ("unanswered", "waited for a person's approval, and in vain"),
        ("killed", "was interrupted; the same command goes on where it was"),
        ("failed", "ended early (UserError: no space); the same command goes on"),
    ],
)
def test_what_became_of_the_newest_run_is_said(
    state: State, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tucano.overview.runs.is_claimed", lambda folder, name: True)
    write_run(tmp_path, replace(RUN, state=state))
    sentences, commands = next_steps(tmp_path, lambda: False)
    assert len(sentences) == 1 and said in sentences[0]
    assert ("run" in commands) == (state in ("killed", "failed"))


def test_a_finished_run_has_its_verdict_and_servers_their_state(tmp_path: Path) -> None:
    compared(tmp_path)
    write_run(tmp_path, RUN)
    verdict = f"The newest verdict here: {BETTER}"
    assert next_steps(tmp_path, lambda: False) == ([verdict], [*AFTER_A_RUN])
    page = made(tmp_path, "report", lambda draft: (draft / "report.html").write_text("Melhor", "utf-8")).folder
    report = f"Its report: {page / 'report.html'}"
    assert next_steps(tmp_path, lambda: False)[0] == [verdict, report]
    servers = [verdict, report, "The servers of `tucano up` are running."]
    assert next_steps(tmp_path, lambda: True) == (servers, [*AFTER_A_RUN, "status"])


@pytest.mark.parametrize("file", ["comparison.json", "manifest.json"])
def test_of_a_broken_storage_one_sentence_is_said(file: str, tmp_path: Path) -> None:
    (compared(tmp_path) / file).write_text("[" * 9, encoding="utf-8")
    sentences, commands = next_steps(tmp_path, lambda: False)
    assert len(sentences) == 1 and "cannot be read" in sentences[0] and file in sentences[0]
    assert commands == ["doctor", "diagnose"]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("runn", "there is no command 'runn'; did you mean 'run'?"),
        ("zzzzz", "there is no command 'zzzzz'; tucano --help names them all"),
        ("run laptop --sett grpo.max_steps=5", "tucano run has no '--sett'; did you mean '--set'?"),
        ("bundle tucano/1 --consnet=Ana", "tucano bundle has no '--consnet'; did you mean '--consent'?"),
        ("status now", "tucano status has no 'now'; tucano status --help names what it has"),
    ],
)
def test_what_is_mistyped_is_one_sentence_with_the_nearest_name(
    typed: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parser().parse_args(typed.split())
    assert (ended.value.code, capsys.readouterr().err) == (2, f"tucano: {said}\n")


def test_alone_it_is_quick_and_makes_nothing(tmp_path: Path) -> None:
    code = f"import sys; from tucano.cli import main as m; m._next(); print({{*{HEAVY}}} & {{*sys.modules}} or 'light')"
    done = python("-c", code, folder=tmp_path, PYTHONPATH=str(ROOT))
    assert done.returncode == 0, done.stderr
    first, *others, last = done.stdout.splitlines()
    assert first == f"No run has begun in {tmp_path / 'runs'} yet." and last == "light"
    assert "  tucano run laptop " in "\n".join(others) and "  tucano --help " in others[-1]
    assert not [*tmp_path.iterdir()]
