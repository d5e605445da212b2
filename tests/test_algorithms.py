"""Every algorithm against values worked out by hand, and against a second computation that shares no code with it."""

import math
import random
import statistics
from collections.abc import Sequence
from dataclasses import replace
from types import ModuleType

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from tucano.errors import UserError
from tucano.profiles import validated
from tucano.settings import Condition, PipelineSettings
from tucano.settings.stages import of_grpo
from tucano.training.algorithms import Block, RolloutBatch, chain
from tucano.training.algorithms.batch import Batch
from tucano.training.algorithms.blockwise import Blockwise, baselines
from tucano.training.algorithms.chain import Chain
from tucano.training.algorithms.conditional import Conditional
from tucano.training.algorithms.edge import Edge
from tucano.training.algorithms.gdpo import Gdpo
from tucano.training.algorithms.group import Group
from tucano.training.algorithms.median import Median
from tucano.training.algorithms.overlong import Overlong
from tucano.training.algorithms.task_weights import TaskWeights
from tucano.training.algorithms.think_efficiency import ThinkEfficiency
from tucano.training.algorithms.zero_variance import ZeroVariance
from tucano.training.grpo_trainer import ceiling

GDPO = Gdpo(std_floor=0.05)
NAN = math.nan
COMPONENTS = ["push.length", "push.product", "insights.length"]


def batch(rows: Sequence[Sequence[float]], weights: Sequence[float], generations: int) -> RolloutBatch:
    return RolloutBatch(
        rewards=torch.tensor(rows),
        components=tuple(f"push.{k}" for k in range(len(weights))),
        weights=torch.tensor(weights),
        generations=generations,
        tasks=["push"] * len(rows),
        lengths=torch.full((len(rows),), 10),
        ceiling=100,
        entropies=lambda: torch.ones(len(rows)),
    )


def of_sums(rewards: Sequence[float], generations: int) -> RolloutBatch:
    return batch([[reward] for reward in rewards], [1.0], generations)


def with_settings(**grpo: object) -> PipelineSettings:
    return validated({"grpo": {"max_steps": 1500, **grpo}})


@st.composite
def random_batches(draw: st.DrawFn) -> RolloutBatch:
    """Two tasks, groups of 2 to 5, rewards from a coarse grid: ties and empty groups are frequent."""
    generations, groups = draw(st.integers(2, 5)), draw(st.integers(1, 4))
    grid = st.integers(-2, 4).map(lambda n: n / 4)
    rows: list[list[float]] = []
    for _ in range(groups):
        first_task = draw(st.booleans())
        for _ in range(generations):
            a, b, c = draw(grid), draw(grid), draw(grid)
            rows.append([0.6 * a, 0.4 * b, NAN] if first_task else [NAN, NAN, c])
    return batch(rows, [0.6, 0.4, 1.0], generations)


@pytest.mark.parametrize("value", [NAN, math.inf, -math.inf])
@pytest.mark.parametrize("advantages", ["group", "gdpo"])
def test_a_reward_that_is_no_number_stops_the_step(advantages: str, value: float) -> None:
    """It counted as 0, or took its whole group out of the batch."""
    made = chain.from_settings(of_grpo(with_settings(advantages=advantages), 1))
    rewards = batch([[0.1, 0.2], [0.3, 0.1], [0.1, 0.2], [0.3, value]], [0.5, 0.5], 2)
    with pytest.raises(UserError, match=r"^push.1 is -?(nan|inf) for completion 2 of group 2, a prompt of push, and"):
        made.shape_rewards(rewards)
    assert made.shape_rewards(batch([[0.1, NAN], [0.3, NAN]], [0.5, 0.5], 2)), "a task without the component"


@given(random_batches())
@settings(max_examples=60)
def test_group_and_median_equal_a_loop_with_the_standard_library(rollout: RolloutBatch) -> None:
    sums = [sum(value for value in row if not math.isnan(value)) for row in rollout.rewards.tolist()]
    for algorithm, centre in ((Group(), statistics.fmean), (Median(), statistics.median)):
        expected: list[float] = []
        for start in range(0, len(sums), rollout.generations):
            members = sums[start : start + rollout.generations]
            expected += [value - centre(members) for value in members]
        assert torch.allclose(algorithm.advantages(rollout), torch.tensor(expected), atol=1e-6)


def test_gdpo_float_noise_is_no_signal() -> None:
    assert GDPO.advantages(of_sums([0.5, 0.5 + 6e-8, 0.0, 1.0], 2))[:2].abs().max() < 1e-5


@given(random_batches())
@settings(max_examples=60)
def test_gdpo_equals_the_papers_formula_in_plain_loops(rollout: RolloutBatch) -> None:
    """Equations 5 to 7 with our three differences, on Python floats, one completion and one component at a time."""
    weights, size = rollout.weights.tolist(), rollout.generations
    values: list[float] = []
    live: list[bool] = []
    for start in range(0, len(rollout.tasks), size):
        rows = rollout.rewards[start : start + size].tolist()
        names = [k for k in range(len(weights)) if not math.isnan(rows[0][k])]
        spreads = {k: statistics.pstdev(row[k] / weights[k] for row in rows) for k in names}
        means = {k: statistics.fmean(row[k] / weights[k] for row in rows) for k in names}
        for row in rows:
            parts = [
                weights[k] / max(weights[j] for j in names) * (row[k] / weights[k] - means[k]) / max(spreads[k], 0.05)
                for k in names
            ]
            values.append(sum(parts) / math.sqrt(len(names)))
            live.append(any(spread > 1e-6 for spread in spreads.values()))
    of_live = [value for value, counts in zip(values, live, strict=True) if counts]
    scale = max(statistics.pstdev(of_live), 1e-4) if of_live else 1.0
    expected = torch.tensor([value / scale if counts else 0.0 for value, counts in zip(values, live, strict=True)])
    assert torch.allclose(GDPO.advantages(rollout), expected, atol=2e-4)


def test_a_conditional_component_counts_only_where_the_other_is_reached() -> None:
    """With weights .4 and .5, a threshold of .6 on the second is .3 of reward."""
    shaped = Conditional((Condition(component="push.0", needs="push.1", at_least=0.6),)).shape_rewards(
        batch([[0.4, 0.3], [0.4, 0.29], [0.1, 0.0], [NAN, NAN]], [0.4, 0.5], 2)
    )
    assert shaped.rewards[:3, 0].tolist() == pytest.approx([0.4, 0.0, 0.0])
    assert shaped.rewards[:3, 1].tolist() == pytest.approx([0.3, 0.29, 0.0])
    assert shaped.rewards[3].isnan().all()


def test_an_adapter_of_its_own_task_has_that_tasks_conditions_alone() -> None:
    rewards = batch([[0.4, 0.0], [0.1, 0.3]], [0.4, 0.5], 2)
    other = Conditional((Condition(component="sql_qa.runs", needs="sql_qa.rows", at_least=0.5),))
    assert torch.equal(other.shape_rewards(rewards).rewards, rewards.rewards)


@given(st.integers(1, 300), st.integers(2, 200), st.data())
def test_overlong_punishment_equals_the_three_cases_of_the_paper(
    length: int, longest: int, data: st.DataObject
) -> None:
    """Half of it in units of reward, as a component of its own."""
    cache = data.draw(st.integers(1, longest - 1))
    expected = 0.0 if length <= longest - cache else -1.0 if length > longest else (longest - cache - length) / cache
    rollout = replace(of_sums([0.0, 0.0], 2), lengths=torch.tensor([length, 0]), ceiling=longest)
    shaped = Overlong(cache, 0.5).shape_rewards(rollout)
    assert shaped.rewards[0, 1].item() == shaped.totals()[0, 0].item() == pytest.approx(expected / 2)
    assert (shaped.components[-1], shaped.weights.tolist()) == ("overlong", [1.0, 0.5])


@given(random_batches())
@settings(max_examples=60)
def test_live_groups_equal_those_with_more_than_one_distinct_reward(rollout: RolloutBatch) -> None:
    expected = {True: list[bool](), False: list[bool]()}
    for start in range(0, len(rollout.tasks), rollout.generations):
        rows = [
            [0.0 if math.isnan(v) else round(v, 4) for v in row]
            for row in rollout.rewards[start : start + rollout.generations].tolist()
        ]
        expected[True].append(len({tuple(row) for row in rows}) > 1)
        expected[False].append(len({round(sum(row), 4) for row in rows}) > 1)
    for per_component, live in expected.items():
        assert ZeroVariance(per_component).select_groups(rollout).tolist() == live


def test_the_task_that_does_not_improve_gains_weight() -> None:
    """J goes .2 -> .25 and .6 -> .6. Adam's first step has length `rate` whatever the gradient: xi = (-.025, .025)."""
    weights = TaskWeights(("sql_qa", "push"), rate=0.025, balance=0.0, floor=0.0)
    rollout = replace(of_sums([0.0, 1.0], 2), tasks=["push", "sql_qa"], advantages=torch.tensor([1.0, -1.0]))
    assert weights.advantages(replace(rollout, task_means={"sql_qa": 0.2, "push": 0.6})).tolist() == [1.0, -1.0]
    found = weights.advantages(replace(rollout, task_means={"sql_qa": 0.25, "push": 0.6}))
    push = 2 / (1 + math.exp(-0.05))
    assert found.tolist() == pytest.approx([push, -(2 - push)], abs=1e-6)
    assert weights.metrics() == pytest.approx({"task_weight/push": push, "task_weight/sql_qa": 2 - push}, abs=1e-6)


HISTORY = [(0.2, 0.6, 0.1), (0.35, 0.6, 0.12), (0.3, 0.4, 0.2), (0.32, 0.5, 0.2), (0.5, 0.55, 0.1)]


def test_weights_equal_autograd_and_torchs_adam() -> None:
    """The gradient is that of sum_k softmax(xi)_k s_k, which autograd finds without being told."""
    tasks = ("extraction", "sql_qa", "push")
    weights = TaskWeights(tasks, rate=0.025, balance=0.2, floor=0.0)
    xi = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.Adam([xi], lr=0.025)
    before: Tensor | None = None
    for means in HISTORY:
        weights.advantages(replace(of_sums([0.0, 1.0], 2), task_means=dict(zip(tasks, means, strict=True))))
        level = torch.tensor(means, dtype=torch.float64)
        if before is not None:
            optimizer.zero_grad()
            (xi.softmax(dim=0) * ((level - before).clamp(-0.1, 0.1) + 0.2 * level)).sum().backward()
            optimizer.step()
        before = level
        assert list(weights.weights().values()) == pytest.approx((3 * xi.detach().softmax(dim=0)).tolist(), abs=1e-12)


def test_no_task_falls_below_the_floor() -> None:
    """sql_qa stays at 0 while three others are good: alone it took 3.9 of the 4 shares; with a floor of .2 at most 3.4."""
    tasks = ("extraction", "sql_qa", "insights", "push")
    free, held = (TaskWeights(tasks, rate=0.025, balance=0.2, floor=floor) for floor in (0.0, 0.2))
    rollout = replace(of_sums([0.0, 1.0], 2), task_means=dict(zip(tasks, (0.7, 0.0, 0.6, 0.5), strict=True)))
    for _ in range(1500):
        for weights in (free, held):
            weights.advantages(rollout)
    assert free.weights()["sql_qa"] > 3.9 and min(free.weights().values()) < 0.05
    assert 3.2 < held.weights()["sql_qa"] <= 3.4 and min(held.weights().values()) >= 0.2
    assert sum(held.weights().values()) == pytest.approx(4)


def test_an_advantage_is_divided_by_the_answers_share_of_its_groups_entropy() -> None:
    """Groups (.2, .6) and (.3, .3): the first's mean is .4, so .4/.2 = 2 and .4/.6 = 2/3; the second stays as it was."""
    rollout = replace(
        of_sums([0.0, 1.0, 0.0, 1.0], 2),
        advantages=torch.tensor([-0.5, 0.5, -0.3, 0.3]),
        entropies=lambda: torch.tensor([0.2, 0.6, 0.3, 0.3]),
    )
    assert Edge().advantages(rollout).tolist() == pytest.approx([-1.0, 1 / 3, -0.3, 0.3])


def test_an_answer_known_by_heart_does_not_outweigh_all_others() -> None:
    """Entropies 0, 0 and .9 of one group: .3/0 is cut at 4, .3/.9 is 1/3; without any entropy nothing changes."""
    rollout = replace(
        of_sums([0.0, 1.0, 1.0], 3), advantages=torch.ones(3), entropies=lambda: torch.tensor([0.0, 0.0, 0.9])
    )
    assert Edge().advantages(rollout).tolist() == pytest.approx([4.0, 4.0, 1 / 3])
    silent = replace(rollout, entropies=lambda: torch.zeros(3))
    assert Edge().advantages(silent).tolist() == pytest.approx([1.0, 1.0, 1.0])


@pytest.mark.parametrize(("step", "tokens"), [(0, 512), (9, 512), (10, 128), (99, 128), (100, 256), (5000, 256)])
def test_a_stage_holds_from_its_step_on(step: int, tokens: int) -> None:
    assert ceiling(((10, 128), (100, 256)), 512, step) == tokens


@given(st.integers(2, 5), st.integers(1, 4), st.randoms(use_true_random=False))
def test_baselines_equal_a_loop(completions: int, blocks: int, chance: random.Random) -> None:
    rows = [[chance.choice([0.0, 0.5, 1.0]) for _ in range(blocks)] for _ in range(completions)]
    found = baselines(torch.tensor(rows))
    for i in range(completions):
        for k in range(blocks):
            reached = [statistics.mean(row[:k]) >= 0.5 if k else True for row in rows]
            alike = [row[k] for row, other in zip(rows, reached, strict=True) if other == reached[i]]
            pulled = (sum(alike) + 2 * statistics.mean(row[k] for row in rows)) / (len(alike) + 2)
            assert found[i, k].item() == pytest.approx(pulled)


def blocks_rollout() -> RolloutBatch:
    """Two answers of five tokens with one field on tokens 1 and 2, right in the first; the second left it out."""
    return replace(
        of_sums([0.0, 1.0], 2),
        lengths=torch.tensor([5, 4]),
        advantages=torch.tensor([-0.5, 0.5]),
        blocks=((Block(1.0, 1, 3),), (Block(0.0, 0, 0),)),
    )


def test_advantages_by_token_pass_what_weighs_answers_and_dead_groups_stay_dead() -> None:
    rollout = blocks_rollout()
    whole = Chain({"group": Group(), "blockwise": Blockwise(), "edge": Edge()})
    quiet = replace(rollout, entropies=lambda: torch.tensor([0.5, 1.5]))  # factors 2 and 2/3
    assert whole.advantages(quiet).tolist() == [[-1, 1, 1, -1, -1], pytest.approx([1 / 3] * 5)]
    selecting = Chain({"zero_variance": ZeroVariance(per_component=False), "blockwise": Blockwise()})
    alike = replace(rollout, rewards=torch.tensor([[0.3], [0.3]]))
    assert selecting.advantages(alike).tolist() == [[-0.5, 0.5, 0.5, -0.5, -0.5], [0.5] * 5], "its fields differ"
    dead = replace(alike, blocks=((Block(1.0, 1, 3),), (Block(1.0, 0, 0),)))
    assert not selecting.advantages(dead).any()


def test_a_good_answer_earns_more_the_less_was_thought_and_a_bad_one_nothing() -> None:
    """Weight .5, limit 40. Rewards .8, .8, 0 after 10, 40, 0 tokens: .5 x .8 x 3/4 = .3; nothing at the limit; .5 x 0.
    Beyond the limit nothing either. A task without thoughts has no such component, and a penalty is no reward.
    """
    rollout = replace(
        batch([[0.8], [0.8], [0.0], [0.8], [0.8], [-0.2]], [1.0], 2),
        thoughts=torch.tensor([10.0, 40, 0, 55, NAN, 0]),
    )
    found = ThinkEfficiency(0.5, 40).shape_rewards(rollout)
    assert found.rewards[:, 1].nan_to_num(7.0).tolist() == pytest.approx([0.3, 0, 0, 0, 7.0, 0])
    assert found.components == ("push.0", "think_efficiency") and found.weights.tolist() == [1.0, 0.5]


def test_the_settings_choose_the_members_and_their_order() -> None:
    def members(**grpo: object) -> list[str]:
        return list(chain.from_settings(of_grpo(with_settings(**grpo), 1)).members)

    conditions = [{"component": "push.length", "needs": "push.product", "at_least": 0.5}]
    full = {"overlong_tokens": 64, "task_weights": "iwu", "drop_zero_variance": True, "refill_rounds": 1}
    expected = ["conditional", "overlong", "zero_variance", "gdpo", "task_weights"]
    assert members(**full, conditions=conditions) == expected
    assert members(advantages="group", block_advantages=True) == ["group", "blockwise"]
    teacher = {"endpoint": {"name": "m", "url": "http://127.0.0.1:1/v1", "model": "m"}}
    assert members(teacher=teacher, entropy_advantages=True) == ["gdpo", "edge", "distillation"]
    for name in ("group", "gdpo", "batch", "median"):
        assert members(advantages=name) == [name]


def test_by_the_batch_a_wide_group_counts_more_than_a_narrow_one() -> None:
    """Rewards 0, 1 and .4, .6: centred -.5, .5, -.1, .1; their spread is sqrt(.52 / 3)."""
    found = Batch().advantages(of_sums([0.0, 1.0, 0.4, 0.6], 2))
    assert found.tolist() == pytest.approx([x / (math.sqrt(0.52 / 3) + 1e-4) for x in (-0.5, 0.5, -0.1, 0.1)])


@pytest.mark.parametrize("forgotten", chain.CHAIN, ids=lambda module: module.__name__.rpartition(".")[2])
def test_an_algorithm_that_is_not_in_the_chain_is_refused(
    forgotten: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its settings would be read by nobody; without the one that makes the advantages, all of them would be 0."""
    name = forgotten.__name__.rpartition(".")[2]
    monkeypatch.setattr(chain, "CHAIN", tuple(module for module in chain.CHAIN if module is not forgotten))
    with pytest.raises(UserError, match=rf"algorithms/{name}\.py is not in CHAIN"):
        chain.from_settings(of_grpo(with_settings(), 1))


def test_a_group_that_is_not_live_gets_exactly_zero() -> None:
    """Float noise has a mean of its own; without the chain the second group would keep an advantage of 3e-8."""
    rollout = of_sums([0.0, 1.0, 0.3, 0.3 + 6e-8], 2)
    found = Chain({"zero_variance": ZeroVariance(per_component=False), "group": Group()}).advantages(rollout)
    assert found.tolist() == [-0.5, 0.5, 0.0, 0.0]
