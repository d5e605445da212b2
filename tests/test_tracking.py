"""Tracking in a real SQLite store, and through a real MLflow server that is killed and hung meanwhile."""

import json
import math
import shutil
import signal
import threading
import time
import zlib
from base64 import b64decode
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mlflow_server import Server
from pace import slowness

from tucano.cli import back
from tucano.errors import Transient, UserError
from tucano.profiles import load_profile, project_root
from tucano.security.addresses import masked
from tucano.storage.journal import JournalWriter, read_journal
from tucano.tracking import DataSplit, Row, Tracker, models
from tucano.tracking.origin import user_name
from tucano.tracking.registry import digest

Rows = Counter[tuple[str, int, int, float]]


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("storage")


@pytest.fixture(scope="module")
def tracker(storage: Path) -> Tracker:
    return Tracker.connect(None, storage)


@pytest.fixture
def run_id(tracker: Tracker) -> str:
    return tracker.start_pipeline("any", {}, {})


def in_store(tracker: Tracker, run_id: str) -> Rows:
    """Every row of a run's metric histories, counted."""
    keys = tracker.client.get_run(run_id).data.metrics
    history = (row for key in keys for row in tracker.client.get_metric_history(run_id, key))
    return Counter((row.key, row.step, row.timestamp, row.value) for row in history)


def in_journal(path: Path, through: int) -> Rows:
    entries = [entry for entry in read_journal(path) if entry.step <= through]
    return Counter((key, entry.step, entry.time_ms, value) for entry in entries for key, value in entry.values.items())


def train(journal: JournalWriter, steps: range, keys: int = 3) -> None:
    for step in steps:
        journal.log(step, {f"train/m{key}": step + key / 8 for key in range(keys)})


# --- runs -----------------------------------------------------------------------------------------


def test_a_pipeline_run_holds_its_settings_flat(tracker: Tracker) -> None:
    run_id = tracker.start_pipeline(
        "laptop", {"seed": 7, "grpo": {"seeds": [1, 2], "max_steps": 40}, "data": {"mix": {}}}, {"profile": "laptop"}
    )
    run = tracker.client.get_run(run_id)
    assert run.data.params == {"seed": "7", "grpo.seeds": "[1, 2]", "grpo.max_steps": "40", "data.mix": "{}"}
    assert run.data.tags["profile"] == "laptop" and run.info.run_name == "laptop" and run.info.status == "RUNNING"
    assert run.info.experiment_id == tracker.experiments["tucano-pipelines"]


def test_training_runs_are_flat_and_name_their_parent(tracker: Tracker) -> None:
    parent = tracker.start_pipeline("p", {}, {})
    run_id = tracker.start_training("grpo seed 42", parent, "grpo", 42, "laptop", {"lr": 5e-6})
    expected = {"mlflow.parentRunId": parent, "stage": "grpo", "seed": "42", "config_label": "laptop"}
    assert expected.items() <= tracker.client.get_run(run_id).data.tags.items()


def test_a_resumed_training_goes_on_in_its_run_under_the_new_pipeline(tracker: Tracker) -> None:
    def attempt(parent: str, work: str = "host:/work/1") -> str:
        return tracker.start_training("s", parent, "grpo", 1, "laptop", {"lr": 1}, {"work": work})

    first = attempt(tracker.start_pipeline("p", {}, {}))
    tracker.finish(first, "FAILED")
    parent = tracker.start_pipeline("q", {}, {})
    assert attempt(parent) == first
    run = tracker.client.get_run(first)
    assert (run.info.status, run.data.tags["mlflow.parentRunId"]) == ("RUNNING", parent)
    assert attempt(parent, "host:/work/2") != first
    tracker.finish(first, "FINISHED")
    assert attempt(parent) != first, "one that has ended well is not touched again"


def test_what_a_killed_attempt_left_out_is_made_up_for(tracker: Tracker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed between creating the run and its params, and then between two calls that write them."""
    settings = {f"p{number}": number for number in range(150)}
    for calls_left in (0, 1):
        calls = iter(range(calls_left))

        def killed(*args: Any, calls: Iterator[int] = calls, **kwargs: Any) -> None:
            if next(calls, None) is None:
                raise KeyboardInterrupt
            type(tracker.client).log_batch(tracker.client, *args, **kwargs)

        known_by = {"prefect.flow_run": f"killed after {calls_left}"}
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(tracker.client, "log_batch", killed)
            tracker.start_pipeline("p", settings, {}, known_by)
        run_id = tracker.start_pipeline("p", settings, {}, known_by)
        assert tracker.client.get_run(run_id).data.params == {key: str(value) for key, value in settings.items()}
        which = f"tags.`prefect.flow_run` = '{known_by['prefect.flow_run']}'"
        assert len(tracker.client.search_runs([tracker.experiments["tucano-pipelines"]], which)) == 1


def test_a_run_whose_process_was_killed_is_not_running_any_more(tracker: Tracker, run_id: str) -> None:
    tracker.end_abandoned(run_id)
    assert tracker.client.get_run(run_id).info.status == "KILLED"
    tracker.finish(run_id, "FINISHED")
    tracker.end_abandoned(run_id)
    assert tracker.client.get_run(run_id).info.status == "FINISHED"
    tracker.end_abandoned("0" * 32)


def test_metrics_notes_tags_files_and_the_end(tracker: Tracker, run_id: str, tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text("<p>ok</p>", encoding="utf-8")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.json").write_text("{}", encoding="utf-8")
    tracker.log_metrics(run_id, {"gain/overall": 0.075, "p (Holm)": 0.0003})
    tracker.log_artifact(run_id, tmp_path / "report.html")
    tracker.log_artifact(run_id, tmp_path / "deep", "audit")
    tracker.set_note(run_id, "**Melhor.**\n\nGanho de 0,075")
    tracker.set_tags(run_id, {"verdict": "better", "seeds": 3})
    tracker.finish(run_id, "FINISHED")
    run = tracker.client.get_run(run_id)
    assert run.data.metrics == {"gain/overall": 0.075, "p _Holm_": 0.0003}
    assert run.data.tags["mlflow.note.content"].startswith("**Melhor.**") and run.data.tags["seeds"] == "3"
    assert run.info.status == "FINISHED" and run.info.end_time
    assert [file.path for file in tracker.client.list_artifacts(run_id)] == ["audit", "report.html"]
    assert [file.path for file in tracker.client.list_artifacts(run_id, "audit")] == ["audit/a.json"]


def test_an_infinity_is_no_number_of_the_store(tracker: Tracker, run_id: str, tmp_path: Path) -> None:
    """MLflow makes 1.8e308 of it."""
    with JournalWriter(tmp_path / "j.jsonl", resume_step=None) as journal:
        journal.log(12, {"train/loss": math.inf, "train/reward": 0.5})
        journal.commit(12)
    assert tracker.ship_journal(run_id, tmp_path / "j.jsonl").close()
    tracker.log_metrics(run_id, {"perplexity/over base": -math.inf})
    data = tracker.client.get_run(run_id).data
    assert math.isnan(data.metrics["train/loss"]) and math.isnan(data.metrics["perplexity/over base"])
    assert data.metrics["train/reward"] == 0.5
    found = {key: value for key, value in data.tags.items() if key.startswith("infinite/")}
    assert found == {"infinite/train/loss": "inf at step 12", "infinite/perplexity/over base": "-inf at step 0"}


# --- an unusable store ----------------------------------------------------------------------------


@pytest.mark.parametrize("uri", ["ftp://host/x", "./mlruns", "runs/mlflow.db", "sqlite3:///x.db"])
def test_an_address_that_is_no_store(tmp_path: Path, uri: str) -> None:
    with pytest.raises(UserError, match=r"tracking_uri=.* is neither"):
        Tracker.connect(uri, tmp_path)


@pytest.mark.parametrize(
    "uri", ["http://127.0.0.1:9", "postgresql+psycopg://127.0.0.1:9/mlflow", "http://no-such-host.invalid:5000"]
)
def test_nobody_answers(tmp_path: Path, uri: str) -> None:
    began = time.monotonic()
    with pytest.raises(UserError, match=r"tracking_uri=.* cannot be used \(.*\); start that server") as caught:
        Tracker.connect(uri, tmp_path)
    assert "\n" not in str(caught.value) and time.monotonic() - began < 12 * slowness()


def test_passwords_are_not_shown(tmp_path: Path) -> None:
    assert masked("http://ana:secret@host:5000") == "http://***@host:5000"
    with pytest.raises(UserError) as caught:
        Tracker.connect("http://ana:secret@127.0.0.1:9", tmp_path)
    assert "secret" not in str(caught.value)


# --- shipping -------------------------------------------------------------------------------------


def test_only_what_a_checkpoint_covers_is_shipped(tracker: Tracker, run_id: str, tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    with JournalWriter(path, resume_step=None) as journal:
        train(journal, range(1, 11))
        journal.commit(10)
        train(journal, range(11, 15))
        assert tracker.ship_journal(run_id, path).close()
        assert in_store(tracker, run_id) == in_journal(path, 10)
    with JournalWriter(path, resume_step=10) as journal:
        train(journal, range(11, 21))
        journal.commit(20)
    assert tracker.ship_journal(run_id, path).close()
    assert in_store(tracker, run_id) == in_journal(path, 20)


def test_a_lost_cursor_repeats_nothing(tracker: Tracker, run_id: str, tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    with JournalWriter(path, resume_step=None) as journal:
        train(journal, range(1, 30), keys=40)
        journal.log(30, {f"wide/{key}": key for key in range(1100)})
        journal.log(31, {"loss": float("nan")})
        journal.commit(31)
    for _ in range(2):
        assert tracker.ship_journal(run_id, path).close()
        (tmp_path / "j.jsonl.cursor").unlink()
    rows = in_store(tracker, run_id)
    assert rows.total() == 29 * 40 + 1100 + 1 and set(rows.values()) == {1}


@pytest.mark.parametrize("regrown_to", [7, 10, 30])
def test_an_older_checkpoint_repeats_no_step(tracker: Tracker, run_id: str, tmp_path: Path, regrown_to: int) -> None:
    path = tmp_path / "j.jsonl"
    with JournalWriter(path, resume_step=None) as journal:
        train(journal, range(1, 11))
        journal.commit(10)
    assert tracker.ship_journal(run_id, path).close()
    with JournalWriter(path, resume_step=5) as journal:
        train(journal, range(6, regrown_to + 1), keys=4)
        journal.commit(regrown_to)
    assert tracker.ship_journal(run_id, path).close()
    steps = Counter(step for _, step, _, _ in in_store(tracker, run_id).elements())
    assert steps == {step: 3 if step <= 10 else 4 for step in range(1, max(10, regrown_to) + 1)}


def test_a_run_that_is_gone_disturbs_nobody(tracker: Tracker, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with JournalWriter(tmp_path / "j.jsonl", resume_step=None) as journal:
        train(journal, range(1, 3))
        journal.commit(2)
    assert not tracker.ship_journal("0" * 32, tmp_path / "j.jsonl").close(timeout=slowness())
    assert "wait in" in caplog.text


# --- a real server --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server(tracker: Tracker, storage: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    copy = tmp_path_factory.mktemp("server")
    shutil.copytree(storage / "mlflow", copy / "mlflow")
    with Server(copy) as server:
        yield server


@pytest.mark.long
def test_a_server_killed_hung_and_restarted_gets_every_row_once(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "1")
    monkeypatch.setattr("tucano.tracking.store.RETRY_SECONDS", 0.1)
    monkeypatch.setattr("tucano.tracking.store.PATIENCE_SECONDS", 0.3)
    tracker = Tracker.connect(server.uri, tmp_path)
    run_id = tracker.start_pipeline("drill", {"seed": 1}, {})
    path, seconds = tmp_path / "j.jsonl", list[float]()
    with JournalWriter(path, resume_step=None) as journal:
        shipper = tracker.ship_journal(run_id, path)
        for step in range(1, 401):
            began = time.monotonic()
            train(journal, range(step, step + 1), keys=40)
            seconds.append(time.monotonic() - began)
            if step % 25 == 0:
                journal.commit(step)
            if step == 100:
                server.kill()
                with pytest.raises(Transient, match="did not answer"):
                    tracker.start_pipeline("nobody there", {}, {})
                tracker.log_metrics(run_id, {"lost": 1})
                assert "MLflow did not take log metrics" in caplog.text
                assert not tracker.ship_journal(run_id, path).close(timeout=0.5)
                server.start()
            if step == 250:
                server.wait()
                server.signal(signal.SIGSTOP)
            time.sleep(0.01)
    server.signal(signal.SIGCONT)
    assert shipper.close(30)
    assert in_store(tracker, run_id) == in_journal(path, 400)
    assert sorted(seconds)[-4] < 0.05 * slowness(), "training waits for nobody (three hiccups of a busy machine apart)"


def test_a_server_takes_files_and_versions(server: Server, tmp_path: Path) -> None:
    tracker = Tracker.connect(server.uri, tmp_path)
    run_id = tracker.start_pipeline("served", {}, {})
    folder = adapter(tmp_path / "a", "weights")
    version = tracker.register("served-model", run_id, folder, {"licence": "MIT"}, ["champion"])
    assert tracker.champion("served-model") == version
    assert digest(tracker.fetch(version, tmp_path / "copy")) == digest(folder)
    tracker.ensure_views()
    assert tracker.links(run_id)["pipeline run"].startswith(server.uri + "/#/experiments/")


# --- the registry ---------------------------------------------------------------------------------


def adapter(folder: Path, weights: str) -> Path:
    folder.mkdir(parents=True)
    (folder / "adapter_model.safetensors").write_text(weights, encoding="utf-8")
    (folder / "adapter_config.json").write_text("{}", encoding="utf-8")
    return folder


def test_a_version_holds_its_files_and_lineage(tracker: Tracker, run_id: str, tmp_path: Path) -> None:
    folder = adapter(tmp_path / "a", "w1")
    version = tracker.register("m1", run_id, folder, {"noncommercial": True, "data": "sha256:1"}, ["champion"])
    champion = tracker.champion("m1")
    assert champion == version and version.version == 1 and version.run_id == run_id
    assert version.tags == {"noncommercial": "True", "data": "sha256:1", "digest.files": digest(folder)}
    assert digest(tracker.fetch(version, tmp_path / "copy")) == digest(folder)


@pytest.mark.parametrize("name", ["adapter_model.safetensors", "chat_template.jinja"])
def test_files_that_are_not_registered_are_refused(tracker: Tracker, run_id: str, tmp_path: Path, name: str) -> None:
    version = tracker.register(f"m-{name[:4]}", run_id, adapter(tmp_path / "a", "w1"), {}, ["champion"])
    (tracker.fetch(version, tmp_path / "copy") / "left-over").write_text("of an earlier copy", encoding="utf-8")
    assert digest(tracker.fetch(version, tmp_path / "copy")) == version.tags["digest.files"]
    place = tracker.client.get_model_version_download_uri(version.model, str(version.version)).removeprefix("file://")
    (Path(place) / name).write_text("evil", encoding="utf-8")
    with pytest.raises(UserError, match="is not what was registered"):
        tracker.fetch(version, tmp_path / "copy")


def aliases(tracker: Tracker, model: str) -> dict[str, int]:
    found = tracker.client.search_registered_models(filter_string=f"name = '{model}'")[0].aliases
    return {alias: int(version) for alias, version in found.items()}


def test_a_version_has_one_role_and_the_champion_before_is_known(
    tracker: Tracker, run_id: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The way of a challenger that a person approves, and back."""
    tracker.register("m7", run_id, adapter(tmp_path / "a", "w1"), {}, ["champion"])
    tracker.register("m7", run_id, adapter(tmp_path / "b", "w2"), {}, ["challenger"])
    assert aliases(tracker, "m7") == {"champion": 1, "challenger": 2}
    tracker.crown("m7", 2, {"approval.who": "Ana"})
    assert aliases(tracker, "m7") == {"previous": 1, "champion": 2}
    tracker.crown("m7", 2, {})
    assert aliases(tracker, "m7") == {"previous": 1, "champion": 2}, "crowned twice is crowned once"
    settings = load_profile(
        project_root(Path(__file__).parent), "laptop", ["promotion.model=m7", f"storage={tmp_path}"]
    )
    with pytest.raises(UserError, match="holds no runs"):
        back.promote(settings, "erra nos descontos")
    Tracker.connect(None, tmp_path)
    with pytest.raises(UserError, match="no champion before this one"):
        back.promote(settings, "erra nos descontos")
    settings = settings.model_copy(update={"tracking_uri": tracker.uri})
    with pytest.raises(UserError, match="--why"):
        back.promote(settings, " ")
    assert back.promote(settings, "erra nos descontos") == 0
    assert aliases(tracker, "m7") == {"previous": 2, "champion": 1}
    assert "version 1 is champion again; version 2 is previous" in capsys.readouterr().out
    champion = tracker.champion("m7")
    assert champion is not None and champion.tags["back.why"] == "erra nos descontos"
    assert "tucano promote --back: erra nos descontos" in (tmp_path / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("before", [0, 1])
def test_a_failure_rolls_everything_back(tracker: Tracker, run_id: str, tmp_path: Path, before: int) -> None:
    from mlflow.exceptions import MlflowException

    model = f"m3-{before}"
    for number in range(before):
        tracker.register(model, run_id, adapter(tmp_path / f"old{number}", "old"), {}, ["champion"])
    standing = tracker.champion(model)
    with pytest.raises(MlflowException, match="alias"):
        tracker.register(model, run_id, adapter(tmp_path / "new", "new"), {}, ["champion", "no/such alias!"])
    assert tracker.champion(model) == standing
    assert len(tracker.client.search_model_versions(f"name = '{model}'")) == before


@pytest.mark.parametrize("killed_at", ["finalize_logged_model", "create_model_version", "set_registered_model_alias"])
def test_a_registration_that_was_killed_is_taken_up_where_it_was(
    tracker: Tracker, run_id: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, killed_at: str
) -> None:
    """The process is gone before the call, and nothing after it is tidied up."""
    model, tags = f"killed-at-{killed_at}", {"digest.grpo": "a", "digest.answers": "b", "pipeline_run": "first"}
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        for undoing in ("delete_logged_model", "delete_model_version", "delete_registered_model_alias"):
            patch.setattr(tracker.client, undoing, lambda *_: None)
        patch.setattr(tracker.client, killed_at, killed)
        tracker.register(model, run_id, adapter(tmp_path / "a", "w"), tags, ["champion"])
    made = tracker.register(model, run_id, adapter(tmp_path / "b", "w"), tags, ["champion"])
    (version,) = tracker.client.search_model_versions(f"name = '{model}'")
    assert (tracker.champion(model), made.version) == (made, int(version.version))
    assert digest(tracker.fetch(made, tmp_path / "fetched")) == made.tags["digest.files"]
    assert [left.artifact_location for left in models.of_name(tracker.client, run_id, model)] == [made.source]
    other = tracker.register(model, run_id, adapter(tmp_path / "c", "w"), {**tags, "digest.answers": "c"}, ["champion"])
    assert other.version != made.version, "another lineage is another version"


def killed(*args: object, **kwargs: object) -> None:
    raise KeyboardInterrupt


def test_an_empty_adapter_folder_is_refused(tracker: Tracker, run_id: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="holds no adapter"):
        tracker.register("m4", run_id, tmp_path, {}, [])


# --- views and links ------------------------------------------------------------------------------


def saved_state(tracker: Tracker, experiment: str, key: str) -> dict[str, Any]:
    tag = tracker.client.get_experiment(tracker.experiments[experiment]).tags[f"mlflow.sharedViewState.{key}"]
    return json.loads(zlib.decompress(b64decode(json.loads(tag)["state"].removeprefix("deflate;"))))


def test_views_show_the_metrics_that_runs_have(tracker: Tracker) -> None:
    parent = tracker.start_pipeline("p", {}, {})
    run_id = tracker.start_training("s", parent, "grpo", 9, "laptop", {})
    many = {f"train/rewards/component-{number}/mean": number for number in range(150)}
    tracker.log_metrics(run_id, {"train/loss": 1, "train/reward/total": 1, "validation/reward": 1} | many)
    tracker.log_metrics(parent, {"gain/overall": 0.1, "cost/usd": 2})
    tracker.ensure_views()
    state = saved_state(tracker, "tucano-training", "tucano-by-config")
    assert state["groupBy"]["groupByKeys"] == [{"mode": "tag", "groupByData": "config_label"}]
    assert [section["uuid"] for section in state["compareRunSections"]][:2] == ["validation", "train/reward"]
    assert len(state["compareRunCharts"]) == 100 and "train/loss" in {
        chart["metricKey"] for chart in state["compareRunCharts"]
    }
    assert state["compareRunCharts"][0]["metricKey"] == "validation/reward"
    leaderboard = saved_state(tracker, "tucano-pipelines", "tucano-leaderboard")
    assert leaderboard["columnOrder"][:2] == ["tags.`verdict`", "metrics.`gain/overall`"], "MLflow puts tags last"
    assert (
        leaderboard["orderByKey"] == "metrics.`gain/overall`" and "metrics.`cost/usd`" in leaderboard["selectedColumns"]
    )


def test_a_run_that_repeats_another_is_listed_once(tracker: Tracker) -> None:
    """All stages reused: the same comparison. What failed afterwards hides nothing."""
    same = {"verdict": "Better.", "digest.comparison": "d1"}
    runs = [tracker.start_pipeline(f"p{n}", {}, same) for n in range(3)]
    for run, status in zip(runs, ("FINISHED", "FINISHED", "FAILED"), strict=True):
        tracker.finish(run, status)  # type: ignore[arg-type]
    tracker.ensure_views()
    marks = [tracker.client.get_run(run).data.tags.get("leaderboard") for run in runs]
    assert marks == ["repeated", "listed", None]
    search = saved_state(tracker, "tucano-pipelines", "tucano-leaderboard")["searchFilter"]
    listed = tracker.client.search_runs([tracker.experiments["tucano-pipelines"]], search)
    assert [run.info.run_id for run in listed if run.info.run_id in runs] == [runs[1]]


# --- data sets, checkpoints, answers --------------------------------------------------------------


def split(name: str = "validation", sha256: str = "ab" * 32) -> DataSplit:
    return DataSplit(name, "validation", sha256, "0123/validation.jsonl", 65)


def test_a_run_names_its_data_with_their_digest_once(tracker: Tracker, run_id: str) -> None:
    for _ in range(2):
        tracker.log_datasets(run_id, [split()])
    (found,) = tracker.client.get_run(run_id).inputs.dataset_inputs
    assert (found.dataset.name, found.dataset.digest) == ("validation", ("ab" * 32)[:36])
    assert (found.tags[0].key, found.tags[0].value) == ("mlflow.data.context", "validation")
    assert json.loads(found.dataset.profile) == {"num_rows": 65}


def test_runs_that_name_new_data_at_once_all_have_them(tracker: Tracker, caplog: pytest.LogCaptureFixture) -> None:
    """Three seeds that begin together, ten times, each with two data sets that the store has not seen."""
    for attempt in range(10):
        splits = [split(name, f"{attempt:02d}" * 32) for name in ("train", "validation")]
        runs = [tracker.start_pipeline(f"seed {seed}", {}, {}) for seed in range(3)]
        together = threading.Barrier(len(runs))

        def log(run_id: str, splits: list[DataSplit] = splits, together: threading.Barrier = together) -> None:
            together.wait()
            tracker.log_datasets(run_id, splits)

        threads = [threading.Thread(target=log, args=(run_id,)) for run_id in runs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for run_id in runs:
            found = tracker.client.get_run(run_id).inputs.dataset_inputs
            assert {one.dataset.name: one.dataset.digest for one in found} == {one.name: one.digest for one in splits}
    assert "UNIQUE" not in caplog.text and "did not take" not in caplog.text


def test_a_kept_checkpoint_is_a_model_with_its_files_and_metrics(tracker: Tracker, run_id: str, tmp_path: Path) -> None:
    kept = adapter(tmp_path / "a", "w")
    for _ in range(2):  # the second time after a kill
        tracker.log_checkpoint(run_id, "grpo-seed-42", kept, 40, {"seed": 42}, {"best/reward": 0.6}, split())
    assert len(models.of_name(tracker.client, run_id, "grpo-seed-42")) == 1
    model_id = models.of_run(tracker.client, run_id)
    assert model_id is not None
    model = tracker.client.get_logged_model(model_id)
    assert (model.status, model.source_run_id, model.tags["seed"]) == ("READY", run_id, "42")
    (metric,) = model.metrics
    assert (metric.key, metric.value, metric.step) == ("best/reward", 0.6, 40)
    assert (metric.dataset_name, metric.run_id) == ("validation", run_id)
    assert {file.path for file in tracker.client.list_logged_model_artifacts(model_id)} >= {"adapter_config.json"}


def test_answers_stand_side_by_side_with_their_stored_scores(tracker: Tracker) -> None:
    """Two arms, two prompts: a trace per prompt in each evaluation run."""
    runs = {
        arm: tracker.start_evaluation(f"{arm}, seed 7", {"arm": arm, "digest.rows": f"rows of {arm}"})
        for arm in ("sft", "seed-42")
    }

    def row(arm: str, n: int) -> Row:
        truth = None if n else 0.5
        return Row("push", f"Pergunta {n}", f"{arm} <b>{n}</b>", n / 4, truth, {"push.length": 0.5}, f"ouro {n}")

    rows = {identity: [row(arm, n) for n in range(2)] for arm, identity in runs.items()}
    for _ in range(2):
        tracker.show_answers(rows, {})
    assert [tracker.evaluation(f"rows of {arm}") for arm in (*runs, "base")] == [*runs.values(), None]
    for arm, identity in runs.items():
        run = tracker.client.get_run(identity)
        means = {"reward/mean": 0.125, "truth/mean": 0.5}
        assert run.info.status == "FINISHED" and run.data.metrics == means
        traces = tracker.client.search_traces(locations=[run.info.experiment_id], run_id=identity)
        texts = {json.loads(trace.data.request)["prompt"]: json.loads(trace.data.response) for trace in traces}
        assert texts == {f"Pergunta {n}": f"{arm} <b>{n}</b>" for n in range(2)}
        for trace in traces:
            beside = {one.name: one.value for one in trace.info.assessments}
            number = json.loads(trace.data.request)["prompt"].removeprefix("Pergunta ")
            assert beside["gold answer"] == f"ouro {number}" and beside["reward"] == int(number) / 4
            assert ("truth" in beside) is (number == "0")


def test_answers_that_mlflow_does_not_take_are_a_warning(tracker: Tracker, caplog: pytest.LogCaptureFixture) -> None:
    tracker.show_answers({"0" * 32: [Row("push", "p", "a", 1.0, None, {}, "")]}, {})
    assert "did not take the answers" in caplog.text


def test_an_account_may_have_no_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """`tucano promote --back` ended in a traceback there."""

    def unnamed() -> str:
        raise KeyError("getpwuid(): uid not found: 4711")

    monkeypatch.setattr("getpass.getuser", unnamed)
    assert user_name() is None
