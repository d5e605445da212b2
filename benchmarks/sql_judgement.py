"""How often the two judges of SQL answers are wrong: right queries judged wrong, wrong ones judged right.

    python -m benchmarks.sql_judgement [--spider FOLDER] [--write docs/rewards.md]

Half of the pairs are about the generator's own questions, half about those of Spider's development set in Portuguese
(a folder with dev.jsonl and tables.json; left out, with a line that says so, where there is none). Spider's databases
are made here from its schemas.

Equivalents are rewritten so that they give the same on every database that keeps its keys. Mutants change what is
asked. No judge decides which is which: a mutant is left out only where `is_same` proves by a written rule, from the
query and the schema alone, that no database can tell it from the gold query. Everything else counts, also what no
store at hand tells apart.
"""

import argparse
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random

from benchmarks.sql_equivalents import REWRITES, equivalents
from benchmarks.sql_mutants import BOUNDARY, is_same, mutants
from benchmarks.sql_questions import SEED, Question, own_questions, spider_questions
from data.generator.questions import AMOUNTS
from data.generator.store import generated_tables, write_store
from data.generator.suite import further_tables
from rewards.parsing.sql import is_ordered, run_query
from rewards.parsing.sql_results import answers_gold, fits, in_order, unordered
from tucano.files.prompts import STORE
from tucano.truth.sql import right_answer

PAIRS = 1000
"""Of equivalents, and as many of mutants."""
BEGIN, END = "<!-- sql judgement -->", "<!-- end of sql judgement -->"


@dataclass(frozen=True)
class Pair:
    question: Question
    kind: str
    answer: str


# Judges


def as_before(question: Question, answer: str) -> bool:
    """How it was: the first store alone; the same columns, roundings and order of ties."""
    gold, ours = (run_query(question.folder / STORE, sql) for sql in (question.sql, answer))
    if gold is None or ours is None:
        return False
    expected = in_order(gold.rows) if is_ordered(question.sql) else unordered(gold.rows)
    return fits(expected, ours.rows)


JUDGES: dict[str, Callable[[Question, str], bool]] = {
    "before": as_before,
    "reward": lambda question, answer: answers_gold(question.reference, answer, question.folder).equal,
    "truth": lambda question, answer: right_answer(question.reference, f"```sql\n{answer}\n```", question.folder),
}


# Pairs


def equivalent_pairs(questions: Sequence[Question], count: int, rng: Random) -> list[Pair]:
    """As many as wanted, of every kind in turn; half of them rewritten twice."""
    found: dict[str, list[Pair]] = defaultdict(list)
    for question in questions:
        for kind, once in equivalents(question.sql, question.schema, REWRITES):
            found[kind].append(Pair(question, kind, once))
            others = rng.sample([other for other in REWRITES if other != kind], len(REWRITES) - 1)
            for _, twice in islice(equivalents(once, question.schema, others), 1):
                found[kind].append(Pair(question, kind, twice))
    return _in_turn(found, count, rng)


def mutated_pairs(questions: Sequence[Question], count: int, rng: Random) -> tuple[list[Pair], Counter[str]]:
    """As many as wanted, of every kind in turn; and how many were left out, by the reason that proves them the same."""
    found: dict[str, list[Pair]] = defaultdict(list)
    same: Counter[str] = Counter()
    for question in questions:
        for kind, mutant in mutants(question.sql, question.schema, rng):
            if reason := is_same(kind, question.sql, mutant, question.schema):
                same[reason] += 1
            elif run_query(question.folder / STORE, mutant) is not None:
                found[kind].append(Pair(question, kind, mutant))
    return _in_turn(found, count, rng), same


def _in_turn(found: Mapping[str, list[Pair]], count: int, rng: Random) -> list[Pair]:
    piles = [rng.sample(pairs, len(pairs)) for _, pairs in sorted(found.items())]
    chosen: list[Pair] = []
    while len(chosen) < count and any(piles):
        chosen += [pile.pop() for pile in piles if pile][: count - len(chosen)]
    return chosen


# Other values


def other_values(questions: Sequence[Question], folder: Path, rng: Random) -> tuple[dict[str, int], dict[str, int]]:
    """Of answers that a judge calls right: how many there are, and how many filter on another value than the gold query
    and do give something else on one of five further perturbed databases, which no judge has seen. Each gold query is
    answered by itself and by up to ten queries with one other value.
    """
    tables = generated_tables(Random(f"{SEED}/store"))
    unseen = []
    for number in range(5):
        unseen.append(folder / f"unseen-{number}.sqlite")
        write_store(unseen[-1], further_tables(tables, AMOUNTS, Random(f"{SEED}/unseen-{number}")))
    right, other = dict.fromkeys(JUDGES, 0), dict.fromkeys(JUDGES, 0)
    for question in questions:
        answers = {question.sql: False}
        for _ in range(10):
            answers |= {
                sql: True for kind, sql in mutants(question.sql, question.schema, rng) if kind == "another value"
            }
        for answer, is_other in answers.items():
            differs = is_other and any(run_query(store, answer) != run_query(store, question.sql) for store in unseen)
            for name, judge in JUDGES.items():
                verdict = judge(question, answer)
                right[name] += verdict
                other[name] += verdict and differs
    return right, other


# The report


def called(name: str, pairs: Sequence[Pair], verdict: bool) -> list[Pair]:
    """The pairs that a judge calls `verdict`."""
    return [pair for pair in pairs if JUDGES[name](pair.question, pair.answer) == verdict]


def percent(part: int, whole: int) -> str:
    return f"{100 * part / max(1, whole):.1f} % ({part} of {whole})"


@dataclass(frozen=True)
class Measured:
    """Errors of each judge, per source of questions."""

    equivalent: list[Pair]
    mutated: list[Pair]
    same: Counter[str]
    gold: dict[str, int]
    questions: int

    def lines(self, source: str) -> list[str]:
        boundary = [pair for pair in self.mutated if pair.kind in BOUNDARY]
        made = []
        for name in JUDGES:
            wrong = len(called(name, self.equivalent, False))
            right = len(called(name, self.mutated, True))
            edge = len(called(name, boundary, True))
            made.append(
                f"| {source} | {name} | {percent(wrong, len(self.equivalent))} | {percent(right, len(self.mutated))} | "
                f"{percent(edge, len(boundary))} | {self.gold[name]} of {self.questions} |"
            )
        return made


def measure(questions: Sequence[Question], pairs: int, rng: Random) -> Measured:
    mutated, same = mutated_pairs(questions, pairs, rng)
    gold = {name: sum(judge(question, question.sql) for question in questions) for name, judge in JUDGES.items()}
    return Measured(equivalent_pairs(questions, pairs, rng), mutated, same, gold, len(questions))


HEADER = (
    "| questions | judge | right, judged wrong | wrong, judged right | boundary, judged right | gold is right |\n"
    "|---|---|---|---|---|---|"
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spider", type=Path, default=Path("../shared/data/benchmarks/spider_pt"))
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--write", type=Path, help="the page that shows the figures")
    parser.add_argument("--show", action="store_true", help="print what the judges get wrong")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "own").mkdir()
        own = own_questions(folder / "own", 300, SEED)
        measured = {"own": measure(own, arguments.pairs // 2, Random(SEED))}
        if (arguments.spider / "dev.jsonl").is_file():
            asked = spider_questions(arguments.spider, folder / "spider", Random(SEED))
            measured["Spider"] = measure(asked, arguments.pairs // 2, Random(SEED))
        else:
            print(f"Spider is left out: there is no {arguments.spider / 'dev.jsonl'}")
        lines = [HEADER]
        for source, found in measured.items():
            lines += found.lines(source)
        right, other = other_values(own[:100], folder, Random(SEED))
        shares = "; ".join(f"{judge} {percent(other[judge], right[judge])}" for judge in JUDGES)
        lines += ["", f"Answers judged right that filter on other values than the gold query: {shares}."]
        same = sum((found.same for found in measured.values()), Counter())
        lines += ["", f"Left out as the same on every database: {same.total()} mutants."]
        print("\n".join(lines), "", *(f"{reason}: {count}" for reason, count in same.most_common()), sep="\n")
        if arguments.show:
            show(measured)
    if arguments.write:
        page = arguments.write.read_text(encoding="utf-8")
        head, _, rest = page.partition(BEGIN)
        _, _, tail = rest.partition(END)
        arguments.write.write_text("".join((head, BEGIN, "\n", "\n".join(lines), "\n", END, tail)), encoding="utf-8")
    return 0


def show(measured: Mapping[str, Measured]) -> None:
    for source, found in measured.items():
        for name in ("reward", "truth"):
            for pairs, verdict in ((found.equivalent, False), (found.mutated, True)):
                print(source, name, "right judged wrong" if not verdict else "wrong judged right")
                for pair in called(name, pairs, verdict):
                    print(f"  [{pair.kind}] {pair.question.folder.name}\n    {pair.question.sql}\n    {pair.answer}")


if __name__ == "__main__":
    sys.exit(main())
