"""What a person who waits for a run sees: where it stands, and answers before and after."""

from test_report import comparison

from tasks.running.run import place, stages_of
from tucano.report.side_by_side import COLUMN, MOST_LINES, side_by_side
from tucano.settings import PipelineSettings


def test_a_stage_says_where_it_stands_and_what_comes_next() -> None:
    settings = PipelineSettings.model_validate({"grpo": {"seeds": [1, 2]}})
    assert stages_of(settings)[3:7] == ("sft", "preflight", "grpo-seed-1", "grpo-seed-2")
    assert place("data", settings) == " (stage 1 of 12, then plan)"
    assert place("report", settings) == " (stage 12 of 12, the last)"
    assert place("answers-of-starts", settings) == "", "made beside the others"


def test_answers_stand_side_by_side_within_a_terminal() -> None:
    lines = side_by_side(comparison())
    assert all(len(line) <= 2 * COLUMN + 3 for line in lines)
    heads = [line for line in lines if line.startswith("before: reward ")]
    assert heads and all(" | after: reward " in line for line in heads)
    assert max(map(len, "\n".join(lines).split("\n\n"))) < 100 * (MOST_LINES + 4)
