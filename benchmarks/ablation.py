"""What each algorithm adds on the laptop: GRPO variants with three seeds each, from one SFT start but where a variant
changes what SFT sees, as a Markdown table.

    python -m benchmarks.ablation --folder runs-ablation
    python -m benchmarks.ablation --folder runs-mini --profile laptop --set grpo.seeds=[1,2,3,4,5] \\
        --variants "dr_grpo alone" MC-GRPO

Each variant that begins with + adds one thing to the one above it; BAE and EDGE are added to the first, DPO goes on
from it, and the controls take the truth out of its rewards. Answers are sampled on the held-out prompts. Gain:
Hodges-Lehmann over the SFT start with its 95 % interval and the exact one-sided p, of the mean over seeds. Against the
first variant: the mean difference, seed by seed, with an interval for new prompts and new seeds. Portuguese: change in
bits per character of the held-out passages over the SFT start of the first variant, above 0: forgotten. What is done is
kept in the folder, and the same command goes on from it.
"""

import argparse
import shutil
import signal
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import numpy as np

from data.prepare import prepare
from tucano.artifacts.identity import digest
from tucano.comparison.answers import Measure, prompt_means, read_answers
from tucano.comparison.contrast import effect
from tucano.comparison.forgetting import forgetting, read_readings
from tucano.files.models import StartFiles
from tucano.files.results import AnswerFiles
from tucano.presentation.numbers import possible
from tucano.profiles import load_profile, project_root
from tucano.prompts import Prompt, read_prompts
from tucano.requirements import cores
from tucano.settings import PipelineSettings
from tucano.statistics.inference import two_way_t
from tucano.training.jobs import Arm, Job
from tucano.training.launch import run_job, stop_all
from tucano.training.orders import JobFolders, for_task, order

PLAIN = ["grpo.loss=dr_grpo", "grpo.advantages=group"]
GDPO = ["grpo.loss=dr_grpo", "grpo.advantages=gdpo"]
IWU = [*GDPO, "grpo.task_weights=iwu"]
REFILL = [*IWU, "grpo.drop_zero_variance=true", "grpo.refill_rounds=2"]
VARIANTS = {
    "dr_grpo alone": PLAIN,
    "+ GDPO": GDPO,
    "+ IWU": IWU,
    "+ refill": REFILL,
    "+ entropy bonus": [*REFILL, "grpo.entropy_target=0.3"],  # about what the first steps log
    "dr_grpo, a tenth general": [*PLAIN, "data.general.share=0.1"],
    "dr_grpo, three paraphrases": [*PLAIN, "data.paraphrases=3"],
    "dr_grpo + BAE": [*PLAIN, "grpo.block_advantages=true"],
    "dr_grpo + EDGE": [*PLAIN, "grpo.entropy_advantages=true"],
    "DPO after GRPO": [*PLAIN, "dpo.enabled=true"],
    "adapters per task, steps divided": [*PLAIN, "grpo.adapters=per_task", "grpo.max_steps=15", "grpo.eval_steps=5"],
    "dr_grpo, by the batch's spread": ["grpo.loss=dr_grpo", "grpo.advantages=batch"],
    "MC-GRPO": ["grpo.loss=dr_grpo", "grpo.advantages=median"],
    "dr_grpo, clip-higher, 2 updates": [*PLAIN, "grpo.iterations=2", "grpo.epsilon_high=0.28"],
    "dr_grpo, shorter at first": [*PLAIN, "grpo.length_stages=[[0, 64], [8, 112]]"],
    "dr_grpo, conditional rewards": [
        *PLAIN,
        "grpo.conditions=[{component: push.length, needs: push.product, at_least: 0.5}]",
    ],
    "control: random rewards": [*PLAIN, "grpo.rewards=controls.random"],
    "control: format rewards": [*PLAIN, "grpo.rewards=controls.format"],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="keeps models and answers")
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=list(VARIANTS), metavar="VARIANT")
    parser.add_argument("--profile", default="nano", help="whose base, data and steps")
    parser.add_argument(
        "--set", action="append", default=[], help="one setting of all variants, like grpo.max_steps=20"
    )
    arguments = parser.parse_args()
    signal.signal(signal.SIGINT, lambda *_: stop_all())
    of = partial(load_profile, project_root(Path.cwd()), arguments.profile)
    settings, folder = of(arguments.set), arguments.folder.resolve()
    prompts, start = begun(folder, settings)
    chosen = {variant: of([*arguments.set, *VARIANTS[variant]]) for variant in arguments.variants}
    begins = {variant: begun(folder, chosen[variant]) for variant in arguments.variants}

    def train(variant: str, seed: int) -> Arm:
        run, (seen, begin) = chosen[variant], begins[variant]
        ordered = partial(order, settings=run, seed=seed, threads=run.worker.threads, folders=unplaced(seen))
        job = ordered("grpo", start=begin)
        if run.grpo.adapters == "per_task":
            alone = {task: done(folder, for_task(job, task)) / "adapter" for task in run.tasks}
            return Arm(f"{variant}/{seed}", begin[0], str(side_by_side(folder, alone)))
        adapter = done(folder, job) / "adapter"
        if run.dpo.enabled:
            adapter = done(folder, ordered("dpo", start=(begin[0], str(adapter)))) / "adapter"
        return Arm(f"{variant}/{seed}", begin[0], str(adapter))

    with ThreadPoolExecutor(max(1, cores() // settings.worker.threads)) as pool:
        trained = [pool.submit(train, variant, seed) for variant in arguments.variants for seed in settings.grpo.seeds]
        arms = [Arm("sft", *start), *(future.result() for future in trained)]
    answering = order("answer", settings, settings.seed, cores(), unplaced(prompts), arms=arms)
    answers = AnswerFiles(done(folder, answering))
    print(table(answers, read_prompts(prompts / "test.jsonl"), arguments.variants, settings))


def begun(folder: Path, settings: PipelineSettings) -> tuple[Path, tuple[str, str | None]]:
    """(prompts, base and adapter of the SFT start) of these settings, made once. Test prompts are the same whatever is
    mixed in or reworded.
    """
    prompts = prompt_set(folder, settings)
    made = StartFiles(done(folder, order("sft", settings, settings.seed, cores(), unplaced(prompts))))
    return prompts, (str(made.model), None) if made.built_here else (settings.model.place, str(made.adapter))


def unplaced(prompts: Path) -> JobFolders:
    """`done` chooses the other two."""
    return JobFolders(prompts, work=Path(), output=Path())


def side_by_side(folder: Path, adapters: Mapping[str, Path]) -> Path:
    """The adapters of one seed as a folder with one for each task."""
    place = folder / f"joined-{digest([str(path) for path in adapters.values()])[:12]}"
    for task, path in adapters.items():
        shutil.copytree(path, place / task, dirs_exist_ok=True)
    return place


def prompt_set(folder: Path, settings: PipelineSettings) -> Path:
    """The prompts of these settings, made once."""
    place = folder / f"prompts-{digest([settings.data.model_dump(), settings.seed])[:12]}"
    if not place.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(dir=folder))
        prepare(settings.data, settings.seed, settings.tasks, draft)
        draft.rename(place)
    return place


def done(folder: Path, job: Job) -> Path:
    """The output folder of a job, which is run unless it has been; an interrupted one goes on from its checkpoint."""
    place = folder / f"{job.kind}-{digest(asdict(job))[:12]}"
    if not (place / "done").is_file():
        (place / "output").mkdir(parents=True, exist_ok=True)
        run_job(replace(job, work=str(place / "work"), output=str(place / "output")), None, lambda _: None)
        (place / "done").touch()
    return place / "output"


def table(answers: AnswerFiles, prompts: Sequence[Prompt], variants: Sequence[str], settings: PipelineSettings) -> str:
    """The Markdown table, one row per variant."""
    tasks = [task for task in settings.tasks if any(prompt.task == task for prompt in prompts)]
    read, readings = read_answers(answers.answers), read_readings(answers.language)
    rows = [
        (
            f"| variant | reward | gain over SFT [95 %] | p | against {variants[0]} [95 %] | truth gain [95 %] |"
            " Portuguese [95 %] |"
            f" {' | '.join(tasks)} |"
        ),
        "|---" * (7 + len(tasks)) + "|",
    ]
    means = {measure: prompt_means(read, measure) for measure in ("reward", "truth")}

    def rewards(arm: str, measure: Measure) -> dict[str, float]:
        return means[measure][(arm, "sampled")]

    def values(variant: str, measure: Measure) -> np.ndarray:
        """[prompts, seeds] of the prompts that have this measure."""
        arms = [rewards(f"{variant}/{seed}", measure) for seed in settings.grpo.seeds]
        return np.array([[arm[prompt] for arm in arms] for prompt in rewards("sft", measure)])

    for variant in variants:
        tuned, start = values(variant, "reward"), np.array(list(rewards("sft", "reward").values()))
        gain = effect(tuned.mean(axis=1).tolist(), start.tolist(), settings.comparison.alpha)
        true = effect(
            values(variant, "truth").mean(axis=1).tolist(),
            list(rewards("sft", "truth").values()),
            settings.comparison.alpha,
        )
        versus = two_way_t(tuned - values(variants[0], "reward")) if variant != variants[0] else None
        by_task = {prompt.id: prompt.task for prompt in prompts}
        task_of = np.array([by_task[prompt] for prompt in rewards("sft", "reward")])
        cells = [variant, f"{tuned.mean():.3f}", interval(gain.estimate, gain.low, gain.high), f"{gain.p:.2g}"]
        cells += [
            interval(versus.mean, versus.low, versus.high) if versus else "-",
            interval(true.estimate, true.low, true.high),
        ]
        lost = forgetting(readings, "sft", [f"{variant}/{seed}" for seed in settings.grpo.seeds])
        cells.append(interval(lost.change, lost.low, lost.high))
        cells += [f"{(tuned.mean(axis=1) - start)[task_of == task].mean():+.3f}" for task in tasks]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def interval(estimate: float, low: float, high: float) -> str:
    ends = possible(low, high)
    return f"{estimate:+.3f} " + ("[?]" if ends is None else f"[{ends[0]:+.3f}, {ends[1]:+.3f}]")


if __name__ == "__main__":
    main()
