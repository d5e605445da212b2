"""With everything of ours off the trainer is TRL's, bit for bit; and what is TRL's (losses, bonuses) does what its
papers say.
"""

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
from tucano.training.orders import JobFolders, order
from tucano.training.policies.load import load_policy
from tucano.training.policies.nano import build_model, build_tokenizer
from tucano.training.rollouts.refill import Reserve
from tucano.training.rollouts.rollout import leave_out, replace_rows
from tucano.training.rollouts.scoring import Rewards
from tucano.training.validation import Validation

OFF = {"advantages": "group", "own_decoding": False}
PROMPTS = [
    Prompt(f"p{n}", task, f"{'produto ' * (n % 3)}numero {n}", "t", "test", "own")
    for n in range(6)
    for task in (("push", "insights")[n % 2],)
]
SYSTEMS = {"push": "Escreva uma notificacao.", "insights": "Recomende."}


def settings(**grpo_settings: object) -> PipelineSettings:
    """Two prompts of four completions per step; random rewards, so that untrained weights earn something to learn
    from.
    """
    small = {
        "max_steps": 7,
        "eval_steps": 7,
        "save_steps": 7,
        "patience": 1,
        "validation_samples": 1,
        "learning_rate": 0.01,
    }
    sizes = {
        "batch_size": 8,
        "generations": 4,
        "micro_batch": 4,
        "max_completion_tokens": 12,
        "rewards": "controls.random",
    }
    nano = {"nano_hidden": 32, "nano_layers": 2, "nano_vocabulary": 300, "max_length_tokens": 256}
    mix = {"push": 0.5, "insights": 0.5}
    return validated({"data": {"mix": mix}, "model": nano, "grpo": {**small, **sizes, **grpo_settings}})


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
    (place / "output").mkdir(parents=True)
    start = (str(folder / "model"), None)
    grpo.run(
        order(
            "grpo", chosen, 1, 1, JobFolders(prompts=folder, work=place / "work", output=place / "output"), start=start
        )
    )
    entries = read_journal(place / "work" / "journal.jsonl")
    return [entry.values for entry in entries if "train/loss" in entry.values], final_adapter(place / "work")


def final_adapter(work: Path) -> dict[str, Tensor]:
    newest = max(
        work.rglob("checkpoint-*/adapter_model.safetensors"), key=lambda path: int(path.parent.name.rpartition("-")[2])
    )
    return load_file(newest)


def stock(folder: Path, place: Path, chosen: PipelineSettings) -> tuple[list[dict[str, float]], dict[str, Tensor]]:
    """The same of `trl.GRPOTrainer` itself, on the same model, prompts, reward functions and arguments."""
    policy, tokenizer = load_policy(chosen.model, str(folder / "model"), None, trainable=True, seed=1)
    trainer = trl.GRPOTrainer(
        model=policy,
        args=grpo.arguments(of_grpo(chosen, 1), place, chosen.grpo.save_steps),
        train_dataset=grpo._dataset(PROMPTS, SYSTEMS, tokenizer),
        reward_funcs=Rewards(load_reward_set(chosen.grpo.rewards, folder), PROMPTS).functions(),
        processing_class=tokenizer,
    )
    trainer.train()
    logged = [
        {f"train/{name}": value for name, value in entry.items()}
        for entry in trainer.state.log_history
        if "loss" in entry
    ]
    return logged, final_adapter(place)


@pytest.mark.parametrize(
    "variant",
    [
        {},
        {
            "iterations": 2,
            "epsilon_high": 0.28,
            "importance_sampling": "sequence",
            "loss": "dapo",
            "beta": 0.04,
            "entropy_coef": 0.01,
        },
    ],
    ids=["on-policy", "off-policy"],
)
def test_with_everything_off_losses_and_weights_are_those_of_trl(
    folder: Path, tmp_path: Path, variant: dict[str, object]
) -> None:
    """Seven steps over six prompts: on-policy, more than two epochs."""
    chosen = settings(**OFF, **variant)
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


# What is TRL's, on inputs that are worked through independently


def trainer(folder: Path, place: Path, chosen: PipelineSettings, rewards: Any = None) -> Any:
    """A trainer of our own that has not started to train."""
    policy, tokenizer = load_policy(chosen.model, str(folder / "model"), None, trainable=True, seed=1)
    scorer = Rewards(rewards or load_reward_set(chosen.grpo.rewards, folder), PROMPTS)
    dataset = grpo._dataset(PROMPTS, SYSTEMS, tokenizer)
    arguments = grpo.arguments(of_grpo(chosen, 1), place, chosen.grpo.save_steps)
    arguments.save_strategy = SaveStrategy.NO
    made: Any = grpo_trainer.trainer_class()(
        model=policy, args=arguments, train_dataset=dataset, reward_funcs=scorer.functions(), processing_class=tokenizer
    )
    made.settings, made.scorer, made.algorithm = (
        chosen.grpo,
        scorer,
        chain.from_settings(of_grpo(chosen, 1), list(scorer.weights)),
    )
    made.reserve, made.current_gradient_accumulation_steps = Reserve(dataset, 1), 1
    return made


def rows_of(made: Any, *indices: int) -> list[dict[str, Any]]:
    return [made.train_dataset[index] for index in indices for _ in range(made.num_generations)]


def rollout(made: Any, *indices: int) -> dict[str, Tensor]:
    torch.manual_seed(5)
    return made._generate_and_score_completions(rows_of(made, *(indices or (0, 1))))


def loss(made: Any, inputs: dict[str, Tensor]) -> Tensor:
    return made._compute_loss(made.model, inputs)


def expected_loss(made: Any, inputs: dict[str, Tensor]) -> float:
    """Policy loss and entropy bonus by the papers' formulas in plain loops, from one unpadded sequence at a time."""
    chosen, policy, bonus, rows = made.settings, [], [], len(inputs["advantages"])
    for row in range(rows):
        prompt = inputs["prompt_ids"][row][inputs["prompt_mask"][row].bool()].tolist()
        completion = inputs["completion_ids"][row][inputs["completion_mask"][row].bool()].tolist()
        with torch.no_grad():
            logits = made.model(input_ids=torch.tensor([prompt + completion])).logits[0, len(prompt) - 1 : -1]
        every = logits.double().log_softmax(dim=-1)
        ratios = [
            math.exp(every[t, token].item() - inputs["old_per_token_logps"][row, t].item())
            for t, token in enumerate(completion)
        ]
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
    made = trainer(
        folder,
        tmp_path,
        settings(loss=kind, importance_sampling=level, iterations=2, epsilon=0.1, epsilon_high=0.2, entropy_coef=0.03),
    )
    inputs = rollout(made)
    inputs["old_per_token_logps"] = inputs["old_per_token_logps"] + 0.3 * torch.randn(
        inputs["old_per_token_logps"].shape
    )
    if left_out:
        inputs = leave_out(inputs, torch.tensor([True] * 4 + [False] * 4))
    made.current_gradient_accumulation_steps = made.args.steps_per_generation = (
        1  # the whole rollout is one micro-batch here
    )
    assert loss(made, inputs).item() == pytest.approx(expected_loss(made, inputs), rel=1e-4)


def test_the_entropy_bonus_has_a_gradient(folder: Path, tmp_path: Path) -> None:
    """Without advantages only the bonus is left, and a step along its gradient raises the entropy."""
    made = trainer(folder, tmp_path, settings(entropy_coef=0.5))
    inputs = rollout(made)
    inputs["advantages"] = torch.zeros_like(inputs["advantages"])
    before = loss(made, inputs)
    before.backward()
    with torch.no_grad():
        for weight in made.model.parameters():
            if weight.grad is not None:
                weight -= 0.05 * weight.grad
    assert loss(made, inputs).item() < before.item() < 0


def test_the_adaptive_coefficient_moves_towards_the_target(folder: Path, tmp_path: Path) -> None:
    """It rises by delta after every step at or below the target, up to its ceiling, falls above it, and pays only
    below.
    """
    made = trainer(
        folder,
        tmp_path,
        settings(entropy_coef=0.01, entropy_target=100.0, entropy_delta=0.02, entropy_coef_max=0.04, micro_batch=8),
    )
    inputs = rollout(made)
    inputs["advantages"] = torch.zeros_like(inputs["advantages"])
    losses, coefficients = [], []
    for target in (100.0, 100.0, 100.0, 1e-3, 1e-3, 1e-3):
        made.args.entropy_target = target
        losses.append(loss(made, inputs).item())
        coefficients.append(made.entropy_coef)
    assert coefficients == pytest.approx([0.03, 0.04, 0.04, 0.02, 0.0, 0.0])
    entropy = made._last_world_entropy
    assert losses == pytest.approx(
        [0, -0.03 * entropy, -0.04 * entropy, 0, 0, 0], rel=1e-4
    )  # before the first look nothing is paid


# Groups sampled anew


@dataclass(frozen=True)
class Planned:
    """A reward set that earns `dead` prompts .5 whatever is answered, and others 0 to 1 by the place in the batch."""

    dead: frozenset[str]

    def component_weights(self, task: str) -> dict[str, float]:
        return {f"{task}.planned": 1.0}

    def score_batch(self, prompts: Sequence[Prompt], texts: Sequence[str]) -> list[Score]:
        earned = [0.5 if prompt.id in self.dead else place % 4 / 3 for place, prompt in enumerate(prompts)]
        return [
            Score(reward, {f"{prompt.task}.planned": reward}) for prompt, reward in zip(prompts, earned, strict=True)
        ]


def planned(folder: Path, place: Path, dead: set[str], **chosen: object) -> Any:
    made = trainer(
        folder,
        place,
        settings(**{"drop_zero_variance": True, "advantages": "group", "loss": "dapo", **chosen}),
        Planned(frozenset(dead)),
    )
    made.validation = Validation(made.settings, cast("Any", None), [], cast("Any", None), place, 1)
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
    """Whatever the widths of the two rounds: every row reads back as prompt and completion, and its likelihood is its
    own.
    """
    made = planned(folder, tmp_path, {"p0"}, refill_rounds=6, iterations=2)
    output = rollout(made, 0, 1)
    for row in range(8):
        prompt = output["prompt_ids"][row][output["prompt_mask"][row].bool()].tolist()
        completion = output["completion_ids"][row][output["completion_mask"][row].bool()].tolist()
        with torch.no_grad():
            every = (
                made.model(input_ids=torch.tensor([prompt + completion]))
                .logits[0, len(prompt) - 1 : -1]
                .log_softmax(dim=-1)
            )
        expected = every.gather(1, torch.tensor(completion)[:, None]).squeeze(1)
        assert torch.allclose(output["old_per_token_logps"][row, : len(completion)], expected, atol=1e-5)


def test_rows_of_another_width_are_padded_as_trl_pads() -> None:
    """Prompts on the left, completions on the right, ids with the pad token, everything else with 0; 9 is padding."""
    old = {
        "prompt_ids": [[1, 2], [9, 3]],
        "prompt_mask": [[1, 1], [0, 1]],
        "completion_ids": [[4], [5]],
        "advantages": [0.1, 0.2],
    }
    new = {"prompt_ids": [[6, 7, 8]], "prompt_mask": [[1, 1, 1]], "completion_ids": [[6, 7]], "advantages": [0.3]}
    merged = replace_rows(
        {k: torch.tensor(v) for k, v in old.items()}, torch.tensor([1]), {k: torch.tensor(v) for k, v in new.items()}, 9
    )
    assert merged["prompt_ids"].tolist() == [[9, 1, 2], [6, 7, 8]]
    assert merged["prompt_mask"].tolist() == [[0, 1, 1], [1, 1, 1]]
    assert merged["completion_ids"].tolist() == [[4, 9], [6, 7]]
    assert merged["advantages"].tolist() == pytest.approx([0.1, 0.3])


def test_what_stays_dead_is_left_out_of_the_loss(folder: Path, tmp_path: Path) -> None:
    made = planned(folder, tmp_path, {"p0", "p2", "p4"}, refill_rounds=2)
    output = rollout(made, 0, 1)
    assert made.reserve.taken == {"push": 2, "insights": 0}
    assert output["advantages"][:4].tolist() == [0, 0, 0, 0]
    assert output["tool_mask"].sum(dim=1).tolist() == [0] * 4 + [output["completion_ids"].shape[1]] * 4
    assert output["num_items_in_batch"] == output["completion_mask"][4:].sum()


def test_a_batch_without_any_signal_stays_whole(folder: Path, tmp_path: Path) -> None:
    output = rollout(planned(folder, tmp_path, {prompt.id for prompt in PROMPTS}), 0, 1)
    assert "tool_mask" not in output and not output["advantages"].any()


def test_means_and_dead_shares_count_everything_sampled(folder: Path, tmp_path: Path) -> None:
    """Push: the dead group of p0 and the dead one that replaced it; insights: one live group, whose mean is .5 too.

    The highest reward is that group's: an alarm watches for one above 1, which no refill may hide.
    """
    made = planned(folder, tmp_path, {"p0", "p2", "p4"}, refill_rounds=1)
    rollout(made, 0, 1)
    logged = {
        name: values
        for name, values in made._metrics["train"].items()
        if name.startswith(("reward/", "zero_variance/", "groups/"))
    }
    half = pytest.approx([0.5])
    assert logged == {
        **{"reward/total": half, "reward/push": half, "reward/insights": half},
        "reward/highest": [1.0],
        "zero_variance/push": [1.0],
        "zero_variance/insights": [0.0],
        "groups/live": [0.5],
        "groups/sampled": [3],
    }


def test_a_blocks_advantage_stands_on_its_tokens_alone_and_reaches_the_loss(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One block on the first token of each completion, right in the first half of a group: 1 - 1/2 and 0 - 1/2 there,
    the answer's advantage elsewhere. The group of p0, dead in every field too, was replaced, so its blocks are those of
    the fresh completions.
    """
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
    for inputs in (
        output,
        whole,
    ):  # the mean of a group's advantages is 0 either way: only ratios off 1 tell them apart
        moved = torch.randn(inputs["old_per_token_logps"].shape, generator=torch.Generator().manual_seed(0))
        inputs["old_per_token_logps"] = inputs["old_per_token_logps"] + 0.3 * moved
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


# Lengths, curriculum, entropies


@pytest.mark.parametrize("own_decoding", [True, False])
def test_completions_keep_to_the_ceiling_of_the_step(folder: Path, tmp_path: Path, own_decoding: bool) -> None:
    made = trainer(folder, tmp_path, settings(length_stages=[(0, 3), (2, 8)], own_decoding=own_decoding))
    for step, tokens in ((0, 3), (1, 3), (2, 8)):
        made.state.global_step = step
        assert rollout(made)["completion_ids"].shape[1] == tokens
    assert made.max_completion_length == 12  # what dr_grpo divides by does not move


def test_a_truncated_completion_is_punished_by_its_component(folder: Path, tmp_path: Path) -> None:
    made = trainer(folder, tmp_path, settings(overlong_tokens=4, overlong_weight=0.5))
    sampled = made._rollout(rows_of(made, 0, 1))
    lengths = sampled.tensors["completion_mask"].sum(dim=1)
    assert sampled.batch.components[-1] == "overlong"
    assert sampled.batch.lengths.tolist() == lengths.tolist()
    assert torch.equal(sampled.batch.rewards[:, -1], -0.5 * ((lengths - 8).clamp(min=0) / 4))


def test_entropies_of_a_batch_are_the_mean_over_each_completions_tokens(folder: Path, tmp_path: Path) -> None:
    made = trainer(folder, tmp_path, settings())
    output = rollout(made)
    found = made._completion_entropies(output)
    for row in range(8):
        prompt, completion = (
            output[f"{name}_ids"][row][output[f"{name}_mask"][row].bool()].tolist() for name in ("prompt", "completion")
        )
        with torch.no_grad():
            logits = made.model(input_ids=torch.tensor([prompt + completion])).logits[0, len(prompt) - 1 : -1]
        assert found[row].item() == pytest.approx(
            torch.distributions.Categorical(logits=logits).entropy().mean().item(), rel=1e-4
        )


def test_the_same_texts_to_other_prompts_are_scored_anew(folder: Path) -> None:
    """A refill round may repeat the texts of the round before; what they earn depends on the prompt."""
    scorer = Rewards(load_reward_set("controls.random", folder), PROMPTS)
    first, second = (
        [reward(completions=[[{"content": "igual"}]], prompt_id=[name]) for reward in scorer.functions()]
        for name in ("p0", "p2")
    )
    assert first != second and [None] in first
