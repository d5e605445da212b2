"""`tucano rehearse PROFILE`: every stage in small with the run's own model, measured against the forecast, and one file
to send to whoever can help.

What decides about memory stays as it is: batches, lengths, adapter, precision, backend. What decides about time is
small: steps, prompts, one seed. It works in a storage of its own, so that nothing of it is taken for a result.
"""

import importlib.metadata
import os
import platform
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tucano.artifacts.store import MANIFEST, read_manifest
from tucano.errors import TucanoError, UserError
from tucano.requirements import require_startable
from tucano.requirements.machine import cores
from tucano.requirements.machines import GIBIBYTE, MACHINES
from tucano.security.addresses import masked
from tucano.security.printable import printable
from tucano.settings import PipelineSettings
from tucano.settings.preflight import CHECKS
from tucano.storage.root import writable

NAME = "rehearsal.txt"
STEPS = 4
LAST_LINES = 60
LINE = 400
"""Characters of a line of a log that are kept."""
PACKAGES = (
    "torch",
    "transformers",
    "trl",
    "peft",
    "accelerate",
    "bitsandbytes",
    "unsloth",
    "triton",
    "prefect",
    "mlflow",
)
FORECAST_OF = {"sft": "SFT", "grpo": "GRPO steps", "answers": "answers", "merged": "merge"}
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
ELSE = "nothing here knows this fault: send this file to the maintainers"


def rehearse(settings: PipelineSettings, profile: str, overrides: Sequence[str] = ()) -> int:
    """Run it, write the file whatever happens, say where it is. The fault itself is raised again."""
    from tucano.cli import inprocess

    small = in_small(settings, profile)
    whole = whole_run(settings, profile, overrides)
    for name in ("MLFLOW_TRACKING_URI", "PREFECT_API_URL"):  # servers of others keep no rehearsals
        os.environ.pop(name, None)
    root = writable(small.storage)
    fault: Exception | None = None
    try:
        require_startable(small)
        inprocess.run(small, profile)
    except Exception as error:
        fault = error
        raise
    finally:
        file = root / NAME
        file.write_text("\n".join(described(small, profile, root, fault)) + "\n", encoding="utf-8")
        print(f"\nTo send to whoever helps: {file}")
        if fault is not None:
            print(f"Next step: {next_step(str(fault))}")
    print(f"Every stage works here. The whole run: {whole}")
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


def in_small(settings: PipelineSettings, profile: str) -> PipelineSettings:
    """The same run with little of everything that takes time, here and in a storage of its own."""
    steps = STEPS * settings.grpo.rollout_steps
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
            "demonstrations": STEPS * settings.sft.batch_size if settings.sft.enabled else 0,
        },
        "sft": {"max_epochs": 1, "eval_steps": STEPS // 2, "save_steps": STEPS // 2},
        "grpo": {
            "seeds": settings.grpo.seeds[:1],
            "max_steps": steps,
            "eval_steps": steps // 2,
            "save_steps": steps // 2,
            "patience": 1,
            "length_stages": (),
        },
        "comparison": {"samples": 1},
        "audit": {} if settings.audit.override_by else override,
        "preflight": {"allow_red": CHECKS},
        "execution": {"stages": None, "seeds": None},
    }
    whole = settings.model_dump()
    for section, change in changes.items():
        whole[section] = {**whole[section], **change} if isinstance(change, dict) else change
    return PipelineSettings.model_validate(whole)


def described(settings: PipelineSettings, profile: str, root: Path, fault: Exception | None) -> Iterator[str]:
    """The lines of the file: machine, packages, stages with their times and peaks, the fault, the last of each log."""
    yield f"Rehearsal of {profile} with tucano {_version('tucano-commerce') or 'of this folder'}"
    yield f"{platform.platform()}, Python {platform.python_version()}, {cores()} cores"
    yield _gpu()
    yield ", ".join(f"{name} {version}" for name in PACKAGES if (version := _version(name)))
    if fault is not None:
        kind = "" if isinstance(fault, TucanoError) else f"{type(fault).__name__}: "
        yield f"\nFAILED: {_line(kind + str(fault))}\nNext step: {next_step(str(fault))}"
    yield "\nStages (seconds; peak of the GPU's memory, measured / foreseen in GiB)"
    foreseen = _foreseen(settings)
    logs = {path.parent.parent.name: path for path in sorted(root.glob("work/*/*/log.txt"))}
    for stage, seconds in _stages(root):
        expected = next((line for start, line in FORECAST_OF.items() if stage.startswith(start)), "")
        peak = _peak(logs.get(stage))
        memory = f"   {peak:.2f} / {foreseen.get(expected, float('nan')):.2f}" if peak is not None else ""
        yield f"  {stage:<20} {seconds:8.1f}{memory}"
    for table in sorted(root.glob("artifacts/preflight/*/preflight.txt")):
        yield from ("\nPreflight", *map(_line, table.read_text(encoding="utf-8").splitlines()))
    for stage, log in logs.items():
        said = log.read_text(encoding="utf-8", errors="replace").splitlines()[-LAST_LINES:]
        yield from (f"\nLast of {stage}", *map(_line, said))


def next_step(said: str) -> str:
    """What to do about a fault, by its words."""
    return next((step for words, step in NEXT_STEPS.items() if re.search(words, said, re.IGNORECASE)), ELSE)


def _line(text: str) -> str:
    return printable(masked(text))[:LINE]


def _stages(root: Path) -> list[tuple[str, float]]:
    """Each finished stage with its seconds, in the order of their ends."""
    found = [(path.stat().st_mtime, read_manifest(path.parent)) for path in root.glob(f"artifacts/*/*/{MANIFEST}")]
    made = [manifest for _, manifest in sorted(found, key=lambda pair: pair[0]) if manifest is not None]
    return [(manifest["stage"], manifest["seconds"]) for manifest in made]


def _peak(log: Path | None) -> float | None:
    """GiB that a training child says it held at most (tucano/training/worker.py)."""
    if log is None:
        return None
    said = re.findall(r"^gpu memory: ([0-9.]+) GiB", log.read_text(encoding="utf-8", errors="replace"), re.MULTILINE)
    return max(map(float, said), default=None)


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


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
