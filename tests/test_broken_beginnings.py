"""Beginnings that go wrong end in one sentence with the command that mends it; a maintainer gets a file without secrets."""

import json
import zipfile
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Self

import pytest

from benchmarks.broken_beginnings import BEGINNINGS, played
from tucano.cli.machine import diagnose, doctor
from tucano.errors import UserError
from tucano.security.access import credentials

QUICK = [name for name, one in BEGINNINGS.items() if one.by == "install"]
SLOW = [name for name in BEGINNINGS if name not in QUICK]


@pytest.mark.parametrize("name", QUICK)
def test_an_installation_that_cannot_be_ends_in_one_sentence(name: str) -> None:
    ended, fault = played(name)
    assert fault is None, f"{fault}: {ended.output}"


@pytest.mark.long
@pytest.mark.parametrize("name", SLOW)
def test_a_command_that_cannot_run_ends_in_one_sentence(name: str) -> None:
    ended, fault = played(name)
    assert fault is None, f"{fault}: {ended.output}"


def test_what_a_maintainer_gets_holds_no_secret_and_no_personal_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    storage = tmp_path / "runs"
    (storage / "logs").mkdir(parents=True)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("SHOP_API_KEY", "correct-horse-battery")
    monkeypatch.setenv("HTTPS_PROXY", "http://ana:hunter2@proxy.example:3128")
    monkeypatch.chdir(tmp_path)
    password = credentials(storage).partition(":")[2]
    said = f"asked {password} with correct-horse-battery at https://ana:hunter2@host/x for CPF 529.982.247-25\n"
    (storage / "logs" / "prefect.log").write_text(said, encoding="utf-8")
    (storage / "logs" / "link.log").symlink_to("/etc/passwd")
    assert diagnose.main(storage) == 0
    (file,) = tmp_path.glob("tucano-diagnosis-*.zip")
    with zipfile.ZipFile(file) as packed:
        texts = {name: packed.read(name).decode() for name in packed.namelist()}
    assert {"machine.txt", "doctor.txt", "logs/prefect.log", "artifacts.json"} <= texts.keys()
    assert "logs/link.log" not in texts and file.stat().st_mode & 0o077 == 0
    whole = "".join(texts.values())
    for secret in (password, "correct-horse-battery", "hunter2", "529.982.247-25"):
        assert secret not in whole
    assert "python: 3." in texts["machine.txt"] and "Profile laptop" in texts["doctor.txt"]
    assert str(file) in capsys.readouterr().out


def test_a_diagnosis_goes_through_no_link_that_lies_in_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(diagnose, "datetime", Still)
    (tmp_path / "mine").write_text("mine", encoding="utf-8")
    (tmp_path / "tucano-diagnosis-2026-11-23-120000.zip").symlink_to(tmp_path / "mine")
    with pytest.raises(UserError, match="is there already"):
        diagnose.main(tmp_path)
    assert (tmp_path / "mine").read_text(encoding="utf-8") == "mine"


class Still(datetime):
    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        return cls(2026, 11, 23, 12, tzinfo=tz)


def test_doctor_mends_what_is_damaged_and_leaves_what_is_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ports = tmp_path / "runs" / "stack" / "ports.json"
    ports.parent.mkdir(parents=True)
    for damaged in ('{"prefect": 42', '{"prefect": "x"}'):
        ports.write_text(damaged, encoding="utf-8")
        assert doctor.mend(tmp_path) == 0 and not ports.exists()
        assert f"mended: removed {ports}" in capsys.readouterr().out
    ports.write_text(json.dumps({"prefect": 4200}), encoding="utf-8")
    doctor.mend(tmp_path)
    assert ports.exists() and "mended" not in capsys.readouterr().out
