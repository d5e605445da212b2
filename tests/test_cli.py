"""The command as a person meets it: help, and one clear sentence with exit code 2 for each mistake, nothing lost."""

import os
import subprocess
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from programs import python
from storages import TASKS, Finished, finished

from deployments.prefect_api import require_login
from tucano.artifacts.store import MANIFEST
from tucano.cli import main as cli
from tucano.cli import versus
from tucano.cli.machine import doctor
from tucano.cli.sides import SideCandidate
from tucano.errors import UserError
from tucano.profiles import load_profile
from tucano.requirements import require_startable, warnings_of
from tucano.requirements.shapes import adapter_weights
from tucano.settings import ModelSettings
from tucano.training.jobs import Arm

ROOT = Path(__file__).parent.parent


def tucano(*arguments: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return python("-m", "tucano.cli", *arguments, folder=folder, PREFECT_SERVER_ANALYTICS_ENABLED="false")


def sentence(*arguments: str) -> str:
    """What a command refuses with, in this process: without the seconds that one of its own takes to start."""
    asked = cli.parser().parse_args(arguments)
    with pytest.raises(UserError) as raised:
        cli.COMMANDS[asked.command](asked)
    return str(raised.value)


BEFORE_A_RUN = {
    "a storage that cannot be written": (["storage=/dev/null/runs"], "cannot be written"),
    "a storage of a kind that there is not": (["storage=abc://x"], "Protocol not known: abc"),
    "no space for checkpoints": (
        ["model.nano_hidden=1024", "model.lora_rank=4096", f"grpo.seeds={list(range(100))}"], "GB free"
    ),
    "a model that no machine can hold": (
        ["model.name=nano", "model.nano_hidden=8192", "model.nano_layers=128"], "SFT needs at least .* lower the model's size"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("overrides", "said"), BEFORE_A_RUN.values(), ids=BEFORE_A_RUN)
def test_what_cannot_be_is_known_before_the_first_stage(
    overrides: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    with pytest.raises(UserError, match=said):
        doctor._place(load_profile(ROOT, "laptop", [f"storage={tmp_path}", *overrides]))


def test_outside_a_project_the_profiles_that_came_with_tucano_are_taken_and_that_is_said(tmp_path: Path) -> None:
    result = tucano("run", "latpop", folder=tmp_path)
    assert result.returncode == 2 and result.stderr.splitlines() == [
        f"tucano: no prefect.yaml at or above {tmp_path}; taking the profiles of {ROOT / 'prefect.yaml'}",
        "tucano: there is no profile 'latpop'; did you mean 'laptop'?; prefect.yaml has: laptop, nano, l4, l4-v5, l4-1.5b, l4-3.7b, l4-base",
    ]


def test_what_has_no_gpu_is_told_so_before_it_is_told_of_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server would not help a run that computes here; one whose stages are all elsewhere needs no GPU."""
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    monkeypatch.setattr("tucano.requirements.machine.Path.glob", lambda *_: iter(()))
    monkeypatch.setattr("tucano.requirements.machine.shutil.which", lambda _: None)
    with pytest.raises(UserError, match=r"shows no CUDA device.*--set execution\.seeds=seed/vertex-l4 --set"):
        require_startable(load_profile(ROOT, "l4-v5", []))
    elsewhere = ["execution.seeds=seed/vertex-l4", "execution.stages=stage/vertex-l4", "storage=gs://b/tucano"]
    with pytest.raises(UserError, match=r"execution\.seeds=seed/vertex-l4 needs a Prefect server"):
        require_startable(load_profile(ROOT, "l4-v5", elsewhere))


def compared(storage: Path, *overrides: str, profile: str = "nano") -> str:
    """What `tucano compare` prints, up to the verdict."""
    sets = [part for override in (f"storage={storage}", *overrides) for part in ("--set", override)]
    asked = cli.parser().parse_args(["compare", profile, *sets])
    with redirect_stdout(StringIO()) as said:
        assert cli.COMMANDS["compare"](asked) == 0
    return said.getvalue().partition("**")[0]


def test_a_verdict_is_printed_with_its_runs_name_and_date_and_only_of_the_settings_that_were_asked_for(
    tmp_path: Path,
) -> None:
    gains = dict.fromkeys(TASKS, 0.1)
    first = finished(tmp_path, Finished(["grpo.max_steps=30"], gains))
    finished(tmp_path, Finished([], gains))
    day = first.made_at.astimezone().strftime("%Y-%m-%d %H:%M")
    assert compared(tmp_path) == f"Run nano, seeds 42 123 456, of {day}\n\n"
    shorter = f"Run nano max_steps=30, seeds 42 123 456, of {day}\n\n"
    assert compared(tmp_path, "grpo.max_steps=30") == shorter
    assert compared(tmp_path, profile="laptop").startswith("Run nano, "), "the newest here, since none is of laptop"
    os.utime(first.folder / MANIFEST, (2e9, 2e9))  # used last
    assert compared(tmp_path) == shorter
    said = sentence("compare", "nano", "--set", f"storage={tmp_path}", "--set", "grpo.max_steps=45")
    assert said == (
        f"no run with these settings; the newest of this profile is nano max_steps=30, seeds 42 123 456, of {day}: leave --set"
        f" away, or begin one: tucano run nano --set storage={tmp_path} --set grpo.max_steps=45"
    )


def test_two_sides_are_introduced_with_the_names_and_dates_of_their_runs(tmp_path: Path) -> None:
    report = finished(tmp_path, Finished(["grpo.max_steps=30"], dict.fromkeys(TASKS, 0.1)))
    settings = load_profile(ROOT, "nano", ["grpo.max_steps=30"])
    run = SideCandidate("#3fa9c1", {42: Arm("", "nano")}, settings, {"report": report.folder})
    day = report.made_at.astimezone().strftime("%Y-%m-%d %H:%M")
    (ours, theirs, *_) = versus._introduction(run, SideCandidate("mine/", {0: Arm("", "nano")}))
    assert ours == f"A: #3fa9c1 (run nano max_steps=30 of {day}, seeds 42)" and theirs == "B: mine/ (seeds 0)"


def test_a_profile_cut_short_by_its_steps_alone_is_not_warned_of_its_patience(recwarn: pytest.WarningsRecorder) -> None:
    assert warnings_of(load_profile(ROOT, "laptop", ["grpo.max_steps=5"])) == []
    assert not recwarn.list


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("http://127.0.0.1:9/api", "does not answer"), (" ", "is no http(s) address"),
        ("http://127.0.0.1:notaport/api", "is no http(s) address"), ("http://[::1/api", "is no http(s) address"),
    ],
)  # fmt: skip
def test_an_address_of_prefect_where_nothing_answers_is_one_sentence(
    address: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREFECT_API_URL", address)
    with pytest.raises(UserError) as caught:
        require_login()
    assert all(words in str(caught.value) for words in (address, said, "tucano up"))


@pytest.mark.long
def test_a_fault_found_inside_the_flow_is_one_sentence_too(tmp_path: Path) -> None:
    """The other faults of CSV files and of too small data are tests of data.prepare; this one goes through Prefect."""
    reviews = tmp_path / "reviews.csv"
    reviews.write_bytes("submission_date;overall_rating\n2018-01-01;p\u00e9ssimo\n".encode("latin-1"))
    chosen = (f"storage={tmp_path / 'runs'}", "data.source=b2w", f"data.path={reviews}")
    result = tucano("run", "laptop", *(part for pair in chosen for part in ("--set", pair)))
    assert result.returncode == 2 and "Traceback" not in result.stderr + result.stdout, result.stderr
    (said,) = [line for line in result.stderr.splitlines() if line.startswith("tucano: ") and "warning" not in line]
    assert "UTF-8" in said and str(reviews) in said


def test_a_comparison_that_was_killed_before_its_end_is_none(tmp_path: Path) -> None:
    folder = tmp_path / "artifacts" / "comparison" / "0123456789abcdef.draft"
    folder.mkdir(parents=True)
    (folder / "comparison.json").write_text("{}", encoding="utf-8")
    for storage in (tmp_path, tmp_path / "none"):
        assert "holds no comparison yet" in sentence("compare", "laptop", "--set", f"storage={storage}")


@pytest.mark.parametrize("config", ["", "[]", "{}", '{"hidden_size": null}', "[" * 99_999])
def test_a_damaged_model_folder_is_known_before_training(tmp_path: Path, config: str) -> None:
    (tmp_path / "config.json").write_text(config, encoding="utf-8")
    with pytest.raises(UserError, match=rf"{tmp_path}/config\.json is damaged or describes no language model"):
        adapter_weights(ModelSettings(name=str(tmp_path)))


@pytest.mark.parametrize("manifest", ["", "[]", "{}", "null", '{"seal": 1}'])
def test_the_verdict_of_a_damaged_comparison_is_not_shown(tmp_path: Path, manifest: str) -> None:
    folder = tmp_path / "artifacts" / "comparison" / "0123456789abcdef"
    folder.mkdir(parents=True)
    (folder / "comparison.json").write_text("{}", encoding="utf-8")
    (folder / "manifest.json").write_text(manifest, encoding="utf-8")
    assert "is damaged" in sentence("compare", "laptop", "--set", f"storage={tmp_path}")


def test_doctor_names_what_is_there() -> None:
    result = tucano("doctor")
    assert result.returncode == 0
    assert all(said in result.stdout for said in ("torch", "Profile laptop   runs here", "Profile l4  "))
    assert "patience" not in result.stderr


@pytest.mark.parametrize(
    ("setting", "says"), [("promotion.people", "holds no blind A/B"), ("benchmark.enem", "benchmark.enem: ")]
)
def test_doctor_looks_into_the_folders_that_a_run_would_read(
    tmp_path: Path, setting: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert doctor.main("laptop", [f"{setting}={tmp_path}"]) == 2
    said = capsys.readouterr().out
    assert "does not run here" in said and says in said


@pytest.mark.parametrize("command", [("lineage", "tucano@champion"), ("serve",)])
def test_the_registry_that_the_environment_names_is_the_one_that_is_read(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both read the storage's own, though the run had written to the one of MLFLOW_TRACKING_URI."""
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "ftp://mlflow.shop.example")
    said = sentence(*command, "--set", f"storage={tmp_path}")
    assert "ftp://mlflow.shop.example is neither http(s)" in said


@pytest.mark.parametrize(
    "command", ["monitor", "serve", "lineage tucano@champion", "promote --back --why Reclamações", "bundle tucano/1"]
)
def test_who_only_looks_makes_no_storage(tmp_path: Path, command: str) -> None:
    place = tmp_path / "none"
    said = sentence(*command.split(), "--set", f"storage={place}")
    assert "holds no runs, so no model is registered there" in said and not place.exists()


@pytest.mark.parametrize(("words", "code"), [("--help", 0), ("compare laptop --set storage={folder}", 2)])
def test_a_closed_stderr_changes_no_exit_code(words: str, code: int, tmp_path: Path) -> None:
    command = f'exec "$0" -m tucano.cli {words.format(folder=tmp_path / "none")} 2>&-'
    done = subprocess.run(["sh", "-c", command, sys.executable], stdout=subprocess.DEVNULL, check=False)
    assert done.returncode == code
