"""`tucano down`, `status` and `up` on bad days: the clock is set, files are damaged, two commands want one port."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from odd_files import ODD, put_in_place
from test_cli import tucano

from deployments import services, stack
from tucano.errors import UserError

ROOT = Path(__file__).parent.parent
CLOCK_IS_SET = """
import psutil, sys
from psutil import _pslinux
before = _pslinux.boot_time()
_pslinux.boot_time = lambda: before + 3  # the kernel's btime moves with the clock
from deployments import stack
home = stack.opened(__import__("pathlib").Path(sys.argv[1]), __import__("pathlib").Path.cwd())
print([name for name, service in stack.read_services(home.file).items() if service.process() is not None])
stack.down(home)
"""


@pytest.fixture
def sleepers(tmp_path: Path) -> Iterator[dict[str, services.Service]]:
    """A home whose services are programs that sleep."""
    home = stack.opened(tmp_path, ROOT)
    running: dict[str, services.Service] = {}
    home.file.parent.mkdir(exist_ok=True)
    for name in ("mlflow", "prefect", "worker-1"):
        stack._start(home, running, name, ["sleep", "300"], os.environ)
    yield running
    for service in running.values():
        services.stop(service)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the kernel keeps the time at a process's start")
def test_down_stops_everything_after_the_clock_was_set(sleepers: dict[str, services.Service], tmp_path: Path) -> None:
    command = [sys.executable, "-c", CLOCK_IS_SET, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=900)
    assert done.stdout.splitlines()[0] == "['mlflow', 'prefect', 'worker-1']"
    assert all(service.process() is None for service in sleepers.values())
    assert stack.read_services(tmp_path / "stack" / "services.json") == {}


def test_where_nothing_runs_the_status_is_one_sentence(sleepers: dict[str, services.Service], tmp_path: Path) -> None:
    home = stack.opened(tmp_path, ROOT)
    for service in sleepers.values():
        services.stop(service)
    said: list[str] = []
    assert stack.status(home, said.append) is False
    (fell,) = said
    assert "are not running; they should be, see the logs in " in fell
    home.file.unlink()
    assert stack.status(home, said.append) is False
    assert said[1] == "The servers of `tucano up` are not running. `tucano run` needs none; `tucano up` starts them."


DEEP = "[" * 100_000 + "]" * 100_000


def one_service(pid: str, log: str = '"x"') -> str:
    return f'{{"mlflow": {{"name": "mlflow", "pid": {pid}, "started": "now", "log": {log}}}}}'


DAMAGED_SERVICES = {
    "": "", "{": "{", "list": "[]", "number": '{"mlflow": 7}', "fields": '{"mlflow": {"name": "mlflow"}}', "deep": DEEP,
    "deep below": f'{{"mlflow": {DEEP}}}', "no UTF-8": "\udcff", "log": one_service("7", "null"),
    **{pid: one_service(pid) for pid in ("-1", "0", "3.5", '"x"', "null", "true", "NaN", "1e999", "9" * 30, "[1]")},
}  # fmt: skip


@pytest.mark.parametrize("damaged", DAMAGED_SERVICES.values(), ids=DAMAGED_SERVICES)
def test_a_damaged_list_of_services_is_a_sentence(damaged: str, tmp_path: Path) -> None:
    home = stack.opened(tmp_path, ROOT)
    home.file.parent.mkdir(exist_ok=True)
    home.file.write_text(damaged, encoding="utf-8", errors="surrogateescape")
    said = f"{re.escape(str(home.file))} is empty or damaged; nothing of it runs any more: remove that file"
    commands: list[Callable[[stack.Stack], object]] = [stack.status, stack.down, stack.up]
    for command in commands:
        with pytest.raises(UserError, match=said):
            command(home)


def test_the_sentence_names_what_still_runs(sleepers: dict[str, services.Service], tmp_path: Path) -> None:
    file = tmp_path / "stack" / "services.json"
    file.write_text("", encoding="utf-8")
    said = tucano("down", "--home", str(tmp_path))
    assert said.returncode == 2 and len(said.stderr.splitlines()) == 1
    found = re.search(
        r"is empty or damaged; stop what still runs of it with kill ([\d ]+), then remove that file", said.stderr
    )
    assert found and {int(pid) for pid in found[1].split()} == {service.pid for service in sleepers.values()}


@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", ODD)
def test_what_is_no_file_among_the_stacks_files_is_a_sentence(kind: str, tmp_path: Path) -> None:
    (tmp_path / "stack").mkdir()
    for name, opens in (
        ("services.json", services.read_services),
        ("ports.json", lambda _: stack.opened(tmp_path, ROOT)),
    ):
        put_in_place(kind, tmp_path / "stack" / name)
        with pytest.raises(UserError, match=rf"{name} is empty or damaged"):
            opens(tmp_path / "stack" / name)


DAMAGED_PORTS = {
    "": "", "list": "[4200]", "deep": DEEP, "deep below": f'{{"prefect": {DEEP}}}',
    **{port: f'{{"prefect": {port}}}' for port in (
        '"no"', "null", "Infinity", "NaN", "1e999", "4200.5", "0", "-1", "65536", "true", "[4200]", "9" * 5000,
    )},
}  # fmt: skip


@pytest.mark.parametrize("damaged", DAMAGED_PORTS.values(), ids=[name[:9] for name in DAMAGED_PORTS])
def test_damaged_ports_are_a_sentence(damaged: str, tmp_path: Path) -> None:
    (tmp_path / "stack").mkdir()
    file = tmp_path / "stack" / "ports.json"
    file.write_text(damaged, encoding="utf-8")
    said = "is empty or damaged; remove it and run tucano down, then tucano up: it chooses ports anew"
    with pytest.raises(UserError, match=f"^{re.escape(f'{file} {said}')}$"):
        stack.opened(tmp_path, ROOT)


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    """Killed at any moment while it is written again and again, it can be read."""
    file = tmp_path / "services.json"
    endless = (
        "import sys; from pathlib import Path; from deployments.services import write_json\nwhile True:"
        " write_json(Path(sys.argv[1]), ['x' * 9000] * 99)"
    )
    for _ in range(5):
        with subprocess.Popen([sys.executable, "-c", endless, str(file)], cwd=ROOT) as process:
            while not file.exists():
                assert process.poll() is None
            process.send_signal(signal.SIGKILL)
        assert json.loads(file.read_text(encoding="utf-8")) == ["x" * 9000] * 99
        file.unlink()


def test_up_refuses_a_port_in_use_before_it_starts_anything(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UserError, match=f"port {port} is in use by another program; .* with --mlflow-port"):
            stack.up(stack.opened(tmp_path, ROOT, mlflow_port=port))
    assert stack.read_services(tmp_path / "stack" / "services.json") == {}
    assert not (tmp_path / "stack" / "ports.json").exists()


@pytest.mark.parametrize("port", [99999, 65536, 0, -1, 10**30])
@pytest.mark.parametrize("name", ["prefect", "mlflow"])
def test_a_port_that_there_is_not_is_a_sentence(name: str, port: int, tmp_path: Path) -> None:
    said = f"^--{name}-port {port} is no port; choose one from 1 to 65535, or leave it out for a free one$"
    with pytest.raises(UserError, match=said):
        stack.opened(tmp_path, ROOT, **{f"{name}_port": port})


def test_an_answer_counts_only_while_the_own_process_lives(tmp_path: Path) -> None:
    """Somebody else answers on the port of a service that has ended."""
    service = services.start(
        "prefect", ["echo", "FATAL: no space\x1b[2J left\nsystem is shut down"], os.environ, tmp_path / "log"
    )
    with contextlib.suppress(psutil.NoSuchProcess):
        psutil.Process(service.pid).wait(600)
    with pytest.raises(
        services.ServiceDied, match="prefect ended while starting: FATAL: no space␛\\[2J left; its log: "
    ):
        services.wait_until(service, lambda: True)
