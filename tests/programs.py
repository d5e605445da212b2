"""Programs that tests start and wait for, and servers in a thread of a test."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import HTTPServer
from pathlib import Path
from threading import Thread
from typing import TypeVar

ROOT = Path(__file__).parent.parent
S = TypeVar("S", bound=HTTPServer)


@contextmanager
def answering(server: S) -> Iterator[S]:
    """At work until the block ends."""
    with server:
        Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()


def python(*words: str, folder: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    """This interpreter with these words, run to its end, whatever that is."""
    command, known = [sys.executable, *words], os.environ | environment
    return subprocess.run(
        command, cwd=folder, env=known, capture_output=True, encoding="utf-8", timeout=900, check=False
    )
