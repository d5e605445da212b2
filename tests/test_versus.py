"""Two sides over the same prompts: what is paired, what can be claimed."""

from dataclasses import replace

import numpy as np
import pytest
from test_comparison import SETTINGS, answer, prompts

from tucano.comparison.answers import DECODINGS, Answer
from tucano.comparison.versus import Side, versus
from tucano.statistics.inference import two_way_t

SEEDS = (42, 123, 456)


def side(name: str, gain: float, seeds: tuple[int, ...] = SEEDS) -> Side:
    """Each seed gains its own amount on every prompt, so that nothing ties and luck is shared by equal seeds."""

    def given(seed: int) -> list[Answer]:
        made = []
        for place, prompt in enumerate(prompts()):
            reward = 0.3 + gain * (1 + place / 50) + (seed % 7) / 100 + (seed * place % 11) / 1000
            made.append(answer(f"seed-{seed}", prompt, reward))
            made += [answer(f"seed-{seed}", prompt, reward, "sampled", sample) for sample in range(2)]
        return made

    return Side(name, {seed: given(seed) for seed in seeds})


def test_equal_seeds_are_paired() -> None:
    ours, theirs = side("A", 0.1), side("B", 0.02)
    result = versus(ours, theirs, prompts(), SETTINGS, frozenset({"bem"}), 123)
    assert (result.reference, result.shown_arm, result.main.reference) == ("B", "seed-123", "B")
    assert result.main.overall.gain == pytest.approx(np.mean([0.08 * (1 + place / 50) for place in range(20)]))
    # The seeds' own luck is the same on both sides and cancels: only the prompts' spread is left.
    table = np.array([[0.08 * (1 + place / 50)] * 3 for place in range(20)])
    expected, found = two_way_t(table), result.main.configuration
    assert found is not None and expected is not None
    assert (found.mean, found.p) == (pytest.approx(expected.mean), pytest.approx(expected.p, abs=1e-9))
    assert result.verdict.configuration_claim == "supported" and "B" in result.verdict.headline


@pytest.mark.parametrize("seeds", [(42, 123, 7), (42, 123), (1, 2, 3, 4)])
def test_seeds_that_cannot_be_paired_leave_the_configuration_open(seeds: tuple[int, ...]) -> None:
    result = versus(side("A", 0.1), side("B", 0.02, seeds), prompts(), SETTINGS, frozenset(), 42)
    assert result.main.configuration is None
    assert result.verdict.adapter_claim == "supported" and result.verdict.configuration_claim == "not assessable"


def test_the_reference_pools_all_of_its_seeds_samples() -> None:
    theirs = side("B", 0.02)
    changed = {
        seed: [replace(a, reward=a.reward + (0.3 if seed == 42 else 0.0)) for a in found]
        for seed, found in theirs.answers.items()
    }
    one = versus(side("A", 0.1), theirs, prompts(), SETTINGS, frozenset(), 42)
    other = versus(side("A", 0.1), Side("B", changed), prompts(), SETTINGS, frozenset(), 42)
    assert other.main.overall.reference_mean - one.main.overall.reference_mean == pytest.approx(0.1)
    assert one.headroom["overall"].k == 2, "as many as one side's seed has"


def test_fewer_seeds_with_more_answers_give_them_in_turn() -> None:
    """Two seeds of four answers, far apart, against three of one: the first answers alone would be of one seed."""

    def given(seed: int, reward: float, samples: int) -> list[Answer]:
        return [
            answer(f"seed-{seed}", prompt, reward + place / 1000, decoding, sample)
            for place, prompt in enumerate(prompts())
            for decoding in DECODINGS
            for sample in range(samples)
        ]

    ours = Side("A", {seed: given(seed, 0.4, 1) for seed in SEEDS})
    theirs = Side("B", {1: given(1, 0.2, 4), 2: given(2, 0.6, 4)})
    found = versus(ours, theirs, prompts(), SETTINGS, frozenset(), 42).main.overall
    assert abs(found.gain) < 1e-9 and abs(found.estimate) < 0.08 and found.p > 0.05
