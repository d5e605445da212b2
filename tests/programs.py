"""Programs that tests start and wait for."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def python(*words: str, folder: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    """This interpreter with these words, run to its end, whatever that is."""
    command, known = [sys.executable, *words], os.environ | environment
    return subprocess.run(
        command, cwd=folder, env=known, capture_output=True, encoding="utf-8", timeout=900, check=False
    )
