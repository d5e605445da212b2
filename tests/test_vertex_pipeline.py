"""docs/gpu.md, «With Vertex AI, from a machine without a GPU»: its commands, one after the other, to a champion.

Google stands on loopback, as in tests/test_vertex.py, with `gcloud` and `docker`. `tucano up`, the work pool's worker,
the pipeline and its jobs are real; the profile l4-v5 keeps its shape and is as small as a CPU needs. Three machines are
taken away: in SFT, in the seed, and while the arms answer. It is the automation of `tucano up` that goes on from there.
"""

import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from fake_gcloud import Project
from fake_google import NAMES, ROOT, Cloud, Jobs, Metadata
from pace import until
from small_stack import free_port, stack_home
from test_docs import FENCE

from deployments.postgres import find_cluster

pytestmark = [pytest.mark.long, pytest.mark.timeout(2400)]
LONGEST_SECONDS = 1800
"""On two cores that five others used as well the first test took seventeen minutes."""
SMALLER: dict[str, dict[str, Any]] = {
    "data": {"train_prompts": 60, "validation_prompts": 26, "test_prompts": 26, "demonstrations": 80},
    "model": {
        "name": "nano", "revision": None, "device": "cpu", "dtype": "float32", "max_length_tokens": 512,
        "nano_hidden": 32, "nano_layers": 2, "nano_vocabulary": 700,
    },
    "audit": {"resamples": 100, "override_by": "Ana Souza", "override_reason": "the drill of taken machines"},
    # long enough for a machine to be taken away in the middle
    "sft": {"max_epochs": 12, "learning_rate": 0.005, "schedule": "linear", "eval_steps": 5, "save_steps": 5},
    "preflight": {"allow_red": ["completion length", "served length", *(f"signal: {task}" for task in ("extraction", "sql_qa", "insights", "push"))]},
    "grpo": {
        "seeds": [42], "max_steps": 10, "batch_size": 32, "generations": 8, "micro_batch": 32,
        "max_completion_tokens": 48, "overlong_tokens": 8, "eval_steps": 5, "save_steps": 5, "patience": 3,
        # so small a model learns within seconds to write more, and nothing else; it is promoted for that
        "rewards": "controls.length", "learning_rate": 0.01, "selection": "reward",
    },
    "comparison": {"rewards": "controls.length", "primary": "sampled", "samples": 8, "truth_margin": 1},
    "health": {"stop_on": []},
}  # fmt: skip
"""What a CPU needs in l4-v5; its losses, filters, refills and bonuses stay as they are."""
OPERATOR = (
    NAMES
    + """
import os, sys
if "deployments.vertex.worker" in sys.orig_argv:  # as it is, but for the address and the encryption of its channel
    import grpc
    from google.cloud.aiplatform_v1.services.job_service import JobServiceAsyncClient
    from google.cloud.aiplatform_v1.services.job_service.transports import JobServiceGrpcAsyncIOTransport
    from prefect_gcp.credentials import GcpCredentials
    GcpCredentials.get_job_service_async_client = lambda self, client_options: JobServiceAsyncClient(
        transport=JobServiceGrpcAsyncIOTransport(channel=grpc.aio.insecure_channel(os.environ["STANDIN_JOBS"])))
if any(word.endswith("/tucano") for word in sys.orig_argv) and "run" in sys.orig_argv:
    from tucano.training import launch
    def run_job(*given, **named):
        raise AssertionError("this machine has no GPU")
    launch.run_job = run_job
"""
)
"""What the operator's machine has besides: names of hosts, the stand-in's address, and no GPU."""


def commands() -> list[str]:
    """The page's blocks of commands."""
    page = (ROOT / "docs" / "gpu.md").read_text(encoding="utf-8")
    (section,) = re.findall(r"^### With Vertex AI.*?(?=^##)", page, re.MULTILINE | re.DOTALL)
    return [block for _, block in FENCE.findall(section)]


def project() -> str:
    """prefect.yaml whose profile l4-v5 is as small as a CPU needs."""
    content = yaml.safe_load((ROOT / "prefect.yaml").read_text(encoding="utf-8"))
    (profile,) = [
        entry
        for entry in content["deployments"]
        if (entry["name"], entry["entrypoint"]) == ("l4-v5", "flows.train.train")
    ]
    settings = profile["parameters"]["settings"]
    for section, smaller in SMALLER.items():
        settings[section] = settings.get(section, {}) | smaller
    return yaml.safe_dump(content, allow_unicode=True, sort_keys=False)


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """A folder that the unprivileged user of PostgreSQL may enter as well; in it, the project's."""
    if find_cluster(Path(tempfile.gettempdir())) is None:
        pytest.skip("PostgreSQL (Debian: postgresql) is not installed, so runs cannot go on by themselves here")
    with stack_home() as place:
        shop = place / "shop"
        shop.mkdir()
        (shop / "prefect.yaml").write_text(project(), encoding="utf-8")
        yield place


@pytest.fixture(scope="module")
def cloud() -> Iterator[Cloud]:
    cloud = Cloud("shop-bucket")
    yield cloud
    cloud.close()


@pytest.fixture(scope="module")
def jobs(cloud: Cloud, place: Path) -> Iterator[Jobs]:
    jobs = Jobs(cloud, place / "machines")
    yield jobs
    jobs.close()


@pytest.fixture(scope="module")
def only_you_know(place: Path) -> dict[str, str]:
    """What the page's first block asks for. The proxy is a name for this machine."""
    prefect, mlflow = free_port(), free_port()
    ports = place / "shop" / "runs" / "stack" / "ports.json"
    ports.parent.mkdir(parents=True)
    ports.write_text(f'{{"prefect": {prefect}, "mlflow": {mlflow}}}', encoding="utf-8")
    own = {"PROJECT": "shop-project", "REGION": "us-central1", "BUCKET": "shop-bucket"}
    own |= {"HERE_PREFECT": f"http://127.0.0.1:{prefect}", "HERE_MLFLOW": f"http://127.0.0.1:{mlflow}"}
    return own | {"PREFECT": f"http://prefect.shop.example:{prefect}", "MLFLOW": f"http://mlflow.shop.example:{mlflow}"}


@pytest.fixture(scope="module")
def environment(cloud: Cloud, jobs: Jobs, place: Path) -> Iterator[dict[str, str]]:
    """Of the operator's terminal: the stand-in's programs and addresses."""
    own_account, site = Metadata(), place / "site"
    Project(cloud, "shop-project").install(place / "bin")
    site.mkdir()
    (site / "sitecustomize.py").write_text(OPERATOR, encoding="utf-8")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PREFECT_", "MLFLOW_"))}
    yield clean | {
        "HOME": str(place),
        "XDG_STATE_HOME": str(place / "state"),
        "PATH": os.pathsep.join([str(place / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONPATH": f"{site}{os.pathsep}{ROOT}",
        "PREFECT_WORKER_QUERY_SECONDS": "1",
        "GCE_METADATA_HOST": own_account.host,
        "GCE_METADATA_IP": own_account.host,
        "STORAGE_EMULATOR_HOST": cloud.url,
        "TUCANO_GOOGLE_ENDPOINT": f"{cloud.url}/{{service}}",
        "STANDIN_JOBS": jobs.address,
    }
    own_account.close()


def begin(
    blocks: list[str], only_you_know: Mapping[str, str], environment: Mapping[str, str], place: Path
) -> subprocess.Popen[bytes]:
    """The blocks in a terminal; where the first one asks for what only the user knows, that is given."""
    answers = "\n".join(f"export {name}={shlex.quote(value)}" for name, value in only_you_know.items())
    script = "\n".join(["set -e", blocks[0], answers, *blocks[1:]])
    with (place / "terminal.log").open("ab") as log:
        return subprocess.Popen(
            ["bash", "-c", script],
            env=dict(environment),
            cwd=place / "shop",
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


@pytest.fixture(scope="module")
def terminal(
    only_you_know: dict[str, str], environment: dict[str, str], place: Path
) -> Iterator[subprocess.Popen[bytes]]:
    process = begin(commands(), only_you_know, environment, place)
    yield process
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    process.wait()
    subprocess.run(["tucano", "down"], env=environment, cwd=place / "shop", check=True, capture_output=True)


def log(place: Path, number: int) -> str:
    return (place / "machines" / f"job-{number + 1}.log").read_text(encoding="utf-8", errors="replace")


def numbers(jobs: Jobs, place: Path, what: str) -> list[int]:
    """The jobs so far of one kind, in their order, once they say what they do."""
    return [number for number in range(len(jobs.jobs)) if f"Flow run '{what}" in log(place, number)]


def test_the_pages_commands_lead_to_a_champion_whatever_machine_is_taken_away(
    terminal: subprocess.Popen[bytes], jobs: Jobs, cloud: Cloud, place: Path
) -> None:
    def said() -> str:
        return (place / "terminal.log").read_text(encoding="utf-8")

    def take_away(kind: str) -> None:
        (first,) = numbers(jobs, place, kind)
        jobs.take_away(first, notice_s=0)

    at_first_checkpoint = {"sft": "sft", "grpo-seed-42": "seed 42"}

    def strike(name: str) -> None:
        """As soon as a checkpoint is whole in the bucket, and before the machine hears so."""
        found = re.search(r"/(sft|grpo-seed-42)[^/]*/.*checkpoint-\d+/COMPLETE\.json$", name)
        if found and (kind := at_first_checkpoint.pop(found[1], None)):
            take_away(kind)

    cloud.on_upload = strike
    gone = terminal.poll

    def answering() -> bool:
        return any("answers of base" in log(place, one) for one in numbers(jobs, place, "answer"))

    until(lambda: answering() or gone() is not None, seconds=LONGEST_SECONDS)
    assert gone() is None, said()[-3000:]
    take_away("answer")
    until(lambda: gone() is not None, seconds=LONGEST_SECONDS)
    assert gone() == 0, said()[-3000:]
    kinds = ("sft", "preflight", "seed 42", "answer", "merge")
    assert [len(numbers(jobs, place, kind)) for kind in kinds] == [2, 1, 2, 2, 1]
    assert "goes on from attempt-1/checkpoint-" in log(place, numbers(jobs, place, "sft")[1])
    assert "The chain is whole" in said()


def test_the_same_command_again_asks_for_no_machine(
    terminal: subprocess.Popen[bytes],
    jobs: Jobs,
    only_you_know: dict[str, str],
    environment: dict[str, str],
    place: Path,
) -> None:
    """What is in the storage is found before a job is paid for."""
    before = len(jobs.jobs)
    assert before
    blocks = commands()
    in_this_terminal = [line for block in blocks[1:] for line in block.splitlines() if re.match("export|FILE=", line)]
    again = begin([blocks[0], *in_this_terminal, blocks[-1]], only_you_know, environment, place)
    assert again.wait() == 0, (place / "terminal.log").read_text(encoding="utf-8")[-3000:]
    assert len(jobs.jobs) == before
