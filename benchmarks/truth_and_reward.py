"""How alike reward and truth are: their correlation over the rated answers to one prompt, per task.

Both are centred per prompt first (Pearson's r of what is left), since GRPO sees only differences within a prompt. The
second column is the same for the ratings and the truth.

    python -m benchmarks.truth_and_reward
"""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rewards import load_reward_set
from tucano.rating.ratings import read_ratings
from tucano.rating.store import rating_store
from tucano.truth import truth

RATINGS = Path(__file__).parents[1] / "data" / "ratings"


def within(groups: Sequence[Sequence[tuple[float, ...]]], one: int, other: int) -> float:
    """Pearson's r of two columns after taking each group's means away."""
    centred = [np.array(group) - np.mean(group, axis=0) for group in groups]
    table = np.concatenate(centred)
    return float(np.corrcoef(table[:, one], table[:, other])[0, 1])


def main() -> None:
    found: dict[str, dict[str, list[tuple[float, ...]]]] = defaultdict(lambda: defaultdict(list))
    with rating_store(RATINGS) as databases:
        grounded = load_reward_set("grounded", databases)
        for answer in read_ratings(RATINGS):
            prompt, text = answer.prompt, answer.completion
            known = truth(prompt, text, databases)
            if known is not None:
                reward = grounded.score(prompt, text).total
                found[prompt.task][prompt.id].append((reward, known, answer.rating))
    print("| task | prompts | reward and truth | ratings and truth | ratings and reward |\n|---|---|---|---|---|")
    for task, prompts in found.items():
        groups = [group for group in prompts.values() if len(group) > 1]
        pairs = (within(groups, one, other) for one, other in ((0, 1), (2, 1), (2, 0)))
        print(f"| {task} | {len(groups)} | {' | '.join(f'{value:.2f}' for value in pairs)} |")


if __name__ == "__main__":
    main()
