"""What Google says about a plan before anything is changed: quota, image, bucket, permissions, secrets.

A question that Google refuses to answer (an interface that is switched off, a missing right to ask) is no failure: its
check says why it could not be asked.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar
from urllib.parse import quote

from deployments.vertex.google import Answer, Google
from deployments.vertex.plan import Plan

QUOTA = "aiplatform.googleapis.com/custom_model_training_{}nvidia_{}_gpus"
"""What a machine counts against. That of flex-start is not taken away and counts as if it could be
(https://cloud.google.com/vertex-ai/docs/training/schedule-jobs-dws#quota).
"""
JOB_PERMISSIONS = ("aiplatform.customJobs.create", "aiplatform.customJobs.get", "aiplatform.customJobs.cancel")
OBJECT_PERMISSIONS = ("storage.objects.create", "storage.objects.get", "storage.objects.list", "storage.objects.delete")
MANIFESTS = "application/vnd.oci.image.index.v1+json, application/vnd.docker.distribution.manifest.list.v2+json, "
MANIFESTS += "application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json"
IMAGE = re.compile(r"(?P<host>[\w.-]+)/(?P<path>[\w./-]+?)(?::(?P<tag>[\w.-]+))?(?:@(?P<digest>sha256:[0-9a-f]{64}))?")

T = TypeVar("T")
Level = Literal["ok", "warn", "fails", "not asked"]
Seen = tuple[Level, str]
"""What a check comes to, and its evidence."""


@dataclass(frozen=True, slots=True)
class CloudCheck:
    """One question and what came of it."""

    name: str
    level: Level
    evidence: str


def ask(plan: Plan, google: Google) -> tuple[list[CloudCheck], Plan]:
    """All checks, and the plan with its image named by digest where the registry told it."""
    checks = [
        _service(plan, google),
        _quota(plan, google),
        _jobs(plan, google),
        _account(plan, google),
        _bucket(plan, google),
    ]
    checks += _account_may(plan, google)
    checks += [_secret(plan, google, secret) for secret in plan.secrets.values()]
    image, pinned = _image(plan.image, google)
    return [*checks, image], replace(plan, image=pinned)


def _check(name: str, answer: Answer, look: Callable[[dict[str, Any]], Seen], absent: str = "") -> CloudCheck:
    """What a look at an answer sees. `absent` is said of what Google does not find."""
    if absent and answer.status == 404:
        return CloudCheck(name, "fails", absent)
    if not answer.ok:
        return CloudCheck(name, "not asked", answer.reason)
    try:
        return CloudCheck(name, *look(answer.content))
    except (AttributeError, KeyError, TypeError, ValueError):
        return CloudCheck(name, "not asked", "unknown: Google's answer has another form")


def _told(content: dict[str, Any], name: str, kind: type[T]) -> T:
    """A field of an answer. ValueError where it is of another type, or empty."""
    if not isinstance(value := content[name], kind) or not value:
        raise ValueError(name)
    return value


def _service(plan: Plan, google: Google) -> CloudCheck:
    def look(content: dict[str, Any]) -> Seen:
        if _told(content, "state", str) == "ENABLED":
            return "ok", f"enabled in {plan.project}"
        return "fails", f"not enabled: gcloud services enable aiplatform.googleapis.com --project {plan.project}"

    answer = google.get("serviceusage", f"v1/projects/{plan.project}/services/aiplatform.googleapis.com")
    return _check("Vertex AI", answer, look)


def _quota(plan: Plan, google: Google) -> CloudCheck:
    demanded = plan.provisioning == "on-demand"
    metric = QUOTA.format("" if demanded else "preemptible_", plan.gpu.replace("-", "_"))
    many = f"{plan.gpu.upper()}s"

    def look(content: dict[str, Any]) -> Seen:
        limits = _told(content, "consumerQuotaLimits", list)
        limit = _limit([bucket for found in limits for bucket in found.get("quotaBuckets", ())], plan.region)
        if limit < 0 or limit >= plan.gpus:
            return "ok", f"{'no limit' if limit < 0 else limit} {many} for training in {plan.region}"
        return "fails", (
            f"{limit} {many} in {plan.region}, and a job takes {plan.gpus}: ask for a higher {metric}; jobs would wait"
            " in the queue until they expire"
        )

    service = f"v1beta1/projects/{plan.project}/services/aiplatform.googleapis.com"
    answer = google.get("serviceusage", f"{service}/consumerQuotaMetrics/{quote(metric, safe='')}")
    return _check("quota on demand" if demanded else "quota", answer, look)


def _limit(buckets: list[dict[str, Any]], region: str) -> int:
    """The limit that holds in a region; 0 where none is told."""
    here = [bucket for bucket in buckets if (bucket.get("dimensions") or {}).get("region") == region]
    everywhere = [bucket for bucket in buckets if not bucket.get("dimensions")]
    return int((here or everywhere or [{}])[0].get("effectiveLimit") or 0)


def _jobs(plan: Plan, google: Google) -> CloudCheck:
    place = f"v1/projects/{plan.project}"
    return _permissions("your rights", google, ("cloudresourcemanager", place), JOB_PERMISSIONS)


def _account(plan: Plan, google: Google) -> CloudCheck:
    place = f"v1/projects/{plan.project}/serviceAccounts/{plan.service_account}"
    return _permissions(f"use of {plan.service_account}", google, ("iam", place), ("iam.serviceAccounts.actAs",))


def _permissions(name: str, google: Google, place: tuple[str, str], wanted: tuple[str, ...]) -> CloudCheck:
    """Whether who asks has them; `place` is the service, and the path of what they are for."""

    def look(content: dict[str, Any]) -> Seen:
        granted = _told(content, "permissions", list) if content.get("permissions") else []
        missing = sorted({*wanted} - {*granted})
        return ("fails", f"missing: {', '.join(missing)}") if missing else ("ok", ", ".join(wanted))

    service, path = place
    answer = google.post(service, f"{path}:testIamPermissions", {"permissions": list(wanted)})
    return _check(name, answer, look, absent=answer.reason)


def _bucket(plan: Plan, google: Google) -> CloudCheck:
    def look(content: dict[str, Any]) -> Seen:
        location = _told(content, "location", str).lower()
        if plan.region.startswith({"eu": "europe"}.get(location, location)):
            return "ok", f"gs://{plan.bucket} lies in {location}"
        where = f"gs://{plan.bucket} lies in {location}, the jobs in {plan.region}"
        return "warn", f"{where}: every checkpoint crosses, and is billed"

    make = f"gcloud storage buckets create gs://{plan.bucket} --location {plan.region}"
    absent = f"gs://{plan.bucket} does not exist: {make}"
    return _check("bucket", google.get("storage", f"storage/v1/b/{plan.bucket}"), look, absent)


def _account_may(plan: Plan, google: Google) -> Iterator[CloudCheck]:
    """What the jobs' own account may do; only Policy Troubleshooter can tell for somebody else."""
    bucket = f"//storage.googleapis.com/projects/_/buckets/{plan.bucket}"
    wanted = [(permission, bucket) for permission in OBJECT_PERMISSIONS]
    wanted += [
        ("secretmanager.versions.access", f"//secretmanager.googleapis.com/projects/{plan.project}/secrets/{secret}")
        for secret in plan.secrets.values()
    ]
    for permission, resource in wanted:

        def look(content: dict[str, Any], resource: str = resource) -> Seen:
            access = content.get("access") or "unknown"
            if access == "GRANTED":
                return "ok", resource.rpartition("/")[2]
            return "warn", f"{access.lower()} on {resource}"

        question = {"principal": plan.service_account, "fullResourceName": resource, "permission": permission}
        answer = google.post("policytroubleshooter", "v1/iam:troubleshoot", {"accessTuple": question})
        yield _check(f"account: {permission}", answer, look)


def _secret(plan: Plan, google: Google, secret: str) -> CloudCheck:
    def look(content: dict[str, Any]) -> Seen:
        state = _told(content, "state", str)
        return "ok" if state == "ENABLED" else "fails", f"its latest version is {state.lower()}"

    answer = google.get("secretmanager", f"v1/projects/{plan.project}/secrets/{secret}/versions/latest")
    absent = f"has no version: gcloud secrets create {secret} --data-file=- --project {plan.project}"
    return _check(f"secret {secret}", answer, look, absent)


def _image(image: str, google: Google) -> tuple[CloudCheck, str]:
    """Whether the registry has the image, and its name by digest: a tag may be moved while a run lasts."""
    found = IMAGE.fullmatch(image)
    if found is None:
        return CloudCheck("image", "fails", f"{image} is no image name; write it as HOST/PATH:TAG"), image
    if not found["host"].endswith((".pkg.dev", "gcr.io")):
        return CloudCheck("image", "not asked", f"{found['host']} is no Google registry"), image
    path = f"v2/{found['path']}/manifests/{found['digest'] or found['tag'] or 'latest'}"
    answer = google.get("registry", path, host=found["host"], Accept=MANIFESTS)
    make = f"docker build -f deployments/image/Dockerfile -t {image} . && docker push {image}"
    seen = _check(
        "image", answer, lambda _: ("ok", answer.headers["Docker-Content-Digest"]), f"{image} is not there: {make}"
    )
    return seen, f"{found['host']}/{found['path']}@{seen.evidence}" if seen.level == "ok" else image
