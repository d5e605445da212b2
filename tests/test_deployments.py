"""Deployments are checked without a server, and a mistake in one is a sentence."""

import os
import re
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
from programs import python

from deployments.services import end, start
from deployments.validate import faults
from tucano.cli.arguments import parser
from tucano.profiles import load_profile
from tucano.security.access import TOKEN_VARIABLE
from tucano.serving.arguments import PORT
from tucano.serving.command import DRAIN_SECONDS
from tucano.serving.door import OPEN
from tucano.serving.process import END_SECONDS

ROOT = Path(__file__).parent.parent


def test_every_shipped_deployment_is_valid() -> None:
    assert list(faults(ROOT)) == []
    entries = yaml.safe_load((ROOT / "prefect.yaml").read_text(encoding="utf-8"))["deployments"]
    assert {one["name"] for one in entries} >= {"laptop", "l4", "l4-v5", "local", "vertex-l4", "nightly", "any"}
    schedules = [(plan["active"], plan["timezone"]) for entry in entries for plan in entry["schedules"]]
    assert {*schedules} == {(False, "America/Sao_Paulo")}, "off until somebody switches them on"


def change(*path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def changing(entry: dict[str, Any]) -> None:
        for key in path[:-1]:
            entry = entry[key]
        entry[path[-1]] = value

    return changing


def planned(**schedule: str) -> Callable[[dict[str, Any]], None]:
    return change("schedules", value=[{"slug": "s", "cron": "0 2 * * 5", "timezone": "UTC", **schedule}])


MISTAKES = {
    "a setting": (change("parameters", "settings", "grpo", "max_step", value=5), "did you mean 'grpo.max_steps'?"),
    "a value": (
        change("parameters", "settings", "grpo", "batch_size", value=60),
        "grpo.batch_size=60 is not divisible",
    ),
    "a parameter": (change("parameters", "setings", value={}), "no parameter 'setings'; did you mean 'settings'?"),
    "a key": (change("shedules", value=[]), "there is no key 'shedules'; did you mean 'schedules'?"),
    "an entrypoint": (change("entrypoint", value="flows.trian.train"), "entrypoint flows.trian.train cannot be loaded"),
    "a pool": (change("work_pool", "name", value="locl"), "no work pool 'locl'; did you mean 'local'?"),
    "a queue": (change("work_pool", "work_queue_name", value="seed"), "has no queue 'seed'; did you mean 'seeds'?"),
    "a cron": (planned(cron="0 25 * * 5"), "cron '0 25 * * 5' is no schedule"),
    "a time zone": (planned(timezone="Brasilia"), "timezone 'Brasilia' is not known"),
    "a schedule's key": (planned(crom=""), "did you mean 'cron'?"),
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


def test_a_service_is_its_process_and_no_later_one_with_its_id(tmp_path: Path) -> None:
    service = start("sleeper", ["sleep", "60"], os.environ, tmp_path / "log")
    process = service.process()
    assert process is not None
    assert replace(service, started=f"{service.started}0").process() is None
    end([process], seconds=5)
    assert service.process() is None


def test_a_service_that_its_parent_has_not_buried_is_stopped_at_once(tmp_path: Path) -> None:
    """As the first program of a container may, this process does not wait for it: dead, it stays in the table."""
    service = start("mlflow", ["sleep", "100"], {}, tmp_path / "log")
    timed = "began = time.monotonic(); {}; print(time.monotonic() - began)".format(f"stop({service!r})")
    said = python("-c", f"import time; from deployments.services import *; {timed}")
    assert psutil.Process(service.pid).status() == psutil.STATUS_ZOMBIE
    assert float(said.stdout) < 2 * slowness()  # patience for a living one is 20 s


def test_compose_opens_nothing_beyond_loopback_and_holds_no_password() -> None:
    """What can be checked without a Docker engine."""
    text = (ROOT / "deployments" / "compose.yaml").read_text(encoding="utf-8")
    services = yaml.safe_load(text)["services"]
    assert all(port.startswith("127.0.0.1:") for service in services.values() for port in service.get("ports", []))
    given = [pair for service in services.values() for pair in service.get("environment", {}).items()]
    passwords = [re.sub(r"^tucano:|:\?.*", "", value) for name, value in given if "PASS" in name or "AUTH" in name]
    assert {value.strip("}") for value in passwords} == {"${POSTGRES_PASSWORD", "${TUCANO_PASSWORD"}
    for server, variable in (("prefect", "PREFECT_SERVER_API_AUTH_STRING"), ("mlflow", "MLFLOW_TRACKING_PASSWORD")):
        assert "TUCANO_PASSWORD" in services[server]["environment"][variable]
        assert import_module(services[server]["command"][2]), "the server with a door, and none without"
    assert all(name in services for service in services.values() for name in service.get("depends_on", {}))
    assert "SERVER_DATABASE" not in str(services["worker"]), "runs see no address of the database"


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
    assert "httpGet" not in container["livenessProbe"], "a model that starts again is no reason to end the server"
    stopping_s = pod["terminationGracePeriodSeconds"] - int(container["lifecycle"]["preStop"]["exec"]["command"][1])
    assert min(stopping_s, int(compose["stop_grace_period"].removesuffix("s"))) > DRAIN_SECONDS + END_SECONDS
    assert service["spec"]["selector"] == deployment["spec"]["template"]["metadata"]["labels"]
