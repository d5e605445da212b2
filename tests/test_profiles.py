"""Profiles parse, and a person's mistake is one sentence that names the field and the mend."""

import re
import warnings
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
import yaml

from tucano.errors import UserError
from tucano.profiles import load_profile, profiles, validated
from tucano.settings import PipelineSettings
from tucano.settings.stages import of_preflight

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("name", profiles(ROOT))
def test_every_shipped_profile_is_valid(name: str) -> None:
    with warnings.catch_warnings(record=True):
        assert len(load_profile(ROOT, name, []).grpo.seeds) >= 3, "fewer say nothing about a new seed"


REPORTED: dict[str, Any] = {
    # the configuration block of the report
    "model.name": "Polygl0t/Tucano2-qwen-0.5B-Instruct",
    "model.quantization": "nf4",
    "model.backend": "unsloth",
    "model.lora_rank": 16,
    "model.lora_alpha": 32,
    "grpo.learning_rate": 5e-6,
    "grpo.schedule": "constant_with_warmup",
    "grpo.warmup_share": 0.05,
    "grpo.beta": 0.0,
    "grpo.generations": 16,
    "grpo.max_completion_tokens": 512,
    "grpo.temperature": 1.0,
    "grpo.batch_size": 32,  # 2 prompts x 16
    "grpo.micro_batch": 32,  # gradient accumulation 1
    "grpo.eval_steps": 50,
    "grpo.save_steps": 100,
    "grpo.patience": 15,
    "grpo.seeds": (42, 123, 456),
    "sft.enabled": False,
    # its eight changes
    "data.test_prompts": 65,  # 1: was 15
    "audit.pooled_floor": 0.6,  # 2: Spearman's rho before any training
    "grpo.rewards": "v4.2",  # 3: four tiers for SQL; tests/test_rewards_v42.py holds each
    "grpo.max_steps": 1500,  # 4: was 600
    "grpo.advantages": "gdpo",  # 5
    "grpo.task_weights": "iwu",  # 6
    # 7, three seeds: above; 8, the best checkpoint is kept: every seed's artifact is that
}
"""What the report says of v4.2, by the setting that says it here."""
ASSUMED = {
    "grpo.loss", "grpo.max_grad_norm", "grpo.validation_samples", "grpo.task_weights_rate", "grpo.task_weights_balance",
    "grpo.task_weights_floor", "model.dtype", "model.max_length_tokens", "data.style",
}  # fmt: skip
"""Where the report is silent; prefect.yaml marks each of them."""


def leaves(values: dict[str, Any], above: str = "") -> dict[str, Any]:
    """{setting: value} of what a profile says."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        found |= leaves(value, f"{above}{name}.") if isinstance(value, dict) else {f"{above}{name}": value}
    return found


def l4_as_written() -> tuple[dict[str, Any], list[str]]:
    """What the profile sets, and its lines."""
    text = (ROOT / "prefect.yaml").read_text(encoding="utf-8")
    said = next(part for part in yaml.safe_load(text)["deployments"] if part["name"] == "l4")["parameters"]["settings"]
    lines = text.split("- name: l4\n")[1].split("- name: ")[0].splitlines()
    return leaves(said), lines


def test_l4_is_the_configuration_of_the_report() -> None:
    with pytest.warns(UserWarning, match="cannot fire"):
        l4 = load_profile(ROOT, "l4", [])
    assert {name: attrgetter(name)(l4) for name in REPORTED} == REPORTED


def test_what_l4_sets_beyond_the_report_is_marked_assumed() -> None:
    said, lines = l4_as_written()
    marked = {line.split(":")[0].strip() for line in lines if "# assumed" in line}
    assert marked == {name.rpartition(".")[2] for name in ASSUMED}
    where = {"model.device", "model.revision", "data.demonstrations", "execution.seeds", "comparison.rewards"}
    served = {"comparison.primary", "comparison.served_temperature"}  # the report's table: temperature .1
    assert set(said) - set(REPORTED) - ASSUMED == where | served


def test_a_patience_that_cannot_fire_is_warned_about_when_the_profile_loads() -> None:
    """The report's own: 15 x 50 after the best at 1,100 would end at 1,850 of 1,500."""
    with pytest.warns(UserWarning, match="cannot fire for a best after step 750 of 1500.*grpo.patience=6 would"):
        load_profile(ROOT, "l4", [])
    for name in ("l4", "l4-v5", "l4-1.5b", "l4-3.7b", "l4-base", "laptop"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            load_profile(ROOT, name, ["grpo.patience=6"] if name == "l4" else [])


def test_a_warning_is_said_to_whoever_chose_and_to_nobody_who_reads_it_again() -> None:
    """`tucano verify` printed it in the middle of its table."""
    with pytest.warns(UserWarning, match="leaves no room before max_steps=15: early stopping cannot fire"):
        chosen = load_profile(ROOT, "laptop", ["grpo.patience=40"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        of_preflight(validated(chosen.model_dump(mode="json")), 42)


def at(url: str) -> list[str]:
    return [f'benchmark.endpoints=[{{name: a, url: "{url}", model: m}}]']


def mistake(line: str) -> tuple[str, list[str], str]:
    written, said = line.split("  ->  ")
    profile, _, overrides = written.partition(": ") if written.startswith("l4: ") else ("laptop", "", written)
    return profile, overrides.split("  "), said


WRITTEN = r"""
grpo.max_step=3  ->  no setting 'grpo.max_step'; did you mean 'grpo.max_steps'
grpo.max_steps  ->  has no value
grpo.max_steps=many  ->  grpo.max_steps='many' is not valid
data.paraphrases=true  ->  a number is asked for, not true
grpo.batch_size=60  ->  grpo.batch_size=60 is not divisible by grpo.generations=8; 64 would be
grpo.micro_batch=24  ->  does not divide grpo.batch_size
grpo.temperature=0.1  ->  grpo.temperature=0.1 is not valid
data.mix={extraction: 0.5}  ->  must add up to 1
audit.override_by=Ana  ->  go together
data.source=olist  ->  needs data.path
grpo.epsilon_high=0.28  ->  does nothing
grpo.importance_sampling=sequence  ->  does nothing with grpo.iterations=1
grpo.overlong_tokens=8  grpo.mask_truncated=true  ->  choose one
grpo.overlong_tokens=112  ->  must be below the ceiling of 112
grpo.task_weights_rate=0.1  ->  only read by grpo.task_weights=iwu
grpo.drop_zero_variance=true  ->  set grpo.refill_rounds
grpo.entropy_delta=0.01  ->  set grpo.entropy_target
grpo.entropy_target=0.3  grpo.entropy_coef=0.2  ->  above grpo.entropy_coef_max=0.1
dpo.pairs=pairs.jsonl  ->  would not be read; set dpo.enabled=true
data.thinking=[push]  grpo.think_weight=0.5  ->  grpo.max_think_tokens, which is not set
data.thinking=[push]  grpo.max_think_tokens=112  ->  leaves no room for an answer below the ceiling of 112 tokens
grpo.max_think_tokens=40  ->  do nothing where no task is answered after a thought
data.thinking=[churn]  ->  names churn, and this run has no such task
l4: grpo.block_advantages=true  grpo.advantages=group  grpo.task_weights=equal  grpo.rewards=grounded  ->  needs model.backend=transformers: unsloth moves
grpo.block_advantages=true  grpo.advantages=group  grpo.importance_sampling=sequence  grpo.iterations=2  ->  weighs answers whole
grpo.block_advantages=true  grpo.advantages=group  data.mix={push: 0.5, insights: 0.5}  ->  no task of this run is answered with fields
l4: grpo.teacher={endpoint: {name: m, url: 'http://127.0.0.1:1/v1', model: m}}  ->  needs model.backend=transformers: unsloth moves
grpo.teacher={endpoint: {name: m, url: 'https://example.com/v1', model: m}}  ->  grpo.teacher.allow_external=true
grpo.teacher={endpoint: {name: m, url: 'http://127.0.0.1:1/v1', model: m}}  grpo.temperature=0.9  ->  set grpo.temperature=1
grpo.teacher={endpoint: {name: m, url: 'http://127.0.0.1:1/v1', model: m}}  grpo.iterations=2  grpo.importance_sampling=sequence  ->  weighs answers whole
grpo.teacher={endpoint: {name: m, url: 'http://127.0.0.1:1/v1', model: m}}  grpo.drop_zero_variance=true  grpo.refill_rounds=1  ->  would teach from
grpo.teacher={endpoint: {name: m, url: 'http://127.0.0.1:1/v1', model: m}, reward_weight: 0}  grpo.entropy_advantages=true  ->  leave them out
grpo.teacher={endpoint: {name: m, url: 'http://127.0.0.1:1/v1', model: m}, weight: 0}  ->  weight
l4: model.dtype=float32  ->  set model.dtype=bfloat16
grpo.length_stages=[[10, 60], [5, 80]]  ->  must rise
grpo.length_stages=[[0, 200]]  ->  above grpo.max_completion_tokens=112
grpo.conditions=[{component: push.length, needs: push.product}]  ->  at_least
grpo.conditions=[{component: push.lenght, needs: push.product, at_least: 0.5}]  ->  which the tasks of this run do not have in grpo.rewards=grounded; the nearest is 'push.length'
grpo.conditions=[{component: push.length, needs: insights.length, at_least: 0.5}]  ->  no completion has both, choose one task
grpo.conditions=[{component: push.length, needs: push.length, at_least: 0.5}]  ->  grpo.conditions let push.length need itself
grpo.conditions=[{component: push.length, needs: push.product, at_least: 0.5}, {component: push.product, needs: push.length, at_least: 0.5}]  ->  let push.length and push.product need each other
grpo.iterations=2  grpo.epsilon_high=0.1  ->  grpo.epsilon_high=0.1 is below grpo.epsilon=0.2
preflight.allow_red=['signal: pusch']  ->  did you mean 'signal: push'?
health.stop_on=[sampler_apart]  ->  only raised with grpo.sampler=vllm
health.stop_on=[task_starved]  ->  only raised with grpo.task_weights=iwu
grpo.rewards=groundd  ->  did you mean 'grounded'?
model.name=nano  sft.enabled=false  ->  random weights
grpo.save_steps=7  ->  never meet
grpo.seeds=[1, 1]  ->  twice
grpo.seeds=[-1]  ->  grpo.seeds.0=-1 is not valid
data.mix.push.x=1  ->  no setting 'data.mix.push.x'; did you mean 'data.mix.push'
data.mix=5  data.mix.push=1  ->  goes into mix, which was set to 5
data.mix.pusch=1  ->  did you mean 'data.mix.push'
grpo.seeds=&a [*a]  ->  grpo.seeds
grpo.learning_rate=.nan  ->  grpo.learning_rate=nan is not valid
tracking_uri=http://[::1  ->  is not valid: it is no address
promotion.model=loja/tucano  ->  promotion.model='loja/tucano' is not valid: a name has letters
promotion.model=tucano@champion  ->  a name has letters
benchmark.adapters={../x: folder}  ->  an arm's name has small letters
execution.seeds=local  ->  write it as FLOW/DEPLOYMENT
benchmark.endpoints=[{name: a, url: 'http://h/v1?x=1', model: m}]  ->  without a query
"""
"""Overrides of `laptop`, or of the profile that stands before them, with two blanks between; what is said of them."""
NO_HOSTS = ("xn--", "a..b", "h ", "h:99999", "h:0", "h%20h", "999.1.1.1")
NINES = "9" * 400
MISTAKES: dict[str, tuple[str, list[str], str]] = {
    **{line: mistake(line) for line in WRITTEN.strip().splitlines()},
    **{f"no host: {host}": ("laptop", at(f"http://{host}/"), "benchmark.endpoints.0.url=") for host in NO_HOSTS},
    "much patience": ("laptop", [f"grpo.patience={NINES}"], "400 digits; more than 4294967296 of anything is a slip"),
    "nothing at all": ("laptop", [""], "has no value"),
    "deep YAML": ("laptop", ["grpo.seeds=" + "[" * 5000], "grpo.seeds='[[[["),
    "empty storage": ("laptop", ["storage=\u3000"], "is not valid: it is empty"),
    "line break in a path": ("laptop", ["storage=a\nb"], "storage='a\\nb' is not valid: it holds the control character"),
    "zero byte in a path": ("laptop", ["data.source=b2w", "data.path=a\0b"], "control character '\\x00'"),
}  # fmt: skip


LARGEST = {
    "data.train_prompts": 10**6, "data.validation_prompts": 10**5, "data.test_prompts": 10**5, "data.demonstrations": 10**6,
    "data.paraphrases": 20,
    "audit.resamples": 50_000, "benchmark.resamples": 10**5, "benchmark.prompts": 10**5, "benchmark.reviews": 10**6,
    "benchmark.samples": 1000, "comparison.samples": 1000, "grpo.validation_samples": 1000,
    "model.max_length_tokens": 2**20, "model.lora_rank": 4096,
    "model.nano_hidden": 8192, "model.nano_layers": 128, "model.nano_vocabulary": 2**18,
    "sft.max_epochs": 1000, "sft.batch_size": 2**16,
    "grpo.max_steps": 10**6, "grpo.batch_size": 2**16, "grpo.generations": 1024, "grpo.micro_batch": 2**16,
    "grpo.max_completion_tokens": 2**17, "grpo.iterations": 1000, "grpo.rollout_steps": 1000, "grpo.refill_rounds": 100,
    "worker.threads": 1024, "worker.parallel": 1024, "worker.retries": 1000,
    "promotion.approval_hours": 8760, "execution.grace_minutes": 525_600,
}  # fmt: skip
"""What makes memory or time grow, and no machine's figure comes near."""


@pytest.mark.parametrize("name", LARGEST)
def test_a_number_that_no_machine_bears_is_refused_with_its_limit(name: str) -> None:
    for much in (LARGEST[name] + 1, 10**300):
        with pytest.raises(UserError, match=rf"^{re.escape(name)}=.* less than or equal to {LARGEST[name]}$"):
            load_profile(ROOT, "laptop", [f"{name}={much}"])


def test_every_count_has_a_limit_or_costs_nothing() -> None:
    """Numbers that are only compared or multiplied with others may be any."""
    free = {"grpo.overlong_tokens", "model.lora_alpha", "health.window", *(
        f"{section}.{field}" for section in ("sft", "grpo", "dpo") for field in ("eval_steps", "save_steps", "patience")
    )}  # fmt: skip
    schema = PipelineSettings.model_json_schema()
    found = set()
    for section, value in schema["properties"].items():
        for field, kind in (
            schema["$defs"][value["$ref"].rpartition("/")[2]]["properties"].items() if "$ref" in value else ()
        ):
            for one in kind.get("anyOf", [kind]):
                if one.get("type") == "integer" and "maximum" not in one:
                    found.add(f"{section}.{field}")
    assert found == free


def test_there_are_at_most_so_many_seeds_and_rows() -> None:
    rows = "[" + "{name: a, url: 'http://h', model: m}," * 101 + "]"
    prices = "[" + "{machine: a, usd_per_hour: 1, source: a, date: 2026-01-01}," * 1001 + "]"
    stages = str([[step, 9] for step in range(1001)])
    many = {
        "grpo.seeds": (100, str(list(range(101)))),
        "benchmark.endpoints": (100, rows),
        "serving.endpoints": (100, rows),
        "cost.prices": (1000, prices),
    }
    for name, (most, value) in (many | {"grpo.length_stages": (1000, stages)}).items():
        with pytest.raises(UserError, match=rf"^{re.escape(name)}=.*at most {most} items") as caught:
            load_profile(ROOT, "laptop", [f"{name}={value}"])
        assert len(str(caught.value)) < 400
    for name, most in {"timeout_s": 86400, "attempts": 100, "parallel": 1000}.items():
        with pytest.raises(UserError, match=rf"^benchmark\.endpoints\.0\.{name}=.* equal to {most}$"):
            load_profile(
                ROOT, "laptop", [f"benchmark.endpoints=[{{name: a, url: 'http://h', model: m, {name}: {10**9}}}]"]
            )


@pytest.mark.parametrize(("profile", "overrides", "said"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_is_one_sentence(profile: str, overrides: list[str], said: str) -> None:
    with pytest.raises(UserError) as caught:
        load_profile(ROOT, profile, overrides)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


ALIASES = "[" + ", ".join(["&a0 [1, 2]", *(f"&a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9))]) + "]"
PROFILE = "{name: a, entrypoint: flows.train.train, parameters: {settings: {}}}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the file: input should be a valid dictionary; write it as the released file has it"),
        ("name: x\n", "deployments: field required"),
        ("deployments: 3\n", "deployments: input should be a valid list"),
        ("deployments: [{name: a}]\n", "deployments.0.entrypoint: field required"),
        ("deployments: [{name: 1, entrypoint: e}]\n", "deployments.0.name: input should be a valid string"),
        ("deployments: [{name: a, entrypoint: e, parameters: 3}]\n", "deployments.0.parameters: input should be"),
        ("deployments: [{name: a, entrypoint: flows.train.train}]\n", "deployment a has no settings"),
        ("deployments: [{name: a, entrypoint: flows.train.train, parameters: {settings: 3}}]\n", "deployment a has no settings"),
        ("deployments: []\nwhen: 2018-13-45\n", "it is no YAML (month must be in 1..12"),
        ("deployments: \x01\n", "it is no YAML (unacceptable character #x0001: special characters are not allowed"),
        ("deployments: " + "[" * 50_000, "it is no YAML (more than 100 brackets stand open at once"),
        ("deployments: !!bool perhaps\n", "it is no YAML ('perhaps'"),
        (f"deployments: {ALIASES}\n", "its aliases stand for more than 100000 values"),
        (f"deployments: [{PROFILE}, {PROFILE}]\n", "two profiles are named a; rename one"),
        ("deployments: !!int [1]\n", "line 1: expected a scalar node, but found sequence"),
        ("deployments: !!map [1]\n", "line 1: expected a mapping node, but found sequence"),
        ("deployments: &a [{name: a, entrypoint: e, of: *a}]\n", "line 1: found unconstructable recursive node"),
    ],
)  # fmt: skip
def test_an_odd_file_of_profiles_is_one_sentence(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "prefect.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(UserError) as caught:
        profiles(tmp_path)
    assert said in str(caught.value) and str(tmp_path / "prefect.yaml") in str(caught.value)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 300


@pytest.mark.parametrize(
    "url",
    ["http://h", "http://a_b.c:8000/v1", "https://xn--caf-dma.br/v1", "https://café.br", "http://[::1]:8000/v1", "http://1.2.3.4", "http://h."],
)  # fmt: skip
def test_hosts_that_there_may_be_are_taken_without_the_blanks_around_them(url: str) -> None:
    assert load_profile(ROOT, "laptop", at(f" {url}  ")).benchmark.endpoints[0].url == url
    assert validated({"tracking_uri": f" {url} "}).tracking_uri == url


def test_what_reads_like_a_number_is_a_text_where_text_belongs() -> None:
    """YAML would make 42798 of 0123456, a number of 12e45678, seconds of 12:30 and a day of 2026-11-21."""
    pairs = {
        "model.revision": "0123456",
        "promotion.model": "12e45678",
        "cost.machine": "12:30",
        "storage": "2026-11-21",
    }
    settings = load_profile(ROOT, "laptop", [f"{name}={text}" for name, text in pairs.items()])
    assert (settings.model.revision, settings.promotion.model) == ("0123456", "12e45678")
    assert (settings.cost.machine, settings.storage) == ("12:30", "2026-11-21")
    assert load_profile(ROOT, "laptop", ["tracking_uri=null"]).tracking_uri is None
    assert load_profile(ROOT, "laptop", ["tracking_uri="]).tracking_uri is None


@pytest.mark.parametrize("text", ["[x]", "{a}", "~", "null", "a: b", "- a", "? a", "-", "x:", "a #b", "'a'", "#a"])
def test_a_folder_may_have_any_name(text: str) -> None:
    """YAML has lists, objects and nothing there."""
    settings = load_profile(ROOT, "laptop", [f"storage={text}", f"audit.ratings={text}"])
    assert settings.storage == text and settings.audit.ratings == (None if text == "null" else text)


EVIL_NAME = "\x1b[2J\n\u202e" + "x" * 10_000


@pytest.mark.parametrize(
    ("values", "place"),
    [
        ({EVIL_NAME: 1}, "there is no setting"),
        ({"grpo": {EVIL_NAME: 1}}, "there is no setting 'grpo."),
        ({"benchmark": {"adapters": {EVIL_NAME: "a"}}}, "benchmark.adapters."),
        ({"data": {"mix": {EVIL_NAME: 1}}}, "data.mix."),
        ({"data": {"mix": {"push": EVIL_NAME}}}, "data.mix.push="),
        ({"benchmark": {"judge": "x" * 250}}, "benchmark.judge="),
        ({"grpo": {"conditions": [{"component": EVIL_NAME, "needs": EVIL_NAME, "at_least": 1}]}}, "grpo.conditions names"),
        ({EVIL_NAME: "http://ana:hunter2@host"}, "holds a password"),
        ({"worker": {EVIL_NAME: {"password": "hunter2"}}}, "holds a password"),
        ({"http://ana:hunter2@host": 1}, "holds a password"),
        ({"benchmark": {"adapters": {"sk-hunter2-hunter2-hunter2": "a"}}}, "benchmark.adapters.sk-*** holds a password"),
    ],
)  # fmt: skip
def test_what_people_give_is_repeated_short_printable_and_without_secrets(values: dict[str, Any], place: str) -> None:
    with pytest.raises(UserError) as caught:
        validated(values)
    said = str(caught.value)
    assert place in said and len(said) < 1000 and said.isprintable() and "hunter2" not in said
