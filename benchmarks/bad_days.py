"""Bad days: every mishap is really played, and what a person then reads is judged.

    python -m benchmarks.bad_days --home FOLDER                     # all of them, a quarter of an hour; as root, for
    the full disks
    python -m benchmarks.bad_days --home FOLDER --only moved full   # those whose names begin so

A pipeline of two tiny seeds is run once. Each mishap then befalls a copy of its storage. A row is well when the command
ended with the expected exit code and one sentence, when no traceback was printed, and when nothing was lost: the
command that the sentence names, or the same one again, comes to its end. Printed as a Markdown table for
docs/bad-days.md; what a person reads goes to the error output.
"""

import argparse
import errno
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.operations import SMALL, as_options
from deployments import services
from tucano.storage.logs import BYTES, KEPT
from tucano.tracking import DataSplit, Tracker

ROOT = Path(__file__).parent.parent
TINY = SMALL | {
    "grpo.max_steps": 10,
    "grpo.eval_steps": 5,
    "execution.seeds": "",
    # so small a model learns within seconds to write more, and nothing else; it is promoted for that
    "grpo.rewards": "controls.length",
    "comparison.rewards": "controls.length",
    "grpo.learning_rate": 0.01,
    "audit.override_by": "Ana Souza",
    "audit.override_reason": "the drill of bad days",
}
MISHAP_SECONDS = 600
MONTHS = 90 * 24 * 3600
KILL = (
    "import os, signal, mlflow; from mlflow import MlflowClient as C; dead = lambda *a, **k: os.kill(os.getpid(),"
    " signal.SIGKILL)\n"
)
"""Beginning of a program that is killed at a call of MLflow's client."""


@dataclass(frozen=True)
class Said:
    """How a command ended and what it printed."""

    code: int
    output: str

    @property
    def tracebacks(self) -> int:
        return self.output.count("Traceback (most recent call last)")

    def line(self, pattern: str) -> str:
        """The line that has the pattern, without the time of day before it."""
        found = next((line for line in self.output.splitlines() if re.search(pattern, line)), None)
        assert found is not None, f"no line like {pattern!r} in:\n{self.output[-3000:]}"
        return re.sub(r"^\d\d:\d\d:\d\d +", "", found).strip()

    def ended(self, code: int) -> "Said":
        assert self.code == code, f"exit code {self.code}, not {code}:\n{self.output[-3000:]}"
        return self


@dataclass(frozen=True)
class Outcome:
    """What happens, in words; the sentence that was printed; all that was printed meanwhile."""

    happens: str
    sentence: str
    said: tuple[Said, ...]


@dataclass(frozen=True)
class Day:
    """A copy of the calm storage, in a place of its own."""

    storage: Path

    def start(self, *arguments: str, before: str = "", home: bool = False) -> subprocess.Popen[str]:
        """A command of ours on this storage; `before` is Python that runs first in its process."""
        code = f"{before}\nfrom tucano.cli.main import main\nmain()"
        where = ["--home", str(self.storage)] if home else ["--set", f"storage={self.storage}"]
        return subprocess.Popen(
            [sys.executable, "-c", code, *arguments, *where],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
        )

    def tucano(self, *arguments: str, before: str = "", home: bool = False) -> Said:
        return finished(self.start(*arguments, before=before, home=home))

    def run(self, before: str = "", **changed: object) -> Said:
        return finished(self.start_run(before, **changed))

    def start_run(self, before: str = "", **changed: object) -> subprocess.Popen[str]:
        """`tucano run laptop` in small, with more settings changed."""
        wanted = TINY | {name.replace("__", "."): value for name, value in changed.items()}
        return self.start("run", "nano", *as_options(wanted), before=before)

    @property
    def mlflow(self) -> Path:
        return self.storage / "mlflow" / "mlflow.db"

    @property
    def prefect(self) -> Path:
        return self.storage / "prefect" / "prefect.db"

    def lineage(self) -> Said:
        """The champion's chain, which has to be whole."""
        said = self.tucano("lineage", "tucano@champion").ended(0)
        said.line("The chain is whole")
        return said

    def grow_old(self) -> None:
        """All files were last used, and all runs ended, so many months earlier; what came first stays first."""
        for path in (self.storage, *self.storage.rglob("*")):
            then = path.lstat().st_mtime - MONTHS
            os.utime(path, (then, then), follow_symlinks=False)
        earlier = "UPDATE runs SET start_time = start_time - ?, end_time = end_time - ?"
        execute(self.mlflow, earlier, 1000 * MONTHS, 1000 * MONTHS)
        execute(self.prefect, "UPDATE flow_run SET end_time = '2026-01-01 00:00:00.000000'")


def finished(process: subprocess.Popen[str]) -> Said:
    output, _ = process.communicate(timeout=MISHAP_SECONDS)
    return Said(process.returncode, output)


def until(process: subprocess.Popen[str], pattern: str) -> str:
    """What a command prints, up to the first line with the pattern."""
    assert process.stdout is not None
    seen = ""
    for line in process.stdout:
        seen += line
        if re.search(pattern, line):
            return seen
    raise AssertionError(f"it ended without a line like {pattern!r}:\n{seen[-3000:]}")


def execute(database: Path, statement: str, *values: object) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(database, timeout=60)) as connection, connection:
        return connection.execute(statement, values).fetchall()


def running(day: Day) -> int:
    """Runs that MLflow or Prefect calls running."""
    alive = "('RUNNING', 'PENDING', 'SCHEDULED', 'CANCELLING')"
    count = "SELECT count(*) FROM {} WHERE {} IN {}"
    tables = (
        (day.mlflow, "runs", "status"),
        (day.prefect, "flow_run", "state_type"),
        (day.prefect, "task_run", "state_type"),
    )
    return sum(int(str(execute(file, count.format(table, column, alive))[0][0])) for file, table, column in tables)


# --- gc (D.9, D.14) -------------------------------------------------------------------------------


def gc_beside_a_run(day: Day) -> Outcome:
    day.grow_old()
    process = day.start_run(grpo__max_steps=8)
    seen = until(process, r"grpo-seed-42: runs")
    refused = day.tucano("gc", "--days", "1", "--yes", home=True).ended(2)
    run = finished(process).ended(0)
    return Outcome("gc is refused, the run ends well", refused.line("^tucano: "), (Said(0, seen), refused, run))


def gc_after_reuse(day: Day) -> Outcome:
    day.grow_old()
    run = day.run().ended(0)
    gone = day.tucano("gc", "--yes", home=True).ended(0)
    again = day.run().ended(0)
    assert len(re.findall(r": reused, nothing", again.output)) >= 10, again.output
    day.lineage()
    return Outcome(
        "what the run reused stays; its own old runs in MLflow and Prefect go", gone.line(r"MB$"), (run, gone, again)
    )


def gc_old_runs(day: Day) -> Outcome:
    """Two more configurations ran: one that learned nothing and was not registered, and a last one, so that the
    champion's own run is neither the newest nor young.
    """
    day.run(grpo__learning_rate=1e-9).ended(0)
    run = day.run(grpo__max_steps=5, sft__max_epochs=2).ended(0)
    before = int(str(execute(day.mlflow, "SELECT count(*) FROM runs")[0][0]))
    day.grow_old()
    gone = day.tucano("gc", "--yes", home=True).ended(0)
    after = int(str(execute(day.mlflow, "SELECT count(*) FROM runs")[0][0]))
    assert after < before, "what nothing needs is removed"
    day.lineage()
    sentence = gone.line(r"flow runs in Prefect")
    return Outcome(
        f"of {before} runs in MLflow {after} stay, the champion's among them; its lineage is whole",
        sentence,
        (run, gone),
    )


def logs(day: Day) -> Outcome:
    script = "yes 'a line of a server that says much' | head -c 60000000; echo end"
    services.start("chatty", ["sh", "-c", script], os.environ, log := day.storage / "logs" / "chatty.log")
    deadline = time.monotonic() + MISHAP_SECONDS
    while not (log.is_file() and log.read_text(encoding="utf-8").endswith("end\n")):
        assert time.monotonic() < deadline
        time.sleep(0.2)
    sizes = [path.stat().st_size for path in log.parent.glob("chatty.log*")]
    assert len(sizes) == KEPT + 1 and max(sizes) <= BYTES, sizes
    return Outcome(f"of 60 MB that a service logs {sum(sizes) / 1e6:.0f} are kept, in {len(sizes)} files", "-", ())


# --- the stack's records (D.10) -------------------------------------------------------------------

CLOCK_STEP = "import psutil._pslinux as l; steady = l.boot_time; l.boot_time = lambda: steady() + 3\n"
"""What a clock that is put forward by three seconds does to the time at which the machine says it was started."""


@contextmanager
def recorded(day: Day) -> Iterator[list[int]]:
    """Four processes that stand in the stack's record; their ids."""
    names = ("postgres", "prefect", "mlflow", "worker-1")
    running = {
        name: services.start(name, ["sleep", "300"], os.environ, day.storage / "logs" / f"{name}.log") for name in names
    }
    (day.storage / "stack").mkdir(exist_ok=True)
    services.write_services(day.storage / "stack" / "services.json", running)
    try:
        yield [service.pid for service in running.values()]
    finally:
        for service in running.values():
            services.stop(service, seconds=2)


def clock_step(day: Day) -> Outcome:
    with recorded(day):
        seen = day.tucano("status", before=CLOCK_STEP, home=True).ended(1)
        assert "is not running" not in seen.output, seen.output
        down = day.tucano("down", before=CLOCK_STEP, home=True).ended(0)
        left = [
            name
            for name, one in services.read_services(day.storage / "stack" / "services.json").items()
            if one.process()
        ]
        assert left == [] and down.output.count("stopping") == 4, down.output
    return Outcome(
        "status knows all four by boot and clock ticks; down stops all four", down.line("stopping worker"), (seen, down)
    )


def _empty(name: str) -> Callable[[Day], Outcome]:
    def play(day: Day) -> Outcome:
        (day.storage / "stack").mkdir(exist_ok=True)
        (day.storage / "stack" / name).write_text("", encoding="utf-8")
        refused = day.tucano("status", home=True).ended(2)
        return Outcome("refused", refused.line("^tucano: "), (refused,))

    return play


# --- a lost store, a moved storage (D.11) ---------------------------------------------------------


def store_deleted(day: Day) -> Outcome:
    day.mlflow.unlink()
    run = day.run().ended(0)
    day.lineage()
    compared = day.tucano("compare", "nano").ended(0)
    happens = (
        "every stage is reused, its trainings are registered anew, and the champion with them; lineage and compare work"
    )
    return Outcome(happens, run.line("has no run of grpo seed 42"), (run, compared))


def store_changed(day: Day) -> Outcome:
    other = day.storage.parent / "elsewhere.db"
    run = day.run(tracking_uri=f"sqlite:///{other}").ended(0)
    assert execute(other, "SELECT count(*) FROM model_versions") == [(1,)]
    return Outcome("as above, in the other store", run.line("has no run of sft"), (run,))


def storage_moved(day: Day) -> Outcome:
    moved = Day(day.storage.rename(day.storage.parent / "loja nova"))
    lineage = moved.lineage()
    run = moved.run().ended(0)
    assert not day.storage.exists(), "something was written to the old place"
    stages = re.findall(r": (runs), ", run.output)
    assert len(stages) <= 1, run.output  # the report names the storage among the settings
    compared = moved.tucano("compare", "#" + label(moved), "tucano@champion").ended(0)
    return Outcome(
        "lineage, run and compare work; all stages but the report are reused",
        lineage.line("chain is whole"),
        (lineage, run, compared),
    )


def storage_copied(day: Day) -> Outcome:
    copy = Day(day.storage.parent / "copy")
    shutil.copytree(day.storage, copy.storage)
    for weights in (day.storage / "mlflow" / "artifacts").rglob("*.safetensors"):
        weights.write_bytes(b"another model")
    lineage = copy.lineage()
    return Outcome(
        "the copy reads its own files, and not those of the place it came from",
        lineage.line("chain is whole"),
        (lineage,),
    )


def label(day: Day) -> str:
    """The six digits by which the storage's configuration is named."""
    found = execute(day.mlflow, "SELECT value FROM tags WHERE key = 'config_label' LIMIT 1")
    return str(found[0][0]).rpartition("#")[2][:6]


# --- odd names (D.12) -----------------------------------------------------------------------------


def apostrophe(day: Day) -> Outcome:
    odd = Day(day.storage.rename(day.storage.parent / "it's 100%20 # çã"))
    run = odd.run().ended(0)
    odd.lineage()
    return Outcome("supported", run.line("^See the runs"), (run,))


def _refused(**changed: str) -> Callable[[Day], Outcome]:
    def play(day: Day) -> Outcome:
        refused = day.run(**changed).ended(2)
        assert "runs, for the first time" not in refused.output
        return Outcome("refused before the first stage", refused.line("^tucano: (?!warning)"), (refused,))

    return play


def question_mark(day: Day) -> Outcome:
    refused = Day(day.storage.parent / "what?").tucano("run", "nano").ended(2)
    return Outcome("refused before the first stage", refused.line("^tucano: "), (refused,))


# --- kills, disks, damage (D.13)
# ----------------------------------------------------------------------------------------


def killed_before_alias(day: Day) -> Outcome:
    day.mlflow.unlink()
    killed = day.run(before=KILL + "C.set_registered_model_alias = dead").ended(-signal.SIGKILL)
    versions = execute(day.mlflow, "SELECT version FROM model_versions")
    run = day.run().ended(0)
    assert execute(day.mlflow, "SELECT version FROM model_versions") == versions == [(1,)]
    day.lineage()
    return Outcome(
        "the next run points the alias to the version that was left",
        run.line("is champion as tucano version 1"),
        (killed, run),
    )


def killed_before_params(day: Day) -> Outcome:
    before = (
        KILL + "make = C.create_run\nC.create_run = lambda *a, **k: (make(*a, **k), 'grpo' in str(k) and dead())[0]"
    )
    killed = day.run(before=before, grpo__max_steps=5).ended(-signal.SIGKILL)
    run = day.run(grpo__max_steps=5).ended(0)
    trained = (
        "SELECT count(*) FROM params p JOIN runs r ON p.run_uuid = r.run_uuid WHERE r.name LIKE 'grpo%' GROUP BY"
        " r.run_uuid"
    )
    assert len({count for (count,) in execute(day.mlflow, trained)}) == 1, "a training lacks params"
    assert running(day) == 0
    return Outcome(
        "the next run goes on in that run of MLflow, and adds its params", run.line("promotion: "), (killed, run)
    )


def killed_run(day: Day) -> Outcome:
    process = day.start_run(grpo__max_steps=40)
    seen = until(process, r"grpo seed \d+ +step")
    process.kill()
    killed = finished(process)
    assert running(day) > 0
    run = day.run().ended(0)
    assert running(day) == 0, "a killed run still counts as running"
    happens = "the next run, of whatever settings, ends the killed one in MLflow (killed) and Prefect (crashed)"
    return Outcome(happens, run.line("^See the runs"), (Said(0, seen), killed, run))


def several_kills(day: Day) -> Outcome:
    """At five moments that nobody chose."""
    said = []
    for seconds in (4.0, 9.0, 14.0, 19.0, 24.0):
        process = day.start_run(grpo__max_steps=9)
        time.sleep(seconds)
        process.kill()
        said.append(finished(process))
    run = day.run(grpo__max_steps=9).ended(0)
    assert running(day) == 0
    day.lineage()
    return Outcome(
        "the next run goes on and ends well; nothing is running afterwards", run.line("promotion: "), (*said, run)
    )


@contextmanager
def small_disk(day: Day) -> Iterator[Day]:
    """The storage on a file system of its own with room for a run."""
    place = day.storage.parent / "disk"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400m", "tmpfs", str(place)], check=True)
    try:
        shutil.copytree(day.storage, place / "runs")
        yield Day(place / "runs")
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def fill(day: Day, leave: int) -> Path:
    """A file that leaves so many bytes free, whatever a run writes meanwhile."""
    filler = day.storage.parent / "filler"
    with filler.open("wb") as file:
        while True:
            try:
                os.posix_fallocate(file.fileno(), 0, shutil.disk_usage(day.storage).free - leave)
                return filler
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
                file.truncate(0)


def full_at_start(day: Day) -> Outcome:
    with small_disk(day) as small:
        filler = fill(small, 60_000_000)
        refused = small.run().ended(2)
        filler.unlink()
        run = small.run().ended(0)
    return Outcome("refused before the first stage", refused.line("^tucano: (?!warning|starting)"), (refused, run))


def _full_while_training(leave: int, happens: str) -> Callable[[Day], Outcome]:
    def play(day: Day) -> Outcome:
        with small_disk(day) as small:
            process = small.start_run(grpo__max_steps=60)
            seen = until(process, r"grpo seed \d+ +step")
            filler = fill(small, leave)
            ended = finished(process).ended(1)
            lines = len(ended.output.splitlines())
            assert lines < 15, f"{lines} lines:\n{ended.output}"
            filler.unlink()
            run = small.run(grpo__max_steps=60).ended(0)
            assert running(small) == 0
        return Outcome(
            f"{happens}; with space again the same command goes on",
            ended.line("^tucano: the disk"),
            (Said(0, seen), ended, run),
        )

    return play


def _damaged(name: str, damage: Callable[[Path], None]) -> Callable[[Day], Outcome]:
    def play(day: Day) -> Outcome:
        database = day.storage / name
        damage(database)
        for left in database.parent.glob(f"{database.name}-*"):
            left.unlink()
        refused = day.run().ended(2)
        sentence = refused.line("^tucano: (?!starting|warning)")
        subprocess.run(sentence.partition("begins a new one: ")[2], shell=True, check=True)
        run = day.run().ended(0)
        return Outcome("refused; after the command in the sentence the run ends well", sentence, (refused, run))

    return play


def torn(database: Path) -> None:
    database.write_bytes(database.read_bytes()[: database.stat().st_size // 2])


def replaced(database: Path) -> None:
    database.write_bytes(b"this is not a database, it is a sentence" * 200)


def same_data_at_once(day: Day) -> Outcome:
    """Three seeds that begin together, twenty times."""
    tracker = Tracker.connect(None, day.storage)
    for number in range(20):
        splits = [
            DataSplit(name, "training", f"{number:02d}{name[0]}" * 24, "x", 3) for name in ("train", "validation")
        ]
        runs = [tracker.start_training(f"seed {seed}", "", "grpo", seed, "drill", {}) for seed in range(3)]
        threads = [threading.Thread(target=tracker.log_datasets, args=(run, splits)) for run in runs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        named = [{one.dataset.name for one in tracker.client.get_run(run).inputs.dataset_inputs} for run in runs]
        assert named == [{"train", "validation"}] * 3, named
    return Outcome("every run has its data sets, and nothing is printed", "-", ())


MISHAPS: dict[str, tuple[str, Callable[[Day], Outcome]]] = {
    "gc-live": ("`tucano gc --yes` beside a run", gc_beside_a_run),
    "gc-reuse": ("`tucano gc --yes` after a run that reused old artifacts", gc_after_reuse),
    "gc-old": ("months of runs in MLflow and Prefect, then `tucano gc --yes`", gc_old_runs),
    "logs": ("a service that writes 60 MB of log", logs),
    "clock": ("the clock is put forward 3 s while the stack runs", clock_step),
    "services-empty": ("services.json is empty (power cut), then `tucano status`", _empty("services.json")),
    "ports-empty": ("ports.json is empty, then `tucano status`", _empty("ports.json")),
    "store-deleted": ("mlflow.db is deleted", store_deleted),
    "store-changed": ("another `tracking_uri`", store_changed),
    "moved": ("the storage is moved", storage_moved),
    "copied": ("the storage is copied, and the old place changes", storage_copied),
    "apostrophe": ("an apostrophe, a #, a %20 and accents in the storage's path", apostrophe),
    "question": ("a ? in the storage's path", question_mark),
    "model-name": ("a model name with a slash", _refused(promotion__model="a/b")),
    "odd-set": ("a setting below a setting (data.mix.push.x)", _refused(data__mix__push__x="1")),
    "kill-alias": ("kill -9 between registry version and alias", killed_before_alias),
    "kill-params": ("kill -9 between an MLflow run and its params", killed_before_params),
    "kill-run": ("kill -9 of `tucano run`, never resumed", killed_run),
    "kill-any": ("kill -9 of `tucano run` at five moments", several_kills),
    "full-start": ("the disk is full when `tucano run` starts", full_at_start),
    "full-slow": (
        "the disk fills up while it trains",
        _full_while_training(40_000_000, "it stops in order and saves its state"),
    ),
    "full-sudden": ("the disk has no byte left while it trains", _full_while_training(0, "it ends at once")),
    "prefect-torn": ("prefect.db is torn", _damaged("prefect/prefect.db", torn)),
    "prefect-other": ("prefect.db is no database", _damaged("prefect/prefect.db", replaced)),
    "mlflow-torn": ("mlflow.db is torn", _damaged("mlflow/mlflow.db", torn)),
    "same-data": ("three seeds name the same new data set at once", same_data_at_once),
}


def calm_storage(home: Path) -> Path:
    """The storage of a run that nothing happened to."""
    calm = Day(home / "calm" / "runs")
    if not list(calm.storage.glob("artifacts/report/*")):
        calm.storage.parent.mkdir(parents=True, exist_ok=True)
        calm.run().ended(0).line("is champion as tucano version 1")
    return calm.storage


def played(name: str, home: Path) -> Outcome:
    """One mishap, on a copy of the calm storage. AssertionError when it does not end well."""
    calm, place = calm_storage(home), home / name
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(calm, place / "runs", copy_function=shutil.copy2)
    try:
        outcome = MISHAPS[name][1](Day(place / "runs"))
        assert sum(said.tracebacks for said in outcome.said) == 0, "\n".join(
            said.output for said in outcome.said if said.tracebacks
        )[-4000:]
        return outcome
    finally:
        shutil.rmtree(place, ignore_errors=True)


def row(name: str, home: Path) -> str:
    title = MISHAPS[name][0]
    try:
        outcome = played(name, home)
    except AssertionError as error:
        return f"| {title} | **NOT WELL**: {str(error).splitlines()[0]} | |"
    sentence = outcome.sentence.replace(str(home / name), "…").replace("|", "\\|")
    print(f"{name}: {sentence}", file=sys.stderr)
    return f"| {title} | {outcome.happens} | 0 |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, required=True, help="folder for the storages")
    parser.add_argument(
        "--only", nargs="+", default=[""], metavar="NAME", help=f"beginnings of names: {', '.join(MISHAPS)}"
    )
    arguments = parser.parse_args()
    for beginning in arguments.only:
        if not any(name.startswith(beginning) for name in MISHAPS):
            parser.error(f"no mishap begins with {beginning!r}; there are {', '.join(MISHAPS)}")
    print("| mishap | what happens | tracebacks |\n|---|---|---|", flush=True)
    for name in MISHAPS:
        if name.startswith(tuple(arguments.only)):
            print(row(name, arguments.home.resolve()), flush=True)


if __name__ == "__main__":
    main()
