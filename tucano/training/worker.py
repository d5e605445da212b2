"""The training child: `python -m tucano.training.worker job.json`.

A process of its own gives clean imports (unsloth must come first), signals on the main thread and all memory back at
the end. It imports no Prefect and no MLflow; what it measures goes to the journal and to standard output.
"""

import importlib
import json
import logging
import os
import shutil
import signal
import sys
import threading
import traceback
from pathlib import Path

from tucano.errors import UserError
from tucano.storage.places import write_whole
from tucano.training.jobs import MODULES, Job
from tucano.training.launch import DISK_FULL, INTERRUPTED

STDIN = 0
FULL_DISK_BYTES = 16 * 1024**2
"""An error with less than this free is taken for a full disk: every library words that in its own way."""


def main(path: Path) -> int:
    quieten_libraries()
    logging.basicConfig(format="%(asctime)s %(message)s")
    logging.getLogger("tucano").setLevel(logging.INFO)
    signal.signal(signal.SIGTERM, lambda *_: os._exit(INTERRUPTED))  # until training listens, there is nothing to save
    job = Job.read(path)
    _end_with_parent()
    try:
        result = run(job)
    except UserError as error:
        return _fail(path.parent, str(error), user=True)
    except Exception as error:
        traceback.print_exc()
        if shutil.disk_usage(job.work).free < FULL_DISK_BYTES:
            return DISK_FULL
        return _fail(path.parent, f"{type(error).__name__}: {error}", user=False)
    if result is None:
        return INTERRUPTED
    write_whole(path.parent / "result.json", json.dumps(result))
    return 0


def quieten_libraries() -> None:
    """What they would do by themselves once they are imported; TRL's profiler imports MLflow where it can, for two
    seconds, and bitsandbytes on a CPU would fetch a kernel from the hub.
    """
    logging.getLogger("bitsandbytes.backends.cpu.ops").setLevel(logging.ERROR)
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    os.environ.setdefault("HF_DATASETS_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("DISABLE_MLFLOW_INTEGRATION", "TRUE")


def run(job: Job) -> dict[str, object] | None:
    """Do the job; None when SIGTERM ended it early with its state saved."""
    if job.settings["model"]["backend"] == "unsloth":
        import unsloth  # noqa: F401  patches trl and transformers, so it comes before them
    from tucano.training.checkpoints import arithmetic

    arithmetic.compute_with(job.threads)
    if job.settings["model"]["device"] == "cuda":
        arithmetic.choose(job.deterministic, patched=job.settings["model"]["backend"] == "unsloth")
    result: dict[str, object] | None = importlib.import_module(MODULES[job.kind]).run(job)
    if job.settings["model"]["device"] == "cuda":
        import torch

        print(f"gpu memory: {torch.cuda.max_memory_reserved() / 2**30:.2f} GiB at most", flush=True)
    return result


def _end_with_parent() -> None:
    """The parent holds our standard input open; its end means that the parent is gone and nobody wants the result.

    It is read past `sys.stdin`, whose lock a thread that waits would hold: a process forked from this one closes
    `sys.stdin` first and would wait for ever. Unsloth forks some.
    """

    def watch() -> None:
        while os.read(STDIN, 1024):
            pass
        os._exit(INTERRUPTED)

    threading.Thread(target=watch, daemon=True).start()


def _fail(work: Path, message: str, user: bool) -> int:
    (work / "error.json").write_text(json.dumps({"message": message, "user": user}), encoding="utf-8")
    return 1


if __name__ == "__main__":
    code = main(Path(sys.argv[1]))
    sys.stdout.flush()
    os._exit(code)
