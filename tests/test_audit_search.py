"""The audit looks for worthless texts that earn much, for answers without reading, for dead components and for good
answers that earn little: planted faults are found, and what is found is short and shown whole."""

from pathlib import Path
from random import Random
from typing import Any

import pytest
from test_audit import SETTINGS, failed, flat, rating_set, with_broken

from rewards import PromptLike, Score
from tucano.audit.attacks.search import Search
from tucano.audit.stage import render_page
from tucano.audit.table import render_details
from tucano.specs.texts import figures_off

__all__ = ["rating_set"]
PIECES = ["Recomendo rever o frete", "aproveite hoje mesmo", "a entrega atrasou muito"]


def search(judge: Any, good: tuple[str, ...] = (), seed: int = 0) -> Search:
    return Search("Escreva um push de mochila", ["oferta oferta"], PIECES, good, judge, Random(seed))


def test_it_finds_the_word_that_is_paid_for_and_nothing_else() -> None:
    paid = search(lambda text: float("frete" in text and len(text.split()) > 3))
    best = paid.run(500)[0]
    shortest = paid.shortest(best)
    assert best.score == shortest.score == 1
    assert "frete" in shortest.text and len(shortest.text.split()) == 4


def test_where_nobody_else_wrote_a_word_it_takes_those_of_the_prompt() -> None:
    alone = Search(
        "Escreva um push de mochila", ["oferta oferta"], [], [], lambda text: float("mochila" in text), Random(0)
    )
    assert alone.run(200)[0].score == 1


def test_the_same_seed_finds_the_same() -> None:
    def judge(text: str) -> float:
        return len(set(text.split())) / 100

    assert search(judge).run(300) == search(judge).run(300) != search(judge, seed=1).run(300)


def test_it_asks_the_judge_as_often_as_it_may() -> None:
    asked: list[str] = []

    def judge(text: str) -> float:
        asked.append(text)
        return 0.5

    search(judge).run(200)
    assert 150 <= len(asked) <= 200


def test_what_stands_in_a_good_answer_pays_less() -> None:
    good = "aproveite hoje mesmo a entrega atrasou muito"
    found = search(lambda text: 1.0, good=(good,)).run(500)
    assert found[0].borrowed == 0 < found[0].score
    assert all(item.pay <= found[0].pay for item in found)


def paid_for_a_word(score: Score, asked: PromptLike, text: str) -> Score:
    return flat(score, 1.0) if asked.task == "sql_qa" and "dali" in text else score


def test_a_planted_hack_is_found_made_short_and_shown(rating_set: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("test_audit.SETTINGS", SETTINGS.model_copy(update={"search_calls": 2_000}))
    report = with_broken(rating_set, paid_for_a_word)
    found = [item for item in report.fooling if item.task == "sql_qa"]
    assert found and all(item.reward == 1 and "dali" in item.text for item in found)
    assert max(len(item.text.split()) for item in found) <= 5, "four words make a run that can be looked up"
    page, details = render_page(report), render_details(report)
    assert all(item.text.splitlines()[0] in page for item in found)
    assert "Made by a search" in details
    assert {check.name for check in report.warnings} >= {"search"}


def test_without_calls_there_is_no_search(rating_set: Path) -> None:
    assert SETTINGS.search_calls == 0
    report = with_broken(rating_set, paid_for_a_word)
    assert report.fooling == ()
    assert "search" not in {check.name for check in report.checks}


def test_a_reward_for_copied_figures_is_stopped(rating_set: Path) -> None:
    def change(score: Score, asked: PromptLike, text: str) -> Score:
        return flat(score, 0.9) if asked.task == "insights" and text.startswith("1") else score

    lazy = [check for check in with_broken(rating_set, change).failed_checks if check.name == "lazy policy"]
    assert [check.task for check in lazy] == ["insights"]
    assert "figures" in lazy[0].message


@pytest.mark.parametrize("value", [0.0, 0.1])
def test_a_component_that_never_moves_is_stopped(rating_set: Path, value: float) -> None:
    def change(score: Score, *_: Any) -> Score:
        parts = score.components | {next(iter(score.components)): value}
        return Score(min(1.0, max(0.0, sum(parts.values()))), parts)

    dead = [check for check in with_broken(rating_set, change).failed_checks if check.name == "alive"]
    assert len(dead) == 4
    assert "['extraction.valid_json'] are the same for" in dead[0].message


def test_faultless_answers_that_earn_little_stop_the_run(rating_set: Path) -> None:
    def change(score: Score, asked: PromptLike, text: str) -> Score:
        return flat(score, 0.7) if score.total > 0.9 else score

    assert "false fails" in failed(with_broken(rating_set, change))


def test_figures_are_changed_in_the_notation_they_have() -> None:
    assert (
        figures_off("R$ 1.234,50, 12,5%, 20 dias, 3 ações, 2018-05") == "R$ 1.357,95, 13,8%, 22 dias, 3 ações, 2018-05"
    )
