"""Sample completions for people to rate: one per model and prompt at T=1, from models of different strength.

GRPO uses only the ranking within a prompt, so every prompt gets several completions. Nothing here knows a reward.

    python -m benchmarks.draw_rating_candidates PROMPTS_FOLDER OUT.jsonl weak=MODEL strong=MODEL tuned=MODEL:ADAPTER
    cp PROMPTS_FOLDER/store*.sqlite .   # beside OUT.jsonl
    tucano rate FOLDER --rater NAME --from OUT.jsonl
"""

import argparse
import json
import random
from pathlib import Path

import torch

from tucano.profiles import load_profile, project_root
from tucano.prompts import TASKS, Prompt, read_prompts
from tucano.rating.draw import Candidate, write_candidates
from tucano.training.policies.chat import encode, stop_tokens
from tucano.training.policies.load import load_policy
from tucano.training.samplers import Decoding
from tucano.training.samplers.local import LocalSampler

PROMPTS_PER_TASK = 24


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prompts", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("models", nargs="+", help="NAME=FOLDER or NAME=FOLDER:ADAPTER")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    settings = load_profile(project_root(Path.cwd()), "nano", [])
    systems = json.loads((arguments.prompts / "system_prompts.json").read_text(encoding="utf-8"))
    chosen = choose(
        read_prompts(arguments.prompts / "test.jsonl") + read_prompts(arguments.prompts / "validation.jsonl"),
        arguments.seed,
    )
    made: list[Candidate] = []
    for index, spec in enumerate(arguments.models):
        name, _, place = spec.partition("=")
        base, _, adapter = place.partition(":")
        model, tokenizer = load_policy(
            settings.model, base, Path(adapter) if adapter else None, trainable=False, seed=0
        )
        generator = torch.Generator().manual_seed(arguments.seed + index)
        decoding = Decoding(settings.grpo.max_completion_tokens, 1.0, tuple(stop_tokens(model, tokenizer)))
        drawn = LocalSampler().sample(model, encode(tokenizer, chosen, systems), decoding, generator)
        texts = tokenizer.batch_decode([draw.tokens for draw in drawn], skip_special_tokens=True)
        made += [Candidate(prompt, text, "sampled", name) for prompt, text in zip(chosen, texts, strict=True)]
    write_candidates(arguments.out, made)


def choose(prompts: list[Prompt], seed: int) -> list[Prompt]:
    """`PROMPTS_PER_TASK` prompts of each task that the set has, at random."""
    rng = random.Random(seed)
    of_task = [[prompt for prompt in prompts if prompt.task == task] for task in TASKS]
    return [prompt for mine in of_task if mine for prompt in rng.sample(mine, PROMPTS_PER_TASK)]


if __name__ == "__main__":
    main()
