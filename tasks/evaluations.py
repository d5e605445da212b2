"""What analysts read in MLflow: every arm's answers prompt by prompt, beside its numbers."""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict

from tasks.running.handles import AnswerSet, PromptSet, SeedResult, Seeds, Start
from tasks.running.labels import config_label, data_split, digits_of
from tasks.running.run import Run, stage
from tasks.running.tracked import training_run
from tucano.artifacts.identity import digest
from tucano.comparison.answers import prompt_means
from tucano.comparison.compare import task_means
from tucano.prompts import read_prompts
from tucano.specs.registry import gold
from tucano.tracking import Row


@stage("show answers")
def show_answers(run: Run, prompts: PromptSet, start: Start | None, seeds: Seeds | None, answers: AnswerSet) -> None:
    """One evaluation run per arm with its served answers; the pipeline run names the pair that is compared side by
    side, once there are seeds. An arm that has answered the same before, as starts have for every configuration, is
    shown once.
    """
    trained: dict[str, SeedResult | Start] = {seed.arm: seed for seed in seeds.trained} if seeds else {}
    trained |= {"sft": start} if start else {}
    trained_by = {arm: identity for arm, made in trained.items() if (identity := training_run(run, made)) is not None}
    rows = _rows(prompts, answers)
    means = _means(prompts, answers)
    digests = {
        arm: digest({"prompts": prompts.digest, "rows": list(map(asdict, of_arm))}) for arm, of_arm in rows.items()
    }
    known = {arm: run.tracker.evaluation(of_arm) for arm, of_arm in digests.items()}
    shown = {arm: identity for arm, identity in known.items() if identity is not None}
    missing = [arm for arm in rows if arm not in shown]
    with ExitStack() as filling:
        for arm in missing:
            shown[arm] = _start(run, arm, prompts, means[arm], digests[arm])
            filling.enter_context(run.filling(shown[arm]))
        if missing:
            run.tracker.show_answers(
                {shown[arm]: rows[arm] for arm in missing},
                {shown[arm]: trained_by[arm] for arm in missing if arm in trained_by},
            )
    if seeds is None:
        return
    pair = (shown[seeds.best.arm], shown["sft" if start else "base"])
    run.tracker.set_tags(run.tracking_run, {"compared": " ".join(pair), "training_runs": " ".join(trained_by.values())})


def _start(run: Run, arm: str, prompts: PromptSet, means: Mapping[str, float], rows: str) -> str:
    seed = int(arm.removeprefix("seed-")) if arm.startswith("seed-") else None
    label = config_label(run.settings)
    tags = {"arm": arm, "pipeline_run": run.tracking_run, "seed": seed, "config_label": label, "digest.rows": rows}
    name = f"{arm}, {digits_of(label)} seed {run.settings.seed}"
    identity = run.tracker.start_evaluation(name, tags)
    run.tracker.log_datasets(identity, [data_split(prompts, "test", "evaluation")])
    run.tracker.log_metrics(identity, means)
    return identity


def _means(prompts: PromptSet, answers: AnswerSet) -> dict[str, dict[str, float]]:
    """{arm: {decoding/task, or decoding/overall: mean reward}}"""
    asked = read_prompts(prompts.files.test)
    found: dict[str, dict[str, float]] = {}
    for (arm, decoding), values in prompt_means(answers.read(), "reward").items():
        rows = task_means(values, asked)
        found.setdefault(arm, {}).update({f"{decoding}/{name}": value for name, value in rows.items()})
    return found


def _rows(prompts: PromptSet, answers: AnswerSet) -> dict[str, list[Row]]:
    """{arm: the first served answer to every prompt}."""
    asked = {prompt.id: prompt for prompt in read_prompts(prompts.files.test)}
    rows: dict[str, list[Row]] = {}
    for answer in answers.read():
        if answer.decoding == "served" and answer.sample == 0:
            prompt = asked[answer.prompt_id]
            row = Row(
                task=answer.task,
                prompt=prompt.user,
                answer=answer.completion,
                reward=answer.reward,
                truth=answer.truth,
                components=answer.components,
                gold=gold(prompt),
            )
            rows.setdefault(answer.arm, []).append(row)
    return rows
