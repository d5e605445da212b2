"""No password, token or key in settings and addresses: refused in one sentence that does not repeat it."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from test_cli import tucano

from tucano.errors import SecretInSettings, UserError
from tucano.profiles import load_profile, profiles, validated
from tucano.security.addresses import holds_secret, masked, secret_in
from tucano.settings import EndpointSettings, PipelineSettings

ROOT = Path(__file__).parent.parent
PASSWORD = "hunter2-Xq9"
SECRET_ADDRESSES = [
    f"http://user:{PASSWORD}@host",
    f"https://{PASSWORD}@host/",  # a token in the place of a user
    f"postgresql+psycopg2://tucano:{PASSWORD}@db.example/mlflow",
    f"http://user:{PASSWORD}/with@slash@host",
    f"s3://key:{PASSWORD}@bucket/runs",
    f"https://host/v1?token={PASSWORD}",
    f"https://bucket.s3.amazonaws.com/x?X-Amz-Signature={PASSWORD}",
    f"postgresql:///mlflow?host=db&user=tucano&password={PASSWORD}",
    f"mssql+pyodbc:///?odbc_connect=DRIVER%3Dx%3BUID%3Dsa%3BPWD%3D{PASSWORD}",
    f"https://host/#access_token={PASSWORD}",
    f"host=db user=tucano password={PASSWORD}",
    f"tucano:{PASSWORD}@db.example",
    f"https://host/v1?privateKey={PASSWORD}",
    f"DefaultEndpointsProtocol=https;AccountKey={PASSWORD}",
    f"https://host/v1?senha={PASSWORD}",
    f"https://host/v1?bearer={PASSWORD}&session=1",
    f"http:/user:{PASSWORD}@host",
    f"http://user:first@{PASSWORD}@host",
    f"Bearer {PASSWORD}",
    f"sk-proj-{PASSWORD}",
    f"hf_0123456789{PASSWORD.replace('-', '')}",
    f"postgresql://mlflow:2024#{PASSWORD}@127.0.0.1:1/mlflow",  # no port, though it begins with digits
    f"http://user:123?{PASSWORD}@host",
    f"mysql+pymysql://root:77/{PASSWORD}@db/h",
    f"http://user:{PASSWORD}＠host",  # a full-width @
    f"http：／／user：{PASSWORD}＠host",
    f"http://user:{PASSWORD}%25252540host",
    f"http://user:{PASSWORD}%EF%BC%A0host",
    f"https://host/v1?auth%5Btoken%5D={PASSWORD}",
    f"https://host/v1?credentials[0][value]={PASSWORD}",
    f"tucano:first@{PASSWORD}@db.example",
]
LETTERS, HEX = "Hunter2Xq9" * 8, "0123456789abcdef" * 4
MAKERS_KEYS = [
    f"gsk_{LETTERS[:52]}",
    f"xai-{LETTERS}",
    f"nvapi-{LETTERS[:30]}_-{LETTERS[:30]}",
    f"dapi{HEX[:32]}",
    f"dapi{HEX[:32]}-2",
    "ASIAHUNTER2XQ9HUNTER",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbmEifQ.Hunter2Xq9-Hunter2Xq9_",
    "Basic YW5hOmh1bnRlcjItWHE5",
    "basic dXNlcjpwYXNz",
    "Authorization: Basic SHVudGVyMi1YcTk=",
    f"-----BEGIN PRIVATE KEY-----\n{LETTERS}\n-----END PRIVATE KEY-----",
    f"-----BEGIN OPENSSH PRIVATE KEY-----{LETTERS}",
    f"r8_{LETTERS[:37]}",
    f"pplx-{LETTERS[:48]}",
    *(f"{name}_{LETTERS[:24]}" for name in ("sk_live", "rk_live", "sk_test", "whsec", "fw", "hf", "npm", "api_org")),
    *(f"{name}{LETTERS[:40]}" for name in ("csk-", "tvly-", "GOCSPX-", "hvs.", "pypi-AgEI", "dop_v1_", "jina_", "shpat_")),
    f"SG.{LETTERS[:22]}.{LETTERS[:43]}",
    f"tgp_v1_{LETTERS[:43]}",
    f"lsv2_pt_{HEX[:32]}_{HEX[:10]}",
    f"dckr_pat_{LETTERS[:27]}",
]  # fmt: skip
"""As their makers form them; the secret parts are told by `Hunter`, or by digits that stand in their order."""
HARMLESS = [
    "runs", "/data/my runs", "http://127.0.0.1:5000", "http://host:8080/a@b", "http://[::1]:8080/a@b",
    "postgresql://tucano@db/mlflow?sslmode=require", "sqlite:////home/ana/a:b@c/mlflow.db",
    "abfs://container@account.dfs.core.windows.net/runs", "gs://bucket/a:b@c",
    "https://host/v1?max_tokens=5&monkey=1&author=ana", "seed/local-gpu", "Polygl0t/Tucano2-qwen-0.5B-Instruct",
    "piloto interno: combinado com a Ana (ana@loja.example)", "bearer of news", "s3://bucket/session/sk-1",
    "//server/share/a:b", "gs://bucket/x", "98c9c06b3f0d5c1f4e8a7b2d6c9e0f1a2b3c4d5e",
    "/data/basic-models/eyJ/r8_old/dapi", "basic questions about production", "Basic fjords",
    "AsiaPacificSoutheast1models", "s3://bucket/sk-learn-and-other-baselines", "hf_models_finetuned_on_reviews",
    "pplx-7b-online", "xai-org/grok-1", "nvidia/Llama-3.1-Nemotron-70B-Instruct-HF",
    "deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B", "-----BEGIN PUBLIC KEY-----",
    "https://host/v1?author[name]=ana&items[0]=1", "100%25 ana＠loja",
]  # fmt: skip
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


@pytest.mark.parametrize("key", MAKERS_KEYS)
def test_a_key_that_stands_bare_is_found_and_masked(key: str) -> None:
    for text in (key, f"the key {key}", f"/data/{key}", f"http://127.0.0.1/v1/{key}"):
        assert holds_secret(text)
        shown = masked(text)
        assert not any(part in shown for part in ("unter", "HUNTER", "eyJzdWI", "01234567", "YW5h", "dXNl", "SHVu"))
    with pytest.raises(UserError, match=r"model\.name holds a password, token or key"):
        validated({"model": {"name": key}})


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://u:p@ss/w@h", "https://***@h"),
        ("ftp://u:p@ss/w@h/x", "ftp://u:***@h/x"),
        ("postgresql://u:7/7@s?s@h/mlflow", "postgresql://u:***@h/mlflow"),
        ("ftp://u:p@s s@h", "ftp://u:***@h"),
        ("https://tok@en/x@h", "https://***@h"),
        ("http://h:8080/a@b", "http://h:8080/a@b"),
        ("ftp://u:80@h", "ftp://u:***@h"),
    ],
)
def test_all_up_to_the_last_at_of_the_line_is_the_password(text: str, shown: str) -> None:
    assert masked(text) == shown


PREFIXES = [
    ":/:", "//a:", "ora", "oracle://a:", "http:", "https://a", "a:b@", "?token", "?token[a]", "[token]", "Bearer ", "Basic ",
    "Basic AAAA", "basic b2", "sk-", "sk-a", "eyJ-", "eyJ.", "eyJ.eyJ", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "SG.",
    "dapi0", "%25", "%", "%2540", "＠", " ", "@", "A", "hf_", "nvapi--", "lsv2_pt_",
]  # fmt: skip


@pytest.mark.parametrize("prefix", PREFIXES)
def test_looking_takes_time_in_proportion_to_the_text(prefix: str) -> None:
    """A pattern that tries every end from every beginning takes 64 times as long for 8 times the text."""

    def seconds(characters: int) -> float:
        began = time.process_time()
        for text in (prefix * (characters // len(prefix)), f"?{prefix * (characters // len(prefix))}\n"):
            holds_secret(text)
            masked(text)
        return time.process_time() - began

    many = seconds(100_000)
    # the same work takes thrice as long when other programs are at it, so it may be measured again
    assert any(many < 24 * seconds(12_500) + 0.5 for _ in range(3))


@pytest.mark.parametrize("name", profiles(ROOT))
def test_no_setting_of_a_profile_is_taken_for_a_secret(name: str) -> None:
    def check(value: Any) -> None:
        if isinstance(value, str):
            assert masked(value) == value
        for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            check(inner)

    assert secret_in(profiles(ROOT)[name]) is None
    check(validated(profiles(ROOT)[name]).model_dump(mode="json"))


@pytest.mark.parametrize("name", TEXT_SETTINGS)
def test_every_text_setting_refuses_a_password(name: str) -> None:
    with pytest.raises(UserError) as caught:
        load_profile(ROOT, "laptop", [f"{name}={SECRET_ADDRESSES[0]}"])
    assert name in str(caught.value) and "environment" in str(caught.value)
    assert PASSWORD not in str(caught.value) and "\n" not in str(caught.value)


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


def test_a_key_does_not_leave_this_machine_in_plain_text() -> None:
    with pytest.raises(UserError, match=r"would send its key over plain http to api\.example\.com; use https"):
        validated({"benchmark": {"endpoints": [{**ENDPOINT, "url": "http://api.example.com/v1", "key_env": "A_KEY"}]}})
    assert EndpointSettings(name="here", url="http://127.0.0.1:8000/v1", model="m", key_env="A_KEY").key_env == "A_KEY"
    assert EndpointSettings(name="there", url="http://10.0.0.5/v1", model="m").key_env is None  # nothing secret to send


def test_the_command_says_it_in_one_sentence_and_writes_nothing(tmp_path: Path) -> None:
    address = f"tracking_uri={SECRET_ADDRESSES[0]}"
    result = tucano("run", "laptop", "--set", f"storage={tmp_path / 'runs'}", "--set", address)
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
    more = ["--set", f"storage={tmp_path / 'runs'}"] if arguments[0] == "lineage" else []
    result = tucano(*arguments, *more)
    assert result.returncode == 2 and result.stderr and PASSWORD not in result.stdout + result.stderr, result.stderr


@pytest.mark.parametrize(
    ("variable", "address", "instead"),
    [
        ("MLFLOW_TRACKING_URI", f"http://ana:{PASSWORD}@127.0.0.1:9", "MLFLOW_TRACKING_PASSWORD"),
        ("PREFECT_API_URL", f"http://ana:{PASSWORD}@127.0.0.1:9/api", "PREFECT_API_AUTH_STRING"),
    ],
)
def test_servers_take_their_password_apart_from_their_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, address: str, instead: str
) -> None:
    """Their addresses are printed and written: as links in reports, notes and artifacts."""
    monkeypatch.setenv(variable, address)
    result = tucano("run", "laptop", "--set", f"storage={tmp_path / 'runs'}")
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
    for values in ({"tracking_uri": SECRET_ADDRESSES[0]}, {"data": {"path": SECRET_ADDRESSES[2]}}):
        with pytest.raises(ValidationError, match="environment") as caught:
            validate({"settings": values}, schema, raise_on_error=True)
        assert PASSWORD not in str(caught.value)
