"""No password, token or key in settings and addresses: refused where it is given, in one sentence that does not repeat
it.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tucano.errors import SecretInSettings, UserError
from tucano.profiles import load_profile, validated
from tucano.security.addresses import holds_secret, masked, secret_in
from tucano.settings import EndpointSettings, PipelineSettings
from tucano.settings.stages import ReportStage

ROOT = Path(__file__).parent.parent
PASSWORD = "hunter2-Xq9"
SECRET_ADDRESSES = [
    f"http://user:{PASSWORD}@host",
    f"HTTPS://user:{PASSWORD}@host:5000/path",
    f"https://{PASSWORD}@host/",  # a token in the place of a user
    f"postgresql+psycopg2://tucano:{PASSWORD}@db.example/mlflow",
    f"http://user:{PASSWORD}/with@slash@host",
    f"s3://key:{PASSWORD}@bucket/runs",
    f"https://host/v1?token={PASSWORD}",
    f"https://host/v1?a=1&api_key={PASSWORD}",
    f"https://account.blob.core.windows.net/runs?sv=2024&sig={PASSWORD}",
    f"https://bucket.s3.amazonaws.com/x?X-Amz-Signature={PASSWORD}",
    f"postgresql:///mlflow?host=db&user=tucano&password={PASSWORD}",
    f"mssql+pyodbc:///?odbc_connect=DRIVER%3Dx%3BUID%3Dsa%3BPWD%3D{PASSWORD}",
    f"https://host/#access_token={PASSWORD}",
    f"host=db user=tucano password={PASSWORD}",
    f"tucano:{PASSWORD}@db.example",
    f"https://host/v1?secret_key={PASSWORD}",
    f"https://host/v1?privateKey={PASSWORD}",
    f"https://host/v1?subscription-key={PASSWORD}",
    f"DefaultEndpointsProtocol=https;AccountKey={PASSWORD}",
    f"https://host/v1?senha={PASSWORD}",
    f"https://host/v1?pw={PASSWORD}",
    f"https://host/v1?bearer={PASSWORD}&session=1",
    f"//user:{PASSWORD}@host",
    f"http:/user:{PASSWORD}@host",
    f"http://user:first@{PASSWORD}@host",
    f"wss://{PASSWORD}@host",
    f"Bearer {PASSWORD}",
    f"sk-proj-{PASSWORD}",
    f"hf_0123456789{PASSWORD.replace('-', '')}",
    f"ghp_0123456789{PASSWORD.replace('-', '')}",
    f"postgresql://mlflow:2024#{PASSWORD}@127.0.0.1:1/mlflow",  # no port, though it begins with digits
    f"http://user:2024#{PASSWORD}@host:5000",
    f"http://user:123?{PASSWORD}@host",
    f"mysql+pymysql://root:77/{PASSWORD}@db/h",
]
HARMLESS = [
    "runs",
    "/data/my runs",
    "http://127.0.0.1:5000",
    "http://host:8080/a@b",
    "http://[::1]:8080/a@b",
    "postgresql://tucano@db/mlflow?sslmode=require",
    "sqlite:////home/ana/a:b@c/mlflow.db",
    "abfs://container@account.dfs.core.windows.net/runs",
    "gs://bucket/a:b@c",
    "https://host/v1?max_tokens=5&monkey=1&author=ana",
    "seed/local-gpu",
    "Polygl0t/Tucano2-qwen-0.5B-Instruct",
    "piloto interno: combinado com a Ana (ana@loja.example)",
    "bearer of news",
    "s3://bucket/session/sk-1",
    "//server/share/a:b",
]
TEXT_SETTINGS = (
    "storage", "tracking_uri", "data.path", "audit.ratings", "audit.override_reason", "model.name", "model.revision",
    "benchmark.olist", "benchmark.b2w", "worker.python", "execution.seeds", "promotion.model", "cost.machine", "benchmark.judge",
)  # fmt: skip


@pytest.mark.parametrize("address", SECRET_ADDRESSES)
def test_a_secret_in_an_address_is_found_and_masked(address: str) -> None:
    assert holds_secret(address)
    shown = masked(f"cannot open {address}" if " " not in address and "://" in address else address)
    assert PASSWORD not in shown and PASSWORD.replace("-", "") not in shown


@pytest.mark.parametrize("address", HARMLESS)
def test_an_address_without_one_stays_as_it_is(address: str) -> None:
    assert not holds_secret(address)
    assert masked(address) == address


@pytest.mark.parametrize("name", TEXT_SETTINGS)
def test_every_text_setting_refuses_a_password(name: str) -> None:
    with pytest.raises(UserError) as caught:
        load_profile(ROOT, "laptop", [f"{name}={SECRET_ADDRESSES[0]}"])
    assert name in str(caught.value) and "environment" in str(caught.value)
    assert PASSWORD not in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("address", SECRET_ADDRESSES)
def test_every_kind_of_secret_is_refused_as_tracking_uri(address: str) -> None:
    with pytest.raises(UserError) as caught:
        validated({"tracking_uri": address})
    assert "tracking_uri" in str(caught.value) and PASSWORD not in str(caught.value)


ENDPOINT = {"name": "gpt", "url": "https://api.example.com/v1", "model": "m"}


@pytest.mark.parametrize(
    ("changed", "place"),
    [
        ({"url": f"https://user:{PASSWORD}@api.example.com"}, "benchmark.endpoints.0.url"),
        ({"model": f"m?key={PASSWORD}"}, "benchmark.endpoints.0.model"),
        ({"key_env": f"sk-{PASSWORD}"}, "benchmark.endpoints.0.key_env"),  # the key where its variable's name belongs
        ({"api_key": PASSWORD}, "benchmark.endpoints.0.api_key"),  # no such setting, and it is not repeated either
    ],
)
def test_an_endpoint_refuses_its_key(changed: dict[str, str], place: str) -> None:
    with pytest.raises(UserError) as caught:
        validated({"benchmark": {"endpoints": [{**ENDPOINT, **changed}]}})
    assert place in str(caught.value) and PASSWORD not in str(caught.value)


def test_the_error_does_not_pass_pydantic_which_would_print_the_value() -> None:
    """Prefect logs what pydantic says of bad parameters, with the values."""
    for values in ({"tracking_uri": SECRET_ADDRESSES[0]}, {"benchmark": {"adapters": {"mine": SECRET_ADDRESSES[0]}}}):
        with pytest.raises(SecretInSettings) as caught:
            PipelineSettings.model_validate(values)
        assert PASSWORD not in str(caught.value) and caught.value.__context__ is None


def test_nested_values_of_any_depth_and_shape_are_walked() -> None:
    assert secret_in({"a": [{"b": ("x", SECRET_ADDRESSES[0])}]}) == "a.0.b.1"
    loop: list[Any] = []
    loop.append(loop)
    assert secret_in({"a": loop}) is None


def test_what_stages_are_given_may_say_what_it_likes() -> None:
    """The lineage has a row called `code`, and a reason may quote a model."""
    quoted = "the answer was: https://ana:senha@loja.example"
    stage = ReportStage(
        settings={}, profile="laptop", differences=(), lineage={"code": "0123", "key": "x", "promotion": quoted}
    )
    assert stage.lineage["promotion"] == quoted
    assert secret_in({"lineage": {"code": "0123", "key": "x"}}) is None


def test_a_key_does_not_leave_this_machine_in_plain_text() -> None:
    with pytest.raises(UserError, match=r"would send its key over plain http to api\.example\.com; use https"):
        validated({"benchmark": {"endpoints": [{**ENDPOINT, "url": "http://api.example.com/v1", "key_env": "A_KEY"}]}})
    assert EndpointSettings(name="here", url="http://127.0.0.1:8000/v1", model="m", key_env="A_KEY").key_env == "A_KEY"
    assert EndpointSettings(name="there", url="http://10.0.0.5/v1", model="m").key_env is None  # nothing secret to send


def test_the_command_says_it_in_one_sentence_and_writes_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tucano.cli", "run", "laptop", "--set", f"storage={tmp_path / 'runs'}"]
    result = subprocess.run(
        [*command, "--set", f"tracking_uri={SECRET_ADDRESSES[0]}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 2 and result.stderr.startswith("tucano: tracking_uri ")
    assert PASSWORD not in result.stdout + result.stderr and "Traceback" not in result.stderr
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "laptop", "--set", "tracking_uri", SECRET_ADDRESSES[0]],
        ["run", "laptop", "--set", SECRET_ADDRESSES[0]],
        ["run", SECRET_ADDRESSES[0]],
        ["lineage", SECRET_ADDRESSES[0]],
    ],
)
def test_what_is_not_understood_is_repeated_without_it(tmp_path: Path, arguments: list[str]) -> None:
    command = [sys.executable, "-m", "tucano.cli", *arguments]
    if arguments[0] == "lineage":
        command += ["--set", f"storage={tmp_path / 'runs'}"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert result.returncode == 2 and result.stderr and PASSWORD not in result.stdout + result.stderr, result.stderr


@pytest.mark.parametrize(
    ("variable", "address", "instead"),
    [
        ("MLFLOW_TRACKING_URI", f"http://ana:{PASSWORD}@127.0.0.1:9", "MLFLOW_TRACKING_PASSWORD"),
        ("PREFECT_API_URL", f"http://ana:{PASSWORD}@127.0.0.1:9/api", "PREFECT_API_AUTH_STRING"),
    ],
)
def test_servers_take_their_password_apart_from_their_address(
    tmp_path: Path, variable: str, address: str, instead: str
) -> None:
    """Their addresses are printed and written: as links in reports, notes and artifacts."""
    command = [sys.executable, "-m", "tucano.cli", "run", "laptop", "--set", f"storage={tmp_path / 'runs'}"]
    result = subprocess.run(
        command, cwd=ROOT, env={**os.environ, variable: address}, capture_output=True, text=True, timeout=240
    )
    assert result.returncode == 2, result.stderr
    assert variable in result.stderr and instead in result.stderr and PASSWORD not in result.stdout + result.stderr


def test_prefects_server_refuses_it_before_it_is_stored() -> None:
    """A form that is sent in the Prefect page is stored by the server, before any code of ours runs."""
    from prefect.utilities.schema_tools.validation import ValidationError, validate

    schema = {
        "type": "object",
        "properties": {"settings": PipelineSettings.model_json_schema(ref_template="#/definitions/{model}")},
    }
    schema["definitions"] = schema["properties"]["settings"].pop("$defs")  # type: ignore[index]
    validate({"settings": json.loads(PipelineSettings().model_dump_json())}, schema, raise_on_error=True)
    for values in (
        {"tracking_uri": SECRET_ADDRESSES[0]},
        {"storage": SECRET_ADDRESSES[7]},
        {"data": {"path": SECRET_ADDRESSES[2]}},
    ):
        with pytest.raises(ValidationError, match="environment") as caught:
            validate({"settings": values}, schema, raise_on_error=True)
        assert PASSWORD not in str(caught.value)
