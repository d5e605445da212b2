"""Stages in runs of their own: what travels to them, which may be asked for, and when nothing is asked."""

import ast
import typing
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from prefect.logging import disable_run_logger
from test_kubernetes import PLAN

from deployments.kubernetes.plan import template as of_kubernetes
from deployments.vertex.plan import Plan, template
from flows.stage import STAGES
from flows.stage import stage as stage_flow
from tasks.plan import foresee
from tasks.running import elsewhere
from tasks.running.deployed import RunLost
from tasks.running.elsewhere import given_to, pack, where
from tasks.running.handles import PromptSet, PublicQuestions, Questions, SeedResult, Seeds, Start
from tasks.running.run import Run
from tasks.train import await_seed, fine_tune, train_seed
from tucano.artifacts.store import Artifact, Recipe, Store
from tucano.errors import UserError, WorkerFailed
from tucano.profiles import load_profile, validated
from tucano.requirements.machines import GIBIBYTE, MACHINES, of_pool
from tucano.settings import PipelineSettings
from tucano.training.foresight.forecast import Forecast, Line

ROOT = Path(__file__).parent.parent
VERTEX = Plan(
    project="shop-project", region="us-central1", bucket="shop-bucket", image="train:1", api_url="", tracking_uri="",
    service_account="trainer", secrets={},
)  # fmt: skip


def kubernetes(nodes: dict[str, str]) -> dict[str, Any]:
    """The job template of a pool whose nodes have these labels."""
    return of_kubernetes(replace(PLAN, nodes=nodes))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path, None)


def made(store: Store, stage: str, **record: Any) -> Artifact:
    return store.make(Recipe(stage, {}, {}, ""), lambda draft: record, lambda sentence: None)


def run_with(store: Store, **execution: Any) -> Run:
    settings = validated({"execution": execution})
    return Run(settings, store, SimpleNamespace(), "", None)  # type: ignore[arg-type]


def test_handles_travel_as_names_and_come_back_as_their_types(store: Store) -> None:
    """Every parameter of every stage that can be asked for."""
    handles = {kind: kind(made(store, kind.__name__.lower())) for kind in (PromptSet, Questions, Start)}
    seed = SeedResult(made(store, "grpo-seed-42", seed=42))
    values: dict[Any, Any] = {
        PromptSet: handles[PromptSet],
        Questions: handles[Questions],
        PublicQuestions: PublicQuestions(handles[Questions].artifact),
        Start | None: handles[Start],
        Seeds: Seeds((seed,), {7: "lost"}),
        SeedResult: seed,
        Sequence[SeedResult]: (seed,),
    }
    for work in STAGES.values():
        kinds = {name: kind for name, kind in typing.get_type_hints(work.fn).items() if name not in ("run", "return")}
        given = {name: values[kind] for name, kind in kinds.items()}
        assert given_to(work, store, {name: pack(value) for name, value in given.items()}) == given
    data = pack(handles[PromptSet])
    assert given_to(STAGES["preflight"], store, {"prompts": data, "start": None})["start"] is None
    with pytest.raises(AssertionError, match="cannot be given a float"):
        pack(0.5)


def test_every_stage_that_is_placed_somewhere_can_be_asked_for() -> None:
    """`where(run, work)` in flows and tasks, against what the stage flow knows."""
    placed = set()
    for file in (*(ROOT / "flows").glob("*.py"), *(ROOT / "tasks").glob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "where":
                placed.add(ast.unparse(node.args[1]))
    assert placed == {work.fn.__name__ for work in STAGES.values()}


def test_no_machine_is_asked_for_before_the_audit_let_the_run_pass() -> None:
    """What the CPU does alone comes before the first stage that `where` or a seed's run places on a machine."""
    calls = [
        (node.lineno, ast.unparse(node.func).partition(".")[0])
        for node in ast.walk(ast.parse((ROOT / "flows" / "train.py").read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
    ]
    places = min(line for line, called in calls if called in ("where", "one_seed", "answer_starts"))
    before = {called for line, called in calls if line < places}
    assert before >= {"prepare_data", "write_plan", "choose_preferences", "audit_rewards", "pass_gate"}


def test_nothing_answers_beside_seeds_that_train_elsewhere() -> None:
    """On one machine the parent's answers took the memory of the seed that held the GPU's limit."""
    placed = {name: load_profile(ROOT, name, []).execution for name in ("laptop", "l4", "l4-v5")}
    assert {name: where.is_here_alone for name, where in placed.items()} == {
        "laptop": True,
        "l4": False,
        "l4-v5": False,
    }


class Asked(list[tuple[str, str, dict[str, Any]]]):
    """The runs that were started: deployment, part, parameters."""

    def __init__(self, answer: str | RunLost) -> None:
        super().__init__()
        self.answer = answer

    def __call__(self, run: Run, deployment: str, part: str, parameters: dict[str, Any], failed_again: bool) -> str:
        assert failed_again
        self.append((deployment, part, parameters))
        if isinstance(self.answer, RunLost):
            raise self.answer
        return self.answer


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks without an engine, and without MLflow."""
    monkeypatch.setattr(elsewhere, "await_stage", elsewhere.await_stage.fn)
    monkeypatch.setattr("tasks.train.known", lambda run, training, found: found)
    monkeypatch.setattr("tasks.train.sft_training", lambda run, prompts: None)
    monkeypatch.setattr("tasks.running.run.get_run_logger", lambda: SimpleNamespace(info=print))


def test_what_is_not_there_is_asked_for_and_adopted(store: Store, here: None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert where(run_with(store), fine_tune).fn is fine_tune.fn  # type: ignore[attr-defined]
    prompts, start = PromptSet(made(store, "data")), made(store, "sft-elsewhere")
    asked = Asked(start.name)
    monkeypatch.setattr(elsewhere, "artifact_of", asked)
    run = run_with(store, stages="stage/somewhere")
    assert where(run, fine_tune)(run, prompts) == Start(store.named(start.name))
    parameters = {"stage": "sft", "given": {"prompts": prompts.artifact.name}}
    assert asked == [("stage/somewhere", "sft", parameters)]
    assert run.stages[start.stage].name == start.name


class Here(Run):
    """Makes what is asked for at once, by the same recipe as another run would."""

    def make(self, stage: str, engine: Any, settings: Any, inputs: Any, produce: Any) -> Artifact:
        recipe = Recipe(stage, settings.model_dump(mode="json"), inputs, "code")
        return self.store.make(recipe, lambda draft: {"tracking_run": "", "seed": 42}, lambda sentence: None)


def test_what_is_there_is_not_asked_for(store: Store, here: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job would start a machine to find out that nothing is to be done."""
    prompts = PromptSet(made(store, "data"))
    asked = Asked("")
    monkeypatch.setattr(elsewhere, "artifact_of", asked)
    monkeypatch.setattr("tasks.train.artifact_of", asked)
    monkeypatch.setattr("tasks.running.run.code_version", lambda module: "code")
    monkeypatch.setattr("tasks.train.seed_training", lambda *given: None)
    run = run_with(store, stages="stage/somewhere", seeds="seed/somewhere")
    there = Here(run.settings, store, run.tracker, "", run.seed_slots)
    start, seed = fine_tune.fn(there, prompts), train_seed.fn(there, prompts, None, 42, None)
    assert where(run, fine_tune)(run, prompts) == start
    assert await_seed.fn(run, prompts, None, 42, None) == seed
    assert asked == []


def test_a_run_that_is_lost_fails_the_stage_in_one_sentence(
    store: Store, here: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elsewhere, "artifact_of", Asked(RunLost("its run failed: no GPU")))
    run = run_with(store, stages="stage/somewhere")
    with pytest.raises(WorkerFailed, match="sft was not done: its run failed: no GPU"):
        where(run, fine_tune)(run, PromptSet(made(store, "data")))


def test_a_stage_that_nobody_knows_is_one_sentence() -> None:
    with disable_run_logger(), pytest.raises(UserError, match=r"rm -rf is no stage .* sft, preflight"):
        stage_flow.fn(validated({}), "rm -rf", {}, "")


@pytest.mark.parametrize(
    "given",
    [{}, {"prompts": "data/x", "run": "mine"}, {"prompts": 5}, {"prompts": ["a"]}, {"prompts": "../.."}],
)
def test_what_a_person_writes_into_the_form_is_refused_in_one_sentence(given: dict[str, Any], store: Store) -> None:
    with pytest.raises(UserError):
        given_to(fine_tune, store, given)


class Pools:
    """What Prefect's client says of deployments, each in a pool of its own name, with these job templates."""

    def __init__(self, **templates: dict[str, Any]) -> None:
        self.templates = templates

    def read_deployment_by_name(self, name: str) -> SimpleNamespace:
        return SimpleNamespace(work_pool_name=name.partition("/")[2])

    def read_work_pool(self, name: str) -> SimpleNamespace:
        kind = "process" if name == "local" else "vertex-ai"
        return SimpleNamespace(name=name, type=kind, base_job_template=self.templates.get(name, {}))


def wide(monkeypatch: pytest.MonkeyPatch, pool: str, **templates: dict[str, Any]) -> PipelineSettings:
    """A run on machines of this pool whose forecast (tests/test_foresight.py) is more than an L4 has."""
    step = Line("GRPO steps", 30 * GIBIBYTE, 1.0, "", "--set grpo.micro_batch=16 would fit")
    foreseen = "tucano.training.foresight.forecast.forecast"
    monkeypatch.setattr(foreseen, lambda settings, machine: Forecast(machine, (step,)))
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:1/api")
    monkeypatch.setattr("tasks.plan.require_places", lambda settings: None)
    monkeypatch.setattr("tasks.plan.get_client", lambda sync_client: nullcontext(Pools(**templates)))
    execution = [f"execution.seeds=seed/{pool}", f"execution.stages=stage/{pool}", "model.device=cuda"]
    return load_profile(ROOT, "laptop", execution)


def test_a_micro_batch_too_large_for_the_pools_gpu_is_refused_before_its_first_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It was asked of this machine's GPU alone: SFT and preflight were paid for before memory ran out."""
    refused = "GRPO steps will take about 30.0 GiB and NVIDIA L4 has 20.2 GiB for tensors: --set grpo.micro_batch=16 would fit"
    with pytest.raises(UserError, match=refused):
        foresee(wide(monkeypatch, "vertex-l4", **{"vertex-l4": template(VERTEX)}))


@pytest.mark.parametrize(
    ("template", "machine"),
    [
        (template(VERTEX), "l4"),
        (kubernetes({}), None),
        (kubernetes({"cloud.google.com/gke-accelerator": "nvidia-tesla-a100"}), "a100"),
        (kubernetes({"cloud.google.com/gke-accelerator": "nvidia-b200"}), None),
    ],
)
def test_a_pools_template_names_its_gpu(template: dict[str, Any], machine: str | None) -> None:
    assert of_pool(template) == (MACHINES[machine] if machine else None)
