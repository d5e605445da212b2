"""The services of `tucano up`, for tests: a folder, a project whose laptop is tiny, and the real stack over it."""

import shutil
import socket
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchmarks.operations import Bench
from deployments import stack
from deployments.postgres import find_cluster

ROOT = Path(__file__).parent.parent


@contextmanager
def stack_home() -> Iterator[Path]:
    """A folder that the unprivileged user of PostgreSQL may enter as well."""
    folder = Path(tempfile.mkdtemp(prefix="tucano-operations-"))
    folder.chmod(stat.S_IRWXU | stat.S_IXGRP | stat.S_IXOTH | stat.S_IRGRP | stat.S_IROTH)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@contextmanager
def running_stack(home: Path, settings: Mapping[str, object], say: Callable[[str], None]) -> Iterator[Bench]:
    """The stack over `home`, with `settings` (dotted names) in its laptop profile, until the block ends."""
    if find_cluster(home) is None:
        pytest.skip("PostgreSQL (Debian: postgresql) is not installed, so runs cannot resume by themselves here")
    project = home / "project"
    project.mkdir()
    text = yaml.safe_dump(small_project(settings), allow_unicode=True)
    (project / "prefect.yaml").write_text(text, encoding="utf-8")
    made = stack.opened(home / "runs", project, free_port(), free_port())
    stack.up(made, say=say)
    try:
        yield Bench(made)
    finally:
        stack.down(made)


def small_project(settings: Mapping[str, object]) -> dict[str, Any]:
    """prefect.yaml whose profiles laptop and nano are tiny and alike, and whose nightly audit takes seconds."""
    content: dict[str, Any] = yaml.safe_load((ROOT / "prefect.yaml").read_text(encoding="utf-8"))
    trained = {one["name"]: one["parameters"] for one in content["deployments"][:2]}
    small: dict[str, Any] = trained["nano"]["settings"]
    for name, value in settings.items():
        section, _, field = name.partition(".")
        small.setdefault(section, {})[field] = value
    trained["laptop"]["settings"] = small
    (nightly,) = (one for one in content["deployments"] if one["name"] == "nightly")
    nightly["parameters"]["settings"]["audit"] = {"resamples": 100, "search_calls": 0}
    return content


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])
