"""Scores per second of one core on the rated completions, each scored once, as training meets them: no result of
another is at hand but the gold query's, which the completions of a prompt share. CPU time, the median of seven rounds.
Exits with 1 below what is needed.

    python -m benchmarks.reward_speed
"""

import statistics
import sys
import time
from pathlib import Path

from rewards import RewardSet, load_reward_set, sets
from rewards.parsing.sql import is_ordered, names
from rewards.parsing.sql_results import gold_result
from rewards.sets import SetName
from tucano.rating.ratings import RatedAnswer, read_ratings
from tucano.rating.store import rating_store

RATINGS = Path(__file__).parents[1] / "data" / "ratings"
ROUNDS = 7
SETS: tuple[SetName, ...] = ("v4.2", "grounded")


def needed(name: SetName, task: str) -> int:
    """Scores per second."""
    if name == "grounded":
        return 200
    return 800 if task == "sql_qa" else 3000


def forget() -> None:
    """As from the start of a process: nothing that functions of the rewards remember is left."""
    ours = [module for name, module in sys.modules.items() if name.partition(".")[0] == "rewards"]
    for function in (one for module in ours for one in vars(module).values()):
        if clear := getattr(function, "cache_clear", None):
            clear()


def per_second(reward: RewardSet, rated: list[RatedAnswer], databases: Path) -> float:
    different = list({(answer.prompt.id, answer.completion): answer for answer in rated}.values())
    rates = []
    for _ in range(ROUNDS):
        forget()
        for reference in (answer.prompt.reference for answer in different if "sql" in answer.prompt.reference):
            gold_result(databases / reference["database"], reference["sql"])
            names(reference["sql"])
            is_ordered(reference["sql"])
        started = time.process_time()
        for answer in different:
            reward.score(answer.prompt, answer.completion)
        rates.append(len(different) / (time.process_time() - started))
    return statistics.median(rates)


def main() -> int:
    rated = read_ratings(RATINGS)
    slow = 0
    print("| set | task | scores per second | needed |\n|---|---|---:|---:|")
    with rating_store(RATINGS) as databases:
        for name in SETS:
            for task in sets.SETS[name]:
                rate = per_second(
                    load_reward_set(name, databases),
                    [answer for answer in rated if answer.prompt.task == task],
                    databases,
                )
                slow += rate < needed(name, task)
                print(f"| {name} | {task} | {rate:,.0f} | {needed(name, task):,} |")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
