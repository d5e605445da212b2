"""The container images, as far as they can be looked at without building them (`make images` does that)."""

import ast
import re
import sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from deployments.vertex import start
from tucano.artifacts.code_version import _imports, _source
from tucano.errors import UserError
from tucano.training.jobs import MODULES

ROOT = Path(__file__).parent.parent
IMAGE = ROOT / "deployments" / "image"
DOCKERFILES = (IMAGE / "Dockerfile", ROOT / "deployments" / "Dockerfile.cpu")
LOCKS = ("tucano.lock", "vllm.lock", "cpu.lock")
DIGEST = r"@sha256:[0-9a-f]{64}"
DISTRIBUTIONS = {"yaml": "pyyaml"}


def pins(path: Path) -> dict[str, str]:
    """{normalised name: version} of a lock or constraints file."""
    found = re.findall(r"^([A-Za-z0-9_.-]+)==([^\s;\\]+)", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in found}


def test_nothing_is_built_on_a_tag_alone() -> None:
    """A tag can be moved; a digest cannot. The date in the tag says which state of Debian it is."""
    bases = set()
    for dockerfile in DOCKERFILES:
        text = dockerfile.read_text(encoding="utf-8")
        bases |= set(re.findall(r"^ARG BASE=(.+)$", text, flags=re.MULTILINE))
        named = re.findall(r"^FROM (\S+)", text, flags=re.MULTILINE)
        assert set(named) <= {"${BASE}", *re.findall(r"^FROM \S+ AS (\S+)$", text, flags=re.MULTILINE)}
    (one,) = bases
    assert re.fullmatch(rf"docker\.io/library/debian:bookworm-2026\d{{4}}-slim{DIGEST}", one)
    services = yaml.safe_load((ROOT / "deployments" / "compose.yaml").read_text(encoding="utf-8"))["services"]
    foreign = [service["image"] for service in services.values() if "build" not in service]
    assert foreign and all(re.search(f"{DIGEST}$", image) for image in foreign)


def test_the_images_are_left_to_an_ordinary_user() -> None:
    for dockerfile in DOCKERFILES:
        stages = re.split(r"^FROM ", dockerfile.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
        users = [re.findall(r"^USER (\w+)$", stage, flags=re.MULTILINE) for stage in stages]
        assert [found[-1] for found in users if found] and all(found[-1] == "tucano" for found in users if found)
        assert "chmod" not in dockerfile.read_text(encoding="utf-8")


def test_the_driver_is_found_where_vertex_and_gke_mount_it() -> None:
    """The image knew the folder in neither variable: no GPU was found there."""
    text = (IMAGE / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    pairs = [pair for line in re.findall(r"^ENV (.+)$", text, flags=re.MULTILINE) for pair in line.split()]
    environment = dict(pair.split("=", 1) for pair in pairs)
    assert environment["LD_LIBRARY_PATH"].split(":") == ["/usr/local/nvidia/lib", "/usr/local/nvidia/lib64"]
    assert environment["PATH"].split(":") == ["/opt/tucano/bin", "/usr/local/nvidia/bin", "$PATH"]


@pytest.mark.parametrize(
    ("driver", "sentence"),
    [
        ("libcuda-of-nobody.so", r"libcuda-of-nobody.so\) is in no folder of LD_LIBRARY_PATH"),
        (SimpleNamespace(cuInit=lambda flags: 100), r"CUDA error 100\); ask for a machine"),
        (SimpleNamespace(cuInit=lambda flags: 0), None),
    ],
    ids=["not found", "refuses", "works"],
)
def test_a_gpu_that_cannot_be_used_ends_the_container_in_one_sentence(
    driver: Any, sentence: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if isinstance(driver, str):
        monkeypatch.setattr(start, "DRIVER", driver)
    else:
        monkeypatch.setattr("ctypes.CDLL", lambda name: driver)
    start.require_usable_gpu(tmp_path)
    (tmp_path / "nvidia0").touch()
    with pytest.raises(UserError, match=sentence) if sentence else nullcontext():
        start.require_usable_gpu(tmp_path)


@pytest.mark.parametrize("name", LOCKS)
def test_every_package_of_the_image_has_a_hash_and_no_index_is_named(name: str) -> None:
    text = (IMAGE / name).read_text(encoding="utf-8")
    entries = re.split(r"^(?=[A-Za-z0-9])", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE), flags=re.MULTILINE)[1:]
    assert len(entries) > 100 and all("--hash=sha256:" in entry for entry in entries)
    assert "index-url" not in re.sub("--no-emit-index-url", "", text) and "://" not in text


@pytest.mark.parametrize(
    ("name", "needed"),
    [("tucano.lock", {"prefect-gcp", "gcsfs", "unsloth", "bitsandbytes"}), ("cpu.lock", {"asyncpg", "uvicorn"})],
)
def test_the_image_has_the_versions_that_the_tests_ran_with(name: str, needed: set[str]) -> None:
    tested, locked = pins(ROOT / "constraints.txt"), pins(IMAGE / name)
    if name == "cpu.lock":
        assert locked["torch"].endswith("+cpu") and not any(key.startswith(("nvidia", "triton")) for key in locked)
    locked["torch"] = locked["torch"].removesuffix("+cpu")
    assert [key for key in locked.keys() & tested.keys() if locked[key] != tested[key]] == []
    assert {"prefect", "mlflow", "torch", *needed} <= locked.keys()


def test_the_interpreter_with_vllm_has_all_that_a_training_child_imports() -> None:
    locked = pins(IMAGE / "vllm.lock")
    names = imported("tucano.training.worker", *MODULES.values())
    public = [name for name in names if not name.startswith("_")]  # others only type checkers know
    wanted = {DISTRIBUTIONS.get(name, name.replace("_", "-")) for name in public}
    assert {"torch", "trl", "pydantic"} <= wanted and wanted <= locked.keys()


def imported(*modules: str) -> set[str]:
    """Top-level names of other people's packages that these modules of ours reach."""
    waiting, seen, found = list(modules), set[str](), set[str]()
    while waiting:
        module = waiting.pop()
        path = _source(module, ROOT)
        if path is None or module in seen:
            continue
        seen.add(module)
        tree = ast.parse(path.read_text(encoding="utf-8"))
        waiting += _imports(tree)
        for node in ast.walk(tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            found |= {name.partition(".")[0] for name in names}
    return found - {*sys.stdlib_module_names, "tucano", "rewards", "data"}


def copied(dockerfile: Path) -> set[str]:
    """What a Dockerfile copies out of the folder that it is built from."""
    lines = dockerfile.read_text(encoding="utf-8").splitlines()
    return {part for line in lines if line.startswith("COPY") for part in line.split()[1:-1]}


def test_what_the_images_copy_is_there_and_is_sent_to_the_builder() -> None:
    sources = set[str]().union(*map(copied, DOCKERFILES))
    assert sources and all((ROOT / source).exists() for source in sources)
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    sent = {line[1:] for line in lines if line.startswith("!")}
    found = {next((one for one in sent if f"{source}/".startswith(f"{one}/")), source) for source in sources}
    assert found == sent
