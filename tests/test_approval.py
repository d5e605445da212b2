"""What the form says that a person decides by: figures of the candidate beside the champion, and no text of others."""

import pytest
from test_report import SCRIPT

from tasks.approval import PAGES, question
from tasks.monitor import Retraining
from tucano.comparison.answers import DECODINGS, Answer
from tucano.comparison.compare import Comparison, Design, compare
from tucano.comparison.promotion import CHALLENGER, CHAMPION, Promotion
from tucano.prompts import TASKS, Prompt
from tucano.settings import ComparisonSettings

LEVELS = {"sft": 0.4, "seed-1": 0.5, "seed-2": 0.5, "seed-3": 0.5, CHAMPION: 0.45}


def compared() -> Comparison:
    """Every reward of an arm is its level, and its truth a tenth less; the truth of `insights` is not known."""
    prompts = [Prompt(f"{task}-{n}", task, SCRIPT, "t", "synthetic", "CC0") for task in TASKS for n in range(5)]
    answers = [
        Answer(arm, one.id, one.task, how, 0, SCRIPT, level, {}, None if one.task == "insights" else level - 0.1, 1.0, 9, False)
        for arm, level in LEVELS.items()
        for how in DECODINGS
        for one in prompts
    ]  # fmt: skip
    return compare(answers, prompts, ComparisonSettings(), Design("sft", [1, 2, 3]), frozenset())


def test_the_form_shows_candidate_champion_and_start_by_task() -> None:
    made = Promotion("seed-1", CHALLENGER, f"a person's approval is asked for {SCRIPT}", "tucano", 7)
    links = dict.fromkeys([*PAGES, "training runs"], "http://127.0.0.1:5000/#/x")
    shown = question(made, compared(), links, 1.5)
    lines = shown.splitlines()
    assert lines[0] == "# Shall seed-1 (tucano version 7) become champion?"
    assert "| mean reward (truth) | seed-1 | champion | sft |" in lines
    assert "| push | 0.500 (0.400) | 0.450 (0.350) | 0.400 (0.300) |" in lines
    assert "| insights | 0.500 | 0.450 | 0.400 |" in lines, "a truth that nobody knows is no number"
    assert shown.count("](http://127.0.0.1:5000/#/x)") == len(PAGES) and "training runs" not in shown
    assert "Without an answer within 1.5 h it stays challenger." in shown and "<script>" not in shown


def test_approving_a_retraining_promises_no_champion() -> None:
    """The form of the promotion was shown: «it becomes champion»."""
    with pytest.raises(ValueError, match="decision"):
        Retraining(decision="champion", who="Ana", why="porque sim")
    said = " ".join(str(field.description) for field in Retraining.model_fields.values())
    assert "training starts" in said and "champion" not in said and "registry" not in said
