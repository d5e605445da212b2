"""`mlflow server` over a storage's store, on a port of its own."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Self

from deployments.services import answers
from tucano.tracking.store import default_uri


class Server:
    """Started, and ready once `wait` returns; killed at the end of its block."""

    def __init__(self, storage: Path) -> None:
        self.storage = storage
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.uri = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self) -> None:
        options = f"--workers 1 --host 127.0.0.1 --port {self.port}".split()
        places = {"--backend-store-uri": default_uri(self.storage), "--artifacts-destination": self.storage / "served"}
        given = [str(word) for pair in places.items() for word in pair]
        command = [sys.executable, "-m", "mlflow", "server", *given, *options]
        environment = os.environ | {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false", "MLFLOW_DISABLE_TELEMETRY": "true"}
        with (self.storage / "server.log").open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, env=environment, start_new_session=True)

    def wait(self) -> None:
        while not answers(f"{self.uri}/health"):
            assert self.process.poll() is None
            time.sleep(0.2)

    def signal(self, number: signal.Signals) -> None:
        os.killpg(self.process.pid, number)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        self.process.wait()

    def __enter__(self) -> Self:
        try:
            self.wait()
        except BaseException:
            self.kill()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
