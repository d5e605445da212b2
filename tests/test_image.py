"""The container image, as far as it can be looked at without building it: its two locks and what the Dockerfile
copies.
"""

import ast
import re
import sys
from pathlib import Path

import pytest

from tucano.artifacts.code_version import NUMERIC_PACKAGES, _imports, _source
from tucano.training.jobs import MODULES

ROOT = Path(__file__).parent.parent
IMAGE = ROOT / "deployments" / "image"
DISTRIBUTIONS = {"yaml": "pyyaml"}


def pins(path: Path) -> dict[str, str]:
    """{normalised name: version} of a lock or constraints file."""
    found = re.findall(r"^([A-Za-z0-9_.-]+)==([^\s;\\]+)", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in found}


@pytest.mark.parametrize("name", ["tucano.lock", "vllm.lock"])
def test_every_package_of_the_image_has_a_hash_and_no_index_is_named(name: str) -> None:
    text = (IMAGE / name).read_text(encoding="utf-8")
    entries = re.split(r"^(?=[A-Za-z0-9])", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE), flags=re.MULTILINE)[1:]
    assert len(entries) > 200 and all("--hash=sha256:" in entry for entry in entries)
    assert "index-url" not in re.sub("--no-emit-index-url", "", text) and "://" not in text


def test_the_image_has_the_versions_that_the_tests_ran_with() -> None:
    tested, locked = pins(ROOT / "constraints.txt"), pins(IMAGE / "tucano.lock")
    assert {
        name: (locked[name], tested[name]) for name in locked.keys() & tested.keys() if locked[name] != tested[name]
    } == {}
    assert {"prefect", "prefect-gcp", "gcsfs", "mlflow", "torch", "unsloth", "bitsandbytes"} <= locked.keys()


def test_both_interpreters_train_with_the_same_versions() -> None:
    """What a result depends on is recorded by the interpreter that runs the flow."""
    one, other = pins(IMAGE / "tucano.lock"), pins(IMAGE / "vllm.lock")
    names = (*NUMERIC_PACKAGES, "accelerate", "datasets", "unsloth", "bitsandbytes", "json-repair", "sqlglot", "triton")
    assert {name: one[name] for name in names} == {name: other[name] for name in names}
    assert other.keys().isdisjoint({"prefect", "mlflow"}), "they need another fastapi than vLLM"


def test_the_interpreter_with_vllm_has_all_that_a_training_child_imports() -> None:
    locked = pins(IMAGE / "vllm.lock")
    wanted = {
        DISTRIBUTIONS.get(name, name.replace("_", "-"))
        for name in imported("tucano.training.worker", *MODULES.values())
        if not name.startswith("_")  # what only type checkers know
    }
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
    sources = copied(IMAGE / "Dockerfile") | copied(ROOT / "deployments" / "Dockerfile.cpu")
    assert sources and all((ROOT / source).exists() for source in sources)
    sent = {
        line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line.startswith("!")
    }
    assert {
        next((entry for entry in sent if f"{source}/".startswith(f"{entry}/")), source) for source in sources
    } == sent
