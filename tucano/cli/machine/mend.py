"""`tucano doctor --fix`: what can be mended without asking, and without losing anything, is."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from deployments.services import read_json
from tucano.cli.machine import doctor
from tucano.project import OWN_FILES


def main(project: Path) -> int:
    """Mend, say what was done, then print the doctor's findings; his exit code."""
    for mend in MENDS:
        for sentence in mend(project):
            print(f"mended: {sentence}")
    return doctor.main(None, [])


def _packages(project: Path) -> list[str]:
    """Packages that every profile needs are installed in the versions that were tested."""
    missing = [name for name in doctor.NEEDED if not doctor.is_installed(name)]
    if not missing:
        return []
    pinned = ["-c", str(OWN_FILES / "constraints.txt")]
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *pinned, *missing]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip() or "no message").splitlines()[-1]
        print(f"not mended: {', '.join(missing)} ({last}); make the environment anew: sh install.sh")
        return []
    return [f"installed {', '.join(missing)}"]


def _ports(project: Path) -> list[str]:
    """A damaged list of ports is chosen anew by the next `tucano up`."""
    file = project / "runs" / "stack" / "ports.json"
    try:
        read_json(file, dict[str, int])
    except OSError:
        return []
    except ValueError:
        if not file.is_file():
            return []
        file.unlink()
        return [f"removed {file}, which was damaged: tucano up chooses ports anew"]
    return []


MENDS: tuple[Callable[[Path], list[str]], ...] = (_packages, _ports)
