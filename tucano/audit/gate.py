"""The gate between the rewards and the first training step: are they what people would say, and can they be fooled?

Every task of the run is asked the same questions: do rewards order completions as people's ratings do (pooled, and
within a prompt, which is all that GRPO uses); do good answers earn more than others; do worthless answers score low; do
rewordings without meaning leave the score alone; does repairing an answer never cost and corrupting it never pay; does
what the rating guide calls worse cost enough; are scores bounded, finite, repeatable, on the scale they should be, and
fine enough to learn from. No check knows how a reward is computed. Beside the checks: what each component adds, signal
and headroom in sampled answers, and how far raters agree.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rewards import load_reward_set
from rewards.names import REPORTED
from rewards.parsing import sql_results
from rewards.sets import SetName
from tucano.audit.agreement import (
    agreements,
    component_effects,
    consensus,
    people_agreement,
    rater_agreements,
    sampled_spread,
)
from tucano.audit.attacks.findings import searched
from tucano.audit.bench import Bench, Group, Known, RewardScorer, grouped
from tucano.audit.checks import questions
from tucano.audit.parallel.ahead import scored_ahead
from tucano.audit.parallel.forks import ALONE, Hands, forked
from tucano.audit.probes import worthless
from tucano.audit.relations.table import Material, read_table, stores
from tucano.audit.report import (
    SCHEMA_VERSION,
    AuditCheck,
    AuditReport,
    Disagreement,
    JudgedAnswer,
    Level,
    PeopleAgreement,
)
from tucano.audit.youden import teaching_check, youden
from tucano.errors import UserError
from tucano.prompts import TASKS, Prompt, Task
from tucano.rating.ratings import CASES, RATINGS, RatedAnswer, read_rating_set, read_ratings
from tucano.rating.store import rating_store
from tucano.security.printable import printable
from tucano.settings.audit import Gate
from tucano.statistics.inference import rank_agreement

SHOWN_PER_TASK = 2
PINNED = Path(__file__).with_name("pinned_floors.json")
ALWAYS_BLOCK = {"ratings", "never raises", "bounds", "repeatable", "components"}
"""Whatever the reward set is for, these must hold."""
ALWAYS_WARN = ("sample size", "component: ", "degradation: words strung together")
"""A component that harms is a finding, not a danger. No reward set of today sees the order of words; that is said, and
blocks nothing.
"""

WORDINGS = ("degradation: ", "harmless: ")
MOST_WORDINGS = 2
"""Checks of one turn of words each, and how many of a task's may fail."""

Findings = dict[str, Sequence[Any]]
"""Of one task: what the report has of all of them under the same names."""
FloorScores = dict[str, list[float]]
"""{task and kind of worthless answer: [highest, mean score]}"""


def audit(
    reward_set: SetName, ratings: Path, settings: Gate, tasks: Sequence[Task], seed: int, hands: Hands = ALONE
) -> AuditReport:
    """Audit a reward set by name against the rating set in a folder. Raises UserError where the folder holds no rating
    set.
    """
    rated = read_rating_set(ratings)
    with stores(ratings) as databases:
        _require_gold(rated.answers, databases, ratings / RATINGS)
        _require_gold(rated.cases, databases, ratings / CASES)
        rewards = load_reward_set(reward_set, databases)
        return audit_rewards(rewards, reward_set, Material(rated, read_table()), settings, tasks, seed, hands)


def _require_gold(rated: Sequence[RatedAnswer], databases: Path, file: Path) -> None:
    """UserError for a prompt whose gold query does not run on the folder's store."""
    prompts = (answer.prompt for answer in rated if answer.prompt.reference.get("sql"))
    asked = {(prompt.id, prompt.reference["sql"]): prompt for prompt in prompts}
    for prompt in asked.values():
        try:
            for store in sql_results.stores(databases / prompt.reference["database"]):
                sql_results.gold_result(store, prompt.reference["sql"])
        except ValueError as error:
            raise UserError(f"{file}: prompt {prompt.id}: {printable(str(error))[:300]}") from None


def audit_rewards(
    rewards: RewardScorer,
    name: str,
    material: Material,
    settings: Gate,
    tasks: Sequence[Task],
    seed: int,
    hands: Hands = ALONE,
) -> AuditReport:
    """As `audit`, of any rewards; `name` says which checks block. The same input and seed give the same report, task by
    task, by any hands.
    """
    rated = material.ratings.answers
    own = {task: material.of(task) for task in tasks}
    outcomes: Known = {}
    if hands.cores > 1:
        hands.say(f"reward audit: {hands.cores} processes score what will be asked of {', '.join(tasks)}")
        outcomes = scored_ahead(rewards, own, settings, seed, hands)

    def audited(task: Task) -> Findings:
        mine = own[task].ratings
        told = f"{len(mine.answers)} rated answers, {len(mine.cases)} single ones"
        hands.say(f"reward audit of {task}, task {list(tasks).index(task) + 1} of {len(tasks)}: {told}")
        return _audit_task(Bench(rewards, outcomes), task, own[task], settings, seed)

    parts = forked(audited, tasks, hands.cores)
    whole: dict[str, Any] = {name: tuple(one for part in parts for one in part[name]) for name in parts[0]}
    checks = [*whole["checks"], *([pinned_check(rewards, rated, PINNED)] if name == "v4.2" else [])]
    whole["checks"] = tuple(tolerated([with_level(name, check) for check in checks]))
    known = [answer for answer in rated if answer.prompt.task in tasks]
    report = AuditReport(
        schema_version=SCHEMA_VERSION,
        reward_set=name,
        seed=seed,
        resamples=settings.resamples,
        raters={rater: kind for answer in known for rater, kind in answer.raters.items()},
        provisional=not all(is_carried(next(iter(part["people"]), None), settings) for part in parts),
        **whole,
    )
    return (
        report
        if report.passed
        else replace(report, overridden_by=settings.override_by, override_reason=settings.override_reason)
    )


def _audit_task(bench: Bench, task: Task, material: Material, settings: Gate, seed: int) -> Findings:
    rated = material.ratings.answers
    groups = grouped(bench, rated)
    place = [seed, TASKS.index(task)]
    rows = agreements(task, groups, settings.resamples, place)
    effects = component_effects(task, groups, settings.resamples, place)
    sampled = [row for group in groups if (row := group.only("sampled").rewards)]
    fooling = searched(task, bench, groups, settings.search_calls, seed)
    taught = youden(task, groups, settings.resamples, place)
    agreed, people = consensus(task, rated), people_agreement(task, groups, settings.resamples, place)
    return {
        "checks": [
            *questions(bench, groups, material, rows[0], effects, fooling, settings),
            teaching_check(task, taught),
        ],
        "agreement": rows,
        "components": effects,
        "sampled": [sampled_spread(task, sampled)] if sampled else [],
        "raters_agree": rater_agreements(task, rated),
        "disagreements": _disagreements(groups),
        "fooling": fooling,
        "consensus": [agreed] if agreed else [],
        "people": [people] if people else [],
        "youden": taught,
    }


def with_level(reward_set: str, check: AuditCheck) -> AuditCheck:
    """Block, except: controls may be senseless but not unsound; the hacks that v4.2 is known for warn (they are
    pinned).
    """
    known_hack = reward_set == "v4.2" and check.name.startswith(("floor", "lazy", "rated"))
    control = reward_set.startswith("controls.") and check.name not in ALWAYS_BLOCK
    level: Level = "warn" if check.name.startswith(ALWAYS_WARN) or known_hack or control else check.level
    return replace(check, level=level)


def tolerated(checks: Sequence[AuditCheck]) -> list[AuditCheck]:
    """The checks, where few of a task's single wordings fail with these as warnings: each tries one turn in one kind of
    answers, and rewards that must pass every one are written wording by wording.
    """
    found = list(checks)
    for task in {check.task for check in checks}:
        ours = [check for check in checks if check.task == task and check.name.startswith(WORDINGS)]
        failed = [check for check in ours if not check.passed]
        if len(failed) <= MOST_WORDINGS:
            found = [replace(check, level="warn") if check in failed else check for check in found]
    return found


def is_carried(people: PeopleAgreement | None, settings: Gate) -> bool:
    """Whether people's ratings carry the result of a task: they rated so many prompts, and the rewards agree with
    people, as far as that is known from these and from models' ratings less their error.
    """
    if people is None or people.prompts < settings.human_prompts:
        return False
    return people.pooled.low >= settings.pooled_floor and people.within.low >= settings.within_floor


def _disagreements(groups: Sequence[Group]) -> list[Disagreement]:
    """The prompts with the lowest agreement, worst first, where it is not perfect."""
    judged = [
        (value, group)
        for group in groups
        if (value := rank_agreement(group.rewards, group.ratings)) is not None and value < 1
    ]
    judged.sort(key=lambda pair: (pair[0], pair[1].prompt.id))
    return [
        Disagreement(
            task=group.prompt.task,
            prompt_id=group.prompt.id,
            user=group.prompt.user,
            agreement=value,
            answers=tuple(
                JudgedAnswer(answer.completion, answer.rating, reward)
                for answer, reward in zip(group.answers, group.rewards, strict=True)
            ),
        )
        for value, group in judged[:SHOWN_PER_TASK]
    ]


def floor_scores(rewards: RewardScorer, prompts: Sequence[Prompt]) -> FloorScores:
    """What worthless answers to these prompts earn, rounded to 9 decimals."""
    bench = Bench(rewards)
    scores: dict[str, list[float]] = {}
    for prompt in prompts:
        for kind, answers in worthless(prompt).items():
            scores.setdefault(f"{prompt.task}, {kind}", []).extend(bench.total(prompt, text) for text in answers)
    return {name: [round(max(values), 9), round(sum(values) / len(values), 9)] for name, values in scores.items()}


def write_pins(reward_set: SetName, ratings: Path, path: Path = PINNED) -> None:
    """Pin what worthless answers earn now. A later difference blocks, so this is run only where the change is meant."""
    prompts = _prompts(read_ratings(ratings))
    with rating_store(ratings) as databases:
        scores = floor_scores(load_reward_set(reward_set, databases), prompts)
    path.write_text(
        json.dumps({"prompts": _digest(prompts), "scores": scores}, indent=1, ensure_ascii=False) + "\n",
        encoding="utf-8",
    )


def pinned_check(rewards: RewardScorer, rated: Sequence[RatedAnswer], pinned: Path) -> AuditCheck:
    """The scores of worthless answers are exactly those that were pinned for these prompts."""
    prompts = _prompts(rated)
    pins = json.loads(pinned.read_text(encoding="utf-8")) if pinned.is_file() else None
    if pins is None or pins["prompts"] != _digest(prompts):
        said = "all tasks: no scores of worthless answers are pinned for these prompts"
        return AuditCheck("all", "pinned floors", "warn", False, None, None, said)
    before: FloorScores = pins["scores"]
    now = floor_scores(rewards, prompts)
    changed = [
        f"{name} {before.get(name)} -> {now.get(name)}"
        for name in sorted(before | now)
        if before.get(name) != now.get(name)
    ]
    message = (
        f"all tasks: {len(changed)} pinned scores of worthless answers changed ([highest, mean]):"
        f" {'; '.join(changed[:3])}"
    )
    return AuditCheck.at_most("all", "pinned floors", len(changed), 0, message)


def _prompts(rated: Sequence[RatedAnswer]) -> list[Prompt]:
    """Of the tasks that v4.2 has; ratings of later tasks change no pin."""
    by_id = {answer.prompt.id: answer.prompt for answer in rated if answer.prompt.task in REPORTED}
    return [by_id[key] for key in sorted(by_id)]


def _digest(prompts: Sequence[Prompt]) -> str:
    texts = json.dumps([(prompt.id, prompt.task, prompt.user) for prompt in prompts], ensure_ascii=False)
    return hashlib.sha256(texts.encode("utf-8")).hexdigest()[:16]
