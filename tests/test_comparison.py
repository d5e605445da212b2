"""The comparison: a case worked by hand, the predecessor's own numbers, and what must never be said."""

import ast
import string
from dataclasses import asdict, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from rewards.names import REPORTED as TASKS
from tucano.comparison import promotion, verdict, wording
from tucano.comparison.answers import Answer, Decoding
from tucano.comparison.compare import Comparison, Design, compare
from tucano.comparison.contrast import Contrast, Effect, effect, with_holm
from tucano.comparison.text_health import TextHealth, decay, text_health, vocabulary
from tucano.comparison.verdict import judge
from tucano.comparison.wording import ENGLISH, PORTUGUESE, Speaker
from tucano.errors import UserError
from tucano.prompts import Prompt
from tucano.settings import ComparisonSettings
from tucano.statistics.inference import Mean, two_way_t

SEEDS = [42, 123, 456]
SETTINGS = ComparisonSettings(samples=2)


def prompts(per_task: int = 5) -> list[Prompt]:
    numbered = product(TASKS, range(per_task))
    return [Prompt(f"{task}-{n}", task, f"pergunta {n}", f"t{n}", "synthetic", "CC0") for task, n in numbered]


def answer(
    arm: str, prompt: Prompt, reward: float, decoding: Decoding = "served", sample: int = 0, **changes: Any
) -> Answer:
    which = (arm, prompt.id, prompt.task, decoding, sample, f"{arm} responde bem")
    return replace(Answer(*which, reward, {}, reward / 2, 1.0, 10, False), **changes)


def answers(
    gains: dict[str, float], per_task: int = 5, arms: tuple[str, ...] = ("sft", "seed-42", "seed-123", "seed-456")
) -> list[Answer]:
    """Every arm in both decodings; seeds gain what their task says, a little more with each prompt: nothing ties."""
    made = []
    for arm, prompt in product(arms, prompts(per_task)):
        number = int(prompt.id.split("-")[1])
        gain = gains[prompt.task] * (1 + number / 100) if arm.startswith("seed") else 0.0
        reward = 0.3 + number / 100 + gain
        times = 3 if arm in ("base", "sft") else 1
        made += [answer(arm, prompt, reward, sample=place) for place in range(times)]
        shifts = [-0.1, 0.1] * times
        made += [answer(arm, prompt, reward + shift, "sampled", place) for place, shift in enumerate(shifts)]
    return made


def compared(made: list[Answer], per_task: int = 5, seeds: list[int] = SEEDS, reference: str = "sft") -> Comparison:
    return compare(made, prompts(per_task), SETTINGS, Design(reference, seeds), vocabulary(["bem", "responde"]))


GAINS = {"extraction": 0.2, "sql_qa": -0.05, "insights": 0.1, "push": 0.01}


@pytest.fixture(scope="module")
def result() -> Comparison:
    return compared(answers(GAINS))


def test_a_contrast_by_hand(result: Comparison) -> None:
    extraction = result.main.tasks["extraction"]
    # Five positive differences .2 x (1, 1.01, 1.02, 1.03, 1.04): p = 1/32; gain .204; reference .30-.34.
    assert extraction.n == 5
    assert extraction.p == 1 / 32
    assert extraction.gain == pytest.approx(0.204)
    assert extraction.reference_mean == pytest.approx(0.32)
    assert extraction.gain_percent == pytest.approx(63.75)
    assert extraction.estimate == pytest.approx(0.204)
    assert extraction.rank_biserial == 1.0
    # Holm over p = 1/32, 1, 1/32, 1/32: 4/32 three times.
    found = {task: found.p_holm for task, found in result.main.tasks.items()}
    assert found == {"extraction": 0.125, "sql_qa": 1.0, "insights": 0.125, "push": 0.125}


def test_the_overall_p_is_scipys_on_prompt_means(result: Comparison) -> None:
    differences = [point.tuned - point.reference for point in result.points]
    assert len(differences) == result.prompts == 20
    expected = stats.wilcoxon(differences, alternative="greater", method="exact").pvalue
    assert result.main.overall.p == pytest.approx(expected)


def test_seeds_are_averaged_before_the_test_and_reported_one_by_one() -> None:
    made = [replace(a, reward=a.reward + {"seed-42": 0.3, "seed-123": -0.3}.get(a.arm, 0.0)) for a in answers(GAINS)]
    result, plain = compared(made), compared(answers(GAINS))
    assert result.main.overall.n == 20
    assert result.main.overall.p == plain.main.overall.p
    assert result.main.seeds["seed-42"]["push"] == pytest.approx(plain.main.seeds["seed-42"]["push"] + 0.3)
    assert plain.main.configuration is not None and result.main.configuration is not None
    assert result.main.configuration.p > plain.main.configuration.p
    assert result.verdict.configuration_claim == "not supported"


def test_the_configuration_claim_is_the_two_way_test_on_all_cells(result: Comparison) -> None:
    gains = [
        [a.reward for a in answers(GAINS) if a.arm == arm and a.decoding == "served" and a.sample == 0]
        for arm in ("sft", *result.main.seeds)
    ]
    expected = two_way_t(np.array(gains[1:]).T - np.array(gains[0])[:, None])
    assert expected is not None and result.main.configuration is not None
    assert asdict(result.main.configuration) == pytest.approx(asdict(expected))


def test_with_two_seeds_the_configuration_is_not_assessable() -> None:
    verdict = compared(answers(GAINS), seeds=[42, 123]).verdict
    assert verdict.configuration_claim == "not assessable"
    assert not verdict.better
    assert "With 2 seed(s) nothing can be said about a new one" in " ".join(verdict.sentences)


def test_base_truth_and_other_arms_are_contrasted_too() -> None:
    arms = ("base", "sft", "seed-42", "seed-123", "seed-456", "controls.random")
    result = compared(answers(GAINS, arms=arms))
    made = {(c.arm, c.reference, c.measure) for c in result.contrasts if c.decoding == "served"}
    assert made == {
        *product(("seeds",), ("sft", "base"), ("reward", "truth")),
        ("controls.random", "sft", "reward"),
        ("seed-42", "sft", "reward"),  # the candidate alone
    }
    assert "Arm controls.random against sft: +0.000 (+0.0 %), exact one-sided p = 1.000." in result.verdict.sentences


def test_with_sft_off_the_base_is_the_reference() -> None:
    result = compared(answers(GAINS, arms=("base", "seed-42", "seed-123", "seed-456")), reference="base")
    assert result.main.reference == "base"
    assert result.verdict.headline.startswith("Better: the trained adapters beat base")


def test_truths_that_are_not_known_are_left_out() -> None:
    made = [replace(a, truth=None) if a.task in ("push", "insights") else a for a in answers(GAINS)]
    found = compared(made).find("seeds", "sft", "served", "truth")
    assert found is not None
    assert list(found.tasks) == ["extraction", "sql_qa"]
    assert found.overall.n == 10
    unknown = compared([replace(a, truth=None) for a in made])
    assert unknown.find("seeds", "sft", "served", "truth") is None


def test_a_missing_answer_is_named() -> None:
    missing = ("seed-123", "push-3", "sampled")
    made = [a for a in answers(GAINS) if (a.arm, a.prompt_id, a.decoding) != missing]
    with pytest.raises(UserError, match=r"arm seed-123 lacks 1 of 20 sampled answers \(first: prompt push-3\)"):
        compared(made)


def test_a_task_with_four_prompts_is_refused() -> None:
    with pytest.raises(UserError, match="task extraction has 4 test prompts and needs 5"):
        compared(answers(GAINS, per_task=4), per_task=4)


def reported(n: int, arm: float, reference: float, p: float) -> Effect:
    gain = arm - reference
    made = replace(effect([0.1, 0.2], [0.0, 0.0], 0.05), n=n, arm_mean=arm, reference_mean=reference, estimate=gain)
    return replace(made, gain=gain, gain_percent=100 * gain / reference, p=p, p_worse=1 - p)


@pytest.fixture
def report_v42() -> Contrast:
    tasks = {
        "extraction": reported(20, 0.722, 0.558, 0.001),
        "sql_qa": reported(15, 0.440, 0.521, 0.96),
        "insights": reported(15, 0.601, 0.400, 0.004),
        "push": reported(15, 0.425, 0.439, 0.71),
    }
    overall, seeds = reported(65, 0.561, 0.486, 0.0003), {"seed-42": {"overall": 0.075}}
    return Contrast("seeds", "base", "served", "reward", overall, with_holm(tasks), seeds, None)


def test_the_predecessors_summary_reads_correctly(report_v42: Contrast) -> None:
    verdict = judge(report_v42, SETTINGS)
    assert verdict.improved and verdict.adapter_claim == "supported"
    assert verdict.configuration_claim == "not assessable"
    assert verdict.better_tasks == ("extraction", "insights")
    assert verdict.worse_tasks == ()
    said = " ".join(verdict.sentences)
    assert "0.561 on average, base 0.486: +0.075 (+15.4 %)" in said
    assert "exact one-sided p = 0.0003" in said
    # p = .96 for a gain is p = .04 for a drop
    assert "sql_qa: fell by 0.081 (-15.5 %). By itself this drop would count (p for a gain = 0.960" in said
    assert "push: fell by 0.014 (-3.2 %); no gain is claimed (p for a gain = 0.710)" in said
    assert "no difference" not in said
    assert "caiu 0,081 (−15,5 %)" in " ".join(verdict.sentences_pt)


def test_without_the_primary_no_task_is_claimed(report_v42: Contrast) -> None:
    verdict = judge(replace(report_v42, overall=reported(65, 0.50, 0.486, 0.2)), SETTINGS)
    assert not verdict.improved
    assert verdict.better_tasks == ()
    assert verdict.headline == "An improvement over base is not shown."
    assert "That does not mean that nothing changed" in verdict.sentences[0]
    (said,) = (sentence for sentence in verdict.sentences if sentence.startswith("extraction: +0.164"))
    assert "because no gain of these adapters is shown" in said


def test_both_claims_are_needed_for_a_better_configuration(report_v42: Contrast) -> None:
    truth = replace(report_v42, measure="truth", overall=replace(report_v42.overall, mean_low=0.0))
    won = judge(replace(report_v42, configuration=Mean(0.075, 0.02, 30.0, 0.001, 0.03, 0.12)), SETTINGS, truth=truth)
    few = Mean(0.075, 0.06, 2.4, 0.2, -0.1, 0.25)
    open_ = judge(replace(report_v42, configuration=few), SETTINGS, truth=truth)
    assert won.better and won.headline.startswith("Better")
    assert not open_.better and open_.configuration_claim == "not supported"
    assert "that the configuration does in the mean over seeds is not shown" in open_.headline


def test_without_a_known_truth_nothing_is_called_better(report_v42: Contrast) -> None:
    verdict = judge(replace(report_v42, configuration=Mean(0.075, 0.02, 30.0, 0.001, 0.03, 0.12)), SETTINGS)
    assert verdict.improved and not verdict.better
    assert verdict.headline == "By the reward alone these adapters beat base; what is true is not known here."
    assert any("the reward alone says that these adapters are better" in sentence for sentence in verdict.sentences)


def test_reward_up_and_truth_down_is_suspicious(report_v42: Contrast) -> None:
    truth = replace(report_v42, measure="truth", overall=reported(65, 0.3, 0.4, 0.999))
    verdict = judge(report_v42, SETTINGS, truth=truth)
    assert verdict.hacking_suspected
    assert verdict.sentences[-1].endswith("reward hacking is suspected.")
    assert not judge(report_v42, SETTINGS, truth=replace(truth, overall=reported(65, 0.4, 0.4, 0.5))).hacking_suspected


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, None),
        ({"distinct_2": 0.41, "known_words": 0.91, "loss": 2.9}, None),
        ({"distinct_2": 0.39}, "repeat themselves: 49% as many"),
        ({"known_words": 0.89}, "words that nobody knows: 89% as many"),
        ({"loss": 3.2}, "strange: 160% of the nats"),
        ({"loss": float("nan")}, "strange: nan% of the nats"),
    ],
)
def test_texts_that_are_none_any_more_are_said(changed: dict[str, float], said: str | None) -> None:
    start = TextHealth(distinct_2=0.8, known_words=1.0, loss=2.0, tokens=30, truncated=0)
    found = decay(replace(start, **changed), start)
    assert found == said if said is None else found is not None and said in found


def test_text_health_by_hand() -> None:
    first, second = prompts(1)[:2]
    rows = [
        answer("sft", first, 0.5, completion="um dois um dois", loss=1.0, tokens=30, truncated=True),
        answer("sft", second, 0.5, completion="um três", loss=2.0, tokens=10),
        answer("sft", second, 0.5, completion="", loss=float("nan"), tokens=0),
    ]
    health = text_health(rows, vocabulary(["Um dois"]))
    thought = [replace(rows[0], tokens=130, think_tokens=100), rows[1], replace(rows[2], loss=0.0, tokens=112)]
    thought_of = text_health([*thought[:2], replace(thought[2], think_tokens=112)], vocabulary(["Um dois"]))
    assert thought_of.loss == pytest.approx(health.loss), "a thought is no text that was judged, cut or not"
    assert health.distinct_2 == pytest.approx((2 / 3 + 1) / 2)
    assert health.known_words == pytest.approx(5 / 6)
    assert health.loss == pytest.approx((30 * 1 + 10 * 2) / 40)
    assert (health.tokens, health.truncated) == (pytest.approx(40 / 3), pytest.approx(1 / 3))
    ratios = {"distinct_2": 1.0, "known_words": 1.0, "loss": 0.5}
    assert health.ratio(replace(health, loss=2.5)) == pytest.approx(ratios)


def blanks(message: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(message) if name}


@pytest.mark.parametrize("speakers", [(ENGLISH, PORTUGUESE), promotion.SPEAKERS])
def test_both_languages_have_the_same_sentences_with_the_same_blanks(speakers: tuple[Speaker, Speaker]) -> None:
    english, portuguese = ({name: blanks(text) for name, text in say.sentences.items()} for say in speakers)
    assert english == portuguese


def test_every_sentence_of_the_verdict_is_said() -> None:
    trees = [ast.parse(Path(str(speaking.__file__)).read_text(encoding="utf-8")) for speaking in (wording, verdict)]
    constants = [node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    used = {constant for constant in constants if isinstance(constant, str)}
    beside = {
        "base", "truth", "other", "missing", "served", "sampled", "skewed", "looks", "unplanned", "forgot", "lost public",
        "identical", "unconfirmed", "skewed drop", "limit", "interval", "no range", "no one",
    }  # fmt: skip
    assert set(ENGLISH.sentences) <= used | beside, "a sentence that nobody says"
