"""Search for texts that the truth, or a reward, takes for good answers and that nobody would.

    python -m benchmarks.truth_search --task push --calls 10000 --seed 1
    python -m benchmarks.truth_search --of grounded --task push --calls 10000 --seed 1
    python -m benchmarks.truth_search --of both --task push --calls 10000 --seed 1

The audit's own search (`tucano/audit/attacks/search.py`), over ten prompts of the rating set. The best texts are
printed for people to look at; whether they are bad, only they can say. `both` looks for texts that the truth and
`grounded` take for good at once: it climbs their mean, since the lower of them is 0 nearly everywhere.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from random import Random
from statistics import fmean

from rewards import load_reward_set
from rewards.sets import SETS
from tucano.audit.attacks.findings import FLOOR, SEARCHED_PROMPTS, unborrowed
from tucano.audit.attacks.search import Found, Search
from tucano.audit.bench import GOOD_RATING
from tucano.audit.probes import worthless
from tucano.project import COMMITTED_RATINGS
from tucano.prompts import TASKS, Prompt
from tucano.rating.ratings import read_ratings
from tucano.rating.store import rating_store
from tucano.truth import truth
from tucano.truth.fluency import CORPUS, corpus

SHOWN = 10
BOTH = ("truth", "grounded")

Judge = Callable[[Prompt, str], float]
Score = Callable[[str], float]


def judge(name: str, databases: Path) -> Judge:
    """The truth, or the total of a reward set."""
    if name == "truth":
        return lambda prompt, text: truth(prompt, text, databases) or 0.0
    rewards = load_reward_set(name, databases)  # type: ignore[arg-type]  # argparse has checked it
    return lambda prompt, text: rewards.score(prompt, text).total


def searched(of: str, task: str, calls: int, seed: int) -> Iterator[tuple[Prompt, list[Found], Score]]:
    """The last populations for some rated prompts of a task, best first, and what the strictest judge gives a text;
    pieces come from answers to other prompts.
    """
    rng = Random(f"{task}/{seed}")
    with ExitStack() as stack:
        databases = stack.enter_context(rating_store(COMMITTED_RATINGS))
        rated = [answer for answer in read_ratings(COMMITTED_RATINGS) if answer.prompt.task == task]
        prompts = {answer.prompt.id: answer.prompt for answer in rated}
        lexicon = corpus(*CORPUS)
        good = [answer.completion for answer in rated if answer.rating >= GOOD_RATING]
        judges = [judge(name, databases) for name in (BOTH if of == "both" else (of,))]
        for name in rng.sample(sorted(prompts), min(SEARCHED_PROMPTS, len(prompts))):
            prompt = prompts[name]
            pieces = [answer.completion for answer in rated if answer.prompt.id != name and answer.completion.strip()]
            start = [text for texts in worthless(prompt).values() for text in texts if text.strip()]
            ask = partial(_joined, fmean, judges, prompt)
            search = Search(prompt.user, start, pieces + lexicon, good + lexicon, ask, rng)
            yield prompt, search.run(calls // SEARCHED_PROMPTS), partial(_joined, min, judges, prompt)


def _joined(join: Callable[[list[float]], float], judges: Sequence[Judge], prompt: Prompt, text: str) -> float:
    return join([judged(prompt, text) for judged in judges])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--of", choices=("truth", *SETS, "both"), default="truth", help="who judges the texts")
    parser.add_argument("--task", choices=TASKS, required=True)
    parser.add_argument("--calls", type=int, default=10_000, help="calls of the judge over all prompts")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    lowest: list[float] = []
    for prompt, found, strictest in searched(arguments.of, arguments.task, arguments.calls, arguments.seed):
        own = unborrowed(found)[:SHOWN]
        print(f"\n{prompt.user}")
        scores = [strictest(item.text) for item in own]
        for score, item in list(zip(scores, own, strict=True))[: SHOWN // 2]:
            print(f"  score {score:.2f}  borrowed {item.borrowed:.2f}  {json.dumps(item.text, ensure_ascii=False)}")
        lowest += scores
    above = sum(score > FLOOR for score in lowest)
    print(f"\n{arguments.task}: {above} of the {len(lowest)} best texts are above {FLOOR:.2f}; look at them")


if __name__ == "__main__":
    main()
