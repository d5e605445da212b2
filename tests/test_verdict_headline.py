"""What a headline claims, and what has to stand beside it so that nobody has to defend it."""

from dataclasses import replace

import numpy as np
import pytest
from test_comparison import GAINS, SEEDS, SETTINGS, answers, prompts
from test_report import audit, render

from tucano.comparison.answers import Answer
from tucano.comparison.compare import Comparison, Design, compare
from tucano.comparison.forgetting import Reading
from tucano.comparison.promotion import refusal
from tucano.comparison.table import render_markdown, render_table
from tucano.comparison.verdict import judge

ALIKE = dict.fromkeys(GAINS, 0.1)


SAMPLED = SETTINGS.model_copy(update={"primary": "sampled"})


def judged(made: list[Answer]) -> Comparison:
    """By sampled answers, so that those as served stand beside them."""
    return compare(made, prompts(9), SAMPLED, Design("sft", SEEDS), frozenset({"bem"}))


def flat(a: Answer) -> Answer:
    """Neither the sampled reward of SQL moves, nor the truth of insights, nor what is served of push."""
    truth = 0.25 if a.task == "insights" else a.truth
    still = (a.task, a.decoding) in (("sql_qa", "sampled"), ("push", "served"))
    return replace(a, truth=truth, reward=0.4 if still else a.reward)


def test_tasks_on_which_no_gain_is_established_are_named_beside_the_headline() -> None:
    found = judged([flat(a) for a in answers(ALIKE, per_task=9)])
    assert set(GAINS) - set(found.verdict.better_tasks) == {"sql_qa"}
    assert found.verdict.reservations == (
        "By the reward a gain is not established on: sql_qa.",
        "By the ground truth a gain is not established on: insights.",
        "As served, which is what users see, a gain is not established on: push.",
    )
    assert found.verdict.reservations_pt[1] == "Pela verdade de referência um ganho não está estabelecido em: insights."
    lines = render_table(found).splitlines()
    assert lines[2:5] == list(found.verdict.reservations), "under the headline, before any table"
    page = render(found, audit())
    verdict = page[page.index('class="verdict') : page.index('class="figures"')]
    assert "um ganho não está estabelecido em: push." in verdict
    assert "pela verdade 3; como em produção 3" in page
    assert judged(answers(ALIKE, per_task=9)).verdict.reservations == (), "where all gain, nothing stands there"


@pytest.mark.parametrize(
    ("base", "said", "below"), [(-0.05, None, False), (0.1, "0.444 before all training, 0.444 after", False),
     (0.2, "0.540 before all training, 0.444 after", True)],
)  # fmt: skip
def test_a_gain_that_is_none_over_the_base_says_so_beside_the_headline(
    base: float, said: str | None, below: bool
) -> None:
    """SFT had cost what GRPO mended: «Better» stood above a base that was as good, or better."""
    made = answers(ALIKE, per_task=9, arms=("base", "sft", *(f"seed-{seed}" for seed in SEEDS)))
    shifts = (0.04, -0.04)  # by turns, so that the base is now above and now below where it is level
    found = judged(
        [
            replace(a, reward=a.reward + base + shifts[int(a.prompt_id.split("-")[1]) % 2] * (base == 0.1))
            if a.arm == "base"
            else a
            for a in made
        ]
    )
    verdict = found.verdict
    assert verdict.headline.startswith("Better: the trained adapters beat sft") and verdict.below_base is below
    beside = [one for one in verdict.reservations if "base model" in one]
    assert len(beside) == (said is not None) == len([one for one in verdict.reservations_pt if "modelo base" in one])
    assert said is None or said in beside[0]
    against = refusal(verdict, None, None, None)
    assert (against is not None and "worse than the base model" in against.reason) is below


def test_an_interval_that_holds_all_differences_is_not_assessable_and_no_other_leaves_them() -> None:
    """Rewards lie in 0..1; the analyst read «95 % interval -91.064 to +91.065»."""
    main = judged(answers(ALIKE, per_task=9)).main
    assert main.configuration is not None
    wide = replace(
        main, configuration=replace(main.configuration, low=-91.064, high=91.065, p=0.4), new_seed=(-70.0, 70.0)
    )
    said = " ".join(judge(wide, SETTINGS).sentences)
    assert "its 95 % interval cannot be assessed" in said and "What one new seed may gain cannot be assessed." in said
    assert "91" not in said and "70.0" not in said
    half = replace(main, configuration=replace(main.configuration, low=-0.2, high=1.7), new_seed=(-1.4, 0.9))
    said = " ".join(judge(half, SETTINGS).sentences)
    assert "95 % interval -0.200 to +1.000" in said and "One new seed may gain -1.000 to +0.900" in said


def readings() -> list[Reading]:
    """The base knows 10 times better what comes next than what was trained of it."""
    rng = np.random.default_rng(1)
    nats = {"base": 100.0, "sft": 300.0, **dict.fromkeys((f"seed-{seed}" for seed in SEEDS), 301.0)}
    return [
        Reading(arm, passage, value + float(rng.normal()), 50, 200)
        for arm, value in nats.items()
        for passage in range(40)
    ]


@pytest.mark.parametrize("untrained", [False, True])
def test_nothing_is_forgotten_that_random_weights_never_knew(untrained: bool) -> None:
    made = answers(ALIKE, arms=("base", "sft", *(f"seed-{seed}" for seed in SEEDS)))
    design = Design("sft", SEEDS, untrained_base=untrained)
    found = compare(made, prompts(), SETTINGS, design, frozenset({"bem"}), readings())
    assert [one.reference for one in found.language] == (["sft"] if untrained else ["sft", "base"])
    assert ("forgot" in found.verdict.cautions) is not untrained


def test_the_verdict_in_prefect_is_markdown_with_tables() -> None:
    text = render_markdown(judged([flat(a) for a in answers(ALIKE, per_task=9)]))
    paragraphs = text.split("\n\n")
    better = "Better: the trained adapters beat sft, and so does the configuration in the mean over seeds."
    assert paragraphs[0] == f"**{better}**"
    assert "a gain is not established on: insights." in paragraphs[2]
    assert paragraphs[4].startswith("| task ") and paragraphs[5].startswith("| arm ") and "```" not in text
