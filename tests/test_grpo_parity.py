"""With everything of ours off the trainer is TRL's, bit for bit; what is TRL's does what its papers say."""

import json
import math
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest
import torch
import trl
from safetensors.torch import load_file
from torch import Tensor
from trainings import job_in
from transformers import AutoTokenizer
from transformers.trainer_utils import SaveStrategy

from rewards import Score, load_reward_set
from tucano.profiles import validated
from tucano.prompts import Prompt, write_prompts
from tucano.settings import PipelineSettings
from tucano.settings.stages import of_grpo
from tucano.storage.journal import read_journal
from tucano.training import grpo, grpo_trainer
from tucano.training.algorithms import Block, chain
from tucano.training.algorithms.blockwise import Blockwise
from tucano.training.policies.load import load_policy
from tucano.training.policies.nano import build_model, build_tokenizer
from tucano.training.policies.reading import Reader
from tucano.training.rollouts.refill import Reserve
from tucano.training.rollouts.rollout import leave_out
from tucano.training.rollouts.scoring import Rewards
from tucano.training.validation import Validation

OFF = {"advantages": "group", "own_decoding": False}
PROMPTS = [
    Prompt(f"p{n}", "insights" if n % 2 else "push", f"{'produto ' * (n % 3)}numero {n}", "t", "test", "own")
    for n in range(6)
]
SYSTEMS = {"push": "Escreva uma notificacao.", "insights": "Recomende."}


def settings(**grpo_settings: object) -> PipelineSettings:
    """Two prompts of four completions per step; random rewards: untrained weights earn something to learn from."""
    small = {"max_steps": 7, "eval_steps": 7, "save_steps": 7, "patience": 1, "validation_samples": 1}
    sizes = {"batch_size": 8, "generations": 4, "micro_batch": 4, "max_completion_tokens": 12, "learning_rate": 0.01}
    nano = {"nano_hidden": 32, "nano_layers": 2, "nano_vocabulary": 300, "max_length_tokens": 256}
    mix = {"push": 0.5, "insights": 0.5}
    return validated(
        {"data": {"mix": mix}, "model": nano, "grpo": {"rewards": "controls.random", **small, **sizes, **grpo_settings}}
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny(tmp_path_factory.mktemp("parity") / "tiny")


def tiny(place: Path, hidden: int = 32) -> Path:
    """A prompt set of six and a tiny Qwen3 with random weights, in a new folder."""
    place.mkdir()
    (place / "system_prompts.json").write_text(json.dumps(SYSTEMS), encoding="utf-8")
    write_prompts(place / "train.jsonl", PROMPTS)
    write_prompts(place / "validation.jsonl", PROMPTS[:2])
    shape = settings().model.model_copy(update={"nano_hidden": hidden})
    tokenizer = build_tokenizer([prompt.user for prompt in PROMPTS] + list(SYSTEMS.values()), shape)
    model = build_model(tokenizer, shape, seed=3)
    with torch.no_grad():
        model.get_input_embeddings().weight[tokenizer.eos_token_id] *= 3  # so that completions end at different lengths
    model.save_pretrained(place / "model")
    tokenizer.save_pretrained(place / "model")
    return place


@pytest.fixture(autouse=True)
def one_thread_and_the_signals_as_before() -> Iterator[None]:
    """A training child would have both to itself."""
    threads, handler = torch.get_num_threads(), signal.getsignal(signal.SIGTERM)
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
    signal.signal(signal.SIGTERM, handler)


def ours(folder: Path, place: Path, chosen: PipelineSettings) -> tuple[list[dict[str, float]], dict[str, Tensor]]:
    """Logged values of every step and the final adapter of a run of our own."""
    grpo.run(job_in(place, "grpo", chosen, folder, folder / "model"))
    entries = read_journal(place / "work" / "journal.jsonl")
    return [entry.values for entry in entries if "train/loss" in entry.values], final_adapter(place / "work")


def final_adapter(work: Path) -> dict[str, Tensor]:
    found = work.rglob("checkpoint-*/adapter_model.safetensors")
    return load_file(max(found, key=lambda path: int(path.parent.name.rpartition("-")[2])))


def scorer(rewards: Any, tokenizer: Any) -> Rewards:
    return Rewards(rewards, PROMPTS, Reader(tokenizer), SYSTEMS)


def stock(folder: Path, place: Path, chosen: PipelineSettings) -> tuple[list[dict[str, float]], dict[str, Tensor]]:
    """The same of `trl.GRPOTrainer` itself, on the same model, prompts, reward functions and arguments."""
    policy, tokenizer = load_policy(chosen.model, str(folder / "model"), None, trainable=True, seed=1)
    arguments = grpo.arguments(of_grpo(chosen, 1), place, chosen.grpo.save_steps)
    arguments.scale_rewards = "batch" if chosen.grpo.advantages == "batch" else "none"
    trainer = trl.GRPOTrainer(
        model=policy,
        args=arguments,
        train_dataset=grpo._dataset(PROMPTS, SYSTEMS, tokenizer),
        reward_funcs=scorer(load_reward_set(chosen.grpo.rewards, folder), tokenizer).functions(),
        processing_class=tokenizer,
    )
    trainer.train()
    logged = [entry for entry in trainer.state.log_history if "loss" in entry]
    return [{f"train/{name}": value for name, value in entry.items()} for entry in logged], final_adapter(place)


OFF_POLICY = {
    "iterations": 2, "epsilon_high": 0.28, "importance_sampling": "sequence", "loss": "dapo", "beta": 0.04,
    "entropy_coef": 0.01,
}  # fmt: skip


@pytest.mark.parametrize(
    "variant", [{}, OFF_POLICY, {"advantages": "batch"}], ids=["on-policy", "off-policy", "by the batch's spread"]
)
def test_with_everything_off_losses_and_weights_are_those_of_trl(
    folder: Path, tmp_path: Path, variant: dict[str, object]
) -> None:
    """Seven steps over six prompts: on-policy, more than two epochs."""
    chosen = settings(**OFF | variant)
    our_steps, our_weights = ours(folder, tmp_path / "ours", chosen)
    their_steps, their_weights = stock(folder, tmp_path / "stock", chosen)
    assert len(our_steps) == len(their_steps) == 7
    for mine, theirs in zip(our_steps, their_steps, strict=True):
        names = {name for name in theirs if name in mine and "time" not in name}
        assert {"train/loss", "train/grad_norm", "train/entropy"} <= names
        assert {name: mine[name] for name in names} == {name: theirs[name] for name in names}
    assert {"train/reward", "train/completions/mean_length"} <= our_steps[0].keys()
    assert any(step["train/grad_norm"] > 0 for step in our_steps)
    assert our_weights.keys() == their_weights.keys()
    assert all(torch.equal(our_weights[name], their_weights[name]) for name in our_weights)


def test_the_fast_path_gives_the_same_losses_on_the_same_completions(folder: Path, tmp_path: Path) -> None:
    """Only the order of float additions differs, so losses agree to rounding where the completions are the same."""
    slow, fast = trainer(folder, tmp_path, settings(**OFF)), trainer(folder, tmp_path, settings(advantages="group"))
    inputs = rollout(slow)
    assert loss(fast, inputs).item() == pytest.approx(loss(slow, inputs).item(), rel=1e-4, abs=1e-7)


def trainer(folder: Path, place: Path, chosen: PipelineSettings, rewards: Any = None) -> Any:
    """A trainer of our own that has not started to train."""
    policy, tokenizer = load_policy(chosen.model, str(folder / "model"), None, trainable=True, seed=1)
    scoring = scorer(rewards or load_reward_set(chosen.grpo.rewards, folder), tokenizer)
    dataset = grpo._dataset(PROMPTS, SYSTEMS, tokenizer)
    arguments = grpo.arguments(of_grpo(chosen, 1), place, chosen.grpo.save_steps)
    arguments.save_strategy = SaveStrategy.NO
    made: Any = grpo_trainer.trainer_class()(
        model=policy,
        args=arguments,
        train_dataset=dataset,
        reward_funcs=scoring.functions(),
        processing_class=tokenizer,
    )
    made.settings, made.scorer = chosen.grpo, scoring
    made.algorithm = chain.from_settings(of_grpo(chosen, 1))
    made.reserve, made.current_gradient_accumulation_steps = Reserve(dataset, 1), 1
    return made


def rows_of(made: Any, *indices: int) -> list[dict[str, Any]]:
    return [made.train_dataset[index] for index in indices for _ in range(made.num_generations)]


def rollout(made: Any, *indices: int) -> dict[str, Tensor]:
    torch.manual_seed(5)
    return made._generate_and_score_completions(rows_of(made, *(indices or (0, 1))))


def loss(made: Any, inputs: dict[str, Tensor]) -> Tensor:
    return made._compute_loss(made.model, inputs)


def moved(logps: Tensor) -> Tensor:
    """So that ratios are off 1."""
    return logps + 0.3 * torch.randn(logps.shape, generator=torch.Generator().manual_seed(0))


def row_of(output: dict[str, Tensor], row: int) -> tuple[list[int], list[int]]:
    """Prompt and completion, without padding."""
    ids, mask = ([output[f"{name}_{kind}"][row] for name in ("prompt", "completion")] for kind in ("ids", "mask"))
    prompt, completion = (tokens[there.bool()].tolist() for tokens, there in zip(ids, mask, strict=True))
    return prompt, completion


def logits_of(model: Any, prompt: list[int], completion: list[int]) -> Tensor:
    """By the plain way: of each token of the completion, from one unpadded sequence."""
    with torch.no_grad():
        return model(input_ids=torch.tensor([prompt + completion])).logits[0, len(prompt) - 1 : -1]


def logps_of(model: Any, prompt: list[int], completion: list[int]) -> Tensor:
    """What the model says of each token of the completion."""
    every = logits_of(model, prompt, completion).log_softmax(dim=-1)
    return every.gather(1, torch.tensor(completion)[:, None]).squeeze(1)


def expected_loss(made: Any, inputs: dict[str, Tensor]) -> float:
    """Policy loss and entropy bonus by the papers' formulas in plain loops, from one unpadded sequence at a time."""
    chosen, policy, bonus, rows = made.settings, [], [], len(inputs["advantages"])
    for row in range(rows):
        prompt, completion = row_of(inputs, row)
        every = logits_of(made.model, prompt, completion).double().log_softmax(dim=-1)
        old = inputs["old_per_token_logps"][row].tolist()
        ratios = [math.exp(every[t, token].item() - old[t]) for t, token in enumerate(completion)]
        if chosen.importance_sampling == "sequence":  # GSPO, eq. 7: the geometric mean of the tokens' ratios
            ratios = [math.prod(ratios) ** (1 / len(ratios))] * len(ratios)
        high = chosen.epsilon_high or chosen.epsilon
        advantages = inputs["advantages"][row]  # one for the completion, or one for each token
        each = advantages.tolist()[: len(ratios)] if advantages.ndim else [advantages.item()] * len(ratios)
        clipped = [max(1 - chosen.epsilon, min(1 + high, ratio)) for ratio in ratios]
        kept = "tool_mask" not in inputs or bool(inputs["tool_mask"][row, 0])
        policy.append([-min(r * a, c * a) for r, c, a in zip(ratios, clipped, each, strict=True)] if kept else [])
        bonus.append((-(every.exp() * every).sum(dim=-1)).tolist() if kept else [])
    tokens = sum(map(len, policy))
    whole = {
        "dr_grpo": sum(map(sum, policy)) / (rows * chosen.max_completion_tokens),
        "dapo": sum(map(sum, policy)) / tokens,
        "grpo": sum(sum(row) / max(len(row), 1) for row in policy) / rows,
    }[chosen.loss]
    return whole - chosen.entropy_coef * sum(map(sum, bonus)) / tokens


@pytest.mark.parametrize("left_out", [False, True], ids=["all groups", "one group left out"])
@pytest.mark.parametrize("level", ["token", "sequence"])
@pytest.mark.parametrize("kind", ["dr_grpo", "dapo", "grpo"])
def test_losses_equal_the_papers_formulas(folder: Path, tmp_path: Path, kind: str, level: str, left_out: bool) -> None:
    chosen = {"iterations": 2, "epsilon": 0.1, "epsilon_high": 0.2, "entropy_coef": 0.03}
    made = trainer(folder, tmp_path, settings(loss=kind, importance_sampling=level, **chosen))
    inputs = rollout(made)
    inputs["old_per_token_logps"] = moved(inputs["old_per_token_logps"])
    if left_out:
        inputs = leave_out(inputs, torch.tensor([True] * 4 + [False] * 4))
    made.current_gradient_accumulation_steps = made.args.steps_per_generation = 1  # one micro-batch
    assert loss(made, inputs).item() == pytest.approx(expected_loss(made, inputs), rel=1e-4)


@dataclass(frozen=True)
class Planned:
    """A reward set that earns `dead` prompts .5 whatever is answered, and others 0 to 1 by the place in the batch."""

    dead: frozenset[str]

    def component_weights(self, task: str) -> dict[str, float]:
        return {f"{task}.planned": 1.0}

    def score_batch(self, prompts: Sequence[Prompt], texts: Sequence[str]) -> list[Score]:
        earned = [0.5 if prompt.id in self.dead else place % 4 / 3 for place, prompt in enumerate(prompts)]
        named = zip(prompts, earned, strict=True)
        return [Score(reward, {f"{prompt.task}.planned": reward}) for prompt, reward in named]


def planned(folder: Path, place: Path, dead: set[str], **chosen: object) -> Any:
    usual = {"drop_zero_variance": True, "advantages": "group", "loss": "dapo"}
    made = trainer(folder, place, settings(**usual | chosen), Planned(frozenset(dead)))
    made.validation = Validation(made.settings, cast("Any", None), [], cast("Any", None), place, 1, 1.0)
    return made


def asked(made: Any, output: dict[str, Tensor]) -> list[str]:
    """The prompt of each group, found by its text."""
    texts = made.processing_class.batch_decode(output["prompt_ids"][:: made.num_generations], skip_special_tokens=True)
    return [next(prompt.id for prompt in PROMPTS if text.count(prompt.user)) for text in texts]


def test_a_dead_group_is_replaced_by_the_next_live_prompt_of_its_task(folder: Path, tmp_path: Path) -> None:
    """p0 is dead, so its place goes to the first other push prompt of the reserve; p1, alive, keeps its own."""
    made = planned(folder, tmp_path, {"p0"}, refill_rounds=6)
    output = rollout(made, 0, 1)
    reserve = Reserve(made.train_dataset, 1)
    order = [reserve.take("push")["prompt_id"] for _ in range(3)]
    first_live = next(name for name in order if name != "p0")
    assert sorted(order) == ["p0", "p2", "p4"]
    assert asked(made, output) == [first_live, "p1"]
    assert made.reserve.taken == {"push": order.index(first_live) + 1, "insights": 0}
    assert output["advantages"].tolist() == pytest.approx(2 * [-1 / 2, -1 / 6, 1 / 6, 1 / 2])
    assert output["num_items_in_batch"] == output["completion_mask"].sum()
    assert len(set(output["completion_mask"].sum(dim=1).tolist())) > 1  # or the line above would say little
    assert "tool_mask" not in output


def test_a_refilled_batch_is_what_sampling_those_prompts_would_give(folder: Path, tmp_path: Path) -> None:
    """Whatever the widths of the two rounds: every row reads back, and its likelihood is its own."""
    made = planned(folder, tmp_path, {"p0"}, refill_rounds=6, iterations=2)
    output = rollout(made, 0, 1)
    for row in range(8):
        prompt, completion = row_of(output, row)
        expected = logps_of(made.model, prompt, completion)
        assert torch.allclose(output["old_per_token_logps"][row, : len(completion)], expected, atol=1e-5)


def test_what_stays_dead_is_left_out_of_the_loss(folder: Path, tmp_path: Path) -> None:
    made = planned(folder, tmp_path, {"p0", "p2", "p4"}, refill_rounds=2)
    output = rollout(made, 0, 1)
    assert made.reserve.taken == {"push": 2, "insights": 0}
    assert output["advantages"][:4].tolist() == [0, 0, 0, 0]
    assert output["tool_mask"].sum(dim=1).tolist() == [0] * 4 + [output["completion_ids"].shape[1]] * 4
    assert output["num_items_in_batch"] == output["completion_mask"][4:].sum()


def test_means_and_dead_shares_count_everything_sampled(folder: Path, tmp_path: Path) -> None:
    """Push: the dead group of p0 and the dead one that replaced it; insights: one live group, whose mean is .5 too."""
    made = planned(folder, tmp_path, {"p0", "p2", "p4"}, refill_rounds=1)
    rollout(made, 0, 1)
    half = pytest.approx([0.5])
    expected = {
        "reward/total": half, "reward/push": half, "reward/insights": half, "reward/highest": [1.0],
        "zero_variance/push": [1.0], "zero_variance/insights": [0.0], "groups/live": [0.5], "groups/sampled": [3],
    }  # fmt: skip
    assert {name: made._metrics["train"][name] for name in expected} == expected


def test_a_blocks_advantage_stands_on_its_tokens_alone_and_reaches_the_loss(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One block on the first token of each completion, right in the first half of a group: 1 - 1/2 and 0 - 1/2 there.
    The group of p0, dead in every field too, was replaced, and so were its blocks."""
    made = planned(folder, tmp_path, {"p0"}, refill_rounds=6, iterations=2)
    whole = rollout(planned(folder, tmp_path, {"p0"}, refill_rounds=6, iterations=2), 0, 1)
    made.settings = made.settings.model_copy(update={"block_advantages": True})
    made.algorithm = chain.Chain({**made.algorithm.members, "blockwise": Blockwise()})
    calls: list[str] = []

    def plant(_: object, prompt: Prompt, tokens: list[int], answer: str) -> tuple[Block, ...]:
        calls.append(prompt.id)
        return (Block(float(prompt.id != "p0" and (len(calls) - 1) % 4 < 2), 0, 1),)

    monkeypatch.setattr(grpo_trainer, "blocks_of", plant)
    output = rollout(made, 0, 1)
    assert torch.equal(output["completion_ids"], whole["completion_ids"])
    assert output["advantages"].shape == output["completion_ids"].shape
    assert output["advantages"][:, 0].tolist() == 2 * [0.5, 0.5, -0.5, -0.5]
    rest = int(output["completion_mask"].sum(dim=1).max()) - 1  # what lies behind is padding
    assert torch.equal(output["advantages"][:, 1 : 1 + rest], whole["advantages"][:, None].expand(-1, rest))
    assert calls[:8] == 4 * ["p0"] + 4 * ["p1"] and len(calls) > 8
    for inputs in (output, whole):  # the mean of a group's advantages is 0: only ratios off 1 tell them apart
        inputs["old_per_token_logps"] = moved(inputs["old_per_token_logps"])
    made.current_gradient_accumulation_steps = made.args.steps_per_generation = 1
    assert loss(made, output).item() == pytest.approx(expected_loss(made, output), rel=1e-4)
    assert loss(made, output).item() != pytest.approx(loss(made, whole).item(), rel=1e-3)


def test_a_restored_trainer_goes_on_as_the_first_would_have(folder: Path, tmp_path: Path) -> None:
    """Weights of the tasks, places in the reserve and buffered completions travel in a checkpoint."""
    variant = {"refill_rounds": 2, "task_weights": "iwu", "entropy_advantages": True}
    first, second = (planned(folder, tmp_path, {"p0", "p5"}, **variant) for _ in range(2))
    torch.manual_seed(0)
    for indices in ((0, 1), (2, 5)):
        first._generate_and_score_completions(rows_of(first, *indices))
    held = first._held()
    torch.save({"trainer": held.trainer, "parts": held.parts}, tmp_path / "extra_state.pt")
    generator = torch.get_rng_state()
    expected = first._generate_and_score_completions(rows_of(first, 0, 5))
    second.take(torch.load(tmp_path / "extra_state.pt", weights_only=True))
    torch.set_rng_state(generator)
    found = second._generate_and_score_completions(rows_of(second, 0, 5))
    assert found.keys() == expected.keys()
    assert all(torch.equal(found[name], expected[name]) for name in expected)
    assert first.algorithm.state() == second.algorithm.state() and first.reserve.taken == second.reserve.taken
    assert first.algorithm.state()["task_weights"]["steps"] > 0


def test_the_reserve_visits_every_prompt_before_any_twice_in_an_order_of_seed_and_lap() -> None:
    rows = [{"task": "push", "prompt_id": str(n)} for n in range(5)]
    one, other, resumed = Reserve(rows, 1), Reserve(rows, 2), Reserve(rows, 1)
    laps = [[one.take("push")["prompt_id"] for _ in range(5)] for _ in range(3)]
    assert all(sorted(lap) == list("01234") for lap in laps) and laps[0] != laps[1]
    assert [[other.take("push")["prompt_id"] for _ in range(5)] for _ in range(3)] != laps
    resumed.taken = {"push": 7}
    assert resumed.take("push")["prompt_id"] == laps[1][2]


@pytest.mark.parametrize("own_decoding", [True, False])
def test_completions_keep_to_the_ceiling_of_the_step(folder: Path, tmp_path: Path, own_decoding: bool) -> None:
    made = trainer(folder, tmp_path, settings(length_stages=[(0, 3), (2, 8)], own_decoding=own_decoding))
    for step, tokens in ((0, 3), (1, 3), (2, 8)):
        made.state.global_step = step
        assert rollout(made)["completion_ids"].shape[1] == tokens
    assert made.max_completion_length == 12  # what dr_grpo divides by does not move


def test_entropies_of_a_batch_are_the_mean_over_each_completions_tokens(folder: Path, tmp_path: Path) -> None:
    made = trainer(folder, tmp_path, settings())
    output = rollout(made)
    found = made._completion_entropies(output)
    for row in range(8):
        logits = logits_of(made.model, *row_of(output, row))
        assert found[row].item() == pytest.approx(
            torch.distributions.Categorical(logits=logits).entropy().mean().item(), rel=1e-4
        )


def test_the_same_texts_to_other_prompts_are_scored_anew(folder: Path) -> None:
    """A refill round may repeat the texts of the round before; what they earn depends on the prompt."""
    tokenizer = AutoTokenizer.from_pretrained(folder / "model")
    functions = scorer(load_reward_set("controls.random", folder), tokenizer).functions()
    first, second = ([reward([[{"content": "igual"}]], [name], [[1]]) for reward in functions] for name in ("p0", "p2"))
    assert first != second and [None] in first
