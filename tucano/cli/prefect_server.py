"""Prefect's server for one command, ready while Prefect and torch are still being imported.

Prefect starts such a server by itself, but only at the first flow, once its server code has been imported there too and
every installed collection has been read for block types. Started as a command's first act, the same server lets a run
begin ten seconds earlier (`python -m benchmarks.overhead`). It ends with the command, however that ends, and its
password ends with it.
"""

import atexit
import contextlib
import os
import socket
import subprocess
import urllib.request
from pathlib import Path

from deployments.servers import HOST, prefect_command
from tucano.errors import TucanoError
from tucano.security import access
from tucano.storage.places import require_file

START_SECONDS = 180
STOP_SECONDS = 8
NOT_USED = {
    "PREFECT_API_BLOCKS_REGISTER_ON_START": "false",
    "PREFECT_SERVER_MEMOIZE_BLOCK_AUTO_REGISTRATION": "false",
    "PREFECT_SERVER_SERVICES_TRIGGERS_ENABLED": "false",
}
"""A run uses no blocks and no automations. To register blocks takes a second, and to compare the memo of what is
registered, three (prefect-gcp is imported). What evaluates automations may hold SQLite's lock for its whole minute,
while the run waits (PrefectHQ/prefect issue 15170).
"""
TERMINAL_LOGGING = "PREFECT_LOGGING_SETTINGS_PATH"
"""The command's own logging keeps the server quiet; in the server's log file everything may stand."""


class PrefectServer:
    """A server process; PREFECT_API_URL and PREFECT_API_AUTH_STRING lead to it from here on.

    Construct it before Prefect is imported.
    """

    def __init__(self, storage: Path) -> None:
        self.log = storage.resolve() / "logs" / "run-prefect.log"
        self.log.parent.mkdir(parents=True, exist_ok=True)
        require_file(self.log)
        known = access.fresh()
        environment = {name: value for name, value in os.environ.items() if name != TERMINAL_LOGGING} | NOT_USED
        with socket.create_server((HOST, 0)) as listener, self.log.open("wb") as log:
            address = f"http://{HOST}:{listener.getsockname()[1]}"
            self.process = subprocess.Popen(
                prefect_command(listener, "run"),
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                pass_fds=[listener.fileno()],
                start_new_session=True,  # Ctrl-C is for the run, which still has a state to report
                env=environment
                | {"PREFECT_SERVER_API_AUTH_STRING": known, "PREFECT_SERVER_CORS_ALLOWED_ORIGINS": address},
            )
        self.url = f"{address}/api"
        atexit.register(self.stop)  # before Prefect registers what it still sends at the end
        os.environ["PREFECT_API_URL"] = self.url
        os.environ["PREFECT_API_AUTH_STRING"] = known
        os.environ["PREFECT_UI_URL"] = ""  # it has no pages, so Prefect prints no links to them

    def wait(self) -> None:
        """Return once it answers: the socket has listened from the start, so the request waits there. TucanoError when
        it died.
        """
        try:
            urllib.request.urlopen(f"{self.url}/health", timeout=START_SECONDS).close()
        except OSError as error:
            raise TucanoError(f"Prefect's server did not start ({error}); its log: {self.log}") from error

    def stop(self) -> None:
        assert self.process.stdin is not None, "the server ends when this pipe does"
        with contextlib.suppress(subprocess.TimeoutExpired, KeyboardInterrupt):  # whoever interrupts waits no longer
            self.process.stdin.close()
            self.process.wait(STOP_SECONDS)
        self.process.kill()
        self.process.wait()
