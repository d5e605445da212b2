"""Preference optimisation after GRPO: the loss by hand, where pairs come from, and a training that is interrupted."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import storages
import torch
from datasets import Dataset
from nano_models import nano_adapter
from peft import PeftModel
from prefect.logging import disable_run_logger
from safetensors.torch import load_file
from test_grpo_parity import PROMPTS, SYSTEMS, one_thread_and_the_signals_as_before, tiny  # noqa: F401  a fixture
from test_grpo_parity import settings as of_grpo
from test_resume import interrupted, left, logged
from trainings import job_in

from data.own.preferences import trainable_pairs
from rewards import Score
from tasks.prepare import choose_preferences
from tasks.running.handles import Preferences, PromptSet, SeedResult
from tasks.running.run import Run
from tasks.running.tracked import Training
from tasks.train import train_seed
from tucano.artifacts.store import Artifact, Recipe, Store
from tucano.errors import UserError
from tucano.files.models import SeedFiles
from tucano.files.prompts import PromptFiles
from tucano.preferences import UNLEARNABLE, AnswerPair, read_answer_pairs, write_answer_pairs
from tucano.profiles import load_profile, validated
from tucano.prompts import Prompt, write_prompts
from tucano.requirements.second_zero import refusals
from tucano.settings import HealthSettings, PipelineSettings
from tucano.settings.stages import of_dpo
from tucano.settings.training.dpo import DpoStage
from tucano.settings.training.grpo import GrpoRun
from tucano.thoughts import told
from tucano.training import grpo
from tucano.training.jobs import Job, parse
from tucano.training.orders import for_round
from tucano.training.policies.load import load_policy
from tucano.training.preferences import dpo
from tucano.training.preferences.dpo import ResumableDPOTrainer, arguments, ranked_pairs
from tucano.training.rollouts.examiner import ScoredCompletion

DPO: dict[str, Any] = {
    "enabled": True, "max_epochs": 2, "batch_size": 2, "micro_batch": 1, "learning_rate": 0.01, "eval_steps": 2,
    "save_steps": 2,
}  # fmt: skip


def settings(**changed: Any) -> PipelineSettings:
    plain = of_grpo(max_completion_tokens=32, generations=16, batch_size=16).model_dump(mode="json")
    return validated({**plain, "dpo": {**DPO, **changed}})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six prompts, and a tiny model in model/ with an adapter in adapter/ that stands for GRPO's."""
    place = tiny(tmp_path_factory.mktemp("dpo") / "tiny")
    nano_adapter(place / "model", settings().model, noise=0.02)
    return place


def train(folder: Path, place: Path, chosen: PipelineSettings, preferences: Path | None = None) -> Any:
    """One attempt; None when SIGTERM has ended it."""
    given = str(preferences) if preferences else None
    start = (folder / "model", folder / "adapter")
    return dpo.run(job_in(place, "dpo", chosen, folder, *start, preferences=given))


def summed_logp(policy: PeftModel, adapter: str, prompt: list[int], answer: list[int]) -> float:
    """log p(answer | prompt) under one adapter, from the logits alone: x_t - log(sum of exp x), token by token."""
    policy.set_adapter(adapter)
    with torch.no_grad():
        logits = policy(input_ids=torch.tensor([prompt + answer])).logits[0].double().tolist()
    rows = zip(logits[len(prompt) - 1 : -1], answer, strict=True)
    return sum(row[token] - math.log(sum(map(math.exp, row))) for row, token in rows)


def test_the_loss_is_equation_7_on_every_pair(folder: Path, tmp_path: Path) -> None:
    stage = of_dpo(settings(beta=0.3), 1)
    policy, tokenizer = load_policy(stage.model, str(folder / "model"), folder / "adapter", trainable=True, seed=1)
    pairs = [AnswerPair("Responda.", "Oi", "bom dia", "x"), AnswerPair("Responda.", "E o frete?", "grátis", "sei lá")]
    rows = Dataset.from_list([pair.row() for pair in pairs])
    trainer: Any = ResumableDPOTrainer(
        model=policy, args=arguments(stage, tmp_path, 2), train_dataset=rows, processing_class=tokenizer
    )
    batch = trainer.data_collator([trainer.train_dataset[row] for row in range(2)])
    at_the_start = trainer.compute_loss(trainer.model, batch)
    assert at_the_start.item() == pytest.approx(math.log(2), abs=1e-6)  # p = q: sigmoid(0) = 1/2, whatever the pair

    noise = torch.Generator().manual_seed(3)
    for name, weight in policy.named_parameters():
        if ".default." in name:
            weight.data += 0.05 * torch.randn(weight.shape, generator=noise)
    found = trainer.compute_loss(trainer.model, batch).item()
    losses = []
    for row in trainer.train_dataset:
        chosen, rejected = (
            summed_logp(policy, "default", row["prompt_ids"], ids) - summed_logp(policy, "ref", row["prompt_ids"], ids)
            for ids in (row["chosen_ids"], row["rejected_ids"])
        )
        losses.append(math.log1p(math.exp(-0.3 * (chosen - rejected))))
    assert abs(losses[0] - math.log(2)) > 0.01 and losses[0] != pytest.approx(losses[1], rel=0.01)
    assert found == pytest.approx(sum(losses) / 2, rel=1e-4)


def answer(prompt: str, text: str, reward: float, truncated: bool = False) -> ScoredCompletion:
    asked = Prompt(prompt, "push", f"pedido {prompt}", "", "", "")
    return ScoredCompletion(asked, [1], text, truncated, Score(reward, {}), None)


def test_a_pair_is_the_best_and_the_worst_of_a_group_that_ended() -> None:
    ended = {"meio": 0.5, "bom": 0.9, "mau": 0.1}
    group = [*(answer("a", text, reward) for text, reward in ended.items()), answer("a", "corte", 1.0, True)]
    alike = [answer("b", text, 0.4) for text in ("um", "dois", "três", "quatro")]
    cut = [answer("c", text, reward, True) for text, reward in (("um", 0.1), ("dois", 0.9), ("três", 0), ("x", 0))]
    (pair,) = ranked_pairs([*group, *alike, *cut], 4, {"push": "Escreva."})
    assert pair == AnswerPair("Escreva.", "pedido a", "bom", "mau")


PAIRS = {"pairs": 1, "left_out": {}}
TESTED, VALIDATING = "Qual foi o faturamento de maio em Recife?", "Crie uma notificação para o fone azul."
KEPT = AnswerPair(SYSTEMS["push"], "Um pedido que ninguém mais faz, só este aqui.", "sim", "não")


def judged(place: Path) -> PromptFiles:
    """A prompt set whose test and validation hold one prompt each."""
    files = PromptFiles(place)
    for path, text in ((files.test, TESTED), (files.validation, VALIDATING)):
        write_prompts(path, [Prompt("p", "push", text, "", "", "")])
    files.system_prompts.write_text(json.dumps(SYSTEMS), encoding="utf-8")
    return files


def test_pairs_of_people_near_a_judged_prompt_are_left_out(tmp_path: Path) -> None:
    held = [replace(KEPT, user=text) for text in (TESTED, VALIDATING.upper())]
    quoting = replace(KEPT, user="Outro pedido.", chosen=f"Como em: {TESTED}")
    foreign = AnswerPair("You are a pirate.", "Oi", "sim", "não")
    switched = replace(KEPT, system=told(KEPT.system, False))
    write_answer_pairs(tmp_path / "pairs.jsonl", [switched, *held, quoting, foreign])
    left_out = {"a test prompt, or near one": 3, "another system prompt than this run's": 1}
    assert trainable_pairs(tmp_path / "pairs.jsonl", judged(tmp_path)) == ([KEPT], left_out)


def test_pairs_with_an_answer_that_no_demonstration_may_be_are_left_out(tmp_path: Path) -> None:
    """The worse one may be nothing: that is what people correct."""
    nothing = replace(KEPT, rejected="")
    bad = [replace(KEPT, chosen=text) for text in (" ", "<think>x", "sim<|im_end|>")] + [
        replace(KEPT, rejected="<|x|>")
    ]
    write_answer_pairs(tmp_path / "pairs.jsonl", [nothing, *bad])
    assert trainable_pairs(tmp_path / "pairs.jsonl", judged(tmp_path)) == ([nothing], {UNLEARNABLE: 4})


TWICE = json.dumps(AnswerPair("s", "u", "a", "b").row()).replace('"rejected"', '"chosen": [], "rejected"')


def test_an_empty_line_at_the_end_is_no_pair(tmp_path: Path) -> None:
    (tmp_path / "pairs.jsonl").write_text(json.dumps(AnswerPair("s", "u", "a", "b").row()) + "\n\r\n\n", "utf-8")
    assert len(read_answer_pairs(tmp_path / "pairs.jsonl")) == 1


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 1 is no preference pair"),
        ('{"prompt": "Oi", "chosen": "a", "rejected": "b"}', "line 1 is no preference pair"),
        (json.dumps(AnswerPair("s", "u", "\ud800", "b").row()), "line 1 is no preference pair"),
        (json.dumps(AnswerPair("s", "u", "a", "a").row()), "line 1 prefers an answer to itself"),
        (json.dumps(AnswerPair("s", "u", "x\0y", "b").row()), r"no preference pair \(a text of it holds a zero byte"),
        (TWICE, r"line 1 is no preference pair \(a name is given twice in an object"),
        ("[" * 9999, "line 1 is no preference pair"),
        ("", "holds no preference pair"),
    ],
)
def test_a_file_without_pairs_is_refused_at_second_0(line: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "pairs.jsonl").write_text(line, encoding="utf-8")
    with pytest.raises(UserError, match=said):
        read_answer_pairs(tmp_path / "pairs.jsonl")
    refused = refusals(settings(pairs=str(tmp_path / "pairs.jsonl")))
    assert len(refused) == 1 and refused[0].startswith("dpo.pairs=") and re.search(said, refused[0])


TEACHER = {"endpoint": {"name": "m", "url": "http://127.0.0.1:1/v1", "model": "m"}}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"dpo": {**DPO, "ranked": False}}, "dpo.ranked=false leaves no pairs to learn from"),
        ({"dpo": {**DPO, "ranked": False, "rounds": 2, "pairs": "f"}}, "dpo.rounds=2 draws answers anew in each round"),
        ({"grpo": {"max_steps": 0}}, "grpo.max_steps=0 trains nothing"),
        ({"dpo": DPO, "grpo": {"max_steps": 0, "admission": {}}}, "grpo.max_steps=0 makes no step, so grpo.admission"),
        ({"dpo": DPO, "grpo": {"max_steps": 0, "teacher": TEACHER}}, "makes no step, so grpo.teacher would"),
        ({"dpo": {"rounds": 3}}, "dpo.rounds=3 would not be trained; set dpo.enabled=true"),
        ({"dpo": {**DPO, "micro_batch": 3}}, "dpo.micro_batch=3 does not divide dpo.batch_size=2"),
        ({"dpo": DPO, "data": {"thinking": ["push"]}}, "answers without their thoughts"),
        ({"dpo": DPO, "model": {"backend": "unsloth", "device": "cuda", "dtype": "bfloat16"}}, "needs model.backend"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        validated(changed)


@pytest.mark.parametrize(
    "idle",
    [
        {"beta": 0.1},
        {"loss": "grpo", "mask_truncated": True},
        {"iterations": 2, "epsilon_high": 0.3},
        {"task_weights": "iwu"},
        {"advantages": "group", "block_advantages": True},
        {"conditions": [{"component": "push.length", "needs": "push.product", "at_least": 0.5}]},
    ],
)
def test_without_a_step_what_shapes_grpos_is_refused_by_its_name(idle: dict[str, Any]) -> None:
    named = ", ".join(f"grpo.{name}" for name in GrpoRun.model_fields if name in idle)
    with pytest.raises(UserError, match=f"^grpo.max_steps=0 makes no step, so {named} would do nothing; leave out"):
        validated({"dpo": DPO, "grpo": {"max_steps": 0, **idle}})


def test_without_a_step_what_dpo_and_the_preflight_read_may_be_set() -> None:
    drawn = {"generations": 4, "temperature": 0.9, "rewards": "grounded", "selection": "truth", "validation_samples": 1}
    rehearsed = {"batch_size": 8, "micro_batch": 8, "learning_rate": 0.1, "eval_steps": 50, "save_steps": 15}
    validated({"dpo": DPO, "grpo": {"max_steps": 0, "seeds": [1], **drawn, **rehearsed}})
    for profile in ("laptop", "nano"):
        load_profile(Path(__file__).parent.parent, profile, ["grpo.max_steps=0", "dpo.enabled=true"])


def test_an_interrupted_training_ends_as_one_left_alone(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unwatched = HealthSettings(stop_on=())  # rewards are random: one adapter in three is called collapsed
    chosen = settings().model_copy(update={"health": unwatched})
    alone = train(folder, tmp_path / "alone", chosen)
    learned = read_answer_pairs(tmp_path / "alone" / "output" / "learned_pairs.jsonl")
    assert {pair.user for pair in learned} <= {prompt.user for prompt in PROMPTS}
    assert alone["pairs"] == len(learned) >= 4 and alone["steps"] == 2 * math.ceil(len(learned) / 2)
    assert [step for step, _ in alone["validation"]] == [*range(0, alone["steps"] + 1, 2)]
    assert alone["best_value"] == max(value for _, value in alone["validation"]), "GRPO's own look is among them"
    losses = logged(tmp_path / "alone", "train/loss")
    assert losses[0] == pytest.approx(math.log(2), abs=1e-4)
    assert sum(losses[-3:]) / 3 < losses[0], "pairs that are seen again are told apart"
    place = tmp_path / "stopped"
    for backward in (3, 4):  # within a step, and at its end
        interrupted(monkeypatch, backward, lambda: train(folder, place, chosen))
    assert train(folder, place, chosen) == alone
    assert left(place) == left(tmp_path / "alone")


def test_a_training_goes_on_with_the_pairs_of_people_that_it_began_with(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answers that another machine draws again may differ, and so did what was learned. Too long ones are left out."""
    pairs = [AnswerPair(SYSTEMS["push"], f"produto {n}", "oferta boa", "nada") for n in range(4)]
    write_answer_pairs(tmp_path / "pairs.jsonl", [*pairs, replace(pairs[0], chosen="oferta " * 300)])
    chosen = settings(ranked=False, pairs="-", max_epochs=2)
    interrupted(monkeypatch, 5, lambda: train(folder, tmp_path, chosen, tmp_path / "pairs.jsonl"))
    write_answer_pairs(tmp_path / "other.jsonl", [replace(pair, chosen="outra") for pair in pairs])
    made = train(folder, tmp_path, chosen, tmp_path / "other.jsonl")
    assert (made["pairs"], made["too_long"]) == (4, 1)
    assert read_answer_pairs(tmp_path / "output" / "learned_pairs.jsonl") == pairs


def test_without_a_pair_grpo_s_adapter_is_handed_on(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = train(folder, tmp_path, settings(ranked=False, pairs="-"))
    assert (made["steps"], made["pairs"], made["best_step"]) == (0, 0, 0)
    assert made["validation"] == [(0, made["best_value"])]
    told = [said.notice for line in capsys.readouterr().out.splitlines() if (said := parse(line)) and said.notice]
    assert len(told) == 1 and told[0].startswith("there is no pair to learn from") and "GRPO" not in told[0]
    assert_handed_on(folder, tmp_path)


def assert_handed_on(folder: Path, place: Path) -> None:
    """What a training has delivered is the adapter that it began with."""
    adapters = [made / "adapter" / "adapter_model.safetensors" for made in (folder, place / "output")]
    before, after = map(load_file, adapters)
    assert before.keys() == after.keys() and all(torch.equal(before[name], after[name]) for name in before)


class Choosing(Run):
    """Makes what it is asked for in its own store."""

    def make(self, stage: str, engine: Any, settings: Any, inputs: Any, produce: Any) -> Artifact:
        recipe = Recipe(stage, settings.model_dump(mode="json"), inputs, "code")
        return self.store.make(recipe, lambda draft: produce(recipe, draft), lambda sentence: None)


def choosing(place: Path, prompts: PromptSet, **dpo: Any) -> Preferences | None:
    run = Choosing(settings(**dpo), Store(place), None, "", None)  # type: ignore[arg-type]
    with disable_run_logger():
        return choose_preferences.fn(run, prompts)


def test_pairs_of_people_are_an_artifact_that_needs_their_file_no_more(tmp_path: Path) -> None:
    prompts = PromptSet(storages.made(tmp_path / "s", "data", judged))
    file, near = tmp_path / "pairs.jsonl", replace(KEPT, user=TESTED)
    write_answer_pairs(file, [KEPT, near])
    made = choosing(tmp_path / "s", prompts, pairs=str(file))
    assert made is not None and made.artifact.stage == "preferences"
    file.unlink()
    assert read_answer_pairs(made.files.pairs) == [KEPT]
    assert (made.record.pairs, made.record.left_out) == (1, {"a test prompt, or near one": 1})

    write_answer_pairs(file, [near])
    none = choosing(tmp_path / "s", prompts, pairs=str(file))
    assert none is not None and none.record.pairs == 0, "the answers that rewards rank are still there"
    with pytest.raises(UserError, match=r"leaves nothing to learn from \(left out: 1 a test prompt, or near one\)"):
        choosing(tmp_path / "s", prompts, pairs=str(file), ranked=False)
    file.unlink()
    with pytest.raises(UserError, match="is no file of preference pairs"):
        choosing(tmp_path / "s", prompts, pairs=str(file))
    assert choosing(tmp_path / "s", prompts) is None


def test_each_round_goes_on_from_the_one_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """GRPO has its best adapter at step 7, the rounds at 1, 2 and 3; what people preferred is learned once."""
    jobs: list[Job] = []

    def trained(run: Run, job: Job, training: Training, slots: Any) -> dict[str, Any]:
        jobs.append(job)
        place = SeedFiles(Path(job.output)).adapter
        place.mkdir()
        (place / "made").write_text(training.name, encoding="utf-8")
        return {"best_step": len(jobs), "best_value": 0.5, "alarms": [], "tracking_run": ""}

    root = tmp_path / "s"
    reinforced = {"seed": 1, "best_step": 7, "best_value": 0.5, "alarms": [], "tracking_run": ""}
    prompts = PromptSet(storages.made(root, "data", record={"licences": []}))
    before = SeedResult(storages.made(root, "grpo-seed-1", record=reinforced))
    people = Preferences(storages.made(root, "preferences", record=PAIRS))
    monkeypatch.setattr("tasks.train._trained", trained)
    monkeypatch.setattr("tasks.train.reinforce", lambda *given: before)
    monkeypatch.setattr("tasks.train.known", lambda run, training, made: made)
    monkeypatch.setattr("tasks.train.data_split", lambda *given: given)
    run = Choosing(settings(rounds=3), Store(root), None, "", None)  # type: ignore[arg-type]
    made = train_seed.fn(run, prompts, None, 1, people)
    begun = [(Path(str(job.adapter)) / "made").read_text(encoding="utf-8") for job in jobs[1:]]
    assert begun == ["dpo seed 1", "dpo seed 1 round 2"] and jobs[0].adapter == str(before.files.adapter)
    assert [job.settings["round"] for job in jobs] == [1, 2, 3]
    assert [job.preferences is not None for job in jobs] == [True, False, False]
    assert [name.split("/")[0] for name in made.record.made_of] == ["grpo-seed-1", "dpo-seed-1", "dpo-seed-1-round-2"]
    assert (made.artifact.stage, made.record.before_step, made.record.best_step) == ("dpo-seed-1-round-3", 7, 3)


def test_a_later_round_draws_other_answers_even_where_nothing_moved(folder: Path, tmp_path: Path) -> None:
    chosen = settings(max_epochs=1, eval_steps=99)
    drawn = []
    for number in (1, 1, 2):
        job = for_round(job_in(tmp_path, "dpo", chosen, folder, folder / "model", folder / "adapter"), number)
        stage = DpoStage.model_validate(job.settings)
        files = PromptFiles(folder)
        policy, examiner = dpo._opened(job, stage, files)
        drawn.append(dpo.gathered(job, stage, files, policy, examiner).pairs)
    assert drawn[0] == drawn[1] != drawn[2]


def test_dpo_can_begin_where_sft_ended(folder: Path, tmp_path: Path) -> None:
    """GRPO of no steps hands on its start, which it has looked at."""
    plain = settings().model_dump(mode="json")
    chosen = validated({**plain, "grpo": {**plain["grpo"], "max_steps": 0}})
    made = grpo.run(job_in(tmp_path, "grpo", chosen, folder, folder / "model", folder / "adapter"))
    assert made is not None and (made["steps"], made["best_step"]) == (0, 0)
    assert made["validation"] == [(0, made["best_value"])]
    assert_handed_on(folder, tmp_path)
    train(folder, tmp_path / "then", chosen)
