"""`tucano rehearse PROFILE`: every stage in small with the run's own model, each although another one failed, measured
against the forecast, and one file to send to whoever can help.

What decides about memory stays as it is: batches, lengths, adapter, precision, backend. What decides about time is
small: steps, prompts, one seed. It works in a storage of its own, so that nothing of it is taken for a result.
"""

import math
import os
import platform
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil

from tasks.rehearsal.tried import Tried
from tucano.cli.machine.doctor import FOR_GPU, NEEDED, version_of
from tucano.errors import TucanoError, UserError
from tucano.requirements import require_startable
from tucano.requirements.machine import cores
from tucano.requirements.machines import GIBIBYTE, MACHINES
from tucano.security.addresses import masked
from tucano.security.printable import printable, short
from tucano.settings import PipelineSettings
from tucano.settings.training.preflight import SIGNALS
from tucano.storage.root import writable

NAME = "rehearsal.txt"
STEPS = 4
SHORT_MINUTES = 10
"""With less time for it a rehearsal makes half as many steps."""
ENDING_SECONDS = 15
"""What is kept of the time for ending a child in order and writing the file."""
OF_A_BEGINNER = ("completion length", "served length", "thoughts", *SIGNALS.values())
"""Checks that are red because SFT was as short as a rehearsal makes it."""
LAST_LINES = 60
LINE = 400
"""Characters of a line of a log that are kept."""
PACKAGES = (*NEEDED, *FOR_GPU, "accelerate", "triton")
FORECAST_OF = {
    "sft": "SFT",
    "grpo": "GRPO steps",
    "preflight": "preflight",
    "answer with a seed": "answers",
    "merge": "merge",
}
"""The line of the forecast whose peak a stage's GPU memory is held against."""
NEXT_STEPS = {
    "out of memory|OutOfMemory": (
        "memory ran out: hold the peaks against the forecast, and lower grpo.micro_batch or sft.batch_size"
    ),
    "no CUDA device|no usable CUDA|CUDA driver|no kernel image": (
        "this machine's GPU or driver cannot be used: nvidia-smi must show the GPU, with a driver of at least 580"
    ),
    "unsloth|bitsandbytes|No module named": 'a package is missing: pip install -c constraints.txt -e ".[gpu]"',
    "gated|401|403": "the model's page asks for an account: accept its terms, and log in with hf auth login",
    "huggingface|couldn't connect|offline": (
        "the model could not be fetched: download it where there is a network, and name its folder as model.name"
    ),
    "disk is full|No space left": "free some space; the same command goes on",
}
"""What a fault's words mean, and what to do."""
ELSE = "mend what the lines above say how to mend, and send this file to the maintainers for the rest"


def rehearse(
    settings: PipelineSettings, profile: str, overrides: Sequence[str] = (), minutes: float | None = None
) -> int:
    """Try every stage, write the file whatever happens, and say what was found: 1 where anything failed. What keeps it
    from beginning is raised again. `minutes`: all has to be over by then, and what does not fit is left out.
    """
    from tucano.cli import inprocess

    now = time.time()
    began = psutil.Process().create_time()
    small = in_small(settings, profile, minutes)
    whole = whole_run(settings, profile, overrides)
    for name in ("MLFLOW_TRACKING_URI", "PREFECT_API_URL"):  # servers of others keep no rehearsals
        os.environ.pop(name, None)
    root = writable(small.storage)
    left = math.inf if minutes is None else 60 * minutes - ENDING_SECONDS - (now - began)
    tried: list[Tried] = []
    try:
        require_startable(small)
        inprocess.flow_run("rehearse", small, tried, time.monotonic() + left)
    except BaseException as error:
        said = [str(error) if isinstance(error, TucanoError) else f"{type(error).__name__}: {error}"]
        tried.append(Tried("the rehearsal itself", on_gpu=False, faults=said))
        raise
    finally:
        end = list(summed_up(small, tried, time.time() - began))
        file = root / NAME
        file.write_text("\n".join([*described(small, profile, root, tried, now), *end]) + "\n", encoding="utf-8")
        print("\n".join([*end, f"\nTo send to whoever helps: {file}"]))
    if any(line.faults for line in tried):
        return 1
    left_out = any(line.left_out for line in tried)
    works = "What was rehearsed works here; the rest was left out." if left_out else "Every stage works here."
    print(f"{works} The whole run: {whole}")
    return 0


def whole_run(settings: PipelineSettings, profile: str, overrides: Sequence[str]) -> str:
    """The command for what was rehearsed. Where no Prefect server is named, its seeds and stages are done here, as the
    rehearsal's were.
    """
    deployments = {"seeds": settings.execution.seeds, "stages": settings.execution.stages}
    here = [] if os.environ.get("PREFECT_API_URL") else [name for name, place in deployments.items() if place]
    chosen = [pair for pair in overrides if pair.partition("=")[0] not in {f"execution.{name}" for name in here}]
    chosen += [f"execution.{name}=null" for name in here]
    return " ".join([f"tucano run {shlex.quote(profile)}", *(f"--set {shlex.quote(pair)}" for pair in chosen)])


def in_small(settings: PipelineSettings, profile: str, minutes: float | None = None) -> PipelineSettings:
    """The same run with little of everything that takes time, here and in a storage of its own."""
    few = STEPS if minutes is None or minutes >= SHORT_MINUTES else STEPS // 2
    steps = few * settings.grpo.rollout_steps
    override = {"override_by": "rehearsal", "override_reason": "nothing of a rehearsal is used"}
    changes: dict[str, Any] = {
        "storage": f"runs-rehearsal-{profile}"
        if "://" in settings.storage
        else f"{settings.storage}-rehearsal-{profile}",
        "tracking_uri": None,
        "data": {
            "train_prompts": 120,
            "validation_prompts": 24,
            "test_prompts": 24,
            "demonstrations": few * settings.sft.batch_size if settings.sft.enabled else 0,
        },
        "sft": {"max_epochs": 1, "eval_steps": few // 2, "save_steps": few // 2},
        "grpo": {
            "seeds": settings.grpo.seeds[:1],
            "max_steps": steps if settings.grpo.max_steps else 0,
            "eval_steps": steps // 2,
            "save_steps": steps // 2,
            "patience": 1,
            "length_stages": (),
            "admission": None,  # a start of so few steps answers too badly
        },
        "dpo": {"rounds": min(2, settings.dpo.rounds)},  # the second begins with the first one's adapter
        "comparison": {"samples": 1},
        "audit": {} if settings.audit.override_by else override,
        "preflight": {"steps": 12, **({"allow_red": OF_A_BEGINNER} if settings.sft.enabled else {})},
        "execution": {"stages": None, "seeds": None},
    }
    whole = settings.model_dump()
    for section, change in changes.items():
        whole[section] = {**whole[section], **change} if isinstance(change, dict) else change
    return PipelineSettings.model_validate(whole)


def described(
    settings: PipelineSettings, profile: str, root: Path, tried: Sequence[Tried], began: float
) -> Iterator[str]:
    """The lines of the file up to its end: machine, packages, stages with their times and peaks, the preflight's table,
    and the last of each log that a child wrote since `began` (of the clock on the wall) and that its failure left.
    """
    yield f"Rehearsal of {profile} with tucano {version_of('tucano-commerce') or 'of this folder'}"
    yield f"{platform.platform()}, Python {platform.python_version()}, {cores()} cores"
    yield _gpu()
    yield ", ".join(f"{name} {version}" for name in PACKAGES if (version := version_of(name)))
    yield "\nStages (seconds; peak of the GPU's memory, measured / foreseen in GiB)"
    measured = any(line.peak_gib is not None for line in tried)
    foreseen = _foreseen(settings) if measured else {}  # nothing to hold against it, and it takes half a minute
    for line in tried:
        expected = foreseen.get(FORECAST_OF.get(line.stage, ""), float("nan"))
        memory = "" if line.peak_gib is None else f"   {line.peak_gib:.2f} / {expected:.2f}"
        became = "FAILED" if line.faults else "left out" if line.left_out else "reused" if line.reused else ""
        yield f"  {line.stage:<28} {line.seconds:8.1f}{memory}   {became}".rstrip()
    for table in _written_since(began, root.glob("artifacts/preflight/*/preflight.txt")):
        yield from ("\nPreflight", *map(_line, table.read_text(encoding="utf-8").splitlines()))
    for log in _written_since(began, root.glob("work/*/*/log.txt")):
        said = log.read_text(encoding="utf-8", errors="replace").splitlines()[-LAST_LINES:]
        yield from (f"\nLast of {log.parent.parent.name}", *map(_line, said))


def _written_since(began: float, found: Iterable[Path]) -> list[Path]:
    """Those in whose folder anything was written since."""
    return sorted(path for path in found if max(one.stat().st_mtime for one in path.parent.iterdir()) >= began)


def summed_up(settings: PipelineSettings, tried: Sequence[Tried], seconds: float) -> Iterator[str]:
    """The end of the file: what was left out, every fault in a line with its next step, and how long the GPU waited."""
    if left_out := [line for line in tried if line.left_out]:
        yield "\nLeft out, so nothing is known of it"
        yield from (f"  {line.stage}: {line.left_out}" for line in left_out)
    faults = [f"{line.stage}: {fault}" for line in tried for fault in line.faults]
    yield f"\nFaults: {len(faults) or 'none'}"
    for fault in faults:
        step = next_step(fault)
        yield f"  {short(fault, LINE)}{f' -> {step}' if step else ''}"
    if not all(map(next_step, faults)):
        yield f"Next step: {ELSE}"
    idle = seconds - sum(line.seconds for line in tried if line.on_gpu)
    if settings.model.device == "cuda":
        yield f"GPU idle: {idle:.0f} of {seconds:.0f} s, in which no child that holds the model was at work"
    else:
        yield f"No GPU: no child that holds the model was at work in {idle:.0f} of {seconds:.0f} s"


def next_step(said: str) -> str:
    """What to do about a fault, by its words; empty where nothing here knows it."""
    return next((step for words, step in NEXT_STEPS.items() if re.search(words, said, re.IGNORECASE)), "")


def _line(text: str) -> str:
    return printable(masked(text))[:LINE]


def _foreseen(settings: PipelineSettings) -> dict[str, float]:
    """{stage of the forecast: GiB}; empty for a CPU, and for a model whose shape nobody knows."""
    if settings.model.device != "cuda":
        return {}
    from tucano.training.foresight.forecast import forecast

    try:
        return {line.stage: line.peak_bytes / GIBIBYTE for line in forecast(settings, MACHINES["l4"]).lines}
    except UserError:
        return {}


def _gpu() -> str:
    driver = shutil.which("nvidia-smi")
    if driver is None:
        return "no NVIDIA driver"
    asked = [driver, "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader"]
    try:
        return _line(subprocess.run(asked, capture_output=True, text=True, timeout=30, check=True).stdout.strip())
    except (OSError, subprocess.SubprocessError) as error:
        return f"nvidia-smi fails: {_line(str(error))}"
