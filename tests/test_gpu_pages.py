"""docs/gpu.md, docs/vertex.md and docs/kubernetes.md: their commands would start; nothing is run."""

import re
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_docs import FENCE, ROOT, words_of

from deployments.jobs import require_sound
from deployments.kubernetes import command as kubernetes
from deployments.vertex import command as vertex
from tucano.cli import main as cli
from tucano.profiles import load_profile
from tucano.requirements.second_zero import refusals, warnings_of

PAGES = ("gpu.md", "vertex.md", "kubernetes.md")
PLACES = {
    "P": "shop-project", "B": "shop-bucket", "PROJECT": "shop-project", "REGION": "us-central1", "BUCKET": "shop-bucket",
    "IMAGE": "us-central1-docker.pkg.dev/shop-project/tucano/train:1",
    "PREFECT": "https://prefect.shop.example", "MLFLOW": "https://mlflow.shop.example",
}  # fmt: skip
"""What stands for what only the reader knows."""


def commands(page: str) -> Iterator[tuple[list[str], bool]]:
    """The `tucano` commands of a page's blocks, each with whether PREFECT_API_URL is named or set before it."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    for section in re.split(r"^#+ ", text, flags=re.MULTILINE):
        served = "`PREFECT_API_URL`" in section
        for _, block in FENCE.findall(section):
            served |= "export PREFECT_API_URL=" in block
            for line in block.replace("\\\n", " ").splitlines():
                words = words_of(re.sub(r"\$([A-Z_]+)", lambda name: PLACES.get(name[1], name[0]), line))
                if words and words[0] == "tucano":
                    yield [re.sub(r"(?<![^/])[PB](?![^/])", lambda name: PLACES[name[0]], w) for w in words[1:]], served


def all_commands(name: str) -> list[tuple[list[str], bool]]:
    found = [one for page in PAGES for one in commands(page) if one[0][0] == name]
    assert len(found) >= len(PAGES), "each page shows one"
    return found


@pytest.fixture
def l4(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with an L4, and with vLLM where the pages put it."""
    programs = {"nvidia-smi": tmp_path / "nvidia-smi"}
    monkeypatch.setattr("shutil.which", lambda name: str(programs[name]) if name in programs else None)
    there = ("/opt/vllm/bin/python", "vllm")
    monkeypatch.setattr("tucano.requirements.second_zero.has_module", lambda *asked: asked == there)


@pytest.mark.parametrize(("words", "served"), all_commands("run"))
def test_a_run_of_the_pages_is_not_refused(
    words: list[str], served: bool, l4: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:1/api" if served else "")
    arguments = cli.parser().parse_args(words)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        settings = load_profile(ROOT, arguments.profile, arguments.set)
    assert refusals(settings) == warnings_of(settings) == []


@pytest.mark.parametrize("words", [words for words, _ in all_commands("deploy")])
def test_a_deployment_of_the_pages_lacks_nothing(words: list[str]) -> None:
    """For Vertex AI the secrets are all that the servers of `tucano up` ask for; a dry run may leave them out."""
    arguments = cli.parser().parse_args(words)
    if words[1] == "kubernetes":
        require_sound(kubernetes._plan(arguments).environment)
        return
    plan = vertex._plan(arguments)
    if not arguments.dry_run:
        require_sound(plan.environment)
        assert {*plan.secrets} == {"PREFECT_API_AUTH_STRING", "MLFLOW_TRACKING_USERNAME", "MLFLOW_TRACKING_PASSWORD"}


def test_every_page_deploys_and_no_command_of_theirs_is_left_out() -> None:
    shown = [words[1:] for words, _ in all_commands("deploy")]
    assert {words[0] for words in shown} == {"vertex", "kubernetes"}
    assert any("--provisioning" in words for words in shown)
    pages = "".join((ROOT / "docs" / page).read_text(encoding="utf-8") for page in PAGES)
    assert len(shown) == len(re.findall(r"^tucano deploy ", pages, flags=re.MULTILINE)) >= 3


def test_every_secret_of_a_deployment_is_made_on_its_page() -> None:
    made = {*re.findall(r"gcloud secrets create (\S+)", (ROOT / "docs" / "gpu.md").read_text(encoding="utf-8"))}
    (deployment,) = [words for words, _ in commands("gpu.md") if words[0] == "deploy" and "--secret" in words]
    assert {*vertex._plan(cli.parser().parse_args(deployment)).secrets.values()} == made
