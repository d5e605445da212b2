"""The Prefect server of one command: it answers, says where its log is when it cannot start, and outlives nobody."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import psutil
import pytest
from odd_files import put_in_place
from pace import until

from tucano.cli.prefect_server import PrefectServer
from tucano.errors import TucanoError, UserError
from tucano.security.access import basic
from tucano.storage.logs import relayed

COMMAND = """
import os, sys, time
from pathlib import Path
from tucano.cli.prefect_server import PrefectServer
server = PrefectServer(Path(sys.argv[1]))
server.wait()
print(server.process.pid, server.url, os.environ["PREFECT_API_AUTH_STRING"], flush=True)
if sys.argv[2:]:
    time.sleep(300)
"""


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    return [sys.executable, "-c", COMMAND, str(tmp_path)]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("PREFECT_API_URL", "PREFECT_API_AUTH_STRING", "PREFECT_UI_URL"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path / "prefect"))
    monkeypatch.setenv("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
    return tmp_path


def test_it_answers_and_does_not_outlive_a_killed_command(command: list[str], home: Path) -> None:
    with subprocess.Popen([*command, "stay"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        pid, url, known = process.stdout.readline().split()
        assert httpx.get(f"{url}/admin/version", timeout=600).status_code == 401
        with httpx.Client(base_url=url, headers={"Authorization": basic(known)}, timeout=600) as client:
            assert client.get("/admin/version").json()[0].isdigit()
            assert client.get("/admin/settings").json()["server"]["services"]["triggers"]["enabled"] is False
            assert client.get("/admin/version", headers={"Origin": "http://evil.example"}).status_code == 403
        process.send_signal(signal.SIGKILL)
    until(lambda: not psutil.pid_exists(int(pid)))


def test_a_shutdown_leaves_it_to_the_run_that_still_has_a_state_to_report(home: Path) -> None:
    """SIGTERM to every process: a run without its server asked for it for minutes."""
    server = PrefectServer(home)
    try:
        server.wait()
        server.process.terminate()
        time.sleep(2)
        assert httpx.get(f"{server.url}/health", timeout=600).is_success
        assert server.process.poll() is None
    finally:
        began = time.monotonic()
        server.stop()
    assert server.process.returncode != -signal.SIGKILL and time.monotonic() - began < 60


def test_a_signal_while_it_is_stopped_is_no_traceback(command: list[str], home: Path) -> None:
    """A run that was done said «Exception ignored in atexit callback»."""
    raising = "import signal; signal.signal(15, signal.default_int_handler)"
    waiting = [*command[:2], f"{raising}\n{COMMAND}\ninput()", *command[3:]]
    pipe = subprocess.PIPE
    with subprocess.Popen(waiting, text=True, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdout is not None and process.stdin is not None
        server = psutil.Process(int(process.stdout.readline().split()[0]))
        server.suspend()
        process.stdin.write("\n")
        process.stdin.flush()
        time.sleep(3)
        assert process.poll() is None, "it waits for its server"
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=600)
    assert (process.returncode, said) == (0, "")
    assert not server.is_running()


@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", ["pipe", "folder"])
def test_a_log_that_is_no_file_is_a_sentence(home: Path, kind: str) -> None:
    (home / "logs").mkdir()
    put_in_place(kind, home / "logs" / "run-prefect.log")
    with pytest.raises(UserError, match=r"run-prefect\.log is no ordinary file"):
        PrefectServer(home)
    with pytest.raises(UserError, match="is no ordinary file"), relayed(home / "logs" / "run-prefect.log"):
        pass


def test_one_that_cannot_start_is_an_error_that_names_its_log(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFECT_API_DATABASE_CONNECTION_URL", "sqlite+aiosqlite:////nowhere/at/all.db")
    server = PrefectServer(home)
    with pytest.raises(TucanoError, match=r"did not start .* its log: .*/logs/run-prefect\.log"):
        server.wait()
    assert "unable to open database file" in server.log.read_text(encoding="utf-8")
    assert os.environ["PREFECT_API_URL"] == server.url
