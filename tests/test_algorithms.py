"""Every algorithm against values worked out by hand, and against a second computation that shares no code with it."""

import math
import random
import statistics
from collections.abc import Sequence
from dataclasses import replace
from types import ModuleType
from typing import get_args

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from tucano.errors import UserError
from tucano.profiles import validated
from tucano.settings import Condition, PipelineSettings
from tucano.settings.grpo import GrpoTraining
from tucano.settings.stages import of_grpo
from tucano.training.algorithms import Algorithm, Block, RolloutBatch, chain
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
from tucano.training.rollouts.curriculum import ceiling

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
    """Two tasks with two and one components, groups of 2 to 5, rewards from a coarse grid: ties and empty groups are
    frequent.
    """
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
    made = chain.from_settings(of_grpo(with_settings(advantages=advantages), 1), ["push.0", "push.1"])
    rewards = batch([[0.1, 0.2], [0.3, 0.1], [0.1, 0.2], [0.3, value]], [0.5, 0.5], 2)
    with pytest.raises(UserError, match=r"^push.1 is -?(nan|inf) for completion 2 of group 2, a prompt of push, and"):
        made.shape_rewards(rewards)
    assert made.shape_rewards(batch([[0.1, NAN], [0.3, NAN]], [0.5, 0.5], 2)), "a task without the component"


# Group mean (Dr. GRPO) and group median (MC-GRPO)


def test_group_advantage_is_the_distance_from_the_group_mean() -> None:
    found = Group().advantages(batch([[0.1, 0.1], [0.3, 0.3], [0.5, 0.5], [0.5, 0.5]], [0.5, 0.5], generations=2))
    assert torch.allclose(found, torch.tensor([-0.2, 0.2, 0.0, 0.0]))


def test_median_advantage_is_the_distance_from_the_group_median() -> None:
    """Of 0, .1, .2, .3, 1 the median is .2; the outlier moves a mean to .32 and would turn .3 into a loss."""
    rewards = [0.3, 0.0, 1.0, 0.2, 0.1]
    assert torch.allclose(Median().advantages(of_sums(rewards, 5)), torch.tensor([0.1, -0.2, 0.8, 0.0, -0.1]))
    assert Group().advantages(of_sums(rewards, 5))[0] < 0


def test_median_of_an_even_group_is_the_mean_of_the_middle_two() -> None:
    assert torch.allclose(Median().advantages(of_sums([0.0, 0.2, 0.4, 1.0], 4)), torch.tensor([-0.3, -0.1, 0.1, 0.7]))


def test_median_does_not_explode_where_most_rewards_are_equal() -> None:
    """The median absolute deviation is 0 here, and dividing by it + .001 would give 1000."""
    assert Median().advantages(of_sums([0.0, 0.0, 0.0, 0.0, 1.0], 5)).tolist() == [0, 0, 0, 0, 1]


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


# GDPO


def test_gdpo_tells_apart_what_a_sum_cannot() -> None:
    """Right format and wrong content (1, 0) earn the same sum as the reverse (0, 1), but both differ from a rarer
    mix.
    """
    rows = [[0.5, 0.0], [0.5, 0.0], [0.5, 0.0], [0.0, 0.5]]
    assert torch.allclose(Group().advantages(batch(rows, [0.5, 0.5], 4)), torch.zeros(4))
    found = GDPO.advantages(batch(rows, [0.5, 0.5], 4))
    # per component on its own scale: 1,1,1,0 has mean 3/4 and spread sqrt(3)/4, so the rare one is -sqrt(3) in one, +sqrt(3) in the other
    assert torch.allclose(found, torch.zeros(4), atol=1e-6)
    weighted = GDPO.advantages(batch([[0.8, 0.0], [0.8, 0.0], [0.8, 0.0], [0.0, 0.2]], [0.8, 0.2], 4))
    # shares 1 and 1/4: (1/sqrt3) (1 - 1/4) three times, -sqrt3 (1 - 1/4) once; the common 1/sqrt(2) and 3/4 leave with the batch's spread of 1
    assert torch.allclose(weighted, torch.tensor([1, 1, 1, -3]) / math.sqrt(3))


def test_gdpo_a_group_without_signal_gets_zero_and_does_not_change_the_others() -> None:
    assert torch.allclose(GDPO.advantages(of_sums([0.0, 1.0], 2)), torch.tensor([-1.0, 1.0]))
    assert torch.allclose(GDPO.advantages(of_sums([0.0, 1.0, 0.5, 0.5], 2)), torch.tensor([-1.0, 1.0, 0.0, 0.0]))


def test_gdpo_float_noise_is_no_signal() -> None:
    assert GDPO.advantages(of_sums([0.5, 0.5 + 6e-8, 0.0, 1.0], 2))[:2].abs().max() < 1e-5


def test_gdpo_all_groups_without_signal() -> None:
    assert torch.equal(GDPO.advantages(of_sums([0.3, 0.3], 2)), torch.zeros(2))


def test_gdpo_components_of_other_tasks_are_absent_not_zero() -> None:
    """Two tasks with two components each; a task's advantage must not depend on columns it does not have."""
    mixed = batch(
        [[0.0, 0.2, NAN, NAN], [0.4, 0.2, NAN, NAN], [NAN, NAN, 0.1, 0.0], [NAN, NAN, 0.1, 0.6]],
        [0.4, 0.6, 0.4, 0.6],
        2,
    )
    found = GDPO.advantages(mixed)
    # live component shares are 2/3 and 1, over sqrt(2): +-(2/3)/sqrt2 and +-1/sqrt2; the batch's spread is sqrt((4/9 +
    # 1)/4)
    first, second = (2 / 3) / math.sqrt(2), 1 / math.sqrt(2)
    spread = math.sqrt((first**2 + second**2) / 2)
    assert torch.allclose(found, torch.tensor([-first, first, -second, second]) / spread)


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


# Conditional rewards


def test_a_conditional_component_counts_only_where_the_other_is_reached() -> None:
    """With weights .4 and .5, a threshold of .6 on the second is .3 of reward."""
    shaped = Conditional((Condition(component="push.0", needs="push.1", at_least=0.6),)).shape_rewards(
        batch([[0.4, 0.3], [0.4, 0.29], [0.1, 0.0], [NAN, NAN]], [0.4, 0.5], 2)
    )
    assert shaped.rewards[:3, 0].tolist() == pytest.approx([0.4, 0.0, 0.0])
    assert shaped.rewards[:3, 1].tolist() == pytest.approx([0.3, 0.29, 0.0])
    assert shaped.rewards[3].isnan().all()


def test_an_adapter_of_its_own_task_has_that_tasks_conditions_alone() -> None:
    conditions = [{"component": "push.length", "needs": "push.product", "at_least": 0.5}]
    asked = of_grpo(with_settings(conditions=conditions), 1)
    assert "conditional" in chain.from_settings(asked, ("push.length", "push.product")).members
    assert "conditional" not in chain.from_settings(asked, ("sql_qa.runs", "sql_qa.rows")).members


@given(random_batches(), st.sampled_from([-0.5, 0.1, 0.6, 1.0]))
@settings(max_examples=40)
def test_conditional_rewards_equal_a_loop(rollout: RolloutBatch, threshold: float) -> None:
    shaped = Conditional((Condition(component="push.0", needs="push.1", at_least=threshold),)).shape_rewards(rollout)
    for before, after in zip(rollout.rewards.tolist(), shaped.rewards.tolist(), strict=True):
        if not math.isnan(before[0]):
            assert after[0] == (before[0] if round(before[1] / 0.4, 6) >= threshold else 0.0)
            assert after[1] == before[1]


# Soft overlong punishment


def test_overlong_punishment_grows_from_the_buffer_to_the_ceiling() -> None:
    """Ceiling 100, buffer 20: nothing up to 80 tokens, a quarter at 85, all at 100; half of it in units of reward."""
    rollout = replace(of_sums([1.0] * 4, 2), lengths=torch.tensor([10, 80, 85, 100]))
    shaped = Overlong(cache=20, weight=0.5).shape_rewards(rollout)
    assert shaped.rewards[:, 1].tolist() == [0.0, 0.0, -0.125, -0.5]
    assert (shaped.components[-1], shaped.weights.tolist()) == ("overlong", [1.0, 0.5])
    assert shaped.totals().tolist() == [[1.0, 1.0], [0.875, 0.5]]


@given(st.integers(1, 300), st.integers(2, 200), st.data())
def test_overlong_punishment_equals_the_three_cases_of_the_paper(
    length: int, longest: int, data: st.DataObject
) -> None:
    cache = data.draw(st.integers(1, longest - 1))
    expected = 0.0 if length <= longest - cache else -1.0 if length > longest else (longest - cache - length) / cache
    rollout = replace(of_sums([0.0, 0.0], 2), lengths=torch.tensor([length, 0]), ceiling=longest)
    assert Overlong(cache, 1.0).shape_rewards(rollout).rewards[0, 1].item() == pytest.approx(expected)


# Groups without signal


def test_a_group_is_live_when_its_rewards_differ_by_more_than_float_noise() -> None:
    rollout = of_sums([0.2, 0.2, 0.2, 0.2 + 6e-8, 0.1234565, 0.1234565 - 3e-8, 0.2, 0.3], 2)
    assert ZeroVariance(per_component=False).select_groups(rollout).tolist() == [False, False, False, True]


def test_components_that_cancel_in_the_sum_are_signal_for_gdpo_alone() -> None:
    rollout = batch([[0.5, 0.0], [0.0, 0.5]], [0.5, 0.5], 2)
    assert ZeroVariance(per_component=True).select_groups(rollout).tolist() == [True]
    assert ZeroVariance(per_component=False).select_groups(rollout).tolist() == [False]


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


# Task weights


def test_the_task_that_does_not_improve_gains_weight() -> None:
    """J goes .2 -> .25 and .6 -> .6; with balance 0, s = (.05, 0), z = (.5, .5): g = .5 (.05 - .025) = .0125 and
    -.0125.

    Adam's first step has length `rate` whatever the gradient: xi = (-.025, .025), and z is a logistic of the difference
    .05.
    """
    weights = TaskWeights(("sql_qa", "push"), rate=0.025, balance=0.0, floor=0.0)
    rollout = replace(of_sums([0.0, 1.0], 2), tasks=["push", "sql_qa"], advantages=torch.tensor([1.0, -1.0]))
    assert weights.advantages(replace(rollout, task_means={"sql_qa": 0.2, "push": 0.6})).tolist() == [1.0, -1.0]
    found = weights.advantages(replace(rollout, task_means={"sql_qa": 0.25, "push": 0.6}))
    push = 2 / (1 + math.exp(-0.05))
    assert found.tolist() == pytest.approx([push, -(2 - push)], abs=1e-6)
    assert weights.metrics() == pytest.approx({"task_weight/push": push, "task_weight/sql_qa": 2 - push}, abs=1e-6)


def test_weights_wait_for_every_task_and_an_absent_one_keeps_its_level() -> None:
    weights = TaskWeights(("sql_qa", "push"), rate=0.025, balance=0.2, floor=0.0)
    rollout = of_sums([0.0, 1.0], 2)
    for seen in ({"push": 0.5}, {"push": 0.9}, {"sql_qa": 0.1}):
        weights.advantages(replace(rollout, task_means=seen))
    assert weights.weights() == {"sql_qa": 1.0, "push": 1.0}
    weights.advantages(replace(rollout, task_means={"push": 0.9}))
    assert weights.weights()["sql_qa"] > 1  # it stands at .1, push at .9


HISTORY = [(0.2, 0.6, 0.1), (0.35, 0.6, 0.12), (0.3, 0.4, 0.2), (0.32, 0.5, 0.2), (0.5, 0.55, 0.1)]


def test_weights_equal_autograd_and_torchs_adam() -> None:
    """The gradient is that of sum_k softmax(xi)_k s_k, which autograd finds without being told."""
    tasks = ("extraction", "sql_qa", "push")
    weights, xi = (
        TaskWeights(tasks, rate=0.025, balance=0.2, floor=0.0),
        torch.zeros(3, dtype=torch.float64, requires_grad=True),
    )
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
    """sql_qa stays at 0 while three others are good: alone it took 3.9 of the 4 shares after 1,500 rollouts. With a
    floor of .2 it can have 4 - 3 x .2 = 3.4 at most, and the others keep .2 and what z leaves them.
    """
    tasks = ("extraction", "sql_qa", "insights", "push")
    free, held = (TaskWeights(tasks, rate=0.025, balance=0.2, floor=floor) for floor in (0.0, 0.2))
    rollout = replace(
        of_sums([0.0, 1.0], 2), task_means={"extraction": 0.7, "sql_qa": 0.0, "insights": 0.6, "push": 0.5}
    )
    for _ in range(1500):
        for weights in (free, held):
            weights.advantages(rollout)
    assert free.weights()["sql_qa"] > 3.9 and min(free.weights().values()) < 0.05
    assert 3.2 < held.weights()["sql_qa"] <= 3.4 and min(held.weights().values()) >= 0.2
    assert sum(held.weights().values()) == pytest.approx(4)
    assert {task: held.weights()[task] for task in tasks} == pytest.approx(
        {task: 0.2 + 0.8 * free.weights()[task] for task in tasks}
    )


# EDGE


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


def test_weights_go_on_from_their_state() -> None:
    tasks = ("extraction", "sql_qa", "push")
    whole, first, second = (TaskWeights(tasks, rate=0.025, balance=0.2, floor=0.0) for _ in range(3))
    rollouts = [replace(of_sums([0.0, 1.0], 2), task_means=dict(zip(tasks, means, strict=True))) for means in HISTORY]
    for rollout in rollouts:
        whole.advantages(rollout)
    for rollout in rollouts[:3]:
        first.advantages(rollout)
    second.load(first.state())
    for rollout in rollouts[3:]:
        second.advantages(rollout)
    assert second.state() == whole.state()


# Length curriculum


@pytest.mark.parametrize(("step", "tokens"), [(0, 512), (9, 512), (10, 128), (99, 128), (100, 256), (5000, 256)])
def test_a_stage_holds_from_its_step_on(step: int, tokens: int) -> None:
    assert ceiling(((10, 128), (100, 256)), 512, step) == tokens


# BAE


def test_a_field_is_held_against_those_whose_earlier_fields_came_out_alike() -> None:
    """Second field: completions 1 and 2 had the first right, 3 and 4 had not. Its mean over the group is 1/2, over each
    half 1/2; drawn by two towards the group: (2 x 1/2 + 2 x 1/2) / 4. Third field: the means before are 1, .5, .5, 0, so
    the first three are alike, with mean 1/3: (1 + 2 x 1/4) / 5 = .3; the last alone: (0 + 2 x 1/4) / 3 = 1/6.
    """
    found = baselines(torch.tensor([[1.0, 1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 0]]))
    assert torch.allclose(found, torch.tensor([[0.5, 0.5, 0.3], [0.5, 0.5, 0.3], [0.5, 0.5, 0.3], [0.5, 0.5, 1 / 6]]))


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


def test_a_field_has_its_own_advantage_and_the_rest_the_answers() -> None:
    """The field's mean is 1/2, so the right one gains 1/2 although its answer lost 1/2."""
    assert Blockwise().advantages(blocks_rollout()).tolist() == [[-0.5, 0.5, 0.5, -0.5, -0.5], [0.5] * 5]


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


def test_without_fields_every_token_has_the_advantage_of_its_answer() -> None:
    rollout = replace(blocks_rollout(), blocks=((), ()))
    assert Blockwise().advantages(rollout).tolist() == [[-0.5] * 5, [0.5] * 5]


def test_by_default_there_are_no_blocks() -> None:
    assert "blockwise" not in chain.from_settings(of_grpo(with_settings(), 1), COMPONENTS).members
    asked = of_grpo(with_settings(advantages="group", block_advantages=True), 1)
    assert list(chain.from_settings(asked, COMPONENTS).members) == ["group", "blockwise"]


# Think efficiency


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


def test_tasks_without_thoughts_earn_nothing_for_thinking_little() -> None:
    found = ThinkEfficiency(0.5, 40).shape_rewards(of_sums([0.6, 0.2], 2))
    assert found.components == ("push.0", "think_efficiency") and found.rewards[:, 1].isnan().all()


# How they compose


def test_the_settings_choose_the_members_and_their_order() -> None:
    full = with_settings(
        overlong_tokens=64,
        task_weights="iwu",
        drop_zero_variance=True,
        refill_rounds=1,
        conditions=[{"component": "push.length", "needs": "push.product", "at_least": 0.5}],
    )
    assert list(chain.from_settings(of_grpo(full, 1), COMPONENTS).members) == [
        "conditional",
        "overlong",
        "zero_variance",
        "gdpo",
        "task_weights",
    ]
    for name in ("group", "gdpo", "median"):
        assert list(chain.from_settings(of_grpo(with_settings(advantages=name), 1), COMPONENTS).members) == [name]


@pytest.mark.parametrize("forgotten", chain.CHAIN, ids=lambda module: module.__name__.rpartition(".")[2])
def test_an_algorithm_that_is_not_in_the_chain_is_refused(
    forgotten: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its settings would be read by nobody; without the one that makes the advantages, all of them would be 0."""
    name = forgotten.__name__.rpartition(".")[2]
    monkeypatch.setattr(chain, "CHAIN", tuple(module for module in chain.CHAIN if module is not forgotten))
    with pytest.raises(UserError, match=rf"algorithms/{name}\.py is not in CHAIN"):
        chain.from_settings(of_grpo(with_settings(), 1), COMPONENTS)


def test_advantages_that_no_algorithm_makes_are_refused() -> None:
    asked = of_grpo(with_settings(), 1)
    unknown = asked.model_copy(update={"grpo": asked.grpo.model_copy(update={"advantages": "rank"})})
    with pytest.raises(UserError, match=r"grpo\.advantages=rank.*algorithms/rank\.py"):
        chain.from_settings(unknown, COMPONENTS)


@pytest.mark.parametrize("field", ["advantages", "task_weights"])
def test_every_value_of_a_setting_that_names_an_algorithm_makes_another_chain(field: str) -> None:
    values = get_args(GrpoTraining.model_fields[field].annotation)
    chains = [chain.from_settings(of_grpo(with_settings(**{field: value}), 1), COMPONENTS) for value in values]
    assert len({tuple(made.members) for made in chains}) == len(values)


def test_a_group_that_is_not_live_gets_exactly_zero() -> None:
    """Float noise has a mean of its own; without the chain the second group would keep an advantage of 3e-8."""
    rollout = of_sums([0.0, 1.0, 0.3, 0.3 + 6e-8], 2)
    found = Chain({"zero_variance": ZeroVariance(per_component=False), "group": Group()}).advantages(rollout)
    assert found.tolist() == [-0.5, 0.5, 0.0, 0.0]


def test_a_new_algorithm_is_one_class() -> None:
    """Advantages that weigh confident completions more, as an entropy-driven one would: A_i x mean entropy / its
    own.
    """

    class Confident(Algorithm):
        def advantages(self, batch: RolloutBatch) -> Tensor:
            return batch.advantages * batch.entropies().mean() / batch.entropies()

    rollout = replace(of_sums([0.0, 1.0], 2), entropies=lambda: torch.tensor([0.5, 1.5]))
    assert Chain({"group": Group(), "confident": Confident()}).advantages(rollout).tolist() == pytest.approx(
        [-1.0, 1 / 3]
    )
