"""What the pipeline costs beside its stages' own work: `python -m benchmarks.overhead` in process, `--home FOLDER` with server and worker.

Wall time of a tiny pipeline from its start (the command, or the request for a run) to its end, less the time in which at least
one stage was making its artifact. Limits: 15 s in process, 60 s with server and worker; exit code 1 above.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

from benchmarks.operations import SMALL, Bench
from deployments import stack
from tucano.profiles import project_root

LIMITS = {"in process": 15.0, "with server and worker": 60.0}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, help="folder of a stack that tucano up has started")
    arguments = parser.parse_args()
    root = project_root(Path.cwd())
    with tempfile.TemporaryDirectory() as folder:
        how = "with server and worker" if arguments.home else "in process"
        wall = deployed(Bench(stack.opened(arguments.home, root)), Path(folder)) if arguments.home else in_process(root, Path(folder))
        work = own_work(Path(folder))
    print(f"{how}: {wall:.1f} s, of which stages {work:.1f} s; overhead {wall - work:.1f} s (limit {LIMITS[how]:.0f} s)")
    return 0 if wall - work <= LIMITS[how] else 1


def in_process(root: Path, storage: Path) -> float:
    """Seconds of `tucano run`, the start of the interpreter and of Prefect included."""
    values = {name: value for name, value in SMALL.items() if name != "execution.seeds"} | {"storage": str(storage)}
    pairs = [part for name, value in values.items() for part in ("--set", f"{name}={value}")]
    began = time.monotonic()
    subprocess.run(
        [sys.executable, "-m", "flows.cli", "run", "laptop", *pairs], cwd=root, check=True, stdout=subprocess.DEVNULL, env=os.environ
    )
    return time.monotonic() - began


def deployed(bench: Bench, storage: Path) -> float:
    """Seconds from the request for a run to its end, seeds in runs of their own."""
    began = time.monotonic()
    bench.wait(bench.start(storage), "COMPLETED")
    return time.monotonic() - began


def own_work(storage: Path) -> float:
    """Seconds in which at least one artifact was being made."""
    spans = []
    for manifest in storage.glob("artifacts/*/*/manifest.json"):
        made = json.loads(manifest.read_text(encoding="utf-8"))
        end = datetime.fromisoformat(made["made_at"]).timestamp()
        spans.append((end - made["seconds"], end))
    total, reached = 0.0, 0.0
    for start, end in sorted(spans):
        total += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return total


if __name__ == "__main__":
    sys.exit(main())
