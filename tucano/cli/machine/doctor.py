"""`tucano doctor`: what is installed, what is missing, and what would run where. Imports nothing heavy."""

import importlib.metadata
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

from data.own.chats import chat_of
from data.own.reading import Broken, raw_rows
from deployments.services import read_json
from tucano.errors import UserError
from tucano.lengths import count_long, require_fitting, tokenizer_at_hand
from tucano.profiles import PROJECT_FILE, load_profile, profiles, project_root
from tucano.project import OWN_FILES
from tucano.requirements import require_space, require_startable
from tucano.requirements.machine import cores
from tucano.requirements.memory import needs, shown
from tucano.requirements.second_zero import refusals, warnings_of
from tucano.settings import PipelineSettings
from tucano.storage.root import writable

NEEDED = (
    "torch",
    "transformers",
    "trl",
    "peft",
    "datasets",
    "prefect",
    "mlflow",
    "pandas",
    "scipy",
    "json-repair",
    "sqlglot",
)
FOR_GPU = ("unsloth", "bitsandbytes")
FOR_GCP = ("prefect-gcp",)


def main(profile: str | None, overrides: Sequence[str]) -> int:
    """Print the findings, more of them about one profile; exit code 1 when something that every profile needs is
    missing, 2 when a run with these settings would be refused.
    """
    root = project_root(Path.cwd())
    asked = load_profile(root, profile or "laptop", overrides) if profile or overrides else None
    tested = _tested_versions(OWN_FILES / "constraints.txt")
    print(f"Python {sys.version.split()[0]} in {sys.prefix}, {cores()} cores\n")
    missing = [name for name in NEEDED if not _report(name, tested, "needed by every profile")]
    for name in FOR_GPU:
        _report(name, tested, 'GPU only: pip install -e ".[gpu]"')
    for name in FOR_GCP:
        _report(name, tested, 'Vertex AI only: pip install -e ".[gcp]"')
    driver = shutil.which("nvidia-smi")
    print(f"\nCUDA driver      {driver or 'none: CPU profiles only'}")
    print(f"Profiles         of {root / PROJECT_FILE}")
    for name in profiles(root):
        print(f"Profile {name:<9}{_verdict(root, name)}")
    startable = asked is None or _foresee(profile or "laptop", asked)
    if missing:
        print(f"\nMissing: {', '.join(missing)}. Install them with: tucano doctor --fix")
        return 1
    return 0 if startable else 2


def mend(project: Path) -> int:
    """Mend what can be mended without asking, and without losing anything; say what was done, then print the findings.
    Their exit code.
    """
    _mend_packages()
    _mend_ports(project / "runs" / "stack" / "ports.json")
    return main(None, [])


def _mend_packages() -> None:
    """Packages that every profile needs are installed in the versions that were tested."""
    missing = [name for name in NEEDED if version_of(name) is None]
    if not missing:
        return
    pinned = ["-c", str(OWN_FILES / "constraints.txt")]
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *pinned, *missing]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip() or "no message").splitlines()[-1]
        print(f"not mended: {', '.join(missing)} ({last}); make the environment anew: sh install.sh")
    else:
        print(f"mended: installed {', '.join(missing)}")


def _mend_ports(file: Path) -> None:
    """A damaged list of ports is chosen anew by the next `tucano up`."""
    try:
        read_json(file, dict[str, int])
    except ValueError:
        if file.is_file():
            file.unlink()
            print(f"mended: removed {file}, which was damaged: tucano up chooses ports anew")
    except OSError:
        pass


def version_of(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _report(name: str, tested: dict[str, str], why: str) -> bool:
    version = version_of(name)
    if version is None:
        print(f"  missing  {name:<14} ({why})")
        return False
    expected = tested.get(name)
    note = "" if expected in (None, version.split("+")[0]) else f"   tested with {expected}"
    print(f"  ok       {name:<14} {version}{note}")
    return True


def _tested_versions(path: Path) -> dict[str, str]:
    pins = (
        line.split("==")
        for line in path.read_text(encoding="utf-8").splitlines()
        if "==" in line and not line.startswith("#")
    )
    return {name.strip().lower().replace("_", "-"): version.strip() for name, version in pins}


def _verdict(root: Path, name: str) -> str:
    try:
        with warnings.catch_warnings(action="ignore"):  # of settings that nobody has asked about
            return _place(load_profile(root, name, []))
    except UserError as error:
        return f"does not run here: {error}"


def _place(settings: PipelineSettings) -> str:
    """Where it would run. UserError where it would not."""
    require_startable(settings)
    require_own_fitting(settings)
    require_space(writable(settings.storage), settings)
    _require_folders(settings)
    return f"runs here ({settings.model.device}, model {settings.model.name}, {len(settings.grpo.seeds)} seeds)"


def require_own_fitting(settings: PipelineSettings) -> str | None:
    """What to say of own demonstrations that SFT leaves out; None where there are none, or the model's tokenizer is not
    at hand. UserError where they are many.
    """
    data = settings.data
    places = [place for part, place in zip(data.parts, data.paths, strict=True) if place and part.source == "jsonl"]
    tokenizer = tokenizer_at_hand(settings.model) if places and settings.sft.enabled else None
    if tokenizer is None:
        return None
    chats = [chat for place in places if Path(place).exists() for chat in _chats(Path(place))]
    longest = settings.model.max_length_tokens
    return require_fitting(count_long(chats, longest, tokenizer), len(chats), longest)


def _chats(place: Path) -> Iterator[str]:
    """Of each row that has a demonstration, whether or not it can be used."""
    for row in raw_rows(place):
        given = {} if isinstance(row.content, Broken) else row.content
        if given.get("demonstration"):
            yield chat_of(*(str(given.get(name) or "") for name in ("task", "prompt", "demonstration")))


def _require_folders(settings: PipelineSettings) -> None:
    """UserError for a named folder that a run could not read. Few settings name one, so this is imported late."""
    if settings.benchmark.named:
        from data.public.prepare import require_public

        require_public(settings.benchmark.named)
    if settings.promotion.people is not None:
        from tucano.rating.choices import preference

        preference(Path(settings.promotion.people))


def _foresee(name: str, settings: PipelineSettings) -> bool:
    """Print what is known of a run before it starts; whether it would start here."""
    startable = True
    try:
        said = _place(settings)
    except UserError as error:
        startable = False
        said = f"does not run here: {error}"
    bounds = (
        shown(needs(settings))
        or f"unknown, since the config of {settings.model.name} is not at hand, nor given by the hub"
    )
    print(f"\n{name}, with the given settings\n  {said}")
    print(f"  Memory         at least {bounds} (weights, caches and logits alone)")
    sft = "SFT, then " if settings.sft.enabled else ""
    print(f"  Gates          data, then the audit (seconds), then {sft}the preflight (minutes), then GRPO")
    if startable and (long := require_own_fitting(settings)):
        print(f"  Warning        {long}")
    for word, sentences in (("Refused", refusals(settings)), ("Warning", warnings_of(settings))):
        for sentence in sentences:
            print(f"  {word}        {sentence}")
    return startable
