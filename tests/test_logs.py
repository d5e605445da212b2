"""Logs stay small: our own, those of training children, and those of programs that know nothing of it."""

import os
from pathlib import Path

import pytest
from pace import until

from deployments import services
from tucano.storage import logs
from tucano.storage.logs import KEPT, BoundedLog


def sizes(log: Path) -> dict[str, int]:
    return {path.name: path.stat().st_size for path in log.parent.glob(f"{log.name}*")}


def test_a_full_log_is_put_aside_and_the_oldest_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "BYTES", 1000)
    log = BoundedLog(tmp_path / "log.txt")
    for number in range(1000):
        log.write(f"line {number:04d}\n")
    log.close()
    assert set(sizes(tmp_path / "log.txt")) == {"log.txt", *(f"log.txt.{number + 1}" for number in range(KEPT))}
    assert max(sizes(tmp_path / "log.txt").values()) <= 1000
    assert (tmp_path / "log.txt").read_text(encoding="utf-8").splitlines()[-1] == "line 0999"
    again = BoundedLog(tmp_path / "log.txt")
    again.write("100 % ção\n")
    again.close()
    assert (tmp_path / "log.txt").read_text(encoding="utf-8").endswith("line 0999\n100 % ção\n")


def test_a_log_on_a_full_disk_disturbs_nobody(capfd: pytest.CaptureFixture[str]) -> None:
    log = BoundedLog(Path("/dev/full"))
    log.write("lost\n")
    log.write("lost as well\n")
    assert capfd.readouterr().err == ""


def test_the_log_of_a_service_is_bounded_too(tmp_path: Path) -> None:
    """It writes 25 MB, on both outputs, the first line from a child of its own."""
    script = "(echo ção; yes 0123456789 | head -c 12000000) & wait; yes 0123456789 | head -c 13000000 >&2; echo end"
    service = services.start("chatty", ["sh", "-c", script], os.environ, tmp_path / "logs" / "chatty.log")
    log = tmp_path / "logs" / "chatty.log"
    until(lambda: log.is_file() and log.read_text().endswith("end\n"), lambda: sizes(log))
    found = sizes(log)
    assert service.log == str(tmp_path / "logs" / "chatty.log")
    assert set(found) == {"chatty.log", "chatty.log.1", "chatty.log.2"} and max(found.values()) <= logs.BYTES
    assert (tmp_path / "logs" / "chatty.log.2").read_text(encoding="utf-8").startswith("ção\n")
