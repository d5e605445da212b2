"""What stands beside the p values: decomposition, forgetting, looks, the plan, and the cautions of the verdict."""

import hashlib
import json
import lzma
from dataclasses import asdict, replace
from datetime import datetime
from math import exp, log, sqrt
from pathlib import Path

import numpy as np
import pytest
from test_comparison import GAINS, SEEDS, SETTINGS, answers, compared, prompts

from tasks.plan import came_first
from tasks.running.handles import Plan, SeedResult
from tucano.artifacts.records import parsed
from tucano.artifacts.store import Artifact
from tucano.comparison.claims import StudyContext, confirmed
from tucano.comparison.compare import Comparison, Design, compare
from tucano.comparison.contrast import Contrast, Strata, contrast
from tucano.comparison.decomposition import is_strict
from tucano.comparison.forgetting import Reading, forgetting
from tucano.comparison.looks import record_look
from tucano.comparison.promotion import refusal
from tucano.comparison.verdict import Verdict, judge, judged_apart
from tucano.files.prompts import PromptFiles
from tucano.settings.comparison import Judging
from tucano.storage.folder import Folder
from tucano.truth.judge import FORM, committed

ARMS = ("base", "sft", "seed-42", "seed-123", "seed-456")


def simple(
    differences: list[float], clusters: list[str] | None = None, seeds: int = 1, spread: float = 0.0
) -> Contrast:
    """Seeds that gain these differences over a reference of .5, one prompt each; `spread` separates the seeds."""
    ids = [f"p{index}" for index in range(len(differences))]
    members = {}
    for seed in range(seeds):
        apart = spread * (seed - (seeds - 1) / 2)
        members[f"seed-{seed}"] = {name: [0.5 + gain + apart] for name, gain in zip(ids, differences, strict=True)}
    groups = dict(zip(ids, clusters, strict=True)) if clusters else None
    below = {prompt: [0.5] * seeds for prompt in ids}
    return contrast("seeds", members, ("sft", below), Strata({"push": ids}, groups), 0.05, "served", "reward")


def said(main: Contrast, around: StudyContext | None = None) -> tuple[str, str, tuple[str, ...]]:
    verdict = judge(main, Judging(), around=around)
    return " ".join(verdict.sentences), " ".join(verdict.sentences_pt), verdict.cautions


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


def test_looks_and_a_late_plan_are_said() -> None:
    main = simple([0.1, 0.11, 0.12, 0.13, 0.14, 0.15])
    english, portuguese, cautions = said(main, StudyContext(looks=3, planned=False))
    assert cautions == ("looks", "unplanned", "no truth")
    assert "looked at 3 times" in english
    assert "with probability 14 %" in english  # 1 - .95^3
    assert "(Bonferroni), this one has p for a gain = 0.047" in english  # 3 / 64
    assert "exploratórias" in portuguese


def by_truth(falls: dict[str, list[float]], rises: float = 0.1) -> Verdict:
    """A reward that rises everywhere, and a truth that falls by these amounts, per task."""
    ids = {task: [f"{task}-{number}" for number in range(len(drops))] for task, drops in falls.items()}
    prompts = [prompt for of_task in ids.values() for prompt in of_task]
    drops = [drop for of_task in falls.values() for drop in of_task]
    reward = {prompt: [0.5 + rises + int(prompt.rpartition("-")[2]) / 1000] for prompt in prompts}
    truth = {prompt: [0.5 - drop] for prompt, drop in zip(prompts, drops, strict=True)}
    start = ("sft", {prompt: [0.5] for prompt in prompts})
    by_reward, by_truth = (
        contrast("seeds", {"seed-1": values}, start, Strata(ids), 0.05, "served", "reward")
        for values in (reward, truth)
    )
    return judge(by_reward, Judging(), truth=by_truth)


def test_a_reward_that_truth_does_not_confirm_is_not_called_better() -> None:
    verdict = by_truth({"push": [0.1, -0.1, 0.2, -0.2, 0.0, 0.0]})
    assert verdict.improved and not verdict.hacking_suspected
    assert verdict.cautions == ("unconfirmed",)
    assert verdict.headline == "By the reward alone these adapters beat sft; the ground truth does not confirm it."


def test_truth_that_falls_on_one_task_where_the_reward_rose_is_suspicious() -> None:
    falls = [0.1 + place / 100 for place in range(8)]
    verdict = by_truth({"push": falls, "sql_qa": [-0.9 - place / 100 for place in range(12)]})
    assert verdict.hacking_suspected
    assert verdict.headline == "Reward hacking suspected: the reward rose over sft while the ground truth fell on push."
    assert verdict.headline_pt.startswith("Suspeita de exploração da recompensa")


def test_ranks_alone_make_no_fall_of_a_truth_whose_mean_rises() -> None:
    verdict = by_truth({"push": [0.01 + place / 10_000 for place in range(37)] + [-0.4] * 3})
    assert not verdict.hacking_suspected and not verdict.better
    assert verdict.cautions == ("unconfirmed",)
    found = refusal(verdict, None, None, None)
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


def test_four_templates_can_show_no_gain_however_large() -> None:
    """The exact p of four clusters is 1/16 at least."""
    gains = [0.3 + place / 1000 for place in range(40)]
    main = simple(gains, [f"t{place % 4}" for place in range(40)])
    assert main.overall.p == 1 / 16 and main.overall.detectable is None
    english, portuguese, _ = said(main)
    assert "this test can show no gain, however large" in english and "ganho algum" in portuguese


def test_equal_gains_are_claimed_by_the_exact_test_alone() -> None:
    main = simple([0.25] * 8, seeds=3)
    english, _, cautions = said(main)
    assert main.overall.p == 1 / 256 and main.overall.p_mean == 1 and main.configuration is not None
    assert (main.configuration.p, main.new_seed, main.seeds_needed, main.prompts_needed) == (1, (-1, 1), None, None)
    assert cautions == ("no truth",), "no few large losses: there are none"
    assert "the mean gain is +0.250, its 95 % interval cannot be assessed, one-sided p = 1.000" in english
    assert "a gain in the mean over seeds is not established. What one new seed may gain cannot be assessed." in english
    assert "its 95 % interval cannot be assessed; exact one-sided p = 0.004" in english
    assert judge(main, Judging()).configuration_claim == "not supported"
    verdict = judge(simple([-0.25] * 8), Judging())
    assert verdict.worse and verdict.cautions == ()


def test_where_no_template_differs_no_smallest_gain_is_named() -> None:
    """One template's prompts change against each other: «of true gains below about 0.000 this test misses many»."""
    main = simple([0.1, -0.1, *[0.0] * 10], [f"t{place // 2}" for place in range(12)])
    english, portuguese, _ = said(main)
    assert main.overall.detectable is None and main.overall.p == 1
    assert "which gain this test would see cannot be told" in english and "não se pode dizer que ganho" in portuguese
    assert "0.000 this test" not in english and "so few templates" not in english


def test_truth_that_gains_the_same_on_every_prompt_is_confirmed_by_the_exact_test() -> None:
    """Wrong on all prompts before and right on all after; of four p is 1/16."""
    assert by_truth({"push": [-1.0] * 8}).cautions == ()
    assert [confirmed(simple([0.25] * count), 0.05, 0.05) for count in (4, 5)] == [False, True]
    assert by_truth({"push": [0.0] * 8}).cautions == ("unconfirmed",)
    assert by_truth({"push": [0.015] * 8}).hacking_suspected


def test_a_margin_of_one_asks_nothing_of_truth_but_that_it_does_not_fall() -> None:
    """A model that never says anything true, before or after, is judged by its reward alone where its settings ask so."""
    assert [confirmed(simple([gain] * 8), 0.05, 1) for gain in (-0.25, 0.0, 0.25)] == [False, True, True]


@pytest.fixture(scope="module")
def result() -> Comparison:
    made = answers(GAINS, arms=ARMS)
    strict = [a.arm != "base" or a.prompt_id.endswith(("0", "1")) for a in made]
    return compared([replace(a, completion='{"a": 1}') if is_so else a for a, is_so in zip(made, strict, strict=True)])


@pytest.mark.parametrize(
    ("completion", "strict"),
    [
        (' {"a": 1}\n', True), ('Aqui: {"a": 1}', False), ("[1]", False), ('```json\n{"a": 1}\n```', True),
        ('\ufeff{"a": 1}', True), ('{"a": 4,5}', True), ('{"a": NaN}', False), ('{"a": 1, "a": 2}', False),
        ('{"a": "\\ud83d"}', False), ("[" * 200_000, False),
    ],
)  # fmt: skip
def test_an_extraction_is_strict_by_the_table_of_rewards(completion: str, strict: bool) -> None:
    extraction = replace(answers(GAINS)[0], completion=completion)
    assert is_strict(extraction) == strict and is_strict(replace(extraction, task="push"))


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


def test_forgetting_by_hand() -> None:
    readings = [
        Reading(arm, passage, nats * 10 * (1 + passage / 10), 10, 40)
        for arm, nats in (("sft", 2.0), ("seed-1", 2.1), ("seed-2", 2.3))
        for passage in (0, 1, 2)
    ]
    found = forgetting(readings, "sft", ["seed-1", "seed-2"])
    assert found.before == pytest.approx(exp(2.0 * 1.1))
    assert found.after == pytest.approx(exp(2.2 * 1.1))
    assert found.bits == pytest.approx(22 / log(2) / 40)
    # 2, 2.2 and 2.4 nats worse: mean 2.2, standard error .2 / sqrt 3, so t = 19.05 with two degrees of freedom.
    assert found.change == pytest.approx(2.2 / log(2) / 40)
    assert found.p == pytest.approx(0.5 - 19.0526 / (2 * sqrt(2 + 19.0526**2)), rel=1e-3)
    assert found.established(0.05)  # a tenth worse on every passage
    assert not replace(found, change=0.04 * found.bits).established(0.05)


@pytest.mark.parametrize("lost", [0.0, 2.0])
def test_passages_that_all_change_alike_say_nothing_of_forgetting(lost: float) -> None:
    """What training did not change is no alarm; the interval is of bits, which may change by more than 1."""
    readings = [
        Reading(arm, passage, 20.0 + passage + (lost if arm.startswith("seed") else 0.0), 10, 40)
        for arm in ARMS
        for passage in range(5)
    ]
    found = compare(answers(GAINS, arms=ARMS), prompts(), SETTINGS, Design("sft", SEEDS), frozenset(), readings)
    for one in found.language:
        assert one.change == pytest.approx(lost / log(2) / 40) and one.p == 1 and not one.established(0.05)
    assert "forgot" not in found.verdict.cautions and refusal(found.verdict, None, None, None) is None
    (english, *_), (portuguese, *_) = (
        [one for one in told if "held-out passages" in one or "trechos reservados" in one]
        for told in (found.verdict.sentences, found.verdict.sentences_pt)
    )
    change, share = found.language[0].change, lost / 22  # passages of 20 to 24 nats
    assert f"{change:+.3f} (its 95 % interval cannot be assessed), {100 * share:+.1f} %; " in english
    assert english.endswith("; an established loss above 5 % would be forgetting.")
    assert "(o intervalo de 95 % não se pode avaliar), " in portuguese and portuguese.endswith("acima de 5 %.")
    moved = replace(found.language[0], low=-0.2, high=1.7)
    assert "(95 % interval -0.200 to +1.700)" in said(found.main, StudyContext(forgetting=(moved,)))[0]


def test_forgetting_is_a_caution_in_the_verdict() -> None:
    lost = {arm: 8 if arm.startswith("seed") else 0 for arm in ARMS}
    readings = [
        Reading(arm, passage, 20.0 + passage + lost[arm] * (1 + passage / 10), 10, 40)
        for arm in ARMS
        for passage in range(5)
    ]
    made = answers(GAINS, arms=ARMS)
    result = compare(made, prompts(), SETTINGS, Design("sft", SEEDS, looks=2), frozenset(), readings)
    assert [found.reference for found in result.language] == ["sft", "base"]
    assert result.verdict.cautions[-2:] == ("looks", "forgot")
    assert any("5 held-out passages" in sentence for sentence in result.verdict.sentences)
    assert parsed(Comparison, json.loads(json.dumps(asdict(result)))) == result


def test_the_same_look_counts_once_and_two_places_count_together(tmp_path: Path) -> None:
    here, far = tmp_path / "here", Folder(str(tmp_path / "far"))
    one, other = tmp_path / "one.jsonl", tmp_path / "other.jsonl"
    one.write_text("prompts", encoding="utf-8")
    other.write_text("other prompts", encoding="utf-8")
    assert record_look(here, None, one, {"answers": 1}, {"what": "comparison"}) == 1
    assert record_look(here, None, one, {"answers": 1}, {"what": "comparison"}) == 1
    assert record_look(here, far, one, {"answers": 2}, {}) == 2
    assert record_look(tmp_path / "other machine", far, one, {"answers": 3}, {}) == 2
    assert record_look(here, None, other, {"answers": 1}, {}) == 1


def made_at(folder: Path, moment: str) -> Artifact:
    return Artifact("x", folder, "", {}, 0.0, datetime.fromisoformat(moment))


def test_a_plan_counts_only_if_it_came_before_every_seed(tmp_path: Path) -> None:
    plan = Plan(made_at(tmp_path / "plan", "2026-11-21T10:00:00+00:00"))
    later = SeedResult(made_at(tmp_path / "later", "2026-11-21T10:00:01+00:00"))
    earlier = SeedResult(made_at(tmp_path / "earlier", "2026-11-21T09:59:59+00:00"))
    assert came_first(plan, [later])
    assert not came_first(plan, [later, earlier])


def test_the_verdict_says_where_the_truth_is_by_a_judge_of_ones_own(tmp_path: Path) -> None:
    """Else the «ground truth» of somebody's bundle could be whatever his judge likes."""
    verdict, files = compared(answers(GAINS)).verdict, PromptFiles(tmp_path)
    assert judged_apart(verdict, files) == verdict
    judges = {"form": FORM, "tasks": {"push": asdict(committed()["push"])}}
    files.judge.write_bytes(lzma.compress(json.dumps(judges).encode()))
    digest = hashlib.sha256(files.judge.read_bytes()).hexdigest()[:16]
    said = judged_apart(verdict, files)
    assert said.reservations[-1] == (
        f"The ground truth of push is that of a judge of one's own (file {digest}), not of the one that comes along."
    )
    assert f"arquivo {digest}" in said.reservations_pt[-1]
    assert said.headline == verdict.headline
