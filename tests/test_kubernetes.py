"""`tucano deploy kubernetes`: the Job of a run, without a cluster."""

from pathlib import Path

import pytest
import yaml
from test_cli import sentence

from deployments.jobs import faults
from deployments.kubernetes.plan import GPU, Plan, example, pool
from tucano.cli import main as cli

ROOT = Path(__file__).parent.parent
DEPLOY = ("deploy", "kubernetes", "--image", "train:7")
PLAN = Plan(
    image="ghcr.io/shop/train:7",
    namespace="shop",
    api_url="https://prefect.shop.example/api",
    tracking_uri="https://mlflow.shop.example",
    secret="tucano-login",
    service_account="trainer",
    machine="g2-standard-8 gke",
    nodes={"cloud.google.com/gke-accelerator": "nvidia-l4"},
)


def test_a_job_has_one_gpu_its_secret_by_name_and_is_never_restarted() -> None:
    job = example(PLAN)
    pod = job["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert (job["apiVersion"], job["kind"], job["metadata"]["namespace"]) == ("batch/v1", "Job", "shop")
    assert job["spec"]["backoffLimit"] == 0 and pod["restartPolicy"] == "Never"
    assert pod["nodeSelector"] == {"cloud.google.com/gke-accelerator": "nvidia-l4"}
    assert pod["serviceAccountName"] == "trainer"
    assert container["resources"]["limits"] == {GPU: "1"}
    assert container["envFrom"] == [{"secretRef": {"name": "tucano-login"}}]
    environment = {variable["name"]: variable["value"] for variable in container["env"]}
    assert environment == PLAN.environment and faults(environment) == []
    assert container["args"] == ["python", "-m", "deployments.vertex.start"]
    assert "{{" not in yaml.safe_dump(job), "every placeholder has a value"


def test_its_deployments_are_in_the_project() -> None:
    deployments = yaml.safe_load((ROOT / "prefect.yaml").read_text(encoding="utf-8"))["deployments"]
    ours = [entry["entrypoint"] for entry in deployments if entry["work_pool"]["name"] == pool(PLAN).name]
    assert ours == ["flows.seed.seed", "flows.stage.stage"]
    assert all(
        entry["name"] == pool(PLAN).name for entry in deployments if entry["work_pool"]["name"] == pool(PLAN).name
    )


def test_a_dry_run_prints_one_yaml_document_and_what_stands_against_it(capsys: pytest.CaptureFixture[str]) -> None:
    words = [*DEPLOY, "--tracking-uri", "http://localhost:5000", "--dry-run"]
    assert cli.COMMANDS["deploy"](cli.parser().parse_args(words)) == 0
    shown = capsys.readouterr().out
    assert yaml.safe_load(shown)["kind"] == "Job"
    assert "to mend: MLFLOW_TRACKING_URI=http://localhost:5000 is an address of this machine" in shown


def test_a_label_without_a_value_is_one_sentence() -> None:
    for node in ("gpu", "a b=c d", "x=y=z", "=y"):
        assert "--node names a label and its value" in sentence(*DEPLOY, "--node", node)
