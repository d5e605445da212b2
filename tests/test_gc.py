"""What `tucano gc` takes, and what it leaves: what a run is at work with, and what a registered model was made from."""

import os
import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from odd_files import ODD, put_in_place
from pace import slowness

from deployments.gc import collect, garbage, needed
from tucano.artifacts.store import MANIFEST, Artifact, Recipe, Store
from tucano.errors import UserError
from tucano.storage.locks import IN_USE, OWNER, alone, owned, shared
from tucano.tracking import DataSplit, Row, Tracker
from tucano.tracking.purge import find_old, remove

ROOT = Path(__file__).parent.parent
DAY = 24 * 3600.0
MONTH_AGO = 30
KEY = "0123456789abcdef"


def make(store: Store, stage: str, setting: int, *inputs: Artifact, days_old: int = 0, **record: object) -> Artifact:
    recipe = Recipe(stage, {"setting": setting}, {artifact.stage: artifact.digest for artifact in inputs}, "code")

    def produce(draft: Path) -> dict[str, object]:
        (draft / "file").write_text(str(setting), encoding="utf-8")
        return record

    artifact = store.make(recipe, produce, lambda text: None)
    aged(artifact.folder, days_old)
    return artifact


def aged(place: Path, days: int) -> None:
    then = time.time() - days * DAY
    for path in (place, *place.rglob("*")):
        os.utime(path, (then, then))


def gone(home: Path, *registered: str) -> set[Path]:
    """What is garbage after a month, relative to the storage."""
    before = time.time() - MONTH_AGO * DAY
    return {path.relative_to(home) for path in garbage(home, needed(home, before, set(registered)), before)}


def name(artifact: Artifact) -> Path:
    return Path("artifacts", artifact.name)


def test_gc_takes_what_is_old_and_made_nothing_that_is_kept(tmp_path: Path) -> None:
    store = Store(tmp_path)
    old_data = make(store, "data", 1, days_old=90)
    old_sft = make(store, "sft", 1, old_data, days_old=90)
    needed_data = make(store, "data", 2, days_old=80)
    make(store, "sft", 2, needed_data)
    make(store, "report", 1, days_old=200)
    for stage, days in (("grpo-seed-1", 31), ("grpo-seed-2", 0)):
        (tmp_path / "work" / stage / KEY).mkdir(parents=True)
        (tmp_path / "work" / stage / KEY / "owner.lock").write_text("", encoding="utf-8")
        aged(tmp_path / "work" / stage / KEY, days)
    aged(tmp_path / "locks" / "data", 31)
    locks = {Path("locks", "data", artifact.folder.name) for artifact in (old_data, needed_data)}
    assert gone(tmp_path) == {name(old_data), name(old_sft), Path("work/grpo-seed-1", KEY), *locks}


def test_a_link_goes_alone_and_what_it_leads_to_stays(tmp_path: Path) -> None:
    home, mine = tmp_path / "runs", tmp_path / "mine"
    (mine / "letters" / KEY).mkdir(parents=True)
    links = {f"work/sft/{KEY}": mine, "artifacts/sft": mine / "letters", "locks": mine}
    links[dangling := f"work/sft/{KEY}.draft"] = tmp_path / "nowhere"
    for link, target in links.items():
        (home / link).parent.mkdir(parents=True, exist_ok=True)
        (home / link).symlink_to(target)
        os.utime(home / link, (0, 0), follow_symlinks=False)
    (home / IN_USE).touch()
    aged(mine / "letters", 90)
    assert gone(home) == {Path(dangling), Path("work/sft", KEY)}
    assert collect(home, MONTH_AGO, remove=True) == 0
    assert (mine / "letters" / KEY).is_dir() and not list((home / "work" / "sft").iterdir())


def test_what_is_reused_is_young_again(tmp_path: Path) -> None:
    store = Store(tmp_path)
    first, second = make(store, "data", 1, days_old=90), make(store, "sft", 1, days_old=90)
    others = [make(store, stage, 9, days_old=40) for stage in ("data", "sft")]
    assert gone(tmp_path) == {name(first), name(second)}
    recipe = Recipe("data", {"setting": 1}, {}, "code")
    assert store.make(recipe, lambda draft: {}, lambda text: None).reused
    assert store.named(second.name) == second
    assert gone(tmp_path) == {name(other) for other in others}, "now these are the older ones"


def test_what_a_registered_model_was_made_from_stays(tmp_path: Path) -> None:
    """By the report of the run that registered it, or by the registry's own word."""
    store = Store(tmp_path)
    data, other = make(store, "data", 1, days_old=400), make(store, "data", 2, days_old=300)
    make(store, "report", 1, data, days_old=400, registered=3)
    seed = make(store, "grpo-seed-42", 1, other, days_old=300)
    for stage in ("data", "report", "grpo-seed-42"):
        make(store, stage, 9, days_old=40, registered=None)
    assert gone(tmp_path) == {name(other), name(seed)}
    assert gone(tmp_path, seed.digest) == set()


@pytest.mark.parametrize(
    "content",
    [
        "", "[]", "[" * 99_999, " " * 2**24 + "{}", '{"digest": "x"}', '{"digest": ["x"], "inputs": {}, "record": {}}',
        '{"digest": "x", "inputs": {}, "record": {"x": "\\ud800"}}', f'{{"digest": {"9" * 5000}}}',
    ],
    ids=lambda content: content[:45],
)  # fmt: skip
def test_a_damaged_manifest_stays_and_everything_else_goes_on(
    tmp_path: Path, content: str, capsys: pytest.CaptureFixture[str]
) -> None:
    old, broken = make(Store(tmp_path), "data", 1, days_old=90), make(Store(tmp_path), "data", 2)
    make(Store(tmp_path), "data", 3)
    (broken.folder / MANIFEST).write_text(content, encoding="utf-8")
    aged(broken.folder, 90)
    (tmp_path / IN_USE).touch()
    assert collect(tmp_path, MONTH_AGO, remove=True) == 0
    assert broken.folder.is_dir() and not old.folder.exists()
    assert f"{broken.folder / MANIFEST}; not removed" in capsys.readouterr().out


@pytest.fixture(scope="module")
def tracked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A storage with one run in MLflow's store, to be copied."""
    storage = tmp_path_factory.mktemp("tracked")
    pipeline(Tracker.connect(None, storage), storage, "one")
    return storage


@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", ODD)
def test_what_is_no_file_is_not_waited_for(
    tracked: Path, tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the place of a manifest, of a training's folder and of what says which MLflow run is being filled."""
    shutil.copytree(tracked, tmp_path, dirs_exist_ok=True)
    broken = make(Store(tmp_path), "data", 1).folder / MANIFEST
    put_in_place(kind, broken)
    for place in (f"work/sft/{KEY}", f"locks/mlflow/{KEY * 2}"):
        (tmp_path / place).parent.mkdir(parents=True)
        put_in_place(kind, tmp_path / place)
        os.utime(tmp_path / place, (0, 0), follow_symlinks=False)
    (tmp_path / IN_USE).touch()
    assert collect(tmp_path, MONTH_AGO, remove=True) == 0
    assert not os.path.lexists(tmp_path / "work" / "sft" / KEY) and os.path.lexists(broken)
    assert f"{broken}; not removed" in capsys.readouterr().out


@pytest.mark.parametrize("remove", [False, True])
@pytest.mark.parametrize("file", [None, f"work/sft/{KEY}/letter", "mlflow/mlflow.db", "prefect/prefect.db"])
def test_a_folder_that_is_no_storage_is_refused_and_left_as_it_is(
    tmp_path: Path, file: str | None, remove: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    if file is not None:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("mine", encoding="utf-8")
    aged(tmp_path, 90)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(UserError, match=rf"no run has worked in {tmp_path}, so nothing there is touched"):
        collect(tmp_path, MONTH_AGO, remove)
    assert sorted(tmp_path.rglob("*")) == before and capsys.readouterr().out == ""


# --- beside runs ----------------------------------------------------------------------------------

HOLD = """
import sys
from pathlib import Path
from tucano.storage.locks import alone, shared
with {lock}:
    print("held", flush=True)
    sys.stdin.read()
print("left", flush=True)
"""


def holder(home: Path, lock: str) -> subprocess.Popen[str]:
    """Another process that holds a lock on the storage until its input ends."""
    command = [sys.executable, "-c", HOLD.format(lock=lock), str(home)]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "held\n"
    return process


def test_nothing_is_removed_while_a_run_is_at_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = make(Store(tmp_path), "data", 1, days_old=90)
    make(Store(tmp_path), "data", 2)
    with holder(tmp_path, "shared(Path(sys.argv[1]), print)"):
        with pytest.raises(UserError, match=rf"storage {tmp_path} is in use by a run; wait until it has ended, then"):
            collect(tmp_path, MONTH_AGO, remove=True)
        assert collect(tmp_path, MONTH_AGO, remove=False) == 0
    assert str(old.folder) in capsys.readouterr().out and old.folder.is_dir()
    assert collect(tmp_path, MONTH_AGO, remove=True) == 0
    assert not old.folder.exists()


def test_runs_work_side_by_side_and_wait_for_gc(tmp_path: Path) -> None:
    with shared(tmp_path, pytest.fail), holder(tmp_path, "shared(Path(sys.argv[1]), print)"):
        pass
    said: list[str] = []
    with holder(tmp_path, "alone(Path(sys.argv[1]))") as other:
        began = time.monotonic()

        def hear(sentence: str) -> None:
            said.append(sentence)
            assert other.stdin is not None
            other.stdin.close()

        with shared(tmp_path, hear):
            assert time.monotonic() - began < 10 * slowness()
    assert said == [f"storage {tmp_path} is being tidied up; this goes on when that has ended"]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", sorted(ODD.keys() - {"dangling link"}))
@pytest.mark.parametrize("name", [IN_USE, OWNER])
def test_a_lock_that_is_no_file_is_a_sentence(tmp_path: Path, kind: str, name: str) -> None:
    for lock in (IN_USE, OWNER):
        (tmp_path / lock).touch()
    put_in_place(kind, tmp_path / name)
    for locked in (alone(tmp_path), owned(tmp_path) if name == OWNER else shared(tmp_path, pytest.fail)):
        with pytest.raises(UserError, match=rf"{name} is no ordinary file; move it away"), locked:
            pass


def pipeline(tracker: Tracker, storage: Path, label: str, registered: bool = False) -> dict[str, str]:
    """A finished pipeline with a training and an evaluation, each with rows of every kind and files: {what: run}."""
    run = tracker.start_pipeline(label, {"seed": 7}, {"config_label": label, "verdict": "Better."})
    training = tracker.start_training("grpo seed 1", run, "grpo", 1, label, {"lr": 1})
    shown = tracker.start_evaluation("seed-1", {"arm": "seed-1", "pipeline_run": run, "digest.answers": label})
    tracker.show_answers({shown: [Row("push", "Pergunta", "Resposta", 0.5, None, {}, "")]}, {})
    folder = storage / "files" / label
    folder.mkdir(parents=True)
    (folder / "weights.bin").write_bytes(b"0123456789" * 1000)
    tracker.log_metrics(training, {f"m{number}": number for number in range(50)})
    split = DataSplit("validation", "validation", label * 9, "x", 3)
    for one in (run, training):
        tracker.log_datasets(one, [split])
        tracker.log_artifact(one, folder, "report")
    tracker.log_checkpoint(training, "grpo-seed-1", folder, 4, {"seed": 1}, {"best/reward": 0.6}, split)
    if registered:
        tracker.register("tucano", training, folder, {"pipeline_run": run, "digest.data": label}, ["champion"])
    tracker.set_tags(run, {"training_runs": training, "compared": f"{shown} {shown}"})
    for one in (training, run):
        tracker.finish(one, "FINISHED")
    return {"pipeline": run, "training": training, "evaluation": shown}


def aged_runs(storage: Path, days: int) -> None:
    """Put every run of the store back by some days, in the order in which they were."""
    with sqlite3.connect(storage / "mlflow" / "mlflow.db") as connection:
        back = int(days * DAY * 1000)
        connection.execute(f"UPDATE runs SET start_time = start_time - {back}, end_time = end_time - {back}")


def holding(storage: Path, identity: str) -> set[str]:
    """Tables of the store that name a run, model or trace."""
    connection = sqlite3.connect(storage / "mlflow" / "mlflow.db")
    tables = [table for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    columns = {table: [row[1] for row in connection.execute(f"PRAGMA table_info({table})")] for table in tables}

    def names(table: str) -> bool:
        found = " OR ".join(f"instr(cast({column} AS TEXT), :identity)" for column in columns[table])
        return bool(connection.execute(f"SELECT 1 FROM {table} WHERE {found}", {"identity": identity}).fetchone())

    return {table for table in tables if names(table)}


def test_old_runs_leave_mlflow_without_a_trace(tmp_path: Path) -> None:
    tracker = Tracker.connect(None, tmp_path)
    labels = ("old", "champion", "newest")
    old, champion, newest = (pipeline(tracker, tmp_path, label, label == "champion") for label in labels)
    running = tracker.start_training("grpo seed 2", old["pipeline"][:-1] + "x", "grpo", 2, "elsewhere", {})
    aged_runs(tmp_path, 90)
    young = tracker.start_pipeline("young", {}, {})
    tracker.finish(young, "FAILED")
    before = time.time() - MONTH_AGO * DAY
    locations = [tracker.experiments["tucano-evaluation"]]
    traces = tracker.client.search_traces(locations=locations, run_id=old["evaluation"])
    size = (tmp_path / "mlflow" / "mlflow.db").stat().st_size

    found = find_old(tracker, before, needed=set())
    assert {run.info.run_id for run in found.runs} == set(old.values())
    assert str(found) == "3 runs in MLflow with 1 models and 1 traces"
    assert find_old(tracker, before, needed={old["training"]}).runs == [], "an artifact that stays was trained there"

    remove(tracker, found)
    for identity in (*old.values(), traces[0].info.trace_id, found.models[0].model_id):
        assert holding(tmp_path, identity) == set()
        assert not list((tmp_path / "mlflow" / "artifacts").rglob(f"*{identity}*"))
    for identity in (*champion.values(), *newest.values(), young, running):
        assert "runs" in holding(tmp_path, identity)
    version = tracker.champion("tucano")
    assert version is not None and tracker.fetch(version, tmp_path / "fetched").is_dir()
    assert (tmp_path / "mlflow" / "mlflow.db").stat().st_size < size
    assert find_old(tracker, before, needed=set()).runs == []


# --- Prefect --------------------------------------------------------------------------------------

FLOW = """
from prefect import flow, get_run_logger, task
@task
def step(): get_run_logger().info("a line of the log")
@flow(log_prints=True)
def run(): step()
run(); run()
"""


def in_prefect(home: Path, table: str) -> int:
    return int(sqlite3.connect(home / "prefect" / "prefect.db").execute(f"SELECT count(*) FROM {table}").fetchone()[0])


@pytest.mark.long
def test_old_flow_runs_leave_prefect_with_their_logs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    environment: dict[str, Any] = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    environment |= {"PREFECT_HOME": str(tmp_path / "prefect"), "PREFECT_SERVER_ANALYTICS_ENABLED": "false"}
    environment["PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS"] = "200"
    subprocess.run([sys.executable, "-c", FLOW], env=environment, check=True, timeout=900, capture_output=True)
    assert (in_prefect(tmp_path, "flow_run"), in_prefect(tmp_path, "task_run")) == (2, 2)
    assert in_prefect(tmp_path, "log") >= 2
    with sqlite3.connect(tmp_path / "prefect" / "prefect.db") as connection:
        (one,) = connection.execute("SELECT id FROM flow_run LIMIT 1").fetchone()
        connection.execute("UPDATE flow_run SET end_time = '2026-01-01 00:00:00.000000' WHERE id = ?", (one,))
    connection.close()
    (tmp_path / IN_USE).touch()
    assert collect(tmp_path, MONTH_AGO, remove=False) == 0
    assert "would go" in (said := capsys.readouterr().out) and "1 flow runs in Prefect (prefect.db)" in said
    assert in_prefect(tmp_path, "flow_run") == 2
    assert collect(tmp_path, MONTH_AGO, remove=True) == 0
    assert (in_prefect(tmp_path, "flow_run"), in_prefect(tmp_path, "task_run")) == (1, 1)
    assert in_prefect(tmp_path, f"log WHERE flow_run_id = '{one}'") == 0
    assert collect(tmp_path, MONTH_AGO, remove=False) == 0
    assert "flow runs" not in capsys.readouterr().out.splitlines()[-1]
