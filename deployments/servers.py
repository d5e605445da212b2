"""The Prefect and MLflow servers that commands start: their commands, their environments, their sockets.

We take the port ourselves and hand the listening socket over. So two commands that start at the same moment cannot both
take a port to be theirs, and an answer on it is our server's as long as that lives.
"""

import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from tucano.security.access import USER, credentials_file, login_link, tracking_environment
from tucano.storage.root import require_whole
from tucano.tracking.store import artifact_root

HOST = "127.0.0.1"


def listen(port: int) -> socket.socket | None:
    """A listening socket on this port of the loopback (0: any free one); None where it cannot be had."""
    try:
        return socket.create_server((HOST, port))
    except (OSError, OverflowError):
        return None


def require_history(home: Path) -> None:
    """UserError when the SQLite file that Prefect keeps in a storage is damaged: its server would start, and answer
    with errors.
    """
    require_whole(home / "prefect" / "prefect.db", "the history of runs, and no result of theirs")


def prefect_command(listener: socket.socket, scope: Literal["all", "pages", "run"]) -> list[str]:
    return [sys.executable, "-m", "deployments.prefect_app", str(listener.fileno()), scope]


def prefect_environment(home: Path, address: str, known: str) -> dict[str, str]:
    """Nobody but its own page may call it from a browser, and only with the password."""
    return {
        "PREFECT_HOME": str(home.resolve() / "prefect"),
        "PREFECT_API_URL": f"{address}/api",
        "PREFECT_SERVER_API_AUTH_STRING": known,
        "PREFECT_SERVER_CORS_ALLOWED_ORIGINS": address,
        "PREFECT_SERVER_CSRF_PROTECTION_ENABLED": "true",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
    }


def mlflow_command(listener: socket.socket) -> list[str]:
    return [sys.executable, "-m", "tucano.tracking.server", str(listener.fileno())]


def mlflow_environment(home: Path, store: str, known: str) -> dict[str, str]:
    """Addresses and passwords stand here and not on the command line, which everybody can read.

    MLflow itself would answer only where it is called by an address of this machine or a private one, and so refuse
    what a proxy passes on; our door asks everybody for the password, whatever the name.
    """
    return tracking_environment(known) | {
        "MLFLOW_BACKEND_STORE_URI": store,
        "MLFLOW_ARTIFACTS_DESTINATION": artifact_root(home).as_uri(),
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "MLFLOW_SERVER_ALLOWED_HOSTS": "*",
        "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
    }


def how_to_log_in(home: Path, known: str, pages: Mapping[str, str]) -> str:
    """For the terminal; `pages` are addresses by name. The password itself is not shown: terminals are logged."""
    links = "".join(f"\n  {name:<8} {login_link(address, known)}" for name, address in pages.items())
    return f"""Log in by opening these; each works once, within an hour:{links}
or as user {USER} with the password in {credentials_file(home)} (Prefect's page takes the whole line)"""
