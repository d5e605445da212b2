"""Who and what made a run: the columns User, Source and Version of MLflow's tables."""

import getpass
import importlib.metadata
import subprocess
from functools import cache
from pathlib import Path

PACKAGE = "tucano-commerce"


@cache
def origin() -> dict[str, str]:
    """Tags as MLflow knows them; what cannot be found out is left out."""
    tags = {"mlflow.source.name": _source(), "mlflow.source.type": "PROJECT"}
    if user := user_name():
        tags["mlflow.user"] = user
    if commit := _commit(Path(__file__).parents[2]):
        tags["mlflow.source.git.commit"] = commit
    return tags


def _source() -> str:
    try:
        return f"{PACKAGE} {importlib.metadata.version(PACKAGE)}"
    except importlib.metadata.PackageNotFoundError:
        return PACKAGE


def user_name() -> str | None:
    """Of the account that runs this; None where it has no name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user may have no name
        return None


def _commit(project: Path) -> str | None:
    """Of the checkout that the code lies in; None where it lies in none, or there is no git."""
    if not (project / ".git").exists():
        return None
    command = ["git", "-C", str(project), "rev-parse", "HEAD"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, check=False, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return found.stdout.strip() or None
