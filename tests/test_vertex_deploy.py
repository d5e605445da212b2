"""`tucano deploy vertex`: the plan, what Google is asked, a job's environment, the container's first process."""

import asyncio
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import fake_google
import google.auth
import pytest
from fake_google import ROOT, Cloud, Metadata
from google.auth.credentials import AnonymousCredentials
from google.auth.exceptions import RefreshError
from prefect.client.schemas.objects import State
from prefect.states import AwaitingRetry, Pending, Running
from prefect.utilities.templating import apply_values
from prefect_gcp.workers.vertex import VertexAIWorker, VertexAIWorkerJobConfiguration, VertexAIWorkerResult

from deployments.jobs import faults, require_sound
from deployments.vertex import checks, start
from deployments.vertex.command import _checked
from deployments.vertex.google import Google
from deployments.vertex.plan import Plan, template
from deployments.vertex.worker import JobConfiguration, Worker
from tucano.cli import main as cli
from tucano.errors import UserError

PLAN = Plan(
    project="shop",
    region="us-central1",
    bucket="shop-bucket",
    image="us-central1-docker.pkg.dev/shop/tucano/train:7",
    api_url="https://prefect.shop.example/api",
    tracking_uri="https://mlflow.shop.example",
    service_account="trainer@shop.iam.gserviceaccount.com",
    secrets={"PREFECT_API_AUTH_STRING": "prefect-password"},
)
DIGEST = "sha256:" + 64 * "7"
QUOTA = fake_google.QUOTA.format(project="shop")
IMAGE = "registry/v2/shop/tucano/train/manifests/7"
SECRET = "secretmanager/v1/projects/shop/secrets/prefect-password/versions/latest"

THIRD = "projects/shop/secrets/prefect-password/versions/3"


def limits(*buckets: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    return 200, {"consumerQuotaLimits": [{"unit": "1/{project}/{region}", "quotaBuckets": list(buckets)}]}


@pytest.fixture(autouse=True)
def logged_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(google.auth, "default", lambda *given, **named: (AnonymousCredentials(), "shop"))


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch) -> Iterator[Cloud]:
    """A project in which everything is as it should be."""
    cloud = Cloud("shop-bucket")
    fake_google.sound_project(cloud, "shop", PLAN.service_account, "prefect-password", "shop/tucano/train:7", DIGEST)
    monkeypatch.setenv("TUCANO_GOOGLE_ENDPOINT", f"{cloud.url}/{{service}}")
    yield cloud
    cloud.close()


def levels(plan: Plan = PLAN) -> dict[str, str]:
    return {check.name: check.level for check in checks.ask(plan, Google())[0]}


def test_a_sound_project_passes_every_check_and_the_image_is_pinned(cloud: Cloud) -> None:
    found, plan = checks.ask(PLAN, Google())
    assert {check.level for check in found} == {"ok"}, found
    assert plan.image == f"us-central1-docker.pkg.dev/shop/tucano/train@{DIGEST}"
    assert len(found) == 12, "API, quota, rights, account, bucket, four on objects, one on secrets, secret, image"


SERVICE = "serviceusage/v1/projects/shop/services/aiplatform.googleapis.com"
RIGHTS = "cloudresourcemanager/v1/projects/shop:testIamPermissions"
BUCKET = "storage/storage/v1/b/shop-bucket"
ACCOUNT = "policytroubleshooter/v1/iam:troubleshoot"
NOT_FOUND = (404, {"error": {"message": "not found"}})
BROKEN: dict[str, tuple[str, Any, str, str]] = {
    "interface off": (SERVICE, (200, {"state": "DISABLED"}), "Vertex AI", "fails"),
    "no quota here": (QUOTA, limits({"effectiveLimit": "0"}), "quota", "fails"),
    "quota elsewhere": (QUOTA, limits({"effectiveLimit": "8", "dimensions": {"region": "eu"}}), "quota", "fails"),
    "quota unlimited": (QUOTA, limits({"effectiveLimit": "-1", "dimensions": None}), "quota", "ok"),
    "quota not told": (QUOTA, (403, {"error": {"message": "Service Usage API has not been used"}}), "quota", "not asked"),
    "quota null": (QUOTA, (200, {"consumerQuotaLimits": None}), "quota", "not asked"),
    "quota of no number": (QUOTA, limits({"effectiveLimit": "many"}), "quota", "not asked"),
    "quota empty": (QUOTA, (200, {"consumerQuotaLimits": []}), "quota", "not asked"),
    "rights as a text": (RIGHTS, (200, {"permissions": "aiplatform"}), "your rights", "not asked"),
    "bucket nowhere": (BUCKET, (200, {"location": ""}), "bucket", "not asked"),
    "may not submit": (RIGHTS, (200, {"permissions": None}), "your rights", "fails"),
    "no bucket": (BUCKET, NOT_FOUND, "bucket", "fails"),
    "bucket far away": (BUCKET, (200, {"location": "EU"}), "bucket", "warn"),
    "bucket in the US": (BUCKET, (200, {"location": "US"}), "bucket", "ok"),
    "bucket refused oddly": (BUCKET, (500, {"error": None}), "bucket", "not asked"),
    "account may not write": (ACCOUNT, (200, {"access": "NOT_GRANTED"}), "account: storage.objects.create", "warn"),
    "secret without version": (SECRET, NOT_FOUND, "secret prefect-password", "fails"),
    "secret disabled": (SECRET, (200, {"state": "DISABLED"}), "secret prefect-password", "fails"),
    "secret untold": (SECRET, (200, {}), "secret prefect-password", "not asked"),
    "no image": (IMAGE, (404, {"errors": []}), "image", "fails"),
    "registry refuses": (IMAGE, (403, b"denied"), "image", "not asked"),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_what_is_wrong_is_named(cloud: Cloud, case: str) -> None:
    path, reply, name, level = BROKEN[case]
    cloud.replies[path] = reply
    assert levels()[name] == level


def test_services_that_cannot_be_reached_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TUCANO_GOOGLE_ENDPOINT", "http://127.0.0.1:1/{service}")
    found, _ = checks.ask(PLAN, Google())
    assert {check.level for check in found} == {"not asked"}
    assert all("127.0.0.1 cannot be reached (ConnectionError" in check.evidence for check in found)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (RefreshError("invalid_grant"), "^Google refuses these credentials: invalid_grant"),
        (RefreshError("no name", retryable=True), "^Google cannot be asked: no name"),
    ],
)
def test_only_a_refusal_is_one(error: Exception, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def raising(plan: Plan, google: Google) -> None:
        raise error

    monkeypatch.setattr(checks, "ask", raising)
    with pytest.raises(UserError, match=said):
        _checked(PLAN)


@pytest.mark.parametrize("reply", [{}, {"payload": None}, {"payload": {"data": "/w=="}}])
def test_a_secret_without_text_is_a_sentence_of_the_container(cloud: Cloud, reply: dict[str, Any]) -> None:
    cloud.replies[f"secretmanager/v1/{THIRD}:access"] = (200, reply)
    with pytest.raises(UserError, match="for A holds no text"):
        start.fetched(f"A={THIRD}")


def test_the_container_asks_again_while_nobody_answers(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start, "SECRET_PAUSES", (0.0, 0.0))
    replies = iter([(503, {}), (429, {}), (200, {"payload": {"data": "Yg=="}})])
    cloud.replies[f"secretmanager/v1/{THIRD}:access"] = lambda body: next(replies)
    assert start.fetched(f"A={THIRD}") == {"A": "b"}
    monkeypatch.setenv("TUCANO_GOOGLE_ENDPOINT", "http://127.0.0.1:1/{service}")
    with pytest.raises(UserError, match=r"Secret Manager did not answer, asked 3 times \(127\.0\.0\.1 cannot be"):
        start.fetched(f"A={THIRD}")


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("PREFECT_API_URL", "http://127.0.0.1:4200/api", "an address of this machine"),
        ("MLFLOW_TRACKING_URI", "http://[::1]:5000", "an address of this machine"),
        ("MLFLOW_TRACKING_URI", "sqlite:////home/ana/runs/mlflow.db", "a file of this machine"),
        ("MLFLOW_TRACKING_URI", "postgresql://mlflow:staple@db.shop.example/mlflow", "holds a secret"),
        ("HF_TOKEN", "hf_abc", "holds a secret"),
        ("PREFECT_SERVER_DATABASE_CONNECTION_URL", "x", "holds a secret"),
    ],
)
def test_secrets_and_local_addresses_are_kept_out_of_jobs(name: str, value: str, said: str) -> None:
    assert any(said in fault for fault in faults({name: value}))


def test_a_plan_names_its_secrets_and_holds_none() -> None:
    require_sound(PLAN.environment)
    named = "PREFECT_API_AUTH_STRING=projects/shop/secrets/prefect-password/versions/latest"
    assert PLAN.environment["TUCANO_SECRETS"] == named
    with pytest.raises(UserError, match="PREFECT_API_URL=http://localhost:4200/api is an address of this machine"):
        require_sound(replace(PLAN, api_url="http://localhost:4200/api").environment)
    with pytest.raises(UserError, match="give --tracking-uri"):
        require_sound(replace(PLAN, tracking_uri="").environment)


def test_the_template_has_every_field_that_prefects_worker_reads() -> None:
    """And what its own template lacks: where Vertex AI puts a job's output."""
    ours = template(PLAN)["job_configuration"]
    theirs = VertexAIWorker.get_default_base_job_template()["job_configuration"]
    left_out = ("network", "reserved_ip_ranges", "enable_web_access", "enable_dashboard_access")
    unused = {f"job_spec.{name}" for name in left_out}
    assert paths(theirs) - paths(ours) == unused
    assert ours["job_spec"]["base_output_directory"] == {"output_uri_prefix": "gs://shop-bucket/vertex"}
    assert {*ours} == {*JobConfiguration.model_fields} > {*VertexAIWorkerJobConfiguration.model_fields}


def configured(plan: Plan, **chosen: Any) -> JobConfiguration:
    """A job's configuration as a worker makes it of the pool's template and what was chosen for the run."""
    made = template(plan)
    defaults = {name: one["default"] for name, one in made["variables"]["properties"].items() if "default" in one}
    values = {**defaults, "name": "seed 42", **chosen}
    found = JobConfiguration.model_validate(apply_values(made["job_configuration"], values, remove_notset=True))
    found._inject_formatted_env_vars()
    return found


def job(configuration: JobConfiguration) -> Any:
    """What Google is asked for."""
    return object.__new__(Worker)._build_job_spec(configuration)


def machine_of(spec: Any) -> str:
    (pool,) = spec.worker_pool_specs
    return next(str(variable.value) for variable in pool.container_spec.env if variable.name == "TUCANO_MACHINE")


@pytest.mark.parametrize(
    ("provisioning", "strategy", "waits_hours"), [("spot", 4, 0), ("flex-start", 6, 24), ("on-demand", 3, 0)]
)
def test_a_machine_is_had_as_the_plan_says(provisioning: str, strategy: int, waits_hours: int) -> None:
    """The numbers are those of Google's Scheduling.Strategy."""
    asked = configured(replace(PLAN, provisioning=provisioning))
    asked.provide()
    spec = job(asked)
    assert spec.scheduling.strategy == strategy and spec.scheduling.disable_retries
    assert spec.scheduling.timeout.total_seconds() == 72 * 3600
    assert spec.scheduling.max_wait_duration.total_seconds() == waits_hours * 3600
    assert machine_of(spec) == f"g2-standard-8 {provisioning} us-central1"
    assert fake_google.refused(spec) is None


def test_the_quota_is_that_of_the_kind_of_machine(cloud: Cloud) -> None:
    assert levels(replace(PLAN, provisioning="flex-start"))["quota"] == "ok", "it counts against that of Spot"
    cloud.replies[QUOTA.replace("preemptible_", "")] = limits({"effectiveLimit": "0"})
    assert levels(replace(PLAN, provisioning="on-demand"))["quota on demand"] == "fails"


def paths(value: Any, prefix: str = "") -> set[str]:
    if isinstance(value, list):
        return {path for item in value for path in paths(item, prefix)}
    if not isinstance(value, dict) or prefix.endswith(("scheduling", "credentials", "output_directory")) or not value:
        return {prefix}
    return {path for name, inner in value.items() for path in paths(inner, f"{prefix}.{name}" if prefix else name)}


ASKED = (
    "deploy", "vertex", "--project", "shop", "--region", "us-central1", "--bucket", "gs://shop-bucket", "--image", "train:7",
)  # fmt: skip
OWN = {"PATH": "/usr/bin:/bin", "HOME": "/nowhere", "PYTHONPATH": str(ROOT)}
"""The environment of a person who has set nothing."""


def command(*more: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "tucano.cli", *ASKED, *more]
    return subprocess.run(words, env=OWN, cwd=ROOT, capture_output=True, text=True)


def test_a_dry_run_needs_no_credentials_and_says_what_is_missing() -> None:
    shown = command("--dry-run", "--secret", "HF_TOKEN=hugging-face")
    assert shown.returncode == 0, shown.stderr
    assert "g2-standard-8 with one NVIDIA_L4, spot (at most 72 h with its time in the queue)" in shown.stdout
    assert "HF_TOKEN=projects/shop/secrets/hugging-face/versions/latest" in shown.stdout
    assert "to mend: PREFECT_API_URL is missing" in shown.stdout and "Nothing was asked" in shown.stdout


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--provisioning", "preemptible"), "invalid choice: 'preemptible'"),
        (("--project", "", "--dry-run"), "--project '' is no name that Google takes, like shop-project"),
        (("--bucket", "gs://b/sub/../x?y=z", "--dry-run"), "--bucket 'b/sub/../x?y=z' is no name"),
        (("--service-account", "nobody", "--dry-run"), "--service-account 'nobody' is no name"),
        (("--secret", "A B=c,D=projects/evil/secrets/s", "--dry-run"), "names no secret for a variable of a job"),
        (("--secret", "PASSWORD=hunter2!", "--dry-run"), "--secret PASSWORD names no secret"),
        (("--api-url", "x.example/api", "--tracking-uri", "https://b"), "is no address of a server, like https://"),
        (("--api-url", "https://a", "--tracking-uri", "http://[::1"), "MLFLOW_TRACKING_URI=http://[::1 is no address"),
        ((), "no address of the Prefect server is known"),
        (("--api-url", "http://localhost:4200/api", "--tracking-uri", "https://b"), "is an address of this machine"),
    ],
)
def test_a_mistake_is_one_sentence(
    more: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In this process: the next test sees what becomes of such a sentence in one of its own."""
    for name in set(os.environ) - {*OWN}:
        monkeypatch.delenv(name)
    for name, value in OWN.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(ROOT)
    with pytest.raises((UserError, SystemExit)) as refused:
        asked = cli.parser().parse_args([*ASKED, *more])
        cli.COMMANDS[asked.command](asked)
    if isinstance(refused.value, SystemExit):  # said by the parser itself
        assert refused.value.code == 2 and said in capsys.readouterr().err
    else:
        assert said in str(refused.value)


def test_a_mistake_ends_the_command_with_2() -> None:
    refused = command("--secret", "HF_TOKEN")
    assert refused.returncode == 2 and refused.stderr.startswith("tucano: --secret HF_TOKEN names no secret")
    assert len(refused.stderr.splitlines()) == 1


def test_the_container_fetches_its_secrets_or_says_which_not(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    class Credentials(AnonymousCredentials):
        def apply(self, headers: dict[str, str], token: str | None = None) -> None:
            headers["Authorization"] = "Bearer token-of-the-job"

        def before_request(self, request: Any, method: str, url: str, headers: dict[str, str]) -> None:
            self.apply(headers)

    monkeypatch.setattr(google.auth, "default", lambda *given, **named: (Credentials(), "shop"))
    cloud.secrets["prefect-password"] = "admin:correct-horse=battery"
    named = "A=projects/shop/secrets/prefect-password/versions/latest"
    assert start.fetched(named) == {"A": "admin:correct-horse=battery"}
    assert start.fetched("") == {}
    with pytest.raises(UserError, match="secrets/other/versions/latest for B cannot be read"):
        start.fetched(f"{named},B=projects/shop/secrets/other/versions/latest")


def test_a_container_on_a_machine_without_an_account_says_so(tmp_path: Path) -> None:
    nowhere = OWN | {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "GCE_METADATA_HOST": "127.0.0.1:1"}
    secret = {"TUCANO_SECRETS": "PASSWORD=projects/shop/secrets/other/versions/latest"}
    command = [sys.executable, "-m", "deployments.vertex.start"]
    said = subprocess.run(command, env=nowhere | secret, cwd=tmp_path, capture_output=True, text=True)
    assert said.returncode == 2
    assert said.stderr.splitlines()[-1].startswith("tucano: the secrets PASSWORD cannot be read: Google ")
    assert "Traceback" not in said.stderr


def test_the_notice_of_a_preemption_is_heard_at_once_and_acted_on_once(monkeypatch: pytest.MonkeyPatch) -> None:
    metadata, acted = Metadata(), threading.Event()
    monkeypatch.setenv("GCE_METADATA_HOST", metadata.host)
    watch = threading.Thread(target=start.on_preemption, args=(acted.set,), daemon=True)
    watch.start()
    assert not acted.wait(0.3)
    metadata.preempted.set()
    assert acted.wait(2)
    watch.join(2)
    assert not watch.is_alive()
    assert len(metadata.asked) == 2, "one look, and one request that is held until the value changes"
    metadata.close()


@pytest.mark.parametrize(
    ("state", "latest_job", "code"),
    [
        (Running(), "jobs/1", 1),
        (Pending(), "jobs/2", 0),  # a later job has been submitted for the run
        (Running(), "jobs/2", 0),
        (AwaitingRetry(), "jobs/1", 0),  # one will be
    ],
)
def test_a_failed_job_of_a_run_that_has_gone_on_is_no_crash(
    state: State[Any], latest_job: str, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(self: Any, flow_run: Any, configuration: Any, status: Any) -> VertexAIWorkerResult:
        status.started("jobs/1")
        return VertexAIWorkerResult(identifier="job", status_code=1)

    async def read_flow_run(identity: Any) -> SimpleNamespace:
        return SimpleNamespace(infrastructure_pid=latest_job, state=state)

    monkeypatch.setattr(VertexAIWorker, "run", fails)
    monkeypatch.setattr(Worker, "client", SimpleNamespace(read_flow_run=read_flow_run))
    monkeypatch.setattr(Worker, "get_flow_run_logger", lambda self, flow_run: logging.getLogger("test"))
    worker = object.__new__(Worker)
    assert asyncio.run(worker.run(SimpleNamespace(id="run"), configured(PLAN))).status_code == code  # type: ignore[arg-type]
