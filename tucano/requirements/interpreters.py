"""What another interpreter has: it is asked, since a program that is there may be anything."""

import shutil
import subprocess
from functools import cache

LIMIT_SECONDS = 60
"""An interpreter starts within a second; from a cold disk or over a network it takes longer."""


@cache
def has_module(python: str, module: str) -> bool:
    """Whether this program is a Python that finds the module, and not only because it is asked from a folder that holds
    one; asked once. It says so in words: /bin/true succeeds at everything.
    """
    if shutil.which(python) is None:
        return False
    question = (  # instead of the option -P, which Python has from 3.11 on: vLLM's may be older
        "import sys; sys.path = [place for place in sys.path if place]; import importlib.util;"
        f" print(importlib.util.find_spec({module!r}) is not None)"
    )
    try:
        asked = subprocess.run(
            [python, "-c", question],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LIMIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return asked.stdout.split()[-1:] == ["True"]
