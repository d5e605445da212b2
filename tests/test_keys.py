"""What an artifact's key is made from: just what its stage reads. Less reuses what is stale; more trains again."""

import ast
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import BoundedSemaphore
from typing import Any

import pytest

from tasks.audit import audit_again, audit_rewards
from tasks.benchmark import (
    answer_with_baselines,
    answer_with_endpoint,
    answer_with_models,
    judge_benchmark,
    make_benchmark_set,
    rate_insights,
    time_models,
)
from tasks.compare import answer_prompts, answer_seed, answer_starts, compare_arms
from tasks.plan import write_plan
from tasks.preflight import check_before_grpo
from tasks.prepare import prepare_data
from tasks.promote import merge
from tasks.public import answer_public, judge_public_answers, make_public_set
from tasks.running.handles import (
    AnswerSet,
    ArmPaces,
    Plan,
    PromptSet,
    PublicAnswers,
    PublicQuestions,
    Questions,
    SeedResult,
    Seeds,
    Start,
)
from tasks.running.run import Run
from tasks.train import fine_tune, join, prefer, train_seed
from tucano.artifacts import code_version as reading
from tucano.artifacts.code_version import OUR_PACKAGES, code_version
from tucano.artifacts.store import Artifact, Recipe, Store
from tucano.audit.parallel.process import stored
from tucano.files.prompts import SETS, PromptFiles
from tucano.profiles import setting_types, validated
from tucano.settings import PipelineSettings, Section
from tucano.training.jobs import MODULES

ROOT = Path(__file__).parent.parent

ANSWERED = {"answers", "answers-of-seed", "answers-of-starts"}
DRAWN = {*ANSWERED, "benchmark-answers", "benchmark-pace", "public-answers"}
GRPO = {"preflight", "grpo"}
TRAINED = {*GRPO, "dpo"}
LOADED = {"sft", *TRAINED, *DRAWN, "merged"}
NOWHERE = (
    "storage", "tracking_uri", "worker.python", "worker.vllm_", "worker.parallel", "worker.checkpoint_minutes",
    "worker.deterministic", "worker.silence_minutes", "worker.retries", "cost.machine", "execution.", "serving.",
    "monitor.", "promotion.", "sft.save_steps", "grpo.save_steps", "dpo.save_steps", "dpo.enabled", "dpo.rounds",
    "dpo.pairs", "data.path", "data.general.path", "data.judge", "benchmark.enem", "benchmark.endpoints",
    "benchmark.judge", "benchmark.allow_external", "preflight.allow_red",
)  # fmt: skip
"""Where things are and how they are computed, and what the flow alone reads. Each round of DPO is an artifact of its
own; of files the content counts, and these places hold none here; of an endpoint only what identifies its model.
"""
READ_BY: dict[str, set[str]] = {
    **{name: set() for name in NOWHERE},
    "cost.prices": {"benchmark"},  # what an answer costs on the machine
    "audit.ratings": {"audit"},
    "benchmark.olist": {"benchmark-set"},
    "benchmark.b2w": {"benchmark-set"},
    "benchmark.adapters": {"benchmark-answers"},
    "benchmark.spider_pt": {"public-set"},  # one more benchmark
    "benchmark.faquad": {"public-set"},
    "sft.enabled": {"plan", "benchmark", "public"},  # the flow reads it, to choose its way
    "preflight.steps": {"preflight"},
    "seed": {
        "data", "audit", "sft", *DRAWN, "re-audit", "merged", "benchmark-set", "benchmark-endpoint", "benchmark-judge",
        "benchmark", "public-set", "public",
    },
    "data.mix": {*GRPO, "data", "audit", "joined", "benchmark-set"},
    "data.": {"data", "benchmark-set"},
    "audit.resamples": {"audit", "re-audit"},
    "audit.": {"audit"},
    "model.name": LOADED | {"comparison"},  # random weights have nothing to forget
    "model.nano_": {"sft"},
    "model.lora_": GRPO,  # and SFT, where the model is not built here
    "model.": LOADED,
    "sft.": {"sft"},
    "dpo.": {"dpo"},
    "grpo.adapters": GRPO,
    "grpo.rewards": {"audit", "re-audit", *TRAINED},
    "grpo.generations": TRAINED,
    "grpo.temperature": TRAINED,
    "grpo.seeds": {"plan", "preflight", "answers-of-starts"},
    "grpo.max_completion_tokens": {*TRAINED, *DRAWN, "merged", "benchmark-endpoint"},
    "grpo.max_think_tokens": {*TRAINED, *DRAWN},
    "grpo.own_decoding": {*TRAINED, *DRAWN},
    "grpo.sampler": {*TRAINED, *DRAWN},
    "grpo.validation_samples": {"grpo", "dpo"},
    "grpo.selection": {"grpo", "dpo"},
    "grpo.validation_decoding": {"grpo", "dpo"},
    "grpo.admission": {"grpo"},
    "grpo.": GRPO,
    "health.": {"grpo", "dpo"},
    "comparison.primary": {"plan", "comparison", "grpo", "dpo"},  # checkpoints are chosen at its decoding
    "comparison.alpha": {"plan", "comparison", "re-audit", "benchmark", "public"},
    "comparison.truth_margin": {"plan", "comparison"},
    "comparison.rewards": {"plan", *ANSWERED, "benchmark-answers", "benchmark-baselines", "benchmark-endpoint"},
    "comparison.served_temperature": {"plan", *ANSWERED, "benchmark-answers", "benchmark-endpoint", *TRAINED},
    "comparison.samples": {"plan", *ANSWERED},
    "benchmark.samples": {"benchmark-answers", "benchmark-endpoint"},
    "benchmark.resamples": {"benchmark", "public"},
    "benchmark.": {"benchmark-set"},
    "worker.threads": TRAINED,
}  # fmt: skip
"""The stages whose result depends on a setting, written down from the documentation; of several beginnings the longest
counts.

The report is not here: it shows every setting.
"""

API = {"name": "api", "url": "http://127.0.0.1:1/v1", "model": "m"}
START: dict[str, Any] = {
    "grpo": {
        "max_steps": 40, "eval_steps": 10, "save_steps": 10, "patience": 2, "iterations": 2, "epsilon_high": 0.3, "overlong_tokens": 8,
        "task_weights": "iwu", "drop_zero_variance": True, "refill_rounds": 1, "entropy_coef": 0.01, "entropy_target": 0.2,
    },
    "model": {"device": "cuda", "backend": "transformers", "dtype": "bfloat16"},
    "benchmark": {"endpoints": [API], "judge": "api", "adapters": {}, "enem": "nowhere"},
    "audit": {"override_by": "Ana", "override_reason": "piloto"},
}  # fmt: skip
"""With these settings every other one may be changed alone."""

CHANGED: dict[str, Any] = {
    "data.source": "olist", "data.style": "natural", "data.mix": {"extraction": 0.5, "sql_qa": 0.5},
    "data.thinking": ("push",),
    "data.sources": ({"source": "synthetic", "share": 0.5}, {"source": "b2w", "share": 0.5, "path": "nowhere"}),
    "model.name": "org/model", "model.revision": "0" * 40, "model.chat_template": "chatml", "model.backend": "unsloth", "model.device": "cpu",
    "model.quantization": "nf4", "model.dtype": "float32", "grpo.rewards": "v4.2", "grpo.seeds": (1, 2),
    "grpo.schedule": "linear", "sft.schedule": "linear", "promotion.approval_hours": 1.0,
    "monitor.approval_hours": 1.0, "worker.parallel": 2, "grpo.batch_size": 64, "grpo.generations": 8,
    "grpo.micro_batch": 16, "grpo.temperature": 0.9, "grpo.eval_steps": 20, "grpo.save_steps": 20,
    "grpo.importance_sampling": "sequence", "grpo.loss": "dapo", "grpo.length_stages": ((10, 300),),
    "grpo.conditions": ({"component": "push.length", "needs": "push.product", "at_least": 0.5},),
    "grpo.advantages": "group", "grpo.block_advantages": True, "grpo.max_think_tokens": 50, "grpo.think_weight": 0.1,
    "grpo.adapters": "per_task", "dpo.batch_size": 32, "dpo.micro_batch": 8, "dpo.schedule": "cosine",
    "grpo.task_weights": "equal", "grpo.entropy_target": 0.3, "grpo.selection": "truth", "health.stop_on": (),
    "grpo.validation_decoding": "sampled", "grpo.admission": {"low": 0.1}, "grpo.teacher": {"endpoint": API},
    "preflight.allow_red": ("memory",), "comparison.rewards": "v4.2", "comparison.primary": "sampled",
    "benchmark.endpoints": ({**API, "timeout_s": 7, "parallel": 1},), "benchmark.judge": None,
    "execution.seeds": "seed/local", "execution.stages": "stage/local", "promotion.model": "other",
    "monitor.retrain": "train/laptop", "serving.routes": {"push": ("rules",)}, "serving.endpoints": (API,),
    "worker.python": "/usr/bin/python3", "worker.vllm_python": "/usr/bin/python3", "grpo.sampler": "vllm",
    "worker.checkpoint_minutes": 5, "worker.deterministic": False, "cost.prices": (),
}  # fmt: skip
"""Another valid value where one cannot be made from the present one."""
THINKING = {"data.thinking": ("push",), "grpo.max_think_tokens": 40}
GIVEN: dict[str, dict[str, Any]] = {
    "data.path": {"data.source": "b2w", "data.path": "nowhere"},
    "data.general.path": {"data.general.share": 0.1, "data.general.path": "nowhere"},
    "sft.enabled": {"model.name": "org/model"}, "model.quantization": {"model.name": "org/model"},
    "grpo.mask_truncated": {"grpo.overlong_tokens": 0}, "grpo.drop_zero_variance": {"grpo.refill_rounds": 0},
    "grpo.adapters": {"grpo.task_weights": "equal", "benchmark.enem": None},
    "grpo.block_advantages": {"grpo.advantages": "group"}, "dpo.pairs": {"dpo.enabled": True},
    "dpo.rounds": {"dpo.enabled": True},
    "grpo.max_think_tokens": THINKING, "grpo.think_weight": THINKING,
    "grpo.sampler": {"worker.vllm_python": "/opt/vllm/bin/python"},
    "grpo.teacher": {"grpo.drop_zero_variance": False, "grpo.refill_rounds": 0},
    "model.backend": {"grpo.entropy_coef": 0.0, "grpo.entropy_target": None},
}  # fmt: skip
"""What has to be so before a setting can be changed."""
ALONG: dict[str, dict[str, Any]] = {"data.source": {"data.path": "nowhere"}}
"""What has to change along."""


@dataclass(frozen=True)
class Made(Exception):
    """A stage has asked for its artifact; nothing is made."""

    recipe: Recipe
    produce: Callable[[Recipe, Path], Mapping[str, Any]]


class Recording(Run):
    """A run whose stages get no further than their recipe."""

    def make(self, stage: str, engine: Any, settings: Section, inputs: Mapping[str, str], produce: Any) -> Artifact:
        raise Made(Recipe(stage, settings.model_dump(mode="json"), inputs, "code"), produce)


class NoChampion:
    def champion(self, model: str) -> None:
        return None


@pytest.fixture(scope="module")
def artifact(tmp_path_factory: pytest.TempPathFactory) -> Artifact:
    folder = tmp_path_factory.mktemp("artifact")
    for name in SETS:
        PromptFiles(folder).of(name).touch()
    (folder / "model").mkdir()
    (folder / "config.json").touch()
    record = {"seed": 1, "best_value": 0.5, "best_step": 1, "alarms": [], "tracking_run": ""}
    return Artifact("data", folder, "0" * 64, record, 0.0, datetime(2026, 1, 1, tzinfo=UTC))


@pytest.fixture(scope="module")
def keys(artifact: Artifact) -> Callable[[PipelineSettings], dict[str, str]]:
    return lambda settings: {stage: recipe.key for stage, recipe in recipes(settings, artifact)}


def recipes(settings: PipelineSettings, made: Artifact) -> Iterator[tuple[str, Recipe]]:
    """Every stage that the settings have, with the recipe of its artifact."""
    run = Recording(settings, store=None, tracker=NoChampion(), tracking_run="", seed_slots=BoundedSemaphore(1))  # type: ignore[arg-type]
    folder = made.folder
    adapters = {"other": str(folder), **settings.benchmark.adapters}
    model = settings.model_copy(update={"benchmark": settings.benchmark.model_copy(update={"adapters": adapters})})
    prompts, questions, start, seed = PromptSet(made), Questions(made), Start(made), SeedResult(made)
    answers, seeds = AnswerSet(made), Seeds((seed,), {})
    paces = ArmPaces(replace(made, record={"machine": "own machine", "cores": 2}))
    stages: dict[str, Callable[[], Any]] = {
        "data": lambda: prepare_data.fn(run),
        "audit": lambda: audit_rewards.fn(run),
        "plan": lambda: write_plan.fn(run, prompts),
        "sft": lambda: fine_tune.fn(run, prompts),
        "preflight": lambda: check_before_grpo.fn(run, prompts, start),
        "grpo": lambda: train_seed.fn(run, prompts, start, 42, None),
        "dpo": lambda: prefer(run, prompts, start, seed, None, 1),
        "joined": lambda: join(run, prompts, 42, {"push": seed}),
        "answers": lambda: answer_prompts.fn(run, prompts, start, seeds),
        "answers-of-starts": lambda: answer_starts.fn(run, prompts, start),
        "answers-of-seed": lambda: answer_seed.fn(run, prompts, start, seed),
        "re-audit": lambda: audit_again.fn(run, prompts, start, seeds, answers),
        "comparison": lambda: compare_arms.fn(run, prompts, Plan(made), start, seeds, answers, None),
        "merged": lambda: merge.fn(run, prompts, start, seed),
        "benchmark-set": lambda: make_benchmark_set.fn(run, prompts),
        "benchmark-answers": lambda: answer_with_models.fn(replace(run, settings=model), questions, None, ()),
        "benchmark-pace": lambda: time_models.fn(run, questions, start, (seed,)),
        "benchmark-baselines": lambda: answer_with_baselines.fn(run, prompts, questions),
        "public-set": lambda: make_public_set.fn(run),
        "public-answers": lambda: answer_public.fn(run, PublicQuestions(made), start, (seed,)),
        "public": lambda: judge_public_answers.fn(
            run, PublicQuestions(replace(made, record={"licences": {}})), PublicAnswers(made)
        ),
        "benchmark": lambda: judge_benchmark.fn(run, questions, [answers], None, paces),
    }
    if settings.benchmark.endpoints:
        stages["benchmark-endpoint"] = lambda: answer_with_endpoint.fn(run, questions, settings.benchmark.endpoints[0])
    if settings.benchmark.judge:
        stages["benchmark-judge"] = lambda: rate_insights.fn(run, questions, [answers])
    for stage, ask in stages.items():
        try:
            ask()
        except Made as found:
            yield stage, found.recipe


def test_another_judge_is_another_prompt_set_whatever_its_file_is_called(artifact: Artifact, tmp_path: Path) -> None:
    found = []
    for name, content in (("mine", b"one"), ("renamed", b"one"), ("mine", b"other")):
        file = tmp_path / name
        file.write_bytes(content)
        settings = PipelineSettings.model_validate({"data": {"judge": str(file)}})
        found.append(next(recipe for stage, recipe in recipes(settings, artifact) if stage == "data"))
    assert found[0].key == found[1].key != found[2].key
    assert {*found[0].inputs} == {"judge/file"}, "a name without a slash is a source's file to the lineage"


def test_the_prompt_set_holds_its_judge(tmp_path: Path) -> None:
    file = tmp_path / "mine.json.xz"
    file.write_bytes(b"one")
    sizes = {"train_prompts": 60, "validation_prompts": 26, "test_prompts": 26, "demonstrations": 0}
    settings = PipelineSettings.model_validate({"data": {"judge": str(file), **sizes}})
    run = Recording(settings, store=None, tracker=NoChampion(), tracking_run="", seed_slots=BoundedSemaphore(1))  # type: ignore[arg-type]
    with pytest.raises(Made) as found:
        prepare_data.fn(run)
    (tmp_path / "draft").mkdir()
    found.value.produce(found.value.recipe, tmp_path / "draft")
    assert PromptFiles(tmp_path / "draft").judge.read_bytes() == b"one"


def value_of(settings: PipelineSettings, name: str) -> Any:
    value: Any = settings
    for part in name.split("."):
        value = getattr(value, part)
    return value


def with_values(values: Mapping[str, Any]) -> PipelineSettings:
    plain: dict[str, Any] = {section: dict(content) for section, content in START.items()}
    for name, value in values.items():
        place = plain
        *sections, field = name.split(".")
        for section in sections:
            place = place.setdefault(section, {})
        place[field] = value
    return validated(plain)


def other_than(value: Any, name: str, folder: Path) -> Any:
    if name == "benchmark.adapters":
        (folder / "config.json").touch()
        return {"another": str(folder)}
    if name in CHANGED:
        return CHANGED[name]
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case float():
            return value * 0.9 or 0.01
        case _:
            return "something else"


@pytest.mark.parametrize("name", setting_types(PipelineSettings))
def test_a_setting_changes_the_keys_of_the_stages_that_read_it_and_of_no_other(
    name: str, keys: Callable[[PipelineSettings], dict[str, str]], tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    given = GIVEN.get(name, {})
    before = with_values(given)
    after = with_values({**given, **ALONG.get(name, {}), name: other_than(value_of(before, name), name, tmp_path)})
    assert value_of(after, name) != value_of(before, name), "the value has to change for the test to see anything"
    was, now = keys(before), keys(after)
    reads = next(READ_BY[start] for start in sorted(READ_BY, key=len, reverse=True) if name.startswith(start))
    assert {stage for stage in was.keys() & now.keys() if was[stage] != now[stage]} == reads


def test_the_content_of_files_counts_and_not_their_place(tmp_path: Path, artifact: Artifact) -> None:
    def key(stage: str, **settings: Any) -> str:
        return dict(recipes(validated(settings), artifact))[stage].key

    for place in ("one", "two"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "reviews.csv").write_text("nota;texto\n", encoding="utf-8")
        (tmp_path / place / "config.json").write_text("{}", encoding="utf-8")
    one, two = ({"source": "b2w", "path": str(tmp_path / place)} for place in ("one", "two"))
    assert key("data", data=one) == key("data", data=two)
    base_one, base_two = ({"name": str(tmp_path / place)} for place in ("one", "two"))
    assert key("grpo", model=base_one) == key("grpo", model=base_two)
    (tmp_path / "two" / "reviews.csv").write_text("nota;texto\n5;bom\n", encoding="utf-8")
    (tmp_path / "two" / "config.json").write_text('{"a": 1}', encoding="utf-8")
    assert key("data", data=one) != key("data", data=two)
    for stage in LOADED:
        assert key(stage, model=base_one) != key(stage, model=base_two)


def test_the_command_makes_the_audit_that_a_run_looks_for(artifact: Artifact) -> None:
    class Asked(Store):
        def __init__(self) -> None: ...

        def make(self, recipe: Recipe, produce: Any, say: Any) -> Any:
            return recipe

    settings = validated({})
    asked: Any = stored(settings, Asked(), print)
    assert asked.code == code_version("tucano.audit.stage")
    assert replace(asked, code="code") == dict(recipes(settings, artifact))["audit"]


# What the code does


ENGINES = {
    "data.prepare", "data.benchmark", "tucano.audit.stage", "tucano.comparison.plan", "tucano.audit.reaudit_table",
    "tucano.comparison.compare", "tucano.report.report", "tucano.benchmark.answers", "tucano.benchmark.judge",
    "tucano.benchmark.benchmark", "data.public.prepare", "tucano.benchmark.public.result", "tucano.files.per_task", *(module for kind, module in MODULES.items() if kind not in ("trial", "untrained")),
}  # fmt: skip


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("copy")
    for package in OUR_PACKAGES:
        shutil.copytree(
            ROOT / package, root / package, ignore=shutil.ignore_patterns("__pycache__", "samples", "ratings")
        )
    return root


def versions(root: Path) -> dict[str, str]:
    return {engine: code_version(engine, root) for engine in sorted(ENGINES)}


@pytest.fixture(scope="module")
def before(copy: Path) -> dict[str, str]:
    return versions(copy)


def changed_by(copy: Path, before: dict[str, str], file: str, edit: Callable[[str], str]) -> set[str]:
    """The engines whose version is another one while the file is edited. It is as it was afterwards."""
    path = copy / file
    text = path.read_bytes().decode("latin-1")  # any bytes, for a file that is none of text
    assert edit(text) != text
    path.write_bytes(edit(text).encode("latin-1"))
    try:
        after = versions(copy)
    finally:
        path.write_bytes(text.encode("latin-1"))
    return {engine for engine in before if before[engine] != after[engine]}


@pytest.mark.parametrize(
    ("file", "user", "stranger"),
    [
        ("tucano/truth/judge.json.xz", "tucano.training.answers", "tucano.training.sft"),
        ("tucano/audit/relations/relations.jsonl.xz", "tucano.audit.stage", "tucano.training.sft"),
        ("tucano/truth/corpus/push.txt", "tucano.training.answers", "data.prepare"),
        ("rewards/corpus/push.txt", "tucano.audit.stage", "tucano.training.sft"),
        ("data/generator/natural/reviews_stories.txt", "data.prepare", "tucano.training.grpo"),
    ],
)
def test_texts_in_a_folder_of_their_own_are_part_of_what_reads_them(
    copy: Path, before: dict[str, str], file: str, user: str, stranger: str
) -> None:
    changed = changed_by(copy, before, file, lambda text: f"{text}Mais uma linha.\n")
    assert user in changed and stranger not in changed


@pytest.mark.parametrize(
    ("file", "old", "new", "changed"),
    [
        ("tucano/training/policies/nano.py", "The nano model:", "A smaller model:", set()),
        ("tucano/training/merge.py", "LARGEST_MEAN = 0.05", "LARGEST_MEAN = 0.06", {"tucano.training.merge", "tucano.training.preflight"}),
        ("data/passages.txt", "\n", "\n\n", {"data.prepare", "data.benchmark"}),
        ("tucano/audit/pinned_floors.json", "{", "{ ", {"tucano.audit.stage", "tucano.audit.reaudit_table", "tucano.report.report"}),
        ("tucano/presentation/style.css.j2", "{", "{ ", {"tucano.audit.stage", "tucano.report.report"}),
        ("tucano/settings/benchmark.py", "ge=80", "ge=81", {"data.benchmark", "tucano.benchmark.answers"}),
        ("tucano/settings/promotion.py", "0.02", "0.03", set()),
        ("tucano/settings/pipeline.py", "\n", "\nADDED = 1\n", set()),
    ],
)  # fmt: skip
def test_an_edit_changes_the_keys_of_what_uses_it_and_of_nothing_else(
    copy: Path, before: dict[str, str], file: str, old: str, new: str, changed: set[str]
) -> None:
    assert changed_by(copy, before, file, lambda text: text.replace(old, new, 1)) == changed


def test_every_reward_is_part_of_training_and_answers(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read, plain = set[Path](), reading._read

    def noted(path: Path, modified: int) -> Any:
        read.add(path)
        return plain(path, modified)

    monkeypatch.setattr(reading, "_read", noted)
    for engine in ("tucano.training.grpo", "tucano.training.answers"):
        read.clear()
        code_version(engine, copy)
        ours = {path for path in (copy / "rewards").rglob("*.py") if path.name != "__init__.py"}
        assert ours - read == set(), engine


def test_comments_docstrings_and_descriptions_change_no_key(copy: Path, before: dict[str, str]) -> None:
    """In every file of ours at once. The last test: it leaves the copy as it has rewritten it."""
    described = 0
    for path in copy.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        for node in ast.walk(tree):
            body = getattr(node, "body", None)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and isinstance(
                body, list
            ):
                documented = ast.get_docstring(node) is not None
                node.body[: int(documented)] = [ast.Expr(ast.Constant("Other words."))]
            if isinstance(node, ast.Call):
                for keyword in node.keywords:
                    if keyword.arg == "description" and isinstance(node.func, ast.Name) and node.func.id == "Field":
                        keyword.value, described = ast.Constant("Other words."), described + 1
        path.write_text(
            "# a comment\n" + ast.unparse(ast.fix_missing_locations(tree)) + "\n# another\n", encoding="utf-8"
        )
    assert described > 100
    assert versions(copy) == before
