"""The services of deployments/compose.yaml, started from the built image in chroots, in a network of their own where
their ports are free and every name is this machine: `python -m benchmarks.images.compose HOME IMAGE DATABASE`.

Commands, environments, volumes, order and health checks are those of the file. PostgreSQL is Debian's, since the image
that the file names cannot be had without a registry of images.
"""

import json
import os
import re
import secrets
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import yaml

from benchmarks.bad_days import TINY
from benchmarks.images.buildah import Buildah
from tucano.prompts import TASKS

FILE = Path(__file__).parent.parent.parent / "deployments" / "compose.yaml"
WAIT_S = 900
DATABASE = "localhost/tucano-postgres:15"
SECRETS = ("POSTGRES_PASSWORD", "TUCANO_PASSWORD", "TUCANO_SERVE_TOKEN")
POSTGRES = """
set -e
printf %s "$POSTGRES_PASSWORD" > /tmp/password
initdb -D /tmp/data --encoding=UTF8 --locale=C.UTF-8 -U "$POSTGRES_USER" \\
    --pwfile=/tmp/password --auth=scram-sha-256 > /dev/null
echo "create database $POSTGRES_USER" | postgres --single -D /tmp/data postgres > /dev/null
exec postgres -D /tmp/data -c listen_addresses=127.0.0.1
"""
"""What the entry point of Docker's image does; that image speaks UTF-8, a bare chroot would make SQL_ASCII."""


def apart(engine: Buildah, image: str, base: str) -> None:
    """Starts, checks and ends the services in a network namespace; raises CalledProcessError when one is not well."""
    if not engine.has(DATABASE):
        with engine.container(base) as container:
            script = "apt-get -qq update && apt-get -qq install --no-install-recommends postgresql-15 > /dev/null"
            command = engine.inside(container, ["sh", "-c", script])
            subprocess.run(command, env=engine.environment(), check=True, stderr=subprocess.DEVNULL)
            engine.said("config", "--env", "PATH=/usr/lib/postgresql/15/bin:/usr/bin:/bin", container)
            engine.said("config", "--user", "postgres", container)
            engine.said("commit", "--quiet", container, DATABASE)
    program = [sys.executable, "-m", "benchmarks.images.compose", str(engine.home), image]
    subprocess.run(["unshare", "--net", *program], check=True)


@dataclass
class Service:
    """One of the file's, in its container."""

    name: str
    asked: dict[str, Any]
    container: str
    engine: Buildah
    logs: Path
    volumes: dict[Path, str]
    process: subprocess.Popen[bytes] | None = None

    def inside(self, command: list[str]) -> list[str]:
        known = {name: str(value) for name, value in self.asked.get("environment", {}).items()}
        return self.engine.inside(self.container, command, environment=known, mounted=self.volumes)

    def start(self) -> None:
        command = self.asked.get("command") or ["sh", "-c", POSTGRES]
        with (self.logs / f"{self.name}.log").open("wb") as log:
            self.process = subprocess.Popen(
                self.inside(command), env=self.engine.environment(), stdout=log, stderr=subprocess.STDOUT
            )

    def service_healthy(self) -> bool:
        """By the file's own health check."""
        assert self.process is not None
        if self.process.poll() is not None:
            raise RuntimeError(f"{self.name} ended with {self.process.returncode}: {self.words()}")
        test = self.asked["healthcheck"]["test"]
        assert test[0] == "CMD"
        return not subprocess.run(self.inside(test[1:]), env=self.engine.environment(), capture_output=True).returncode

    def service_completed_successfully(self) -> bool:
        assert self.process is not None
        if self.process.poll():
            raise RuntimeError(f"{self.name} ended with {self.process.returncode}: {self.words()}")
        return self.process.poll() == 0

    def words(self) -> str:
        return (self.logs / f"{self.name}.log").read_text(encoding="utf-8", errors="replace")[-3000:]

    def end(self) -> None:
        """The whole tree: what a container started ends with it."""
        if self.process is None or self.process.poll() is not None:
            return
        top = psutil.Process(self.process.pid)
        tree = [*reversed(top.children(recursive=True)), top]
        for process in tree:
            process.terminate()
        for process in psutil.wait_procs(tree, timeout=20)[1]:
            process.kill()


def main() -> None:
    home, image = Path(sys.argv[1]), sys.argv[2]
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    passwords = {name: secrets.token_hex(24) for name in SECRETS}
    text = re.sub(r"\$\{(\w+)(?::[?-][^}]*)?\}", lambda found: passwords[found[1]], FILE.read_text(encoding="utf-8"))
    asked = yaml.safe_load(text)["services"]
    logs, runs = home / "services", home / "services" / "runs"
    for folder in (runs, runs / "mlflow"):
        folder.mkdir(parents=True, exist_ok=True)
        os.chown(folder, 1000, 1000)
    engine = Buildah(home)
    with ExitStack() as stack:
        services = {}
        for name, of_file in asked.items():
            own = image if of_file["image"].startswith("tucano-commerce:") else DATABASE
            container = stack.enter_context(engine.container(own, hosts=list(asked)))
            volumes = {runs: "/runs"} if "runs:/runs" in of_file.get("volumes", []) else {}
            services[name] = Service(name, of_file, container, engine, logs, volumes)
            stack.callback(services[name].end)
        begin(services)
        check(services["worker"])
        check_serving(services["serve"], passwords["TUCANO_SERVE_TOKEN"])


def begin(services: dict[str, Service]) -> None:
    """In the file's order, each after what it waits for."""
    waiting = {name: service for name, service in services.items() if "profiles" not in service.asked}
    while waiting:
        for name, service in list(waiting.items()):
            needed = service.asked.get("depends_on", {})
            if needed.keys() & waiting.keys():
                continue
            for other, condition in needed.items():
                until(getattr(services[other], condition["condition"]))
            service.start()
            print(f"{name} started", flush=True)
            del waiting[name]


PAGES = ("http://127.0.0.1:4200/api/ready", "http://127.0.0.1:4200/", "http://127.0.0.1:5000/health")


def check(worker: Service) -> None:
    """The servers and Prefect's pages answer here; the worker works: it runs a pipeline in small."""
    for url in PAGES:
        with urllib.request.urlopen(url) as answer:
            print(url, answer.status, flush=True)
    settings: dict[str, Any] = {}
    for name, value in (TINY | {"storage": "/runs/try", "execution.seeds": None}).items():
        section, _, key = name.rpartition(".")
        (settings.setdefault(section, {}) if section else settings)[key] = value
    run = ["prefect", "deployment", "run", "train/laptop", "--watch", "--param", f"settings={json.dumps(settings)}"]
    subprocess.run(worker.inside(run), env=worker.engine.environment(), check=True, timeout=WAIT_S)


def check_serving(serve: Service, token: str) -> None:
    """It answers who has the token. Rules answer: a run in small promotes no champion."""
    routes = {task: ["rules"] for task in TASKS}
    serve.asked["command"] += ["--set", f"serving.routes={routes}"]
    serve.start()
    until(serve.service_healthy)
    asked = urllib.request.Request(
        "http://127.0.0.1:8765/answer",
        json.dumps({"task": "sentiment", "text": "Chegou quebrado e ninguém responde."}).encode(),
        {"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(asked) as answer:
        print(f"serve {answer.status} {answer.read().decode()}", flush=True)


def until(what: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_S
    while not what():
        if time.monotonic() > deadline:
            raise TimeoutError(f"after {WAIT_S} s not yet: {what}")
        time.sleep(1)


if __name__ == "__main__":
    main()
