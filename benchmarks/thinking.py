"""Does think efficiency pay? A nano model that learned short thoughts, trained with GRPO with and without it, as a
Markdown table.

    python -m benchmarks.thinking --folder runs-thinking

All arms begin with one SFT start, whose demonstrations think before they answer. Tokens of thoughts, reward and truth
are means over sampled answers to the held-out prompts; behind each difference from the start stands its 95 % interval
over prompts (bootstrap). What is done is kept in the folder, and the same command goes on from it.
"""

import argparse
import signal
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.ablation import done, prompt_set
from tucano.comparison.answers import Answer, read_answers
from tucano.profiles import load_profile, project_root
from tucano.requirements import cores
from tucano.training.jobs import Arm
from tucano.training.launch import stop_all
from tucano.training.orders import JobFolders, order

THINKING = [
    "data.mix={sentiment: 0.5, push: 0.5}",
    "data.thinking=[sentiment, push]",
    "grpo.advantages=group",
    "grpo.max_think_tokens=64",
]
VARIANTS = {"GRPO": THINKING, "GRPO, think efficiency": [*THINKING, "grpo.think_weight=0.5"]}
MEASURES: dict[str, Callable[[Answer], float | None]] = {
    "think tokens": lambda answer: float(answer.think_tokens),
    "reward": lambda answer: answer.reward,
    "truth": lambda answer: answer.truth,
}
DRAWS = 10_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="keeps models and answers")
    parser.add_argument("--set", action="append", default=[], help="one setting of all arms, like grpo.max_steps=20")
    arguments = parser.parse_args()
    signal.signal(signal.SIGINT, lambda *_: stop_all())
    root, folder = project_root(Path.cwd()), arguments.folder.resolve()
    settings = load_profile(root, "nano", [*THINKING, *arguments.set])
    prompts = prompt_set(folder, settings)
    folders = JobFolders(prompts, work=Path(), output=Path())  # `done` chooses the other two
    start = str(done(folder, order("sft", settings, settings.seed, cores(), folders)) / "model")
    arms = [Arm("sft", start)]
    for variant, chosen in VARIANTS.items():
        of_variant = load_profile(root, "nano", [*chosen, *arguments.set])
        for seed in settings.grpo.seeds:
            job = order("grpo", of_variant, seed, cores(), folders, start=(start, None))
            arms.append(Arm(f"{variant}/{seed}", start, str(done(folder, job) / "adapter")))
    answering = order("answer", settings, settings.seed, cores(), folders, arms=arms)
    answers = [row for row in read_answers(done(folder, answering) / "answers.jsonl") if row.decoding == "sampled"]
    print(table(answers, list(VARIANTS)))


def table(answers: Sequence[Answer], variants: Sequence[str]) -> str:
    """One row per variant, its seeds together, and one for the start."""
    rows = [f"| arm | {' | '.join(MEASURES)} |", "|---" * (1 + len(MEASURES)) + "|"]
    start = {name: means(answers, "sft", measure) for name, measure in MEASURES.items()}
    rows.append(f"| SFT | {' | '.join(f'{np.mean(list(values.values())):.3f}' for values in start.values())} |")
    for variant in variants:
        cells = [compared(means(answers, variant, measure), start[name]) for name, measure in MEASURES.items()]
        rows.append(f"| {variant} | {' | '.join(cells)} |")
    return "\n".join(rows)


def means(answers: Sequence[Answer], arm: str, measure: Callable[[Answer], float | None]) -> dict[str, float]:
    """{prompt: mean over samples and seeds}, of those that have the measure."""
    found: dict[str, list[float]] = {}
    for answer in answers:
        value = measure(answer)
        if answer.arm.partition("/")[0] == arm and value is not None:
            found.setdefault(answer.prompt_id, []).append(value)
    return {prompt: float(np.mean(values)) for prompt, values in found.items()}


def compared(now: dict[str, float], before: dict[str, float]) -> str:
    """The mean, and in brackets the interval of its difference from before, prompt by prompt."""
    differences = np.array([now[prompt] - before[prompt] for prompt in before])
    drawn = np.random.default_rng(0).choice(differences, (DRAWS, len(differences))).mean(axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return f"{np.mean(list(now.values())):.3f} ({differences.mean():+.3f} [{low:+.3f}, {high:+.3f}])"


if __name__ == "__main__":
    main()
