"""What stands beside the p values: decomposition, forgetting, looks, the plan, and the cautions of the verdict."""

import json
from dataclasses import asdict, replace
from datetime import datetime
from math import exp, log
from pathlib import Path

import numpy as np
import pytest
from test_comparison import GAINS, SEEDS, SETTINGS, answers, compared, prompts

from tasks.handles import Plan, SeedResult
from tasks.plan import came_first
from tucano.artifacts.records import parsed
from tucano.artifacts.store import Artifact
from tucano.comparison.claims import StudyContext
from tucano.comparison.compare import Comparison, Design, compare
from tucano.comparison.contrast import Contrast, Strata, contrast, effect
from tucano.comparison.decomposition import is_strict
from tucano.comparison.forgetting import Reading, forgetting
from tucano.comparison.looks import read_looks, record_look
from tucano.comparison.promotion import refusal
from tucano.comparison.table import render_table
from tucano.comparison.verdict import Verdict, judge
from tucano.settings.comparison import Judging
from tucano.storage.folder import Folder

ARMS = ("base", "sft", "seed-42", "seed-123", "seed-456")


def simple(
    differences: list[float], clusters: list[str] | None = None, seeds: int = 1, spread: float = 0.0
) -> Contrast:
    """Seeds that gain these differences over a reference of .5, one prompt each; `spread` separates the seeds."""
    ids = [f"p{index}" for index in range(len(differences))]
    members = {
        f"seed-{seed}": {
            name: [0.5 + gain + spread * (seed - (seeds - 1) / 2)] for name, gain in zip(ids, differences, strict=True)
        }
        for seed in range(seeds)
    }
    groups = dict(zip(ids, clusters, strict=True)) if clusters else None
    below = {prompt: [0.5] * seeds for prompt in ids}
    return contrast("seeds", members, ("sft", below), Strata({"push": ids}, groups), 0.05, "served", "reward")


def said(main: Contrast, around: StudyContext | None = None) -> tuple[str, str, tuple[str, ...]]:
    verdict = judge(main, Judging(), around=around)
    return " ".join(verdict.sentences), " ".join(verdict.sentences_pt), verdict.cautions


# Percent


def test_a_gain_over_almost_nothing_is_not_given_in_percent() -> None:
    found = effect([0.49, 0.47, 0.5], [0.0001, 0.0, 0.0], 0.05)
    assert found.gain_percent is None
    assert effect([0.2, 0.2], [0.1, 0.1], 0.05).gain_percent == pytest.approx(100)


# Cautions


def test_many_small_gains_against_a_few_large_losses_are_said() -> None:
    main = simple([0.05 + index / 1000 for index in range(40)] + [-0.7, -0.6, -0.5])
    english, portuguese, cautions = said(main)
    assert main.overall.p < 0.05 <= main.overall.p_mean
    assert cautions == ("skewed", "no truth")
    assert "the mean gain is not established" in english
    assert "poucas perdas grandes pesam" in portuguese


def test_a_falling_mean_is_never_called_better() -> None:
    main = simple([0.01 + index / 10_000 for index in range(40)] + [-0.9, -0.8, -0.7])
    assert main.overall.p < 0.05 and main.overall.gain < 0
    assert not judge(main, Judging()).improved


def test_prompts_of_one_template_flip_together() -> None:
    gains = [0.2, 0.21, 0.19, 0.2, 0.22, 0.18, 0.2, 0.21, 0.01, -0.01, 0.02, -0.02]
    clusters = ["a"] * 8 + ["b"] * 2 + ["c"] * 2
    # |gain| has the ranks 9.5 9.5 ... of a, 1.5 and 1.5 of b, 3.5 and 3.5 of c: b and c cancel, a alone decides.
    assert simple(gains, clusters).overall.p == 1 / 2
    assert simple(gains, [str(index) for index in range(12)]).overall.p < 0.01


def test_ranks_are_of_as_many_answers_per_prompt_and_means_of_all() -> None:
    members = {"seed-1": {"p": [1.0, 2.0], "q": [3.0, 4.0]}, "seed-2": {"p": [10.0, 20.0], "q": [30.0, 40.0]}}
    strata = Strata({"push": ["p", "q"]})

    def found(reference: dict[str, list[float]]) -> Contrast:
        return contrast("seeds", members, ("sft", reference), strata, 0.05, "sampled", "reward")

    def typical_gain(reference: dict[str, list[float]]) -> float:
        return found(reference).overall.estimate  # of two differences: their mean

    assert typical_gain({"p": [0.0] * 4, "q": [1.0] * 4}) == 13.75 - 0.5
    # One answer each: the first seed's at p, the second's at q.
    assert typical_gain({"p": [0.0], "q": [1.0]}) == (1 + 30) / 2 - 0.5
    # Six against four: the first four.
    assert typical_gain({"p": [0.0] * 4 + [9.0] * 2, "q": [1.0] * 4 + [9.0] * 2}) == 13.75 - 0.5
    fewer = found({"p": [0.0], "q": [1.0]})
    assert (fewer.overall.arm_mean, fewer.overall.reference_mean) == (13.75, 0.5)
    assert fewer.overall.gain == np.mean([gain["overall"] for gain in fewer.seeds.values()])


def test_nothing_changed_is_a_reason_to_look_at_the_adapter() -> None:
    english, _, cautions = said(simple([0.0] * 10))
    assert cautions == ("identical",)
    assert "check that training moved the model" in english


def test_looks_and_a_late_plan_are_said() -> None:
    english, portuguese, cautions = said(
        simple([0.1, 0.11, 0.12, 0.13, 0.14, 0.15]), StudyContext(looks=3, planned=False)
    )
    assert cautions == ("looks", "unplanned", "no truth")
    assert "looked at 3 times" in english
    assert "with probability 14 %" in english  # 1 - .95^3
    assert "(Bonferroni), this one has p for a gain = 0.047" in english  # 3 / 64
    assert "exploratórias" in portuguese


def test_seeds_that_disagree_are_told_how_many_more_it_takes() -> None:
    rng = np.random.default_rng(1)
    english, _, _ = said(simple(list(rng.normal(0.06, 0.05, 65)), seeds=3, spread=0.07))
    assert "a gain in the mean over seeds is not established" in english
    assert "takes about" in english and "seeds" in english
    assert "seed-0 " in english


def by_truth(falls: dict[str, list[float]], rises: float = 0.1) -> Verdict:
    """A reward that rises everywhere, and a truth that falls by these amounts, per task."""
    ids = {task: [f"{task}-{number}" for number in range(len(drops))] for task, drops in falls.items()}
    reward = {prompt: 0.5 + rises + place / 1000 for prompts in ids.values() for place, prompt in enumerate(prompts)}
    truth = {
        prompt: 0.5 - drop for task, prompts in ids.items() for prompt, drop in zip(prompts, falls[task], strict=True)
    }
    flat = {prompt: [0.5] for prompt in reward}
    made = [
        contrast(
            "seeds",
            {"seed-1": {prompt: [value] for prompt, value in values.items()}},
            ("sft", flat),
            Strata(ids),
            0.05,
            "served",
            "reward",
        )
        for values in (reward, truth)
    ]
    return judge(made[0], Judging(), truth=made[1])


def test_a_reward_that_truth_does_not_confirm_is_not_called_better() -> None:
    verdict = by_truth({"push": [0.1, -0.1, 0.2, -0.2, 0.0, 0.0]})
    assert verdict.improved and not verdict.hacking_suspected
    assert verdict.cautions == ("unconfirmed",)
    assert verdict.headline == "By the reward alone these adapters beat sft; the ground truth does not confirm it."


def test_truth_that_falls_on_one_task_where_the_reward_rose_is_suspicious() -> None:
    verdict = by_truth(
        {"push": [0.1 + place / 100 for place in range(8)], "sql_qa": [-0.9 - place / 100 for place in range(12)]}
    )
    assert verdict.hacking_suspected
    assert verdict.headline == "Reward hacking suspected: the reward rose over sft while the ground truth fell on push."
    assert verdict.headline_pt.startswith("Suspeita de exploração da recompensa")


def test_ranks_alone_make_no_fall_of_a_truth_whose_mean_rises() -> None:
    verdict = by_truth({"push": [0.01 + place / 10_000 for place in range(37)] + [-0.4] * 3})
    assert not verdict.hacking_suspected and not verdict.better
    assert verdict.cautions == ("unconfirmed",)
    found = refusal(verdict, [], None, None)
    assert found is not None and "the ground truth does not confirm" in found.reason


def test_a_truth_that_rises_while_the_reward_falls_is_said() -> None:
    verdict = by_truth({"push": [-0.1 - place / 100 for place in range(8)]}, rises=-0.2)
    assert verdict.worse and verdict.cautions == ("truth rose",)
    assert "by the ground truth the answers got better" in verdict.sentences[-1]
    assert "truth rose" not in by_truth({"push": [0.1, -0.1, 0.2, -0.2, 0.0, 0.0]}, rises=-0.2).cautions


def test_a_drop_that_does_not_stand_after_all_looks_keeps_from_promotion_and_is_not_called_established() -> None:
    main = simple([-0.1 - place / 100 for place in range(8)])  # p = 1 / 256
    few, many = (judge(main, Judging(), around=StudyContext(looks=looks)) for looks in (2, 20))
    assert few.worse and any(said.startswith("push: worse by") for said in few.sentences)
    (told,) = (said for said in many.sentences if said.startswith("push: "))
    assert not many.worse and many.worse_tasks == ("push",)
    assert told.startswith("push: fell by 0.135") and "after correction for all looks" in told
    assert "true gains below" not in " ".join(many.sentences)  # its interval lies below 0


# What a test of few templates, or of many looks, can see


def test_four_templates_can_show_no_gain_however_large() -> None:
    """The exact p of four clusters is 1/16 at least."""
    gains = [0.3 + place / 1000 for place in range(40)]
    main = simple(gains, [f"t{place % 4}" for place in range(40)])
    assert main.overall.p == 1 / 16 and main.overall.detectable is None
    english, portuguese, _ = said(main)
    assert "this test can show no gain, however large" in english and "ganho algum" in portuguese


def test_a_larger_experiment_is_reckoned_in_templates() -> None:
    rng = np.random.default_rng(1)
    of = dict(zip("abcdefgh", rng.normal(0, 0.06, 8), strict=True))
    gains = [0.03 + of["abcdefgh"[place % 8]] + rng.normal(0, 0.02) for place in range(80)]
    needed = simple(gains, ["abcdefgh"[place % 8] for place in range(80)]).prompts_needed
    alone = simple(gains).prompts_needed
    assert needed is not None and alone is not None and needed % 10 == 0 and needed > 3 * alone


def test_what_is_detectable_counts_the_looks() -> None:
    once, often = (
        compare(answers(GAINS), prompts(), SETTINGS, Design("sft", SEEDS, looks=looks), frozenset()).main.overall
        for looks in (1, 20)
    )
    assert once.detectable is not None and often.detectable is not None and often.detectable > 1.3 * once.detectable
    assert often.p == once.p


def test_an_established_drop_is_corrected_as_a_drop() -> None:
    english, portuguese, _ = said(simple([-0.1 - place / 1000 for place in range(40)]), StudyContext(looks=3))
    assert "The drop is established" in english
    assert "this one has p for a drop < 0.0001" in english and "p para uma queda" in portuguese


@pytest.mark.parametrize("alpha", [1e-17, 1e-300])
def test_a_level_that_nothing_reaches_is_no_error(alpha: float) -> None:
    members = {
        f"seed-{seed}": {f"p{place}": [0.5 + place / 100 + seed / 50] for place in range(40)} for seed in (1, 2, 3)
    }
    below = {f"p{place}": [0.5] * 3 for place in range(40)}
    strata = Strata({"push": list(below)})
    main = contrast("seeds", members, ("sft", below), strata, alpha, "served", "reward")
    assert main.overall.detectable is None
    assert "can show no gain, however large" in judge(main, Judging(alpha=alpha)).sentences[0]


@pytest.mark.parametrize(
    ("alpha", "looks", "level", "chance"), [(0.0125, 2, "1.25", "2"), (0.0004, 2, "0.04", "0.08"), (0.05, 3, "5", "14")]
)
def test_levels_and_chances_are_not_rounded_away(alpha: float, looks: int, level: str, chance: str) -> None:
    main = simple([0.03 + place / 1000 for place in range(40)])
    text = " ".join(judge(main, Judging(alpha=alpha), around=StudyContext(looks=looks)).sentences)
    assert f"So many tests at {level} % find something by chance with probability {chance} %" in text


# Decomposition


def test_the_steps_are_as_uncertain_as_the_verdict() -> None:
    shared = [replace(prompt, template="abc"[place % 3]) for place, prompt in enumerate(prompts())]
    found = compare(answers(GAINS, arms=ARMS), shared, SETTINGS, Design("sft", SEEDS), frozenset())
    step, overall = found.decomposition.steps["overall"][-1], found.main.overall
    assert (step.low, step.high) == pytest.approx((overall.mean_low, overall.mean_high))


@pytest.fixture(scope="module")
def result() -> Comparison:
    made = answers(GAINS, arms=ARMS)
    return compared(
        [replace(a, completion='{"a": 1}') if a.arm != "base" or a.prompt_id.endswith(("0", "1")) else a for a in made]
    )


def test_an_extraction_is_strict_when_it_is_json_and_nothing_else() -> None:
    extraction, push = answers(GAINS)[0], next(a for a in answers(GAINS) if a.task == "push")
    assert is_strict(replace(extraction, completion=' {"a": 1}\n'))
    assert not is_strict(replace(extraction, completion='Aqui: {"a": 1}'))
    assert not is_strict(replace(extraction, completion="[1]"))
    assert is_strict(push)


@pytest.mark.parametrize(
    ("completion", "strict"),
    [
        ('```json\n{"a": 1}\n```', True),
        ('\ufeff{"a": 1}', True),
        ('{"a": 4,5}', True),
        ('{"a": NaN}', False),
        ('{"a": 1, "a": 2}', False),
        ('{"a": "\\ud83d"}', False),
        ("[" * 200_000, False),
    ],
)
def test_an_extraction_is_strict_by_the_table_of_rewards(completion: str, strict: bool) -> None:
    assert is_strict(replace(answers(GAINS)[0], completion=completion)) == strict


def test_the_steps_add_up_by_hand(result: Comparison) -> None:
    # Base answers to extraction-0 and -1 are strict (.30, .31); the parser also reads the other three (.32, .33, .34).
    parser, sft, grpo = result.decomposition.steps["extraction"]
    assert (parser.name, sft.name, grpo.name) == ("parser", "sft", "grpo")
    assert parser.before == pytest.approx((0.30 + 0.31) / 5)
    assert parser.gain == pytest.approx((0.32 + 0.33 + 0.34) / 5)
    assert sft.gain == pytest.approx(0.0)
    assert grpo.gain == pytest.approx(0.204)
    for steps in result.decomposition.steps.values():
        assert steps[0].before + sum(step.gain for step in steps) == pytest.approx(steps[-1].after)
    assert result.decomposition.steps["overall"][-1].gain == pytest.approx(result.main.overall.gain)
    assert result.decomposition.repaired["base"] == pytest.approx(3 / 5)
    assert result.decomposition.repaired["sft"] == 0.0


def test_the_gain_of_each_component_by_hand() -> None:
    made = [
        replace(a, components={"push.length": 0.2, "push.product": 0.3 if a.arm.startswith("seed") else 0.1})
        if a.task == "push"
        else a
        for a in answers(GAINS)
    ]
    assert compared(made).decomposition.components["push"] == pytest.approx({"push.length": 0.0, "push.product": 0.2})


def test_the_table_shows_steps_and_seeds(result: Comparison) -> None:
    table = render_table(result)
    assert "by parser" in table and "| seed-456 " in table
    assert max(map(len, table.splitlines())) <= 110


# Forgetting


def test_forgetting_by_hand() -> None:
    readings = [
        Reading(arm, passage, nats * 10, 10, 40)
        for arm, nats in (("sft", 2.0), ("seed-1", 2.1), ("seed-2", 2.3))
        for passage in (0, 1, 2)
    ]
    found = forgetting(readings, "sft", ["seed-1", "seed-2"])
    assert found.before == pytest.approx(exp(2.0))
    assert found.after == pytest.approx(exp(2.2))
    assert found.bits == pytest.approx(20 / log(2) / 40)
    assert found.change == pytest.approx(2 / log(2) / 40)
    assert found.established(0.05)  # a tenth worse on every passage
    assert not replace(found, change=0.04 * found.bits).established(0.05)


def test_forgetting_is_a_caution_in_the_verdict() -> None:
    readings = [
        Reading(arm, passage, 20.0 + passage + (8 if arm.startswith("seed") else 0), 10, 40)
        for arm in ARMS
        for passage in range(5)
    ]
    result = compare(
        answers(GAINS, arms=ARMS), prompts(), SETTINGS, Design("sft", SEEDS, looks=2), frozenset(), readings
    )
    assert [found.reference for found in result.language] == ["sft", "base"]
    assert result.verdict.cautions[-2:] == ("looks", "forgot")
    assert any("5 held-out passages" in sentence for sentence in result.verdict.sentences)
    assert parsed(Comparison, json.loads(json.dumps(asdict(result)))) == result


# The ledger and the plan


def test_the_same_look_counts_once_and_two_places_count_together(tmp_path: Path) -> None:
    here, far = Folder(str(tmp_path / "here")), Folder(str(tmp_path / "far"))
    assert record_look([here], "set-a", "one", {"what": "comparison"}) == 1
    assert record_look([here], "set-a", "one", {"what": "comparison"}) == 1
    assert record_look([here, far], "set-a", "two", {}) == 2
    assert record_look([Folder(str(tmp_path / "other machine")), far], "set-a", "three", {}) == 2
    assert record_look([here], "set-b", "one", {}) == 1
    assert [len(found) for found in read_looks(tmp_path / "here").values()] == [2, 1]


def made_at(folder: Path, moment: str) -> Artifact:
    return Artifact("x", folder, "", {}, 0.0, datetime.fromisoformat(moment))


def test_a_plan_counts_only_if_it_came_before_every_seed(tmp_path: Path) -> None:
    plan = Plan(made_at(tmp_path / "plan", "2026-11-21T10:00:00+00:00"))
    later = SeedResult(made_at(tmp_path / "later", "2026-11-21T10:00:01+00:00"))
    earlier = SeedResult(made_at(tmp_path / "earlier", "2026-11-21T09:59:59+00:00"))
    assert came_first(plan, [later])
    assert not came_first(plan, [later, earlier])
