"""The built wheel in an environment without the checkout: what it carries, and its commands in any folder."""

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder
from test_pipeline import SMALL

from tucano.artifacts.code_version import code_version
from tucano.training.jobs import MODULES

ROOT = Path(__file__).parent.parent
PACKAGES = ("data", "deployments", "flows", "rewards", "tasks", "tucano")
CARRIED = ("prefect.yaml", "constraints.txt", "docs/rating-guide.pt.md")
TINY = SMALL | {"sft.max_epochs": 1, "grpo.seeds": [42], "audit.resamples": 100}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = str(tmp_path_factory.mktemp("dist"))
    (built,) = WheelBuilder(str(ROOT)).build(directory=folder, versions=["standard"])
    return Path(built)


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new virtual environment with the wheel and, by a .pth file, this one's packages without the checkout."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    packages = [entry for entry in sys.path if entry.endswith("site-packages")]
    (site / "packages.pth").write_text("\n".join([*packages, sysconfig.get_path("purelib")]), encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python")]
    subprocess.run([*pip, "install", "--quiet", "--no-index", "--no-deps", str(wheel)], check=True)
    return folder


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the commands run in, one after another."""
    return tmp_path_factory.mktemp("elsewhere")


def shown(environment: Path, folder: Path, *words: str, program: str = "tucano", keys: str = "") -> str:
    """What a program of the environment prints; it must end with 0."""
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    line = [str(environment / "bin" / program), *words]
    done = subprocess.run(line, cwd=folder, env=clean, input=keys, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_the_wheel_holds_the_packages_what_they_read_and_nothing_else(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    described = {name for name in names if ".dist-info/" in name}
    files = [path for package in PACKAGES for path in (ROOT / package).rglob("*") if path.is_file()]
    ours = {path.relative_to(ROOT).as_posix() for path in files if "__pycache__" not in path.parts}
    assert names - described == ours | {f"tucano/carried/{name}" for name in CARRIED} | {"tucano_commerce.py"}
    assert {Path(name).name for name in described if "/licenses/" in name} == {"LICENSE", "NOTICE"}


def test_an_artifact_of_the_checkout_is_one_of_the_wheel(environment: Path, elsewhere: Path) -> None:
    """The same code has the same version wherever it lies: nothing runs again because it was installed anew."""
    modules = [*MODULES.values()]
    code = f"from tucano.artifacts.code_version import code_version; print(*map(code_version, {modules}))"
    assert shown(environment, elsewhere, "-c", code, program="python").split() == list(map(code_version, modules))


def test_help_and_doctor(environment: Path, elsewhere: Path) -> None:
    assert "tucano run laptop" in shown(environment, elsewhere, "--help")
    text = shown(environment, elsewhere, "doctor")
    assert "Profile laptop   runs here" in text and f"Profiles         of {environment}" in text
    assert "tested with" not in text, "the versions that were tested came with the wheel"


def test_the_audit(environment: Path, elsewhere: Path) -> None:
    """Of the committed ratings, which came with the wheel. All tasks of theirs are audited in tests/test_exam.py."""
    quick = {"audit.resamples": 100, "audit.search_calls": 20, "data.mix": "{sentiment: 0.5, churn: 0.5}"}
    pairs = [part for name, value in quick.items() for part in ("--set", f"{name}={value}")]
    text = shown(environment, elsewhere, "audit", "nano", *pairs)
    assert "Audit of the reward set `grounded`: passed" in text
    assert f"no prefect.yaml at or above {elsewhere}; taking the profiles of {environment}" in text


@pytest.mark.long
def test_a_pipeline_then_its_answers_are_rated(environment: Path, elsewhere: Path) -> None:
    pairs = [part for name, value in TINY.items() for part in ("--set", f"{name}={value}")]
    assert "| overall" in shown(environment, elsewhere, "run", "nano", *pairs)
    few = ("--prompts", "1", "--completions", "2", "--terminal")
    text = shown(environment, elsewhere, "rate", "--rater", "ana", *few, keys="?\n3\nq\n")
    assert "ana: 1 of 8 rated" in text
    assert "Dê à resposta um número inteiro de 1 a 5" in text, "the guide came with the wheel"
