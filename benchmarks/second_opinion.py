"""A second opinion on reward and truth: falsepass, a tool of other people that looks for false passes and false fails.

    python -m benchmarks.second_opinion --of truth --task push --search 150

Its examples are rated prompts: the good answer is one that was rated 5 (for extraction the reference's object), the bad
one another that was rated 1. It asks its probes (the prompt given back, many answers at once, an answer that is denied
or taken back, ...) and searches from bad answers upwards, `--search` calls per direction and example. A bad text may
earn .30, a good one has to keep .85. Exit code 1 when it finds something.

Not counted is what the rating guide sees otherwise: harmless changes that add an English sentence, which is a fault
beside a Portuguese answer; objects in which one number is wrong or the summary alone is a copy, which keep a part;
and a denial of which its cut has left the good answer alone.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

from falsepass import runner
from falsepass.adapter import Adapter
from falsepass.model import Completion, Example, Score

from benchmarks.truth_search import Judge, judge
from rewards.sets import SETS
from tucano.errors import UserError
from tucano.project import COMMITTED_RATINGS
from tucano.prompts import TASKS, Prompt, Task
from tucano.rating.ratings import RatedAnswer, read_ratings
from tucano.rating.store import rating_store

GOOD, LOW = 0.85, 0.30
BEST, WORST = 5, 1
BY_ANOTHER_GUIDE = {
    *(("P2", "sentence_after"), ("P16", "prose_fields_are_prompt"), ("S2", "search")),
    *(("P13", f"json_{kind}") for kind in ("ints_plus_0.9", "ints_infinity", "floats_nan")),
}
CUT_DENIALS = ("considered_then_wrong + drop_tail", "question + drop_tail")
SHORT = 3
"""Words of an answer that says next to nothing."""
FEW = 3
"""Examples of the slower probes."""


class Judged:
    """falsepass's scorer: one of our judges, which holds no state."""

    concurrent_safe = True
    weights: dict[str, float] = {}  # noqa: RUF012  # falsepass reads it

    def __init__(self, judged: Judge) -> None:
        self.judged = judged

    async def score(self, example: Example, completion: Completion) -> Score:
        """The score of what an assistant says last; falsepass also sends messages that are none."""
        return Score(self.judged(example.raw, _said(completion)))

    async def close(self) -> None:
        await asyncio.sleep(0)


def _said(completion: Completion) -> str:
    turns = [str(turn.get("content") or "") for turn in completion] if isinstance(completion, list) else []
    return completion if isinstance(completion, str) else "".join(turns[-1:])


class Rated(Adapter):
    """Rated prompts of one task, with an answer of each end of the scale."""

    name = "tucano"
    max_reward = GOOD
    bad_tolerance = LOW

    def __init__(self, judged: Judge, task: Task) -> None:
        self.judged = judged
        answers = [answer for answer in read_ratings(COMMITTED_RATINGS) if answer.prompt.task == task]
        self.worst = _by_prompt(answers, WORST)
        self.best = {name: _example(answer) for name, answer in _by_prompt(answers, BEST).items()}
        if task == "extraction":
            self.best = {
                name: _by_reference(answer.prompt) for name, answer in self.worst.items() if _complains(answer)
            }
        self.prompts = sorted(self.best.keys() & self.worst.keys())

    def load(self, n: int, seed: int) -> tuple[Judged, list[Example]]:
        chosen = Random(seed).sample(self.prompts, min(n, len(self.prompts)))
        return Judged(self.judged), [self.best[name] for name in chosen]

    def render(self, answer: str, example: Example) -> Completion:
        return answer

    def wrong_answer(self, example: Example) -> str:
        return self.worst[example.key].completion


def _by_prompt(answers: Iterable[RatedAnswer], rating: float) -> dict[str, RatedAnswer]:
    """An answer to each prompt that all raters gave this rating and that tries: a word is no second answer."""
    tries = (answer for answer in answers if answer.rating == rating and len(answer.completion.split()) > SHORT)
    return {answer.prompt.id: answer for answer in tries}


def _example(answer: RatedAnswer) -> Example:
    return Example(answer.prompt.id, answer.prompt.user, answer.completion, answer.prompt)


def _complains(answer: RatedAnswer) -> bool:
    """Whether its review has a complaint: without one an object loses little by an odd text."""
    return answer.prompt.reference["fields"]["main_complaint"] is not None


def _by_reference(prompt: Prompt) -> Example:
    return Example(prompt.id, prompt.user, json.dumps(prompt.reference["fields"], ensure_ascii=False), prompt)


def opinion(of: str, task: Task, *, examples: int, search: int, seed: int) -> list[dict[str, Any]]:
    """What falsepass asked and found: its rows, each with «probe», «variant», «score», «passed» and «detail»."""
    with rating_store(COMMITTED_RATINGS) as databases, tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "src").mkdir()  # its static scan reads sources of the other kinds of environments here
        adapter = Rated(judge(of, databases), task)
        if not adapter.prompts:
            raise UserError(
                f"{COMMITTED_RATINGS} holds no prompt of {task} with an answer rated {BEST} and another rated {WORST}"
            )
        with mock.patch.object(runner, "load_adapter", lambda _: adapter):
            found = runner.run(folder, examples, seed, FEW, search_calls=search, search_examples=examples, jobs=1)
    asked = [row for row in found["results"] if (row["probe"], row["variant"]) not in BY_ANOTHER_GUIDE]
    return [row for row in asked if not any(recipe in row["detail"] for recipe in CUT_DENIALS)]


def table(rows: Sequence[dict[str, Any]]) -> str:
    """One line for each probe that failed: how often, and its worst case."""
    lines = []
    for name in dict.fromkeys((row["probe"], row["variant"]) for row in rows):
        asked = [row for row in rows if (row["probe"], row["variant"]) == name]
        failed = [row for row in asked if not row["passed"]]
        if failed:
            scores = ", ".join(f"{row['score']:.2f}" for row in failed if row["score"] is not None)
            lines.append(f"  {name[0]} {name[1]}: {len(failed)} of {len(asked)} ({scores})")
            lines += [f"      {row['detail']}  {row['completion'][:300]!r}" for row in failed[:2]]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--of", choices=("truth", *SETS), default="truth", help="who is asked")
    parser.add_argument("--task", choices=TASKS, required=True)
    parser.add_argument("--search", type=int, default=150, help="calls of the judge per direction and example")
    parser.add_argument("--examples", type=int, default=10, help="prompts")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    rows = opinion(args.of, args.task, examples=args.examples, search=args.search, seed=args.seed)
    failed = [row for row in rows if not row["passed"]]
    print(table(rows))
    print(f"{args.of}, {args.task}: {len(rows) - len(failed)} of {len(rows)} as they should be")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
