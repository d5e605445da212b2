"""One adapter per task: trained on its task's prompts alone, and answering for it wherever a model is asked."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from nano_models import nano_adapter, nano_base
from trainings import job_in

from rewards import load_reward_set
from tucano.errors import UserError
from tucano.files.models import SeedFiles, ServedFiles
from tucano.files.per_task import adapters_by_task, join_adapters
from tucano.profiles import validated
from tucano.prompts import Prompt
from tucano.settings import ModelSettings, PipelineSettings
from tucano.storage.journal import JournalWriter, read_journal
from tucano.training import answers, merge
from tucano.training.answering.child import load
from tucano.training.answering.messages import Opening, Question
from tucano.training.answers import readings
from tucano.training.jobs import Arm, version_arm
from tucano.training.policies.load import Policy, load_policy
from tucano.training.policies.served_model import ServedModel
from tucano.training.rollouts.examiner import Examiner
from tucano.training.samplers.local import LocalSampler

MODEL = ModelSettings(nano_hidden=32, nano_layers=2, nano_vocabulary=400, max_length_tokens=256)
SYSTEMS = {"insights": "Analise.", "push": "Escreva."}
PROMPTS = [
    Prompt(f"{task}-{n}", task, f"Caixa {n} de {task}", "t", "synthetic", "CC0")
    for n in range(3)
    for task in ("push", "insights")
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A nano base, and in adapter/ one adapter for each of two tasks, each of which changes its answers."""
    root = tmp_path_factory.mktemp("per task")
    nano_base(root, MODEL, SYSTEMS, PROMPTS)
    for seed, task in enumerate(SYSTEMS):
        nano_adapter(root / "base", MODEL, 0.3, f"adapter/{task}", seed)
    return root


def opened(place: Path, adapter: Path | None) -> tuple[Policy, Any]:
    return load_policy(MODEL, str(place / "base"), adapter, trainable=False, seed=0)


def texts(place: Path, adapter: Path, prompts: list[Prompt]) -> dict[str, str]:
    """{prompt id: greedy answer}"""
    policy, tokenizer = opened(place, adapter)
    rewards = load_reward_set("controls.length", place)
    examiner = Examiner(tokenizer, SYSTEMS, rewards, place, 12, LocalSampler())
    return {one.prompt.id: one.text for one in examiner.answer(policy, prompts, 1, 0.0, 1)}


def test_each_prompt_is_answered_as_by_its_tasks_adapter_alone(place: Path) -> None:
    together = texts(place, place / "adapter", PROMPTS)
    assert list(together) == [prompt.id for prompt in PROMPTS], "in the order of the prompts"
    alone = {task: texts(place, place / "adapter" / task, PROMPTS) for task in SYSTEMS}
    assert together == {prompt.id: alone[prompt.task][prompt.id] for prompt in PROMPTS}
    assert alone["push"] != alone["insights"], "or it would not matter who answers"


def test_passages_without_a_task_are_read_by_all_in_turn(place: Path) -> None:
    def nats(adapter: Path) -> list[float]:
        policy, tokenizer = opened(place, adapter)
        return [row["nats"] for row in readings(policy, tokenizer, ["Caixa de insights", "Escreva uma caixa"])]

    each = [nats(place / "adapter" / task) for task in SYSTEMS]
    assert nats(place / "adapter") == pytest.approx([sum(pair) / 2 for pair in zip(*each, strict=True)])
    assert each[0] != each[1]


# Promoted and served


@pytest.fixture(scope="module")
def packed(place: Path) -> ServedFiles:
    """What a registry version of it holds, made by the merge."""
    settings = PipelineSettings.model_validate({"model": MODEL.model_dump(), "grpo": {"max_completion_tokens": 12}})
    made = merge.run(job_in(place, "merge", settings, place / "prompts", place / "base", place / "adapter"))
    assert made["faithful"] and float(str(made["mean_difference"])) < 0.01
    served = ServedFiles(place / "data")
    shutil.copytree(place / "output" / "model", served.model)
    shutil.copytree(place / "adapter", served.adapter)
    shutil.copy2(place / "prompts" / "system_prompts.json", served.system_prompts)
    served.serving.write_text(json.dumps({"temperature": 0.01, "max_new_tokens": 12, "seed": 7}), encoding="utf-8")
    return served


def opening_of(packed: ServedFiles, adapter: str | None) -> Opening:
    loaded, completions = {"max_length_tokens": 256}, {"max_completion_tokens": 12}
    return Opening(str(packed.model), loaded, completions, threads=1, seed=7, log="log", adapter=adapter)


def test_the_process_that_serves_answers_each_question_with_its_tasks_adapter(packed: ServedFiles) -> None:
    answerer = load(opening_of(packed, str(packed.adapter)))
    asked = [Question(SYSTEMS[prompt.task], prompt.user, 12, 0.0, prompt.task) for prompt in PROMPTS]
    found = [drawn.text for drawn in answerer.answer(asked)]
    for task in SYSTEMS:
        alone = load(opening_of(packed, str(packed.adapter))).answer([replace(one, task=task) for one in asked])
        mine = [index for index, prompt in enumerate(PROMPTS) if prompt.task == task]
        assert [alone[index].text for index in mine] == [found[index] for index in mine]
        assert [one.text for one in alone] != found, "the adapter of another task says something else"
    again = [answerer.answer([question])[0].text for question in reversed(asked)]
    assert again[::-1] == found, "whoever was asked before"
    assert [one.text for one in load(opening_of(packed, None)).answer(asked)] != found, "so does the base"
    with pytest.raises(UserError, match=r"grpo\.sampler=local"):
        load(replace(opening_of(packed, "there"), completions={"sampler": "vllm"}))


def test_the_model_that_travels_answers_alike(packed: ServedFiles) -> None:
    model = ServedModel(packed.folder)
    model.decoding["temperature"] = 1e-5  # as good as greedy
    assert model.tasks == ["insights", "push"]
    asked = [Question(SYSTEMS[prompt.task], prompt.user, 12, 0.0, prompt.task) for prompt in PROMPTS]
    found = [drawn.text for drawn in load(opening_of(packed, str(packed.adapter))).answer(asked)]
    told = [model.answer(prompt.task, prompt.user).rstrip("\ufffd").strip() for prompt in PROMPTS]  # cut by the ceiling
    assert told == found


# Trained


def test_a_registered_version_is_asked_with_its_tasks_adapters_whatever_a_run_draws_with(
    packed: ServedFiles, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was compared as its bare base, and ended a run whose answers vLLM draws: a server is given one adapter."""
    asked: list[tuple[str, int]] = []

    def server(job: Any, base: str, rank: int, *_: Any) -> LocalSampler:
        asked.append((base, rank))
        return LocalSampler()

    monkeypatch.setattr(answers, "sampler_for", server)
    champion = version_arm("champion", packed)
    assert (champion.adapter, champion.system_prompts) == (str(packed.adapter), str(packed.system_prompts))
    seed = Arm("seed-1", "base", str(place / "adapter" / "push"))
    settings = SimpleNamespace(grpo=SimpleNamespace(own_decoding=False), model=None)
    drawn = list(answers._with_samplers([seed, champion], None, settings))  # type: ignore[arg-type]
    assert len({*map(id, drawn)}) == 2 == len(drawn) and asked == [("base", MODEL.lora_rank)]


def test_joined_adapters_have_one_journal_in_which_who_stopped_early_counts_on(place: Path, tmp_path: Path) -> None:
    """The mean of those that were still training fell where nothing had fallen."""
    parts = {}
    for task, rewards in (("insights", [0.2, 0.4]), ("push", [0.6])):
        parts[task] = SeedFiles(tmp_path / task)
        shutil.copytree(place / "adapter" / task, parts[task].adapter)
        journal = JournalWriter(parts[task].journal, resume_step=None)
        for step, reward in enumerate(rewards):
            journal.log(step, {"validation/reward": reward, f"train/reward/{task}": reward})
    (tmp_path / "joined").mkdir()
    joined = SeedFiles(tmp_path / "joined")
    join_adapters(parts, joined)
    assert list(adapters_by_task(joined.adapter)) == ["insights", "push"]
    found = {entry.step: entry.values for entry in read_journal(joined.journal)}
    assert found[0] == {"validation/reward": 0.4, "train/reward/insights": 0.2, "train/reward/push": 0.6}
    assert found[1] == {"validation/reward": 0.5, "train/reward/insights": 0.4}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"data": {"mix": {"push": 1.0}}}, "does nothing with a single task"),
        ({"grpo": {"task_weights": "iwu"}}, "leaves grpo.task_weights=iwu no tasks to weigh"),
        ({"model": {"backend": "unsloth", "device": "cuda", "dtype": "bfloat16"}}, "needs model.backend=transformers"),
        ({"model": {"name": "org/model", "quantization": "nf4"}}, "needs model.quantization=none"),
        ({"grpo": {"sampler": "vllm"}, "worker": {"vllm_python": "python"}}, "needs grpo.sampler=local"),
        ({"dpo": {"enabled": True}}, "cannot be followed by DPO"),
        ({"benchmark": {"enem": "folder"}}, "leave benchmark.enem empty"),
    ],
)
def test_what_is_not_built_is_refused_in_one_sentence(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        validated({**changed, "grpo": {**changed.get("grpo", {}), "adapters": "per_task"}})
