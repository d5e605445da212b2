"""A seed on Vertex AI Spot machines: real Prefect server and worker, Google's real clients, Google on loopback."""

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fake_google import ROOT, Cloud, Jobs, Metadata, sound_project
from google.cloud.aiplatform_v1.types import AcceleratorType, Scheduling
from pace import until
from prefect import get_client
from prefect.client.schemas.objects import FlowRun
from prefect.deployments import run_deployment
from prefect.settings import PREFECT_API_AUTH_STRING, PREFECT_API_URL, temporary_settings
from prefect.states import AwaitingRetry
from safetensors.numpy import load

from data.prepare import prepare
from deployments.jobs import MACHINE_NAME, faults
from deployments.services import answers
from deployments.vertex.plan import Plan
from tucano.artifacts.store import Artifact, Recipe, Store
from tucano.machine_time import Stay, divided
from tucano.profiles import validated
from tucano.settings import PipelineSettings
from tucano.storage.folder import remote_of
from tucano.storage.journal import read_journal
from tucano.tracking import Tracker
from tucano.training.launch import run_job
from tucano.training.orders import JobFolders, order

pytestmark = [pytest.mark.services, pytest.mark.timeout(900)]

PASSWORD = "admin:correct-horse"
IMAGE, DIGEST = "shop-project/tucano/train:7", "sha256:" + 64 * "a"
STEPS = 16
SMALL = {
    "data": {"train_prompts": 60, "validation_prompts": 26, "test_prompts": 26, "demonstrations": 80},
    "model": {"nano_hidden": 32, "nano_layers": 1, "nano_vocabulary": 600, "max_length_tokens": 512},
    "grpo": {
        # so small a model earns nothing else; a step takes long enough for a machine to be taken away in the middle
        "rewards": "controls.length", "max_steps": STEPS, "batch_size": 64, "generations": 8, "micro_batch": 16,
        "max_completion_tokens": 96, "learning_rate": 0.01, "eval_steps": 4, "save_steps": 4, "patience": 9,
        "validation_samples": 1,
    },
    "health": {"stop_on": []},
}  # fmt: skip
WORKER = """
import asyncio, sys
import grpc
from google.cloud.aiplatform_v1.services.job_service import JobServiceAsyncClient
from google.cloud.aiplatform_v1.services.job_service.transports import JobServiceGrpcAsyncIOTransport
from prefect_gcp.credentials import GcpCredentials
from deployments.vertex.worker import Worker

def client(self, client_options):
    assert client_options.api_endpoint == "us-central1-aiplatform.googleapis.com"
    return JobServiceAsyncClient(transport=JobServiceGrpcAsyncIOTransport(channel=grpc.aio.insecure_channel(sys.argv[1])))

GcpCredentials.get_job_service_async_client = client
asyncio.run(Worker(work_pool_name="vertex-l4", name="vertex").start())
"""
"""The worker as it is, but for the address and the encryption of its gRPC channel."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("vertex")


@pytest.fixture(scope="module")
def server(place: Path) -> Iterator[int]:
    """A Prefect server that wants a password; its port."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = int(probe.getsockname()[1])
    own = {
        "PREFECT_HOME": str(place / "prefect"),
        "PREFECT_SERVER_API_AUTH_STRING": PASSWORD,
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    }
    command = [sys.executable, "-m", "prefect", "server", "start", "--port", str(port), "--no-services"]
    with (place / "server.log").open("wb") as log:
        process = subprocess.Popen(command, env={**os.environ, **own}, stdout=log, stderr=subprocess.STDOUT)
    until(lambda: answers(f"http://127.0.0.1:{port}/api/health"))
    with temporary_settings({PREFECT_API_URL: f"http://127.0.0.1:{port}/api", PREFECT_API_AUTH_STRING: PASSWORD}):
        yield port
    process.terminate()
    process.wait(600)


@pytest.fixture(scope="module")
def cloud() -> Iterator[Cloud]:
    cloud = Cloud("shop-bucket")
    cloud.secrets["prefect-password"] = PASSWORD
    yield cloud
    cloud.close()


@pytest.fixture(scope="module")
def jobs(cloud: Cloud, place: Path) -> Iterator[Jobs]:
    jobs = Jobs(cloud, place / "machines")
    yield jobs
    jobs.close()


def plan(port: int) -> Plan:
    return Plan(
        project="shop-project",
        region="us-central1",
        bucket="shop-bucket",
        image=f"us-central1-docker.pkg.dev/shop-project/tucano/train@{DIGEST}",
        api_url=f"http://prefect.shop.example:{port}/api",
        tracking_uri="https://mlflow.shop.example",
        service_account="trainer@shop-project.iam.gserviceaccount.com",
        secrets={"PREFECT_API_AUTH_STRING": "prefect-password"},
    )


@pytest.fixture(scope="module")
def environment(server: int, cloud: Cloud, place: Path) -> Iterator[dict[str, str]]:
    """Of an operator's machine: full of what no job may see."""
    own_account = Metadata()
    yield {
        **os.environ,
        "PREFECT_HOME": str(place / "prefect"),
        "PREFECT_API_URL": f"http://127.0.0.1:{server}/api",
        "PREFECT_API_AUTH_STRING": PASSWORD,
        "PREFECT_SERVER_DATABASE_CONNECTION_URL": "postgresql+asyncpg://tucano:staple@127.0.0.1/prefect",
        "PREFECT_WORKER_QUERY_SECONDS": "1",
        "GCE_METADATA_HOST": own_account.host,
        "GCE_METADATA_IP": own_account.host,
        "TUCANO_GOOGLE_ENDPOINT": f"{cloud.url}/{{service}}",
        "PYTHONPATH": str(ROOT),
    }
    own_account.close()


def deploy(environment: dict[str, str], server: int, *more: str) -> str:
    """What `tucano deploy vertex` prints."""
    asked = plan(server)
    names = ("project", "region", "bucket", "service_account", "api_url", "tracking_uri")
    pairs = {name: getattr(asked, name) for name in names} | {"image": f"us-central1-docker.pkg.dev/{IMAGE}"}
    options = [part for name, value in pairs.items() for part in (f"--{name.replace('_', '-')}", value)]
    command = [sys.executable, "-m", "tucano.cli", "deploy", "vertex", *options, *more]
    command += ["--secret", "PREFECT_API_AUTH_STRING=prefect-password"]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def worker(environment: dict[str, str], server: int, jobs: Jobs, cloud: Cloud, place: Path) -> Iterator[None]:
    """The deployed pool's worker."""
    sound_project(cloud, "shop-project", plan(server).service_account, "prefect-password", IMAGE, DIGEST)
    assert "seed/vertex-l4 and stage/vertex-l4 are ready" in deploy(environment, server, "--yes")
    with (place / "worker.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", WORKER, jobs.address], env=environment, stdout=log, stderr=subprocess.STDOUT
        )
    yield
    process.terminate()
    process.wait(600)


@pytest.fixture(scope="module")
def settings(place: Path) -> PipelineSettings:
    return validated({**SMALL, "storage": "gs://shop-bucket/tucano", "tracking_uri": f"sqlite:///{place}/mlflow.db"})


@pytest.fixture(scope="module")
def pipeline(settings: PipelineSettings, cloud: Cloud, place: Path) -> dict[str, Artifact]:
    """What the pipeline's run has made before its seeds: prompts, and a start that knows nothing yet. In the bucket."""
    from tucano.training.policies.nano import build_model, build_tokenizer

    def prompts(draft: Path) -> dict[str, Any]:
        prepare(settings.data, 7, settings.tasks, draft)
        return {}

    def start(draft: Path) -> dict[str, Any]:
        tokenizer = build_tokenizer([(made["data"].folder / "train.jsonl").read_text(encoding="utf-8")], settings.model)
        tokenizer.save_pretrained(draft / "model")
        build_model(tokenizer, settings.model, 7).save_pretrained(draft / "model")
        return {}

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STORAGE_EMULATOR_HOST", cloud.url)
        store = Store(place / "pipeline", remote_of(settings.storage))
        made: dict[str, Artifact] = {}
        for name, produce in {"data": prompts, "sft": start}.items():
            made[name] = store.make(Recipe(name, {}, {}, ""), produce, lambda sentence: None)
    return made


@pytest.fixture(scope="module")
def undisturbed(settings: PipelineSettings, pipeline: dict[str, Artifact], place: Path) -> Path:
    """The same seed, trained here in one go."""
    work, output = place / "undisturbed" / "work", place / "undisturbed" / "output"
    output.mkdir(parents=True)
    start = (str(pipeline["sft"].folder / "model"), None)
    job = order(
        "grpo", settings, 42, 1, JobFolders(prompts=pipeline["data"].folder, work=work, output=output), start=start
    )
    run_job(job, None, lambda progress: None)
    return output


def state_of(run: FlowRun) -> Any:
    with get_client(sync_client=True) as client:
        return client.read_flow_run(run.id).state


def checkpoints(cloud: Cloud, attempt: int) -> list[int]:
    """Steps of an attempt's checkpoints that are whole in the bucket."""
    found = (re.search(rf"/attempt-{attempt}/checkpoint-(\d+)/COMPLETE.json$", name) for name in list(cloud.objects))
    return sorted(int(match[1]) for match in found if match)


def name_of(artifact: Artifact) -> str:
    return f"{artifact.folder.parent.name}/{artifact.folder.name}"


def schedule_again(run: FlowRun) -> None:
    """What the automation does ten seconds after a crash."""
    until(lambda: state_of(run).is_crashed())
    with get_client(sync_client=True) as client:
        client.set_flow_run_state(run.id, AwaitingRetry(), force=True)


@pytest.fixture(scope="module")
def run(worker: None, settings: PipelineSettings, pipeline: dict[str, Artifact], place: Path) -> FlowRun:
    parameters = {
        "settings": settings.model_dump(mode="json"),
        "seed": 42,
        "prompts": name_of(pipeline["data"]),
        "start": name_of(pipeline["sft"]),
        "tracking_run": Tracker.connect(settings.tracking_uri, place).start_pipeline("test", {}, {}),
    }
    quick = {"job_watch_poll_interval": 0.5}
    found = run_deployment("seed/vertex-l4", parameters=parameters, timeout=0, job_variables=quick, as_subflow=False)
    assert isinstance(found, FlowRun)
    return found


def test_a_seed_whose_machines_are_taken_away_ends_as_if_nothing_had_happened(
    run: FlowRun, jobs: Jobs, cloud: Cloud, undisturbed: Path, place: Path
) -> None:
    until(lambda: checkpoints(cloud, attempt=1))
    jobs.take_away(0, notice_s=0)
    schedule_again(run)

    until(lambda: checkpoints(cloud, attempt=2))
    began = time.monotonic()
    jobs.take_away(1, notice_s=120)
    assert jobs.machines[1].process.returncode == 1 and time.monotonic() - began < 100, "the container left by itself"
    saved = checkpoints(cloud, attempt=2)[-1]
    schedule_again(run)

    until(lambda: state_of(run).is_final())
    log = (place / "machines" / "job-3.log").read_text(encoding="utf-8")
    assert state_of(run).is_completed(), log
    assert f"attempt 3 goes on from attempt-2/checkpoint-{saved}" in log
    made = {name.partition(f"{state_of(run).message}/")[2]: content for name, content in cloud.objects.items()}
    weights = "adapter/adapter_model.safetensors"
    assert made[weights] == (undisturbed / weights).read_bytes()
    assert any(tensor.any() for name, tensor in load(made[weights]).items() if "lora_B" in name)
    (place / "journal.jsonl").write_bytes(made["journal.jsonl"])
    steps = [entry.step for entry in read_journal(place / "journal.jsonl") if "train/reward/total" in entry.values]
    assert steps == list(range(1, STEPS + 1))
    assert not [name for name in cloud.objects if "/work/" in name], "its checkpoints are not needed any more"


def test_its_machine_hours_hold_all_three_machines(run: FlowRun, cloud: Cloud) -> None:
    (place,) = [name for name in cloud.objects if "/grpo-seed-42/" in name and name.endswith("manifest.json")]
    manifest = cloud.objects[place]
    stays = [Stay(**stay) for stay in json.loads(manifest)["record"]["machine_time"]]
    held = divided(stays)
    assert [stay.machine for stay in stays] == 3 * ["g2-standard-8 spot us-central1"]
    assert 0 < sum(part.lost_hours for part in held) < sum(part.hours for part in held)


def test_every_job_asks_for_one_l4_on_a_spot_machine(run: FlowRun, jobs: Jobs) -> None:
    assert [job.job_spec.scheduling.strategy for job in jobs.jobs] == 3 * [Scheduling.Strategy.SPOT]
    for job in jobs.jobs:
        (pool,) = job.job_spec.worker_pool_specs
        assert (pool.machine_spec.machine_type, pool.machine_spec.accelerator_count) == ("g2-standard-8", 1)
        assert pool.machine_spec.accelerator_type == AcceleratorType.NVIDIA_L4
        scheduling = job.job_spec.scheduling
        assert scheduling.disable_retries
        assert not scheduling.restart_job_on_worker_restart and scheduling.timeout.total_seconds() == 72 * 3600
        assert job.job_spec.service_account == "trainer@shop-project.iam.gserviceaccount.com"
        assert job.job_spec.base_output_directory.output_uri_prefix == "gs://shop-bucket/vertex"
        assert pool.container_spec.image_uri == f"us-central1-docker.pkg.dev/shop-project/tucano/train@{DIGEST}"
        assert job.name.startswith("projects/shop-project/locations/us-central1/")


def test_no_secret_and_no_local_address_stands_in_a_job(run: FlowRun, jobs: Jobs, server: int, place: Path) -> None:
    """Its worker had a password, a database's address and folders in its own environment."""
    for job in jobs.jobs:
        text = type(job).to_json(job)
        for word in ("correct-horse", "staple", "127.0.0.1", "localhost", str(place), str(ROOT)):
            assert word not in text
        (pool,) = job.job_spec.worker_pool_specs
        environment = {variable.name: variable.value for variable in pool.container_spec.env}
        assert faults(environment) == []
        assert environment[MACHINE_NAME] == "g2-standard-8 spot us-central1"
        assert plan(server).environment.items() <= environment.items()
        more = {name for name in environment if name not in plan(server).environment}
        assert more <= {
            f"PREFECT__{of}_{what}" for of in ("FLOW_RUN", "FLOW", "DEPLOYMENT", "WORKER") for what in ("ID", "NAME")
        }
