"""Twenty-odd beginnings that go wrong, as newcomers have them: each ends in one sentence and the command that mends it.

    python -m benchmarks.broken_beginnings            all of them, as a table
    python -m benchmarks.broken_beginnings offline proxy

Nothing is installed and nothing is asked of the network: what pip would say is said by a stand-in for Python, whose
environments hold a pip that fails in the way of the case. All else is the real command.
"""

import os
import re
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
COPIED = ("install.sh", "Makefile", "pyproject.toml", "constraints.txt")
SECONDS = 120
PROGRESS = ("warning", "taking the profiles", ": making ")
"""What lines say that are not how it ended."""

PIPS = {
    "offline": "NewConnectionError: Failed to establish a new connection: [Errno -3] Temporary failure in name resolution",
    "proxy": "ProxyError('Cannot connect to proxy.', OSError('Tunnel connection failed: 403 Forbidden'))",
    "certificate": "SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] self-signed certificate'))",
    "full disk while installing": "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device",
    "old pip": "ERROR: File 'setup.py' not found. A 'pyproject.toml' file was found, but editable mode requires setup.py",
    "index without a version": "ERROR: No matching distribution found for torch==2.9.1+cpu",
    "read-only cache": "ERROR: Could not install: [Errno 30] Read-only file system: '/home/ana/.cache/pip'",
    "pip fails otherwise": "error: command 'cc' failed: No such file or directory",
}
STAND_IN = """#!/bin/sh
case "$*" in
  *"-m venv"*) mkdir -p .venv/bin; printf '#!/bin/sh\\necho "%s"\\nexit 1\\n' "$PIP_SAYS" > .venv/bin/pip; chmod +x .venv/bin/pip;;
  *) exec "$REAL" "$@";;
esac
"""
OF_THIS_RUN = re.compile(r".*_PROXY|VENV|PYTHON|MAKE\w+|MFLAGS")
"""Of the environment: `make test VENV=…` hands its own on, and an installation that is played would go there."""
OLD = """#!/bin/sh
case "$*" in *version_info*) exit 1;; *split*) echo 3.10.12;; esac
"""


@dataclass(frozen=True)
class Scene:
    """Where a beginning is played: an empty folder, things that end with it, and what is changed in the environment."""

    folder: Path
    ends: ExitStack
    environment: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Beginning:
    """`command` gets the scene ready and returns what a person types. `sentence` is what they read (a pattern), `mend`
    the command in it; where nothing is wrong with the beginning (exit code 0), `mend` is empty.
    """

    command: Callable[[Scene], list[str]]
    sentence: str
    mend: str
    by: str = "install"


@dataclass(frozen=True)
class Ended:
    code: int
    output: str

    def sentences(self, by: str) -> list[str]:
        lines = [line for line in self.output.splitlines() if line.startswith(f"{by}: ")]
        return [line for line in lines if not any(words in line for words in PROGRESS)]


def _project(scene: Scene) -> list[str]:
    for name in COPIED:
        shutil.copy(ROOT / name, scene.folder)
    scene.environment["NEEDED_MB"] = "1"
    scene.environment["SCRATCH_MB"] = "0"
    return ["sh", "install.sh"]


def _program(scene: Scene, name: str, text: str) -> Path:
    file = scene.folder / name
    file.write_text(text, encoding="utf-8")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return file


def _pip(says: str) -> Callable[[Scene], list[str]]:
    def command(scene: Scene) -> list[str]:
        typed = _project(scene)
        python = _program(scene, "stand-in", STAND_IN)
        scene.environment.update(PYTHON=str(python), REAL=sys.executable, PIP_SAYS=says)
        scene.environment.update(HTTPS_PROXY="http://ana:hunter2@proxy.example:3128")
        return typed

    return command


def _installer(**environment: str) -> Callable[[Scene], list[str]]:
    def command(scene: Scene) -> list[str]:
        typed = _project(scene)
        scene.environment.update(environment)
        return typed

    return command


def _python_310(scene: Scene) -> list[str]:
    typed = _project(scene)
    scene.environment["PYTHON"] = str(_program(scene, "python3.10", OLD))
    return typed


def _by_make(scene: Scene) -> list[str]:
    _project(scene)
    return ["make", "-s", "run", f"PYTHON={_program(scene, 'python3.10', OLD)}"]


def _wrong_folder(scene: Scene) -> list[str]:
    shutil.copy(ROOT / "install.sh", scene.folder)
    return ["sh", "install.sh"]


def _tucano(*words: str, **environment: str) -> Callable[[Scene], list[str]]:
    def command(scene: Scene) -> list[str]:
        scene.environment.update(environment)
        return [sys.executable, "-m", "tucano.cli", *words]

    return command


def _foreign_package(scene: Scene) -> list[str]:
    (scene.folder / "site" / "data").mkdir(parents=True)
    (scene.folder / "site" / "data" / "__init__.py").touch()
    scene.environment["PYTHONPATH"] = f"{scene.folder / 'site'}{os.pathsep}{ROOT}"
    return [sys.executable, "-P", "-m", "tucano.cli", "doctor"]


def _half_an_environment(scene: Scene) -> list[str]:
    """An installation that was killed: ours is there, and a package that it needs is not."""
    site = scene.folder / "site"
    (site / "pydantic").mkdir(parents=True)
    (site / "pydantic" / "__init__.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'pydantic'\", name='pydantic')", encoding="utf-8"
    )
    scene.environment["PYTHONPATH"] = f"{site}{os.pathsep}{ROOT}"
    return [sys.executable, "-P", "-m", "tucano.cli", "run", "laptop"]


def _taken_port(scene: Scene) -> list[str]:
    taken = scene.ends.enter_context(socket.create_server(("127.0.0.1", 0)))
    port = str(taken.getsockname()[1])
    return [sys.executable, "-m", "tucano.cli", "up", "--home", str(scene.folder / "runs"), "--prefect-port", port]


def _file_as_storage(scene: Scene) -> list[str]:
    (scene.folder / "runs").touch()
    return [sys.executable, "-m", "tucano.cli", "run", "laptop", "--set", f"storage={scene.folder / 'runs'}"]


def _no_git(scene: Scene) -> list[str]:
    (scene.folder / "bin").mkdir()
    scene.environment["PATH"] = str(scene.folder / "bin")
    return [sys.executable, "-m", "tucano.cli", "doctor"]


TOO_BIG = ("--set", "model.name=nano", "--set", "model.nano_hidden=8192", "--set", "model.nano_layers=64")
BEGINNINGS: Mapping[str, Beginning] = {
    "no make": Beginning(_pip(PIPS["offline"]), "cannot be reached", "sh install.sh"),
    "no Python": Beginning(_installer(PYTHON="python3.99"), "there is no python3.99", "PYTHON=/PATH/python3.11 sh install.sh"),
    "Python 3.10": Beginning(_python_310, "is 3.10.12", "PYTHON=/PATH/python3.11 sh install.sh"),
    "Python 3.10, by make": Beginning(_by_make, "is 3.10.12", "PYTHON=/PATH/python3.11 sh install.sh"),
    "no space for the environment": Beginning(_installer(NEEDED_MB="99999999"), "are free here", "VENV=/OTHER/DISK/venv sh install.sh"),
    "a folder that is no environment": Beginning(_installer(VENV="/tmp"), "is no environment, so it is not replaced", "VENV=/tmp/venv sh install.sh"),
    "no space in TMPDIR": Beginning(_installer(SCRATCH_MB="99999999"), "temporary files", "TMPDIR=$PWD sh install.sh"),
    "TMPDIR that is not there": Beginning(_installer(TMPDIR="/nowhere/at/all"), "cannot be written", "TMPDIR=$PWD sh install.sh"),
    "install.sh alone": Beginning(_wrong_folder, "is not beside install.sh", "git clone"),
    **{name: Beginning(_pip(says), r"\w", "install.sh") for name, says in PIPS.items()},
    "half an environment": Beginning(_half_an_environment, "lacks pydantic", "sh install.sh", "tucano"),
    "PYTHONPATH of another project": Beginning(_foreign_package, "another project's package 'data'", "env -u PYTHONPATH tucano", "tucano"),
    "wrong folder": Beginning(_tucano("run", "latpop"), "did you mean 'laptop'", "laptop", "tucano"),
    "read-only home": Beginning(_tucano("ui", HOME="/dev/null", XDG_STATE_HOME="/dev/null/state"), "cannot be kept", "XDG_STATE_HOME=", "tucano"),
    "storage that is a file": Beginning(_file_as_storage, "cannot be written", "--set storage=FOLDER", "tucano"),
    "port taken": Beginning(_taken_port, "is in use by another program", "--prefect-port", "tucano"),
    "model too big for the machine": Beginning(_tucano("run", "laptop", *TOO_BIG), "needs|GB|memory", "model.", "tucano"),
    "a GPU's profile without a GPU": Beginning(_tucano("run", "l4"), "CUDA|cuda", "laptop", "tucano"),
    "no git": Beginning(_no_git, "runs here", "", "Profile laptop"),
    "locale C": Beginning(_tucano("doctor", LC_ALL="C", LANG="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0"), "runs here", "", "Profile laptop"),
}  # fmt: skip


def played(name: str) -> tuple[Ended, str | None]:
    """How a beginning ends, and what is wrong with that end (None: nothing)."""
    beginning = BEGINNINGS[name]
    with ExitStack() as ends:
        folder = Path(ends.enter_context(tempfile.TemporaryDirectory()))
        scene = Scene(folder, ends)
        command = beginning.command(scene)
        inherited = {name: value for name, value in os.environ.items() if not OF_THIS_RUN.fullmatch(name.upper())}
        done = subprocess.run(
            command,
            cwd=folder,
            env={"PYTHONPATH": str(ROOT), **inherited, **scene.environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=SECONDS,
            check=False,
        )
    ended = Ended(done.returncode, done.stdout)
    return ended, _fault(beginning, ended)


def _fault(beginning: Beginning, ended: Ended) -> str | None:
    if "Traceback" in ended.output or "hunter2" in ended.output:
        return "a traceback, or a password"
    if not beginning.mend:
        works = ended.code == 0 and re.search(beginning.sentence, ended.output)
        return None if works else f"ended with {ended.code}"
    said = ended.sentences(beginning.by)
    if len(said) != 1 or ended.code != 2:
        return f"{len(said)} sentences, exit code {ended.code}"
    if not re.search(beginning.sentence, said[0]) or beginning.mend not in said[0]:
        return f"another sentence than one with {beginning.sentence!r} and {beginning.mend!r}"
    return None


def main(names: list[str]) -> int:
    faults = 0
    print("| beginning | ended | what it says |\n|---|---|---|")
    for name in names or BEGINNINGS:
        ended, fault = played(name)
        faults += fault is not None
        said = (ended.sentences(BEGINNINGS[name].by) or ended.output.splitlines()[-1:] or [""])[0]
        print(f"| {name} | {'well' if fault is None else f'BADLY: {fault}'} | {said} |", flush=True)
    print(f"\n{len(names or BEGINNINGS) - faults} of {len(names or BEGINNINGS)} end well")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
