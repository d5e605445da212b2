"""What the rated answers earn, frozen: no change of the sets in `FROZEN` goes unseen. Not that these scores are right;
the audit judges that.

Where a change is meant, `python tests/test_rewards_golden.py` writes them anew; the commit says why they differ.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rewards import load_reward_set
from rewards.sets import SETS, SetName
from tucano.project import COMMITTED_RATINGS
from tucano.rating.ratings import read_ratings
from tucano.rating.store import rating_store
from tucano.truth import truth

GOLDEN = Path(__file__).with_name("golden_rewards.jsonl")
FROZEN: tuple[SetName, ...] = ("v4.2", "grounded", "controls.format", "controls.random")


def scored() -> Iterator[dict[str, Any]]:
    """One line per rated answer: prompt, contributions per reward set in the order of the components, and truth, to six
    decimals.
    """
    with rating_store(COMMITTED_RATINGS) as databases:
        sets = {name: load_reward_set(name, databases) for name in FROZEN}
        for rated in sorted(read_ratings(COMMITTED_RATINGS), key=lambda rated: rated.prompt.id):  # the tasks in turn
            rewards = {name: reward for name, reward in sets.items() if rated.prompt.task in SETS[name]}
            parts = {name: reward.score(rated.prompt, rated.completion).components for name, reward in rewards.items()}
            line = {name: [round(part, 6) for part in values.values()] for name, values in parts.items()}
            metric = truth(rated.prompt, rated.completion, databases)
            yield {"prompt": rated.prompt.id, "truth": None if metric is None else round(metric, 6)} | line


def differences() -> Iterator[tuple[Any, Any]]:
    """(frozen, found) of every answer that earns something else now."""
    frozen = [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]
    return ((old, new) for old, new in zip(frozen, scored(), strict=True) if old != new)


def test_the_rated_answers_earn_what_they_did() -> None:
    assert list(differences()) == []


if __name__ == "__main__":
    GOLDEN.write_text("".join(json.dumps(line) + "\n" for line in scored()), encoding="utf-8")
