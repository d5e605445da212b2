"""What the pipeline costs beside its stages' own work: `python -m benchmarks.overhead` in process, `--home FOLDER` with
server and worker.

Wall time of a tiny pipeline less the time in which at least one stage was at work: making its artifact, or its task
where it makes none. In process the wall time is the whole command's with an empty storage, from the start of the
interpreter to its end; with server and worker it is from the request for a run to its end. Limits: 15 s in process, 60
s with server and worker; exit code 1 above.
"""

import argparse
import json
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.operations import SMALL, Bench, as_options
from deployments import stack
from tucano.profiles import project_root

LIMITS = {"in process": 15.0, "with server and worker": 60.0}


Span = tuple[float, float]
"""When something began and ended, in seconds since 1970."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, help="folder of a stack that tucano up has started")
    arguments = parser.parse_args()
    root = project_root(Path.cwd())
    with tempfile.TemporaryDirectory() as folder:
        how = "with server and worker" if arguments.home else "in process"
        whole, others = (
            deployed(Bench(stack.opened(arguments.home, root)), Path(folder))
            if arguments.home
            else in_process(root, Path(folder))
        )
        work = covered([*artifacts(Path(folder)), *others])
    wall = whole[1] - whole[0]
    print(
        f"{how}: {wall:.1f} s, of which stages {work:.1f} s; overhead {wall - work:.1f} s (limit {LIMITS[how]:.0f} s)"
    )
    return 0 if wall - work <= LIMITS[how] else 1


def in_process(root: Path, storage: Path) -> tuple[Span, list[Span]]:
    """`tucano run`: the command, and the stages that leave no artifact."""
    values = {name: value for name, value in SMALL.items() if name != "execution.seeds"} | {"storage": str(storage)}
    began = time.time()
    subprocess.run(
        [sys.executable, "-m", "tucano.cli", "run", "nano", *as_options(values)],
        cwd=root,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    ended = time.time()
    with closing(sqlite3.connect(storage / "prefect" / "prefect.db")) as database:
        (whole,) = database.execute("SELECT start_time, end_time FROM flow_run").fetchall()
        tasks = database.execute("SELECT name, start_time, end_time FROM task_run").fetchall()
    start, end = _span(*whole)
    print(f"{start - began:.1f} s before the flow, {ended - end:.1f} s after it")
    return (began, ended), _without_artifact(tasks)


def deployed(bench: Bench, storage: Path) -> tuple[Span, list[Span]]:
    """A run from its request to its end, seeds in runs of their own."""
    began = time.time()
    run_id = bench.start(storage)
    bench.wait(run_id, "COMPLETED")
    tasks = bench.ask("task_runs/filter", {"task_runs": {"flow_run_id": {"any_": [run_id]}}})
    return (began, time.time()), _without_artifact(
        [(task["name"], task["start_time"], task["end_time"]) for task in tasks]
    )


def _without_artifact(tasks: list[tuple[str, str, str]]) -> list[Span]:
    return [_span(start, end) for name, start, end in tasks if name.startswith(("promote", "show answers"))]


def _span(start: str, end: str) -> Span:
    return _seconds(start), _seconds(end)


def _seconds(moment: str) -> float:
    """The database keeps UTC without saying so."""
    time_point = datetime.fromisoformat(moment)
    return time_point.replace(tzinfo=time_point.tzinfo or UTC).timestamp()


def artifacts(storage: Path) -> list[Span]:
    """While each artifact was being made."""
    manifests = [json.loads(file.read_text(encoding="utf-8")) for file in storage.glob("artifacts/*/*/manifest.json")]
    ends = [datetime.fromisoformat(made["made_at"]).timestamp() for made in manifests]
    return [(end - made["seconds"], end) for made, end in zip(manifests, ends, strict=True)]


def covered(spans: list[Span]) -> float:
    """Seconds within at least one of the spans."""
    total, reached = 0.0, 0.0
    for start, end in sorted(spans):
        total += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return total


if __name__ == "__main__":
    sys.exit(main())
