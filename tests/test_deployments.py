"""Deployments are checked without a server, and a mistake in one is a sentence."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml
from pace import slowness

from deployments.services import end, start
from deployments.validate import faults
from tucano.artifacts.store import Artifact, Recipe, Store
from tucano.cli.arguments import parser
from tucano.errors import UserError
from tucano.profiles import load_profile
from tucano.security.access import TOKEN_VARIABLE
from tucano.serving.arguments import PORT
from tucano.serving.command import DRAIN_SECONDS
from tucano.serving.door import OPEN
from tucano.serving.process import END_SECONDS

ROOT = Path(__file__).parent.parent


def test_every_shipped_deployment_is_valid() -> None:
    assert list(faults(ROOT)) == []
    names = {
        entry["name"] for entry in yaml.safe_load((ROOT / "prefect.yaml").read_text(encoding="utf-8"))["deployments"]
    }
    assert names >= {"laptop", "l4", "l4-v5", "local", "vertex-l4", "nightly", "any"}


def test_schedules_are_off_until_somebody_switches_them_on() -> None:
    for entry in yaml.safe_load((ROOT / "prefect.yaml").read_text(encoding="utf-8"))["deployments"]:
        assert all(
            schedule["active"] is False and schedule["timezone"] == "America/Sao_Paulo"
            for schedule in entry["schedules"]
        )


def change(*path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def changing(entry: dict[str, Any]) -> None:
        for key in path[:-1]:
            entry = entry[key]
        entry[path[-1]] = value

    return changing


MISTAKES = {
    "a setting": (
        change("parameters", "settings", "grpo", "max_step", value=5),
        "no setting 'grpo.max_step'; did you mean 'grpo.max_steps'?",
    ),
    "a value": (
        change("parameters", "settings", "grpo", "batch_size", value=60),
        "grpo.batch_size=60 is not divisible",
    ),
    "a parameter": (
        change("parameters", "setings", value={}),
        "flow train has no parameter 'setings'; did you mean 'settings'?",
    ),
    "a key": (change("shedules", value=[]), "there is no key 'shedules'; did you mean 'schedules'?"),
    "an entrypoint": (change("entrypoint", value="flows.trian.train"), "entrypoint flows.trian.train cannot be loaded"),
    "a pool": (change("work_pool", "name", value="locl"), "no work pool 'locl'; did you mean 'local'?"),
    "a queue": (
        change("work_pool", "work_queue_name", value="seed"),
        "work pool local has no queue 'seed'; did you mean 'seeds'?",
    ),
    "a cron": (
        change("schedules", value=[{"slug": "s", "cron": "0 25 * * 5", "timezone": "America/Sao_Paulo"}]),
        "cron '0 25 * * 5' is no schedule",
    ),
    "a time zone": (
        change("schedules", value=[{"slug": "s", "cron": "0 2 * * 5", "timezone": "Brasilia"}]),
        "timezone 'Brasilia' is not known",
    ),
    "a schedule's key": (
        change("schedules", value=[{"slug": "s", "crom": "", "cron": "0 2 * * 5", "timezone": "UTC"}]),
        "did you mean 'cron'?",
    ),
}


@pytest.mark.parametrize(("mistake", "said"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_typo_in_a_deployment_is_a_sentence(
    mistake: Callable[[dict[str, Any]], None], said: str, tmp_path: Path
) -> None:
    content = yaml.safe_load((ROOT / "prefect.yaml").read_text(encoding="utf-8"))
    content["deployments"][0] = deepcopy(content["deployments"][0])  # another one shares its settings
    mistake(content["deployments"][0])
    (tmp_path / "prefect.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    (fault,) = faults(tmp_path)
    assert fault.startswith("prefect.yaml, deployment laptop: ") and said in fault and "\n" not in fault


def make(store: Store, stage: str, setting: int) -> Artifact:
    return store.make(
        Recipe(stage, {"setting": setting}, {}, "code"),
        lambda draft: {"bytes": (draft / "file").write_text("x")},
        print,
    )


def test_an_artifact_of_another_process_is_found_by_name_and_checked(tmp_path: Path) -> None:
    made = make(Store(tmp_path), "sft", 1)
    assert Store(tmp_path).named(made.name) == made
    (made.folder / "file").write_text("other")
    with pytest.raises(UserError, match=r"artifact sft/\w+ cannot be used: .* was changed or truncated"):
        Store(tmp_path).named(made.name)
    shutil.rmtree(made.folder)
    with pytest.raises(UserError, match="cannot be used"):
        Store(tmp_path).named(made.name)


def test_a_service_is_its_process_and_no_later_one_with_its_id(tmp_path: Path) -> None:
    service = start("sleeper", ["sleep", "60"], os.environ, tmp_path / "log")
    process = service.process()
    assert process is not None
    assert replace(service, started=f"{service.started}0").process() is None
    end([process], seconds=5)
    assert service.process() is None


def test_a_service_that_its_parent_has_not_buried_is_stopped_at_once(tmp_path: Path) -> None:
    """This process started it and does not wait for it, as the first program of a container may: dead, it stays in the
    table.
    """
    service = start("mlflow", ["sleep", "100"], {}, tmp_path / "log")
    elsewhere = (
        f"import time; from deployments.services import *; began = time.monotonic(); stop({service!r});"
        " print(time.monotonic() - began)"
    )
    said = subprocess.run(
        [sys.executable, "-c", elsewhere], capture_output=True, text=True, check=True, cwd=ROOT, timeout=900
    )
    assert psutil.Process(service.pid).status() == psutil.STATUS_ZOMBIE
    assert float(said.stdout) < 2 * slowness()  # patience for a living one is 20 s


def test_compose_opens_nothing_beyond_loopback_and_holds_no_password() -> None:
    """What can be checked without a Docker engine."""
    text = (ROOT / "deployments" / "compose.yaml").read_text(encoding="utf-8")
    services = yaml.safe_load(text)["services"]
    assert all(port.startswith("127.0.0.1:") for service in services.values() for port in service.get("ports", []))
    passwords = [
        value
        for service in services.values()
        for name, value in service.get("environment", {}).items()
        if "PASS" in name or "AUTH" in name
    ]
    assert {re.sub(r"^tucano:|:\?.*", "", value).strip("}") for value in passwords} == {
        "${POSTGRES_PASSWORD",
        "${TUCANO_PASSWORD",
    }
    for server, variable in (("prefect", "PREFECT_SERVER_API_AUTH_STRING"), ("mlflow", "MLFLOW_TRACKING_PASSWORD")):
        assert "TUCANO_PASSWORD" in services[server]["environment"][variable]
        assert import_module(services[server]["command"][2]), "the server with a door, and none without"
    assert all(name in services for service in services.values() for name in service.get("depends_on", {}))
    assert "SERVER_DATABASE" not in str(services["worker"]), "runs see no address of the database"
    copied = (ROOT / "deployments" / "Dockerfile.cpu").read_text(encoding="utf-8")
    sources = [name for line in copied.splitlines() if line.startswith("COPY") for name in line.split()[1:-1]]
    assert sources and all((ROOT / name).exists() for name in sources)


def test_the_champion_is_served_in_a_container_with_a_token_and_told_by_its_health() -> None:
    compose = yaml.safe_load((ROOT / "deployments" / "compose.yaml").read_text(encoding="utf-8"))["services"]["serve"]
    manifest = (ROOT / "deployments" / "kubernetes" / "serve.yaml").read_text(encoding="utf-8")
    deployment, service = yaml.safe_load_all(manifest)
    pod = deployment["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    for command in (compose["command"], container["args"]):
        asked = parser().parse_args(command[3:])
        assert command[:3] == ["python", "-m", "tucano.cli"] and (asked.host, asked.port) == ("0.0.0.0", PORT)
        assert load_profile(ROOT, asked.profile, asked.set).storage == "/runs"
    assert compose["profiles"] == ["serve"] and compose["ports"] == [f"127.0.0.1:{PORT}:{PORT}"]
    assert compose["environment"][TOKEN_VARIABLE] == f"${{{TOKEN_VARIABLE}:-}}"
    assert container["envFrom"] == [{"secretRef": {"name": "tucano-serve"}}] and f"{TOKEN_VARIABLE}=" in manifest
    assert not {"PASSWORD", "TOKEN"} & {word for one in container["env"] for word in one["name"].split("_")}
    assert container["ports"] == [{"name": "http", "containerPort": PORT}]
    assert {container[probe]["httpGet"]["path"] for probe in ("startupProbe", "readinessProbe")} == {OPEN}
    assert "httpGet" not in container["livenessProbe"], (
        "a model's process that starts again is no reason to end the server"
    )
    stopping_s = pod["terminationGracePeriodSeconds"] - int(container["lifecycle"]["preStop"]["exec"]["command"][1])
    assert min(stopping_s, int(compose["stop_grace_period"].removesuffix("s"))) > DRAIN_SECONDS + END_SECONDS
    assert service["spec"]["selector"] == deployment["spec"]["template"]["metadata"]["labels"]
