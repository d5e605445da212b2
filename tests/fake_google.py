"""Google Cloud on loopback, as far as the Vertex AI path touches it; real clients talk to it over real sockets.

`Cloud` is the REST side (Cloud Storage, Secret Manager and the services that `tucano deploy vertex` asks), `Machine` a
Spot machine with its metadata server and an empty disk, `Jobs` the gRPC JobService that runs the containers of custom
jobs as processes there.
"""

import base64
import contextlib
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent import futures
from datetime import timedelta
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import grpc
import psutil
from google.cloud.aiplatform_v1.types import AcceleratorType, Scheduling, custom_job, job_service
from google.cloud.aiplatform_v1.types.job_state import JobState
from google.protobuf import empty_pb2
from here import Answering

FLEXIBLE = (
    "NVIDIA_L4",
    "NVIDIA_TESLA_A100",
    "NVIDIA_A100_80GB",
    "NVIDIA_H100_80GB",
    "NVIDIA_H200_141GB",
    "NVIDIA_B200",
)
ROOT = Path(__file__).parent.parent
QUOTA = (
    "serviceusage/v1beta1/projects/{project}/services/aiplatform.googleapis.com/consumerQuotaMetrics/"
    "aiplatform.googleapis.com%2Fcustom_model_training_preemptible_nvidia_l4_gpus"
)
NAMES = """
import socket

known = socket.getaddrinfo
socket.getaddrinfo = lambda host, *more, **named: known("127.0.0.1" if ".example" in str(host) else host, *more, **named)
"""
"""Name service of the machines' network: the servers of shop.example are on this machine."""

Reply = tuple[int, dict[str, Any] | bytes]


class Server:
    """An HTTP server on a free port; `answer(method, path, query, headers, body)` gives status and content, in JSON or
    bytes.
    """

    def __init__(self) -> None:
        self.asked: list[str] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.handle_error = lambda *_: None  # type: ignore[method-assign]  # clients are killed in these tests
        self._server.daemon_threads = True
        self.host = f"127.0.0.1:{self._server.server_port}"
        self.url = f"http://{self.host}"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, method: str, path: str, query: dict[str, str], headers: Any, body: bytes) -> Reply:
        raise NotImplementedError

    def _handler(self) -> type[Answering]:
        server = self

        class Handler(Answering):
            protocol_version = "HTTP/1.1"

            def _any(self) -> None:
                body = self.body()
                parts = urlsplit(self.path)
                query = {name: values[-1] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
                server.asked.append(f"{self.command} {parts.path}")
                status, content = server.answer(self.command, parts.path, query, self.headers, body)
                if isinstance(content, bytes):
                    data, kind = content, "application/octet-stream"
                else:
                    data, kind = json.dumps(content).encode(), "application/json"
                own = {"Content-Type": kind, "Metadata-Flavor": "Google"}
                self.reply(status, data, own | server.headers(parts.path))

            do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = _any

        return Handler

    def headers(self, path: str) -> dict[str, str]:
        return {}


class Cloud(Server):
    """Buckets with their objects, secrets, and what other services answer: {"SERVICE/path": reply} or a function of the
    body.
    """

    def __init__(self, bucket: str) -> None:
        self.objects: dict[str, bytes] = {}
        self.bucket = bucket
        self.secrets: dict[str, str] = {}
        self.replies: dict[str, Reply | Callable[[dict[str, Any]], Reply]] = {}
        self.reply_headers: dict[str, dict[str, str]] = {}
        self.on_upload: Callable[[str], None] = lambda name: None
        super().__init__()

    def headers(self, path: str) -> dict[str, str]:
        return self.reply_headers.get(path.lstrip("/"), {})

    def answer(self, method: str, path: str, query: dict[str, str], headers: Any, body: bytes) -> Reply:
        if path.startswith(("/storage/v1/b/", "/upload/storage/v1/b/", "/download/storage/v1/b/")):
            return self._storage(method, path, query, body)
        secret = re.fullmatch(r"/secretmanager/v1/projects/[\w-]+/secrets/([\w-]+)/versions/latest:access", path)
        if secret and headers.get("Authorization") != "Bearer token-of-the-job":
            return 401, {"error": {"message": "no credentials"}}
        if secret and secret[1] in self.secrets:
            return 200, {"payload": {"data": base64.b64encode(self.secrets[secret[1]].encode()).decode()}}
        reply = self.replies.get(path.lstrip("/"), (404, {"error": {"message": f"{path} was not found"}}))
        return reply(json.loads(body or b"{}")) if callable(reply) else reply

    def _storage(self, method: str, path: str, query: dict[str, str], body: bytes) -> Reply:
        """The part of Cloud Storage's JSON API that gcsfs uses."""
        found = re.fullmatch(r"(?:/upload|/download)?/storage/v1/b/([^/]+)(?:/o(?:/(.+))?)?", path)
        assert found is not None, path
        bucket, name = found[1], unquote(found[2]) if found[2] else None
        if bucket != self.bucket:
            return 404, {"error": {"code": 404, "message": f"bucket {bucket} was not found"}}
        if path.startswith("/upload"):
            return self._upload(query, body)
        if name is None:
            return (
                (200, self._listing(query))
                if path.endswith("/o")
                else (200, {"name": bucket, "kind": "storage#bucket"})
            )
        if name not in self.objects:
            return 404, {"error": {"code": 404, "message": f"No such object: {bucket}/{name}"}}
        if method == "DELETE":
            del self.objects[name]
            return 204, b""
        return 200, self.objects[name] if query.get("alt") == "media" else self._about(name)

    def _upload(self, query: dict[str, str], body: bytes) -> Reply:
        assert query["uploadType"] == "multipart", "objects of tests are below 5 MiB"
        boundary = body.split(b"\n", 1)[0]
        second, end = body.index(boundary, len(boundary)), body.rindex(boundary)
        about, content = body[len(boundary) : second], body[second + len(boundary) : end - 1]
        name = json.loads(about.split(b"\n\n", 1)[1])["name"]
        if query.get("ifGenerationMatch") == "0" and name in self.objects:
            return 412, {
                "error": {"code": 412, "message": "At least one of the pre-conditions you specified did not hold."}
            }
        self.objects[name] = content.split(b"\n\n", 1)[1]
        self.on_upload(name)
        return 200, self._about(name)

    def _listing(self, query: dict[str, str]) -> dict[str, Any]:
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter")
        names = sorted(name for name in self.objects if name.startswith(prefix))
        folders = {
            prefix + name.removeprefix(prefix).partition("/")[0] + "/"
            for name in names
            if "/" in name.removeprefix(prefix)
        }
        if not delimiter:
            return {"items": [self._about(name) for name in names]}
        return {
            "items": [self._about(name) for name in names if "/" not in name.removeprefix(prefix)],
            "prefixes": sorted(folders),
        }

    def _about(self, name: str) -> dict[str, Any]:
        content = self.objects[name]
        return {
            "kind": "storage#object",
            "name": name,
            "bucket": self.bucket,
            "size": str(len(content)),
            "md5Hash": base64.b64encode(hashlib.md5(content).digest()).decode(),
            "generation": "1",
            "timeCreated": "2026-11-21T00:00:00.000Z",
            "updated": "2026-11-21T00:00:00.000Z",
        }


def sound_project(cloud: Cloud, project: str, account: str, secret: str, image: str, digest: str) -> None:
    """Let the cloud answer that everything is as `tucano deploy vertex` wants it, in us-central1. `image` is PATH:TAG
    in the registry.
    """
    path, _, tag = image.partition(":")
    manifest = f"registry/v2/{path}/manifests/{tag}"
    limits = [{"effectiveLimit": "0"}, {"effectiveLimit": "3", "dimensions": {"region": "us-central1"}}]
    cloud.replies |= {
        f"serviceusage/v1/projects/{project}/services/aiplatform.googleapis.com": (200, {"state": "ENABLED"}),
        f"{QUOTA.format(project=project)}": (200, {"consumerQuotaLimits": [{"quotaBuckets": limits}]}),
        f"cloudresourcemanager/v1/projects/{project}:testIamPermissions": permitted,
        f"iam/v1/projects/{project}/serviceAccounts/{account}:testIamPermissions": permitted,
        f"storage/storage/v1/b/{cloud.bucket}": (200, {"name": cloud.bucket, "location": "US-CENTRAL1"}),
        "policytroubleshooter/v1/iam:troubleshoot": (200, {"access": "GRANTED"}),
        f"secretmanager/v1/projects/{project}/secrets/{secret}/versions/latest": (200, {"state": "ENABLED"}),
        manifest: (200, {"schemaVersion": 2}),
    }
    cloud.reply_headers[manifest] = {"Docker-Content-Digest": digest}


def permitted(body: dict[str, Any]) -> Reply:
    return 200, {"permissions": body["permissions"]}


class Metadata(Server):
    """A machine's metadata server: its account's token, and whether it is being taken away (asked with
    wait_for_change).
    """

    def __init__(self) -> None:
        self.preempted = threading.Event()
        super().__init__()

    def headers(self, path: str) -> dict[str, str]:
        return {"ETag": "taken" if self.preempted.is_set() else "calm"}

    def answer(self, method: str, path: str, query: dict[str, str], headers: Any, body: bytes) -> Reply:
        if path.endswith("/instance/preempted"):
            if query.get("last_etag") == "calm":
                self.preempted.wait(float(query.get("timeout_sec", 0)))
            return 200, b"TRUE" if self.preempted.is_set() else b"FALSE"
        if path.endswith("/token"):
            return 200, {"access_token": "token-of-the-job", "expires_in": 3600, "token_type": "Bearer"}
        if path.endswith("/project/project-id"):
            return 200, b"shop-project"
        if path.endswith("/service-accounts/default/"):
            return 200, {"email": "trainer@shop-project.iam.gserviceaccount.com", "scopes": [], "aliases": ["default"]}
        return 200, b""


class Machine:
    """A Spot machine: an empty disk, a metadata server, and one container on it."""

    def __init__(self, disk: Path, cloud: Cloud, container: Any, log: Path) -> None:
        disk.mkdir(parents=True)
        names = disk.with_name(f"{disk.name}-names")
        names.mkdir()
        (names / "sitecustomize.py").write_text(NAMES, encoding="utf-8")
        self.disk, self.metadata = disk, Metadata()
        own = {
            "HOME": str(disk),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": f"{names}{os.pathsep}{ROOT}",
            "OMP_NUM_THREADS": "1",
            **self.addresses(cloud),
        }
        self.process = subprocess.Popen(
            [*container.command, *container.args],
            env={**own, **{variable.name: variable.value for variable in container.env}},
            cwd=disk,
            stdout=log.open("ab"),
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def addresses(self, cloud: Cloud) -> dict[str, str]:
        """Where a machine in Google's network finds Google."""
        host = self.metadata.host
        return {
            "GCE_METADATA_HOST": host,
            "GCE_METADATA_IP": host,
            "STORAGE_EMULATOR_HOST": cloud.url,
            "TUCANO_GOOGLE_ENDPOINT": f"{cloud.url}/{{service}}",
        }

    def vanish(self) -> None:
        """Everything on it ends at once, and its disk is gone."""
        if self.process.poll() is None:
            container = psutil.Process(self.process.pid)
            for process in [container, *container.children(recursive=True)]:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
        self.process.wait()
        self.close()

    def close(self) -> None:
        self.metadata.close()
        shutil.rmtree(self.disk, ignore_errors=True)


def refused(spec: Any) -> str | None:
    """What JobService documents of flex-start: which GPUs, and how long at most."""
    scheduling, machine = spec.scheduling, spec.worker_pool_specs[0].machine_spec
    if scheduling.strategy != Scheduling.Strategy.FLEX_START:
        return None
    if AcceleratorType(machine.accelerator_type).name not in FLEXIBLE:
        return "FLEX_START needs an L4, A100, H100, H200 or B200"
    return "FLEX_START needs a timeout of 7 days or less" if scheduling.timeout > timedelta(days=7) else None


class Jobs:
    """JobService: CreateCustomJob, GetCustomJob, CancelCustomJob."""

    def __init__(self, cloud: Cloud, place: Path) -> None:
        self.cloud, self.place = cloud, place
        self.jobs: list[custom_job.CustomJob] = []
        self.machines: list[Machine] = []
        self._server = grpc.server(futures.ThreadPoolExecutor(4))
        messages = {
            "CreateCustomJob": (self.create, job_service.CreateCustomJobRequest, custom_job.CustomJob.serialize),
            "GetCustomJob": (self.get, job_service.GetCustomJobRequest, custom_job.CustomJob.serialize),
            "CancelCustomJob": (
                self.cancel,
                job_service.CancelCustomJobRequest,
                lambda message: message.SerializeToString(),
            ),
        }
        handlers = {
            name: grpc.unary_unary_rpc_method_handler(
                call, request_deserializer=request.deserialize, response_serializer=reply
            )
            for name, (call, request, reply) in messages.items()
        }
        self._server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler("google.cloud.aiplatform.v1.JobService", handlers),)
        )
        self.address = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"
        self._server.start()

    def create(self, request: Any, context: Any) -> Any:
        job = request.custom_job
        if refusal := refused(job.job_spec):
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, refusal)
        job.name = f"{request.parent}/customJobs/{len(self.jobs) + 1}"
        job.state = JobState.JOB_STATE_RUNNING
        container = job.job_spec.worker_pool_specs[0].container_spec
        disk, log = self.place / f"disk-{len(self.jobs) + 1}", self.place / f"job-{len(self.jobs) + 1}.log"
        self.machines.append(Machine(disk, self.cloud, container, log))
        self.jobs.append(job)
        return job

    def get(self, request: Any, context: Any) -> Any:
        number = int(request.name.rpartition("/")[2]) - 1
        job, code = self.jobs[number], self.machines[number].process.poll()
        if job.state == JobState.JOB_STATE_RUNNING and code is not None:
            job.state = JobState.JOB_STATE_FAILED if code else JobState.JOB_STATE_SUCCEEDED
        return job

    def cancel(self, request: Any, context: Any) -> Any:
        number = int(request.name.rpartition("/")[2]) - 1
        self.jobs[number].state = JobState.JOB_STATE_CANCELLED
        self.machines[number].process.send_signal(signal.SIGTERM)
        return empty_pb2.Empty()

    def take_away(self, number: int, notice_s: float) -> None:
        """The platform needs the machine: it says so, waits, and the machine vanishes. The job fails."""
        machine = self.machines[number]
        if notice_s:
            machine.metadata.preempted.set()
            with contextlib.suppress(subprocess.TimeoutExpired):
                machine.process.wait(notice_s)
        self.jobs[number].state = JobState.JOB_STATE_FAILED
        self.jobs[number].error.code = 8
        self.jobs[number].error.message = "The Spot VM was preempted: STOCKOUT"
        machine.vanish()

    def close(self) -> None:
        self._server.stop(None)
        for machine in self.machines:
            if machine.process.poll() is None:
                machine.vanish()
