"""Answers about whose rating nobody is in doubt are asked one by one."""

import json
from collections import Counter
from pathlib import Path

import pytest
from test_audit import SETTINGS, few_rows, lines, prompt, write_set

from rewards import PromptLike, Score
from rewards.names import REPORTED
from tucano.audit.bench import Bench
from tucano.audit.gate import audit
from tucano.audit.relations.agreed import BANDS, agreed_checks
from tucano.errors import UserError
from tucano.project import COMMITTED_RATINGS
from tucano.rating.ratings import RatedAnswer, read_rating_set

__all__ = ["few_rows"]


class Told:
    """A reward that is what its text says."""

    def component_names(self, task: str) -> tuple[str, ...]:
        return ("told",)

    def score(self, prompt: PromptLike, completion: str) -> Score:
        return Score(float(completion), {"told": float(completion)})


def case(rating: int, reward: str) -> RatedAnswer:
    asked = prompt("push", 0, "Escreva um push.", {})
    return RatedAnswer(asked, reward, "written", rating, {"ana": "human"}, {"ana": rating})


@pytest.mark.parametrize(
    ("rating", "least", "most"),
    [(1, "0", "0.2"), (2, "0", "0.3"), (3, "0.1", "0.75"), (4, "0.65", "1"), (5, "0.8", "1")],
)
def test_an_answer_earns_what_its_rating_says(rating: int, least: str, most: str) -> None:
    (passed,) = agreed_checks("push", Bench(Told()), [case(rating, least), case(rating, most)])
    assert passed.passed and passed.name == f"rated {rating}"
    for beyond in {float(least) - 0.01, float(most) + 0.01} - {-0.01, 1.01}:
        (failed,) = agreed_checks("push", Bench(Told()), [case(rating, least), case(rating, str(beyond))])
        assert not failed.passed and failed.message.startswith(f"push: 1 of 2 answers that everybody rated {rating} ")


def test_a_single_wrong_one_closes_the_gate_and_is_named(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "set", lines(tasks=("push",)))
    assert audit("grounded", folder, SETTINGS, ("push",), seed=7).passed
    rated = [json.loads(line) for line in (folder / "ratings.jsonl").read_text(encoding="utf-8").splitlines()]
    good, bad = rated[0], rated[4]
    (folder / "cases.jsonl").write_text(f"{json.dumps(good)}\n{json.dumps(bad | {'rating': 5})}\n", encoding="utf-8")
    report = audit("grounded", folder, SETTINGS, ("push",), seed=7)
    (failed,) = report.failed_checks
    assert "1 of 2 answers that everybody rated 5" in failed.message and "'Um push é um texto.'" in failed.message


def test_the_committed_cases_are_of_every_task_and_rating() -> None:
    counted = Counter((case.prompt.task, case.rating) for case in read_rating_set(COMMITTED_RATINGS).cases)
    assert set(counted) == {(task, rating) for task in REPORTED for rating in BANDS}
    assert min(counted.values()) >= 50


def test_raters_of_a_case_are_of_one_mind(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "set", lines(tasks=("push",)))
    rated = json.loads((folder / "ratings.jsonl").read_text(encoding="utf-8").splitlines()[0])
    other = rated | {"rater": "bia", "rating": 1}
    (folder / "cases.jsonl").write_text(f"{json.dumps(rated)}\n{json.dumps(other)}\n", encoding="utf-8")
    with pytest.raises(UserError, match="ratings of one answer differ"):
        read_rating_set(folder)
