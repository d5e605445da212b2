"""What Google says about a plan before anything is changed: quota, image, bucket, permissions, secrets.

A question that Google refuses to answer (an interface that is switched off, a missing right to ask) is no failure: its
check says why it could not be asked.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal
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

Level = Literal["ok", "warn", "fails", "not asked"]


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


def _service(plan: Plan, google: Google) -> CloudCheck:
    answer = google.get("serviceusage", f"v1/projects/{plan.project}/services/aiplatform.googleapis.com")
    if settled := _settled("Vertex AI", answer, "state"):
        return settled
    if answer.content["state"] == "ENABLED":
        return CloudCheck("Vertex AI", "ok", f"enabled in {plan.project}")
    return CloudCheck(
        "Vertex AI", "fails", f"not enabled: gcloud services enable aiplatform.googleapis.com --project {plan.project}"
    )


def _quota(plan: Plan, google: Google) -> CloudCheck:
    demanded = plan.provisioning == "on-demand"
    name = "quota on demand" if demanded else "quota"
    metric = QUOTA.format("" if demanded else "preemptible_", plan.gpu.replace("-", "_"))
    service = f"v1beta1/projects/{plan.project}/services/aiplatform.googleapis.com"
    answer = google.get("serviceusage", f"{service}/consumerQuotaMetrics/{quote(metric, safe='')}")
    if settled := _settled(name, answer):
        return settled
    limits = _listed(answer.content, "consumerQuotaLimits")
    if not limits:
        return _untold(name, "consumerQuotaLimits")
    limit = _limit([bucket for found in limits for bucket in _listed(found, "quotaBuckets")], plan.region)
    if limit is None:
        return _untold(name, "effectiveLimit that is a number")
    many = f"{plan.gpu.upper()}s"
    if limit < 0 or limit >= plan.gpus:
        return CloudCheck(name, "ok", f"{'no limit' if limit < 0 else limit} {many} for training in {plan.region}")
    return CloudCheck(
        name,
        "fails",
        f"{limit} {many} in {plan.region}, and a job takes {plan.gpus}: ask for a higher {metric}; jobs would wait in"
        " the queue until they expire",
    )


def _limit(buckets: list[dict[str, Any]], region: str) -> int | None:
    """The limit that holds in a region; 0 where none is told, and None where it is no number."""
    here, everywhere = [], []
    for bucket in buckets:
        dimensions = bucket.get("dimensions") or {}
        if not dimensions:
            everywhere.append(bucket)
        elif isinstance(dimensions, dict) and dimensions.get("region") == region:
            here.append(bucket)
    try:
        return int((here or everywhere or [{}])[0].get("effectiveLimit") or 0)
    except (TypeError, ValueError):
        return None


def _jobs(plan: Plan, google: Google) -> CloudCheck:
    path = f"v1/projects/{plan.project}:testIamPermissions"
    return _permissions(
        "your rights",
        JOB_PERMISSIONS,
        google.post("cloudresourcemanager", path, {"permissions": list(JOB_PERMISSIONS)}),
    )


def _account(plan: Plan, google: Google) -> CloudCheck:
    act_as = ("iam.serviceAccounts.actAs",)
    path = f"v1/projects/{plan.project}/serviceAccounts/{plan.service_account}:testIamPermissions"
    return _permissions(
        f"use of {plan.service_account}", act_as, google.post("iam", path, {"permissions": list(act_as)})
    )


def _permissions(name: str, wanted: tuple[str, ...], answer: Answer) -> CloudCheck:
    if settled := _settled(name, answer, absent=answer.reason):
        return settled
    granted = answer.content.get("permissions") or []
    if not isinstance(granted, list):
        return _untold(name, "list of permissions")
    missing = [permission for permission in sorted(wanted) if permission not in granted]
    if missing:
        return CloudCheck(name, "fails", f"missing: {', '.join(missing)}")
    return CloudCheck(name, "ok", ", ".join(wanted))


def _bucket(plan: Plan, google: Google) -> CloudCheck:
    answer = google.get("storage", f"storage/v1/b/{plan.bucket}")
    make = f"gcloud storage buckets create gs://{plan.bucket} --location {plan.region}"
    if settled := _settled("bucket", answer, "location", f"gs://{plan.bucket} does not exist: {make}"):
        return settled
    location = str(answer.content["location"]).lower()
    if plan.region.startswith({"eu": "europe"}.get(location, location)):
        return CloudCheck("bucket", "ok", f"gs://{plan.bucket} lies in {location}")
    return CloudCheck(
        "bucket",
        "warn",
        f"gs://{plan.bucket} lies in {location}, the jobs in {plan.region}: every checkpoint crosses, and is billed",
    )


def _account_may(plan: Plan, google: Google) -> Iterator[CloudCheck]:
    """What the jobs' own account may do; only Policy Troubleshooter can tell for somebody else."""
    bucket = f"//storage.googleapis.com/projects/_/buckets/{plan.bucket}"
    wanted = [(permission, bucket) for permission in OBJECT_PERMISSIONS]
    wanted += [
        ("secretmanager.versions.access", f"//secretmanager.googleapis.com/projects/{plan.project}/secrets/{secret}")
        for secret in plan.secrets.values()
    ]
    for permission, resource in wanted:
        question = {"principal": plan.service_account, "fullResourceName": resource, "permission": permission}
        answer = google.post("policytroubleshooter", "v1/iam:troubleshoot", {"accessTuple": question})
        access = str(answer.content.get("access") or "")
        name = f"account: {permission}"
        if settled := _settled(name, answer):
            yield settled
        elif access == "GRANTED":
            yield CloudCheck(name, "ok", resource.rpartition("/")[2])
        else:
            yield CloudCheck(name, "warn", f"{access.lower() or 'unknown'} on {resource}")


def _secret(plan: Plan, google: Google, secret: str) -> CloudCheck:
    answer = google.get("secretmanager", f"v1/projects/{plan.project}/secrets/{secret}/versions/latest")
    name = f"secret {secret}"
    absent = f"has no version: gcloud secrets create {secret} --data-file=- --project {plan.project}"
    if settled := _settled(name, answer, "state", absent):
        return settled
    state = answer.content["state"]
    return CloudCheck(name, "ok" if state == "ENABLED" else "fails", f"its latest version is {str(state).lower()}")


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
    if settled := _settled("image", answer, absent=f"{image} is not there: {make}"):
        return settled, image
    digest = answer.headers.get("Docker-Content-Digest")
    if digest is None:
        return _unasked("image", answer), image
    return CloudCheck("image", "ok", digest), f"{found['host']}/{found['path']}@{digest}"


def _listed(content: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """The objects of a list in an answer; none where there is no list."""
    found = content.get(name)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _settled(name: str, answer: Answer, wanted: str = "", absent: str = "") -> CloudCheck | None:
    """What an answer comes to without a look at what is `wanted` in it; None where that is there. `absent` is said of
    what Google does not find.
    """
    if absent and answer.status == 404:
        return CloudCheck(name, "fails", absent)
    if not answer.ok:
        return _unasked(name, answer)
    return _untold(name, wanted) if wanted and not answer.content.get(wanted) else None


def _untold(name: str, lacking: str) -> CloudCheck:
    return CloudCheck(name, "not asked", f"unknown: Google's answer has no {lacking}")


def _unasked(name: str, answer: Answer) -> CloudCheck:
    return CloudCheck(name, "not asked", answer.reason)
